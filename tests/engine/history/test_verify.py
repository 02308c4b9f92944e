"""Whatever is tampered with in log, history or files is found and named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook
from workbench.engine import layout
from workbench.engine.history import Action, History
from workbench.engine.history.git_program import git_command, git_environment
from workbench.engine.history.verify import verify


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    made = Notebook(tmp_path)
    made.write("MEMORY.md", "one\n", summary="first")
    made.write_all({"MEMORY.md": "two\n", "USER.md": "me\n"}, summary="second | with a bar")
    made.write("memory/vault/a.md", "x\n", summary="third")
    made.note(Action.ALERT)
    return made


def kinds(history: History, *, deep: bool = False) -> list[str]:
    return [problem.kind for problem in verify(history, deep=deep).problems]


def log_of(notebook: Notebook) -> Path:
    return notebook.root / layout.AUDIT_LOG


def test_all_is_well(notebook: Notebook) -> None:
    found = verify(notebook.history, deep=True)
    assert (found.ok, found.problems, found.commits, found.entries) == (True, (), 4, 5)


def test_no_history_is_no_problem(tmp_path: Path) -> None:
    assert verify(Notebook(tmp_path).history).ok


def test_edits_of_files_are_found_whatever_their_dates(notebook: Notebook) -> None:
    (notebook.root / "MEMORY.md").write_text("2wo\n")
    (notebook.root / "USER.md").unlink()
    (notebook.root / "memory/vault/new.md").write_text("new\n")
    found = verify(notebook.history)
    assert [(p.kind, p.where) for p in found.problems] == [
        ("outside-edit", "USER.md"),
        ("outside-edit", "MEMORY.md"),
        ("outside-edit", "memory/vault/new.md"),
    ]
    notebook.history.adopt()
    assert verify(notebook.history).ok


def test_edits_of_the_log_are_found(notebook: Notebook) -> None:
    log = log_of(notebook)
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join([lines[0], *lines[2:]]), encoding="utf-8")
    assert kinds(notebook.history) == ["log-missing"]
    log.write_text("".join([*lines[:2], lines[2].replace("second", "nothing"), *lines[3:]]), encoding="utf-8")
    assert kinds(notebook.history) == ["log-missing", "log-extra"]
    log.write_text("".join([lines[1], lines[0], *lines[2:]]), encoding="utf-8")
    assert set(kinds(notebook.history)) == {"log-order"}
    log.write_text("".join([*lines, lines[0]]), encoding="utf-8")
    assert kinds(notebook.history) == ["log-extra"]
    log.write_text("".join([*lines, "what is this\n"]), encoding="utf-8")
    assert kinds(notebook.history) == ["log-line"]
    log.unlink()
    assert kinds(notebook.history) == ["log-missing"] * 5


def git(notebook: Notebook, *arguments: str, message: str | None = None) -> str:
    names = {f"GIT_{who}_{what}": "mallory" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    command = git_command(notebook.history.path, *arguments)
    done = subprocess.run(
        command, env={**git_environment(), **names}, input=message, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_rewritten_head_is_found(notebook: Notebook) -> None:
    head = notebook.history.head()
    assert head
    parent = notebook.history.store.commit(head).parent
    git(notebook, "update-ref", "refs/heads/main", str(parent))
    assert "rewritten" in kinds(notebook.history)
    assert "log-extra" in kinds(notebook.history)


def test_a_commit_by_another_program_is_found(notebook: Notebook) -> None:
    tree = git(notebook, "rev-parse", "HEAD^{tree}")
    commit = git(notebook, "commit-tree", tree, "-p", "HEAD", message="hello")
    git(notebook, "update-ref", "refs/heads/main", commit)
    assert kinds(notebook.history) == ["foreign-commit", "log-missing"]


def test_a_forged_commit_lacks_something(notebook: Notebook) -> None:
    tree = git(notebook, "rev-parse", "HEAD~3^{tree}")
    message = "[EDIT] USER.md — x\n\nActor: manual\nTransaction: abc\nAudit: EDIT | USER.md | auto | x\n"
    commit = git(notebook, "commit-tree", tree, "-p", "HEAD", message=message)
    git(notebook, "update-ref", "refs/heads/main", commit)
    found = kinds(notebook.history, deep=True)
    assert found[:3] == ["missing-trailer", "missing-trailer", "author"]
    assert "unaccounted" in found


def test_a_broken_object_is_found(notebook: Notebook) -> None:
    store = notebook.history.store
    blob = store.blob_id("HEAD" and store.resolve("HEAD"), "MEMORY.md")
    assert blob
    place = store.loose_path(blob)
    place.chmod(0o644)
    place.write_bytes(b"rubbish")
    store.forget_handles()
    assert "broken-object" in kinds(notebook.history)
    place.unlink()
    store.forget_handles()
    assert "broken-object" in kinds(notebook.history)


def test_an_unfinished_transaction_is_named(notebook: Notebook) -> None:
    journal = notebook.history.path / "workbench.journal"
    journal.write_bytes(journal.read_bytes().rpartition(b"done ")[0])
    assert kinds(notebook.history) == ["unfinished"]
