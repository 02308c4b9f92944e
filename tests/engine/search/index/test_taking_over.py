"""Another shape is built beside the one there is, which answers until then; nothing is left lying about."""

from __future__ import annotations

import pytest

from tests.engine.search.index.bookshelf import Bookshelf, WordEmbedder, after
from workbench.engine.search.chunks import ChunkSize
from workbench.engine.search.index.index import Index


def fill(shelf: Bookshelf, count: int = 300) -> None:
    for number in range(count):
        shelf.write(f"{number:03}.md", f"memory {number}")


def test_the_old_index_answers_until_the_new_one_holds_every_file(shelf: Bookshelf) -> None:
    fill(shelf)
    shelf.sync()
    old = shelf.names()
    shelf.index.close()
    other = shelf.open(size=ChunkSize(100, 20))
    assert other.sync([shelf.files], cancelled=after(100)).pending_files
    assert len(shelf.names()) == 2
    state = other.state()
    assert (state.is_of_another_shape, state.chunks) == (True, 300)
    assert state.rebuilding is not None
    assert shelf.found("299", index=other) == ["299.md:0"]
    assert shelf.sync(other).finished
    state = other.state()
    assert (state.is_of_another_shape, state.rebuilding) == (False, None)
    assert len(shelf.names()) == 1
    assert not set(old) & set(shelf.names())
    assert shelf.found("299", index=other) == ["299.md:0"]


def test_an_index_in_use_is_left_alone(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    shelf.sync()
    other = shelf.open(size=ChunkSize(100, 20))
    shelf.sync(other)
    assert len(shelf.names()) == 2
    assert shelf.found("memory") != []
    shelf.index.close()
    other.sync([shelf.files], force=True)
    assert len(shelf.names()) == 1


def test_by_force_everything_is_built_anew(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    shelf.sync()
    reader = shelf.open()
    assert shelf.found("memory", index=reader) != []
    before = shelf.names()
    assert shelf.index.sync([shelf.files], force=True).changed == 3
    assert len(shelf.names()) == 1
    assert shelf.names() != before
    # One that was open on the file before follows.
    shelf.write("new.md", "newest")
    shelf.sync()
    assert shelf.found("newest", index=reader) == ["new.md:0"]


def test_a_building_by_force_that_was_cut_short_is_gone_on_with(shelf: Bookshelf) -> None:
    fill(shelf)
    shelf.sync()
    assert shelf.index.sync([shelf.files], force=True, cancelled=after(100)).pending_files
    shelf.index.close()
    again = shelf.open()
    assert len(shelf.found("memory", index=again)) == 20
    done = shelf.sync(again)
    assert 0 < done.changed < 300
    assert again.state().chunks == 300
    assert len(shelf.names()) == 1


def test_a_new_embedder_takes_over_as_soon_as_all_words_are_there(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    shelf.sync()
    shelf.index.close()
    slow = WordEmbedder("slow", is_instant=False)
    index = shelf.open(slow)
    assert shelf.sync(index).pending_vectors == 3
    assert not index.state().is_of_another_shape
    assert index.embed().pending_vectors == 0


def test_a_new_chunk_size_waits_for_its_vectors_where_the_old_ones_still_serve(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    slow = WordEmbedder("slow", is_instant=False)
    first = shelf.open(slow)
    shelf.sync(first)
    first.embed()
    first.close()
    second = shelf.open(slow, size=ChunkSize(100, 20), cache_entries=0)
    assert shelf.sync(second).pending_vectors == 3
    assert second.state().is_of_another_shape
    assert second.embed().pending_vectors == 0
    assert not second.state().is_of_another_shape
    assert shelf.nearest("memory", index=second) != []


def test_destroying_leaves_nothing(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    slow = WordEmbedder("slow", is_instant=False)
    index = shelf.open(slow)
    shelf.sync(index)
    index.embed()
    shelf.sync()
    (shelf.folder / "catalog.sqlite").write_text("not ours")
    shelf.index.close()
    index.destroy()
    left = {place.name for place in shelf.folder.iterdir()}
    assert left <= {"catalog.sqlite", "recall.lock", "recall-embedding.lock"}
    assert shelf.sync(index).changed == 3


def test_the_size_on_disk_counts_everything(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    shelf.sync()
    total = sum(place.stat().st_size for place in shelf.folder.iterdir())
    assert shelf.index.state().size_bytes == pytest.approx(total, rel=0.1)


@pytest.fixture
def two(shelf: Bookshelf) -> tuple[Index, Index]:
    return shelf.index, shelf.open()


def test_two_doors_on_one_index_see_each_others_work(shelf: Bookshelf, two: tuple[Index, Index]) -> None:
    one, other = two
    shelf.write("a.md", "tea")
    shelf.sync(one)
    assert shelf.nearest("tea", index=other) == ["a.md:0"]
    shelf.write("b.md", "coffee")
    shelf.sync(other)
    assert shelf.nearest("coffee", index=one)[0] == "b.md:0"
    assert shelf.sync(one).changed == 0
