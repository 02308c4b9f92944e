"""Relevance: the formula (design document §9.1, §9.2), the inputs of a score, and changes of status."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from datetime import UTC, datetime, tzinfo

from workbench.engine.clock import in_zone, parse_time
from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.markdown.decay_scores import ScoreEntry
from workbench.engine.markdown.statements import WrittenAccesses
from workbench.engine.results.memories import Score
from workbench.engine.settings.sections import DecaySettings, Settings
from workbench.engine.values import dataclass

ACTIVE = "active"
FADING = "fading"
DORMANT = "dormant"
ARCHIVED = "archived"
PINNED = "pinned"

UNENDING = math.inf
"""The type weight of vault notes and pinned memories, which never decay."""


NEVER = 1_000_000
"""Forecasts end after this many days."""

SCORED_STORES = frozenset(MEMORY_STORES)
"""Stores whose memories have a score, unlike flat logs and other free text."""
EXPLICIT_SOURCES = frozenset({"user-explicit", "explicit"})
INFERRED_SOURCES = frozenset({"reflection", "inferred"})
MOST_WEIGHT = 1e9
"""Upper limit for type weights in the scores file, so that no score becomes infinite."""

_USUAL = DecaySettings()

_STATUSES = frozenset({ACTIVE, FADING, DORMANT, ARCHIVED})
# Characters of the ids that one line of the audit log names.
_MOST_NAMED = 600


@dataclass(frozen=True)
class Thresholds:
    """Least scores (0-1, descending) of active, fading and dormant memories; lower scores are archived."""

    active: float = 0.5
    fading: float = 0.2
    archive: float = 0.05

    @property
    def named(self) -> tuple[tuple[float, str], ...]:
        """Return each threshold with the status of scores below it."""
        return ((self.active, FADING), (self.fading, DORMANT), (self.archive, ARCHIVED))


def score(
    base: float, lambda_: float, days: float, access_count: int, type_weight: float, pinned: bool = False
) -> float:
    """Return the raw relevance: base × e^(−λ·days) × log2(access_count + 1) × type_weight.

    Args:
        base: Base relevance, 0-1.
        lambda_: Decay per day.
        days: Whole days since the last access, 0 or more.
        access_count: From 1; writing a memory counts as its first access.
        type_weight: Multiplier of the store; infinite if the memory never decays.
        pinned: Whether it never decays.

    Returns:
        0 or more; may exceed 1. Infinite if it never decays.
    """
    if pinned or type_weight == UNENDING:
        return math.inf
    return base * math.exp(-lambda_ * days) * math.log2(access_count + 1) * type_weight


def displayed(raw: float) -> float:
    """Return the score for status and display: raw relevance, at most 1."""
    return min(raw, 1.0)


def status_of(value: float, thresholds: Thresholds) -> str:
    """Return active, fading, dormant or archived; a score equal to a threshold has not passed it."""
    if value >= thresholds.active:
        return ACTIVE
    if value >= thresholds.fading:
        return FADING
    if value >= thresholds.archive:
        return DORMANT
    return ARCHIVED


def days_between(last: datetime, now: datetime, zone: tzinfo) -> int:
    """Return the whole calendar days from one moment to another in a time zone.

    Args:
        now: Aware; if it is before `last` (a clock set back), the result is 0.
    """
    return max(0, day_of(now, zone) - day_of(last, zone))


def day_of(moment: datetime, zone: tzinfo) -> int:
    """Return the calendar day of an aware moment in a time zone, as a proleptic ordinal."""
    return in_zone(moment, zone).toordinal()


def half_life(lambda_: float) -> float:
    """Return the days in which relevance halves: ln 2 / λ; infinite without decay."""
    return math.log(2) / lambda_ if lambda_ > 0 else math.inf


def days_until(
    threshold: float, base: float, lambda_: float, access_count: int, type_weight: float
) -> int | None:
    """Return the first whole day after the last access on which the score is below a threshold.

    Returns:
        0 if it is below from the start; None if it takes more than a million days.
    """

    def below(day: int) -> bool:
        return displayed(score(base, lambda_, day, access_count, type_weight)) < threshold

    if below(0):
        return 0
    if threshold <= 0 or lambda_ <= 0 or type_weight == UNENDING:
        return None
    start = score(base, lambda_, 0, access_count, type_weight)
    span = (math.log(start) - math.log(threshold)) / lambda_
    if span > NEVER:
        return None
    day = max(1, math.floor(span))
    # The logarithm may be off by one day if the score meets the threshold exactly.
    while not below(day):
        day += 1
    while below(day - 1):
        day -= 1
    return day


@dataclass(frozen=True)
class MemoryFacts:
    """The facts in a memory's own text that affect its score.

    Args:
        store: core, episodic, semantic, procedural, vault or file.
        source: `conversation`, `user-explicit`, `reflection` or another word; empty if unknown.
        created: When it was made; None if the text does not say.
        adopted: When an imported memory was taken in; this counts as its first access.
        used: The accesses that the text tells of, or None.
    """

    id: str
    store: str
    source: str = ""
    created: datetime | None = None
    adopted: datetime | None = None
    pinned: bool = False
    title: str = ""
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    used: WrittenAccesses | None = None


@dataclass(frozen=True)
class Accesses:
    """Accesses of one memory that are in the journal but not yet in the scores file."""

    count: int
    last: datetime


@dataclass(frozen=True)
class DecayContext:
    """The moment and the constants of a score calculation.

    Args:
        zone: The workspace's time zone, whose calendar days count.
    """

    now: datetime
    zone: tzinfo = UTC
    settings: DecaySettings = field(default_factory=DecaySettings)

    @classmethod
    def at(cls, now: datetime, settings: Settings) -> DecayContext:
        """Return the context at a moment, which is in the workspace's zone."""
        return cls(now, now.tzinfo or settings.zone, settings.decay)

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds(
            self.settings.active_threshold, self.settings.fading_threshold, self.settings.archive_threshold
        )


@dataclass(frozen=True)
class DecayRecord:
    """All inputs of a memory's score except the moment and the constants.

    Args:
        base: Base relevance, 0-1.
        archived: Whether it was archived by decision, regardless of its score.
        type_weight: Multiplier of the store; infinite for the vault.
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
    title: str
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()

    def raw(self, days: float, lambda_: float) -> float:
        """Return the raw relevance some days after the last access; infinite if it never decays."""
        return score(self.base, lambda_, days, self.access_count, self.type_weight, self.pinned)


def base_of(source: str, settings: DecaySettings) -> float:
    """Return the base relevance of a source (design document §9.1): explicit, noticed or inferred.

    A file without a source was written on purpose, by a person or at a person's request. A source may name the
    reflection, as `reflection:r-012`.
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


def first_dates(
    created: datetime | None, adopted: datetime | None, now: datetime
) -> tuple[datetime, datetime]:
    """Return when a memory was made and first accessed, as far as known.

    Args:
        adopted: When it was taken in, which counts as its first access.
    """
    made = created or adopted or now
    return made, max(made, adopted) if adopted else made


def decay_record(
    facts: MemoryFacts,
    entry: ScoreEntry | None,
    accesses: Accesses | None,
    context: DecayContext,
) -> DecayRecord:
    """Combine what is known about one memory.

    Valid values in the scores file take precedence; the text provides the rest, and memories without an entry.
    Accesses that the text tells of count where the file knows none that are later. A type weight equal to the
    store's default gives way to the settings.

    Args:
        context: Its moment counts as the first access if the creation date is unknown.

    Raises:
        InvalidInput: Memories of that store have no score.
    """
    weight = weight_of(facts.store, context.settings)
    base = base_of(facts.source, context.settings)
    created, last = first_dates(facts.created, facts.adopted, context.now)
    count = 1
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
    if facts.used is not None:
        written = facts.used.last or created
        if entry is None or written > last:
            count, last = max(count, facts.used.count), max(last, written)
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


def is_archived(entry: ScoreEntry | None) -> bool:
    """Return True if the memory was archived by decision, as opposed to a low score; without an entry it was not."""
    if entry is None:
        return False
    said = dict(entry.extra).get("archived")
    if isinstance(said, bool):
        return said
    return entry.status.lstrip("_") == ARCHIVED and entry.current_score == 0


def value_and_status(raw: float, record: DecayRecord, thresholds: Thresholds) -> tuple[float, str]:
    """Return the score (0-1) and the status for a raw relevance."""
    if record.archived:
        return 0.0, ARCHIVED
    if record.pinned or record.type_weight == UNENDING:
        return 1.0, PINNED
    value = displayed(raw)
    return value, status_of(value, thresholds)


def score_now(record: DecayRecord, context: DecayContext) -> Score:
    """Return a memory's present score with its terms explained."""
    days = days_between(record.last_accessed, context.now, context.zone)
    return explain_score(record, days, context.settings.lambda_, context.thresholds)


def explain_score(record: DecayRecord, days: int, lambda_: float, thresholds: Thresholds) -> Score:
    """Return a memory's score some days after its last access, with its terms explained.

    Args:
        days: Whole calendar days, 0 or more.
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
            "decay": score(1.0, lambda_, days, 1, 1.0),
            "accessCount": record.access_count,
            "reinforcement": score(1.0, 0.0, 0, record.access_count, 1.0),
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


_USUAL_WEIGHTS = {store: weight_of(store, _USUAL) for store in SCORED_STORES}


@dataclass(frozen=True)
class Transition:
    """A memory whose status has changed, with the old and the new status."""

    id: str
    before: str
    after: str


def transition_of(
    facts: MemoryFacts,
    standing: ScoreEntry | None,
    record: DecayRecord,
    checked: datetime | None,
    context: DecayContext,
) -> Transition | None:
    """Return the transition of a memory since the last one logged, or None.

    The old status is the one in its entry; without an entry, the one by the formula at the last check, or at its
    first access if that was later.

    Args:
        checked: When transitions were last logged.
    """
    if record.pinned or record.archived:
        return None
    after = score_now(record, context).status
    if standing is not None:
        before = written_status(standing.status.lstrip("_"))
    else:
        before = _status_at(decay_record(facts, None, None, context), checked, context)
    if before == after or before not in _STATUSES:
        return None
    return Transition(facts.id, before, after)


def describe_transitions(transitions: Sequence[Transition]) -> str:
    """Return the audit line's summary, which names the memories (design document §12.4, §12.7).

    `2 entries transitioned: fading→dormant (entity:tool--vim, procedure:deploy)`. Of very many the first are named,
    those that sank lowest before others, and the rest counted.
    """
    named = _first_named(transitions)
    kinds: dict[tuple[str, str], list[str]] = {}
    for each in transitions:
        kinds.setdefault((each.before, each.after), []).append(each.id)
    parts = []
    for kind, ids in sorted(kinds.items(), key=lambda one: (-len(one[1]), one[0])):
        told = sorted(named.intersection(ids))
        if rest := len(ids) - len(told):
            told.append(f"{rest:,} more")
        count = f"{len(ids)} " if len(kinds) > 1 else ""
        parts.append(f"{count}{'→'.join(kind)}" + (f" ({', '.join(told)})" if named else ""))
    noun = "entry" if len(transitions) == 1 else "entries"
    return f"{len(transitions)} {noun} transitioned: {', '.join(parts)}"


def _first_named(transitions: Sequence[Transition]) -> set[str]:
    """Return the ids that a line has room for."""
    sinking = (ARCHIVED, DORMANT, FADING, ACTIVE)
    named: set[str] = set()
    room = _MOST_NAMED
    for each in sorted(transitions, key=lambda one: (sinking.index(one.after), one.id)):
        room -= len(each.id)
        if room < 0:
            break
        named.add(each.id)
    return named


def written_status(status: str) -> str:
    """Return a status as written to the scores file, where pinned memories are active."""
    return ACTIVE if status == PINNED else status


def _status_at(record: DecayRecord, checked: datetime | None, context: DecayContext) -> str:
    moment = min(max(checked or record.last_accessed, record.last_accessed), context.now)
    days = days_between(record.last_accessed, moment, context.zone)
    raw = record.raw(days, context.settings.lambda_)
    return value_and_status(raw, record, context.thresholds)[1]
