"""Asks where all memory is to be written, and writes it there."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import RAISED
from workbench.tui.screens.keys_below import KeysBelow
from workbench.tui.views.importing import exported_words
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import App, ComposeResult

    from workbench.engine.results.transfer import ExportProgress
    from workbench.tui.bench import Bench
    from workbench.tui.keymap import Command
    from workbench.tui.overlays import Overlays

_SUFFIX = ".jsonl"
# Seconds between two tellings of how far it is.
_PACE = 0.1
_AS_FILE = "One file of JSON Lines: every memory with what is known of it, and every file as it is."
_AS_FOLDER = "A plain folder of the files as they are, to be read with any editor."


class ExportScreen(ModalScreen[None], KeysBelow):
    """A path to write to, as a file or as a folder; either can be imported again.

    Args:
        bench: The engine.
    """

    BINDINGS: ClassVar = bindings(
        commands.ExportAs, commands.WriteExport, commands.CancelExport, commands.Leave
    )

    class Moved(Message):
        """The export came further."""

        def __init__(self, progress: ExportProgress) -> None:
            super().__init__()
            self.progress = progress

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self._bench = bench
        self._folder = False
        self._writing = False
        self._stop = threading.Event()

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog export-dialog"):
            yield Static("Export all memory to where?", classes="dialog-title", markup=False)
            yield Input(self._suggested(), compact=True, select_on_focus=False)
            yield Static(_AS_FILE, id="export-as", classes="dialog-text", markup=False)
            yield Static("", id="export-problem", markup=False)
            yield StatusLine(id="export-keys", ground=RAISED)

    def _suggested(self) -> str:
        place = self._bench.place()
        return f"~/{place.workspace}-{place.now:%Y-%m-%d}{'' if self._folder else _SUFFIX}"

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.draw_keys()

    def keys(self) -> Sequence[tuple[type[Command], str]]:
        """Return the keys of the question, or of the writing."""
        if self._writing:
            return (
                (commands.CancelExport, "cancel"),
                (commands.Leave, "close; it is written all the same"),
            )
        other = "as one file" if self._folder else "as a folder"
        return ((commands.WriteExport, "write it"), (commands.ExportAs, other), (commands.Leave, "close"))

    def action_export_as(self) -> None:
        """Change between a file and a folder; a name that was not typed changes with it."""
        if self._writing:
            return
        field = self.query_one(Input)
        suggested = field.value == self._suggested()
        self._folder = not self._folder
        self._say(_AS_FOLDER if self._folder else _AS_FILE)
        if suggested:
            field.value = self._suggested()
        self.draw_keys()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_write_export()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._tell("")

    def action_write_export(self) -> None:
        target = self.query_one(Input).value.strip()
        if target and not self._writing:
            self._be_writing(True)
            self._tell("")
            self._write(self.app, target, folder=self._folder)

    def action_cancel_export(self) -> None:
        if self._writing:
            self._stop.set()
            self._say("Stopping…")

    def _be_writing(self, writing: bool) -> None:
        """Take keys as what they mean while it is written, and what is typed into the line otherwise."""
        self._writing = writing
        self._stop.clear()
        field = self.query_one(Input)
        field.disabled = writing
        if not writing:
            field.focus()
        self._say("Writing…" if writing else _AS_FOLDER if self._folder else _AS_FILE)
        self.draw_keys()

    @on(Moved)
    def _moved(self, event: Moved) -> None:
        event.stop()
        progress = event.progress
        if self._writing and not self._stop.is_set() and progress.total:
            self._say(f"Writing… {progress.done / progress.total:.0%}")

    @work(thread=True)
    def _write(self, app: App[object], target: str, *, folder: bool) -> None:
        told = 0.0

        def tell(progress: ExportProgress) -> None:
            nonlocal told
            if (now := time.monotonic()) - told >= _PACE:
                told = now
                self.post_message(self.Moved(progress))

        under_way, stop = cast("Overlays", app).exports, self._stop
        under_way.add(stop)
        try:
            try:
                exported = self._bench.export(target, tell, stop.is_set, folder=folder)
            finally:
                under_way.discard(stop)
        except WorkbenchError as error:
            app.call_from_thread(self._has_failed, app, error.told)
        else:
            app.call_from_thread(self._is_written, app, exported_words(exported))

    # What was closed meanwhile has no app any more.

    def _is_written(self, app: App[object], told: str) -> None:
        app.notify(told, timeout=8)
        if self in app.screen_stack:
            self.dismiss(None)

    def _has_failed(self, app: App[object], problem: str) -> None:
        if self not in app.screen_stack:
            app.notify(problem, severity="error", timeout=8)
            return
        self._be_writing(False)
        self._tell(problem)

    def _say(self, text: str) -> None:
        self.query_one("#export-as", Static).update(text)

    def _tell(self, text: str) -> None:
        self.query_one("#export-problem", Static).update(text)

    def action_leave(self) -> None:
        self.dismiss(None)
