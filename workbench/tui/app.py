"""The bench itself: a frame around the panes that knows where one is, where one was, and what waits."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from workbench.engine.errors import ConfirmationNeeded, WorkbenchError
from workbench.tui import commands, navigation
from workbench.tui.in_order import InOrder
from workbench.tui.index_work import IndexWork
from workbench.tui.keymap import bindings, shown_key
from workbench.tui.memory_actions import MemoryActions
from workbench.tui.overlays import Overlays
from workbench.tui.palette import Palette
from workbench.tui.panes import FOUND_IN, PANES, pane_class
from workbench.tui.panes.base import Pane
from workbench.tui.preferences import load_look, remember_theme
from workbench.tui.reflection_work import ReflectionWork
from workbench.tui.themes import textual_theme
from workbench.tui.trail import Place, Trail
from workbench.tui.views.cycle import cycle_result, cycle_words
from workbench.tui.views.status import KEY_LINK, PANE_LINK, bottom_line, top_line
from workbench.tui.views.teaching import IMPORT_LINK
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from workbench.engine.results.audit import NextStep
    from workbench.tui.bench import Bench, Outcome, Status
    from workbench.tui.screens.taking_back import Whose

# Seconds in which changes that follow one another count as one.
_CALM = 0.08
# Seconds after which an action that is still under way is worth a word.
_LONG = 0.3
# Seconds that leaving waits until what was begun elsewhere is cleared away.
_CLEARING_AWAY = 2.0


class BenchApp(Overlays):
    """The bench on one workspace.

    Args:
        bench: The engine.
        config_folder: The user's configuration folder, for their keys and themes, or None.
        theme: Name of a theme to begin with; the user's own choice where empty.
        usual_theme: Name of the theme where the user has chosen none.
        usual_keys: Keys by id of command where the user has chosen no others.
        target: Id of the memory, or path, to open at.
        on_shown: Called once the first pane can be read.
    """

    CSS_PATH = "styles/bench.tcss"
    TITLE = "Workbench"
    ENABLE_COMMAND_PALETTE = False
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-broad")]  # noqa: RUF012 - as Textual has it
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar = [
        *bindings(
            commands.FindAnything, commands.ShowHelp, commands.Undo, commands.Redo, commands.GoBack,
            commands.GoForward, commands.SwitchTheme, commands.ShowIndex, commands.ImportMemory, commands.ExportMemory,
            commands.ShowNotices, commands.HowToLeave, commands.QuitBench,
        ),
        *((str(at + 1), f"show_pane({at})", title) for at, (_, title, _) in enumerate(PANES)),
    ]  # fmt: skip

    class StatusRead(Message):
        """Where one is and what waits was read."""

        def __init__(self, status: Status) -> None:
            super().__init__()
            self.status = status

    class IndexMoved(Message):
        """What is done to the search index came further, or to an end."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, BenchApp.IndexMoved)

    class ReflectionMoved(Message):
        """A cycle of reflection came further, or to an end."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, BenchApp.ReflectionMoved)

    class MemoryChanged(Message):
        """Somebody changed memory."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, BenchApp.MemoryChanged)

    def __init__(
        self,
        bench: Bench,
        *,
        config_folder: Path | None = None,
        theme: str = "",
        usual_theme: str = "",
        usual_keys: Mapping[str, str] | None = None,
        target: str = "",
        on_shown: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.bench = bench
        self.index_work = IndexWork(bench, lambda: self.post_message(self.IndexMoved()))
        self.reflection_work = ReflectionWork(bench, lambda: self.post_message(self.ReflectionMoved()))
        self.memory_actions = MemoryActions(self)
        self.in_order = InOrder(lambda error: self.call_later(_break, error))
        self.status: Status | None = None
        self._place = bench.place()
        self._working = 0
        self._keys: list[tuple[str, str]] = []
        self._end_subscription: Callable[[], object] = lambda: None
        self._target = target
        self._on_shown = on_shown
        self._trail = Trail()
        self._memory_left = ""
        self._current = 0
        self._stale: set[str] = set()
        self._calming = False
        self._following = False
        self.exports = set()
        self._config_folder = config_folder
        look = load_look(config_folder, theme, usual_theme=usual_theme, usual_keys=usual_keys)
        self.themes, self.key_overrides, self._problems = look.themes, look.keys, look.problems
        for each in look.themes.by_name.values():
            self.register_theme(textual_theme(each))
        self.palette = Palette(look.theme)
        self.theme = look.theme.name
        self.set_keymap(dict(self.key_overrides))

    def compose(self) -> ComposeResult:
        yield StatusLine(id="top")
        yield Container(id="panes")
        yield StatusLine(id="bottom")

    async def on_mount(self) -> None:
        self._lay_out(self.size.width, self.size.height)
        self._draw_frame()
        target = navigation.link_of_target(self._target)
        place = navigation.destination(target)
        await self.show(place or Place(PANES[0][0]))
        if target and place is None:
            self.show_memory(target)
            self._begin_following()
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.draw_bottom())
        if self._problems:
            self.notify(
                "\n".join(self._problems), title="Your settings", severity="warning", markup=False, timeout=12
            )

    @on(Pane.Shown)
    def _pane_shown(self) -> None:
        self._begin_following()
        self.find_again()

    def _begin_following(self) -> None:
        """Begin what may wait until the first pane can be read: what waits, and what others change."""
        if not self._following:
            self._following = True
            self._on_shown()
            self.read_status()
            self._end_subscription = self.bench.subscribe(lambda: self.post_message(self.MemoryChanged()))

    async def on_unmount(self) -> None:
        await self.in_order.finish()
        self.index_work.cancel()
        self.reflection_work.cancel()
        if self.import_work is not None:
            self.import_work.cancel()
        await self._end_exports()
        self._end_subscription()

    async def _end_exports(self) -> None:
        """Stop what is written elsewhere, and let it clear away what it began."""
        for stop in tuple(self.exports):
            stop.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLEARING_AWAY):
                while self.exports:
                    await asyncio.sleep(0.01)

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size.width, event.size.height)

    def _lay_out(self, width: int, height: int) -> None:
        wanted = navigation.layout_for(width, height)
        base = self.screen_stack[0]
        for name in ("-beside", "-below", "-single", "-tall", "-wide"):
            base.set_class(name in wanted, name)

    def _draw_frame(self) -> None:
        top = self.query_one("#top", StatusLine)
        status = self.status or self._place
        shown = self.query(f"#{PANES[self._current][0]}")
        if shown:
            status = replace(status, moment=shown.first(Pane).moment)
        top.show(partial(top_line, status, self.pane_titles(), self._current))
        self.draw_bottom()

    def draw_bottom(self) -> None:
        """Draw what waits, and the keys that mean something here."""
        # What was to be drawn after the next refresh may come when the screens are gone already.
        screens = self.screen_stack
        if not screens:
            return
        if screens[-1] is screens[0]:
            self._keys = self.shown_keys()
        # Below another screen the keys stay, but not what is said of work that is over.
        keys, working, status = self._keys, self._working > 0, self.status
        if status is not None and (words := self.index_work.words):
            status = replace(status, index=words)
        if status is not None and self.import_work is not None:
            status = replace(status, importing=self.import_work.words)
        if status is not None and self.reflection_work.running:
            status = replace(status, cycle=cycle_words(self.reflection_work.progress))
        for bottom in screens[0].query("#bottom").results(StatusLine):
            bottom.show(lambda width: bottom_line(status, keys, width, working=working)[0])

    def watch_theme(self, name: str) -> None:
        """Take the colours of another theme."""
        self.palette = Palette(self.themes.choose(name))
        if self.is_running:
            for widget in self.screen.query("*"):
                widget.refresh()

    @work(thread=True, exclusive=True, group="status")
    def read_status(self) -> None:
        """Read what waits."""
        try:
            self.post_message(self.StatusRead(self.bench.status()))
        except WorkbenchError as error:
            self.post_message(Pane.Done(None, error))

    @on(StatusRead)
    def _status_read(self, event: StatusRead) -> None:
        self.status = event.status
        self._draw_frame()

    @on(IndexMoved)
    def _index_moved(self) -> None:
        from workbench.tui.screens.index import IndexScreen

        self.draw_bottom()
        if isinstance(self.screen, IndexScreen):
            self.screen.moved()
        if not self.index_work.running:
            self.post_message(self.MemoryChanged())

    @on(ReflectionMoved)
    def _reflection_moved(self) -> None:
        from workbench.tui.panes.inbox import InboxPane

        self.draw_bottom()
        for pane in self.query(InboxPane):
            pane.reflection_moved()
        cycle = self.reflection_work
        if cycle.running:
            return
        self.post_message(self.MemoryChanged())
        if cycle.problem:
            self.notify(cycle.problem, severity="information" if cycle.cancelled else "error", timeout=8)
        elif cycle.result is not None:
            self.notify(cycle_result(cycle.result), timeout=8)

    def memory_changed(self) -> None:
        """Have what is shown read memory again."""
        self.post_message(self.MemoryChanged())

    @on(MemoryChanged)
    def _memory_changed(self) -> None:
        if not self._calming:
            self._calming = True
            self.set_timer(_CALM, self._read_again)

    def _read_again(self) -> None:
        from workbench.tui.screens.memory import MemoryScreen

        self._calming = False
        self.read_status()
        for screen in self.screen_stack:
            if isinstance(screen, MemoryScreen):
                screen.reload()
        for pane in self.query(Pane):
            if pane.id == PANES[self._current][0]:
                pane.reload()
            else:
                self._stale.add(pane.id or "")

    @property
    def pane(self) -> Pane:
        """Return the pane shown."""
        return self.query_one(f"#{PANES[self._current][0]}", Pane)

    async def show(self, place: Place, *, visit: bool = True) -> None:
        """Go to a place.

        Args:
            place: Where to.
            visit: Remember it as a step of the trail.
        """
        if visit and self._trail.places:
            self._trail = self._trail.amend(replace(self.pane.place(), memory=self._memory_left))
        self._current = next(at for at, (name, _, _) in enumerate(PANES) if name == place.pane)
        pane = await self._mounted(place.pane)
        for each in self.query(Pane):
            each.display = each is pane
        if place.pane in self._stale:
            self._stale.discard(place.pane)
            pane.reload()
        pane.remove_class(*(("-zoom",) if pane.has_class("-editing") else ("-zoom", "-reading")))
        pane.go_to(place.key, place.filter)
        pane.focus_list()
        if visit:
            self._trail = self._trail.visit(place)
        self._draw_frame()

    async def _mounted(self, name: str) -> Pane:
        existing = self.query(f"#{name}")
        if existing:
            return existing.first(Pane)
        pane = pane_class(name)(self.bench, id=name)
        await self.query_one("#panes").mount(pane)
        return pane

    def pane_titles(self) -> list[str]:
        """Return the names of the panes in order."""
        return [title for _, title, _ in PANES]

    async def mount_findable_panes(self) -> None:
        for name in FOUND_IN:
            pane = await self._mounted(name)
            pane.display = name == PANES[self._current][0]

    @on(Pane.Travelled)
    def _travelled(self) -> None:
        self._draw_frame()

    @on(Pane.Settled)
    def _settled(self) -> None:
        self._trail = self._trail.amend(self.pane.place())

    @on(Pane.GoTo)
    async def _go_to(self, event: Pane.GoTo) -> None:
        await self.open_link(event.link)

    @on(Pane.Visit)
    async def _visit(self, event: Pane.Visit) -> None:
        await self.show(event.place)

    async def open_link(self, link: str | None) -> None:
        """Show what a link leads to: in its pane, or by itself where it has none."""
        if not link:
            return
        if link == IMPORT_LINK:
            self.action_import_memory()
            return
        link = navigation.memory_of_file(link)
        place = navigation.destination(link)
        if place is not None:
            await self.show(place)
            return
        self.show_memory(link)

    async def leave_memory(self, memory_id: str, link: str) -> None:
        self._memory_left = memory_id
        await self.open_link(link)
        self._memory_left = ""

    @on(StatusLine.Pressed, "#top")
    async def _top_pressed(self, event: StatusLine.Pressed) -> None:
        if event.link.startswith(PANE_LINK):
            await self.action_show_pane(int(event.link.removeprefix(PANE_LINK)))

    @on(StatusLine.Pressed, "#bottom")
    async def _bottom_pressed(self, event: StatusLine.Pressed) -> None:
        if event.link in ("alerts", navigation.REVIEW):
            await self.open_link(event.link)
        elif event.link.startswith(KEY_LINK):
            await self.run_command(self.labelled(event.link.removeprefix(KEY_LINK)))
        elif event.link == "index":
            self.action_show_index()
        elif event.link == "import":
            self.action_import_memory()
        elif event.link == "notices":
            self.action_show_notices()

    async def action_show_pane(self, at: int) -> None:
        """Go to the pane of that number, as it was left."""
        name = PANES[at][0]
        existing = self.query(f"#{name}")
        await self.show(existing.first(Pane).place() if existing else Place(name))

    async def action_go_back(self) -> None:
        await self._walk(-1)

    async def action_go_forward(self) -> None:
        await self._walk(1)

    async def _walk(self, by: int) -> None:
        self._trail = self._trail.amend(self.pane.place())
        self._trail, place = self._trail.step(by)
        if place is not None:
            await self.show(place, visit=False)
            if place.memory:
                self.show_memory(place.memory)

    @on(Pane.Working)
    def _is_working(self, event: Pane.Working) -> None:
        self._working += event.by
        if event.by > 0:
            self.set_timer(_LONG, self.draw_bottom)
        else:
            self.draw_bottom()

    @on(Pane.Done)
    def _done(self, event: Pane.Done) -> None:
        if event.error is not None:
            # A pane that cannot be read is shown as well.
            self._begin_following()
            error = event.error
            text = f"{error.message} {error.remedy or ''}".strip()
            self.notify(text, title=error.where or "", severity="error", timeout=8)
        elif event.outcome is not None:
            self.notify(event.outcome.summary, timeout=4)

    def act(self, action: Callable[[], Outcome], after: Callable[[], object] | None = None) -> None:
        self.pane.act(action, after)

    def action_undo(self) -> None:
        self.pane.act(self._asking(self.bench.undo, again=False), self.pane.undone)

    def action_redo(self) -> None:
        self.pane.act(self._asking(self.bench.redo, again=True))

    def _asking(self, step: Callable[[], Outcome], *, again: bool) -> Callable[[], Outcome | None]:
        """Return a step that is taken at once where it is the person's own, and asked about where it is another's."""

        def take() -> Outcome | None:
            try:
                return step()
            except ConfirmationNeeded:
                steps = self.bench.next_steps()
                newest = steps.redo if again else steps.undo
                if newest is None:
                    raise
                own = None if again else steps.own
                self.call_from_thread(self._ask_whose, newest, own, again)
                return None

        return take

    def _ask_whose(self, newest: NextStep, own: NextStep | None, again: bool) -> None:
        from workbench.tui.screens.taking_back import TakingBackScreen

        def chosen(whose: Whose | None) -> None:
            if whose == "theirs":
                step = self.bench.redo if again else self.bench.undo
                self.pane.act(partial(step, sure=True, expected=newest.commit), self.pane.undone)
            elif whose == "mine" and own is not None:
                self.pane.act(partial(self.bench.undo, mine=True, expected=own.commit), self.pane.undone)

        # Of several presses at once each comes here; one question is enough.
        if not any(isinstance(screen, TakingBackScreen) for screen in self.screen_stack):
            self.push_screen(TakingBackScreen(newest, own, again=again), chosen)

    def action_show_notices(self) -> None:
        notices = self.status.notices if self.status is not None else ()
        text = "\n".join(notices) or "Everything works."
        self.notify(text, title="Notices" if notices else "", timeout=12 if notices else 4)

    def action_how_to_leave(self) -> None:
        self.notify(
            f"{shown_key(self.key_overrides.get('quit-bench', 'ctrl+q'))} leaves the bench.", timeout=4
        )

    def action_switch_theme(self) -> None:
        names = sorted(self.themes.by_name)
        self.choose_theme(names[(names.index(self.palette.theme.name) + 1) % len(names)])

    def choose_theme(self, name: str) -> None:
        """Take another theme, and remember it as the user’s choice."""
        self.theme = name
        problem = remember_theme(self._config_folder, name)
        if problem:
            self.notify(problem, severity="warning", timeout=8)


def _break(error: BaseException) -> None:
    """End the bench over an error that nobody expected, as one in a pane would."""
    raise error
