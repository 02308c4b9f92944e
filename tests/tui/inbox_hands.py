"""What a test does with the Inbox, and what it sees of it."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.tui.fake_bench import FakeBench
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.tui.panes.inbox import InboxPane
from workbench.tui.widgets.lines import Lines


def pane(pilot: Pilot[None]) -> InboxPane:
    return pilot.app.query_one(InboxPane)


def head(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line) for line in pane(pilot).query_one("#inbox-head", Lines).lines(90))


def detail(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line) for line in pane(pilot).detail._lines)


def listed(pilot: Pilot[None]) -> str:
    rows = pane(pilot).list
    return "\n".join(rows.render_line(y).text for y in range(rows.size.height))


def toasts(pilot: Pilot[None]) -> list[str]:
    return [notification.message for notification in pilot.app._notifications]


def decisions(bench: FakeBench) -> list[tuple[str, str]]:
    return [pair for step in bench.steps for pair in step.decisions.items()]


def decision(bench: FakeBench, item_id: str) -> str:
    item = bench.pending().item(item_id)
    assert item is not None
    return item.decision


async def go(pilot: Pilot[None], key: str) -> None:
    assert pane(pilot).list.go_to(key), key
    await settle(pilot)


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)
