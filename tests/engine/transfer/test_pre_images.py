"""Copies of MEMORY.md that OpenClaw keeps hidden: found, listed, read as curated memory; nothing is written there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.engine.transfer import openclaw_pre_images
from tests.engine.transfer.reading_all import ZONE
from workbench.engine.errors import DocumentError, NotFound
from workbench.engine.transfer.agent_memory import PreImageSource, choose_pre_image, find_database, pre_images
from workbench.engine.transfer.source import Piece, ReadingProgress

COPIES = {
    "2026-09-01T03:00:00.000Z": "# Memory\n\n- Deploys on Tuesdays\n",
    "2026-09-02T03:00:00.000Z": "# Memory\n\n- Deploys on Wednesdays\n- Drinks tea\n",
}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    openclaw_pre_images.make(tmp_path / "state-folder/state/openclaw.sqlite", COPIES)
    return tmp_path / "state-folder"


def test_the_newest_comes_first_and_torn_ones_are_left_out(state: Path) -> None:
    database = find_database(state)
    before = {each: each.read_bytes() for each in database.parent.iterdir()}
    images = pre_images(database)
    assert [(each.number, str(each.created)[:10], each.workspace) for each in images] == [
        (1, "2026-09-02", "/home/u/clawd"),
        (2, "2026-09-01", "/home/u/clawd"),
    ]
    assert {each: each.read_bytes() for each in database.parent.iterdir()} == before


def test_one_is_read_as_curated_memory(state: Path) -> None:
    source = PreImageSource(choose_pre_image(pre_images(find_database(state)), 1, "x"))
    found = [item for item in source.read(ReadingProgress(ZONE)) if isinstance(item, Piece)]
    assert [piece.text for piece in found] == ["Deploys on Wednesdays", "Drinks tea"]
    assert source.name == "clawd-before"


def test_none_there_and_none_of_that_number(tmp_path: Path, state: Path) -> None:
    with pytest.raises(NotFound, match="no database"):
        find_database(tmp_path)
    with pytest.raises(NotFound, match="no copy 3"):
        choose_pre_image(pre_images(find_database(state)), 3, "x")


def test_another_database_is_told(tmp_path: Path) -> None:
    other = tmp_path / "openclaw.sqlite"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE plugin_state_entries (something TEXT)")
    with pytest.raises(DocumentError, match="no copies"):
        pre_images(other)
    other.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    with pytest.raises(DocumentError):
        pre_images(other)
