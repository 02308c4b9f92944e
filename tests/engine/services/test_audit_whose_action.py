"""Undo takes back one's own at once, asks before it takes back another's, and refuses an agent anything else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE, FACT
from workbench.display.card import history_lines
from workbench.display.ink import plain_text
from workbench.engine import Workspace, layout
from workbench.engine.errors import (
    ConfirmationNeeded,
    InvalidInput,
    NotFound,
    Refused,
    RoleRefused,
    Stale,
    WorkbenchError,
)
from workbench.engine.results.memories import Changed

NOTE = "memory/notes/tram.md"
PROPOSAL = (
    "<!-- reflection: r-001 | created: 2026-01-20 -->\n## A\n"
    "- [x] `r-001.1` fact for [[person--robin]]: Walks to work\n"
    "- [ ] `r-001.2` fact for [[person--robin]]: Owns a bicycle\n"
)


@pytest.fixture
def waiting(settled: AgentHome) -> AgentHome:
    """A home where a reflection waits, half decided."""
    settled.write(layout.PENDING_REFLECTION, PROPOSAL)
    with settled.open() as workspace:
        workspace.adopt()
    return settled


def by_person(home: AgentHome) -> None:
    with home.open() as workspace:
        workspace.core_add("Persona", "Be kind")


def by_another_actor(home: AgentHome) -> None:
    with home.open() as workspace:
        workspace.remember("The tram stops at the pier", store="episodic", actor="skill:tram")


def by_main(home: AgentHome) -> None:
    with home.open("main") as workspace:
        workspace.remember("The tram stops at the pier", store="episodic")


def by_agent(home: AgentHome) -> None:
    with home.open("agent:scout") as workspace:
        workspace.propose("The tram stops at the pier")


def by_reflection(home: AgentHome) -> None:
    with home.open() as workspace:
        assert workspace.review_apply().applied == ("r-001.1",)


def from_outside(home: AgentHome) -> None:
    home.write(NOTE, "The tram stops at the pier.\n")


OTHERS = (by_another_actor, by_main, by_agent, by_reflection)
NOT_MAINS = (by_person, by_another_actor, by_agent, by_reflection, from_outside)


@pytest.mark.parametrize("act", [by_person, from_outside])
def test_a_persons_own_action_is_undone_at_once(waiting: AgentHome, act: Callable[[AgentHome], None]) -> None:
    before = waiting.tracked()
    act(waiting)
    with waiting.open() as workspace:
        assert workspace.undo().commit
        assert waiting.tracked() == before
        assert workspace.redo().commit
        assert waiting.tracked() != before


def test_what_a_person_remembers_at_the_command_line_is_their_own(waiting: AgentHome) -> None:
    with waiting.open() as workspace:
        workspace.remember("The tram stops at the pier", store="episodic")
    with waiting.open() as workspace:
        assert workspace.next_steps().undo == workspace.next_steps().own
        assert workspace.undo().commit


def test_what_undo_would_take_is_read_once_for_a_newest_commit(
    waiting: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with waiting.open() as workspace:
        workspace.remember("The tram stops at the pier", store="episodic")
        steps = workspace.next_steps()
        with monkeypatch.context() as patch:
            patch.setattr("workbench.engine.services.audit.next_undo", lambda *_: pytest.fail("read twice"))
            assert workspace.next_steps() == steps
        workspace.remember("The ferry leaves at six", store="episodic")
        assert workspace.next_steps().undo != steps.undo


@pytest.mark.parametrize("act", OTHERS)
def test_anothers_action_is_not_undone_unasked(waiting: AgentHome, act: Callable[[AgentHome], None]) -> None:
    before = waiting.tracked()
    act(waiting)
    after, commits = waiting.tracked(), waiting.commits()
    with waiting.open() as workspace:
        with pytest.raises(ConfirmationNeeded, match="not yours") as caught:
            workspace.undo()
        newest = workspace.next_steps().undo
        assert newest is not None
        assert not newest.own
        assert newest.summary in caught.value.message
        assert newest.by in caught.value.message
        assert (waiting.tracked(), waiting.commits()) == (after, commits)
        assert workspace.undo(confirmed=True).commit
        assert waiting.tracked() == before
        with pytest.raises(ConfirmationNeeded):
            workspace.redo()
        assert workspace.redo(confirmed=True).commit
        assert waiting.tracked() == after


@pytest.mark.parametrize("act", OTHERS)
def test_ones_own_newest_is_undone_past_anothers(
    waiting: AgentHome, act: Callable[[AgentHome], None]
) -> None:
    by_person(waiting)
    act(waiting)
    with waiting.open() as workspace:
        assert workspace.undo(mine=True).files == ("MEMORY.md",)
        assert "Be kind" not in waiting.text("MEMORY.md")
        with pytest.raises(ConfirmationNeeded):
            workspace.undo()
        assert workspace.redo().files == ("MEMORY.md",)


def _brought_back(workspace: Workspace, refusal: WorkbenchError) -> Changed:
    """Do what a refusal to redo says instead."""
    assert refusal.remedy
    _, _, commit = refusal.remedy.rpartition("workbench revert ")
    return workspace.revert(commit)


def test_what_one_undid_is_brought_back_after_something_newer(waiting: AgentHome) -> None:
    by_person(waiting)
    with waiting.open() as workspace:
        before = waiting.text(layout.CORE)
        workspace.undo()
        by_main(waiting)
        with pytest.raises(NotFound, match="something else was done since the last undo") as told:
            workspace.redo()
        assert _brought_back(workspace, told.value).files == (layout.CORE,)
        assert waiting.text(layout.CORE) == before
        with pytest.raises(NotFound) as told:
            workspace.redo()
        assert "revert" not in str(told.value)


def test_what_one_undid_is_brought_back_past_what_another_undid(waiting: AgentHome) -> None:
    by_person(waiting)
    with waiting.open() as workspace:
        before = waiting.text(layout.CORE)
        workspace.undo()
        by_main(waiting)
        with waiting.open("main") as main:
            main.undo()
        with pytest.raises(ConfirmationNeeded, match="not yours") as told:
            workspace.redo()
        assert "The tram stops at the pier" not in str(waiting.tracked())
        assert _brought_back(workspace, told.value).files == (layout.CORE,)
        assert waiting.text(layout.CORE) == before


def test_ones_own_newest_is_not_undone_below_what_rests_on_it(waiting: AgentHome) -> None:
    with waiting.open() as workspace:
        workspace.edit(FACT, "Drinks coffee in the morning")
    with waiting.open("main") as workspace:
        later = workspace.edit(FACT, "Drinks cocoa in the morning").commit
        workspace.remember("The tram stops at the pier", store="episodic")
    assert later
    commits = waiting.commits()
    with waiting.open() as workspace, pytest.raises(Stale, match="A later action rests on it") as caught:
        workspace.undo(mine=True)
    assert later[:7] in str(caught.value)
    assert "the main agent" in str(caught.value)
    assert waiting.commits() == commits


@pytest.mark.parametrize("dry_run", [False, True])
def test_every_way_to_take_back_names_what_rests_on_it(waiting: AgentHome, dry_run: bool) -> None:
    with waiting.open() as workspace:
        applied = workspace.review_apply().commit
        assert applied
        facts = workspace.graph("entity:person--robin").facts
        fact = next(each.id for each in facts if "Walks" in each.text)
    with waiting.open("main") as workspace:
        later = workspace.edit(fact, "Cycles to work").commit
        workspace.remember("The tram stops at the pier", store="episodic")
    assert later
    before, commits = waiting.tracked(), waiting.commits()
    ways: list[Callable[[Workspace], object]] = [
        lambda it: it.revert(applied, dry_run=dry_run),
        lambda it: it.revert("r-001.1", dry_run=dry_run),
        lambda it: it.revert(applied, whole=True, dry_run=dry_run),
        lambda it: it.rollback(reflection="r-001", dry_run=dry_run),
    ]
    for way in ways:
        with waiting.open() as workspace, pytest.raises(Stale, match="A later action rests on it") as caught:
            way(workspace)
        told = str(caught.value)
        assert f"workbench revert {later[:7]}" in told
        assert "the main agent" in told
        assert "“Walks to work" in told
        assert "^" not in told
        assert "<!--" not in told
    assert (waiting.tracked(), waiting.commits()) == (before, commits)


def test_trying_to_take_back_says_what_would_change_and_changes_nothing(waiting: AgentHome) -> None:
    with waiting.open() as workspace:
        applied = workspace.review_apply().commit
        assert applied
        before, commits = waiting.tracked(), waiting.commits()
        for would in (
            workspace.revert(applied, dry_run=True),
            workspace.revert(applied, whole=True, dry_run=True),
            workspace.rollback(reflection="r-001", dry_run=True),
        ):
            assert would.commit is None
            assert any("person--robin" in path for path in would.files)
        assert (waiting.tracked(), waiting.commits()) == (before, commits)


def test_what_was_shown_is_what_is_undone(waiting: AgentHome) -> None:
    by_main(waiting)
    with waiting.open() as workspace:
        shown = workspace.next_steps().undo
        assert shown is not None
        by_agent(waiting)
        with pytest.raises(Stale, match="Another action is the newest"):
            workspace.undo(confirmed=True, expected=shown.commit)


def ways_back(workspace: Workspace, commit: str, before: str) -> list[Callable[[], Changed]]:
    files = workspace.audit_show(commit).files
    memories = [EPISODE, FACT, "core:persona:be-kind", "file:" + NOTE]
    return [
        workspace.undo,
        lambda: workspace.undo(confirmed=True),
        lambda: workspace.revert(commit),
        lambda: workspace.revert("r-001.1"),
        lambda: workspace.rollback(reflection="r-001"),
        lambda: workspace.rollback(to=before),
        *[lambda path=path: workspace.rollback(file=f"{path}@{before}") for path in files],
        *[lambda one=one: workspace.rollback(memory=f"{one}@{before}") for one in memories],
    ]


@pytest.mark.parametrize("act", NOT_MAINS)
def test_main_takes_back_nothing_of_others(waiting: AgentHome, act: Callable[[AgentHome], None]) -> None:
    before = waiting.commits()[0]
    act(waiting)
    with waiting.open() as workspace:
        workspace.adopt()
    after = waiting.tracked()
    newest = waiting.commits()[0]
    refusals: list[WorkbenchError] = []
    with waiting.open("main") as workspace:
        for way in ways_back(workspace, newest, before):
            try:
                assert way().commit is None
            except WorkbenchError as error:
                refusals.append(error)
            assert waiting.tracked() == after
        with pytest.raises(NotFound):
            workspace.undo(mine=True)
        with pytest.raises(RoleRefused):
            workspace.undo()
        with pytest.raises(RoleRefused):
            workspace.revert(newest)
    assert {type(each) for each in refusals} <= {RoleRefused, NotFound, Stale, InvalidInput}
    assert len([each for each in refusals if isinstance(each, RoleRefused)]) >= 4


def test_main_neither_redoes_nor_reverts_what_a_person_took_back(waiting: AgentHome) -> None:
    by_main(waiting)
    with waiting.open() as workspace:
        undone = workspace.undo(confirmed=True).commit
    assert undone
    after = waiting.tracked()
    with waiting.open("main") as workspace:
        with pytest.raises(RoleRefused):
            workspace.redo()
        with pytest.raises(RoleRefused):
            workspace.revert(undone)
    assert waiting.tracked() == after


def test_main_takes_back_its_own_in_every_way(waiting: AgentHome) -> None:
    before, tracked = waiting.commits()[0], waiting.tracked()
    by_main(waiting)
    with waiting.open("main") as workspace:
        ways: tuple[Callable[[], object], ...] = (
            workspace.undo,
            lambda: workspace.revert(waiting.commits()[0]),
            lambda: workspace.rollback(to=before),
        )
        for way in ways:
            way()
            assert waiting.tracked() == tracked
            newest = waiting.commits()[0]
            assert workspace.revert(newest).commit
            assert waiting.tracked() != tracked


def test_a_reflection_applied_in_two_goes_is_undone_by_one_undo(waiting: AgentHome) -> None:
    with waiting.open() as workspace:
        before = waiting.tracked()
        assert workspace.review_apply().applied == ("r-001.1",)
        workspace.core_add("Persona", "Be kind")
        workspace.review_decide({"r-001.2": "approved"})
        assert workspace.review_apply().applied == ("r-001.2",)
        assert len(workspace.undo(confirmed=True).ids) == 2
        robin = "memory/graph/entities/person--robin.md"
        assert waiting.tracked()[robin] == before[robin]
        assert "Be kind" in waiting.text("MEMORY.md")


@pytest.mark.parametrize("act", OTHERS)
def test_what_others_did_since_a_purge_is_taken_back_and_undo_ends_there(
    waiting: AgentHome, act: Callable[[AgentHome], None]
) -> None:
    by_person(waiting)
    with waiting.open() as workspace:
        workspace.forget(ids=[FACT], apply=True, purge_history=True)
    act(waiting)
    with waiting.open() as workspace:
        steps = workspace.next_steps()
        assert steps.undo is not None
        assert steps.own is None
        assert workspace.undo(confirmed=True, expected=steps.undo.commit).commit
        with pytest.raises(Refused, match="purged"):
            workspace.undo(confirmed=True)
        with pytest.raises(Refused, match="purged"):
            workspace.undo(mine=True)


def test_what_a_person_did_by_a_command_is_told_of_as_theirs_on_the_card(settled: AgentHome) -> None:
    with settled.open() as workspace:
        stored = workspace.remember("The tram stops at the pier", store="episodic")
        shown = workspace.show(stored.id)
        newest = plain_text(history_lines(shown, workspace.now())[0])
    assert shown.history[0].actor == "bot:trigger-remember"
    assert newest.endswith("· you")
