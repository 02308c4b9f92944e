"""Several processes and threads at one catalog."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.benchmarks.large_workspace import generate
from tests.engine.catalog.shelf import Shelf, day, episode
from workbench.engine.catalog import catalog as catalog_module
from workbench.engine.catalog.file_rows import FileRows, extract
from workbench.engine.catalog.lookups import Lookups, TimelineFilter

_SYNC = """
import sys
from pathlib import Path
from zoneinfo import ZoneInfo
from zoneinfo import ZoneInfo
from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.lookups import Lookups
catalog = Catalog(Path(sys.argv[1]), Path(sys.argv[2]), ZoneInfo("Europe/Berlin"))
sys.stdin.readline()
for _ in range(int(sys.argv[3])):
    catalog.sync()
print(Lookups(catalog).count())
catalog.close()
"""


def started(shelf: Shelf, rounds: int) -> subprocess.Popen[str]:
    """Start a process that synchronises as soon as it is told to."""
    return subprocess.Popen(
        [sys.executable, "-c", _SYNC, str(shelf.root), str(shelf.place), str(rounds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> int:
    """Return what a process counted."""
    output, error = process.communicate(timeout=100)
    assert process.returncode == 0, error
    return int(output)


def test_two_processes_make_one_catalog(shelf: Shelf) -> None:
    generate(shelf.root, episodes=500, entities=400, seed=1)
    processes = [started(shelf, 1) for _ in range(3)]
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    counts = [finished(process) for process in processes]
    shelf.sync()
    assert counts == [shelf.lookups.count()] * 3
    assert len(shelf.ids()) == len(set(shelf.ids())) == 924


def test_processes_that_sync_while_files_change_agree_in_the_end(shelf: Shelf) -> None:
    generate(shelf.root, episodes=200, entities=100, seed=2)
    processes = [started(shelf, 15) for _ in range(2)]
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    path = "memory/episodes/2026-02-01.md"
    for number in range(60):
        entries = [episode(f"09:{minute:02}", f"Version {number}.") for minute in range(number + 1)]
        shelf.write(path, day("d", *entries))
        shelf.catalog.update([path])
        assert {r.text for r in shelf.lookups.memories_in(path)} == {f"Version {number}."}
    for process in processes:
        finished(process)
    shelf.sync()
    assert [r.text for r in shelf.lookups.memories_in(path)] == ["Version 59."] * 60
    fresh = Shelf(shelf.root.parent / "other")
    fresh.root = shelf.root
    fresh.catalog = fresh.open()
    fresh.catalog.root = shelf.root
    fresh.lookups = Lookups(fresh.catalog)
    fresh.sync()
    assert shelf.ids() == fresh.ids()
    fresh.catalog.close()


def test_readers_do_not_wait_for_a_long_sync(shelf: Shelf) -> None:
    generate(shelf.root, episodes=3_000, entities=1_500, seed=3)
    thread = threading.Thread(target=shelf.sync)
    started = time.perf_counter()
    thread.start()
    waited = []
    seen = []
    while thread.is_alive():
        before = time.perf_counter()
        page = shelf.lookups.timeline(TimelineFilter(), before=None, limit=200)
        waited.append(time.perf_counter() - before)
        seen.append([record.id for _, record in page][:1])
    thread.join()
    assert len(waited) > 3
    # In parts of the whole, since on a busy machine both take longer.
    assert sorted(waited)[len(waited) // 2] < (time.perf_counter() - started) / 4
    # The newest day is the first thing to be seen.
    assert next(newest for newest in seen if newest) == ["episode:2026-02-02:21:42"]


def test_a_transaction_that_is_open_hides_nothing_from_readers(shelf: Shelf) -> None:
    shelf.write("memory/episodes/2026-02-01.md", day("d", episode("09:00", "x")))
    shelf.sync()
    with shelf.catalog.database() as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("DELETE FROM memories")
        counted: list[int] = []
        reader = threading.Thread(target=lambda: counted.append(shelf.lookups.count()))
        reader.start()
        reader.join(10)
        assert counted == [1]
        connection.execute("ROLLBACK")


@pytest.mark.parametrize("harm", ["close", "delete"])
def test_threads_may_ask_sync_and_update_while_others_let_go(shelf: Shelf, harm: str) -> None:
    generate(shelf.root, episodes=150, entities=60, seed=4)
    shelf.sync()
    count = shelf.lookups.count()
    failures: list[BaseException] = []

    def repeat(action: str) -> None:
        try:
            for number in range(25):
                if action == "ask":
                    assert shelf.lookups.count() <= count
                    shelf.lookups.memories()
                elif action == "sync":
                    shelf.sync()
                elif action == "update":
                    shelf.catalog.update(["memory/episodes/2026-02-02.md"])
                elif action == "close" and number % 5 == 0:
                    shelf.catalog.close()
                elif action == "delete":
                    # Fewer times than one question tries again, and with the file made anew in between.
                    if number in (5, 15):
                        shelf.place.unlink(missing_ok=True)
                    assert shelf.lookups.count() <= count
        except BaseException as error:
            failures.append(error)

    actions = ("ask", "ask", "sync", "update", harm)
    threads = [threading.Thread(target=repeat, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert failures == []
    shelf.sync()
    assert shelf.lookups.count() == count


def test_a_sync_gives_way_to_readers_but_not_for_ever(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 6):
        shelf.write(f"memory/episodes/2026-02-0{number}.md", day("d", episode("09:00", "x")))
    database = shelf.catalog._database
    # A reader that never ends.
    database._reading += 1
    before = time.monotonic()
    shelf.sync()
    assert time.monotonic() - before < 5
    database._reading -= 1
    assert shelf.lookups.count() == 5


def test_an_older_state_never_replaces_a_newer_one(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    path = "memory/episodes/2026-02-01.md"
    shelf.write(path, day("d", episode("09:00", "Old.")))
    other = shelf.open()
    late = [True]

    def overtaken(name: str, content: bytes, zone: ZoneInfo) -> FileRows:
        rows = extract(name, content, zone)
        if late:
            late.clear()
            shelf.write(path, day("d", episode("09:00", "New and longer.")))
            other.update([path])
        return rows

    monkeypatch.setattr(catalog_module, "extract", overtaken)
    shelf.sync()
    assert shelf.memory("episode:2026-02-01:09:00").text == "New and longer."
    other.close()


def test_the_generator_gives_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for name in ("a", "b"):
        generate(tmp_path / name, episodes=60, entities=7, relations=2, seed=9)
    written = [
        {p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.md")}
        for name in ("a", "b")
    ]
    assert written[0] == written[1]
    assert len(written[0]) == 1 + 2 + 7


def test_the_version_tells_of_every_change_whoever_made_it(shelf: Shelf) -> None:
    path = "memory/episodes/2026-02-01.md"
    shelf.write(path, day("d", episode("09:00", "Old.")))
    shelf.sync()
    seen = [shelf.catalog.version()]
    assert shelf.catalog.version() == seen[0]
    shelf.sync()
    assert shelf.catalog.version() == seen[0]
    shelf.write(path, day("d", episode("09:00", "New.")))
    shelf.catalog.update([path])
    seen.append(shelf.catalog.version())
    other = shelf.open()
    shelf.write(path, day("d", episode("09:00", "Newer by another.")))
    other.update([path])
    other.close()
    seen.append(shelf.catalog.version())
    shelf.place.unlink()
    seen.append(shelf.catalog.version())
    assert len(set(seen)) == 4
