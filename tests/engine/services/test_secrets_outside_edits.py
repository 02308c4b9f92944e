"""What a person decides on a secret that somebody wrote into a file, and how it is taken back."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE
from tests.engine.services.test_secret_guard_outside_edits import (
    NOTES,
    STAND_IN,
    in_history,
    known,
    newest,
    write,
)
from tests.engine.services.test_secrets import PASSWORD, TOKEN
from workbench.engine import Workspace
from workbench.engine.errors import NotFound, Refused
from workbench.engine.services.quarantine import FILE


def test_a_person_keeps_it(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        before = f"Boats: {TOKEN}\nAgain {TOKEN}\n"
        place = write(settled, NOTES, before)
        workspace.adopt()
        assert workspace.secrets_reveal(1).text == TOKEN
        stored = workspace.secrets_store(1)
        assert (stored.path, stored.files) == (NOTES, (NOTES,))
        assert place.read_text() == before
        assert workspace.secrets_held().held == ()
        assert in_history(settled, TOKEN)
        workspace.undo()
        assert STAND_IN in place.read_text()
        # It can be decided on again, or be done again.
        assert [each.number for each in workspace.secrets_held().held] == [1]
        workspace.redo()
        assert (place.read_text(), workspace.secrets_held().held) == (before, ())
        settings = settled.root / "workbench.toml"
        allowing = settings.read_text()
        settings.write_text("")
        assert workspace.secrets_held().held == ()
        settings.write_text(allowing)
        # What was let in may be written again.
        write(settled, "memory/more.md", before)
        assert workspace.adopt().warnings == ()


@pytest.mark.parametrize("leave_out", [True, False])
def test_a_person_leaves_it_out(settled: AgentHome, leave_out: bool) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        workspace.adopt()
        if leave_out:
            told = workspace.secrets_store(1, leave_out=True).warnings
            assert "secrets drop 1" in " ".join(told)
            assert place.read_text() == "Boats: [secret left out]\n"
            assert workspace.secrets_held().held == ()
        workspace.secrets_drop(1)
        assert place.read_text() == "Boats: [secret left out]\n"
        folder = workspace.settings.state_directory(workspace.root)
        assert TOKEN not in (folder / FILE).read_text()
    assert not in_history(settled, TOKEN)


def test_what_was_left_out_waits_again_as_long_as_that_is_undone(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        workspace.adopt()
        before, cut = workspace.secrets_held(), place.read_text()
        assert [each.number for each in before.held] == [1]
        workspace.secrets_store(1, leave_out=True)
        for _ in range(2):
            workspace.undo(confirmed=True)
            assert place.read_text() == cut
            assert workspace.secrets_held() == before
            assert workspace.secrets_reveal(1).text == TOKEN
            workspace.redo(confirmed=True)
            assert workspace.secrets_held().held == ()
        workspace.undo(confirmed=True)
        workspace.secrets_store(1)
        assert place.read_text() == f"Boats: {TOKEN}\n"
    assert "left out" not in place.read_text()


def test_a_line_that_is_gone_is_not_lost(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled)
        place = write(settled, NOTES, f"Boats: {TOKEN}\n")
        workspace.adopt()
        place.write_text("Boats.\n")
        with pytest.raises(NotFound, match="no longer there"):
            workspace.secrets_store(1)
        # A refusal lets nothing in.
        assert workspace.settings.secrets.allow == ()
        assert workspace.secrets_reveal(1).text == TOKEN
        assert workspace.secrets_drop(1).held == ()


@pytest.mark.parametrize(
    ("path", "content", "left"),
    [
        ("TOOLS.md", f"Key: {TOKEN}\n".encode(), b"Key: [secret left out]\n"),
        ("memory/latin.md", f"Caf\xe9 {TOKEN}\n".encode("latin-1"), b"Caf\xe9 [secret left out]\n"),
    ],
)
def test_a_person_has_it_taken_out_of_a_file(
    settled: AgentHome, path: str, content: bytes, left: bytes
) -> None:
    with settled.open(role="person") as workspace:
        workspace.pin(EPISODE)
        place = settled.root / path
        place.write_bytes(content)
        workspace.adopt()
        assert workspace.secrets_store(1, leave_out=True).commit is not None
        assert place.read_bytes() == left
        assert workspace.secrets_held().held == ()
        assert workspace.adopt().commit is None
    assert not in_history(settled, TOKEN)


@pytest.mark.parametrize("decide", ["keep", "leave out", "drop"])
def test_no_undo_deletes_a_file_that_was_decided_on(home: AgentHome, decide: str) -> None:
    said = f"# Memory\n\n- The key is {TOKEN}\n- Likes tea\n"
    place = write(home, "MEMORY.md", said)
    write(home, NOTES, "Boats.\n")
    Workspace.init(home.root, clock=home.clock)
    with home.open(role="person") as workspace:
        workspace.remember("The boat leaves at nine", store="episodic")
        if decide == "drop":
            workspace.secrets_drop(1)
        else:
            stored = workspace.secrets_store(1, leave_out=decide == "leave out")
            assert "an undo leaves the file" in " ".join(stored.warnings)
        left = said if decide == "keep" else said.replace(TOKEN, "[secret left out]")
        assert newest(workspace) == ("system:init", "MEMORY.md", "history begins")
        workspace.undo()
        assert place.read_text() == left
        assert workspace.audit_verify().ok


@pytest.mark.parametrize("numbers", [(1, 2), (2, 1)])
def test_each_file_goes_in_as_what_it_is_whatever_else_was_edited(
    settled: AgentHome, numbers: tuple[int, int]
) -> None:
    with settled.open(role="person") as workspace:
        known(workspace, settled, "TOOLS.md")
        write(settled, "TOOLS.md", f"Use {TOKEN}.\n")
        place = write(settled, NOTES, f"Use {TOKEN[:-4]}9Zq7.\n")
        workspace.adopt()
        assert [each.path for each in workspace.secrets_held().held] == ["TOOLS.md", NOTES]
        found = len(workspace.audit_log(actor="system:init").entries)
        write(settled, "IDENTITY.md", "# Pilot\n")
        workspace.secrets_store(*numbers)
        workspace.adopt()
        begun = workspace.audit_log(actor="system:init").entries
        assert [each.file for each in begun[: len(begun) - found]] == [NOTES]
        edited = {each.file for each in workspace.audit_log(actor="manual", action="EDIT").entries}
        assert "TOOLS.md" in edited
        undone = [set(workspace.undo().files) for _ in range(3)]
        assert undone[:2] == [{"IDENTITY.md"}, {"TOOLS.md", "workbench.toml"}]
        assert place.exists()


def test_a_secret_in_the_settings_keeps_nobody_from_deciding(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.pin(EPISODE)
        write(settled, "workbench.toml", f"# {TOKEN}\n[decay]\nlambda = 0.05\n")
        write(settled, "TOOLS.md", f"Key: {PASSWORD}, the password is {PASSWORD}\n")
        workspace.adopt()
        assert {each.path for each in workspace.secrets_held().held} == {"workbench.toml", "TOOLS.md"}
        for each in workspace.secrets_held().held:
            if each.path == "TOOLS.md":
                workspace.secrets_store(each.number)
        assert in_history(settled, PASSWORD)
        assert not in_history(settled, TOKEN)
        (held,) = workspace.secrets_held().held
        workspace.secrets_store(held.number)
        assert workspace.secrets_held().held == ()
        assert (
            (settled.root / "workbench.toml").read_text().startswith(f"# {TOKEN}\n[decay]\nlambda = 0.05\n")
        )
        assert workspace.adopt().commit is None
        assert in_history(settled, TOKEN)


def test_it_is_not_taken_out_of_a_name(settled: AgentHome) -> None:
    with settled.open(role="person") as workspace:
        workspace.pin(EPISODE)
        write(settled, f"memory/{TOKEN}.md", "Boats.\n")
        workspace.adopt()
        with pytest.raises(Refused, match="cannot be taken out") as refusal:
            workspace.secrets_drop(1)
        assert TOKEN not in str(refusal.value)
        assert len(workspace.secrets_held().held) == 1
