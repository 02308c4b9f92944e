"""Writes memory out: one file of JSON Lines, or a plain folder; either can be brought in again."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from workbench.display.health import size_words
from workbench.display.remedies import told_in_bench
from workbench.display.words import counted
from workbench.engine.errors import Cancelled, WorkbenchError
from workbench.engine.file_access import expand_writable
from workbench.tui.parts.chooser import Choice
from workbench.tui.sheets.paths import complete
from workbench.tui.verbs.act import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.transfer import Exported, ExportProgress
    from workbench.tui.frame.screen import Frame

FILE, FOLDER = "one-file", "plain-folder"
_SUFFIX = ".jsonl"
_AS = "Write memory out as"
_WAYS = (
    Choice(FILE, "One file of JSON Lines, with all that is known of each memory", _AS),
    Choice(FOLDER, "A plain folder of the files as they are", _AS),
)


class Exporting:
    """Asks as what and where to, and writes it there.

    Args:
        frame: In which it asks.
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame

    def begin(self) -> None:
        """Ask as what."""
        if self._frame.working.is_running:
            self._frame.say(self._frame.working.busy)
        else:
            self._frame.choosing.choose(
                "One file, or a folder? Either can be brought in again", _WAYS, self._where
            )

    def _where(self, way: Choice) -> None:
        frame, folder = self._frame, way.id == FOLDER
        name = f"~/{frame.working.workspace.root.name}-{frame.now():%Y-%m-%d}{'' if folder else _SUFFIX}"
        frame.editing.ask(
            "write the folder to" if folder else "write the file to",
            name,
            lambda typed: [each.path for each in complete(typed) if not each.told],
            take=lambda text: self._take(text.strip(), folder=folder),
        )

    def _take(self, target: str, *, folder: bool) -> str | None:
        if not target:
            return "Write where to; esc leaves it."
        try:
            is_there = os.path.lexists(expand_writable(target))
        except WorkbenchError as error:
            return told_in_bench(error)
        if is_there:
            return f"{quoted(target)} is there already and stays as it is; write another name."
        self._write(target, folder=folder)
        return None

    def _write(self, target: str, *, folder: bool) -> None:
        workspace = self._frame.working.workspace

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            def progress(told: ExportProgress) -> None:
                tell(f"writing {100 * told.done // told.total}%" if told.total else "writing…")

            try:
                exported = workspace.export(target, folder=folder, progress=progress, cancelled=stopped)
            except Cancelled:
                return "The export was stopped; nothing of it was kept."
            return exported_words(exported)

        self._frame.say(f"Writing memory to {target}; everything else works meanwhile.")
        self._frame.working.begin("The export", work)


def exported_words(exported: Exported) -> str:
    """Return what an export wrote, as a sentence."""
    files = counted(exported.files, "file")
    memories = f"{counted(exported.memories, 'memory', 'memories')} and "
    what = memories * bool(exported.memories) + files
    return f"Wrote {what}, {size_words(exported.size_bytes)}, to {exported.target}."
