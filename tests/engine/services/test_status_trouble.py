"""Trouble: full disks, damaged histories, lost state, broken settings and missing programs."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome, failure, listing
from tests.engine.services.callings import ACTIONS, EPISODE, READING, Calling
from tests.powers import as_anybody
from workbench.engine import Workspace, layout
from workbench.engine.errors import (
    HistoryError,
    InvalidSetting,
    NotFound,
    OutsideWorkspace,
    StorageError,
)

UNPREPARED = [calling for calling in ACTIONS if calling.prepare is None]


def reads_all(workspace: Workspace) -> None:
    """Everything that needs no history answers, and answers rightly."""
    assert workspace.core().tokens > 20
    assert workspace.get("memory/2026-01-30.md").lines >= 6
    assert any(hit.id == EPISODE for hit in workspace.search("backups midnight").results)
    assert workspace.show(EPISODE).text == "Backups run at midnight."
    assert workspace.timeline().total >= 5
    assert workspace.graph("Robin").edges
    assert workspace.decay().entries
    assert workspace.brief().core
    assert workspace.doctor().checks


def assert_well(home: AgentHome, *, after_another_history: bool = False) -> None:
    with home.open() as workspace:
        kept = workspace.remember("All is well again", store="episodic")
        assert kept.commit
        if after_another_history:
            # That it is not the one last seen is said until a person has acknowledged it.
            for alert in workspace.alerts_waiting():
                assert alert.file == layout.HISTORY
                workspace.acknowledge(alert.id)
        assert workspace.audit_verify().problems == ()
        assert workspace.undo().commit
    assert home.git("fsck", "--no-dangling") == ""


# A full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("only the superuser may mount a disk")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill_up(disk: Path, *, leave: int) -> None:
    handle = os.open(disk / "filler", os.O_WRONLY | os.O_CREAT)
    size, written = 1 << 16, 0
    while size:
        try:
            written += os.write(handle, b"x" * size)
        except OSError:
            size //= 2
    os.ftruncate(handle, max(0, written - leave))
    os.close(handle)


@pytest.mark.parametrize("leave", [0, 1 << 12, 1 << 14])
def test_a_full_disk_changes_nothing_and_hides_nothing(small_disk: Path, leave: int) -> None:
    home = AgentHome(small_disk / "agent")
    home.furnish()
    home.init()
    before, commits = home.tracked(), home.commits()
    fill_up(small_disk, leave=leave)
    told = 0
    for calling in UNPREPARED:
        with home.open() as workspace:
            error = failure(partial(calling.call, workspace))
            if error is None:
                workspace.undo()
            else:
                assert isinstance(error, StorageError), error
                told += 1
            reads_all(workspace)
        assert home.tracked() == before
    assert told or leave
    assert leave or home.commits() == commits
    (small_disk / "filler").unlink()
    assert_well(home)


def bearable(calling: Calling) -> tuple[type[Exception], ...]:
    """Return how a call may fail where state cannot be kept: what it needs beforehand is not there then, either."""
    return (StorageError, NotFound) if calling.prepare else (StorageError,)


def test_a_full_disk_for_state_and_cache_only_costs_time(
    small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STATE", "CACHE"):
        monkeypatch.setenv(f"WORKBENCH_PATHS_{name}", str(small_disk / name))
    home = AgentHome(tmp_path / "agent")
    home.furnish()
    home.init()
    fill_up(small_disk, leave=0)
    with home.open() as workspace:
        for calling in READING:
            error = failure(partial(calling.call, workspace))
            assert error is None or isinstance(error, bearable(calling)), (calling.name, error)
        assert workspace.core().tokens
        assert workspace.get("MEMORY.md").text
    (small_disk / "filler").unlink()
    with home.open() as workspace:
        reads_all(workspace)
    assert_well(home)


def test_files_that_may_not_grow_are_told_of(settled: AgentHome) -> None:
    """Every write past four kilobytes fails, in a process of its own: whatever is being written then."""
    before = settled.tracked()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            with settled.open() as workspace:
                error = failure(lambda: workspace.edit_file("memory/notes/long.md", "long\n" * 5000))
            code = 0 if isinstance(error, StorageError) else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert settled.tracked() == before
    assert_well(settled)


# Rights


def test_a_folder_that_may_only_be_read_is_not_changed(settled: AgentHome) -> None:
    before = listing(settled.root)
    places = [settled.root, *settled.root.rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    try:
        with as_anybody():
            for calling in UNPREPARED:
                with settled.open() as workspace:
                    error = failure(partial(calling.call, workspace))
                    assert isinstance(error, StorageError), (calling.name, error)
                    reads_all(workspace)
            with settled.open() as workspace:
                (told,) = [check for check in workspace.doctor().checks if check.name == "folder"]
            assert told.state == "degraded"
            assert str(settled.root) in told.detail
            assert "writable" in (told.remedy or "")
    finally:
        for place in places:
            place.chmod(0o755 if place.is_dir() else 0o644)
    assert {p: f[3:] for p, f in listing(settled.root).items()} == {p: f[3:] for p, f in before.items()}
    assert_well(settled)


def test_one_file_that_may_not_be_read_hides_none_of_the_rest(settled: AgentHome) -> None:
    secret = settled.root / "memory/2026-01-31-standup.md"
    secret.chmod(0)
    try:
        with as_anybody(), settled.open() as workspace:
            assert workspace.search("lighthouse trip").results
            assert workspace.core_add("Persona", "Be kind").commit
            with pytest.raises(StorageError) as caught:
                workspace.get("memory/2026-01-31-standup.md")
            assert caught.value.remedy
            adopted = workspace.adopt()
            assert any("standup" in warning for warning in adopted.warnings)
    finally:
        secret.chmod(0o644)
    with settled.open() as workspace:
        assert workspace.audit_verify().problems == ()
        assert settled.commit_of(workspace.head()).files == ("MEMORY.md",)


# A damaged history


def loose_objects(home: AgentHome) -> list[Path]:
    return sorted(place for place in (home.root / ".audit/objects").rglob("*") if place.is_file())


def lose_objects(home: AgentHome) -> None:
    for place in loose_objects(home):
        place.unlink()


def lose_half_of_the_objects(home: AgentHome) -> None:
    for place in loose_objects(home)[::2]:
        place.unlink()


def empty_objects(home: AgentHome) -> None:
    for place in loose_objects(home):
        place.chmod(0o644)
        place.write_bytes(b"")


def garble_objects(home: AgentHome) -> None:
    chance = random.Random(1)
    for place in loose_objects(home):
        place.chmod(0o644)
        place.write_bytes(chance.randbytes(max(1, place.stat().st_size)))


def garble_head(home: AgentHome) -> None:
    (home.root / ".audit/HEAD").write_bytes(b"\xff\x00 what is this\n")


def lose_head(home: AgentHome) -> None:
    (home.root / ".audit/HEAD").unlink()


def garble_branch(home: AgentHome) -> None:
    (home.root / ".audit/refs/heads/main").write_text("not a hash\n")


def branch_into_the_void(home: AgentHome) -> None:
    (home.root / ".audit/refs/heads/main").write_text("f" * 40 + "\n")


def branch_is_a_folder(home: AgentHome) -> None:
    (home.root / ".audit/refs/heads/main").unlink()
    (home.root / ".audit/refs/heads/main").mkdir()


def lose_config(home: AgentHome) -> None:
    (home.root / ".audit/config").unlink()


def garble_config(home: AgentHome) -> None:
    (home.root / ".audit/config").write_bytes(b"[core\n\xff\xfe\x00")


def truncate_pack(home: AgentHome) -> None:
    home.git("repack", "-adq")
    home.git("prune-packed", "-q")
    for pack in (home.root / ".audit/objects/pack").glob("*.pack"):
        pack.chmod(0o644)
        os.truncate(pack, pack.stat().st_size // 2)


def lose_pack_index(home: AgentHome) -> None:
    home.git("repack", "-adq")
    home.git("prune-packed", "-q")
    for index in (home.root / ".audit/objects/pack").glob("*.idx"):
        index.unlink()


def only_a_folder(home: AgentHome) -> None:
    shutil.rmtree(home.root / ".audit")
    (home.root / ".audit").mkdir()


def a_file_instead(home: AgentHome) -> None:
    shutil.rmtree(home.root / ".audit")
    (home.root / ".audit").write_text("a file\n")


def somebody_elses(home: AgentHome) -> None:
    shutil.rmtree(home.root / ".audit")
    subprocess.run(["git", "init", "-q", "--bare", str(home.root / ".audit")], check=True)


def garble_journal(home: AgentHome) -> None:
    (home.root / ".audit/workbench.journal").write_bytes(random.Random(2).randbytes(5000))


def lose_everything(home: AgentHome) -> None:
    shutil.rmtree(home.root / ".audit")


DAMAGES = (
    *(lose_objects, lose_half_of_the_objects, empty_objects, garble_objects),
    *(garble_head, lose_head, garble_branch, branch_into_the_void, branch_is_a_folder),
    *(lose_config, garble_config, truncate_pack, lose_pack_index, only_a_folder, a_file_instead),
    *(somebody_elses, garble_journal, lose_everything),
)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_a_damaged_history_leaves_memory_readable_and_untouched(
    settled: AgentHome, damage: Callable[[AgentHome], None], warm: bool
) -> None:
    with settled.open() as workspace:
        workspace.remember("The tram was late", store="episodic")
        workspace.core_add("Persona", "Be kind")
    damage(settled)
    if not warm:
        for name in ("state", "cache"):
            shutil.rmtree(settled.root.parent / name)
    before = settled.tracked()
    for role in ("reader", "main", "person"):
        with settled.open(role) as workspace:
            reads_all(workspace)
            for call in (
                workspace.audit_log,
                workspace.audit_alerts,
                workspace.audit_verify,
                workspace.head,
                partial(workspace.audit_at, "2026-02-03"),
                partial(workspace.audit_blame, "MEMORY.md"),
                partial(workspace.audit_show, "HEAD"),
            ):
                error = failure(call)
                assert error is None or isinstance(error, HistoryError | NotFound | StorageError), error
    assert settled.tracked() == before
    with settled.open() as workspace:
        error = failure(lambda: workspace.remember("The bus was late", store="episodic"))
        if error is None:
            # What was damaged was not needed for this, or was begun anew; it is told where something was lost.
            assert "The bus was late" in settled.text("memory/episodes/2026-02-02.md")
        else:
            assert isinstance(error, HistoryError | StorageError), error
            assert settled.tracked() == before
            for undoing in (workspace.undo, workspace.redo, partial(workspace.rollback, to="2026-02-03")):
                assert failure(undoing) is not None
            assert settled.tracked() == before
            reads_all(workspace)
            broken = [check for check in workspace.doctor().checks if check.name == "history"]
            assert broken
            if damage is not a_file_instead:
                aside = workspace.set_aside_history()
                assert aside.exists()
    if error is not None and damage is not a_file_instead:
        assert_well(settled, after_another_history=True)
        assert before.items() <= settled.tracked().items()


def test_a_history_that_vanishes_while_open_begins_anew(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.core_add("Persona", "Be kind")
        shutil.rmtree(settled.root / ".audit")
        reads_all(workspace)
        kept = workspace.core_add("Persona", "Be quick")
        assert kept.commit
        assert [alert.file for alert in workspace.audit_alerts().alerts] == [layout.HISTORY]
    assert "Be kind" in settled.text(layout.CORE)


# State and cache


@pytest.mark.parametrize("name", ["state", "cache"])
def test_what_is_derived_may_be_deleted_at_any_moment(settled: AgentHome, name: str) -> None:
    place = settled.root.parent / name
    with settled.open() as workspace:
        workspace.pin(EPISODE)
        reads_all(workspace)
        shutil.rmtree(place)
        reads_all(workspace)
        for calling in UNPREPARED[:6]:
            calling.call(workspace)
            shutil.rmtree(place, ignore_errors=True)
        assert workspace.audit_verify().problems == ()
    with settled.open() as workspace:
        score = workspace.show(EPISODE).score
        assert score
        assert score.status == "pinned"
    assert_well(settled)


@pytest.mark.parametrize("name", ["state", "cache"])
def test_what_is_derived_may_be_damaged(settled: AgentHome, name: str) -> None:
    with settled.open() as workspace:
        reads_all(workspace)
        workspace.settle()
    for place in (settled.root.parent / name).rglob("*"):
        if place.is_file():
            place.write_bytes(random.Random(3).randbytes(3000))
    with settled.open() as workspace:
        reads_all(workspace)
    assert_well(settled)


@pytest.mark.parametrize("name", ["state", "cache"])
def test_derived_state_that_cannot_be_kept_costs_no_memory(settled: AgentHome, name: str) -> None:
    place = settled.root.parent / name
    shutil.rmtree(place)
    place.write_text("a file, where a folder should be\n")
    with settled.open() as workspace:
        for calling in READING:
            error = failure(partial(calling.call, workspace))
            assert error is None or isinstance(error, bearable(calling)), (calling.name, error)
        assert workspace.core().tokens
        assert workspace.get("MEMORY.md").text
        assert any(check.state != "ok" for check in workspace.doctor().checks)
        error = failure(lambda: workspace.remember("The bus was late", store="episodic"))
        assert error is None or isinstance(error, StorageError)
    if error is None:
        assert "The bus was late" in settled.text("memory/episodes/2026-02-02.md")
    place.unlink()
    assert_well(settled)


# Settings


@pytest.mark.parametrize(
    "content",
    [
        b"[core\ncap = 3",
        b"[core]\ncap = " + b"9" * 5_000,
        b"[core]\ncap = " + b"[" * 5_000,
        b"core.cap = 'many'\n",
        b"[cellar]\nwine = 1\n",
        b"timezone = 'Atlantis/Capital'\n",
        b"\xff\xfe[core]",
        b"[core]\ncap = 3000\ncap = 3000\n",
        b"[decay]\nactive_threshold = 0.1\n",
        b"[core]\ncpa = 3000\n",
    ],
)
def test_broken_settings_are_named_and_nothing_is_touched(settled: AgentHome, content: bytes) -> None:
    settled.write(layout.SETTINGS, content)
    before = listing(settled.root)
    with pytest.raises(InvalidSetting) as caught, settled.open():
        pass
    assert layout.SETTINGS in str(caught.value.where)
    assert caught.value.remedy
    assert listing(settled.root) == before


def test_settings_that_cannot_be_read_hide_no_diagnosis(settled: AgentHome) -> None:
    place = settled.root / layout.SETTINGS
    place.unlink(missing_ok=True)
    place.mkdir()
    with pytest.raises(StorageError), settled.open():
        pass
    with settled.open(lenient=True) as workspace:
        told = [check for check in workspace.doctor().checks if layout.SETTINGS in f"{check}"]
    assert told


def test_settings_that_are_a_link_are_refused(settled: AgentHome, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.toml").write_text("[core]\ncap = 10\n")
    (settled.root / layout.SETTINGS).symlink_to(tmp_path / "elsewhere.toml")
    with pytest.raises(OutsideWorkspace), settled.open():
        pass


def test_a_person_cannot_write_settings_that_would_lock_them_out(settled: AgentHome) -> None:
    with settled.open() as workspace:
        failure(lambda: workspace.edit_file(layout.SETTINGS, "[core\ncap = 3"))
    with settled.open() as workspace:
        assert workspace.core().cap == 3000


# Programs


@pytest.mark.parametrize("calling", UNPREPARED, ids=lambda calling: calling.name)
def test_everything_works_without_the_git_program(
    settled: AgentHome, calling: Calling, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(empty))
        with settled.open() as workspace:
            before = settled.tracked()
            calling.call(workspace)
            assert settled.tracked() != before
            workspace.undo()
            assert settled.tracked() == before
            reads_all(workspace)
            assert workspace.audit_verify().problems == ()
            (check,) = (check for check in workspace.doctor().checks if check.name == "git")
            assert check.state == "degraded"
            assert check.remedy
    assert settled.git("fsck", "--strict", "--no-dangling") == ""


def test_as_many_memories_are_told_of_as_can_fade(settled: AgentHome) -> None:
    (settled.root / "TOOLS.md").write_text("# Tools\n\n- The autoclave stands in room 4\n")
    with settled.open("person") as workspace:
        (told,) = [check.detail for check in workspace.doctor().checks if check.name == "memories"]
        many = len(workspace.decay().entries)
    assert re.fullmatch(rf"{many}, and \d+ parts of files, which do not fade", told)
