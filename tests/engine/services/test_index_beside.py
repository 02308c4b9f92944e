"""A large memory is indexed by another process while this one reads it, and all the same if that fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.large_workspace import generate_notes
from workbench.engine import Workspace
from workbench.engine.catalog import catalog
from workbench.engine.services import index_beside

NOTES = 60


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is large enough for another process, which begins with the second file."""
    monkeypatch.setattr(index_beside, "_MANY_FILES", NOTES // 2)
    monkeypatch.setattr(catalog, "_FIRST_BATCH_SECONDS", 0.0)
    folder = tmp_path / "notes"
    generate_notes(folder, notes=NOTES)
    return folder


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that were started."""
    processes: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def keep(*given: object, **named: object) -> subprocess.Popen[bytes]:
        processes.append(start(*given, **named))  # type: ignore[call-overload]
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", keep)
    return processes


def index_and_ask(folder: Path) -> list[tuple[int, int]]:
    told: list[tuple[int, int]] = []
    with Workspace.open(folder, role="reader") as workspace:
        state = workspace.index(progress=lambda done, total: told.append((done, total)))
        assert (state.files, state.chunks, state.dirty) == (NOTES, NOTES, False)
        assert workspace.search(f"note{NOTES - 1}").results[0].path.endswith(f"{NOTES - 1:06}.md")
    return told


def test_another_process_indexes_what_is_read(notes: Path, begun: list[subprocess.Popen[bytes]]) -> None:
    index_and_ask(notes)
    assert [process.returncode for process in begun] == [0]
    # Nothing is left to read the second time.
    index_and_ask(notes)
    assert len(begun) == 1


def test_both_keep_the_catalog_in_the_zone_that_the_history_records(
    notes: Path, begun: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("WORKBENCH_TIMEZONE", raising=False)
    Workspace.init(notes, timezone="Asia/Tokyo")
    monkeypatch.setenv("WORKBENCH_PATHS_CACHE", str(tmp_path / "another cache"))
    index_and_ask(notes)
    # In another zone it would make the catalog anew, which this process is reading into.
    ((*_, zone),) = [process.args for process in begun]  # type: ignore[misc]
    assert zone == "Asia/Tokyo"


def test_this_one_indexes_what_the_other_could_not(
    notes: Path, begun: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_beside, "_PROGRAM", "raise SystemExit(3)")
    assert index_and_ask(notes)
    assert [process.returncode for process in begun] == [3]


def test_no_process_can_be_started(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert index_and_ask(notes)


def test_what_is_cancelled_ends_with_its_process(notes: Path, begun: list[subprocess.Popen[bytes]]) -> None:
    with Workspace.open(notes, role="reader") as workspace:
        workspace.index(cancelled=lambda: bool(begun))
    assert [process.returncode for process in begun] == [0]


def test_nothing_in_the_working_folder_is_run(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (notes / "json.py").write_text("import os; os.mkdir('ran')\n", encoding="utf-8")
    monkeypatch.chdir(notes)
    index_and_ask(notes)
    assert not (notes / "ran").exists()


def test_an_index_that_holds_something_is_brought_up_to_date_here(
    notes: Path, begun: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_beside, "_MANY_FILES", 10**6)
    index_and_ask(notes)
    monkeypatch.setattr(index_beside, "_MANY_FILES", 2)
    for file in (notes / "memory").rglob("*.md"):
        file.write_text(file.read_text(encoding="utf-8") + "\nA line more.\n", encoding="utf-8")
    with Workspace.open(notes, role="reader") as workspace:
        workspace.index()
    assert begun == []
