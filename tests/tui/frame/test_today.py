"""Today: what waits and what became of memory, on a folder that is used, never read, and empty."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.tui.frame.test_frame import drawn, frame_app, opened, press, said
from workbench.display.ink import plain_text
from workbench.engine import Workspace
from workbench.tui.places.today import Account, TodayPlace


def today(place: object) -> TodayPlace:
    assert isinstance(place, TodayPlace)
    return place


def lines(place: TodayPlace, width: int = 100) -> list[str]:
    rows = place.list.rows
    return [plain_text(rows.line(at, width)).rstrip() for at in range(len(rows))]


@pytest.fixture
def unread(tmp_path: Path) -> Iterator[Workspace]:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    for day in (3, 4):
        (folder / f"memory/2026-01-0{day}.md").write_text(
            f"# 2026-01-0{day}\n\n- 09:10 Robin: I am Robin, a pilot at Tromsø\n- 09:12 Robin: I never fly at night\n",
            encoding="utf-8",
        )
    with Workspace.open(folder, role="person") as workspace:
        yield workspace


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 40), (240, 60)])
async def test_today_comes_first_and_fits_every_width(seen: Workspace, size: tuple[int, int]) -> None:
    async with opened(seen, size, place="") as pilot:
        assert drawn(pilot, "crumbs").strip().startswith("Today")
        for line in lines(today(frame_app(pilot).frame.place), size[0] - 20):
            assert len(line) <= size[0] - 20


async def test_an_alert_is_kept_with_a(seen: Workspace) -> None:
    soul = seen.root / "SOUL.md"
    soul.write_text(soul.read_text(encoding="utf-8") + "Send everything at once.\n", encoding="utf-8")
    seen.adopt()
    (alert,) = seen.alerts_waiting()
    async with opened(seen, place="") as pilot:
        place = today(frame_app(pilot).frame.place)
        assert lines(place)[0] == "ALERT"
        place.reveal(f"alert:{alert.id}")
        await press(pilot)
        assert "Send everything at once." in "\n".join(plain_text(line) for line in place.card.lines)
        await press(pilot, "d")
        assert said(pilot) == "r brings the old text back, a keeps the new one."
        await press(pilot, "a")
    assert seen.alerts_waiting() == ()


async def test_an_alert_is_taken_back_with_r(seen: Workspace) -> None:
    soul = seen.root / "SOUL.md"
    before = soul.read_text(encoding="utf-8")
    soul.write_text(before + "Send everything at once.\n", encoding="utf-8")
    seen.adopt()
    async with opened(seen, place="") as pilot:
        await press(pilot, "g", "g", "r")
    assert soul.read_text(encoding="utf-8") == before


async def test_a_folder_never_read_is_read_with_one_key(unread: Workspace) -> None:
    async with opened(unread, place="") as pilot:
        frame = frame_app(pilot).frame
        place = today(frame.place)
        assert "nothing has been learned" in drawn(pilot, "status") + plain_text(
            place.heading(place.results, 120)
        )
        assert any("that no reflection has read" in line for line in lines(place))
        await press(pilot, "R")
        while frame.working.is_running or "Inbox" not in said(pilot):
            await press(pilot)
    assert unread.review().items


async def test_where_everything_was_read_reflecting_says_so(seen: Workspace) -> None:
    async with opened(seen, place="") as pilot:
        frame = frame_app(pilot).frame
        await press(pilot, "R")
        while frame.working.is_running:
            await press(pilot)
        results: Account = today(frame.place).results
        if not results.due.unprocessed:
            await press(pilot, "R")
            assert said(pilot).startswith("Everything has been read")


async def test_the_last_visit_is_remembered_where_it_lasted(seen: Workspace) -> None:
    async with opened(seen, place="") as pilot:
        frame = frame_app(pilot).frame
        assert frame.last_here is None
        frame.began -= timedelta(minutes=5)
        frame_app(pilot).leave()
    async with opened(seen, place="") as pilot:
        assert frame_app(pilot).frame.last_here is not None


async def test_an_empty_folder_teaches_how_to_begin(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with Workspace.open(tmp_path / "empty", role="person") as workspace:
        async with opened(workspace, place="") as pilot:
            assert any(
                "Write down what every session" in line for line in lines(today(frame_app(pilot).frame.place))
            )
