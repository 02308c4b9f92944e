"""What power may take at any moment: a transaction is on disk, in the journal, before anything shows it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook

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
