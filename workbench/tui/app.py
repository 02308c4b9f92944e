"""The bench itself: a frame around the panes that knows where one is, where one was, and what waits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Container
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui import commands, navigation
from workbench.tui.keymap import bindings
from workbench.tui.overlays import Overlays
from workbench.tui.palette import Palette
from workbench.tui.panes.audit import AuditPane
from workbench.tui.panes.base import Pane
from workbench.tui.panes.core import CorePane
from workbench.tui.panes.timeline import TimelinePane
from workbench.tui.preferences import load_look
from workbench.tui.themes import textual_theme
from workbench.tui.trail import Place, Trail
from workbench.tui.views.status import PANE_LINK, bottom_line, top_line
from workbench.tui.widgets.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workbench.tui.bench import Bench, Outcome, Status

PANES: tuple[tuple[str, type[Pane]], ...] = (
    (navigation.CORE, CorePane),
    (navigation.TIMELINE, TimelinePane),
    (navigation.AUDIT, AuditPane),
)
# Seconds in which changes that follow one another count as one.
_CALM = 0.08


class BenchApp(Overlays):
    """The bench on one workspace.

    Args:
        bench: The engine.
        config_folder: The user's configuration folder, for their keys and themes, or None.
        theme: Name of a theme to begin with; the user's own choice where empty.
        target: Id of the memory, or path, to open at.
    """

    CSS_PATH = "styles/bench.tcss"
    TITLE = "Workbench"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar = [
        *bindings(
            commands.FindAnything, commands.ShowHelp, commands.Undo, commands.Redo, commands.GoBack,
            commands.GoForward, commands.SwitchTheme, commands.QuitBench,
        ),
        *((str(at + 1), f"show_pane({at})", pane.title) for at, (_, pane) in enumerate(PANES)),
    ]  # fmt: skip

    class StatusRead(Message):
        """Where one is and what waits was read."""

        def __init__(self, status: Status) -> None:
            super().__init__()
            self.status = status

    class MemoryChanged(Message):
        """Somebody changed memory."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, BenchApp.MemoryChanged)

    def __init__(
        self, bench: Bench, *, config_folder: Path | None = None, theme: str = "", target: str = ""
    ) -> None:
        super().__init__()
        self.animation_level = "none"
        self.bench = bench
        self.status: Status | None = None
        self._target = target
        self._trail = Trail()
        self._current = 0
        self._stale: set[str] = set()
        self._calming = False
        look = load_look(config_folder, theme)
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
        self._end_subscription = self.bench.subscribe(lambda: self.post_message(self.MemoryChanged()))
        self.read_status()
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self._draw_bottom())
        if self._problems:
            self.notify(
                "\n".join(self._problems), title="Your settings", severity="warning", markup=False, timeout=12
            )

    def on_unmount(self) -> None:
        self._end_subscription()

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size.width, event.size.height)

    def _lay_out(self, width: int, height: int) -> None:
        wanted = navigation.layout_for(width, height)
        base = self.screen_stack[0]
        for name in ("-beside", "-below", "-single", "-tall", "-wide"):
            base.set_class(name in wanted, name)

    def _draw_frame(self) -> None:
        top = self.query_one("#top", StatusLine)
        top.show(partial(top_line, self.status, self.pane_titles(), self._current))
        self._draw_bottom()

    def _draw_bottom(self) -> None:
        if self.screen is self.screen_stack[0]:
            keys = self.shown_keys()
            self.query_one("#bottom", StatusLine).show(lambda width: bottom_line(self.status, keys, width)[0])

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
        for pane in self.query(Pane):
            pane.take_status(event.status)
        self._draw_frame()

    @on(MemoryChanged)
    def _memory_changed(self) -> None:
        if not self._calming:
            self._calming = True
            self.set_timer(_CALM, self._read_again)

    def _read_again(self) -> None:
        self._calming = False
        self.read_status()
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
            self._trail = self._trail.amend(self.pane.place())
        self._current = next(at for at, (name, _) in enumerate(PANES) if name == place.pane)
        pane = await self._mounted(place.pane)
        for each in self.query(Pane):
            each.display = each is pane
        if place.pane in self._stale:
            self._stale.discard(place.pane)
            pane.reload()
        pane.remove_class("-zoom", "-reading" if not pane.has_class("-editing") else "")
        pane.go_to(place.key, place.filter)
        pane.focus_list()
        if visit:
            self._trail = self._trail.visit(place)
        self._draw_frame()

    async def _mounted(self, name: str) -> Pane:
        existing = self.query(f"#{name}")
        if existing:
            return existing.first(Pane)
        pane = dict(PANES)[name](self.bench, id=name)
        if self.status is not None:
            pane.take_status(self.status)
        await self.query_one("#panes").mount(pane)
        return pane

    def pane_titles(self) -> list[str]:
        """Return the names of the panes in order."""
        return [pane.title for _, pane in PANES]

    async def mount_every_pane(self) -> None:
        """Have every pane read what it shows, seen or not."""
        for name, _ in PANES:
            pane = await self._mounted(name)
            pane.display = name == PANES[self._current][0]

    @on(Pane.Settled)
    def _settled(self) -> None:
        self._trail = self._trail.amend(self.pane.place())

    @on(Pane.GoTo)
    async def _go_to(self, event: Pane.GoTo) -> None:
        await self.open_link(event.link)

    async def open_link(self, link: str | None) -> None:
        """Show what a link leads to: in its pane, or by itself where it has none."""
        if not link:
            return
        link = navigation.memory_of_file(link)
        place = navigation.destination(link)
        if place is not None:
            await self.show(place)
            return
        self.show_memory(link)

    @on(StatusLine.Pressed, "#top")
    async def _top_pressed(self, event: StatusLine.Pressed) -> None:
        if event.link.startswith(PANE_LINK):
            await self.action_show_pane(int(event.link.removeprefix(PANE_LINK)))

    @on(StatusLine.Pressed, "#bottom")
    async def _bottom_pressed(self, event: StatusLine.Pressed) -> None:
        if event.link == "alerts":
            await self.open_link(event.link)
        elif event.link == "notices" and self.status is not None:
            self.notify("\n".join(self.status.notices), title="Notices", markup=False, timeout=12)

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

    @on(Pane.Done)
    def _done(self, event: Pane.Done) -> None:
        if event.error is not None:
            error = event.error
            text = f"{error.message} {error.remedy or ''}".strip()
            self.notify(text, title=error.where or "", severity="error", markup=False, timeout=8)
        elif event.outcome is not None:
            self.notify(event.outcome.summary, markup=False, timeout=4)

    def action_undo(self) -> None:
        self._act(self.bench.undo)

    def action_redo(self) -> None:
        self._act(self.bench.redo)

    @work(thread=True, group="act")
    def _act(self, action: Callable[[], Outcome]) -> None:
        try:
            self.post_message(Pane.Done(action()))
        except WorkbenchError as error:
            self.post_message(Pane.Done(None, error))

    def action_switch_theme(self) -> None:
        names = sorted(self.themes.by_name)
        self.theme = names[(names.index(self.palette.theme.name) + 1) % len(names)]
