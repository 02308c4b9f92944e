"""Owns what an unsaved text of core memory is, and the messages that tell of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from workbench.tui.bench import Outcome

NEW = "new:"


@dataclass(frozen=True)
class Draft:
    """An unsaved text.

    Args:
        key: Id of the item that it is to replace, or `new:` and the block that it is to join.
        block: Name of the block.
        text: What has been written.
        original: What the item said when it was begun.
        tokens: Tokens of the original.
    """

    key: str
    block: str
    text: str
    original: str = ""
    tokens: int = 0

    @property
    def touched(self) -> bool:
        """Tell whether anything would be lost with it."""
        return self.text != self.original


class BudgetsMoved(Message):
    """Blocks would take other tokens with the draft than without; empty when no draft is open."""

    def __init__(self, tokens: dict[str, int]) -> None:
        super().__init__()
        self.tokens = tokens

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, BudgetsMoved)


class DraftSaved(Message):
    """The draft is memory now."""

    def __init__(self, draft: Draft, outcome: Outcome) -> None:
        super().__init__()
        self.draft = draft
        self.outcome = outcome


class DraftLeft(Message):
    """The editor was left."""

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self.draft = draft
