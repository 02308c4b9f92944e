"""Draws one proposed change to decide on: what changes, why, who says so, and what it has to do with the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.display.budget import budget_line
from workbench.display.cells import wrap
from workbench.display.diff import diff_lines
from workbench.display.diffing import compare
from workbench.display.ink import BLANK, Line, Span, column, cut, flow, gap, ink, spread
from workbench.engine.reflection.kinds import FORMS, Kind, kind_of
from workbench.tui.decisions import APPROVED, UNDECIDED, answer_of
from workbench.tui.views.boxes import BOXES, CONFIDENCES
from workbench.tui.views.contradiction import contradiction_lines
from workbench.tui.views.inbox import RISKS, name_of, sign_of, store_of
from workbench.tui.views.memory import link_lines, link_role, section, store_of_id, store_sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.reviews import CoreTokens, Quoted, ReviewItem
    from workbench.tui.bench import Link

_LABEL = 12
# Fields that are drawn in a place of their own.
_SHOWN_ELSEWHERE: Final = frozenset({"this", "that", "resolve", "steps", "answer", "resembles", "as of"})
_LONGEST_QUOTE_LINES = 8
# Longer texts are cut here: the file has the rest, and nobody decides on more at a glance.
_LONGEST = 4000
_LONGEST_CHANGE = 20_000
_CORE = frozenset({Kind.CORE_CHANGE, Kind.PROMOTION, Kind.DEMOTION})


@dataclass(frozen=True, slots=True)
class Related:
    """Memories that have to do with an item: found by its words, or linked with its target."""

    links: tuple[Link, ...] = ()


def link_of(memory_id: str) -> str:
    """Return the link that an item’s target or evidence means; empty where it leads nowhere."""
    if memory_id.startswith("evolution:"):
        return "file:memory/meta/evolution.md"
    if memory_id.startswith("core:") and memory_id.count(":") == 1:
        # A block is no memory; all of them stand in one file.
        return "file:MEMORY.md"
    if ":" not in memory_id:
        return f"entity:{memory_id}" if "--" in memory_id else ""
    return memory_id


def review_item_lines(item: ReviewItem, core: CoreTokens, related: Related | None, width: int) -> list[Line]:
    """Draw an item in full.

    Args:
        item: With what was decided already.
        core: Tokens of core memory, now and with everything applied that is approved.
        related: None while it is looked for.
        width: Cells.
    """
    kind = kind_of(item.kind)
    lines = [*_head(item, kind, width), *_notices(item, width)]
    if kind is Kind.CONTRADICTION:
        lines += [BLANK, *contradiction_lines(item, width)]
    else:
        lines += _change(item, kind, width)
    lines += _fields(item, width)
    if kind in _CORE:
        lines += [*section("Core memory"), *core_lines(core, width)]
    if item.reason:
        lines += [*section("Why"), *_paragraph(item.reason, "text", width)]
    if item.evidence and kind is not Kind.CONTRADICTION:
        lines += [*section("Evidence"), *evidence_lines(item.evidence, width)]
    elif kind is Kind.CONTRADICTION and len(item.evidence) > 2:
        lines += [*section("Further evidence"), *evidence_lines(item.evidence[2:], width)]
    if related is None:
        lines += [*section("Related"), (Span("looking…", "faint"),)]
    elif related.links:
        lines += [*section("Related"), *link_lines(related.links, width)]
    return lines


def context_lines(item: ReviewItem, width: int) -> list[Line]:
    """Draw what one wants to see of an item while writing in it: why, and who says so."""
    lines: list[Line] = []
    if item.reason:
        lines += [*section("Why"), *_paragraph(item.reason, "text", width)]
    if item.evidence:
        lines += [*section("Evidence"), *evidence_lines(item.evidence, width)]
    return lines


def _head(item: ReviewItem, kind: Kind | None, width: int) -> list[Line]:
    role = f"store.{store_of(item)}"
    verb = FORMS[kind].verb if kind is not None else "a kind of change that is not known here"
    left = (Span(f"{sign_of(item)} ", role), ink(item.kind, f"{role}+strong"), ink(f" {verb}", "soft"))
    box = BOXES.get(item.decision, BOXES[UNDECIDED])
    risk, sure = f"{RISKS.get(item.risk, '')} {item.risk} risk".strip(), CONFIDENCES.get(item.confidence, "")
    state: list[Line] = [
        (Span(f"{box} {item.decision}", "decide" if item.decision == UNDECIDED else "strong"),),
        (ink(risk, "decide" if item.risk == "high" else "soft"),),
    ]
    if item.confidence:
        state.append((ink(f"{sure} confidence {item.confidence}".strip(), "soft"),))
    lines = [spread(left, (ink(item.id, "faint"),), width), *flow(state, width)]
    link = link_of(item.target)
    if link:
        sign = Span(f"{store_sign(link)} ", f"store.{store_of_id(link)}")
        lines.append(cut((sign, ink(name_of(item) or item.target, link_role(link), link=link)), width))
    return lines


def _notices(item: ReviewItem, width: int) -> list[Line]:
    """Say what is out of the ordinary, each in a sentence."""
    told: list[str] = []
    if item.stale:
        told.append(
            "Stale: what it changes has changed since. It is not applied before you have looked at it."
        )
    if item.waits and item.decision == APPROVED:
        told.append(f"Waits: {item.waits}")
    elif item.needs:
        told.append(f"Needs {', '.join(item.needs)} to be applied before it.")
    if item.resembles:
        told.append(f"Close to something that was rejected before: {item.resembles}")
    return [line for text in told for line in (BLANK, *_paragraph(text, "decide", width, "! "))]


def _change(item: ReviewItem, kind: Kind | None, width: int) -> list[Line]:
    """Draw what applying changes, word by word."""
    if kind is Kind.QUESTION:
        lines = [BLANK, *_paragraph(item.after, "strong", width)]
        answer = answer_of(item)
        words = answer or "Not answered yet; e writes an answer, which becomes a memory."
        return [*lines, *section("Your answer"), *_paragraph(words, "text" if answer else "faint", width)]
    if kind in (Kind.ARCHIVE, Kind.RESTORE, Kind.VAULT_PIN, Kind.MERGE):
        return [BLANK, *_paragraph(item.after, "text", width)]
    fields = item.fields or {}
    before, after = item.before, "" if kind is Kind.DEMOTION else item.after
    title: list[Line] = []
    if kind is Kind.PROCEDURE and "steps" in fields:
        title = [BLANK, *_paragraph(item.after, "strong", width)]
        after = fields["steps"]
    if not item.stale:
        return [*title, *_difference("What changes", before, after, width)]
    return [
        *title,
        *_difference("What it says now, and what it would", item.now, after, width),
        *_difference("What changed since it was proposed", before, item.now, width),
    ]


def _difference(title: str, before: str, after: str, width: int) -> list[Line]:
    rows = compare(before[:_LONGEST_CHANGE] or None, after[:_LONGEST_CHANGE] or None)
    lines: list[Line] = [BLANK, (ink(title, "soft", width),), *diff_lines(rows, width)]
    more = max(len(before), len(after)) - _LONGEST_CHANGE
    return [*lines, (ink(f"… {more:,} more characters in the file", "decide", width),)] if more > 0 else lines


def _fields(item: ReviewItem, width: int) -> list[Line]:
    lines: list[Line] = []
    for label, value in (item.fields or {}).items():
        if label in _SHOWN_ELSEWHERE or not value.strip():
            continue
        link = link_of(value) if label == "of" else ""
        for at, piece in enumerate(wrap(value, max(8, width - _LABEL), limit=6)):
            lead = column(label if at == 0 else "", _LABEL, "faint")
            lines.append((lead, Span(piece, link_role(link) if link else "text", link)))
    return [BLANK, *lines] if lines else []


def core_lines(core: CoreTokens, width: int) -> list[Line]:
    """Draw the token budget of core memory, now and with everything applied that is approved."""
    return [
        budget_line("now", core.before, core.cap, width, label_width=14, role="soft"),
        budget_line("as approved", core.after, core.cap, width, label_width=14),
    ]


def evidence_lines(evidence: Sequence[Quoted], width: int) -> list[Line]:
    """Draw who says so: the words, and below them the memory that they stand in."""
    lines: list[Line] = []
    for at, proof in enumerate(evidence):
        if at:
            lines.append(BLANK)
        lines += quote_lines(proof, width)
    return lines


def quote_lines(proof: Quoted, width: int) -> list[Line]:
    """Draw one quote with the link to its memory; one that is no longer there says so."""
    lines: list[Line] = []
    if proof.quote:
        pieces = wrap(f"“{proof.quote}”", max(8, width - 2), limit=_LONGEST_QUOTE_LINES)
        lines += [(Span("▏ ", "faint"), Span(piece)) for piece in pieces]
    link = link_of(proof.id)
    missing = () if proof.found else (gap(2), Span("no longer says so", "decide"))
    source = (
        Span(f"{store_sign(link)} ", f"store.{store_of_id(link)}"),
        ink(proof.id, link_role(link), link=link),
    )
    return [*lines, cut((*source, *missing), width)]


def _paragraph(text: str, role: str, width: int, sign: str = "") -> list[Line]:
    text = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return [
        (Span(sign if at == 0 else " " * len(sign), role), Span(piece, role))
        for block in text.splitlines() or [""]
        for at, piece in enumerate(wrap(block, max(8, width - len(sign))))
    ]
