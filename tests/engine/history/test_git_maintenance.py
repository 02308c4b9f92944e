"""Repacking happens in the background, once at a time, and loses nothing."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tests.engine.history.notebook import Notebook
from workbench.engine.history import maintenance
from workbench.engine.history.maintenance import (
    REPACK_LOCK,
    count_loose_objects,
    git_environment,
    repack_if_due,
    verify,
)


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    made = Notebook(tmp_path)
    for number in range(12):
        made.write("MEMORY.md", f"{number}\n")
    return made


def test_nothing_is_done_before_it_is_due(notebook: Notebook) -> None:
    assert repack_if_due(notebook.history) is None
    found = count_loose_objects(notebook.history.path)
    assert (found.objects, found.packs) == (36, 0)
    assert found.size > 36 * 20


@pytest.mark.parametrize("limit", ["many_objects", "many_bytes"])
def test_repacking_by_count_or_size_keeps_everything(notebook: Notebook, limit: str) -> None:
    process = repack_if_due(notebook.history, **{limit: 10})
    assert process is not None
    # The background goes on while this writes.
    commit = notebook.write("MEMORY.md", "meanwhile\n")
    assert process.wait() == 0
    found = count_loose_objects(notebook.history.path)
    assert found.objects <= 3
    assert found.packs >= 1
    assert notebook.history.head() == commit
    assert verify(notebook.history, deep=True).ok


def test_a_second_one_does_not_start(notebook: Notebook) -> None:
    with (notebook.history.path / REPACK_LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert repack_if_due(notebook.history, many_objects=1) is None
    process = repack_if_due(notebook.history, many_objects=1)
    assert process is not None
    assert process.wait() == 0


def test_without_git_nothing_is_repacked_and_a_line_says_so(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    assert repack_if_due(notebook.history, many_objects=1) is None
    assert "repacked" in notebook.history.warnings[0]


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    found = git_environment()
    assert found["GIT_CONFIG_GLOBAL"] == os.devnull
    assert "GIT_DIR" not in found
    assert "GIT_CONFIG_COUNT" not in found


def test_ended_processes_are_let_go(notebook: Notebook) -> None:
    process = repack_if_due(notebook.history, many_objects=10)
    assert process is not None
    process.wait()
    repack_if_due(notebook.history)
    assert process not in maintenance._started
