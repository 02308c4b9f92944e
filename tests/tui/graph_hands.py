"""What tests of the graph browser do with it and ask it."""

from __future__ import annotations

from typing import cast

from textual.pilot import Pilot

from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.tui.app import BenchApp
from workbench.tui.panes.graph import GraphPane
from workbench.tui.widgets.status_line import StatusLine


def pane_of(pilot: Pilot[None]) -> GraphPane:
    """Return the graph browser."""
    return pilot.app.query_one(GraphPane)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, each once the one before has had its effect; `=words` types words."""
    for key in keys:
        for each in key[1:] if key.startswith("=") else (key,):
            await pilot.press(
                {" ": "space", ":": "colon", "-": "minus", ">": "greater_than_sign"}.get(each, each)
            )
        await settle(pilot)


def listed(pilot: Pilot[None]) -> list[str]:
    """Return the ids in the table, in order."""
    rows = pane_of(pilot).list.rows
    return [rows.key(at) for at in range(len(rows))]


def drawn(pilot: Pilot[None]) -> str:
    """Return the drawing as text."""
    return "\n".join(plain_text(line).rstrip() for line in pane_of(pilot).canvas.picture.lines)


def boxes(pilot: Pilot[None]) -> set[str]:
    """Return the keys of the boxes that are drawn."""
    return set(pane_of(pilot).canvas.picture.regions)


def detail(pilot: Pilot[None]) -> str:
    """Return what the detail says."""
    pane = pane_of(pilot)
    return "\n".join(plain_text(line).rstrip() for line in pane.detail._draw(72))


def head(pilot: Pilot[None]) -> str:
    """Return the line over the table or the drawing."""
    return plain_text(pane_of(pilot).query_one("#graph-head", StatusLine).line).strip()


def toasts(pilot: Pilot[None]) -> list[str]:
    """Return what toasts say."""
    return [each.message for each in pilot.app._notifications]


def keys_shown(pilot: Pilot[None]) -> dict[str, str]:
    """Return the words of the bottom line with their keys."""
    return {label: key for key, label in cast("BenchApp", pilot.app).shown_keys()}


async def choose(pilot: Pilot[None], link: str) -> None:
    """Go into the detail and put its cursor on a link."""
    pane = pane_of(pilot)
    if not pane.detail.has_focus:
        await press(pilot, "tab")
    for _ in range(100):
        if pane.detail.focused_link == link:
            return
        assert pane.detail.has_focus, f"{link} is not in the detail"
        await press(pilot, "tab")
    raise AssertionError(f"{link} is not in the detail")
