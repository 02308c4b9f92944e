"""The kernel's notices name every tracked file that changed, or say that any may have."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.engine.catalog import notices as module
from workbench.engine.catalog.notices import ChangeNotices

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="inotify is of Linux")
DAY = "memory/episodes/2026-02-02.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "memory/episodes").mkdir(parents=True)
    (tmp_path / "memory/.hidden").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / DAY).write_text("# 2026-02-02\n")
    return tmp_path


@pytest.fixture
def told(root: Path) -> ChangeNotices:
    notices = ChangeNotices.of(root)
    if notices is None:
        pytest.skip("The file system of the tests is one that other machines may write to.")
    return notices


def handles() -> list[Path]:
    return list(Path("/proc/self/fd").iterdir())


def test_each_changed_file_is_named_once(root: Path, told: ChangeNotices) -> None:
    assert told.take() == frozenset()
    (root / DAY).write_text("# 2026-02-02\n\nAnother line.\n")
    (root / "memory/new.md").write_text("New.\n")
    (root / "MEMORY.md").write_text("# Core memory\n")
    assert told.take() == frozenset({DAY, "memory/new.md", "MEMORY.md"})
    assert told.take() == frozenset()


def test_what_is_written_is_told_before_the_file_is_closed(root: Path, told: ChangeNotices) -> None:
    with (root / DAY).open("a") as file:
        file.write("More.\n")
        file.flush()
        assert told.take() == frozenset({DAY})


def test_renaming_deleting_and_rights_are_told(root: Path, told: ChangeNotices) -> None:
    (root / DAY).rename(root / "memory/renamed.md")
    assert told.take() == frozenset({DAY, "memory/renamed.md"})
    (root / "memory/renamed.md").chmod(0o600)
    assert told.take() == frozenset({"memory/renamed.md"})
    (root / "memory/renamed.md").unlink()
    assert told.take() == frozenset({"memory/renamed.md"})


def test_reading_and_what_is_no_memory_are_not_told(root: Path, told: ChangeNotices) -> None:
    (root / DAY).read_text()
    (root / "memory/.draft.md").write_text("Hidden.\n")
    (root / "memory/.hidden/note.md").write_text("Hidden.\n")
    (root / "memory/picture.png").write_bytes(b"")
    (root / "notes.md").write_text("Not memory.\n")
    (root / "elsewhere/note.md").write_text("Not memory.\n")
    (root / "memory/.other").mkdir()
    (root / "folder").mkdir()
    assert told.take() == frozenset()


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "memory/vault").mkdir(),
        lambda root: (root / "elsewhere").rename(root / "memory/moved"),
        lambda root: (root / "memory/episodes").rename(root / "memory/days"),
        lambda root: (root / "memory").rename(root / "was-memory"),
        lambda root: root.rename(root.with_name("moved")),
        lambda root: (root / "memory/episodes").chmod(0o700),
    ],
    ids=[
        "new folder",
        "folder moved in",
        "folder renamed",
        "memory away",
        "workspace away",
        "rights of folder",
    ],
)
def test_where_a_folder_changes_any_file_may_have(
    root: Path, told: ChangeNotices, change: Callable[[Path], object]
) -> None:
    change(root)
    assert told.take() is None
    # Nothing is known from then on.
    assert told.take() is None


@pytest.mark.parametrize(
    "make", [Path.mkdir, lambda place: place.symlink_to(place.parent)], ids=["folder", "link"]
)
def test_memory_made_or_linked_later_is_told(tmp_path: Path, make: Callable[[Path], None]) -> None:
    notices = ChangeNotices.of(tmp_path)
    if notices is None:
        pytest.skip("The file system of the tests is one that other machines may write to.")
    assert notices.take() == frozenset()
    make(tmp_path / "memory")
    assert notices.take() is None


def test_more_files_than_are_worth_naming(
    root: Path, told: ChangeNotices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_PATHS", 3)
    for number in range(4):
        (root / f"memory/{number}.md").write_text("A note.\n")
    before = len(handles())
    assert told.take() is None
    # Others take its place, so it holds nothing any more.
    assert len(handles()) == before - 1


def test_what_nobody_holds_any_more_is_closed(root: Path, told: ChangeNotices) -> None:
    before = len(handles())
    others = [ChangeNotices.of(root) for _ in range(3)]
    assert len(handles()) == before + 3
    others.clear()
    assert len(handles()) == before
    # Closed twice, it closes no handle of another.
    told.close()
    read, write = os.pipe()
    told.close()
    os.fstat(read)
    os.close(read)
    os.close(write)


def test_no_notices_of_files_that_other_machines_may_write(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = len(handles())
    monkeypatch.setattr(module, "_LOCAL", frozenset())
    assert ChangeNotices.of(root) is None
    assert len(handles()) == before


def test_no_notices_where_python_cannot_call_the_kernel(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert ChangeNotices.of(root) is None


# Python warns of forking beside threads; the child does nothing but this.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_takes_no_notice_away(root: Path, told: ChangeNotices) -> None:
    (root / DAY).write_text("# 2026-02-02\n\nAnother line.\n")
    child = os.fork()
    if not child:
        os._exit(0 if told.take() is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert told.take() == frozenset({DAY})


def test_no_notices_without_a_workspace_or_for_too_many_folders(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ChangeNotices.of(root / "missing") is None
    monkeypatch.setattr(module, "_MOST_FOLDERS", 1)
    assert ChangeNotices.of(root) is None


def test_names_that_are_not_utf_8_are_told_as_the_file_system_has_them(
    root: Path, told: ChangeNotices
) -> None:
    name = os.fsdecode(b"memory/caf\xe9.md")
    (root / name).write_text("A note.\n")
    assert told.take() == frozenset({name})
