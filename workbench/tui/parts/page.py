"""A page of drawn lines that scrolls, with links to walk and follow: card, evidence, help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView

from workbench.display.card import card_lines, first_line
from workbench.display.cells import wrap
from workbench.display.ink import (
    BLANK,
    Span,
    link_at,
    links_in,
    plain_text,
)
from workbench.display.matching import LIT, light
from workbench.tui.palette import MARKED, PAPER, palette_of
from workbench.tui.parts.line import Labels, labelled, selectable, selected_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual import events
    from textual.selection import Selection
    from textual.strip import Strip

    from workbench.display.card import Card
    from workbench.display.ink import Line

_MARGIN = 1


class PagePart(ScrollView, can_focus=True):
    """Lines drawn for the width there is. Posts `Followed` where a link is clicked or opened by key."""

    DEFAULT_CSS = """
    PagePart { overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """

    class Followed(Message):
        """A link was followed: where it leads."""

        def __init__(self, link: str) -> None:
            super().__init__()
            self.link = link

    class Walked(Message):
        """The cursor of the page is on another link."""

    def __init__(self) -> None:
        super().__init__()
        self.empty = ""
        """What an empty page says."""
        self._draw_lines: Callable[[int], Sequence[Line]] | None = None
        self.lines: list[Line] = []
        self.labels: Labels = {}
        self._words = ""
        self._match = -1
        self._drawn_for = 0
        self.link = ""
        """Where the link leads that the cursor of the page is on; empty where it is on none."""

    def show_lines(self, draw: Callable[[int], Sequence[Line]] | None, *, at: int | None = 0) -> None:
        """Show other lines.

        Args:
            draw: Draws them for a width; None for an empty page.
            at: The line to scroll to; None stays where the page is scrolled to, the cursor on its link.
        """
        self._draw_lines = draw
        if at is not None:
            self.link = ""
        self.draw()
        if self.link and not any(link == self.link for _, link in self.links):
            self.link = ""
        if at is not None:
            self.scroll_to(y=at, animate=False, force=True)

    def draw(self) -> None:
        """Draw the lines again, for this width."""
        self._draw_for(self._wanted_width)
        self.virtual_size = Size(0, len(self.lines))
        self.refresh()

    @property
    def _wanted_width(self) -> int:
        return max(1, self.scrollable_content_region.width - 2 * _MARGIN)

    def _draw_for(self, width: int) -> None:
        self._drawn_for = width
        if self._draw_lines is None:
            self.lines = [(Span(part, "faint"),) for part in wrap(self.empty, width)] if self.empty else []
        else:
            self.lines = light(list(self._draw_lines(width)), self._words)

    def render_line(self, y: int) -> Strip:
        if self._drawn_for != self._wanted_width:
            # What is drawn before its place is laid out is told of no change of size.
            self._draw_for(self._wanted_width)
            self.call_later(self.draw)
        at = y + round(self.scroll_y)
        line = self.lines[at] if at < len(self.lines) else BLANK
        if self._words and at == self._match:
            line = tuple(Span(span.text, "here", span.link) if span.role == LIT else span for span in line)
        if self.link:
            line = tuple(
                Span(span.text, "decide.strong+link", span.link) if span.link == self.link else span
                for span in line
            )
        width, palette = self.scrollable_content_region.width, palette_of(self.app)
        strip = palette.strip((Span(" " * _MARGIN), *line) if line else BLANK, width, PAPER)
        strip = selectable(strip, at, self.text_selection, palette.style("text", MARKED))
        return labelled(strip, self.labels, y, palette)

    def spots(self) -> list[tuple[int, int, str]]:
        """Return the links in sight; see `parts.jump`."""
        top = round(self.scroll_y)
        found: dict[str, tuple[int, int]] = {}
        for y, line in enumerate(self.lines[top : top + self.size.height]):
            for x, link in links_in(line):
                found.setdefault(link, (x + _MARGIN, y))
        return [(x, y, link) for link, (x, y) in found.items()]

    def jump_to(self, target: str) -> None:
        """Follow a link."""
        self.post_message(self.Followed(target))

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what is selected by mouse."""
        text = selected_text(selection, len(self.lines), lambda at: plain_text(self.lines[at]), _MARGIN)
        return text, "\n"

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - all lines are asked again
        """Draw the selection."""
        self.refresh()

    def light(self, words: str) -> None:
        """Have words lit wherever they stand."""
        if words != self._words:
            self._words, self._match = words, -1
            self.draw()

    def matches(self, step: int, told: Callable[[int, int], object]) -> None:
        """Go to a line with what is lit, round; see `frame.finding`."""
        found = [at for at, line in enumerate(self.lines) if any(span.role == LIT for span in line)]
        if not self._words or not found:
            told(0, 0)
            return
        if step and self._match in found:
            which = (found.index(self._match) + step) % len(found)
        else:
            top = round(self.scroll_y)
            which = next((which for which, at in enumerate(found) if at >= top), 0)
        self._match = found[which]
        self._show_line(self._match)
        self.refresh()
        told(which + 1, len(found))

    def on_resize(self, _event: events.Resize) -> None:
        self.draw()

    def on_click(self, event: events.Click) -> None:
        if self.text_selection is not None:
            return
        at = event.y + round(self.scroll_y)
        if at < len(self.lines) and (link := link_at(self.lines[at], event.x - _MARGIN)):
            self.post_message(self.Followed(link))

    @property
    def links(self) -> list[tuple[int, str]]:
        """Return where each link leads, with the first line that it stands in."""
        found: dict[str, int] = {}
        for at, line in enumerate(self.lines):
            for _, link in links_in(line):
                found.setdefault(link, at)
        return [(at, link) for link, at in found.items()]

    def do(self, command: str) -> bool:
        """Scroll, walk the links, or follow one; returns whether the command means something here."""
        page = max(1, self.size.height - 2)
        if command in ("left", "right"):
            return self._walk(1 if command == "right" else -1)
        if command == "open":
            if self.link:
                self.post_message(self.Followed(self.link))
            return bool(self.link)
        to: Callable[[], float] | None = {
            "move-down": lambda: self.scroll_y + 1,
            "move-up": lambda: self.scroll_y - 1,
            "half-down": lambda: self.scroll_y + page // 2,
            "half-up": lambda: self.scroll_y - page // 2,
            "page-down": lambda: self.scroll_y + page,
            "page-up": lambda: self.scroll_y - page,
            "first": lambda: 0.0,
            "last": lambda: float(len(self.lines)),
        }.get(command)
        if to is None:
            return False
        self.scroll_to(y=to(), animate=False, force=True)
        return True

    def _walk(self, by: int) -> bool:
        """Put the cursor on the next link, or the one before; returns whether there is any."""
        links = self.links
        if not links:
            return False
        names = [link for _, link in links]
        at = names.index(self.link) + by if self.link in names else 0 if by > 0 else len(names) - 1
        self.walk_to(*links[at % len(links)])
        return True

    def walk_to(self, line: int, link: str) -> None:
        """Put the cursor on a link that stands in a line."""
        self.link = link
        self._show_line(line)
        self.refresh()
        self.post_message(self.Walked())

    def _show_end(self, line: int) -> None:
        """Scroll so that all lines from one on are in sight, or the first of them where they do not fit."""
        height = self.size.height
        if line < len(self.lines) and round(self.scroll_y) + height < len(self.lines):
            self.scroll_to(y=min(line, len(self.lines) - height), animate=False, force=True)

    def _show_line(self, line: int) -> None:
        """Scroll to a line that is out of sight."""
        top, height = round(self.scroll_y), self.size.height
        if not top <= line < top + height:
            self.scroll_to(y=max(0, line - height // 2), animate=False, force=True)


_WALKS = ("move-down", "move-up", "left", "right")


class CardPart(PagePart):
    """One card, or nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.card: Card | None = None
        self.details = False
        self.awaited = False
        """Whether details were asked for of a card that is still being read."""
        self._shows_first = False

    def show(self, card: Card | None) -> None:
        """Show another card, or nothing; the same thing read again stays scrolled as it was."""
        same = (
            card is not None
            and self.card is not None
            and (card.title, card.first) == (self.card.title, self.card.first)
        )
        self.card = card
        self.show_lines(
            None if card is None else lambda width: card_lines(card, width, details=self.details),
            at=None if same else 0,
        )
        if not same:
            self._shows_first = card is not None and bool(card.first)
            self._show_first()
        if self.awaited and card is not None:
            self.awaited = False
            self._show_details(card)

    def draw(self) -> None:
        """Draw the lines again, for this width."""
        super().draw()
        self._show_first()

    def _show_first(self) -> None:
        """Scroll to what is to be seen first, once: a card that is hidden has no width yet to find it at."""
        region = self.scrollable_content_region
        if self.card is None or not self._shows_first or not region.width:
            return
        self._shows_first = False
        line = first_line(self.card, self._drawn_for)
        # Below a fact stands why it is believed.
        if line >= region.height - (4 if isinstance(self.card.first, str) else 1):
            self.scroll_to(y=line - 1, animate=False, force=True)

    def _show_details(self, card: Card) -> None:
        if self.details:
            self._show_end(len(card_lines(card, self._drawn_for)) + 1)

    def do(self, command: str) -> bool:
        """Show or hide details, or do what every page does."""
        if command == "details":
            self.details = not self.details
            self.draw()
            if self.card is not None:
                self._show_details(self.card)
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
