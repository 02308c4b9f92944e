"""Plain full-text search over the catalog, ranked by BM25."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import date

from workbench.engine.catalog import Lookups, MemoryRecord
from workbench.engine.catalog.terms import fold, telling_terms, terms
from workbench.engine.results import Found, Hit, Score, Signals
from workbench.engine.tokens import count_tokens

SNIPPET_CHARACTERS = 700
_CANDIDATES = 200


def search(
    lookups: Lookups,
    query: str,
    *,
    score_of: Callable[[MemoryRecord], Score | None],
    max_results: int | None,
    min_score: float | None,
    store: str | None = None,
    after: date | None = None,
    before: date | None = None,
    include_dormant: bool = False,
    budget: int | None = None,
) -> Found:
    """Find the memories that hold words of the query.

    Args:
        lookups: The catalog's questions.
        query: Any text; none of it is read as a search language.
        score_of: A memory's relevance, None where it has none.
        max_results: Most results, or None for no limit.
        min_score: Least score of a result, 0–1, or None for no floor.
        store: Search this store alone.
        after: First day of a dated memory.
        before: Last day of a dated memory.
        include_dormant: Also give dormant memories; archived ones stay hidden.
        budget: Fill this many tokens of snippets instead of counting results.

    Returns:
        Results best first. A score is 0–1: the share of the question's telling words that the memory holds,
        lowered by up to a fifth where BM25 finds them weak. It does not depend on the other results.
    """
    started = time.perf_counter()
    wanted = telling_terms(query)
    candidates = [
        (record, _text_score(record, bm25, wanted))
        for record, bm25 in lookups.search(query, store=store, limit=_CANDIDATES)
    ]
    candidates.sort(key=lambda candidate: -candidate[1])
    hits: list[Hit] = []
    spent = 0
    for record, text_score in candidates:
        relevance = score_of(record)
        status = relevance.status if relevance else None
        if status == "archived" or (status == "dormant" and not include_dormant):
            continue
        if not _within(record, after, before):
            continue
        if min_score is not None and text_score < min_score:
            continue
        start, end, snippet = excerpt(record, query)
        if budget is not None:
            cost = count_tokens(snippet)
            if spent + cost > budget:
                continue
            spent += cost
        hits.append(
            Hit(
                id=record.id,
                path=record.path,
                start_line=start,
                end_line=end,
                snippet=snippet,
                score=round(text_score, 4),
                store=record.store,
                status=status,
                signals=Signals(None, round(text_score, 4), None, relevance.value if relevance else None),
                title=record.title,
                date=record.moment.date().isoformat() if record.moment else None,
            )
        )
        if max_results is not None and len(hits) >= max_results:
            break
    took = (time.perf_counter() - started) * 1000
    return Found(tuple(hits), "none", None, None, not hits, round(took, 2))


def _text_score(record: MemoryRecord, bm25: float, wanted: tuple[str, ...]) -> float:
    held = set(terms(f"{record.title} {' '.join(record.tags)} {record.text}"))
    coverage = sum(term in held for term in wanted) / len(wanted)
    strength = max(0.0, bm25)
    return coverage * (0.8 + 0.2 * strength / (strength + 1))


def excerpt(record: MemoryRecord, query: str) -> tuple[int, int, str]:
    """Return the lines of a memory around the best match, about 700 characters.

    Returns:
        First and last line of the excerpt (1-based, inclusive) and its text.
    """
    lines = record.text.split("\n")
    if len(record.text) <= SNIPPET_CHARACTERS:
        return record.start_line, record.end_line, record.text
    wanted = set(terms(query))
    weights = [len(wanted.intersection(terms(line))) for line in lines]
    best = max(range(len(lines)), key=lambda i: (weights[i], -i))
    first = last = best
    size = len(lines[best])
    while True:
        options = [i for i in (last + 1, first - 1) if 0 <= i < len(lines)]
        options = [i for i in options if size + len(lines[i]) + 1 <= SNIPPET_CHARACTERS]
        if not options:
            break
        size += len(lines[options[0]]) + 1
        first, last = min(first, options[0]), max(last, options[0])
    text = "\n".join(lines[first : last + 1])
    if len(text) > SNIPPET_CHARACTERS:
        text = _around(text, wanted)
    return record.start_line + first, record.start_line + last, text


def _around(line: str, wanted: set[str]) -> str:
    """Cut one very long line around the first word that was asked for."""
    folded = fold(line) if len(line) < 100_000 else line.casefold()
    places = [place for place in (folded.find(term) for term in wanted) if place >= 0]
    start = max(0, min(places, default=0) - SNIPPET_CHARACTERS // 4)
    return ("…" if start else "") + line[start : start + SNIPPET_CHARACTERS] + "…"


def _within(record: MemoryRecord, after: date | None, before: date | None) -> bool:
    if after is None and before is None:
        return True
    if record.moment is None:
        return False
    day = record.moment.date()
    return (after is None or day >= after) and (before is None or day <= before)
