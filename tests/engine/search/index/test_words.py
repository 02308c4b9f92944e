"""BM25 from lists in memory against that of FTS5."""

from __future__ import annotations

import random

import apsw
import pytest

from tests.engine.search.index.bookshelf import ANYTHING, Bookshelf
from workbench.engine.search.contract import ChunkWords
from workbench.engine.search.index.building import words_of
from workbench.engine.search.index.words import counted

WORDS = ("tea", "teas", "coffee", "milk", "garden", "2", "今", "今天", "a_b")


@pytest.mark.parametrize("seed", range(5))
def test_it_is_that_of_fts5(shelf: Bookshelf, seed: int) -> None:
    chance = random.Random(seed)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(1, 30))) for _ in range(60)]
    shelf.write("a.md", *texts[:40])
    shelf.write("b.md", *texts[40:])
    shelf.sync()
    del shelf.files.files["a.md"]
    shelf.write("c.md", *texts[:20])
    shelf.sync()
    bare = apsw.Connection("")
    bare.execute("""CREATE VIRTUAL TABLE words USING fts5 (title, text, tokenize="ascii tokenchars '_'")""")
    with shelf.index.source() as source:
        for stored in source.read(list(range(1, 100))):
            assert stored.unit_terms is not None
            title = words_of(stored.chunk).title
            bare.execute(
                "INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)",
                (stored.number, title, "\n".join(stored.unit_terms)),
            )
        for asked in (
            ["garden"],
            ["tea", "milk"],
            ["2", "a_b", "coffee"],
            ["今*"],
            ["tea*", "milk"],
            ["none"],
        ):
            expression = " OR ".join(f'"{term[:-1]}"*' if term[-1] == "*" else f'"{term}"' for term in asked)
            found = source.by_keywords(asked, 100, ANYTHING)
            question = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?"
            wanted = {row[0]: row[1] for row in bare.execute(question, (expression,))}
            assert dict(found) == pytest.approx(wanted, rel=1e-9)
            assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))


def test_terms_are_counted_in_title_and_text() -> None:
    assert counted(ChunkWords("tea milk", "tea tea\nmilk", 3, ())) == ("tea milk 2#tea 3#tea 2#milk", 5)
    assert counted(ChunkWords("", "", 0, ())) == ("", 0)
