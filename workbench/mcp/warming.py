"""Bringing the search index up to date while the first client is still saying hello."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

_LOG = logging.getLogger(__name__)
_PATIENCE_S = 10.0


@contextmanager
def warmed(door: Workspace) -> Iterator[None]:
    """Have the index read what is new in the background; ended with the serving.

    Args:
        door: The workspace.
    """
    ended = threading.Event()

    def warm() -> None:
        try:
            door.index(cancelled=ended.is_set)
        except WorkbenchError as error:
            # Every search says by itself what it could not use.
            _LOG.warning("%s", error)

    worker = threading.Thread(target=warm, name="index", daemon=True)
    worker.start()
    try:
        yield
    finally:
        ended.set()
        worker.join(_PATIENCE_S)
