"""The bench’s calls about imports and exports, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.workspace_bench.door import Door

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


class WorkspaceImporting(Door):
    """The part of a workspace that is memory from elsewhere, and for elsewhere."""

    def import_places(self) -> ImportPlaces:
        """Return where other programs keep memory on this machine."""
        return self._workspace.import_places()

    def import_preview(
        self,
        source: str,
        imported_as: ImportedAs,
        progress: Callable[[ImportProgress], None],
        cancelled: Callable[[], bool],
    ) -> ImportPreview:
        """Return what an import would bring in and leave out."""
        return self._workspace.import_preview(
            source, imported_as=imported_as, progress=progress, cancelled=cancelled
        )

    def import_from(
        self,
        source: str,
        imported_as: ImportedAs,
        progress: Callable[[ImportProgress], None],
        cancelled: Callable[[], bool],
    ) -> Imported:
        """Bring in memory that was kept elsewhere."""
        return self._workspace.import_from(
            source, imported_as=imported_as, progress=progress, cancelled=cancelled
        )

    def export(
        self,
        target: str,
        progress: Callable[[ExportProgress], None],
        cancelled: Callable[[], bool],
        *,
        folder: bool,
    ) -> Exported:
        """Write all memory into a new file or folder."""
        return self._workspace.export(target, folder=folder, progress=progress, cancelled=cancelled)
