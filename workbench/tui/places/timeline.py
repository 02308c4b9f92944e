"""Timeline: what happened, day by day, the newest first."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, ClassVar

from textual import on

from workbench.display import words
from workbench.display.ink import ink, spread
from workbench.display.rows import day_heading, entry_row
from workbench.display.words import counted
from workbench.engine.language.periods import parse_days
from workbench.engine.values import dataclass
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.rows import Rows, last_line
from workbench.tui.places.place import Place
from workbench.tui.verbs.adding import to_day
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbench.display.ink import Line
    from workbench.engine.results.memories import Timeline, TimelineEntry
    from workbench.engine.workspace import Workspace
    from workbench.tui.parts.filter import RowFilter
    from workbench.tui.verbs.adding import Destination

# Entries read at first; more follow when the cursor comes near the last of them, each time as many again.
_PAGE = 300
_NEAR_THE_END = 60
_EVERYTHING = 1_000_000_000


class TimelineRows(Rows["str", "TimelineEntry"]):
    """Entries under their days; what was corrected reads as it was corrected, where it stood."""

    def __init__(self, timeline: Timeline, today: date) -> None:
        super().__init__()
        on = ""
        there = {entry.id for entry in timeline.entries}
        # What an entry says now, by its id. A correction is newer than what it corrects, so it comes first.
        now: dict[str, TimelineEntry] = {}
        self.instead: dict[str, str] = {}
        for entry in timeline.entries:
            corrected, said = words.corrected_by(entry.text)
            stands = now.pop(entry.id, None)
            if stands is not None:
                self.instead[entry.id] = stands.id
            elif corrected:
                stands = replace(entry, title=said, text=said)
            if corrected in there and stands is not None:
                now[corrected] = stands
                continue
            if entry.day != on:
                on = entry.day
                self.add_heading(day_heading(date.fromisoformat(on), today))
            shown = entry if stands is None else replace(stands, day=entry.day, time=entry.time)
            self.add(shown, shown.id)
        # A correction that was itself corrected led from one to the next.
        for old in [*self.instead]:
            while (newer := self.instead[old]) in self.instead:
                self.instead[old] = self.instead[newer]

    def draw(self, row: TimelineEntry, width: int) -> Line:
        """Draw a row."""
        return entry_row(row, width)


@dataclass(frozen=True)
class Read:
    """What was read, and its rows, made where nobody waits for them.

    Args:
        filtered: The filter of the place, where there is one, that has looked through these rows.
    """

    timeline: Timeline
    today: date
    rows: TimelineRows
    filtered: RowFilter | None = None


class TimelinePlace(Place):
    """The timeline."""

    EMPTY: ClassVar[str] = "Nothing has happened yet; ⸨new⸩ writes the first memory."
    LABELS: ClassVar[Mapping[str, str]] = {"go-day": "date"}
    FILTER_KEYS: ClassVar[tuple[str, ...]] = ("type", "tag", "from", "is")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._limit = _PAGE
        # Entries are read on until one is as it says.
        self._until: Callable[[TimelineEntry], bool] | None = None
        self._after_reading: Callable[[], object] | None = None

    # Reading page by page.

    def read(self, workspace: Workspace) -> Read:
        limit, until = _EVERYTHING if self.filter.text else self._limit, self._until
        found = workspace.timeline(limit=limit)
        while until is not None and found.next is not None and not any(map(until, found.entries)):
            limit *= 4
            found = workspace.timeline(limit=limit)
        today = workspace.now().date()
        rows = TimelineRows(found, today)
        return Read(found, today, rows, self.filter.looking_through(rows) if self.filter.text else None)

    @property
    def _has_more(self) -> bool:
        return self.results is not None and self.results.timeline.next is not None

    def _read_on(
        self,
        limit: int,
        then: Callable[[], object] | None = None,
        until: Callable[[TimelineEntry], bool] | None = None,
    ) -> None:
        self._limit, self._until, self._after_reading = limit, until, then
        self.frame.read_place()

    def show(self, results: Read) -> None:
        if results.filtered is not None:
            self.filter.take_over(results.filtered)
            results = replace(results, filtered=None)
        super().show(results)
        self._limit, self._until = max(_PAGE, len(results.timeline.entries)), None
        if self._after_reading is not None:
            act, self._after_reading = self._after_reading, None
            act()

    def show_rows(self) -> None:
        super().show_rows()
        if self.filter.text and self._has_more and self.is_attached:
            self._read_on(_EVERYTHING)

    def left(self) -> None:
        if self.filter.text or self.list.cursor >= _PAGE:
            return
        self._limit = _PAGE
        if self.results is not None and len(self.results.timeline.entries) > _PAGE:
            # All of a long life was read for a filter; the first page is enough to come back to.
            page = self.results.timeline.entries[:_PAGE]
            timeline = replace(self.results.timeline, entries=page, next=page[-1].id)
            self.show(Read(timeline, self.results.today, TimelineRows(timeline, self.results.today)))

    def reveal(self, key: str) -> bool:
        if isinstance(self.all_rows, TimelineRows):
            key = self.all_rows.instead.get(key, key)
        if super().reveal(key):
            return True
        if self._has_more:
            self._read_on(self._limit, lambda: self._arrive(key), lambda entry: entry.id == key)
            return True
        return False

    def _arrive(self, key: str) -> None:
        if not super().reveal(key):
            self.frame.say("Timeline does not show it.")

    @on(ListPart.Moved)
    def _moved(self) -> None:
        count = len(self.results.timeline.entries) if self.results is not None else 0
        is_near = len(self.list.rows) - last_line(self.list.rows, self.list.cursor) <= _NEAR_THE_END
        if is_near and self._has_more and self._limit <= count:
            self._read_on(2 * count)

    # Drawing.

    def rows(self, results: Read) -> TimelineRows:
        return results.rows

    def heading(self, results: Read, width: int) -> Line:
        merged = len(self.all_rows.instead) if isinstance(self.all_rows, TimelineRows) else 0
        total = results.timeline.total - merged
        return spread((ink(f"{counted(total, 'entry', 'entries')} · newest first", "soft"),), (), width)

    def filterable(self, entry: TimelineEntry) -> Filterable:
        fields = {
            "type": (entry.type,),
            "tag": entry.tags,
            "from": (entry.source,),
            "is": (entry.status or "",),
        }
        return Filterable(f"{entry.title} {entry.text}", fields, date.fromisoformat(entry.day))

    def do(self, command: str) -> bool:
        if command == "last" and self.frame.focused is self.list and self._has_more:
            self._read_on(_EVERYTHING, lambda: self.list.do("last"))
            return True
        if command != "go-day" or not self.results or not self.results.timeline.entries:
            return False
        self.frame.editing.ask("Which day?  14 oct · 3w · last month", take=self._go_to_day)
        return True

    def _go_to_day(self, text: str) -> str | None:
        """Go to the newest entry of a day, or the one before it where there is none."""
        timeline, today = self.results.timeline, self.results.today
        days = parse_days(text, today)
        if days is None:
            return "That is no day; write 14 oct, 3w, last month or 2026-10-14."
        # A span such as 3w reaches until today; where it begins is meant.
        day = (days[0] if days[1] == today else days[1]).isoformat()
        if self._has_more and timeline.entries[-1].day > day:
            self._read_on(self._limit, lambda: self._arrive_on(day), lambda entry: entry.day <= day)
        else:
            self._arrive_on(day)
        return None

    def _arrive_on(self, day: str) -> None:
        entries = self.results.timeline.entries
        self.reveal(next((each for each in entries if each.day <= day), entries[-1]).id)

    @property
    def destination(self) -> Destination | None:
        entry: TimelineEntry | None = self.row(self.cursor_key)
        return to_day(date.fromisoformat(entry.day), self.results.today) if entry is not None else None

    def subject(self, key: str) -> Memory | None:
        entry: TimelineEntry | None = self.row(key)
        if entry is None:
            return None
        return Memory(
            entry.id,
            "episodic",
            words.without_id(entry.title or entry.text),
            entry.status == "pinned",
            entry.status == "archived",
        )
