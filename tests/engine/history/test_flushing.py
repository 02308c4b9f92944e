"""What power may take at any moment: what is renamed into place is on disk first, and the journal before anything."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.engine.flushes import Flushes, reads_handles
from tests.engine.history.notebook import Notebook
from tests.engine.history.purging import SECRET, purge_named
from workbench.engine import layout
from workbench.engine.history.journal import CHECKPOINT_SIZE, Journal, Record
from workbench.engine.history.recovery import PURGE_MARKER
from workbench.engine.history.transaction import Transaction

FLUSHES = [name for name in ("fsync", "fdatasync") if hasattr(os, name)]


class Disk:
    """Keeps what the journal held when it was last flushed, and how everything else stood then.

    Args:
        notebook: The workspace.
        path: A file of it that is about to change.
    """

    def __init__(self, notebook: Notebook, path: str) -> None:
        self._journal = notebook.root / ".audit/workbench.journal"
        self._file = notebook.root / path
        self._notebook = notebook
        self.flushed = b""
        self.seen: list[tuple[bytes, str | None]] = []

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in FLUSHES:
            flush = getattr(os, name)

            def flushing(handle: int, flush: object = flush) -> None:
                assert callable(flush)
                flush(handle)
                self._note(handle)

            monkeypatch.setattr(os, name, flushing)

    def _note(self, handle: int) -> None:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and self._is_journal(status):
            self.flushed = self._journal.read_bytes()
            self.seen.append((self._file.read_bytes(), self._notebook.history.store.head()))

    def _is_journal(self, status: os.stat_result) -> bool:
        try:
            return os.path.samestat(status, self._journal.stat())
        except FileNotFoundError:
            return False


def test_the_journal_is_flushed_before_a_file_or_the_branch_shows_the_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(tmp_path)
    before = notebook.write("MEMORY.md", "old\n")
    disk = Disk(notebook, "MEMORY.md")
    disk.watch(monkeypatch)
    commit = notebook.write("MEMORY.md", "new\n")
    assert disk.seen == [(b"old\n", before)]
    assert commit.encode() in disk.flushed
    assert notebook.read("MEMORY.md") == "new\n"


@reads_handles
def test_whatever_is_changed_is_on_disk_with_its_folder_once_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(tmp_path)
    notebook.write_all({"MEMORY.md": "old\n", "USER.md": "old\n"})
    flushes = Flushes(monkeypatch)
    new = "memory/vault/deep/er/new.md"
    notebook.write_all({"MEMORY.md": "new\n", "USER.md": None, new: "new\n"})
    assert flushes.hold(notebook.root / "MEMORY.md")
    assert flushes.hold(notebook.root / new)
    for folder in ("memory/vault", "memory/vault/deep", "memory/vault/deep/er"):
        assert flushes.hold_name(notebook.root / folder), folder
    assert flushes.hold_absence(notebook.root / "USER.md")


@reads_handles
def test_what_recovery_writes_is_on_disk_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook(tmp_path)
    notebook.write_all({"MEMORY.md": "old\n", "USER.md": "old\n"})

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as dying:
        dying.setattr(Transaction, "_replace_files", die)
        with pytest.raises(Killed):
            notebook.write_all({"MEMORY.md": "new\n", "USER.md": None})
    assert notebook.read("MEMORY.md") == "old\n"
    flushes = Flushes(monkeypatch)
    notebook.history.adopt()
    assert notebook.read("MEMORY.md") == "new\n"
    assert flushes.hold(notebook.root / "MEMORY.md")
    assert flushes.hold_absence(notebook.root / "USER.md")


@reads_handles
def test_ids_that_go_are_on_disk_before_a_commit_takes_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(tmp_path)
    alex = "memory/graph/entities/person--alex.md"
    notebook.write(alex, "# person--alex\n\n## Facts\n- Likes tea ^f1\n")
    flushes = Flushes(monkeypatch)
    notebook.write(alex, "# person--alex\n")
    assert (notebook.root / layout.SPENT_IDS).read_bytes()
    assert flushes.hold(notebook.root / layout.SPENT_IDS)


@reads_handles
def test_a_purge_changes_nothing_before_its_marker_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(tmp_path)
    notebook.write("MEMORY.md", f"# Core\n\n## Critical Facts\n- {SECRET}\n- Else\n")
    flushes = Flushes(monkeypatch)
    held: dict[str, bool] = {}

    def step(name: str) -> None:
        marker = notebook.history.path / PURGE_MARKER
        if marker.exists():
            held[name.split()[0]] = flushes.hold(marker)

    purge_named(notebook.history, [], [SECRET], step=step)
    assert {"files", "branch", "marker"} <= held.keys()
    assert all(held.values()), held
    assert flushes.hold(notebook.root / "MEMORY.md")
    assert flushes.hold(notebook.history.path / "refs/heads/main")


@reads_handles
def test_the_journal_starts_over_once_all_that_it_carried_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(tmp_path)
    flushes = Flushes(monkeypatch)
    clear, cleared = Journal.clear, []

    def checked(journal: Journal) -> None:
        store = notebook.history.store
        carried = [store.loose_path(oid) for record in journal.read().records for oid in record.objects]
        cleared.append(len(carried))
        assert [place for place in carried if not flushes.hold(place)] == []
        assert flushes.hold(notebook.history.path / "refs/heads/main")
        clear(journal)

    monkeypatch.setattr(Journal, "clear", checked)
    for number in range(3):
        notebook.write("MEMORY.md", f"{number}" * CHECKPOINT_SIZE)
    assert cleared
    assert all(cleared)


@reads_handles
def test_a_rewritten_history_is_on_disk_before_the_marker_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(tmp_path)
    notebook.write("MEMORY.md", f"# Core\n\n## Critical Facts\n- {SECRET}\n- Else\n")
    packs = notebook.history.path / "objects/pack"
    flushes = Flushes(monkeypatch)
    held: list[bool] = []

    def step(name: str) -> None:
        if name == "mark":
            held.extend(flushes.hold(place) for place in packs.iterdir())

    purge_named(notebook.history, [], [SECRET], step=step)
    assert held
    assert all(held)


@reads_handles
def test_what_is_too_large_for_the_journal_is_on_disk_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notebook = Notebook(tmp_path)
    flushes = Flushes(monkeypatch)
    append, appended = Journal.append, []

    def checked(journal: Journal, record: Record) -> None:
        places = map(notebook.history.store.loose_path, record.objects)
        appended.append((bool(record.blobs), all(map(flushes.hold, places))))
        append(journal, record)

    monkeypatch.setattr(Journal, "append", checked)
    notebook.write("MEMORY.md", "small\n")
    notebook.write("MEMORY.md", "large\n" * 300_000)
    assert appended == [(True, False), (False, True)]
