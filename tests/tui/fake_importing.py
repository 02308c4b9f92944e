"""The half of the fake bench that imports and exports: one source with a preview, step by step."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.tui.fake_review import open_gate
from workbench.engine.errors import Cancelled, NotFound, WorkbenchError
from workbench.engine.results.transfer import (
    Exported,
    ExportProgress,
    Imported,
    ImportedAs,
    ImportPlace,
    ImportPlaces,
    ImportPreview,
    ImportProgress,
    ImportSample,
    LeftOut,
)

SOURCE = "~/.openclaw"
HOSTILE = "\x1b[31mred\x1b[0m [bold]markup[/] \u202eback"
PREVIEW = ImportPreview(
    source=".openclaw",
    form="openclaw",
    name="openclaw",
    imported_as="memories",
    episodes=1204,
    notes=12,
    known=340,
    earliest=datetime(2025, 3, 12, 9, 0, tzinfo=UTC),
    latest=datetime(2026, 1, 30, 18, 5, tzinfo=UTC),
    left_out=(
        LeftOut("workspace/SOUL.md", "It instructs the agent; it is no memory."),
        LeftOut(
            "workspace/memory/2025-11-02.md#L14", "What looks like a secret (API key) is left out of it."
        ),
        LeftOut(f"workspace/{HOSTILE}.md", "It is a symbolic link; links are never followed."),
    ),
    left_out_count=3,
    samples=(
        ImportSample(
            "workspace/MEMORY.md#L3", "The boat keys are with Tomás.", datetime(2025, 3, 12, 9, 0, tzinfo=UTC)
        ),
        ImportSample(
            "workspace/memory/2025-11-02.md#L3-L5", f"The ferry: {HOSTILE} " + "runs late. " * 40, None
        ),
    ),
)
IMPORTED = Imported(
    commit="b" * 40,
    files=("memory/episodes/2025-03-12.md",),
    ids=("episode:2026-02-02:09:15",),
    source=".openclaw",
    form="openclaw",
    name="openclaw",
    added=1216,
    known=340,
    commits=("a" * 40, "b" * 40),
    left_out=PREVIEW.left_out,
    left_out_count=3,
)
STEPS = 4
_TOTAL = 104_857_600


@dataclass
class FakeImporting:
    """Asked for imports; `may_read` and `may_store` hold the two halves of one back, and `may_store` exports."""

    asked: list[tuple[str, object]] = field(default_factory=list)
    places: tuple[ImportPlace, ...] = (
        ImportPlace(SOURCE, "OpenClaw"),
        ImportPlace("~/.claude", "Claude Code"),
    )
    found: ImportPreview | WorkbenchError = PREVIEW
    brought: Imported | WorkbenchError = IMPORTED
    may_read: threading.Event = field(default_factory=open_gate)
    may_store: threading.Event = field(default_factory=open_gate)

    def import_places(self) -> ImportPlaces:
        return ImportPlaces(self.places)

    def import_preview(
        self,
        source: str,
        imported_as: ImportedAs,
        progress: Callable[[ImportProgress], None],
        cancelled: Callable[[], bool],
    ) -> ImportPreview:
        self.asked.append(("preview", (source, imported_as)))
        progress(ImportProgress(_TOTAL // STEPS, _TOTAL, 301, 85))
        assert self.may_read.wait(20)
        self.asked.append(("looked", cancelled()))
        if isinstance(self.found, WorkbenchError):
            raise self.found
        return self.found

    def import_from(
        self,
        source: str,
        imported_as: ImportedAs,
        progress: Callable[[ImportProgress], None],
        cancelled: Callable[[], bool],
    ) -> Imported:
        self.asked.append(("import", (source, imported_as)))
        progress(ImportProgress(_TOTAL // STEPS, _TOTAL, 301, 85))
        assert self.may_store.wait(20)
        self.asked.append(("stored", cancelled()))
        if isinstance(self.brought, WorkbenchError):
            raise self.brought
        return self.brought

    def export(
        self,
        target: str,
        progress: Callable[[ExportProgress], None],
        cancelled: Callable[[], bool],
        *,
        folder: bool,
    ) -> Exported:
        self.asked.append(("export", (target, folder)))
        progress(ExportProgress(100, 400))
        while not self.may_store.wait(0.01):
            if cancelled():
                self.asked.append(("called off", target))
                raise Cancelled("The export was called off.", remedy="Nothing of it was kept.")
        if "taken" in target:
            raise NotFound("There is something there already.", remedy="Name a new file.")
        return Exported(target, 12, 0 if folder else 300, 81_000)
