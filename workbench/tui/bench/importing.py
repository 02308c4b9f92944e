"""What the bench asks about memory that comes from elsewhere, and goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.transfer import (
        Exported,
        ExportProgress,
        Imported,
        ImportedAs,
        ImportPlaces,
        ImportPreview,
        ImportProgress,
    )


class ImportCalls(Protocol):
    """Imports and exports."""

    def import_places(self) -> ImportPlaces:
        """Return where other programs keep memory on this machine, at once; none of it is read."""
        ...

    def import_preview(
        self,
        source: str,
        imported_as: ImportedAs,
        progress: Callable[[ImportProgress], None],
        cancelled: Callable[[], bool],
    ) -> ImportPreview:
        """Return what an import would bring in and leave out; changes nothing.

        Args:
            source: A file or folder.
            imported_as: What becomes of it.
            progress: Told how far the reading is, from the calling thread.
            cancelled: Asked now and then whether to stop.
        """
        ...

    def import_from(
        self,
        source: str,
        imported_as: ImportedAs,
        progress: Callable[[ImportProgress], None],
        cancelled: Callable[[], bool],
    ) -> Imported:
        """Bring in what the preview showed; called off, what came in by then stays."""
        ...

    def export(
        self,
        target: str,
        progress: Callable[[ExportProgress], None],
        cancelled: Callable[[], bool],
        *,
        folder: bool,
    ) -> Exported:
        """Write all memory into a new file of JSON Lines, or into a new folder; called off, nothing is left of it.

        Args:
            target: What is not there yet.
            progress: Told how far it is, from the calling thread.
            cancelled: Asked now and then whether to stop.
            folder: Whether it is to be a folder.
        """
        ...
