"""The bench looks as it was drawn; a change that is meant is taken in with `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
import textual
from textual.pilot import Pilot

from tests.isolation import isolate
from tests.tui.held_workspace import held
from tests.tui.proposed_workspace import asked, asked_template
from tests.tui.seen_workspace import NOW, SETTINGS
from tests.tui.stillness import settle
from workbench.engine import FixedClock, Workspace
from workbench.engine.services import retrieval
from workbench.tui.frame import pressing
from workbench.tui.frame.app import FrameApp
from workbench.tui.keys.table import ASK, PLACES
from workbench.tui.themes import DARK, LIGHT, MONO

__all__ = ["asked", "asked_template", "held"]

BASELINE = "8.2.8"
drawn_with_it = pytest.mark.skipif(
    textual.__version__ != BASELINE, reason=f"the pictures were drawn with Textual {BASELINE}"
)


@dataclass(frozen=True)
class Picture:
    """What is opened and pressed before the picture is taken.

    Args:
        place: Where the bench opens.
        size: Columns and rows.
        theme: Name of it.
        keys: Pressed one after the other, each at rest.
        workspace: The fixture that is opened.
        plain: Whether signs are words.
    """

    place: str
    size: tuple[int, int] = (120, 36)
    theme: str = DARK
    keys: tuple[str, ...] = ()
    workspace: str = "seen"
    plain: bool = False


_GROUNDS = (
    ((80, 24), DARK),
    ((120, 36), DARK),
    ((120, 36), LIGHT),
    ((160, 40), DARK),
    ((240, 60), DARK),
)
_OPENED = (
    *((each.name, each.name, "seen") for each in (*PLACES, ASK)),
    ("proposed", "inbox", "asked"),
    ("held", "inbox", "held"),
)
_AS_OPENED = {
    f"{name}-{size[0]}-{theme.removeprefix('workbench-')}": Picture(place, size, theme, workspace=workspace)
    for name, place, workspace in _OPENED
    for size, theme in _GROUNDS
}
_RESULTS = ("slash", *"tide tables", "enter")
_IN_USE = {
    "preview-120-dark": Picture("inbox", keys=("less_than_sign", "N", "N", "a", "w"), workspace="asked"),
    "preview-80-dark": Picture(
        "inbox", (80, 24), keys=("less_than_sign", "N", "N", "a", "w"), workspace="asked"
    ),
    "sheet-120-dark": Picture("timeline", keys=("m",)),
    "sheet-80-light": Picture("timeline", (80, 24), LIGHT, ("g",)),
    "help-120-dark": Picture("timeline", keys=("question_mark",)),
    "results-120-dark": Picture("timeline", keys=_RESULTS),
    "results-160-light": Picture("timeline", (160, 40), LIGHT, _RESULTS),
    "editor-120-dark": Picture("core", keys=("e", "!")),
    "jump-120-dark": Picture("timeline", keys=("semicolon",)),
    "drawing-120-dark": Picture("graph", keys=("v", "g")),
    "card-80-dark": Picture("timeline", (80, 24), keys=("enter",)),
    "evidence-120-dark": Picture("timeline", keys=("o",)),
    "question-120-dark": Picture("history", keys=(*"jjjj", "r")),
    "plain-120-dark": Picture("timeline", plain=True),
    "plain-today-80-dark": Picture("today", (80, 24), plain=True),
    "mono-120": Picture("today", theme=MONO),
    "empty-120-dark": Picture("today", workspace="empty"),
    "empty-80-light": Picture("today", (80, 24), LIGHT, workspace="empty"),
}
PICTURES = {**_AS_OPENED, **_IN_USE}


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    isolate(tmp_path, monkeypatch, timezone="UTC", settings=SETTINGS)
    folder = tmp_path / "empty"
    folder.mkdir()
    with Workspace.open(folder, role="person", clock=FixedClock(NOW), reads_refresh=False) as workspace:
        yield workspace


@drawn_with_it
@pytest.mark.parametrize("name", PICTURES)
def test_screen(
    snap_compare: Callable[..., bool],
    name: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    picture = PICTURES[name]
    monkeypatch.setattr(pressing, "_SHEET_AFTER", 0.001)
    # Results say how long they took.
    monkeypatch.setattr(retrieval, "time", SimpleNamespace(perf_counter=lambda: 0.0, monotonic=monotonic))
    workspace = request.getfixturevalue(picture.workspace)
    tastes = tmp_path / "tastes"
    tastes.mkdir()
    (tastes / "bench.toml").write_text(f'theme = "{picture.theme}"\nplain = {str(picture.plain).lower()}\n')
    app = FrameApp(workspace, config_folder=tastes)
    app.remembered.place = picture.place

    async def reach(pilot: Pilot[Any]) -> None:
        await settle(pilot)
        for key in picture.keys:
            await pilot.press(key)
            await settle(pilot)
        await settle(pilot)

    assert snap_compare(app, terminal_size=picture.size, run_before=reach)


def test_every_picture_that_is_kept_is_one_of_a_test() -> None:
    kept = {path.stem for path in (Path(__file__).parent / "__snapshots__").rglob("*.svg")}
    assert kept == {f"test_screen[{name}]" for name in PICTURES}
