"""A full disk, a read-only folder or a history that is none ends in a clear error, and nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook
from tests.powers import as_anybody
from workbench.engine.errors import HistoryDamaged, HistoryError, StorageError
from workbench.engine.history import journal as journal_module
from workbench.engine.history import work_files
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.projections import audit_lines

OLD = {"MEMORY.md": "one\n", "USER.md": "old\n"}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    notebook = Notebook(tmp_path)
    notebook.write_all(dict(OLD))
    return notebook


def assert_unchanged(notebook: Notebook, head: str | None) -> None:
    assert notebook.history.head() == head
    assert {path: (notebook.root / path).read_text() for path in OLD} == OLD
    assert not list(notebook.root.rglob("*.tmp"))
    assert not (notebook.root / "memory/new").exists()


def test_a_disk_that_fills_at_any_write_changes_nothing(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = notebook.history.head()
    real = journal_module.write_all
    failures = 0
    for allowed in range(20):
        calls = 0

        def write_all(handle: int, content: bytes, allowed: int = allowed) -> None:
            nonlocal calls
            calls += 1
            if calls > allowed:
                real(handle, content[: len(content) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(handle, content)

        monkeypatch.setattr(journal_module, "write_all", write_all)
        monkeypatch.setattr(work_files, "write_all", write_all)
        message = ""
        try:
            notebook.write_all({"MEMORY.md": "two\n", "USER.md": "new\n", "memory/new/a.md": "a\n"})
        except StorageError as error:
            message = str(error)
        monkeypatch.undo()
        if not message:
            break
        failures += 1
        assert "No space left" in message
        assert_unchanged(notebook, head)
    assert failures == 4
    assert (notebook.root / "MEMORY.md").read_text() == "two\n"
    assert notebook.history.adopt().commits == ()


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_file_that_cannot_take_its_name_undoes_the_others(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    head = notebook.history.head()
    real = work_files.Staging.place
    calls = 0

    def failing(staging: work_files.Staging, path: str, before: bytes | None = None) -> bool:
        nonlocal calls
        calls += 1
        if calls == place:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(staging, path, before)

    monkeypatch.setattr(work_files.Staging, "place", failing)
    with pytest.raises(StorageError, match="Permission denied"):
        notebook.write_all({"MEMORY.md": "two\n", "USER.md": "new\n", "memory/new/a.md": "a\n"})
    monkeypatch.undo()
    assert_unchanged(notebook, head)
    assert notebook.history.adopt().commits == ()
    assert notebook.write("MEMORY.md", "works\n")


def test_a_folder_in_the_way_of_a_file_is_a_storage_error(notebook: Notebook) -> None:
    head = notebook.history.head()
    (notebook.root / "memory/x.md").mkdir(parents=True)
    with pytest.raises(StorageError):
        notebook.write_all({"MEMORY.md": "two\n", "memory/x.md": "a\n"})
    assert_unchanged(notebook, head)


def write_until_full(notebook: Notebook) -> list[str]:
    """Return the commits that could be made."""
    written = []
    for number in range(1, 3000):
        text = "".join(f"{number} {line}\n" for line in range(3000))
        try:
            written.append(notebook.write("MEMORY.md", text))
        except StorageError:
            break
    return written


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs more rights than this user has")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_really_full_disk_keeps_what_was_there(small_disk: Path) -> None:
    notebook = Notebook(small_disk)
    written = [notebook.write("MEMORY.md", f"{0}\n")]
    written += write_until_full(notebook)
    assert notebook.history.head() == written[-1]
    last = notebook.history.store.file_at(written[-1], "MEMORY.md")
    assert (notebook.root / "MEMORY.md").read_bytes() == last
    with pytest.raises(StorageError):
        notebook.write("MEMORY.md", os.urandom(2_000_000).hex())
    assert (notebook.root / "MEMORY.md").read_bytes() == last
    git = ["git", f"--git-dir={notebook.history.path}", "fsck", "--no-dangling"]
    assert subprocess.run(git, check=True, capture_output=True).stdout == b""


def test_a_folder_that_cannot_be_written_is_a_storage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(tmp_path)

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(StorageError, match="Read-only"):
        notebook.history.init()
    assert list(notebook.root.iterdir()) == []


def test_a_read_only_workspace_can_be_read(notebook: Notebook) -> None:
    head = notebook.history.head()
    notebook.root.chmod(0o555)
    (notebook.root / ".audit").chmod(0o555)
    try:
        with as_anybody():
            assert notebook.history.adopt().commits == ()
            with pytest.raises(StorageError):
                notebook.write("MEMORY.md", "two\n")
    finally:
        notebook.root.chmod(0o755)
        (notebook.root / ".audit").chmod(0o755)
    assert_unchanged(notebook, head)


def test_a_log_that_cannot_be_written_is_reported_and_completed_later(notebook: Notebook) -> None:
    log = notebook.root / "memory/meta/audit.log"
    log.unlink()
    log.mkdir()
    commit = notebook.write("MEMORY.md", "two\n")
    assert notebook.history.head() == commit
    assert any("could not follow it" in warning for warning in notebook.history.warnings)
    log.rmdir()
    notebook.write("MEMORY.md", "three\n")
    lines = [line for found in notebook.history.store.walk() for line in audit_lines(found)]
    assert len(log.read_text().splitlines()) == len(lines)


def test_a_corrupt_history_says_so_and_can_be_set_aside(notebook: Notebook) -> None:
    (notebook.history.path / "HEAD").unlink()
    notebook = _reopen(notebook)
    with pytest.raises(HistoryDamaged, match="set-aside"):
        notebook.history.adopt()
    place = notebook.history.set_aside()
    assert place.name == ".audit.damaged-20260202T143100Z"
    assert (place / "objects").is_dir()
    assert {path: (notebook.root / path).read_text() for path in OLD} == OLD
    assert notebook.history.init().files == ("MEMORY.md", "USER.md")


def test_a_damaged_newest_commit_is_no_reason_to_lose_files(notebook: Notebook) -> None:
    store = notebook.history.store
    place = store.loose_path(notebook.history.head() or "")
    place.chmod(0o644)
    place.write_bytes(b"rubbish")
    notebook = _reopen(notebook)
    with pytest.raises(HistoryDamaged):
        notebook.write("MEMORY.md", "two\n")
    assert {path: (notebook.root / path).read_text() for path in OLD} == OLD


def test_something_else_called_audit_is_left_alone(tmp_path: Path) -> None:
    notebook = Notebook(tmp_path)
    (notebook.root / ".audit").mkdir()
    (notebook.root / ".audit/config").write_text("mine")
    with pytest.raises(HistoryError, match="not a history"):
        notebook.history.init()
    assert (notebook.root / ".audit/config").read_text() == "mine"
    shutil.rmtree(notebook.root / ".audit")
    (notebook.root / ".audit").write_text("a file")
    with pytest.raises(HistoryError):
        notebook.history.init()
    assert (notebook.root / ".audit").read_text() == "a file"


def test_a_missing_git_program_is_one_line(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not notebook.history.warnings
    monkeypatch.setenv("PATH", "/nonexistent")
    assert notebook.write("MEMORY.md", "two\n")
    assert ["git program is missing" in warning for warning in notebook.history.warnings] == [True]


def test_many_objects_survive_being_packed_away_under_an_open_handle(notebook: Notebook) -> None:
    other = GitStore(notebook.history.path)
    first = notebook.write("MEMORY.md", "x" * 10)
    assert other.file_at(first, "MEMORY.md") == b"x" * 10
    git = ["git", f"--git-dir={notebook.history.path}", "repack", "-adq"]
    subprocess.run(git, check=True)
    subprocess.run(["git", f"--git-dir={notebook.history.path}", "prune-packed", "-q"], check=True)
    second = notebook.write("MEMORY.md", "y")
    assert [commit.id for commit in other.walk()][:2] == [second, first]
    assert other.file_at(first, "USER.md") == b"old\n"


def _reopen(notebook: Notebook) -> Notebook:
    from workbench.engine.history.history import History

    notebook.history = History(notebook.root, clock=notebook.clock, state=notebook.history.state)
    return notebook
