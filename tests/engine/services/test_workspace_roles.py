"""What each role may do, method by method, and that a refusal comes before anything is written."""

from __future__ import annotations

from functools import partial

import pytest

from tests.engine.services.agent_home import AgentHome, failure, listing
from tests.engine.services.callings import (
    EVERY,
    MAY,
    ON_UNKNOWN,
    UNKNOWN,
    WITHOUT_TARGET,
    Calling,
    public_methods,
)
from workbench.engine import Workspace
from workbench.engine.errors import InvalidInput, NotFound, RoleRefused

REFUSED_ACTORS = (
    "manual", "manual:x", "person", "user", "reflection", "reflection:weekly", "system:decay", "subagent:scout", "bot",
)  # fmt: skip


def test_no_public_method_is_forgotten_here() -> None:
    assert {calling.method for calling in EVERY} == public_methods()


@pytest.mark.parametrize("calling", EVERY, ids=lambda calling: calling.name)
def test_roles_may_do_what_they_may_and_nothing_else(settled: AgentHome, calling: Calling) -> None:
    # Of those who may, the one who may least.
    least = [role for role, may in MAY.items() if calling.needs in may][-1]
    if calling.prepare:
        with settled.open(least if calling.is_own else "person") as workspace:
            calling.prepare(workspace)
    refused = [role for role, may in MAY.items() if calling.needs not in may]
    before = listing(settled.root, locks=False)
    for role in refused:
        with settled.open(role) as workspace:
            error = failure(partial(calling.call, workspace))
        assert isinstance(error, RoleRefused), (role, error)
        assert listing(settled.root, locks=False) == before, role
    with settled.open(least) as workspace:
        calling.call(workspace)


@pytest.mark.parametrize("role", ["agent:scout", "reader"])
def test_a_refused_role_makes_no_history(furnished: AgentHome, role: str) -> None:
    before = listing(furnished.root)
    with furnished.open(role) as workspace:
        for calling in EVERY:
            if calling.needs not in MAY[role]:
                error = failure(partial(calling.call, workspace))
                assert isinstance(error, RoleRefused), (calling.name, error)
    assert listing(furnished.root) == before


def test_no_method_that_changes_something_is_forgotten_among_those_on_unknown_targets() -> None:
    called = {name.partition("-")[0] for name in ON_UNKNOWN}
    assert {calling.method for calling in EVERY if calling.needs != "read"} == called | WITHOUT_TARGET


@pytest.mark.parametrize("role", ["main", "agent:scout", "reader"])
def test_a_role_is_asked_before_what_is_to_be_changed_is_looked_for(home: AgentHome, role: str) -> None:
    home.init()
    before = listing(home.root, locks=False)
    least = {calling.method: calling.needs for calling in reversed(EVERY)}
    others: list[tuple[str, str, object]] = []
    with home.open(role) as workspace:
        for method, call in ON_UNKNOWN.items():
            if least[method.partition("-")[0]] in MAY[role]:
                continue
            for it in UNKNOWN:
                error = failure(partial(call, workspace, it))
                if not isinstance(error, RoleRefused):
                    others.append((method, it, error))
    assert not others
    assert listing(home.root, locks=False) == before


def test_a_refused_role_is_told_what_to_do_instead(settled: AgentHome) -> None:
    with settled.open("agent:scout") as workspace, pytest.raises(RoleRefused) as caught:
        workspace.remember("A thing")
    assert str(caught.value) == (
        "agent:scout: The agent scout may not write memory. "
        "Propose it instead; the main agent or the person decides."
    )


@pytest.mark.parametrize("role", ["", "root", "Person", "agent:", "agent:../x", "agent:a b", "person:x"])
def test_what_is_no_role_opens_nothing(furnished: AgentHome, role: str) -> None:
    with pytest.raises(InvalidInput), furnished.open(role):
        pass


@pytest.mark.parametrize("actor", REFUSED_ACTORS)
def test_an_agent_cannot_speak_for_a_person_or_the_system(settled: AgentHome, actor: str) -> None:
    before, commits = listing(settled.root, locks=False), settled.commits()
    with settled.open("main") as workspace, pytest.raises(RoleRefused):
        workspace.remember("I was never told", actor=actor)
    with settled.open("main", actor=actor) as workspace:
        for calling in EVERY:
            own = ("adopt", "settle", "upkeep", "audit_prune", "sync")
            if calling.needs == "write" and calling.method not in own:
                error = failure(partial(calling.call, workspace))
                assert isinstance(error, RoleRefused | NotFound), (calling.name, error)
    assert settled.commits() == commits
    assert listing(settled.root, locks=False) == before


@pytest.mark.parametrize(
    "actor", ["", " ", "Bot", "bot main", "bot:\n", "manual\n", "bot:a|b", "x" * 500 + ":"]
)
def test_what_is_no_actor_is_refused(settled: AgentHome, actor: str) -> None:
    commits = settled.commits()
    with settled.open("person") as workspace:
        if actor:
            with pytest.raises(InvalidInput):
                workspace.remember("A thing", actor=actor)
        else:
            workspace.remember("A thing", actor=actor)
            assert settled.commit_of(workspace.head()).actor == "bot:trigger-remember"
            return
    assert settled.commits() == commits


def test_the_actor_of_the_door_is_on_its_changes(settled: AgentHome) -> None:
    with settled.open("main", actor="skill:diary") as workspace:
        kept = workspace.remember("The tram was late")
        pinned = workspace.pin(kept.id)
    assert settled.commit_of(kept.commit).actor == "skill:diary"
    assert settled.commit_of(pinned.commit).actor == "skill:diary"
    assert settled.commit_of(pinned.commit).approval == "auto"


def test_the_usual_actors(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        asked = workspace.remember("The tram was late").commit
        noticed = workspace.remember("The tram was red", source="conversation").commit
        forgot = workspace.forget("tram was red", apply=True).commit
        edited = workspace.core_add("Persona", "Be kind").commit
    with settled.open("person") as workspace:
        own = workspace.core_add("Persona", "Be patient").commit
    told = [settled.commit_of(commit) for commit in (asked, noticed, forgot, edited, own)]
    assert [(each.actor, each.approval) for each in told] == [
        ("bot:trigger-remember", "auto"),
        ("bot:auto-detect", "auto"),
        ("bot:trigger-forget", "auto"),
        ("bot:main", "auto"),
        ("manual", "—"),
    ]


def test_the_main_agent_takes_back_its_own_changes_but_none_of_critical_files(settled: AgentHome) -> None:
    settled.clock.advance(days=1)
    with settled.open("person") as workspace:
        workspace.edit_file("SOUL.md", "# Soul\n\nLoud.\n")
    with settled.open("main") as workspace:
        before = settled.tracked()
        with pytest.raises(RoleRefused):
            workspace.undo()
        with pytest.raises(RoleRefused):
            workspace.rollback(to="2026-02-02")
        assert settled.tracked() == before
        workspace.core_add("Persona", "Be kind")
        assert workspace.undo().commit
        assert settled.tracked() == before


def test_a_main_agent_neither_deletes_nor_purges_nor_acknowledges(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        workspace.edit_file("SOUL.md", "# Soul\n\nLoud.\n")
        (alert,) = workspace.audit_alerts().alerts
    with settled.open("main") as workspace:
        for call in (
            lambda: workspace.forget("ferry", apply=True, hard=True),
            lambda: workspace.forget("ferry", hard=True),
            lambda: workspace.forget("ferry", purge_history=True),
            lambda: workspace.acknowledge(alert.id),
            lambda: workspace.edit_file("IDENTITY.md", "- **Name:** Mallory\n"),
            lambda: workspace.edit("file:SOUL.md", "Mallory"),
        ):
            with pytest.raises(RoleRefused):
                call()


def test_a_role_cannot_be_changed_after_opening(settled: AgentHome) -> None:
    with settled.open("reader") as workspace:
        assert workspace.role == "reader"
        with pytest.raises(AttributeError):
            workspace.role = "person"  # type: ignore[misc]  # that it cannot be set is what is tested


def test_the_class_makes_doors_and_nothing_else(settled: AgentHome) -> None:
    makers = {name for name in ("open", "init", "find") if callable(getattr(Workspace, name))}
    assert makers == {"open", "init", "find"}
