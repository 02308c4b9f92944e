"""What is left to the reflection comes before the person as an item, and goes with their decision."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine.results.reviews import ReviewItem


def deferred(home: AgentHome, content: str, **options: object) -> tuple[int, ReviewItem]:
    """Propose something, leave it to the reflection, reflect, and return the item that came of it."""
    with home.open("agent:scout") as workspace:
        number = workspace.propose(content, **options).number  # type: ignore[arg-type]  # the options of the test
    with home.open("main") as workspace:
        done = workspace.proposal_defer([number])
        assert done.deferred == (number,)
        review = workspace.reflect().review
    assert review is not None
    (item,) = [item for item in review.items if (item.fields or {}).get("of proposal") == f"#{number}"]
    return number, item


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_a_deferred_proposal_is_decided_with_its_item(settled: AgentHome, decision: str) -> None:
    number, item = deferred(settled, "Robin plays the organ", store="semantic", entities=["person--robin"])
    assert (item.kind, item.target, item.after) == ("fact", "person--robin", "Robin plays the organ")
    assert item.decision == "undecided"
    assert item.evidence[0].quote == "Robin plays the organ"
    with settled.open() as workspace:
        assert [each.status for each in workspace.proposals().proposals] == ["deferred"]
        assert workspace.brief().proposals_waiting == 0
        workspace.review_decide({item.id: decision})
        applied = workspace.review_apply()
        assert workspace.proposals().proposals == ()
        robin = workspace.show("person--robin").text
        rejected = [claim.text for claim in workspace.review_rejected().rejections]
    assert "memory/meta/pending-memories.md" in applied.files
    assert ("plays the organ" in robin) == (decision == "approved")
    assert (rejected == ["Robin plays the organ"]) == (decision == "rejected")
    with settled.open() as workspace:
        workspace.undo(confirmed=True)
        assert [each.number for each in workspace.proposals().proposals] == [number]


def test_while_its_item_is_undecided_the_proposal_stays_and_comes_only_once(settled: AgentHome) -> None:
    number, item = deferred(settled, "Robin plays the organ", store="semantic", entities=["person--robin"])
    with settled.open() as workspace:
        other = next(each.id for each in workspace.review().items if each.id != item.id)
        workspace.review_decide({other: "rejected"})
        workspace.review_apply()
        assert [each.number for each in workspace.proposals().proposals] == [number]
    with settled.open("main") as workspace:
        again = workspace.reflect(renew=True).review
    assert again is not None
    assert sum((each.fields or {}).get("of proposal") == f"#{number}" for each in again.items) == 1


def test_a_way_of_working_becomes_a_procedure_and_what_is_core_worthy_a_core_change(
    settled: AgentHome,
) -> None:
    _, way = deferred(settled, "Water the plants\n1. Fill the can\n2. Water them", store="procedural")
    assert way.kind == "procedure"
    with settled.open() as workspace:
        workspace.review_decide({item.id: "rejected" for item in workspace.review().items})
        workspace.review_apply()
    _, core = deferred(settled, "The office moved to Visby", store="episodic", core_worthy=True)
    assert core.kind == "core change"
