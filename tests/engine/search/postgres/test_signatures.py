"""Signatures find what comparing all vectors finds, and follow whatever changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import psycopg
import pytest

from tests.engine.search.index.bookshelf import ANYTHING, WordEmbedder
from tests.engine.search.postgres.shelf import Database
from workbench.engine.search.chunks import Within
from workbench.engine.search.postgres import signatures, source
from workbench.engine.search.postgres.index import PostgresIndex
from workbench.engine.search.postgres.postings import BASE
from workbench.engine.search.postgres.server import migrations
from workbench.engine.search.postgres.signatures import BITS, signatures_of

WORDS = (
    "apple",
    "pear",
    "plum",
    "boat",
    "harbour",
    "dawn",
    "cream",
    "sauce",
    "bowl",
    "oar",
    "sail",
    "rope",
    "tide",
)
ASKED = "apple boat tide"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a few vectors looked up as a million would be."""
    monkeypatch.setattr(source, "_MOST_EXACT", 10)
    monkeypatch.setattr(source, "_COMPARED", 60)


def written(database: Database, files: int = 8) -> None:
    random = np.random.default_rng(5)
    for file in range(files):
        texts = [" ".join(random.choice(WORDS, 6)) + f" {file} {number}" for number in range(40)]
        database.write(f"{file}.md", *texts, day="2026-02-01" if file % 2 else "2026-01-01")


def near(index: PostgresIndex, within: Within = ANYTHING, text: str = ASKED) -> list[int]:
    asked = index.source()
    found = asked.by_vector(WordEmbedder().embed_query(text), 10, within)
    asked.close()
    return [number for number, _ in found]


def all_compared(index: PostgresIndex, monkeypatch: pytest.MonkeyPatch, text: str = ASKED) -> list[int]:
    with monkeypatch.context() as patch:
        patch.setattr(source, "_MOST_EXACT", 1_000_000)
        return near(index, text=text)


def test_the_angle_shows_in_the_bits() -> None:
    random = np.random.default_rng(3)
    for dimensions in (32, 256, 384, 1000):
        vectors = random.standard_normal((200, dimensions)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        bits = signatures_of(vectors)
        assert bits.shape == (200, BITS // 64)
        share = np.bitwise_count(bits[:100] ^ bits[100:]).sum(axis=1) / BITS
        angles = np.arccos(np.einsum("ij,ij->i", vectors[:100], vectors[100:])) / np.pi
        assert np.abs(share - angles).max() < 0.15


def test_signatures_are_the_same_in_every_version() -> None:
    # They are stored: another turn of vectors needs another migration.
    vector = np.linspace(-1, 1, 256, dtype=np.float32)[None, :]
    assert signatures_of(vector).astype("<u8").tobytes().hex()[:32] == "731c4223a0baf61439114e4c3b998f2d"


def test_what_is_nearest_is_found_whatever_changes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(database)
    index = database.index()
    index.sync([database.files])
    first = near(index)
    assert first == all_compared(index, monkeypatch)
    database.write("3.md", *(f"{ASKED} {number}" for number in range(5)))
    del database.files.files["4.md"]
    # The one who asks is another process than the one who changes.
    database.index().sync([database.files])
    second = near(index)
    assert second == all_compared(index, monkeypatch)
    assert second[:5] != first[:5]
    assert database.rows("SELECT sum(length(data)) / 68 FROM signatures") == database.rows(
        "SELECT count(*) FROM vectors"
    )


def test_what_is_filtered_out_takes_no_places(database: Database) -> None:
    written(database)
    index = database.index()
    index.sync([database.files])
    assert len(near(index, Within(store="episodic"))) == 10
    assert near(index, Within(store="vault")) == []


def test_vectors_made_later_are_signed_beside_a_change_of_files(database: Database) -> None:
    database.embedder = WordEmbedder(is_instant=False)
    written(database)
    index = database.index()
    index.sync([database.files])
    changed = False

    def change() -> None:
        nonlocal changed
        if not changed:
            changed = True
            database.write("0.md", ASKED)
            database.index().sync([database.files])

    database.embedder.before_each = change
    index.embed()
    index.embed()
    assert database.rows("SELECT sum(length(data)) / 68 FROM signatures") == [(281,)]
    assert len(near(index)) == 10


def test_memories_are_held_apart_and_read_again_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = database.server()
    written(database)
    for path in ("/a", "/b", "/c"):
        database.index(path).sync([database.files])
    indexes = {path: database.index(path, server=server) for path in ("/a", "/b", "/c")}
    found = {path: near(index) for path, index in indexes.items()}
    assert [each % BASE for each in found["/a"]] == [each % BASE for each in found["/b"]]
    assert not {*found["/a"]} & {*found["/b"]}
    database.write("0.md", ASKED)
    database.index("/b").sync([database.files])
    monkeypatch.setattr(signatures, "_MOST_HELD", 700)
    assert near(indexes["/b"])[0] not in found["/b"]
    assert (near(indexes["/a"]), near(indexes["/c"])) == (found["/a"], found["/c"])
    assert len(server.signatures._held.numbers) <= 700
    monkeypatch.setattr(signatures, "_MOST_HELD", 100)
    assert (near(indexes["/a"]), near(indexes["/c"])) == (found["/a"], found["/c"])
    database.files.files.clear()
    database.index("/c").sync([database.files])
    monkeypatch.setattr(source, "_MOST_EXACT", -1)
    monkeypatch.setattr(signatures, "_MOST_HELD", -1)
    assert near(indexes["/c"]) == []


def test_another_model_leaves_no_signature_of_the_one_before(database: Database) -> None:
    written(database)
    index = database.index()
    index.sync([database.files])
    other = database.index(embedder=WordEmbedder(dimensions=64))
    database.write("0.md", ASKED)
    other.sync([database.files])
    other.embed()
    assert database.rows("SELECT sum(length(data)) / 68 FROM signatures") == database.rows(
        "SELECT count(*) FROM vectors"
    )


def test_tables_from_before_are_signed_with_the_next_sync(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(database)
    index = database.index()
    index.sync([database.files])
    found = near(index)
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET search_path = workbench, public")
        connection.execute("DROP TABLE signatures")
        connection.execute("ALTER TABLE collections DROP signed")
        connection.execute(
            "CREATE INDEX vectors_nearest_32 ON vectors USING hnsw ((embedding::vector(32)) vector_ip_ops)"
        )
        connection.execute("UPDATE schema SET version = 1")
    assert [number for number, _ in migrations()] == [1, 2]
    again = database.index()
    assert near(again) == found
    assert database.rows("SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'vectors_nearest%%'") == [(0,)]
    again.sync([database.files])
    asked = 0
    nearest = again._server.signatures.nearest

    def counted(*given: Any) -> list[int]:
        nonlocal asked
        asked += 1
        return nearest(*given)

    monkeypatch.setattr(again._server.signatures, "nearest", counted)
    assert near(again) == found
    assert asked == 1
