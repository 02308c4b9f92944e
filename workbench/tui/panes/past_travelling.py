"""Moves about in a history: the moment one is at, the one marked, the time in sight, and the ribbon of it all."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from textual import on, work
from textual.message import Message

from workbench.display.course import followed, whole, zoomed
from workbench.display.scrubber import Pointers
from workbench.engine.errors import WorkbenchError
from workbench.tui.panes.base import Pane
from workbench.tui.panes.past_places import (
    Target,
    day_earlier,
    day_later,
    parse_moment,
    parse_target,
)
from workbench.tui.panes.past_reading import PastReader
from workbench.tui.screens.ask import AskScreen
from workbench.tui.trail import Place
from workbench.tui.views.dates import how_long_ago, short_moment
from workbench.tui.views.past_moment import NOW, commit_line
from workbench.tui.widgets.scrubber import Scene, Scrubber

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from workbench.display.course import Course, Window
    from workbench.display.ink import Line
    from workbench.engine.results.audit import CommitView
    from workbench.tui.bench import Bench


class PastTravelling(Pane):
    """A pane below a ribbon of the whole history; a subclass shows what there was at the moment one is at."""

    class HistoryRead(Message):
        """The history was read, or why it could not be."""

        def __init__(self, course: Course | None, error: WorkbenchError | None = None) -> None:
            super().__init__()
            self.course = course
            self.error = error

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self.reader = PastReader(bench)
        self.zone = bench.now().tzinfo
        self.course: Course | None = None
        self.at = -1
        self.mark: int | None = None
        self.window: Window | None = None
        self.trouble: WorkbenchError | None = None
        self._wanted_place = ""

    def compose(self) -> ComposeResult:
        yield Scrubber(id="past-scrubber")
        yield from super().compose()

    # --- the history ----------------------------------------------------------------------------------------

    def reload(self) -> None:
        self._read_history()

    @work(thread=True, exclusive=True, group="load")
    def _read_history(self) -> None:
        try:
            self.post_message(self.HistoryRead(self.reader.course()))
        except WorkbenchError as error:
            self.post_message(self.HistoryRead(None, error))

    @on(HistoryRead)
    def _history_read(self, event: HistoryRead) -> None:
        event.stop()
        self.trouble = event.error
        before, self.course = self.course, event.course or None
        course = self.course
        if course is None:
            self.at, self.mark, self.window = -1, None, None
        elif before is None:
            self.at, self.window = len(course) - 1, whole(course)
        else:
            # One stays at the moment one is at; at now, one stays at now.
            at_now = self.at == len(before) - 1
            seen_all = self.window == whole(before)
            self.at = len(course) - 1 if at_now else _found_again(before, course, self.at)
            self.mark = _found_again(before, course, self.mark) if self.mark is not None else None
            self.window = whole(course) if seen_all or self.window is None else self.window
        if course is not None and self._wanted_place:
            wanted, self._wanted_place = self._wanted_place, ""
            self._visit(parse_target(wanted))
        self._arrived()

    def _arrived(self) -> None:
        self.draw_scrubber()
        self.post_message(self.Travelled())
        self.moved_in_time()
        self.refresh_bindings()

    def moved_in_time(self) -> None:
        """Be told that one is at another moment, or that the history has grown."""
        raise NotImplementedError

    def want_row(self, key: str) -> None:
        """Be told which row somebody wants to see at the moment they go to."""
        raise NotImplementedError

    # --- where one is ---------------------------------------------------------------------------------------

    @property
    def is_now(self) -> bool:
        """Tell whether the moment one is at is now."""
        return self.course is None or self.at == len(self.course) - 1

    @property
    def commit(self) -> str:
        """Return the commit one is at; empty where there is none."""
        return self.course.commits[self.at] if self.course is not None else ""

    def time_of(self, at: int) -> datetime | None:
        """Return when a commit was made, in the workspace’s zone; None where its clock told no time that there is."""
        try:
            return datetime.fromtimestamp(self.course.seconds[at], self.zone) if self.course else None
        except (OverflowError, OSError, ValueError):
            return None

    @property
    def moment(self) -> datetime | None:
        """Return the past moment that is shown; None for now."""
        return None if self.is_now else self.time_of(self.at)

    def name_of_moment(self, at: int | None) -> str:
        """Return what to call a commit’s moment: “21 Oct 2026, 09:50”, or “now”."""
        if self.course is None or at is None or at == len(self.course) - 1:
            return NOW
        time = self.time_of(at)
        return short_moment(time) if time is not None else self.course.commits[at][:10]

    def place(self) -> Place:
        """Return where one is: the row and the moment."""
        when = NOW if self.is_now else self.commit[:12]
        return Place(self.id or "", f"{self.list.cursor_key}@{when}", self.filter_bar.text)

    def go_to(self, key: str, filter_text: str = "") -> None:
        """Go to a moment, a row, or both: `COMMIT`, `ID@COMMIT`, `ID@now`; `^` at the end for the commit before."""
        super().go_to("", filter_text)
        if self.course is None:
            self._wanted_place = key
        elif key:
            self._visit(parse_target(key))

    def _visit(self, target: Target) -> None:
        course = self.course
        assert course is not None
        if target.commit:
            found = len(course) - 1 if target.commit == NOW else course.find(target.commit)
            if found is None:
                self.app.notify(
                    f"The history has no change {target.commit[:12]} any more.", severity="warning", timeout=6
                )
                return
            self.travel(max(0, found - target.before))
        if target.row:
            self.want_row(target.row)

    # --- travelling -----------------------------------------------------------------------------------------

    def travel(self, at: int) -> None:
        """Go to a commit: the ribbon shows it at once, memory follows."""
        course = self.course
        if course is None or self.window is None:
            return
        at = max(0, min(at, len(course) - 1))
        if at == self.at:
            return
        was_now, self.at = self.is_now, at
        self.window = followed(course, self.window, at)
        self.draw_scrubber()
        self.post_message(self.Travelled())
        self.moved_in_time()
        if self.is_now != was_now:
            self.refresh_bindings()

    def set_mark(self, at: int | None) -> None:
        """Compare with another moment; with now where None is given."""
        self.mark = at
        self._arrived()

    def draw_scrubber(self, said: CommitView | None = None) -> None:
        """Draw the ribbon.

        Args:
            said: What the commit one is at did, once that is known.
        """
        self.query_one(Scrubber).show(self._scene(said))

    def _scene(self, said: CommitView | None) -> Scene | None:
        course, window, at = self.course, self.window, self.at
        if course is None or window is None:
            return None
        when = self.name_of_moment(at)
        time = self.time_of(at)
        ago = f"{when} · {how_long_ago(time, self.bench.now())}" if time is not None else when
        words = (f"{NOW} · ← goes back in time", NOW) if self.is_now else (ago, when)
        marked = self.name_of_moment(self.mark)
        pointers = Pointers(
            at, self.mark, words, (f"compared with {marked}", marked, marked.partition(",")[0])
        )
        says: Callable[[int], Line] = lambda width: commit_line(  # noqa: E731 - a view of the width alone
            said,
            course.actors[at],
            f"{at + 1:,} of {len(course):,}",
            width,
            went_back=course.clock_went_back(at),
        )
        return Scene(course, window, pointers, self.zone, says)

    @on(Scrubber.Sought)
    def _sought(self, event: Scrubber.Sought) -> None:
        event.stop()
        self.travel(event.at)

    @on(Scrubber.Turned)
    def _turned(self, event: Scrubber.Turned) -> None:
        event.stop()
        self._zoom(event.at, closer=event.closer)

    @on(Scrubber.Left)
    def _left_scrubber(self, event: Scrubber.Left) -> None:
        event.stop()
        self.focus_list()

    def _zoom(self, around: int, *, closer: bool) -> None:
        if self.course is not None and self.window is not None:
            self.window = zoomed(self.course, self.window, around, closer)
            self.draw_scrubber(self.said)

    @property
    def said(self) -> CommitView | None:
        """Return what the commit one is at did, as far as that has been read."""
        return None

    def action_step_earlier(self) -> None:
        self.travel(self.at - 1)

    def action_step_later(self) -> None:
        self.travel(self.at + 1)

    def action_day_earlier(self) -> None:
        if self.course is not None:
            self.travel(day_earlier(self.course, self.at, self.zone))

    def action_day_later(self) -> None:
        if self.course is not None:
            self.travel(day_later(self.course, self.at, self.zone))

    def action_back_to_now(self) -> None:
        if self.course is not None:
            self.travel(len(self.course) - 1)

    def action_look_closer(self) -> None:
        self._zoom(self.at, closer=True)

    def action_look_further(self) -> None:
        self._zoom(self.at, closer=False)

    def action_mark_moment(self) -> None:
        self.set_mark(None if self.mark == self.at or self.is_now else self.at)

    def action_swap_moments(self) -> None:
        if self.course is not None and self.mark is not None:
            here, there = self.at, self.mark
            self.mark = None if here == len(self.course) - 1 else here
            self.travel(there)

    def action_go_to_moment(self) -> None:
        course = self.course
        if course is None:
            return
        today = self.bench.now().date()

        def go(answer: str | None) -> None:
            found = parse_moment(answer, course, today, self.zone) if answer else None
            if found is not None:
                self.travel(found)

        self.app.push_screen(
            AskScreen(
                "Go to which moment?",
                "2026-02-14 · 14 feb 10:30 · yesterday · 3w · first · a commit",
                lambda text: (
                    ""
                    if parse_moment(text, course, today, self.zone) is not None
                    else "That is no moment that I know."
                ),
            ),
            go,
        )


def _found_again(before: Course, course: Course, at: int) -> int:
    """Return where a commit is in a history read anew; where it is gone, what stands where it stood."""
    name = before.commits[at]
    if at < len(course) and course.commits[at] == name:
        return at
    found = course.find(name)
    return found if found is not None else course.last_before(before.places[at] + 1)
