"""The audit log: who changed what, when and why (design document §12.7), with line differences and blame.

Lines beyond its window are pruned, and monthly digests of them are kept (§12.6).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from itertools import groupby, islice
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.clock import render_time
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound, StorageError
from workbench.engine.history.commits import parse_message
from workbench.engine.history.differences import diff_text, line_opcodes, split_lines
from workbench.engine.history.git_objects import SHORT
from workbench.engine.history.permissions import owner_of
from workbench.engine.history.plan import Action, Attribution, Event, FileChange, Plan
from workbench.engine.history.projections import (
    PRUNED_BEFORE,
    audit_lines,
    commit_of_line,
    pruned_before,
    rewrite_audit_log,
)
from workbench.engine.history.revert import ITEM
from workbench.engine.markdown.audit_log import (
    AuditArchive,
    MonthlyDigest,
    iterate_audit_backwards,
    render_audit_fields,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.audit import (
    ActionCommit,
    AuditEntry,
    Blame,
    BlameLine,
    CommitView,
    DiffView,
    FileDiff,
)
from workbench.engine.results.memories import HistoryEntry
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from workbench.engine.history.commits import CommitIndex
    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.history import History
    from workbench.engine.history.plan import FileView, Receipt
    from workbench.engine.markdown.audit_log import AuditLine


# What stands in the line of the log, beside its own name, that matters to the history of a file.
_EVERY_FILE, _JOINED, _PRUNED = b"*", Action.SYNC.encode(), Action.PRUNE.encode()
_NOT_MUTATIONS = frozenset({Action.ALERT, Action.ACK, Action.PRUNE, Action.PURGE})
_LEADING_COUNT = lazy_pattern(r"^(\d+)\b")
# Beginnings of the lines that this module writes into a digest; all other lines are a person's.
_OWN_SUMMARY = lazy_pattern(
    r"^(\d+ total mutations? across|\d+ reflection sessions?\b|\d+ critical file changes?$"
    r"|\d+ decay transitions?,|Kinds: )"
)
_MANY_ENTITIES = 3

WINDOW = 90
_BY = Attribution("system:retention", "auto", "retention window")


@dataclass(frozen=True)
class LogFilter:
    """A filter for log entries; fields that are None or empty match everything.

    Args:
        actor: A tag or a pattern, such as `reflection:*`.
        action: An action of the vocabulary, in any case.
        file: A path or a pattern, such as `memory/graph/*`; a bare file name matches in any folder.
        since: Aware, inclusive.
        until: Aware, inclusive.
        text: Part of the summary, file or actor, in any case.
    """

    actor: str | None = None
    action: str | None = None
    file: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    text: str | None = None

    def takes(self, entry: AuditEntry) -> bool:
        """Return True if an entry matches."""
        if self.actor and not fnmatchcase(entry.actor, self.actor):
            return False
        if self.action and entry.action != self.action.upper():
            return False
        if (
            self.file
            and entry.file != layout.shown(self.file)
            and not fnmatchcase(entry.file, self.file)
            and entry.file.rpartition("/")[2] != self.file
        ):
            return False
        if (self.since and entry.timestamp < self.since) or (self.until and entry.timestamp > self.until):
            return False
        if not self.text:
            return True
        return self.text.casefold() in f"{entry.summary}\n{entry.file}\n{entry.actor}".casefold()


ANYTHING = LogFilter()


def iterate_entries(root: Path, store: GitStore, wanted: LogFilter = ANYTHING) -> Iterator[AuditEntry]:
    """Yield the entries of the whole history, newest first, reading lazily.

    Entries missing from the log come from git first, then the log, then pruned entries from git again.
    """
    return filter(wanted.takes, _all_entries(root, store))


class Actions:
    """Groups log entries by action."""

    def __init__(self, index: CommitIndex) -> None:
        first = index.actions()
        counts = Counter(first)
        names = [index.commit(place) for place in range(len(index))]
        self._of = {
            name[:SHORT]: (names[begun], counts[begun]) for name, begun in zip(names, first, strict=True)
        }

    def told(self, entry: AuditEntry) -> AuditEntry:
        """Return an entry with its action; a commit outside the index is an action of its own."""
        if entry.commit is None:
            return entry
        begun, count = self._of.get(entry.commit[:SHORT], (entry.commit, 1))
        return replace(entry, group=begun[: len(entry.commit)], action_commits=count)


def newest_actions(entries: Iterable[AuditEntry], wanted: LogFilter, limit: int) -> Iterator[AuditEntry]:
    """Yield the matching entries of the newest actions that have any, newest first, reading lazily.

    Args:
        entries: The whole log, newest first, each entry with its action.
        limit: Maximum number of actions.
    """
    commits: Counter[str] = Counter()
    chosen: dict[str, int] = {}
    for number, (commit, of_commit) in enumerate(groupby(entries, key=lambda entry: entry.commit)):
        if len(chosen) == limit and all(commits[group] >= count for group, count in chosen.items()):
            return
        alike = list(of_commit)
        group = alike[0].group or f"{commit} {number}"
        commits[group] += 1
        for entry in filter(wanted.takes, alike):
            if len(chosen) < limit:
                chosen.setdefault(group, entry.action_commits)
            if group in chosen:
                yield entry


def show_commit(store: GitStore, index: CommitIndex, name: str) -> CommitView:
    """Return one commit with its full audit record.

    Args:
        name: A hash or its first digits.

    Raises:
        NotFound: No commit matches.
        Ambiguous: Several commits match.
    """
    commit = store.commit(store.resolve(name))
    message = parse_message(commit)
    action = _action_of(store, index, commit.id)
    group = action[-1].commit[:SHORT] if action else commit.short
    entries = tuple(map(_entry, audit_lines(commit)))
    return CommitView(
        commit=commit.id,
        timestamp=commit.moment.astimezone(UTC),
        actor=message.actor,
        approval=message.approval,
        trigger=message.trigger,
        subject=commit.message.partition("\n")[0],
        files=tuple(layout.shown(change.path) for change in store.changes(commit.id)),
        entries=tuple(replace(each, group=group, action_commits=len(action) or 1) for each in entries),
        trailers=message.trailers,
        undone_by=index.undone_by(commit.id),
        action=action,
    )


def _action_of(store: GitStore, index: CommitIndex, commit: str) -> tuple[ActionCommit, ...]:
    place = index.place(commit)
    if place is None:
        return ()
    first = index.actions()
    found = (
        store.commit(index.commit(at)) for at in range(len(index) - 1, -1, -1) if first[at] == first[place]
    )
    return tuple(
        ActionCommit(each.id, each.moment.astimezone(UTC), each.message.partition("\n")[0]) for each in found
    )


def diff(store: GitStore, name: str, *, path: str | None = None) -> DiffView:
    """Return what changed in one commit (`abc1234`) or between two (`abc1234..def5678`).

    Args:
        name: A commit, or the older and the newer joined by two dots; the newer defaults to the newest.
        path: Only this file.

    Raises:
        NotFound: A commit does not exist, or the path did not change.
        InvalidInput: Both ends are missing.
    """
    older, dots, newer = name.partition("..")
    if dots and not older.strip():
        raise InvalidInput(
            "The older commit is missing.", where=name, remedy="Give both, as in abc1234..def5678."
        )
    end = store.commit(store.resolve(newer if dots and newer.strip() else "HEAD" if dots else older))
    start = store.commit(store.resolve(older)) if dots else None
    if start is None and end.parent:
        start = store.commit(end.parent)
    changes = store.tree_changes(start.tree if start else None, end.tree)
    files = []
    for change in changes:
        if path is not None and layout.normalise(path) not in (change.path, change.old_path):
            continue
        before, after = store.contents(change)
        unified = diff_text(change.path, before, after)
        files.append(FileDiff(layout.shown(change.path), _text(before), _text(after), unified))
    if path is not None and not files:
        raise NotFound(
            "This file did not change there.",
            where=path,
            remedy=f"See what did: workbench audit show {end.short}",
        )
    return DiffView(start.id if start else None, end.id, tuple(files))


def blame(root: Path, store: GitStore, path: str, *, at: str | None = None) -> Blame:
    """Return who wrote each line of a file according to history, following renames.

    Args:
        at: The commit whose version is blamed; the newest by default.

    Raises:
        NotFound: History has no such file.
    """
    path = layout.normalise(path)
    start = store.resolve(at or "HEAD")
    content = store.file_at(start, path)
    if content is None:
        raise NotFound(
            "History has no such file.", where=path, remedy="List files with: workbench audit at now"
        )
    lines = split_lines(_text(content) or "")
    written: dict[int, Commit] = {}
    # Lines without an author yet, by version of the file: their line there, and the line in the final version. There
    # is one version at a time, but where two devices changed the file side by side.
    waiting: dict[bytes | None, dict[int, int]] = {content: {number: number for number in range(len(lines))}}
    for version in _versions(root, store, path, start):
        current = waiting.pop(version.content, None)
        if current is None:
            continue
        lines = split_lines(_text(version.content) or "")
        for before in version.before:
            current = _passed_on(
                split_lines(_text(before) or ""), lines, current, waiting.setdefault(before, {})
            )
        written |= dict.fromkeys(current.values(), version.commit)
        waiting = {version: places for version, places in waiting.items() if places}
        if not waiting:
            break
    final = split_lines(_text(content) or "")
    actors: dict[str, str] = {}
    rows = []
    for number, commit in sorted(written.items()):
        actor = actors.setdefault(commit.id, parse_message(commit).actor_of(path))
        rows.append(BlameLine(number + 1, final[number], commit.id, actor, commit.moment.astimezone(UTC)))
    return Blame(layout.shown(path), tuple(rows))


def _passed_on(
    before: Sequence[str], after: Sequence[str], places: Mapping[int, int], older: dict[int, int]
) -> dict[int, int]:
    """Hand the lines that an older version has to it; return the places of the others.

    Args:
        before: The older version.
        after: The version in which the places are.
        places: Lines of the final version by their line in `after`.
        older: Those of the older version; extended.
    """
    left = dict(places)
    for kind, i1, _, j1, j2 in line_opcodes(before, after):
        for j in range(j1, j2) if kind == "equal" else ():
            if j in left:
                older[i1 + j - j1] = left.pop(j)
    return left


def file_history(
    root: Path, store: GitStore, path: str, *, limit: int | None = None
) -> tuple[HistoryEntry, ...]:
    """Return the commits that changed a file, newest first, following renames."""
    start = store.head()
    if start is None:
        return ()
    versions = islice(_versions(root, store, layout.normalise(path), start), limit)
    return tuple(entry_of_file(version.commit, version.path) for version in versions)


def entry_of_file(commit: Commit, path: str) -> HistoryEntry:
    """Return what a commit says of a file that it changed."""
    message = parse_message(commit)
    entry = next((each for each in message.entries if layout.shown(each.file) == layout.shown(path)), None)
    return HistoryEntry(
        commit.id,
        commit.moment.astimezone(UTC),
        message.actor_of(entry.file) if entry else message.actor,
        entry.approval if entry else message.approval,
        entry.summary if entry else message.summary,
        owner=owner_of(message),
    )


def _all_entries(
    root: Path, store: GitStore, takes: Callable[[bytes], bool] = lambda _: True
) -> Iterator[AuditEntry]:
    """Yield the entries of the whole history; of the log those alone whose line is taken, and some others."""
    head = store.head()
    lines = iterate_audit_backwards(
        layout.resolve(root, layout.AUDIT_LOG), lambda raw: _PRUNED in raw or takes(raw)
    )
    newest = next(lines, None)
    known = _known_commit(store, newest)
    if newest is None or known is None:
        yield from _entries_of(store.walk(head) if head else iter(()))
        return
    yield from _entries_of(store.walk(head, stop=known))
    watermark: datetime | None = None
    oldest = newest
    line: AuditLine | None = newest
    while line is not None:
        if watermark is None and line.action == Action.PRUNE:
            watermark = _watermark_of(store, line)
        if watermark is not None and line.timestamp < watermark:
            break
        oldest = line
        yield _entry(line)
        line = next(lines, None)
    if watermark is not None:
        yield from _entries_of(commit for commit in store.walk(head) if commit.moment < watermark)
        return
    last = _known_commit(store, oldest)
    parent = store.commit(last).parent if last else None
    if parent:
        yield from _entries_of(store.walk(parent))


def _entries_of(commits: Iterator[Commit]) -> Iterator[AuditEntry]:
    for commit in commits:
        yield from map(_entry, reversed(audit_lines(commit)))


def _entry(line: AuditLine) -> AuditEntry:
    commit = commit_of_line(line)
    summary = line.summary.removesuffix(f"({commit})").rstrip() if commit else line.summary
    return AuditEntry(line.timestamp, line.action, line.file, line.actor, line.approval, summary, commit)


def _known_commit(store: GitStore, line: AuditLine | None) -> str | None:
    """Return the commit that a line names, or None if history lacks it."""
    name = commit_of_line(line) if line else None
    try:
        return store.resolve(name) if name else None
    except (NotFound, Ambiguous):
        return None


def _watermark_of(store: GitStore, line: AuditLine) -> datetime | None:
    commit = _known_commit(store, line)
    return pruned_before(store.commit(commit)) if commit else None


@dataclass(frozen=True)
class _Version:
    """A commit that changed a file: the path and content then, and what was before, of each history that it joined."""

    commit: Commit
    path: str
    content: bytes | None
    before: tuple[bytes | None, ...]


def _versions(root: Path, store: GitStore, path: str, start: str) -> Iterator[_Version]:
    """Yield the commits that changed a file, newest first."""
    seen: set[str] = set()
    begun, joins = start == store.head(), False

    def takes(raw: bytes) -> bool:
        # Nearly all lines are about other files: that is seen without reading them.
        return not begun or any(each in raw for each in (_named_in_log(path), _EVERY_FILE, _JOINED))

    for entry in _all_entries(root, store, takes):
        if entry.commit is None or entry.commit in seen:
            continue
        begun = begun or start.startswith(entry.commit)
        joins |= begun and entry.action == Action.SYNC
        if not begun or entry.file not in (layout.shown(path), "*"):
            continue
        seen.add(entry.commit)
        commit = store.commit(store.resolve(entry.commit))
        after = store.tree_blob(commit.tree, path)
        before = [store.tree_blob(store.tree_of(parent), path) for parent in commit.parents] or [None]
        if after in before:
            continue
        name = path
        if before == [None] and commit.parent:
            renamed = next((c for c in store.changes(commit.id) if c.path == path and c.old_path), None)
            if renamed and renamed.old_path:
                before, path = [renamed.old_blob], renamed.old_path
        contents = [store.read_blob(blob) if blob else None for blob in (after, *before)]
        yield _Version(commit, name, contents[0], tuple(contents[1:]))
        if before == [None] and not joins:
            return


def _named_in_log(path: str) -> bytes:
    return render_audit_fields((layout.shown(path),)).encode("utf-8", "surrogateescape")


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")


@dataclass(frozen=True)
class DatedLine:
    """An audit line, with the decisions on reflection items that its commit recorded."""

    line: AuditLine
    decisions: tuple[str, ...]

    @property
    def day(self) -> str:
        """Return the day in UTC, `2026-01-15`."""
        return f"{self.line.timestamp:%Y-%m-%d}"


def summarise_month(month: str, lines: Sequence[DatedLine], critical: frozenset[str]) -> MonthlyDigest:
    """Return the digest of a month.

    Args:
        month: `2026-01`.
        lines: All pruned lines of that month, oldest first.
    """
    return MonthlyDigest(month, tuple(_summary(lines, critical)), tuple(_events(lines, critical)))


def merge_digest(existing: MonthlyDigest | None, before: MonthlyDigest, now: MonthlyDigest) -> MonthlyDigest:
    """Return a month's new digest with what a person added to the old one.

    Args:
        existing: The archive's digest; None if it has none for this month.
        before: The digest of the lines pruned before.
        now: The digest of all lines pruned by now.
    """
    if existing is None:
        return now
    own_summary = tuple(line for line in existing.summary if not _OWN_SUMMARY.match(line))
    own_events = tuple(event for event in existing.events if event not in {*before.events, *now.events})
    events = tuple(sorted((*now.events, *own_events), key=lambda event: event[0]))
    return MonthlyDigest(now.month, now.summary + own_summary, events)


def _summary(lines: Sequence[DatedLine], critical: frozenset[str]) -> Iterator[str]:
    mutations = [found.line for found in lines if found.line.action not in _NOT_MUTATIONS]
    files = {line.file for line in mutations}
    yield f"{_count(len(mutations), 'total mutation')} across {_count(len(files), 'file')}"
    yield _reflections(lines)
    yield _count(sum(line.file in critical for line in mutations), "critical file change")
    transitions = sum(_transitions(line) for line in mutations if line.action == Action.DECAY)
    archivals = sum(line.action == Action.ARCHIVE for line in mutations)
    yield f"{_count(transitions, 'decay transition')}, {_count(archivals, 'archival event')}"
    kinds = Counter(found.line.action for found in lines)
    if kinds:
        yield "Kinds: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _reflections(lines: Sequence[DatedLine]) -> str:
    sessions: dict[str, set[str]] = {}
    for found in lines:
        if found.line.actor.startswith("reflection:"):
            decisions = sessions.setdefault(found.line.actor, set())
            decisions.update(found.decisions or (found.line.approval,))
    kinds = Counter(_verdict(decisions) for decisions in sessions.values())
    detail = ", ".join(
        f"{kinds[kind]} {kind}" for kind in ("approved", "partial", "rejected", "pending") if kinds[kind]
    )
    return _count(len(sessions), "reflection session") + (f" ({detail})" if detail else "")


def _verdict(decisions: set[str]) -> str:
    approved = bool(decisions & {"approved", "auto"})
    rejected = bool(decisions & {"rejected", "deferred", "undecided"})
    if approved:
        return "partial" if rejected else "approved"
    return "rejected" if rejected else "pending"


def _events(lines: Sequence[DatedLine], critical: frozenset[str]) -> Iterator[tuple[str, str]]:
    by_day: dict[str, list[AuditLine]] = {}
    for found in lines:
        by_day.setdefault(found.day, []).append(found.line)
    for day in sorted(by_day):
        for text in dict.fromkeys(_events_of_day(by_day[day], critical)):
            yield day, text


def _events_of_day(lines: Sequence[AuditLine], critical: frozenset[str]) -> Iterator[str]:
    kinds = Counter(line.action for line in lines)
    for line in lines:
        if line.file in critical and line.action not in _NOT_MUTATIONS:
            yield f"{line.file} changed by {line.actor}"
    if any(line.actor == "system:init" for line in lines):
        yield "History begins"
    created = [line.file for line in lines if line.action == Action.CREATE and line.actor != "system:init"]
    entities = {file for file in created if file.startswith(f"{layout.ENTITIES}/")}
    if len(entities) >= _MANY_ENTITIES:
        yield f"{len(entities)} new entities added"
    for file in created:
        if file.startswith(f"{layout.PROCEDURES}/"):
            yield f"Procedure learned: {file.rpartition('/')[2].removesuffix('.md')}"
    for actor in dict.fromkeys(line.actor for line in lines if line.actor.startswith("reflection:")):
        yield f"Reflection {actor.removeprefix('reflection:')} applied"
    for action, text in (
        (Action.MERGE, "merge"),
        (Action.REVERT, "revert"),
        (Action.DELETE, "deletion"),
        (Action.ALERT, "alert"),
        (Action.PURGE, "purge"),
    ):
        if kinds[action]:
            yield _count(kinds[action], text)


def _transitions(line: AuditLine) -> int:
    leading = _LEADING_COUNT.match(line.summary)
    return int(leading.group(1)) if leading else 1


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def prune(
    history: History,
    days: int = WINDOW,
    *,
    cancelled: Callable[[], bool] = lambda: False,
) -> Receipt[int]:
    """Summarise the audit lines older than a number of days by month, and drop them from the log.

    The digests go into `memory/meta/audit-archive.md`, each recomputed from all commits of its month, so that a
    month pruned in parts has one digest; lines added by a person stay. Git keeps everything. The window ends at
    midnight UTC. Lines of open alerts stay in the log. The commit's `Pruned-Before` trailer marks where a
    rewritten log begins.

    Args:
        days: Length of the window.
        cancelled: Polled between months; if it returns True, nothing is pruned.

    Returns:
        A receipt with the number of summarised commits; without a commit if nothing is old enough.

    Raises:
        InvalidInput: The window is shorter than a day.
        StorageError: The log cannot be written; the next pruning repairs it.
    """
    if days < 1:
        raise InvalidInput("The window is too short.", where=f"{days} days", remedy="Give a day or more.")

    def plan(files: FileView) -> Plan[int]:
        cutoff = _cutoff(history, days)
        commits = list(history.store.walk())
        watermark = next((mark for mark in map(pruned_before, commits) if mark), None)
        old = [commit for commit in reversed(commits) if commit.moment < cutoff]
        fresh = [commit for commit in old if watermark is None or commit.moment >= watermark]
        nothing = Plan(Action.PRUNE, layout.AUDIT_LOG, "nothing to prune", outcome=0)
        if not fresh:
            return nothing
        before = files.read(layout.AUDIT_ARCHIVE) or b""
        archive = AuditArchive.parse(before)
        by_month = defaultdict(list)
        for commit in old:
            by_month[_month(commit)].append(commit)
        for month in sorted({_month(commit) for commit in fresh}):
            if cancelled():
                return nothing
            of_month = by_month[month]
            earlier = [commit for commit in of_month if watermark is not None and commit.moment < watermark]
            archive = archive.put(
                merge_digest(
                    archive.digest(month),
                    summarise_month(month, _dated(earlier), history.critical),
                    summarise_month(month, _dated(of_month), history.critical),
                )
            )
        summary = f"summed up {len(fresh)} commits before {cutoff:%Y-%m-%d}"
        return Plan(
            Action.PRUNE,
            layout.AUDIT_LOG,
            summary,
            changes=(FileChange(layout.AUDIT_ARCHIVE, archive.render(), Action.PRUNE, summary),),
            events=(Event(Action.PRUNE, layout.AUDIT_LOG, summary),),
            trailers=((PRUNED_BEFORE, render_time(cutoff)),),
            outcome=len(fresh),
        )

    with history.writing(_BY.actor) as turn:
        receipt = turn.carry_out(plan, _BY)
        if receipt.commit or _log_reaches_past_watermark(history):
            try:
                rewrite_audit_log(history.root, turn.store, history.state)
            except OSError as error:
                raise StorageError(
                    f"The audit log cannot be written: {error.strerror or error}.",
                    where=layout.AUDIT_LOG,
                    remedy="Make it writable, then prune again; nothing is lost.",
                ) from error
    return receipt


def _cutoff(history: History, days: int) -> datetime:
    midnight = history.clock.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=days)


def _watermark(history: History) -> datetime | None:
    pruned = next(iterate_entries(history.root, history.store, LogFilter(action=Action.PRUNE)), None)
    commit = pruned.commit if pruned else None
    return pruned_before(history.store.commit(history.store.resolve(commit))) if commit else None


def _log_reaches_past_watermark(history: History) -> bool:
    """Return True if a crash kept an earlier pruning from dropping its lines."""
    watermark = _watermark(history)
    if watermark is None:
        return False
    try:
        with layout.resolve(history.root, layout.AUDIT_LOG).open(encoding="utf-8", errors="replace") as file:
            return file.readline()[:10] < f"{watermark:%Y-%m-%d}"
    except (FileNotFoundError, NotADirectoryError):
        return False


def _month(commit: Commit) -> str:
    return f"{commit.moment.astimezone(UTC):%Y-%m}"


def _dated(commits: Sequence[Commit]) -> list[DatedLine]:
    lines = []
    for commit in commits:
        decisions = tuple(
            value.split()[-1] for key, value in parse_message(commit).trailers if key == ITEM and " " in value
        )
        lines += [DatedLine(line, decisions) for line in audit_lines(commit)]
    return lines
