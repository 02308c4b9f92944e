"""Draws search results as rows: what each is, with its score, and the words around the match."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from workbench.display.cells import plain
from workbench.display.ink import Line, Span, gap, ink, line_width, score_role, spread
from workbench.display.matching import lit, one_line, part_around_match
from workbench.tui.views.dates import day_and_month, long_day
from workbench.tui.views.explanation import places_words
from workbench.tui.views.memory import STORE_SIGNS
from workbench.tui.views.scopes import SCOPE_FROM, scope_words
from workbench.tui.widgets.rows import KeyedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.recall import Hit

# States of a memory that are worth a word beside it.
STATES = ("fading", "dormant", "archived")
_FREE_TEXT = frozenset({"file", "extra", "session"})
_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_BLOCK_ID = re.compile(r" \^[\w-]+\s*$")


def hit_key(hit: Hit) -> str:
    """Return the id of a row: a long memory can come up with several of its parts."""
    return f"{hit.id}@{hit.start_line}-{hit.end_line}"


def citation(hit: Hit) -> str:
    """Return how a result is cited: `path#L3-L5`."""
    return hit.citation or hit.place


def store_look(store: str) -> tuple[str, str]:
    """Return the glyph and the role of a store; what lies outside of memory looks like a file."""
    return STORE_SIGNS.get(store, STORE_SIGNS["file"]), f"store.{store}"


class HitRows(KeyedRows):
    """Results, each as two lines: what it is, with its score, and below it the words around the match, with its day.

    Of free text the words stand above, and below them where they were said.

    Args:
        hits: Best first.
        question: Whose words are lit.
        today: In the workspace's zone.
    """

    def __init__(self, hits: Sequence[Hit], question: str, today: date) -> None:
        self._hits = tuple(hits)
        self._question, self._today = question, today
        super().__init__([key for hit in hits for key in (hit_key(hit), "")], ())

    def owner(self, index: int) -> int:
        """Return the first of the two lines."""
        return index - index % 2

    def hit(self, key: str) -> Hit | None:
        """Return the result of that id."""
        at = self.find(key)
        return self._hits[at // 2] if at is not None else None

    def rank(self, key: str) -> int:
        """Return the place of a result, from 1; 0 where it is none."""
        at = self.find(key)
        return at // 2 + 1 if at is not None else 0

    def line(self, index: int, width: int) -> Line:
        """Draw one of the two lines of a result."""
        hit = self._hits[index // 2]
        return self._head(hit, width) if index % 2 == 0 else self._below(hit, width)

    def _head(self, hit: Hit, width: int) -> Line:
        sign, role = store_look(hit.store)
        right = (Span(f"{min(hit.score, 1):.2f}", "soft"),)
        pinned = (Span("◆ ", role),) if hit.status == "pinned" else ()
        words = first_words(hit)
        if is_free_text(hit):
            words = part_around_match(words, self._question, max(1, width - 8 - 2 * len(pinned)))
        text = lit(plain(words, width * 2), self._question, score_role(hit.score))
        return spread((Span(sign + " ", role), *pinned, *text), right, width)

    def _below(self, hit: Hit, width: int) -> Line:
        state = state_of(hit)
        told = " · ".join(each for each in (state, short_date(hit.date, self._today)) if each)
        right: Line = (Span(told, "faint"),) if told else ()
        if hit.scope and width >= SCOPE_FROM:
            right = (ink(scope_words(hit.scope), "soft", width // 3), gap(2), *right)
        words = head_of(hit) if is_free_text(hit) else gist_of(hit)
        if is_free_text(hit) or not words:
            return spread((gap(2), ink(words or places_words(hit) or citation(hit), "faint")), right, width)
        part = part_around_match(words, self._question, max(1, width - line_width(right) - 4))
        return spread((gap(2), *lit(part, self._question, "soft")), right, width)


def state_of(hit: Hit) -> str:
    """Return the word for what is the matter with a result, or an empty string."""
    if hit.retired:
        return "superseded" if hit.superseded_by else "no longer holds"
    if hit.outdated_by:
        return "outdated"
    return (hit.status or "") if hit.status in STATES else ""


def is_free_text(hit: Hit) -> bool:
    """Tell whether a result is a piece of free text, whose words say more than the title of the whole."""
    return hit.store in _FREE_TEXT and bool(hit.snippet.strip())


def first_words(hit: Hit) -> str:
    """Return what a result is recognised by: the words of free text without headings, the title of all else."""
    if not is_free_text(hit):
        return head_of(hit)
    said = [line for line in hit.snippet.splitlines() if not line.startswith("#")]
    return one_line("\n".join(said)) or head_of(hit)


def head_of(hit: Hit) -> str:
    """Return what names a result: its title, or the beginning of its text."""
    return one_line(hit.title) or one_line(hit.snippet) or hit.id


def gist_of(hit: Hit) -> str:
    """Return the text of a result as one line, without headings, marks, and what its title has said already."""
    said = [line for line in hit.snippet.splitlines() if not line.startswith("#")]
    unmarked = (_LINK.sub(r"\1", _BLOCK_ID.sub("", line)) for line in said)
    words, title = one_line("\n".join(unmarked)), head_of(hit).rstrip("…. ")
    at = words.find(title)
    # A heading with time and type may stand before the sentence that is the title.
    return words[at + len(title) :].lstrip(" .…,;:–—") if 0 <= at < len(title) + 80 else words


def short_date(day: str | None, today: date) -> str:
    """Return a day as it stands in a column: “Today”, “2 Feb”, “19 Dec 2025”."""
    try:
        told = date.fromisoformat((day or "")[:10])
    except ValueError:
        return ""
    if told == today:
        return "Today"
    return long_day(told) if told.year != today.year else day_and_month(told)
