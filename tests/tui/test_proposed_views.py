"""What agents propose as it is drawn: at every width, whatever the texts say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from tests.tui.test_text import HOSTILE
from workbench.display.ink import line_width, plain_text
from workbench.engine.results.reviews import Proposal
from workbench.tui.bench import Link
from workbench.tui.decisions import APPROVED, DEFERRED, REJECTED, UNDECIDED
from workbench.tui.query import parse_query
from workbench.tui.verdicts import Verdict, Waiting, numbered, reworded, settling, waiting
from workbench.tui.views.inbox import FIELDS, InboxRows
from workbench.tui.views.proposed import (
    agent_line,
    agents_head,
    by_agent,
    entity_link,
    proposal_line,
    proposal_matches,
    unreadable_line,
)
from workbench.tui.views.proposed_detail import (
    Around,
    agent_lines,
    context_lines,
    proposal_lines,
    unreadable_lines,
)

NOW = datetime(2026, 2, 2, 14, 30, tzinfo=UTC)
WIDTHS = (24, 38, 63, 64, 100, 170)
PLAIN = Proposal(
    1, "researcher", NOW - timedelta(minutes=5), "asked", "semantic", "The radar is a Furuno", ("tool:Radar",),
    "high", core_worthy=False, status="pending",
)  # fmt: skip


def proposal(number: int, text: str, *against: str, **other: object) -> Proposal:
    status: Literal["pending", "conflict"] = "conflict" if against else "pending"
    made = replace(PLAIN, number=number, content=text, conflicts_with=against, status=status)
    return replace(made, **other)  # type: ignore[arg-type]  # fields differ in type


def hostile() -> list[Proposal]:
    """Return a proposal for every hostile text, which stands wherever text can; each contradicts the next."""
    return [
        replace(
            PLAIN, number=at, from_=text[:200], trigger=text, store=text[:80], content=text, entities=(text[:200],),
            confidence=text[:20], core_worthy=True, conflicts_with=(text[:80], f"#{(at + 1) % len(HOSTILE)}"),
            repeats=text[:80] or None, type=text[:40], tags=(text[:40],), origins=(text[:80],),
            scope=f"person:{text[:80]}",
        )
        for at, text in enumerate(HOSTILE)
    ]  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_proposals_fit_and_print_as_themselves(width: int) -> None:
    proposals = hostile()
    by_number = {each.number: each for each in proposals}
    shown = [Waiting(each, decision) for each in proposals for decision in (UNDECIDED, DEFERRED)]
    around = Around({text[:80]: text for text in HOSTILE}, (Link("entity:a--b", "A link " * 20),))
    lines = [*agents_head(shown, width), unreadable_line(HOSTILE, width)]
    lines += unreadable_lines(HOSTILE, "memory/meta/pending-memories.md", width)
    for each in shown:
        lines += [proposal_line(each, width), *proposal_lines(each, by_number, None, NOW, width)]
        lines += [*proposal_lines(each, by_number, around, NOW, width)]
        lines += context_lines(each, by_number, around, width)
    for agent in by_agent(shown):
        lines += [agent_line(agent, width), *agent_lines(agent, width)]
    for line in lines:
        assert line_width(line) <= width, plain_text(line)
        assert all(span.text.isprintable() for span in line)


@pytest.mark.parametrize(("width", "is_told"), [(80, True), (50, False)])
def test_it_says_for_whom_it_is(width: int, is_told: bool) -> None:
    one = proposal(1, "Bread is in the blue tin", scope="person:mara")
    assert ("for Mara" in plain_text(proposal_line(Waiting(one), width))) == is_told
    shown = "\n".join(plain_text(line) for line in proposal_lines(Waiting(one), {1: one}, None, NOW, width))
    assert "for          Mara" in shown


def test_rows_stand_below_their_agents_before_those_of_a_reflection() -> None:
    held = waiting([PLAIN, proposal(2, "b", from_="coder"), proposal(3, "c")], ())
    rows = InboxRows((), "What r-1 found", held, ("12: broken",))
    keys = [rows.key(at) for at in range(len(rows))]
    assert [key for key in keys if key] == [
        "unreadable:", "agent:researcher", "proposal:1", "proposal:3", "agent:coder", "proposal:2", "overview:",
    ]  # fmt: skip
    assert "one part of what agents propose cannot be read" in plain_text(rows.line(0, 80))
    assert rows.next_undecided("proposal:3") == "proposal:2"
    assert rows.next_undecided("proposal:2") == "proposal:1"


def test_what_is_decided_shows_before_it_is_written() -> None:
    two, three = proposal(2, "b", status="deferred"), proposal(3, "c")
    under_way = [Verdict(keep=(PLAIN,)), Verdict(refuse=(three,))]
    assert [each.decision for each in waiting([PLAIN, two, three], under_way)] == [
        APPROVED,
        DEFERRED,
        REJECTED,
    ]


def test_a_choice_between_two_settles_both_and_among_more_only_the_one() -> None:
    one, two = proposal(1, "a", "#2"), proposal(2, "b", "#1")
    both = {1: one, 2: two}
    assert settling(one, both, "this") == Verdict(keep=(one,), refuse=(two,))
    assert settling(one, both, "that") == Verdict(keep=(two,), refuse=(one,))
    assert settling(one, both, "both") == Verdict(keep=(one, two), both=True)
    three = proposal(3, "c", "#1")
    one = replace(one, conflicts_with=("#2", "#3"))
    verdict = settling(one, {1: one, 2: two, 3: three}, "that")
    assert (verdict.keep, verdict.refuse, verdict.reason) == ((), (one,), "it contradicts #2, #3")
    against = proposal(4, "d", "entity:tool--radar#^f1")
    assert settling(against, {4: against}, "that").reason == "it contradicts entity:tool--radar#^f1"
    assert settling(against, {4: against}, "this").replacing == ("entity:tool--radar#^f1",)
    assert settling(against, {4: against}, "both") == Verdict(keep=(against,), both=True)
    # The other side may have been decided meanwhile.
    assert settling(two, {2: two}, "this") == Verdict(keep=(two,))


def test_what_is_left_out_of_a_contradiction_is_stored_only_where_it_contradicts_nothing_else() -> None:
    one, two = proposal(1, "a", "#2"), proposal(2, "b", "#1", "#3")
    assert settling(one, {1: one, 2: two}, "that").keep == ()


def test_verdicts_are_told_in_words() -> None:
    verdict = Verdict(keep=(PLAIN,), refuse=(proposal(2, "b"),))
    assert verdict.will() == "store #1, refuse #2"
    assert verdict.done() == "Stored #1. Refused #2. u takes it back."
    assert verdict.expected == {1: "The radar is a Furuno", 2: "b"}
    many = [proposal(at, "x") for at in range(1, 10)]
    assert numbered(many) == "#1, #2, #3, #4, #5, #6 and 3 more"
    assert Verdict(keep=(PLAIN,), store="vault").done().startswith("Stored #1 in the vault store.")
    assert "Left #1 to the next reflection." in Verdict(defer=(PLAIN,)).done()


def test_storing_one_side_alone_leaves_the_other_waiting() -> None:
    one, two = proposal(1, "a", "#2", "#3", "entity:x"), proposal(2, "b", "#1")
    assert Verdict(keep=(one,), refuse=(two,)).left_waiting == ("#3",)
    assert Verdict(keep=(one,)).left_waiting == ("#2", "#3")
    assert Verdict(refuse=(one,)).left_waiting == ()


def test_both_sides_stand_beside_each_other_where_there_is_room() -> None:
    one, two = (
        proposal(1, "It starts on May 2", "#2"),
        proposal(2, "It starts on May 16", "#1", from_="coder"),
    )
    by_number = {1: one, 2: two}
    wide = [plain_text(line) for line in proposal_lines(Waiting(one), by_number, Around(), NOW, 90)]
    narrow = [plain_text(line) for line in proposal_lines(Waiting(one), by_number, Around(), NOW, 50)]
    assert any("< this, #1 from researcher" in line and "> that, #2 from coder" in line for line in wide)
    assert not any("< this" in line and "> that" in line for line in narrow)
    assert any(line.startswith("> that, #2 from coder") for line in narrow)


def test_the_sign_of_a_key_stands_at_the_side_which_that_key_takes() -> None:
    one = proposal(1, "It starts on May 2", "#2", "core:plans:it-starts")
    by_number = {1: one, 2: proposal(2, "It starts on May 16", "#1", from_="coder")}
    lines = [plain_text(line) for line in proposal_lines(Waiting(one), by_number, Around(), NOW, 50)]
    that = next(at for at, line in enumerate(lines) if line.startswith("> that, what memory says"))
    assert any(line.startswith("  and #2 from coder") for line in lines[that:])
    assert any(line.startswith(">  refuse #1; memory is right") for line in lines)


@pytest.mark.parametrize(
    ("filtered", "passes"),
    [
        ("from:res", True), ("from:coder", False), ("is:conflict", True), ("is:known", False), ("store:sem", True),
        ("furuno", True), ("#1", True), ("kind:proposal", True), ("decision:deferred", False), ("-is:core", True),
    ],
)  # fmt: skip
def test_the_filter_knows_proposals(filtered: str, passes: bool) -> None:
    each = Waiting(replace(PLAIN, conflicts_with=("#2",)))
    assert proposal_matches(parse_query(filtered, FIELDS, NOW.date()), each, NOW.date()) is passes


@pytest.mark.parametrize(
    ("named", "link"),
    [
        ("tool:Radar", "entity:tool--radar"), ("person--ines", "entity:person--ines"),
        ("entity:person--ines", "entity:person--ines"), ("Radar", ""), ("9:Radar", ""),
        ("preference:Tea", "entity:preference--tea"), ("tool:", ""),
    ],
)  # fmt: skip
def test_what_it_is_about_leads_to_the_entity(named: str, link: str) -> None:
    assert entity_link(named) == link


def test_an_empty_rewording_is_not_stored() -> None:
    draft = reworded(PLAIN)
    assert not draft.touched
    assert draft.written(0, "  ").problem
    assert not draft.written(0, "The radar is old").problem
