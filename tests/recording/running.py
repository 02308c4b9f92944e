"""Runs command lines: in this process, where only the answer matters, and as real processes."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.recording import fixing
from tests.recording.stage import Stage

CHECKOUT = Path(__file__).resolve().parents[2]
_LAUNCH = "from tests.recording.fixing import LAUNCHER; LAUNCHER()"
_TIMEOUT = 120


class _Stream(io.TextIOWrapper):
    """One of the three streams, in memory; at a terminal if that is asked for."""

    def __init__(self, content: bytes = b"", *, terminal: bool = False) -> None:
        self.kept = io.BytesIO(content)
        self._terminal = terminal
        super().__init__(self.kept, encoding="utf-8", errors="strict", newline="", write_through=True)

    def isatty(self) -> bool:
        return self._terminal

    @property
    def told(self) -> str:
        return self.kept.getvalue().decode("utf-8", "backslashreplace")


def run_here(
    stage: Stage,
    step: str,
    words: Sequence[str],
    *,
    stdin: bytes,
    environment: dict[str, str],
    terminal: bool,
) -> dict[str, Any]:
    """Run a command line in this process, and return what it said."""
    fixing.hold_still(step)
    given, out, err = (
        _Stream(stdin, terminal=terminal),
        _Stream(terminal=terminal),
        _Stream(terminal=terminal),
    )
    before = sys.stdin, sys.stdout, sys.stderr, sys.argv
    code: Any = None
    raised = None
    with fixing.variables(environment), contextlib.chdir(stage.root):
        sys.stdin, sys.stdout, sys.stderr, sys.argv = given, out, err, ["workbench", *words]
        try:
            fixing.run_program()
        except SystemExit as done:
            code = done.code
        except BaseException as error:  # it would end the program, and so belongs into the record
            raised = f"{type(error).__name__}: {error}"
        finally:
            sys.stdin, sys.stdout, sys.stderr, sys.argv = before
    return answer(stage, code if raised is None else raised, out.told, err.told)


def start(
    stage: Stage, step: str, words: Sequence[str], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start a command line as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", _LAUNCH, step, *words],
        cwd=stage.root,
        env={**environment, "PYTHONPATH": str(CHECKOUT), "PYTHONHASHSEED": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def run_apart(
    stage: Stage, step: str, words: Sequence[str], *, stdin: bytes, environment: dict[str, str]
) -> dict[str, Any]:
    """Run a command line as a process of its own, and return what it said."""
    process = start(stage, step, words, environment)
    try:
        out, err = process.communicate(stdin, timeout=_TIMEOUT)
    finally:
        process.kill()
        process.wait()
    return answer(stage, process.returncode, _text(out), _text(err))


def answer(stage: Stage, code: Any, out: str, err: str) -> dict[str, Any]:
    """Shape what a command line said for the record."""
    told: dict[str, Any] = {"exit": code}
    parsed = _parsed(out)
    if parsed is not None:
        told["json"] = stage.normaliser.value(parsed)
    else:
        told["stdout"] = stage.normaliser.text(out).split("\n")
    if err:
        told["stderr"] = stage.normaliser.text(err).split("\n")
    return told


def _parsed(out: str) -> Any:
    """Return the JSON values that stand on the lines of an answer; None where it is anything else."""
    if not out.startswith(("{", "[")) or not out.endswith("\n"):
        return None
    try:
        values = [json.loads(line) for line in out.removesuffix("\n").split("\n")]
    except ValueError:
        return None
    return values[0] if len(values) == 1 else values


def _text(told: bytes) -> str:
    return told.decode("utf-8", "backslashreplace")
