"""Plain full-text search over the catalog, ranked by how much of the question a memory holds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import date

from workbench.engine.catalog import Lookups, MemoryRecord
from workbench.engine.catalog.terms import telling_terms, terms
from workbench.engine.recall.excerpt import excerpt, held
from workbench.engine.results import Found, Hit, Score, Signals
from workbench.engine.tokens import count_tokens

_CANDIDATES = 200
# A workspace may hold thousands of archived memories that are in the way of those to show.
_MOST_PAGES = 25
# A budget is full where so many results on end no longer fit.
_MOST_MISFITS = 10


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
    include_archived: bool = False,
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
        after: First day of a dated memory; memories without a date are left out.
        before: Last day of a dated memory, likewise.
        include_dormant: Also give dormant memories; archived ones stay hidden.
        include_archived: Give every memory, whatever its status.
        budget: Fill this many tokens of snippets instead of counting results.

    Returns:
        Results best first. A score is 0–1: the share of the question's telling words that the memory holds,
        lowered by up to a fifth where BM25 finds them weak. It does not depend on the other results.
    """
    started = time.perf_counter()
    hits: list[Hit] = []
    left, misfits = budget, 0
    for record, text_score, relevance in _admitted(
        lookups,
        query,
        score_of,
        store,
        after,
        before,
        include_dormant=include_dormant,
        include_archived=include_archived,
    ):
        if (max_results is not None and len(hits) >= max_results) or misfits >= _MOST_MISFITS:
            break
        if min_score is not None and text_score < min_score:
            continue
        hit = _hit(record, query, text_score, relevance)
        if left is not None:
            cost = count_tokens(hit.snippet)
            if cost > left:
                misfits += 1
                continue
            left, misfits = left - cost, 0
        hits.append(hit)
    # Each page of candidates is in order; several pages together may not be.
    hits.sort(key=lambda hit: -hit.score)
    took = (time.perf_counter() - started) * 1000
    return Found(tuple(hits), "none", None, None, not hits, round(took, 2))


def _admitted(
    lookups: Lookups,
    query: str,
    score_of: Callable[[MemoryRecord], Score | None],
    store: str | None,
    after: date | None,
    before: date | None,
    *,
    include_dormant: bool,
    include_archived: bool,
) -> Iterator[tuple[MemoryRecord, float, Score | None]]:
    """Yield the candidates that may be shown with their score, best first within each page of candidates."""
    wanted = telling_terms(query)
    hidden = {"archived"} if include_dormant else {"archived", "dormant"}
    if include_archived:
        hidden.clear()
    seen: set[str] = set()

    def ask(page: int, *, all_terms: bool) -> list[tuple[MemoryRecord, float]]:
        return lookups.search(
            query,
            store=store,
            after=after,
            before=before,
            limit=_CANDIDATES,
            offset=page * _CANDIDATES,
            all_terms=all_terms,
        )

    # BM25 may rank a short memory with one rare word above a long one that holds the whole question.
    complete = ask(0, all_terms=True) if len(wanted) > 1 else []
    for page in range(_MOST_PAGES):
        found = ask(page, all_terms=False)
        admitted = []
        for record, bm25 in (*complete, *found):
            key = f"{record.id}\n{record.path}"
            if key in seen:
                continue
            seen.add(key)
            relevance = score_of(record)
            if relevance is None or relevance.status not in hidden:
                admitted.append((record, _text_score(record, bm25, wanted), relevance))
        admitted.sort(key=lambda candidate: -candidate[1])
        yield from admitted
        if len(found) < _CANDIDATES:
            return
        complete = []


def _text_score(record: MemoryRecord, bm25: float, wanted: tuple[str, ...]) -> float:
    found = set(terms(f"{record.title}\n{' '.join(record.tags)}\n{record.text}"))
    coverage = held(wanted, found) / len(wanted)
    strength = max(0.0, bm25)
    return coverage * (0.8 + 0.2 * strength / (strength + 1))


def _hit(record: MemoryRecord, query: str, text_score: float, relevance: Score | None) -> Hit:
    start, end, snippet = excerpt(record, query)
    score = round(text_score, 4)
    return Hit(
        id=record.id,
        path=record.path,
        start_line=start,
        end_line=end,
        snippet=snippet,
        score=score,
        store=record.store,
        status=relevance.status if relevance else None,
        signals=Signals(None, score, None, relevance.value if relevance else None),
        title=record.title,
        date=record.moment.date().isoformat() if record.moment else None,
    )
