"""One memory, or everything, as a commit held it: in its place, in one commit, taken back by undo."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.errors import InvalidInput, NotFound, RoleRefused

DAY = "memory/episodes/2026-02-01.md"
ROBIN_FILE = "memory/graph/entities/person--robin.md"
EPISODE, LATER = "episode:2026-02-01:09:15", "episode:2026-02-01:18:40"
ROBIN, HARBOUR = "entity:person--robin", "entity:project--harbour"
FACT, RELATION = f"{ROBIN}#^tea1", f"{ROBIN}#^dev1"
ITEM = "core:critical-facts:the-production-database-is-called"
PINNED = "core:critical-facts:robin-is-allergic-to-penicillin"
PROCEDURE, NOTE = "procedure:how-to-release", "vault:promise.md"

Change = Callable[[AgentHome, Workspace], object]


def rewrite(path: str, old: str, new: str) -> Change:
    def change(home: AgentHome, workspace: Workspace) -> object:
        text = home.text(path)
        assert old in text
        return workspace.edit_file(path, text.replace(old, new))

    return change


def delete(*ids: str) -> Change:
    return lambda _, workspace: workspace.forget(ids=ids, apply=True, hard=True)


def forget(*ids: str) -> Change:
    return lambda _, workspace: workspace.forget(ids=ids, apply=True)


def erase_file(path: str) -> Change:
    def change(home: AgentHome, workspace: Workspace) -> object:
        (home.root / path).unlink()
        return workspace.adopt()

    return change


CHANGES = {
    "an episode was changed": (EPISODE, rewrite(DAY, "midnight", "noon")),
    "an episode was deleted": (EPISODE, delete(EPISODE)),
    "the last episode was deleted": (LATER, delete(LATER)),
    "a day was deleted": (EPISODE, erase_file(DAY)),
    "an item was changed": (
        ITEM,
        lambda _, w: w.core_replace(ITEM, "The production database is called pier"),
    ),
    "an item was renamed": (
        ITEM,
        lambda _, w: w.core_replace(ITEM, "Production runs on a database named pier"),
    ),
    "an item was forgotten": (ITEM, forget(ITEM)),
    "an item was deleted": (ITEM, delete(ITEM)),
    "core memory was deleted": (ITEM, erase_file("MEMORY.md")),
    "a pinned item was removed": (PINNED, lambda _, w: w.core_remove(PINNED)),
    "a fact was changed": (FACT, lambda _, w: w.edit(FACT, "Drinks coffee")),
    "a fact was retired": (FACT, forget(FACT)),
    "a fact was deleted": (FACT, delete(FACT)),
    "a relation was deleted": (RELATION, delete(RELATION)),
    "a relation was retired": (RELATION, forget(RELATION)),
    "an entity was changed": (ROBIN, rewrite(ROBIN_FILE, "Runs the agent", "Runs the harbour")),
    "an entity was deleted": (HARBOUR, delete(HARBOUR)),
    "an entity was archived": (HARBOUR, forget(HARBOUR)),
    "an entity was pinned": (HARBOUR, lambda _, w: w.pin(HARBOUR)),
    "a procedure was changed": (
        PROCEDURE,
        rewrite("memory/procedures/how-to-release.md", "Tag the commit", "Tag nothing"),
    ),
    "a procedure was deleted": (PROCEDURE, delete(PROCEDURE)),
    "a note was changed": (NOTE, rewrite("memory/vault/promise.md", "house key", "cellar key")),
    "a note was deleted": (NOTE, delete(NOTE)),
}


def first_commit(workspace: Workspace) -> str:
    return workspace.history_line().commits[0]


@pytest.mark.parametrize("name", CHANGES)
def test_a_memory_reads_again_as_it_did(settled: AgentHome, name: str) -> None:
    memory, change = CHANGES[name]
    settled.clock.advance(days=1)
    with settled.open() as workspace:
        then = workspace.at(first_commit(workspace)).show(memory)
        change(settled, workspace)
        workspace.remember("Robin sold the bicycle", store="episodic")
        settled.clock.advance(minutes=5)
        before = settled.tracked()
        count = len(workspace.history_line().commits)
        changed = workspace.rollback(memory=f"{memory}@{first_commit(workspace)}")
        assert changed.commit is not None
        assert len(workspace.history_line().commits) == count + 1
        now = workspace.show(memory, count_access=False, history=False)
        assert (now.text, now.path, now.provenance, now.validity) == (
            then.text,
            then.path,
            then.provenance,
            then.validity,
        )
        status = now.score.status if now.score else None
        assert status == (then.score.status if then.score else None)
        entry = workspace.audit_log(limit=1).entries[0]
        assert (entry.action, entry.actor) == ("REVERT", "manual")
        assert memory in entry.summary
        workspace.undo()
        assert settled.tracked() == before
        workspace.redo()
        assert workspace.show(memory, count_access=False, history=False).text == then.text
    assert "Robin sold the bicycle" in settled.text("memory/episodes/2026-02-03.md")


@pytest.mark.parametrize("name", ["an episode was deleted", "a fact was deleted", "an item was deleted"])
def test_what_comes_back_stands_where_it_stood(settled: AgentHome, name: str) -> None:
    memory, change = CHANGES[name]
    with settled.open() as workspace:
        first = first_commit(workspace)
        path = workspace.at(first).show(memory).path
        original = settled.text(path)
        change(settled, workspace)
        workspace.rollback(memory=f"{memory}@{first}")
        assert settled.text(path) == original


def test_a_memory_that_reads_as_it_did_makes_no_commit(settled: AgentHome) -> None:
    with settled.open() as workspace:
        for memory in (EPISODE, ITEM, FACT, RELATION, ROBIN, PROCEDURE, NOTE):
            assert workspace.rollback(memory=f"{memory}@{first_commit(workspace)}").commit is None


@pytest.mark.parametrize(
    "memory", ["entity:tool--press", "episode:2026-02-03:14:30", "core:persona:speak-slowly"]
)
def test_what_was_not_there_yet_is_put_away_and_comes_back_by_undo(settled: AgentHome, memory: str) -> None:
    settled.clock.advance(days=1)
    with settled.open() as workspace:
        first = first_commit(workspace)
        workspace.graph_add("tool", "Press")
        workspace.core_add("Persona", "Speak slowly")
        workspace.remember("Robin sold the bicycle", store="episodic")
        before = settled.tracked()
        changed = workspace.rollback(memory=f"{memory}@{first}")
        assert re.fullmatch(
            "“(Press|Robin sold the bicycle|Speak slowly)” was not there on 2026-.*, so it was archived.",
            changed.warnings[0],
        )
        assert memory not in {hit.id for hit in workspace.search("press slowly bicycle").results}
        workspace.undo()
        assert settled.tracked() == before


def test_several_memories_come_back_in_one_commit_all_or_none(settled: AgentHome) -> None:
    then, before = settled.commits()[0], settled.tracked()
    with settled.open("person") as workspace:
        for name in (
            "an episode was changed",
            "an item was renamed",
            "a fact was changed",
            "a procedure was changed",
        ):
            CHANGES[name][1](settled, workspace)
        changed, count = settled.tracked(), len(settled.commits())
        differing = [each.id for each in workspace.compare(then).memories]
        assert len(differing) >= 4
        workspace.rollback(memory=[f"{each}@{then}" for each in differing])
        assert len(settled.commits()) == count + 1
        # What a correction set aside was not there then: it stays archived, as its warning says.
        assert {each.standing for each in workspace.compare(then).memories if each.change != "scored"} == {
            "superseded"
        }
        with pytest.raises(NotFound):
            workspace.rollback(memory=[f"{EPISODE}@{then}", f"episode:2020-01-01:10:00@{then}"])
        assert len(settled.commits()) == count + 1
        workspace.undo()
        assert settled.tracked() == changed
    assert before != changed


def test_what_names_no_memory_is_refused(settled: AgentHome) -> None:
    with settled.open() as workspace:
        first = first_commit(workspace)
        for name in ("nonsense", "memory:x", "", "@", f"{EPISODE}@"):
            with pytest.raises(InvalidInput):
                workspace.rollback(memory=f"{name}@{first}" if name and "@" not in name else name)
        with pytest.raises(NotFound):
            workspace.rollback(memory=f"entity:person--nobody@{first}")
        with pytest.raises(NotFound):
            workspace.rollback(memory=f"{EPISODE}@beefbeef")
        with pytest.raises(InvalidInput, match="Lines"):
            workspace.rollback(memory=f"file:memory/2026-01-30.md#L3-L3@{first}")


@pytest.mark.parametrize("role", ["reader", "agent:scout"])
def test_others_cannot_go_back(settled: AgentHome, role: str) -> None:
    with settled.open() as workspace:
        first = first_commit(workspace)
        workspace.edit(FACT, "Drinks coffee")
    before = settled.tracked()
    with settled.open(role) as workspace:
        ways: tuple[dict[str, Any], ...] = ({"memory": f"{FACT}@{first}"}, {"to": first})
        for options in ways:
            with pytest.raises(RoleRefused):
                workspace.rollback(**options)
    assert settled.tracked() == before


def test_main_goes_back_over_its_own_changes_alone(settled: AgentHome) -> None:
    with settled.open() as workspace:
        first = first_commit(workspace)
        workspace.edit_file("SOUL.md", "# Soul\n\nYou are loud.\n")
    with settled.open("main") as workspace:
        workspace.edit(FACT, "Drinks coffee")
        with pytest.raises(RoleRefused):
            workspace.rollback(to=first)
        with pytest.raises(RoleRefused):
            workspace.rollback(memory=f"file:SOUL.md@{first}")
        assert workspace.rollback(memory=f"{FACT}@{first}").commit


def test_everything_goes_back_to_each_of_several_commits_of_a_second(settled: AgentHome) -> None:
    with settled.open() as workspace:
        states = []
        for fact in ("Likes rain", "Likes snow", "Likes fog"):
            workspace.graph_add_fact(ROBIN, fact)
            states.append((workspace.head() or "", settled.text(ROBIN_FILE)))
        assert len(set(workspace.history_line().seconds)) == 1
        for commit, text in states[:-1]:
            workspace.rollback(to=commit[:10])
            assert settled.text(ROBIN_FILE) == text
            workspace.undo()
            assert settled.text(ROBIN_FILE) == states[-1][1]


def test_a_purged_history_says_so(settled: AgentHome, tmp_path: Path) -> None:
    with settled.open() as workspace:
        old = first_commit(workspace)
        past = workspace.at(old)
        workspace.forget(ids=[EPISODE], apply=True, hard=True, purge_history=True)
        line = workspace.history_line()
        assert old not in line.commits
        assert line.commits[-1] == workspace.head()
        with pytest.raises(NotFound, match="any more") as caught:
            workspace.at(old)
        assert "purged" in (caught.value.remedy or "")
        with pytest.raises(NotFound):
            workspace.rollback(to=old)
        assert b"midnight" not in workspace.at(line.commits[0]).get(DAY)
    del past, tmp_path


def test_a_page_of_the_log_begins_where_it_is_asked_for(settled: AgentHome) -> None:
    with settled.open() as workspace:
        for number in range(3):
            workspace.remember(f"The harbour opened gate {number} today", store="episodic")
        whole = workspace.audit_log().entries
        assert workspace.audit_log(limit=2, offset=1).entries == whole[1:3]
        assert workspace.audit_log(offset=len(whole)).entries == ()


def test_without_a_history_the_log_is_empty(tmp_path: Path) -> None:
    with Workspace.open(tmp_path) as workspace:
        assert workspace.audit_log().entries == ()
