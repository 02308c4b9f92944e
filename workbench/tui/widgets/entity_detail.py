"""Shows an entity to read, with a cursor that walks its facts and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.widgets.detail import Detail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.display.ink import Line

_FIRST = "first"


class EntityDetail(Detail):
    """A detail in which the keys that scroll walk from one fact, relation or other link to the next in sight.

    Its cursor stays on its link wherever that stands, also while it is away for a moment: because what is known of the
    subject is read again, or because the detail is not laid out yet.
    """

    _wanted = ""

    def show(self, draw: Callable[[int], Sequence[Line]], subject: str = "") -> None:
        same = subject == self._subject
        wanted = (self.focused_link or self._wanted) if same else ""
        self._wanted = ""
        super().show(draw, subject)
        self._wanted = wanted
        if same:
            self.link = -1
            self._find_wanted()

    def choose(self, link: str) -> None:
        """Put the cursor on the first link that leads there, as soon as it is to be seen."""
        self._wanted = link
        self._find_wanted()

    def choose_first(self) -> None:
        """Put the cursor on the first link where it is on none."""
        if self.link < 0 and not self._wanted:
            self.choose(_FIRST)

    def _find_wanted(self) -> None:
        at = next((at for at, (_, _, link) in enumerate(self._links) if self._wanted in (link, _FIRST)), None)
        if self._wanted and at is not None:
            self._wanted = ""
            self._choose(at)

    def _lay_out(self) -> None:
        before = self._width
        super()._lay_out()
        if self._width != before and self._wanted:
            self._find_wanted()

    def action_scroll_down(self) -> None:
        following = self.link + 1
        if following < len(self._links) and self._in_sight(following):
            self._choose(following)
        else:
            super().action_scroll_down()

    def action_scroll_up(self) -> None:
        before = self.link - 1
        if before >= 0 and self._in_sight(before):
            self._choose(before)
        else:
            super().action_scroll_up()

    def _in_sight(self, at: int) -> bool:
        row = self._links[at][0] + 1
        return round(self.scroll_y) <= row < round(self.scroll_y) + self.size.height
