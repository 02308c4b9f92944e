"""QMD run as a program: with little of the environment, within limits, and ended with its children."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from workbench.engine.patterns import lazy_pattern
from workbench.engine.process import NotRunnable, absolute_search_path, end_program, find_program
from workbench.engine.values import dataclass

MOST_OUTPUT = 4 * 1024 * 1024
_MOST_COMPLAINT = 8 * 1024
_SHOWN_COMPLAINT = 160
# What a program needs to be found and to find its models; no keys or tokens.
_PASSED = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "XDG_CACHE_HOME", "QMD_FORCE_CPU", "QMD_LLAMA_GPU",
)  # fmt: skip
_CONTROL = lazy_pattern(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f]+")


class QmdFailed(Exception):
    """QMD failed; search goes on without it. Its text is one sentence without a full stop."""


@dataclass(frozen=True)
class QmdProgram:
    """A program run with a home of its own.

    Args:
        command: Its name, or its absolute path.
        workspace: The workspace folder; nothing inside it is run.
        environment: The caller's environment, of which little is passed on.
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
        try:
            return find_program(self.command, "qmd.command", self.workspace, self.environment)
        except NotRunnable as error:
            raise QmdFailed(str(error)) from error

    def _variables(self) -> dict[str, str]:
        passed = {name: self.environment[name] for name in _PASSED if name in self.environment}
        return (
            passed
            | {"PATH": absolute_search_path(self.environment), "NO_COLOR": "1", "PWD": str(self.folder)}
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
    end_program(process)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _one_line(complaint: bytes) -> str:
    lines = [_CONTROL.sub(" ", line).strip() for line in complaint.decode("utf-8", "replace").splitlines()]
    said = [line for line in lines if line]
    telling = next((line for line in said if "error" in line.lower()), said[-1] if said else "")
    return telling if len(telling) <= _SHOWN_COMPLAINT else telling[: _SHOWN_COMPLAINT - 1] + "…"
