"""Questions after what changed are answered from the audit log, and nothing is undone by asking (§12.7)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine.history.git_objects import SHORT
from workbench.engine.results.audit import WhyForgotten
from workbench.engine.results.memories import MessageOutcome
from workbench.engine.services.routing import read_message

ROWS = [
    json.loads(line) for line in Path(__file__).with_name("questions.jsonl").read_text("utf-8").splitlines()
]


def asked(home: AgentHome, text: str, role: str = "main") -> MessageOutcome:
    """Return the answer to a message, which changed nothing."""
    with home.open(role) as workspace:
        head = workspace.head()
        outcome = workspace.message(text)
        assert workspace.head() == head
    assert not outcome.applied
    return outcome


def why(home: AgentHome, text: str) -> WhyForgotten:
    answer = asked(home, text).why_forgotten
    assert answer is not None
    return answer


def later(home: AgentHome, days: int) -> None:
    home.clock.advance(days=days)


def remembered(home: AgentHome, text: str, **options: Any) -> str:
    with home.open("main") as workspace:
        answer = workspace.remember(text, **options)
    assert answer.id is not None
    return answer.id


def test_questions_are_told_from_what_only_sounds_like_them(home: AgentHome) -> None:
    home.init()
    wrong = []
    with home.open() as workspace:
        for row in ROWS:
            found = read_message(workspace._context, row["message"])
            told = (found.kind, found.payload, found.from_then_on)
            if told != (row["kind"], row.get("about", ""), row.get("onwards", False)):
                wrong.append((row, told))
    assert not wrong
    assert sum(row["kind"] == "none" for row in ROWS) >= 40


def test_what_changed_recently_is_the_end_of_the_log(settled: AgentHome) -> None:
    remembered(settled, "The ferry takes dogs", store="episodic")
    changes = asked(settled, "What changed recently?").changes
    assert changes is not None
    assert (changes.since, changes.until) == (None, None)
    assert changes.entries[0].file == "memory/episodes/2026-02-02.md"
    assert changes.total >= len(changes.entries) > 1


def test_what_changed_on_some_days_is_what_changed_then(settled: AgentHome) -> None:
    later(settled, 7)
    remembered(settled, "The ferry takes dogs", store="episodic")
    later(settled, 7)
    remembered(settled, "The tram takes bicycles", store="episodic")
    last_week = asked(settled, "What changed last week?").changes
    since = asked(settled, "What changed since last week?").changes
    assert last_week is not None
    assert since is not None
    assert last_week.until is not None
    assert since.until is None
    assert {each.timestamp.day for each in last_week.entries} == {9}
    assert {each.timestamp.day for each in since.entries} == {9, 16}


def test_what_was_learned_leaves_out_the_books(settled: AgentHome) -> None:
    one = remembered(settled, "The ferry takes dogs", store="episodic")
    with settled.open() as workspace:
        workspace.pin(one)
    learned, changed = (
        asked(settled, text).changes for text in ("What did you learn today?", "今天有什么变化？")
    )
    assert learned is not None
    assert changed is not None
    assert "memory/episodes/2026-02-02.md" in {each.file for each in learned.entries}
    assert {each.action for each in changed.entries} - {each.action for each in learned.entries} >= {"PIN"}
    assert not [each for each in learned.entries if each.file.startswith("memory/meta/")]


def test_what_was_archived_is_told_with_who_and_the_way_back(settled: AgentHome) -> None:
    one = remembered(settled, "The zeppelin leaves at nine", store="episodic")
    with settled.open() as workspace:
        commit = workspace.forget(ids=[one], apply=True).commit
    found = why(settled, "Why did you forget about the zeppelin?").memories[0]
    assert commit is not None
    assert (found.id, found.status, found.action, found.actor) == (
        one,
        "archived",
        "ARCHIVE",
        "bot:trigger-forget",
    )
    assert found.when == settled.clock.now()
    assert commit.startswith(found.commit or "none")
    assert found.remedy == f"workbench restore {one}"
    with settled.open() as workspace:
        workspace.restore(one)
    again = why(settled, "为什么你不记得 zeppelin 了？").memories[0]
    assert (again.id, again.action, again.reason) == (one, None, "It is not forgotten.")


def test_what_faded_is_told_from_the_line_that_names_it(settled: AgentHome) -> None:
    one = remembered(settled, "The zeppelin leaves at nine", store="episodic")
    later(settled, 70)
    with settled.open("main") as workspace:
        workspace.settle()
        log = workspace.audit_log(action="DECAY", text=one)
        assert workspace.audit_verify().ok
    found = why(settled, "Why don't you remember the zeppelin any more?").memories[0]
    assert (found.id, found.action, found.status) == (one, "DECAY", "dormant")
    assert [found.commit] == [each.commit for each in log.entries]
    assert found.reason.startswith("It faded: not used for 70 days, and used once in all")
    with settled.open("main") as workspace:
        workspace.reinforce(one)
    assert why(settled, "Why don't you remember the zeppelin any more?").memories[0].action is None


def test_of_what_nobody_knows_nothing_is_told(settled: AgentHome) -> None:
    assert why(settled, "Why did you forget about the moon landing?") == WhyForgotten((), ())


def test_a_purged_memory_is_told_by_nothing(settled: AgentHome) -> None:
    one = remembered(settled, "The zeppelin leaves at nine", store="episodic")
    later(settled, 70)
    with settled.open() as workspace:
        workspace.settle()
        workspace.forget("zeppelin", ids=[one], apply=True, hard=True, purge_history=True)
    assert why(settled, "Why did you forget about the zeppelin?") == WhyForgotten((), ())


@pytest.mark.parametrize("role", ["person", "main", "agent:scout", "reader"])
def test_the_way_back_is_shown_and_never_gone(settled: AgentHome, role: str) -> None:
    with settled.open() as workspace:
        head = workspace.head()
    assert head is not None
    later(settled, 1)
    remembered(settled, "The ferry takes dogs", store="episodic")
    way = asked(settled, "Revert my memory to yesterday", role).way_back
    assert way is not None
    assert (way.commit, way.actions) == (head, 1)
    assert way.command == f"workbench rollback --to {head[:SHORT]}"
    assert {each.timestamp for each in way.entries} == {settled.clock.now()}
    assert asked(settled, "undo what you learned today", role).way_back == way
    with settled.open() as workspace:
        workspace.rollback(to=head[:SHORT])
    assert "The ferry takes dogs" not in str(settled.tracked())


def test_a_way_back_to_no_day_or_to_now_names_no_command(settled: AgentHome) -> None:
    unclear = asked(settled, "Revert my memory to before the meeting").way_back
    assert unclear is not None
    assert (unclear.command, unclear.moment) == (None, None)
    assert "names no day" in unclear.reason
    later(settled, 1)
    nothing = asked(settled, "Revert my memory to yesterday").way_back
    assert nothing is not None
    assert (nothing.actions, nothing.command) == (0, None)


def test_a_way_back_to_before_the_history_is_answered_with_the_reason(settled: AgentHome) -> None:
    for words in ("Revert my memory to yesterday", "Revert my memory to 2020-01-01"):
        way = asked(settled, words).way_back
        assert way is not None, words
        assert (way.commit, way.actions, way.command) == (None, 0, None)
        assert "history begins after" in way.reason
        with settled.open("reader") as workspace:
            assert workspace.question(words).way_back == way


@pytest.mark.parametrize(
    "message", ["Reset the memory to 512 MB", "Turn the memory back to 8 GB", "把记忆重置成 512 MB"]
)
def test_the_memory_of_a_machine_goes_nowhere(settled: AgentHome, message: str) -> None:
    assert asked(settled, message).kind == "none"
    later(settled, 1)
    assert asked(settled, "Reset the memory to yesterday").way_back is not None


def test_a_question_does_nothing_else_that_a_message_may_ask(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        head = workspace.head()
        for text in ("Remember that the bus is blue", "Please consolidate your memories", "Forget about tea"):
            assert workspace.question(text) == MessageOutcome("none", None, None, False)
        assert workspace.head() == head
        assert workspace.question("What changed recently?").changes is not None
