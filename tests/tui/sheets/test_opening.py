"""Syncing in the bench: a remote is named once, what leaves is asked about, and what waits stands in Today."""

from __future__ import annotations

from pathlib import Path

from tests.tui.frame.hands import frame_of, opened, press, said
from tests.tui.sheets.hands import rows_of, write
from tests.tui.stillness import settle
from workbench.engine import Workspace
from workbench.tui.parts.chooser import ChooserPart


async def name_remote(pilot: object, remote: Path) -> None:
    await press(pilot, "m", "y", "enter")  # type: ignore[arg-type]
    await write(pilot, str(remote))  # type: ignore[arg-type]
    await settle(pilot)  # type: ignore[arg-type]


async def test_memory_is_sent_only_once_a_person_has_said_so(seen: Workspace, tmp_path: Path) -> None:
    remote = tmp_path / "remote.git"
    async with opened(seen) as pilot:
        await name_remote(pilot, remote)
        assert not remote.exists()
        await press(pilot, "escape")
        assert seen.sync_status().remote is None
        await name_remote(pilot, remote)
        await press(pilot, "enter")
        await settle(pilot)
        assert said(pilot).startswith("Synced: ")
    assert seen.sync_status().remote == str(remote)


async def test_the_bench_seals_a_remote_and_lets_a_device_in(seen: Workspace, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with Workspace.open(other, role="person") as workspace:
        key = workspace.sync_key().key
    async with opened(seen) as pilot:
        await press(pilot, "m", "y", "down", "enter")
        await write(pilot, str(tmp_path / "remote.git"))
        await settle(pilot)
        asked = frame_of(pilot).pressing.question
        assert asked is not None
        assert asked.question.startswith("Seal for this device alone; send ")
        await press(pilot, "enter")
        await settle(pilot)
        assert said(pilot).startswith("Synced: ")
        await press(pilot, "m", "y", "down", "enter")
        await write(pilot, key)
        await settle(pilot)
        assert said(pilot).startswith("Encrypted again, for this device and the key age1")
    assert [each.key for each in seen.sync_status().keys if not each.is_this] == [key]


async def test_the_bench_shows_the_key_of_this_device(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "m", "y", "down", "down", "enter")
        chosen = frame_of(pilot).query_one("#chooser", ChooserPart).chosen
        assert chosen is not None
        assert chosen.text == seen.sync_key().key
        await press(pilot, "enter")
        assert said(pilot).startswith("Copied this device’s key: 62 characters")


async def test_today_says_what_waits_to_be_sent(seen: Workspace, tmp_path: Path) -> None:
    seen.sync(str(tmp_path / "remote.git"), confirmed=True)
    seen.remember("Jo works on the frontend of Apollo", entities=["person:Jo"])
    async with opened(seen) as pilot:
        await press(pilot, "1")
        assert any("to be sent" in row for row in rows_of(frame_of(pilot).place))
        await press(pilot, "m", "y", "enter")
        await settle(pilot)
        assert said(pilot).startswith("Synced: 1 commit sent")
        assert not any("to be sent" in row for row in rows_of(frame_of(pilot).place))
