"""What a decision on a conflict between devices makes of the file: this, that, or both."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, Final

from workbench.engine.errors import InvalidInput, Stale
from workbench.engine.history.differences import DocumentUnits, Unit, parse_units, unit_name, with_text
from workbench.engine.history.json_revert import NotJson, parse_json, render_json
from workbench.engine.markdown.statements import new_block_id
from workbench.engine.patterns import lazy_pattern
from workbench.engine.sync.conflicts import ConflictRecord, Decision

_SEPARATOR: Final = " / "
_BLOCK: Final = lazy_pattern(r"(\s)\^([A-Za-z0-9-]+)[ \t]*(?=\r?\n|$)")
# Of these a file has several; of a title, a key or a comment of metadata it has one.
_SEVERAL: Final = frozenset({"item", "text", "entry"})


def stands_there(record: ConflictRecord, content: bytes | None) -> bool:
    """Return True if a file still has what the record says that it has."""
    if not record.unit:
        return _text(content) == record.stands.text
    if content is None or record.stands.text is None:
        return False
    if record.path.endswith(".json"):
        return _value_of(record, content) == record.stands.text
    return _place(record, parse_units(content, markdown=record.path.endswith(".md")).units) is not None


def line_of(record: ConflictRecord, content: bytes | None) -> int:
    """Return the line of what stands, from 1; the first where it cannot be told."""
    if content is None or not record.unit or record.path.endswith(".json"):
        return 1
    document = parse_units(content, markdown=record.path.endswith(".md"))
    place = _place(record, document.units)
    if place is None:
        return 1
    before = zip(document.gaps, [*document.units[:place], None], strict=False)
    text = "".join(gap + (unit.text if unit else "") for gap, unit in before)
    return len(re.findall(r"\r\n|\r|\n", text)) + 1


def may_keep_both(record: ConflictRecord, content: bytes | None) -> bool:
    """Return True if a file can have both texts beside each other."""
    if not record.unit or record.stands.text is None or record.waits.text is None or content is None:
        return False
    if not record.path.endswith(".md"):
        return False
    units = parse_units(content, markdown=True).units
    place = _place(record, units)
    return place is not None and units[place].kind in _SEVERAL


def decided_content(record: ConflictRecord, decision: Decision, content: bytes | None) -> bytes | None:
    """Return a file as a decision leaves it; None for no file.

    Raises:
        Stale: The file no longer has what the decision is about.
        InvalidInput: Both cannot stand beside each other there.
    """
    if decision is Decision.THIS:
        return content
    if decision is Decision.BOTH and not may_keep_both(record, content):
        raise InvalidInput(
            "Both cannot stand here beside each other.",
            where=f"{record.path} · {record.id}",
            remedy="Take this or that, and write into the file what else it should say.",
        )
    if not stands_there(record, content):
        raise Stale(
            "What the devices changed differently was changed again since.",
            where=f"{record.path} · {record.id}",
            remedy="Write into the file what it should say, then decide for this.",
        )
    that = record.waits.text
    if not record.unit or content is None:
        return None if that is None else that.encode("utf-8", "surrogateescape")
    if record.path.endswith(".json"):
        return _with_value(record, content)
    document = parse_units(content, markdown=record.path.endswith(".md"))
    place = _place(record, document.units)
    assert place is not None
    if that is None:
        return _without(document, place).render()
    said = re.sub(r"\r\n|\r|\n", lambda _: document.newline, that)
    if decision is Decision.THAT:
        units = list(document.units)
        units[place] = with_text(units[place], said)
        return replace(document, units=tuple(units)).render()
    return _beside(document, place, _with_own_block(said, content)).render()


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "surrogateescape")


def _meaning(text: str) -> str:
    return "\n".join(line.rstrip() for line in re.split(r"\r\n|\r|\n", text.strip()))


def _place(record: ConflictRecord, units: tuple[Unit, ...]) -> int | None:
    """Return the position of the unit that has the text that stands; of several, the one of its name."""
    said = _meaning(record.stands.text or "")
    found = [at for at, unit in enumerate(units) if _meaning(unit.text) == said]
    return next((at for at in found if unit_name(units[at]) == record.unit), found[0] if found else None)


def _without(document: DocumentUnits, place: int) -> DocumentUnits:
    units, gaps = list(document.units), list(document.gaps)
    del units[place]
    # The last unit leaves the end of the file as it is.
    del gaps[place if place == len(units) else place + 1]
    return replace(document, units=tuple(units), gaps=tuple(gaps))


def _beside(document: DocumentUnits, place: int, said: str) -> DocumentUnits:
    units, gaps = list(document.units), list(document.gaps)
    kind = units[place].kind
    units.insert(place + 1, with_text(units[place], said))
    gaps.insert(place + 1, document.newline * (1 if kind == "item" else 2))
    return replace(document, units=tuple(units), gaps=tuple(gaps))


def _with_own_block(said: str, content: bytes) -> str:
    """Return a text with a block id that its file does not have yet, where it has one."""
    found = _BLOCK.search(said)
    if found is None:
        return said
    taken = [block for _, block in _BLOCK.findall(content.decode("utf-8", "surrogateescape"))]
    if found[2] not in taken:
        return said
    return f"{said[: found.start()]}{found[1]}^{new_block_id(found[2][0], said, taken)}{said[found.end() :]}"


def _value_of(record: ConflictRecord, content: bytes) -> str | None:
    try:
        value: Any = parse_json(content)
    except NotJson:
        return None
    for key in record.unit.split(_SEPARATOR):
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return json.dumps(value, ensure_ascii=False)


def _with_value(record: ConflictRecord, content: bytes) -> bytes:
    value = parse_json(content)
    *above, last = record.unit.split(_SEPARATOR)
    inner: Any = value
    for key in above:
        inner = inner[key]
    if record.waits.text is None:
        del inner[last]
    else:
        inner[last] = json.loads(record.waits.text)
    return render_json(value, content, content)
