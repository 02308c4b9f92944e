"""Cuts a test off from the settings, state and caches of whoever runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def isolate(folder: Path, monkeypatch: pytest.MonkeyPatch, *, timezone: str | None = None) -> None:
    """Keep settings, state and cache in a folder of the test's own.

    Args:
        folder: Of the test.
        monkeypatch: Undoes it.
        timezone: IANA name of the zone that the test lives in; the system's by default.
    """
    for name in [name for name in os.environ if name.startswith(("WORKBENCH_", "GIT_"))]:
        monkeypatch.delenv(name)
    config = folder / "config.toml"
    config.touch()
    monkeypatch.setenv("WORKBENCH_CONFIG", str(config))
    monkeypatch.setenv("WORKBENCH_PATHS_STATE", str(folder / "state"))
    monkeypatch.setenv("WORKBENCH_PATHS_CACHE", str(folder / "cache"))
    if timezone is not None:
        monkeypatch.setenv("WORKBENCH_TIMEZONE", timezone)
