"""Cutting long text: nothing lost, nothing too long, cuts where they hurt least."""

from __future__ import annotations

import time
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.search.chunks import Piece, cut_text, estimate_tokens
from workbench.engine.tokens.counting import count_tokens

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
