"""Chunks of real memory files, and long text cut where it hurts least."""

from __future__ import annotations

import time
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.catalog.shelf import ENTITIES, Shelf, day, entity, episode
from workbench.engine.search.chunks import Chunk, ChunkSize, Piece, chunks_of, cut_text, estimate_tokens
from workbench.engine.search.finder import CatalogFiles
from workbench.engine.tokens import count_tokens

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


_LINES = st.lists(
    st.one_of(
        st.sampled_from(
            ("", "# A heading", "```", "- an item of some words", "记忆系统的设计" * 9, "x" * 700)
        ),
        st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), max_size=90),
    ),
    max_size=60,
)


def lines_of(piece: Piece) -> list[str]:
    return piece.text.split("\n")


@given(_LINES, st.integers(5, 80), st.integers(0, 60))
def test_every_line_is_in_a_piece_where_it_says_it_is(lines: list[str], most: int, overlap: int) -> None:
    pieces = cut_text("\n".join(lines), most, overlap)
    held: dict[int, str] = {}
    for piece in pieces:
        assert piece.text.strip()
        for number, line in enumerate(lines_of(piece), start=piece.line):
            assert line in lines[number]
            held[number] = max(held.get(number, ""), line, key=len)
    assert {number for number, line in enumerate(lines) if line.strip()} <= held.keys()


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=3000))
def test_the_parts_of_one_long_line_give_the_line_again(line: str) -> None:
    pieces = cut_text(line, 20, 5)
    assert "".join(piece.text for piece in pieces if piece.line == 0) == line or not line.strip()


def test_what_fits_stays_whole() -> None:
    assert cut_text("one\n\ntwo", 400, 80) == [Piece(0, "one\n\ntwo")]
    assert cut_text(" \n", 400, 80) == []


def test_pieces_have_the_size_asked_for_and_overlap() -> None:
    text = "\n".join(f"Sentence number {number} says something of its own." for number in range(400))
    pieces = cut_text(text, 400, 80)
    sizes = [count_tokens(piece.text) for piece in pieces]
    assert max(sizes) <= 420
    assert min(sizes[:-1]) >= 250
    for one, other in pairwise(pieces):
        shared = set(lines_of(one)) & set(lines_of(other))
        assert 50 <= count_tokens("\n".join(shared)) <= 90


def test_a_cut_is_made_before_a_heading_and_the_heading_is_known_after_it() -> None:
    first = ["# One", *(f"line {number} of the first part" for number in range(45))]
    second = ["## Two", *(f"line {number} of the second part" for number in range(90))]
    pieces = cut_text("\n".join(first + second), 400, 80)
    starts = [piece for piece in pieces if piece.text.startswith("## Two")]
    assert len(starts) == 1
    assert pieces[-1].heading == "Two"
    assert pieces[0].heading == ""


def test_a_fence_that_fits_is_not_torn_and_its_comments_are_no_headings() -> None:
    prose = [f"Some words of prose, line {number}." for number in range(35)]
    fence = ["```python", "# no heading", *(f"call({number})" for number in range(20)), "```"]
    pieces = cut_text("\n".join([*prose, "", *fence, "", *prose]), 400, 0)
    assert any("\n".join(fence) in piece.text for piece in pieces)
    assert {piece.heading for piece in pieces} == {""}


def test_a_million_characters_on_one_line_are_cut_quickly_and_none_is_lost() -> None:
    for line in (
        "a sentence of some words. " * 40_000,
        "x" * 1_000_000,
        "今天讨论了记忆系统的设计。" * 77_000,
        "-" * 10**6,
    ):
        started = time.process_time()
        pieces = cut_text(line, 400, 80)
        assert time.process_time() - started < 5
        assert "".join(piece.text for piece in pieces) == line
        assert max(len(piece.text) for piece in pieces) <= 400 * 11
        assert {piece.line for piece in pieces} == {0}


def test_long_lines_are_parted_after_sentences() -> None:
    pieces = cut_text("This is a sentence of eight words only. " * 200, 100, 0)
    assert all(piece.text.rstrip().endswith(".") for piece in pieces)


def test_the_estimate_is_close_on_prose_and_code() -> None:
    for text in (
        "The deployment was moved to Friday because the tests of the new index were not finished yet. " * 20,
        "def compare(index: Index, place: Path) -> None:\n    connection = bare(place)\n" * 20,
        "- 13:56 Caroline: Hey Mel! Good to see you! How have you been?\n" * 20,
    ):
        assert abs(estimate_tokens(text) - count_tokens(text)) < 0.15 * count_tokens(text)
