"""Past reflections: what was decided on each, and whether it was taken back."""

from __future__ import annotations

from datetime import timedelta

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import a_proposal
from workbench.engine import layout


def test_a_reflection_is_listed_once_something_of_it_is_written(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        assert workspace.reflections().reflections == ()
        workspace.inbox_write()
        (past,) = workspace.reflections().reflections
        assert past.id == "r-002"
        assert (past.applied, past.declined) == (1, 1)
        assert [item.decision for item in past.items] == ["approved", "rejected", "deferred"]
        assert past.items[0].text == "Prefers the night train"
        assert past.written == settled.clock.now()
        assert past.taken_back is None
        assert len(past.commits) == 1


def test_one_taken_back_says_when_and_by_whom_until_it_stands_again(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        workspace.inbox_write()
        settled.clock.moment += timedelta(days=1)
        workspace.rollback(reflection="r-002")
        (past,) = workspace.reflections().reflections
        assert past.taken_back == settled.clock.now()
        assert past.taken_back_by == "the person"
        assert past.applied == 1
        workspace.undo()
        (past,) = workspace.reflections().reflections
        assert past.taken_back is None


def test_one_whose_items_wait_again_after_undo_says_so(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        workspace.inbox_write()
        workspace.undo(confirmed=True)
        (past,) = workspace.reflections().reflections
        assert past.taken_back is not None
        assert past.waits
        workspace.redo(confirmed=True)
        (past,) = workspace.reflections().reflections
        assert not past.waits


def test_the_newest_comes_first_and_one_without_history_has_no_commits(settled: AgentHome) -> None:
    old = "## r-001 | 2026-01-20T09:00:00Z | approved | items:1/1\n- `r-001.1` approved: fact `person--robin` Sails\n"
    settled.write(layout.REFLECTION_LOG, f"# Reflection log\n\n{old}")
    with settled.open() as workspace:
        a_proposal(workspace)
        workspace.inbox_write()
        newest, oldest = workspace.reflections().reflections
        assert (newest.id, oldest.id) == ("r-002", "r-001")
        assert oldest.commits == ()
        assert oldest.items[0].text == "Sails"


def test_what_was_decided_is_known_without_its_record(settled: AgentHome) -> None:
    with settled.open() as workspace:
        a_proposal(workspace)
        workspace.inbox_write()
        workspace.edit_file(layout.REFLECTION_LOG, "# Reflection log\n")
        (past,) = workspace.reflections().reflections
        assert [item.decision for item in past.items] == ["approved", "rejected", "deferred"]


def test_a_record_in_prose_counts_as_its_heading_says(settled: AgentHome) -> None:
    record = "## r-001 | 2026-01-20T09:00:00Z | partial | items:4/5\nA summary for Harbour, two threads.\n"
    settled.write(layout.REFLECTION_LOG, f"# Reflection log\n\n{record}")
    with settled.open() as workspace:
        (past,) = workspace.reflections().reflections
        assert (past.applied, past.declined, past.items) == (4, 1, ())
        assert past.summary == "A summary for Harbour, two threads."
