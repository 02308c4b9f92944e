"""Lists memory as it was, in one view or another, as soon as one rests at a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from workbench.tui.palette import PAPER
from workbench.tui.panes import base
from workbench.tui.panes.past_places import day_earlier
from workbench.tui.panes.past_reading import Listed, Wanted
from workbench.tui.panes.past_travelling import PastTravelling
from workbench.tui.query import Query, parse_query
from workbench.tui.views.past import CHANGES, FIELDS, VIEW_LINK, VIEWS, PastRows, view_of, views_line
from workbench.tui.views.past_detail import trouble_lines
from workbench.tui.views.teaching import teach
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.timer import Timer

    from workbench.display.ink import Line
    from workbench.engine.results.audit import CommitView
    from workbench.tui.bench import Bench

_NO_PAST = teach(
    "There is no past yet.",
    "Every change of memory will be kept here for good: go back to any moment, see what the agent knew then, compare "
    "it with now, and bring one thing back, or everything.",
    ("workbench init", "begins the history."),
    ('workbench remember "We ship on Fridays"', "makes the first change."),
)
_READING = teach("Reading memory as it was.", "What is found appears here; you can go on meanwhile.")
_ONE_MOMENT = teach(
    "This is the first moment.",
    "There is nothing before it to compare with. t shows what memory held then.",
)
_THE_SAME = teach(
    "Nothing differs.",
    "Memory reads the same at both moments. ← and → go on in time, g goes to a day, = marks a moment to compare with.",
)
_NOTHING_THEN = teach(
    "Nothing was here then.",
    "At this moment there was nothing of this kind. ← and → go on in time, t shows something else.",
)
_NOTHING_MATCHES = teach(
    "Nothing matches.",
    "Words must all occur, in the text or in the id; store: and is: (came, changed, went, or the status) narrow "
    "further, a minus turns a condition round.",
    ("store:episodic is:came -staging", "for example."),
    ("esc", "shows everything again."),
)
# Lists that are read at the same time: one that takes long keeps the next one from nothing.
_MOST_READS = 2
# Seconds that rows of another moment stay while those of this one are read.
_PATIENCE = 0.3


class PastListing(PastTravelling):
    """A ribbon of the history, and below it what one view lists of the moment one is at."""

    class ListRead(Message):
        """What a view lists was read."""

        def __init__(self, wanted: Wanted, listed: Listed) -> None:
            super().__init__()
            self.wanted = wanted
            self.listed = listed

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self.view = CHANGES
        self.narrowed = Query()
        self.listed = Listed()
        self.in_sight: Wanted | None = None
        self.rows = PastRows()
        self._resting: Timer | None = None
        self._reads: list[Wanted] = []
        self._patience: Timer | None = None
        # The row that the cursor was on before reading took long.
        self._kept_key = ""
        # Nobody has been told yet that the row asked for is not there.
        self._is_news = False

    def compose_head(self) -> ComposeResult:
        yield StatusLine(id="past-views", ground=PAPER)

    def teach(self, width: int) -> Sequence[Line]:
        trouble = self.trouble or (self.listed.trouble if self.in_sight is not None else None)
        if trouble is not None:
            return trouble_lines(trouble, min(width, 64))
        if self.course is None:
            return _NO_PAST(width)
        if self.in_sight is None:
            return _READING(width)
        if self.narrowed and self.listed.total:
            return _NOTHING_MATCHES(width)
        if self.view != CHANGES:
            return _NOTHING_THEN(width)
        return _THE_SAME(width) if self.in_sight.older else _ONE_MOMENT(width)

    # --- what is listed -------------------------------------------------------------------------------------

    def _wanted(self) -> Wanted:
        older = newer = None
        if self.view == CHANGES:
            older, newer = self.compared()
        course = self.course
        assert course is not None
        before, after = (course.commits[at] if at is not None else "" for at in (older, newer))
        return Wanted(self.view, self.commit, before, after, self.narrowed)

    def compared(self) -> tuple[int | None, int]:
        """Return the two moments to compare: this one and the marked one, or now.

        At the marked one itself it is what that change did; at now, what the last day on which something changed did.
        """
        course = self.course
        assert course is not None
        last = len(course) - 1
        other = last if self.mark is None else self.mark
        if other != self.at:
            return min(self.at, other), max(self.at, other)
        if not self.at:
            return None, self.at
        return (day_earlier(course, last, self.zone) if self.mark is None else self.at - 1), self.at

    def moved_in_time(self) -> None:
        """Show memory of the moment one is at, once one rests there."""
        self._draw_views()
        if self.course is None:
            self._show(None, Listed())
            return
        wanted = self._wanted()
        known = self.reader.remembered(wanted)
        if self._resting is not None:
            self._resting.stop()
        if known is not None:
            self._resting = None
            self._show(wanted, known)
        else:
            # The first list comes at once, the others when one rests.
            first = self.in_sight is None and not self._reads
            self._resting = self.set_timer(0.001 if first else base.REST, self._rested)

    def _rested(self) -> None:
        self._resting = None
        if self.course is None:
            return
        wanted = self._wanted()
        if wanted not in self._reads and len(self._reads) < _MOST_READS:
            self._reads.append(wanted)
            self._read_list(wanted)
            if self._patience is not None:
                self._patience.stop()
            self._patience = self.set_timer(_PATIENCE, self._takes_long)

    def _takes_long(self) -> None:
        """Show nothing rather than what was at another moment, where the reading takes its time."""
        if self._reads and self.course is not None and self.in_sight != self._wanted():
            if self.list.cursor_key != self.rows.first_key:
                self._kept_key = self.list.cursor_key
            self.in_sight, self.rows = None, PastRows()
            self.list.show(self.rows)
            self.list.waiting = False
            self.detail.show(lambda _width: ())

    @work(thread=True, group="list")
    def _read_list(self, wanted: Wanted) -> None:
        self.post_message(self.ListRead(wanted, self.reader.listed(wanted)))

    @on(ListRead)
    def _list_read(self, event: ListRead) -> None:
        event.stop()
        self._reads.remove(event.wanted)
        if self.course is None:
            return
        if event.wanted == self._wanted():
            self._show(event.wanted, event.listed)
        elif self._resting is None:
            self._rested()

    def _show(self, wanted: Wanted | None, listed: Listed) -> None:
        rows = listed.rows
        other_view = wanted is not None and self.in_sight is not None and wanted.view != self.in_sight.view
        before = self.rows
        self.in_sight, self.listed, self.rows = wanted, listed, rows
        if wanted is None or wanted.query == self.narrowed:
            self.filter_answered = self.filter_asked
        self.list.waiting = False
        key = self.list.cursor_key
        # Who has chosen no row goes on at the first one, which is another at every moment.
        at_first = key == before.first_key or (other_view and rows.find(key) is None)
        self.list.show(rows, keep=rows.first_key if at_first else None)
        if self._patience is not None:
            self._patience.stop()
        if self._kept_key:
            self.list.go_to(self._kept_key)
            self._kept_key = ""
        if self.wanted_key and wanted is not None:
            self._find_wanted()
        self.filter_bar.set_count(rows.shown, listed.total)
        if wanted is not None:
            self.draw_scrubber(listed.said)
        self._draw_views()
        self.has_read()
        self.show_detail(self.list.cursor_key)
        self.refresh_bindings()
        self.post_message(self.Settled())

    def _find_wanted(self) -> None:
        """Go to the row that was asked for; where it is not there, say so once and wait until it is."""
        if self.list.go_to(self.resolve(self.wanted_key)):
            self.wanted_key = ""
        elif self._is_news:
            when = self.name_of_moment(self.at)
            self.app.notify(f"{self.wanted_key} was not there {when}; → goes on in time.", timeout=6)
        self._is_news = False

    @property
    def said(self) -> CommitView | None:
        """Return what the commit one is at did, as far as that has been read."""
        said = self.listed.said
        return said if said is not None and said.commit == self.commit else None

    def apply_filter(self, text: str) -> None:
        self.narrowed = parse_query(text, FIELDS, None)
        if self.course is not None:
            self.filter_asked = self.narrowed
            self.moved_in_time()

    def want_row(self, key: str) -> None:
        """Show a row, in the view that has it."""
        self.wanted_key, self._is_news = key, True
        if self.rows.find(key) is None:
            self.view = view_of(key)
            if self.course is not None:
                self.moved_in_time()
        elif self.list.go_to(key):
            self.wanted_key = ""

    def resolve(self, key: str) -> str:
        """Return the row that a key means: a fact is found at its entity."""
        return key if self.rows.find(key) is not None else key.partition("#^")[0]

    # --- drawing --------------------------------------------------------------------------------------------

    def _draw_views(self) -> None:
        past = not self.is_now
        words: tuple[str, ...] = ()
        if self.course is not None:
            whole, short = (self._said_of(day_only) for day_only in (False, True))
            words = (whole, short)
        line = self.query_one("#past-views", StatusLine)
        line.show(lambda width: views_line(self.view, words, width, past=past))

    def _said_of(self, day_only: bool) -> str:
        """Return of which moment, or between which two, the list is."""
        if self.view != CHANGES:
            return self.as_it_was(day_only=day_only)
        older, newer = self.compared()
        names = [self.name_of_moment(at) for at in (older, newer) if older is not None]
        return " → ".join(name.partition(",")[0] if day_only else name for name in names)

    def as_it_was(self, *, day_only: bool = False) -> str:
        name = self.name_of_moment(self.at)
        return "as it is now" if self.is_now else f"as it was {name.partition(',')[0] if day_only else name}"

    @on(StatusLine.Pressed, "#past-views")
    def _views_pressed(self, event: StatusLine.Pressed) -> None:
        event.stop()
        if event.link:
            self.choose_view(event.link.removeprefix(VIEW_LINK))

    def choose_view(self, view: str) -> None:
        """Show something else of the same moment."""
        self.view, self.wanted_key = view, ""
        if self.course is not None:
            self.moved_in_time()

    def _turn(self, by: int) -> None:
        names = [name for name, _ in VIEWS]
        self.choose_view(names[(names.index(self.view) + by) % len(names)])

    def action_show_other(self) -> None:
        self._turn(1)

    def action_show_other_back(self) -> None:
        self._turn(-1)
