"""Shows exactly what decisions would write, writes it, and shows the commit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen

from workbench.display.budget import problem_lines
from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.views.applying import applied_lines, diffs_of, keys_line, preview_lines
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.engine.results.reviews import Applied, ReviewPreview
    from workbench.tui.bench import Bench
    from workbench.tui.in_order import InOrder
    from workbench.tui.views.applying import Diffs

UNDO: Final = "undo:"


class ApplyScreen(ModalScreen[str | None]):
    """What would be written; gives a link to follow, `UNDO` and the commit to take back, or None.

    Args:
        bench: The engine.
        in_order: Where the decisions are written; what is shown here comes after them.
    """

    BINDINGS: ClassVar = bindings(commands.WriteDecisions, commands.Undo, commands.Leave)

    class Previewed(Message):
        """What would be written was read, or could not be."""

        def __init__(
            self, preview: ReviewPreview | None, diffs: Diffs, error: WorkbenchError | None = None
        ) -> None:
            super().__init__()
            self.preview = preview
            self.diffs = diffs
            self.error = error

    class Wrote(Message):
        """It is written, or was refused."""

        def __init__(self, applied: Applied | None, error: WorkbenchError | None = None) -> None:
            super().__init__()
            self.applied = applied
            self.error = error

    def __init__(self, bench: Bench, in_order: InOrder) -> None:
        super().__init__()
        self._bench, self._in_order = bench, in_order
        self._preview: ReviewPreview | None = None
        self._diffs: Diffs = ()
        self._applied: Applied | None = None
        self._problem = ""
        self._writing = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="card apply-card"):
            yield Detail()
            yield StatusLine(id="apply-keys")

    def on_mount(self) -> None:
        self.query_one(Detail).focus()
        self._draw()
        self._in_order.look(self._look)

    def _look(self, _number: int) -> None:
        try:
            preview = self._bench.review_preview()
        except WorkbenchError as error:
            self.post_message(self.Previewed(None, (), error))
            return
        self.post_message(self.Previewed(preview, diffs_of(preview)))

    @on(Previewed)
    def _previewed(self, event: Previewed) -> None:
        event.stop()
        self._preview, self._diffs = event.preview, event.diffs
        self._problem = event.error.told if event.error is not None else ""
        self._draw()

    def action_write_decisions(self) -> None:
        self._writing = True
        self._draw()
        self._in_order.submit(self._write)

    def _write(self, _number: int) -> None:
        try:
            self.post_message(self.Wrote(self._bench.review_apply()))
        except WorkbenchError as error:
            self.post_message(self.Wrote(None, error))

    @on(Wrote)
    def _wrote(self, event: Wrote) -> None:
        event.stop()
        self._writing = False
        self._applied = event.applied
        self._problem = event.error.told if event.error is not None else ""
        self._draw()

    @property
    def _can_write(self) -> bool:
        preview = self._preview
        if preview is None or self._applied is not None or self._writing:
            return False
        return bool(preview.applied or preview.rejected or preview.deferred)

    def _draw(self) -> None:
        detail = self.query_one(Detail)
        keys = [("esc", "back to deciding")]
        if self._problem:
            detail.show(partial(problem_lines, self._problem), "problem")
        elif self._applied is not None:
            detail.show(partial(applied_lines, self._applied), "applied")
            keys = [("u", "undo all of it"), ("tab", "to a link"), ("esc", "close")]
        elif self._preview is not None:
            detail.show(partial(preview_lines, self._preview, self._diffs), "preview")
            keys = [("w", "write it"), *keys] if self._can_write else keys
        else:
            detail.show(partial(problem_lines, ""), "waiting")
        if self._writing:
            keys = [("…", "writing")]
        self.query_one(StatusLine).show(partial(keys_line, keys))
        self.refresh_bindings()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to write while there is something to write, and to undo once it is written."""
        if action == "write_decisions":
            return self._can_write
        if action == "undo":
            return self._applied is not None and self._applied.commit is not None
        if action == "leave":
            return not self._writing
        return super().check_action(action, parameters)

    @on(Detail.Followed)
    def _followed(self, event: Detail.Followed) -> None:
        event.stop()
        self.dismiss(event.link)

    def action_undo(self) -> None:
        if self._applied is not None:
            self.dismiss(f"{UNDO}{self._applied.commit}")

    def action_leave(self) -> None:
        self.dismiss(None)
