"""Shows an entity to read, with a cursor that walks its facts and relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.widgets.detail import Detail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.tui.ink import Line


class EntityDetail(Detail):
    """A detail in which the keys that scroll walk from one fact, relation or other link to the next in sight."""

    _kept = ""

    def show(self, draw: Callable[[int], Sequence[Line]], subject: str = "") -> None:
        """Show other lines; about the same subject, the cursor stays on its link wherever that stands now."""
        same = subject == self._subject
        kept = self.focused_link or (self._kept if same else "")
        super().show(draw, subject)
        at = self._find(kept) if same and kept else None
        # A link may be away for as long as what is known of the subject is read again.
        self._kept = kept if same and at is None else ""
        if same and kept:
            self.link = -1 if at is None else at

    def _find(self, link: str) -> int | None:
        return next((at for at, (_, _, each) in enumerate(self._links) if each == link), None)

    def choose(self, link: str) -> bool:
        """Put the cursor on the first link that leads there; returns whether there is one."""
        at = self._find(link)
        if at is not None:
            self._choose(at)
        return at is not None

    def choose_first(self) -> None:
        """Put the cursor on the first link, where there is any."""
        if self._links and self.link < 0:
            self._choose(0)

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
