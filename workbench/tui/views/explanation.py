"""Draws why a result stands where it does, and why a memory did not come up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import plain, wrap
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, line_width, score_role, wrap_line
from workbench.tui.views.memory import link_role, section, store_of_id, store_sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.recall import Cut, Explanation, Hit, WhyNot

FULL, REST = "━", "─"
# What a lane looks at, in a word.
LANES = {"keywords": "words", "meaning": "meaning", "graph": "graph", "dates": "dates"}
_REASONS = {
    "archived": "Forgotten",
    "dormant": "Faded; status:any shows it",
    "near-duplicate": "Says nearly the same as a result above",
    "below-minimum": "Scores too low",
    "over-budget": "No room in the budget",
    "over-limit": "Beyond the last result",
}
_LABEL = 10
_CUT_MARGIN = 8
# How much is shown of what was left out for one reason, and of what merely came too late.
_MOST_OF_A_REASON = 6
_MOST_BEYOND = 4
_WIDEST = 84


def ordinal(number: int) -> str:
    """Return a place in words: “1st”, “12th”."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0, "th")
    return f"{number}{ending}"


def places_words(hit: Hit) -> str:
    """Say which lanes found a result and where it stood in each: “words 1st, meaning 3rd”."""
    lanes = hit.explanation.lanes if hit.explanation is not None else ()
    found = [
        f"{LANES.get(lane.lane, lane.lane)} {ordinal(lane.rank)}" for lane in lanes if lane.rank is not None
    ]
    return ", ".join(found)


def summary_lines(hit: Hit, width: int) -> list[Line]:
    """Say in a few words what a result owes its place to."""
    explanation = hit.explanation
    if explanation is None:
        return []
    parts = [places_words(hit) or "no lane found it by itself"]
    if explanation.decay_factor is not None:
        parts.append(f"age and use ×{explanation.decay_factor:.2f}")
    if explanation.nudges:
        parts.append(f"{len(explanation.nudges)} nudge{'s' * (len(explanation.nudges) != 1)}")
    lead = (Span(f"{hit.score:.2f}", "strong"), gap(2), ink(" · ".join(parts), "soft"))
    return wrap_line((*lead, gap(2), Span("x", "strong"), Span(" explains", "faint")), min(width, _WIDEST))


def explanation_lines(hit: Hit, rank: int, cuts: Sequence[Cut], width: int) -> list[Line]:
    """Draw everything that put a result where it stands, and what was left out of the whole answer.

    Args:
        hit: The result.
        rank: Its place, from 1.
        cuts: What was found and left out.
        width: Cells.
    """
    width = min(width, _WIDEST)
    lines: list[Line] = [cut((Span(f"Why this is the {ordinal(rank)} result", "strong"),), width)]
    lines += [(ink(piece, "soft", link=hit.id),) for piece in wrap(hit.title or hit.id, width, limit=2)]
    lines.append(BLANK)
    if hit.explanation is None:
        lines.append((Span("The search gave no explanation.", "faint"),))
    else:
        lines += lanes_lines(hit.explanation, width, score=hit.score)
    lines += cuts_lines(cuts, width)
    return lines


def lanes_lines(explanation: Explanation, width: int, *, score: float | None = None) -> list[Line]:
    """Draw what each lane made of a memory as bars that begin together, then what moved the sum of them.

    Args:
        explanation: What to draw.
        width: Cells.
        score: What came of it all, or None.
    """
    lines: list[Line] = []
    for lane in explanation.lanes:
        place = ordinal(lane.rank) if lane.rank is not None else ""
        lines += _bar_lines(LANES.get(lane.lane, lane.lane), lane.score, place, lane.detail, width)
    lines.append(BLANK)
    lines += _bar_lines("together", explanation.relevance, "", "", width)
    if explanation.decay_factor is not None:
        lines.append(_factor_line(explanation.decay_factor, width))
    lines += [
        (column("" if at else "nudged", _LABEL, "faint"), Span(piece, "soft"))
        for at, piece in enumerate(
            piece for nudge in explanation.nudges for piece in wrap(nudge, max(8, width - _LABEL))
        )
    ]
    if score is not None:
        lines += _bar_lines("score", score, "", "", width, strong=True)
    return lines


def _bar_width(width: int) -> int:
    return max(6, min(20, width // 4))


def _bar_lines(
    label: str, score: float | None, place: str, detail: str, width: int, *, strong: bool = False
) -> list[Line]:
    cells = _bar_width(width)
    share = min(1.0, max(0.0, score or 0.0))
    filled = round(cells * share)
    if share and not filled:
        filled = 1
    lead: Line = (
        column(label, _LABEL, "strong" if strong else "soft"),
        Span(FULL * filled, score_role(share)),
        Span(REST * (cells - filled), "rule"),
        gap(2),
        column(f"{score:.2f}" if score is not None else "–", 4, "strong" if strong else "text", right=True),
        gap(1),
        column(place, 5, "soft", right=True),
        gap(2),
    )
    used = line_width(lead)
    if width - used < 16 or not detail:
        below = wrap(detail, max(8, width - _LABEL), limit=3) if detail else []
        return [cut(lead, width), *((gap(_LABEL), Span(piece, "faint")) for piece in below)]
    pieces = wrap(detail, width - used, limit=3)
    return [(*(lead if at == 0 else (gap(used),)), Span(piece, "faint")) for at, piece in enumerate(pieces)]


def _factor_line(factor: float, width: int) -> Line:
    changed = "recent or often used" if factor > 1 else "old or rarely used"
    words = "nothing changes" if 0.995 < factor < 1.005 else changed
    lead: Line = (
        column("age, use", _LABEL, "soft"),
        gap(_bar_width(width)),
        column(f"× {factor:.2f}", 6, "text", right=True),
    )
    told: Line = (*lead, gap(8), ink(words, "faint"))
    return told if line_width(told) <= width else lead


def cuts_lines(cuts: Sequence[Cut], width: int) -> list[Line]:
    """Draw what was found and left out, under the reasons, those that tell most first."""
    if not cuts:
        return [*section("Left out"), (Span("Nothing that was found.", "faint"),)]
    by_reason: dict[str, list[Cut]] = {reason: [] for reason in _REASONS}
    for each in cuts:
        by_reason.setdefault(each.reason, []).append(each)
    lines: list[Line] = [BLANK, (Span("Left out", "soft"), Span(f"  {len(cuts):,}", "faint"))]
    for reason, found in by_reason.items():
        if found:
            lines += [BLANK, *_reason_lines(reason, found, width)]
    return lines


def _reason_lines(reason: str, cuts: Sequence[Cut], width: int) -> list[Line]:
    """Draw the first of what was left out for one reason; what is said of all of them is said once."""
    shown = cuts[: _MOST_BEYOND if reason == "over-limit" else _MOST_OF_A_REASON]
    details = {each.detail for each in cuts}
    told = f"{_REASONS.get(reason, reason)}  {len(cuts):,}"
    lines: list[Line] = [cut((ink(told, "soft"),), width)]
    if len(details) == 1 and len(cuts) > 1:
        lines += [(Span(piece, "faint"),) for piece in wrap(cuts[0].detail, width, limit=2)]
    for each in shown:
        lines.append(_cut_line(each, width))
        if len(details) > 1 or len(cuts) == 1:
            lines += [
                (gap(_CUT_MARGIN), Span(piece, "faint"))
                for piece in wrap(each.detail, max(8, width - _CUT_MARGIN), limit=2)
            ]
    if len(cuts) > len(shown):
        lines.append(cut((gap(_CUT_MARGIN), Span(f"and {len(cuts) - len(shown):,} more", "faint")), width))
    return lines


def _cut_line(each: Cut, width: int) -> Line:
    link = each.id or f"file:{each.path}"
    # Its words tell it; without any, a part of a long text is told by its own lines.
    is_part = store_of_id(link) == "file"
    name = each.text or (each.place if is_part else each.id)
    return cut(
        (
            Span(f"{store_sign(link)} ", f"store.{store_of_id(link)}"),
            Span(f"{each.score:.2f}", "soft"),
            gap(2),
            ink(name, link_role(link), link=link),
        ),
        width,
    )


def why_not_lines(answer: WhyNot, name: str, width: int) -> list[Line]:
    """Draw why a memory did not come up, and what would bring it up.

    Args:
        answer: The engine's.
        name: Words that name the memory.
        width: Cells.
    """
    width = min(width, _WIDEST)
    role = link_role(answer.id)
    lines: list[Line] = [
        (
            Span(f"{store_sign(answer.id)} " if at == 0 else "  ", role.removesuffix("+link")),
            Span(piece, role, answer.id),
        )
        for at, piece in enumerate(wrap(name or answer.id, width - 2, limit=2))
    ]
    lines.append(BLANK)
    if answer.rank is not None:
        lines.append((Span(f"It is there: the {ordinal(answer.rank)} result.", "strong"),))
    lines += [(Span(piece, "text"),) for piece in wrap(answer.reason, width)]
    if answer.remedy:
        lines += [BLANK, *_remedy(answer.remedy, width)]
    if answer.explanation is not None:
        lines += [*section("What each lane made of it"), *lanes_lines(answer.explanation, width)]
    return lines


def _remedy(text: str, width: int) -> list[Line]:
    return [
        (Span("→ " if at == 0 else "  ", "soft"), Span(plain(piece), "strong"))
        for at, piece in enumerate(wrap(text, max(8, width - 2)))
    ]
