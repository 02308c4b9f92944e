"""What a memory's score is made of: its text, its entry in the scores file and the journal together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from workbench.engine.clock import parse_time
from workbench.engine.decay import formula
from workbench.engine.decay.formula import UNENDING, Thresholds
from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.results.memories import Score
from workbench.engine.settings.sections import DecaySettings

if TYPE_CHECKING:
    from workbench.engine.documents.decay_scores import ScoreEntry

SCORED_STORES = frozenset(MEMORY_STORES)
"""Stores whose memories have a score; flat logs and other free text have none."""

EXPLICIT_SOURCES = frozenset({"user-explicit", "explicit"})
INFERRED_SOURCES = frozenset({"reflection", "inferred"})

MOST_WEIGHT = 1e9
"""Beyond it a type weight in the scores file says no more: no score becomes infinite by it."""


@dataclass(frozen=True)
class MemoryFacts:
    """What a memory's own text says that matters to its score.

    Args:
        id: Its identifier.
        store: core, episodic, semantic, procedural, vault or file.
        source: `conversation`, `user-explicit`, `reflection` or another word; empty where nothing is said.
        created: When it was made; None where the text does not say.
        adopted: When it was taken in, for memories that were not written here: that counts as their first
            access.
        pinned: Whether the text itself marks it as pinned.
        access_count: What an annotation in the text says, from 1.
        title: A line that names it, for lists.
        tags: Of an episode.
        entities: Ids of the entities it names, or that it is.
    """

    id: str
    store: str
    source: str = ""
    created: datetime | None = None
    adopted: datetime | None = None
    pinned: bool = False
    access_count: int = 1
    title: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()


@dataclass(frozen=True)
class Accesses:
    """Accesses of one memory that stand in the journal and not yet in the scores file."""

    count: int
    last: datetime


@dataclass(frozen=True)
class Reckoning:
    """What scores are reckoned with.

    Args:
        now: The moment, aware.
        zone: The workspace's time zone, whose calendar days count.
        settings: The constants.
    """

    now: datetime
    zone: tzinfo = UTC
    settings: DecaySettings = field(default_factory=DecaySettings)

    @property
    def thresholds(self) -> Thresholds:
        """Return the thresholds of the settings."""
        return Thresholds(
            self.settings.active_threshold, self.settings.fading_threshold, self.settings.archive_threshold
        )


@dataclass(frozen=True)
class DecayRecord:
    """Everything one memory's score depends on but the moment and the constants.

    Args:
        id: Its identifier.
        store: core, episodic, semantic, procedural or vault.
        base: Base relevance, 0-1.
        created: When it was made, aware.
        last_accessed: Its last access, aware.
        access_count: From 1.
        pinned: Whether it never decays.
        archived: Whether somebody archived it, whatever its score.
        type_weight: Multiplier of the store; infinite for the vault.
        title: A line that names it.
        tags: Of an episode.
        entities: Ids of the entities it names, or that it is.
    """

    id: str
    store: str
    base: float
    created: datetime
    last_accessed: datetime
    access_count: int
    pinned: bool
    archived: bool
    type_weight: float
    title: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    def raw(self, days: float, lambda_: float) -> float:
        """Return the raw relevance (infinite where it never decays) some days after the last access."""
        return formula.score(self.base, lambda_, days, self.access_count, self.type_weight, self.pinned)


def base_of(source: str, settings: DecaySettings) -> float:
    """Return the base relevance of a source (design document §9.1): asked for, noticed or inferred.

    A file that does not say where it comes from was written on purpose, by a person or at a person's word.
    A source may say which reflection it was, as `reflection:r-012`.
    """
    word = source.strip().casefold()
    if not word or word in EXPLICIT_SOURCES:
        return settings.explicit_base
    if word.partition(":")[0] in INFERRED_SOURCES:
        return settings.inferred_base
    return settings.auto_base


def weight_of(store: str, settings: DecaySettings) -> float:
    """Return the type weight of a store; infinite for the vault.

    Raises:
        InvalidInput: Memories of that store have no score.
    """
    match store:
        case "core":
            return settings.core_weight
        case "episodic":
            return settings.episodic_weight
        case "semantic":
            return settings.semantic_weight
        case "procedural":
            return settings.procedural_weight
        case "vault":
            return UNENDING
    raise InvalidInput(
        f"Memories of the store “{store}” have no score.",
        remedy="Only stores do; free text and logs do not decay.",
    )


def begun(created: datetime | None, adopted: datetime | None, now: datetime) -> tuple[datetime, datetime]:
    """Return when a memory was made and when it was first accessed, as far as anybody says.

    Args:
        created: What its text says.
        adopted: When it was taken in, which counts as its first access.
        now: Stands for both where nobody says anything.
    """
    made = created or adopted or now
    return made, max(made, adopted) if adopted else made


def compose(
    facts: MemoryFacts,
    entry: ScoreEntry | None,
    accesses: Accesses | None,
    reckoning: Reckoning,
) -> DecayRecord:
    """Put together what is known of one memory.

    The scores file is obeyed where it says something usable; its text counts for the rest, and for memories
    without an entry. A type weight that is merely the usual one of its store gives way to the settings.

    Args:
        facts: What its text says.
        entry: Its entry in the scores file.
        accesses: What the journal holds beyond that entry.
        reckoning: Where nobody says when it was made, its moment counts as the first access.

    Raises:
        InvalidInput: Memories of that store have no score.
    """
    weight = weight_of(facts.store, reckoning.settings)
    base = base_of(facts.source, reckoning.settings)
    created, last = begun(facts.created, facts.adopted, reckoning.now)
    count = max(1, facts.access_count)
    pinned = facts.pinned or facts.store == "vault"
    archived = False
    if entry is not None:
        if math.isfinite(entry.base_relevance):
            base = min(max(entry.base_relevance, 0.0), 1.0)
        if weight != UNENDING and math.isfinite(entry.type_weight):
            usual = entry.type_weight == _USUAL_WEIGHTS[facts.store]
            weight = weight if usual else min(max(entry.type_weight, 0.0), MOST_WEIGHT)
        created = facts.created or _moment(entry.created) or created
        last = _moment(entry.last_accessed) or last
        count = max(1, entry.access_count)
        pinned = pinned or entry.pinned
        archived = is_archived(entry)
    if accesses is not None:
        count += accesses.count
        last = max(last, accesses.last)
    return DecayRecord(
        facts.id,
        facts.store,
        base,
        created,
        last,
        count,
        pinned,
        archived,
        weight,
        facts.title,
        facts.tags,
        facts.entities,
    )


def is_archived(entry: ScoreEntry) -> bool:
    """Tell whether somebody archived the memory, as opposed to its score having sunk."""
    said = dict(entry.extra).get("archived")
    if isinstance(said, bool):
        return said
    return entry.status.lstrip("_") == formula.ARCHIVED and entry.current_score == 0


def value_and_status(raw: float, record: DecayRecord, thresholds: Thresholds) -> tuple[float, str]:
    """Return the score (0-1) and the status that go with a raw relevance."""
    if record.archived:
        return 0.0, formula.ARCHIVED
    if record.pinned or record.type_weight == UNENDING:
        return 1.0, formula.PINNED
    value = formula.displayed(raw)
    return value, formula.status_of(value, thresholds)


def assess(record: DecayRecord, reckoning: Reckoning) -> Score:
    """Return a memory's score at the moment, its terms explained."""
    days = formula.days_between(record.last_accessed, reckoning.now, reckoning.zone)
    return explain(record, days, reckoning.settings.lambda_, reckoning.thresholds)


def explain(record: DecayRecord, days: int, lambda_: float, thresholds: Thresholds) -> Score:
    """Return a memory's score some days after its last access, its terms explained.

    Args:
        record: What its score depends on.
        days: Whole calendar days, 0 or more.
        lambda_: Decay per day.
        thresholds: Of the statuses.
    """
    raw = record.raw(days, lambda_)
    value, status = value_and_status(raw, record, thresholds)
    decays = not record.pinned and record.type_weight != UNENDING
    return Score(
        value=value,
        raw=raw if decays else value,
        status=status,
        terms={
            "base": record.base,
            "lambda": lambda_,
            "days": days,
            "decay": formula.score(1.0, lambda_, days, 1, 1.0),
            "accessCount": record.access_count,
            "reinforcement": formula.score(1.0, 0.0, 0, record.access_count, 1.0),
            "typeWeight": record.type_weight if record.type_weight != UNENDING else None,
            "pinned": record.pinned,
            "archived": record.archived,
        },
    )


def _moment(text: str) -> datetime | None:
    try:
        return parse_time(text) if text else None
    except InvalidInput:
        return None


_USUAL = DecaySettings()
_USUAL_WEIGHTS = {store: weight_of(store, _USUAL) for store in SCORED_STORES}
