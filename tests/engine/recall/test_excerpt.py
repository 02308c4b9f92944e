"""The lines around the best match, with the numbers they have in the file."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.catalog.shelf import Shelf, day, episode
from workbench.engine.catalog import MemoryRecord
from workbench.engine.recall.excerpt import SNIPPET_CHARACTERS, excerpt


def record(text: str, *, start: int = 10, text_line: int | None = None) -> MemoryRecord:
    first = start if text_line is None else text_line
    end = first + text.count("\n")
    return MemoryRecord("episode:x", "episodic", "p.md", start, end, "t", text, text_line=text_line)


def test_a_short_memory_is_given_whole() -> None:
    assert excerpt(record("one\ntwo"), "two") == (10, 11, "one\ntwo")
    assert excerpt(record("one\ntwo", text_line=12), "two") == (12, 13, "one\ntwo")
    assert excerpt(record(""), "two") == (10, 10, "")


def test_a_long_memory_is_cut_around_the_line_that_holds_most() -> None:
    lines = [f"Line {number} " + "filler " * 8 for number in range(100)]
    lines[60] = "The violin lesson moved to Friday"
    lines[20] = "A lesson"
    start, end, text = excerpt(record("\n".join(lines), text_line=11), "violin lesson")
    assert start <= 71 <= end
    assert text.split("\n") == lines[start - 11 : end - 10]
    assert len(text) <= SNIPPET_CHARACTERS
    # Something of what stands around it, on both sides.
    assert start < 71 < end
    assert len(text) > SNIPPET_CHARACTERS / 2


def test_without_a_match_the_beginning_is_given() -> None:
    start, _, text = excerpt(record("\n".join(f"line {number} filler" for number in range(200))), "absent")
    assert start == 10
    assert text.startswith("line 0")


def test_a_very_long_line_is_cut_around_the_word() -> None:
    line = "filler " * 5_000 + "violin " + "filler " * 5_000
    start, end, text = excerpt(record("first\n" + line + "\nlast"), "Violin")
    assert (start, end) == (11, 11)
    assert "violin" in text
    assert text[0] == text[-1] == "…"
    assert len(text) <= SNIPPET_CHARACTERS


def test_chinese_without_spaces_is_cut_around_the_match() -> None:
    line = "今天天气很好我们去公园散步。" * 400 + "小提琴课改到星期五" + "然后回家吃饭睡觉" * 400
    _, _, text = excerpt(record(line), "小提琴课")
    assert "小提琴课" in text
    assert len(text) <= SNIPPET_CHARACTERS
    line = line.replace("。", "")
    _, _, text = excerpt(record(line), "小提琴课")
    assert "小提琴课" in text


@given(
    text=st.lists(st.text(max_size=120) | st.sampled_from(["violin lesson", "x" * 900]), max_size=30).map(
        "\n".join
    ),
    query=st.text(max_size=20) | st.just("violin lesson"),
)
@settings(max_examples=200)
def test_any_excerpt_is_within_bounds(text: str, query: str) -> None:
    whole = record(text)
    start, end, cut = excerpt(whole, query)
    assert 10 <= start <= end <= whole.end_line
    assert len(cut) <= SNIPPET_CHARACTERS
    if len(text) <= SNIPPET_CHARACTERS:
        assert cut == text
    elif not (cut.startswith("…") or cut.endswith("…")):
        assert cut == "\n".join(text.split("\n")[start - 10 : end - 9])


def test_the_lines_are_those_of_the_file(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    body = "\n".join(f"Sentence {number} about nothing." for number in range(60)) + "\nThe violin lesson."
    shelf.write(
        "memory/episodes/2026-02-02.md", day("x", episode("09:00", "\n" + body), episode("10:00", "y"))
    )
    shelf.write("memory/vault/n.md", "---\na: b\n---\n# Note\n\n" + body + "\n\nMore.\n")
    shelf.write("memory/notes.md", "# A\n\ntext\n\n# B\n\n" + body + "\n")
    shelf.write("MEMORY.md", "## Persona\n\n- Plays the violin lesson\n")
    shelf.sync()
    found = [hit for hit, _ in shelf.lookups.search("violin lesson", all_terms=True)]
    assert len(found) == 4
    for memory in found:
        start, end, text = excerpt(memory, "violin lesson")
        written = "\n".join(shelf.line(memory.path, number) for number in range(start, end + 1))
        assert text in written
        assert written.count("\n") == text.count("\n")
        assert "violin" in text
    shelf.catalog.close()
