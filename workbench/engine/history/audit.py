"""The audit log: who changed what, when and why (design document §12.7), with line differences and blame."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from itertools import groupby, islice
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound
from workbench.engine.history.commits import parse_message
from workbench.engine.history.git_store import SHORT, diff_text
from workbench.engine.history.plan import Action
from workbench.engine.history.projections import audit_lines, commit_of_line, pruned_before
from workbench.engine.markdown.audit_log import iterate_audit_backwards
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from workbench.engine.history.commits import CommitIndex
    from workbench.engine.history.git_store import Commit, GitStore
    from workbench.engine.markdown.audit_log import AuditLine


_LINE_END = re.compile(r"\r\n|\n|\r")

Opcode = tuple[str, int, int, int, int]


def split_lines(text: str) -> list[str]:
    """Split a text into lines without their ends; only LF, CRLF and CR end a line."""
    lines = _LINE_END.split(text)
    if not lines[-1]:
        lines.pop()
    return lines


def line_opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return opcodes like `difflib`'s, faster for texts with a common beginning or end."""
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shortest - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    opcodes: list[Opcode] = [("equal", 0, head, 0, head)] if head else []
    if inner_old and inner_new:
        matcher = SequenceMatcher(None, inner_old, inner_new, autojunk=False)
        opcodes += [(k, a + head, b + head, c + head, d + head) for k, a, b, c, d in matcher.get_opcodes()]
    elif inner_old or inner_new:
        kind = "delete" if inner_old else "insert"
        opcodes.append((kind, head, head + len(inner_old), head, head + len(inner_new)))
    if tail:
        opcodes.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return opcodes


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


def iterate_entries(root: Path, store: GitStore | None, wanted: LogFilter = ANYTHING) -> Iterator[AuditEntry]:
    """Yield the entries of the whole history, newest first, reading lazily.

    Entries missing from the log come from git first, then the log, then pruned entries from git again.

    Args:
        root: The workspace folder, absolute.
        store: The history; None if there is none yet.
        wanted: The filter.
    """
    if store is not None:
        yield from filter(wanted.takes, _all_entries(root, store))


def read_entries(
    root: Path,
    store: GitStore | None,
    wanted: LogFilter = ANYTHING,
    *,
    limit: int | None = None,
    offset: int = 0,
) -> tuple[AuditEntry, ...]:
    """Return one page of the entries, newest first.

    Args:
        root: The workspace folder, absolute.
        store: The history; None if there is none yet.
        wanted: The filter.
        limit: Maximum number of entries; None for all.
        offset: Number of entries to skip.
    """
    stop = None if limit is None else offset + limit
    return tuple(islice(iterate_entries(root, store, wanted), offset, stop))


class Actions:
    """Groups log entries by action.

    Args:
        index: The index of the first-parent commits.
    """

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
        wanted: The filter.
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
        store: The history.
        index: The index of the first-parent commits.
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
        store: The history.
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
        before = store.read_blob(change.old_blob) if change.old_blob else None
        after = store.read_blob(change.new_blob) if change.new_blob else None
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
        root: The workspace folder, absolute.
        store: The history.
        path: Workspace-relative.
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
    # Lines without an author yet: their line in the version being examined, by line in the final version.
    places = {number: number for number in range(len(lines))}
    for commit, _, old in _versions(root, store, path, start):
        before = split_lines(_text(old) or "")
        current = {place: number for number, place in places.items()}
        places = {}
        for kind, i1, _, j1, j2 in line_opcodes(before, lines):
            for j in range(j1, j2):
                if j not in current:
                    continue
                if kind == "equal":
                    places[current[j]] = i1 + j - j1
                else:
                    written[current[j]] = commit
        lines = before
        if not places:
            break
    final = split_lines(_text(content) or "")
    actors: dict[str, str] = {}
    rows = []
    for number, commit in sorted(written.items()):
        actor = actors.setdefault(commit.id, parse_message(commit).actor)
        rows.append(BlameLine(number + 1, final[number], commit.id, actor, commit.moment.astimezone(UTC)))
    return Blame(layout.shown(path), tuple(rows))


def file_history(
    root: Path, store: GitStore, path: str, *, limit: int | None = None
) -> tuple[HistoryEntry, ...]:
    """Return the commits that changed a file, newest first, following renames."""
    start = store.head()
    if start is None:
        return ()
    found = []
    for commit, name, _ in islice(_versions(root, store, layout.normalise(path), start), limit):
        message = parse_message(commit)
        entry = next(
            (entry for entry in message.entries if layout.shown(entry.file) == layout.shown(name)), None
        )
        found.append(
            HistoryEntry(
                commit.id,
                commit.moment.astimezone(UTC),
                message.actor,
                entry.approval if entry else message.approval,
                entry.summary if entry else message.summary,
            )
        )
    return tuple(found)


def _all_entries(root: Path, store: GitStore) -> Iterator[AuditEntry]:
    head = store.head()
    lines = iterate_audit_backwards(layout.resolve(root, layout.AUDIT_LOG))
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
    last = _known_commit(store, oldest)
    parent = store.commit(last).parent if last else None
    if parent:
        yield from _entries_of(
            commit for commit in store.walk(parent) if watermark is None or commit.moment < watermark
        )


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


def _versions(
    root: Path, store: GitStore, path: str, start: str
) -> Iterator[tuple[Commit, str, bytes | None]]:
    """Yield the commits that changed a file, newest first: commit, path then, content before."""
    seen: set[str] = set()
    begun = start == store.head()
    for entry in iterate_entries(root, store):
        if entry.commit is None or entry.commit in seen:
            continue
        begun = begun or start.startswith(entry.commit)
        if not begun or entry.file not in (layout.shown(path), "*"):
            continue
        seen.add(entry.commit)
        commit = store.commit(store.resolve(entry.commit))
        after = store.tree_blob(commit.tree, path)
        before = store.blob_id(commit.parent, path) if commit.parent else None
        if before == after:
            continue
        name = path
        if before is None and commit.parent:
            renamed = next((c for c in store.changes(commit.id) if c.path == path and c.old_path), None)
            if renamed and renamed.old_path:
                before, path = renamed.old_blob, renamed.old_path
        yield commit, name, store.read_blob(before) if before else None
        if before is None:
            return


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")
