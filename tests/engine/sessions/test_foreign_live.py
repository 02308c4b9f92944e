"""Another program's database is read while that program has it open and writes: nothing of it changes by that."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.engine.sessions.openclaw_database import make
from workbench.engine.errors import Locked, StorageError
from workbench.engine.sessions import openclaw_database
from workbench.engine.sessions.openclaw_database import DatabaseHome, forget_copies, open_database

# Writes two rows at once that always say the same; at each line of stdin as often as that says.
OWNER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA wal_autocheckpoint = 20")
number = 0
for line in sys.stdin:
    for _ in range(int(line)):
        number += 1
        database.execute("BEGIN")
        database.execute("UPDATE session_nodes SET label = ?", (f"label {number}",))
        database.execute("UPDATE session_windows SET reason = ?", (f"label {number}",))
        database.execute("UPDATE filling SET text = ? || substr(text, 20)", (f"label {number}",))
        database.execute("COMMIT")
    print(number, flush=True)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = make(
        tmp_path / "agent" / "openclaw-agent.sqlite", {"agent:main:main": ({"sessionId": "7d0c"}, [])}
    )
    database = sqlite3.connect(place)
    database.execute("CREATE TABLE filling (text TEXT)")
    database.executemany("INSERT INTO filling VALUES (?)", [("x" * 3000,)] * 100)
    database.commit()
    database.close()
    return place


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    forget_copies()
    yield folder
    forget_copies()
    assert list(folder.iterdir()) == []


@contextmanager
def owner_of(place: Path) -> Iterator[subprocess.Popen[str]]:
    program = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with program:
        yield program
        assert program.stdin is not None
        program.stdin.close()
    assert program.returncode == 0


def write(owner: subprocess.Popen[str], often: int) -> None:
    assert owner.stdin is not None
    owner.stdin.write(f"{often}\n")
    owner.stdin.flush()


def wait_for(owner: subprocess.Popen[str]) -> int:
    assert owner.stdout is not None
    return int(owner.stdout.readline())


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {place.name: (place.read_bytes(), place.stat().st_mtime_ns) for place in folder.iterdir()}


def label(place: Path) -> str:
    (entry,) = DatabaseHome(place).read().entries.values()
    return str(entry.label)


def test_database_log_and_index_stay_what_they_are_and_the_newest_is_read(place: Path, copies: Path) -> None:
    with owner_of(place) as owner:
        for _ in range(3):
            write(owner, 2)
            number = wait_for(owner)
            before = everything(place.parent)
            assert set(before) == {place.name, f"{place.name}-wal", f"{place.name}-shm"}
            assert label(place) == f"label {number}"
            assert everything(place.parent) == before


def test_an_owner_who_begins_to_write_while_it_is_read_in_place_is_told(place: Path, copies: Path) -> None:
    with owner_of(place) as owner, ExitStack() as reading:
        database = reading.enter_context(open_database(place))
        assert database.execute("SELECT COUNT(*) FROM filling").fetchone() == (100,)
        write(owner, 30)
        wait_for(owner)
        with pytest.raises(Locked, match="wrote to this database while it was read"):
            reading.close()


def test_one_state_is_read_while_the_owner_writes_and_empties_its_log(place: Path, copies: Path) -> None:
    with owner_of(place) as owner:
        write(owner, 400)
        read = 0
        for _ in range(40):
            try:
                with open_database(place) as database:
                    (one,) = database.execute("SELECT label FROM session_nodes").fetchone()
                    (other,) = database.execute("SELECT reason FROM session_windows").fetchone()
                    found = database.execute(
                        "SELECT DISTINCT substr(text, 1, ?) FROM filling", (len(one or ""),)
                    )
                    texts = [text for (text,) in found]
                    check = database.execute("PRAGMA integrity_check").fetchone()
            except Locked:
                continue
            read += 1
            assert check == ("ok",)
            if one is not None:
                assert one == other
                assert texts == [one]
        number = wait_for(owner)
        assert read
        assert label(place) == f"label {number}"


def test_a_copy_is_private_serves_until_the_owner_writes_and_is_replaced_then(
    place: Path, copies: Path
) -> None:
    with owner_of(place) as owner:
        write(owner, 1)
        wait_for(owner)
        label(place)
        (folder,) = copies.iterdir()
        assert folder.stat().st_mode & 0o777 == 0o700
        for copy in folder.iterdir():
            assert copy.stat().st_mode & 0o077 == 0
        label(place)
        assert list(copies.iterdir()) == [folder]
        write(owner, 1)
        number = wait_for(owner)
        assert label(place) == f"label {number}"
        assert len(list(copies.iterdir())) == 1
        assert list(copies.iterdir()) != [folder]


def test_a_reader_keeps_its_copy_while_another_takes_a_newer_one(place: Path, copies: Path) -> None:
    with owner_of(place) as owner:
        write(owner, 1)
        wait_for(owner)
        with open_database(place) as older:
            write(owner, 1)
            wait_for(owner)
            assert label(place) == "label 2"
            assert older.execute("SELECT label FROM session_nodes").fetchone() == ("label 1",)
        assert len(list(copies.iterdir())) == 1


def test_without_room_for_a_copy_the_error_says_so_and_leaves_nothing(
    place: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openclaw_database, "_SPARE_BYTES", 1 << 60)
    with owner_of(place) as owner:
        write(owner, 1)
        wait_for(owner)
        with pytest.raises(StorageError) as raised:
            label(place)
    assert "TMPDIR" in str(raised.value.remedy)
    assert list(copies.iterdir()) == []


def test_an_owner_that_empties_its_log_again_and_again_is_told_of(
    place: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openclaw_database, "_WAIT_SECONDS", 0.0)
    states = iter(range(100))
    real = openclaw_database._state

    def restless(file: Path) -> openclaw_database._State:
        state = real(file)
        return openclaw_database._State(state.database, state.log, bytes([next(states)]))

    with owner_of(place) as owner:
        write(owner, 1)
        wait_for(owner)
        monkeypatch.setattr(openclaw_database, "_state", restless)
        with pytest.raises(Locked):
            label(place)
    assert list(copies.iterdir()) == []
