"""Folders of derived files that fail, and what SQLite keeps in memory of a file that is cut short."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from workbench.engine import file_access
from workbench.engine.file_access import (
    DerivedFolder,
    Watch,
    keep_write_ahead_log,
    temporary_folder,
    trouble_in,
)


def test_a_folder_that_takes_files_is_used_and_nothing_is_left_in_it(tmp_path: Path) -> None:
    folder = DerivedFolder(tmp_path / "a" / "b", "file")
    assert folder.path == tmp_path / "a" / "b"
    assert folder.told == ""
    assert trouble_in(folder.path) == ""
    assert [place.name for place in folder.path.iterdir()] == ["file"]


def test_one_that_takes_none_gives_way_to_a_temporary_one_that_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = DerivedFolder(tmp_path / "file", "x")
    taken = folder.path
    assert taken.is_dir()
    assert taken.stat().st_mode & 0o777 == 0o700
    assert str(tmp_path / "file") in folder.told
    assert "File exists" in folder.told or "Not a directory" in folder.told
    folder.close()
    assert not taken.exists()


def test_every_user_of_a_folder_that_fails_moves_to_the_same_place(tmp_path: Path) -> None:
    folder = DerivedFolder(tmp_path / "cache", "x")
    one = folder.elsewhere(tmp_path / "cache", "disk full")
    other = folder.elsewhere(tmp_path / "cache" / "scopes", "disk full")
    assert one == other == folder.path
    assert folder.elsewhere(folder.path, "disk full") is None
    assert folder.elsewhere(tmp_path / "workspace", "disk full") is None
    folder.close()
    assert folder.elsewhere(tmp_path / "cache", "read by a straggler") is None


def test_without_room_anywhere_the_folder_stays_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_access, "_TEMPORARY", (str(tmp_path / "missing"),))
    folder = DerivedFolder(tmp_path, "x")
    assert temporary_folder() is None
    assert folder.elsewhere(tmp_path, "disk full") is None
    assert folder.path == tmp_path
    assert folder.told == ""


def test_a_temporary_place_without_room_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "roomy").mkdir()
    monkeypatch.setattr(file_access, "_TEMPORARY", ("/proc", str(tmp_path / "roomy")))
    folder = temporary_folder()
    assert folder is not None
    assert Path(folder.name).parent == tmp_path / "roomy"
    folder.cleanup()


def database(place: Path) -> apsw.Connection:
    connection = apsw.Connection(str(place))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("CREATE TABLE t (a)")
    connection.execute("INSERT INTO t VALUES (1)")
    return connection


@pytest.mark.parametrize("left", [0, 100, 16_384])
def test_shared_memory_that_was_cut_short_is_noticed_and_given_back(tmp_path: Path, left: int) -> None:
    connection = database(tmp_path / "a.sqlite")
    shared = tmp_path / "a.sqlite-shm"
    size = shared.stat().st_size
    watch = Watch(tmp_path / "a.sqlite")
    assert watch.is_whole()
    os.truncate(shared, left)
    assert watch.was_cut()
    assert not watch.is_whole()
    assert shared.stat().st_size == size
    # Noticed once, it is never whole again: what it held is gone.
    assert not watch.is_whole()
    connection.close()


@pytest.mark.parametrize("left", [0, 100])
def test_a_database_that_was_cut_short_is_noticed(tmp_path: Path, left: int) -> None:
    connection = database(tmp_path / "a.sqlite")
    watch = Watch(tmp_path / "a.sqlite")
    assert watch.is_whole()
    os.truncate(tmp_path / "a.sqlite", left)
    assert watch.was_cut()
    connection.close()


def test_shared_memory_that_was_deleted_or_replaced_is_noticed(tmp_path: Path) -> None:
    connection = database(tmp_path / "a.sqlite")
    deleted, replaced = Watch(tmp_path / "a.sqlite"), Watch(tmp_path / "a.sqlite")
    assert deleted.is_whole()
    assert replaced.is_whole()
    shared = tmp_path / "a.sqlite-shm"
    shared.rename(tmp_path / "kept")
    assert not deleted.is_whole()
    assert not deleted.was_cut()
    shared.write_bytes(bytes(40_000))
    assert not replaced.is_whole()
    connection.close()


def test_shared_memory_that_grows_is_whole(tmp_path: Path) -> None:
    watch = Watch(tmp_path / "a.sqlite")
    assert watch.is_whole()
    connection = database(tmp_path / "a.sqlite")
    assert watch.is_whole()
    with (tmp_path / "a.sqlite-shm").open("ab") as file:
        file.write(bytes(32_768))
    assert watch.is_whole()
    connection.close()


def test_a_database_that_somebody_switches_just_now_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(tmp_path / "x.sqlite")
    other, mine = apsw.Connection(place), apsw.Connection(place)
    other.execute("CREATE TABLE x (y)")
    other.execute("BEGIN EXCLUSIVE")

    def let_go(_seconds: float) -> None:
        other.execute("COMMIT")

    monkeypatch.setattr("workbench.engine.file_access.time.sleep", let_go)
    keep_write_ahead_log(mine)
    assert mine.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    mine.close()
    other.close()
