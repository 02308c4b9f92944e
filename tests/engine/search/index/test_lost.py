"""An index that is deleted, damaged or cannot be written: noticed, said, and built anew from the files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw
import pytest

from tests.engine.search.index.bookshelf import ANYTHING, Bookshelf, WordEmbedder
from workbench.engine.errors import StorageError
from workbench.engine.search.index.files import IndexLost
from workbench.engine.search.index.index import Index


def fill(shelf: Bookshelf) -> Path:
    for number in range(200):
        shelf.write(f"{number:03}.md", f"memory {number} of tea and coffee", day="2026-02-02")
    shelf.sync()
    assert len(shelf.found("tea")) == 20
    return shelf.folder / shelf.names()[0]


def damage(place: Path, *, start: int = 0) -> None:
    """Overwrite a file in place, as a failing disk does, its WAL included."""
    for each in (place, Path(f"{place}-wal")):
        if each.exists():
            size = each.stat().st_size
            with each.open("r+b") as file:
                file.seek(start)
                file.write(os.urandom(max(0, size - start)))


def test_a_folder_that_is_deleted_is_built_anew(shelf: Bookshelf) -> None:
    fill(shelf)
    shutil.rmtree(shelf.folder)
    assert shelf.found("tea") == []
    assert shelf.sync().changed == 200
    assert len(shelf.found("tea")) == 20
    assert shelf.nearest("memory 7 of tea and coffee")[0] == "007.md:0"


def test_a_folder_deleted_while_somebody_asks(shelf: Bookshelf) -> None:
    fill(shelf)
    with shelf.index.source() as source:
        shutil.rmtree(shelf.folder)
        assert len(source.by_keywords(["tea"], 20, ANYTHING)) == 20
    assert shelf.sync().changed == 200


def ask_everything(shelf: Bookshelf, index: Index) -> None:
    with index.source() as source:
        for number, _ in source.by_keywords(["tea"], 200, ANYTHING):
            source.read([number])
            source.by_memory([f"{number:03}.md:0"], ANYTHING)
        source.statistics(["tea"])
        source.by_vector(WordEmbedder().embed_query("tea"), 9, ANYTHING)


@pytest.mark.parametrize("start", [0, 100])
def test_a_damaged_file_is_set_aside_on_opening(shelf: Bookshelf, start: int) -> None:
    place = fill(shelf)
    shelf.index.close()
    damage(place, start=start)
    again = shelf.open()
    assert shelf.sync(again).changed == 200
    assert len(shelf.found("tea", index=again)) == 20
    assert (shelf.folder / "recall.damaged").exists()
    again.destroy()
    assert not (shelf.folder / "recall.damaged").exists()


def test_damage_is_noticed_in_the_middle_of_a_question(shelf: Bookshelf) -> None:
    place = fill(shelf)
    shelf.index.close()
    reader = shelf.open()
    with reader.source():
        pass
    damage(place, start=8192)
    with pytest.raises(IndexLost, match="rebuilt"):
        ask_everything(shelf, reader)
    assert shelf.sync(reader).changed == 200
    assert len(shelf.found("tea", index=reader)) == 20


def test_a_damaged_index_is_built_anew_by_force_too(shelf: Bookshelf) -> None:
    place = fill(shelf)
    shelf.index.close()
    damage(place, start=100)
    again = shelf.open()
    assert again.sync([shelf.files], force=True).changed == 200
    assert len(shelf.found("tea", index=again)) == 20


@pytest.mark.parametrize(
    "harm",
    [
        "DROP TABLE chunks",
        "ALTER TABLE texts RENAME COLUMN title TO heading",
        "DELETE FROM state",
        "DELETE FROM state WHERE key = 'next_number'",
        "UPDATE state SET value = 1 WHERE key = 'next_number'",
        "UPDATE state SET value = 'x'",
        "UPDATE state SET value = x'ff00'",
        "UPDATE texts SET text = CAST(x'ff00' AS TEXT)",
        "UPDATE texts SET text = x'ff00'",
        "UPDATE texts SET tags = 'x'",
        "UPDATE chunks SET day = 'yesterday'",
        "UPDATE vectors SET units = x'00'",
        "UPDATE blocks SET codes = x'00'",
        "UPDATE blocks SET codes = zeroblob(256)",
        "UPDATE blocks SET scales = x'00'",
        "UPDATE vectors SET whole = x'00'",
        "DROP TABLE vectors",
    ],
)
@pytest.mark.parametrize("force", [False, True], ids=["synced", "forced"])
def test_what_was_never_stored_like_that_is_damage(shelf: Bookshelf, harm: str, force: bool) -> None:
    place = fill(shelf)
    shelf.index.close()
    connection = apsw.Connection(str(place))
    connection.execute(harm)
    connection.close()
    again = shelf.open()
    shelf.write("200.md", "memory 200 of tea")
    if force:
        again.sync([shelf.files], force=True)
    for _ in range(3):
        try:
            shelf.sync(again)
            ask_everything(shelf, again)
        except IndexLost:
            continue
        break
    shelf.sync(again)
    assert len(shelf.found("tea", index=again)) == 20
    assert shelf.nearest("memory 7 of tea and coffee", index=again)[0] == "007.md:0"


def test_no_database_at_all(shelf: Bookshelf) -> None:
    place = fill(shelf)
    shelf.index.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{place}{suffix}").unlink(missing_ok=True)
    place.write_text("this is no database, but it is rather long for a header" * 20)
    again = shelf.open()
    assert shelf.sync(again).changed == 200


def test_an_empty_file_is_an_empty_index(shelf: Bookshelf) -> None:
    place = fill(shelf)
    shelf.index.close()
    for suffix in ("-wal", "-shm"):
        Path(f"{place}{suffix}").unlink(missing_ok=True)
    place.write_bytes(b"")
    assert shelf.sync(shelf.open()).changed == 200


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    shelf = Bookshelf(tmp_path / "file/cache")
    with pytest.raises(StorageError, match="WORKBENCH_PATHS_CACHE"):
        shelf.sync()
    with pytest.raises(StorageError, match="WORKBENCH_PATHS_CACHE"):
        shelf.index.source()
