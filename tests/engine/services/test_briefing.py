"""What a session begins with: core memory, the log of two days, contradictions, and what became of proposals."""

from __future__ import annotations

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine.results.audit import Brief, OwnProposal
from workbench.engine.tokens import count_tokens

ON_MARCH_15 = "The deadline of Harbour is March 15"
ON_MARCH_30 = "The deadline of Harbour is March 30"
TODAY = "memory/episodes/2026-02-02.md"


def brief(home: AgentHome, role: str = "main") -> Brief:
    with home.open(role) as workspace:
        return workspace.brief()


def propose(home: AgentHome, text: str, agent: str = "researcher") -> int:
    with home.open(f"agent:{agent}") as workspace:
        number = workspace.propose(text).number
    assert number is not None
    return number


def told(own: tuple[OwnProposal, ...]) -> list[tuple[int, str, str]]:
    return [(each.number, each.status, each.reason) for each in own]


def remember(home: AgentHome, *texts: str) -> None:
    with home.open("main") as workspace:
        for text in texts:
            workspace.remember(text, store="episodic")


# The log of two days (Moltbot’s memory documents: “Read today + yesterday at session start”)


def test_a_session_begins_with_the_log_of_today_and_yesterday_newest_first(settled: AgentHome) -> None:
    settled.write("memory/2026-02-02.md", "# 2026-02-02\n\n- Flat notes of today\n")
    remember(settled, "The crane arrived")
    log = brief(settled).log
    assert [(entry.day, entry.text.strip()) for entry in log.entries] == [
        ("2026-02-02", "The crane arrived"),
        ("2026-02-02", "- Flat notes of today"),
        ("2026-02-01", "Robin booked the ferry to Gotland."),
        ("2026-02-01", "Backups run at midnight."),
    ]
    assert log.omitted == ()
    settled.clock.advance(days=1)
    assert {entry.day for entry in brief(settled).log.entries} == {"2026-02-02"}


def test_the_days_are_those_of_the_workspace(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_TIMEZONE", "Pacific/Kiritimati")
    # At 13:30 UTC it is the third there.
    assert brief(settled).log.entries == ()


def test_what_does_not_fit_is_counted_by_its_file(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.edit_file("workbench.toml", "[brief]\nlog_tokens = 120\n")
    remember(settled, *(f"Crate number {number} was weighed and stored" for number in range(12)))
    found = brief(settled)
    log = found.log
    assert 0 < len(log.entries) < 12
    assert log.entries[0].text == "Crate number 11 was weighed and stored"
    assert log.tokens <= log.budget == 120
    assert log.tokens == sum(count_tokens(f"{entry.id} {entry.text}") for entry in log.entries)
    left = {each.path: each.entries for each in log.omitted}
    assert left == {TODAY: 12 - len(log.entries), "memory/episodes/2026-02-01.md": 2}
    assert found.core == settled.text("MEMORY.md").rstrip("\n"), "core memory is never cut by it"


def test_one_long_entry_does_not_hide_the_others(settled: AgentHome) -> None:
    remember(
        settled, "The crane arrived", "\n".join(f"Line {number} of a long story" for number in range(400))
    )
    long, short = brief(settled).log.entries[:2]
    assert long.cut
    assert long.text.startswith("Line 0 of a long story\n")
    assert long.text.endswith(" …")
    assert count_tokens(long.text) <= 510
    assert (short.text, short.cut) == ("The crane arrived", False)


def test_a_budget_of_nothing_leaves_the_log_out(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.edit_file("workbench.toml", "[brief]\nlog_tokens = 0\n")
    log = brief(settled).log
    assert (log.entries, log.omitted) == ((), ())


def test_what_was_forgotten_is_not_in_it(settled: AgentHome) -> None:
    remember(settled, "The crane arrived", "The lorry left")
    with settled.open() as workspace:
        workspace.forget(ids=[workspace.brief().log.entries[1].id], apply=True)
    assert "The crane arrived" not in repr(brief(settled))
    assert "The lorry left" in repr(brief(settled))


@pytest.mark.parametrize("role", ["person", "main", "agent:researcher", "reader"])
def test_every_role_of_the_whole_memory_reads_it(settled: AgentHome, role: str) -> None:
    assert brief(settled, role).log.entries


def test_a_scope_begins_with_nothing_of_the_owners_log(settled: AgentHome) -> None:
    remember(settled, "The owner keeps a lighthouse")
    with settled.open("main") as workspace:
        workspace.remember("The tent is in the cellar", store="episodic", scope="group:family")
    with settled.open("main") as workspace:
        found = workspace.scoped("group:family").brief()
    assert [memory.text for memory in found.memories] == ["The tent is in the cellar"]


def test_what_changes_least_comes_first(settled: AgentHome) -> None:
    order = list(brief(settled).__dataclass_fields__)
    assert order[:4] == ["core", "tokens", "cap", "log"]
    assert order[-1] == "notices"


def test_one_file_that_cannot_be_read_costs_nothing_else(settled: AgentHome) -> None:
    remember(settled, "The crane arrived")
    number = propose(settled, "Robin collects maps")
    pending = settled.root / "memory/meta/pending-reflection.md"
    pending.unlink(missing_ok=True)
    pending.symlink_to(settled.root.parent / "elsewhere.md")
    found = brief(settled, "agent:researcher")
    assert "The crane arrived" in [entry.text for entry in found.log.entries]
    assert told(found.own_proposals) == [(number, "pending", "")]
    assert found.proposals_waiting == 1
    assert sum("pending-reflection.md" in each for each in found.notices) == 1


# Contradicting proposals (design document §13.6: the user is asked at the next interaction)


def test_proposals_that_contradict_each_other_are_named(settled: AgentHome) -> None:
    first, second = propose(settled, ON_MARCH_15), propose(settled, ON_MARCH_30, "coder")
    found = brief(settled)
    assert found.conflicts == ((first, second),)
    notice = next(each for each in found.notices if "contradict each other" in each)
    assert f"#{first} “{ON_MARCH_15}” (researcher) and #{second} “{ON_MARCH_30}” (coder)" in notice
    assert f"workbench proposals settle {first} {second}" in notice
    with settled.open() as workspace:
        workspace.proposal_defer([second])
    assert brief(settled).conflicts == (), "what is left to a reflection is decided there"


def test_only_a_few_contradictions_are_told_in_words(settled: AgentHome) -> None:
    for day in range(15, 19):
        propose(settled, f"The deadline of Harbour is March {day}")
    found = brief(settled)
    assert len(found.conflicts) > 3
    told_of = [each for each in found.notices if "contradict" in each]
    assert len(told_of) == 4
    assert (
        told_of[-1]
        == f"{len(found.conflicts) - 3} more contradictions between proposals: workbench proposals"
    )


# What became of an agent’s own proposals


def test_an_agent_is_told_what_became_of_its_proposals(settled: AgentHome) -> None:
    stored, refused, waits = (
        propose(settled, f"Robin collects {what}") for what in ("maps", "bells", "kites")
    )
    foreign = propose(settled, "The roof was painted red", "coder")
    with settled.open("main") as workspace:
        became = workspace.proposal_commit([stored]).ids[0]
        workspace.proposal_reject([refused, foreign], reason="nobody | said so")
    found = brief(settled, "agent:researcher")
    assert told(found.own_proposals) == [
        (refused, "rejected", "nobody | said so"),
        (stored, "committed", ""),
        (waits, "pending", ""),
    ]
    assert f"Your proposal #{refused} “Robin collects bells” was rejected: nobody | said so" in found.notices
    assert f"Your proposal #{stored} “Robin collects maps” was stored as {became}." in found.notices
    assert f"Your proposal waits for a verdict: #{waits}." in found.notices
    assert told(brief(settled, "agent:coder").own_proposals) == [(foreign, "rejected", "nobody | said so")]
    for role in ("main", "person", "reader"):
        assert brief(settled, role).own_proposals == ()


def test_a_verdict_is_told_once_but_again_by_the_same_door(settled: AgentHome) -> None:
    refused = propose(settled, "Robin collects bells")
    with settled.open() as workspace:
        workspace.proposal_reject([refused])
    with settled.open("agent:researcher") as agent:
        first = agent.brief()
        assert told(first.own_proposals) == [(refused, "rejected", "")]
        assert agent.brief().own_proposals == first.own_proposals
    assert brief(settled, "agent:researcher").own_proposals == ()


def test_only_the_newest_verdicts_and_proposals_are_listed(settled: AgentHome) -> None:
    numbers = [propose(settled, f"Robin collects kind {number} of stone") for number in range(36)]
    with settled.open() as workspace:
        workspace.proposal_reject(numbers[:12])
    found = brief(settled, "agent:researcher")
    own = found.own_proposals
    assert [each.status for each in own] == ["rejected"] * 10 + ["pending"] * 20
    assert own[-1].number == numbers[-1]
    assert any(each.startswith("2 more of your proposals were decided") for each in found.notices)


def test_a_verdict_that_was_taken_back_is_none(settled: AgentHome) -> None:
    number = propose(settled, "Robin collects bells")
    with settled.open() as workspace:
        workspace.proposal_reject([number])
        workspace.undo()
    assert told(brief(settled, "agent:researcher").own_proposals) == [(number, "pending", "")]


def test_a_reason_cannot_pass_for_a_verdict_on_another(settled: AgentHome) -> None:
    first, second = propose(settled, "Robin collects bells"), propose(settled, "Robin collects maps")
    with settled.open() as workspace:
        workspace.proposal_reject(
            [first], reason=f"x\nVerdict: {second} | researcher | committed | a | b | c"
        )
    assert [(each.number, each.status) for each in brief(settled, "agent:researcher").own_proposals] == [
        (first, "rejected"),
        (second, "pending"),
    ]


def test_a_purge_takes_the_words_of_a_verdict_along(settled: AgentHome) -> None:
    number = propose(settled, "Robin hides amber beads under the stairs")
    with settled.open() as workspace:
        became = workspace.proposal_commit([number]).ids[0]
        workspace.forget(ids=[became], apply=True, purge_history=True)
    assert "amber" not in settled.git("log", "--format=%B")
