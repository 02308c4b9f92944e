"""Hands and eyes for the tests of the heatmap."""

from __future__ import annotations

import math
from typing import Any

from textual.pilot import Pilot
from textual.widgets._toast import Toast

from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.tui.app import BenchApp
from workbench.tui.panes.decay import DecayPane
from workbench.tui.views.decay_rows import HeatRows
from workbench.tui.widgets.lines import Lines
from workbench.tui.widgets.status_line import StatusLine


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press keys, with rest after each."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def app_of(pilot: Pilot[None]) -> BenchApp:
    app: Any = pilot.app
    assert isinstance(app, BenchApp)
    return app


def pane_of(pilot: Pilot[None]) -> DecayPane:
    return app_of(pilot).query_one(DecayPane)


def rows_of(pilot: Pilot[None]) -> HeatRows:
    rows = pane_of(pilot).list.heat
    assert rows is not None
    return rows


def listed(pilot: Pilot[None]) -> list[str]:
    """Return the ids of the rows, in order."""
    rows = rows_of(pilot)
    return [rows.key(at) for at in range(len(rows)) if rows.key(at)]


def row(pilot: Pilot[None], memory_id: str) -> str:
    """Return what the row of a memory says."""
    rows = rows_of(pilot)
    at = rows.find(memory_id)
    assert at is not None, f"{memory_id} is not shown"
    return plain_text(rows.line(at, pane_of(pilot).list.row_width))


def headings(pilot: Pilot[None]) -> list[str]:
    rows = rows_of(pilot)
    return [plain_text(rows.line(at, 100)) for at in rows.groups]


def lines_of(pilot: Pilot[None], name: str) -> str:
    """Return what stands in one of the parts around the rows: axis, trial, summary, legend."""
    widget = pane_of(pilot).query_one(f"#decay-{name}")
    if isinstance(widget, Lines):
        return "\n".join(plain_text(line) for line in widget.lines(widget.size.width))
    assert isinstance(widget, StatusLine)
    return plain_text(widget.line)


def detail(pilot: Pilot[None]) -> str:
    """Return what the detail says, also where it is not in sight."""
    shown = pane_of(pilot).detail
    return "\n".join(plain_text(line) for line in shown._draw(max(40, shown.size.width - 5)))


def said(pilot: Pilot[None]) -> str:
    """Return what the detail says, wherever its lines break."""
    return " ".join(detail(pilot).split())


def screen(pilot: Pilot[None]) -> str:
    """Return everything that can be read on the screen."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def toasts(pilot: Pilot[None]) -> list[str]:
    return [toast._notification.message for toast in pilot.app.screen.query(Toast)]


def keys_shown(pilot: Pilot[None]) -> dict[str, str]:
    return {label: key for key, label in app_of(pilot).shown_keys()}


def reckoned(base: float, rate: float, days: int, uses: int, weight: float) -> float:
    """Return the score that the formula of the design document gives, reckoned here once more."""
    return min(1.0, base * math.exp(-rate * days) * math.log2(uses + 1) * weight)
