"""Renders the pictures of this folder from the sample workspace: `python screenshots/render.py`.

The sample's last day is fixed, so that a picture changes only where the bench does.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.demo import build
from workbench.engine.clock import FixedClock, parse_time
from workbench.engine.workspace import Workspace
from workbench.tui.app import BenchApp
from workbench.tui.workspace_bench import WorkspaceBench

if TYPE_CHECKING:
    from textual.pilot import Pilot

FOLDER = Path(__file__).parent
LAST_DAY = "2026-02-02T20:00:00Z"
DARK, LIGHT = "workbench-dark", "workbench-light"
# Name of the picture: size in columns and rows, theme, and the keys that lead to it.
PICTURES: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "core-dark": ((120, 36), DARK, ("down", "down")),
    "timeline-dark": ((120, 36), DARK, ("2", "down", "down")),
    "audit-dark": ((120, 36), DARK, ("3",)),
    "timeline-light": ((120, 36), LIGHT, ("2", "down")),
    "audit-light-80": ((80, 24), LIGHT, ("3", "down", "down")),
    "help-dark": ((120, 36), DARK, ("question_mark",)),
}


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until what was loaded in the background is drawn."""
    for _ in range(3):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def render(place: Path, name: str) -> None:
    """Draw one picture."""
    size, theme, keys = PICTURES[name]
    with Workspace.open(
        place, role="person", clock=FixedClock(parse_time(LAST_DAY)), reads_refresh=False
    ) as workspace:
        workspace.refresh()
        app = BenchApp(WorkspaceBench(workspace), theme=theme)
        async with app.run_test(size=size) as pilot:
            await settle(pilot)
            for key in keys:
                await pilot.press(key)
                await settle(pilot)
            await pilot.pause(0.3)
            await settle(pilot)
            picture = app.export_screenshot(title="Workbench", simplify=False)
    (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")
    print(f"screenshots/{name}.svg")


def main() -> None:
    """Build the sample and draw every picture of it."""
    with tempfile.TemporaryDirectory() as name:
        os.environ |= {"WORKBENCH_PATHS_STATE": f"{name}/state", "WORKBENCH_PATHS_CACHE": f"{name}/cache"}
        os.environ["WORKBENCH_NOW"] = LAST_DAY
        place = Path(name) / "harbor"
        build(place)
        for picture in PICTURES:
            asyncio.run(render(place, picture))


if __name__ == "__main__":
    main()
