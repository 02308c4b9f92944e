"""What a person may write for lines of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.engine import Workspace
from workbench.engine.errors import NotFound

LOG = "# 2026-01-12\n\n## Morning\n- Staging moved\n- Lunch\n\n## Evening\n- A concert\n- Late train\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "2026-01-12.md").write_text(LOG)
    return tmp_path


@pytest.mark.parametrize("place", ["memory/2026-01-12.md#L4-L5", "file:memory/2026-01-12.md#L4-L5"])
def test_what_search_cites_and_what_it_names_can_be_read(folder: Path, place: str) -> None:
    with Workspace.open(folder) as workspace:
        assert workspace.get(place).text == "- Staging moved\n- Lunch\n"


@pytest.mark.parametrize(
    ("place", "around"),
    [
        ("memory/2026-01-12.md#L8", "file:memory/2026-01-12.md#L7-L9"),
        ("memory/2026-01-12.md#L8-L9", "file:memory/2026-01-12.md#L7-L9"),
        ("file:memory/2026-01-12.md#L4-L5", "file:memory/2026-01-12.md#L3-L5"),
        ("file:memory/2026-01-12.md#L3-L5", "file:memory/2026-01-12.md#L3-L5"),
        ("memory/2026-01-12.md", "file:memory/2026-01-12.md#L3-L5"),
    ],
)
def test_lines_lead_to_the_memory_they_stand_in(folder: Path, place: str, around: str) -> None:
    with Workspace.open(folder) as workspace:
        assert workspace.why_not("concert train", place).id == around


def test_lines_of_no_memory_file_are_not_found(folder: Path) -> None:
    with Workspace.open(folder) as workspace, pytest.raises(NotFound):
        workspace.memory_around("other/2026-01-12.md#L8")
