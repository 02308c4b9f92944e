"""What stands in the files is what the index answers, however it came to know of it."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.search.index.bookshelf import ANYTHING, Bookshelf, MemoryFiles, WordEmbedder, after, ids
from workbench.engine.catalog.records import FactRecord
from workbench.engine.search.chunks import ChunkSize, Within


def test_what_was_synced_is_found_by_words_and_by_meaning(shelf: Bookshelf) -> None:
    shelf.write("a.md", "the garden needs water", "a violin lesson on Monday")
    shelf.write("b.md", "the database was migrated")
    done = shelf.sync()
    assert (done.changed, done.pending_files, done.pending_vectors, done.finished) == (2, 0, 0, True)
    assert shelf.found("violins") == ["a.md:1"]
    assert shelf.nearest("garden water")[0] == "a.md:0"
    assert shelf.nearest("database")[0] == "b.md:0"


def test_a_stored_chunk_is_the_chunk(shelf: Bookshelf) -> None:
    fact = FactRecord("x#^f1", "a.md:0", "old fact", 9, superseded_by="x#^f2", retired=True)
    shelf.write("a.md", "- first turn of two\n- second, of “two” 记忆 🧠 \x00 turns", day="2026-02-02")
    shelf.files.retired["a.md"] = (fact,)
    shelf.sync()
    with shelf.index.source() as source:
        whole, retired = source.read(source.by_memory(["a.md:0", "x#^f1"], ANYTHING))
    assert whole.chunk.text == "- first turn of two\n- second, of “two” 记忆 🧠 \x00 turns"
    assert (whole.chunk.path, whole.chunk.start_line, whole.chunk.day) == ("a.md", 1, date(2026, 2, 2))
    assert whole.unit_terms is not None
    assert whole.unit_vectors is not None
    assert len(whole.unit_terms) == len(whole.unit_vectors) == 2
    assert whole.unit_terms[0] == "first turn of two"
    assert whole.vector is not None
    assert float(whole.vector @ whole.vector) == pytest.approx(1)
    mean = whole.unit_vectors.sum(axis=0)
    assert float(mean @ whole.vector / (mean @ mean) ** 0.5) > 0.999
    assert (retired.chunk.is_retired, retired.chunk.superseded_by) == (True, "x#^f2")
    assert (retired.chunk.start_line, retired.chunk.store) == (9, "semantic")


def test_half_characters_of_a_transcript_do_no_harm(shelf: Bookshelf) -> None:
    shelf.write("a.md", "tea \ud83e and \ud83e\udde0 cocoa")
    shelf.sync()
    assert shelf.found("cocoa") == ["a.md:0"]
    with shelf.index.source() as source:
        (stored,) = source.read(source.by_memory(["a.md:0"], ANYTHING))
    assert stored.chunk.text == "tea \ufffd and 🧠 cocoa"


def test_only_files_that_changed_are_read_again(shelf: Bookshelf) -> None:
    for name in ("a.md", "b.md", "c.md"):
        shelf.write(name, f"about {name[0]}")
    shelf.sync()
    shelf.files.was_read.clear()
    assert shelf.sync().changed == 0
    shelf.write("b.md", "about something else")
    del shelf.files.files["c.md"]
    done = shelf.sync()
    assert (done.changed, done.removed, shelf.files.was_read) == (1, 1, ["b.md"])
    assert (shelf.found("else"), shelf.found("c")) == (["b.md:0"], [])


def test_chunks_that_stay_the_same_keep_number_and_vector(shelf: Bookshelf) -> None:
    assert shelf.embedder is not None
    shelf.write("a.md", "the first", "the second")
    shelf.sync()
    with shelf.index.source() as source:
        before = source.by_memory(["a.md:0", "a.md:1"], ANYTHING)
    shelf.embedder.embedded.clear()
    shelf.write("a.md", "a new one\nof two lines", "the first", "the second")
    shelf.sync()
    assert shelf.embedder.embedded == ["a new one\nof two lines"]
    with shelf.index.source() as source:
        assert source.by_memory(["a.md:1", "a.md:2"], ANYTHING) == before
        assert [stored.chunk.start_line for stored in source.read(before)] == [4, 6]


def test_chunks_are_found_by_the_lines_they_hold(shelf: Bookshelf) -> None:
    shelf.write("a.md", "one\ntwo", "three", "four\nfive\nsix")
    shelf.write("b.md", "seven")
    shelf.sync()
    with shelf.index.source() as source:
        starts = {
            number: stored.chunk.start_line
            for number in source.by_memory(["a.md:0", "a.md:1", "a.md:2"], ANYTHING)
            for stored in source.read([number])
        }
        lines = sorted(starts.values())

        def found(first: int, last: int, limit: int = 9) -> list[int]:
            return [starts[number] for number in source.by_lines("a.md", first, last, limit, ANYTHING)]

        assert found(lines[0] + 1, lines[0] + 1) == lines[:1]
        assert found(lines[0] + 1, lines[1]) == lines[:2]
        assert found(lines[2] + 1, lines[2] + 2) == lines[2:]
        assert found(1, 99, limit=2) == lines[:2]
        assert source.by_lines("c.md", 1, 9, 9, ANYTHING) == []
        assert source.by_lines("a.md", 1, 9, 9, Within(store="core")) == []


def test_a_number_is_never_used_twice(shelf: Bookshelf) -> None:
    shelf.write("a.md", "one")
    shelf.sync()
    with shelf.index.source() as source:
        (old,) = source.by_memory(["a.md:0"], ANYTHING)
    shelf.write("a.md", "two")
    shelf.sync()
    with shelf.index.source() as source:
        (new,) = source.by_memory(["a.md:0"], ANYTHING)
        assert source.read([old, new])[0].number == new > old


def test_a_lane_asked_for_more_goes_on_as_if_asked_for_all_at_once(shelf: Bookshelf) -> None:
    for number in range(12):
        shelf.write(
            f"{number}.md", f"tea {'and tea ' * number}in cup{number}", day=f"2026-01-{number + 1:02}"
        )
    shelf.sync()
    late = Within(after=date(2026, 1, 7))
    vector = WordEmbedder().embed_query("tea")
    with shelf.index.source() as source:
        words, near = source.by_keywords(["tea"], 99, ANYTHING), source.by_vector(vector, 99, ANYTHING)
        words_late, near_late = source.by_keywords(["tea"], 99, late), source.by_vector(vector, 99, late)
    assert [len(each) for each in (words, near, words_late, near_late)] == [12, 12, 6, 6]
    with shelf.index.source() as source:
        for count in (3, 7, 5, 99):
            assert source.by_keywords(["tea"], count, ANYTHING) == words[:count]
            assert source.by_vector(vector, count, ANYTHING) == near[:count]
        assert source.by_keywords(["tea"], 2, late) == words_late[:2]
        assert source.by_keywords(["cup3"], 2, late) == []
        assert source.by_vector(vector, 2, late) == near_late[:2]
        assert source.by_keywords(["tea"], 99, late) == words_late


def test_narrowed_by_store_and_day(shelf: Bookshelf) -> None:
    shelf.write("a.md", "tea in January", day="2026-01-10")
    shelf.write("b.md", "tea in March", day="2026-03-10")
    shelf.write("c.md", "tea at any time")
    shelf.files.stores["c.md"] = "core"
    shelf.sync()
    for within, wanted in (
        (Within(after=date(2026, 2, 1)), ["b.md:0"]),
        (Within(before=date(2026, 2, 1)), ["a.md:0"]),
        (Within(store="core"), ["c.md:0"]),
        (Within(store="core", after=date(2026, 2, 1)), []),
    ):
        assert shelf.found("tea", within) == wanted
        assert shelf.nearest("tea", within) == wanted
    with shelf.index.source() as source:
        days = source.by_day(date(2026, 1, 1), date(2026, 12, 31), 9, ANYTHING)
        assert ids(source, days) == ["b.md:0", "a.md:0"]
        assert source.by_day(date(2026, 1, 1), date(2026, 12, 31), 1, ANYTHING) == days[:1]
        assert source.by_memory(["a.md:0", "c.md:0"], Within(store="core")) == source.by_memory(
            ["c.md:0"], ANYTHING
        )


def test_statistics_count_chunks(shelf: Bookshelf) -> None:
    shelf.write("a.md", "tea tea tea", "coffee with milk")
    shelf.write("b.md", "tea and milk")
    shelf.sync()
    with shelf.index.source() as source:
        known = source.statistics(["tea", "milk", "nothing", "t*"])
    assert known.chunks == 3
    assert dict(known.frequencies) == {"tea": 2, "milk": 2, "nothing": 0, "t*": 2}
    del shelf.files.files["a.md"]
    shelf.sync()
    with shelf.index.source() as source:
        assert source.statistics([]).chunks == 1


def test_keywords_are_data(shelf: Bookshelf) -> None:
    shelf.write("a.md", 'say "hello" AND nothing OR NEAR')
    shelf.sync()
    with shelf.index.source() as source:
        for terms in (['"'], ["hello* OR"], ["NEAR("], ["*"], [""], ["a'b"], ["text:hello"], ["-"]):
            assert isinstance(source.by_keywords(terms, 5, ANYTHING), list)
        assert source.by_keywords(["hel*"], 5, ANYTHING)
        assert source.by_keywords([], 5, ANYTHING) == []


def test_a_frequent_word_beside_rare_ones_does_not_hide_them(
    shelf: Bookshelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.search.contract._MOST_PLACES", 3)
    for number in range(9):
        shelf.write(f"{number}.md", "common words" if number else "common and rare words")
    shelf.sync()
    assert shelf.found("common rare words") == ["0.md:0"]
    assert len(shelf.found("common")) == 9


def test_a_snapshot_stays_as_it_was_while_files_change(shelf: Bookshelf) -> None:
    shelf.write("a.md", "about tea")
    shelf.write("b.md", "about coffee")
    shelf.sync()
    with shelf.index.source() as before:
        shelf.write("a.md", "about cocoa")
        del shelf.files.files["b.md"]
        shelf.sync()
        assert before.statistics(["coffe"]).frequencies == {"coffe": 1}
        (tea,) = [number for number, _ in before.by_keywords(["tea"], 5, ANYTHING)]
        assert before.read([tea])[0].chunk.text == "about tea"
        assert before.state.chunks == 2
    assert shelf.found("cocoa") == ["a.md:0"]


def test_marks_stay_for_the_same_basis_until_chunks_are_given_to_other_memories(shelf: Bookshelf) -> None:
    shelf.write("a.md", "about tea")
    shelf.sync()
    basis, another = object(), object()

    def marks(of: object) -> list[int]:
        with shelf.index.source() as source:
            tea = np.array([number for number, _ in source.by_keywords(["tea"], 5, ANYTHING)])
            found: list[int] = source.marks(of).of(tea).tolist()
            source.marks(of).note(dict.fromkeys(tea.tolist(), 2))
            return found

    assert [marks(basis), marks(basis)] == [[0], [2]]
    assert [marks(another), marks(basis), marks(None), marks(None)] == [[0], [0], [0], [0]]
    shelf.write("a.md", "about coffee", "about tea")
    shelf.sync()
    assert [marks(basis), marks(basis)] == [[0], [2]]


def test_a_workspace_without_vectors_is_searched_by_words(shelf: Bookshelf) -> None:
    shelf.embedder = None
    index = shelf.open()
    shelf.write("a.md", "about tea")
    assert shelf.sync(index).pending_vectors == 0
    assert shelf.found("tea", index=index) == ["a.md:0"]
    assert shelf.nearest("tea", index=index) == []
    assert index.state().dimensions is None
    assert index.embed().pending_vectors == 0


def test_of_a_path_in_several_sources_the_first_is_taken(shelf: Bookshelf) -> None:
    other = MemoryFiles({"a.md": ["second"], "b.md": ["third"]})
    shelf.write("a.md", "first")
    shelf.index.sync([shelf.files, other])
    assert shelf.found("first second third") in (["a.md:0", "b.md:0"], ["b.md:0", "a.md:0"])
    assert shelf.found("second") == []
    shelf.sync()
    assert shelf.found("third") == []


def test_progress_and_cancelling_between_files(shelf: Bookshelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.search.index.building._MOST_CHUNKS", 64)
    for number in range(300):
        shelf.write(f"{number:03}.md", f"memory {number}")
    told: list[tuple[int, int]] = []
    done = shelf.index.sync(
        [shelf.files], progress=lambda at, total: told.append((at, total)), cancelled=lambda: len(told) > 0
    )
    assert 0 < done.pending_files < 300
    assert not done.finished
    assert shelf.index.state().last_sync is None
    assert shelf.found("memory") != []
    done = shelf.index.sync([shelf.files], progress=lambda at, total: told.append((at, total)))
    assert done.finished
    assert told[-1][0] == told[-1][1]
    state = shelf.index.state()
    assert (state.files, state.chunks, state.rebuilding) == (300, 300, None)
    assert state.last_sync == shelf.clock.now()


def test_a_building_is_gone_on_with_where_it_was_stopped(shelf: Bookshelf) -> None:
    for number in range(300):
        shelf.write(f"{number:03}.md", f"memory {number}")
    first = shelf.index.sync([shelf.files], cancelled=after(100))
    assert 0 < first.pending_files < 300
    assert shelf.index.state().rebuilding == pytest.approx(1 - first.pending_files / 300)
    while shelf.index.sync([shelf.files], cancelled=after(100)).pending_files:
        pass
    assert shelf.index.state().files == 300


def test_core_memory_and_the_newest_days_are_read_first(shelf: Bookshelf) -> None:
    paths = [
        "memory/z.md",
        "memory/2026-01-05.md",
        "memory/episodes/2026-02-02.md",
        "MEMORY.md",
        "memory/a.md",
    ]
    for path in paths:
        shelf.write(path, "tea")
    shelf.sync()
    assert shelf.files.was_read == [
        "MEMORY.md",
        "memory/episodes/2026-02-02.md",
        "memory/2026-01-05.md",
        "memory/a.md",
        "memory/z.md",
    ]


def test_several_sources_are_read_each_in_its_turn(shelf: Bookshelf) -> None:
    other = MemoryFiles({f"{number}.md": ["other tea"] for number in range(0, 40, 2)})
    for number in range(1, 40, 2):
        shelf.write(f"{number}.md", "tea")
    assert shelf.index.sync([shelf.files, other]).changed == 40
    with shelf.index.source() as source:
        assert len(source.by_keywords(["tea"], 99, ANYTHING)) == 40


_TEXTS = st.lists(st.sampled_from(("tea", "coffee", "a garden", "violin lesson", "tea again")), max_size=4)


@settings(max_examples=25)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), _TEXTS, max_size=3), min_size=1, max_size=5))
def test_step_by_step_is_the_same_as_at_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[dict[str, list[str]]]
) -> None:
    one = Bookshelf(tmp_path_factory.mktemp("one"))
    other = Bookshelf(tmp_path_factory.mktemp("other"))
    try:
        for files in steps:
            one.files.files = files
            one.sync()
        other.files.files = steps[-1]
        other.sync()
        assert contents(one) == contents(other)
    finally:
        one.close()
        other.close()


def contents(shelf: Bookshelf) -> tuple[list[str], int, int]:
    """Return what an index holds, but for numbers."""
    asked = [f"{path}:{at}" for path in "abc" for at in range(4)]
    with shelf.index.source() as source:
        numbers = source.by_memory(asked, ANYTHING)
        near = shelf.nearest("tea coffee garden violin")
        assert sorted(near) == sorted(ids(source, numbers))
        return (
            [repr((each.chunk, each.unit_terms)) for each in source.read(numbers)],
            source.state.chunks,
            source.state.terms,
        )


def test_chunk_size_is_obeyed(shelf: Bookshelf) -> None:
    index = shelf.open(size=ChunkSize(50, 10))
    shelf.write("a.md", "\n".join(f"line {number} of a long memory" for number in range(60)))
    shelf.sync(index)
    assert index.state().chunks > 5
