"""Chunks of real memory files, through the catalog's own parsing."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from tests.engine.catalog.shelf import ENTITIES, Shelf, day, entity, episode
from workbench.engine.search.chunks import Chunk, ChunkSize, chunks_of
from workbench.engine.search.finder import CatalogFiles

SIZE = ChunkSize(400, 80)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def chunks_in(shelf: Shelf, path: str, size: ChunkSize = SIZE) -> list[Chunk]:
    shelf.sync()
    files = list(CatalogFiles(shelf.catalog).read([path]))
    shelf.catalog.close()
    return [chunk for file in files for chunk in chunks_of(file, size)]


def stands_where_it_says(shelf: Shelf, chunk: Chunk) -> bool:
    lines = (shelf.root / chunk.path).read_text().split("\n")
    own = chunk.text.split("\n")
    there = lines[chunk.start_line - 1 : chunk.start_line - 1 + len(own)]
    return all(not mine.strip() or mine in theirs for mine, theirs in zip(own, there, strict=True))


def test_an_episode_is_one_chunk_with_its_day_and_tags(shelf: Shelf) -> None:
    path = "memory/episodes/2026-02-02.md"
    shelf.write(
        path,
        day(
            "2026-02-02", episode("09:00", "We chose hybrid search.\nIt was cheap.", rest=" | tags:[search]")
        ),
    )
    (chunk,) = chunks_in(shelf, path)
    assert chunk.memory_id == "episode:2026-02-02:09:00"
    assert (chunk.store, chunk.day, chunk.tags) == ("episodic", date(2026, 2, 2), ("search",))
    assert chunk.title == "We chose hybrid search."
    assert chunk.text.startswith("We chose hybrid search.\nIt was cheap.")
    assert stands_where_it_says(shelf, chunk)


def test_retired_facts_are_chunks_of_their_own(shelf: Shelf) -> None:
    path = f"{ENTITIES}/person--alex.md"
    text = entity("Alex", facts=("Likes tea (since 2026-02-02) ^f7k2",))
    shelf.write(
        path, f"{text}\n## Superseded\n- Likes coffee (2026-01-20 to 2026-02-02, superseded by ^f7k2) ^f3c1\n"
    )
    whole, retired = chunks_in(shelf, path)
    assert "coffee" not in whole.text
    assert "Likes tea" in whole.text
    assert (retired.memory_id, retired.is_retired) == ("entity:person--alex#^f3c1", True)
    assert retired.superseded_by == "entity:person--alex#^f7k2"
    assert retired.title == "Alex"
    assert "coffee" in retired.text
    assert stands_where_it_says(shelf, retired)


def test_a_long_section_is_cut_and_each_part_knows_its_headings(shelf: Shelf) -> None:
    path = "memory/2026-02-02.md"
    turns = "".join(
        f"- 09:{at % 60:02} Maria: turn number {at} about the garden and the harvest\n" for at in range(120)
    )
    shelf.write(
        path, f"# 2026-02-02\n\n## Session one\n\n{turns}\n## Session two\n\n- 12:00 Maria: good bye\n"
    )
    chunks = chunks_in(shelf, path)
    assert len(chunks) > 4
    assert {chunk.title for chunk in chunks} == {"Session one", "Session two"}
    assert {chunk.day for chunk in chunks} == {date(2026, 2, 2)}
    assert all(stands_where_it_says(shelf, chunk) for chunk in chunks)
    assert not any("Session two" in chunk.text and "turn number" in chunk.text for chunk in chunks)


def test_sections_of_a_note_carry_the_title_of_the_file(shelf: Shelf) -> None:
    path = "memory/garden.md"
    shelf.write(path, "# Garden notes\n\nAbout the garden.\n\n## Tomatoes\n\nWater them daily.\n")
    chunks = chunks_in(shelf, path)
    assert [chunk.title for chunk in chunks] == ["Garden notes", "Garden notes › Tomatoes"]


def test_parts_of_a_long_procedure_are_titled_by_the_heading_above_them(shelf: Shelf) -> None:
    path = "memory/procedures/how-to-deploy.md"
    steps = "".join(f"{at}. Do step {at} of the deployment with great care\n" for at in range(1, 80))
    shelf.write(path, f"# How to deploy\n\n## Steps\n\n{steps}")
    chunks = chunks_in(shelf, path)
    assert {chunk.memory_id for chunk in chunks} == {"procedure:how-to-deploy"}
    assert chunks[-1].title == "How to deploy › Steps"
    assert all(stands_where_it_says(shelf, chunk) for chunk in chunks)


def test_bytes_that_are_no_text_are_replaced(shelf: Shelf) -> None:
    shelf.write("memory/broken.md", b"# Notes\n\nbefore \xff\xfe after\n")
    (chunk,) = chunks_in(shelf, "memory/broken.md")
    assert "before \ufffd\ufffd after" in chunk.text
