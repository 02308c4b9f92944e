"""Renders the pictures of this folder from the sample workspace: `python screenshots/render.py [NAME…]`.

The sample is built at a fixed time, so the pictures only change when the bench or the sample does.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.demo.sample import build
from workbench.engine import Workspace
from workbench.engine.clock import FixedClock
from workbench.tui.app import BenchApp
from workbench.tui.themes import DARK, LIGHT
from workbench.tui.workspace_bench import WorkspaceBench

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from workbench.engine.results.recall import Found, IndexStatus

FOLDER = Path(__file__).parent
NOW = datetime.fromisoformat("2026-02-02T21:00:00+01:00")
NAME = "harbor"
# A text that takes core memory past its cap.
TOO_LONG = "When I ask for the report: " + "run the berth query, write it in Chinese, add a summary; " * 230


@dataclass(frozen=True)
class Picture:
    """One picture.

    Args:
        name: Of its file.
        keys: What is pressed, each in Textual's name; a digit or enter waits until what it shows has been read.
        size: Columns and rows.
        theme: Name of a theme.
        paste: A text to paste after the keys.
        then: What is pressed after that.
    """

    name: str
    keys: tuple[str, ...]
    size: tuple[int, int] = (120, 36)
    theme: str = DARK
    paste: str = ""
    then: tuple[str, ...] = ()


def typed(text: str) -> tuple[str, ...]:
    """Return the keys that write a text."""
    return tuple("space" if letter == " " else letter for letter in text)


PICTURES = (
    Picture("core-dark", ("j", "j")),
    Picture("timeline-dark", ("2", "j", "j")),
    Picture("timeline-light", ("2", "pagedown", *"jjj"), theme=LIGHT),
    Picture("audit-dark", ("3",)),
    Picture("audit-light-80", ("3", "j", "j"), (80, 24), LIGHT),
    Picture("over-budget-dark", ("j", "j", "e"), paste=TOO_LONG, then=("enter",)),
    Picture("search-dark", ("4", *typed("how do we deploy harbor"), "enter")),
    Picture("search-light-80", ("4", *typed("berth report"), "enter"), (80, 24), LIGHT),
    Picture("explained-dark", ("4", *typed("what did we decide about waves"), "enter", "x")),
    Picture("inbox-dark", ("5", *"nnnj", "equals_sign", *"aaara", "home", "n"), (144, 38)),
    Picture("inbox-light-80", ("5", "enter"), (80, 24), LIGHT),
    Picture("applying-dark", ("5", *"nnn", "greater_than_sign", "equals_sign", *"aaar", "A", "enter")),
    Picture("graph-dark", ("6", "enter", "right"), (132, 40)),
    Picture("graph-light-80", ("6", *"jjj", "enter"), (80, 24), LIGHT),
    Picture("decay-dark", ("7", *"jj", "right", "right"), (132, 40)),
    Picture("decay-light-80", ("7", *"jj", "right"), (80, 24), LIGHT),
    Picture("past-dark", ("8", *["shift+left"] * 4, "down"), (132, 40)),
    Picture("past-light-80", ("8", *["left"] * 8), (80, 24), LIGHT),
    Picture("sessions-dark", ("9", "enter", *"kkk"), (132, 40)),
    Picture("sessions-light-80", ("9", "enter", *"kkk"), (80, 24), LIGHT),
    Picture("index-light", ("i",), theme=LIGHT),
    Picture("help-dark", ("question_mark",)),
)


class SteadyBench(WorkspaceBench):
    """A bench that tells nothing of the machine it runs on: how fast it is, and where it keeps things."""

    def search(self, query: str, **conditions: Any) -> Found:
        """Return what is found, always in the same time."""
        return replace(super().search(query, **conditions), took_ms=12.0)

    def index_status(self) -> IndexStatus:
        """Return the state of the index, kept in a usual place."""
        return replace(super().index_status(), place="/home/nora/.cache/workbench/harbor", size_bytes=640_000)


async def settle(pilot: Pilot[None]) -> None:
    """Wait until everything has been read and drawn."""
    app = pilot.app
    assert isinstance(app, BenchApp)
    while app.status is None or app.status.reading is not None:
        await pilot.pause(0.05)
    for _ in range(3):
        await pilot.pause(0.35)
        await app.workers.wait_for_complete()
    await pilot.pause()


async def render(picture: Picture, workspace: Path) -> str:
    """Return a picture as SVG."""
    with Workspace.open(workspace, role="person", clock=FixedClock(NOW), reads_refresh=False) as opened:
        app = BenchApp(SteadyBench(opened), theme=picture.theme)
        async with app.run_test(size=picture.size, notifications=False) as pilot:
            await settle(pilot)
            for key in picture.keys:
                await pilot.press(key)
                if key.isdigit() or key == "enter":
                    await settle(pilot)
            if picture.paste:
                await settle(pilot)
                app.screen.focused.insert(picture.paste)  # type: ignore[union-attr]  # the text area that e opens
                await settle(pilot)
            await pilot.press(*picture.then)
            await settle(pilot)
            return app.export_screenshot(title="workbench")


def main() -> None:
    """Build the sample, and render every picture or those named."""
    wanted = set(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        home, kept = Path(folder) / "home", Path(folder) / "kept"
        os.environ["HOME"] = str(home)
        os.environ["WORKBENCH_PATHS_STATE"] = f"{home}/state"
        os.environ["WORKBENCH_PATHS_CACHE"] = f"{home}/cache"
        build(home / NAME, clock=FixedClock(NOW))
        shutil.copytree(home, kept)
        for picture in PICTURES:
            if not wanted or picture.name in wanted:
                # What one picture decides, the next must not show.
                shutil.rmtree(home)
                shutil.copytree(kept, home)
                svg = asyncio.run(render(picture, home / NAME))
                (FOLDER / f"{picture.name}.svg").write_text(svg, encoding="utf-8")
                print(FOLDER / f"{picture.name}.svg")


if __name__ == "__main__":
    main()
