"""Draws two statements that cannot both hold: side by side where there is room, one above the other elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.cells import plain, wrap
from workbench.display.diffing import compare_words
from workbench.display.ink import BLANK, Line, Span, flow, gap, ink, line_width, wrap_line
from workbench.tui.decisions import RESOLVE, THAT, wants_choice
from workbench.tui.views.memory import link_role, store_of_id, store_sign

if TYPE_CHECKING:
    from workbench.display.diffing import Piece
    from workbench.engine.results.reviews import Quoted, ReviewItem

BESIDE_FROM = 64
BETWEEN = 3
_MOST_QUOTED = 6
_LONGEST = 4000


def contradiction_lines(item: ReviewItem, width: int) -> list[Line]:
    """Draw the question, both statements with who says them, and the keys that decide between them."""
    fields = item.fields or {}
    chosen = "" if wants_choice(item) else fields.get(RESOLVE, "")
    this, that = compare_words(fields.get("this", "")[:_LONGEST], fields.get(THAT, "")[:_LONGEST])
    proofs = (*item.evidence[:2], None, None)
    beside = width >= BESIDE_FROM
    half = (width - BETWEEN) // 2 if beside else width
    left = _side("<", "this, the earlier", this, proofs[0], half, taken=chosen in ("this", "both"))
    right = _side(">", "that, the later", that, proofs[1], half, taken=chosen in ("that", "both"))
    lines: list[Line] = [*((Span(piece, "strong"),) for piece in wrap(item.after, width, limit=8)), BLANK]
    lines += side_by_side(left, right, half) if beside else [*left, BLANK, *right]
    return [*lines, BLANK, *_keys(chosen, width)]


def _side(
    key: str, words: str, pieces: tuple[Piece, ...], proof: Quoted | None, width: int, *, taken: bool
) -> list[Line]:
    """Draw one statement; what differs from the other stands out, on either side alike."""
    head = (Span(key, "strong"), Span(f" {words}", "soft"), Span("  ✓ taken" if taken else "", "strong"))
    text = tuple(
        Span(plain(piece.text), "match" if piece.changed else "text") for piece in pieces if piece.text
    )
    lines: list[Line] = [head, *(wrap_line(text, width) if text else [BLANK])]
    if proof is None:
        return lines
    if proof.quote:
        quoted = wrap(f"“{proof.quote}”", max(8, width - 2), limit=_MOST_QUOTED)
        lines += [BLANK, *((Span("▏ ", "faint"), Span(piece, "soft")) for piece in quoted)]
    sign = Span(f"{store_sign(proof.id)} ", f"store.{store_of_id(proof.id)}")
    lines.append((sign, ink(proof.id, link_role(proof.id), max(1, width - 2), proof.id)))
    if not proof.found:
        lines.append((Span("no longer says so", "decide"),))
    return lines


def side_by_side(left: list[Line], right: list[Line], half: int) -> list[Line]:
    """Draw two columns of that many cells each, and a rule between them."""
    lines: list[Line] = []
    for at in range(max(len(left), len(right))):
        one = left[at] if at < len(left) else BLANK
        other = right[at] if at < len(right) else BLANK
        lines.append((*one, gap(half - line_width(one)), Span(" │ ", "rule"), *other))
    return lines


def _keys(chosen: str, width: int) -> list[Line]:
    words = (("<", "this"), (">", "that"), ("=", "both"), ("e", "reword either"), ("d", "ask me later"))
    keys = [(Span(key, "strong"), Span(f" {word}", "soft")) for key, word in words]
    said = {"both": "Both hold; say with e when or where each does.", "": ""}.get(
        chosen, f"You took {chosen}."
    )
    told: list[Line] = [(Span(said, "text"),)] if said else []
    return [*told, *flow(keys, width)]
