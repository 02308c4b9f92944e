"""Runs the QMD program: bounded in time, output and what it is told, and ended with everything it started."""

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
from pathlib import Path
from typing import IO

from workbench.engine.recall.qmd.failure import QmdFailed

MOST_OUTPUT = 4 * 1024 * 1024
_MOST_COMPLAINT = 8 * 1024
_SHOWN_COMPLAINT = 160
# What a program needs to be found and to find its models; keys and tokens are not among it.
_PASSED = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "XDG_CACHE_HOME", "QMD_FORCE_CPU", "QMD_LLAMA_GPU",
)  # fmt: skip
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f]+")


@dataclass(frozen=True)
class Program:
    """A program that is run on a home of its own.

    Args:
        command: Its name, or its absolute path.
        workspace: The workspace folder; nothing that lies in it is run.
        folder: Where it runs.
        environment: What the caller was told; little of it is passed on.
        settings: Variables of its own.
    """

    command: str
    workspace: Path
    folder: Path
    environment: Mapping[str, str]
    settings: Mapping[str, str]

    def run(self, arguments: Sequence[str], seconds: float) -> bytes:
        """Run it and return what it wrote to its standard output.

        Args:
            arguments: Passed as they are, through no shell.
            seconds: After so long it is ended, and all it started.

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
        """Return the folders of programs, without those that depend on where one stands."""
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
    """End the program's whole group; what it started must not outlive the search."""
    # Where nothing of it is left, some systems say so in one way, some in the other.
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
