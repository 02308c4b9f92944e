"""Loads libgit2 so that it obeys no configuration but that of the repository at hand."""

from __future__ import annotations

from functools import cache
from typing import Any

# A long history is read through a window of its pack; the rest of it counts as this process's memory for nothing.
_WINDOW_BYTES = 8 << 20
_MAPPED_BYTES = 32 << 20
_CACHED_BYTES = 8 << 20


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
    pygit2.settings.mwindow_size = _WINDOW_BYTES
    pygit2.settings.mwindow_mapped_limit = _MAPPED_BYTES
    pygit2.settings.cache_max_size(_CACHED_BYTES)
    return pygit2
