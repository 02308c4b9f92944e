"""What somebody meets who opens the bench for the first time: a key line without dead keys, and whole sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.frame.hands import drawn, frame_of, opened, press, said
from tests.tui.frame.test_inbox import reflect
from tests.tui.seen_workspace import ARCHIVED
from workbench.display.ink import line_width, plain_text
from workbench.engine import Workspace
from workbench.tui.frame.edges import line_of_places
from workbench.tui.frame.working import Reading
from workbench.tui.places.unread import BEGIN_CORE

ABOUT_A_ROW = ("edit", "pin", "forget", "bring back", "evidence", "take back", "path to")


async def test_without_rows_no_key_is_offered_that_needs_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with Workspace.open(tmp_path / "empty", role="person") as workspace:
        async with opened(workspace, place="core") as pilot:
            for key in "345678":
                await press(pilot, key)
                keys = drawn(pilot, "keys")
                assert not [label for label in ABOUT_A_ROW if label in keys]
                assert "n new" in keys


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (240, 60)])
async def test_beside_nothing_there_is_no_empty_half(tmp_path: Path, size: tuple[int, int]) -> None:
    (tmp_path / "empty").mkdir()
    with Workspace.open(tmp_path / "empty", role="person") as workspace:
        async with opened(workspace, size, place="core") as pilot:
            place = frame_of(pilot).place
            assert not place.card.display
            assert place.list.size.width > size[0] - 24
            await press(pilot, "n", *"Tea at four", "enter", "3")
            assert not frame_of(pilot).place.card.display
        workspace.remember("Drinks tea at four", store="core")
        async with opened(workspace, size, place="core") as pilot:
            assert frame_of(pilot).place.card.display


async def test_what_is_still_being_read_is_not_called_empty(
    seen: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Reading, "read", lambda *_: None)
    async with opened(seen, place="core") as pilot:
        for key in "1245678":
            await press(pilot, key)
            place = frame_of(pilot).place
            said = [plain_text(place.list._empty_line(y, place.list.size.width)) for y in range(8)]
            assert "Reading…" in "".join(said), place.name
        assert "undo" not in drawn(pilot, "status")


async def test_what_an_empty_place_says_is_wrapped_not_cut(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with Workspace.open(tmp_path / "empty", role="person") as workspace:
        async with opened(workspace, (110, 30), place="core") as pilot:
            place = frame_of(pilot).place
            width = place.list.size.width
            said = [place.list._empty_line(y, width) for y in range(8)]
            assert place.EMPTY.replace("⸨new⸩", "n") in " ".join(" ".join(map(plain_text, said)).split())
            assert all(line_width(line) <= width for line in said)


async def test_a_memory_that_is_not_archived_offers_no_way_back(seen: Workspace) -> None:
    async with opened(seen, (160, 40)) as pilot:
        await press(pilot, "slash", *"ferry", "enter")
        assert "r bring back" not in drawn(pilot, "keys")
        assert "e edit" in drawn(pilot, "keys")


async def test_what_is_archived_is_not_offered_to_be_pinned(seen: Workspace) -> None:
    async with opened(seen, (160, 40), place="decay") as pilot:
        head = seen.head()
        assert "p pin" in drawn(pilot, "keys")
        frame_of(pilot).go("decay", row=ARCHIVED)
        await press(pilot)
        assert "p pin" not in drawn(pilot, "keys")
        await press(pilot, "p")
        assert said(pilot) == "This is archived; r brings it back, and then it can be pinned."
        assert seen.head() == head


async def test_pinning_what_never_fades_says_what_it_is_good_for(seen: Workspace) -> None:
    async with opened(seen, place="core") as pilot:
        frame_of(pilot).go("core", row="core:identity:name")
        await press(pilot)
        await press(pilot, "p")
        assert said(pilot) == "Pinned “Name: Inês Duarte”: no reflection takes it out. u unpins."


async def test_today_and_history_count_what_a_reflection_proposes_alike(seen: Workspace) -> None:
    reflect(seen)
    items = len(seen.review().items)
    async with opened(seen, place="today") as pilot:
        rows = frame_of(pilot).place.list.rows
        shown = [plain_text(rows.line(at, 100)) for at in range(len(rows))]
        told = [row for row in shown if row.lstrip().startswith("◆")]
        (others,) = [row for row in told if "other change" in row]
        counts = [1 if "for you" not in row else int(row.split()[1]) for row in told if row is not others]
        assert int(others.split()[1]) + sum(counts) == items


async def test_evidence_is_not_offered_to_be_edited(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "slash", *"ferry", "enter")
        assert "e edit" in drawn(pilot, "keys")
        await press(pilot, "o")
        assert "r bring back" not in drawn(pilot, "keys")
        assert frame_of(pilot).focused is frame_of(pilot).place.evidence
        assert "e edit" not in drawn(pilot, "keys")


async def test_what_was_said_of_a_list_does_not_stand_under_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with Workspace.open(tmp_path / "empty", role="person") as workspace:
        async with opened(workspace, place="timeline") as pilot:
            await press(pilot, "enter")
            assert said(pilot) == "There is no row here."
            await press(pilot, "n")
            assert "no row" not in said(pilot)


async def test_notes_that_are_found_while_one_looks_begin_with_reading_them(tmp_path: Path) -> None:
    day = tmp_path / "notes/memory/2026-01-03.md"
    day.parent.mkdir(parents=True)
    day.write_text("# 2026-01-03\n\n- 09:10 Robin: I never fly at night\n", encoding="utf-8")
    with Workspace.open(tmp_path / "notes", role="person", reads_refresh=False) as workspace:
        async with opened(workspace, place="") as pilot:
            assert frame_of(pilot).place.cursor_key == BEGIN_CORE
            workspace.refresh()
            frame_of(pilot).read_again()
            await press(pilot)
            assert frame_of(pilot).place.cursor_key == "read"


async def test_lines_of_a_plain_log_are_not_offered_what_needs_a_score(tmp_path: Path) -> None:
    day = tmp_path / "notes/memory/2026-01-03.md"
    day.parent.mkdir(parents=True)
    day.write_text("## The harbour\n\n- 09:10 Robin: I never fly at night\n", encoding="utf-8")
    with Workspace.open(tmp_path / "notes", role="person") as workspace:
        async with opened(workspace, (160, 40), place="timeline") as pilot:
            assert frame_of(pilot).place.cursor_key.startswith("file:")
            assert "e edit" in drawn(pilot, "keys")
            assert not [label for label in ("p pin", "f forget") if label in drawn(pilot, "keys")]
            for key in ("p", "f"):
                await press(pilot, key)
                assert said(pilot) == "Free text never fades; e changes it or takes it out."


@pytest.mark.parametrize(("width", "numbered"), [(80, True), (72, False)])
def test_places_in_one_line_name_their_keys_where_they_fit(width: int, numbered: bool) -> None:
    line = line_of_places({"today": "▲1", "inbox": "24"}, "core", width)
    assert line_width(line) <= width
    assert ("▸3 Core" in plain_text(line)) == numbered
