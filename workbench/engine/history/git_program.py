"""Runs the git program on the history, deaf to everybody's configuration and environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# What git needs of the environment to run at all; everything else could change what it does.
_KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")


def git_available() -> bool:
    """Tell whether the git program is installed."""
    return shutil.which("git") is not None


def git_command(folder: Path, *arguments: str) -> list[str]:
    """Return the command line for git on a history.

    Args:
        folder: The git directory.
        arguments: The git command and what it takes.
    """
    plain = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
    return ["git", f"--git-dir={folder}", *plain, *arguments]


def git_environment() -> dict[str, str]:
    """Return an environment in which nothing outside the repository has a say."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {
        **kept,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        # A history is whole in itself; what its config names to fetch from could be any program.
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "HOME": os.devnull,
        "LC_ALL": "C",
    }


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git on a history to its end; the caller looks at how it went."""
    return subprocess.run(
        git_command(folder, *arguments),
        env=git_environment(),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
