"""Owns what an unsaved text of core memory is, and the messages that tell of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from workbench.tui.bench import CoreMemory, Outcome

NEW = "new:"


@dataclass(frozen=True)
class Draft:
    """An unsaved text.

    Args:
        key: Id of the item that it is to replace, or `new:` and the block that it is to join.
        block: Name of the block.
        text: What has been written.
        original: What the item said when it was begun.
    """

    key: str
    block: str
    text: str
    original: str = ""

    @property
    def item_id(self) -> str | None:
        """Return the id of the item that it is to replace, None for a new one."""
        return None if self.key.startswith(NEW) else self.key

    @property
    def touched(self) -> bool:
        """Tell whether anything would be lost with it."""
        return self.text != self.original


class BudgetsMoved(Message):
    """Core memory would be another with the draft in it than without; None when no draft is open."""

    def __init__(self, preview: CoreMemory | None) -> None:
        super().__init__()
        self.preview = preview

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
