"""Times the catalog on a large workspace: `python tests/benchmarks/catalog.py [EPISODES [ENTITIES]]`."""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from tests.benchmarks.large_workspace import generate
from workbench.engine.catalog import Catalog, Lookups, parse_filter
from workbench.engine.recall import search

ROUNDS = 15
# Stamps younger than this are not trusted, which would make of a clean synchronisation one that reads every file.
SETTLED_NS = 10_000_000_000


def main(episodes: int, entities: int) -> None:
    """Print one line per figure with its target where it has one."""
    with tempfile.TemporaryDirectory() as folder:
        root, place = Path(folder) / "workspace", Path(folder) / "cache/catalog.sqlite"
        started = time.perf_counter()
        generate(root, episodes=episodes, entities=entities, relations=3, seed=0)
        say("generating the workspace", time.perf_counter() - started)
        catalog = open_catalog(root, place)
        time_first_sync(catalog)
        lookups = Lookups(catalog)
        label = lookups.entities()[entities // 2].label
        day = "memory/episodes/2026-02-01.md"
        small = lookups.entities()[entities // 3].path
        say("clean synchronisation", median(catalog.sync), 0.150)
        say("update of a day file of 50 episodes", median(lambda: catalog.update([day])), 0.005)
        say("update of an entity file", median(lambda: catalog.update([small])), 0.005)
        for query in ("", "type:decision tag:auth", "deployment", "nothingholdsthis"):
            narrowed = parse_filter(query)
            name = f"page of 200, {f'filter “{query}”' if query else 'no filter'}"
            say(name, median(partial(lookups.timeline, narrowed, before=None, limit=200)), 0.030)
            say("  its length", median(partial(lookups.timeline_length, narrowed)), 0.030)
        say("resolving an exact name", median(lambda: lookups.resolve(label)), 0.001)
        say("resolving a near name", median(lambda: lookups.resolve(f"{label[:-1]}x")), 0.020)
        for query in (
            "invoice pipeline",
            "what was decided about the budget of the garden",
            label,
            "混合检索",
        ):
            say(f"search “{query}”", median(partial(ask, lookups, query)), 0.050)
        size = place.stat().st_size
        catalog.close()
        say("opening an existing catalog", median(lambda: reopen(root, place)), 0.020)
        print(f"{'size of the database':<60} {size / 1e6:9.1f} MB")
        time_readers(root, Path(folder) / "other/catalog.sqlite")


def open_catalog(root: Path, place: Path) -> Catalog:
    return Catalog(root, place, ZoneInfo("UTC"), clock_ns=lambda: time.time_ns() + SETTLED_NS)


def time_first_sync(catalog: Catalog) -> None:
    batches: list[float] = []
    started, worked = time.perf_counter(), time.process_time()
    catalog.sync(progress=lambda done, total: batches.append(time.perf_counter() - started))
    say("first synchronisation", time.perf_counter() - started, 15)
    say("  processor time of it", time.process_time() - worked)
    say("  until its first batch can be read", batches[0], 0.2)


def time_readers(root: Path, place: Path) -> None:
    """Time pages and questions on one thread while another makes the whole catalog."""
    catalog = open_catalog(root, place)
    lookups = Lookups(catalog)
    syncing = threading.Thread(target=catalog.sync)
    waited: dict[str, list[float]] = {"page of 200": [], "search": []}
    syncing.start()
    while syncing.is_alive():
        for name, act in (
            ("page of 200", lambda: lookups.timeline(parse_filter(""), before=None, limit=200)),
            ("search", lambda: ask(lookups, "invoice pipeline")),
        ):
            started = time.perf_counter()
            act()
            waited[name].append(time.perf_counter() - started)
        time.sleep(0.05)
    for name, taken in waited.items():
        say(f"{name} during a first synchronisation, median", statistics.median(taken))
        say(f"{name} during a first synchronisation, slowest", max(taken), 0.2)
    catalog.close()


def ask(lookups: Lookups, query: str) -> None:
    search(lookups, query, score_of=lambda record: None, max_results=20, min_score=None)


def reopen(root: Path, place: Path) -> None:
    catalog = open_catalog(root, place)
    Lookups(catalog).count("core")
    catalog.close()


def median(act: Callable[[], object]) -> float:
    act()
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        act()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken)


def say(name: str, seconds: float, target: float | None = None) -> None:
    figure = f"{seconds:9.2f} s " if seconds >= 1 else f"{seconds * 1000:9.2f} ms"
    wanted = (
        f"   target {target:g} s"
        if target and target >= 1
        else f"   target {target * 1000:g} ms"
        if target
        else ""
    )
    verdict = "" if target is None or seconds <= target else "   MISSED"
    print(f"{name:<60} {figure}{wanted}{verdict}", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in (sys.argv[1:] + ["20000", "20000"][len(sys.argv) - 1 :])[:2]))
