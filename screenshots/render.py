"""Renders the pictures of this folder from the sample: `python -m screenshots.render [NAME…]`.

The sample is built at a fixed moment in a home of its own, so a picture changes only when the bench or the sample does.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from screenshots.svg import Scene, animated, picture
from tests.tui.stillness import settle, under_way
from workbench.demo.sample import build
from workbench.engine.clock import FixedClock
from workbench.engine.workspace import Workspace
from workbench.tui.frame.app import FrameApp
from workbench.tui.frame.remembered import Remembered
from workbench.tui.themes import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

    from textual.pilot import Pilot

    from workbench.engine.results.recall import Found

FOLDER = Path(__file__).parent
NOW = datetime.fromisoformat("2026-02-02T21:00:00+01:00")
LAST_HERE = "2026-01-30T17:40:00+01:00"
NAME = "nora"
BIG, MIDDLE, SMALL = (160, 40), (120, 36), (80, 24)
QUESTION = "when does Nordlicht pay"


@dataclass(frozen=True)
class Picture:
    """One picture.

    Args:
        name: Of its file.
        keys: What is pressed, in Textual's names; a text with a space in it is typed letter by letter.
        size: Columns and rows.
        theme: Name of a theme.
    """

    name: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = BIG
    theme: str = DARK


def both(name: str, *keys: str) -> tuple[Picture, Picture]:
    """Return a picture dark and large, and one light and of middling size."""
    return Picture(f"{name}-dark", keys), Picture(f"{name}-light", keys, MIDDLE, LIGHT)


PICTURES = (
    *both("today"),
    Picture("today-80", size=SMALL),
    *both("inbox", "2", "j"),
    *both("writing", "2", "greater_than_sign", "greater_than_sign", *"jjj", *"aaadaaaaa", "w"),
    *both("core", "3", *"jjjj", "e", "; the menu of the brewery, in Danish"),
    *both("entity", "5"),
    *both("graph", "5", "v", "g"),
    *both("decay", "6", *"jjj", "x"),
    *both("history", "7", *"jjjjjjjjjjjj", "c"),
    *both("ask", "slash", QUESTION, "enter", "j"),
    *both("sessions", "8"),
    *both("evidence", "4", "j", "o"),
    *both("settings", "comma", *"jjjj"),
)
_TO_THE_NUMBER = ("end", *["left"] * 5, *["backspace"] * 2)
STORY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Today: what waits, what was learned, what fades", ()),
    ("/   Ask it something", ("slash", "when does Nordlicht ")),
    ("It believes two things: 30 days, and 45", ("pay ",)),
    ("enter   Why 30? It was inferred from one invoice", ("enter", "enter", *"jjj")),
    ("o   The evidence, at its line", ("o",)),
    ("e   Correct it where it stands", ("escape", "e", *_TO_THE_NUMBER, *"45")),
    ("enter   Saved, and noted in history", ("enter",)),
    ("u   Taken back", ("u",)),
)


def tell_no_time(workspace: Workspace) -> None:
    """Let every search take the same time: how fast a machine is, is no part of a picture."""
    search = workspace.search_request

    def found(*given: Any, **named: Any) -> Found:
        return replace(search(*given, **named), took_ms=12.0)

    workspace.search_request = found


async def press(pilot: Pilot[None], key: str) -> None:
    """Press a key, or type a text, and wait until all of it is shown."""
    for each in key if " " in key else (key,):
        await pilot.press("space" if each == " " else each)
    await settle(pilot)


async def render(
    path: Path, scenes: tuple[tuple[str, tuple[str, ...]], ...], size: tuple[int, int], theme: str
) -> list[Scene]:
    """Return what the bench shows after each of some keys.

    Args:
        path: The workspace.
        scenes: A caption, and what is pressed before it.
        size: Columns and rows.
        theme: Name of a theme.
    """
    found = []
    with Workspace.open(path, role="person", clock=FixedClock(NOW), reads_refresh=False) as workspace:
        workspace.refresh()
        tell_no_time(workspace)
        Remembered(last_here=LAST_HERE).keep(workspace.state)
        app = FrameApp(workspace)
        async with app.run_test(size=size) as pilot:
            app.change_look({"theme": theme})
            await settle(pilot)
            for caption, keys in scenes:
                for key in keys:
                    await press(pilot, key)
                # What takes its time is counted now and then; here, before the picture.
                app.frame.counts.catch_up()
                await settle(pilot)
                found.append(Scene(caption, tuple(app.screen._compositor.render_strips()), theme == DARK))
    return found


async def render_picture(wanted: Picture, path: Path) -> str:
    """Return a picture as SVG."""
    scenes = await render(path, (("Workbench", wanted.keys),), wanted.size, wanted.theme)
    return picture(scenes[0])


async def render_story(path: Path) -> str:
    """Return the story as one SVG that moves."""
    return animated(await render(path, STORY, MIDDLE, DARK), still=3)


def count_threads() -> None:
    """Let `settle` know what threads are at."""
    submit = ThreadPoolExecutor.submit

    def counted(executor: ThreadPoolExecutor, work: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        future: Future[Any] = submit(executor, work, *given, **named)
        under_way.add(future)
        future.add_done_callback(under_way.discard)
        return future

    ThreadPoolExecutor.submit = counted  # type: ignore[method-assign, assignment]


def main() -> None:
    """Build the sample, and render every picture or those named."""
    wanted = set(sys.argv[1:])
    count_threads()
    os.environ.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory() as folder:
        home, kept = Path(folder) / "home", Path(folder) / "kept"
        os.environ["HOME"] = str(home)
        os.environ["WORKBENCH_PATHS_STATE"] = f"{home}/state"
        os.environ["WORKBENCH_PATHS_CACHE"] = f"{home}/cache"
        build(home / NAME, clock=FixedClock(NOW))
        shutil.copytree(home, kept)
        drawn: dict[str, Callable[[Path], Coroutine[Any, Any, str]]] = {
            **{each.name: partial(render_picture, each) for each in PICTURES},
            "story": render_story,
        }
        for name, draw in drawn.items():
            if not wanted or name in wanted:
                # What one picture decides, the next must not show.
                shutil.rmtree(home)
                shutil.copytree(kept, home)
                (FOLDER / f"{name}.svg").write_text(asyncio.run(draw(home / NAME)), encoding="utf-8")
                print(FOLDER / f"{name}.svg", flush=True)


if __name__ == "__main__":
    main()
