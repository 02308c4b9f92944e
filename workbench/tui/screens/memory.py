"""Shows one memory that has no pane of its own, over whatever one was reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.ink import BLANK, Span, ink, spread
from workbench.tui.keymap import bindings
from workbench.tui.views.memory import known_lines, markdown_lines, store_of_id
from workbench.tui.widgets.detail import Detail

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.tui.bench import Bench, Memory
    from workbench.tui.ink import Line


def memory_lines(memory: Memory, width: int) -> list[Line]:
    """Draw a memory of any store with all that is known about it."""
    role = f"store.{store_of_id(memory.id)}"
    head = spread((ink(memory.id, f"{role}+strong"),), (ink(memory.store, "soft"),), width)
    pinned: list[Line] = [(Span("◆ pinned", role),)] if memory.pinned else []
    return [head, *pinned, BLANK, *markdown_lines(memory.text, width), *known_lines(memory, width)]


class MemoryScreen(ModalScreen[str | None]):
    """One memory to read; gives the id of the link that was followed, or None.

    Args:
        bench: The engine.
        memory_id: Which memory.
    """

    BINDINGS: ClassVar = bindings(commands.Leave, commands.CopyId)

    class Read(Message):
        """The memory was read, or could not be."""

        def __init__(self, memory: Memory | None, problem: str = "") -> None:
            super().__init__()
            self.memory = memory
            self.problem = problem

    def __init__(self, bench: Bench, memory_id: str) -> None:
        super().__init__()
        self._bench = bench
        self.memory_id = memory_id

    def compose(self) -> ComposeResult:
        with Vertical(classes="card"):
            yield Detail()

    def on_mount(self) -> None:
        self._read()

    @work(thread=True, exclusive=True)
    def _read(self) -> None:
        try:
            self.post_message(self.Read(self._bench.memory(self.memory_id)))
        except WorkbenchError as error:
            self.post_message(self.Read(None, str(error)))

    @on(Read)
    def _was_read(self, event: Read) -> None:
        memory, problem = event.memory, event.problem
        detail = self.query_one(Detail)
        if memory is not None:
            detail.show(lambda width: memory_lines(memory, width), memory.id)
        else:
            detail.show(lambda width: markdown_lines(problem, width), problem)
        detail.focus()

    @on(Detail.Followed)
    def _followed(self, event: Detail.Followed) -> None:
        event.stop()
        self.dismiss(event.link)

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_copy_id(self) -> None:
        self.app.copy_to_clipboard(self.memory_id)
        self.notify(f"Copied {self.memory_id}", markup=False)
