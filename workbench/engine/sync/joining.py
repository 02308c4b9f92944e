"""Joins two histories of one memory: three trees of files in, one out, by units and never by text hunks.

Joining is symmetric: the two sides are ranked by `Side.rank`, not by who joins, so that either device makes the same
files. What both sides changed differently becomes a `Conflict`; until a person decides it, the text of one side
stands in the file, and that of the other in `layout.CONFLICTS`, a tracked file that travels with the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

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
class Conflict:
    """A unit that both sides changed differently, or that one changed and the other deleted.

    Args:
        id: `c-` and hex digits, the same on every device for the same conflict.
        path: The file.
        unit: The unit's name in its file (see `history.structural_revert.changed_units`); empty for the whole file.
        base: Its text before both changes; None if there was none.
        stands: What stands in the file until the decision; None if it is gone there.
        waits: What the other side made of it; None if it deleted it.
        stands_by: The side of the text that stands.
        waits_by: The side of the text that waits.
    """

    id: str
    path: str
    unit: str
    base: str | None
    stands: str | None
    waits: str | None
    stands_by: Side
    waits_by: Side


@dataclass(frozen=True)
class Joined:
    """What joining comes to.

    Args:
        files: New contents by path where they differ from ours; None deletes the file.
        conflicts: What a person has to decide, new with this joining; `files` has their records already.
        renamed: Ids that were given on both sides: the old and the new id of what the later side had so named.
        notes: One line each for the message of the commit.
    """

    files: Mapping[str, bytes | None]
    conflicts: tuple[Conflict, ...] = ()
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
) -> Joined:
    """Join two histories that went separate ways.

    Args:
        base: The files where the two went apart; empty where they have nothing in common.
        ours: The files of the side that is joined into.
        theirs: The files of the other side.
        at: Where both stand; who asks does not count, only who is older.
        paths: What ours and theirs changed since base, where that is known without reading every file.
        is_spent: Returns True for an id that was given before and may not be given again.

    Returns:
        What changes against ours. Joining where only one side changed a file takes that side's bytes.
    """
    del at, is_spent
    changed, incoming = paths or (_changed(base, ours), _changed(base, theirs))
    files: dict[str, bytes | None] = {}
    for path in sorted(incoming - changed):
        files[path] = theirs.get(path)
    return Joined(files)


def _changed(base: Tree, side: Tree) -> frozenset[str]:
    return frozenset(path for path in {*base, *side} if base.get(path) != side.get(path))
