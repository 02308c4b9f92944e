"""What edits leave alone: what is no regular file, and JSON that they would break."""

from __future__ import annotations

import os
import stat

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine.errors import InvalidInput, StorageError


@pytest.mark.parametrize("role", ["person", "main"])
@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_an_edit_refuses_what_is_no_regular_file(settled: AgentHome, role: str, kind: str) -> None:
    place = settled.root / "memory/notes/odd.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.mkdir()
    before = settled.tracked()
    with settled.open(role) as workspace:
        workspace.remember("Prepared", store="episodic")
        commits = settled.commits()
        with pytest.raises(StorageError) as raised:
            workspace.edit_file("memory/notes/odd.md", "text")
        assert "Nothing was changed" in str(raised.value.remedy)
        assert settled.commits() == commits
        workspace.undo()
    mode = place.lstat().st_mode
    assert stat.S_ISFIFO(mode) if kind == "pipe" else stat.S_ISDIR(mode)
    assert settled.tracked() == before


def test_a_rollback_leaves_a_pipe_alone_that_took_a_files_name(settled: AgentHome) -> None:
    place = settled.root / "memory/notes/odd.md"
    with settled.open() as workspace:
        workspace.edit_file("memory/notes/odd.md", "text\n")
        place.unlink()
        os.mkfifo(place)
        with pytest.raises(StorageError):
            workspace.edit_file("memory/notes/odd.md", "other\n")
    assert stat.S_ISFIFO(place.lstat().st_mode)


@pytest.mark.parametrize("role", ["person", "main"])
@pytest.mark.parametrize("content", ["", "no JSON", "{", '{"entries": {', "[]", '"text"', "[" * 100_000])
def test_an_edit_leaves_the_scores_file_whole(settled: AgentHome, role: str, content: str) -> None:
    before = settled.tracked()
    with settled.open(role) as workspace:
        with pytest.raises(InvalidInput) as raised:
            workspace.edit_file("memory/meta/decay-scores.json", content)
        assert "decay-scores.json" in str(raised.value.where)
    assert settled.tracked() == before


def test_an_edit_may_write_json_that_is_whole(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        assert workspace.edit_file("memory/notes/list.json", '{"a": [1, 2]}\n').commit
        with pytest.raises(InvalidInput):
            workspace.edit_file("memory/notes/list.json", '{"a": [1, 2}\n')
    with settled.open() as workspace:
        assert workspace.edit_file("openclaw.json", "{agents: {}, // ours\n}\n").commit
