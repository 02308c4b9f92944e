"""How the part of a text that answers a question is cut out, and the words in it that were asked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from workbench.cli.printing import Page, clip, display_width, safe_line, wrap

_WORD = re.compile(r"\S+")
_BARE = re.compile(r"\w(?:.*\w)?", re.DOTALL)
_JOINED = re.compile(r"[-./\\:@+#]")
# What stands before a match is there to lead up to it; what follows says more.
_LEAD = 4

Span = tuple[int, int]


def matches_in(text: str, query: str) -> list[Span]:
    """Return where a text has words of a question, as the search understands words.

    Returns:
        Start and end of each, in order, none overlapping.
    """
    return [(start, end) for start, end, _ in _matches(text, query)]


def matching_part(text: str, query: str, columns: int) -> str:
    """Cut a line around its matches, so that it fills at most so many columns.

    Args:
        text: A safe line without colours.
        query: What was asked; the line's beginning is kept where nothing of it is there.
        columns: Room in columns, ellipses included.
    """
    if display_width(text) <= columns:
        return text
    start = _best_start(text, query, columns)
    if not start:
        return clip(text, columns)
    return clip("…" + text[start:], columns)


def matching_lines(page: Page, text: str, query: str, *, lines: int, margin: int) -> list[str]:
    """Return a text as a few lines around its matches, the words that were asked for standing out.

    Args:
        page: What is written on.
        text: Any text; it becomes one line first.
        query: What was asked.
        lines: Most lines.
        margin: Columns left free before each line.
    """
    line = safe_line(text)
    room = page.width - margin
    columns = lines * room
    wrapped = wrap(line, page.width, first=" " * margin)
    # Lines are broken at words, so that a part that would fill them all can need one more.
    while len(wrapped) > lines and columns > room // 2:
        wrapped = wrap(matching_part(line, query, columns), page.width, first=" " * margin)
        columns -= max(room // 12, 1)
    return [highlighted(page, line, query) for line in wrapped[:lines] if line.strip()]


def highlighted(page: Page, text: str, query: str) -> str:
    """Return a line without colours with the words that were asked for in bold."""
    parts, end = [], 0
    for start, stop in matches_in(text, query):
        parts += [text[end:start], page.paint(text[start:stop], "strong")]
        end = stop
    return "".join([*parts, text[end:]])


def best_line(lines: Sequence[str], query: str) -> str | None:
    """Return the line that holds most of what was asked for, the first of equals; None where none does."""
    counts = [len({term for _, _, found in _matches(line, query) for term in found}) for line in lines]
    most = max(counts, default=0)
    return lines[counts.index(most)] if most else None


def _best_start(text: str, query: str, columns: int) -> int:
    """Return where the part begins that holds most of what was asked for."""
    found = _matches(text, query)
    if not found:
        return 0
    wide = columns // 2 if not text.isascii() else columns
    lead = columns // _LEAD

    def held(start: int) -> int:
        return len(
            {term for at, end, terms in found if start <= at and end - start <= wide - lead for term in terms}
        )

    best = max((start for start, _, _ in found), key=lambda start: (held(start), -start))
    if display_width(text[:best]) <= lead:
        return 0
    start = best
    while start > 0 and display_width(text[start - 1 : best]) <= lead:
        start -= 1
    # A part at the end of the text need not leave room behind it.
    while start > 0 and display_width(text[start - 1 :]) < columns:
        start -= 1
    space = text.find(" ", start, best)
    return space + 1 if space >= 0 else start


def _matches(text: str, query: str) -> list[tuple[int, int, frozenset[str]]]:
    # The search itself has imported this module by the time there is something to draw.
    from workbench.engine.catalog.terms import fold, is_prefix, telling_terms, terms

    wanted = telling_terms(query)
    if not wanted:
        return []
    found = []
    for word in _WORD.finditer(text):
        held = set(terms(word[0]))
        here = frozenset(
            term
            for term in wanted
            if term in held or (is_prefix(term) and any(one.startswith(term) for one in held))
        )
        if not here:
            continue
        bare = _BARE.search(text, word.start(), word.end()) or word
        start, end = bare.span()
        folded = fold(bare[0])
        if folded in here or _JOINED.sub("_", folded) in here:
            spans = [(start, end)]
        else:
            spans = _within(_lowered(word[0]), here, word.start()) or [(start, end)]
        found += [(first, last, here) for first, last in spans]
    return found


def _within(word: str, wanted: Iterable[str], offset: int) -> list[Span]:
    """Find terms in what is written without spaces: a page of Chinese, or words joined by signs."""
    spans: list[Span] = []
    for start, end in sorted(match.span() for term in wanted for match in re.finditer(re.escape(term), word)):
        if spans and start <= spans[-1][1] - offset:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end + offset))
        else:
            spans.append((start + offset, end + offset))
    return spans


def _lowered(word: str) -> str:
    """Return a word in lower case, letter by letter, so that places in it stay the same."""
    lowered = word.lower()
    if len(lowered) == len(word):
        return lowered
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in word)
