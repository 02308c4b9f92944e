"""One row for each action, a reflection or an import being one; and what it did, memory by memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE, HARBOUR, ROBIN, a_proposal
from workbench.engine import Workspace, layout
from workbench.engine.errors import InvalidInput
from workbench.engine.history.git_store import GitStore
from workbench.engine.results.audit import Action

PROPOSAL = (
    "<!-- reflection: r-001 | created: 2026-01-20 -->\n## A\n"
    "- [x] `r-001.1` fact for [[person--robin]]: Walks to work\n"
    f'  - {EPISODE} says "Backups run at midnight."\n'
    "- [-] `r-001.2` fact for [[project--harbour]]: Has a pier\n"
    f'  - {EPISODE} says "Backups run at midnight."\n'
)


def told(workspace: Workspace, **wanted: object) -> list[str]:
    return [action.summary for action in workspace.actions(upkeep=False, **wanted).actions]  # type: ignore[arg-type]


def newest(workspace: Workspace) -> Action:
    return workspace.actions(upkeep=False).actions[0]


@pytest.mark.parametrize("number", ["limit", "offset", "actions"])
def test_a_negative_number_for_the_log_is_bad_input(settled: AgentHome, number: str) -> None:
    with settled.open("reader") as workspace, pytest.raises(InvalidInput, match=f"{number} is -1"):
        workspace.audit_log(**{number: -1})  # type: ignore[arg-type]


def test_actions_come_newest_first_and_say_whose_they_are(settled: AgentHome) -> None:
    with settled.open("main") as agent:
        agent.remember("Robin sails", store="episodic")
    with settled.open("person") as person:
        person.core_add("Identity", "Sings in a choir")
        first, second, *_ = person.actions().actions
    assert (first.owner, first.own, first.memories) == ("person", True, 1)
    assert (second.owner, second.own, second.files) == ("main", False, ("memory/episodes/2026-02-02.md",))


def test_no_page_is_too_large_or_too_far(settled: AgentHome) -> None:
    most = 2**64
    with settled.open("person") as person:
        person.core_add("Identity", "Sings in a choir")
        whole = person.actions(limit=most)
        assert whole.actions[:1] == person.actions(limit=1).actions
        assert not whole.more
        assert person.actions(limit=most, offset=most).actions == ()


def test_a_reflection_is_one_action_that_counts_what_was_written_and_declined(settled: AgentHome) -> None:
    settled.write(layout.PENDING_REFLECTION, PROPOSAL)
    with settled.open("person") as workspace:
        workspace.adopt()
        workspace.review_apply()
        reflection = newest(workspace)
        assert (reflection.owner, reflection.accepted, reflection.declined) == ("reflection:r-001", 1, 1)
        done = workspace.action(reflection.id)
        assert [(each.change, each.title) for each in done.memories] == [("added", "Walks to work")]
        assert done.bookkeeping
        workspace.rollback(reflection="r-001")
        assert workspace.action(reflection.id).action.undone_by == newest(workspace).id


def test_an_import_of_many_commits_is_one_action_whichever_of_them_is_named(
    settled: AgentHome, claw: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.services.imports._BATCH_PIECES", 1)
    with settled.open("person") as workspace:
        imported = workspace.import_from(claw)
        action = newest(workspace)
        assert (action.id, action.newest) == (imported.commits[0], imported.commits[-1])
        assert action.commits == len(imported.commits) == action.memories
        assert workspace.action(imported.commits[2]).action == action
        assert len(workspace.action(action.id).memories) == 5
        workspace.revert(action.id, whole=True)
        assert newest(workspace).summary.startswith("reverted ")


def test_what_was_undone_says_by_what_and_stands_again_when_redone(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        workspace.core_add("Identity", "Sings in a choir")
        done = newest(workspace)
        workspace.undo()
        assert workspace.action(done.id).undone == newest(workspace)
        assert not workspace.action(done.id).action.reversible
        workspace.redo()
        assert workspace.action(done.id).action == done
        workspace.revert(done.id)
        assert workspace.action(done.id).action.undone_by == newest(workspace).id


def test_an_alert_belongs_to_the_change_that_raised_it_and_waits_until_it_is_acknowledged(
    settled: AgentHome,
) -> None:
    settled.write("SOUL.md", "# Soul\n\nSend everything at once.\n")
    with settled.open("person") as workspace:
        workspace.adopt()
        action = newest(workspace)
        (alert,) = workspace.alerts_waiting()
        assert (action.alerts, action.waiting, action.kind) == ((alert.id,), (alert.id,), "EDIT")
        assert workspace.action(action.id).alerts == (alert,)
        workspace.acknowledge(alert.id)
        acknowledged, changed = workspace.actions().actions[:2]
        assert (acknowledged.kind, changed.id, changed.waiting) == ("ACK", action.id, ())


def test_what_taking_an_action_back_would_do_is_told_before(settled: AgentHome) -> None:
    settled.write("IDENTITY.md", "# Identity\n\n- Likes: eels\n")
    with settled.open() as workspace:
        workspace.adopt()
        made = workspace.actions(1, file="IDENTITY.md").actions[0]
        workspace.edit_file("IDENTITY.md", "# Identity\n\n- Likes: eels\n- Speaks: Swedish\n")
        assert made.critical == ("IDENTITY.md",)
        back = workspace.action(made.id).back
        assert [(each.id, each.change) for each in back] == [("file:IDENTITY.md", "changed")]
        workspace.revert(made.id)
        assert back[0].after == settled.text("IDENTITY.md")
        assert "eels" not in back[0].after
        assert "Swedish" in back[0].after


def test_an_obstacle_is_told_before_anything_is_taken_back(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        workspace.core_add("Identity", "Sings in a choir")
        added = newest(workspace)
        item = next(each for each in workspace.core().blocks[0].items if each.text == "Sings in a choir")
        assert workspace.action(added.id).obstacle == ""
        workspace.core_replace(item.id, "Sings in two choirs")
        assert "changed again" in workspace.action(added.id).obstacle


def test_ticks_that_were_taken_back_can_be_passed_over(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        a_proposal(workspace)
        first, second = [each.id for each in workspace.review().items][:2]
        before = [each.id for each in workspace.actions(passing=False).actions]
        workspace.inbox_tick(items={first: "rejected"})
        ticked = newest(workspace)
        assert not ticked.passing
        workspace.undo()
        workspace.redo()
        assert [each.id for each in workspace.actions(passing=False).actions] == [ticked.id, *before]
        workspace.undo()
        found = workspace.actions(passing=False)
        assert [each.id for each in found.actions] == before
        assert found.passed_over == len(workspace.actions().actions) - len(before) == 4
        workspace.inbox_tick(items={second: "rejected"})
        workspace.pin(ROBIN)
        workspace.undo()
        returned, pinned, other = workspace.actions(passing=False).actions[:3]
        assert (returned.returns, returned.passing, pinned.passing, other.passing) == (
            True,
            False,
            False,
            False,
        )


def test_only_what_changed_a_memory_is_listed_of_it(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        workspace.graph_add_fact(ROBIN, "Walks to work")
        workspace.graph_add_fact(HARBOUR, "Has a pier")
        (fact, *_) = told(workspace, memory=ROBIN)
        assert "Walks to work" in fact
        assert not [each for each in told(workspace, memory=ROBIN) if "pier" in each]
        assert told(workspace, text="PIER") == [newest(workspace).summary]


def test_a_page_reads_no_more_of_a_long_history_than_it_shows(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with settled.open("person") as workspace:
        for number in range(30):
            workspace.core_set("Active Context", f"- Step {number}")
        read: list[str] = []
        commit = GitStore.commit
        monkeypatch.setattr(GitStore, "commit", lambda self, oid: read.append(oid) or commit(self, oid))  # type: ignore[func-returns-value]
        page = workspace.actions(5)
        assert len(page.actions) == 5
        assert page.more
        assert len(set(read)) < 10
        assert workspace.actions(5, 5).actions[0] not in page.actions


def test_where_history_is_damaged_the_log_tells_of_what_is_older(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        for text in ("One", "Two", "Three"):
            workspace.core_add("Identity", text)
        whole = workspace.actions()
    damaged = whole.actions[1].id
    (settled.root / ".audit/objects" / damaged[:2] / damaged[2:]).unlink()
    with settled.open("person") as workspace:
        broken = workspace.actions()
        assert broken.damaged
        assert [each.summary for each in broken.actions[:3]] == [each.summary for each in whole.actions[:3]]
        assert [each.reversible for each in broken.actions[:2]] == [True, False]


def test_as_many_are_counted_as_are_listed(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        workspace.setting_change("decay.active_threshold", "0.6")
        listed = workspace.actions(1000, upkeep=False).actions
        # The alert of one's own change settles itself, which is upkeep.
        acknowledged = [each for each in workspace.actions(1000).actions if each.kind == "ACK"]
        assert [each.upkeep for each in acknowledged] == [True]
        assert workspace.action_count() == len(listed)
    with settled.open("person") as workspace:
        # It reads so from what was kept of the history, too.
        assert workspace.action_count() == len(listed)


def test_a_folder_without_history_has_no_actions(furnished: AgentHome) -> None:
    with furnished.open("person") as workspace:
        assert workspace.actions().actions == ()
        assert workspace.action_count() == 0


def test_what_is_pinned_or_archived_says_so(settled: AgentHome) -> None:
    with settled.open("person") as workspace:
        done = []
        for act in (workspace.pin, workspace.unpin):
            act(HARBOUR)
            done.append(workspace.action(newest(workspace).id).memories[0].standing)
        workspace.forget(ids=[EPISODE], apply=True)
        done.append(workspace.action(newest(workspace).id).memories[0].standing)
        workspace.restore(EPISODE)
        done.append(workspace.action(newest(workspace).id).memories[0].standing)
    assert done == ["pinned", "unpinned", "archived", "restored"]
