"""The labelled set at every door: what is secret gets in nowhere, and what only looks like it is stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.benchmarks.secrets import HALVES
from tests.engine.secrets.labelled_set import Labelled, read
from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE
from workbench.engine.errors import InvalidInput

# The first of each group; that all are recognised is tested where they are looked for.
SECRETS = tuple(
    {(half, each.group): each for half in HALVES for each in reversed(read(half, "secrets"))}.values()
)
LOOK_ALIKES = tuple("\n\n---\n\n".join(each.text for each in read(half, "look_alikes")) for half in HALVES)
NOTES = "memory/notes.md"


def said_in(home: AgentHome) -> str:
    """Return all that the files and the history of a workspace say."""
    files = [path for path in home.root.rglob("*") if path.is_file() and ".audit" not in path.parts]
    return "\n".join(path.read_text("utf-8", "replace") for path in files) + home.git("log", "-p", "--all")


def secret_in(labelled: Labelled) -> str:
    """Return the first line of what is secret in a text."""
    start, end = labelled.secrets[0]
    return labelled.text[start:end].splitlines()[-1]


def leaks(home: AgentHome) -> list[str]:
    said = said_in(home)
    return [each.group for each in SECRETS if secret_in(each) in said]


def test_no_secret_is_remembered(settled: AgentHome) -> None:
    with settled.open(role="main") as workspace:
        stored = [each.text for each in SECRETS if workspace.remember(each.text).held_back is None]
    assert (stored, leaks(settled)) == ([], [])


def test_no_secret_is_proposed(settled: AgentHome) -> None:
    with settled.open(role="agent:scout") as workspace:
        stored = [each.text for each in SECRETS if workspace.propose(each.text).held_back is None]
    assert (stored, leaks(settled)) == ([], [])


def test_no_secret_is_taken_in_from_an_edit(settled: AgentHome) -> None:
    place = settled.root / NOTES
    with settled.open(role="main") as workspace:
        place.write_text("Empty.\n")
        workspace.pin(EPISODE)
        workspace.adopt()
        place.write_text("\n\n---\n\n".join(each.text for each in SECRETS))
        workspace.adopt()
    assert leaks(settled) == []


def test_no_secret_is_imported(settled: AgentHome, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, each in enumerate(SECRETS):
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\n{each.text}\n")
    with settled.open(role="person") as workspace:
        assert workspace.import_from(folder).left_out_count >= len(SECRETS)
    assert leaks(settled) == []


def test_look_alikes_pass_every_door(settled: AgentHome, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, text in enumerate(LOOK_ALIKES):
        (folder / f"note-{number}.md").write_text(f"# Note\n\n{text}\n")
    with settled.open(role="main") as workspace:
        assert [workspace.remember(each, store="episodic").held_back for each in LOOK_ALIKES] == [None, None]
        (settled.root / NOTES).write_text("\n".join(LOOK_ALIKES))
        assert workspace.adopt().warnings == ()
    with settled.open(role="agent:scout") as workspace:
        assert [workspace.propose(each).held_back for each in LOOK_ALIKES] == [None, None]
    with settled.open(role="person") as workspace:
        assert workspace.import_from(folder).left_out_count == 0
        assert workspace.secrets_held().held == ()


def test_what_is_too_long_to_be_kept_is_not_held_back_either(settled: AgentHome) -> None:
    """It could never be stored, whatever a person decided."""
    text = SECRETS[0].text + " wave" * 40_000
    with settled.open("main") as workspace, pytest.raises(InvalidInput, match="20,000 characters"):
        workspace.remember(text)
    with settled.open("agent:z") as workspace, pytest.raises(InvalidInput, match="20,000 characters"):
        workspace.propose(text)
    with settled.open() as workspace:
        assert not workspace.secrets_held().held
