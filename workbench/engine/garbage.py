"""The search for garbage, put off where it only costs time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def not_collected() -> Iterator[None]:
    """Put off Python's search for garbage while tens of thousands of values are made, nearly all of which stay.

    It would look through all of them again and again as they become more. Of several threads that are here at once
    the first to have come ends it for all.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
