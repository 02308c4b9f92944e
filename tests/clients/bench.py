"""A person in the bench: finds a proposed fact in the Inbox, accepts it by saying it in other words, and writes it."""

from __future__ import annotations

import asyncio
import html
import re
import sys
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.tui.stillness import settle
from workbench.engine import Workspace
from workbench.tui.frame import pressing
from workbench.tui.frame.app import FrameApp

_MOST_ROWS = 40


def shown(pilot: Pilot[Any]) -> str:
    """Return what is on the screen."""
    drawn = re.sub(r"<style>.*?</style>|<[^>]+>", "", pilot.app.export_screenshot(), flags=re.DOTALL)
    return " ".join(html.unescape(drawn).split())


async def press(pilot: Pilot[Any], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


async def approve(pilot: Pilot[Any], fact: str, corrected: str) -> None:
    """Approve a fact in other words, by the keys that the bench names."""
    await settle(pilot)
    await press(pilot, "2")
    for _ in range(_MOST_ROWS):
        if f"▸ {fact}" in shown(pilot):
            break
        await press(pilot, "down")
    else:
        raise AssertionError(f"“{fact}” is not in the Inbox:\n{shown(pilot)}")
    letters = ("space" if letter == " " else letter for letter in corrected)
    await press(pilot, "e", *("backspace" for _ in fact), *letters, "enter")
    await press(pilot, "w", "enter")


async def main(folder: str, fact: str, corrected: str) -> None:
    # These keys come faster than anybody reads, which the bench takes for a slip.
    pressing.INERT = 0.0
    with Workspace.open(Path(folder), role="person", reads_refresh=False) as memory:
        memory.refresh()
        async with FrameApp(memory).run_test(size=(120, 40)) as pilot:
            await approve(pilot, fact, corrected)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
