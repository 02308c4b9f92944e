"""Shows in the Inbox what was held back as a secret, masked; stores it as asked, stores it without, or drops it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from textual import on, work
from textual.message import Message

from workbench.engine.errors import WorkbenchError
from workbench.tui.held import DROP, KEEP, WITHOUT, HeldChoice
from workbench.tui.panes.inbox_agents import InboxAgents
from workbench.tui.panes.inbox_deciding import SETTLING
from workbench.tui.screens.confirm import ConfirmScreen
from workbench.tui.views.held import group_lines, held_lines

if TYPE_CHECKING:
    from workbench.tui.bench import Bench
    from workbench.tui.held import Held

# The question before a choice, what it means, its verb, and the key that asks.
_ASKED: Final = {
    KEEP: (
        "Let {} in, secret and all?",
        "History remembers it for ever, and the secret is allowed wherever it comes up from then on.",
        "Store",
        "a",
    ),
    WITHOUT: ("Store {} without the secret?", "What it was is forgotten.", "Store", "m"),
    DROP: ("Drop {}?", "No trace of it stays, and nothing brings it back.", "Drop", "r"),
}


class InboxHeld(InboxAgents):
    """The part of the Inbox for what was held back as a secret."""

    class Revealed(Message):
        """The words of something that was held back, with the secret in them; or why they cannot be seen."""

        def __init__(self, key: str, text: str, error: WorkbenchError | None = None) -> None:
            super().__init__()
            self.key = key
            self.text = text
            self.error = error

    def __init__(self, bench: Bench, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(bench, id=id)
        self._revealed: tuple[str, str] | None = None

    @property
    def held(self) -> Held | None:
        """Return what was held back, under the cursor."""
        return self.rows.held(self.list.cursor_key)

    # --- showing --------------------------------------------------------------------------------------------

    def show_detail(self, key: str) -> None:
        if self._revealed is not None and self._revealed[0] != key:
            # A secret is masked again once one moves on.
            self._revealed = None
        if held := self.rows.held(key):
            shown = self._revealed[1] if self._revealed is not None else None
            self.detail.show(partial(held_lines, held, shown, self.bench.now()), key)
        elif group := self.rows.held_group(key):
            self.detail.show(partial(group_lines, group), key)
        else:
            super().show_detail(key)

    def sources(self) -> list[str]:
        if (held := self.held) is None:
            return super().sources()
        return [f"file:{held.memory.path}#L{held.memory.line or 1}"] if held.memory.path else []

    def history_link(self) -> str:
        return super().history_link() if self.held is None else f"history:{self.held.memory.path}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what means something for what was held back, where that is chosen."""
        means = self._means_here(action) if self.on_held() else None
        if means is None and action in ("store_without", "reveal"):
            return False
        return super().check_action(action, parameters) if means is None else means

    def _means_here(self, action: str) -> bool | None:
        """Tell whether an action means something for what was held back; None for one that is about more than that."""
        if action in ("approve", "reject", "store_without", "copy_id"):
            return not self.is_writing
        if action == "reveal":
            return self.held is not None and not self.is_writing
        if action in ("open_source", "show_history"):
            return self.held is not None and bool(self.held.memory.path)
        if action in SETTLING or action in ("defer", "undecide", "edit_here", "store_elsewhere"):
            return False
        return None

    # --- deciding -------------------------------------------------------------------------------------------

    def chosen_held(self) -> tuple[Held, ...]:
        """Return what a key is about: what is marked, what is under the cursor, or all that is undecided below it."""
        found: dict[str, Held] = {}
        for key in self.list.chosen_keys:
            if (one := self.rows.held(key)) is not None:
                found[one.key] = one
            elif (group := self.rows.held_group(key)) is not None:
                found |= {each.key: each for each in group.held if each.is_open}
        return tuple(found.values())

    def on_held(self) -> bool:
        """Tell whether what is chosen was held back."""
        return bool(self.chosen_held()) or self.rows.held_group(self.list.cursor_key) is not None

    def subject_keys(self) -> tuple[str, ...]:
        return (*(each.key for each in self.chosen_held()), *super().subject_keys())

    def action_approve(self) -> None:
        if not self.on_held():
            super().action_approve()
            return
        self._choose_for_held(KEEP)

    def action_store_without(self) -> None:
        """Store the rest of what was held back."""
        self._choose_for_held(WITHOUT)

    def action_reject(self) -> None:
        if not self.on_held():
            super().action_reject()
            return
        self._choose_for_held(DROP)

    def action_reveal(self) -> None:
        """Show the secret that is masked, or mask it again."""
        held = self.held
        if held is None or not self.may_decide():
            return
        if self._revealed is not None:
            self._revealed = None
            self.show_detail(held.key)
        else:
            self._reveal(held.key, held.memory.number)

    @work(thread=True, exclusive=True, group="reveal")
    def _reveal(self, key: str, number: int) -> None:
        try:
            self.post_message(self.Revealed(key, self.bench.reveal(number)))
        except WorkbenchError as error:
            self.post_message(self.Revealed(key, "", error))

    @on(Revealed)
    def _was_revealed(self, event: Revealed) -> None:
        event.stop()
        if event.error is not None:
            self.post_message(self.Done(None, event.error))
        elif self.list.cursor_key == event.key:
            self._revealed = (event.key, event.text)
            self.show_detail(event.key)

    def _choose_for_held(self, choice: str) -> None:
        chosen = tuple(each for each in self.chosen_held() if each.is_open)
        if not self.may_decide():
            return
        if not chosen:
            self.app.notify("Nothing here is left to be decided.", timeout=3)
            return
        decided = HeldChoice(choice, tuple(each.memory for each in chosen))
        in_files = any(each.memory.path for each in chosen)
        if choice == WITHOUT and len(chosen) == 1 and not in_files:
            self._take_choice(decided)
            return
        question, consequence, verb, key = _ASKED[choice]
        count = "it" if len(chosen) == 1 else f"all {len(chosen)}"
        if in_files and choice != KEEP:
            consequence += " In a file, “[secret left out]” stands there then."
        self.app.push_screen(
            ConfirmScreen(question.format(count), consequence, verb, started_by=key),
            lambda sure: self._take_choice(decided) if sure else None,
        )

    def _take_choice(self, choice: HeldChoice) -> None:
        self.list.clear_marks()
        self._revealed = None
        self.desk.choose(choice)
        self.draw()
        self.action_next_undecided()
