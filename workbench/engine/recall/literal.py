"""Finds memories that hold the very words of a description, for deciding which ones somebody means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.engine.catalog.terms import is_prefix
from workbench.engine.recall.model import Chunk, ChunkSource, Within
from workbench.engine.recall.stemming import index_terms, question_terms

_CANDIDATES = 200


@dataclass(frozen=True)
class Literal:
    """A piece of memory and the share of the telling words asked for that it holds, 0–1."""

    chunk: Chunk
    coverage: float


def literal_matches(source: ChunkSource, words: str) -> list[Literal]:
    """Return the best piece of each memory that holds any of the words, those first that hold most of them.

    Args:
        source: The index.
        words: Any text; none of it is read as a search language.
    """
    wanted = question_terms(words)
    if not wanted:
        return []
    asked = [term + "*" if is_prefix(term) else term for term in wanted]
    found = source.by_keywords(asked, _CANDIDATES, Within())
    best: dict[tuple[str, str], Literal] = {}
    for stored in source.read([number for number, _ in found]):
        chunk = stored.chunk
        match = Literal(chunk, coverage(wanted, f"{chunk.title}\n{' '.join(chunk.tags)}\n{chunk.text}"))
        known = best.get((chunk.memory_id, chunk.path))
        if known is None or known.coverage < match.coverage:
            best[chunk.memory_id, chunk.path] = match
    return sorted(best.values(), key=lambda match: -match.coverage)


def coverage(wanted: Sequence[str], text: str) -> float:
    """Return the share of a question’s terms, as `question_terms` gives them, that a text holds, 0–1."""
    held = set(index_terms(text))
    return sum(_holds(held, term) for term in wanted) / len(wanted)


def _holds(held: set[str], term: str) -> bool:
    if term in held:
        return True
    # A single Chinese, Japanese or Korean character stands for every term that begins with it.
    return is_prefix(term) and any(each.startswith(term) for each in held)
