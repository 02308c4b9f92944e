"""Proposals of sub-agents: appended safely, marked, decided and cleared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.markdown.hostile_text import any_bytes, texts, worded
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.markdown.markup import clean_item
from workbench.engine.markdown.proposals import (
    Mark,
    MemoryProposal,
    PendingMemories,
    append_to,
    written_numbers,
)

SAMPLE = """# Pending Memory Proposals

<!-- Sub-agents append proposals here. Main agent reviews and commits. -->

---
## Proposal #1
- **From**: researcher
- **Timestamp**: 2026-02-03T10:00:00Z
- **Trigger**: auto-detect
- **Suggested store**: semantic
- **Content**: User prefers academic sources
- **Entities**: [preference--source-quality, tool--x]
- **Confidence**: medium
- **Core-worthy**: no
- **Status**: pending

---
## Proposal #3 ⚠️ CONFLICT with #4
- **From**: researcher
- **Content**: Deadline is March 15
- **Status**: conflict — see #4

## Proposal #4 ⚠️ CONFLICT with #3
- From: coder
- Content: Deadline is March 30
- Core-worthy: yes
- Status: conflict — see #3
"""


def test_the_sample_is_read() -> None:
    pending = PendingMemories.parse(SAMPLE.encode())
    first, third, fourth = pending.proposals
    assert (first.sender, first.store, first.content, first.entities, first.confidence, first.status) == (
        "researcher",
        "semantic",
        "User prefers academic sources",
        ("preference--source-quality", "tool--x"),
        "medium",
        "pending",
    )
    assert (third.conflicts, fourth.conflicts, fourth.core_worthy) == ((4,), (3,), True)
    assert pending.problems == ()


def test_appending_leaves_what_is_there() -> None:
    pending = _read(append_to(SAMPLE.encode(), MemoryProposal("coder", "x"), 5))
    assert pending.proposals[-1].number == 5
    assert pending.render().startswith(SAMPLE.encode() + b"\n---\n## Proposal #5\n- **From**: coder\n")
    assert pending.remove([5]).render() == SAMPLE.encode()


def test_conflicts_are_marked_in_heading_and_status_and_come_off_again() -> None:
    pending = _read(SAMPLE.encode()).mark({1: Mark((3,)), 3: Mark((1, 4))})
    assert pending.source.line(6) == "## Proposal #1 ⚠️ CONFLICT with #3"
    assert [proposal.conflicts for proposal in pending.proposals] == [(3,), (1, 4), (3,)]
    cleared = pending.mark({1: Mark()})
    assert cleared.source.line(6) == "## Proposal #1"
    assert (cleared.proposals[0].status, cleared.proposals[0].conflicts) == ("pending", ())


def test_a_status_is_one_line() -> None:
    pending = _read(SAMPLE.encode())
    assert pending.defer([1]).render().decode() == SAMPLE.replace(
        "**Status**: pending", "**Status**: deferred"
    )
    with pytest.raises(NotFound, match="#9"):
        pending.defer([9])


def test_clearing_takes_the_rule_with_it() -> None:
    pending = PendingMemories.parse(SAMPLE.encode()).remove([1])
    assert (
        pending.render().decode()
        == SAMPLE[: SAMPLE.index("---")] + SAMPLE[SAMPLE.index("---\n## Proposal #3") :]
    )


def test_broken_parts_are_reported() -> None:
    pending = PendingMemories.parse(
        b"## Notes\n\n## Proposal #1\n- **Content**: a\n- **Status**: pending\n- **Status**: committed\n\n"
        b"## Proposal #1\n- **From**: x\n"
    )
    assert [proposal.number for proposal in pending.proposals] == [1, 2]
    assert pending.proposals[0].status == "pending"
    assert [problem.line for problem in pending.problems] == [1, 6, 8, 8]


@pytest.mark.parametrize("proposal", [MemoryProposal("a", " \n ")])
def test_a_proposal_without_content_is_refused(proposal: MemoryProposal) -> None:
    with pytest.raises(InvalidInput):
        append_to(b"", proposal, 1)


@given(contents=st.lists(worded, min_size=1, max_size=3), other=texts())
def test_no_text_forges_a_proposal_or_a_field(contents: list[str], other: str) -> None:
    file = b""
    for number, content in enumerate(contents, 1):
        proposal = MemoryProposal(
            other, content, trigger=other, store=other, entities=(other,), confidence=other
        )
        file = append_to(file, proposal, number)
    pending = _read(file)
    assert [proposal.content for proposal in pending.proposals] == [
        clean_item(content) for content in contents
    ]
    assert [proposal.number for proposal in pending.proposals] == list(range(1, len(contents) + 1))
    assert {proposal.status for proposal in pending.proposals} == {"pending"}
    assert not any(proposal.core_worthy or proposal.fields for proposal in pending.proposals)
    assert pending.problems == ()
    decided = pending.defer([1])
    assert [proposal.content for proposal in decided.proposals] == [
        clean_item(content) for content in contents
    ]


@given(any_bytes, worded, st.text(max_size=20))
def test_appending_to_any_file_keeps_what_is_there(content: bytes, said: str, sender: str) -> None:
    proposal = MemoryProposal(sender, said, store="episodic")
    number = max([0, *written_numbers(content), *(each.number for each in _read(content).proposals)]) + 1
    if number > 99_999_999:
        return
    after = _read(append_to(content, proposal, number))
    assert after.proposals[-1].number == number
    assert after.proposals[-1].content == clean_item(said)
    assert after.proposals[-1].status == "pending"
    assert [each.number for each in after.proposals[:-1]] == [
        each.number for each in _read(content).proposals
    ]
    assert after.render().startswith(content)


def test_marks_name_proposals_and_memories_and_come_off_again() -> None:
    pending = _read(SAMPLE.encode())
    named = Mark((3,), ("episode:2026-02-02:14:30#2", "vault:a, b c", "entity:person--x#^f7k2"))
    marked = pending.mark({1: named})
    (first, *_) = marked.proposals
    assert (first.conflicts, first.against) == (named.others, named.memories)
    assert "## Proposal #1 ⚠️ CONFLICT with #3, episode:2026-02-02:14:30#2, vault:a%2C%20b%20c, " in (
        marked.source.text
    )
    assert marked.mark({1: Mark()}).render() == pending.render()


def test_what_is_deferred_keeps_that_word_whatever_it_contradicts() -> None:
    deferred = _read(SAMPLE.encode()).defer([1, 4])
    assert [each.is_deferred for each in deferred.proposals] == [True, False, True]
    marked = deferred.mark({1: Mark((3,)), 4: Mark()})
    assert [each.status for each in marked.proposals] == ["deferred", "conflict — see #4", "deferred"]
    assert marked.proposals[0].conflicts == (3,)


def test_a_doubled_number_can_be_written_anew() -> None:
    doubled = _read(b"## Proposal #1\n- **Content**: a\n\n## Proposal #1\n- **Content**: b\n")
    assert [each.number for each in doubled.proposals] == [1, 2]
    healed = doubled.renumber({2: 7})
    assert [(each.number, each.content) for each in healed.proposals] == [(1, "a"), (7, "b")]
    assert not healed.problems


def _read(content: bytes) -> PendingMemories:
    return PendingMemories.parse(content)
