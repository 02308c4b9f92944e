"""The index panel: the state of the search index over whatever one was reading, and the keys to mend it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.index import index_keys, index_lines
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.engine.results.recall import IndexStatus
    from workbench.tui.bench import Bench
    from workbench.tui.index_work import IndexWork

# Seconds between two looks at an index that is not up to date: somebody else may be at it.
_LOOK = 1.0


class IndexScreen(ModalScreen[None]):
    """The panel.

    Args:
        bench: The engine.
        index_work: What is done to the index from the bench; it outlives the panel.
    """

    BINDINGS: ClassVar = bindings(
        commands.CancelIndex, commands.SyncIndex, commands.RebuildIndex, commands.Leave
    )

    class Read(Message):
        """The state of the index was read, or could not be."""

        def __init__(self, status: IndexStatus | None, problem: str = "") -> None:
            super().__init__()
            self.status = status
            self.problem = problem

    def __init__(self, bench: Bench, index_work: IndexWork) -> None:
        super().__init__()
        self._bench, self._index_work = bench, index_work
        self._status: IndexStatus | None = None
        self._problem = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="card index-card"):
            yield Detail()
            yield StatusLine(id="index-keys")

    def on_mount(self) -> None:
        self.query_one(Detail).focus()
        self.moved()
        self.set_interval(_LOOK, self._look)

    def _look(self) -> None:
        status = self._status
        waits = status is not None and (status.dirty or status.pending or status.rebuilding is not None)
        if waits and not self._index_work.running:
            self._read()

    def moved(self) -> None:
        """Take note that what is done to the index came further, or to an end."""
        self._draw()
        if not self._index_work.running or self._status is None:
            self._read()

    @work(thread=True, exclusive=True)
    def _read(self) -> None:
        try:
            self.post_message(self.Read(self._bench.index_status()))
        except WorkbenchError as error:
            self.post_message(self.Read(None, f"{error.message} {error.remedy or ''}".strip()))

    @on(Read)
    def _was_read(self, event: Read) -> None:
        event.stop()
        self._status = event.status or self._status
        self._problem = event.problem
        self._draw()

    def _draw(self) -> None:
        self.query_one(Detail).show(
            partial(index_lines, self._status, self._index_work, self._problem, self._bench.now()), "index"
        )
        self.query_one(StatusLine).show(lambda width: index_keys(self._index_work, width))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to cancel while something is under way, and to begin while nothing is."""
        if action == "cancel_index":
            return self._index_work.running
        if action in ("sync_index", "rebuild_index"):
            return not self._index_work.running
        return super().check_action(action, parameters)

    def action_sync_index(self) -> None:
        self._index_work.begin(anew=False)
        self._draw()

    def action_rebuild_index(self) -> None:
        def begin(sure: bool | None) -> None:
            if sure:
                self._index_work.begin(anew=True)
            self._draw()

        self.app.push_screen(
            ConfirmScreen(
                "Rebuild the search index?",
                "Nothing is lost, and the old index answers meanwhile; with a large memory and a model it can take "
                "long.",
                "Build",
                started_by="R",
            ),
            begin,
        )

    def action_cancel_index(self) -> None:
        self._index_work.cancel()
        self._draw()

    def action_leave(self) -> None:
        self.dismiss(None)
