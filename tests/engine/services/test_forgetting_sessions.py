"""What is purged from memory is in no own session either; what belongs to others is named, never written."""

from __future__ import annotations

import fcntl
import json
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.sessions.transcript_files import chain, write
from workbench.engine import Workspace
from workbench.engine.results.memories import Forgotten
from workbench.engine.sessions.locks import transcript_lock

MAIN = "agent:main:main"
SECRET = "The vault code of Robin is amber lantern"


def folder_of(workspace: Workspace) -> Path:
    return Path(workspace.sessions().where).parent


def transcript(workspace: Workspace) -> Path:
    return folder_of(workspace) / f"{workspace.session(MAIN).session.session_id}.jsonl"


def holding(folder: Path, words: str = "amber") -> list[str]:
    return sorted(
        each.name for each in folder.rglob("*") if each.is_file() and words.encode() in each.read_bytes()
    )


def purge(workspace: Workspace, memory_id: str) -> Forgotten:
    return workspace.forget(ids=[memory_id], apply=True, purge_history=True)


def test_it_is_taken_out_of_every_line_and_every_line_keeps_its_number(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        workspace.session_append(MAIN, f"Remember that {SECRET[0].lower()}{SECRET[1:]}.")
        workspace.session_append(MAIN, "The harbour is closed on Sundays.", role="assistant")
        workspace.session_append(
            MAIN,
            message={
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "c", "name": "write", "arguments": {"text": SECRET}}],
            },
        )
        workspace.session_append(MAIN, SECRET.upper().replace(" IS ", "\\n is "), role="user", label=SECRET)
        place = transcript(workspace)
        with place.open("ab") as file:
            file.write(f"garbage: {SECRET}\n".encode())
        workspace.session_repair(MAIN)
        workspace.session_compact(MAIN, keep_tokens=0)
        before = [json.loads(line or b"{}").get("id") for line in place.read_bytes().splitlines()]
        flushed = workspace.session_flush(MAIN, now=True)
        assert len(holding(folder_of(workspace))) >= 3
        done = purge(workspace, flushed.saved[0].id)
        assert holding(folder_of(workspace)) == []
        after = [json.loads(line or b"{}").get("id") for line in place.read_bytes().splitlines()]
        assert after[: len(before)] == before
        assert b"Sundays" in place.read_bytes()
        assert any(f"sessions/{place.name}" in line for line in done.warnings)
        assert workspace.session_context(MAIN).messages


def test_what_says_it_in_other_words_is_named(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        workspace.session_append(MAIN, "Amber lantern, by the way.")
        cited = f"file:sessions/{transcript(workspace).name}#L2"
        kept = workspace.remember(SECRET, store="episodic", origins=[cited])
        assert kept.id is not None
        done = purge(workspace, kept.id)
        assert any(cited in line and "other words" in line for line in done.warnings)
        assert "Amber lantern" in workspace.session(MAIN).lines[-1].text


def test_what_belongs_to_another_program_is_named_and_left(settled: AgentHome, tmp_path: Path) -> None:
    place = tmp_path / "7d0c.jsonl"
    write(place, *chain(f"Remember that {SECRET}.", "Noted."))
    before = place.read_bytes()
    with settled.open("person") as workspace:
        flushed = workspace.session_flush("7d0c", from_=str(place), now=True)
        done = purge(workspace, flushed.saved[0].id)
        assert holding(folder_of(workspace)) == []
        assert any(str(place) in line and "not ours" in line for line in done.warnings)
    assert place.read_bytes() == before


def test_what_another_workspace_left_at_this_place_is_named_and_left(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        former = (
            workspace.state.with_name(f"{workspace.state.name}.20260101T000000") / "sessions" / "7d0c.jsonl"
        )
        write(former, *chain(f"Remember that {SECRET}.", "Noted."))
        kept = workspace.remember(SECRET, store="episodic")
        assert kept.id is not None
        done = purge(workspace, kept.id)
        assert any(str(former) in line and "not ours" in line for line in done.warnings)
    assert "amber" in former.read_text()


def test_a_transcript_that_somebody_writes_is_named(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(place: Path) -> AbstractContextManager[None]:
        return transcript_lock(place, wait=0.0)

    monkeypatch.setattr("workbench.engine.sessions.transcripts.transcript_lock", busy)
    with settled.open("person") as workspace:
        workspace.session_append(MAIN, f"Remember that {SECRET}.")
        (saved,) = workspace.session_flush(MAIN, now=True).saved
        place = transcript(workspace)
        with place.with_name(f"{place.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = purge(workspace, saved.id)
    assert holding(settled.root / "memory") == []
    assert holding(place.parent)
    assert any("May still hold it" in line and place.name in line for line in done.warnings)
    assert not any("in other words" in line for line in done.warnings)
