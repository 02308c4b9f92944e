"""Journalled accesses reach the scores file once, whatever dies in between."""

from __future__ import annotations

import dataclasses
import itertools
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.memory.files_in_memory import NOW, Files
from workbench.engine import layout
from workbench.engine.errors import DocumentError
from workbench.engine.history.plan import Action
from workbench.engine.memory.access_journal import AccessJournal, JournalPage
from workbench.engine.memory.decay import DecayContext, MemoryFacts, decay_record
from workbench.engine.memory.scores_file import (
    MOST_WATERMARKS,
    fold_is_due,
    pending_accesses,
    plan_transitions,
    read_scores,
    with_folded,
)
from workbench.engine.settings.sections import DecaySettings

ALEX = "entity:person--alex"
TEA = "core:critical-facts:tea"


@pytest.fixture
def journal(tmp_path: Path) -> AccessJournal:
    numbers = itertools.count(1)
    return AccessJournal(tmp_path, lambda: f"j{next(numbers)}")


def test_a_fold_counts_and_dates(
    files: Files, journal: AccessJournal, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    journal.record_accesses([ALEX, TEA], NOW - timedelta(hours=1))
    journal.record_access(ALEX, NOW)
    plan = plan_transitions(files, journal.read(), {id_: memories[id_] for id_ in (ALEX, TEA)}, reckoning)
    assert (plan.action, plan.file) == (Action.EDIT, layout.DECAY_SCORES)
    assert plan.summary == "folded in 3 accesses of 2 memories"
    assert (plan.outcome.ids, plan.outcome.accesses) == ((ALEX, TEA), 3)
    assert plan.changes[0].action is Action.CREATE
    files.carry_out(plan)
    entry = files.scores["entries"][ALEX]
    assert (entry["access_count"], entry["last_accessed"]) == (3, "2026-02-02T14:30:00Z")
    assert (entry["store"], entry["base_relevance"], entry["type_weight"]) == ("semantic", 0.7, 1.2)
    assert files.scores["last_updated"] == "2026-02-02T14:30:00Z"
    assert files.scores["folded"] == {journal.read().journal: plan.outcome.offset}


def test_nothing_waiting_changes_nothing(
    files: Files, journal: AccessJournal, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    assert plan_transitions(files, journal.read(), {ALEX: memories[ALEX]}, reckoning).changes == ()
    journal.record_access(ALEX, NOW)
    files.carry_out(plan_transitions(files, journal.read(), {ALEX: memories[ALEX]}, reckoning))
    assert plan_transitions(files, journal.read(), {ALEX: memories[ALEX]}, reckoning).changes == ()


def test_a_fact_counts_for_its_entity_and_what_is_gone_for_nothing(
    files: Files, journal: AccessJournal, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    journal.record_accesses([f"{ALEX}#^f7k2", ALEX, "entity:person--gone", "file:memory/2026-01-30.md"], NOW)
    plan = plan_transitions(files, journal.read(), memories, reckoning)
    assert plan.outcome.ids == (ALEX,)
    files.carry_out(plan)
    assert files.scores["entries"].keys() == {ALEX}
    assert files.scores["entries"][ALEX]["access_count"] == 3


def test_a_fold_keeps_what_others_wrote(
    files: Files, journal: AccessJournal, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    files.scores = {
        "version": 1,
        "note": "ours",
        "entries": {
            ALEX: {"store": "semantic", "base_relevance": 0.9, "type_weight": 1.2, "access_count": 14,
                   "created": "2026-01-01T00:00:00Z", "last_accessed": "2026-01-05T00:00:00Z",
                   "current_score": 1.0, "status": "active", "pinned": True, "why": "friend"},
            TEA: {"anything": "at all", "access_count": 1},
        },
    }  # fmt: skip
    journal.record_access(ALEX, NOW)
    files.carry_out(plan_transitions(files, journal.read(), memories, reckoning))
    entry = files.scores["entries"][ALEX]
    assert (entry["access_count"], entry["pinned"], entry["why"], entry["base_relevance"]) == (
        15,
        True,
        "friend",
        0.9,
    )
    assert files.scores["entries"][TEA] == {"anything": "at all", "access_count": 1}
    assert files.scores["note"] == "ours"


def test_a_rise_in_status_is_logged_as_decay(
    files: Files, journal: AccessJournal, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    files.scores = {
        "version": 1,
        "entries": {
            ALEX: {"store": "semantic", "base_relevance": 0.7, "type_weight": 1.2, "access_count": 1,
                   "created": "2025-12-01T00:00:00Z", "last_accessed": "2025-12-01T00:00:00Z",
                   "current_score": 0.13, "status": "dormant", "pinned": False},
        },
    }  # fmt: skip
    journal.record_access(ALEX, NOW)
    plan = plan_transitions(files, journal.read(), {ALEX: memories[ALEX]}, reckoning)
    assert plan.action is Action.DECAY
    assert plan.summary == "1 entry transitioned: dormant→active"


def test_a_broken_scores_file_is_not_written_over(
    journal: AccessJournal, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    files = Files({layout.DECAY_SCORES: b'{"entries": {'})
    journal.record_access(ALEX, NOW)
    with pytest.raises(DocumentError):
        plan_transitions(files, journal.read(), memories, reckoning)


@pytest.mark.parametrize(
    ("count", "minutes", "due"), [(0, 0, False), (1, 0, False), (50, 0, True), (1, 60, True), (1, -60, False)]
)
def test_a_fold_is_due_by_count_or_time(journal: AccessJournal, count: int, minutes: int, due: bool) -> None:
    for _ in range(count):
        journal.record_access(ALEX, NOW)
    waiting = journal.read().after({})
    assert fold_is_due(waiting, NOW + timedelta(minutes=minutes), DecaySettings()) is due


def test_old_watermarks_fall_away() -> None:
    folded: dict[str, int] = {}
    for number in range(20):
        folded = with_folded(folded, f"j{number}", number)
    assert len(folded) == MOST_WATERMARKS
    assert folded["j19"] == 19
    assert list(with_folded(folded, "j15", 99))[-1] == "j15"


def test_a_watermark_of_nonsense_is_none(files: Files, memories: dict[str, MemoryFacts]) -> None:
    files.scores = {"version": 1, "folded": ["x"], "checked": 7, "entries": {}}
    assert pending_accesses(read_scores(files), JournalPage()) == {}


@given(
    st.lists(
        st.sampled_from(
            [
                "access",
                "fold",
                "fold, killed before the commit",
                "fold, killed before the journal is dropped",
                "revert",
            ]
        ),
        max_size=25,
    )
)
@settings(deadline=None)
def test_no_kill_counts_an_access_twice_or_never(steps: list[str]) -> None:
    facts = MemoryFacts(ALEX, "semantic", "conversation", NOW - timedelta(days=3))
    reckoning = DecayContext(NOW)
    numbers = itertools.count(1)
    with tempfile.TemporaryDirectory() as folder:
        journal = AccessJournal(Path(folder), lambda: f"j{next(numbers)}")
        files = Files()
        accesses = 0
        for step in steps:
            if step == "access":
                journal.record_access(ALEX, NOW)
                accesses += 1
            elif step == "somebody edits the file":
                scores_file = files.contents.get(layout.DECAY_SCORES, b"{}")
                files.contents[layout.DECAY_SCORES] = scores_file.replace(b"}", b" }\r\n")
            else:
                plan = plan_transitions(files, journal.read(), {ALEX: facts}, reckoning)
                if step == "fold, killed before the commit":
                    continue
                files.carry_out(plan)
                if step == "fold":
                    journal.drop_until(plan.outcome.journal, plan.outcome.offset)
            scores = read_scores(files)
            waiting = pending_accesses(scores, journal.read()).get(ALEX)
            record = decay_record(facts, scores.entries.get(ALEX), waiting, reckoning)
            assert record.access_count == 1 + accesses


def test_a_scores_file_restored_from_before_the_fold_counts_again_what_the_journal_still_holds(
    files: Files, journal: AccessJournal, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    journal.record_access(ALEX, NOW)
    plan = plan_transitions(files, journal.read(), memories, reckoning)
    files.carry_out(plan)
    del files.contents[layout.DECAY_SCORES]
    waiting = pending_accesses(read_scores(files), journal.read())
    assert waiting[ALEX].count == 1


def test_the_entry_says_the_score_of_the_moment(
    files: Files, journal: AccessJournal, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    journal.record_access(ALEX, NOW - timedelta(days=40))
    later = dataclasses.replace(reckoning, now=NOW + timedelta(days=40))
    files.carry_out(plan_transitions(files, journal.read(), memories, later))
    entry = files.scores["entries"][ALEX]
    # The access is older than the memory's own day, which stays the last one.
    assert entry["last_accessed"] == "2026-01-30T09:00:00Z"
    assert entry["current_score"] == pytest.approx(
        0.7 * 2.718281828459 ** (-0.03 * 43) * 1.584962500721 * 1.2, rel=1e-3
    )
    assert entry["status"] == "fading"
