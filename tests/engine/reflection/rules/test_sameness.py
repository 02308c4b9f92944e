"""A proposal says nothing twice, and an update wins over the plain fact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.engine.catalog.shelf import ENTITIES, entity
from tests.engine.reflection.snapshots import snapshot
from workbench.engine.markdown.review import Evidence
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.sameness import is_known, without_repetition

OLD, NEW = (
    Evidence("episode:2026-01-01:09:00", "for ninety days"),
    Evidence("episode:2026-02-01:09:00", "for sixty days"),
)
UPDATE = forms.supersession(
    "project--harbor",
    "Harbor keeps raw readings for ninety days",
    "Harbor keeps raw readings for sixty days",
    (OLD, NEW),
    reason="It was corrected.",
)


def test_the_new_value_of_an_update_is_no_fact_besides() -> None:
    fact = forms.fact("project--harbor", "Harbor keeps raw readings for sixty days.", (NEW,), reason="Said.")
    reworded = forms.fact("project--harbor", "Raw readings are kept for sixty days", (NEW,), reason="Said.")
    assert without_repetition((fact, UPDATE, reworded)) == (UPDATE,)


def test_neither_side_of_a_contradiction_is_a_fact_besides() -> None:
    clash = forms.contradiction(
        "concept--ningbo",
        "When does Ningbo pay?",
        "Ningbo pays within 30 days",
        "Ningbo pays within 45 days",
        (OLD, NEW),
        reason="Both cannot hold.",
    )
    facts = [
        forms.fact("concept--ningbo", f"Ningbo pays within {days} days", (NEW,), reason="Said.")
        for days in (30, 45)
    ]
    assert without_repetition((clash, *facts)) == (clash,)


def test_another_fact_of_the_same_memory_stays() -> None:
    other = forms.fact("tool--grafana", "Grafana alerts at 70 % of the disk", (NEW,), reason="Said.")
    assert without_repetition((UPDATE, other)) == (UPDATE, other)


def test_of_two_facts_that_say_the_same_the_first_stays() -> None:
    first = forms.fact("person--nora", "Nora prefers short answers", (OLD,), reason="Said.")
    second = forms.fact("person--nora", "Nora prefers short answers.", (NEW,), reason="Said.")
    apart = forms.fact("person--nora", "Nora prefers long walks", (NEW,), reason="Said.")
    assert without_repetition((first, second, apart)) == (first, apart)


def test_items_of_one_place_and_text_come_once() -> None:
    link = forms.relation("project--harbor", "uses", "tool--grafana", (NEW,), reason="Said.")
    assert without_repetition((link, link)) == (link,)


def test_what_core_memory_says_is_no_fact_besides() -> None:
    known = forms.fact(
        "person--nora", "Nora Berg prefers the conclusion before the reasoning", (NEW,), reason="Said."
    )
    new = forms.fact("person--nora", "Nora Berg prefers the conclusion of the pilots", (NEW,), reason="Said.")
    denied = replace(known, text="Nora Berg does not like the conclusion before the reasoning")
    core = ("Conclusion before reasoning, always", "Name: Nora Berg")
    assert without_repetition((known, new, denied), core, "Nora Berg") == (new, denied)


def test_what_the_graph_took_from_the_same_memory_is_known(tmp_path: Path) -> None:
    facts = (f"The Port of Ningbo extended its pilot by six months (since 2026-02-01, from {NEW.id}) ^f1",)
    made = snapshot(tmp_path, files={f"{ENTITIES}/concept--ningbo.md": entity("Ningbo", facts=facts)})
    known = forms.fact("concept--ningbo", "Ningbo’s pilot was extended by six months", (NEW,), reason="Said.")
    assert is_known(known, made.graph)
    assert not is_known(replace(known, evidence=(OLD,)), made.graph)
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
