"""Sessions of Codex CLI are read in place, line by line, with the same views as all others."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from workbench.engine.clock import FixedClock
from workbench.engine.sessions.codex import CodexHome, CodexLines
from workbench.engine.sessions.events import turn_of
from workbench.engine.sessions.foreign import foreign_home, installs
from workbench.engine.workspace import Workspace

ID = "01a20e35-217a-7143-b559-278f5e7cdbb3"
CLOCK = FixedClock(datetime(2026, 2, 2, 14, 30, tzinfo=UTC))


def line(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-02-02T14:00:00.000Z", "type": kind, "payload": payload}


def message(role: str, words: str) -> dict[str, Any]:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": words}
    return line("response_item", type="message", role=role, content=[part])


def conversation() -> list[dict[str, Any]]:
    return [
        line("session_meta", id=ID, cwd="/home/alex/harbour", cli_version="0.169.0"),
        line("turn_context", model="gpt-5.5"),
        message("developer", "You are a coding agent."),
        message("user", "<environment_context>\n  <cwd>/home/alex</cwd>\n</environment_context>"),
        message("user", "Remember that the ferry is called Visborg."),
        line("response_item", type="function_call", name="exec_command", call_id="c1", arguments="{}"),
        line("response_item", type="function_call_output", call_id="c1", output="notes.md"),
        line("response_item", type="compaction", encrypted_content="xyz"),
        message("assistant", "It is called Visborg."),
    ]


def written(home: Path, *entries: dict[str, Any]) -> Path:
    place = home / "sessions" / "2026" / "02" / "02" / f"rollout-2026-02-02T14-00-00-{ID}.jsonl"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(json.dumps(each) + "\n" for each in entries or conversation()))
    return place


def test_what_was_said_keeps_its_lines_and_nothing_else_is_said(tmp_path: Path) -> None:
    turns = [turn_of(number, content) for number, content in CodexLines(written(tmp_path)).read()]
    assert [(turn.line, turn.text) for turn in turns if turn] == [
        (5, "User: Remember that the ferry is called Visborg."),
        (9, "Assistant: It is called Visborg."),
    ]


@pytest.mark.parametrize("which", ["", "sessions", "file"])
def test_a_session_is_found_by_its_id_and_named_after_its_project(tmp_path: Path, which: str) -> None:
    place = written(tmp_path)
    home = foreign_home(place if which == "file" else tmp_path / which)
    assert isinstance(home, CodexHome)
    ((key, entry),) = home.read().entries.items()
    assert (key, entry.session_id, entry.model) == (f"codex:harbour:{ID}", ID, "gpt-5.5")
    assert entry.label == "Remember that the ferry is called Visborg."


def test_what_matters_is_saved_once_however_often_it_goes_on(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    Workspace.init(memory, clock=CLOCK)
    with Workspace.open(memory, clock=CLOCK) as workspace:
        place = written(tmp_path)
        first = workspace.session_flush(ID, from_=str(place), now=True)
        assert [one.citation for one in first.saved] == [f"file:sessions/{ID}.jsonl#L5"]
        place = written(tmp_path, *conversation(), message("user", "Remember that the crane is broken."))
        second = workspace.session_flush(ID, from_=str(place), now=True)
        assert [one.text for one in second.saved] == ["the crane is broken"]
        assert not workspace.session_flush(ID, from_=str(place), now=True).saved
        said = workspace.session(ID)
        assert "crane" in str(said)
        assert not said.problems


def test_broken_lines_hide_nothing(tmp_path: Path) -> None:
    place = written(tmp_path)
    place.write_text(place.read_text() + "{torn\n" + json.dumps(message("user", "One more.")) + "\n")
    turns = [turn for turn in (turn_of(*each) for each in CodexLines(place).read()) if turn]
    assert turns[-1].text == "User: One more."


def test_another_programs_file_is_none(tmp_path: Path) -> None:
    place = tmp_path / "x.jsonl"
    place.write_text('{"type": "session", "id": "x"}\n')
    assert not isinstance(foreign_home(place), CodexHome)


def test_it_is_among_the_places_on_this_machine(tmp_path: Path) -> None:
    written(tmp_path / ".codex")
    (found,) = installs({}, tmp_path)
    assert (found.folder, found.world, found.agents) == (tmp_path / ".codex", "codex", ("codex",))
    assert installs({"CODEX_HOME": str(tmp_path / "none")}, tmp_path) == ()
    written(tmp_path / "elsewhere")
    (found,) = installs({"CODEX_HOME": str(tmp_path / "elsewhere")}, tmp_path)
    assert found.folder == tmp_path / "elsewhere"
