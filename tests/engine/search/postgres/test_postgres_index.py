"""The index in PostgreSQL gives what an index file gives, and loses nothing to what befalls a server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import psycopg
import pytest

from tests.engine.search.index.bookshelf import ANYTHING, Bookshelf, MemoryFiles, WordEmbedder, after
from tests.engine.search.postgres.shelf import Database
from workbench.engine.catalog.terms import index_terms
from workbench.engine.search.chunks import ChunkSize, StoredChunk, Within
from workbench.engine.search.contract import IndexSource
from workbench.engine.search.postgres.postings import BASE
from workbench.engine.search.postgres.server import ServerAway, migrations

_FILES = {
    "memory/2026-02-01.md": ["Apple pie with cream.\nApple sauce, too.", "Pear and plum in a bowl."],
    "memory/boats.md": ["The boat sails at dawn.", "An apple boat 苹果船 in the harbour."],
    "memory/" + "long/" * 600 + "name.md": ["A path longer than any page of an index."],
    "memory/'; DROP TABLE chunks; --.md": ["' OR 1=1; --", "NUL \x00 and half \ud83d characters"],
    "memory/\x1f7.md": ["%s %(a)s {} \\x00 $1 \x1f3 \\. \t\\N\r", "NULL"],
    "memory/terms.md": ["x" * 5000, "naïve Straße ﬁn \U0001f600 " + "ב" * 200],
}
_QUESTIONS = (
    "apple boat",
    "pear plum dawn apple",
    "苹果",
    "船",
    "NULL",
    "half characters",
    "naïve",
    "x" * 200,
)
_WITHIN = (
    ANYTHING,
    Within(store="episodic"),
    Within(store="vault"),
    Within(after=date(2026, 2, 1)),
    Within(before=date(2026, 1, 1)),
)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Bookshelf]:
    made = Bookshelf(tmp_path / "index")
    yield made
    made.close()


def both(database: Database, shelf: Bookshelf) -> tuple[IndexSource, IndexSource]:
    for files in (database.files, shelf.files):
        files.files = {path: list(texts) for path, texts in _FILES.items()}
        files.days["memory/2026-02-01.md"] = "2026-02-01"
    index = database.index()
    assert index.sync([database.files]).finished
    shelf.sync()
    return index.source(), shelf.index.source()


def plain(found: list[StoredChunk]) -> list[object]:
    return [(each.number % BASE, each.chunk, each.unit_terms) for each in found]


def own(found: list[tuple[int, float]]) -> list[tuple[int, float]]:
    return sorted((number % BASE, round(score, 4)) for number, score in found)


def test_every_question_is_answered_as_by_an_index_file(database: Database, shelf: Bookshelf) -> None:
    server, file = both(database, shelf)
    terms = list(dict.fromkeys(term for text in _QUESTIONS for term in index_terms(text)))
    assert server.statistics([*terms, "苹*"]) == file.statistics([*terms, "苹*"])
    for question in _QUESTIONS:
        vector = WordEmbedder().embed_query(question)
        for within in _WITHIN:
            asked = [*index_terms(question), "ap*"]
            assert own(server.by_keywords(asked, 50, within)) == own(file.by_keywords(asked, 50, within))
            assert own(server.by_vector(vector, 50, within)) == own(file.by_vector(vector, 50, within))
    numbers = [number for number, _ in server.by_vector(WordEmbedder().embed_query("apple"), 50, ANYTHING)]
    assert plain(server.read(numbers)) == plain(file.read([number % BASE for number in numbers]))
    names = [f"{path}:0" for path in _FILES]
    assert [number % BASE for number in server.by_memory(names, ANYTHING)] == file.by_memory(names, ANYTHING)
    for path in _FILES:
        found = server.by_lines(path, 1, 9, 9, ANYTHING)
        assert [number % BASE for number in found] == file.by_lines(path, 1, 9, 9, ANYTHING)
    first, last = date(2026, 1, 1), date(2026, 3, 1)
    assert len(server.by_day(first, last, 9, ANYTHING)) == len(file.by_day(first, last, 9, ANYTHING)) == 2
    assert server.digests() == file.digests()
    server.close()
    file.close()


def test_what_changes_and_goes_leaves_nothing_behind(database: Database) -> None:
    index = database.index()
    database.write("a.md", "apple pie", "pear tart")
    database.write("b.md", "a boat")
    index.sync([database.files])
    database.write("a.md", "apple pie", "plum cake", "one more")
    del database.files.files["b.md"]
    index.sync([database.files])
    held = database.rows("SELECT convert_from(text, 'UTF8') FROM chunks ORDER BY 1")
    assert held == [("apple pie",), ("one more",), ("plum cake",)]
    terms = {bytes(term).decode() for (term,) in database.rows("SELECT term FROM postings")}
    assert terms.isdisjoint({"pear", "tart", "boat"})
    assert database.rows("SELECT chunks, terms FROM collections") == [(3, 6)]
    del database.files.files["a.md"]
    index.sync([database.files])
    for table in ("chunks", "vectors", "units", "postings", "files"):
        assert database.rows(f"SELECT count(*) FROM {table}") == [(0,)], table
    assert database.rows("SELECT chunks, terms, tokens FROM collections") == [(0, 0, 0)]


def test_vectors_are_made_later_where_somebody_waits_for_words(database: Database) -> None:
    database.embedder = WordEmbedder(is_instant=False)
    index = database.index()
    database.write("a.md", "apple pie", "pear tart")
    assert index.sync([database.files]).pending_vectors == 2
    assert index.embed().pending_vectors == 0
    assert database.rows("SELECT count(*) FROM vectors") == [(2,)]


def test_another_shape_is_built_beside_what_answers(database: Database) -> None:
    database.write("a.md", *(f"apple number {number}" for number in range(200)))
    database.write("b.md", "pear")
    database.index().sync([database.files])
    other = database.index(size=ChunkSize(100, 0))
    assert other.state().is_of_another_shape
    other.sync([database.files], cancelled=after(1))
    assert other.state().is_of_another_shape
    assert other.state().rebuilding is not None
    other.sync([database.files])
    assert not other.state().is_of_another_shape
    assert database.rows("SELECT count(*) FROM collections") == [(1,)]


def test_memories_in_one_database_do_not_see_each_other(database: Database) -> None:
    database.write("a.md", "apple pie")
    database.index("/one").sync([database.files])
    database.write("a.md", "pear tart")
    two = database.index("/two")
    two.sync([database.files])
    source = two.source()
    assert source.by_keywords(["appl"], 9, ANYTHING) == []
    assert len(source.by_vector(WordEmbedder().embed_query("apple pie"), 9, ANYTHING)) == 1
    source.close()
    two.destroy()
    assert database.rows("SELECT count(*) FROM chunks") == [(1,)]


def test_two_indexers_at_once_do_the_work_once(database: Database) -> None:
    database.write("a.md", "apple")
    index = database.index()
    index.sync([database.files])
    started, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        started.set()
        go_on.wait(20)

    slow = MemoryFiles({"a.md": ["apple", "pear"]})
    slow.before_reading = wait
    first = threading.Thread(target=lambda: database.index().sync([slow]))
    first.start()
    assert started.wait(20)
    assert database.index().sync([slow]).busy
    go_on.set()
    first.join()
    assert database.rows("SELECT count(*) FROM chunks") == [(2,)]


_KILLED = """
import os, signal, sys
from tests.engine.search.postgres.shelf import Database
database = Database(sys.argv[1])
for number in range(400):
    database.write(f"{number}.md", f"apple number {number}")
done = []
def progress(count, total):
    if count > 20:
        os.kill(os.getpid(), signal.SIGKILL)
database.index().sync([database.files], progress=progress)
"""


def test_an_indexer_killed_midway_loses_nothing_and_blocks_nobody(database: Database) -> None:
    died = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _KILLED, database.url], check=False, env=dict(os.environ)
    )
    assert died.returncode == -signal.SIGKILL
    for number in range(400):
        database.write(f"{number}.md", f"apple number {number}")
    index = database.index()
    while index.sync([database.files], wait=5.0).busy:
        # The server notices that the process is gone, and lets go of its lock.
        pass
    assert database.rows("SELECT count(*), count(DISTINCT number) FROM chunks") == [(400, 400)]
    assert database.rows("SELECT sum(held) FROM postings WHERE term = 'appl'") == [(400,)]
    assert index.state().chunks == 400


def test_connections_that_the_server_cut_are_replaced(database: Database) -> None:
    database.write("a.md", "apple")
    index = database.index()
    index.sync([database.files])
    database.rows("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    assert index.state().chunks == 1


def test_a_server_that_is_not_there_is_named_and_not_asked_again_at_once(database: Database) -> None:
    index = database.index(server=database.server(url="postgresql://nobody@127.0.0.1:1/none"))
    with pytest.raises(ServerAway, match=r"127\.0\.0\.1:1/none cannot be used: .*refused") as refused:
        index.source()
    assert index.goes_on_elsewhere(refused.value)
    with pytest.raises(ServerAway, match="refused"):
        index.sync([database.files])


def test_tables_of_a_newer_version_are_left_alone(database: Database) -> None:
    database.index().sync([database.files])
    newer = migrations()[-1][0] + 1
    with psycopg.connect(database.url) as connection:
        connection.execute("UPDATE workbench.schema SET version = %s", (newer,))
    with pytest.raises(ServerAway, match=f"newer Workbench .schema {newer}") as refused:
        database.index().sync([database.files])
    assert refused.value.remedy == "Update Workbench on this machine."


def test_a_statement_that_takes_too_long_is_ended(database: Database) -> None:
    server = database.server(statement_seconds=0.2)
    with pytest.raises(ServerAway, match=r"longer than 0\.2 seconds"), server.connection() as connection:
        connection.execute("SELECT pg_sleep(20)")
