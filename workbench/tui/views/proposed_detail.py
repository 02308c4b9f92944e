"""Draws one proposal of an agent to decide on: what would be remembered, who says so, and what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.display.cells import plain, wrap
from workbench.display.diffing import compare_words
from workbench.display.ink import BLANK, Line, Span, column, cut, flow, ink, spread, wrap_line
from workbench.engine.clock import in_zone
from workbench.tui.decisions import THAT, THIS
from workbench.tui.verdicts import Verdict, contradicted_memories, key_of, rivals, settling
from workbench.tui.views.boxes import BOXES, CONFIDENCES
from workbench.tui.views.contradiction import BESIDE_FROM, BETWEEN, side_by_side
from workbench.tui.views.dates import how_long_ago, short_moment
from workbench.tui.views.memory import (
    STORE_SIGNS,
    link_lines,
    link_role,
    section,
    store_of_id,
    store_sign,
)
from workbench.tui.views.proposed import AGENT_SIGN, agent_title, entity_link, store_of
from workbench.tui.views.review_item import link_of
from workbench.tui.views.scopes import knowers
from workbench.tui.views.verdict_lines import LONGEST, key_lines, text_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from workbench.display.diffing import Piece
    from workbench.engine.results.reviews import Proposal
    from workbench.tui.bench import Link
    from workbench.tui.verdicts import Waiting
    from workbench.tui.views.proposed import Agent

_LABEL = 13
_MOST_SIDES = 4
_KNOWN = "= Something says the same already."
_AT_ONCE = (
    "What an agent proposes is stored as soon as you approve it: whatever you decide with one key is one commit, and "
    "u takes it back. What a reflection proposes is collected below and written with A."
)


@dataclass(frozen=True, slots=True)
class Around:
    """What memory says about a proposal.

    Args:
        said: The words of memories that it contradicts, repeats or names, by link; an empty text where it is not there.
        links: Further memories that have to do with it.
    """

    said: Mapping[str, str] = field(default_factory=dict)
    links: tuple[Link, ...] = ()


def proposal_lines(
    waiting: Waiting, by_number: Mapping[int, Proposal], around: Around | None, now: datetime, width: int
) -> list[Line]:
    """Draw a proposal in full.

    Args:
        waiting: The proposal, and what is decided about it already.
        by_number: All that wait.
        around: None while it is looked for.
        now: In the workspace's zone.
        width: Cells.
    """
    proposal = waiting.proposal
    lines = _head(waiting, now, width)
    if proposal.conflicts_with:
        lines += _contradiction(proposal, by_number, around, width)
    else:
        lines += [BLANK, *text_lines(proposal.content, width)]
    if proposal.repeats:
        lines += _repeated(proposal.repeats, by_number, around, width)
    lines += [BLANK, *key_lines(_verbs(proposal, by_number), width)]
    lines += _facts(proposal, around, width)
    if around is None:
        lines += [*section("Related"), (Span("looking…", "faint"),)]
    elif around.links:
        lines += [*section("Related"), *link_lines(around.links, width)]
    return lines


def agent_lines(agent: Agent, width: int) -> list[Line]:
    """Draw what an agent proposes as a whole: how many, what a decision here reaches, and when it takes effect."""
    ready = sum(each.is_open and not each.proposal.conflicts_with for each in agent.held)
    counts = f"{agent.undecided} of {len(agent.held)} undecided"
    lines: list[Line] = [
        cut((Span(f"{AGENT_SIGN} ", "decide"), ink(agent_title(agent.name), "strong")), width),
        (ink(counts, "soft", width),),
        BLANK,
        *((Span(piece, "soft"),) for piece in wrap(_AT_ONCE, width)),
    ]
    if agent.undecided:
        approve = f"stores {'the one' if ready == 1 else f'all {ready}'} that contradicts nothing"
        approve = approve if ready == 1 else approve.replace("contradicts", "contradict")
        keys = [("a", approve)] if ready else []
        keys += [("r", "refuses what is undecided"), ("d", "leaves it to the next reflection")]
        lines += [BLANK, *key_lines(keys, width)]
    return lines


def unreadable_lines(problems: Sequence[str], path: str, width: int) -> list[Line]:
    """Draw the parts of the file that cannot be read, with the way there."""
    lines: list[Line] = [(ink("Parts of what agents propose cannot be read", "strong", width),), BLANK]
    for problem in problems[: _MOST_SIDES * 3]:
        for at, piece in enumerate(wrap(problem, max(8, width - 2), limit=4)):
            lines.append((Span("! " if at == 0 else "  ", "decide"), Span(piece)))
    link = f"file:{path}"
    return [*lines, BLANK, cut((ink(path, link_role(link), link=link),), width)]


def context_lines(
    waiting: Waiting, by_number: Mapping[int, Proposal], around: Around | None, width: int
) -> list[Line]:
    """Draw what one wants to see of a proposal while writing in it."""
    proposal = waiting.proposal
    lines: list[Line] = []
    if proposal.repeats:
        lines += _repeated(proposal.repeats, by_number, around, width)
    for head, text, link in _others(proposal, by_number, around):
        title = ink(f"It contradicts {head}", "soft", width)
        lines += [BLANK, (title,), *text_lines(text, width), *_link(link, width)]
    return [*lines, *_facts(proposal, around, width)]


def _head(waiting: Waiting, now: datetime, width: int) -> list[Line]:
    proposal = waiting.proposal
    store = store_of(proposal)
    left = (
        Span(f"{STORE_SIGNS[store]} ", f"store.{store}"),
        ink(proposal.store or "any store", f"store.{store}+strong"),
        Span(" memory, proposed", "soft"),
    )
    box = BOXES[waiting.decision]
    word = "left to the next reflection" if waiting.decision == "deferred" else waiting.decision
    state: list[Line] = [(Span(f"{box} {word}", "decide" if waiting.is_open else "strong"),)]
    if proposal.confidence:
        state.append(
            (
                ink(
                    f"{CONFIDENCES.get(proposal.confidence, '')} confidence {proposal.confidence}".strip(),
                    "soft",
                ),
            )
        )
    if proposal.core_worthy:
        state.append((Span("◎ for core memory as well", "decide"),))
    who: list[Span] = [Span(f"{AGENT_SIGN} ", "decide"), ink(proposal.from_ or "nobody", "strong")]
    if proposal.timestamp is not None:
        moment = in_zone(proposal.timestamp, now.tzinfo)
        who.append(Span(f"  {how_long_ago(moment, now)}, {short_moment(moment)}", "faint"))
    return [
        spread(left, (Span(f"#{proposal.number}", "faint"),), width),
        *flow(state, width),
        cut(tuple(who), width),
    ]


def _verbs(proposal: Proposal, by_number: Mapping[int, Proposal]) -> list[tuple[str, str]]:
    """Return what each key would do, in the words of what it would do here."""
    at_once = "at once; u takes it back"
    left = Verdict(keep=(proposal,)).left_waiting
    alone = f"; {' and '.join(left)} {'waits' if len(left) == 1 else 'wait'} on" if left else ""
    keys = [("a", f"store #{proposal.number} {at_once}"), ("r", "refuse it, with a reason if you like")]
    if proposal.conflicts_with:
        keys = [
            ("<", settling(proposal, by_number, THIS).will()),
            (">", settling(proposal, by_number, THAT).will() + _right(proposal, by_number)),
            ("=", settling(proposal, by_number, "both").will()),
            ("r", f"refuse #{proposal.number} alone, with a reason if you like"),
        ]
    return [
        *keys,
        ("d", "leave it to the next reflection"),
        ("e", f"reword it, and store it so{alone}"),
        ("s", f"store it elsewhere{alone}"),
        *([(" ", f"Each takes effect {at_once}.")] if proposal.conflicts_with else []),
    ]


def _repeated(
    repeats: str, by_number: Mapping[int, Proposal], around: Around | None, width: int
) -> list[Line]:
    """Say what says the same already."""
    lines: list[Line] = [BLANK, *((Span(piece, "decide"),) for piece in wrap(_KNOWN, width))]
    if repeats.startswith("#"):
        other = by_number.get(int(repeats[1:])) if repeats[1:].isdecimal() else None
        text, link = (other.content, key_of(other.number)) if other is not None else ("", "")
    else:
        link = link_of(repeats)
        text = around.said.get(link, "") if around is not None else "looking…"
    return [*lines, *_quoted(text, width), *_link(link, width, repeats)]


def _contradiction(
    proposal: Proposal, by_number: Mapping[int, Proposal], around: Around | None, width: int
) -> list[Line]:
    """Draw both sides of a contradiction, beside each other where there is room."""
    others = _others(proposal, by_number, around)
    pairs: list[tuple[tuple[Piece, ...], tuple[Piece, ...]]] = [
        compare_words(proposal.content[:LONGEST], text[:LONGEST]) for _, text, _ in others
    ]
    beside = width >= BESIDE_FROM
    half = (width - BETWEEN) // 2 if beside else width
    # What differs stands out where two short texts are compared; more would only flicker.
    lit = len(others) == 1 and not any("\n" in text for text in (proposal.content, others[0][1]))
    mine: tuple[Piece, ...] = pairs[0][0] if lit else ()
    this = f"this, #{proposal.number} from {proposal.from_ or 'nobody'}"
    left = _side("<", this, mine, proposal.content, "", half)
    right: list[Line] = []
    for at, ((head, text, link), (_, theirs)) in enumerate(zip(others, pairs, strict=True)):
        if at:
            right.append(BLANK)
        key, word = (" ", "and") if at else (">", "that,")
        right += _side(key, f"{word} {head}", theirs if lit else (), text, link, half)
    lines: list[Line] = [BLANK, (ink("These cannot both hold", "soft", width),)]
    return [*lines, *(side_by_side(left, right, half) if beside else [*left, BLANK, *right])]


def _right(proposal: Proposal, by_number: Mapping[int, Proposal]) -> str:
    if contradicted_memories(proposal):
        return "; memory is right"
    return "; the others wait on" if len(rivals(proposal, by_number)) > 1 else ""


def _others(
    proposal: Proposal, by_number: Mapping[int, Proposal], around: Around | None
) -> list[tuple[str, str, str]]:
    """Return what a proposal contradicts, first what `>` takes: who says it, its words, and its link."""
    found: list[tuple[str, str, str]] = []
    for memory in contradicted_memories(proposal):
        link = link_of(memory)
        text = "looking…" if around is None else around.said.get(link, "") or "It is no longer there."
        found.append(("what memory says", text, link))
    found += [
        (f"#{each.number} from {each.from_ or 'nobody'}", each.content, key_of(each.number))
        for each in rivals(proposal, by_number)
    ]
    return found[:_MOST_SIDES]


def _side(key: str, words: str, pieces: tuple[Piece, ...], text: str, link: str, width: int) -> list[Line]:
    head = cut((Span(key, "strong"), Span(f" {plain(words)}", "soft")), width)
    spans = tuple(
        Span(plain(piece.text), "match" if piece.changed else "text") for piece in pieces if piece.text
    )
    lines: list[Line] = wrap_line(spans, width) if spans else list(text_lines(text, width))
    return [head, *lines, *_link(link, width)]


def _link(link: str, width: int, words: str = "") -> list[Line]:
    if not link:
        return [(ink(words, "soft", width),)] if words else []
    told = words or link
    if link.startswith("proposal:"):
        return [cut((Span(f"{AGENT_SIGN} ", "decide"), ink(told, "text+link", link=link)), width)]
    sign = Span(f"{store_sign(link)} ", f"store.{store_of_id(link)}")
    return [cut((sign, ink(told, link_role(link), link=link)), width)]


def _facts(proposal: Proposal, around: Around | None, width: int) -> list[Line]:
    lines: list[Line] = []
    for label, value in (
        ("for", knowers(proposal.scope) if proposal.scope else ""),
        ("because", proposal.trigger),
        ("kind", proposal.type),
        ("tags", ", ".join(proposal.tags)),
    ):
        if value.strip():
            for at, piece in enumerate(wrap(value, max(8, width - _LABEL), limit=6)):
                lines.append((column(label if at == 0 else "", _LABEL, "faint"), Span(piece)))
    known = around.said if around is not None else {}
    about = ((each, link if known.get(link := entity_link(each)) else "") for each in proposal.entities)
    learned = ((each, link_of(each)) for each in proposal.origins)
    for label, named in (("about", about), ("learned from", learned)):
        for at, (words, link) in enumerate(named):
            lead = column(label if at == 0 else "", _LABEL, "faint")
            told = ink(words, link_role(link) if link else "text", max(1, width - _LABEL), link)
            lines.append(cut((lead, told), width))
    return [BLANK, *lines] if lines else []


def _quoted(text: str, width: int) -> list[Line]:
    return [(Span("▏ ", "faint"), Span(piece)) for piece in wrap(text[:LONGEST], max(8, width - 2), limit=8)]
