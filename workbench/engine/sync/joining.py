"""Joins two histories of one memory: three trees of files in, one out, by units and never by text hunks.

Joining is symmetric: the two sides are ranked by `Side.rank`, not by who joins, so that either device makes the same
files. What both sides changed differently becomes a `ConflictRecord`; until a person decides it, the text of one side
stands in the file, and that of the other in `layout.CONFLICTS`, a tracked file that travels with the memory. What one
side changed and the other deleted stands until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from workbench.engine import layout
from workbench.engine.history.differences import SIMILAR, similarity
from workbench.engine.sync.conflicts import ConflictFile, ConflictRecord, Version, conflict_id, join_conflicts
from workbench.engine.sync.renaming import Renaming, find_renaming
from workbench.engine.sync.units import Clash, join_content
from workbench.engine.values import dataclass

Tree = Mapping[str, bytes]
"""The tracked files of one commit by workspace-relative path; contents may be read when they are asked for."""


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
        notes: One line each for the message of the commit.
    """

    files: Mapping[str, bytes | None]
    conflicts: tuple[ConflictRecord, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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
    return Joined(files, conflicts, renaming.everywhere, tuple(_notes(conflicts, renaming)))


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


def _notes(conflicts: Sequence[ConflictRecord], renaming: Renaming) -> Iterator[str]:
    if conflicts:
        told = (
            "1 change differs and waits"
            if len(conflicts) == 1
            else f"{len(conflicts)} changes differ and wait"
        )
        yield f"{told} for a decision"
    for old, new in renaming.everywhere.items():
        yield f"{old} is {new} where the later device named it"
