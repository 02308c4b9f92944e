"""A fact that no longer holds is said to be so at every door, whatever made an end of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.display.card import memory_card
from workbench.display.found import hit_row
from workbench.display.graph import graph_lines
from workbench.display.ink import plain_text
from workbench.display.memories import found_lines, shown_lines
from workbench.display.text import Page
from workbench.engine import Workspace
from workbench.engine.results import to_json
from workbench.mcp.reading_tools import GRAPH, SEARCH
from workbench.mcp.tool import Call, Tool, read_arguments

ROBIN = "memory/graph/entities/person--robin.md"
TEA = "- Drinks tea in the morning (since 2026-01-20, from episode:2026-02-01:09:15) ^tea1\n"
SAID = "Drinks tea in the morning"
JUICE = "- Drinks juice in the morning (since 2026-01-20) ^jui1\n"
QUESTION = "what does Robin drink in the morning"
FACT = "entity:person--robin#^tea1"
TODAY = date(2026, 2, 2)


def rewritten(home: AgentHome, line: str, under: str = "Facts") -> None:
    """Let somebody write the fact about tea otherwise, under some heading."""
    text = home.text(ROBIN).replace(TEA, "")
    heading = f"## {under}\n"
    text = text.replace(heading, heading + line) if heading in text else f"{text}\n{heading}{line}"
    home.write(ROBIN, text)


def retired(home: AgentHome) -> None:
    with home.open() as workspace:
        workspace.graph_retire(FACT)


def replaced(home: AgentHome) -> None:
    with home.open() as workspace:
        new = workspace.graph_add_fact("Robin", "Drinks coffee in the morning").ids[0]
        workspace.graph_retire(FACT, by=new)


def merged(home: AgentHome) -> None:
    retired(home)
    with home.open() as workspace:
        workspace.graph_add("person", "Bobby")
        workspace.graph_merge("person--bobby", "person--robin")


# What makes an end of a fact.
ENDS: dict[str, Callable[[AgentHome], None]] = {
    "retired": retired,
    "replaced": replaced,
    "merged afterwards": merged,
    "moved by hand": lambda home: rewritten(home, f"- {SAID} ^tea1\n", "Superseded"),
    "moved by hand, without an id": lambda home: rewritten(home, f"- {SAID}\n", "Superseded"),
    "its day has passed": lambda home: rewritten(home, f"- {SAID} (until 2026-02-01) ^tea1\n"),
    "its month has passed": lambda home: rewritten(home, f"- {SAID} (2025-12 to 2026-01) ^tea1\n"),
    "its day has passed, without an id": lambda home: rewritten(home, f"- {SAID} (until 2026-02-01)\n"),
}


def asked(workspace: Workspace, tool: Tool, **given: object) -> str:
    return json.dumps(tool.answer(Call(workspace, read_arguments(tool, given))), ensure_ascii=False)


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_a_fact_that_no_longer_holds_is_nowhere_shown_as_current(
    end: Callable[[AgentHome], None], settled: AgentHome
) -> None:
    settled.write(ROBIN, settled.text(ROBIN).replace(TEA, TEA + JUICE))
    end(settled)
    with settled.open() as workspace:
        found = workspace.search(QUESTION, max_results=20, min_score=0)
        hits = [hit for hit in found.results if SAID in hit.snippet]
        assert hits, "what no longer holds can still be found"
        assert all(hit.retired for hit in hits)
        juice = next(at for at, hit in enumerate(found.results) if "juice" in hit.snippet)
        assert juice < found.results.index(hits[0])
        texts = "\n".join(found_lines(Page(), found, query=QUESTION))
        assert texts.count("No longer holds") == sum(hit.retired for hit in found.results)
        shapes = [each for each in to_json(found)["results"] if SAID in each["snippet"]]
        assert all(each["retired"] for each in shapes)
        told = json.loads(asked(workspace, SEARCH, query=QUESTION, min_score=0))["results"]
        assert all(each["retired"] for each in told if SAID in each["snippet"])
        for hit in hits:
            row = plain_text(hit_row(hit, QUESTION, TODAY, 100))
            assert any(word in row for word in ("no longer holds", "outdated"))

        view = workspace.graph("Robin")
        (fact,) = (each for each in view.facts if each.text == SAID)
        assert fact.retired
        drawn = "\n".join(graph_lines(Page(), view))
        assert f": {SAID}" in drawn
        (shape,) = (each for each in to_json(view)["facts"] if each["text"] == SAID)
        assert shape["retired"]
        answer = json.loads(asked(workspace, GRAPH, entity="Robin"))
        assert next(each for each in answer["facts"] if each["text"] == SAID)["retired"]
        assert not [
            each for each in (*answer["facts"], *to_json(view)["facts"])
            if "juice" in each["text"] and each.get("retired")
        ]  # fmt: skip

        if "#^" in fact.id:
            shown = workspace.show(fact.id)
            assert shown.retired
            assert "no longer holds" in "\n".join(shown_lines(Page(), shown))
            assert to_json(shown)["retired"]
            card = memory_card(shown, workspace.why(fact.id), None, {}, workspace.now())
            assert "no longer holds" in plain_text(card.kind)
        assert SAID not in workspace.brief().core
        (line,) = (each for each in map(json.loads, workspace.export_lines()) if each.get("text") == SAID)
        assert line["retired"]


def test_a_fact_holds_until_its_last_day_is_over(settled: AgentHome) -> None:
    rewritten(settled, f"- {SAID} (until 2026-02-03) ^tea1\n{JUICE}")
    for held in (True, True, False):
        with settled.open() as workspace:
            (hit,) = (
                each for each in workspace.search(QUESTION, min_score=0).results if SAID in each.snippet
            )
            (fact,) = (each for each in workspace.graph("Robin").facts if each.text == SAID)
            assert {not hit.retired, not fact.retired, not workspace.show(FACT).retired} == {held}
            assert hit.until == "2026-02-03"
        settled.clock.advance(days=1)


def test_a_fact_that_was_forgotten_is_not_found(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.forget(ids=[FACT], apply=True)
        assert not [hit for hit in workspace.search(QUESTION, min_score=0).results if SAID in hit.snippet]
        assert workspace.show(FACT).retired


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS.keys())
def test_what_ended_is_forgotten_with_its_entity(
    end: Callable[[AgentHome], None], settled: AgentHome
) -> None:
    end(settled)
    with settled.open() as workspace:
        workspace.forget(ids=[workspace.graph("Robin").center or ""], apply=True)
        found = workspace.search(QUESTION, min_score=0, include_dormant=True).results
        assert not [hit for hit in found if SAID in hit.snippet]


def test_what_was_over_can_hold_again(settled: AgentHome) -> None:
    rewritten(settled, f"- {SAID} (until 2026-02-01) ^tea1\n")
    with settled.open() as workspace:
        added = workspace.graph_add_fact("Robin", SAID)
        assert added.commit
        assert {fact.id: fact.retired for fact in workspace.graph("Robin").facts if fact.text == SAID} == {
            FACT: True, added.ids[0]: False,
        }  # fmt: skip


def test_what_holds_is_kept_though_it_says_the_same_as_what_was_retired(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.graph_retire(FACT)
        again = workspace.graph_add_fact("Robin", SAID).ids[0]
        found = workspace.search(SAID, max_results=20, min_score=0).results
        assert SAID in found[0].snippet
        assert not found[0].retired
        assert again
