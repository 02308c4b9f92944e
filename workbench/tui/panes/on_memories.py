"""Owns what can be done to a memory wherever it is shown: open, edit, pin, forget, merge, its source and history."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from workbench.tui import commands
from workbench.tui.memory_actions import MemoryActions, history_link, means_something
from workbench.tui.navigation import is_memory
from workbench.tui.panes.base import Pane
from workbench.tui.views.memory import sources

if TYPE_CHECKING:
    from workbench.tui.overlays import Overlays

ON_MEMORIES = (
    commands.OpenMemory, commands.EditHere, commands.EditInEditor, commands.Pin, commands.Forget, commands.Merge,
    commands.OpenSource, commands.ShowHistory, commands.SeeInDecay, commands.SeeBefore,
)  # fmt: skip
_ACTIONS = frozenset(command.action for command in ON_MEMORIES)


class OnMemories(Pane):
    """A pane whose rows are memories; a subclass lists `ON_MEMORIES` among its bindings and says what is meant."""

    def subjects(self) -> tuple[str, ...]:
        """Return the ids of the memories that an action is about: what is marked, else what the cursor is on."""
        return tuple(key for key in self.list.chosen_keys if is_memory(key))

    def memory_here(self) -> str:
        """Return the id of the memory that one is at, or an empty string."""
        key = self.list.cursor_key
        return key if is_memory(key) else ""

    def status_of(self, memory_id: str) -> str:
        """Return a memory’s status, `pinned` included, as far as the pane knows it; else an empty string."""
        memory = self.known(memory_id)
        return memory.score.status if memory is not None and memory.score is not None else ""

    def name_of(self, memory_id: str) -> str:
        """Return what to call a memory."""
        return memory_id

    @property
    def memory_actions(self) -> MemoryActions:
        """Return what does the work, for all panes."""
        return cast("Overlays", self.app).memory_actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for the memory under the cursor, and nothing while one writes."""
        if action not in _ACTIONS:
            return super().check_action(action, parameters)
        if not self.is_mounted or self.is_writing or self.has_class("-editing"):
            return False
        if action == "open_memory" and not self.detail.has_focus:
            return False
        here = self.memory_here()
        return means_something(action, self.subjects(), here, self.known(here))

    def action_open_memory(self) -> None:
        cast("Overlays", self.app).show_memory(self.memory_here())

    def action_pin(self) -> None:
        self.memory_actions.pin(self.subjects(), self.status_of, self.list.clear_marks)

    def action_forget(self) -> None:
        self.memory_actions.forget(self.subjects(), self.status_of, self.list.clear_marks)

    async def action_edit_here(self) -> None:
        self.memory_actions.edit(self.memory_here())

    def action_edit_in_editor(self) -> None:
        self.memory_actions.edit_in_editor(self.memory_here())

    def action_merge(self) -> None:
        here = self.memory_here()
        self.memory_actions.merge(here, self.name_of(here))

    def action_open_source(self) -> None:
        memory = self.known(self.memory_here())
        if memory is not None and (found := sources(memory)):
            self.post_message(self.GoTo(found[0]))

    def action_show_history(self) -> None:
        here = self.memory_here()
        self.post_message(self.GoTo(history_link(here, self.known(here))))

    def action_see_in_decay(self) -> None:
        self.post_message(self.GoTo(f"decay:{self.memory_here()}"))

    def action_see_before(self) -> None:
        self.memory_actions.before(self.memory_here(), lambda link: self.post_message(self.GoTo(link)))
