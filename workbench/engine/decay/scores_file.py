"""The scores file as planners see and change it: entries, the watermark of folding and the last check."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from workbench.engine import layout
from workbench.engine.clock import parse_time, render_time
from workbench.engine.decay import formula
from workbench.engine.decay.records import DecayRecord, Reckoning, assess
from workbench.engine.decay.statuses import written_status
from workbench.engine.documents.decay_scores import DecayScores, EntryAccesses, ScoreEntry
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, FileChange, FileView

MOST_WATERMARKS = 8


def read_scores(view: FileView) -> DecayScores:
    """Return the scores file; an empty one where there is none."""
    return DecayScores.parse(view.read(layout.DECAY_SCORES) or b"", layout.DECAY_SCORES)


def folded_of(scores: DecayScores) -> dict[str, int]:
    """Return the watermark: for each journal by id, the offset up to which it was folded in."""
    found = scores.extra.get("folded")
    if not isinstance(found, Mapping):
        return {}
    return {str(journal): end for journal, end in found.items() if type(end) is int}


def with_folded(folded: Mapping[str, int], journal: str, offset: int) -> dict[str, int]:
    """Return the watermark moved on for one journal; the journals folded least recently fall away."""
    moved = {known: end for known, end in folded.items() if known != journal}
    moved[journal] = offset
    return dict(list(moved.items())[-MOST_WATERMARKS:])


def checked_of(scores: DecayScores) -> datetime | None:
    """Return the moment up to which status transitions have been logged; None where they never were."""
    found = scores.extra.get("checked")
    try:
        return parse_time(found) if isinstance(found, str) else None
    except InvalidInput:
        return None


def entry_of(record: DecayRecord, standing: ScoreEntry | None, reckoning: Reckoning) -> ScoreEntry:
    """Return the entry that says what a record knows.

    Args:
        record: What is known of the memory.
        standing: The entry it has in the file, whose further keys are kept.
        reckoning: For the score and status that are written along for people.
    """
    score = assess(record, reckoning)
    extra: dict[str, Any] = dict(standing.extra) if standing else {}
    extra.pop("archived", None)
    if record.archived:
        extra["archived"] = True
    vault = record.type_weight == formula.UNENDING
    entry = ScoreEntry(
        store=record.store,
        base_relevance=record.base,
        created=render_time(record.created),
        last_accessed=render_time(record.last_accessed),
        access_count=record.access_count,
        type_weight=1.0 if vault else record.type_weight,
        current_score=written_score(score.value),
        status=written_status(score.status),
        pinned=record.pinned,
        extra=tuple(extra.items()),
    )
    known = standing.accesses if standing else None
    if known is None or not known.changes:
        return entry
    more = record.access_count - known.count - len(known.changes)
    last = entry.last_accessed if more > 0 else known.last
    return entry.with_accesses(EntryAccesses(known.count + max(0, more), last, known.changes))


def rescored(entry: ScoreEntry, record: DecayRecord, reckoning: Reckoning) -> ScoreEntry:
    """Return an entry with its score and status as they are at the moment, all else as it stands."""
    score = assess(record, reckoning)
    return dataclasses.replace(
        entry, current_score=written_score(score.value), status=written_status(score.status)
    )


def written_score(value: float) -> float:
    """Return a score to four significant digits; only what somebody archived is written as 0."""
    return float(f"{value:.4g}")


def change(
    before: DecayScores,
    entries: Mapping[str, ScoreEntry] | Mapping[str, ScoreEntry | None],
    *,
    action: Action,
    summary: str,
    now: datetime,
    extra: Mapping[str, Any] | None = None,
) -> FileChange | None:
    """Return the change of the scores file that sets or removes entries; None where nothing differs.

    Args:
        before: The file as it is, from `read_scores`.
        entries: New entries by memory id; None removes one.
        action: What the audit log calls it.
        summary: The audit line's summary.
        now: Written as the file's last update.
        extra: Keys of the outer object to set.

    Raises:
        DocumentError: The file's outer structure is broken.
    """
    differing = {
        memory_id: entry for memory_id, entry in entries.items() if entry != before.entries.get(memory_id)
    }
    if not differing and not extra:
        return None
    after = before.update(differing, last_updated=render_time(now), extra=extra)
    if not before.content and action is Action.EDIT:
        action = Action.CREATE
    return FileChange(layout.DECAY_SCORES, after.render(), action, summary)
