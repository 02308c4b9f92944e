"""The QMD program as a search backend: run within limits, kept up to date, paused after failures."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO

from workbench.engine.clock import Clock
from workbench.engine.errors import StorageError
from workbench.engine.file_access import open_regular_file
from workbench.engine.search.chunks import Within
from workbench.engine.search.qmd_results import (
    QmdAnswer,
    QmdCollection,
    QmdFailed,
    answer_of,
    collections_of,
    configuration,
    find_file,
    question_for,
    read_answer,
)
from workbench.engine.settings.sections import QmdSettings

MOST_OUTPUT = 4 * 1024 * 1024
_MOST_COMPLAINT = 8 * 1024
_SHOWN_COMPLAINT = 160
# What a program needs to be found and to find its models; no keys or tokens.
_PASSED = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "XDG_CACHE_HOME", "QMD_FORCE_CPU", "QMD_LLAMA_GPU",
)  # fmt: skip
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f]+")
HOME = "qmd"
UPDATE_SECONDS = 120.0
EMBED_SECONDS = 1800.0
MOST_FILE_BYTES = 4 * 1024 * 1024
_FAILURES_BEFORE_PAUSE = 3
_PAUSE = timedelta(seconds=60)
_MORE_WHERE_FILTERED = 5


@dataclass(frozen=True)
class QmdProgram:
    """A program run with a home of its own.

    Args:
        command: Its name, or its absolute path.
        workspace: The workspace folder; nothing inside it is run.
        folder: Working folder.
        environment: The caller's environment, of which little is passed on.
        settings: Additional variables.
    """

    command: str
    workspace: Path
    folder: Path
    environment: Mapping[str, str]
    settings: Mapping[str, str]

    def run(self, arguments: Sequence[str], seconds: float) -> bytes:
        """Run it and return its standard output.

        Args:
            arguments: Passed unchanged, without a shell.
            seconds: Timeout, after which the whole process group is killed.

        Raises:
            QmdFailed: It is missing, failed, took too long or wrote too much.
        """
        path = self._path()
        try:
            process = subprocess.Popen(
                [path, *arguments],
                cwd=self.folder,
                env=self._variables(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise QmdFailed(f"“{self.command}” cannot be run: {why}") from error
        try:
            output, complaint = _collect(process, seconds)
        finally:
            _end(process)
        if process.returncode != 0:
            said = _one_line(complaint)
            raise QmdFailed(f"QMD ended with code {process.returncode}" + (f": {said}" if said else ""))
        return output

    def _path(self) -> str:
        if os.sep in self.command or self.command.startswith("~"):
            path = Path(self.command).expanduser()
            if not path.is_absolute():
                raise QmdFailed("qmd.command must be the name of a program or an absolute path")
            found = shutil.which(path)
        else:
            found = shutil.which(self.command, path=self._search_path())
        if found is None:
            raise QmdFailed(f"the program “{self.command}” was not found")
        if Path(found).resolve().is_relative_to(self.workspace.resolve()):
            raise QmdFailed("the program lies in the workspace, and nothing there is run")
        return found

    def _search_path(self) -> str:
        """Return the PATH without relative folders."""
        folders = self.environment.get("PATH", os.defpath).split(os.pathsep)
        return os.pathsep.join(folder for folder in folders if Path(folder).is_absolute())

    def _variables(self) -> dict[str, str]:
        passed = {name: self.environment[name] for name in _PASSED if name in self.environment}
        return (
            passed
            | {"PATH": self._search_path(), "NO_COLOR": "1", "PWD": str(self.folder)}
            | dict(self.settings)
        )


def _collect(process: subprocess.Popen[bytes], seconds: float) -> tuple[bytes, bytes]:
    assert process.stdout is not None
    assert process.stderr is not None
    until = time.monotonic() + seconds
    written: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in written:
            selector.register(stream, selectors.EVENT_READ, stream)
        while selector.get_map():
            ready = selector.select(max(0.0, until - time.monotonic()))
            if not ready and time.monotonic() >= until:
                raise QmdFailed(f"QMD did not answer within {seconds:g} s")
            for key, _ in ready:
                stream = key.data
                block = os.read(stream.fileno(), 65_536)
                if not block:
                    selector.unregister(stream)
                elif stream is process.stdout:
                    written[stream] += block
                    if len(written[stream]) > MOST_OUTPUT:
                        raise QmdFailed(f"QMD wrote more than {MOST_OUTPUT // 1024**2} MiB")
                else:
                    # The end of it says what went wrong.
                    written[stream] = (written[stream] + block)[-_MOST_COMPLAINT:]
    try:
        process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired as error:
        raise QmdFailed(f"QMD did not end within {seconds:g} s") from error
    return bytes(written[process.stdout]), bytes(written[process.stderr])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the program's process group; its children must not outlive the search."""
    # Systems differ in how they report an empty group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _one_line(complaint: bytes) -> str:
    lines = [_CONTROL.sub(" ", line).strip() for line in complaint.decode("utf-8", "replace").splitlines()]
    said = [line for line in lines if line]
    telling = next((line for line in said if "error" in line.lower()), said[-1] if said else "")
    return telling if len(telling) <= _SHOWN_COMPLAINT else telling[: _SHOWN_COMPLAINT - 1] + "…"


@dataclass(frozen=True)
class QmdStatus:
    """State of QMD.

    Args:
        last_update: Last update of its index, aware; None if never.
        failure: Why it last failed, or None.
        paused_until: End of the pause after failures, or None.
    """

    backend: str
    mode: str
    collections: tuple[str, ...]
    last_update: datetime | None
    failure: str | None
    paused_until: datetime | None


def delete_home(cache_folder: Path) -> None:
    """Delete QMD's data for a workspace, which holds copies of texts, even if QMD is no longer used.

    Args:
        cache_folder: The workspace's cache folder.

    Raises:
        StorageError: It cannot be deleted.
    """
    try:
        shutil.rmtree(cache_folder / HOME)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(
            f"What QMD keeps cannot be deleted: {error.strerror or error}.",
            where=str(cache_folder / HOME),
            remedy="Delete it: texts that were to be forgotten for good may still be in it.",
        ) from error


class QmdBackend:
    """QMD for one workspace, with its home in the cache folder.

    Args:
        settings: How to run it and what to index.
        root: The workspace folder, absolute.
        cache_folder: The workspace's cache folder; QMD's home is `qmd` in it.
        clock: For due updates and pauses.
        environment: Environment variables; the process's own by default.
    """

    def __init__(
        self,
        settings: QmdSettings,
        root: Path,
        cache_folder: Path,
        clock: Clock,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._settings = settings
        self._root = root
        self._home = cache_folder / HOME
        self._clock = clock
        self._program = QmdProgram(
            settings.command,
            root,
            self._home,
            os.environ if environment is None else environment,
            {"QMD_CONFIG_DIR": str(self._home), "INDEX_PATH": str(self._home / "index.sqlite")},
        )
        self._failures = 0
        self._failure: str | None = None
        self._paused_until: datetime | None = None
        self._dirty = settings.update_on_boot

    def search(self, query: str, max_results: int | None = None, within: Within | None = None) -> QmdAnswer:
        """Query QMD; the very first search also indexes the files, within the search timeout.

        Args:
            query: Any text.
            max_results: Most hits; by default what the settings say.
            within: Filter; days are those in file names.

        Raises:
            QmdFailed: It cannot answer, or is paused after repeated failures.
        """
        within = within or Within()
        most = max_results or self._settings.max_results
        self._pass()
        collections = collections_of(self._root, self._settings)
        question = question_for(query, self._settings.mode)
        if not question or not collections:
            return QmdAnswer((), self._settings.mode)
        count = most if within == Within() else most * _MORE_WHERE_FILTERED
        seconds = self._settings.timeout_ms / 1000
        try:
            self._lay_out(collections)
            if not (self._home / "index.sqlite").exists():
                self._update(seconds)
            matches = read_answer(
                self._program.run(
                    (self._settings.mode, "--index", "index", "--json", "-n", str(count), "--", question),
                    seconds,
                )
            )
            answer = answer_of(matches, collections, self._settings, within, most)
        except QmdFailed as failure:
            self._count(failure)
            raise
        self._failures, self._failure, self._paused_until = 0, None, None
        return answer

    def changed(self) -> None:
        """Note that files changed; the next update follows once the interval has passed."""
        self._dirty = True

    def is_due(self) -> bool:
        """Return whether an update is due: at the start, after a change, or by the clock."""
        last = self._last_update()
        if last is None:
            return True
        passed = self._clock.now() - last
        if self._dirty and passed >= timedelta(milliseconds=self._settings.debounce_ms):
            return True
        minutes = self._settings.update_minutes
        return minutes > 0 and passed >= timedelta(minutes=minutes)

    def refresh(self, seconds: float = UPDATE_SECONDS) -> None:
        """Update QMD's index, and its embeddings if enabled. Takes seconds to minutes.

        Args:
            seconds: Timeout of the update; embedding may take half an hour.

        Raises:
            QmdFailed: The update failed.
        """
        try:
            self._lay_out(collections_of(self._root, self._settings))
            self._update(seconds)
            if self._settings.embed:
                self._program.run(("embed", "--index", "index"), EMBED_SECONDS)
        except QmdFailed as failure:
            self._failure = failure.reason
            raise
        self._failure = None

    def read(self, shown_path: str) -> bytes | None:
        """Return an outside file by its path `qmd/<collection>/<relative>`, at most 4 MiB of it.

        Returns:
            None if no collection has such a file.
        """
        place = find_file(collections_of(self._root, self._settings), shown_path)
        if place is None:
            return None
        try:
            with open_regular_file(place) as opened:
                return opened.read(MOST_FILE_BYTES)
        except OSError:
            return None

    def status(self) -> QmdStatus:
        """Return its state without running it."""
        return QmdStatus(
            "qmd",
            self._settings.mode,
            tuple(each.name for each in collections_of(self._root, self._settings)),
            self._last_update(),
            self._failure,
            self._paused_until,
        )

    def _pass(self) -> None:
        """Let one search try again after a pause; others wait for its outcome."""
        now = self._clock.now()
        if self._paused_until is None:
            return
        if now < self._paused_until:
            raise QmdFailed(
                f"QMD is not asked until {self._paused_until:%H:%M:%S} UTC, since {self._failure}"
            )
        self._paused_until = now + _PAUSE

    def _count(self, failure: QmdFailed) -> None:
        self._failure = failure.reason
        self._failures += 1
        if self._failures >= _FAILURES_BEFORE_PAUSE:
            self._paused_until = self._clock.now() + _PAUSE

    def _lay_out(self, collections: tuple[QmdCollection, ...]) -> None:
        """Write QMD's configuration if it changed."""
        wanted = configuration(collections)
        place = self._home / "index.yml"
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            if place.is_file() and place.read_text("utf-8") == wanted:
                return
            temporary = place.with_name(f"index.{os.getpid()}.tmp")
            temporary.write_text(wanted, "utf-8")
            temporary.replace(place)
        except OSError as error:
            raise QmdFailed(f"its folder cannot be written: {error.strerror}") from error
        self._dirty = True

    def _update(self, seconds: float) -> None:
        self._dirty = False
        try:
            self._program.run(("update", "--index", "index"), seconds)
            self._mark().touch()
            moment = self._clock.now().timestamp()
            os.utime(self._mark(), (moment, moment))
        except QmdFailed:
            self._dirty = True
            raise
        except OSError as error:
            raise QmdFailed(f"its folder cannot be written: {error.strerror}") from error

    def _mark(self) -> Path:
        return self._home / "updated"

    def _last_update(self) -> datetime | None:
        try:
            return datetime.fromtimestamp(self._mark().stat().st_mtime, UTC)
        except OSError:
            return None
