"""Keyword questions to the full-text index, quick however frequent the words are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.engine.recall.index.schema import ask
from workbench.engine.recall.model import Within

if TYPE_CHECKING:
    import apsw

# A word that stands in very many chunks tells little of any: where rarer ones were asked for as well, frequent
# ones are left out once this many places would have to be looked at.
_MOST_PLACES = 16_000
_END_OF_PREFIX = "\U0010ffff"


def frequencies(connection: apsw.Connection, terms: Sequence[str], chunks: int) -> dict[str, int]:
    """Return in how many chunks each term stands; of a prefix, an estimate from above.

    Args:
        connection: To the index file.
        terms: As they stand in the index; one that ends in `*` stands for every term that begins with it.
        chunks: How many there are in all.
    """
    found = {}
    for term in dict.fromkeys(terms):
        if term.endswith("*"):
            start = term[:-1]
            question = "SELECT sum(doc) FROM vocabulary WHERE term >= ? AND term < ?"
            rows = ask(connection, question, (start, start + _END_OF_PREFIX))
        else:
            rows = ask(connection, "SELECT doc FROM vocabulary WHERE term = ?", (term,))
        found[term] = min(chunks, int(rows[0][0] or 0)) if rows else 0
    return found


def best_by_keywords(
    connection: apsw.Connection, terms: Sequence[str], limit: int, within: Within, chunks: int
) -> list[tuple[int, float]]:
    """Return the chunks that hold any of the terms by BM25, best first."""
    telling = _telling(frequencies(connection, terms, chunks))
    if not telling:
        return []
    expression = " OR ".join(_quoted(term) for term in telling)
    asked = {"c.store = ?": within.store, "c.day >= ?": within.after, "c.day <= ?": within.before}
    narrowed = {clause: str(value) for clause, value in asked.items() if value is not None}
    # The full-text index gives rows in the order of their rank: only as many as are wanted are looked at further.
    joined = " CROSS JOIN chunks c ON c.number = words.rowid" if narrowed else ""
    rows = connection.execute(
        f"SELECT words.rowid, -words.rank FROM words{joined} WHERE words MATCH ?"
        f"{''.join(f' AND {clause}' for clause in narrowed)} ORDER BY words.rank LIMIT ?",
        (expression, *narrowed.values(), limit),
    )
    return [(int(number), float(score)) for number, score in rows]


def _telling(found: Mapping[str, int]) -> list[str]:
    """Return the terms to ask for, the rarest first."""
    chosen: list[str] = []
    places = 0
    for term, count in sorted(found.items(), key=lambda pair: pair[1]):
        if count and chosen and places + count > _MOST_PLACES:
            break
        if count:
            chosen.append(term)
            places += count
    return chosen


def _quoted(term: str) -> str:
    text = term.replace('"', '""')
    return f'"{text[:-1]}"*' if term.endswith("*") else f'"{text}"'
