"""Owns what the app puts over a pane: finding anything, help, one memory, and the question before leaving."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import App
from textual.message import Message
from textual.widgets import Input, TextArea

from workbench.display.cells import plain
from workbench.engine.errors import WorkbenchError
from workbench.tui.keymap import all_commands, command_by_id, shown_key
from workbench.tui.panes import FOUND_IN
from workbench.tui.panes.base import Pane
from workbench.tui.screens.choosing import ChoosingScreen
from workbench.tui.typed_ahead import TypedAhead
from workbench.tui.widgets.filter_bar import FilterInput

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from textual.notifications import SeverityLevel

    from workbench.engine.results.transfer import ImportedAs
    from workbench.tui.bench import Bench, Outcome
    from workbench.tui.import_work import ImportWork
    from workbench.tui.in_order import InOrder
    from workbench.tui.index_work import IndexWork
    from workbench.tui.memory_actions import MemoryActions
    from workbench.tui.reflection_work import ReflectionWork
    from workbench.tui.screens.find import Finding
    from workbench.tui.themes import Themes
    from workbench.tui.typed_ahead import Typed


# Stores that no pane lists: what they hold is found by its title. They come after the entities.
_BY_TITLE = {"procedural": "procedure", "vault": "vault note"}
_AFTER = "graph"
# What can be done from a pane whatever its rows are.
_NOT_ON_ROWS = frozenset({"ask", "filter", "leave", "zoom_pane"})
_LONGEST_TOAST_LINE = 400
_MOST_TOAST_LINES = 8


class Overlays(App[None], inherit_bindings=False):
    """An app with panes that can be searched and explained; screens are imported when first asked for."""

    bench: Bench
    themes: Themes
    key_overrides: Mapping[str, str]
    index_work: IndexWork
    reflection_work: ReflectionWork
    memory_actions: MemoryActions
    in_order: InOrder
    import_work: ImportWork | None = None
    exports: set[threading.Event]
    """Of each export that is being written, what stops it."""
    _leaving = False
    _titled: Sequence[Finding] = ()
    _titles_wanted = False

    class TitlesRead(Message):
        """What no pane lists was read, to be found by its title."""

        def __init__(self, titled: Sequence[Finding]) -> None:
            super().__init__()
            self.titled = titled

    class ImportMoved(Message):
        """An import came further, or to an end."""

        def __init__(self, import_work: ImportWork) -> None:
            super().__init__()
            self.import_work = import_work

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, Overlays.ImportMoved) and message.import_work is self.import_work

    def __init__(self) -> None:
        super().__init__()
        self._typed_ahead = TypedAhead(self, self._deliver, self._must_wait)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._typed_ahead.take(event)
        else:
            await self._deliver(event)

    async def _deliver(self, event: events.Event) -> None:
        """Take no more keys once the bench is being left: what is typed then is meant for the shell."""
        if not (self._leaving and isinstance(event, events.InputEvent)):
            await super().on_event(event)

    def _must_wait(self, typed: Typed) -> bool:
        """Return True for a key that is about rows while those shown do not answer what was typed yet."""
        answering = self.answering
        if answering is None or not isinstance(typed, events.Key):
            return False
        is_unread = answering.is_unread
        if not (is_unread or answering.is_behind):
            return False
        active = self.screen.active_bindings.get(typed.key)
        action = active.binding.action if active is not None else ""
        if isinstance(self.focused, FilterInput):
            return typed.key in FilterInput.PASSED_ON or action == "keep_filter"
        if active is None:
            # It may mean something to the first rows.
            return is_unread and not isinstance(self.focused, Input | TextArea)
        return action not in _NOT_ON_ROWS and answering in active.node.ancestors_with_self

    @property
    def answering(self) -> Pane | ChoosingScreen | None:
        """Return what keys go to, where it lists what one types."""
        screen = self.screen
        if len(self.screen_stack) > 1:
            return screen if isinstance(screen, ChoosingScreen) else None
        return next((pane for pane in screen.query(Pane) if pane.display), None)

    @abstractmethod
    def pane_titles(self) -> list[str]:
        """Return the names of the panes in order."""

    @abstractmethod
    async def mount_findable_panes(self) -> None:
        """Have every pane whose memories can be found from anywhere read them, seen or not."""

    @abstractmethod
    def act(self, action: Callable[[], Outcome], after: Callable[[], object] | None = None) -> None:
        """Have the engine do something for the pane shown; what comes of it is told in a toast."""

    @abstractmethod
    async def open_link(self, link: str | None) -> None:
        """Show what a link leads to."""

    @abstractmethod
    async def leave_memory(self, memory_id: str, link: str) -> None:
        """Show what a link in a memory leads to; the way back leads to the memory again."""

    @abstractmethod
    async def action_show_pane(self, at: int) -> None:
        """Go to the pane of that number."""

    @abstractmethod
    def draw_bottom(self) -> None:
        """Draw the line at the bottom anew."""

    @abstractmethod
    def memory_changed(self) -> None:
        """Have what is shown read memory again."""

    @abstractmethod
    def choose_theme(self, name: str) -> None:
        """Take another theme, and remember it as the user’s choice."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a toast; whatever it says is text, never markup or an escape."""
        del markup
        safe = "\n".join(plain(line, _LONGEST_TOAST_LINE) for line in message.split("\n")[:_MOST_TOAST_LINES])
        super().notify(safe, title=plain(title, 50), severity=severity, timeout=timeout, markup=False)

    # --- what can be done here ------------------------------------------------------------------------------

    def usable_ids(self) -> frozenset[str]:
        """Return the ids of the commands that mean something where the focus is."""
        return frozenset(
            active.binding.id
            for active in self.screen.active_bindings.values()
            if active.binding.id and active.enabled
        )

    def shown_keys(self) -> list[tuple[str, str]]:
        """Return the keys that mean something here with their words, the most important first."""
        usable = (command_by_id(name) for name in self.usable_ids())
        labelled = [command for command in usable if command is not None and command.label]
        labelled.sort(key=lambda command: (command.rank, command.id))
        return [(shown_key(self.key_overrides.get(each.id, each.key)), each.label) for each in labelled]

    def labelled(self, label: str) -> str | None:
        """Return the id of the command that goes by a word in the bottom line, where the focus is."""
        usable = (command_by_id(name) for name in self.usable_ids())
        return next((each.id for each in usable if each is not None and each.label == label), None)

    async def run_command(self, command_id: str | None) -> None:
        """Run a command as its key would, where the focus is."""
        for active in self.screen.active_bindings.values():
            if command_id and active.binding.id == command_id:
                await self.run_action(active.binding.action, active.node)
                return
        # Where one writes, letters are no keys, and yet what the app itself can do can be asked for.
        for _, own in self._bindings:
            if command_id and own.id == command_id:
                await self.run_action(own.action)
                return

    # --- finding --------------------------------------------------------------------------------------------

    async def action_find_anything(self) -> None:
        from workbench.tui.screens.find import FindScreen

        if len(self.screen_stack) == 1:
            # What is typed meanwhile is meant for the screen, so it stands before the panes have read anything.
            await self.push_screen(FindScreen(self._offered(), self.memories, self._is_reading), self._found)
            self.read_titles()
            await self.mount_findable_panes()

    def _is_reading(self) -> bool:
        """Return True while something is read that can be found."""
        panes = (self.screen_stack[0].query(f"#{name}") for name in FOUND_IN)
        return (
            self._titles_wanted
            or any(each.group == "load" and not each.is_finished for each in self.workers)
            or any(pane.message_queue_size for found in panes for pane in found)
        )

    def read_titles(self) -> None:
        """Read the titles of what no pane lists, so that it can be found from anywhere."""
        self._titles_wanted = True
        self._read_titles()

    @work(thread=True, exclusive=True, group="titles")
    def _read_titles(self) -> None:
        from workbench.tui.screens.find import Finding

        try:
            found = [
                Finding(key, f"{title} · {kind}")
                for store, kind in _BY_TITLE.items()
                for key, title in self.bench.titles((store,)).items()
            ]
        except WorkbenchError as error:
            self.post_message(Pane.Done(None, error))
            found = list(self._titled)
        self.post_message(self.TitlesRead(found))

    @on(TitlesRead)
    def _titles_read(self, event: TitlesRead) -> None:
        self._titled, self._titles_wanted = event.titled, False
        self.find_again()

    def find_again(self) -> None:
        """Take note that there is more to be found, if somebody is looking for something."""
        if len(self.screen_stack) > 1:
            from workbench.tui.screens.find import FindScreen

            if isinstance(self.screen, FindScreen):
                self.screen.search_again()

    def _offered(self) -> list[Finding]:
        from workbench.tui.screens.find import Finding

        usable = self.usable_ids() | {own.id for _, own in self._bindings if own.id}
        offered = [Finding(f"pane:{at}", title, str(at + 1)) for at, title in enumerate(self.pane_titles())]
        offered += [
            Finding(f"run:{command.id}", f"{command.title()}: {command.help()}", shown_key(command.key))
            for command in all_commands()
            if command.id in usable and command.section not in ("In a list", "In a detail")
        ]
        return offered + [Finding(f"theme:{name}", f"Theme: {name}") for name in sorted(self.themes.by_name)]

    def memories(self) -> Iterator[Finding]:
        """Yield every memory: core memory, entities, procedures and the vault, then what happened, newest first."""
        from workbench.tui.screens.find import Finding

        panes = {pane.id: pane for pane in self.screen_stack[0].query(Pane)}
        for name in FOUND_IN:
            if name in panes:
                for text, key in panes[name].findable():
                    yield Finding(key, text)
            if name == _AFTER:
                yield from self._titled

    async def _found(self, key: str | None) -> None:
        kind, _, name = (key or "").partition(":")
        if kind == "run":
            await self.run_command(name)
        elif kind == "theme":
            self.choose_theme(name)
        elif kind == "pane":
            await self.action_show_pane(int(name))
        else:
            await self.open_link(key)

    # --- helping, showing, leaving --------------------------------------------------------------------------

    def action_show_help(self) -> None:
        from workbench.tui.screens.help import HelpScreen

        if len(self.screen_stack) == 1:
            self.push_screen(HelpScreen(self.key_overrides, self.usable_ids()), self.run_command)

    def action_show_index(self) -> None:
        from workbench.tui.screens.index import IndexScreen

        if len(self.screen_stack) == 1:
            self.push_screen(IndexScreen(self.bench, self.index_work))

    # --- importing and exporting ----------------------------------------------------------------------------

    def look_at_import(self, source: str, imported_as: ImportedAs = "memories") -> None:
        """Begin to look what would come in from a place; what was looked at before is let go of."""
        from workbench.tui.import_work import ImportWork

        if self.import_work is not None:
            self.import_work.cancel()
        begun = ImportWork(
            self.bench, source, imported_as, lambda: self.post_message(self.ImportMoved(begun))
        )
        self.import_work = begun
        begun.look()

    def action_import_memory(self) -> None:
        """Ask where to import from; where something is being brought in, show how far it is."""
        from workbench.tui.screens.import_source import ImportSourceScreen
        from workbench.tui.screens.importing import UNDO, ImportScreen

        async def left(link: str | None) -> None:
            if link == UNDO:
                await self.run_action("undo")
            else:
                await self.open_link(link)

        if len(self.screen_stack) == 1:
            is_under_way = self.import_work is not None and bool(self.import_work.words)
            self.push_screen(ImportScreen() if is_under_way else ImportSourceScreen(self.bench), left)

    @on(ImportMoved)
    def _import_moved(self, event: ImportMoved) -> None:
        from workbench.tui.screens.importing import ImportScreen
        from workbench.tui.views.importing import import_words

        import_work = event.import_work
        if import_work is not self.import_work:
            return
        self.draw_bottom()
        is_shown = isinstance(self.screen, ImportScreen)
        if isinstance(self.screen, ImportScreen):
            self.screen.moved()
        if import_work.storing and not import_work.running and not import_work.told:
            import_work.told = True
            self.memory_changed()
            if not is_shown:
                failed = import_work.imported is None
                self.notify(
                    import_words(import_work), severity="error" if failed else "information", timeout=8
                )

    def action_export_memory(self) -> None:
        from workbench.tui.screens.export import ExportScreen

        if len(self.screen_stack) == 1:
            self.push_screen(ExportScreen(self.bench))

    def show_memory(self, memory_id: str) -> None:
        """Show a memory with all there is to know of it, over the pane."""
        from workbench.tui.screens.memory import MemoryScreen

        screen = MemoryScreen(self.bench, memory_id)

        async def left(link: str | None) -> None:
            if link:
                await self.leave_memory(screen.memory_id, link)

        self.push_screen(screen, left)

    async def leave(self) -> None:
        """Leave once everything that was asked for is written."""
        self._leaving = True
        for pane in self.screen_stack[0].query(Pane):
            await pane.finish()
        await self.in_order.finish()
        self.exit()

    async def _may_leave(self, sure: bool | None) -> None:
        if sure:
            await self.leave()

    async def action_quit_bench(self) -> None:
        from workbench.tui.screens.confirm import ConfirmScreen

        if isinstance(self.screen, ConfirmScreen):
            return
        drafts = sum(pane.drafts() for pane in self.screen_stack[0].query(Pane)) + self.memory_actions.drafts
        if drafts:
            one = drafts == 1
            question = "Leave an unsaved draft?" if one else f"Leave {drafts} unsaved drafts?"
            lost = "It is nowhere else yet" if one else "They are nowhere else yet"
            self._ask_before_leaving(question, f"{lost} and would be lost.", "Discard")
        elif self.import_work is not None and self.import_work.words:
            told = "What came in so far stays; import it again, and the rest comes."
            self._ask_before_leaving("Leave before the import is done?", told, "Stop")
        elif self.exports:
            self._ask_before_leaving("Leave before the export is done?", "Nothing of it is kept.", "Stop")
        else:
            await self.leave()

    def _ask_before_leaving(self, question: str, consequence: str, verb: str) -> None:
        from workbench.tui.screens.confirm import ConfirmScreen

        self.push_screen(ConfirmScreen(question, consequence, verb, started_by="ctrl+q"), self._may_leave)
