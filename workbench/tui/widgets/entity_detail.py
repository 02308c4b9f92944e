"""Shows an entity to read, with a cursor that walks its facts and relations."""

from __future__ import annotations

from workbench.tui.widgets.detail import Detail


class EntityDetail(Detail):
    """A detail in which the keys that scroll walk from one fact, relation or other link to the next in sight."""

    def choose(self, link: str) -> bool:
        """Put the cursor on the first link that leads there; returns whether there is one."""
        at = next((at for at, (_, _, each) in enumerate(self._links) if each == link), None)
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
