"""A full disk, a read-only folder or a history that is none ends in a clear error, and nothing is lost."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pygit2
import pytest

from tests.engine.history.notebook import Notebook
from tests.powers import as_anybody
from workbench.engine import file_access, layout
from workbench.engine.errors import HistoryDamaged, HistoryError, StorageError
from workbench.engine.history import git_store, work_files
from workbench.engine.history import journal as journal_module
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
    real = file_access.write_all
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
    # What was told to have failed is not carried out by the next writer either.
    assert_unchanged(notebook, head)
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


def fill_up(disk: Path, *, leave: int) -> None:
    """Take all the room of a disk but some bytes."""
    with (disk / "filler").open("wb") as file:
        room = os.statvfs(disk)
        os.posix_fallocate(file.fileno(), 0, room.f_bavail * room.f_frsize - leave)


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


class Refusing:
    """A repository that can be read, while libgit2 fails to write to it.

    Args:
        error: What libgit2 says.
    """

    def __init__(self, error: Exception) -> None:
        self._error = error
        self._get = vars(GitStore)["_repository"].fget

    def __get__(self, store: GitStore, owner: type[GitStore]) -> object:
        repository = self._get(store)

        def write(kind: int, content: bytes) -> object:
            raise self._error

        objects = SimpleNamespace(
            write=write, read=repository.odb.read, read_header=repository.odb.read_header
        )
        return SimpleNamespace(odb=objects, lookup_reference=repository.lookup_reference)


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
NOT_FOUND = "object not found - failed to find pack entry"


@pytest.mark.parametrize("error", [KeyError(NOT_FOUND), ValueError(NOT_FOUND), pygit2.GitError(NOT_FOUND)])
def test_a_full_disk_is_named_where_git_names_something_else(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    head = notebook.history.head()
    monkeypatch.setattr(git_store, "why_unwritable", lambda *_: FULL)
    monkeypatch.setattr(GitStore, "_repository", Refusing(error))
    with pytest.raises(StorageError) as raised:
        notebook.write("MEMORY.md", "two\n")
    assert raised.value.message == "The history cannot be written: No space left on device."
    assert raised.value.remedy == "Free some space, or make the folder writable. Nothing was changed."
    monkeypatch.undo()
    assert_unchanged(notebook, head)


def test_a_pack_for_which_there_is_no_room_is_a_storage_error(small_disk: Path) -> None:
    notebook = Notebook(small_disk)
    notebook.write("MEMORY.md", "one\n")
    store = notebook.history.store
    oids = [store.write_blob(os.urandom(40_000)) for _ in range(20)]
    packs = store.path / "objects/pack"
    fill_up(small_disk, leave=100_000)
    with pytest.raises(StorageError, match="No space left"):
        store.pack(oids)
    assert list(packs.iterdir()) == []


def refuse_in(module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise FULL

    monkeypatch.setattr(module, name, refuse)


def test_a_branch_that_cannot_be_moved_says_what_to_do(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = notebook.history.head()
    refuse_in(git_store, "write_all", monkeypatch)
    with pytest.raises(StorageError) as raised:
        notebook.write("MEMORY.md", "two\n")
    assert raised.value.remedy == "Free some space, or make the folder writable. Nothing was changed."
    monkeypatch.undo()
    assert_unchanged(notebook, head)
    (notebook.history.path / "refs/heads/main.lock").touch()
    with pytest.raises(
        StorageError, match=r"remove refs/heads/main\.lock in that folder. Nothing was changed"
    ):
        notebook.write("MEMORY.md", "two\n")
    assert_unchanged(notebook, head)


def test_what_was_called_off_on_a_full_disk_never_happens(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = notebook.history.head()
    journal = notebook.history.path / journal_module.JOURNAL_FILE
    before = journal.read_bytes() if journal.exists() else b""
    real = file_access.write_all

    def only_records(handle: int, content: bytes) -> None:
        if b"void " in content:
            raise FULL
        real(handle, content)

    refuse_in(git_store, "write_all", monkeypatch)
    monkeypatch.setattr(journal_module, "write_all", only_records)
    with pytest.raises(StorageError, match="Nothing was changed"):
        notebook.write("MEMORY.md", "two\n")
    monkeypatch.undo()
    assert journal.read_bytes() == before
    assert_unchanged(notebook, head)
    assert notebook.history.adopt().commits == ()
    assert_unchanged(notebook, head)


def test_what_can_be_neither_completed_nor_taken_back_says_so_and_is_completed(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = notebook.history.head()
    refuse_in(git_store, "write_all", monkeypatch)

    def refuse(*_: object) -> None:
        raise StorageError("The journal cannot be used: No space left on device.")

    monkeypatch.setattr(journal_module.Journal, "call_off", refuse)
    with pytest.raises(StorageError, match="the next change completes this one first") as raised:
        notebook.write("MEMORY.md", "two\n")
    assert "Nothing was changed" not in str(raised.value)
    monkeypatch.undo()
    assert notebook.write("USER.md", "new\n")
    assert (notebook.root / "MEMORY.md").read_text() == "two\n"
    assert len(list(notebook.history.store.walk(stop=head))) == 2


def test_a_journal_that_cannot_note_the_end_says_that_the_change_is_saved(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = file_access.write_all

    def only_records(handle: int, content: bytes) -> None:
        if content.startswith(b"done "):
            raise FULL
        real(handle, content)

    monkeypatch.setattr(journal_module, "write_all", only_records)
    commit = notebook.write("MEMORY.md", "two\n")
    monkeypatch.undo()
    assert notebook.history.head() == commit
    assert any(
        "No space left" in each and "The change is saved" in each for each in notebook.history.warnings
    )
    assert notebook.write("USER.md", "new\n") != commit


def test_a_change_that_failed_retires_no_id(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    log = "memory/episodes/2026-02-02.md"
    notebook.write(log, "## 14:30 | event\nThe tram was late.\n")
    retired = notebook.root / layout.SPENT_IDS
    before = retired.read_bytes()
    for module, name in ((work_files, "write_all"), (journal_module, "write_all"), (git_store, "write_all")):
        refuse_in(module, name, monkeypatch)
        with pytest.raises(StorageError):
            notebook.write(log, "nothing\n")
        monkeypatch.undo()
        assert retired.read_bytes() == before
    notebook.write(log, "nothing\n")
    assert len(retired.read_bytes()) > len(before)
