"""Compacting a session through the door: what is kept, how far it is, called off, interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.session_talk import MAIN, everything, transcript, with_model
from tests.engine.sessions.transcript_files import chain, write
from workbench.engine.errors import Cancelled
from workbench.engine.services.sessions import Sessions
from workbench.engine.steps import Progress


def test_a_compaction_tells_how_far_it_has_come(talked: AgentHome) -> None:
    with talked.open() as workspace:
        told: list[Progress] = []
        assert workspace.session_compact(MAIN, keep_tokens=5, progress=told.append).line is not None
    assert [each.phase for each in told] == ["reading", "reading", "gathering", "gathering"]
    assert all(each.done <= each.total for each in told)
    assert told[1] == Progress("reading", 7, 7)


@pytest.mark.parametrize("asked", range(4))
def test_a_compaction_that_is_called_off_changes_nothing(talked: AgentHome, asked: int) -> None:
    with talked.open() as workspace:
        folder = Path(workspace.sessions().where).parent
        before, answers = everything(folder), iter([*[False] * asked, True])
        with pytest.raises(Cancelled):
            workspace.session_compact(MAIN, keep_tokens=5, cancelled=lambda: next(answers))
        assert everything(folder) == before
        assert workspace.session_compact(MAIN, keep_tokens=5).line is not None


def test_a_compaction_by_a_model_is_called_off_between_stages(
    talked: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_model(monkeypatch, "A summary.")
    with talked.open() as workspace:
        told: list[Progress] = []
        with pytest.raises(Cancelled):
            workspace.session_compact(
                MAIN,
                keep_tokens=5,
                progress=told.append,
                cancelled=lambda: bool(told) and told[-1].phase == "summarising",
            )
        assert told[-1] == Progress("summarising", 0, 1)
        assert workspace.session_flush_check(MAIN).compactions == 0


def test_another_programs_session_is_not_even_copied_where_it_is_called_off(
    settled: AgentHome, tmp_path: Path
) -> None:
    place = tmp_path / "7d0c.jsonl"
    write(place, *chain(*(f"Sentence {number} of many." for number in range(9))))
    with settled.open() as workspace:
        with pytest.raises(Cancelled):
            workspace.session_compact("7d0c", from_=str(place), keep_tokens=5, cancelled=lambda: True)
        assert workspace.sessions().sessions == ()
        assert workspace.session_compact("7d0c", from_=str(place), keep_tokens=5).copied_from == str(place)


def test_a_compaction_that_is_interrupted_once_its_summary_stands_counts(
    talked: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with talked.open() as workspace:
        workspace.session_append(MAIN, "And on it goes.", total_tokens=190_000)
        monkeypatch.setattr(Sessions, "build_context", interrupted)
        with pytest.raises(KeyboardInterrupt):
            workspace.session_compact(MAIN, keep_tokens=10)
        monkeypatch.undo()
        assert [line.kind for line in workspace.session(MAIN).lines][-1] == "compaction"
        check = workspace.session_flush_check(MAIN)
        assert (check.compactions, check.estimated) == (1, True)


def test_a_compaction_keeps_the_transcript_and_shortens_the_context(talked: AgentHome) -> None:
    with talked.open() as workspace:
        before = transcript(workspace).read_bytes()
        done = workspace.session_compact(MAIN, keep_tokens=10)
        assert (done.line, done.by, done.compactions) == (8, "rules", 1)
        assert "Postgres" in done.summary
        assert transcript(workspace).read_bytes().startswith(before)
        context = workspace.session_context(MAIN)
        assert context.summary_line == 8
        assert context.messages[0].synthetic
        assert [message.line for message in context.messages[1:]] == [6, 7]
        workspace.session_append(MAIN, "Thanks")
        assert workspace.session_context(MAIN).messages[-1].message["content"][0]["text"] == "Thanks"


def test_where_all_is_new_nothing_is_compacted(talked: AgentHome) -> None:
    with talked.open() as workspace:
        before = transcript(workspace).read_bytes()
        done = workspace.session_compact(MAIN)
        assert done.line is None
        assert f"its messages are about {done.tokens_before:,} tokens" in done.told
        assert transcript(workspace).read_bytes() == before
