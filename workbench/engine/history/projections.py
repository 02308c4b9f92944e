"""Keeps `memory/meta/audit.log` and other derived files in step with the commits (design document §12.4)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from pathlib import Path

from workbench.engine import layout
from workbench.engine.clock import parse_time
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound, WorkbenchError
from workbench.engine.file_access import read_state, replace_unflushed, write_all, write_state
from workbench.engine.history.alerts import raised_alerts
from workbench.engine.history.commits import DEVICE, parse_message
from workbench.engine.history.git_folder import damaged
from workbench.engine.history.git_objects import Commit
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.plan import Action, FileView
from workbench.engine.history.work_files import WorkFiles
from workbench.engine.markdown.audit_log import AuditLine, parse_audit_line, render_audit_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

# Trailer of a PRUNE commit: lines before this time (ISO 8601) are summarised elsewhere and not restored.
PRUNED_BEFORE = "Pruned-Before"

_COMMIT = lazy_pattern(r"\(([0-9a-f]{7,40})\)$")
_TAIL = 64 * 1024

_FILE = "projections.json"
# What long work is called, and commits between two reports of it.
_WRITING = "Writing the audit log"
_TOLD_EVERY = 500

Progress = Callable[[str, int, int], None]
_AUDIT = f"the audit log ({layout.AUDIT_LOG})"


def say_nothing(_what: str, _done: int, _total: int) -> None:
    """Leave long work untold."""


@dataclass(frozen=True)
class _Tail:
    """The end of the log: the offset after its last whole line, the newest commit named, and its number of lines."""

    end: int
    size: int
    commit: str | None
    count: int


def audit_lines(commit: Commit) -> list[AuditLine]:
    """Return a commit's lines of the audit log."""
    message = parse_message(commit)
    moment = commit.moment.astimezone(UTC)
    device = message.trailer(DEVICE)
    on = f" · on {device}" if device else ""
    return [
        AuditLine(
            timestamp=moment,
            action=entry.action,
            file=layout.shown(entry.file),
            actor=entry.actor or message.actor,
            approval=entry.approval,
            summary=layout.shown(f"{entry.summary}{on} ({commit.short})"),
        )
        for entry in message.entries
    ]


def commit_of_line(line: AuditLine) -> str | None:
    """Return the abbreviated commit that a line of the log ends with, or None."""
    found = _COMMIT.search(line.summary)
    return found[1] if found else None


def complete_audit_log(
    root: Path, store: GitStore, state: Path | None = None, progress: Progress = say_nothing
) -> None:
    """Append the lines that the log lacks; rewrite it if it is missing or belongs to another history.

    Args:
        state: Folder of derived state, to find open alerts quickly.
        progress: Told how far it is where all of it is written.

    Raises:
        OutsideWorkspace: The log's path is a link.
        OSError: It cannot be written.
    """
    head = store.head()
    if head is None:
        return
    place = layout.resolve(root, layout.AUDIT_LOG)
    tail = _read_tail(place)
    newest = _resolved(store, tail.commit)
    if newest is not None and store.is_ancestor(newest, head):
        missing, met = _since_met(store, head, newest)
        lines: list[AuditLine] = []
        if met.id == newest:
            lines = audit_lines(met)[tail.count :]
        else:
            # Another device worked meanwhile: its lines go between those since the two went apart.
            tail = _read_tail(place, named=met.short)
        if tail.commit is not None:
            lines += [line for later in reversed(missing) for line in audit_lines(later)]
            if lines or tail.end != tail.size:
                _append(place, tail.end, lines)
            return
    try:
        _replace(place, expected_audit_lines(store, state, progress))
    finally:
        progress(_WRITING, 0, 0)


def _resolved(store: GitStore, commit: str | None) -> str | None:
    if commit is None:
        return None
    try:
        return store.resolve(commit)
    except (NotFound, Ambiguous):
        return None


def _since_met(store: GitStore, head: str, former: str) -> tuple[list[Commit], Commit]:
    """Return the commits of a history since where one that it rests on is told in the same order, and that commit.

    Devices that worked side by side are told in the order of time, which differs by where the telling begins.

    Args:
        head: The newest commit.
        former: The newest commit before.
    """
    walks = store.walk_told(head), store.walk_told(former)
    # Commits after which each walk goes on with all that they rest on, and where they were met.
    met: tuple[dict[str, int], dict[str, int]] = ({}, {})
    walked: list[Commit] = []
    for now, then in zip_longest(*walks):
        for side, step in enumerate((now, then)):
            if step is None:
                continue
            commit, is_whole = step
            if side == 0:
                walked.append(commit)
            if is_whole:
                met[side][commit.id] = len(walked) - 1
                if commit.id in met[1 - side]:
                    return walked[: met[0][commit.id]], commit
    raise damaged(store.path, "its beginnings cannot be told apart")


def rewrite_audit_log(root: Path, store: GitStore, state: Path | None) -> None:
    """Rewrite the whole log, replacing the old file.

    Raises:
        OutsideWorkspace: The log's path is a link.
        OSError: It cannot be written.
    """
    _replace(layout.resolve(root, layout.AUDIT_LOG), expected_audit_lines(store, state))


def expected_audit_lines(
    store: GitStore, state: Path | None = None, progress: Progress = say_nothing
) -> list[AuditLine]:
    """Return every line of the complete log, oldest first, without pruned lines other than open alerts."""
    commits: list[Commit] = []
    watermark: datetime | None = None
    for commit in store.walk():
        commits.append(commit)
        if len(commits) % _TOLD_EVERY == 0:
            progress(_WRITING, len(commits), 0)
        if watermark is None and commit.message.startswith("[PRUNE]"):
            watermark = pruned_before(commit)
    if watermark is None:
        return [line for commit in reversed(commits) for line in audit_lines(commit)]
    open_alerts = {alert.commit for alert in raised_alerts(store, state) if alert.acknowledgement is None}
    return [
        line
        for commit in reversed(commits)
        if commit.moment >= watermark or commit.id in open_alerts
        for line in audit_lines(commit)
    ]


def pruned_before(commit: Commit) -> datetime | None:
    """Return the time up to which a PRUNE commit pruned the log; None for any other commit."""
    if PRUNED_BEFORE not in commit.message:
        return None
    message = parse_message(commit)
    text = message.trailer(PRUNED_BEFORE) if message.action == Action.PRUNE else None
    try:
        return parse_time(text) if text else None
    except InvalidInput:
        return None


def _read_tail(place: Path, length: int = _TAIL, *, named: str | None = None) -> _Tail:
    """Read the end of the log: up to the last line of the commit that is named, or else of the newest."""
    try:
        with place.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(0, size - length)
            file.seek(start)
            content = file.read(size - start)
    except (FileNotFoundError, NotADirectoryError):
        return _Tail(0, 0, None, 0)
    whole, newline, torn = content.rpartition(b"\n")
    # The block may begin in the middle of a line.
    lines = whole.split(b"\n")[1 if start else 0 :] if newline else []
    newest: str | None = None
    count = 0
    end = size - len(torn)
    for raw in reversed(lines):
        line = parse_audit_line(raw.decode("utf-8", "replace").rstrip("\r"))
        commit = commit_of_line(line) if line else None
        if newest is None and named is not None and commit != named:
            end -= len(raw) + 1
            continue
        if newest is None:
            newest = commit
        if newest is not None:
            if commit != newest:
                break
            count += 1
    else:
        # The whole block belongs to one commit, or to none: there may be more.
        if start:
            return _read_tail(place, length * 16, named=named)
    return _Tail(end, size, newest, count)


def _append(place: Path, end: int, lines: Iterable[AuditLine]) -> None:
    handle = os.open(place, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    try:
        os.ftruncate(handle, end)
        write_all(handle, _render(lines))
    finally:
        os.close(handle)


def _replace(place: Path, lines: Iterable[AuditLine]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    replace_unflushed(place, _render(lines), place.with_name(".workbench-log-0.tmp"))


def _render(lines: Iterable[AuditLine]) -> bytes:
    return "".join(render_audit_line(line) + "\n" for line in lines).encode("utf-8", "replace")


@dataclass(frozen=True)
class Projection:
    """Something derived from the tracked files.

    Args:
        name: What people call it, with its article and its file: `the graph index (memory/graph/index.md)`.
        run: Takes the changed paths and the current files; returns untracked files to write, by path.
    """

    name: str
    run: Callable[[Sequence[str], FileView], Mapping[str, bytes]]


@dataclass(frozen=True)
class StaleProjection:
    """A projection that could not follow a change.

    Args:
        name: Which.
        reason: The error.
        paths: The changed files that it has yet to process.
    """

    name: str
    reason: str
    paths: tuple[str, ...]

    @property
    def told(self) -> str:
        """Return a message for a person, with the remedy."""
        stop = "" if self.reason.rstrip("”’)").endswith((".", "!", "?", "…")) else "."
        return (
            f"The change is stored, but {self.name} could not follow it: {self.reason}{stop} "
            "The next change tries again; `workbench doctor` says what is still behind."
        )


class Projections:
    """Everything derived from the files, and what of it is behind.

    Args:
        state: Folder of derived state, where stale projections are recorded.
        projections: Those beside the audit log.
    """

    def __init__(
        self,
        root: Path,
        state: Path,
        projections: Sequence[Projection],
        progress: Progress = say_nothing,
    ) -> None:
        self._progress = progress
        self._root = root
        self._state = state
        self._projections = projections
        # What could not be recorded is remembered until this process ends.
        self._unnoted: dict[str, StaleProjection] | None = None

    def behind(self) -> tuple[StaleProjection, ...]:
        """Return the projections that have not processed every change."""
        # Other processes update projections too, and a purge deletes the record.
        known = _load(self._state / _FILE) if self._unnoted is None else self._unnoted
        return tuple(known.values())

    def follow(self, paths: Sequence[str], store: GitStore) -> None:
        """Update the audit log and everything else derived from changed files."""
        before = {one.name: one for one in self.behind()}
        found = dict(before)
        self._attempt(found, _AUDIT, paths, lambda _: self._complete_log(store))
        for projection in self._projections:
            self._attempt(found, projection.name, paths, partial(self._write, projection))
        if found != before:
            rows = {one.name: {"reason": one.reason, "paths": one.paths} for one in found.values()}
            is_noted = write_state(self._state / _FILE, json.dumps(rows).encode())
            self._unnoted = None if is_noted else found

    def _complete_log(self, store: GitStore) -> None:
        complete_audit_log(self._root, store, self._state, self._progress)

    def write_or_remove(self, paths: Sequence[str]) -> None:
        """Write the files derived from these paths, or remove those that cannot be written.

        This serves a purge: a derived file may not keep purged content.

        Raises:
            OSError: One can be neither written nor removed.
        """
        found: dict[str, StaleProjection] = {}
        for projection in self._projections:
            self._attempt(found, projection.name, paths, partial(self._write, projection))
        if found:
            (self._root / layout.GRAPH_INDEX).unlink(missing_ok=True)

    def _attempt(
        self,
        found: dict[str, StaleProjection],
        name: str,
        paths: Sequence[str],
        run: Callable[[Sequence[str]], None],
    ) -> None:
        missed = found[name].paths if name in found else ()
        due = tuple(dict.fromkeys((*missed, *paths)))
        try:
            run(due)
        except Exception as error:  # the change is already committed: a projection may not make it fail
            reason = (
                str(error)
                if isinstance(error, WorkbenchError | OSError)
                else f"{type(error).__name__}: {error}"
            )
            found[name] = StaleProjection(name, reason, due)
        else:
            found.pop(name, None)

    def _write(self, projection: Projection, paths: Sequence[str]) -> None:
        view = WorkFiles(self._root)
        for path, content in projection.run(paths, view).items():
            if path not in layout.PROJECTIONS:
                raise InvalidInput(f"“{path}” is not a derived file.", remedy="Return it in the plan.")
            place = layout.resolve(self._root, path)
            if view.read(path) != content:
                place.parent.mkdir(parents=True, exist_ok=True)
                replace_unflushed(place, content, place.with_name(".workbench-projection-0.tmp"))


def _load(file: Path) -> dict[str, StaleProjection]:
    stored = read_state(file)
    found: dict[str, StaleProjection] = {}
    for name, row in stored.items() if isinstance(stored, dict) else ():
        match row:
            case {"reason": str(reason), "paths": list(paths)}:
                found[str(name)] = StaleProjection(str(name), reason, tuple(map(str, paths)))
    return found
