"""Loads libgit2 so that it obeys no configuration but that of the repository at hand."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def libgit2() -> Any:
    """Return the `pygit2` module, loaded when first needed because that takes 60 ms."""
    import pygit2
    import pygit2.enums

    levels = pygit2.enums.ConfigLevel
    for level in (levels.SYSTEM, levels.GLOBAL, levels.XDG, levels.PROGRAMDATA):
        pygit2.settings.search_path[level] = ""
    # The folder may be on a drive or a mount of another owner; nothing of its configuration runs anything.
    pygit2.settings.owner_validation = False
    return pygit2
