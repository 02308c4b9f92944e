"""Asks before undo takes back what somebody else did: says whose it is and when, and offers one's own instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from workbench.engine.results.audit import NextStep

Whose = Literal["theirs", "mine"]


class TakingBackScreen(ModalScreen[Whose | None]):
    """A question that enter and escape leave alone; gives whose action is meant, or None.

    Args:
        step: What is somebody else's.
        own: The person's own newest action, None where there is none or it cannot be chosen.
        again: Whether it is to be done again instead.
    """

    BINDINGS: ClassVar = [
        ("t", "choose('theirs')", "Theirs"),
        ("m", "choose('mine')", "Mine"),
        ("enter,escape", "cancel", "Cancel"),
    ]

    def __init__(self, step: NextStep, own: NextStep | None, *, again: bool = False) -> None:
        super().__init__()
        self._step, self._own, self._again = step, own, again

    def compose(self) -> ComposeResult:
        newest = "What was undone last" if self._again else "The newest action"
        verb = "redo" if self._again else "take back"
        who = self._step.by[:1].upper() + self._step.by[1:]
        keys = [f"t  {verb} theirs"]
        if self._own is not None:
            keys.append(f"m  take back my newest: {self._own.summary}")
        keys.append("enter or esc  cancel")
        with Vertical(classes="dialog"):
            yield Static(f"{newest} is not yours", classes="dialog-title", markup=False)
            told = f"{who}, {self._step.timestamp:%d %b %H:%M}\n{self._step.summary}"
            yield Static(told, classes="dialog-text", markup=False)
            yield Static("\n".join(keys), classes="dialog-keys", markup=False)

    def action_choose(self, whose: Whose) -> None:
        if whose == "theirs" or self._own is not None:
            self.dismiss(whose)

    def action_cancel(self) -> None:
        self.dismiss(None)
