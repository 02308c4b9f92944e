"""Paths that begin with the user’s own folder, as people and settings write them."""

from __future__ import annotations

from pathlib import Path

from workbench.engine.errors import InvalidInput


def from_home(path: str | Path) -> Path:
    """Return a path to be read, with `~` written out; that of a user nobody knows stays as it is, and leads nowhere."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def to_write(path: str | Path) -> Path:
    """Return a path to be written to, with `~` written out.

    Raises:
        InvalidInput: It begins with the folder of a user nobody knows.
    """
    place = from_home(path)
    if place.parts[:1] and place.parts[0].startswith("~"):
        raise InvalidInput(
            "Nobody of that name has a folder here.", where=str(path)[:300], remedy="Begin with ~/ or with /."
        )
    return place
