"""Lets two files take each other’s names in one step, where the system can."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def swap(one: Path, other: Path) -> bool:
    """Let two files that exist take each other’s names; False where that cannot be done, and nothing was."""
    exchange = _exchange()
    return exchange is not None and exchange(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _exchange() -> Callable[[bytes, bytes], int] | None:
    import ctypes

    libc = ctypes.CDLL(None)
    try:
        if sys.platform == "darwin":
            rename = libc.renamex_np
            return lambda one, other: int(rename(one, other, _EXCHANGE))
        rename = libc.renameat2
    except AttributeError:
        return None
    return lambda one, other: int(rename(_HERE, one, _HERE, other, _EXCHANGE))
