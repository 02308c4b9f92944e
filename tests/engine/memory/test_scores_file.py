"""The scores file: folded accesses, decisions about decay, and logged changes of status."""

from __future__ import annotations

import dataclasses
import itertools
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.memory.files_in_memory import NOW, Files
from workbench.engine import layout
from workbench.engine.errors import DocumentError, InvalidInput
from workbench.engine.history.plan import Action
from workbench.engine.memory.access_journal import Access, AccessJournal, JournalPage
from workbench.engine.memory.decay import (
    DecayContext,
    MemoryFacts,
    Transition,
    decay_record,
    describe_transitions,
    score_now,
)
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.scores_file import (
    MOST_WATERMARKS,
    Decision,
    check_is_due,
    drop_entries,
    fold_is_due,
    mark_checked,
    pending_accesses,
    plan_decision,
    plan_transitions,
    read_scores,
    with_folded,
)
from workbench.engine.results.memories import Score
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
    assert plan.summary == f"1 entry transitioned: dormant→active ({ALEX})"


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
    for number in range(MOST_WATERMARKS + 4):
        folded = with_folded(folded, f"j{number}", number)
    assert len(folded) == MOST_WATERMARKS
    assert folded[f"j{MOST_WATERMARKS + 3}"] == MOST_WATERMARKS + 3
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
    plan = plan_decision(files, Decision.PIN, [alex], reckoning)
    assert (plan.action, plan.summary, plan.outcome) == (Action.PIN, f"pinned {ALEX}", (ALEX,))
    files.carry_out(plan)
    assert score(files, alex, later).status == "pinned"
    assert files.scores["entries"][ALEX]["pinned"] is True
    assert files.scores["entries"][ALEX]["status"] == "active"
    assert plan_decision(files, Decision.PIN, [alex], reckoning).changes == ()
    plan = plan_decision(files, Decision.UNPIN, [alex], later)
    assert (plan.action, plan.summary) == (Action.UNPIN, f"unpinned {ALEX}")
    files.carry_out(plan)
    assert score(files, alex, later) == unpinned
    assert plan_decision(files, Decision.UNPIN, [alex], later).changes == ()


def test_what_its_text_or_the_vault_pins_is_not_unpinned(
    files: Files, alex: MemoryFacts, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    with pytest.raises(InvalidInput, match="own text"):
        plan_decision(files, Decision.UNPIN, [dataclasses.replace(alex, pinned=True)], reckoning)
    with pytest.raises(InvalidInput, match="vault"):
        plan_decision(files, Decision.UNPIN, [memories["vault:rules"]], reckoning)
    assert plan_decision(files, Decision.PIN, [memories["vault:rules"]], reckoning).changes == ()


def test_archive_and_restore(files: Files, alex: MemoryFacts, reckoning: DecayContext) -> None:
    before = score(files, alex, reckoning)
    plan = plan_decision(files, Decision.ARCHIVE, [alex], reckoning)
    assert (plan.action, plan.summary) == (Action.ARCHIVE, f"archived {ALEX}")
    files.carry_out(plan)
    entry = files.scores["entries"][ALEX]
    assert (entry["current_score"], entry["status"], entry["archived"]) == (0.0, "archived", True)
    assert (score(files, alex, reckoning).value, score(files, alex, reckoning).status) == (0.0, "archived")
    assert plan_decision(files, Decision.ARCHIVE, [alex], reckoning).changes == ()
    files.carry_out(plan_decision(files, Decision.RESTORE, [alex], reckoning))
    assert score(files, alex, reckoning) == before
    assert "archived" not in files.scores["entries"][ALEX]
    assert plan_decision(files, Decision.RESTORE, [alex], reckoning).changes == ()


def test_what_sank_is_restored_by_an_access(files: Files, alex: MemoryFacts, reckoning: DecayContext) -> None:
    later = dataclasses.replace(reckoning, now=reckoning.now + timedelta(days=400))
    assert score(files, alex, later).status == "archived"
    files.carry_out(plan_decision(files, Decision.RESTORE, [alex], later))
    assert score(files, alex, later).status == "active"
    assert files.scores["entries"][ALEX]["access_count"] == 2


def test_a_pin_survives_archiving_and_a_new_pin_brings_back(
    files: Files, alex: MemoryFacts, reckoning: DecayContext
) -> None:
    files.carry_out(plan_decision(files, Decision.PIN, [alex], reckoning))
    files.carry_out(plan_decision(files, Decision.ARCHIVE, [alex], reckoning))
    assert score(files, alex, reckoning).status == "archived"
    files.carry_out(plan_decision(files, Decision.RESTORE, [alex], reckoning))
    assert score(files, alex, reckoning).status == "pinned"
    files.carry_out(plan_decision(files, Decision.ARCHIVE, [alex], reckoning))
    files.carry_out(plan_decision(files, Decision.PIN, [alex], reckoning))
    assert score(files, alex, reckoning).status == "pinned"


def test_reinforcing_counts_and_dates(files: Files, alex: MemoryFacts, reckoning: DecayContext) -> None:
    files.carry_out(plan_decision(files, Decision.REINFORCE, [alex], reckoning))
    files.carry_out(plan_decision(files, Decision.REINFORCE, [alex], reckoning))
    entry = files.scores["entries"][ALEX]
    assert (entry["access_count"], entry["last_accessed"]) == (3, "2026-02-02T14:30:00Z")
    assert score(files, alex, reckoning).raw == pytest.approx(0.7 * 1.2 * 2, abs=1e-9)


def test_several_at_once_are_one_change(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    chosen = [memories[ALEX], memories["core:critical-facts:tea"]]
    plan = plan_decision(files, Decision.ARCHIVE, chosen, reckoning)
    assert (plan.summary, len(plan.changes), len(plan.outcome)) == ("archived 2 memories", 1, 2)


def test_dropping_takes_facts_along_and_names_nothing(
    files: Files, alex: MemoryFacts, reckoning: DecayContext
) -> None:
    for facts in (
        alex,
        dataclasses.replace(alex, id=f"{ALEX}#^f1"),
        dataclasses.replace(alex, id=f"{ALEX}a"),
    ):
        files.carry_out(plan_decision(files, Decision.PIN, [facts], reckoning))
    draft = Draft(files)
    drop_entries(draft, [ALEX, "entity:person--none"], NOW)
    assert [change.summary for change in draft.changes()] == ["dropped 2 entries"]
    files.carry_out(draft.plan(Action.EDIT, "x", "x", None))
    assert files.scores["entries"].keys() == {f"{ALEX}a"}
    again = Draft(files)
    drop_entries(again, [ALEX], NOW)
    assert again.changes() == ()


EPISODE = "episode:2026-01-30:09:00"
DEPLOY = "procedure:how-to-deploy"


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
    assert plan.summary == (
        f"3 entries transitioned: 2 active→fading ({ALEX}, {EPISODE}), 1 active→dormant ({DEPLOY})"
    )
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
    assert plan.summary == f"1 entry transitioned: fading→dormant ({ALEX})"
    files.carry_out(plan)
    entry = files.scores["entries"][ALEX]
    assert entry["status"] == "dormant"
    assert {**entry, "status": 0, "current_score": 0} == {**before, "status": 0, "current_score": 0}


def test_pinned_archived_and_vault_do_not_transition(
    files: Files, memories: dict[str, MemoryFacts], reckoning: DecayContext
) -> None:
    files.carry_out(plan_decision(files, Decision.PIN, [memories[ALEX]], reckoning))
    files.carry_out(plan_decision(files, Decision.ARCHIVE, [memories[DEPLOY]], reckoning))
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
    assert describe_transitions(two) == "2 entries transitioned: fading→dormant (a, b)"


def test_of_thousands_those_that_sank_lowest_are_named_and_the_rest_counted() -> None:
    sunk = [Transition(f"entity:concept--c{n:04}", "active", "fading") for n in range(3000)]
    gone = [Transition("episode:2026-01-01:09:00", "dormant", "archived")]
    summary = describe_transitions([*sunk, *gone])
    assert summary.startswith("3001 entries transitioned: 3000 active→fading (entity:concept--c0000, ")
    assert summary.endswith(" more), 1 dormant→archived (episode:2026-01-01:09:00)")
    assert len(summary) < 800
    named = summary.count("concept--")
    assert f", {3000 - named:,} more)" in summary


def test_ids_too_long_for_a_line_are_counted() -> None:
    summary = describe_transitions([Transition("procedure:" + "x" * 700, "active", "fading")])
    assert summary == "1 entry transitioned: active→fading"


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
