"""A history that came with somebody else's folder writes nothing outside of it, and runs nothing."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.engine.history.notebook import START, Notebook
from workbench.engine.errors import HistoryError, StorageError
from workbench.engine.history import maintenance
from workbench.engine.history.history import History
from workbench.engine.history.journal import JOURNAL_FILE, LOCK_FILE, QUEUE_FILE, WriterLock

PRECIOUS = b"not yours to touch\n" * 20


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    notebook = Notebook(tmp_path)
    notebook.write_all({"MEMORY.md": "one\n"})
    return notebook


def reopened(notebook: Notebook) -> Notebook:
    """Open the workspace as another process would."""
    notebook.history = History(notebook.root, clock=notebook.clock, state=notebook.root.parent / "state")
    return notebook


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "name",
    [
        "objects", "objects/pack", "refs", "refs/heads", "refs/heads/main", "info", "HEAD", "config",
        LOCK_FILE, QUEUE_FILE, JOURNAL_FILE, "workbench.repack", "workbench.purge",
    ],
)  # fmt: skip
def test_nothing_is_written_through_a_link_within_the_history(
    notebook: Notebook, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place, target = notebook.root / ".audit" / name, outside / "target"
    if place.exists():
        place.rename(target)
    else:
        target.write_bytes(PRECIOUS)
    place.symlink_to(target)
    before = contents(outside)
    with pytest.raises(HistoryError, match="lead out of its folder"):
        reopened(notebook).write("MEMORY.md", "two\n")
    assert contents(outside) == before
    assert notebook.read("MEMORY.md") == "one\n"


@pytest.mark.parametrize("name", ["commondir", "objects/info/alternates"])
def test_no_other_repository_is_taken_for_this_one(notebook: Notebook, tmp_path: Path, name: str) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", other], check=True)
    before = contents(other)
    place = notebook.root / ".audit" / name
    place.write_text(f"{other}/.git" + ("/objects" if "alternates" in name else "") + "\n")
    with pytest.raises(HistoryError, match="lead out of its folder"):
        reopened(notebook).write("MEMORY.md", "two\n")
    assert contents(other) == before


@pytest.mark.parametrize(
    "added", ["[core]\n\tworktree = {}\n", "[core] worktree = {}\n", "[include]\n\tpath = {}\n"]
)
def test_a_config_that_leads_elsewhere_is_named(notebook: Notebook, tmp_path: Path, added: str) -> None:
    config = notebook.root / ".audit/config"
    with config.open("a", encoding="utf-8") as file:
        file.write(added.format(tmp_path))
    with pytest.raises(HistoryError, match=r"“config” says “(worktree|include)”"):
        reopened(notebook).write("MEMORY.md", "two\n")
    assert notebook.read("MEMORY.md") == "one\n"


@pytest.mark.parametrize("name", ["config", "HEAD", LOCK_FILE, JOURNAL_FILE])
def test_a_pipe_in_the_history_is_refused_and_not_waited_for(notebook: Notebook, name: str) -> None:
    place = notebook.root / ".audit" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with pytest.raises(HistoryError, match="lead out of its folder"):
        reopened(notebook).write("MEMORY.md", "two\n")


def test_the_lock_follows_no_link_that_was_put_there_meanwhile(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(PRECIOUS)
    (tmp_path / LOCK_FILE).symlink_to(target)
    with pytest.raises(StorageError), WriterLock(tmp_path / LOCK_FILE, timeout=1).hold("manual", START):
        pass
    assert target.read_bytes() == PRECIOUS


def test_git_fetches_nothing_whatever_the_config_names(notebook: Notebook, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    history = notebook.root / ".audit"
    with (history / "config").open("a") as config:
        config.write(
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n"
            f'[remote "origin"]\n\turl = ext::{program}\n\tpromisor = true\n[protocol "ext"]\n\tallow = always\n'
        )
    missing = "1" * 40
    assert maintenance.run_git(history, "cat-file", "-p", missing).status != 0
    assert not ran.exists()
    # Left to itself, git does run it.
    subprocess.run(
        ["git", f"--git-dir={history}", "cat-file", "-p", missing], check=False, capture_output=True
    )
    assert ran.exists()
