"""A verdict that lets a proposal take the place of the memories that it contradicts (design document §13.6)."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.errors import InvalidInput, Refused, RoleRefused, Stale
from workbench.engine.results.reviews import Proposal, Settled

FILE = "memory/meta/pending-memories.md"
HARBOUR = "memory/graph/entities/project--harbour.md"
ON_15 = "The deadline of Harbour is March 15"
ON_30 = "The deadline of Harbour is March 30"
BASE = "core:critical-facts:the-production-database-is-called"


def remember(home: AgentHome, text: str, **options: object) -> str:
    with home.open("main") as workspace:
        return workspace.remember(text, **options).id  # type: ignore[arg-type]  # the options of the test


def proposed(home: AgentHome, text: str, **options: object) -> Proposal:
    with home.open("agent:scout") as workspace:
        number = workspace.propose(text, **options).number  # type: ignore[arg-type]  # the options of the test
        return next(each for each in workspace.proposals().proposals if each.number == number)


def commit(home: AgentHome, role: str, number: int, **options: object) -> Settled:
    with home.open(role) as workspace:
        return workspace.proposal_commit([number], **options)  # type: ignore[arg-type]  # the options of the test


def statuses(workspace: Workspace, query: str) -> dict[str, str | None]:
    return {hit.id: hit.status for hit in workspace.search(query, include_dormant=True).results}


def test_a_fact_gives_way_to_the_new_one_and_points_to_it(settled: AgentHome) -> None:
    old = remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    new = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    assert new.conflicts_with == (old,)
    before = settled.tracked()
    done = commit(settled, "main", new.number, replacing=True)
    assert (done.retired, done.warnings) == ((old,), ())
    with settled.open() as workspace:
        (now,) = (one for one in done.ids if "#^" in one)
        validity = workspace.show(old).validity
        assert (validity.until, validity.superseded_by) == ("2026-02-02", now)
        best = workspace.search("When is the deadline of Harbour?").results
        texts = [hit.snippet for hit in best]
        assert "March 30" in texts[0]
        assert [(hit.retired, hit.until, hit.superseded_by) for hit in best if hit.id == old] in (
            [], [(True, "2026-02-02", now)],
        )  # fmt: skip
        entries = workspace.audit_log(limit=3).entries
        assert {entry.commit for entry in entries[:2]} == {(done.commit or "")[:10]}
        assert any(f"accepted proposal #1 in place of {old}" in entry.summary for entry in entries)
        assert {entry.actor for entry in entries[:2]} == {"bot:commit-from:scout"}
        workspace.undo(confirmed=True)
    assert settled.tracked() == before


def test_a_fact_about_which_an_episode_is_proposed_gives_way_to_a_fact_that_comes_from_it(
    settled: AgentHome,
) -> None:
    old = remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    new = proposed(settled, ON_30, store="episodic")
    done = commit(settled, "main", new.number, replacing=True)
    episode = done.ids[0]
    assert episode.startswith("episode:")
    text = settled.text(HARBOUR)
    (fact,) = (line for line in text.splitlines() if ON_30 in line)
    assert episode in fact
    (retired,) = (line for line in text.splitlines() if ON_15 in line)
    assert f"superseded by {fact.rsplit(' ', 1)[1]}" in retired
    assert old in done.retired


def test_a_fact_of_no_named_entity_is_filed_under_the_one_that_it_corrects(settled: AgentHome) -> None:
    remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    new = proposed(settled, ON_30, store="semantic")
    done = commit(settled, "main", new.number, replacing=True)
    assert done.ids[0].startswith("entity:project--harbour#^")
    assert not any("General" in warning for warning in done.warnings)


def test_an_episode_gives_way_by_being_archived(settled: AgentHome) -> None:
    old = remember(settled, "The ferry leaves at 9:00", store="episodic")
    new = proposed(settled, "The ferry leaves at 10:00", store="episodic")
    assert new.conflicts_with == (old,)
    done = commit(settled, "main", new.number, replacing=True)
    with settled.open() as workspace:
        assert old not in statuses(workspace, "When does the ferry leave?")
        assert done.ids[0] in statuses(workspace, "When does the ferry leave?")
        score = workspace.show(old).score
        assert score is not None
        assert score.status == "archived"
        said = [entry.summary for entry in workspace.audit_log(action="ARCHIVE").entries]
        assert any(old in summary and "accepted proposal #1" in summary for summary in said)
        workspace.undo(confirmed=True)
        assert old in statuses(workspace, "When does the ferry leave?")


@pytest.mark.parametrize("named", [False, True])
def test_a_conversation_stays_for_what_else_was_said_in_it(settled: AgentHome, named: bool) -> None:
    said = "User: Remember that Priya is away.\n\nUser: The ferry leaves at 9:00"
    old = remember(settled, said, store="episodic")
    new = proposed(settled, "The ferry leaves at 10:00", store="episodic")
    assert new.conflicts_with == (old,)
    done = commit(settled, "person", new.number, replacing=[old] if named else True)
    assert done.retired == ()
    assert done.warnings == (f"#{new.number}: It contradicts {old}, which says more and still holds.",)
    with settled.open() as workspace:
        assert old in [hit.id for hit in workspace.search("is Priya away?").results]


def test_a_line_of_core_memory_gives_way_by_a_persons_word_that_names_it(settled: AgentHome) -> None:
    new = proposed(settled, "The production database is called pier", store="episodic")
    assert new.conflicts_with == (BASE,)
    before = settled.tracked()
    with pytest.raises(RoleRefused, match="core memory"):
        commit(settled, "main", new.number, replacing=True)
    with pytest.raises(RoleRefused):
        commit(settled, "main", new.number, replacing=[BASE])
    with pytest.raises(Refused, match=BASE):
        commit(settled, "person", new.number, replacing=True)
    assert settled.tracked() == before
    done = commit(settled, "person", new.number, replacing=[BASE])
    assert done.retired == (BASE,)
    core = settled.text("MEMORY.md")
    assert "called harbour" not in core
    assert core.index("called pier") > core.index("## Critical Facts")
    with settled.open() as workspace:
        workspace.undo(confirmed=True)
    assert settled.tracked() == before


def test_what_is_pinned_is_never_let_go_unnamed(settled: AgentHome) -> None:
    old = remember(settled, "The ferry leaves at 9:00", store="episodic", pinned=True)
    new = proposed(settled, "The ferry leaves at 10:00", store="episodic")
    with pytest.raises(RoleRefused, match="pinned"):
        commit(settled, "main", new.number, replacing=True)
    with pytest.raises(Refused, match="pinned"):
        commit(settled, "person", new.number, replacing=True)
    assert commit(settled, "person", new.number, replacing=[old]).retired == (old,)


def test_a_fact_of_a_pinned_entity_is_protected_with_it(settled: AgentHome) -> None:
    remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    with settled.open() as workspace:
        workspace.pin("project--harbour")
    new = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    with pytest.raises(RoleRefused, match="pinned"):
        commit(settled, "main", new.number, replacing=True)


def test_a_note_of_the_vault_goes_by_a_persons_word_alone(settled: AgentHome) -> None:
    old = remember(settled, "The ferry leaves at 9:00", store="vault")
    new = proposed(settled, "The ferry leaves at 10:00", store="episodic")
    if old not in new.conflicts_with:
        mark(settled, new.number, old)
    with pytest.raises(RoleRefused, match="vault"):
        commit(settled, "main", new.number, replacing=True)
    assert commit(settled, "person", new.number, replacing=[old]).retired == (old,)


def mark(home: AgentHome, number: int, *memories: str) -> None:
    """Mark a proposal by hand as contradicting memories, as whoever can write the file may."""
    heading = f"## Proposal #{number}"
    lines = [
        f"{heading} ⚠️ CONFLICT with {', '.join(memories)}" if line.split(" ⚠️")[0] == heading else line
        for line in home.text(FILE).split("\n")
    ]
    home.write(FILE, "\n".join(lines))


def test_a_mark_is_no_proof(settled: AgentHome) -> None:
    new = proposed(settled, "The ferry leaves at 10:00", store="episodic")
    forged = (
        "entity:person--robin#^tea1", "entity:person--nobody#^x1", "episode:1999-01-01:00:00", "entity:person--robin",
        "file:memory/heartbeat-state.json#L1", "file:../../etc/passwd#L1", "vault:promise", BASE,
    )  # fmt: skip
    mark(settled, new.number, *forged)
    before = settled.tracked()
    done = commit(settled, "main", new.number, replacing=True)
    assert (done.committed, done.retired) == ((new.number,), ())
    untouched = set(before) - {FILE}
    assert all(settled.tracked()[path] == before[path] for path in untouched)


def test_a_fact_without_an_id_is_found_by_what_it_says(settled: AgentHome) -> None:
    path = "memory/graph/entities/tool--ferry.md"
    settled.write(
        path,
        "# tool--ferry\n\n<!-- Type: tool | Label: Ferry -->\n\n## Facts\n"
        "- The ferry is white\n- The ferry leaves at 9:00\n",
    )
    new = proposed(settled, "The ferry leaves at 10:00", store="semantic", entities=["tool--ferry"])
    assert new.conflicts_with == ("entity:tool--ferry",)
    done = commit(settled, "main", new.number, replacing=True)
    held, superseded = settled.text(path).split("## Superseded")
    assert "9:00" in superseded
    assert "10:00" in held
    assert "white" in held
    (retired,) = done.retired
    with settled.open() as workspace:
        assert workspace.show(retired).validity.superseded_by == done.ids[0]


def test_what_a_group_proposes_takes_nothing_of_the_owners_unnamed(settled: AgentHome) -> None:
    old = remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    with settled.open("agent:scout") as workspace:
        number = workspace.propose(ON_30, store="semantic", scope="group:family").number
    with pytest.raises(RoleRefused, match="the owner’s own"):
        commit(settled, "main", number, replacing=True)
    with pytest.raises(Refused, match="the owner’s own"):
        commit(settled, "person", number, replacing=True)
    done = commit(settled, "person", number, replacing=[old])
    assert done.retired == (old,)
    with settled.open() as workspace:
        told = workspace.scoped("group:family").search("deadline of Harbour").results
        assert all("15" not in hit.snippet for hit in told)


def test_a_group_corrects_what_it_was_told_itself(settled: AgentHome) -> None:
    old = remember(settled, "The ferry leaves at 9:00", store="episodic", scope="group:family")
    with settled.open("agent:scout") as workspace:
        number = workspace.propose("The ferry leaves at 10:00", store="episodic", scope="group:family").number
    assert commit(settled, "main", number, replacing=True).retired == (old,)


def test_only_what_is_named_gives_way(settled: AgentHome) -> None:
    fact = remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    episode = remember(settled, ON_15, store="episodic")
    new = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    assert set(new.conflicts_with) == {fact, episode}
    with pytest.raises(InvalidInput, match="tea1"):
        commit(settled, "person", new.number, replacing=[fact, "entity:person--robin#^tea1"])
    done = commit(settled, "person", new.number, replacing=[fact])
    assert done.retired == (fact,)
    assert done.warnings == (f"#{new.number}: It contradicts {episode}, which still holds.",)


def test_no_line_of_core_memory_goes_along_unnamed(settled: AgentHome) -> None:
    said = "The ferry leaves at 9:00"
    episode = remember(settled, said, store="episodic")
    with settled.open() as workspace:
        workspace.core_add("Critical Facts", said)
    new = proposed(settled, "The ferry leaves at 10:00", store="episodic")
    item = next(memory for memory in new.conflicts_with if memory.startswith("core:"))
    assert episode in new.conflicts_with
    before = settled.tracked()
    with pytest.raises(Refused, match="would leave core memory"):
        commit(settled, "person", new.number, replacing=[episode])
    assert settled.tracked() == before
    assert set(commit(settled, "person", new.number, replacing=[episode, item]).retired) == {episode, item}


def test_what_a_person_rejected_is_let_replace_by_a_person_alone(settled: AgentHome) -> None:
    remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    first = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    with settled.open() as workspace:
        workspace.proposal_reject([first.number])
    again = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    with pytest.raises(RoleRefused, match="rejected"):
        commit(settled, "main", again.number, replacing=True)
    assert commit(settled, "person", again.number, replacing=True).retired


def test_one_of_two_is_kept_in_place_of_memory(settled: AgentHome) -> None:
    old = remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    first = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    second = proposed(
        settled, "The deadline of Harbour is April 2", store="semantic", entities=["project:Harbour"]
    )
    assert set(second.conflicts_with) == {f"#{first.number}", old}
    with settled.open("main") as workspace:
        done = workspace.proposal_settle(
            [second.number], [first.number], replacing=True, expected={second.number: second.content}
        )
    assert (done.committed, done.rejected, done.retired) == ((second.number,), (first.number,), (old,))
    holding, superseded = settled.text(HARBOUR).split("## Superseded")
    assert "April 2" in holding
    assert "March" not in holding
    assert "March 15" in superseded


def test_a_proposal_that_changed_since_takes_the_place_of_nothing(settled: AgentHome) -> None:
    remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    new = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    before = settled.tracked()
    with pytest.raises(Stale):
        commit(settled, "main", new.number, replacing=True, expected={new.number: ON_15})
    assert settled.tracked() == before


def test_proposing_alone_retires_nothing_whatever_it_says(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.edit_file(
            "workbench.toml", '[proposals]\nmode = "auto"\ntrusted = ["scout"]\nauto_confidence = "low"\n'
        )
    old = remember(settled, "The ferry leaves at 9:00", store="episodic")
    new = proposed(
        settled,
        "The ferry leaves at 10:00",
        store="episodic",
        confidence="high",
        trigger=f"replacing {old}",
        origins=[old],
    )
    assert new.status == "conflict"
    with settled.open("agent:scout") as workspace:
        with pytest.raises(RoleRefused):
            workspace.proposal_commit([new.number], replacing=True)
        assert old in statuses(workspace, "When does the ferry leave?")


def test_what_contradicted_a_proposal_contradicts_the_memory_that_it_became(settled: AgentHome) -> None:
    first = proposed(settled, ON_15, store="semantic", entities=["project:Harbour"])
    second = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    done = commit(settled, "main", first.number)
    with settled.open("reader") as workspace:
        (left,) = workspace.proposals().proposals
    assert (left.status, left.conflicts_with) == ("conflict", (done.ids[0],))
    assert commit(settled, "main", second.number, replacing=True).retired == (done.ids[0],)


def test_what_gave_way_contradicts_nothing_that_still_waits(settled: AgentHome) -> None:
    old = remember(settled, ON_15, store="semantic", entities=["project:Harbour"])
    first = proposed(settled, ON_30, store="semantic", entities=["project:Harbour"])
    second = proposed(settled, "The deadline of Harbour is April 2", store="semantic")
    done = commit(settled, "main", first.number, replacing=True)
    with settled.open("reader") as workspace:
        left = {each.number: each for each in workspace.proposals().proposals}[second.number]
    assert left.conflicts_with == (done.ids[0],)
    assert old not in settled.text(FILE)
