"""The program as it is run: a process of its own, with a home and a clock of its own."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from workbench.cli.root import workbench

NOW = "2026-02-02T14:30:00Z"


@dataclass
class Program:
    """Runs `python -m workbench` in a folder, with a home and a clock of its own.

    Args:
        folder: The workspace.
        home: Of whoever runs it.
        now: What its clock says.
        extra: Further variables.
        here: Whether `run` stays in this process, for tests of what is answered rather than of processes: starting one
            takes longer than most answers.
    """

    folder: Path
    home: Path
    now: str = NOW
    extra: tuple[tuple[str, str], ...] = ()
    here: bool = False

    @property
    def environment(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("WORKBENCH_", "GIT_"))
        }
        for name in ("VISUAL", "EDITOR", "NO_COLOR"):
            kept.pop(name, None)
        own = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "WORKBENCH_NOW": self.now,
            "TZ": "UTC",
        }
        return kept | own | dict(self.extra)

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "workbench", *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def at(self, now: str) -> Program:
        """Return the same program at another time."""
        return replace(self, now=now)

    def with_environment(self, **variables: str) -> Program:
        """Return the same program with further variables."""
        return replace(self, extra=(*self.extra, *variables.items()))

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        if self.here:
            return self._run_here(words, stdin)
        process = self.start(*words)
        out, err = process.communicate(stdin, timeout=60)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def _run_here(self, words: tuple[str, ...], stdin: str) -> subprocess.CompletedProcess[str]:
        dropped = {name: None for name in os.environ if name.startswith("WORKBENCH_")}
        with contextlib.chdir(self.folder):
            done = CliRunner().invoke(workbench, words, input=stdin, env={**dropped, **self.environment})
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)

    def inside(self, *words: str) -> Result:
        """Run a command line in this process, where many are tried and none is about processes."""
        kept = {name: None for name in os.environ if name.startswith("WORKBENCH_")}
        return CliRunner().invoke(
            workbench, ["-w", str(self.folder), *words], env={**kept, **self.environment}
        )

    def json(self, *words: str, stdin: str = "", code: int = 0) -> Any:
        done = self.run(*words, "--json", stdin=stdin)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def files(self) -> dict[str, bytes]:
        """Return every file of the workspace but those of its history."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and ".audit" not in path.parts
        }
