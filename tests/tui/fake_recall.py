"""Answers of recall for tests of the bench: found by plain words, explained by made-up but steady figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from workbench.engine.requests import SearchRequest
from workbench.engine.results.recall import Cut, Explanation, Found, Hit, IndexStatus, Lane, Signals
from workbench.tui.bench import Episode


def fresh_index() -> IndexStatus:
    """Return an index that is up to date."""
    return IndexStatus(
        files=31,
        chunks=64,
        entities=9,
        provider="builtin",
        model="static-256",
        dimensions=256,
        dirty=False,
        last_sync=datetime(2026, 2, 2, 14, 11, tzinfo=UTC),
        size_bytes=2_412_000,
        fallback=None,
        place="/home/mira/.cache/workbench/ria-formosa-4f1c",
    )


def explanation(relevance: float, rank: int, *, found: bool = True, words: Sequence[str] = ()) -> Explanation:
    """Return what the lanes would say of a memory at a place."""
    return Explanation(
        lanes=(
            Lane("keywords", rank, relevance, ", ".join(words))
            if found
            else Lane("keywords", None, None, "none of its words"),
            Lane("meaning", rank + 2 if found else 212, round(relevance * 0.7, 2), "nearest line: the 2nd"),
            Lane("graph", None, None, ""),
            Lane("dates", None, None, ""),
        ),
        relevance=relevance,
        decay_factor=0.97,
        nudges=("Raised by 0.03: every word of the question stands in one line.",) if found else (),
    )


def answered(happened: Sequence[Episode], request: SearchRequest) -> Found:
    """Return the episodes that hold a word of a question, those with most of them first."""
    query, explain = request.query, request.explain
    words = [word for word in query.casefold().split() if len(word) > 2]
    scored: list[tuple[float, Episode]] = []
    for episode in happened:
        held = sum(word in episode.text.casefold() for word in words)
        day = episode.day.isoformat()
        if (
            held
            and request.store in (None, "episodic")
            and (request.after or "") <= day <= (request.before or "9999")
        ):
            scored.append((round(0.95 * held / len(words) - len(scored) * 0.02, 2), episode))
    scored.sort(key=lambda each: -each[0])
    shown = [each for each in scored if request.include_dormant or each[1].status != "dormant"]
    hits = tuple(
        _hit(happened, episode, score, rank, words, explain=explain)
        for rank, (score, episode) in enumerate(shown[: request.max_results or 20], 1)
    )
    cuts = tuple(
        Cut(each.id, each.path, 3, 6, score, "dormant", "Faded: its score is 0.18 now.")
        for score, each in scored
        if (score, each) not in shown
    )
    return Found(
        hits,
        "builtin",
        "static-256",
        None,
        likely_absent=None,
        took_ms=7.4,
        strategy="when" if query.startswith("when") else "general",
        period=("2026-01-01", "2026-01-31") if "january" in query.casefold() else None,
        cuts=cuts if explain else (),
    )


def _hit(
    happened: Sequence[Episode],
    episode: Episode,
    score: float,
    rank: int,
    words: Sequence[str],
    *,
    explain: bool,
) -> Hit:
    start = _line_of(happened, episode)
    end = start + 1 + len(episode.text.splitlines())
    return Hit(
        id=episode.id,
        path=episode.path,
        start_line=start,
        end_line=end,
        snippet=f"## {episode.time} | {episode.type} | confidence:{episode.confidence}\n\n{episode.text}",
        score=score,
        store="episodic",
        status="pinned" if episode.pinned else episode.status,
        signals=Signals(score, score, None, 0.97),
        title=episode.text.strip().splitlines()[0].split(". ")[0].rstrip("."),
        date=episode.day.isoformat(),
        citation=f"{episode.path}#L{start}-L{end}",
        explanation=explanation(score, rank, words=words) if explain else None,
    )


def _line_of(happened: Sequence[Episode], episode: Episode) -> int:
    """Return the line of its file that an episode begins on, as the bench's `context` lays files out."""
    line = 3
    for each in happened:
        if each.id == episode.id:
            break
        if each.path == episode.path:
            line += 3 + len(each.text.splitlines())
    return line


def hit(**changes: Any) -> Hit:
    """Return a result."""
    base = Hit(
        "episode:2026-02-02:11:20", "memory/episodes/2026-02-02.md", 3, 5, "## 11:20 | fact\n\nTide. More of it",
        0.5, "episodic", "active", Signals(0.5, 0.5, None, 1.0), "Tide", "2026-02-02",
    )  # fmt: skip
    return replace(base, **changes)


def found(*hits: Hit, **changes: Any) -> Found:
    """Return an answer."""
    return replace(Found(hits, "builtin", "static-256", None, likely_absent=None, took_ms=3.2), **changes)
