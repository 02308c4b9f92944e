"""Follows a purge from one device to the others: pairs what was rewritten, and rewrites what was not sent yet.

A purge keeps every commit with its transaction, author and date. So two histories of one memory, of which one was
purged, can be laid side by side, and what is gone follows from the difference; nobody has to say what it was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import RemoteError
from workbench.engine.history.commits import parse_message
from workbench.engine.history.differences import Unit, parse_units
from workbench.engine.history.erasure import PURGED, Erasure, erasure_of, ids_of_file
from workbench.engine.history.git_objects import Commit
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.plan import Action
from workbench.engine.history.purge import Rewriting, titles_in
from workbench.engine.history.recovery import PurgeSteps
from workbench.engine.patterns import lazy_pattern
from workbench.engine.sync.conflicts import is_conflict_id
from workbench.engine.values import dataclass

NOTHING_GONE = Erasure(frozenset(), {}, (), (), (), frozenset(), frozenset(), frozenset(), None)
"""Removes nothing."""
_OF_MEMORIES = ("core", "episodic", "semantic", "procedural", "vault", "file")
_RELATION = lazy_pattern(r"^\s*(?:[-*+]\s+)?[\w -]+:\s*\[\[")
Key = tuple[str, int]


@dataclass(frozen=True)
class Alone:
    """The commits that one of two histories has alone, oldest first, by what a purge leaves of them."""

    commits: Mapping[Key, Commit]

    @classmethod
    def of(cls, store: GitStore, head: str, other: str) -> Alone:
        """Return what a history has and another has not."""
        found: dict[Key, Commit] = {}
        numbers: Counter[str] = Counter()
        for each in reversed(list(store.beside((head,), other))):
            commit = store.commit(each)
            # A commit of another program has its author and date alone.
            transaction = parse_message(commit).transaction or f"{commit.author} {commit.moment.isoformat()}"
            found[transaction, numbers[transaction]] = commit
            numbers[transaction] += 1
        return cls(found)

    def purges_beside(self, other: Alone) -> bool:
        """Return whether something was purged here that was not there."""
        return any(
            commit.message.startswith(f"[{Action.PURGE}]")
            for key, commit in self.commits.items()
            if key not in other.commits
        )


@dataclass(frozen=True)
class Sides:
    """Two histories of one memory that a purge has led apart.

    Args:
        ours: The newest commit here.
        theirs: That of the remote.
        purged_here: Whether something was purged here that the remote still has.
        purged_there: Whether something was purged there that is still here.
    """

    ours: str
    theirs: str
    alone_here: Alone
    alone_there: Alone
    purged_here: bool
    purged_there: bool

    @property
    def pairs(self) -> Iterator[tuple[Commit, Commit]]:
        """Yield the commits that are the same but for a purge: ours and theirs, oldest first."""
        for key, ours in self.alone_here.commits.items():
            if (theirs := self.alone_there.commits.get(key)) is not None:
                yield ours, theirs


def led_apart(store: GitStore, ours: str, theirs: str, *, where: str) -> Sides | None:
    """Return how a purge has led two histories apart; None if none has.

    Args:
        where: The remote, for the error.

    Raises:
        RemoteError: One of them was rewritten, and not by a purge.
    """
    here, there = Alone.of(store, ours, theirs), Alone.of(store, theirs, ours)
    if here.commits.keys().isdisjoint(there.commits):
        return None
    purges_here, purges_there = here.purges_beside(there), there.purges_beside(here)
    if not (purges_here or purges_there):
        raise _rewritten(where, "the same changes are in other commits there")
    sides = Sides(ours, theirs, here, there, purged_here=False, purged_there=False)
    # A purge may have reached the other side without its record, where that sync was cut off.
    lost_here = purges_here and any(_loses(store, before, after) for after, before in sides.pairs)
    lost_there = purges_there and any(_loses(store, before, after) for before, after in sides.pairs)
    if not (lost_here or lost_there):
        lost_here, lost_there = purges_here, not purges_here
    return replace(sides, purged_here=lost_here, purged_there=lost_there)


def _loses(store: GitStore, before: Commit, after: Commit) -> bool:
    """Return whether a commit says less than its counterpart: in its message, or in its files."""
    if after.message.count(PURGED) > before.message.count(PURGED):
        return True
    for change in store.changed_paths(before.tree, after.tree):
        if change.old_blob is None:
            continue
        new = store.read_blob(change.new_blob) if change.new_blob else b""
        if not _says_less(change.path, new, store.read_blob(change.old_blob)):
            return True
    return False


def is_another_memory(store: GitStore, ours: str, theirs: str) -> bool:
    """Return whether two histories have nothing in common."""
    if store.common_base((ours, theirs)) is not None:
        return False
    return Alone.of(store, ours, theirs).commits.keys().isdisjoint(Alone.of(store, theirs, ours).commits)


def theirs_rewritten(store: GitStore, sides: Sides) -> Rewriting:
    """Rewrite the remote's history without what was purged here.

    Returns:
        The rewriting; its `commits` name the new commit of each.
    """
    gone = what_is_gone(store, ((theirs, ours) for ours, theirs in sides.pairs), sides.ours)
    rewriting = Rewriting(store, _erasure(gone))
    there = sides.alone_there.commits
    if not sides.purged_there:
        # Ours are rid of it already.
        rewriting.commits.update((theirs.id, ours.id) for ours, theirs in sides.pairs)
        there = {key: commit for key, commit in there.items() if key not in sides.alone_here.commits}
    rewriting.rewrite_some([commit.id for commit in there.values()])
    rewriting.commits.setdefault(sides.theirs, sides.theirs)
    return rewriting


def ours_rewritten(
    store: GitStore, sides: Sides, theirs_now: Mapping[str, str], *, where: str
) -> tuple[Rewriting, PurgeSteps]:
    """Rewrite what was not sent yet without what was purged at the remote, onto what stands there.

    Args:
        theirs_now: What became of the remote's commits, where they were rewritten here too.
        where: The remote, for the error.

    Returns:
        The rewriting, and what has to be removed elsewhere.

    Raises:
        RemoteError: The remote's history says otherwise than before, and not only less.
    """
    pairs = [(ours, store.commit(theirs_now.get(theirs.id, theirs.id))) for ours, theirs in sides.pairs]
    _refuse_more(store, pairs, where)
    gone = what_is_gone(store, iter(pairs), theirs_now.get(sides.theirs, sides.theirs))
    rewriting = Rewriting(store, _erasure(gone))
    rewriting.commits.update((ours.id, theirs.id) for ours, theirs in pairs)
    unsent = [
        commit.id for key, commit in sides.alone_here.commits.items() if key not in sides.alone_there.commits
    ]
    rewriting.rewrite_some(unsent)
    if not gone.names and not gone.texts:
        # Something has to be named, and nothing is called like this.
        gone = PurgeSteps((f"commit:{rewriting.commits[sides.ours]}",), ())
    return rewriting, gone


def what_is_gone(store: GitStore, pairs: Iterator[tuple[Commit, Commit]], newest: str) -> PurgeSteps:
    """Return what a purge has taken out of commits.

    Args:
        pairs: Each commit before and after.
        newest: The newest commit of the side that was purged. What it says is not gone: of two entries that two devices
            wrote in one minute, one got another name when they were joined, and left the past with its namesake.
    """
    found = _Gone(partial(store.file_at, newest))
    seen: set[tuple[str, str | None, str | None]] = set()
    for before, after in pairs:
        for change in store.changed_paths(before.tree, after.tree):
            row = (change.path, change.old_blob, change.new_blob)
            if row in seen or change.old_blob is None:
                continue
            seen.add(row)
            new = store.read_blob(change.new_blob) if change.new_blob else None
            found.take(change.path, store.read_blob(change.old_blob), new)
    return found.steps


@dataclass
class _Gone:
    """Collects what is gone, each thing once and in order.

    Args:
        file_now: Returns what a file says now.
    """

    file_now: Callable[[str], bytes | None]
    names: dict[str, None] = field(default_factory=dict)
    texts: dict[str, None] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)

    @property
    def steps(self) -> PurgeSteps:
        return PurgeSteps(
            tuple(self.names), tuple(self.texts), paths=tuple(self.paths), called=tuple(self.called)
        )

    def take(self, path: str, before: bytes, after: bytes | None) -> None:
        """Add what one file has lost."""
        store = layout.store_of(path)
        if path.endswith(".json"):
            named = (key for key in _keys_gone(before, after) if ":" in key or is_conflict_id(key))
            self.names.update(dict.fromkeys(named))
            return
        if store not in _OF_MEMORIES:
            return
        if after is None and store in ("semantic", "procedural", "vault"):
            self.paths[path] = None
            self.names.update(dict.fromkeys(ids_of_file(path)))
            self.called.update(dict.fromkeys(titles_in(path, before)))
        for unit in _units_gone(before, after or b""):
            if unit.kind == "entry" and self._stands(path, unit):
                continue
            if name := _id_of(path, unit):
                self.names[name] = None
            if unit.kind in ("item", "entry", "text") and not _RELATION.match(unit.text):
                self.texts[unit.text] = None

    def _stands(self, path: str, entry: Unit) -> bool:
        said = entry.text.splitlines()[1:]
        return any(
            each.kind == "entry" and each.text.splitlines()[1:] == said
            for each in parse_units(self.file_now(path) or b"", markdown=True).units
        )


def _units_gone(before: bytes, after: bytes) -> Iterator[Unit]:
    """Yield each unit that is no longer there; of one that lost some lines, these."""
    left = Counter(unit.text for unit in parse_units(after, markdown=True).units)
    lines = Counter(after.decode("utf-8", "surrogateescape").splitlines())
    for unit in parse_units(before, markdown=True).units:
        if left[unit.text]:
            left[unit.text] -= 1
            continue
        own = unit.text.splitlines()
        gone = [line for line in own if not lines[line]]
        if unit.kind == "entry" or len(gone) == len(own):
            yield unit
        elif gone:
            yield Unit("text", None, unit.section, "\n".join(gone))


def _id_of(path: str, unit: Unit) -> str:
    key = unit.key or ()
    if key[:1] == ("block",) and path.startswith(f"{layout.ENTITIES}/"):
        return f"{ids_of_file(path)[0]}#^{key[1]}"
    if key[:1] == ("entry",) and len(key) == 3 and path.startswith(f"{layout.EPISODES}/"):
        day = path.rpartition("/")[2].removesuffix(".md")
        return f"episode:{day}:{key[1]}" + (f"#{key[2]}" if key[2] != "1" else "")
    return ""


def _keys_gone(before: bytes, after: bytes | None) -> set[str]:
    return _keys(_parsed(before)) - _keys(_parsed(after or b"{}"))


def _keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return {*value, *(key for each in value.values() for key in _keys(each))}
    if isinstance(value, list):
        return {key for each in value for key in _keys(each)}
    return set()


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig", "replace"))
    except ValueError:
        return None


def _erasure(gone: PurgeSteps) -> Erasure:
    """Return what goes from what was written before its device heard of the purge.

    Entries go by what they say: what another device wrote in the same minute has the same name until both are joined.
    """
    if not gone.names and not gone.texts:
        return NOTHING_GONE
    erasure = erasure_of(gone.names, gone.texts, paths=gone.paths, called=gone.called)
    keys = {path: {key for key in found if key[0] != "entry"} for path, found in erasure.keys.items()}
    return replace(erasure, keys={path: frozenset(found) for path, found in keys.items() if found})


def _refuse_more(store: GitStore, pairs: Sequence[tuple[Commit, Commit]], where: str) -> None:
    """Refuse a rewriting that says anything new: a purge only takes out."""
    seen: set[tuple[str | None, str | None]] = set()
    for before, after in pairs:
        if (before.author, before.moment) != (after.author, after.moment):
            raise _rewritten(where, f"commit {before.short} has another author or date there")
        for change in store.changed_paths(before.tree, after.tree):
            row = (change.old_blob, change.new_blob)
            if row in seen or change.new_blob is None:
                continue
            seen.add(row)
            old = store.read_blob(change.old_blob) if change.old_blob else b""
            if not _says_less(change.path, old, store.read_blob(change.new_blob)):
                raise _rewritten(where, f"{layout.shown(change.path)} has other content there")


def _says_less(path: str, before: bytes, after: bytes) -> bool:
    if path.endswith(".json") and (new := _parsed(after)) is not None:
        return _is_part(new, _parsed(before))
    known = iter(_lines(before))
    return all(line in known for line in _lines(after))


def _lines(content: bytes) -> Iterable[str]:
    return [line.strip() for line in content.decode("utf-8", "replace").splitlines() if line.strip()]


def _is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and _is_part(part[key], whole[key]) for key in part
        )
    if isinstance(part, list):
        return isinstance(whole, list) and all(any(_is_part(one, each) for each in whole) for one in part)
    if isinstance(part, str) and isinstance(whole, str):
        known = iter(_lines(whole.encode("utf-8", "replace")))
        return all(line in known for line in _lines(part.encode("utf-8", "replace")))
    # A text of which nothing is left.
    return part is None or bool(part == whole)


def _rewritten(where: str, how: str) -> RemoteError:
    return RemoteError(
        f"Somebody rewrote the remote’s history, and not by a purge: {how}.",
        where=where,
        remedy="Nothing was changed. Ask who did it; to go on without it, sync with a new, empty remote.",
    )
