"""Real processes: killed at any moment, building at the same time, on a full disk, on files that come and go."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine.catalog.shelf import Shelf
from tests.engine.search.index.bookshelf import ANYTHING, Bookshelf, WordEmbedder
from tests.powers import as_anybody
from workbench.engine.clock import FixedClock
from workbench.engine.errors import StorageError
from workbench.engine.search.chunks import ChunkSize
from workbench.engine.search.finder import CatalogFiles
from workbench.engine.search.index.files import IndexShape
from workbench.engine.search.index.index import Index

_ROOT = Path(__file__).parents[4]
_FILES = 400

# Builds, by force from the second argument on, until it is killed or has done so that many times.
_BUILD = """
import sys
from pathlib import Path
from tests.engine.search.index.bookshelf import Bookshelf
shelf = Bookshelf(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    shelf.write(f"{number:03}.md", f"memory {number} of tea", "one more of coffee")
print("ready", flush=True)
for round in range(int(sys.argv[2])):
    done = shelf.index.sync([shelf.files], force=round > 0, wait=60)
    assert done.finished, done
print("done", flush=True)
"""


def building(folder: Path, rounds: int, files: int = _FILES) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", _BUILD, str(folder), str(rounds), str(files)],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def fill(shelf: Bookshelf, files: int = _FILES) -> None:
    for number in range(files):
        shelf.write(f"{number:03}.md", f"memory {number} of tea", "one more of coffee")


def check(shelf: Bookshelf, files: int = _FILES) -> None:
    """Assert that everything is found, once."""
    state = shelf.index.state()
    assert (state.files, state.chunks, state.pending_vectors, state.rebuilding) == (files, 2 * files, 0, None)
    with shelf.index.source() as source:
        numbers = [number for number, _ in source.by_keywords(["tea"], 9999, ANYTHING)]
        assert len(numbers) == len(set(numbers)) == files
        assert len(source.by_vector(WordEmbedder().embed_query("memory of tea"), 9999, ANYTHING)) == 2 * files
        stored = source.read(numbers)
    assert {each.chunk.memory_id for each in stored} == {f"{number:03}.md:0" for number in range(files)}
    assert len(shelf.names()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("kills", [5, pytest.param(25, marks=pytest.mark.campaign)])
def test_killed_at_any_moment_of_building_and_taking_over(shelf: Bookshelf, kills: int) -> None:
    chance = random.Random(7)
    fill(shelf)
    for _ in range(kills):
        process = building(shelf.folder, 1000)
        time.sleep(chance.uniform(0, 0.25))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
        # Readers need nobody's help, whatever was left.
        with shelf.open().source() as source:
            source.by_keywords(["tea"], 9999, ANYTHING)
    assert shelf.sync().finished
    check(shelf)


@pytest.mark.slow
def test_several_processes_building_at_once(shelf: Bookshelf) -> None:
    fill(shelf)
    processes = [building(shelf.folder, 4) for _ in range(3)]
    while any(process.poll() is None for process in processes):
        shelf.index.sync([shelf.files], wait=0)
        with shelf.index.source() as source:
            source.by_keywords(["tea"], 20, ANYTHING)
    for process in processes:
        output, _ = process.communicate()
        assert (process.returncode, output) == (0, b"done\n")
    shelf.sync()
    check(shelf)


def test_who_cannot_build_says_so_and_answers_from_what_is_there(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    shelf.sync()
    other = shelf.open()
    seen = []

    def ask() -> None:
        shelf.files.before_reading = lambda: None
        seen.append((other.sync([shelf.files], wait=0).busy, len(shelf.found("tea", index=other))))

    shelf.write("003.md", "more tea")
    shelf.files.before_reading = ask
    assert shelf.sync().changed == 1
    assert seen == [(True, 3)]


_FULL = """
import resource, signal, sys
from pathlib import Path
from tests.engine.search.index.bookshelf import Bookshelf
from workbench.engine.errors import StorageError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
shelf = Bookshelf(Path(sys.argv[1]))
shelf.write("000.md", "memory of tea")
shelf.sync()
largest = max(place.stat().st_size for place in shelf.folder.iterdir())
resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 200_000, resource.RLIM_INFINITY))
for number in range(1, 1500):
    shelf.write(f"{number:04}.md", f"memory {number} of coffee " * 20)
try:
    shelf.sync()
except StorageError as error:
    assert "WORKBENCH_PATHS_CACHE" in str(error), error
    assert shelf.found("tea") == ["000.md:0"]
    assert shelf.nearest("memory of tea")[0] == "000.md:0"
    print("refused")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert shelf.sync().finished
assert shelf.index.state().files == 1500
print("done")
"""


@pytest.mark.slow
def test_a_full_disk_is_said_and_what_was_found_is_found_still(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", _FULL, str(tmp_path / "cache")], cwd=_ROOT, stdout=subprocess.PIPE, check=True
    )
    assert process.stdout == b"refused\ndone\n"


def open_index(shelf: Shelf) -> Index:
    embedder = WordEmbedder()
    shape = IndexShape(ChunkSize(), embedder.fingerprint, "test")
    folder = shelf.place.parent
    return Index(folder, shape=shape, embedder=embedder, cache_entries=0, clock=FixedClock())


def words_found(index: Index, term: str) -> int:
    with index.source() as source:
        return len(source.by_keywords([term], 100_000, ANYTHING))


@pytest.mark.slow
@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.campaign)])
def test_thousands_of_files_changed_at_once(tmp_path: Path, count: int) -> None:
    shelf = Shelf(tmp_path)
    for number in range(count):
        shelf.write(f"memory/notes/{number}.md", f"# Note {number}\n\nabout tea\n")
    shelf.sync()
    index = open_index(shelf)
    files = CatalogFiles(shelf.catalog)
    index.sync([files])
    for number in range(count):
        shelf.write(f"memory/notes/{number}.md", f"# Note {number}\n\nabout cocoa\n")
    shelf.sync()
    told: list[int] = []
    first = index.sync(
        [files], progress=lambda done, total: told.append(done), cancelled=lambda: sum(told) > 0
    )
    assert 0 < first.pending_files < count
    assert words_found(index, "cocoa") + words_found(index, "tea") == count
    assert index.sync([files]).finished
    assert (words_found(index, "tea"), words_found(index, "cocoa")) == (0, count)
    index.close()
    shelf.catalog.close()


@pytest.mark.slow
def test_a_file_of_fifty_megabytes_and_one_that_is_no_text(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    line = b"a line of tea and nothing else in particular\n"
    shelf.write("memory/large.md", b"# Large\n\n" + line * (50_000_000 // len(line)))
    shelf.write("memory/bytes.md", bytes(random.Random(0).randbytes(1_000_000)) + b"\n\ncocoa\n")
    shelf.write("memory/one-line.md", b"word " * 200_000)
    shelf.sync()
    index = open_index(shelf)
    assert index.sync([CatalogFiles(shelf.catalog)]).finished
    assert words_found(index, "tea") > 1000
    assert words_found(index, "cocoa") == 1
    index.close()
    shelf.catalog.close()


def test_files_that_vanish_while_they_are_read(shelf: Bookshelf) -> None:
    fill(shelf, 100)
    shelf.sync()

    def vanish() -> None:
        shelf.files.before_reading = lambda: None
        for number in range(50, 100):
            shelf.files.files.pop(f"{number:03}.md", None)

    for number in range(100):
        shelf.write(f"{number:03}.md", f"memory {number} of tea", "now with cocoa")
    shelf.files.before_reading = vanish
    assert shelf.sync().finished
    shelf.sync()
    assert shelf.index.state().files == 50
    assert len(shelf.found("cocoa")) == 20
    assert shelf.found("coffee") == []


def test_readers_never_wait_for_a_writer_in_the_middle_of_a_transaction(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    shelf.sync()
    file = shelf.index._files.to_build()
    with file.change() as (connection, _, _):
        connection.execute("DELETE FROM chunks")
        started = time.monotonic()
        assert len(shelf.found("tea", index=shelf.open())) == 3
        # A reader that waited would wait as long as SQLite has patience, which is ten seconds.
        assert time.monotonic() - started < 8
        connection.execute("ROLLBACK")
        connection.execute("BEGIN IMMEDIATE")


def test_a_folder_that_cannot_be_written_still_answers(shelf: Bookshelf) -> None:
    fill(shelf, 3)
    shelf.sync()
    shelf.index.close()
    shelf.folder.chmod(0o500)
    try:
        with as_anybody(), pytest.raises(StorageError):
            shelf.sync()
    finally:
        shelf.folder.chmod(0o700)
