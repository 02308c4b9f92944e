"""Writing memory out: as what, where to, and never over what is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tui.frame.hands import TWO_SIZES, opened, press, said
from tests.tui.sheets.hands import write
from tests.tui.stillness import settle
from workbench.engine import Workspace


@pytest.mark.parametrize("size", TWO_SIZES)
async def test_all_memory_is_written_to_one_file(
    seen: Workspace, tmp_path: Path, size: tuple[int, int]
) -> None:
    target = tmp_path / "out.jsonl"
    async with opened(seen, size) as pilot:
        await press(pilot, "m", "o", "enter")
        await write(pilot, str(target))
        await settle(pilot)
        assert said(pilot).startswith("Wrote ")
        assert "memories and" in said(pilot)
    lines = target.read_text(encoding="utf-8").splitlines()
    assert any(json.loads(line)["kind"] == "memory" for line in lines)


async def test_a_plain_folder_is_the_other_way(seen: Workspace, tmp_path: Path) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "m", "o", "down", "enter")
        await write(pilot, str(tmp_path / "plain"))
        await settle(pilot)
    assert (tmp_path / "plain/MEMORY.md").read_bytes() == (seen.root / "MEMORY.md").read_bytes()


async def test_what_is_there_stays_as_it_is(seen: Workspace, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text("mine", encoding="utf-8")
    async with opened(seen) as pilot:
        await press(pilot, "m", "o", "enter")
        await write(pilot, str(kept))
        assert said(pilot).endswith("is there already and stays as it is; write another name.")
        await press(pilot, "escape")
    assert kept.read_text(encoding="utf-8") == "mine"


async def test_inside_the_workspace_nothing_is_written(seen: Workspace) -> None:
    async with opened(seen) as pilot:
        await press(pilot, "m", "o", "enter")
        await write(pilot, str(seen.root / "out.jsonl"))
        await settle(pilot)
        assert said(pilot) == "An export cannot be made inside the workspace. Name a new file elsewhere."
