"""Completes a path as it is typed: what stands in its folder and goes on so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 2_000


@dataclass(frozen=True, slots=True)
class PathFound:
    """A file or folder.

    Args:
        path: As it would be typed; a folder ends in a slash unless it is what was typed.
        is_folder: Whether it is a folder.
        told: What it is, where it is the very path that was typed.
    """

    path: str
    is_folder: bool
    told: str = ""


def complete(typed: str, stopped: Callable[[], bool] = lambda: False) -> list[PathFound]:
    """Return what was typed, where it is there, and what it could go on to: folders first, by name.

    Hidden names come only once a full stop is typed. Takes as long as listing the folder does.

    Args:
        typed: A path, perhaps from `~` on, perhaps unfinished.
        stopped: Tells whether nobody waits for the answer any more.
    """
    head, slash, begun = typed.rpartition("/")
    folder = head + slash
    found: list[PathFound] = []
    try:
        place = Path(typed).expanduser()
        if typed and place.exists():
            told = "this folder" if place.is_dir() else "this file"
            found.append(PathFound(typed.rstrip("/") or "/", place.is_dir(), told))
        with os.scandir(Path(folder or ".").expanduser()) as listing:
            below: list[PathFound] = []
            for each in listing:
                if stopped() or len(below) >= _MOST:
                    break
                if _goes_on(each.name, begun):
                    is_folder = each.is_dir()
                    below.append(PathFound(folder + each.name + "/" * is_folder, is_folder))
    except (OSError, RuntimeError, ValueError):
        # Nothing there, no right to look, no such home: nothing to offer.
        return found
    below.sort(key=lambda each: (not each.is_folder, each.path.casefold()))
    return found + [each for each in below if each.path.rstrip("/") != typed.rstrip("/")]


def _goes_on(name: str, begun: str) -> bool:
    if name.startswith(".") and not begun.startswith("."):
        return False
    return name.casefold().startswith(begun.casefold())
