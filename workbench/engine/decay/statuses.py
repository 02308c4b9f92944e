"""Status transitions: what counts as one, and how several are told in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from workbench.engine.decay import formula
from workbench.engine.decay.records import (
    DecayRecord,
    MemoryFacts,
    Reckoning,
    assess,
    compose,
    value_and_status,
)

if TYPE_CHECKING:
    from workbench.engine.documents.decay_scores import ScoreEntry

_STATUSES = frozenset({formula.ACTIVE, formula.FADING, formula.DORMANT, formula.ARCHIVED})


@dataclass(frozen=True)
class Transition:
    """A memory whose status has changed: its id, what it was and what it is."""

    id: str
    before: str
    after: str


def transition_of(
    facts: MemoryFacts,
    standing: ScoreEntry | None,
    record: DecayRecord,
    checked: datetime | None,
    reckoning: Reckoning,
) -> Transition | None:
    """Return the transition that a memory has made since the last one logged; None where it made none.

    Where it has an entry, the status written there is what it was; without one it is what the formula gives
    for the last check, or for its first access where that came later.

    Args:
        facts: What its text says.
        standing: Its entry in the scores file as it is.
        record: What is known of it now.
        checked: When transitions were last logged.
        reckoning: The moment and the constants.
    """
    if record.pinned or record.archived:
        return None
    after = assess(record, reckoning).status
    if standing is not None:
        before = written_status(standing.status.lstrip("_"))
    else:
        before = _status_at(compose(facts, None, None, reckoning), checked, reckoning)
    if before == after or before not in _STATUSES:
        return None
    return Transition(facts.id, before, after)


def describe(transitions: Sequence[Transition]) -> str:
    """Return the audit line's summary: `2 entries transitioned: fading→dormant`."""
    counts = Counter((transition.before, transition.after) for transition in transitions)
    kinds = sorted(counts, key=lambda kind: (-counts[kind], kind))
    several = len(kinds) > 1
    parts = [f"{counts[kind]} {'→'.join(kind)}" if several else "→".join(kind) for kind in kinds]
    noun = "entry" if len(transitions) == 1 else "entries"
    return f"{len(transitions)} {noun} transitioned: {', '.join(parts)}"


def written_status(status: str) -> str:
    """Return a status as the scores file knows it: what is pinned is active."""
    return formula.ACTIVE if status == formula.PINNED else status


def _status_at(record: DecayRecord, checked: datetime | None, reckoning: Reckoning) -> str:
    moment = min(max(checked or record.last_accessed, record.last_accessed), reckoning.now)
    days = formula.days_between(record.last_accessed, moment, reckoning.zone)
    raw = record.raw(days, reckoning.settings.lambda_)
    return value_and_status(raw, record, reckoning.thresholds)[1]
