"""Measures a hub of many workspaces: `python -m tests.benchmarks.hub --workspaces 1000 --chunks 200`.

Texts are drawn from a made-up vocabulary by Zipf's law, vectors are sums of a random vector for each word: synthetic,
but they go the way of real ones. A server is started for the run, unless WORKBENCH_HUB_URL names a database. With
`--keep FOLDER` its data stay there, and the next run asks them. Beside the time on the clock stands the processor time
of a question, this process and the server's together.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from workbench.engine.catalog.records import MemoryRecord
from workbench.engine.clock import SystemClock
from workbench.engine.search.chunks import ChunkSize, ChunkSource, FileRecords, Within
from workbench.engine.search.index.files import IndexShape
from workbench.engine.search.index.index import Index
from workbench.engine.search.postgres.index import PostgresIndex, View
from workbench.engine.search.postgres.server import Server
from workbench.engine.search.postgres.source import ASKED, Collection, PostgresSource
from workbench.engine.search.ranking.question import SearchOptions
from workbench.engine.search.ranking.search import Search, SearchQuery
from workbench.engine.settings.sections import HubSettings

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.search.postgres.server import Connection

DIMENSIONS, VOCABULARY, WORDS, IN_A_FILE = 256, 30_000, 50, 20
# A server that has just started reads from disk what one at work has in memory.
COLD = 50
NOW = datetime(2026, 2, 2, 12, tzinfo=UTC)
_LETTERS = np.array(list("bcdfghklmnprstvw"))
_VOWELS = np.array(list("aeiou"))


class Language:
    """Words, how often each comes up, and the vector of each; also an embedder."""

    provider, model, fingerprint, is_instant, dimensions = (
        "builtin",
        "synthetic",
        "synthetic",
        True,
        DIMENSIONS,
    )

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self._asking = np.random.default_rng(seed + 1)
        syllables = np.char.add(
            self.random.choice(_LETTERS, (VOCABULARY, 4)), self.random.choice(_VOWELS, (VOCABULARY, 4))
        )
        self.words = np.array(["".join(row) for row in syllables])
        self._place = {word: at for at, word in enumerate(self.words)}
        self._vectors = self.random.standard_normal((VOCABULARY, DIMENSIONS)).astype(np.float32)
        weights = 1 / np.arange(10, VOCABULARY + 10)
        self._steps = np.cumsum(weights / weights.sum())

    def text(self, count: int = WORDS) -> str:
        return " ".join(self.words[np.searchsorted(self._steps, self.random.random(count))])

    def question(self) -> str:
        return " ".join(self.words[self._asking.integers(50, 5_000, 5)])

    def embed_query(self, text: str) -> FloatArray:
        places = [self._place[word] for word in text.split() if word in self._place]
        total: FloatArray = self._vectors[places].sum(axis=0) if places else np.zeros(DIMENSIONS, np.float32)
        length = float(np.sqrt(np.square(total).sum()))
        return total / length if length else total

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        del cancelled
        return np.stack([self.embed_query(text) for text in texts])

    def close(self) -> None:
        pass


class Files:
    """The files of one workspace."""

    def __init__(self, language: Language, chunks: int, name: str = "") -> None:
        self._texts = {
            f"{name}{at:05}.md": [language.text() for _ in range(min(IN_A_FILE, chunks - at))]
            for at in range(0, chunks, IN_A_FILE)
        }

    def digests(self) -> Mapping[str, bytes]:
        return dict.fromkeys(self._texts, b"1")

    def read(self, paths: Sequence[str]) -> Iterator[FileRecords]:
        for path in paths:
            records = tuple(
                MemoryRecord(
                    id=f"episode:{path}:{at}", store="episodic", path=path, start_line=2 * at + 1,
                    end_line=2 * at + 1, title=text[:40], text=text, moment=NOW,
                )
                for at, text in enumerate(self._texts[path])
            )  # fmt: skip
            yield FileRecords(path, b"1", records)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--workspaces", type=int, default=100)
    parser.add_argument("--chunks", type=int, default=200, help="of each workspace")
    parser.add_argument(
        "--questions", type=int, default=200, help=f"{COLD} of them as soon as the server started"
    )
    parser.add_argument("--embedded", type=int, default=50_000, help="chunks of the embedded index beside it")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the server's data stay")
    given = parser.parse_args()
    language = Language(7)
    with tempfile.TemporaryDirectory() as folder:
        url = os.environ.get("WORKBENCH_HUB_URL") or started((given.keep or Path(folder)) / "data")
        server = Server(HubSettings(url=url, connections=20, statement_seconds=3600.0))
        with server.connection() as connection:
            filled = len(everything(connection))
        if filled < given.workspaces:
            fill(server, language, range(filled, given.workspaces), given.chunks)
        questions = [language.question() for _ in range(given.questions)]
        processor = Processor(url)
        ask_hub(server, language, questions, processor)
        ask_one(server, language, questions, processor)
        compare(server, language, questions)
        print_sizes(url)
        server.close()
        if given.embedded:
            ask_embedded(Path(folder) / "embedded", language, questions, given.embedded)


def started(folder: Path) -> str:
    """Start a server with 2 GB of shared buffers, as a machine that serves many memories would have."""
    from pgserver.postgres_server import get_server

    folder.parent.mkdir(parents=True, exist_ok=True)
    server = get_server(folder, cleanup_mode="stop")
    if server.psql("SHOW shared_buffers").split()[2] != "2GB":
        for setting in ("shared_buffers = '2GB'", "max_wal_size = '4GB'"):
            server.psql(f"ALTER SYSTEM SET {setting}")
        server.cleanup()
        server = get_server(folder, cleanup_mode="stop")
    return str(server.get_uri())


class Processor:
    """Processor time of this process and, if it runs on this machine, of the server with all its children."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(url) as connection:
            row = connection.execute(
                "SELECT pg_read_file('postmaster.pid', 0, 16), pg_backend_pid()"
            ).fetchone()
            assert row is not None
            self._server = int(row[0].split()[0]) if Path(f"/proc/{row[1]}").exists() else None

    def seconds(self) -> float:
        own = resource.getrusage(resource.RUSAGE_SELF)
        ticks = 0
        if self._server is not None:
            ticks = sum(_ticks(self._server)) + sum(
                sum(_ticks(int(child))[:2])
                for child in Path(f"/proc/{self._server}/task/{self._server}/children").read_text().split()
            )
        return own.ru_utime + own.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def _ticks(process: int) -> list[int]:
    """Return user and system time of a process, and of its children that ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return [int(each) for each in fields[11:15]]


def shape() -> IndexShape:
    return IndexShape(ChunkSize(), Language.fingerprint, "benchmark")


def fill(server: Server, language: Language, workspaces: range, chunks: int) -> None:
    """Index every workspace."""
    spent = 0.0
    for number in workspaces:
        files = Files(language, chunks)
        index = PostgresIndex(
            server, View("benchmark", f"/{number}"), shape=shape(), embedder=language, clock=SystemClock()
        )
        spent += timed(lambda index=index, files=files: index.sync([files]))  # type: ignore[misc]
    total = len(workspaces) * chunks
    print(f"{len(workspaces):,} workspaces, {total:,} chunks: {total / spent:,.0f} chunks/s, {spent:.0f} s")
    with server.connection() as connection:
        connection.execute("ANALYZE")


def everything(connection: Connection) -> list[Collection]:
    return [Collection(*row[:-6]) for row in connection.cursor(binary=True).execute(ASKED)]


def one(connection: Connection) -> list[Collection]:
    return everything(connection)[:1]


def searched(source: ChunkSource, language: Language, question: str) -> None:
    options = SearchOptions(max_results=20, min_score=0.0, within=Within())
    Search(
        SearchQuery(question, options, NOW, lambda ids: dict.fromkeys(ids)), source, language.embed_query
    ).found()


def told(what: str, seconds: Sequence[float], processor: float | None = None) -> None:
    p50, p95 = np.percentile(np.array(seconds) * 1000, (50, 95))
    used = "" if processor is None else f", {processor * 1000 / len(seconds):.1f} ms of processor each"
    print(f"{what}: p50 {p50:.1f} ms, p95 {p95:.1f} ms{used}", flush=True)


def timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def ask_hub(server: Server, language: Language, questions: Sequence[str], processor: Processor) -> None:
    """Search all workspaces, alone and with 16 askers (threads of one process).

    The same questions come twice, as nothing keeps an answer: what differs is what the server has to read from disk.
    """

    def ask(question: str) -> None:
        source = PostgresSource(server, everything, are_many=True)
        searched(source, language, question)
        source.close()

    for what, asked in (
        ("server just started", questions[:COLD]),
        ("alone, asked for the first time", questions[COLD:]),
        ("alone, what they need being in memory", questions[COLD:]),
    ):
        used = processor.seconds()
        spent = [timed(lambda q=question: ask(q)) for question in asked]  # type: ignore[misc]
        told(f"hub, all workspaces, {what}", spent, processor.seconds() - used)
    began = time.perf_counter()
    with ThreadPoolExecutor(16) as pool:
        spent = list(pool.map(lambda question: timed(lambda: ask(question)), questions))
    told("hub, all workspaces, 16 askers", spent)
    print(f"  {len(questions) / (time.perf_counter() - began):.0f} searches/s")
    for name, lane in (
        ("keywords", lambda source, q: source.by_keywords(q.split(), 100, Within())),
        ("meaning", lambda source, q: source.by_vector(language.embed_query(q), 100, Within())),
    ):
        spent, used = [], processor.seconds()
        for question in questions:
            source = PostgresSource(server, everything, are_many=True)
            spent.append(timed(lambda s=source, q=question, of=lane: of(s, q)))  # type: ignore[misc]
            source.close()
        told(f"  of it {name}", spent, processor.seconds() - used)


def ask_one(server: Server, language: Language, questions: Sequence[str], processor: Processor) -> None:
    """Search one workspace of the hub."""
    spent, used = [], processor.seconds()
    for question in questions:
        began = time.perf_counter()
        source = PostgresSource(server, one)
        searched(source, language, question)
        source.close()
        spent.append(time.perf_counter() - began)
    told("hub, one workspace", spent, processor.seconds() - used)


def compare(server: Server, language: Language, questions: Sequence[str]) -> None:
    """Time bare pgvector comparing all, and count what the hub misses of the nearest: of all, and in a tenth."""

    def tenth(connection: Connection) -> list[Collection]:
        return everything(connection)[::10]

    spent = []
    missed: dict[str, list[float]] = {"all": [], "a tenth": []}
    for question in questions[:30]:
        vector = language.embed_query(question)
        for name, choose in (("all", everything), ("a tenth", tenth)):
            source = PostgresSource(server, choose, are_many=True)
            found = {number for number, _ in source.by_vector(vector, 100, Within())}
            ids = [each.id for each in source.collections]
            source.close()
            with server.connection() as connection:
                register_vector(connection)
                began = time.perf_counter()
                rows = connection.execute(
                    "SELECT number FROM vectors WHERE collection = ANY(%s) ORDER BY embedding <#> %s LIMIT 100",
                    (ids, vector),
                ).fetchall()
            if name == "all":
                spent.append(time.perf_counter() - began)
            missed[name].append(len(found & {number for (number,) in rows}) / len(rows))
    told("bare pgvector, all compared", spent)
    print(
        "  recall@100 of the hub:", ", ".join(f"{name} {np.mean(each):.3f}" for name, each in missed.items())
    )


def print_sizes(url: str) -> None:
    """Print memory and disk."""
    with psycopg.connect(url) as connection:
        for name, size in connection.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relnamespace = 'workbench'::regnamespace"
            " AND relkind = 'r' ORDER BY 2 DESC LIMIT 5"
        ):
            print(f"  {name}: {size / 1e6:,.0f} MB")
        print("shared_buffers", connection.execute("SHOW shared_buffers").fetchone())
    print(f"this process at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:,.0f} MB")


def ask_embedded(folder: Path, language: Language, questions: Sequence[str], chunks: int) -> None:
    """Index and search the same kind of text in an index file."""
    index = Index(folder, shape=shape(), embedder=language, cache_entries=0, clock=SystemClock())
    files = Files(language, chunks)
    spent = timed(lambda: index.sync([files], wait=600))
    print(f"embedded, {chunks:,} chunks: {chunks / spent:,.0f} chunks/s")

    def ask(question: str) -> None:
        with index.source() as source:
            searched(source, language, question)

    for question in questions[:10]:
        ask(question)
    told("embedded, alone", [timed(lambda q=question: ask(q)) for question in questions])  # type: ignore[misc]
    print(f"  {index.state().size_bytes / 1e6:,.0f} MB")
    index.close()


if __name__ == "__main__":
    main()
