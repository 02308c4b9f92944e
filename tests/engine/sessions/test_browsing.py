"""A transcript that stays open: pages in any order, words found in both directions, memories beside their lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.engine.sessions.events import FileLines
from workbench.engine.sessions.reader import TranscriptReader

LINES = 5000


@pytest.fixture
def reader(tmp_path: Path) -> TranscriptReader:
    """A transcript in which every tenth line names a tide, one is torn, and one writes its words as escapes."""
    place = tmp_path / "0123.jsonl"
    with place.open("w", encoding="utf-8") as file:
        for number in range(1, LINES + 1):
            text = f"Tide {number}" if number % 10 == 0 else f"Line {number}"
            if number == 77:
                text = "Ebbe und Flut: München"
            message = {"role": "user", "content": text}
            file.write(json.dumps({"type": "message", "id": f"m{number}", "message": message}) + "\n")
            if number == 3:
                file.write('{"type": "message", "id": "torn\n')
    return TranscriptReader(FileLines(place), lambda: {5: ("episode:2026-02-02:14:30",), 4000: ("core:x:y",)})


def test_pages_come_in_any_order_with_their_problems_and_memories(reader: TranscriptReader) -> None:
    last = reader.page(4990, 64)
    first = reader.page(1, 8)
    middle = reader.page(3990, 20)

    assert reader.total() == LINES + 1
    assert [line.line for line in last.lines] == list(range(4990, LINES + 2))
    assert [line.line for line in first.lines] == [1, 2, 3, 5, 6, 7, 8]
    assert [problem.line for problem in first.problems] == [4]
    assert first.memories == {5: ("episode:2026-02-02:14:30",)}
    assert middle.memories == {4000: ("core:x:y",)}
    assert middle.lines[0].citation == "file:sessions/0123.jsonl#L3990"


def test_words_are_found_onwards_and_backwards(reader: TranscriptReader) -> None:
    # Line 4 is torn, so that every later line stands one further down.
    assert reader.find("TIDE", 1) == 11
    assert reader.find("tide", 12) == 21
    assert reader.find("tide", 4500, backwards=True) == 4491
    assert reader.find("tide", 10, backwards=True) is None
    assert reader.find("münchen", 1) == 78
    assert reader.find("nothing of the kind", 1) is None


def test_a_search_can_be_called_off(reader: TranscriptReader) -> None:
    assert reader.find("tide", 1, stopped=lambda: True) is None


def test_lines_that_come_later_are_read_as_well(reader: TranscriptReader, tmp_path: Path) -> None:
    reader.page(4990, 64)
    with (tmp_path / "0123.jsonl").open("a", encoding="utf-8") as file:
        file.write(
            json.dumps({"type": "message", "id": "new", "message": {"role": "user", "content": "New"}}) + "\n"
        )

    assert reader.total() == LINES + 2
    assert reader.page(LINES + 2, 1).lines[0].text == "New"
