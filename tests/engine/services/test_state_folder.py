"""State belongs to one workspace: what stood at its place before, what it was copied from, and where it moved."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.engine import Workspace
from workbench.engine.clock import Clock, FixedClock
from workbench.engine.errors import HistoryError, StorageError
from workbench.engine.settings.layers import load_settings

KEY = "agent:main:main"


@pytest.fixture
def clock() -> Clock:
    return FixedClock(datetime(2026, 2, 3, 10, tzinfo=UTC))


def made(place: Path, said: str, *, clock: Clock) -> str:
    """Make a workspace in which something was said, and return its identity."""
    Workspace.init(place, clock=clock, timezone="UTC")
    say(place, said, clock=clock)
    return identity(place)


def identity(place: Path) -> str:
    return (place / ".audit" / "identity").read_text().strip()


def say(place: Path, said: str, *, clock: Clock) -> None:
    with Workspace.open(place, clock=clock) as workspace:
        workspace.session_append(KEY, said)


def said_in(place: Path, *, clock: Clock) -> list[str]:
    with Workspace.open(place, role="reader", clock=clock) as workspace:
        return [
            line.text
            for row in workspace.sessions().sessions
            for line in workspace.session(row.key).lines
            if line.kind == "message"
        ]


def remember(place: Path, text: str, *, clock: Clock) -> tuple[str, ...]:
    with Workspace.open(place, clock=clock) as workspace:
        workspace.remember(text)
        return workspace.warnings


def states(place: Path) -> list[str]:
    """Return the names of the state folders that begin as this workspace's does."""
    folder = load_settings(place).state_directory(place)
    return sorted(each.name.removeprefix(folder.name) for each in folder.parent.glob(f"{folder.name}*"))


def test_a_new_workspace_at_the_same_place_knows_nothing_of_the_former(tmp_path: Path, clock: Clock) -> None:
    place = tmp_path / "notes"
    former = made(place, "The old secret plan.", clock=clock)
    shutil.rmtree(place)
    begun = Workspace.init(place, clock=clock, timezone="UTC")
    assert any("was set aside" in line for line in begun.warnings)
    assert identity(place) != former
    assert said_in(place, clock=clock) == []
    with Workspace.open(place, role="person", clock=clock) as workspace:
        assert workspace.audit_alerts().alerts == ()
        (told,) = [check for check in workspace.doctor().checks if check.name == "former state"]
    (aside,) = [name for name in states(place) if name]
    assert aside in told.detail
    folder = load_settings(place).state_directory(place)
    with Workspace.open(place, clock=clock) as workspace:
        (row,) = workspace.sessions(from_=str(folder.with_name(folder.name + aside) / "sessions")).sessions
        assert row.key == KEY


def test_a_folder_without_history_at_the_same_place_knows_nothing_of_the_former(
    tmp_path: Path, clock: Clock
) -> None:
    place = tmp_path / "notes"
    made(place, "The old secret plan.", clock=clock)
    shutil.rmtree(place)
    place.mkdir()
    assert said_in(place, clock=clock) == []
    assert not list(place.iterdir())
    assert len(states(place)) == 1


def test_setting_it_aside_is_told_where_memory_is_changed(tmp_path: Path, clock: Clock) -> None:
    place = tmp_path / "notes"
    made(place, "Old.", clock=clock)
    shutil.rmtree(place)
    place.mkdir()
    assert any(
        "was set aside" in line for line in remember(place, "Alex prefers tea over coffee.", clock=clock)
    )
    assert remember(place, "Robin likes the harbour in winter.", clock=clock) == ()


def test_a_workspace_that_takes_the_place_under_an_open_door_knows_nothing_of_the_former(
    tmp_path: Path, clock: Clock
) -> None:
    place = tmp_path / "notes"
    former = made(place, "The old secret plan.", clock=clock)
    with Workspace.open(place, clock=clock) as workspace:
        workspace.remember("Alex prefers tea over coffee.")
        shutil.rmtree(place)
        place.mkdir()
        (place / "MEMORY.md").write_text("# Memory\n\n- Robin likes the harbour.\n")
        workspace.remember("Kim collects stamps from Norway.")
        assert workspace.sessions().sessions == ()
        assert any("was set aside" in line for line in workspace.warnings)
    assert identity(place) != former
    with Workspace.open(place, role="person", clock=clock) as workspace:
        assert workspace.audit_alerts().alerts == ()


def test_a_moved_workspace_finds_its_state_again(tmp_path: Path, clock: Clock) -> None:
    place, moved = tmp_path / "notes", tmp_path / "elsewhere"
    mine = made(place, "The ferry is called Visborg.", clock=clock)
    place.rename(moved)
    assert said_in(moved, clock=clock) == ["The ferry is called Visborg."]
    assert identity(moved) == mine
    moved.rename(place)
    assert said_in(place, clock=clock) == ["The ferry is called Visborg."]


def test_two_workspaces_that_change_places_keep_their_states(tmp_path: Path, clock: Clock) -> None:
    one, other, between = tmp_path / "one", tmp_path / "other", tmp_path / "between"
    made(one, "Said in the first.", clock=clock)
    made(other, "Said in the second.", clock=clock)
    one.rename(between)
    other.rename(one)
    between.rename(other)
    assert said_in(one, clock=clock) == ["Said in the second."]
    assert said_in(other, clock=clock) == ["Said in the first."]


def test_a_copy_gets_its_own_and_takes_nothing(tmp_path: Path, clock: Clock) -> None:
    place, copy = tmp_path / "notes", tmp_path / "copy"
    mine = made(place, "Said in the original.", clock=clock)
    shutil.copytree(place, copy)
    assert said_in(copy, clock=clock) == []
    remember(copy, "Alex prefers tea over coffee.", clock=clock)
    say(copy, "Said in the copy.", clock=clock)
    assert identity(copy) != mine
    assert identity(place) == mine
    assert said_in(copy, clock=clock) == ["Said in the copy."]
    assert said_in(place, clock=clock) == ["Said in the original."]
    # Neither takes the other's when the original goes.
    shutil.rmtree(place)
    assert said_in(copy, clock=clock) == ["Said in the copy."]


@pytest.mark.parametrize("kept", ["session", "secret"])
def test_a_copy_that_only_keeps_what_is_no_memory_takes_nothing_either(
    tmp_path: Path, clock: Clock, kept: str
) -> None:
    place, copy = tmp_path / "notes", tmp_path / "copy"
    made(place, "Said in the original.", clock=clock)
    shutil.copytree(place, copy)
    if kept == "session":
        say(copy, "Said in the copy.", clock=clock)
    else:
        remember(copy, f"The key is sk-ant-api03-{'Ab3' * 14}.", clock=clock)
    shutil.rmtree(place)
    assert said_in(copy, clock=clock) == ["Said in the copy."] * (kept == "session")
    with Workspace.open(copy, role="person", clock=clock) as workspace:
        assert len(workspace.secrets_held().held) == (kept == "secret")


def test_a_move_that_cannot_be_noted_leaves_nothing_to_a_copy(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, moved, copy = tmp_path / "notes", tmp_path / "elsewhere", tmp_path / "copy"
    made(place, "Said in the original.", clock=clock)
    place.rename(moved)
    with monkeypatch.context() as full:
        full.setattr("workbench.engine.services.state_folder.write_state", lambda *_: False)
        assert said_in(moved, clock=clock) == []
    assert said_in(moved, clock=clock) == ["Said in the original."]
    shutil.copytree(moved, copy)
    assert said_in(copy, clock=clock) == []


def test_a_workspace_of_before_adopts_the_state_that_it_finds(tmp_path: Path, clock: Clock) -> None:
    place = tmp_path / "notes"
    made(place, "Said long ago.", clock=clock)
    (place / ".audit" / "identity").unlink()
    (load_settings(place).state_directory(place) / "workspace.json").unlink()
    assert said_in(place, clock=clock) == ["Said long ago."]
    assert not (place / ".audit" / "identity").exists()
    remember(place, "Alex prefers tea over coffee.", clock=clock)
    assert identity(place)
    assert said_in(place, clock=clock) == ["Said long ago."]


def test_a_workspace_whose_history_goes_stays_the_same_one(tmp_path: Path, clock: Clock) -> None:
    place = tmp_path / "notes"
    mine = made(place, "Said before.", clock=clock)
    shutil.rmtree(place / ".audit")
    assert said_in(place, clock=clock) == ["Said before."]
    remember(place, "Alex prefers tea over coffee.", clock=clock)
    assert identity(place) == mine
    with Workspace.open(place, role="person", clock=clock) as workspace:
        assert "History was deleted by someone else" in workspace.audit_alerts().alerts[0].summary


def test_a_workspace_without_critical_files_whose_history_goes_is_known_by_its_memory(
    tmp_path: Path, clock: Clock
) -> None:
    place = tmp_path / "notes"
    place.mkdir()
    (place / "MEMORY.md").write_text("# Memory\n\n- The ferry is called Visborg.\n")
    remember(place, "Alex prefers tea over coffee.", clock=clock)
    say(place, "Said before.", clock=clock)
    shutil.rmtree(place / ".audit")
    (place / "MEMORY.md").write_text("# Memory\n\n- Changed meanwhile.\n")
    assert said_in(place, clock=clock) == ["Said before."]
    remember(place, "Robin likes the harbour in winter.", clock=clock)
    with Workspace.open(place, role="person", clock=clock) as workspace:
        assert "History was deleted by someone else" in workspace.audit_alerts().alerts[0].summary


def test_what_every_workspace_begins_with_makes_none_known_again(tmp_path: Path, clock: Clock) -> None:
    place = tmp_path / "notes"
    made(place, "The old secret plan.", clock=clock)
    (place / "SOUL.md").write_text("# Soul\n\nBe helpful.\n")
    remember(place, "Alex prefers tea over coffee.", clock=clock)
    begun = {
        path: (place / path).read_bytes()
        for path in ("workbench.toml", "SOUL.md", "memory/graph/relations.md")
    }
    shutil.rmtree(place)
    for path, content in begun.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    (place / "MEMORY.md").write_text("# Memory\n\n- Robin likes the harbour.\n")
    assert said_in(place, clock=clock) == []


def test_a_history_that_is_set_aside_takes_no_state_along(tmp_path: Path, clock: Clock) -> None:
    place = tmp_path / "notes"
    place.mkdir()
    (place / "MEMORY.md").write_text("# Memory\n\n## Facts\n- The ferry is called Visborg.\n")
    remember(place, "Alex prefers tea over coffee.", clock=clock)
    say(place, "Said before.", clock=clock)
    mine = identity(place)
    with Workspace.open(place, role="person", clock=clock) as workspace:
        workspace.set_aside_history()
    remember(place, "Robin likes the harbour in winter.", clock=clock)
    assert (identity(place), said_in(place, clock=clock)) == (mine, ["Said before."])


def test_an_identity_that_cannot_be_written_costs_nothing_but_itself(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "notes"

    def refused(root: Path, text: str) -> None:
        raise StorageError(f"{text} cannot be written.", where=str(root))

    monkeypatch.setattr("workbench.engine.services.state_folder._write_identity", refused)
    Workspace.init(place, clock=clock, timezone="UTC")
    say(place, "Said here.", clock=clock)
    assert not (place / ".audit" / "identity").exists()
    assert said_in(place, clock=clock) == ["Said here."]


def test_a_state_that_cannot_be_set_aside_is_not_used(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "notes"
    made(place, "The old secret plan.", clock=clock)
    shutil.rmtree(place)
    place.mkdir()

    def refused(self: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied", str(self), None, str(target))

    monkeypatch.setattr(Path, "rename", refused)
    assert said_in(place, clock=clock) == []
    assert len(states(place)) == 1


def test_nonsense_in_place_of_an_identity_is_none(tmp_path: Path, clock: Clock) -> None:
    place = tmp_path / "notes"
    mine = made(place, "Said here.", clock=clock)
    (place / ".audit" / "identity").write_text("../../elsewhere\n")
    assert said_in(place, clock=clock) == ["Said here."]
    remember(place, "Alex prefers tea over coffee.", clock=clock)
    assert identity(place) == mine


def test_many_at_once_agree(tmp_path: Path, clock: Clock) -> None:
    place, moved = tmp_path / "notes", tmp_path / "elsewhere"
    made(place, "The ferry is called Visborg.", clock=clock)
    place.rename(moved)
    made(place, "Said in the new one.", clock=clock)
    with ThreadPoolExecutor(8) as pool:
        heard = list(pool.map(lambda at: said_in(at, clock=clock), [moved, place] * 8))
    assert heard == [["The ferry is called Visborg."], ["Said in the new one."]] * 8


def test_many_that_write_to_a_copy_at_once_agree(tmp_path: Path, clock: Clock) -> None:
    place, copy = tmp_path / "notes", tmp_path / "copy"
    mine = made(place, "Said in the original.", clock=clock)
    shutil.copytree(place, copy)
    with ThreadPoolExecutor(8) as pool:
        said = list(
            pool.map(lambda n: remember(copy, f"Robin likes harbour number {n}.", clock=clock), range(8))
        )
    assert said == [()] * 8
    assert identity(copy) != mine
    assert states(copy) == [""]


def test_nothing_is_written_through_a_history_that_leads_elsewhere(tmp_path: Path, clock: Clock) -> None:
    place, other = tmp_path / "notes", tmp_path / "other"
    place.mkdir()
    other.mkdir()
    (place / ".audit").symlink_to(other)
    with Workspace.open(place, clock=clock) as workspace, pytest.raises(HistoryError):
        workspace.remember("Alex prefers tea over coffee.")
    assert not list(other.iterdir())
