"""Owns an import that is run from the bench: looked at first, then brought in."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from workbench.tui.long_work import LongWork

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.transfer import Imported, ImportedAs, ImportPreview, ImportProgress
    from workbench.tui.bench import Bench


class ImportWork(LongWork):
    """One source, imported in one way; it goes on when its screen is closed.

    Args:
        bench: The engine.
        source: As a person typed it.
        imported_as: What becomes of it.
        moved: Called from any thread when it came further or to an end.
        clock: Gives seconds.
    """

    def __init__(
        self,
        bench: Bench,
        source: str,
        imported_as: ImportedAs,
        moved: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(moved, clock)
        self._bench = bench
        self.source, self.imported_as = source, imported_as
        self.progress: ImportProgress | None = None
        self.preview: ImportPreview | None = None
        self.imported: Imported | None = None
        self.storing = False
        self.told = False

    @property
    def share(self) -> float | None:
        """Return how much of the source has been read, from 0 to 1; None where nobody knows."""
        progress = self.progress
        return min(1.0, progress.read / progress.total) if progress and progress.total else None

    @property
    def words(self) -> str:
        """Say in a word or two what is being brought in; empty while nothing is."""
        if not (self.running and self.storing):
            return ""
        return "import…" if self.share is None else f"import {self.share:.0%}"

    def look(self) -> None:
        """Read what would come in."""

        def look(stopped: Callable[[], bool]) -> None:
            preview = self._bench.import_preview(self.source, self.imported_as, self._progress, stopped)
            self.preview = None if stopped() else preview

        self.start(look, "import")

    @property
    def can_store(self) -> bool:
        """Tell whether there is something to bring in, and nothing is under way."""
        preview = self.preview
        if preview is None or self.running or self.storing:
            return False
        return bool(preview.episodes or preview.notes or preview.files)

    def store(self) -> None:
        """Bring it in; whoever calls has seen that it can be."""
        self.storing, self.progress = True, None

        def store(stopped: Callable[[], bool]) -> None:
            self.imported = self._bench.import_from(self.source, self.imported_as, self._progress, stopped)

        self.start(store, "import")

    def _progress(self, progress: ImportProgress) -> None:
        self.progress = progress
        self.tell(at_once=False)
