"""The Timeline pane: what happened, day by day, and what was learned from it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.message import Message
from textual.worker import get_current_worker

from workbench.display.ink import gap
from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.palette import PAPER
from workbench.tui.panes.on_memories import ON_MEMORIES, OnMemories
from workbench.tui.query import Query, parse_days, parse_query
from workbench.tui.screens.ask import ask_for_day
from workbench.tui.views.teaching import IMPORT, teach
from workbench.tui.views.timeline import (
    FIELDS,
    TimelineRows,
    episode_lines,
    episode_matches,
    ribbon_day,
    ribbon_line,
)
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.tui.bench import Bench, Episode, Memory

_EMPTY = teach(
    "Nothing has happened yet.",
    "The timeline holds what the agent noted down, day by day: decisions, preferences, tasks, corrections. "
    "Everything it knows can be traced back to here. Daily logs of other agents appear as well.",
    ('workbench remember "We ship on Fridays"', "writes an episode."),
    IMPORT,
    ("workbench demo", "builds a sample workspace to look around in."),
)
_READING = teach("Reading the files for the first time.", "What is found appears here as it comes.")
_NOTHING_MATCHES = teach(
    "Nothing matches.",
    "Words must all occur; type:, tag:, confidence:, source:, status:, after: and before: narrow further, a minus "
    "turns a condition round.",
    ("tag:deploy after:3w -staging", "for example."),
    ("esc", "shows everything again."),
)
_MARGIN = 2


class TimelinePane(OnMemories):
    """Days and their episodes, newest first."""

    title: ClassVar = "Timeline"
    filter_hint: ClassVar = "words  type:  tag:  confidence:  source:  after:  before:"
    BINDINGS: ClassVar = bindings(commands.JumpToDate, *ON_MEMORIES)

    class Batch(Message):
        """Some more episodes were read, older than those before; `last` says that these were all."""

        def __init__(self, reading: int, episodes: Sequence[Episode], *, last: bool = False) -> None:
            super().__init__()
            self.reading = reading
            self.episodes = episodes
            self.last = last

    class Filtered(Message):
        """The filter has been applied to the first `looked_at` episodes."""

        def __init__(self, query: Query, episodes: list[Episode], rows: TimelineRows, looked_at: int) -> None:
            super().__init__()
            self.query = query
            self.episodes = episodes
            self.rows = rows
            self.looked_at = looked_at

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._today: date = bench.now().date()
        self._episodes: list[Episode] = []
        self._rows = TimelineRows(self._today)
        self._query = Query()
        self._reading = 0
        self._arriving: list[Episode] = []
        self._per_day: dict[date, int] = {}

    def compose_head(self) -> ComposeResult:
        yield StatusLine(id="timeline-ribbon", ground=PAPER)

    def teach(self, width: int) -> Sequence[Line]:
        if self._episodes:
            return _NOTHING_MATCHES(width)
        return _READING(width) if self.bench.progress() is not None else _EMPTY(width)

    # --- reading --------------------------------------------------------------------------------------------

    def reload(self) -> None:
        self._reading += 1
        self._arriving = []
        self._read(self._reading)

    @work(thread=True, exclusive=True, group="load")
    def _read(self, reading: int) -> None:
        worker = get_current_worker()
        try:
            for batch in self.bench.episodes():
                if worker.is_cancelled:
                    return
                self.post_message(self.Batch(reading, batch))
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
        self.post_message(self.Batch(reading, (), last=True))

    @on(Batch)
    def _arrived(self, event: Batch) -> None:
        event.stop()
        if event.reading != self._reading:
            return
        self._arriving.extend(event.episodes)
        if event.reading == 1:
            # The first reading shows what there is as it comes; later ones change nothing until they are whole.
            self._episodes = self._arriving
            self._rows.extend(each for each in event.episodes if episode_matches(self._query, each))
            first = bool(event.episodes) and len(self._arriving) == len(event.episodes)
            if first or not self._arriving:
                self.filter_answered = self.filter_asked
            self.grow_list(self._rows, first=first, last=event.last)
            self._find_wanted()
            if first:
                self.has_read()
        if event.last:
            self.has_read()
            self._today = self.bench.now().date()
            self._episodes = self._arriving
            self.list.waiting = False
            if event.reading == 1:
                self._settle()
            else:
                self._filter(self._query, self._episodes)

    def _find_wanted(self) -> None:
        if self.wanted_key and self.list.go_to(self.resolve(self.wanted_key)):
            self.wanted_key = ""

    def resolve(self, key: str) -> str:
        """Return the row that a key means: `day:…` is the newest of a day, a file the first part of it there is."""
        kind, _, name = key.partition(":")
        if kind == "day" and (days := parse_days(name, self._today)):
            return next((each[0].id for day, each in self._rows.days.items() if day == days[1]), "")
        if kind == "file" and self._rows.find(key) is None:
            path = name.partition("#")[0]
            return next((each.id for each in self._episodes if each.path == path), "")
        return key

    def apply_filter(self, text: str) -> None:
        self._query = self.filter_asked = parse_query(text, FIELDS, self._today)
        self._filter(self._query, self._episodes)

    @work(thread=True, exclusive=True, group="filter")
    def _filter(self, query: Query, episodes: list[Episode]) -> None:
        looked_at = len(episodes)
        rows = TimelineRows(self._today)
        rows.extend(each for each in episodes[:looked_at] if episode_matches(query, each))
        self.post_message(self.Filtered(query, episodes, rows, looked_at))

    @on(Filtered)
    def _filtered(self, event: Filtered) -> None:
        event.stop()
        if event.query != self._query or event.episodes is not self._episodes:
            return
        event.rows.extend(
            each for each in self._episodes[event.looked_at :] if episode_matches(event.query, each)
        )
        self._rows = event.rows
        self.filter_answered = self.filter_asked
        self.list.show(self._rows)
        self._find_wanted()
        self._settle()

    def _settle(self) -> None:
        """Bring up to date what is drawn from the rows as a whole."""
        self._per_day = {day: len(episodes) for day, episodes in self._rows.days.items()}
        self.filter_bar.set_count(self._rows.shown, len(self._episodes))
        self.query_one("#timeline-ribbon", StatusLine).set_class(not self._per_day, "-hidden")
        self.list.refresh()
        self.show_detail(self.list.cursor_key)

    # --- drawing --------------------------------------------------------------------------------------------

    def show_detail(self, key: str) -> None:
        episode = self._rows.episode(key)
        here = episode.day if episode is not None else None
        self.query_one("#timeline-ribbon", StatusLine).show(
            lambda width: (gap(_MARGIN), *ribbon_line(self._per_day, here, width - 2 * _MARGIN))
        )
        if episode is None:
            self.detail.show(lambda _width: ())
            return
        self.detail.show(partial(episode_lines, episode, self.known(key), self._today), key)
        self.ask_about(key)

    def know(self, memory: Memory) -> None:
        if memory.id == self.list.cursor_key:
            self.show_detail(memory.id)
            self.refresh_bindings()

    def findable(self) -> Iterator[tuple[str, str]]:
        for episode in self._episodes:
            yield f"{episode.day} {episode.time} {episode.text}", episode.id

    # --- acting ---------------------------------------------------------------------------------------------

    def action_jump_to_date(self) -> None:
        ask_for_day(
            self.app,
            self._today,
            "2026-02-14 · 14 feb · feb 2026 · yesterday · 3w",
            lambda _first, last: self.list.go_to(self._rows.key_near(last)),
        )

    @on(StatusLine.Pressed, "#timeline-ribbon")
    def _ribbon_pressed(self, event: StatusLine.Pressed) -> None:
        event.stop()
        day = ribbon_day(self._per_day, event.x - _MARGIN, event.sender.size.width - 2 * _MARGIN)
        if day is not None:
            self.list.go_to(self._rows.key_near(day))

    def status_of(self, memory_id: str) -> str:
        episode = self._rows.episode(memory_id)
        return episode.status if episode is not None else ""
