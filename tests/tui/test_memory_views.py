"""What is told below a memory: its score with the terms, and its history."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from workbench.display.ink import line_width, plain_text
from workbench.engine.results.audit import MemoryChange
from workbench.engine.results.graph import GraphEvent, GraphNode, GraphView
from workbench.tui.bench import HistoryEntry, Memory, Score
from workbench.tui.views.graph_entity import Portrait, entity_lines
from workbench.tui.views.memory import known_lines, score_lines
from workbench.tui.views.past_detail import change_as_it_was

TERMS = {
    "base": 1.0, "decay": 0.619, "reinforcement": 1.58, "typeWeight": 1.2, "days": 16.0, "lambda": 0.03,
    "accessCount": 2.0,
}  # fmt: skip
CHANGED = HistoryEntry(
    "c" * 40, datetime(2026, 2, 2, tzinfo=UTC), "bot:trigger-remember", "auto", "added a fact to Harbor"
)
ROBIN = GraphNode("entity:person--robin", "person", "Robin", 1.0, 0, "active", 0)


@pytest.mark.parametrize("width", range(20, 90))
def test_a_formula_is_not_broken_between_a_name_and_its_number(width: int) -> None:
    drawn = [plain_text(line) for line in score_lines(Score(1.0, 1.17, "active", TERMS), width)[1:]]
    whole = "base 1 × decay 0.619 (days 16, λ 0.03) × use 1.58 (accesses 2) × type 1.2"
    assert " ".join(" ".join(drawn).split()) == whole
    for line in drawn:
        assert not line.strip().endswith(("λ", "days", "use", "type", "accesses", "base", "decay"))


@pytest.mark.parametrize("width", [30, 36, 48, 80])
def test_a_change_says_what_was_done_before_it_says_by_whom(width: int) -> None:
    drawn = known_lines(Memory("entity:a", "semantic", "a.md", 1, 2, "", history=(CHANGED,)), width)
    text = "\n".join(plain_text(line) for line in drawn)
    assert "added a fact" in text
    assert "bot:trigger" in text
    assert all(line_width(line) <= width for line in drawn)


def test_an_entity_alone_says_how_to_begin_however_narrow() -> None:
    lines = entity_lines(Portrait(ROBIN, GraphView(ROBIN.id, (ROBIN,), ())), 36)
    text = " ".join(" ".join(plain_text(line) for line in lines).split())
    assert "n adds a fact, l relates it." in text


def test_days_of_a_timeline_are_written_as_everywhere_else() -> None:
    view = GraphView(
        ROBIN.id, (ROBIN,), (), events=(GraphEvent("2026-09-08", "Came"), GraphEvent("2026", "Went"))
    )
    text = "\n".join(plain_text(line) for line in entity_lines(Portrait(ROBIN, view), 60))
    assert " 8 Sep 2026  Came" in text
    assert "2026  Went" in text


def test_a_changed_entity_goes_by_its_name_and_a_long_id_is_not_cut() -> None:
    entity = MemoryChange("entity:person--robin", "semantic", "robin.md", "Robin", "added", None, "text")
    assert plain_text(change_as_it_was(entity, (), "then", "now", 40)[0]).endswith("Robin")
    id_ = "core:critical-facts:harbor-never-shows-a-forecast-older-than-six-hours"
    core = MemoryChange(id_, "core", "MEMORY.md", "Harbor never …", "scored", "text", "text")
    drawn = [plain_text(line).strip() for line in change_as_it_was(core, (), "then", "now", 40)]
    assert id_ in "".join(drawn).replace(" ", "")
