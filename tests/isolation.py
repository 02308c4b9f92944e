"""Cuts tests off from whoever runs them: settings, state and caches, and what a process inherits."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

_OTHERS_VARIABLES = (
    "CLAWDBOT_", "CLICOLOR", "COLORTERM", "COLUMNS", "FORCE_COLOR", "GIT_", "LANGUAGE", "LC_", "LINES", "MOLTBOT_",
    "NO_COLOR", "OPENCLAW_", "TERM_PROGRAM", "TEXTUAL_", "TTY_", "WORKBENCH_", "XDG_",
)  # fmt: skip
_OWN_VARIABLES = {
    "LANG": "C.UTF-8",
    "TERM": "xterm-256color",
    "TZ": "UTC",
    "LOGNAME": "somebody",
    "USER": "somebody",
}
_NAMES_OF_EDITORS = ("EDITOR", "PAGER", "VISUAL")
_ROOM = 4_000_000_000  # the installation of QMD alone takes several hundred megabytes


def inherit_nothing() -> None:
    """Give this process, and those it starts, the same variables, signals, umask and input wherever tests are run."""
    for name in list(os.environ):
        # What chooses among tests is meant for them, and the plugin of snapshots tells its own processes something.
        meant = name.startswith(("WORKBENCH_TEST_", "TEXTUAL_SNAPSHOT_"))
        if name in _NAMES_OF_EDITORS or (name.startswith(_OTHERS_VARIABLES) and not meant):
            del os.environ[name]
    os.environ.update(_OWN_VARIABLES)
    # Every process that a test starts would compile the whole program again, and every worker all tests.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    time.tzset()
    os.umask(0o022)
    # A background job of a script ignores the one, what nohup starts the other; a child would go on ignoring it.
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)
    for stream in (0, 1, 2):
        # Without one, the next file that is opened would be taken for it.
        try:
            os.fstat(stream)
        except OSError:
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)


def is_fit_for_files(folder: Path) -> bool:
    """Tell whether tests can keep their files in a folder of memory: programs among them run, and there is room.

    Args:
        folder: Where such a folder is found on Linux; elsewhere there is none.
    """
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return False
    room = os.statvfs(folder)
    if room.f_flag & os.ST_NOEXEC:
        return False
    return min(room.f_bavail * room.f_frsize, _memory_left()) >= _ROOM


def _memory_left() -> int:
    """Return how many bytes of memory can be had; none where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), 0)


def isolate(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, timezone: str | None = None, settings: str = ""
) -> None:
    """Keep settings, state and cache in a folder of the test's own.

    Args:
        folder: Of the test.
        monkeypatch: Undoes it.
        timezone: IANA name of the zone that the test lives in; the system's by default.
        settings: What the user's own file of settings holds.
    """
    for name in [name for name in os.environ if name.startswith(("WORKBENCH_", "GIT_"))]:
        monkeypatch.delenv(name)
    config = folder / "config.toml"
    config.write_text(settings, encoding="utf-8")
    monkeypatch.setenv("WORKBENCH_CONFIG", str(config))
    monkeypatch.setenv("WORKBENCH_PATHS_STATE", str(folder / "state"))
    monkeypatch.setenv("WORKBENCH_PATHS_CACHE", str(folder / "cache"))
    monkeypatch.setenv("WORKBENCH_HOME_SETTINGS", "false")
    if timezone is not None:
        monkeypatch.setenv("WORKBENCH_TIMEZONE", timezone)
