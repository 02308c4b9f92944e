"""What became of memory since a moment, and by whom; read from the commits after it and no others."""

from __future__ import annotations

import calendar
import threading
from collections import Counter, defaultdict
from operator import attrgetter
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.errors import OutsideWorkspace, StorageError
from workbench.engine.history.commits import parse_message, taken_back
from workbench.engine.history.permissions import owner_of
from workbench.engine.patterns import lazy_pattern
from workbench.engine.services.past import read_time
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.reflection.model import Passage
    from workbench.engine.results.account import SinceChange
    from workbench.engine.results.audit import MemoryChange
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.past import PastReader

_BEGUN = "system:init"
_FORGOTTEN = frozenset({"removed", "archived"})
_DONE = {"PIN": "pinned", "UNPIN": "unpinned", "ARCHIVE": "archived", "RESTORE": "restored"}
# Notes of more bytes than this are not all looked at before they are read.
_MOST_BYTES = 1_000_000
_OPENING, _NAMED, _NAMED_AT_LEAST = 8, 3, 3
# What fewer of the passages say is no name that anybody would miss.
_NAMED_SHARE = 0.05
# A word that is written large though no sentence begins with it.
_LARGE = lazy_pattern(r"(?<=[^\W\d_,;] )[^\W\d_a-z][^\W\d_A-Z]{2,}\b")
_SMALL = lazy_pattern(r"\b[^\W\d_A-Z]{3,}\b")
_NO_NAMES = frozenset(
    [*calendar.day_name, *calendar.day_abbr, *calendar.month_name, *calendar.month_abbr, "User", "Assistant"]
)
# Versions of files that are looked into to see who changed which of their memories.
_MOST_VERSIONS = 150
# Moments since which is known what became of memory.
_MOST_COMPARED = 4


class Account:
    """Tells what one has missed."""

    def __init__(self, context: WorkspaceContext, past: PastReader) -> None:
        self._context = context
        self._past = past
        self._lock = threading.Lock()
        self._compared: dict[str | None, list[SinceChange]] = {}
        self._compared_with: str | None = None

    def since(self, moment: str) -> results.account.Since:
        """Return what was learned, changed and forgotten since a moment, by whom, and what faded.

        Compared is memory as it was then with memory as it is now: what came and went in between is not told.

        Args:
            moment: A time or a day, whose beginning is meant; also `3d` (ago), `today` or `yesterday`.

        Raises:
            InvalidInput: This is no time.
            HistoryDamaged: There was a history here, and it is gone.
        """
        context = self._context
        context.adopt_for_reading()
        context.refresh_for_reading()
        now = context.now()
        asked = read_time(moment, "since", now).astimezone(context.zone)
        context.history.refuse_gone()
        base, found = self._known_changes(asked) if context.has_history() else (None, [])
        by = Counter(each.owner for each in found)
        return results.account.Since(
            asked,
            now,
            base,
            learned=tuple(each for each in found if each.change == "added"),
            changed=tuple(each for each in found if each.change != "added" and each.change not in _FORGOTTEN),
            forgotten=tuple(each for each in found if each.change in _FORGOTTEN),
            faded=context.scores().faded(asked),
            by=dict(by.most_common()),
        )

    def notes(self) -> results.account.Notes:
        """Return what the notes here hold: how many passages of which days, and whom they name most."""
        from workbench.engine.reflection.passages import holds_passages, passages_of

        context = self._context
        context.refresh_for_reading()
        files, size, whole = 0, 0, True
        found: list[Passage] = []
        for path in filter(holds_passages, context.files.list("memory")):
            if size >= _MOST_BYTES:
                whole = False
                break
            try:
                content = context.files.read(path) or b""
            except (OutsideWorkspace, StorageError):
                # `doctor` tells of it; it hides no other.
                continue
            size += len(content)
            passages = passages_of(path, content, context.zone)
            files += bool(passages)
            found += passages
        moments = sorted(each.moment for each in found if each.moment is not None)
        opening = (
            results.account.NotedLine(each.id, each.speaker, each.text, each.moment)
            for each in found[:_OPENING]
        )
        return results.account.Notes(
            files,
            len(found),
            size,
            moments[0] if moments else None,
            moments[-1] if moments else None,
            _named(found),
            tuple(opening),
            whole,
        )

    def _known_changes(self, asked: datetime) -> tuple[str | None, list[SinceChange]]:
        """Return the commit that memory stood at, and what became of each memory since, newest first.

        Compared again only after new commits; callers that ask at the same time share one comparison.
        """
        with self._lock:
            head, then = self._context.history.head(), self._past.line().at(asked)
            if head != self._compared_with:
                self._compared.clear()
                self._compared_with = head
            if then not in self._compared:
                if len(self._compared) >= _MOST_COMPARED:
                    self._compared.pop(next(iter(self._compared)))
                self._compared[then] = self._changes(then)
            return then, self._compared[then]

    def _changes(self, then: str | None) -> list[SinceChange]:
        """Return what became of each memory since a commit, newest first."""
        from workbench.engine.past.past import compare_moments

        store = self._past.store
        base = store.commit(then) if then is not None else None
        # What another device did before that moment, and was joined since, is new here.
        later = list(store.walk(stop=then))
        if base is None and later and later[-1].author == _BEGUN:
            # What a history begins with was there before it.
            base = later.pop()
        if not later:
            return []
        after = self._past.of(later[0].id)
        # Not by the past, which would keep all that it read.
        read = store.read_blob
        pairs = {
            change.path: (
                read(change.old_blob) if change.old_blob else None,
                read(change.new_blob) if change.new_blob else None,
            )
            for change in store.changed_paths(base.tree if base else None, later[0].tree)
            if _is_memory(change.path)
        }
        compared = compare_moments(pairs, after.unit, self._context.zone, (then, later[0].id))
        authors = _Authors(self._context, store, later, base)
        scores = _Decided(*pairs.get(layout.DECAY_SCORES, (None, None)))
        # What was corrected is told as a change of the fact that took its place.
        told = (change for change in compared.memories if change.standing != "superseded")
        found = [_told(change, authors.of(change), scores) for change in told]
        found.sort(key=attrgetter("timestamp", "id"), reverse=True)
        return found


def _named(passages: Sequence[Passage]) -> tuple[tuple[str, int], ...]:
    """Return the names that stand most often in notes; what is written small anywhere is none."""
    names, small = Counter[str](), set[str]()
    for passage in passages:
        if passage.speaker[:1].isupper():
            names[passage.speaker] += 1
        names.update(_LARGE.findall(passage.text))
        small.update(_SMALL.findall(passage.text))
    least = max(_NAMED_AT_LEAST, _NAMED_SHARE * len(passages))
    known = (
        (name, count)
        for name, count in names.most_common()
        if count >= least and name not in _NO_NAMES and name.casefold() not in small
    )
    return tuple(known)[:_NAMED]


def _is_memory(path: str) -> bool:
    if path.startswith(f"{layout.META}/"):
        return path == layout.DECAY_SCORES
    return layout.is_memory_file(path)


@dataclass(frozen=True)
class _Act:
    """What one commit did to one file."""

    commit: Commit
    actor: str
    owner: str
    action: str
    summary: str


class _Authors:
    """Finds who changed a memory; what many have changed is read version by version.

    Args:
        later: The commits since, newest first.
        base: The one before them.
    """

    def __init__(
        self,
        context: WorkspaceContext,
        store: GitStore,
        later: Sequence[Commit],
        base: Commit | None,
    ) -> None:
        self._zone = context.zone
        self._store = store
        self._read = store.read_blob
        self._newest = _Act(later[0], later[0].author, owner_of(parse_message(later[0])), "EDIT", "")
        self._left = _MOST_VERSIONS
        self._found: dict[str, Mapping[str, tuple[_Act, _Act]]] = {}
        self._by_path: dict[str, list[_Act]] = defaultdict(list)
        messages = [(commit, parse_message(commit)) for commit in later]
        self._gone = taken_back((commit.id, message) for commit, message in messages)
        for at, (commit, message) in enumerate(messages):
            owner = owner_of(message)
            if message.transaction:
                for entry in message.entries:
                    actor = entry.actor or message.actor
                    act = _Act(commit, actor, owner, entry.action, entry.summary)
                    self._by_path[entry.file].append(act)
                continue
            # Another program's, which has no audit lines.
            before = later[at + 1] if at + 1 < len(later) else base
            for change in store.changed_paths(before.tree if before else None, commit.tree):
                self._by_path[change.path].append(_Act(commit, message.actor, owner, message.action, ""))

    def of(self, change: MemoryChange) -> _Act:
        """Return who changed a memory last, or who added it."""
        acts = self._by_path.get(change.path, [])
        # A sync only joins what others did.
        acts = [act for act in acts if act.action != "SYNC"] or acts
        # What was done and taken back again is not what made it differ.
        acts = [act for act in acts if act.commit.id not in self._gone] or acts
        if change.change == "scored":
            acts = [*acts, *self._by_path.get(layout.DECAY_SCORES, [])]
            acts = [act for act in acts if act.action != "DECAY"]
            decisions = [act for act in acts if act.action in _DONE]
            named = [act for act in decisions if change.id in act.summary]
            return next(iter(named or decisions or acts), self._newest)
        if len({(act.actor, act.commit.moment.astimezone(self._zone).date()) for act in acts}) > 1:
            last, first = self._acts_in(change.path, acts).get(change.id, (acts[0], acts[-1]))
            return first if change.change == "added" else last
        return next(iter(acts), self._newest)

    def _acts_in(self, path: str, acts: Sequence[_Act]) -> Mapping[str, tuple[_Act, _Act]]:
        """Return the last and the first act on each memory of a file, as far as versions may be read."""
        known = self._found.get(path)
        if known is not None or self._left <= 0:
            return known or {}
        found: dict[str, tuple[_Act, _Act]] = {}
        versions: dict[str | None, Mapping[str, str]] = {None: {}}
        for act in acts:
            if self._left <= 0:
                break
            now = self._said(path, act.commit.tree, versions)
            parent = act.commit.parent
            before = self._said(path, self._store.tree_of(parent), versions)
            for id_ in now.keys() | before.keys():
                if now.get(id_) != before.get(id_):
                    found[id_] = (found[id_][0] if id_ in found else act, act)
        self._found[path] = found
        return found

    def _said(
        self, path: str, tree: str | None, versions: dict[str | None, Mapping[str, str]]
    ) -> Mapping[str, str]:
        """Return what each memory of a file says in a tree; versions that were read already are not read again."""
        from workbench.engine.past.past import memories_in

        blob = self._store.tree_blob(tree, path)
        if blob not in versions:
            self._left -= 1
            units = memories_in(path, self._read(blob or ""), self._zone)
            versions[blob] = {id_: unit.compared for id_, unit in units.items()}
        return versions[blob]


class _Decided:
    """Which memories two versions of the scores file pin and archive; read where anybody asks."""

    def __init__(self, before: bytes | None, after: bytes | None) -> None:
        self._files = (before, after)
        self._sides: list[dict[str, tuple[bool, bool]]] = []

    def what(self, memory_id: str) -> str:
        """Return what was decided on a memory; empty where the scores file does not say."""
        from workbench.engine.past.past import decided_in

        if not self._sides:
            self._sides = [decided_in(each) for each in self._files]
        was, now = (side.get(memory_id, (False, False)) for side in self._sides)
        if was[1] != now[1]:
            return "archived" if now[1] else "restored"
        if was[0] != now[0]:
            return "pinned" if now[0] else "unpinned"
        return ""


def _told(change: MemoryChange, act: _Act, decided: _Decided) -> SinceChange:
    word = change.change
    if word == "scored":
        word = decided.what(change.id) or _DONE.get(act.action, "changed")
    return results.account.SinceChange(
        change.id,
        change.store,
        change.path,
        change.title,
        word,
        act.commit.moment,
        act.actor,
        act.owner,
        act.commit.id,
    )
