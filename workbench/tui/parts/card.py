"""Shows the card of what is under the cursor, its details on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.card import card_lines
from workbench.tui.parts.page import PagePart

if TYPE_CHECKING:
    from workbench.display.card import Card


class CardPart(PagePart):
    """One card, or nothing."""

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, empty=empty)
        self.card: Card | None = None
        self.details = False

    def show(self, card: Card | None) -> None:
        """Show another card, or nothing; the same thing read again stays scrolled as it was."""
        same = card is not None and self.card is not None and card.title == self.card.title
        self.card = card
        self.show_lines(
            None if card is None else lambda width: card_lines(card, width, details=self.details),
            at=None if same else 0,
        )

    def do(self, command: str) -> bool:
        """Show or hide details, or do what every page does."""
        if command == "details":
            self.details = not self.details
            self.draw()
            return True
        return super().do(command)
