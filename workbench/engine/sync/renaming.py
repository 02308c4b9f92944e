"""Ids that two devices gave to different things: the later side's get new ones, wherever it names them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Final

from workbench.engine import layout
from workbench.engine.history.differences import Unit, parse_units
from workbench.engine.identifiers import entity_name
from workbench.engine.markdown.statements import new_block_id, parse_statement
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_REFLECTION: Final = lazy_pattern(rb"(?<![\w-])r-(\d{1,9})(?![\w-])")
_REFLECTIONS: Final = (layout.PENDING_REFLECTION, layout.REFLECTION_LOG)
_MARKER: Final = lazy_pattern(r"\s*(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True)
class Renaming:
    """New ids for what one side named as the other named something else.

    Args:
        everywhere: New by old id, as they are written in any file.
        inside: The same for what is written within one file: block ids, headings, numbers of proposals.
    """

    everywhere: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def applied(self, path: str, content: bytes) -> bytes:
        """Return a file of the later side with its new ids."""
        text = content.decode("utf-8", "surrogateescape")
        for old, new in self.inside.get(path, {}).items():
            text = re.sub(old, new, text)
        if self.everywhere:
            text = self._pattern.sub(lambda found: self.everywhere[found[0]], text)
        return text.encode("utf-8", "surrogateescape")

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        ids = "|".join(re.escape(each) for each in sorted(self.everywhere, key=len, reverse=True))
        # An id of a whole is the beginning of those of its parts; one with a number goes on with it.
        return re.compile(rf"(?<![\w-])(?:{ids})(?![\w-]|#\d|:\d)")


def find_renaming(
    versions: Iterable[tuple[str, bytes | None, bytes | None, bytes | None]], is_spent: Callable[[str], bool]
) -> Renaming:
    """Return the new ids of the later side.

    Args:
        versions: Path, and the contents before both, on the earlier and on the later side, of what both changed.
        is_spent: Returns True for an id that was given before and may not be given again.
    """
    everywhere: dict[str, str] = {}
    inside: dict[str, dict[str, str]] = {}
    reflections: list[tuple[bytes, bytes, bytes]] = []
    for path, *contents in versions:
        base, first, second = (content or b"" for content in contents)
        if not path.endswith(".md"):
            continue
        if path in _REFLECTIONS:
            reflections.append((base, first, second))
        for key, text, taken in _clashes(base, first, second):
            for old, new, pattern, put in _new_names(path, key, text, taken, is_spent):
                everywhere |= {old: new} if old else {}
                inside.setdefault(path, {})[pattern] = put
    everywhere |= _new_reflections(reflections, is_spent)
    return Renaming(everywhere, inside)


Key = tuple[str, ...]


def _clashes(base: bytes, first: bytes, second: bytes) -> Iterator[tuple[Key, str, set[Key]]]:
    """Yield the key and text of what both sides added under one name, and all keys taken so far."""
    was, mine, theirs = (_by_key(content) for content in (base, first, second))
    taken = {*was, *mine, *theirs}
    for key, unit in theirs.items():
        if key not in was and key in mine and not _is_same(mine[key], unit):
            yield key, unit.meaning, taken


def _by_key(content: bytes) -> dict[Key, Unit]:
    units = parse_units(content, markdown=True).units
    return {unit.key: unit for unit in units if unit.key and unit.key[0] in ("entry", "block", "proposal")}


def _is_same(one: Unit, other: Unit) -> bool:
    """Return True for what both sides know alike: the same text, or a statement in the same words."""
    if one.meaning == other.meaning:
        return True
    if one.key is None or one.key[0] != "block":
        return False
    return _statement(one) == _statement(other)


def _statement(unit: Unit) -> str:
    return parse_statement(_MARKER.sub("", unit.meaning, count=1)).text


def _new_names(
    path: str, key: Key, text: str, taken: set[Key], is_spent: Callable[[str], bool]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield old and new id, and the pattern and replacement for where it is given; extends what is taken."""
    if key[0] == "block":
        whole = f"entity:{entity_name(path.rpartition('/')[2].removesuffix('.md'))}"
        is_entity = path.startswith(f"{layout.ENTITIES}/")
        blocks = {each[1] for each in taken if each[0] == "block"}
        block = new_block_id(
            key[1][:1].lower(),
            f"{path}\0{text}",
            blocks,
            lambda name: is_spent(f"{whole if is_entity else path}#^{name}"),
        )
        taken.add(("block", block))
        old = f"{whole}#^{key[1]}" if is_entity else ""
        yield old, f"{whole}#^{block}", rf"(?<![\w#-])\^{re.escape(key[1])}(?![\w-])", f"^{block}"
    elif key[0] == "proposal" and path == layout.PENDING_MEMORIES:
        number = max(int(each[1]) for each in taken if each[0] == "proposal") + 1
        taken.add(("proposal", str(number)))
        told = r"(?m)^((?:##[ \t]|- \*\*Status\*\*).*?)"
        yield "", "", told + rf"(?<![\w#])#{key[1]}(?!\d)", rf"\1#{number}"
    elif key[0] == "entry" and path.startswith(f"{layout.EPISODES}/"):
        day = path.rpartition("/")[2].removesuffix(".md")
        whole = f"episode:{day}:{key[1]}"
        count = int(key[2]) + 1
        while ("entry", key[1], str(count)) in taken or is_spent(f"{whole}#{count}"):
            count += 1
        taken.add(("entry", key[1], str(count)))
        heading = rf"(?m)^(#{{2,6}}[ \t]+{re.escape(key[1])}(?::\d\d)?)"
        numbered = rf"[ \t]+#{key[2]}(?=\s|\||$)" if key[2] != "1" else r"(?=\s|\||$)(?![ \t]+#\d)"
        old = whole if key[2] == "1" else f"{whole}#{key[2]}"
        yield old, f"{whole}#{count}", heading + numbered, rf"\1 #{count}"


def _new_reflections(
    contents: Iterable[tuple[bytes, bytes, bytes]], is_spent: Callable[[str], bool]
) -> dict[str, str]:
    """Return new ids of reflections that both sides made, each of its own."""
    known: list[tuple[set[int], set[int], set[int]]] = []
    differing = False
    for base, first, second in contents:
        was, mine, theirs = (
            {int(number) for number in _REFLECTION.findall(each)} for each in (base, first, second)
        )
        known.append((was, mine, theirs))
        differing |= first != second
    was, mine, theirs = (
        (set().union(*each) for each in zip(*known, strict=True)) if known else (set(), set(), set())
    )
    both = sorted((mine & theirs) - was) if differing else []
    found: dict[str, str] = {}
    newest = max(was | mine | theirs, default=0)
    for number in both:
        newest += 1
        while is_spent(f"r-{newest:03}"):
            newest += 1
        found[f"r-{number:03}"] = f"r-{newest:03}"
    return found
