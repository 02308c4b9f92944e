"""The database may be deleted, damaged, replaced or out of reach at any time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import pytest

from tests.engine.catalog.shelf import ZONE, Shelf, day, episode
from workbench.engine.catalog import tables
from workbench.engine.catalog.catalog import Catalog
from workbench.engine.errors import Locked, StorageError

A = "memory/episodes/2026-02-01.md"
ID = "episode:2026-02-01:09:00"


@pytest.fixture
def filled(shelf: Shelf) -> Shelf:
    shelf.write(A, day("d", episode("09:00", "Words to find.")))
    for number in range(200):
        shelf.write(f"memory/vault/{number}.md", f"# Note {number}\n\n{'filler text ' * 50}\n")
    shelf.sync()
    return shelf


def delete(place: Path) -> None:
    place.unlink()


def delete_all(place: Path) -> None:
    for name in (place, Path(f"{place}-wal"), Path(f"{place}-shm")):
        name.unlink(missing_ok=True)


def delete_folder(place: Path) -> None:
    for name in place.parent.iterdir():
        name.unlink()
    place.parent.rmdir()


def scribble_over_the_head(place: Path) -> None:
    with place.open("r+b") as file:
        file.write(b"no database at all" * 100)


def scribble_over_the_body(place: Path) -> None:
    size = place.stat().st_size
    with place.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\xa5" * (size - size // 2))


def cut_short(place: Path) -> None:
    with place.open("r+b") as file:
        file.truncate(5_000)


def empty(place: Path) -> None:
    place.write_bytes(b"")


def put_a_folder_of_text_in_its_place(place: Path) -> None:
    place.unlink()
    place.write_text("This is a letter, not a database.\n" * 200)


HARMS = [
    delete,
    delete_all,
    delete_folder,
    scribble_over_the_head,
    scribble_over_the_body,
    cut_short,
    empty,
    put_a_folder_of_text_in_its_place,
]


@pytest.mark.parametrize("harm", HARMS)
def test_harmed_while_closed_it_is_made_anew(filled: Shelf, harm: Callable[[Path], None]) -> None:
    filled.catalog.close()
    harm(filled.place)
    filled.sync()
    assert filled.found("words") == [ID]
    assert filled.lookups.count() == 201


@pytest.mark.parametrize("harm", HARMS)
def test_harmed_while_closed_every_question_is_answered_after_a_sync(
    filled: Shelf, harm: Callable[[Path], None]
) -> None:
    filled.catalog.close()
    harm(filled.place)
    filled.lookups.count()
    filled.sync()
    assert filled.memory(ID).text == "Words to find."


@pytest.mark.parametrize("harm", [delete, delete_all, delete_folder, put_a_folder_of_text_in_its_place])
def test_gone_while_open_a_question_brings_it_back(filled: Shelf, harm: Callable[[Path], None]) -> None:
    harm(filled.place)
    assert filled.found("words") == [ID]
    assert filled.lookups.count() == 201
    assert filled.place.is_file()


@pytest.mark.parametrize("harm", [delete, delete_all, delete_folder, put_a_folder_of_text_in_its_place])
def test_gone_while_open_an_update_and_a_sync_bring_it_back(
    filled: Shelf, harm: Callable[[Path], None]
) -> None:
    harm(filled.place)
    filled.catalog.update([A])
    assert filled.lookups.count() == 201
    harm(filled.place)
    filled.sync()
    assert filled.lookups.count() == 201


def test_damage_found_in_the_middle_of_a_question_is_mended(filled: Shelf) -> None:
    filled.catalog.close()
    scribble_over_the_body(filled.place)
    # The head is whole, so that opening notices nothing.
    assert filled.found("filler") != []
    assert filled.lookups.count() == 201


def test_a_damaged_file_is_set_aside(filled: Shelf) -> None:
    filled.catalog.close()
    scribble_over_the_head(filled.place)
    filled.sync()
    assert b"no database at all" in filled.place.with_name("catalog.sqlite.damaged").read_bytes()
    filled.catalog.destroy()
    assert list(filled.place.parent.iterdir()) == []


def test_deleted_during_a_sync_it_is_whole_afterwards(filled: Shelf) -> None:
    for number in range(200):
        filled.write(f"memory/vault/{number}.md", f"# Note {number}\n\nother text\n")
    harmed: list[int] = []

    def harm(done: int, total: int) -> None:
        if not harmed:
            harmed.append(done)
            delete(filled.place)

    filled.catalog.sync(progress=harm)
    filled.sync()
    assert harmed
    assert filled.lookups.count() == 201
    assert len(filled.found("other")) == 200


def test_destroyed_it_leaves_nothing_and_comes_back(filled: Shelf) -> None:
    filled.catalog.destroy()
    assert list(filled.place.parent.iterdir()) == []
    filled.sync()
    assert filled.lookups.count() == 201


def test_a_database_of_another_version_is_made_anew(filled: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.catalog.close()
    connection = apsw.Connection(str(filled.place))
    connection.execute("DROP TABLE memories")
    connection.execute("UPDATE state SET value = '1|Europe/Berlin'")
    connection.close()
    assert filled.lookups.count() == 0
    filled.sync()
    assert filled.lookups.count() == 201


def test_a_later_version_is_taken_for_another(filled: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "SCHEMA_VERSION", tables.SCHEMA_VERSION + 1)
    filled.catalog.close()
    assert filled.lookups.count() == 0


def test_another_zone_makes_it_anew(filled: Shelf) -> None:
    filled.catalog.close()
    elsewhere = filled.open(ZoneInfo("Asia/Shanghai"))
    elsewhere.sync()
    moments = elsewhere.rows("SELECT moment FROM memories WHERE id = ?", (ID,))
    assert moments == [("2026-02-01T09:00:00+08:00",)]
    elsewhere.close()


def test_closed_it_leaves_no_journal_behind(filled: Shelf) -> None:
    filled.catalog.close()
    assert [place.name for place in filled.place.parent.iterdir()] == ["catalog.sqlite"]
    assert filled.lookups.count() == 201


def test_a_sync_does_not_leave_a_long_journal(filled: Shelf) -> None:
    for number in range(300):
        filled.write(f"memory/vault/{number}.md", f"# Note {number}\n\n{f'words {number} ' * 2_000}\n")
    filled.sync()
    filled.catalog.update([A])
    journal = Path(f"{filled.place}-wal")
    assert journal.stat().st_size <= 40 * 1024 * 1024


@pytest.mark.parametrize("obstacle", ["file for folder", "folder for file"])
def test_a_place_that_cannot_be_used_is_an_error_that_says_what_to_do(tmp_path: Path, obstacle: str) -> None:
    shelf = Shelf(tmp_path)
    if obstacle == "file for folder":
        shelf.place.parent.write_text("in the way")
    else:
        shelf.place.mkdir(parents=True)
    with pytest.raises(StorageError) as caught:
        shelf.sync()
    assert caught.value.where == str(shelf.place)
    assert "WORKBENCH_PATHS_CACHE" in str(caught.value.remedy)


def test_a_full_disk_is_an_error_and_what_was_there_stays(filled: Shelf) -> None:
    with filled.catalog.database() as connection:
        pages = connection.execute("PRAGMA page_count").fetchall()[0][0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(200, 1_000):
        filled.write(f"memory/vault/{number}.md", f"# Note {number}\n\n{f'words {number} ' * 200}\n")
    with pytest.raises(StorageError, match="full"):
        filled.sync()
    assert filled.memory(ID).text == "Words to find."
    with filled.catalog.database() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    filled.sync()
    assert filled.lookups.count() == 1_001


def test_another_process_that_never_lets_go_is_an_error_that_says_so(filled: Shelf) -> None:
    holder = apsw.Connection(str(filled.place))
    holder.execute("BEGIN IMMEDIATE")
    with filled.catalog.database() as connection:
        connection.set_busy_timeout(1)
    filled.write(A, day("d", episode("09:00", "Changed.")))
    with pytest.raises(Locked, match="Another process"):
        filled.sync()
    # Reading goes on as ever.
    assert filled.memory(ID).text == "Words to find."
    holder.execute("ROLLBACK")
    holder.close()
    filled.sync()
    assert filled.memory(ID).text == "Changed."


def test_an_error_of_the_caller_within_a_transaction_changes_nothing(filled: Shelf) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Stopped

    filled.write(A, day("d", episode("09:00", "Changed.")))
    with pytest.raises(Stopped):
        filled.catalog.sync(progress=stop)
    assert filled.memory(ID).text == "Changed."
    again = Catalog(filled.root, filled.place, ZONE)
    assert again.sync().changed == ()
    again.close()
