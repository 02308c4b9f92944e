"""Sessions that end, by the clock or by a word: a new one begins, and what mattered is saved or due."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.session_talk import MAIN, told, with_model
from workbench.engine.errors import InvalidSetting, Locked
from workbench.engine.services.memory import Memory

AT = "2026-02-02T14:20:00.000Z"


def test_a_day_later_a_session_starts_over(talked: AgentHome) -> None:
    with talked.open() as workspace:
        before = workspace.session(MAIN).session.session_id
        talked.clock.advance(days=1)
        assert not workspace.sessions().sessions[0].fresh
        done = workspace.session_append(MAIN, "Good morning")
        assert (done.began, done.reason) == (True, "daily")
        assert done.session_id != before
        assert told(workspace) == ["Good morning"]
        kept = workspace.session(before)
        assert (kept.total, kept.lines[-1].text.partition("\n")[0]) == (8, "Memory was flushed up to here.")


def test_what_mattered_in_a_session_that_ended_by_the_clock_is_saved(talked: AgentHome) -> None:
    with talked.open() as workspace:
        before = workspace.session(MAIN).session.session_id
        talked.clock.advance(days=1)
        done = workspace.session_append(MAIN, "Good morning")
        (hit, *_) = workspace.search("What is the ferry called?").results
        assert "Visborg" in hit.snippet
        assert any(f"sessions/{before}.jsonl#L2" in each for each in workspace.show(hit.id).provenance)
        check = workspace.session_flush_check(MAIN)
        assert (check.ended, check.due) == (0, False)
        assert not [line for line in workspace.brief().notices if "ended by the clock" in line]
        head = workspace.head()
        talked.clock.advance(days=1)
        assert workspace.session_append(MAIN, "Hello again").session_id != done.session_id
        assert workspace.head() == head


def test_where_a_model_has_to_be_asked_it_is_due_and_said_so(
    talked: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(monkeypatch, "- The ferry is called Visborg. [L2]")
    with talked.open() as workspace:
        before, head = workspace.session(MAIN).session.session_id, workspace.head()
        for _ in range(2):
            talked.clock.advance(days=1)
            workspace.session_append(MAIN, "Good morning")
        assert workspace.head() == head
        check = workspace.session_flush_check(MAIN)
        assert (check.ended, check.due) == (2, True)
        assert "ended by the clock" in check.reason
        assert f"workbench sessions flush {MAIN}" in " ".join(workspace.brief().notices)
        flushed = workspace.session_flush(MAIN)
        assert [one.citation for one in flushed.saved] == [
            f"file:sessions/{before}.jsonl#L2", flushed.saved[1].citation,
        ]  # fmt: skip
        assert not workspace.session_flush(MAIN).flushed
        assert workspace.session_flush_check(MAIN).ended == 0
        # The session in use was not due.
        assert workspace.session_flush_check(MAIN).flushed is None


def test_new_saves_also_what_ended_before(talked: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    with_model(monkeypatch, "NO_REPLY")
    with talked.open() as workspace:
        talked.clock.advance(days=1)
        workspace.session_append(MAIN, "Good morning")
        workspace.session_append(MAIN, "/new")
        assert workspace.session_flush_check(MAIN).ended == 0


def test_what_cannot_be_saved_when_a_session_ends_stays_due(
    talked: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any, **__: Any) -> None:
        raise Locked("Another one writes.")

    with talked.open() as workspace:
        talked.clock.advance(days=1)
        with monkeypatch.context() as patch:
            patch.setattr(Memory, "remember", busy)
            assert workspace.session_append(MAIN, "Good morning").reason == "daily"
        assert workspace.session_flush_check(MAIN).ended == 1
        assert workspace.session_flush(MAIN).saved


def test_settings_say_when(talked: AgentHome) -> None:
    talked.write("workbench.toml", '[sessions]\nreset = "none"\nreset_by_type = { direct = "idle 5" }\n')
    talked.clock.advance(minutes=6)
    with talked.open() as workspace:
        assert workspace.session_append(MAIN, "x").reason == "idle"
    talked.write("workbench.toml", '[sessions]\nreset = "weekly"\n')
    with talked.open() as workspace, pytest.raises(InvalidSetting) as caught:
        workspace.sessions()
    assert caught.value.where == "sessions.reset"


def test_new_saves_what_matters_and_starts_over(talked: AgentHome) -> None:
    with talked.open() as workspace:
        before = workspace.session(MAIN).session.session_id
        done = workspace.session_append(MAIN, "/new And now the garden")
        assert (done.began, done.reason, done.rest) == (True, "new", "And now the garden")
        assert told(workspace) == ["And now the garden"]
        found = workspace.search("Visborg ferry").results[0]
        assert f"file:sessions/{before}.jsonl#L2" in workspace.show(found.id).provenance


def test_what_was_said_before_openclaw_started_a_session_over_is_saved(
    talked: AgentHome, tmp_path: Path
) -> None:
    def said(own: str, before: str | None, text: str) -> dict[str, Any]:
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        return {"type": "message", "id": own, "parentId": before, "timestamp": AT, "message": message}

    def started_over(own: str, before: str) -> dict[str, Any]:
        return {"type": "reset", "id": own, "parentId": before, "timestamp": AT, "reason": "new"}

    place = tmp_path / "0c7d.jsonl"
    events = (
        {"type": "session", "version": 4, "id": "0c7d", "timestamp": AT},
        said("m1", None, "We decided to sell the old crane."),
        started_over("r1", "m1"),
        said("m2", "r1", "We decided to move the berth to number seven."),
        started_over("r2", "m2"),
    )
    place.write_text("".join(f"{json.dumps(each)}\n" for each in events))
    with talked.open() as workspace:
        flushed = workspace.session_flush("0c7d", from_=str(place), now=True)
        assert [one.text for one in flushed.saved] == ["We decided to move the berth to number seven."]
        assert workspace.session_flush("0c7d", now=True).saved == ()
