"""Says in a sentence how a question was read, what answered it, and what to think of the answer."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.ink import Line, Span, cut, ink, line_width, spread
from workbench.tui.views.dates import long_day

if TYPE_CHECKING:
    from workbench.engine.results.recall import Found
    from workbench.tui.question import Question

_READ_AS = {
    "general": "general question",
    "when": "asking when",
    "about": "asking about something",
    "how": "asking how",
    "latest": "asking for the latest",
}
_PROVIDERS = {
    "builtin": "built-in vectors",
    "local": "a local model",
    "openai": "an OpenAI-compatible server",
    "gemini": "Gemini",
    "qmd": "QMD",
    "none": "words alone",
}


def answer_lines(
    question: Question, found: Found | None, shown: int, width: int, *, searching: bool, problem: str = ""
) -> list[Line]:
    """Say how a question was read, what answered it, and what to think of the answer.

    Args:
        question: What was asked last.
        found: The newest answer, or None.
        shown: How many of its results the conditions let through.
        width: Cells.
        searching: Whether a newer answer takes its time.
        problem: Why there is no answer, or empty.
    """
    lines = [line for problem in question.problems for line in _remark("! ", problem, "soft", width)]
    if problem:
        return [*lines, *_remark("! ", problem, "danger", width)]
    if found is None or not question.words:
        return [*lines, (Span("searching…", "soft"),)] if searching and question.words else lines
    count = f"{shown} result{'s' * (shown != 1)}" if shown else "nothing found"
    parts = [_READ_AS.get(found.strategy, found.strategy)]
    if found.period:
        parts.append(period_words(*found.period))
    parts += _conditions(question)
    means = _PROVIDERS.get(found.provider, found.provider)
    ending = f"{means} · {found.took_ms:,.0f} ms" if not searching else "searching…"
    head: Line = (Span(count, "strong"), ink("  " + " · ".join(parts), "soft"))
    if line_width(head) + len(ending) + 2 > width:
        lines += [cut(head, width), cut((ink(ending, "faint"),), width)]
    else:
        lines.append(spread(head, (ink(ending, "faint"),), width))
    for remark in (found.fallback, found.stale):
        if remark:
            lines += _remark("! ", remark, "soft", width)
    return lines


def _remark(sign: str, text: str, role: str, width: int) -> list[Line]:
    return [
        (Span(sign if at == 0 else "  ", role), Span(piece, role))
        for at, piece in enumerate(wrap(text, max(8, width - 2), limit=2))
    ]


def _conditions(question: Question) -> list[str]:
    parts = [f"only {question.store}"] if question.store else []
    if question.after:
        parts.append(f"from {long_day(question.after)}")
    if question.before:
        parts.append(f"until {long_day(question.before)}")
    if question.status:
        parts.append("dormant as well" if question.status == "any" else f"only {question.status}")
    return parts


def period_words(first: str, last: str) -> str:
    """Write a period as one reads it: a day, or from one to another."""
    try:
        begin, end = date.fromisoformat(first[:10]), date.fromisoformat(last[:10])
    except ValueError:
        return f"{first} – {last}"
    if begin == end:
        return long_day(begin)
    if (begin.year, begin.month) == (end.year, end.month):
        return f"{begin.day}–{long_day(end)}"
    return f"{long_day(begin)} – {long_day(end)}"
