"""Decisions about a memory's decay, each undone by its opposite."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest

from tests.engine.memory.files_in_memory import Files
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action
from workbench.engine.memory.decay import DecayContext, MemoryFacts, decay_record, score_now
from workbench.engine.memory.decay_decisions import (
    plan_archive,
    plan_drop,
    plan_pin,
    plan_reinforce,
    plan_restore,
    plan_unpin,
)
from workbench.engine.memory.scores_file import read_scores
from workbench.engine.results.memories import Score

ALEX = "entity:person--alex"


@pytest.fixture
def alex(memories: dict[str, MemoryFacts]) -> MemoryFacts:
    return memories[ALEX]


def score(files: Files, facts: MemoryFacts, reckoning: DecayContext) -> Score:
    return score_now(
        decay_record(facts, read_scores(files).entries.get(facts.id), None, reckoning), reckoning
    )


def test_pin_and_unpin(files: Files, alex: MemoryFacts, reckoning: DecayContext) -> None:
    later = dataclasses.replace(reckoning, now=reckoning.now + timedelta(days=60))
    unpinned = score(files, alex, later)
    plan = plan_pin(files, [alex], reckoning)
    assert (plan.action, plan.summary, plan.outcome) == (Action.PIN, f"pinned {ALEX}", (ALEX,))
    files.carry_out(plan)
    assert score(files, alex, later).status == "pinned"
    assert files.scores["entries"][ALEX]["pinned"] is True
    assert files.scores["entries"][ALEX]["status"] == "active"
    assert plan_pin(files, [alex], reckoning).changes == ()
    plan = plan_unpin(files, [alex], later)
    assert (plan.action, plan.summary) == (Action.UNPIN, f"unpinned {ALEX}")
    files.carry_out(plan)
    assert score(files, alex, later) == unpinned
    assert plan_unpin(files, [alex], later).changes == ()


def test_what_its_text_or_the_vault_pins_is_not_unpinned(
    files: Files, alex: MemoryFacts, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    with pytest.raises(InvalidInput, match="own text"):
        plan_unpin(files, [dataclasses.replace(alex, pinned=True)], reckoning)
    with pytest.raises(InvalidInput, match="vault"):
        plan_unpin(files, [memories["vault:rules"]], reckoning)
    assert plan_pin(files, [memories["vault:rules"]], reckoning).changes == ()


def test_archive_and_restore(files: Files, alex: MemoryFacts, reckoning: DecayContext) -> None:
    before = score(files, alex, reckoning)
    plan = plan_archive(files, [alex], reckoning)
    assert (plan.action, plan.summary) == (Action.ARCHIVE, f"archived {ALEX}")
    files.carry_out(plan)
    entry = files.scores["entries"][ALEX]
    assert (entry["current_score"], entry["status"], entry["archived"]) == (0.0, "archived", True)
    assert (score(files, alex, reckoning).value, score(files, alex, reckoning).status) == (0.0, "archived")
    assert plan_archive(files, [alex], reckoning).changes == ()
    files.carry_out(plan_restore(files, [alex], reckoning))
    assert score(files, alex, reckoning) == before
    assert "archived" not in files.scores["entries"][ALEX]
    assert plan_restore(files, [alex], reckoning).changes == ()


def test_what_sank_is_restored_by_an_access(files: Files, alex: MemoryFacts, reckoning: DecayContext) -> None:
    later = dataclasses.replace(reckoning, now=reckoning.now + timedelta(days=400))
    assert score(files, alex, later).status == "archived"
    files.carry_out(plan_restore(files, [alex], later))
    assert score(files, alex, later).status == "active"
    assert files.scores["entries"][ALEX]["access_count"] == 2


def test_a_pin_survives_archiving_and_a_new_pin_brings_back(
    files: Files, alex: MemoryFacts, reckoning: DecayContext
) -> None:
    files.carry_out(plan_pin(files, [alex], reckoning))
    files.carry_out(plan_archive(files, [alex], reckoning))
    assert score(files, alex, reckoning).status == "archived"
    files.carry_out(plan_restore(files, [alex], reckoning))
    assert score(files, alex, reckoning).status == "pinned"
    files.carry_out(plan_archive(files, [alex], reckoning))
    files.carry_out(plan_pin(files, [alex], reckoning))
    assert score(files, alex, reckoning).status == "pinned"


def test_reinforcing_counts_and_dates(files: Files, alex: MemoryFacts, reckoning: DecayContext) -> None:
    files.carry_out(plan_reinforce(files, [alex], reckoning))
    files.carry_out(plan_reinforce(files, [alex], reckoning))
    entry = files.scores["entries"][ALEX]
    assert (entry["access_count"], entry["last_accessed"]) == (3, "2026-02-02T14:30:00Z")
    assert score(files, alex, reckoning).raw == pytest.approx(0.7 * 1.2 * 2, abs=1e-9)


def test_several_at_once_are_one_change(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    chosen = [memories[ALEX], memories["core:critical-facts:tea"]]
    plan = plan_archive(files, chosen, reckoning)
    assert (plan.summary, len(plan.changes), len(plan.outcome)) == ("archived 2 memories", 1, 2)


def test_dropping_takes_facts_along_and_names_nothing(
    files: Files, alex: MemoryFacts, reckoning: DecayContext
) -> None:
    for facts in (
        alex,
        dataclasses.replace(alex, id=f"{ALEX}#^f1"),
        dataclasses.replace(alex, id=f"{ALEX}a"),
    ):
        files.carry_out(plan_pin(files, [facts], reckoning))
    plan = plan_drop(files, [ALEX, "entity:person--none"], reckoning)
    assert plan.summary == "dropped 2 entries"
    files.carry_out(plan)
    assert files.scores["entries"].keys() == {f"{ALEX}a"}
    assert plan_drop(files, [ALEX], reckoning).changes == ()
