"""Vectors of slow embedders: made later, bit by bit, kept in the cache, and done without where they fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.engine.search.index.bookshelf import ANYTHING, Bookshelf, WordEmbedder, after
from workbench.engine.search.contract import ChunkVectors
from workbench.engine.search.index import index
from workbench.engine.search.index.building import EmbeddingCache

NOW = 1_770_000_000
DAY = 86_400


def slow(shelf: Bookshelf, count: int = 100) -> WordEmbedder:
    shelf.embedder = embedder = WordEmbedder("slow", is_instant=False)
    shelf.index = shelf.open()
    for number in range(count):
        shelf.write(f"{number:03}.md", f"memory {number}")
    return embedder


def test_words_are_found_before_there_are_vectors(shelf: Bookshelf) -> None:
    embedder = slow(shelf)
    done = shelf.sync()
    assert (done.finished, done.pending_vectors, embedder.embedded) == (True, 100, [])
    assert shelf.found("7") == ["007.md:0"]
    assert shelf.nearest("memory 7") == []
    told: list[tuple[int, int]] = []
    assert shelf.index.embed(progress=lambda at, total: told.append((at, total))).pending_vectors == 0
    assert told[-1] == (100, 100)
    assert len(told) > 2
    assert shelf.nearest("memory 7")[0] == "007.md:0"
    assert shelf.index.state().dimensions == embedder.dimensions


def test_the_words_of_very_many_files_wait_for_no_vectors_where_somebody_waits_for_them(
    shelf: Bookshelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MANY_STALE", 10)
    for number in range(10):
        shelf.write(f"{number}.md", f"memory {number}")
    assert shelf.embedder is not None
    done = shelf.index.sync([shelf.files], words_first=True)
    assert (done.finished, done.pending_vectors, shelf.embedder.embedded) == (True, 10, [])
    assert shelf.found("7") == ["7.md:0"]
    assert shelf.index.embed().pending_vectors == 0
    assert shelf.nearest("memory 7")[0] == "7.md:0"
    shelf.write("7.md", "memory 77")
    assert shelf.index.sync([shelf.files], words_first=True).pending_vectors == 0
    assert shelf.nearest("memory 77")[0] == "7.md:0"


def test_embedding_cut_short_goes_on_where_it_stopped(shelf: Bookshelf) -> None:
    embedder = slow(shelf)
    shelf.sync()
    done = shelf.index.embed(cancelled=after(2))
    assert 0 < done.pending_vectors < 100
    made = len(embedder.embedded)
    assert shelf.index.state().pending_vectors == done.pending_vectors
    stopping: list[bool] = []
    embedder.before_each = lambda: stopping.append(True)
    assert shelf.index.embed(cancelled=lambda: bool(stopping)).pending_vectors == done.pending_vectors
    embedder.before_each = lambda: None
    embedder.embedded.clear()
    assert shelf.index.embed().pending_vectors == 0
    assert len(embedder.embedded) == 100 - made


def test_an_embedder_that_fails_leaves_the_words_complete_and_says_why(shelf: Bookshelf) -> None:
    embedder = slow(shelf)
    embedder.fails = True
    shelf.sync()
    done = shelf.index.embed()
    assert done.pending_vectors == 100
    assert "does not answer" in (done.failure or "")
    assert shelf.index.state().failure == done.failure
    assert shelf.found("7") == ["007.md:0"]
    embedder.fails = False
    assert shelf.index.embed().failure is None
    assert shelf.index.state().failure is None


def test_an_instant_embedder_that_fails_is_asked_again_later(shelf: Bookshelf) -> None:
    assert shelf.embedder is not None
    shelf.embedder.fails = True
    shelf.write("a.md", "tea")
    done = shelf.sync()
    assert (done.finished, done.pending_vectors) == (True, 1)
    assert done.failure is not None
    shelf.embedder.fails = False
    assert shelf.index.embed().pending_vectors == 0
    assert shelf.nearest("tea") == ["a.md:0"]


def test_files_may_change_while_vectors_are_made(shelf: Bookshelf) -> None:
    embedder = slow(shelf)
    shelf.sync()

    def change() -> None:
        embedder.before_each = lambda: None
        del shelf.files.files["000.md"]
        shelf.write("001.md", "something else")
        assert shelf.sync().changed == 1

    embedder.before_each = change
    assert shelf.index.embed().pending_vectors == 0
    assert shelf.nearest("something else")[0] == "001.md:0"
    assert "000.md:0" not in shelf.nearest("memory 0")
    assert shelf.index.state().chunks == 99


def test_a_second_embedding_at_the_same_time_is_refused(shelf: Bookshelf) -> None:
    embedder = slow(shelf)
    shelf.sync()
    other = shelf.open()
    seen: list[bool] = []

    def ask() -> None:
        embedder.before_each = lambda: None
        seen.extend((shelf.index.embed().busy, other.embed().busy))

    embedder.before_each = ask
    shelf.index.embed()
    assert seen == [True, True]


def test_vectors_of_other_dimensions_replace_all_others(shelf: Bookshelf) -> None:
    embedder = slow(shelf, 40)
    shelf.sync()
    shelf.index.embed(cancelled=after(2))
    embedder.dimensions = 48
    embedder.before_each = lambda: None
    shelf.index.embed()
    assert shelf.index.embed().pending_vectors == 0
    assert shelf.index.state().dimensions == 48
    with shelf.index.source() as source:
        assert len(source.by_vector(embedder.embed_query("memory 1"), 100, ANYTHING)) == 40


def test_a_rebuild_takes_vectors_from_the_cache(shelf: Bookshelf) -> None:
    embedder = slow(shelf)
    shelf.sync()
    shelf.index.embed()
    before = shelf.nearest("memory 7")
    embedder.embedded.clear()
    shelf.index.sync([shelf.files], force=True)
    assert shelf.index.embed().pending_vectors == 0
    assert embedder.embedded == []
    assert shelf.nearest("memory 7") == before


def vectors(seed: int, units: int | None) -> ChunkVectors:
    rows = np.random.default_rng(seed).standard_normal((1 + (units or 0), 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return ChunkVectors(rows[0], rows[1:] if units else None)


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    cache = EmbeddingCache(tmp_path / "cache.sqlite", "model", 3)
    keys = [cache.key([str(number)]) for number in range(5)]
    for number in range(3):
        cache.put({keys[number]: vectors(number, None)}, NOW + number * DAY)
    assert set(cache.get(keys, NOW + 5 * DAY)) == set(keys[:3])
    assert set(cache.get(keys[:1], NOW + 9 * DAY)) == {keys[0]}
    cache.put({keys[3]: vectors(3, 2), keys[4]: vectors(4, None)}, NOW + 9 * DAY)
    kept = cache.get(keys, NOW + 9 * DAY)
    assert set(kept) == {keys[0], keys[3], keys[4]}
    units = kept[keys[3]].units
    assert units is not None
    assert units.shape == (2, 8)
    assert kept[keys[0]].units is None
    assert kept[keys[0]].whole.tolist() == vectors(0, None).whole.tolist()
    cache.close()


def test_vectors_of_another_model_are_others(tmp_path: Path) -> None:
    one = EmbeddingCache(tmp_path / "cache.sqlite", "model", 9)
    other = EmbeddingCache(tmp_path / "cache.sqlite", "another", 9)
    one.put({one.key(["tea"]): vectors(0, None)}, NOW)
    assert other.get([other.key(["tea"])], NOW) == {}
    assert one.key(["a", "b"]) != one.key(["ab"])
    one.close()
    other.close()


def test_a_cache_that_is_damaged_or_cannot_be_kept_is_done_without(tmp_path: Path) -> None:
    place = tmp_path / "cache.sqlite"
    place.write_bytes(b"no database" * 1000)
    cache = EmbeddingCache(place, "model", 9)
    key = cache.key(["tea"])
    assert cache.get([key], NOW) == {}
    cache.put({key: vectors(0, None)}, NOW)
    assert key in cache.get([key], NOW)
    cache.close()
    nowhere = EmbeddingCache(tmp_path / "missing/cache.sqlite", "model", 9)
    nowhere.put({key: vectors(0, None)}, NOW)
    assert nowhere.get([key], NOW) == {}
    off = EmbeddingCache(tmp_path / "off.sqlite", "model", 0)
    off.put({key: vectors(0, None)}, NOW)
    assert off.get([key], NOW) == {}
    assert not (tmp_path / "off.sqlite").exists()
