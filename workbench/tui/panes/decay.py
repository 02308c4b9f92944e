"""The Decay pane: memories over time as cells of light, what fades next, and what another rate would make of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, TypeVar

from textual import on
from textual.containers import Vertical

from workbench.display.ink import gap
from workbench.tui import commands
from workbench.tui.drawing.heat import SCALES, axis_lines
from workbench.tui.keymap import bindings, shown_key
from workbench.tui.palette import CURSOR, PAPER
from workbench.tui.panes.decay_list import HeatList
from workbench.tui.panes.decay_trial import DecayTrial
from workbench.tui.panes.on_memories import ON_MEMORIES
from workbench.tui.query import parse_query
from workbench.tui.screens.ask import ask_for_day
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.decay_arranging import FIELDS, GROUPINGS, SORTS, SPANS
from workbench.tui.views.decay_cell import Cell, cell_lines
from workbench.tui.views.decay_frame import (
    EMPTY,
    FADING,
    GROUP,
    NOTHING_MATCHES,
    RATE,
    READING,
    SORT,
    ZOOM,
    legend_line,
    nothing_fades,
    summary_line,
    trial_lines,
)
from workbench.tui.views.teaching import teach
from workbench.tui.widgets.filter_bar import FilterBar
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.tui.bench import Memory
    from workbench.tui.panes.decay_reading import DecayReading
    from workbench.tui.views.decay_rows import Frame

# More memories than these are not acted upon without a question.
ASKS_FROM: Final = 20
Kind = TypeVar("Kind")
_NO_CHANGES = teach(
    "Nothing would change.", "Under this λ every memory keeps its status today.", ("c", "all.")
)


class DecayPane(DecayTrial):
    """Scores over time, one row for each memory."""

    title: ClassVar[str] = "Decay"
    filter_hint: ClassVar[str] = "words  store:  tag:  entity:  status:  after:  before:"
    BINDINGS: ClassVar = bindings(
        *ON_MEMORIES, commands.ShowFading, commands.Reinforce, commands.SortMemories, commands.GroupMemories,
        commands.ZoomTimeIn, commands.ZoomTimeOut, commands.JumpToDate, commands.TryRate, commands.LowerRate,
        commands.RaiseRate, commands.OnlyChanges,
    )  # fmt: skip

    # Another order is read from its beginning.
    _from_top = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="pane-list"):
            yield Lines(id="decay-trial", ground=CURSOR)
            yield StatusLine(id="decay-summary", ground=PAPER)
            yield FilterBar(self.filter_hint)
            yield Lines(id="decay-axis", ground=PAPER)
            yield HeatList(id=f"{self.id}-list", empty=self.teach)
            yield StatusLine(id="decay-legend", ground=PAPER)
        with Vertical(classes="pane-detail"):
            yield from self.compose_detail()

    @property
    def list(self) -> HeatList:
        """Return the list."""
        return self.query_one(HeatList)

    def teach(self, width: int) -> Sequence[Line]:
        reading = self.reading
        if reading is None or not reading.view.entries:
            return READING(width) if self.bench.progress() is not None else EMPTY(width)
        if self.wanted.query:
            return NOTHING_MATCHES(width)
        if self.wanted.changes:
            return _NO_CHANGES(width)
        rows = self.list.heat
        return nothing_fades(self.wanted.span, rows.coming if rows is not None else None, width)

    # --- what it shows --------------------------------------------------------------------------------------

    @on(DecayTrial.Arranged)
    def _was_arranged(self, event: DecayReading.Arranged) -> None:
        event.stop()
        if event.number != self._arranging:
            return
        # The newest arrangement is of the newest filter.
        self.filter_answered = self.filter_asked
        event.rows.frame = self.frame
        self.list.show_heat(event.rows)
        if self._from_top:
            self._from_top = False
            self.list.action_move_first()
        if self.wanted_key and self.list.go_to(self.resolve(self.wanted_key)):
            self.wanted_key = ""
        total = len(self.truth.view.entries) if self.truth is not None else 0
        self.filter_bar.set_count(event.rows.entries, total)
        self._draw()

    def _draw(self) -> None:
        """Draw everything around the rows, and the detail."""
        self._draw_frame()
        self.list.refresh()
        self.show_detail(self.list.cursor_key)

    def _draw_frame(self) -> None:
        rows, reading = self.list.heat, self.reading
        summary = partial(summary_line, reading, self.wanted, self.frame.scale, rows.entries if rows else 0)
        self.query_one("#decay-summary", StatusLine).show(summary)
        self.query_one("#decay-legend", StatusLine).show(
            partial(legend_line, reading.view if reading else None)
        )
        self.query_one("#decay-axis", Lines).show(self._axis)
        self.query_one("#decay-trial", Lines).show(partial(trial_lines, self.trial))

    def _axis(self, _width: int) -> Sequence[Line]:
        rows = self.list.heat
        if rows is None or not len(rows):
            return ()
        _, window = rows.cells_at(self.list.row_width)
        return [(gap(self.list.cells_begin), *line) for line in axis_lines(window, rows.frame.cell)]

    def on_resize(self) -> None:
        self.query_one("#decay-axis", Lines).refresh()

    def trial_changed(self) -> None:
        self.list.set_trial(on=self.trial is not None)
        if self.trial is not None and self.trial.reading is not None and self.list.heat is not None:
            # The cells show another rate at once; what becomes of the rows follows when it is reckoned.
            self.list.heat.reading = self.trial.reading
            self.list.set_frame(self.frame)
        self.refresh_bindings()
        self._draw()

    def show_detail(self, key: str) -> None:
        rows = self.list.heat
        entry = rows.entry(key) if rows is not None else None
        if rows is None or entry is None:
            self.detail.show(lambda _width: ())
            return
        cell = Cell(
            entry,
            rows.reading,
            self.frame,
            self.bench.score_terms(rows.reading.view, entry, self._day),
            self.bench.score_course,
            self.known(key),
        )
        self.detail.show(partial(cell_lines, cell), key)
        self.ask_about(key)

    @property
    def _day(self) -> int:
        """Return the day of the cell one is at, counted from today."""
        return self.frame.at_cell(self.frame.cell).day

    def know(self, memory: Memory) -> None:
        if memory.id == self.list.cursor_key:
            self.show_detail(memory.id)
            self.refresh_bindings()

    def resolve(self, key: str) -> str:
        """Return the row that a key means: a fact or a relation has the score of its entity."""
        return key.partition("#^")[0]

    def go_to(self, key: str, filter_text: str = "") -> None:
        """Show a memory, now or as soon as it is read; what hides it gives way."""
        super().go_to(key, filter_text)
        if self.wanted_key and (self.wanted.span or self.wanted.changes):
            self.wanted = replace(self.wanted, span=0, changes=False)
            self.rearrange()

    def apply_filter(self, text: str) -> None:
        query = parse_query(text, FIELDS, self.frame.today)
        if self.reading is not None:
            self.filter_asked = query
        self.wanted = replace(self.wanted, query=query)
        self.rearrange()

    # --- moving in time -------------------------------------------------------------------------------------

    @on(HeatList.Looked)
    def _looked(self, event: HeatList.Looked) -> None:
        event.stop()
        self._show_frame(event.frame)

    def _show_frame(self, frame: Frame) -> None:
        zoomed = frame.scale != self.frame.scale
        self.frame = frame
        self.list.set_frame(frame)
        if zoomed:
            self._draw_frame()
        else:
            self.query_one("#decay-axis", Lines).refresh()
        self.show_detail(self.list.cursor_key)

    def action_zoom_time_in(self) -> None:
        self._zoom(-1)

    def action_zoom_time_out(self) -> None:
        self._zoom(1)

    def _zoom(self, by: int) -> None:
        at = SCALES.index(self.frame.scale) + by
        if 0 <= at < len(SCALES):
            self._show_frame(replace(self.frame, scale=SCALES[at]))
        else:
            self.notify(f"A cell is {self.frame.scale.name} at {'most' if by > 0 else 'least'}.", timeout=2)

    def action_jump_to_date(self) -> None:
        today = self.frame.today
        ask_for_day(
            self.app,
            today,
            "2027-02-14 · 14 feb 2027 · today · 3w (ago)",
            lambda first, _last: self._show_frame(replace(self.frame, day=(first - today).days)),
        )

    @on(HeatList.KeepWanted)
    def _keep_wanted(self, event: HeatList.KeepWanted) -> None:
        event.stop()
        self.keep_trial()

    # --- order ----------------------------------------------------------------------------------------------

    def action_sort_memories(self) -> None:
        self._want(sort=_after(SORTS, self.wanted.sort), span=0)

    def action_group_memories(self) -> None:
        self._want(group=_after(GROUPINGS, self.wanted.group), span=0)

    def action_show_fading(self) -> None:
        self._want(span=_after((0, *SPANS), self.wanted.span))

    def _want(self, **other: object) -> None:
        self.wanted = replace(self.wanted, **other)  # type: ignore[arg-type]  # fields differ in type
        self._from_top = True
        self.rearrange()

    @on(StatusLine.Pressed, "#decay-summary")
    def _summary_pressed(self, event: StatusLine.Pressed) -> None:
        event.stop()
        kind, _, days = event.link.partition(":")
        if kind == SORT:
            self.action_sort_memories()
        elif kind == GROUP:
            self.action_group_memories()
        elif kind == ZOOM:
            self._show_frame(replace(self.frame, scale=_after(SCALES, self.frame.scale)))
        elif kind == FADING:
            self._want(span=int(days))
        elif kind == RATE:
            self.action_try_rate()

    def action_leave(self) -> None:
        """Come back by one step; a trial ends before marks and filter go, and what fades after them."""
        reading = self.has_class("-zoom") or self.has_class("-reading") or self.detail.has_focus
        if self.trial is not None and not reading:
            self.end_trial()
        elif self.wanted.span and not (reading or self.list.marks.keys or self.filter_bar.text):
            self._want(span=0)
        else:
            super().action_leave()

    # --- acting ---------------------------------------------------------------------------------------------

    def status_of(self, memory_id: str) -> str:
        """Return a memory’s status; what has merely sunk below the last threshold can still be archived by hand."""
        entry = self.list.heat.entry(memory_id) if self.list.heat is not None else None
        if entry is None:
            return super().status_of(memory_id)
        if entry.archived:
            return "archived"
        return "pinned" if entry.pinned else "dormant" if entry.status == "archived" else entry.status

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something here."""
        if action == "see_in_decay":
            return False
        if action == "only_changes":
            return self.trial is not None and not self.is_writing
        if action == "reinforce":
            return bool(self.subjects()) and not self.is_writing
        return super().check_action(action, parameters)

    def action_pin(self) -> None:
        self._sure("Pin or let go of", "Pinned memories never fade.", commands.Pin.key, super().action_pin)

    def action_forget(self) -> None:
        self._sure(
            "Archive or bring back",
            "Archived memories no longer come up; nothing is lost.",
            commands.Forget.key,
            super().action_forget,
        )

    def action_reinforce(self) -> None:
        ids = self.subjects()

        def reinforce() -> None:
            self.act(partial(self.bench.reinforce, ids), self.list.clear_marks)

        self._sure("Reinforce", "Each counts as used today.", commands.Reinforce.key, reinforce)

    def _sure(self, verb: str, means: str, key: str, act: Callable[[], object]) -> None:
        """Do something to what is marked; to a great many only after a question."""
        count = len(self.subjects())
        if count <= ASKS_FROM:
            act()
            return

        def answered(sure: bool | None) -> None:
            if sure:
                act()

        question = f"{verb} {count:,} memories?"
        self.app.push_screen(
            ConfirmScreen(question, f"{means} It is one commit; u takes it back.", "Yes", shown_key(key)),
            answered,
        )


def _after(kinds: Sequence[Kind], current: Kind) -> Kind:
    """Return what follows in a circle."""
    return kinds[(kinds.index(current) + 1) % len(kinds)]
