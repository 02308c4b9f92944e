"""Owns what all panes have in common: a list and a detail, a filter, a way in and a way back."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from workbench.engine.errors import NotFound, WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.trail import Place
from workbench.tui.widgets.detail import Detail
from workbench.tui.widgets.filter_bar import FilterBar, FilterInput
from workbench.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from textual.app import ComposeResult
    from textual.timer import Timer

    from workbench.display.ink import Line
    from workbench.tui.bench import Bench, Memory, Outcome
    from workbench.tui.overlays import Overlays
    from workbench.tui.widgets.rows import RowSource

EVERY_PANE = (
    commands.Filter, commands.ZoomPane, commands.Leave, commands.CopyId,
)  # fmt: skip
# Seconds the cursor must rest before more is read about the row it is on, and then before its history is.
REST = 0.08
REST_FOR_HISTORY = 0.2
_MOST_KNOWN = 500
# Seconds between two looks at how long a list has become while it is read.
_GROWTH = 0.25


class Pane(Widget):
    """A pane: its `name` is in the top line, its `id` in places.

    A subclass reads the engine in `load` (in a thread), posts what it read, and draws from what it was told.

    Args:
        bench: The engine.
    """

    title: ClassVar[str]
    filter_hint: ClassVar[str] = ""
    BINDINGS: ClassVar = bindings(*EVERY_PANE)

    class GoTo(Message):
        """Something leads to another memory, file or commit."""

        def __init__(self, link: str) -> None:
            super().__init__()
            self.link = link

    class Visit(Message):
        """Something leads to another place: a step that the trail remembers."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.place = place

    class Done(Message):
        """An action is over: what it did, or why not."""

        def __init__(self, outcome: Outcome | None, error: WorkbenchError | None = None) -> None:
            super().__init__()
            self.outcome = outcome
            self.error = error

    class Known(Message):
        """What there is to know about a memory was read."""

        def __init__(self, memory: Memory, reading: int) -> None:
            super().__init__()
            self.memory = memory
            self.reading = reading

    class Shown(Message):
        """What the pane is for can be seen, or why it cannot."""

    class Working(Message):
        """One action more is under way, or one less."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    class Travelled(Message):
        """The pane shows memory of another moment than before."""

    class Settled(Message):
        """The pane is at another row: worth remembering as a place."""

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.bench = bench
        self.wanted_key = ""
        self._asking: Timer | None = None
        self._known_memories: dict[str, Memory] = {}
        self._readings = 0
        self._grown = 0.0
        self._shown = False
        self._filter_heard = ""
        self.filter_asked: object = None
        self.filter_answered: object = None

    # --- parts ----------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        with Vertical(classes="pane-list"):
            yield from self.compose_head()
            yield FilterBar(self.filter_hint)
            yield from self.compose_below_filter()
            yield VirtualList(id=f"{self.id}-list", empty=self.teach)
        with Vertical(classes="pane-detail"):
            yield from self.compose_detail()

    def compose_head(self) -> ComposeResult:
        """Yield what stands above the list."""
        yield from ()

    def compose_below_filter(self) -> ComposeResult:
        """Yield what stands between the filter and the list."""
        yield from ()

    def compose_detail(self) -> ComposeResult:
        """Yield the parts of the detail."""
        yield Detail(id=f"{self.id}-detail")

    @property
    def list(self) -> VirtualList:
        """Return the list."""
        return self.query_one(VirtualList)

    def focus_list(self) -> None:
        """Let keys move the list, also where it only comes back into sight with the next layout."""
        self.focus_part(self.list)

    def focus_part(self, part: Widget) -> None:
        """Focus a part of the pane, also where it only comes back into sight with the next layout."""
        part.focus()
        self.focus_once_laid_out(part)

    def focus_once_laid_out(self, part: Widget) -> None:
        """Focus a part of the pane with the next layout, unless something else has got the focus before that."""
        before = self.screen.focused

        def focus() -> None:
            now = self.screen.focused
            went_on = now is not None and now is not before and now.focusable
            if not self.is_writing and not went_on:
                self.screen.set_focus(part)

        # The app sets what was asked to be focused in turn; only there is it known what has the focus.
        self.call_after_refresh(lambda: self.app.call_later(focus))

    @property
    def detail(self) -> Detail:
        """Return the detail."""
        return self.query_one(Detail)

    @property
    def filter_bar(self) -> FilterBar:
        """Return the filter."""
        return self.query_one(FilterBar)

    def teach(self, width: int) -> Sequence[Line]:
        """Draw what an empty list says."""
        raise NotImplementedError

    # --- what it shows --------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.list.waiting = True
        self.reload()

    def reload(self) -> object:
        """Read the engine again; what is shown stays until the answer is there."""
        raise NotImplementedError

    def apply_filter(self, text: str) -> None:
        """Show only what the filter lets through.

        Where that takes a moment, what is wanted goes into `filter_asked`, and into `filter_answered` with the rows.
        """
        raise NotImplementedError

    @property
    def is_behind(self) -> bool:
        """Return True while the rows do not answer what the filter says."""
        return self.filter_asked != self.filter_answered or any(
            bar.text != self._filter_heard for bar in self.query(FilterBar)
        )

    @property
    def is_unread(self) -> bool:
        """Return True while there are no rows, but some may come."""
        if not self.is_mounted or any(len(each.rows) for each in self.query(VirtualList)):
            return False
        return bool(self.message_queue_size) or self.is_reading

    @property
    def is_reading(self) -> bool:
        """Return True while something is read for this pane."""
        return any(each.node is self and not each.is_finished for each in self.workers)

    def show_detail(self, key: str) -> None:
        """Show the row of that id in the detail."""
        raise NotImplementedError

    def place(self) -> Place:
        """Return where one is."""
        return Place(self.id or "", self.list.cursor_key, self.filter_bar.text)

    def go_to(self, key: str, filter_text: str = "") -> None:
        """Show a row, now or as soon as it is read."""
        if self.filter_bar.text != filter_text:
            self.filter_bar.set_text(filter_text)
            self.apply_filter(filter_text)
        self.wanted_key = "" if not key or self.list.go_to(self.resolve(key)) else key

    def resolve(self, key: str) -> str:
        """Return the id of the row that a key means, or an empty string where it is not there (yet)."""
        return key

    def findable(self) -> Iterator[tuple[str, str]]:
        """Yield the words and the id of everything that can be found here."""
        yield from ()

    @property
    def moment(self) -> datetime | None:
        """Return the past moment that the pane shows; None for now."""
        return None

    def drafts(self) -> int:
        """Return how many unsaved texts there are."""
        return 0

    async def finish(self) -> None:
        """Wait until everything that was asked for is written; nothing more is asked then."""

    def has_read(self) -> None:
        """Take note that something new was read, and tell that it can be seen."""
        self._readings += 1
        self._known_memories.clear()
        self._shown = True
        self.call_after_refresh(self.post_message, self.Shown())

    def grow_list(self, rows: RowSource, *, first: bool, last: bool) -> None:
        """Let the list know of rows that came at its end; in between only now and then, since it repaints."""
        now = monotonic()
        if first or last or now - self._grown >= _GROWTH:
            self._grown = now
            self.list.grow(rows)

    def known(self, memory_id: str) -> Memory | None:
        """Return what has been read about a memory already."""
        return self._known_memories.get(memory_id)

    def ask_about(self, memory_id: str) -> None:
        """Read all that is known about a memory, once the cursor rests on it; `know` is told."""
        if self._asking is not None:
            self._asking.stop()
        memory = self.known(memory_id)
        if memory is None:
            self._asking = self.set_timer(REST, partial(self._read_memory, memory_id))
        elif memory.history is None:
            self._asking = self.set_timer(REST_FOR_HISTORY, partial(self._read_history, memory))

    @work(thread=True, exclusive=True, group="memory")
    def _read_memory(self, memory_id: str) -> None:
        try:
            reading = self._readings
            self.post_message(self.Known(self.bench.memory(memory_id), reading))
        except NotFound:
            # It went away since; the reload that follows takes its row away too.
            return
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))

    @work(thread=True, exclusive=True, group="memory")
    def _read_history(self, memory: Memory) -> None:
        try:
            reading = self._readings
            self.post_message(self.Known(replace(memory, history=self.bench.history(memory)), reading))
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))

    @on(Known)
    def _known(self, event: Known) -> None:
        event.stop()
        memory = event.memory
        if event.reading != self._readings:
            return
        if len(self._known_memories) >= _MOST_KNOWN:
            self._known_memories.clear()
        self._known_memories[memory.id] = memory
        self.know(memory)
        if memory.history is None and self.list.cursor_key == memory.id:
            self.ask_about(memory.id)

    def know(self, memory: Memory) -> None:
        """Be told what is known about a memory that was asked about."""

    # --- acting ---------------------------------------------------------------------------------------------

    def act(self, action: Callable[[], Outcome | None], after: Callable[[], object] | None = None) -> None:
        """Have the engine do something; what comes of it is told in a toast.

        Args:
            action: Calls the engine; gives None where it did nothing, since it asks first.
            after: Called in the app once that went well.
        """
        cast("Overlays", self.app).in_order.submit(lambda _number: self._act(action, after))

    def _act(self, action: Callable[[], Outcome | None], after: Callable[[], object] | None) -> None:
        self.post_message(self.Working(1))
        try:
            outcome = action()
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            return
        finally:
            self.post_message(self.Working(-1))
        if after is not None and outcome is not None:
            self.app.call_from_thread(after)
        self.post_message(self.Done(outcome))

    def undone(self) -> None:
        """Be told that the newest action was taken back from here."""

    def subject_keys(self) -> tuple[str, ...]:
        """Return the ids that an action is about."""
        return self.list.chosen_keys

    @property
    def is_writing(self) -> bool:
        """Tell whether keys write in the filter."""
        return self.is_mounted and self.screen.focused is self.query_one(FilterInput)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something here."""
        if action in ("filter", "zoom_pane") and self.is_mounted:
            return not self.is_writing
        return super().check_action(action, parameters)

    # --- one grammar ----------------------------------------------------------------------------------------

    @on(VirtualList.Moved)
    def _moved(self, event: VirtualList.Moved) -> None:
        event.stop()
        self.show_detail(event.key)
        self.refresh_bindings()
        self.post_message(self.Settled())

    @on(VirtualList.Chosen)
    def _chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.go_in(event.key)

    @on(VirtualList.Taught)
    def _taught(self, event: VirtualList.Taught) -> None:
        event.stop()
        self.post_message(self.GoTo(event.key))

    def go_in(self, key: str) -> None:
        """Go from a row into the detail."""
        del key
        self.add_class("-reading")
        self.focus_once_laid_out(self.detail)

    @on(Detail.Followed)
    def _followed(self, event: Detail.Followed) -> None:
        event.stop()
        self.post_message(self.GoTo(event.link))

    @on(FilterBar.Changed)
    def _filter_changed(self, event: FilterBar.Changed) -> None:
        event.stop()
        self._filter_heard = event.text
        self.apply_filter(event.text)

    @on(FilterInput.Passed)
    def _passed(self, event: FilterInput.Passed) -> None:
        event.stop()
        getattr(self.list, f"action_{event.action}")()

    @on(FilterInput.Submitted)
    def _submitted(self, event: FilterInput.Submitted) -> None:
        event.stop()
        self.keep_filter()

    def keep_filter(self) -> None:
        """Go on in what the filter shows."""
        self.filter_bar.close_if_empty()
        self.focus_list()

    @on(FilterInput.Left)
    def _left_filter(self, event: FilterInput.Left) -> None:
        event.stop()
        self.clear_filter()

    def clear_filter(self) -> None:
        """Show everything again."""
        self.filter_bar.set_text("")
        self.focus_list()

    def action_filter(self) -> None:
        self.remove_class("-reading")
        self.filter_bar.open()

    def action_zoom_pane(self) -> None:
        in_detail = self.detail.has_focus_within
        self.set_class(in_detail, "-zoom-detail")
        self.toggle_class("-zoom")

    def action_leave(self) -> None:
        """Come back by one step: out of the zoom, out of the detail, the marks, then the filter."""
        if self.has_class("-zoom"):
            self.remove_class("-zoom")
        elif self.has_class("-reading") or self.detail.has_focus:
            self.remove_class("-reading")
            self.focus_list()
        elif not self.list.clear_marks() and self.filter_bar.text:
            self.clear_filter()

    def action_copy_id(self) -> None:
        keys = self.subject_keys()
        if keys:
            self.app.copy_to_clipboard("\n".join(keys))
            self.notify(
                f"Copied {keys[0]}" + (f" and {len(keys) - 1} more" if len(keys) > 1 else ""), markup=False
            )
