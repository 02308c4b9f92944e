"""Times the search index: `python -m tests.benchmarks.speed [--chunks 5000 50000 200000] [--words 60]`.

Each part runs in a process of its own, so that its peak memory is its own. Indexing is done with the built-in
embedder at its own dimensions; questions are asked of 384 dimensions filled with random unit vectors, the worst
there is for anything that approximates. Beside the time by the clock stands the time that the processor worked, all
threads together ("cpu"), since other programs on the machine lengthen the former far more.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import apsw
import numpy as np

from tests.benchmarks.chunk_files import FilesInMemory, GeneratedFiles, RandomEmbedder
from workbench.engine.catalog.terms import question_terms
from workbench.engine.clock import SystemClock
from workbench.engine.providers.embedding.embedder import StaticEmbedder
from workbench.engine.search.chunks import ChunkSize, Within
from workbench.engine.search.index import tables
from workbench.engine.search.index.files import IndexShape
from workbench.engine.search.index.index import Index, Snapshot

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray

P = ParamSpec("P")

DIMENSIONS = 384
QUESTIONS = 200
CANDIDATES = 120
MANY = 50_000
ANYTHING = Within()
ROUNDS = 15
ASKED = (
    "what was decided about the budget of the garden",
    "invoice pipeline",
    "when did we deploy the search",
    "How do I handle hiring",
    "what is the latest on the health design",
    "tell me about travel and music",
    "the auth decision in January",
)


@dataclass(frozen=True)
class Took:
    """Seconds by the clock, and of the processor."""

    clock: float
    processor: float


def main() -> None:
    """Run the parts asked for, for each size, and print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, nargs="+", default=[5_000, 50_000, 200_000])
    parser.add_argument("--words", type=int, default=60, help="words of a chunk on average")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part:
        PARTS[asked.part](GeneratedFiles(asked.chunks[0], asked.words), asked.chunks[0], asked.folder)
        return
    for chunks in asked.chunks:
        print(f"\n{chunks:,} chunks of {asked.words} words on average")
        with tempfile.TemporaryDirectory() as folder:
            for part in asked.parts:
                same = [
                    "--chunks",
                    str(chunks),
                    "--words",
                    str(asked.words),
                    "--part",
                    part,
                    "--folder",
                    folder,
                ]
                command = [sys.executable, "-m", "tests.benchmarks.speed", *same]
                subprocess.run(command, check=True)


def time_building(files: GeneratedFiles, chunks: int, folder: Path) -> None:
    """Index everything with the built-in embedder, twice, then one file."""
    index = opened(folder / "builtin", StaticEmbedder())
    written = FilesInMemory(files.read(list(files.digests())))
    first: list[float] = []
    for name, least, force in (
        ("indexing with the built-in embedder, cold", 5_000, False),
        ("indexing once more by force, warm", 20_000, True),
    ):
        started = time.perf_counter()
        took = timed(
            index.sync,
            [written],
            force=force,
            progress=lambda _done, _total: first.append(time.perf_counter()),
        )
        rate = chunks / took.clock
        say(name, f"{rate:,.0f} chunks/s ({chunks / took.processor:,.0f} per processor second)", least, rate)
        say("  until the first can be found", f"{(first[0] - started) * 1000:.0f} ms")
        first.clear()
    del written
    say("  size on disk", f"{index.state().size_bytes / 1e6:.0f} MB")
    say("  peak memory", f"{peak_megabytes():.0f} MB")
    time_refreshing(index, files)
    say("looking at all files, none changed", figures(often(lambda: index.sync([files]))))
    index.close()


def time_refreshing(index: Index, files: GeneratedFiles) -> None:
    """Change one file again and again; it counts once it is found by a word that is new in it."""
    path = next(reversed(list(files.digests())))

    def refresh() -> None:
        files.changed[path] = files.changed.get(path, 0) + 1
        index.sync([files])
        with index.source() as source:
            assert source.by_keywords([f"revision{files.changed[path]}"], 1, ANYTHING)

    took = often(refresh)
    slowest = max(each.clock for each in took)
    say("one changed file until it is found", figures(took), 100, slowest * 1000, most=True)


def time_searching(files: GeneratedFiles, chunks: int, folder: Path) -> None:
    """Ask an index of random vectors, and the floors: a numpy scan and a bare FTS5 query."""
    place = folder / "random"
    subprocess.run(
        [sys.executable, "-c", FILL, str(place), str(chunks), str(files.words), str(DIMENSIONS)], check=True
    )
    before = peak_megabytes()
    embedder = RandomEmbedder(DIMENSIONS)
    started = time.perf_counter()
    index = opened(place, embedder)
    with index.source():
        pass
    say(
        "opening",
        f"{(time.perf_counter() - started) * 1000:.1f} ms",
        50,
        time.perf_counter() - started,
        most=True,
    )
    asked = [(list(question_terms(text)), embedder.embed_query(text)) for text in files.questions(QUESTIONS)]
    started = time.perf_counter()
    with index.source() as source:
        ask(source, *asked[0])
    say("first question, vectors read in", f"{(time.perf_counter() - started) * 1000:.1f} ms")
    lanes: dict[str, Callable[[Snapshot, list[str], FloatArray], object]] = {
        "candidates of both lanes, read": ask,
        "  keywords": lambda source, terms, _: source.by_keywords(terms, CANDIDATES, ANYTHING),
        "  statistics": lambda source, terms, _: source.statistics(terms),
        "  vectors": lambda source, _, vector: source.by_vector(vector, CANDIDATES, ANYTHING),
        "  vectors of one store": lambda source, _, v: source.by_vector(
            v, CANDIDATES, Within(store="episodic")
        ),
    }

    def ask_lane(
        lane: Callable[[Snapshot, list[str], FloatArray], object], terms: list[str], vector: FloatArray
    ) -> None:
        with index.source() as source:
            lane(source, terms, vector)

    for name, lane in lanes.items():
        taken = []
        for terms, vector in asked:
            taken.append(timed(ask_lane, lane, terms, vector))
        say(name, spread(taken))
    say(
        "  peak memory",
        f"{peak_megabytes():.0f} MB, {before:.0f} MB before",
        250,
        peak_megabytes(),
        most=True,
    )
    compare(index, place, asked)


def ask(source: Snapshot, terms: list[str], vector: FloatArray) -> None:
    """Do what a search asks of the index."""
    found = [number for number, _ in source.by_keywords(terms, CANDIDATES, ANYTHING)]
    found += [number for number, _ in source.by_vector(vector, CANDIDATES, ANYTHING)]
    source.statistics(terms)
    source.read(list(dict.fromkeys(found))[:CANDIDATES])


def compare(index: Index, place: Path, asked: list[tuple[list[str], FloatArray]]) -> None:
    """Time the floors, and count how many of the ten nearest by an exact scan are found."""
    connection = bare(place)
    rows = tables.ask(connection, "SELECT number, whole FROM vectors ORDER BY number")
    numbers = np.array([row[0] for row in rows])
    vectors = np.stack([np.frombuffer(row[1], np.float32) for row in rows])
    scans, queries, kept = [], [], []

    def scan(vector: FloatArray) -> object:
        return np.argpartition(-(vectors @ vector), CANDIDATES)

    def query(expression: str) -> object:
        return connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (expression, CANDIDATES)
        ).fetchall()

    for terms, vector in asked:
        scans.append(timed(scan, vector))
        products = vectors @ vector
        best = np.argpartition(-products, CANDIDATES)[:CANDIDATES]
        nearest = set(numbers[best[np.argsort(-products[best])][:10]].tolist())
        with index.source() as source:
            kept.append(len(nearest & {number for number, _ in source.by_vector(vector, 10, ANYTHING)}) / 10)
        expression = " OR ".join(f'"{term}"' for term in terms)
        queries.append(timed(query, expression))
    say("floor: numpy scan, float32 in memory", spread(scans))
    say("floor: bare FTS5 query", spread(queries))
    say("recall@10 of the exact scan", f"{statistics.mean(kept):.4f}", 0.99, statistics.mean(kept))


def time_door(files: GeneratedFiles, chunks: int, folder: Path) -> None:
    """Search a workspace of daily logs as agents do: through the door of one process, then by new ones."""
    del files
    from tests.benchmarks.large_workspace import generate_logs
    from workbench.engine.workspace import Workspace

    root = folder / "workspace"
    generate_logs(root, entries=chunks)
    os.environ.update(
        WORKBENCH_PATHS_CACHE=str(folder / "cache"),
        WORKBENCH_PATHS_STATE=str(folder / "state"),
        WORKBENCH_NOW="2026-02-03T09:00:00Z",
    )
    # As anywhere but on machines that are told not to keep what they compile.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "workbench", "search", ASKED[0], "--json", "-w", str(root)]

    def search() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    took = timed(search)
    say(
        "workbench search --json, nothing indexed yet",
        f"{took.clock:.2f} s, {took.processor:.2f} s of the processor",
    )
    with Workspace.open(root, role="reader") as workspace:
        held = workspace.index().chunks
        say("whole search, in process", f"of {held:,} chunks, built-in embedder")
        for name, budget in (("  20 results", None), ("  2,000 tokens", 2000)):
            taken = [timed(workspace.search, question, budget=budget) for question in ASKED * ROUNDS]
            # The first of each question teaches what later ones remember.
            taken = taken[len(ASKED) :]
            say(name, spread(taken), 15, statistics.median(each.clock for each in taken) * 1000, most=True)
        say("  peak memory, indexing included", f"{peak_megabytes():.0f} MB")
    time_cold_process(command)


def time_cold_process(command: list[str]) -> None:
    """Ask again and again, each time by a new process."""
    runs = often(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
    middle = statistics.median(each.clock for each in runs)
    say("workbench search --json, cold process", figures(runs), 300, middle * 1000, most=True)


def time_first_look(files: GeneratedFiles, chunks: int, folder: Path) -> None:
    """Ask on a first look at as many small files as chunks, again and again until all their words are found."""
    del files
    from tests.benchmarks.large_workspace import generate_notes
    from workbench.engine.workspace import Workspace

    root = folder / "notes"
    generate_notes(root, notes=chunks)
    os.environ.update(
        WORKBENCH_PATHS_CACHE=str(folder / "first-cache"), WORKBENCH_PATHS_STATE=str(folder / "first-state")
    )
    taken: list[float] = []
    started, worked = time.perf_counter(), time.process_time()
    with Workspace.open(root, role="reader") as workspace:
        finder = workspace._context.finder
        while not taken or not finder._current().is_current:
            asked = time.perf_counter()
            workspace.search(f"note{chunks - 1}")
            taken.append(time.perf_counter() - asked)
            time.sleep(0.1)
        whole, cost = time.perf_counter() - started, time.process_time() - worked
    say("first answer about files never seen", f"{taken[0]:.2f} s", 1.5, taken[0], most=True)
    say("  until all words are found", f"{whole:.2f} s, {cost:.2f} s of the processor", 6, whole, most=True)


def time_workspace(files: GeneratedFiles, chunks: int, folder: Path) -> None:
    """Index a workspace of days and entities from cold, search it beside the floors, and change one of its files.

    55,000 chunks lie in 17,271 files. Searches are asked in turn with the floors, so that both meet the same load.
    """
    del files
    from tests.benchmarks.large_workspace import EPISODES_A_DAY, LAST_DAY, generate
    from workbench.engine.workspace import Workspace

    root = folder / "entities"
    entities = chunks * 3 // 10
    generate(root, episodes=chunks - entities, entities=entities)
    os.environ.update(
        WORKBENCH_PATHS_CACHE=str(folder / "entities-cache"),
        WORKBENCH_PATHS_STATE=str(folder / "entities-state"),
        WORKBENCH_NOW="2026-02-03T09:00:00Z",
    )
    # As anywhere but on machines that are told not to keep what they compile.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with Workspace.open(root, role="reader") as workspace:
        states = []
        took = timed(lambda: states.append(workspace.index()))
        held = states[0]
        say(
            "everything indexed from cold",
            f"{took.clock:.1f} s, {took.processor:.1f} s of the processor",
            15,
            took.clock,
            most=True,
        )
        say("  of it", f"{held.files:,} files, {held.chunks:,} chunks, {peak_megabytes():.0f} MB at most")
        floor = bare_floor(next((folder / "entities-cache").rglob("recall-*.sqlite")))
        for name, budget, wanted in (
            ("  20 results", None, (0.2, 0.5)),
            ("  2,000 tokens", 2000, (0.25, 0.6)),
        ):
            ours, floors = [], []
            for question in ASKED * ROUNDS:
                ours.append(timed(workspace.search, question, budget=budget))
                floors.append(timed(floor, question))
            ours, floors = ours[len(ASKED) :], floors[len(ASKED) :]
            say(name, spread(ours))
            say("    floor: FTS5 of all words and a numpy scan", spread(floors))
            say_shares(ours, floors, wanted)
        day = root / f"memory/episodes/{LAST_DAY}.md"
        words = iter(f"newword{number}" for number in range(EPISODES_A_DAY))

        def change() -> None:
            word = next(words)
            with day.open("a", encoding="utf-8") as file:
                file.write(f"\n## 23:30 | fact | confidence:high\nNow it says {word}.\n")
            while not any(word in hit.snippet for hit in workspace.search(word).results):
                pass

        took_often = often(change)
        middle = statistics.median(each.clock for each in took_often)
        say("one changed file until a search finds it", figures(took_often), 50, middle * 1000, most=True)
    time_cold_process([sys.executable, "-m", "workbench", "search", ASKED[0], "--json", "-w", str(root)])


def bare_floor(place: Path) -> Callable[[str], object]:
    """Return what a plain search does: a query of every word by FTS5 with its stemmer, and a scan of all vectors."""
    source = tables.connect(place)
    texts = tables.ask(source, "SELECT number, text FROM texts")
    source.close()
    connection = apsw.Connection("")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter unicode61')")
    with connection:
        connection.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", texts)
    embedder = StaticEmbedder()
    vectors = np.random.default_rng(0).standard_normal((len(texts), embedder.dimensions), np.float32)

    def ask_floor(question: str) -> object:
        products = vectors @ embedder.embed_query(question)
        best = np.argpartition(-products, CANDIDATES)[:CANDIDATES]
        expression = " OR ".join(f'"{term}"' for term in dict.fromkeys(question.split()))
        rows = connection.execute(
            "SELECT rowid, text FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (expression, CANDIDATES),
        ).fetchall()
        return best, rows

    return ask_floor


FILL = """
import sys
from pathlib import Path
from tests.benchmarks.chunk_files import FilesInMemory, GeneratedFiles, RandomEmbedder
from tests.benchmarks.speed import opened
index = opened(Path(sys.argv[1]), RandomEmbedder(int(sys.argv[4])))
index.sync([GeneratedFiles(int(sys.argv[2]), int(sys.argv[3]))])
index.close()
"""


def opened(folder: Path, embedder: Embedder) -> Index:
    shape = IndexShape(ChunkSize(), embedder.fingerprint, "benchmark")
    return Index(folder, shape=shape, embedder=embedder, cache_entries=MANY, clock=SystemClock())


def bare(place: Path) -> apsw.Connection:
    """Open the index file itself."""
    return tables.connect(next(place.glob("recall-*.sqlite")))


def timed(act: Callable[P, object], *given: P.args, **named: P.kwargs) -> Took:
    """Return what an act takes, the work of its threads and of processes that it waits for included."""
    worked, started = processor_seconds(), time.perf_counter()
    act(*given, **named)
    return Took(time.perf_counter() - started, processor_seconds() - worked)


def often(act: Callable[[], object], rounds: int = 15) -> list[Took]:
    """Return what each of some rounds takes, after one that does not count."""
    act()
    return [timed(act) for _ in range(rounds)]


def spread(taken: list[Took]) -> str:
    half, most = (
        f"{clock * 1000:.1f} ({processor * 1000:.1f} cpu) ms" for clock, processor in quantiles(taken)
    )
    return f"p50 {half}, p95 {most}"


def quantiles(taken: list[Took]) -> list[tuple[float, float]]:
    """Return the median and the 95th percentile, each by the clock and of the processor."""
    clock, processor = sorted(each.clock for each in taken), sorted(each.processor for each in taken)
    return [(clock[at], processor[at]) for at in (len(taken) // 2, int(len(taken) * 0.95))]


def say_shares(ours: list[Took], floors: list[Took], wanted: tuple[float, float]) -> None:
    """Compare with what a plain search took in the same minutes."""
    for name, mine, plain, most in zip(
        ("p50", "p95"), quantiles(ours), quantiles(floors), wanted, strict=True
    ):
        clock, processor = mine[0] / plain[0], mine[1] / plain[1]
        say(f"    {name} of the floor's", f"{clock:.2f} ({processor:.2f} cpu)", most, clock, most=True)


def figures(taken: list[Took]) -> str:
    clock, processor = [each.clock * 1000 for each in taken], [each.processor * 1000 for each in taken]
    return (
        f"median {statistics.median(clock):.1f} ({statistics.median(processor):.1f} cpu) ms,"
        f" slowest {max(clock):.1f} ms"
    )


def processor_seconds() -> float:
    """Return the time that the processor worked for this process and for those that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def say(name: str, figure: str, target: float | None = None, value: float = 0, *, most: bool = False) -> None:
    if target is None:
        verdict = ""
    else:
        reached = value <= target if most else value >= target
        verdict = f"   target {'≤' if most else '≥'} {target:g}{'' if reached else '   MISSED'}"
    print(f"  {name:<46} {figure}{verdict}", flush=True)


PARTS: dict[str, Callable[[GeneratedFiles, int, Path], None]] = {
    "building": time_building,
    "searching": time_searching,
    "door": time_door,
    "workspace": time_workspace,
    "first-look": time_first_look,
}


if __name__ == "__main__":
    main()
