"""What tests of the Past pane do and look at."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.tui.panes.past import PastPane
from workbench.tui.widgets.scrubber import Scrubber
from workbench.tui.widgets.status_line import StatusLine


def pane(pilot: Pilot[None]) -> PastPane:
    return pilot.app.screen_stack[0].query_one(PastPane)


async def open_past(pilot: Pilot[None]) -> None:
    await pilot.press("8")
    await settle(pilot)


async def go(pilot: Pilot[None], when: str) -> None:
    """Go to a day, a time or a commit as a person does."""
    await pilot.press("g")
    await pilot.press(*(_KEYS.get(each, each) for each in when), "enter")
    await settle(pilot)


_KEYS = {"-": "minus", " ": "space", ":": "colon"}


def listed(pilot: Pilot[None], lines: int = 40, *, head: bool = False) -> str:
    if head:
        return plain_text(pane(pilot).query_one("#past-views", StatusLine).line)
    return "\n".join(pane(pilot).list.render_line(y).text for y in range(lines))


def detail(pilot: Pilot[None], lines: int = 30) -> str:
    return "\n".join(pane(pilot).detail.render_line(y).text for y in range(lines))


def ribbon(pilot: Pilot[None]) -> str:
    scrubber = pane(pilot).query_one(Scrubber)
    return "\n".join(map(plain_text, scrubber.lines(scrubber.size.width)))


def top(pilot: Pilot[None]) -> str:
    return plain_text(pilot.app.screen_stack[0].query_one("#top", StatusLine).line)
