"""Shows an import: what would come in and what not and why, how far it is, and what came of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import on
from textual.containers import Vertical
from textual.screen import ModalScreen

from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import RAISED
from workbench.tui.screens.keys_below import KeysBelow
from workbench.tui.views.importing import import_lines, way_words
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

    from workbench.engine.results.transfer import ImportedAs
    from workbench.tui.import_work import ImportWork
    from workbench.tui.keymap import Command
    from workbench.tui.overlays import Overlays

CLOSE: Final = ""
"""Where nothing is followed and one does not come back to the choice of a place either."""
UNDO: Final = "undo:"
_NEXT: Final[dict[ImportedAs, ImportedAs]] = {
    "memories": "episodes",
    "episodes": "proposals",
    "proposals": "memories",
}


class ImportScreen(ModalScreen[str | None], KeysBelow):
    """The import of the app; gives a link to follow, `UNDO`, `CLOSE`, or None to choose another place."""

    BINDINGS: ClassVar = bindings(
        commands.BringIn, commands.ImportAs, commands.CancelImport, commands.Undo, commands.Leave
    )

    @property
    def _work(self) -> ImportWork:
        work = cast("Overlays", self.app).import_work
        assert work is not None, "an import is begun before it is shown"
        return work

    def compose(self) -> ComposeResult:
        with Vertical(classes="card import-card"):
            yield Detail()
            yield StatusLine(id="import-keys", ground=RAISED)

    def on_mount(self) -> None:
        self.query_one(Detail).focus()
        self.moved()

    def moved(self) -> None:
        """Take note that the import came further, or to an end."""
        if not self.query(StatusLine):
            return
        work = self._work
        stage = "running" if work.running else "over"
        self.query_one(Detail).show(partial(import_lines, work), f"{stage} {work.imported_as} {work.storing}")
        self.draw_keys()
        self.refresh_bindings()

    def keys(self) -> Sequence[tuple[type[Command], str]]:
        """Return the keys that mean something at this stage."""
        work = self._work
        if work.running:
            if not work.storing:
                return ((commands.Leave, "back"),)
            return ((commands.CancelImport, "cancel"), (commands.Leave, "close"))
        if work.storing:
            undo = ((commands.Undo, "undo"),) if self._can_undo else ()
            return (*undo, (commands.Leave, "close"))
        ways = (
            ((commands.ImportAs, f"{way_words(_NEXT[work.imported_as])} instead"),) if self._has_ways else ()
        )
        bring = ((commands.BringIn, "bring it in"),) if work.can_store else ()
        return (*bring, *ways, (commands.Leave, "back"))

    @property
    def _can_undo(self) -> bool:
        imported = self._work.imported
        return imported is not None and bool(imported.commits)

    @property
    def _has_ways(self) -> bool:
        work = self._work
        return work.can_store and work.preview is not None and work.preview.form != "workbench"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something at this stage."""
        offered = {command.action for command, _ in self.keys()}
        if action in ("bring_in", "import_as", "cancel_import", "undo"):
            return self.is_mounted and action in offered
        return super().check_action(action, parameters)

    def action_bring_in(self) -> None:
        self._work.store()
        self.moved()

    def action_import_as(self) -> None:
        work = self._work
        cast("Overlays", self.app).look_at_import(work.source, _NEXT[work.imported_as])
        self.moved()

    def action_cancel_import(self) -> None:
        self._work.cancel()
        self.moved()

    def action_undo(self) -> None:
        self.dismiss(UNDO)

    def action_leave(self) -> None:
        """Go back to the choice of a place, or close it where something was brought in."""
        if self._work.storing:
            self.dismiss(CLOSE)
        else:
            self._work.cancel()
            self.dismiss(None)

    @on(Detail.Followed)
    def _followed(self, event: Detail.Followed) -> None:
        event.stop()
        self.dismiss(event.link)
