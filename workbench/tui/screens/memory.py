"""Shows one memory with all there is to know of it, over whatever one was reading, and everything it leads to."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual import events, on, work
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen

from workbench.display.budget import problem_lines
from workbench.engine.errors import NotFound, WorkbenchError
from workbench.tui import commands, navigation
from workbench.tui.keymap import bindings
from workbench.tui.memory_actions import history_link, means_something
from workbench.tui.navigation import is_memory, is_whole_entity
from workbench.tui.palette import RAISED
from workbench.tui.views.graph_entity import RELATION_KEY
from workbench.tui.views.memory import sources
from workbench.tui.views.one_memory import Shown, memory_lines
from workbench.tui.views.status import fitting_keys
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.tui.bench import Bench, Memory
    from workbench.tui.overlays import Overlays

# A terminal up to this size gives the whole screen to what one reads.
_SMALL = (100, 32)
_NO_FILE = "It has no file of its own: only relations name it. In the Graph, l relates it and m merges it with another."
_ABOUT_IT = frozenset(
    {
        "edit_here", "edit_in_editor", "pin", "forget", "merge", "open_source", "show_history", "see_in_decay",
        "see_before",
    }
)  # fmt: skip


@dataclass(frozen=True)
class _Step:
    """A memory on the way here: which, how far one had read, and at which link one was."""

    memory_id: str
    row: int = 0
    link: int = -1


class MemoryScreen(ModalScreen[str | None]):
    """One memory to read and to act on; gives the link that leads out of here, or None.

    Args:
        bench: The engine.
        memory_id: Which memory; a fact or a relation stands before the entity that it is part of.
    """

    BINDINGS: ClassVar = bindings(
        commands.EditHere, commands.EditInEditor, commands.Pin, commands.Forget, commands.Merge, commands.OpenSource,
        commands.ShowHistory, commands.SeeInDecay, commands.SeeBefore, commands.SeeAmongOthers, commands.Undo,
        commands.Redo, commands.CopyId, commands.GoBack, commands.GoForward, commands.Leave, commands.ShowHelp,
    )  # fmt: skip

    class Read(Message):
        """The memory was read, or could not be."""

        def __init__(self, memory_id: str, shown: Shown | None, problem: str = "") -> None:
            super().__init__()
            self.memory_id = memory_id
            self.shown = shown
            self.problem = problem

    def __init__(self, bench: Bench, memory_id: str) -> None:
        super().__init__()
        self._bench = bench
        self.memory_id = memory_id
        self._shown: Shown | None = None
        self._behind: list[_Step] = []
        self._ahead: list[_Step] = []
        self._arriving: _Step | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="card memory-card"):
            yield Detail()
            yield StatusLine(id="memory-keys", ground=RAISED)

    def on_mount(self) -> None:
        self.query_one(Detail).focus()
        self.bindings_updated_signal.subscribe(self, lambda _screen: self._draw_keys())
        self.reload()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width <= _SMALL[0] or event.size.height <= _SMALL[1], "-small")

    def _draw_keys(self) -> None:
        if self.app.screen is not self:
            return
        keys = cast("Overlays", self.app).shown_keys()
        self.query_one("#memory-keys", StatusLine).show(
            partial(fitting_keys, [*keys, ("esc", self._way_out)])
        )

    @property
    def _way_out(self) -> str:
        return "back" if self._behind else "close"

    # --- reading --------------------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read the memory again, which may have been changed; what is shown stays until then."""
        self._read(self.memory_id)

    @work(thread=True, exclusive=True, group="read")
    def _read(self, memory_id: str) -> None:
        try:
            shown = self._read_all(memory_id)
            self.post_message(self.Read(memory_id, shown))
            known = replace(shown.memory, history=self._bench.history(shown.memory))
            self.post_message(self.Read(memory_id, replace(shown, memory=known)))
        except NotFound as error:
            self.post_message(
                self.Read(memory_id, None, _NO_FILE if is_whole_entity(memory_id) else error.told)
            )
        except WorkbenchError as error:
            self.post_message(self.Read(memory_id, None, error.told))

    def _read_all(self, memory_id: str) -> Shown:
        memory = self._bench.memory(memory_id)
        if not memory_id.startswith("entity:"):
            return Shown(memory)
        whole = memory.id.partition("#")[0]
        # An entity can be read by itself where its neighbourhood cannot.
        with suppress(NotFound):
            view = self._bench.graph(whole)
            return Shown(memory, view, None if whole == memory.id else self._bench.memory(whole))
        return Shown(memory)

    @on(Read)
    def _was_read(self, event: Read) -> None:
        event.stop()
        if event.memory_id != self.memory_id:
            return
        self._shown = event.shown
        detail = self.query_one(Detail)
        if event.shown is not None:
            detail.show(partial(memory_lines, event.shown), self.memory_id)
        else:
            detail.show(partial(problem_lines, event.problem), f"problem {self.memory_id}")
        if self._arriving is not None:
            detail.return_to(self._arriving.row, self._arriving.link)
            self._arriving = None
        self.refresh_bindings()

    # --- the way --------------------------------------------------------------------------------------------

    def _here(self) -> _Step:
        detail = self.query_one(Detail)
        return _Step(self.memory_id, round(detail.scroll_y), detail.link)

    def _go(self, step: _Step) -> None:
        self.memory_id, self._shown = step.memory_id, None
        self._arriving = step if step.row or step.link >= 0 else None
        self._read(step.memory_id)
        self._draw_keys()

    @on(Detail.Followed)
    def _followed(self, event: Detail.Followed) -> None:
        event.stop()
        link = navigation.memory_of_file(self._far_end(event.link))
        if not is_memory(link):
            self.dismiss(link)
        elif link != self.memory_id:
            self._behind.append(self._here())
            self._ahead.clear()
            self._go(_Step(link))

    def _far_end(self, link: str) -> str:
        """Return the entity at the other end, where a link is a relation."""
        if not link.startswith(RELATION_KEY):
            return link
        from_, _, to = link.removeprefix(RELATION_KEY).split("|", 2)
        return to if from_ == self.memory_id.partition("#")[0] else from_

    def action_go_back(self) -> None:
        if self._behind:
            self._ahead.append(self._here())
            self._go(self._behind.pop())

    def action_go_forward(self) -> None:
        if self._ahead:
            self._behind.append(self._here())
            self._go(self._ahead.pop())

    def action_leave(self) -> None:
        """Go back to the memory that led here, or to the pane."""
        if self._behind:
            self.action_go_back()
        else:
            self.dismiss(None)

    # --- acting ---------------------------------------------------------------------------------------------

    @property
    def _memory(self) -> Memory | None:
        return self._shown.memory if self._shown is not None else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for this memory."""
        memory = self._memory
        if action in _ABOUT_IT:
            return memory is not None and means_something(action, (memory.id,), memory.id, memory)
        if action == "see_among_others":
            return memory is not None and navigation.destination(memory.id) is not None
        if action in ("go_back", "go_forward"):
            return bool(self._behind if action == "go_back" else self._ahead)
        return super().check_action(action, parameters)

    def _status_of(self, _memory_id: str) -> str:
        memory = self._memory
        return memory.score.status if memory is not None and memory.score is not None else ""

    def action_pin(self) -> None:
        cast("Overlays", self.app).memory_actions.pin((self.memory_id,), self._status_of)

    def action_forget(self) -> None:
        cast("Overlays", self.app).memory_actions.forget((self.memory_id,), self._status_of)

    def action_edit_here(self) -> None:
        cast("Overlays", self.app).memory_actions.edit(self.memory_id)

    def action_edit_in_editor(self) -> None:
        cast("Overlays", self.app).memory_actions.edit_in_editor(self.memory_id)

    def action_merge(self) -> None:
        view = self._shown.view if self._shown is not None else None
        nodes = view.nodes if view is not None else ()
        name = next((each.label for each in nodes if each.id == self.memory_id), self.memory_id)
        cast("Overlays", self.app).memory_actions.merge(self.memory_id, name)

    def action_open_source(self) -> None:
        memory = self._memory
        if memory is not None and (found := sources(memory)):
            self.query_one(Detail).post_message(Detail.Followed(self.query_one(Detail), found[0]))

    def action_show_history(self) -> None:
        self.dismiss(history_link(self.memory_id, self._memory))

    def action_see_in_decay(self) -> None:
        self.dismiss(f"decay:{self.memory_id}")

    def action_see_before(self) -> None:
        cast("Overlays", self.app).memory_actions.before(self.memory_id, self.dismiss)

    def action_see_among_others(self) -> None:
        self.dismiss(self.memory_id)

    async def action_undo(self) -> None:
        await self.app.run_action("undo", self.app)

    async def action_redo(self) -> None:
        await self.app.run_action("redo", self.app)

    def action_show_help(self) -> None:
        from workbench.tui.screens.help import HelpScreen

        app = cast("Overlays", self.app)
        app.push_screen(HelpScreen(app.key_overrides, app.usable_ids()), app.run_command)

    def action_copy_id(self) -> None:
        self.app.copy_to_clipboard(self.memory_id)
        self.notify(f"Copied {self.memory_id}", markup=False)
