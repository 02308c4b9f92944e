"""Joins two histories of one memory: three trees of files in, one out, by units and never by text hunks.

Joining is symmetric: the two sides are ranked by `Side.rank`, not by who joins, so that either device makes the same
files. What both sides changed differently becomes a `ConflictRecord`; until a person decides it, the text of one side
stands in the file, and that of the other in `layout.CONFLICTS`, a tracked file that travels with the memory. What one
side changed and the other deleted stands until then. Ids that both gave to different things: the later side's get new
ones, wherever it names them.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from workbench.engine import layout
from workbench.engine.history.differences import SIMILAR, Unit, parse_units, similarity
from workbench.engine.history.json_revert import (
    ABSENT,
    NotJson,
    is_bookkeeping,
    is_same,
    parse_json,
    render_json,
)
from workbench.engine.history.structural_revert import UnitRevert, comment_fields
from workbench.engine.identifiers import entity_name
from workbench.engine.markdown.decay_scores import (
    ACCESS_KEYS,
    DecayScores,
    EntryAccesses,
    ScoreEntry,
    latest_moment,
)
from workbench.engine.markdown.statements import new_block_id, parse_statement, render_statement
from workbench.engine.patterns import lazy_pattern
from workbench.engine.sync.conflicts import ConflictFile, ConflictRecord, Version, conflict_id, join_conflicts
from workbench.engine.values import dataclass

Tree = Mapping[str, bytes]
"""The tracked files of one commit by workspace-relative path; contents may be read when they are asked for."""
WHOLE_FILE: Final = ""
"""The name of what differs where no unit of a file can be told apart."""
_COUNTS: Final = frozenset({"access_count", "accesses"})
# What the engine writes from history or from a reflection; the older side's words stand.
_RETOLD: Final = frozenset({layout.AUDIT_ARCHIVE})
_FIRST: Final = frozenset({"created", "first seen"})
_NAME: Final = lazy_pattern(r"[\s-]+")
_REFLECTION: Final = lazy_pattern(rb"(?<![\w-])r-(\d{1,9})(?![\w-])")
_REFLECTIONS: Final = (layout.PENDING_REFLECTION, layout.REFLECTION_LOG)
_MARKER: Final = lazy_pattern(r"\s*(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True)
class Side:
    """One of the two histories that are joined.

    Args:
        device: The device that it comes from, by its name.
        commit: Its newest commit, full hash.
        moment: When that was made, aware.
    """

    device: str
    commit: str
    moment: datetime

    @property
    def rank(self) -> tuple[float, str, str]:
        """Return what orders two sides, the same on every device: the older one first, then by name."""
        return self.moment.timestamp(), self.device, self.commit


@dataclass(frozen=True)
class Moments:
    """Where the two sides stand: what is joined into, and what is joined."""

    ours: Side
    theirs: Side


@dataclass(frozen=True)
class Joined:
    """What joining comes to.

    Args:
        files: New contents by path where they differ from ours; None deletes the file.
        conflicts: What a person has to decide, new with this joining; `files` has these records already.
        renamed: Ids that were given on both sides: the old and the new id of what the later side had so named.
    """

    files: Mapping[str, bytes | None]
    conflicts: tuple[ConflictRecord, ...]
    renamed: Mapping[str, str]


def join(
    base: Tree,
    ours: Tree,
    theirs: Tree,
    *,
    at: Moments,
    paths: tuple[frozenset[str], frozenset[str]] | None = None,
    is_spent: Callable[[str], bool] = lambda _: False,
    written: Callable[[Side, str], tuple[str, datetime]] = lambda side, _: (side.device, side.moment),
) -> Joined:
    """Join two histories that went separate ways.

    Args:
        base: The files where the two went apart; empty where they have nothing in common.
        ours: The files of the side that is joined into.
        theirs: The files of the other side.
        at: Where both stand; who asks does not count, only who is older.
        paths: What ours and theirs changed since base, where that is known without reading every file.
        is_spent: Returns True for an id that was given before and may not be given again.
        written: Returns the device that last changed a file on a side, and when; asked of what differs alone.

    Returns:
        What changes against ours. Joining where only one side changed a file takes that side's bytes.
    """
    one, other = sorted((at.ours, at.theirs), key=lambda side: side.rank)
    changed = dict(
        zip(("ours", "theirs"), paths or (_changed(base, ours), _changed(base, theirs)), strict=True)
    )
    flipped = one is not at.ours
    first, second = (theirs, ours) if flipped else (ours, theirs)
    by_first, by_second = (changed[name] for name in (("theirs", "ours") if flipped else ("ours", "theirs")))
    clashing = sorted(by_first & by_second)
    renaming = find_renaming(
        ((path, base.get(path), first.get(path), second.get(path)) for path in clashing), is_spent
    )

    def of_second(path: str) -> bytes | None:
        content = second.get(path)
        return renaming.applied(path, content) if content is not None and path in by_second else content

    result: dict[str, bytes | None] = {path: first.get(path) for path in by_first - by_second}
    result |= {path: of_second(path) for path in by_second - by_first}
    clashes: list[tuple[str, Clash]] = []
    for path in clashing:
        then, mine, new = base.get(path), first.get(path), of_second(path)
        if path == layout.CONFLICTS:
            result[path] = join_conflicts(then, mine, new)
            continue
        if then is not None and (mine is None) != (new is None):
            moved = _moved_to(then, base, *((first, by_first) if mine is None else (second, by_second)))
            if moved is not None and moved not in (by_second if mine is None else by_first):
                mine, new = (first.get(moved), new) if mine is None else (mine, of_second(moved))
                result[path], path = None, moved
        result[path], differing = join_content(path, then, mine, new)
        clashes += [(path, clash) for clash in differing]
    known = ConflictFile.parse(result.get(layout.CONFLICTS, base.get(layout.CONFLICTS)))
    found = (_record(path, clash, *(written(side, path) for side in (one, other))) for path, clash in clashes)
    conflicts = tuple(record for record in found if record.id not in known.records)
    if conflicts:
        result[layout.CONFLICTS] = known.with_records(conflicts).render()
    files = {path: content for path, content in sorted(result.items()) if content != ours.get(path)}
    return Joined(files, conflicts, renaming.everywhere)


def _changed(base: Tree, side: Tree) -> frozenset[str]:
    return frozenset(path for path in {*base, *side} if base.get(path) != side.get(path))


def _moved_to(content: bytes, base: Tree, side: Tree, changed: frozenset[str]) -> str | None:
    """Return the path under which a side has a file that it renamed, or None if it deleted it."""
    come = (
        (path, now) for path in sorted(changed) if path not in base and (now := side.get(path)) is not None
    )
    best = max(((similarity(content, now), path) for path, now in come), default=(0, ""))
    return best[1] if best[0] >= SIMILAR else None


def _record(
    path: str, clash: Clash, one: tuple[str, datetime], other: tuple[str, datetime]
) -> ConflictRecord:
    stands, waits = Version(clash.first, *one), Version(clash.second, *other)
    if clash.first is None:
        # What was deleted on one side only is still there.
        stands, waits = waits, stands
    name = conflict_id(path, clash.unit, clash.base, stands.text, waits.text)
    return ConflictRecord(name, path, clash.unit, clash.base, stands, waits)


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
    was: Any = ABSENT if base is None else parse_json(base)
    joined = _join_values(was, parse_json(first), parse_json(second), (), clashes)
    return render_json(joined, first, second), tuple(clashes)


def _join_values(base: Any, first: Any, second: Any, path: tuple[str, ...], clashes: list[Clash]) -> Any:
    """Join two values by their keys, adding to the clashes; what one side deleted and the other changed stays."""
    if is_same(first, second) or is_same(second, base):
        return first
    if is_same(first, base):
        return second
    if isinstance(first, dict) and isinstance(second, dict):
        known = base if isinstance(base, dict) else {}
        joined = {}
        for key in {**first, **second}:
            then, mine, theirs = (each.get(key, ABSENT) for each in (known, first, second))
            value = _join_values(then, mine, theirs, (*path, key), clashes)
            if value is not ABSENT:
                joined[key] = value
        return joined
    if path and is_bookkeeping(path[-1]) and isinstance(first, str) and isinstance(second, str):
        return max(first, second)
    shown = [
        None if each is ABSENT else json.dumps(each, ensure_ascii=False) for each in (base, first, second)
    ]
    clashes.append(Clash(" / ".join(path), *shown))
    return second if first is ABSENT else first


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


@dataclass(frozen=True)
class Renaming:
    """New ids for what one side named as the other named something else.

    Args:
        everywhere: New by old id, as they are written in any file.
        inside: The same for what is written within one file: block ids, headings, numbers of proposals.
    """

    everywhere: Mapping[str, str]
    inside: Mapping[str, Mapping[str, str]]

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
        if key not in was and key in mine and not _is_same_unit(mine[key], unit):
            yield key, unit.meaning, taken


def _by_key(content: bytes) -> dict[Key, Unit]:
    units = parse_units(content, markdown=True).units
    return {unit.key: unit for unit in units if unit.key and unit.key[0] in ("entry", "block", "proposal")}


def _is_same_unit(one: Unit, other: Unit) -> bool:
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
