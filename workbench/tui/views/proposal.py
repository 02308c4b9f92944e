"""Draws a proposal as a whole: what it says of itself, what one of its sections holds, and what stands in for none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink
from workbench.engine.clock import in_zone
from workbench.tui.decisions import tally
from workbench.tui.views.boxes import CONFIDENCES
from workbench.tui.views.dates import full_time, how_long_ago
from workbench.tui.views.decision_progress import decided_words
from workbench.tui.views.inbox import RISKS, section_title
from workbench.tui.views.memory import markdown_lines, section
from workbench.tui.views.review_item import core_lines
from workbench.tui.views.teaching import teach

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from workbench.engine.results.reviews import PhaseUse, ReflectionDue, Review, ReviewItem

_LABEL = 16
_MOST_PROBLEMS = 12


def overview_title(review: Review) -> str:
    """Return the words of the row that stands for the whole."""
    title = f"What {review.id or 'this reflection'} found, and how it came to it"
    if not review.problems:
        return title
    return f"! {_counted(len(review.problems), 'part', 'parts', 'of the file cannot be read')} · {title}"


def overview_lines(review: Review, items: Sequence[ReviewItem], now: datetime, width: int) -> list[Line]:
    """Draw what a reflection says of itself: its opening, how far the decisions are, what it took, what it left out.

    Args:
        review: As it was read last.
        items: Its items, with what was decided since.
        now: In the workspace's zone.
        width: Cells.
    """
    created = in_zone(review.created, now.tzinfo) if review.created is not None else None
    lines: list[Line] = [
        (ink(f"Reflection {review.id}".strip(), "strong", width),),
        (ink(f"written {full_time(created)}" if created else "undated", "soft", width),),
    ]
    if review.problems:
        lines += [*section("Parts that say nothing"), *problem_lines(review.problems, width)]
    if review.opening:
        lines += [BLANK, *markdown_lines(review.opening, width)]
    counts = tally(items)
    lines += [*section("Decisions"), (ink(decided_words(counts), "text", width),)]
    keys = [("A", "shows what would be written, and applies it")]
    if counts.undecided:
        keys = [("n", "goes to the next undecided"), ("a r d", "here decide all that are undecided"), *keys]
    lines += _keys(keys, width)
    lines += [*section("Core memory"), *core_lines(review.core_tokens, width)]
    facts = [
        ("Tokens", f"{review.tokens.used:,} of {review.tokens.cap:,} of this cycle"),
        ("Dropped", _counted(review.dropped, "item whose quote was", "items whose quotes were", "not found")),
        ("Held back", _counted(review.held_back, "item that was", "items that were", "rejected before")),
        ("Left for next", _counted(review.left, "item that", "items that", "did not fit")),
    ]
    lines += section("The cycle")
    for label, words in facts:
        if words:
            lines += _fact(label, words, width)
    lines += _phases(review.phases, width)
    lines += section("Signs")
    legend = f"{RISKS['medium']} medium and {RISKS['high']} high risk   {CONFIDENCES['high']} confidence, high to low"
    lines += [(Span(piece, "soft"),) for piece in wrap(legend, width)]
    link = f"file:{review.path}"
    return [*lines, BLANK, cut((ink(review.path, "store.file+link", link=link),), width)]


def _phases(phases: Sequence[PhaseUse], width: int) -> list[Line]:
    lines: list[Line] = []
    for use in phases:
        words = f"{use.mind}, {use.tokens:,} tokens, {use.seconds:.1f} s"
        lines += _fact(
            use.phase, words + (f"; rules stood in: {use.fallback}" if use.fallback else ""), width
        )
    return lines


def problem_lines(problems: Sequence[str], width: int) -> list[Line]:
    """Draw the parts of the file that cannot be read, with the way to mend them."""
    lines: list[Line] = []
    for problem in problems[:_MOST_PROBLEMS]:
        for at, piece in enumerate(wrap(problem, max(8, width - 2), limit=4)):
            lines.append((Span("! " if at == 0 else "  ", "decide"), Span(piece)))
    if (more := len(problems) - _MOST_PROBLEMS) > 0:
        lines.append((Span(f"and {more} more", "faint"),))
    return [*lines, *_keys((("E", "opens the file in your editor"),), width)]


def section_lines(heading: str, prose: str, items: Sequence[ReviewItem], width: int) -> list[Line]:
    """Draw a section: what the reflection says about it, and what a decision here would reach."""
    counts = tally(items)
    lines: list[Line] = [
        (ink(section_title(heading), "strong", width),),
        (ink(decided_words(counts), "soft", width),),
    ]
    if prose.strip():
        lines += [BLANK, *markdown_lines(prose, width)]
    if counts.undecided:
        few = counts.undecided == 1
        reached = "the one that is undecided" if few else f"all {counts.undecided} that are undecided"
        lines += [
            BLANK,
            *_keys((("a", f"approve {reached}"), ("r", "reject them"), ("d", "defer them")), width),
        ]
    return lines


def nothing_waits(
    due: ReflectionDue | None, problems: Sequence[str], now: datetime, width: int
) -> Sequence[Line]:
    """Draw what stands where nothing waits: what reflection is, whether one is due, and how to run it.

    Args:
        due: None while it is not known.
        problems: Parts of the proposal’s file that say nothing.
        now: In the workspace's zone.
        width: Cells.
    """
    draw = teach(
        "Nothing waits for your decision.",
        "A reflection proposes what to learn from what happened, with its evidence; agents ask for things to be "
        "remembered; what looks like a key or a password is held back. All of it comes here, and none of it "
        "enters memory unapproved.",
        ("R", "reflects now."),
        (
            "3 /actor:reflection",
            "lists in Audit what past reflections changed; there R takes one of them back.",
        ),
        ("workbench reflect --if-due", "does it on a schedule, for example from cron."),
        (
            "workbench propose TEXT --as NAME",
            "is how a sub-agent asks, or memory_propose over MCP; it waits here, and a stores it at once.",
        ),
    )
    lines = list(draw(width))
    if problems:
        head: list[Line] = [(ink("The proposal holds nothing that can be decided.", "strong", width),), BLANK]
        return [*head, *problem_lines(problems, width)]
    if due is None:
        return lines
    facts = [
        ("Due", due.reason or ("yes" if due.due else "no")),
        ("Not read yet", _counted(due.unprocessed, "memory", "memories", "") or "nothing"),
        ("Last", _moment(due.last, now) if due.last else "never"),
        ("Next", _moment(due.next, now) if due.next else ""),
    ]
    lines.append(BLANK)
    for label, words in facts:
        if words:
            lines += _fact(label, words, min(width, 64))
    return lines


def _moment(moment: datetime, now: datetime) -> str:
    local = in_zone(moment, now.tzinfo)
    return f"{full_time(local)}, {how_long_ago(local, now)}" if local <= now else full_time(local)


def _counted(count: int, one: str, many: str, rest: str) -> str:
    return f"{count:,} {one if count == 1 else many} {rest}".rstrip() if count else ""


def _fact(label: str, words: str, width: int) -> list[Line]:
    return [
        (column(label if at == 0 else "", _LABEL, "faint"), Span(piece, "soft"))
        for at, piece in enumerate(wrap(words, max(8, width - _LABEL), limit=5))
    ]


def _keys(keys: Sequence[tuple[str, str]], width: int) -> list[Line]:
    lead = max(len(key) for key, _ in keys) + 2
    return [
        cut((Span(key, "strong"), gap(lead - len(key)), ink(words, "soft")), width) for key, words in keys
    ]
