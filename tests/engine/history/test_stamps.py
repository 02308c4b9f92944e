"""Unchanged files are known by their stamps, and a stamp never hides a change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook
from workbench.engine.history import outside_edits, work_files
from workbench.engine.history.outside_edits import Edits, find_edits


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    notebook = Notebook(tmp_path)
    notebook.write_all({f"memory/vault/{number}.md": f"{number}\n" for number in range(5)})
    return notebook


def look(notebook: Notebook, *, tick: int = 0) -> Edits:
    store = notebook.history.store
    tree = store.commit(store.head() or "").tree
    return find_edits(notebook.root, store, tree, notebook.history.state, tick=tick)


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    read: list[str] = []
    real = work_files.read_work_file

    def counted(root: Path, path: str) -> bytes | None:
        read.append(path)
        return real(root, path)

    monkeypatch.setattr(outside_edits, "read_work_file", counted)
    return read


def test_files_are_read_once_until_they_change(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    read = reads(monkeypatch)
    assert look(notebook) == Edits({}, {})
    assert len(read) == 5
    assert look(notebook) == Edits({}, {})
    assert len(read) == 5
    (notebook.root / "memory/vault/3.md").write_text("changed\n")
    assert look(notebook).files == {"memory/vault/3.md": b"changed\n"}
    assert read[5:] == ["memory/vault/3.md"]
    assert look(notebook).files == {"memory/vault/3.md": b"changed\n"}


def test_after_a_mutation_only_its_files_are_read(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(notebook)
    notebook.write("memory/vault/2.md", "by the engine\n")
    read = reads(monkeypatch)
    assert look(notebook) == Edits({}, {})
    assert read == ["memory/vault/2.md"]


def test_a_change_that_keeps_size_and_time_is_found(notebook: Notebook) -> None:
    place = notebook.root / "memory/vault/1.md"
    look(notebook)
    before = place.stat()
    place.write_text("9\n")
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert look(notebook).files == {"memory/vault/1.md": b"9\n"}


def test_a_stamp_too_young_to_be_trusted_is_not_kept(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    hour = 3_600_000_000_000
    look(notebook, tick=hour)
    read = reads(monkeypatch)
    look(notebook, tick=hour)
    assert len(read) == 5


def test_deletions_and_new_files_are_found_by_stamps_too(notebook: Notebook) -> None:
    look(notebook)
    (notebook.root / "memory/vault/0.md").unlink()
    (notebook.root / "memory/vault/new.md").write_text("new\n")
    assert look(notebook).files == {"memory/vault/0.md": None, "memory/vault/new.md": b"new\n"}


@pytest.mark.parametrize(
    "content", [b"", b"\0\0\0", b"workbench-stamps-1 x", b"workbench-stamps-1 " + b"0" * 40 + b" 5\0a\tb"]
)
def test_broken_state_is_no_state(notebook: Notebook, content: bytes) -> None:
    look(notebook)
    (notebook.history.state / "stamps").write_bytes(content)
    assert look(notebook) == Edits({}, {})
    (notebook.root / "memory/vault/0.md").write_text("x")
    (notebook.history.state / "stamps").write_bytes(content)
    assert look(notebook).files == {"memory/vault/0.md": b"x"}


def test_state_that_cannot_be_written_costs_nothing_but_time(notebook: Notebook, tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    store = notebook.history.store
    tree = store.commit(store.head() or "").tree
    assert find_edits(notebook.root, store, tree, blocked / "state") == Edits({}, {})
