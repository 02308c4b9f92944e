"""Cache and state folders that are full, read-only, in the way, cut short or gone: at most their own use is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.engine.failing_disk import failing_disk
from tests.engine.services.agent_home import AgentHome
from tests.powers import as_anybody
from workbench.engine import Workspace, file_access
from workbench.engine.errors import SecretFound, StorageError

SECRET = "The token is ghp_Zq91Zq91Zq91Zq91Zq91Zq91Zq91Zq91Zq91"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"WORKBENCH_PATHS_{name}", str(tmp_path / name.lower()))
    return tmp_path


def found(workspace: Workspace, words: str) -> set[str]:
    answer = workspace.search(words)
    if answer.stale:
        # On a busy machine a search does not wait until all of it is read again.
        workspace.index()
        answer = workspace.search(words)
    return {hit.id for hit in answer.results}


def use_everything(workspace: Workspace, number: int) -> None:
    """Write and read, and find all that was written."""
    kept = workspace.remember(f"The ferry of berth {number} is called Visborg", store="episodic")
    assert kept.commit
    assert kept.id in found(workspace, f"ferry berth {number} Visborg")
    assert "episode:2026-02-01:18:40" in found(workspace, "ferry to Gotland")
    assert workspace.brief().core
    assert not workspace.index().dirty
    assert workspace.graph("Robin").edges
    assert workspace.timeline().total >= 5
    assert workspace.scoped("person:robin").search("ferry").results == ()


def state_of(workspace: Workspace, purpose: str) -> str:
    return next(check.state for check in workspace.doctor().checks if check.name == purpose)


# Cache


def put_a_file_in_the_way(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.write_text("in the way")


def forbid_writing(place: Path) -> None:
    for each in (place, *place.rglob("*")):
        each.chmod(0o500 if each.is_dir() else 0o400)


def allow_writing(place: Path) -> None:
    for each in (place, *place.rglob("*")):
        each.chmod(0o700 if each.is_dir() else 0o600)


@pytest.mark.parametrize("was_used", [False, True])
@pytest.mark.parametrize("harm", [put_a_file_in_the_way, forbid_writing])
def test_a_cache_folder_that_takes_no_files_costs_time_alone(
    folders: Path, settled: AgentHome, harm: Callable[[Path], None], was_used: bool
) -> None:
    cache = folders / "cache"
    if was_used:
        with settled.open() as workspace:
            use_everything(workspace, 1)
    cache.mkdir(exist_ok=True)
    harm(cache)
    with as_anybody():
        for number in (2, 3):
            with settled.open() as workspace:
                use_everything(workspace, number)
                told = [line for line in workspace.warnings if str(cache) in line]
                assert len(told) == 1
                assert state_of(workspace, "cache") == "degraded"
    if cache.is_dir():
        allow_writing(cache)


# SQLite passes over what fails while it closes a file; a disk written in Python tells of it all the same.
closing_is_told = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@closing_is_told
@pytest.mark.parametrize("trouble", [apsw.FullError, apsw.IOError])
@pytest.mark.parametrize("when", ["from the start", "midway"])
def test_a_cache_disk_that_fails_costs_time_alone(
    folders: Path, settled: AgentHome, trouble: type[Exception], when: str
) -> None:
    with failing_disk(folders / "cache") as disk:
        if when == "from the start":
            disk.trouble = trouble
        with settled.open() as workspace:
            use_everything(workspace, 1)
            disk.trouble = trouble
            use_everything(workspace, 2)
            settled.write("memory/notes/new.md", "# Quince\n\nThe quince is ripe.\n")
            workspace.index()
            assert found(workspace, "quince ripe")
            assert disk.failed
            assert [line for line in workspace.warnings if str(folders / "cache") in line]
        disk.trouble = None
    with settled.open() as workspace:
        use_everything(workspace, 3)
        assert workspace.warnings == ()


@closing_is_told
def test_a_cache_disk_that_fails_while_an_index_is_built_costs_time_alone(
    folders: Path, settled: AgentHome
) -> None:
    for number in range(300):
        settled.write(
            f"memory/notes/{number}.md", f"# Note {number}\n\nThe quince number {number} is ripe.\n"
        )
    with failing_disk(folders / "cache") as disk, settled.open() as workspace:

        def fail(done: int, total: int) -> None:
            if done:
                disk.trouble = apsw.FullError

        assert not workspace.index(progress=fail).dirty
        assert disk.failed
        assert len(found(workspace, "quince ripe")) > 1
        disk.trouble = None


@closing_is_told
def test_a_purge_deletes_what_was_left_in_a_cache_that_failed(folders: Path, settled: AgentHome) -> None:
    with failing_disk(folders / "cache") as disk, settled.open() as workspace:
        kept = workspace.remember("The zyxmarker is blue", store="episodic")
        assert found(workspace, "zyxmarker")
        disk.trouble = apsw.FullError
        use_everything(workspace, 1)
        disk.trouble = None
        workspace.forget(ids=[kept.id], apply=True, hard=True, purge_history=True)
    left = [place for place in (folders / "cache").rglob("*") if place.is_file()]
    assert not [place for place in left if b"zyxmarker" in place.read_bytes()]


def test_without_room_anywhere_the_error_names_folder_and_remedy(
    folders: Path, settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_access, "temporary_folder", lambda: None)
    put_a_file_in_the_way(folders / "cache")
    with settled.open() as workspace, pytest.raises(StorageError) as raised:
        workspace.search("ferry")
    assert str(folders / "cache") in str(raised.value.where)
    assert "WORKBENCH_PATHS_CACHE" in str(raised.value.remedy)


# State


@pytest.mark.parametrize("harm", [put_a_file_in_the_way, forbid_writing])
def test_a_state_folder_that_takes_no_files_costs_a_change_nothing(
    folders: Path, settled: AgentHome, harm: Callable[[Path], None]
) -> None:
    state = folders / "state"
    with settled.open() as workspace:
        use_everything(workspace, 1)
        workspace.show("episode:2026-02-01:09:15")
    harm(state)
    with as_anybody():
        for number in (2, 3):
            with settled.open() as workspace:
                use_everything(workspace, number)
                workspace.show("episode:2026-02-01:09:15")
                workspace.pin("episode:2026-02-01:09:15")
                workspace.undo()
                workspace.reflect(renew=True)
                told = [line for line in workspace.warnings if str(state) in line]
                assert len(told) == 1
                assert state_of(workspace, "state") == "degraded"
                assert workspace.audit_verify().ok
    if state.is_dir():
        allow_writing(state)


@pytest.mark.parametrize("harm", [put_a_file_in_the_way, forbid_writing])
def test_what_only_a_state_folder_can_keep_is_refused_clearly(
    folders: Path, settled: AgentHome, harm: Callable[[Path], None]
) -> None:
    state = folders / "state"
    state.mkdir(exist_ok=True)
    harm(state)
    with as_anybody(), settled.open() as workspace:
        before = settled.tracked()
        with pytest.raises(StorageError) as raised:
            workspace.session_append("main", "Remember the ferry")
        assert str(state) in str(raised.value.where)
        with pytest.raises((StorageError, SecretFound)) as refused:
            workspace.remember(SECRET)
        assert "Zq91" not in str(refused.value)
        assert settled.tracked() == before
    if state.is_dir():
        allow_writing(state)


def test_accesses_that_cannot_be_read_cost_no_answer_and_no_change(folders: Path, settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.show("episode:2026-02-01:09:15")
        journal = next((folders / "state").rglob("access*"))
    journal.chmod(0o000)
    with as_anybody(), settled.open() as workspace:
        use_everything(workspace, 1)
        assert [line for line in workspace.warnings if str(journal) in line]
    journal.chmod(0o600)


# Files cut short under a process that has them open

VICTIM = """
import os, sys
from pathlib import Path
from workbench.engine import Workspace

root, cache, pattern, how, when = sys.argv[1:]

def harm():
    for place in Path(cache).rglob(pattern):
        size = place.stat().st_size
        if how == "replace":
            place.with_suffix(".new").write_bytes(os.urandom(size))
            place.with_suffix(".new").replace(place)
        else:
            os.truncate(place, int(size * float(how)))

with Workspace.open(root, role="person") as workspace:
    harmed = []

    def progress(done, total):
        if done and not harmed:
            harmed.append(done)
            harm()

    if when == "building":
        workspace.index(progress=progress)
        assert harmed
    else:
        workspace.index()
        for _ in range(3):
            harm()
            if workspace.search("quince").stale:
                workspace.index()
            assert workspace.search("quince").results
    kept = workspace.remember("The ferry is called Visborg", store="episodic")
    if (answer := workspace.search("Visborg")).stale:
        workspace.index()
        answer = workspace.search("Visborg")
    assert [hit.id for hit in answer.results] == [kept.id], answer
    status = workspace.index()
    assert not status.dirty
    assert status.files >= 150
    for number in range(0, 150, 10):
        assert f"number {number} is" in workspace.search(f"quince number {number}").results[0].snippet
    assert workspace.audit_verify().ok
print("survived")
"""


@pytest.mark.parametrize("when", ["searching", "building"])
@pytest.mark.parametrize("how", ["0", pytest.param("0.5", marks=pytest.mark.campaign), "replace"])
@pytest.mark.parametrize("pattern", ["*.sqlite", "*.sqlite-wal", "*.sqlite-shm"])
def test_files_of_catalog_and_index_harmed_under_a_process(
    folders: Path, settled: AgentHome, pattern: str, how: str, when: str
) -> None:
    for number in range(150):
        settled.write(
            f"memory/notes/{number}.md", f"# Note {number}\n\nThe quince number {number} is ripe.\n"
        )
    arguments = [str(settled.root), str(folders / "cache"), pattern, how, when]
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert (done.returncode, done.stdout) == (0, "survived\n"), done.stderr[-2000:]
