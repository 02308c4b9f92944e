"""Timeline: what happened, day by day, the newest first."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, ClassVar, cast

from workbench.display import words
from workbench.display.ink import ink, spread
from workbench.display.rows import day_heading, entry_row
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.query import parse_days
from workbench.tui.parts.rows import Rows
from workbench.tui.places.place import Place
from workbench.tui.verbs.adding import to_day
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from workbench.display.ink import Line
    from workbench.engine.results.memories import Timeline, TimelineEntry
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame
    from workbench.tui.parts.rows import RowSource
    from workbench.tui.verbs.adding import Destination

# Entries read at once; a memory of years has some thousands.
_MOST = 20_000


class TimelineRows(Rows["str", "TimelineEntry"]):
    """Entries under their days."""

    def __init__(self, timeline: Timeline, today: date) -> None:
        super().__init__()
        on = ""
        for entry in timeline.entries:
            if entry.day != on:
                on = entry.day
                self._add_heading(day_heading(date.fromisoformat(on), today))
            self._add(entry, entry.id)

    def draw(self, row: TimelineEntry, width: int) -> Line:
        """Draw a row."""
        return entry_row(row, width)


class TimelinePlace(Place):
    """The timeline."""

    EMPTY: ClassVar[str] = "Nothing has happened yet; ⸨new⸩ writes the first memory."
    FILTER_KEYS: ClassVar[tuple[str, ...]] = ("type", "tag", "from", "is")

    def read(self, workspace: Workspace) -> tuple[Timeline, date]:
        return workspace.timeline(limit=_MOST), workspace.now().date()

    def rows(self, results: tuple[Timeline, date]) -> TimelineRows:
        return TimelineRows(*results)

    def heading(self, results: tuple[Timeline, date], width: int) -> Line:
        total = results[0].total
        return spread(
            (ink(f"{total:,} {'entry' if total == 1 else 'entries'} · newest first", "soft"),), (), width
        )

    def filterable(self, rows: RowSource, index: int) -> Filterable:
        entry = rows.row(rows.key(index)) if isinstance(rows, TimelineRows) else None
        if entry is None:
            return super().filterable(rows, index)
        fields = {
            "type": (entry.type,),
            "tag": entry.tags,
            "from": (entry.source,),
            "is": (entry.status or "",),
        }
        return Filterable(f"{entry.title} {entry.text}", fields, date.fromisoformat(entry.day))

    def do(self, command: str) -> bool:
        if command != "go-day" or not self.results or not self.results[0].entries:
            return False
        cast("Frame", self.screen).editing.ask("Which day?  14 oct · 3w · yesterday", take=self._go_to_day)
        return True

    def _go_to_day(self, text: str) -> str | None:
        """Go to the newest entry of a day, or the one before it where there is none."""
        timeline, today = self.results
        days = parse_days(text, today)
        if days is None:
            return "That is no day; write 14 oct, 3w, yesterday or 2026-10-14."
        # A span such as 3w reaches until today; where it begins is meant.
        day = (days[0] if days[1] == today else days[1]).isoformat()
        goal = next((each for each in timeline.entries if each.day <= day), timeline.entries[-1])
        self.reveal(goal.id)
        return None

    @property
    def destination(self) -> Destination | None:
        rows = self.list.rows
        entry = rows.row(self.cursor_key) if isinstance(rows, TimelineRows) and self.cursor_key else None
        return to_day(date.fromisoformat(entry.day), self.results[1]) if entry is not None else None

    def subject(self, key: str) -> Memory | None:
        rows = self.list.rows
        entry = rows.row(key) if isinstance(rows, TimelineRows) else None
        if entry is None:
            return None
        return Memory(
            entry.id,
            "episodic",
            words.without_id(entry.title or entry.text),
            entry.status == "pinned",
            entry.status == "archived",
        )
