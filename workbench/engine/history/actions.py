"""What was done, one action after another, newest first: a reflection or an import is one, however many commits it has.

History is read no further than is asked for. Where it is damaged, what is older is told from the audit log.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC
from itertools import groupby
from sys import intern
from typing import TYPE_CHECKING, TypeAlias

from workbench.engine import layout
from workbench.engine.errors import HistoryDamaged
from workbench.engine.history.alerts import ACKNOWLEDGES, ALERT
from workbench.engine.history.commits import (
    CONTINUES,
    DECIDED,
    DEVICE,
    REDOES,
    REVERTS,
    REVERTS_ITEM,
    SETTLED_BY_ITSELF,
    TICKING,
    UNDOES,
    CommitMessage,
    parse_message,
)
from workbench.engine.history.permissions import owner_of
from workbench.engine.history.plan import Action as Verb
from workbench.engine.history.projections import commit_of_line
from workbench.engine.history.revert import ITEM
from workbench.engine.markdown.audit_log import iterate_audit_backwards
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.audit import Action

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from workbench.engine.history.commits import AuditTrailer
    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.markdown.audit_log import AuditLine

REFLECTION = "reflection:"
_TELLS = frozenset({Verb.ALERT, Verb.ACK, Verb.PRUNE, Verb.PURGE})
_QUOTED = lazy_pattern("“[^”]*”")
# “3 entries …”, “imported 3 …”, “folded in 2 accesses of 3 memories”, “archived … and 3 more”.
_COUNT = lazy_pattern(r"(?:[a-z]+ )?(\d[\d,]*) |folded in .* of (\d[\d,]*) |.* and (\d[\d,]*) more$")
_UPKEEP = "system:"


def decisions_of(messages: Iterable[CommitMessage]) -> dict[str, str]:
    """Return what a person decided last: approved, rejected or deferred, by item or by name in the Inbox.

    Args:
        messages: Of the commits of an action, newest first.
    """
    found: dict[str, str] = {}
    for message in messages:
        for value in (*message.values(ITEM), *message.values(DECIDED)):
            name, _, decision = value.rpartition(" ")
            found.setdefault(name, decision)
    return found


def told_of(messages: Sequence[CommitMessage]) -> str:
    """Say in a line what an action did: what its first commit says, or how many decisions of the Inbox it wrote.

    Args:
        messages: Of its commits, newest first.
    """
    found = decisions_of(messages)
    is_of_inbox = len(found) > 1 and any(each.values(DECIDED) for each in messages)
    return f"wrote {len(found)} decisions" if is_of_inbox else messages[-1].summary


_Found: TypeAlias = "tuple[Action, list[str]]"


@dataclass(eq=False)
class _Group:
    """The commits of one action, newest first, as far as they were found.

    Args:
        actor: Of its newest.
        waits_for: Commits that belong to it and are still to be found.
        is_whole: Whether each of them can be taken back.
    """

    actor: str
    commits: list[Commit] = field(default_factory=list)
    messages: list[CommitMessage] = field(default_factory=list)
    undone_by: list[str | None] = field(default_factory=list)
    alerts: dict[str, str] = field(default_factory=dict)
    waits_for: set[str] = field(default_factory=set)
    is_whole: bool = True

    def add(
        self, commit: Commit, message: CommitMessage, undone_by: str | None, alerts: Mapping[str, str]
    ) -> None:
        """Take in the next older commit."""
        self.commits.append(commit)
        self.messages.append(message)
        self.undone_by.append(undone_by)
        self.alerts.update(alerts)

    @property
    def hashes(self) -> list[str]:
        """Return the commits, those of alerts included."""
        return [*(commit.id for commit in self.commits), *self.alerts.values()]


class ActionWalk:
    """All actions of a history up to one commit, found as they are asked for; thread-safe, and nobody waits long.

    Args:
        root: The workspace, for its audit log.
        store: The history.
        head: Where to begin; the newest commit.
        asker: Whose actions are the asker's own.
        critical: Files whose changes are told, see `Action`.
    """

    def __init__(
        self, root: Path, store: GitStore, head: str, asker: str, critical: frozenset[str] = layout.CRITICAL
    ) -> None:
        self.head = head
        self.damaged: str = ""
        self._root = root
        self._store = store
        self._asker = asker
        self._critical = critical - {layout.SETTINGS, *layout.FOREIGN_SETTINGS}
        self._found: list[Action] = []
        self._place: dict[str, int] = {}
        self._rest = self._actions()
        self._lock = threading.Lock()
        self._acknowledged: set[str] = set()

    def __iter__(self) -> Iterator[Action]:
        at = 0
        while at < len(self._found) or self._find(at):
            yield self._found[at]
            at += 1

    def of(self, commit: str) -> Action | None:
        """Return the action that a commit belongs to, or whose alert it raised; None where it is none of them.

        Args:
            commit: Full hash, or as the audit log abbreviates it where it cannot be read.
        """
        while commit not in self._place and self._find(len(self._found)):
            pass
        return self._found[self._place[commit]] if commit in self._place else None

    def _find(self, known: int) -> bool:
        """Find one more than so many actions; return False if there are no more."""
        with self._lock:
            if len(self._found) > known:
                return True
            found = next(self._rest, None)
            if found is None:
                return False
            action, commits = found
            self._found.append(action)
            self._place.update(dict.fromkeys(commits, len(self._found) - 1))
            return True

    def _actions(self) -> Iterator[_Found]:
        walked: set[str] = set()
        yield from self._groups(walked)
        if self.damaged:
            yield from self._from_log(walked)

    def _commits(self) -> Iterator[tuple[Commit, bool]]:
        """Yield each commit and whether it changed a file; ends where history is damaged."""
        walk = self._store.walk(self.head)
        commit: Commit | None = None
        try:
            commit = next(walk, None)
            while commit is not None:
                following = next(walk, None)
                parent = commit.parent
                before = (
                    following.tree if following and following.id == parent else self._store.tree_of(parent)
                )
                yield commit, commit.tree != before
                commit = following
        except HistoryDamaged as error:
            self.damaged = error.message
            if commit is not None:
                yield commit, True

    def _groups(self, walked: set[str]) -> Iterator[_Found]:
        """Yield actions in the order of their newest commits, each once all of it was found."""
        queue: list[_Group] = []
        awaited: dict[str, _Group] = {}
        reflecting: _Group | None = None
        standing: dict[str, str | None] = {}
        raised: dict[str, str] = {}
        for commit, changed in self._commits():
            message = parse_message(commit)
            walked.add(commit.short)
            undone_by = standing.get(commit.id)
            _settle(standing, commit.id, message, undone_by)
            if alert := _alert_of_change(message):
                raised[alert] = commit.id
                continue
            if acknowledged := message.trailer(ACKNOWLEDGES):
                self._acknowledged.add(acknowledged)
            first = message.trailer(CONTINUES)
            is_upkeep = message.actor.startswith(_UPKEEP)
            group = awaited.pop(commit.id, None) or awaited.get(first or "")
            if group is None and reflecting is not None and message.actor == reflecting.actor:
                group = reflecting
            if group is None:
                group = _Group(message.actor)
                queue.append(group)
            if message.action == Verb.ALERT and (alert := message.trailer(ALERT)):
                raised[alert] = commit.id
            group.add(commit, message, undone_by, raised)
            raised = {}
            group.is_whole &= len(commit.parents) == 1 and changed and message.action not in _TELLS
            group.waits_for.discard(commit.id)
            if first is not None:
                group.waits_for.add(first)
                awaited[first] = group
            if not is_upkeep:
                reflecting = group if message.actor.startswith(REFLECTION) else None
            while queue and not queue[0].waits_for and queue[0] is not reflecting:
                group = queue.pop(0)
                yield self._action(group), group.hashes
        for group in queue:
            yield self._action(group), group.hashes

    def _action(self, group: _Group) -> Action:
        newest, first = group.commits[0], group.commits[-1]
        message = group.messages[-1]
        undone = all(group.undone_by)
        decisions = [*decisions_of(group.messages).values()]
        lines = [line for each in reversed(group.messages) for line in each.entries]
        owner, begun = owner_of(message), first.moment.astimezone(UTC)
        # All actions of a long history may be kept, and most of them say the same words.
        files = tuple(dict.fromkeys(intern(layout.shown(line.file)) for line in lines))
        returned = _returned(message)
        return Action(
            id=first.id,
            newest=newest.id,
            commits=len(group.commits),
            begun=begun,
            timestamp=begun if newest is first else newest.moment.astimezone(UTC),
            kind=intern(message.action),
            actor=intern(message.actor),
            owner=intern(owner),
            own=owner == self._asker,
            approval=intern(message.approval),
            trigger=intern(message.trigger),
            summary=message.summary,
            files=files,
            memories=0 if message.action == Verb.SYNC else sum(map(memories_told, lines)),
            accepted=decisions.count("approved"),
            declined=decisions.count("rejected"),
            set_aside=decisions.count("deferred"),
            alerts=tuple(group.alerts),
            waiting=tuple(each for each in group.alerts if each not in self._acknowledged),
            undone_by=group.undone_by[-1] if undone else None,
            upkeep=(message.actor.startswith(_UPKEEP) and message.action not in (Verb.ALERT, Verb.SYNC))
            or (message.action == Verb.ACK and message.trigger == SETTLED_BY_ITSELF),
            reversible=group.is_whole and not undone,
            device=message.trailer(DEVICE) or "",
            critical=tuple(path for path in files if path in self._critical),
            passing=all(map(self._is_tick, group.messages)) and (undone or bool(returned)),
            returns=bool(returned),
        )

    def _is_tick(self, message: CommitMessage) -> bool:
        """Return whether a commit ticked something, or only took back or brought back ticks."""
        while about := _returned(message):
            if not self._store.has_object(about[0]):
                return False
            message = parse_message(self._store.commit(about[0]))
        return message.trigger == TICKING

    def _from_log(self, walked: set[str]) -> Iterator[_Found]:
        lines = iterate_audit_backwards(layout.resolve(self._root, layout.AUDIT_LOG))
        for commit, alike in groupby(lines, key=commit_of_line):
            if commit is not None and commit not in walked:
                yield self._told(commit, list(alike)[::-1]), [commit]

    def _told(self, commit: str, lines: list[AuditLine]) -> Action:
        """Return what the audit log says of a commit that cannot be read."""
        line = lines[0]
        owner = owner_of(CommitMessage(line.action, line.file, "", line.actor, line.approval, "", ""))
        return Action(
            id=commit,
            newest=commit,
            commits=1,
            begun=line.timestamp,
            timestamp=line.timestamp,
            kind=line.action,
            actor=line.actor,
            owner=owner,
            own=owner == self._asker,
            approval=line.approval,
            trigger="",
            summary=line.summary.removesuffix(f"({commit})").rstrip(),
            files=tuple(dict.fromkeys(layout.shown(each.file) for each in lines)),
            memories=sum(map(memories_told, lines)),
            upkeep=line.actor.startswith(_UPKEEP) and line.action not in (Verb.ALERT, Verb.SYNC),
            reversible=False,
        )


def _returned(message: CommitMessage) -> list[str]:
    """Return the commits that one took back or brought back."""
    return [target for key, target in message.trailers if key in (UNDOES, REDOES, REVERTS)]


def _alert_of_change(message: CommitMessage) -> str | None:
    """Return the alert that a commit raises about the change before it; one about history itself stands alone."""
    is_alert = message.action == Verb.ALERT and message.file != layout.HISTORY
    return message.trailer(ALERT) if is_alert else None


def _settle(
    standing: dict[str, str | None], commit: str, message: CommitMessage, undone_by: str | None
) -> None:
    """Note which older commits one took back or did again; what a newer one said of them holds."""
    if undone_by is not None or message.trailer(REVERTS_ITEM):
        return
    for key, target in message.trailers:
        if key in (UNDOES, REVERTS):
            standing.setdefault(target, commit)
        elif key == REDOES:
            standing.setdefault(target, None)


def memories_told(line: AuditTrailer | AuditLine) -> int:
    """Return of how many memories a line of the audit log tells; none in files about memory, or of an alert."""
    about = line.file.startswith(f"{layout.META}/") and line.file != layout.DECAY_SCORES
    if about or line.action in _TELLS:
        return 0
    return sum(map(_counted, _QUOTED.sub("", line.summary).split("; ")))


def _counted(told: str) -> int:
    found = _COUNT.match(told)
    if found is None:
        return 1
    count = int((found[1] or found[2] or found[3]).replace(",", ""))
    return count + 1 if found[3] else count
