"""Status transitions are found once and logged in one line."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.engine.memory.files_in_memory import NOW, Files
from workbench.engine import layout
from workbench.engine.history.plan import Action
from workbench.engine.memory.access_journal import Access, JournalPage
from workbench.engine.memory.decay import DecayContext, MemoryFacts, Transition, describe_transitions
from workbench.engine.memory.decay_decisions import plan_archive, plan_pin
from workbench.engine.memory.scores_file import check_is_due, mark_checked, plan_transitions

EPISODE = "episode:2026-01-30:09:00"
ALEX = "entity:person--alex"
DEPLOY = "procedure:how-to-deploy"
TEA = "core:critical-facts:tea"


def after(reckoning: DecayContext, days: int) -> DecayContext:
    return dataclasses.replace(reckoning, now=reckoning.now + timedelta(days=days))


def test_memories_without_entries_transition_once(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    assert plan_transitions(files, JournalPage(), memories, reckoning).outcome.transitions == (
        Transition(DEPLOY, "active", "fading"),
    )
    plan = plan_transitions(files, JournalPage(), memories, after(reckoning, 30))
    # 0.8, 0.84 and 0.5 after 33 days are 0.297, 0.312 and 0.186; core at 1.5 is 0.557
    assert plan.outcome.transitions == (
        Transition(EPISODE, "active", "fading"),
        Transition(ALEX, "active", "fading"),
        Transition(DEPLOY, "active", "dormant"),
    )
    assert (plan.action, plan.file) == (Action.DECAY, layout.DECAY_SCORES)
    assert plan.summary == "3 entries transitioned: 2 active→fading, 1 active→dormant"
    files.carry_out(plan)
    assert files.scores["entries"] == {}
    assert files.scores["checked"] == "2026-03-04T14:30:00Z"
    again = plan_transitions(files, JournalPage(), memories, after(reckoning, 30))
    assert again.changes == ()
    assert again.outcome.transitions == ()


def test_nothing_changed_leaves_the_file_alone(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    files.carry_out(plan_transitions(files, JournalPage(), memories, after(reckoning, 30)))
    before = dict(files.contents)
    plan = plan_transitions(files, JournalPage(), memories, after(reckoning, 31))
    assert plan.changes == ()
    assert files.contents == before


def test_many_small_steps_log_what_one_big_step_logs(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    logged: dict[str, list[str]] = {}
    for day in range(200):
        plan = plan_transitions(files, JournalPage(), memories, after(reckoning, day))
        for transition in plan.outcome.transitions:
            logged.setdefault(transition.id, [transition.before]).append(transition.after)
        files.carry_out(plan)
    assert logged == {
        EPISODE: ["active", "fading", "dormant", "archived"],
        ALEX: ["active", "fading", "dormant", "archived"],
        DEPLOY: ["active", "fading", "dormant", "archived"],
        TEA: ["active", "fading", "dormant", "archived"],
    }


def test_entries_keep_everything_but_score_and_status(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    files.scores = {
        "version": 1,
        "entries": {
            ALEX: {"store": "semantic", "base_relevance": 0.7, "access_count": 1, "pinned": False, "mine": 1,
                   "created": "2026-01-01T00:00:00+01:00", "last_accessed": "2026-01-30T09:00:00Z",
                   "type_weight": 1.2, "current_score": 0.3, "status": "fading"},
        },
    }  # fmt: skip
    before = files.scores["entries"][ALEX]
    plan = plan_transitions(files, JournalPage(), {ALEX: memories[ALEX]}, after(reckoning, 50))
    assert plan.summary == "1 entry transitioned: fading→dormant"
    files.carry_out(plan)
    entry = files.scores["entries"][ALEX]
    assert entry["status"] == "dormant"
    assert {**entry, "status": 0, "current_score": 0} == {**before, "status": 0, "current_score": 0}


def test_pinned_archived_and_vault_do_not_transition(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    files.carry_out(plan_pin(files, [memories[ALEX]], reckoning))
    files.carry_out(plan_archive(files, [memories[DEPLOY]], reckoning))
    left = {name: memories[name] for name in (ALEX, DEPLOY, "vault:rules", "file:memory/2026-01-30.md")}
    assert plan_transitions(files, JournalPage(), left, after(reckoning, 4000)).changes == ()


def test_waiting_accesses_are_folded_along(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    later = after(reckoning, 30)
    page = JournalPage("j", (Access(ALEX, later.now, 100),), 100)
    plan = plan_transitions(files, page, memories, later)
    assert [transition.id for transition in plan.outcome.transitions] == [EPISODE, DEPLOY]
    assert (plan.outcome.journal, plan.outcome.offset, plan.outcome.accesses) == ("j", 100, 1)
    files.carry_out(plan)
    assert files.scores["entries"][ALEX]["access_count"] == 2
    assert files.scores["folded"] == {"j": 100}
    assert plan_transitions(files, page, memories, later).changes == ()


def test_a_clock_set_back_logs_nothing(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    files.carry_out(plan_transitions(files, JournalPage(), memories, after(reckoning, 100)))
    assert plan_transitions(files, JournalPage(), memories, reckoning).changes == ()


def test_describe() -> None:
    two = [Transition("a", "fading", "dormant"), Transition("b", "fading", "dormant")]
    assert describe_transitions(two) == "2 entries transitioned: fading→dormant"


@pytest.mark.parametrize(
    ("last", "now", "due"),
    [
        ("2026-02-02T14:30Z", "2026-02-02T22:00Z", False),
        ("2026-02-02T22:30Z", "2026-02-02T23:30Z", True),
        ("2026-02-02T14:30Z", "2026-02-01T14:30Z", True),
    ],
)
def test_a_check_is_due_each_day_of_the_zone(tmp_path: Path, last: str, now: str, due: bool) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    folder = tmp_path / "state"
    assert check_is_due(folder, NOW, berlin)
    mark_checked(folder, datetime.fromisoformat(last).astimezone(UTC))
    assert check_is_due(folder, datetime.fromisoformat(now), berlin) is due
    (folder / "decay-checked").write_bytes(b"\xff")
    assert check_is_due(folder, NOW, berlin)
