"""How a cycle of reflection, its being due, and its talk with a model are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from workbench.cli.printing import Page, safe_line, wrap
from workbench.cli.views.times import at_minute
from workbench.engine.results.reflection import Reflected, ReflectionDue

# Of what was left out so much is named.
_MOST_FILES, _MOST_LINES = 5, 8


def reflected_lines(page: Page, reflected: Reflected) -> list[str]:
    """Say what was proposed, by section, and where to decide."""
    if not reflected.id:
        return [*wrap(safe_line(reflected.reason), page.width), *_left_out_lines(page, reflected)]
    review = reflected.review
    lines = wrap(f"{reflected.id}: {reflected.reason}", page.width)
    sections = Counter(item.section for item in review.items)
    lines += [f"  {count:>4}  {safe_line(section)}" for section, count in sections.items()]
    tokens = review.tokens
    told = [f"{tokens.used:,} of {tokens.cap:,} tokens"]
    if review.dropped:
        told.append(f"{review.dropped:,} dropped, since what they quote is not in their sources")
    if review.held_back:
        told.append(f"{review.held_back:,} held back, since you rejected them before")
    if review.left:
        told.append(f"{review.left:,} left for the next reflection")
    lines += wrap("; ".join(told) + ".", page.width)
    for phase in review.phases:
        if phase.fallback:
            lines += wrap(
                safe_line(f"{phase.phase}: rules stood in. {phase.fallback}"),
                page.width,
                first="! ",
                rest="  ",
            )
    lines += _left_out_lines(page, reflected)
    return [*lines, *wrap("Nothing is applied until you decide: workbench review, or the bench.", page.width)]


def _left_out_lines(page: Page, reflected: Reflected) -> list[str]:
    """Name the lines that were not read for the secrets in them."""
    count = sum(len(each.lines) for each in reflected.left_out)
    if not count:
        return []
    places = "; ".join(
        f"{each.path}:{','.join(map(str, each.lines[:_MOST_LINES]))}{',…' * (len(each.lines) > _MOST_LINES)}"
        for each in reflected.left_out[:_MOST_FILES]
    )
    more = len(reflected.left_out) - _MOST_FILES
    besides = f"; and {more:,} more {'file' if more == 1 else 'files'}" if more > 0 else ""
    was = "line that looks like a secret was" if count == 1 else "lines that look like secrets were"
    told = f"{count:,} {was} left out ({places}{besides}). Decide with: workbench secrets"
    return wrap(safe_line(told), page.width, first="! ", rest="  ")


def due_lines(page: Page, due: ReflectionDue) -> list[str]:
    """Say whether a reflection is due, and when the next one is planned."""
    lines = wrap(f"{'Due' if due.due else 'Not due'}: {safe_line(due.reason)}", page.width)
    lines.append(f"unread   {due.unprocessed:,} entries")
    lines.append(f"last     {at_minute(page, due.last) if due.last else 'never'}")
    if due.next:
        lines.append(f"planned  {at_minute(page, due.next)}")
    return lines


def trace_lines(page: Page, exchanges: Iterable[Mapping[str, object]]) -> list[str]:
    """Print every question to the model with its answer, as plain text."""
    lines: list[str] = []
    for number, exchange in enumerate(exchanges, 1):
        tokens = f"{exchange['prompt_tokens'] or '?'} tokens in, {exchange['completion_tokens'] or '?'} out"
        lines += ["", f"── {number}. {exchange['phase']} · {safe_line(str(exchange['model']))} · {tokens}"]
        messages = exchange["messages"]
        for role, content in messages if isinstance(messages, list) else ():
            lines += [f"{role}:", *_indented(str(content))]
        lines += ["answer:", *_indented(str(exchange["answer"]))]
        if exchange["problem"]:
            lines += wrap(safe_line(str(exchange["problem"])), page.width, first="! ", rest="  ")
    return lines[1:] or ["Nothing is kept of what a model was asked in it; rules ask no model."]


def _indented(text: str) -> list[str]:
    return [f"  {safe_line(line)}" for line in text.split("\n")]
