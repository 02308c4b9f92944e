"""Shows the card of what is under the cursor, its details on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.card import card_lines
from workbench.tui.parts.page import PagePart

if TYPE_CHECKING:
    from workbench.display.card import Card

_WALKS = ("move-down", "move-up", "left", "right")


class CardPart(PagePart):
    """One card, or nothing."""

    def __init__(self, *, id: str | None = None, empty: str = "") -> None:
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
        if self.card is not None and self.card.walked and command in _WALKS:
            return self._walk_card(self.card, command) or super().do(command)
        return super().do(command)

    def _walk_card(self, card: Card, command: str) -> bool:
        """Go down and up through facts, relations and then all other links; to the side, to the other column."""
        lines = {link: line for line, link in self.links}
        facts = [each.link for each in card.walked if each.edge is None and each.link in lines]
        relations = [each.link for each in card.walked if each.edge is not None and each.link in lines]
        if command in ("left", "right"):
            column = facts if command == "left" else relations
            if self.link not in (relations if command == "left" else facts) or not column:
                return False
            goal = min(column, key=lambda each: abs(lines[each] - lines[self.link]))
        else:
            order = [*facts, *relations, *(link for link in lines if link not in {*facts, *relations})]
            by = 1 if command == "move-down" else -1
            at = order.index(self.link) + by if self.link in order else 0 if by > 0 else -1
            if not 0 <= at < len(order):
                return False
            goal = order[at]
        self.walk_to(lines[goal], goal)
        return True
