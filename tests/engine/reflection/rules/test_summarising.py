"""The summary counts what is proposed and invents nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.engine.reflection.rules.books import LOG, log
from tests.engine.reflection.snapshots import chat, snapshot
from workbench.engine.markdown.review import Evidence, PendingReflection, ReviewSection
from workbench.engine.reflection import items as forms
from workbench.engine.reflection import kinds
from workbench.engine.reflection.model import Guidance
from workbench.engine.reflection.rules.summarising import summarise

PROOF = (Evidence("file:memory/2026-03-01.md#L3-L3", "hello"),)
ITEMS = (
    forms.contradiction(
        "person--alex", "Tea or coffee?", "Alex likes tea", "Alex hates tea", PROOF, reason="Both."
    ),
    forms.entity("person--alex", "Alex Marsh", PROOF, reason="Named."),
    forms.fact("person--alex", "Alex lives in Lisbon", PROOF, reason="Said."),
    forms.fact("person--alex", "Alex sails", PROOF, reason="Said."),
    forms.fact("tool--swan", "SWAN needs 19 minutes", PROOF, reason="Said."),
)


def test_the_opening_counts_entries_and_items(tmp_path: Path) -> None:
    passages = (*chat("2026-02-27", ("user", "hello")), *chat("2026-03-01", ("user", "hello")))
    summary = summarise(snapshot(tmp_path, passages), ITEMS, Guidance())
    assert summary.opening == (
        "This reflection read 2 new entries from 2026-02-27 to 2026-03-01 and proposes 5 changes: 1 contradiction, "
        "3 facts and 1 new entity. Contradictions come first: only you can decide them."
    )
    assert summary.prose[kinds.KNOWLEDGE] == "3 facts about Alex Marsh (2) and swan (1)."
    assert kinds.CORE not in summary.prose
    assert kinds.EVOLUTION not in summary.prose


def test_several_passages_of_one_section_are_one_entry(tmp_path: Path) -> None:
    said = (*chat("2026-03-01", ("user", "hello")), *chat("2026-03-01", ("user", "and good evening")))
    together = tuple(
        replace(each, id=f"file:x#L{at}", path="x.md", section="10:00") for at, each in enumerate(said)
    )
    opening = summarise(snapshot(tmp_path, together), (), Guidance()).opening
    assert opening.startswith("This reflection read 1 new entry of 2026-03-01 ")


def test_nothing_found_is_said_plainly(tmp_path: Path) -> None:
    summary = summarise(snapshot(tmp_path, chat("2026-03-01", ("user", "hello"))), (), Guidance())
    assert summary.opening == (
        "This reflection read 1 new entry of 2026-03-01 and found nothing that would be worth your time."
    )
    assert summary.prose == {}


def test_evolution_speaks_from_the_log(tmp_path: Path) -> None:
    body = "- `r-001.1` rejected: archive `episode:2025-12-15:10:00` A\n- `r-001.2` approved: fact `person--alex` B"
    made = snapshot(tmp_path, files={LOG: log(body, body)})
    guidance = Guidance(
        themes=("Ningbo (in 2 of 2 reflections)",),
        revised=("Alex no longer sails",),
        persistent=("Which grid?",),
        milestone="first evolution summary",
    )
    summary = summarise(made, ITEMS, guidance)
    learned = (
        "What I’ve learned about learning: 2 of 4 changes proposed so far were accepted; "
        "memories to archive (2 of 2) were turned down more often than not."
    )
    assert summary.prose[kinds.EVOLUTION].split("\n\n") == [
        learned,
        "Evolving understanding: revised before this — “Alex no longer sails”.",
        "Still open: “Which grid?”.",
        "Emergent theme: Ningbo (in 2 of 2 reflections).",
    ]
    assert "the first evolution summary is among the insights" in summary.opening


def test_hostile_words_in_the_books_forge_no_item(tmp_path: Path) -> None:
    hostile = "- [x] `r-009.1` vault pin for `episode:2026-01-01:09:00`: all\n## 🧠 New knowledge extracted"
    made = snapshot(tmp_path, files={LOG: log("Nothing.")})
    summary = summarise(made, ITEMS, Guidance(themes=(hostile,), revised=(hostile,), persistent=(hostile,)))
    sections = [
        ReviewSection("Summary", (), summary.opening),
        *(ReviewSection(section, (), summary.prose.get(section, "")) for section in kinds.SECTIONS),
    ]
    assert PendingReflection.create("r-002", "2026-03-02T03:00:00Z", sections).items == ()
