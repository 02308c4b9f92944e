"""The Past pane: memory as it was at any moment, what differs from another, and the way back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands
from workbench.tui.keymap import bindings
from workbench.tui.navigation import path_of
from workbench.tui.palette import PAPER
from workbench.tui.panes import base
from workbench.tui.panes.past_reading import Listed, Thing, Wanted, Words
from workbench.tui.panes.past_travelling import PastTravelling
from workbench.tui.views.memory import sources
from workbench.tui.views.past import CHANGES, VIEW_LINK, VIEWS, PastRows, view_of, views_line
from workbench.tui.views.past_detail import trouble_lines
from workbench.tui.views.teaching import teach
from workbench.tui.widgets.scrubber import Scrubber
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.app import ComposeResult
    from textual.timer import Timer

    from workbench.engine.results import CommitView, Comparison
    from workbench.tui.bench import Bench
    from workbench.tui.ink import Line

_NO_PAST = teach(
    "There is no past yet.",
    "Every change of memory will be kept here for good: go back to any moment, see what the agent knew then, compare "
    "it with now, and bring one thing back, or everything.",
    ("workbench init", "begins the history."),
    ('workbench remember "We ship on Fridays"', "makes the first change."),
)
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
    "Words must all occur, in the text or in the id.",
    ("esc", "shows everything again."),
)
_MOST_THINGS = 200


class PastPane(PastTravelling):
    """A ribbon of the history, and memory as it was."""

    title: ClassVar = "Past"
    filter_hint: ClassVar = "words"
    BINDINGS: ClassVar = bindings(
        commands.StepEarlier, commands.StepLater, commands.DayEarlier, commands.DayLater, commands.BackToNow,
        commands.GoToMoment, commands.LookCloser, commands.LookFurther, commands.ShowOther, commands.ShowOtherBack,
        commands.MarkMoment, commands.SwapMoments, commands.RestoreThis, commands.RestoreEverything,
        commands.ShowChange, commands.OpenPresent, commands.OpenSource, commands.ShowHistory,
    )  # fmt: skip

    class ListRead(Message):
        """What a view lists was read."""

        def __init__(self, wanted: Wanted, listed: Listed, rows: PastRows) -> None:
            super().__init__()
            self.wanted = wanted
            self.listed = listed
            self.rows = rows

    class ThingRead(Message):
        """One thing was read."""

        def __init__(self, wanted: Wanted, key: str, thing: Thing) -> None:
            super().__init__()
            self.wanted = wanted
            self.key = key
            self.thing = thing

    class MayGoBack(Message):
        """What going back to a moment would change was read."""

        def __init__(self, commit: str, when: str, comparison: Comparison) -> None:
            super().__init__()
            self.commit = commit
            self.when = when
            self.comparison = comparison

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._view = CHANGES
        self._words: tuple[str, ...] = ()
        self._listed = Listed()
        self._in_sight: Wanted | None = None
        self._rows = PastRows()
        self._resting: Timer | None = None
        self._reading_list = False
        self._things: dict[tuple[Wanted, str], Thing] = {}

    def compose_head(self) -> ComposeResult:
        yield StatusLine(id="past-views", ground=PAPER)

    def teach(self, width: int) -> Sequence[Line]:
        trouble = self.trouble or self._listed.trouble
        if trouble is not None:
            return trouble_lines(trouble, min(width, 64))
        if self.course is None:
            return _NO_PAST(width)
        if self._words and self._listed.total:
            return _NOTHING_MATCHES(width)
        if self._view != CHANGES:
            return _NOTHING_THEN(width)
        return _THE_SAME(width) if self._in_sight is not None and self._in_sight.older else _ONE_MOMENT(width)

    # --- what is listed -------------------------------------------------------------------------------------

    def _wanted(self) -> Wanted:
        older = newer = None
        if self._view == CHANGES:
            older, newer = self._compared()
        course = self.course
        assert course is not None
        last = len(course) - 1
        return Wanted(
            self._view,
            self.commit,
            course.commits[older] if older is not None else "",
            course.commits[newer] if newer is not None and newer != last else None,
            self._words,
            self.state if newer == last or self.at == last else 0,
        )

    def _compared(self) -> tuple[int | None, int]:
        """Return the two moments to compare: this and the marked one, or now; at that one itself, what it did."""
        assert self.course is not None
        other = len(self.course) - 1 if self.mark is None else self.mark
        if other == self.at:
            return (self.at - 1 if self.at else None), self.at
        return min(self.at, other), max(self.at, other)

    def moved_in_time(self) -> None:
        """Show memory of the moment one is at, once one rests there."""
        self._draw_views()
        if self.course is None:
            self._show(None, Listed(), PastRows())
            return
        wanted = self._wanted()
        known = self.reader.remembered(wanted)
        if self._resting is not None:
            self._resting.stop()
        if known is not None:
            self._resting = None
            self._show(wanted, known, PastRows(known.sections))
        else:
            # The first list comes at once, the others when one rests.
            self._resting = self.set_timer(base.REST if self._in_sight is not None else 0.001, self._rested)

    def _rested(self) -> None:
        self._resting = None
        if not self._reading_list and self.course is not None:
            self._reading_list = True
            self._read_list(self._wanted())

    @work(thread=True, group="list")
    def _read_list(self, wanted: Wanted) -> None:
        listed = self.reader.listed(wanted)
        self.post_message(self.ListRead(wanted, listed, PastRows(listed.sections)))

    @on(ListRead)
    def _list_read(self, event: ListRead) -> None:
        event.stop()
        self._reading_list = False
        if self.course is None:
            return
        if event.wanted == self._wanted():
            self._show(event.wanted, event.listed, event.rows)
        elif self._resting is None:
            self._rested()

    def _show(self, wanted: Wanted | None, listed: Listed, rows: PastRows) -> None:
        other_view = wanted is not None and self._in_sight is not None and wanted.view != self._in_sight.view
        before = self._rows
        self._in_sight, self._listed, self._rows = wanted, listed, rows
        self.list.waiting = False
        key = self.list.cursor_key
        # Who has chosen no row goes on at the first one, which is another at every moment.
        at_first = key == before.first_key or (other_view and rows.find(key) is None)
        self.list.show(rows, keep=rows.first_key if at_first else None)
        if self.wanted_key and self.list.go_to(self.resolve(self.wanted_key)):
            self.wanted_key = ""
        self.filter_bar.set_count(rows.shown, listed.total)
        if wanted is not None:
            self.draw_scrubber(listed.said)
        self._draw_views()
        self.has_read()
        self.show_detail(self.list.cursor_key)
        self.refresh_bindings()
        self.post_message(self.Settled())

    @property
    def said(self) -> CommitView | None:
        """Return what the commit one is at did, as far as that has been read."""
        said = self._listed.said
        return said if said is not None and said.commit == self.commit else None

    def apply_filter(self, text: str) -> None:
        self._words = tuple(text.casefold().split())
        if self.course is not None:
            self.moved_in_time()

    def want_row(self, key: str) -> None:
        """Show a row, in the view that has it."""
        self.wanted_key = key
        if self._rows.find(key) is None:
            self._view = view_of(key)
            if self.course is not None:
                self.moved_in_time()
        elif self.list.go_to(key):
            self.wanted_key = ""

    def resolve(self, key: str) -> str:
        """Return the row that a key means: a fact is found at its entity."""
        return key if self._rows.find(key) is not None else key.partition("#^")[0]

    # --- drawing --------------------------------------------------------------------------------------------

    def _draw_views(self) -> None:
        past = not self.is_now
        words: tuple[str, ...] = ()
        if self.course is not None:
            whole, short = (self._said_of(day_only) for day_only in (False, True))
            words = (whole, short)
        line = self.query_one("#past-views", StatusLine)
        line.show(lambda width: views_line(self._view, words, width, past=past))

    def _said_of(self, day_only: bool) -> str:
        """Return of which moment, or between which two, the list is."""
        if self._view != CHANGES:
            return self._as_it_was(day_only=day_only)
        older, newer = self._compared()
        names = [self.name_of_moment(at) for at in (older, newer) if older is not None]
        return " → ".join(name.partition(",")[0] if day_only else name for name in names)

    def _as_it_was(self, *, day_only: bool = False) -> str:
        name = self.name_of_moment(self.at)
        return "as it is now" if self.is_now else f"as it was {name.partition(',')[0] if day_only else name}"

    @on(StatusLine.Pressed, "#past-views")
    def _views_pressed(self, event: StatusLine.Pressed) -> None:
        event.stop()
        if event.link:
            self.choose_view(event.link.removeprefix(VIEW_LINK))

    def choose_view(self, view: str) -> None:
        """Show something else of the same moment."""
        self._view = view
        if self.course is not None:
            self.moved_in_time()

    def _turn(self, by: int) -> None:
        names = [name for name, _ in VIEWS]
        self.choose_view(names[(names.index(self._view) + by) % len(names)])

    def action_show_other(self) -> None:
        self._turn(1)

    def action_show_other_back(self) -> None:
        self._turn(-1)

    def show_detail(self, key: str) -> None:
        wanted = self._in_sight
        if self._asking is not None:
            self._asking.stop()
        if wanted is None or not key:
            self.detail.show(lambda _width: ())
            return
        known = self._things.get((wanted, key))
        if known is not None:
            self.detail.show(known.draw, key)
        else:
            self._asking = self.set_timer(base.REST / 2, partial(self._ask_for, wanted, key))

    def _ask_for(self, wanted: Wanted, key: str) -> None:
        if wanted != self._in_sight or key != self.list.cursor_key:
            return
        older = newer = None
        if wanted.view == CHANGES:
            older, newer = self._compared()
        words = Words(
            self._as_it_was(), not self.is_now, self.name_of_moment(older), self.name_of_moment(newer)
        )
        region = self.detail.scrollable_content_region
        self._read_thing(wanted, key, words, (region.width - 4, region.height))

    @work(thread=True, exclusive=True, group="thing")
    def _read_thing(self, wanted: Wanted, key: str, words: Words, size: tuple[int, int]) -> None:
        self.post_message(self.ThingRead(wanted, key, self.reader.thing(wanted, key, words, size)))

    @on(ThingRead)
    def _thing_read(self, event: ThingRead) -> None:
        event.stop()
        if len(self._things) >= _MOST_THINGS:
            self._things.clear()
        self._things[event.wanted, event.key] = event.thing
        if event.wanted == self._in_sight and event.key == self.list.cursor_key:
            self.detail.show(event.thing.draw, event.key)
            self.refresh_bindings()

    def findable(self) -> Iterator[tuple[str, str]]:
        yield from ()

    # --- acting ---------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something at this moment and for the row under the cursor."""
        if action in ("step_earlier", "step_later", "go_to_moment", "show_other", "show_change"):
            return self.course is not None
        if action in ("back_to_now", "mark_moment", "restore_everything"):
            return not self.is_now
        if action == "swap_moments":
            return self.mark is not None
        if not self.is_mounted:
            return super().check_action(action, parameters)
        key = self.list.cursor_key
        if action == "restore_this":
            return bool(key) and not self.is_now
        if action in ("open_present", "show_history", "copy_id"):
            return bool(key)
        if action == "open_source":
            return bool(self._sources())
        return super().check_action(action, parameters)

    def _sources(self) -> list[str]:
        thing = (
            self._things.get((self._in_sight, self.list.cursor_key)) if self._in_sight is not None else None
        )
        return sources(thing.memory) if thing is not None and thing.memory is not None else []

    @on(Scrubber.Opened)
    def _opened(self, event: Scrubber.Opened) -> None:
        event.stop()
        self.action_show_change()

    def action_show_change(self) -> None:
        if self.commit:
            self.post_message(self.GoTo(f"commit:{self.commit}"))

    def action_open_present(self) -> None:
        self.post_message(self.GoTo(self.list.cursor_key))

    def action_open_source(self) -> None:
        if found := self._sources():
            self.post_message(self.GoTo(found[0]))

    def action_show_history(self) -> None:
        change = self._listed.changes.get(self.list.cursor_key)
        path = change.path if change is not None else path_of(self.list.cursor_key)
        if path:
            self.post_message(self.GoTo(f"history:{path}"))

    def action_restore_this(self) -> None:
        key = self.list.cursor_key
        if key.startswith("file:") and "#" not in key:
            self.act(partial(self.bench.restore_file, key.removeprefix("file:"), self.commit))
        else:
            self.act(partial(self.bench.restore_memory, key, self.commit))

    def action_restore_everything(self) -> None:
        self._read_what_would_change(self.commit, self.name_of_moment(self.at))

    @work(thread=True, exclusive=True, group="act")
    def _read_what_would_change(self, commit: str, when: str) -> None:
        self.post_message(self.Working(1))
        try:
            self.post_message(self.MayGoBack(commit, when, self.bench.compare(commit)))
        except WorkbenchError as error:
            self.post_message(self.Done(None, error))
        finally:
            self.post_message(self.Working(-1))

    @on(MayGoBack)
    def _may_go_back(self, event: MayGoBack) -> None:
        from workbench.tui.screens.going_back import GoingBackScreen

        event.stop()
        if not event.comparison.files and not event.comparison.memories:
            self.app.notify("Memory reads the same now as it did then.", timeout=4)
            return

        def decided(sure: bool | None) -> None:
            if sure:
                self.act(partial(self.bench.roll_back, event.commit), self.action_back_to_now)

        self.app.push_screen(GoingBackScreen(event.when, event.comparison), decided)
