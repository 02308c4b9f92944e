"""Bringing catalog and search index up to date while the first client is still saying hello."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

_LOG = logging.getLogger(__name__)
_PATIENCE_S = 10.0


class Warming:
    """Reads what is new in the background; whoever waits meanwhile can be told how far it is.

    Args:
        door: The workspace.
    """

    def __init__(self, door: Workspace) -> None:
        self._door = door
        self._ended = threading.Event()
        self._standing: tuple[int, int, str] | None = None

    @property
    def standing(self) -> tuple[int, int, str] | None:
        """Return what is done, what there is to do and what it is; None where nothing is under way."""
        return self._standing

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Read on a thread of its own until all is read or the serving ends."""
        worker = threading.Thread(target=self._warm, name="warming", daemon=True)
        worker.start()
        try:
            yield
        finally:
            self._ended.set()
            worker.join(_PATIENCE_S)

    def _warm(self) -> None:
        try:
            self._door.refresh(progress=self._told("Reading memory"), cancelled=self._ended.is_set)
            self._standing = None
            self._door.index(progress=self._told("Indexing memory"), cancelled=self._ended.is_set)
        except WorkbenchError as error:
            # Every search says by itself what it could not use.
            _LOG.warning("%s", error)
        finally:
            self._standing = None

    def _told(self, doing: str) -> Callable[[int, int], None]:
        def told(done: int, total: int) -> None:
            self._standing = (done, total, doing)

        return told
