"""The scan in memory against an exact one, before and after changes."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.engine.search.index.bookshelf import ANYTHING, Bookshelf, WordEmbedder
from workbench.engine.search.chunks import Within
from workbench.engine.search.index.tables import decode, encode

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


class RandomVectors(WordEmbedder):
    """A random vector for each text, the hardest to tell apart."""

    def _embed(self, text: str) -> FloatArray:
        drawn = np.random.default_rng(list(text.encode())).standard_normal(self.dimensions)
        return (drawn / np.linalg.norm(drawn)).astype(np.float32)


def exact(texts: list[str], embedder: RandomVectors, question: str, most: int) -> list[str]:
    products = embedder.embed_passages(texts) @ embedder.embed_query(question)
    return [texts[at] for at in np.argsort(-products)[:most]]


def nearest(shelf: Bookshelf, question: str, most: int, within: Within = ANYTHING) -> list[str]:
    assert shelf.embedder is not None
    with shelf.index.source() as source:
        found = source.by_vector(shelf.embedder.embed_query(question), most, within)
        assert found == sorted(found, key=lambda pair: -pair[1])
        return [stored.chunk.text for stored in source.read([number for number, _ in found])]


def test_the_nearest_are_those_of_an_exact_scan(shelf: Bookshelf) -> None:
    embedder = RandomVectors(dimensions=64)
    shelf.embedder = embedder
    shelf.index = shelf.open()
    texts = [f"text {number}" for number in range(1500)]
    for at in range(0, 1500, 50):
        shelf.write(f"{at:04}.md", *texts[at : at + 50], day=f"2026-01-{1 + at // 50:02}")
    shelf.sync()
    kept = [len(set(nearest(shelf, q, 10)) & set(exact(texts, embedder, q, 10))) for q in map(str, range(30))]
    assert np.mean(kept) >= 9.9
    late = texts[750:]
    within = Within(after=date(2026, 1, 16))
    assert nearest(shelf, "question", 10, within) == exact(late, embedder, "question", 10)
    # Gone, changed and new ones, across blocks.
    for at in range(0, 1500, 100):
        del shelf.files.files[f"{at:04}.md"]
    shelf.write("0050.md", *(f"new {number}" for number in range(400)))
    shelf.sync()
    present = [text for own in shelf.files.files.values() for text in own]
    for question in map(str, range(10)):
        assert nearest(shelf, question, 10) == exact(present, embedder, question, 10)
    fresh = shelf.open()
    with fresh.source() as source:
        vector = embedder.embed_query("3")
        assert [n for n, _ in source.by_vector(vector, 5, ANYTHING)] == [
            n for n, _ in shelf.index.source().by_vector(vector, 5, ANYTHING)
        ]


def test_a_vector_of_other_dimensions_finds_nothing(shelf: Bookshelf) -> None:
    shelf.write("a.md", "tea")
    shelf.sync()
    with shelf.index.source() as source:
        assert source.by_vector(np.ones(7, np.float32), 5, ANYTHING) == []


def test_what_has_nothing_to_embed_is_found_by_words_alone(shelf: Bookshelf) -> None:
    shelf.write("a.md", "!!! ???")
    shelf.write("b.md", "tea")
    assert shelf.sync().pending_vectors == 0
    assert shelf.nearest("tea") == ["b.md:0"]
    with shelf.index.source() as source:
        (stored,) = source.read(source.by_memory(["a.md:0"], ANYTHING))
        assert stored.vector is None


def test_bytes_give_back_the_direction() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 96)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    codes, scales = encode(rows)
    again = decode(codes.tobytes(), 96)
    assert np.einsum("ij,ij->i", rows, again).min() > 0.9998
    assert np.abs(codes * scales[:, None] - rows).max() < 0.005
    assert encode(np.zeros((1, 3), np.float32))[1].tolist() == [0.0]
    assert decode(b"\0\0\0", 3).tolist() == [[0.0, 0.0, 0.0]]
    assert decode(b"", 3).shape == (0, 3)


@pytest.mark.parametrize("dimensions", [1, 8, 1024])
def test_any_number_of_dimensions(shelf: Bookshelf, dimensions: int) -> None:
    shelf.embedder = RandomVectors(f"of {dimensions}", dimensions=dimensions)
    shelf.index = shelf.open()
    shelf.write("a.md", "tea", "coffee")
    shelf.sync()
    assert nearest(shelf, "tea", 1) == ["tea"] or dimensions == 1
