"""A flush whose memories were taken back is due again, and saves the same."""

from __future__ import annotations

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.session_talk import MAIN
from workbench.engine import Workspace
from workbench.engine.results.sessions import Flushed

FERRY, POSTGRES = "the ferry is called Visborg", "migrate the archive to Postgres"


def saved(flushed: Flushed) -> list[str]:
    return [one.text for one in flushed.saved if not one.known]


def make_due(workspace: Workspace) -> None:
    workspace.session_append(MAIN, "Go on", total_tokens=21_000, context_tokens=32_768)


def test_a_flush_that_was_undone_is_due_again_and_saves_the_same(talked: AgentHome) -> None:
    with talked.open() as workspace:
        make_due(workspace)
        first = workspace.session_flush(MAIN)
        ferry, postgres = saved(first)
        assert (FERRY in ferry, POSTGRES in postgres) == (True, True)
        done = workspace.session_flush_check(MAIN)
        assert not done.due
        workspace.undo(confirmed=True)
        assert workspace.session_flush_check(MAIN).due
        workspace.redo(confirmed=True)
        assert workspace.session_flush_check(MAIN) == done
        workspace.undo(confirmed=True)
        again = workspace.session_flush(MAIN)
        assert saved(again) == [ferry, postgres]
        assert [one.citation for one in again.saved] == [one.citation for one in first.saved]
        assert not workspace.session_flush_check(MAIN).due
        assert workspace.session_flush(MAIN, now=True).saved == ()


def test_a_flush_is_one_action_whatever_it_saves(talked: AgentHome) -> None:
    with talked.open() as workspace:
        before = talked.tracked()
        workspace.session_flush(MAIN, now=True)
        entries = workspace.audit_log(actions=1).entries
        assert (len({entry.commit for entry in entries}), len({entry.group for entry in entries})) == (2, 1)
        workspace.undo(confirmed=True)
        assert talked.tracked() == before


def test_one_that_was_taken_back_in_part_saves_that_part(talked: AgentHome) -> None:
    with talked.open() as workspace:
        make_due(workspace)
        flushed = workspace.session_flush(MAIN)
        _, postgres = saved(flushed)
        workspace.revert(str(flushed.commit))
        assert saved(workspace.session_flush(MAIN)) == [postgres]


def test_what_a_later_flush_saved_is_not_looked_at_again(talked: AgentHome) -> None:
    with talked.open() as workspace:
        first = workspace.session_flush(MAIN, now=True)
        workspace.session_append(MAIN, "I prefer tea to coffee.")
        (tea,) = workspace.session_flush(MAIN, now=True).saved
        workspace.forget(ids=[tea.id], apply=True, hard=True)
        workspace.revert(str(first.commit))
        assert saved(workspace.session_flush(MAIN, now=True)) == [first.saved[1].text]
        # That flush made up for the first one: with it the same is due again.
        workspace.undo(confirmed=True)
        assert saved(workspace.session_flush(MAIN, now=True)) == [first.saved[1].text]


def test_a_session_that_started_over_since_is_left_alone(talked: AgentHome) -> None:
    with talked.open() as workspace:
        workspace.session_flush(MAIN, now=True)
        workspace.session_reset(MAIN, save=False)
        workspace.undo(confirmed=True)
        workspace.session_append(MAIN, "Hello again")
        assert workspace.session_flush(MAIN, now=True).saved == ()
