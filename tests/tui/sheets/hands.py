"""What tests of the sheets do beside pressing keys: write a whole line, and wait for long work."""

from __future__ import annotations

from textual.pilot import Pilot

from tests.tui.frame.hands import burst, frame_of, press
from workbench.display.ink import plain_text
from workbench.tui.places.place import Place


async def write(pilot: Pilot[None], text: str) -> None:
    await press(pilot, "ctrl+a")
    await burst(pilot, f"{text}\n")


def rows_of(place: Place, width: int = 100) -> list[str]:
    rows = place.list.rows
    return [plain_text(rows.line(at, width)).strip() for at in range(len(rows))]


def card_of(pilot: Pilot[None]) -> str:
    return "\n".join(plain_text(line) for line in frame_of(pilot).place.card.lines)
