"""Checks that audit log, git history and files agree, and reports where they do not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from workbench.engine import layout
from workbench.engine.errors import Cancelled, HistoryDamaged, OutsideWorkspace, StorageError
from workbench.engine.history.alerts import (
    PENDING,
    history_is_gone,
    load_seen,
    open_history_alerts,
    tampering,
)
from workbench.engine.history.commits import author_of, parse_message
from workbench.engine.history.git_maintenance import require_git, run_git
from workbench.engine.history.git_store import SHORT, blob_hash, pretences
from workbench.engine.history.projections import audit_lines, pruned_before
from workbench.engine.history.recovery import purge_is_unfinished
from workbench.engine.history.work_files import read_work_file
from workbench.engine.markdown.audit_log import AuditLogFile, render_audit_line
from workbench.engine.results.audit import Verified, VerifyProblem, VerifyProgress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.history.git_store import Commit, GitStore
    from workbench.engine.history.history import History

_REQUIRED = ("Actor", "Approval", "Trigger")
# Another process may write meanwhile; its unfinished work is not a fault.
_ROUNDS = 3
# Between two progress reports.
_TOLD_EVERY = 200
# How lines of `git fsck` that report a problem begin.
_COMPLAINTS = ("error", "fatal", "missing", "broken", "bad")
_Item = TypeVar("_Item")


def verify(
    history: History,
    *,
    deep: bool = False,
    progress: Callable[[VerifyProgress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Verified:
    """Check the whole record of memory; writes nothing and takes no lock.

    Kinds of problems: `rewritten` (history differs from the one last seen, or its alert is open),
    `misleading` (git would show another history), `broken-object`, `foreign-commit`, `missing-trailer`, `author`,
    `unaccounted` (a commit changed a file without an audit line; deep only), `log-missing` (a commit without its
    line), `log-extra` (a line without its commit), `log-order`, `log-line` (unreadable), `outside-edit`,
    `unreadable`, `unfinished` (a writer is active, or crashed), `behind` (a derived file has not followed a change).

    Args:
        history: The workspace's history.
        deep: Whether to read every object of the history too, and compare each commit's files with its audit
            lines; needs the git program.
        progress: Called now and then with the progress.
        cancelled: Polled throughout.

    Returns:
        The problems found.

    Raises:
        Cancelled: `cancelled` returned True.
        HistoryError: The git program is needed and missing.
    """
    if deep:
        require_git("to read every object of the history")
    steps = _Steps(progress, cancelled)
    for _ in range(_ROUNDS):
        before = history.head() if history.exists else None
        found = _verify_once(history, steps, deep=deep)
        if found.ok or history.head() == before:
            return found
    return found


@dataclass(frozen=True)
class _Steps:
    """The callers' hooks for progress and cancellation."""

    progress: Callable[[VerifyProgress], None]
    cancelled: Callable[[], bool]

    def through(self, phase: str, items: Iterable[_Item], total: int = 0) -> Iterator[_Item]:
        for done, item in enumerate(items):
            if done % _TOLD_EVERY == 0:
                self.tell(phase, done, total)
            yield item

    def tell(self, phase: str, done: int, total: int) -> None:
        if self.cancelled():
            raise Cancelled("The check was cancelled; it changes nothing.")
        self.progress(VerifyProgress(phase, done, total))


def _verify_once(history: History, steps: _Steps, *, deep: bool) -> Verified:
    if not history.exists:
        gone = tuple(_rewriting(history, ()))
        return Verified(not gone, gone, 0, 0)
    store = history.store
    problems: list[VerifyProblem] = []
    commits: list[Commit] = []
    entries = 0
    try:
        for commit in steps.through("commits", store.walk()):
            commits.append(commit)
            problems.extend(_commit_problems(store, commit))
        entries, found = _log_problems(history, commits)
        problems.extend(found)
        problems.extend(_file_problems(history, commits[0] if commits else None))
        problems.extend(_rewriting(history, commits))
        if deep:
            problems.extend(_unaccounted(store, commits, steps))
    except HistoryDamaged as error:
        problems.append(VerifyProblem("broken-object", layout.HISTORY, str(error)))
    for name, what in pretences(store.path):
        detail = f"Git shows another history than this one: {what}."
        problems.append(VerifyProblem("misleading", f"{layout.HISTORY}/{name}", detail))
    if deep:
        problems.extend(_object_problems(store, steps))
    if not history.journal.is_settled() or purge_is_unfinished(store.path):
        detail = "A writer is active, or crashed; the next change finishes what it began."
        problems.append(VerifyProblem("unfinished", layout.HISTORY, detail))
    problems.extend(VerifyProblem("behind", one.name, one.told) for one in history.behind())
    return Verified(not problems, tuple(problems), len(commits), entries)


def _rewriting(history: History, commits: Sequence[Commit]) -> Iterator[VerifyProblem]:
    """Yield the evidence that history was replaced, until a person acknowledges it."""
    for name, commit in open_history_alerts(commits):
        told = parse_message(commit).summary.removesuffix(PENDING)
        how = f"If you know why, acknowledge it: workbench audit ack {name}"
        detail = f"{told} Noticed {commit.moment:%Y-%m-%d %H:%M}. {how}"
        yield VerifyProblem("rewritten", layout.HISTORY, detail)
    seen = load_seen(history.state)
    # A running purge replaces history before it records what was last seen.
    if seen is None or purge_is_unfinished(history.path):
        return
    if not history.exists:
        gone = history_is_gone(seen)
        yield VerifyProblem("rewritten", layout.HISTORY, f"{gone.message} {gone.remedy}")
    elif rewritten := tampering(history.store, seen):
        detail = f"{rewritten.removesuffix(PENDING)} The next change raises an alert for it: workbench audit alerts"
        yield VerifyProblem("rewritten", layout.HISTORY, detail)


def _commit_problems(store: GitStore, commit: Commit) -> Iterator[VerifyProblem]:
    if not store.has_object(commit.tree):
        yield VerifyProblem(
            "broken-object", commit.short, f"Its tree {commit.tree[:SHORT]} is missing or broken."
        )
    if "\nTransaction: " not in commit.message:
        yield VerifyProblem("foreign-commit", commit.short, f"Written by another program as {commit.author}.")
        return
    for name in _REQUIRED:
        if f"\n{name}: " not in commit.message:
            yield VerifyProblem("missing-trailer", commit.short, f"It does not say its {name.lower()}.")
    if "\nAudit: " not in commit.message:
        yield VerifyProblem("missing-trailer", commit.short, "It has no audit line.")
    actor = parse_message(commit).actor
    if commit.author != author_of(actor)[0]:
        yield VerifyProblem(
            "author", commit.short, f"Its author is {commit.author}, but it says that its actor is {actor}."
        )
    if len(commit.parents) > 1:
        yield VerifyProblem("foreign-commit", commit.short, "It joins two histories.")


def _log_problems(history: History, commits: list[Commit]) -> tuple[int, list[VerifyProblem]]:
    """Compare the log with the commits; lines that pruning may keep or drop are ignored."""
    try:
        content = read_work_file(history.root, layout.AUDIT_LOG) or b""
    except (StorageError, OutsideWorkspace) as error:
        return 0, [VerifyProblem("unreadable", layout.AUDIT_LOG, error.message)]
    watermark = next((mark for mark in map(pruned_before, commits) if mark), None)
    required, optional = [], set()
    place: dict[str, int] = {}
    for number, commit in enumerate(reversed(commits)):
        for line in audit_lines(commit):
            text = render_audit_line(line)
            place[text] = number
            if watermark is None or commit.moment >= watermark:
                required.append(text)
            else:
                optional.add(text)
    if content == "".join(f"{text}\n" for text in required).encode("utf-8", "replace"):
        return len(required), []
    log = AuditLogFile.parse(content)
    problems = [VerifyProblem("log-line", found.where, found.message) for found in log.problems]
    texts = [render_audit_line(line) for line in log.lines]
    lacking = Counter(required) - Counter(texts)
    for text, count in lacking.items():
        problems += [VerifyProblem("log-missing", layout.AUDIT_LOG, f"A commit has no line: {text}")] * count
    due = Counter(required)
    newest = -1
    for number, text in zip(log.numbers, texts, strict=True):
        where = f"{layout.AUDIT_LOG}:{number}"
        due[text] -= 1
        if due[text] < 0 and text not in optional:
            problems.append(VerifyProblem("log-extra", where, f"No commit has this line: {text}"))
        elif place.get(text, newest) < newest:
            problems.append(VerifyProblem("log-order", where, f"It belongs further up: {text}"))
        else:
            newest = place.get(text, newest)
    if log.torn:
        problems.append(VerifyProblem("log-line", layout.AUDIT_LOG, "The last line was cut off."))
    return len(texts), problems


def _file_problems(history: History, head: Commit | None) -> Iterator[VerifyProblem]:
    expected = history.store.tree_files(head.tree) if head else {}
    found = layout.tracked_files(history.root)
    for path, blob in expected.items():
        if path not in found:
            yield VerifyProblem(
                "outside-edit", path, "It was deleted from outside; the next change records that."
            )
        if not history.store.has_object(blob):
            yield VerifyProblem("broken-object", path, f"Its content {blob[:SHORT]} is missing or broken.")
    for path in found:
        try:
            content = read_work_file(history.root, path)
        except (StorageError, OutsideWorkspace) as error:
            yield VerifyProblem("unreadable", path, error.message)
            continue
        if content is not None and expected.get(path) != blob_hash(content):
            how = "edited" if path in expected else "created"
            yield VerifyProblem(
                "outside-edit", path, f"It was {how} from outside; the next change records that."
            )


def _unaccounted(store: GitStore, commits: list[Commit], steps: _Steps) -> Iterator[VerifyProblem]:
    both = zip(commits, [*commits[1:], None], strict=True)
    for commit, older in steps.through("changes", both, len(commits)):
        named = {entry.file for entry in parse_message(commit).entries}
        if older is None and commit.parents:
            continue
        for change in store.changed_paths(older.tree if older else None, commit.tree):
            # A renamed file's old path is covered by the line of its new one.
            if change.path not in named and change.new_blob is not None:
                detail = f"It changed {change.path} without an audit line."
                yield VerifyProblem("unaccounted", commit.short, detail)


def _object_problems(store: GitStore, steps: _Steps) -> Iterator[VerifyProblem]:
    """Have git read every object, reachable or not, and every pack completely."""
    checked = run_git(
        store.path,
        *("fsck", "--full", "--strict", "--no-dangling", "--progress"),
        progress=lambda done, total: steps.tell("objects", done, total),
        cancelled=steps.cancelled,
    )
    lines = re.split(r"[\r\n]+", f"{checked.out}\n{checked.err}")
    told = [line for line in lines if line.startswith(_COMPLAINTS)]
    if checked.status and not told:
        told = [f"git fsck ended with {checked.status}: {checked.err.strip()[-200:]}"]
    for line in dict.fromkeys(told):
        yield VerifyProblem("broken-object", layout.HISTORY, line)
