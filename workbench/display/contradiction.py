"""Draws statements that cannot all be true: beside each other where there is room, with what each key does to them."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from workbench.display import words
from workbench.display.cells import plain, wrap
from workbench.display.diffing import compare_words
from workbench.display.ink import BLANK, PRESS_LINK, Line, Span, gap, ink, line_width, wrap_line
from workbench.engine.language.denials import is_denied, without_denials
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.display.diffing import Piece

HEAD: Final = "Two statements that cannot both be true"
_BESIDE: Final = 64
_RULE: Final = 3
_LONGEST: Final = 4000
# Two stretches in which statements differ are named in the outcome up to so many characters.
_SHORT: Final = 32


def clash_title(older: Sequence[str], newer: str) -> str:
    """Return statements as a question: what they share once, and what differs.

    Args:
        older: Those against it, one or more.
        newer: The newest of them.
    """
    if len(older) == 1 and is_denied(older[0]) != is_denied(newer):
        said, denied = (newer, older[0]) if is_denied(older[0]) else (older[0], newer)
        holds, fails = differing(said, denied)
        # “Pays” and “does not pay” differ in the denial alone.
        if fails and holds.startswith(without_denials(fails).rpartition(" ")[2] or " "):
            return f"{said.rstrip('.')}, or not?"
    pairs = [differing(each, newer) for each in older]
    stretches = {other for _, other in pairs}
    if len(stretches) == 1 and (stretch := stretches.pop()):
        before, _, after = newer.partition(stretch)
        return f"{before}{', '.join(one for one, _ in pairs)} or {stretch}{after.rstrip('.')}?"
    for shorter, longer in ((older[0], newer), (newer, older[0])):
        pieces = compare_words(shorter[:_LONGEST], longer[:_LONGEST])[1]
        more = [piece.text.strip() for piece in pieces if piece.changed]
        if len(more) == 1 and len(more[0]) <= _SHORT and longer.replace(f"{more[0]} ", "", 1) == shorter:
            before, _, after = longer.partition(more[0])
            return f"{before}({more[0]}){after.rstrip('.')}?"
    return f"{words.quoted(older[0], 48)} or {words.quoted(newer, 48)}"


def differing(older: str, newer: str) -> tuple[str, str]:
    """Return the one stretch in which two short statements differ; empty where there is no such."""
    left, right = compare_words(older[:400], newer[:400])
    one = [piece.text.strip() for piece in left if piece.changed and piece.text.strip()]
    other = [piece.text.strip() for piece in right if piece.changed and piece.text.strip()]
    if len(one) == len(other) == 1 and len(one[0]) <= _SHORT and len(other[0]) <= _SHORT:
        before, _, after = older.partition(one[0])
        if newer == f"{before}{other[0]}{after}":
            return one[0], other[0]
    return "", ""


def outcomes(
    older: str, newer: str, becomes: str, key: Callable[[str], str], declined: str = "not proposed again"
) -> tuple[tuple[str, str], ...]:
    """Say what each key does to two statements.

    Args:
        becomes: What becomes of the older where the newer is taken.
        key: Gives the key of a command.
        declined: What becomes of the newer where the older is taken.
    """
    one, other = (each if each[:1].isdigit() or not each else f"“{each}”" for each in differing(older, newer))
    return (
        (key("older"), f"keep {one or 'the older'}: the newer is declined and {declined}"),
        (key("newer"), f"take {other or 'the newer'}: the older is {becomes}"),
        (key("both"), "keep both, marked as contradicting"),
    )


@dataclass(frozen=True)
class Side:
    """One of two statements.

    Args:
        link: Where it stands.
    """

    text: str
    by: str = ""
    quote: str = ""
    link: str = ""


def head_lines(text: str, width: int) -> list[Line]:
    """Draw the word above a card."""
    return [(Span(part, "soft+strong"),) for part in wrap(text.upper(), width)]


def key_lines(keys: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Draw keys, each with what it does."""
    lead = max((len(key) for key, _ in keys), default=0) + 2
    return [
        (Span(f"{key if not at else '':<{lead}}", "decide.strong", PRESS_LINK + key), Span(part))
        for key, said in keys
        for at, part in enumerate(wrap(said, max(8, width - lead)))
    ]


def clash_lines(
    older: Side, newer: Side, keys: Sequence[tuple[str, str]], width: int, *, head: str = HEAD
) -> list[Line]:
    """Draw two statements beside each other, or one above the other, and what each key does."""
    left, right = compare_words(older.text[:_LONGEST], newer.text[:_LONGEST])
    beside = width >= _BESIDE
    half = (width - _RULE) // 2 if beside else width
    one, other = _side("older", left, older, half), _side("newer", right, newer, half)
    lines = [*head_lines(head, width), BLANK]
    lines += _columns(one, other, half) if beside else [*one, BLANK, *other]
    return [*lines, BLANK, *key_lines(keys, width)]


def _side(word: str, pieces: tuple[Piece, ...], side: Side, width: int) -> list[Line]:
    text = tuple(
        Span(plain(each.text), "match" if each.changed else "strong") for each in pieces if each.text
    )
    lines: list[Line] = [(Span(word, "soft"),), *(wrap_line(text, width) if text else [BLANK])]
    if side.quote:
        lines += [(Span(part, "soft"),) for part in wrap(f"“{side.quote}”", width, limit=4)]
    if side.by or side.link:
        said = side.by or words.origin(side.link)
        lines += wrap_line((ink(said, "soft+link" if side.link else "soft", None, side.link),), width)
    return lines


def statement_lines(sides: Sequence[Side], keys: Sequence[tuple[str, str]], width: int) -> list[Line]:
    """Draw more than two statements one below another, the first being that which is decided on."""
    lines: list[Line] = head_lines("Statements that cannot all be true", width)
    for at, side in enumerate(sides):
        lines += [BLANK, (Span("this" if not at else "against it", "soft"),)]
        lines += [(Span(part, "strong" if not at else "text"),) for part in wrap(side.text, width, limit=8)]
        if side.by or side.link:
            lines += wrap_line(
                (ink(side.by or side.link, "soft+link" if side.link else "soft", None, side.link),), width
            )
    return [*lines, BLANK, *key_lines(keys, width)]


def _columns(left: list[Line], right: list[Line], half: int) -> list[Line]:
    rows = zip_longest(left, right, fillvalue=BLANK)
    return [(*one, gap(half - line_width(one)), Span(" │ ", "rule"), *other) for one, other in rows]
