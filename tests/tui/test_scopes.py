"""A memory that is for somebody beside the owner says so: on its card, on the timeline, among what is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.tui.fake_bench import NOW, FakeBench
from tests.tui.fake_recall import hit
from workbench.display.ink import line_width, plain_text
from workbench.engine import FixedClock, Workspace
from workbench.engine.requests import SearchRequest
from workbench.tui.bench import Memory
from workbench.tui.views.hits import HitRows
from workbench.tui.views.memory import known_lines
from workbench.tui.views.scopes import knowers, scope_words
from workbench.tui.views.timeline import TimelineRows
from workbench.tui.workspace_bench import WorkspaceBench


def test_who_may_know_it_in_words() -> None:
    assert scope_words("person:mara") == "for Mara"
    assert scope_words("person:anna-lena") == "for Anna Lena"
    assert scope_words("group:family") == "for group family"
    assert knowers("group:family") == "the group family"
    assert scope_words("shared") == "for everybody"
    assert knowers("person:-") == "-"


@pytest.mark.parametrize("width", [24, 48, 72])
def test_the_card_names_them_with_their_scope(width: int) -> None:
    memory = Memory("entity:a", "semantic", "a.md", 1, 2, "", scope="person:mara")
    lines = known_lines(memory, width)
    assert all(line_width(line) <= width for line in lines)
    text = "\n".join(map(plain_text, lines))
    assert "You, and Mara" in text
    assert "Who may know it" not in "\n".join(
        map(plain_text, known_lines(replace(memory, scope=None), width))
    )
    assert width < 48 or "person:mara" in text


@pytest.mark.parametrize(("width", "is_told"), [(40, False), (72, True), (120, True)])
def test_rows_name_them_where_there_is_room(width: int, is_told: bool) -> None:
    episode = replace(FakeBench.filled().happened[0], scope="group:family")
    rows = TimelineRows(NOW.date())
    rows.extend([episode])
    row = rows.line(1, width)
    assert line_width(row) <= width
    assert ("for group family" in plain_text(row)) == is_told
    found = HitRows([hit(scope="group:family")], "tide", NOW.date())
    lines = [found.line(at, width) for at in (0, 1)]
    assert all(line_width(line) <= width for line in lines)
    assert ("for group family" in plain_text(lines[1])) == is_told


def test_a_real_memory_carries_its_scope_to_the_bench(tmp_path: Path, seen_clock: FixedClock) -> None:
    Workspace.init(tmp_path, clock=seen_clock, timezone="Europe/Lisbon")
    with Workspace.open(tmp_path, role="person", clock=seen_clock) as workspace:
        told = workspace.remember("The picnic is on Sunday.", store="episodic", scope="group:family").id
        assert told is not None
        own = workspace.remember("The present is a kite.", store="episodic").id
        bench = WorkspaceBench(workspace)
        assert {each.id: each.scope for batch in bench.episodes() for each in batch} == {
            told: "group:family",
            own: None,
        }
        assert bench.memory(told).scope == "group:family"
        found = bench.search(SearchRequest("picnic Sunday"))
        assert {each.id: each.scope for each in found.results}[told] == "group:family"
