"""Upkeep of the history: git is run isolated from configuration, repacks when due, and all is checked.

A check compares audit log, git history and files, and reports where they do not agree.
"""

from __future__ import annotations

import fcntl
import os
import re
import selectors
import shutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import (
    Cancelled,
    HistoryDamaged,
    HistoryError,
    Locked,
    OutsideWorkspace,
    StorageError,
)
from workbench.engine.history.alerts import (
    PENDING,
    history_is_gone,
    load_seen,
    open_history_alerts,
    tampering,
)
from workbench.engine.history.commits import author_of, parse_message
from workbench.engine.history.git_folder import pretences
from workbench.engine.history.git_objects import SHORT, blob_hash
from workbench.engine.history.projections import audit_lines, pruned_before
from workbench.engine.history.recovery import purge_is_unfinished
from workbench.engine.history.work_files import read_work_file
from workbench.engine.markdown.audit_log import AuditLogFile, render_audit_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.process import process_lock
from workbench.engine.results.audit import Verified, VerifyProblem
from workbench.engine.steps import Progress, Steps
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.history import History


# What git needs from the environment to run; everything else could change its behaviour.
_KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")
# Variables by which a person tells git how to reach a remote.
_OF_TRANSPORT = (
    "GIT_SSH",
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_HTTP_",
    "GIT_SSL_",
    "GIT_PROXY_",
)
_LOOK_AGAIN = 0.1  # seconds between checks for cancellation
_COUNTED = lazy_pattern(rb"\((\d+)/(\d+)\)")
_importing = threading.Lock()

REPACK_LOCK = "workbench.repack"
# Loose objects cost an inode and a search each; large trees waste space long before there are many.
MANY_OBJECTS = 2_000
MANY_BYTES = 64 * 1024 * 1024
MANY_PACKS = 40
# Processes started here, polled now and then so that none remains a zombie.
_started: list[subprocess.Popen[bytes]] = []

_REQUIRED = ("Actor", "Approval", "Trigger")
# Another process may write meanwhile; its unfinished work is not a fault.
_ROUNDS = 3
# How lines of `git fsck` that report a problem begin.
_COMPLAINTS = ("error", "fatal", "missing", "broken", "bad")


@dataclass(frozen=True)
class Ran:
    """Git's exit status and output."""

    status: int
    out: str
    err: str


def git_available() -> bool:
    """Return True if the git program is installed."""
    return shutil.which("git") is not None


def require_git(purpose: str) -> None:
    """Check that the git program is installed.

    Args:
        purpose: What it is needed for, as in “to purge”.

    Raises:
        HistoryError: It is missing.
    """
    if not git_available():
        raise HistoryError(
            f"The git program is missing; it is needed {purpose}.",
            where="PATH",
            remedy="Install git from git-scm.com. Everything but this and repacking works without it.",
        )


def git_command(folder: Path, *arguments: str) -> list[str]:
    """Return the command line for git on a history.

    Args:
        arguments: The git command and its arguments.
    """
    plain = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
    return ["git", f"--git-dir={folder}", *plain, *arguments]


def git_environment() -> dict[str, str]:
    """Return an environment that isolates git from everything outside the repository."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # A history is complete; the remote that its config names could be any program.
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        # Replacement refs are ignored.
        "GIT_NO_REPLACE_OBJECTS": "1",
        "HOME": os.devnull,
        "LC_ALL": "C",
    }


@dataclass(frozen=True)
class GitOutside:
    """The surroundings of a git command that talks to a remote: the person's own settings and helpers count.

    Args:
        variables: Set beside those of this process.
        options: Given to git before the command.
        may_ask: Whether git, ssh and helpers may ask at the terminal.
        pass_fds: File descriptors to inherit.
    """

    variables: Mapping[str, str]
    options: tuple[str, ...]
    may_ask: bool
    pass_fds: tuple[int, ...]


def run_git(
    folder: Path,
    *arguments: str,
    progress: Callable[[int, int], None] = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
    outside: GitOutside | None = None,
) -> Ran:
    """Run git on a history and wait; the caller checks the exit status.

    Args:
        arguments: The git command and its arguments.
        progress: Called with git's progress on standard error: done, total.
        cancelled: Polled while git runs.
        outside: Where a remote is talked to; otherwise git is isolated.

    Raises:
        Cancelled: `cancelled` returned True; git has ended.
        HistoryError: Git cannot be started.
    """
    process = start_git(folder, *arguments) if outside is None else _start_outside(folder, arguments, outside)
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = bytearray(), bytearray()
    try:
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ, out)
            waiting.register(process.stderr, selectors.EVENT_READ, err)
            while waiting.get_map():
                if cancelled():
                    raise Cancelled("Cancelled.")
                for key, _ in waiting.select(_LOOK_AGAIN):
                    chunk = os.read(key.fd, 65536)
                    key.data.extend(chunk)
                    if not chunk:
                        waiting.unregister(key.fileobj)
                    elif key.data is err and (counted := _COUNTED.findall(chunk)):
                        progress(int(counted[-1][0]), int(counted[-1][1]))
        status = process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()
    return Ran(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


def start_git(
    folder: Path,
    *arguments: str,
    in_background: bool = False,
    pass_fds: tuple[int, ...] = (),
    stdin: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start git on a history.

    Args:
        arguments: The git command and its arguments.
        in_background: Let it outlive this process at low priority, with its output discarded.
        pass_fds: File descriptors to inherit.
        stdin: What it reads from, as for `subprocess`; nothing if left out.

    Raises:
        HistoryError: Git cannot be started.
    """
    # GitPython adds to this process's environment; `env -i` keeps that from git.
    variables = [f"{name}={value}" for name, value in git_environment().items()]
    clean = [_env(), "-i", *variables]
    nice = ["nice", "-n", "19"] if in_background and shutil.which("nice") else []
    process = _execute(
        folder,
        [*nice, *clean, *git_command(folder, *arguments)],
        with_stdout=not in_background,
        pass_fds=pass_fds,
        istream=stdin,
        start_new_session=in_background,
    )
    if in_background and process.stderr is not None:
        process.stderr.close()
    return process


def _start_outside(folder: Path, arguments: Sequence[str], outside: GitOutside) -> subprocess.Popen[bytes]:
    """Start git with a person's own settings; of its variables, only those for transport count.

    A value may be a password, so none stands on a command line.
    """
    dropped = [name for name in os.environ if name.startswith("GIT_") and not name.startswith(_OF_TRANSPORT)]
    kept_out = [option for name in dropped for option in ("-u", name)]
    command, *rest = git_command(folder, *arguments)
    return _execute(
        folder,
        [_env(), *kept_out, command, *outside.options, *rest],
        env=dict(outside.variables),
        pass_fds=outside.pass_fds,
        # Without a terminal of its own nothing can ask there.
        start_new_session=not outside.may_ask,
    )


def _env() -> str:
    return shutil.which("env") or "/usr/bin/env"


def _execute(folder: Path, command: list[str], **options: object) -> subprocess.Popen[bytes]:
    require_git("to look after the history")
    gitpython = _gitpython()
    try:
        started = gitpython.Git(folder).execute(command, as_process=True, **options)
    except (OSError, gitpython.GitError) as error:
        raise HistoryError(
            f"The git program cannot be run: {error}.",
            where=str(folder),
            remedy="Install git from git-scm.com, and give yourself the right to run it.",
        ) from error
    # Otherwise GitPython would terminate the process when its wrapper is collected.
    process: subprocess.Popen[bytes] = started.proc
    started.proc = None
    return process


def _gitpython() -> ModuleType:
    """Import GitPython, which runs the configured git program at import, in the isolated environment."""
    with _importing:
        if "git" not in sys.modules:
            aside = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("GIT_")}
            os.environ["GIT_PYTHON_REFRESH"] = "quiet"
            try:
                return import_module("git")
            finally:
                del os.environ["GIT_PYTHON_REFRESH"]
                os.environ.update(aside)
        return sys.modules["git"]


@dataclass(frozen=True)
class LooseObjects:
    """The loose objects of a history, their bytes, and its packs."""

    objects: int
    size: int
    packs: int


def count_loose_objects(
    folder: Path, *, enough_objects: int = MANY_OBJECTS, enough_bytes: int = MANY_BYTES
) -> LooseObjects:
    """Count the loose objects in a git directory, stopping early once repacking is due.

    Args:
        enough_objects: Stop past this many objects.
        enough_bytes: Stop past this many bytes.
    """
    objects = size = 0
    store = folder / "objects"
    packs = sum(1 for entry in _listed(store / "pack") if entry.name.endswith(".pack"))
    for group in _listed(store):
        if len(group.name) != 2:
            continue
        for entry in _listed(Path(group.path)):
            # A concurrent repack may remove objects meanwhile.
            with suppress(FileNotFoundError):
                size += entry.stat(follow_symlinks=False).st_size
                objects += 1
        if objects > enough_objects or size > enough_bytes:
            break
    return LooseObjects(objects, size, packs)


def repack_if_due(
    history: History,
    *,
    many_objects: int = MANY_OBJECTS,
    many_bytes: int = MANY_BYTES,
    many_packs: int = MANY_PACKS,
) -> subprocess.Popen[bytes] | None:
    """Start repacking in a separate process if it is due; return at once.

    Loose objects are gathered into packs, and small packs into larger ones. Every object exists at all times, so
    readers and writers continue. A lock held by the process prevents a second one. Listing the loose objects is
    cheap enough for the end of a session, not for every change.

    Args:
        many_objects: Repack past this many loose objects,
        many_bytes: or this many bytes of them,
        many_packs: or this many packs.

    Returns:
        The process, which may outlive this one; None if nothing is due, one is already running, or git is missing
        (see `History.warnings`).
    """
    if not history.exists:
        return None
    folder = history.store.path
    _started[:] = [process for process in _started if process.poll() is None]
    clutter = count_loose_objects(folder, enough_objects=many_objects, enough_bytes=many_bytes)
    if clutter.objects <= many_objects and clutter.size <= many_bytes and clutter.packs <= many_packs:
        return None
    if not git_available():
        return None
    return _start(folder)


@contextmanager
def repacking_paused(folder: Path, wait: float) -> Iterator[None]:
    """Keep background repacking out for a block, waiting for one that is running.

    Args:
        wait: Seconds.

    Raises:
        Locked: A running repack did not end in time.
        StorageError: The lock file cannot be written.
    """
    with process_lock(folder / REPACK_LOCK, wait) as alone:
        if not alone:
            raise Locked(
                "The history is being repacked or purged by another process; nothing was changed.",
                where=str(folder),
                remedy=f"Try again in a minute; waited {wait:g} s.",
            )
        yield


def _start(folder: Path) -> subprocess.Popen[bytes] | None:
    try:
        handle = os.open(folder / REPACK_LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise StorageError(
            f"History cannot be repacked: {error.strerror}.",
            where=str(folder),
            remedy="Make the folder writable.",
        ) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return None
        if purge_is_unfinished(folder):
            # Objects to be purged may not be packed again.
            return None
        # The child owns the lock once it inherits the handle; the kernel frees it when the child ends.
        arguments = ("repack", "-d", "-l", "-q", "--geometric=2", "--window-memory=64m", "--threads=1")
        process = start_git(folder, *arguments, in_background=True, pass_fds=(handle,))
        _started.append(process)
        return process
    finally:
        os.close(handle)


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []


def verify(
    history: History,
    *,
    deep: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Verified:
    """Check the whole record of memory; writes nothing, and takes no lock that a writer waits for.

    Kinds of problems: `rewritten` (history differs from the one last seen, or its alert is open),
    `misleading` (git would show another history), `broken-object`, `foreign-commit`, `missing-trailer`, `author`,
    `unaccounted` (a commit changed a file without an audit line; deep only), `log-missing` (a commit without its
    line), `log-extra` (a line without its commit), `log-order`, `log-line` (unreadable), `outside-edit`,
    `unreadable`, `unfinished` (a writer is active, or crashed), `behind` (a derived file has not followed a change).

    Args:
        deep: Whether to read every object of the history too, and compare each commit's files with its audit
            lines; needs the git program. Objects that seem damaged are read twice, the second time after a repack
            that may have moved them; where that does not end, what seems damaged says so.
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
    steps = Steps("The check was cancelled; it changes nothing.", progress, cancelled)
    for _ in range(_ROUNDS):
        before = history.head() if history.exists else None
        found = _verify_once(history, steps, deep=deep)
        if found.ok or history.head() == before:
            return found
    return found


def _verify_once(history: History, steps: Steps, *, deep: bool) -> Verified:
    if not history.exists:
        gone = tuple(_rewriting(history, ()))
        return Verified(not gone, gone, 0, 0)
    store = history.store
    problems: list[VerifyProblem] = []
    commits: list[Commit] = []
    entries = 0
    try:
        for commit in steps.over("commits", store.walk()):
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
        problems.extend(_object_problems(history, steps))
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
    if len(commit.parents) > 1 and not commit.message.startswith("[SYNC]"):
        yield VerifyProblem("foreign-commit", commit.short, "It joins two histories, and is no sync.")


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


def _unaccounted(store: GitStore, commits: list[Commit], steps: Steps) -> Iterator[VerifyProblem]:
    known = {commit.id for commit in commits}
    for commit in steps.over("changes", commits, len(commits)):
        named = {entry.file for entry in parse_message(commit).entries}
        if not known.issuperset(commit.parents):
            continue
        for change in store.own_changes(commit):
            # A renamed file's old path is covered by the line of its new one.
            if change.path not in named and change.new_blob is not None:
                detail = f"It changed {change.path} without an audit line."
                yield VerifyProblem("unaccounted", commit.short, detail)


def _object_problems(history: History, steps: Steps) -> Iterator[VerifyProblem]:
    """Have git read every object, reachable or not, and every pack completely."""
    found = _complaints(history.store, steps)
    told = ""
    if found:
        # A repack takes loose objects away while git reads them, which git calls damage: wait for its end and look
        # again. Its lock is let go of before: the look may take minutes, for which nobody who writes would wait, and
        # that another repack begins right then is as unlikely as the first was.
        try:
            # What cannot be written, nobody repacks.
            with suppress(StorageError), repacking_paused(history.path, history.lock_timeout):
                pass
            found = _complaints(history.store, steps)
        except Locked:
            told = "; the history was being repacked meanwhile, which may look like damage: check again in a minute"
    for line in found:
        yield VerifyProblem("broken-object", layout.HISTORY, f"{line}{told}")


def _complaints(store: GitStore, steps: Steps) -> Sequence[str]:
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
    return tuple(dict.fromkeys(told))
