"""All that waits for a person: ticked alike, looked at, written as one action, and taken back by one undo."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import a_proposal
from workbench.engine import Workspace, layout
from workbench.engine.errors import NotFound, RoleRefused, Stale
from workbench.engine.results.inbox import ProposalTick, SecretTick
from workbench.engine.services.inbox_ticks import FILE

TOKEN = "ghp_" + "a1B2" * 9
TOLD = f"The archive takes the token {TOKEN} for uploads"


def proposed(home: AgentHome, text: str, entity: str = "person:Robin") -> int:
    with home.open("agent:scout") as agent:
        return agent.propose(text, store="semantic", entities=[entity]).number


def ticked(workspace: Workspace) -> Mapping[int, ProposalTick]:
    return workspace.inbox().proposal_ticks


@pytest.fixture
def full(settled: AgentHome) -> AgentHome:
    """A home in which everything waits: a reflection half decided, three proposals, and two secrets."""
    with settled.open() as workspace:
        a_proposal(workspace)
    proposed(settled, "Robin keeps bees")
    proposed(settled, "The deadline of Harbour is March 15", "project:Harbour")
    proposed(settled, "The deadline of Harbour is March 30", "project:Harbour")
    with settled.open("main") as workspace:
        workspace.remember(TOLD, store="vault")
        workspace.remember("The password of the harbour Wi-Fi is gull-and-tern-7", store="vault")
    return settled


def test_what_is_decided_on_together_waits_once(full: AgentHome) -> None:
    with full.open() as workspace:
        inbox = workspace.inbox()
        assert [[each.number for each in group] for group in inbox.proposals] == [[1], [2, 3]]
        assert len(inbox.held) == 2
        assert inbox.waiting == 4 + 2 + 2 == workspace.inbox_waiting()


def test_ticks_write_nothing_and_are_taken_away(full: AgentHome) -> None:
    with full.open() as workspace:
        head = workspace.head()
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        workspace.inbox_tick_secrets({1: SecretTick("drop")})
        assert ticked(workspace) == {1: ProposalTick("accept")}
        assert workspace.inbox().secret_ticks == {1: SecretTick("drop")}
        assert workspace.inbox().waiting == 8
        workspace.inbox_tick_proposals({1: None})
        workspace.inbox_tick_secrets({1: None})
        assert not ticked(workspace)
        assert not workspace.inbox().secret_ticks
        assert workspace.head() == head
        with pytest.raises(NotFound):
            workspace.inbox_tick_proposals({99: ProposalTick("accept")})
        with pytest.raises(NotFound):
            workspace.inbox_tick_secrets({99: SecretTick("keep")})


def test_the_newest_tick_is_taken_back_before_what_was_done_before_it(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.pin("entity:person--robin")
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        workspace.inbox_tick_proposals({2: ProposalTick("decline"), 3: ProposalTick("accept")})
        workspace.inbox_tick_secrets({1: SecretTick("drop")})
        told = []
        for _ in range(3):
            step = workspace.next_steps().tick
            assert step is not None
            told.append(step.summary)
            workspace.inbox_undo_tick(step.commit)
        assert told == [
            "ticked what was held back: erased",
            "ticked “The deadline of Harbour is March 30”: accepted",
            "ticked “Robin keeps bees”: accepted",
        ]
        assert not ticked(workspace)
        assert not workspace.inbox().secret_ticks
        steps = workspace.next_steps()
        assert steps.last is not None
        assert steps.last is steps.undo
        # What is done after a tick is taken back first, and what is written is no tick any more.
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        workspace.pin("entity:project--harbour")
        assert workspace.next_steps().tick is None
        workspace.undo()
        last = workspace.next_steps().tick
        assert last is not None
        with pytest.raises(Stale):
            workspace.inbox_undo_tick("tick:none")
        workspace.inbox_write()
        assert workspace.next_steps().tick is None
        with pytest.raises(Stale):
            workspace.inbox_undo_tick(last.commit)


def test_what_is_ticked_at_once_is_taken_back_at_once(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_proposals({1: ProposalTick("decline")})
        before = workspace.inbox()
        items = [item.id for item in before.review.items if item.decision == "undecided"]
        done = workspace.inbox_tick(
            items=dict.fromkeys(items, "approved"),
            proposals={1: ProposalTick("accept"), 2: ProposalTick("accept")},
            secrets={1: SecretTick("keep"), 2: SecretTick("keep")},
        )
        assert done.commit == workspace.head()
        assert set(ticked(workspace)) == {1, 2}
        last = workspace.next_steps().last
        assert last is not None
        assert last.summary == (
            "ticked a change of a reflection: accepted; ticked 2 proposals: accepted; ticked 2 secrets: stored"
        )
        workspace.inbox_undo_tick(last.commit)
        after = workspace.inbox()
        assert [item.decision for item in after.review.items] == [
            item.decision for item in before.review.items
        ]
        assert after.proposal_ticks == before.proposal_ticks == {1: ProposalTick("decline")}
        assert not after.secret_ticks
        # The tick before it is a step of its own.
        last = workspace.next_steps().last
        assert last is not None
        assert last.summary == "ticked “Robin keeps bees”: declined"


def test_what_was_ticked_at_once_and_undone_in_part_is_taken_back_whole(full: AgentHome) -> None:
    with full.open() as workspace:
        items = [item.id for item in workspace.review().items if item.decision == "undecided"]
        done = workspace.inbox_tick(items={items[0]: "approved"}, proposals={1: ProposalTick("accept")})
        workspace.undo(expected=done.commit)
        last = workspace.next_steps().tick
        assert last is not None
        head = workspace.head()
        workspace.inbox_undo_tick(last.commit)
        assert workspace.head() == head
        assert not ticked(workspace)


def test_where_one_does_not_wait_nothing_is_ticked(full: AgentHome) -> None:
    with full.open() as workspace:
        head = workspace.head()
        items = [item.id for item in workspace.review().items if item.decision == "undecided"]
        with pytest.raises(NotFound):
            workspace.inbox_tick(items={items[0]: "approved"}, secrets={99: SecretTick("keep")})
        with pytest.raises(NotFound):
            workspace.inbox_tick(items={"r-002.99": "approved"}, secrets={1: SecretTick("keep")})
        assert workspace.head() == head
        assert not workspace.inbox().secret_ticks


def test_what_was_done_again_after_a_tick_is_taken_back_before_it(full: AgentHome) -> None:
    with full.open() as workspace:
        remembered = workspace.remember("Robin mends nets on Sundays", store="semantic")
        workspace.undo()
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        assert workspace.next_steps().tick is not None
        workspace.redo()
        steps = workspace.next_steps()
        assert steps.tick is None
        assert steps.last is not None
        assert steps.last.commit == remembered.commit
        workspace.undo()
        last = workspace.next_steps().tick
        assert last is not None
        workspace.inbox_undo_tick(last.commit)
        assert not ticked(workspace)


def test_once_a_writing_is_undone_its_ticks_are_taken_back_one_by_one(full: AgentHome) -> None:
    with full.open() as workspace:
        item = next(each.id for each in workspace.review().items if each.decision == "undecided")
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        workspace.inbox_tick(items={item: "rejected"})
        workspace.inbox_tick_proposals({2: ProposalTick("decline"), 3: ProposalTick("accept")})
        workspace.inbox_tick_secrets({1: SecretTick("drop")})
        ticks = ticked(workspace)
        workspace.inbox_write()
        assert workspace.next_steps().tick is None
        workspace.undo(confirmed=True)
        assert ticked(workspace) == ticks
        taken = []
        while (step := workspace.next_steps().last) is not None and ticked(workspace):
            taken.append(step.summary)
            if step.commit.startswith("tick:"):
                workspace.inbox_undo_tick(step.commit)
            else:
                workspace.undo(expected=step.commit)
        # What was erased is erased, and no tick of that is offered any more.
        assert [each.partition(" ")[0] for each in taken] == ["ticked", "rejected", "ticked"]
        assert "Robin keeps bees" in taken[-1]
        undecided = next(each for each in workspace.review().items if each.id == item)
        assert undecided.decision == "undecided"


def test_to_tick_nothing_is_no_tick(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_proposals({})
        workspace.inbox_tick_secrets({})
        workspace.inbox_tick_conflicts({})
        assert workspace.next_steps().tick is None


def test_what_is_written_is_told_where_its_ticks_cannot_be_forgotten(
    full: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_secrets({1: SecretTick("drop")})
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        with monkeypatch.context() as unwritable:
            unwritable.setattr("workbench.engine.services.inbox_ticks.write_state", lambda *_: False)
            written = workspace.inbox_write()
        assert "#1" in written.accepted
        (told,) = (line for line in written.warnings if "undo still offers the ticks" in line)
        assert FILE in told


def test_a_tick_on_other_words_does_not_count(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        file = full.text(layout.PENDING_MEMORIES)
        workspace.edit_file(layout.PENDING_MEMORIES, file.replace("keeps bees", "keeps wasps"))
        assert not ticked(workspace)
        assert "#1" not in workspace.inbox_preview().accepted


def test_a_damaged_file_of_ticks_is_no_ticks(full: AgentHome) -> None:
    with full.open() as workspace:
        (workspace.state / FILE).write_text('{"proposals": {"1": {"choice": "burn"}, "x": 3}, "secrets": []}')
        assert not ticked(workspace)
        workspace.inbox_tick_proposals({1: ProposalTick("decline")})
        assert ticked(workspace) == {1: ProposalTick("decline")}


def test_everything_is_previewed_and_written_as_one_action(full: AgentHome) -> None:
    with full.open() as workspace:
        before = full.tracked()
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        workspace.inbox_tick_proposals({2: ProposalTick("decline"), 3: ProposalTick("accept")})
        workspace.inbox_tick_secrets({1: SecretTick("without"), 2: SecretTick("drop")})
        ticks = ticked(workspace)
        preview = workspace.inbox_preview()
        assert full.tracked() == before
        assert preview.accepted == ("#1", "#3", "r-002.1")
        assert preview.declined == ("#2", "r-002.2")
        assert preview.set_aside == ("r-002.3",)
        assert (preview.kept, preview.without, preview.erased) == ((), (1,), (2,))
        said = {each.after for each in preview.memories}
        assert any("Robin keeps bees" in (text or "") for text in said)
        assert any("Prefers the night train" in (text or "") for text in said)

        written = workspace.inbox_write()
        assert written.accepted == preview.accepted
        assert written.declined == preview.declined
        assert written.set_aside == preview.set_aside
        assert (written.kept, written.without, written.erased) == ((), (1,), (2,))
        assert not written.waiting
        for each in preview.files:
            if each.path not in layout.BOOKS:
                assert full.text(each.path) == each.after, each.path
        # One item and one proposal less; what is set aside waits for the next reflection.
        assert workspace.inbox_waiting() == 1
        assert workspace.inbox().set_aside == {"r-002.3"}
        assert workspace.inbox_preview().is_empty

        step = workspace.next_steps().undo
        assert step is not None
        assert (step.commit, step.own) == (written.commit, True)
        # It is told by its decisions, and by no word of what stood beside a secret.
        assert (step.accepted, step.declined, step.set_aside) == (4, 1, 1)
        assert written.decisions == preview.decisions
        assert written.decisions.total == step.accepted + step.declined + step.set_aside + 1
        action = workspace.actions(limit=1).actions[0]
        assert (action.accepted, action.declined, action.set_aside) == (4, 1, 1)
        workspace.undo(expected=written.commit)
        assert workspace.actions(limit=1).actions[0].summary.endswith(": wrote 6 decisions")
        after = full.tracked()
        changed = {path for path in before if before[path] != after.get(path)}
        assert changed <= {layout.REFLECTION_LOG, layout.REJECTED, layout.DECAY_SCORES}
        # Every decision is back but that about what is erased.
        inbox = workspace.inbox()
        assert inbox.proposal_ticks == ticks
        assert inbox.secret_ticks == {1: SecretTick("without")}
        assert [item.decision for item in inbox.review.items] == [
            "approved",
            "rejected",
            "deferred",
            "undecided",
        ]


def test_history_says_that_a_secret_was_stored_and_none_of_its_words(full: AgentHome) -> None:
    with full.open() as workspace:
        text = workspace.secrets_held().held[0].text
        words = [word for word in text.split() if len(word) > 4]
        assert words
        workspace.inbox_tick_secrets({1: SecretTick("keep")})
        workspace.inbox_write()
        step = workspace.next_steps().undo
        assert step is not None
        told = [step.summary, *(each.summary for each in workspace.audit_log(limit=5).entries)]
        assert "stored what was held back, secret and all" in step.summary
        assert not [word for word in words if any(word in each for each in told)]


def test_a_memory_that_was_undone_and_redone_is_of_when_and_by_whom_it_was_stored(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_secrets({1: SecretTick("without")})
        (name, *_) = workspace.inbox_write().ids
        stored = workspace.show(name).history
        assert len(stored) == 1
        for _ in range(2):
            workspace.undo(confirmed=True)
            workspace.redo(confirmed=True)
        assert workspace.show(name).history == stored
        written = workspace.why(name).written
        assert written is not None
        assert (written.actor, written.timestamp) == (stored[0].actor, stored[0].timestamp)


def test_what_memory_says_gives_way_to_a_proposal(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.graph_add_fact("project--harbour", "The deadline of Harbour is March 15")
    number = proposed(settled, "The deadline of Harbour is March 30", "project:Harbour")
    with settled.open() as workspace:
        ((proposal,),) = workspace.inbox().proposals
        (old,) = proposal.conflicts_with
        workspace.inbox_tick_proposals({number: ProposalTick("accept", (old,))})
        assert any("March 15" in (each.before or "") for each in workspace.inbox_preview().memories)
        workspace.inbox_write()
        assert workspace.show(old).retired


def test_both_of_a_contradiction_are_kept_and_linked(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_proposals({2: ProposalTick("both"), 3: ProposalTick("both")})
        written = workspace.inbox_write()
        assert {"#2", "#3"} <= set(written.accepted)
        assert "Which holds" in full.text("memory/graph/entities/project--harbour.md")


def test_what_cannot_be_written_stays_ticked_and_the_rest_is_written(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_proposals(
            {1: ProposalTick("accept"), 2: ProposalTick("accept", store="nowhere")}
        )
        preview = workspace.inbox_preview()
        assert "#1" in preview.accepted
        assert set(preview.waiting) == {"#2"}
        written = workspace.inbox_write()
        assert "#1" in written.accepted
        assert dict(written.waiting) == dict(preview.waiting)
        assert set(ticked(workspace)) == {2}


def test_a_proposal_is_stored_in_other_words_and_elsewhere(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_proposals(
            {1: ProposalTick("accept", store="vault", text="Robin keeps two hives")}
        )
        workspace.inbox_tick_secrets({1: SecretTick("keep", store="episodic")})
        written = workspace.inbox_write()
        assert any(path.startswith("memory/vault/") for path in written.files)
        assert any(path.startswith("memory/episodes/") for path in written.files)
        assert any("two hives" in full.text(path) for path in written.files if "vault" in path)


def test_a_reflection_written_with_others_is_taken_back_alone(full: AgentHome) -> None:
    with full.open() as workspace:
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        workspace.inbox_write()
        workspace.rollback(reflection="r-002")
        robin = full.text("memory/graph/entities/person--robin.md")
        assert "keeps bees" in robin
        assert "night train" not in robin


def test_what_is_purged_is_in_no_tick(full: AgentHome) -> None:
    with full.open() as workspace:
        words = "Robin is said to keep nineteen hives by the sea"
        stored = workspace.remember(words, store="episodic")
        workspace.inbox_tick_proposals({1: ProposalTick("accept", text=words)})
        workspace.inbox_tick_proposals({1: ProposalTick("accept")})
        workspace.forget(ids=[stored.id], apply=True, hard=True, purge_history=True)
        assert "hives" not in (workspace.state / FILE).read_text()


def test_nobody_but_a_person_ticks_or_writes(full: AgentHome) -> None:
    with full.open("main") as workspace:
        for call in (
            lambda: workspace.inbox_tick_proposals({1: ProposalTick("accept")}),
            lambda: workspace.inbox_tick_secrets({1: SecretTick("keep")}),
            workspace.inbox_write,
        ):
            with pytest.raises(RoleRefused):
                call()
