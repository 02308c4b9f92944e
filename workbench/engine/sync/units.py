"""Joins the contents of one file unit by unit: Markdown and settings, JSON by its keys, and the scores of decay."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from workbench.engine import layout
from workbench.engine.history.differences import Unit
from workbench.engine.history.json_revert import NotJson, is_bookkeeping, parse_json, render_json
from workbench.engine.history.structural_revert import UnitRevert, comment_fields
from workbench.engine.markdown.decay_scores import (
    ACCESS_KEYS,
    DecayScores,
    EntryAccesses,
    ScoreEntry,
    latest_moment,
)
from workbench.engine.markdown.statements import parse_statement, render_statement
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

WHOLE_FILE: Final = ""
"""The name of what differs where no unit of a file can be told apart."""
_ABSENT: Final = object()
_COUNTS: Final = frozenset({"access_count", "accesses"})
# What the engine writes from history or from a reflection; the older side's words stand.
_RETOLD: Final = frozenset({layout.AUDIT_ARCHIVE})
_FIRST: Final = frozenset({"created", "first seen"})
_NAME: Final = lazy_pattern(r"[\s-]+")


@dataclass(frozen=True)
class Clash:
    """A unit that both sides changed differently: its texts before, and on either side; None if it is gone."""

    unit: str
    base: str | None
    first: str | None
    second: str | None


Joint = tuple[bytes | None, tuple[Clash, ...]]
"""The joined content, None for no file, and what clashes; of that, the first side's text stands, or the one left."""


def join_content(path: str, base: bytes | None, first: bytes | None, second: bytes | None) -> Joint:
    """Join two versions of a file.

    Args:
        path: Its ending and place decide what its units are.
        base: The version before both; None if there was no file.
        first: The version whose text stands in what clashes; None if it was deleted.
        second: The other version.
    """
    if first == second or second == base:
        return first, ()
    if first == base:
        return second, ()
    if first is None or second is None:
        left = second if first is None else first
        shown = [None if each is None else _text(each) for each in (base, first, second)]
        return left, (Clash(WHOLE_FILE, *shown),)
    if path.endswith(".json"):
        try:
            if path == layout.DECAY_SCORES:
                return join_scores(base, first, second), ()
            return _join_json(base, first, second)
        except NotJson:
            pass  # A broken file still has lines.
    content, conflicts = UnitRevert(
        second, base or b"", first, markdown=path.endswith(".md"), settle=_settle
    ).run_on()
    if content is None or not _still_reads(path, first, second, content):
        return first, (Clash(WHOLE_FILE, None if base is None else _text(base), _text(first), _text(second)),)
    clashes = tuple(
        Clash(each.names[-1] if each.names else each.unit, each.left_as, each.now, each.wanted)
        for each in conflicts
        if not _is_retold(path, each.kind)
    )
    return content, clashes


def _is_retold(path: str, kind: str) -> bool:
    return path in _RETOLD or (path == layout.PENDING_REFLECTION and kind in ("comment", "text", "title"))


def _still_reads(path: str, first: bytes, second: bytes, joined: bytes) -> bool:
    """Return False if both versions of a TOML file can be read, and what comes of them cannot."""
    if not path.endswith(".toml"):
        return True
    readable = []
    for content in (first, second, joined):
        try:
            tomllib.loads(content.decode("utf-8"))
        except (ValueError, RecursionError):
            readable.append(False)
        else:
            readable.append(True)
    return readable[2] or not all(readable[:2])


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _settle(unit: Unit, second: str, base: str, first: str) -> str | None:
    """Return what becomes of a unit that both sides changed where that needs nobody's decision; else None."""
    if unit.kind == "front":
        name = first.partition(":")[0]
        return max(first, second) if is_bookkeeping(name) and name == second.partition(":")[0] else None
    if unit.kind == "comment":
        return _settle_comment(second, base, first)
    if unit.kind == "item" and unit.key and unit.key[0] == "block":
        return _settle_statement(second, first)
    return None


def _settle_comment(second: str, base: str, first: str) -> str | None:
    """Join a comment of metadata field by field; the later of two dates counts, and accesses add up."""
    one, other = comment_fields(first), comment_fields(second)
    was = comment_fields(base) or {}
    if one is None or other is None:
        return None
    joined: dict[str, str] = {}
    for name in {**one, **other}:
        mine, theirs, then = one.get(name), other.get(name), was.get(name)
        if mine == theirs or theirs == then:
            value = mine
        elif mine == then:
            value = theirs
        elif mine is not None and theirs is not None and name.casefold() in _FIRST:
            value = min(mine, theirs)
        elif mine is None or theirs is None or not is_bookkeeping(name):
            return None
        elif _NAME.sub("_", name.casefold()) in _COUNTS and mine.isdecimal() and theirs.isdecimal():
            value = str(int(mine) + int(theirs) - (int(then) if then and then.isdecimal() else 0))
        else:
            value = max(mine, theirs)
        if value is not None:
            joined[name] = value
    return "<!-- " + " | ".join(f"{name}: {value}" for name, value in joined.items()) + " -->"


def _settle_statement(second: str, first: str) -> str | None:
    """Join the sources of a statement that both sides made in the same words, or from which both learned more."""
    marker = re.match(r"\s*(?:[-*+]|\d+[.)])\s+", first)
    if marker is None or "\n" in first or "\n" in second:
        return None
    mine, theirs = (parse_statement(text[len(marker[0]) :]) for text in (first, second))
    sources = (*mine.provenance.sources, *theirs.provenance.sources)
    joined = replace(mine, provenance=replace(mine.provenance, sources=tuple(dict.fromkeys(sources))))
    if replace(theirs, provenance=replace(theirs.provenance, sources=joined.provenance.sources)) != joined:
        return None
    return marker[0] + render_statement(joined)


def _join_json(base: bytes | None, first: bytes, second: bytes) -> Joint:
    clashes: list[Clash] = []
    was: Any = _ABSENT if base is None else parse_json(base)
    joined = _join_values(was, parse_json(first), parse_json(second), (), clashes)
    return render_json(joined, first, second), tuple(clashes)


def _join_values(base: Any, first: Any, second: Any, path: tuple[str, ...], clashes: list[Clash]) -> Any:
    """Join two values by their keys, adding to the clashes; what one side deleted and the other changed stays."""
    if _same(first, second) or _same(second, base):
        return first
    if _same(first, base):
        return second
    if isinstance(first, dict) and isinstance(second, dict):
        known = base if isinstance(base, dict) else {}
        joined = {}
        for key in {**first, **second}:
            then, mine, theirs = (each.get(key, _ABSENT) for each in (known, first, second))
            value = _join_values(then, mine, theirs, (*path, key), clashes)
            if value is not _ABSENT:
                joined[key] = value
        return joined
    if path and is_bookkeeping(path[-1]) and isinstance(first, str) and isinstance(second, str):
        return max(first, second)
    shown = [
        None if each is _ABSENT else json.dumps(each, ensure_ascii=False) for each in (base, first, second)
    ]
    clashes.append(Clash(" / ".join(path), *shown))
    return second if first is _ABSENT else first


def _same(one: object, other: object) -> bool:
    if one is _ABSENT or other is _ABSENT:
        return one is other
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def join_scores(base: bytes | None, first: bytes, second: bytes) -> bytes:
    """Join two versions of the scores file: accesses add up, the newest of times count, pins and archivings hold.

    Raises:
        NotJson: A version cannot be read.
    """
    was, mine, theirs = (DecayScores.parse(content or b"") for content in (base, first, second))
    if mine.problems or theirs.problems:
        raise NotJson("not every entry can be read")
    changes: dict[str, ScoreEntry | None] = {}
    for name in {**mine.entries, **theirs.entries}:
        one, other, then = (each.entries.get(name) for each in (mine, theirs, was))
        joined = _join_entry(then, one, other)
        if joined != one:
            changes[name] = joined
    extra = {
        key: value
        for key in {**mine.extra, **theirs.extra}
        if (value := _join_outer(key, was.extra, mine.extra, theirs.extra)) != mine.extra.get(key)
    }
    updated = latest_moment(mine.last_updated, theirs.last_updated)
    if not changes and not extra and updated == mine.last_updated:
        return first
    return mine.update(changes, last_updated=updated or None, extra=extra).render()


def _join_outer(
    key: str, base: Mapping[str, Any], first: Mapping[str, Any], second: Mapping[str, Any]
) -> Any:
    mine, theirs, then = first.get(key), second.get(key), base.get(key)
    if isinstance(mine, dict) and isinstance(theirs, dict):
        # How far each journal of accesses was counted.
        ends = [each for each in (mine, theirs) if all(type(end) is int for end in each.values())]
        if len(ends) == 2:
            return {name: max(mine.get(name, 0), theirs.get(name, 0)) for name in {**mine, **theirs}}
    if isinstance(mine, str) and isinstance(theirs, str):
        return latest_moment(mine, theirs)
    return theirs if mine in (then, None) else mine


def _join_entry(
    base: ScoreEntry | None, first: ScoreEntry | None, second: ScoreEntry | None
) -> ScoreEntry | None:
    if first == second or second == base:
        return first
    if first == base:
        return second
    if first is None or second is None:
        # One side has no such memory any more; what the other decided about it meanwhile stays.
        left = second if first is None else first
        return left if left and (base is None or _decisions(left) != _decisions(base)) else None
    then = base or replace(first.with_accesses(EntryAccesses(1, "")), pinned=False, status="", extra=())
    extra = {
        key: value
        for key in dict.fromkeys(key for entry in (first, second) for key, _ in entry.extra)
        if key not in ACCESS_KEYS
        and (value := _later(*(dict(each.extra).get(key) for each in (then, first, second)))) is not None
    }
    known, mine, theirs = then.accesses, first.accesses, second.accesses
    accesses = EntryAccesses(
        max(1, mine.count + theirs.count - known.count),
        latest_moment(mine.last, theirs.last),
        {
            change: time
            for change, time in {**theirs.changes, **mine.changes}.items()
            if change not in known.changes or (change in mine.changes and change in theirs.changes)
        },
    )
    joined = replace(
        first,
        base_relevance=_later(then.base_relevance, first.base_relevance, second.base_relevance),
        type_weight=_later(then.type_weight, first.type_weight, second.type_weight),
        current_score=_later(then.current_score, first.current_score, second.current_score),
        status=_later(then.status, first.status, second.status),
        pinned=_later(then.pinned, first.pinned, second.pinned),
        created=min(first.created, second.created) or first.created or second.created,
        extra=tuple(extra.items()),
    )
    return joined.with_accesses(accesses)


def _decisions(entry: ScoreEntry) -> tuple[object, ...]:
    kept = tuple((key, value) for key, value in entry.extra if key not in ACCESS_KEYS)
    return entry.pinned, entry.status == "archived", kept


def _later(base: Any, first: Any, second: Any) -> Any:
    """Return what one side changed, or, of two changes, the one that holds: the first in a fixed order."""
    if first == base:
        return second
    if second in (base, first):
        return first
    for holding in (True, "archived"):
        if holding in (first, second):
            return holding
    return max((first, second), key=str)
