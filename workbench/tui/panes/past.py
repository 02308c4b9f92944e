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
from workbench.tui.panes import base
from workbench.tui.panes.past_listing import PastListing
from workbench.tui.panes.past_reading import Thing, Wanted, Words
from workbench.tui.views.memory import sources
from workbench.tui.views.past import CHANGES
from workbench.tui.widgets.scrubber import Scrubber

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.results.audit import Comparison
    from workbench.tui.bench import Bench

_MOST_THINGS = 200


class PastPane(PastListing):
    """A ribbon of the history, and memory as it was."""

    title: ClassVar = "Past"
    filter_hint: ClassVar = "words  store:  is:came"
    BINDINGS: ClassVar = bindings(
        commands.StepEarlier, commands.StepLater, commands.DayEarlier, commands.DayLater, commands.BackToNow,
        commands.GoToMoment, commands.LookCloser, commands.LookFurther, commands.ShowOther, commands.ShowOtherBack,
        commands.MarkMoment, commands.SwapMoments, commands.RestoreThis, commands.RestoreEverything,
        commands.ShowChange, commands.OpenPresent, commands.OpenSource, commands.ShowHistory,
    )  # fmt: skip

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
        self._things: dict[tuple[Wanted, str], Thing] = {}

    # --- one thing -----------------------------------------------------------------------------------------

    def show_detail(self, key: str) -> None:
        wanted = self.in_sight
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
        if wanted != self.in_sight or key != self.list.cursor_key:
            return
        older = newer = None
        if wanted.view == CHANGES:
            older, newer = self.compared()
        words = Words(
            self.as_it_was(), not self.is_now, self.name_of_moment(older), self.name_of_moment(newer)
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
        if event.wanted == self.in_sight and event.key == self.list.cursor_key:
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
        thing = self._things.get((self.in_sight, self.list.cursor_key)) if self.in_sight is not None else None
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
        change = self.listed.changes.get(self.list.cursor_key)
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
