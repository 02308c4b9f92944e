"""Where there is no workspace one chooses: what is offered, what is made, and what is told where it cannot be."""

from __future__ import annotations

import os
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.isolation import isolate
from tests.tui.frame.test_launch import in_a_terminal, until
from tests.tui.stillness import settle
from workbench.display.ink import plain_text
from workbench.engine.errors import StorageError
from workbench.tui.first_minute import Begun, FirstMinute, Offer, offers
from workbench.tui.look import Look
from workbench.tui.parts.line import DrawnLines
from workbench.tui.themes import DARK, load_themes


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with an agent of each kind, and a folder of notes that one is in."""
    space = tmp_path / "home/.openclaw/workspace"
    space.mkdir(parents=True)
    (space / "MEMORY.md").write_text("# Memory\n")
    claude = tmp_path / "home/.claude/projects/-home-nora"
    claude.mkdir(parents=True)
    (claude / "s.jsonl").write_text("{}\n")
    notes = tmp_path / "home/notes"
    notes.mkdir()
    (notes / "tea.md").write_text("tea\n")
    return tmp_path / "home"


class Made:
    """What the choice had done for it."""

    def __init__(self) -> None:
        self.built: list[Path] = []
        self.made: list[Path] = []
        self.fails = False

    def build(self, place: Path, told: Callable[[int, int], object]) -> None:
        told(1, 2)
        self.built.append(place)

    def make(self, place: Path) -> None:
        if self.fails:
            raise StorageError("The folder cannot be made.", remedy="Name another place.")
        self.made.append(place)


@asynccontextmanager
async def choosing(
    found: tuple[Offer, ...], made: Made, size: tuple[int, int] = (80, 24)
) -> AsyncIterator[Pilot[Begun]]:
    app = FirstMinute(found, Look(), build=made.build, make=made.make, theme=load_themes().by_name[DARK])
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot


def said(pilot: Pilot[Begun]) -> str:
    widget = pilot.app.query_one("#said", DrawnLines)
    return plain_text(widget.lines(widget.size.width)[0]).strip()


def found_in(home: Path) -> tuple[Offer, ...]:
    return offers({}, home, home / "notes", Path("sample"))


def test_what_is_on_this_machine_is_offered(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    assert [(each.kind, each.title) for each in found_in(home)] == [
        ("sample", "Look at a sample"),
        ("open", "Open the memory of OpenClaw"),
        ("bring", "Bring in the memory of Claude Code"),
        ("open", "Open this folder"),
        ("write", "Another folder, or a new one"),
    ]
    assert found_in(home)[1].place == home / ".openclaw/workspace"
    assert "~/.openclaw/workspace" in found_in(home)[1].about


def test_an_empty_machine_offers_the_sample_and_a_folder(tmp_path: Path) -> None:
    assert [each.kind for each in offers({}, tmp_path, tmp_path, Path("sample"))] == ["sample", "write"]


async def keys(pilot: Pilot[Begun], *pressed: str) -> None:
    await pilot.press(*pressed)
    await settle(pilot)


async def test_the_sample_is_built_and_not_remembered(tmp_path: Path) -> None:
    made = Made()
    async with choosing(offers({}, tmp_path, tmp_path, Path("sample")), made) as pilot:
        await keys(pilot, "enter")
    assert made.built == [Path("sample")]
    assert pilot.app.return_value == Begun(Path("sample"), is_usual=False)


async def test_a_folder_that_is_there_is_opened_and_another_is_made(home: Path) -> None:
    made = Made()
    for path, is_made in ((home / "notes", False), (home / "new", True)):
        async with choosing(offers({}, home, home, Path("sample")), made) as pilot:
            await keys(pilot, "j", "j", "j", "j", "enter", "ctrl+u", *str(path), "enter")
        assert pilot.app.return_value == Begun(path)
        assert (path in made.made) == is_made


async def test_what_cannot_be_made_is_told_and_one_chooses_on(tmp_path: Path) -> None:
    made = Made()
    made.fails = True
    (tmp_path / "file").write_text("x")
    async with choosing(offers({}, tmp_path, tmp_path, Path("sample")), made) as pilot:
        await keys(pilot, "2", "ctrl+u", *str(tmp_path / "file"), "enter")
        assert said(pilot) == "That is a file; memory is a folder."
        await keys(pilot, "ctrl+u", *str(tmp_path / "new"), "enter")
        assert said(pilot) == "The folder cannot be made. Name another place."
        await keys(pilot, "x")
        assert said(pilot) == "enter chooses, esc leaves."
        await keys(pilot, "escape")
    assert pilot.app.return_value is None


def test_workbench_alone_offers_the_choice_and_opens_what_is_chosen(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate(tmp_path, monkeypatch)
    monkeypatch.setenv("HOME", str(home))
    program = "import os, sys\nos.chdir(sys.argv[1])\nfrom workbench.cli import run\nrun([])\n"
    empty = tmp_path / "empty"
    empty.mkdir()
    with in_a_terminal(program, empty) as (terminal, process):
        until(terminal, b"Look at a sample")
        os.write(terminal, b"\x1b")
        assert process.wait(60) == 0
        os.close(terminal)
    with in_a_terminal(program, empty) as (terminal, process):
        until(terminal, b"Look at a sample")
        os.write(terminal, b"2")
        until(terminal, b"undo")
        os.write(terminal, b"\x11")
        assert process.wait(60) == 0
        os.close(terminal)
    assert tomllib.loads((tmp_path / "config.toml").read_text())["workspace"] == str(
        home / ".openclaw/workspace"
    )
