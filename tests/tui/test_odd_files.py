"""A workspace with files of any name in it is looked at like any other, and one row costs no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.isolation import isolate
from tests.tui.conftest import Running
from tests.tui.stillness import settle
from workbench.display.ink import Line
from workbench.engine import FixedClock, Workspace
from workbench.tui.panes import PANES
from workbench.tui.widgets.rows import KeyedRows
from workbench.tui.widgets.virtual_list import VirtualList
from workbench.tui.workspace_bench import WorkspaceBench

NAMES = (
    b"caf\xe9.md",
    b"n\nl\t| #x.md",
    b"Mira Holm.md",
    b"\x1b]0;x\x07.md",
    b"[b]x[red].md",
    b"x" * 250 + b".md",
)
FOLDERS = ("", "vault", "graph/entities", "procedures", "episodes", "meta")
TEXT = b"# Kestrel\n\n## 10:00 | event\n- circles the w\xe9ir [b] \x1b[31m\n"


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate(tmp_path, monkeypatch, timezone="UTC")
    root = tmp_path / "odd"
    Workspace.init(root, clock=FixedClock())
    for folder in FOLDERS:
        for name in NAMES:
            (root / "memory" / folder / os.fsdecode(name)).write_bytes(TEXT)
    with Workspace.open(root, role="person", clock=FixedClock()) as workspace:
        workspace.audit_log()
        assert workspace.remember("Robin likes tea").commit
    return root


async def test_every_pane_shows_what_has_odd_names(odd: Path, running: Running) -> None:
    with Workspace.open(odd, role="person", clock=FixedClock()) as workspace:
        async with running(WorkspaceBench(workspace)) as pilot:
            for number in range(1, len(PANES) + 1):
                await pilot.press(str(number))
                await settle(pilot)
                for key in ("j", "j", "j", "x", "escape"):
                    await pilot.press(key)
                    await settle(pilot)
            assert pilot.app.is_running
            assert pilot.app.return_code in (None, 0)


class Broken(KeyedRows):
    """Two rows, none of which can be drawn."""

    def line(self, index: int, width: int) -> Line:
        raise UnicodeEncodeError("utf-8", f"{index}\udce9{width}", 1, 2, "surrogates not allowed")


async def test_a_row_that_cannot_be_drawn_says_so(odd: Path, running: Running) -> None:
    with Workspace.open(odd, role="person", clock=FixedClock()) as workspace:
        async with running(WorkspaceBench(workspace)) as pilot:
            shown = pilot.app.screen.query(VirtualList).first()
            shown.show(Broken(("a", "b"), ()))
            drawn = "".join(segment.text for segment in shown.render_line(0))
            assert "cannot be shown" in drawn
            assert pilot.app.is_running
