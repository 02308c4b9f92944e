"""Paths that begin with the user’s own folder, as people and settings write them."""

from __future__ import annotations

from pathlib import Path


def from_home(path: str | Path) -> Path:
    """Return a path with `~` written out; that of a user nobody knows stays as it is, and leads nowhere."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)
