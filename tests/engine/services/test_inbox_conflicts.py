"""What two devices changed differently: shown with both texts, decided in one commit, and taken back by one undo."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace, layout
from workbench.engine.errors import DocumentError, InvalidInput, NotFound, RoleRefused, Stale
from workbench.engine.history.joining import Apart, JoinPlan, join_commit
from workbench.engine.history.plan import Attribution
from workbench.engine.sync.joining import Moments, Side, join

PAYS = "- Nordlicht pays within {} days"


def join_devices(here: Workspace, there: Path, head: str) -> None:
    """Join another device's memory into one."""
    history = here._context.history
    subprocess.run(
        ("git", f"--git-dir={history.path}", "fetch", "-q", str(there / ".audit"), "main"), check=True
    )

    def plan(apart: Apart) -> JoinPlan:
        sides = ((name, store.commit(each)) for name, each in (("desk", apart.ours), ("lap", apart.theirs)))
        ours, theirs = (Side(name, commit.id, commit.moment) for name, commit in sides)
        return JoinPlan(
            join(*apart.trees, at=Moments(ours, theirs), paths=apart.changed()).files, "joined lap"
        )

    store = history.store
    join_commit(history, head, plan, Attribution("system:sync", may_touch_critical=True))


@pytest.fixture
def home(settled: AgentHome, tmp_path: Path) -> AgentHome:
    """A home that was joined with that of another device; both changed one item of core memory."""
    core = settled.text(layout.CORE)
    first = next(line for line in core.splitlines() if line.startswith("- "))
    with settled.open() as workspace:
        workspace.edit_file(layout.CORE, core.replace(first, PAYS.format(30)))
        there = tmp_path / "lap"
        subprocess.run(("cp", "-r", settled.root, there), check=True)
        workspace.edit_file(layout.CORE, core.replace(first, PAYS.format(45)))
    with Workspace.open(there, role="person", clock=settled.clock) as other:
        other.edit_file(layout.CORE, core.replace(first, PAYS.format(60)))
        head = other.head()
    assert head
    with settled.open() as workspace:
        join_devices(workspace, there, head)
    return settled


def test_an_agent_is_told_that_something_waits_between_devices(home: AgentHome) -> None:
    with home.open(role="main") as workspace:
        assert any("1 thing that two devices changed" in each for each in workspace.brief().notices)


def test_both_texts_wait_with_the_devices_and_the_reason(home: AgentHome) -> None:
    with home.open() as workspace:
        (conflict,) = workspace.conflicts().conflicts
        texts = {each.device: each.text for each in (conflict.this, conflict.that)}
        assert texts == {"desk": PAYS.format(45), "lap": PAYS.format(60)}
        assert conflict.before == PAYS.format(30)
        assert "both changed “Nordlicht pays within 30 days”" in conflict.reason
        assert home.text(layout.CORE).splitlines()[conflict.line - 1] == conflict.this.text
        assert workspace.inbox_waiting() == workspace.inbox().waiting
        assert conflict in workspace.inbox().conflicts


@pytest.mark.parametrize("choice", ["this", "that", "both"])
def test_a_decision_is_one_commit_and_one_undo_takes_it_back(home: AgentHome, choice: str) -> None:
    with home.open() as workspace:
        (conflict,) = workspace.conflicts().conflicts
        before = home.text(layout.CORE)
        waiting = workspace.inbox_waiting()
        changed = workspace.conflict_settle(conflict.id, choice)
        assert changed.commit == workspace.head()
        after = home.text(layout.CORE)
        wanted = {"this": [conflict.this.text], "that": [conflict.that.text]}.get(
            choice, [conflict.this.text, conflict.that.text]
        )
        assert [line for line in after.splitlines() if "Nordlicht pays" in line] == wanted
        assert workspace.conflicts().conflicts == ()
        assert workspace.inbox_waiting() == waiting - 1
        with pytest.raises(NotFound):
            workspace.conflict_settle(conflict.id, "this")
        workspace.undo()
        assert home.text(layout.CORE) == before
        assert workspace.conflicts().conflicts == (conflict,)


def test_it_is_ticked_and_written_with_all_else_in_the_inbox(home: AgentHome) -> None:
    with home.open() as workspace:
        (conflict,) = workspace.conflicts().conflicts
        head = workspace.head()
        workspace.inbox_tick_conflicts({conflict.id: "that"})
        assert workspace.head() == head
        assert workspace.inbox().conflict_ticks == {conflict.id: "that"}
        preview = workspace.inbox_preview()
        assert preview.accepted == (conflict.id,)
        assert any(conflict.that.text in (file.after or "") for file in preview.files if conflict.that.text)
        written = workspace.inbox_write()
        assert written.accepted == (conflict.id,)
        assert (conflict.that.text or "?") in home.text(layout.CORE)
        assert workspace.audit_verify().problems == ()


def test_no_agent_decides_and_nothing_is_overwritten_that_was_changed_since(home: AgentHome) -> None:
    with home.open() as workspace:
        (conflict,) = workspace.conflicts().conflicts
        with pytest.raises(InvalidInput):
            workspace.conflict_settle(conflict.id, "theirs")
    with home.open("main") as agent, pytest.raises(RoleRefused):
        agent.conflict_settle(conflict.id, "that")
    with home.open() as workspace:
        workspace.edit_file(layout.CORE, home.text(layout.CORE).replace("45 days", "50 days"))
        (found,) = workspace.conflicts().conflicts
        assert found.stale
        with pytest.raises(Stale):
            workspace.conflict_settle(conflict.id, "that")
        workspace.conflict_settle(conflict.id, "this")
        assert "50 days" in home.text(layout.CORE)


def test_a_broken_file_of_conflicts_hides_nothing_else(home: AgentHome) -> None:
    (home.root / layout.CONFLICTS).write_text("{")
    with home.open() as workspace:
        inbox = workspace.inbox()
        assert inbox.unreadable
        assert inbox.conflicts == ()
        assert workspace.inbox_waiting() > 0
        with pytest.raises(DocumentError):
            workspace.conflicts()


def test_a_purge_reaches_what_waits(home: AgentHome) -> None:
    with home.open() as workspace:
        (conflict,) = workspace.conflicts().conflicts
        text = "Nordlicht pays within 60 days"
        workspace.conflict_settle(conflict.id, "both")
        workspace.undo()
        workspace.remember(text, store="episodic")
        assert workspace.forget(text, apply=True, hard=True, purge_history=True).matches
        assert text not in home.text(layout.CONFLICTS)
        assert workspace.conflicts().conflicts == ()
        assert workspace.audit_verify(deep=True).problems == ()


def test_what_came_with_a_sync_is_told_with_who_did_it_and_taken_back_by_itself(home: AgentHome) -> None:
    with home.open() as workspace:
        newest = workspace.actions(limit=3).actions
        assert [action.kind for action in newest] == ["SYNC", "EDIT", "EDIT"]
        assert not newest[0].upkeep
        assert not newest[0].reversible
        item = next(
            each.id for block in workspace.core().blocks for each in block.items if "Nordlicht" in each.text
        )
        told = workspace.show(item, count_access=False).history
        assert [entry.summary for entry in told if "joined" in entry.summary] == []
        changes = [each.id for each in workspace.since("2026-01-01").changed]
        assert len(changes) == len(set(changes))
        blame = workspace.audit_blame(layout.CORE)
        line = next(row for row in blame.lines if "Nordlicht" in row.text)
        assert workspace.audit_show(line.commit).actor == "manual"
