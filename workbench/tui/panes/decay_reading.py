"""Reads every score for the heatmap, and puts what was read into the order that is wanted, off the screen’s thread."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from workbench.engine.errors import WorkbenchError
from workbench.tui.drawing.heat import FARTHEST, SCALES
from workbench.tui.panes.on_memories import OnMemories
from workbench.tui.views.decay_arranging import Arrangement, GivenUp, arrange, changes
from workbench.tui.views.decay_rows import Frame, HeatRows, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.decay import Fall, Falls
    from workbench.tui.bench import Bench
    from workbench.tui.views.decay_frame import Trial

# Seconds between two looks at the clock, for the day may have changed.
_LOOK_AT_CLOCK: Final = 20.0


class DecayReading(OnMemories):
    """The part of the heatmap that reads: what there is, what a trial would make of it, and what of it to show."""

    class Read(Message):
        """Every score was read, and what falls when."""

        def __init__(self, number: int, reading: Reading) -> None:
            super().__init__()
            self.number = number
            self.reading = reading

    class Tried(Message):
        """It was reckoned what another rate would make of everything."""

        def __init__(self, rate: float, reading: Reading, changes: Sequence[tuple[int, str, str]]) -> None:
            super().__init__()
            self.rate = rate
            self.reading = reading
            self.changes = changes

    class Arranged(Message):
        """What is wanted of what was read stands in rows."""

        def __init__(self, number: int, rows: HeatRows) -> None:
            super().__init__()
            self.number = number
            self.rows = rows

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self.wanted = Arrangement()
        self.frame = Frame(bench.now().date(), SCALES[1])
        self.truth: Reading | None = None
        self.trial: Trial | None = None
        self._number = 0
        self._arranging = 0

    @property
    def reading(self) -> Reading | None:
        """Return what is shown: the trial once it is reckoned, else the truth."""
        return self.trial.reading if self.trial is not None and self.trial.reading is not None else self.truth

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(_LOOK_AT_CLOCK, self._look_at_clock)

    def _look_at_clock(self) -> None:
        """Read again once another day has begun: today moves on, and every score with it."""
        if self.truth is not None and self.bench.now().date() != self.frame.today:
            self.reload()

    # --- reading --------------------------------------------------------------------------------------------

    def reload(self) -> None:
        self._number += 1
        self._read(self._number)

    @work(thread=True, exclusive=True, group="load")
    def _read(self, number: int) -> None:
        worker = get_current_worker()
        try:
            view = self.bench.decay()
            if worker.is_cancelled:
                return
            falls = by_memory(self.bench.falls(FARTHEST))
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            return
        if not worker.is_cancelled:
            self.post_message(self.Read(number, Reading(view, falls)))

    @on(Read)
    def _was_read(self, event: Read) -> None:
        event.stop()
        if event.number != self._number:
            return
        self.truth = event.reading
        self.frame = replace(self.frame, today=event.reading.view.now.date())
        self.has_read()
        self.truth_changed()
        self.rearrange()

    def truth_changed(self) -> None:
        """Be told that everything was read anew."""

    def try_out(self, rate: float) -> None:
        """Reckon what another rate would make of everything; `Tried` tells."""
        if self.truth is not None:
            self._try_out(rate, self.truth)

    @work(thread=True, exclusive=True, group="trial")
    def _try_out(self, rate: float, truth: Reading) -> None:
        worker = get_current_worker()
        try:
            view = self.bench.decay(rate)
            if worker.is_cancelled:
                return
            was = {entry.id: entry.status for entry in truth.view.entries}
            falls = by_memory(self.bench.falls(FARTHEST, rate))
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
            return
        if not worker.is_cancelled:
            tried = Reading(view, falls, was)
            self.post_message(self.Tried(rate, tried, changes(tried)))

    # --- what of it to show ---------------------------------------------------------------------------------

    def rearrange(self) -> None:
        """Put what was read into the order that is wanted; `Arranged` tells."""
        if self.reading is not None:
            self._arranging += 1
            self._arrange(self._arranging, self.reading, self.wanted, self.frame)

    @work(thread=True, exclusive=True, group="arrange")
    def _arrange(self, number: int, reading: Reading, wanted: Arrangement, frame: Frame) -> None:
        worker = get_current_worker()
        try:
            rows = arrange(reading, wanted, self.bench.score_course, frame, lambda: worker.is_cancelled)
        except GivenUp:
            return
        self.post_message(self.Arranged(number, rows))


def by_memory(found: Falls) -> dict[str, tuple[Fall, ...]]:
    """Return what each memory passes, the soonest first, by its id."""
    falls: dict[str, list[Fall]] = defaultdict(list)
    for fall in found.falls:
        falls[fall.id].append(fall)
    return {memory_id: tuple(each) for memory_id, each in falls.items()}
