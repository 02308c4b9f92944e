"""What a person corrects: the statement it rested on is outdated from then on, and stands behind."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.test_reflections import answered, fact, task_of
from workbench.engine import Workspace
from workbench.engine.results.recall import Hit

ROBIN = "memory/graph/entities/person--robin.md"
FERRY = "episode:2026-02-01:18:40"


def found(workspace: Workspace, question: str) -> tuple[Hit, ...]:
    return workspace.search(question).results


def approved(home: AgentHome, text: str) -> str:
    """Have a fact proposed that rests on an episode, and approve it in other words; return its id."""
    with home.open("main") as workspace:
        task = task_of(workspace.reflect_hand_out())
        answered(workspace, task, fact(task))
    with home.open() as workspace:
        (item,) = (each for each in workspace.review().items if each.kind == "fact")
        workspace.review_edit(item.id, text=text, decision="approved")
        return workspace.review_apply().ids[0]


def test_what_is_corrected_while_it_is_approved_holds_instead_of_what_was_said(settled: AgentHome) -> None:
    corrected = approved(settled, "Robin booked the ferry to Öland")
    with settled.open() as workspace:
        first, *others = found(workspace, "Which ferry did Robin book?")
        assert "Öland" in first.snippet
        (said,) = (hit for hit in others if hit.id == FERRY)
        assert (said.outdated_by, said.outdated_since, said.approved_as) == (corrected, "2026-02-02", None)
    lines = settled.text(ROBIN).splitlines()
    block = corrected.rpartition("^")[2]
    assert (
        f"- Robin booked the ferry to Öland (since 2026-02-02, from source:reflection:r-001) ^{block}"
        in lines
    )
    (past,) = (line for line in lines if "Gotland" in line and f"superseded by ^{block}" in line)
    assert f"from {FERRY}" in past


def test_what_is_only_worded_otherwise_still_rests_on_what_was_said(settled: AgentHome) -> None:
    reworded = approved(settled, "Robin has booked a ferry to Gotland")
    with settled.open() as workspace:
        (said,) = (hit for hit in found(workspace, "Which ferry did Robin book?") if hit.id == FERRY)
        assert (said.outdated_by, said.approved_as) == (None, reworded)
    assert "## Superseded" not in settled.text(ROBIN)


def test_a_fact_that_is_edited_supersedes_what_its_source_says_until_it_is_taken_back(
    home: AgentHome,
) -> None:
    home.write("memory/episodes/2026-02-01.md", "## 09:15 | fact\nRobin drinks tea in the morning.\n")
    fact = "- Drinks tea in the morning (since 2026-01-20, from episode:2026-02-01:09:15) ^tea1"
    before = f"# Robin\n\n## Facts\n{fact}\n"
    home.write(ROBIN, before)
    home.init()
    with home.open() as workspace:
        assert workspace.edit("entity:person--robin#^tea1", "Drinks coffee in the morning").ids == (
            "entity:person--robin#^tea1",
        )
        first, *others = found(workspace, "What does Robin drink in the morning?")
        assert "Drinks coffee in the morning" in first.snippet
        (said,) = (hit for hit in others if hit.id == "episode:2026-02-01:09:15")
        assert said.outdated_by == "entity:person--robin#^tea1"
        workspace.edit("entity:person--robin#^tea1", "Drinks tea in the morning")
        (said,) = (
            hit for hit in found(workspace, "What does Robin drink in the morning?") if hit.id == said.id
        )
        assert said.outdated_by is None
        workspace.undo()
        workspace.undo()
    assert home.text(ROBIN) == before


@pytest.mark.parametrize("again", [False, True])
def test_core_memory_holds_instead_of_what_was_said_before_it_was_corrected(
    settled: AgentHome, again: bool
) -> None:
    with settled.open() as workspace:
        workspace.remember("The harbour fee is 80 euros a month", store="episodic")
        (item,) = workspace.core_add("Critical Facts", "The harbour fee is 80 euros a month").ids
        settled.clock.advance(days=1)
        (corrected,) = workspace.edit(item, "The harbour fee is 95 euros a month").ids
        if again:
            settled.clock.advance(days=1)
            later = workspace.remember("The harbour fee is 99 euros a month", store="episodic").id
        hits = {hit.id: hit for hit in found(workspace, "How much is the harbour fee?")}
        old = next(hit for hit in hits.values() if "80 euros" in hit.snippet)
        assert (old.outdated_by, old.outdated_since) == (corrected, "2026-02-03")
        order = list(hits)
        assert order.index(corrected) < order.index(old.id)
        if again:
            assert hits[later].outdated_by is None
