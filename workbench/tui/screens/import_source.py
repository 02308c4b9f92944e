"""Asks where to import from: known places of other agents, or a path that is completed as one types."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Static
from textual.worker import get_current_worker

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import RAISED
from workbench.tui.paths import PathFound, complete
from workbench.tui.screens.choosing import ChoosingScreen
from workbench.tui.screens.keys_below import KeysBelow
from workbench.tui.views.importing import SourceRows
from workbench.tui.views.teaching import teach
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.status_line import StatusLine
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from workbench.engine.results.transfer import ImportPlace
    from workbench.tui.bench import Bench
    from workbench.tui.keymap import Command
    from workbench.tui.overlays import Overlays

_EMPTY = teach(
    "Type where it is.",
    "A workspace or state folder of OpenClaw, Moltbot or Clawdbot, a CLAUDE.md or ~/.claude, an export of ChatGPT or "
    "Claude, an Obsidian vault, Markdown, text, PDF, or what was exported from here.",
    ("~/Downloads/", "for example; tab completes."),
)


class ImportSourceScreen(ChoosingScreen, KeysBelow):
    """A line for a path over places to choose from; nothing of a place is read before it is chosen.

    Args:
        bench: The engine.
    """

    BINDINGS: ClassVar = [*bindings(commands.CompletePath), ("escape", "close", "Close")]

    class Completed(Message):
        """What goes on as what was typed was read."""

        def __init__(self, typed: str, rows: SourceRows) -> None:
            super().__init__()
            self.typed = typed
            self.rows = rows

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self._bench = bench
        self._places: Sequence[ImportPlace] | None = None
        self._tab_waits = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="card import-card"):
            yield Static("Import from where?", classes="dialog-title", markup=False)
            yield FilterBar("a file or folder, such as ~/Downloads/chatgpt-export.zip")
            yield VirtualList(id="import-list", ground=RAISED, always_lit=True, empty=_EMPTY)
            yield StatusLine(id="import-keys", ground=RAISED)

    def on_mount(self) -> None:
        self.query_one(VirtualList).waiting = True
        self.query_one(FilterBar).open()
        self._complete("")
        self.draw_keys()

    def keys(self) -> Sequence[tuple[type[Command], str]]:
        """Return the keys of a choice."""
        return (
            (commands.LookAtSource, "see what would come in"),
            (commands.CompletePath, "complete"),
            (commands.Leave, "close"),
        )

    @on(FilterBar.Changed)
    def _changed(self, event: FilterBar.Changed) -> None:
        event.stop()
        self._complete(event.text)

    @work(thread=True, exclusive=True)
    def _complete(self, text: str) -> None:
        worker = get_current_worker()
        wanted = text.strip().casefold()
        places = [
            each for each in self._known_places() if wanted in f"{each.place} {each.program}".casefold()
        ]
        offered = {each.place for each in places}
        paths = [each for each in complete(text, lambda: worker.is_cancelled) if each.path not in offered]
        if text.strip() and not places and not paths:
            paths = [PathFound(text.strip(), is_folder=False, told="not found")]
        if not worker.is_cancelled:
            self.post_message(self.Completed(text, SourceRows(places, paths if text else ())))

    def _known_places(self) -> Sequence[ImportPlace]:
        if self._places is None:
            try:
                self._places = self._bench.import_places().places
            except WorkbenchError as error:
                self._places = ()
                self.app.call_from_thread(self.notify, error.told, severity="error", markup=False)
        return self._places

    @on(Completed)
    def _was_completed(self, event: Completed) -> None:
        event.stop()
        self.answered_text = event.typed
        self.query_one(VirtualList).show(event.rows, keep=event.rows.first_key)
        if self._tab_waits and self._is_complete:
            self.action_complete_path()

    @property
    def _is_complete(self) -> bool:
        """Tell whether the rows are about what is typed; where one typed on, they come a moment later."""
        return not self.is_behind

    def action_complete_path(self) -> None:
        """Take the row under the cursor into the line; a folder so that what is in it comes next."""
        self._tab_waits = not self._is_complete
        row = self.query_one(VirtualList).cursor_key
        if row and self._is_complete:
            bar = self.query_one(FilterBar)
            is_open = row == bar.text.rstrip("/") or not bar.text
            bar.open(row.rstrip("/") + "/" if is_open or row.endswith("/") else row)

    def action_look_at_source(self) -> None:
        if source := self.query_one(VirtualList).cursor_key:
            self.choose(source)

    def choose(self, key: str) -> None:
        """Show what would come in from there; coming back leads here, anything else out of here."""
        from workbench.tui.screens.importing import ImportScreen

        def left(link: str | None) -> None:
            if link is not None:
                self.dismiss(link)

        typed = self.query_one(FilterBar).text
        app = cast("Overlays", self.app)
        app.look_at_import(key if self._is_complete else typed.strip())
        app.push_screen(ImportScreen(), left)
