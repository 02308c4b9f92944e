"""Consolidation brings together what others find, led by past themes, and says nothing twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.catalog.shelf import ENTITIES, day, entity, episode
from tests.engine.reflection.snapshots import chat, check_quotes, core_view, faded, said, snapshot
from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.model import Agenda, Guidance, Snapshot, Work
from workbench.engine.reflection.rules import RulesMind, consolidating
from workbench.engine.reflection.rules.consolidating import (
    MOST_ARCHIVED,
    is_known,
    propose_archival,
    propose_protection,
    propose_restoring,
    without_repetition,
)
from workbench.engine.reflection.rules.survey import survey

OLD = said("2026-02-01 09:00", "Harbor keeps readings for ninety days", type="fact", tags=("harbor",))
NEW = said("2026-02-02 09:00", "Harbor keeps readings for sixty days", type="correction", tags=("harbor",))
OTHER = said("2026-02-03 09:00", "Grafana watches the disk", type="fact", tags=("grafana",))
UPDATE = forms.supersession(
    "project--harbor",
    OLD.text,
    NEW.text,
    (Evidence(OLD.id, OLD.text), Evidence(NEW.id, NEW.text)),
    reason="It was corrected.",
)


def fact(entity: str, text: str, source: str) -> ReviewItem:
    """Return a fact that quotes all it says."""
    return forms.fact(entity, text, (Evidence(source, text),), reason="It was said.")


@pytest.fixture
def agendas(monkeypatch: pytest.MonkeyPatch) -> list[Agenda]:
    """Let conflicts, knowledge and procedures be found without thinking; return the agendas they were given."""
    seen: list[Agenda] = []

    def extract_knowledge(made: Snapshot, agenda: Agenda, work: Work) -> tuple[ReviewItem, ...]:
        seen.append(agenda)
        return (fact("project--harbor", NEW.text, NEW.id), fact("tool--grafana", OTHER.text, OTHER.id))

    monkeypatch.setattr(consolidating, "find_conflicts", lambda made, work: (UPDATE,))
    monkeypatch.setattr(consolidating, "extract_knowledge", extract_knowledge)
    monkeypatch.setattr(consolidating, "find_procedures", lambda made, work: ())
    return seen


def test_an_update_wins_over_the_plain_fact(tmp_path: Path, agendas: list[Agenda]) -> None:
    made = snapshot(tmp_path, (OLD, NEW, OTHER))
    mind = RulesMind()
    items = mind.consolidate(made, mind.survey(made, Work()), Guidance(), Work())
    assert [(item.kind, item.text) for item in items] == [("supersession", NEW.text), ("fact", OTHER.text)]


def test_past_themes_lead_what_is_extracted(tmp_path: Path, agendas: list[Agenda]) -> None:
    made = snapshot(tmp_path, (OLD, NEW, OTHER))
    mind = RulesMind()
    agenda = mind.survey(made, Work())
    mind.consolidate(made, agenda, Guidance(), Work())
    mind.consolidate(made, agenda, Guidance(themes=("harbor (in 3 of 4 reflections)",)), Work())
    plain, led = ({area.subject: area.weight for area in seen.areas} for seen in agendas)
    assert led["harbor"] == pytest.approx(plain["harbor"] * 1.5)
    assert led["2026-02-03"] == plain["2026-02-03"]


def test_progress_is_told(tmp_path: Path, agendas: list[Agenda]) -> None:
    made = snapshot(tmp_path, (OLD, NEW, OTHER))
    told: list[tuple[int, int]] = []
    work = Work(report=lambda progress: told.append((progress.done, progress.total)))
    RulesMind().consolidate(made, Agenda(()), Guidance(), work)
    assert told == [(step, 6) for step in range(1, 7)]


def test_what_core_memory_will_say_is_no_fact_besides(
    tmp_path: Path, agendas: list[Agenda], monkeypatch: pytest.MonkeyPatch
) -> None:
    manner = said("2026-02-05 09:00", "I prefer short answers", type="preference", confidence="high")
    known = fact("person--alex-marsh", "Alex Marsh prefers short answers", manner.id)
    monkeypatch.setattr(consolidating, "extract_knowledge", lambda made, agenda, work: (known,))
    made = snapshot(tmp_path, (manner,), owner="Alex Marsh")
    items = RulesMind().consolidate(made, Agenda(()), Guidance(), Work())
    assert known not in items
    core = RulesMind().rewrite_core(made, Agenda(()), items, Work())
    assert [(item.target, item.text) for item in core] == [("core:persona", "Prefers short answers")]


@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ("Answer in German", "Always answer in German."),
        ("Name the sources", "Please always name the sources."),
        ("Use metric units", "From now on always use metric units."),
    ],
)
def test_a_rule_that_stands_in_persona_is_no_fact_besides(tmp_path: Path, rule: str, asked: str) -> None:
    core = core_view(f"# MEMORY.md\n\n## Identity\n- Name: Mara Holt\n\n## Persona\n- {rule}\n")
    made = snapshot(tmp_path, chat("2026-02-05", ("User", asked)), owner="Mara Holt", core=core)
    items = RulesMind().consolidate(made, Agenda(()), Guidance(), Work())
    assert [item.text for item in items if item.kind == "fact"] == []


BUG = "episode:2025-10-01:09:00"
FILES = {
    "memory/episodes/2025-10-01.md": day(
        "2025-10-01",
        episode("09:00", "A CSS bug in the login page of the old portal was found by Marta."),
        episode("10:00", "We decided on SQLite for the index of memories.", kind="decision"),
    )
}


def archived(made: Snapshot) -> list[ReviewItem]:
    """Return what is proposed for archival; every quote must stand in its memory."""
    items = propose_archival(made, survey(made, Work()), Work())
    check_quotes(made, items)
    return list(items)


def test_a_faded_memory_is_proposed_with_its_score_and_own_words(tmp_path: Path) -> None:
    (item,) = archived(snapshot(tmp_path, files=FILES, fading=(faded(BUG, 0.031),)))
    assert (item.kind, item.target) == ("archive", BUG)
    assert item.reason == "Not accessed for 152 days (1 access in all); its score of 0.031 is below 0.05."
    assert ("score", "0.031") in item.fields
    assert item.evidence[0].quote.startswith("A CSS bug")


@pytest.mark.parametrize(
    "entry",
    [
        faded(BUG, 0.05),
        faded(BUG, 0.01, pinned=True),
        faded(BUG, 0.01, store="vault"),
        faded(BUG, 0.01, store="core"),
    ],
)
def test_dormant_pinned_vault_and_core_memories_stay(tmp_path: Path, entry: object) -> None:
    assert archived(snapshot(tmp_path, files=FILES, fading=(entry,))) == []


def test_what_is_archived_already_is_not_proposed_again(tmp_path: Path) -> None:
    entry = faded(BUG, 0.01)
    assert archived(snapshot(tmp_path, files=FILES, fading=(entry,), archived=(entry,))) == []


def test_what_somebody_archived_scores_nothing_and_is_not_proposed(tmp_path: Path) -> None:
    entry = replace(faded(BUG, 0.03), score=0.0, status="archived")
    assert archived(snapshot(tmp_path, files=FILES, fading=(entry,))) == []


def test_decisions_that_nothing_else_says_come_last(tmp_path: Path) -> None:
    fading = (faded("episode:2025-10-01:10:00", 0.01), faded(BUG, 0.04))
    items = archived(snapshot(tmp_path, files=FILES, fading=fading))
    assert [item.target for item in items] == [BUG, "episode:2025-10-01:10:00"]


def test_what_a_recent_fact_rests_on_stays(tmp_path: Path) -> None:
    recent = entity("Portal", facts=(f"The portal is old (since 2026-02-01, from {BUG}) ^f1",))
    long_ago = recent.replace("2026-02-01", "2025-10-01")
    files = {**FILES, f"{ENTITIES}/project--portal.md": recent}
    assert archived(snapshot(tmp_path / "a", files=files, fading=(faded(BUG),))) == []
    files = {**FILES, f"{ENTITIES}/project--portal.md": long_ago}
    (item,) = archived(snapshot(tmp_path / "b", files=files, fading=(faded(BUG),)))
    assert item.reason.endswith("is below 0.05. What it says is kept under Portal.")


def test_an_entity_that_new_passages_name_stays(tmp_path: Path) -> None:
    files = {f"{ENTITIES}/concept--old-keys.md": entity("Old keys", summary="Rotation of keys.")}
    entry = faded("entity:concept--old-keys", store="semantic")
    passage = said("2026-03-01 09:00", "The Old keys are needed again", type="event")
    made = snapshot(tmp_path / "a", (passage,), files=files, fading=(entry,))
    assert archived(made) == []
    assert propose_archival(made, Agenda(()), Work()) == ()
    assert len(archived(snapshot(tmp_path / "b", files=files, fading=(entry,)))) == 1


def test_an_entity_related_to_one_that_new_passages_name_stays(tmp_path: Path) -> None:
    files = {
        f"{ENTITIES}/person--kyle.md": entity("Kyle", relations=("relates-to: [[person--john]] ^r1",)),
        f"{ENTITIES}/person--john.md": entity("John"),
    }
    entry = faded("entity:person--kyle", store="semantic")
    passage = said("2026-03-01 09:00", "John went to the shelter", type="event")
    assert archived(snapshot(tmp_path / "a", (passage,), files=files, fading=(entry,))) == []
    assert len(archived(snapshot(tmp_path / "b", files=files, fading=(entry,)))) == 1


def test_the_lowest_scores_come_first_and_no_more_than_eight(tmp_path: Path) -> None:
    entries = [episode(f"09:{minute:02}", f"Remark number {minute} of the day.") for minute in range(30)]
    files = {"memory/episodes/2025-10-01.md": day("2025-10-01", *entries)}
    fading = tuple(faded(f"episode:2025-10-01:09:{at:02}", 0.04 - at / 1000) for at in range(30))
    items = archived(snapshot(tmp_path, files=files, fading=fading))
    assert len(items) == MOST_ARCHIVED
    assert items[0].target == "episode:2025-10-01:09:29"


OLD_sameness, NEW_sameness = (
    Evidence("episode:2026-01-01:09:00", "for ninety days"),
    Evidence("episode:2026-02-01:09:00", "for sixty days"),
)
UPDATE_sameness = forms.supersession(
    "project--harbor",
    "Harbor keeps raw readings for ninety days",
    "Harbor keeps raw readings for sixty days",
    (OLD_sameness, NEW_sameness),
    reason="It was corrected.",
)


def test_the_new_value_of_an_update_is_no_fact_besides() -> None:
    fact = forms.fact(
        "project--harbor", "Harbor keeps raw readings for sixty days.", (NEW_sameness,), reason="Said."
    )
    reworded = forms.fact(
        "project--harbor", "Raw readings are kept for sixty days", (NEW_sameness,), reason="Said."
    )
    assert without_repetition((fact, UPDATE_sameness, reworded)) == (UPDATE_sameness,)


def test_neither_side_of_a_contradiction_is_a_fact_besides() -> None:
    clash = forms.contradiction(
        "concept--ningbo",
        "When does Ningbo pay?",
        "Ningbo pays within 30 days",
        "Ningbo pays within 45 days",
        (OLD_sameness, NEW_sameness),
        reason="Both cannot hold.",
    )
    facts = [
        forms.fact("concept--ningbo", f"Ningbo pays within {days} days", (NEW_sameness,), reason="Said.")
        for days in (30, 45)
    ]
    assert without_repetition((clash, *facts)) == (clash,)


def test_another_fact_of_the_same_memory_stays() -> None:
    other = forms.fact("tool--grafana", "Grafana alerts at 70 % of the disk", (NEW_sameness,), reason="Said.")
    assert without_repetition((UPDATE_sameness, other)) == (UPDATE_sameness, other)


def test_of_two_facts_that_say_the_same_the_first_stays() -> None:
    first = forms.fact("person--nora", "Nora prefers short answers", (OLD_sameness,), reason="Said.")
    second = forms.fact("person--nora", "Nora prefers short answers.", (NEW_sameness,), reason="Said.")
    apart = forms.fact("person--nora", "Nora prefers long walks", (NEW_sameness,), reason="Said.")
    assert without_repetition((first, second, apart)) == (first, apart)


def test_items_of_one_place_and_text_come_once() -> None:
    link = forms.relation("project--harbor", "uses", "tool--grafana", (NEW_sameness,), reason="Said.")
    assert without_repetition((link, link)) == (link,)


def test_what_core_memory_says_is_no_fact_besides() -> None:
    known = forms.fact(
        "person--nora",
        "Nora Berg prefers the conclusion before the reasoning",
        (NEW_sameness,),
        reason="Said.",
    )
    new = forms.fact(
        "person--nora", "Nora Berg prefers the conclusion of the pilots", (NEW_sameness,), reason="Said."
    )
    denied = replace(known, text="Nora Berg does not like the conclusion before the reasoning")
    core = ("Conclusion before reasoning, always", "Name: Nora Berg")
    assert without_repetition((known, new, denied), core, "Nora Berg") == (new, denied)


def test_what_the_graph_took_from_the_same_memory_is_known(tmp_path: Path) -> None:
    facts = (
        f"The Port of Ningbo extended its pilot by six months (since 2026-02-01, from {NEW_sameness.id}) ^f1",
    )
    made = snapshot(tmp_path, files={f"{ENTITIES}/concept--ningbo.md": entity("Ningbo", facts=facts)})
    known = forms.fact(
        "concept--ningbo", "Ningbo’s pilot was extended by six months", (NEW_sameness,), reason="Said."
    )
    assert is_known(known, made.graph)
    assert not is_known(replace(known, evidence=(OLD_sameness,)), made.graph)
    assert not is_known(
        replace(known, text="Ningbo pays the full price for the pilot from March on"), made.graph
    )


def test_a_fact_that_says_a_claim_with_its_reason_is_no_item_of_its_own() -> None:
    proof = (Evidence("episode:2026-02-04:09:00", "The import now starts at 03:30, because it collided"),)
    old, new = "The import starts at 02:00", "The import now starts at 03:30"
    claim = forms.supersession("person--user", old, new, proof, reason="…")
    fact = forms.fact(
        "person--user", "The import now starts at 03:30, because it collided", proof, reason="…"
    )
    other = forms.fact("person--user", "Staging has three nodes and one disk", proof, reason="…")
    assert without_repetition((claim, fact, other)) == (claim, other)


def test_an_archived_memory_that_is_spoken_of_comes_back(tmp_path: Path) -> None:
    passages = (
        said("2026-03-01 09:00", "Nothing of note", type="event"),
        said(
            "2026-03-01 10:00", "Marta found the CSS bug in the login page of the portal again", type="event"
        ),
    )
    made = snapshot(tmp_path, passages, files=FILES, archived=(faded(BUG),))
    (item,) = propose_restoring(made, Work())
    check_quotes(made, (item,))
    assert (item.kind, item.target) == ("restore", BUG)
    assert [proof.id for proof in item.evidence] == [BUG, passages[1].id]


def test_a_few_common_words_bring_nothing_back(tmp_path: Path) -> None:
    passages = (
        said("2026-03-01 10:00", "A new page was found for the bug tracker of the team", type="event"),
    )
    assert propose_restoring(snapshot(tmp_path, passages, files=FILES, archived=(faded(BUG),)), Work()) == ()


def test_never_forget_asks_for_protection(tmp_path: Path) -> None:
    files = {
        "memory/episodes/2026-03-01.md": day(
            "2026-03-01", episode("09:00", "Two things. Never forget the six-hour rule of Harbor!")
        )
    }
    passage = said("2026-03-01 09:00", "Two things. Never forget the six-hour rule of Harbor!", type="fact")
    made = snapshot(tmp_path, (passage,), files=files)
    (item,) = propose_protection(made, Work())
    check_quotes(made, (item,))
    assert (item.kind, item.target, item.confidence) == ("vault pin", passage.id, "high")
    assert item.evidence[0].quote == "Never forget the six-hour rule of Harbor!"


def test_a_decision_that_is_accessed_often_is_foundational(tmp_path: Path) -> None:
    decision = faded("episode:2025-10-01:10:00", 0.9, accesses=6)
    event = faded(BUG, 0.9, accesses=9)
    made = snapshot(tmp_path, files=FILES, often=(event, decision))
    assert [item.target for item in propose_protection(made, Work())] == ["episode:2025-10-01:10:00"]
