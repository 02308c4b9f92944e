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
from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.lookups import Lookups, parse_filter

ROUNDS = 15
# Stamps younger than this are not trusted, which would make of a clean synchronisation one that reads every file.
SETTLED_NS = 10_000_000_000


def main(episodes: int, entities: int) -> None:
    """Print one line per figure: time on the clock, time of the processor, and the target where there is one."""
    with tempfile.TemporaryDirectory() as folder:
        root, place = Path(folder) / "workspace", Path(folder) / "cache/catalog.sqlite"
        once("generating the workspace", lambda: generate(root, episodes=episodes, entities=entities, seed=0))
        catalog = open_catalog(root, place)
        time_first_sync(catalog)
        lookups = Lookups(catalog)
        label = lookups.entities()[entities // 2].label
        time_updates(catalog, lookups.entities()[entities // 3].path)
        for query in ("", "type:decision tag:auth", "deployment", "nothingholdsthis"):
            narrowed = parse_filter(query)
            name = f"page of 200, {f'filter “{query}”' if query else 'no filter'}"
            often(name, partial(lookups.timeline, narrowed, before=None, limit=200), 0.030)
            often("  its length", partial(lookups.timeline_length, narrowed), 0.030)
        often("resolving an exact name", lambda: lookups.resolve(label), 0.001)
        often("resolving a near name", lambda: lookups.resolve(f"{label[:-1]}x"), 0.020)
        size = place.stat().st_size
        catalog.close()
        often("opening an existing catalog", lambda: reopen(root, place), 0.020)
        print(f"{'size of the database':<60} {size / 1e6:9.1f} MB")
        time_readers(root, Path(folder) / "other/catalog.sqlite")


def time_updates(catalog: Catalog, entity: str) -> None:
    often("clean synchronisation", catalog.sync, 0.150)
    day = catalog.root / "memory/episodes/2026-02-01.md"
    minutes = iter(range(60))

    def append() -> None:
        with day.open("a", encoding="utf-8") as file:
            file.write(
                f"## 23:{next(minutes):02} | fact | confidence:high\nOne more thing about the garden.\n\n"
            )

    path = day.relative_to(catalog.root).as_posix()
    often(
        "update of a day file that got its 51st episode and more",
        lambda: catalog.update([path]),
        0.005,
        append,
    )
    often("update of an entity file", lambda: catalog.update([entity]), 0.005)


def open_catalog(root: Path, place: Path) -> Catalog:
    return Catalog(root, place, ZoneInfo("UTC"), clock_ns=lambda: time.time_ns() + SETTLED_NS)


def time_first_sync(catalog: Catalog) -> None:
    batches: list[float] = []
    started = time.perf_counter()
    once(
        "first synchronisation",
        lambda: catalog.sync(progress=lambda done, total: batches.append(time.perf_counter() - started)),
        15,
    )
    say("  until its first batch can be read", batches[0], None, 0.2)


def time_readers(root: Path, place: Path) -> None:
    """Time pages and questions on one thread while another makes the whole catalog."""
    catalog = open_catalog(root, place)
    lookups = Lookups(catalog)
    syncing = threading.Thread(target=catalog.sync)
    waited: list[float] = []
    syncing.start()
    while syncing.is_alive():
        started = time.perf_counter()
        lookups.timeline(parse_filter(""), before=None, limit=200)
        waited.append(time.perf_counter() - started)
        time.sleep(0.05)
    say("page of 200 during a first synchronisation, median", statistics.median(waited), None)
    say("page of 200 during a first synchronisation, slowest", max(waited), None, 0.2)
    catalog.close()


def reopen(root: Path, place: Path) -> None:
    catalog = open_catalog(root, place)
    Lookups(catalog).count("core")
    catalog.close()


def once(name: str, act: Callable[[], object], target: float | None = None) -> None:
    started, worked = time.perf_counter(), time.process_time()
    act()
    say(name, time.perf_counter() - started, time.process_time() - worked, target)


def often(
    name: str, act: Callable[[], object], target: float, before: Callable[[], object] = lambda: None
) -> None:
    """Print the medians of some rounds, after one that does not count."""
    taken, worked = [], []
    for _ in range(ROUNDS + 1):
        before()
        started, began = time.perf_counter(), time.process_time()
        act()
        taken.append(time.perf_counter() - started)
        worked.append(time.process_time() - began)
    say(name, statistics.median(taken[1:]), statistics.median(worked[1:]), target)


def say(name: str, seconds: float, worked: float | None, target: float | None = None) -> None:
    processor = "" if worked is None else f"processor {written(worked)}"
    wanted = (
        "" if target is None else f"target {written(target)}" + ("" if seconds <= target else "   MISSED")
    )
    print(f"{name:<60} {written(seconds)}   {processor:<22}   {wanted}".rstrip(), flush=True)


def written(seconds: float) -> str:
    return f"{seconds:9.2f} s " if seconds >= 1 else f"{seconds * 1000:9.2f} ms"


if __name__ == "__main__":
    main(*(int(argument) for argument in (sys.argv[1:] + ["20000", "20000"][len(sys.argv) - 1 :])[:2]))
