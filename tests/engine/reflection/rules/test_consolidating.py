"""Consolidation brings together what others find, led by past themes, and says nothing twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.reflection.snapshots import said, snapshot
from workbench.engine.markdown.review import Evidence, ReviewItem
from workbench.engine.reflection import claims, extraction
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.model import Agenda, Guidance, Snapshot
from workbench.engine.reflection.rules import RulesMind
from workbench.engine.reflection.work import Work

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

    monkeypatch.setattr(claims, "find_conflicts", lambda made, work: (UPDATE,))
    monkeypatch.setattr(extraction, "extract_knowledge", extract_knowledge)
    monkeypatch.setattr(extraction, "find_procedures", lambda made, work: ())
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
    monkeypatch.setattr(extraction, "extract_knowledge", lambda made, agenda, work: (known,))
    made = snapshot(tmp_path, (manner,), owner="Alex Marsh")
    items = RulesMind().consolidate(made, Agenda(()), Guidance(), Work())
    assert known not in items
    core = RulesMind().rewrite_core(made, Agenda(()), items, Work())
    assert [(item.target, item.text) for item in core] == [("core:persona", "Prefers short answers")]
