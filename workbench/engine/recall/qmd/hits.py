"""Makes results of what QMD found: those that name a file of its collections and are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from workbench.engine import layout
from workbench.engine.recall.model import Within
from workbench.engine.recall.qmd.answers import QmdMatch
from workbench.engine.recall.qmd.collections import Collection
from workbench.engine.recall.qmd.failure import QmdFailed
from workbench.engine.results.recall import Hit, Signals
from workbench.engine.settings.sections import QmdSettings


@dataclass(frozen=True)
class QmdAnswer:
    """What QMD found.

    Args:
        hits: Best first. Their scores are never below 1 / (1 + rank), since QMD's own fall to 0 in small collections;
            its own is in the signals.
        mode: How it searched: `search`, `vsearch` or `query`.
        dropped: How many of its results were left out, since they name no file of the collections.
    """

    hits: tuple[Hit, ...]
    mode: str
    dropped: int = 0


def answer_of(
    matches: Sequence[QmdMatch],
    collections: Sequence[Collection],
    settings: QmdSettings,
    within: Within,
    most: int,
) -> QmdAnswer:
    """Make results of what QMD found.

    Args:
        matches: Best first.
        collections: What QMD indexes.
        settings: How it searched, and how long a snippet may be.
        within: What is asked for; days are those that file names carry.
        most: Most results.

    Raises:
        QmdFailed: Not one of several matches names a file of the collections.
    """
    by_name = {each.name: each for each in collections}
    hits: list[Hit] = []
    dropped = 0
    for match in matches:
        collection = by_name.get(match.collection)
        relative = collection.find(match.relative) if collection else None
        if collection is None or relative is None:
            dropped += 1
            continue
        path = collection.shown(relative)
        store = "extra" if collection.inside is None else layout.store_of(path)
        day = layout.day_in_name(path)
        if len(hits) < most and _fits(store, day, within):
            hit = _hit(match, path, store, day, settings)
            hits.append(replace(hit, score=max(hit.score, 1 / (2 + len(hits)))))
    if dropped and dropped == len(matches):
        raise QmdFailed("QMD’s answer names no file of its collections")
    return QmdAnswer(tuple(hits), settings.mode, dropped)


def _hit(match: QmdMatch, path: str, store: str, day: date | None, settings: QmdSettings) -> Hit:
    is_vector = settings.mode == "vsearch"
    most = settings.max_snippet_chars
    snippet = match.snippet if len(match.snippet) <= most else match.snippet[: most - 1] + "…"
    last = min(match.last, match.first + snippet.count("\n"))
    return Hit(
        id=f"file:{path}#L{match.first}-L{last}",
        path=path,
        start_line=match.first,
        end_line=last,
        snippet=snippet,
        score=match.score,
        store=store,
        status=None,
        signals=Signals(match.score if is_vector else None, None if is_vector else match.score, None, None),
        title=match.title,
        date=day.isoformat() if day else None,
    )


def _fits(store: str, day: date | None, within: Within) -> bool:
    if within.store not in (None, store):
        return False
    if within.after is None and within.before is None:
        return True
    return (
        day is not None
        and (within.after is None or day >= within.after)
        and (within.before is None or day <= within.before)
    )
