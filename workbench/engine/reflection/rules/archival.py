"""Archival: what faded below the threshold and nothing recent rests on (design document §9.2)."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.clock import in_zone
from workbench.engine.memory.decay import displayed
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.phrasing import clipped, counted
from workbench.engine.reflection.rules.quoting import cite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Snapshot
    from workbench.engine.reflection.work import Work
    from workbench.engine.results.decay import DecayEntry

ARCHIVED_BELOW: Final = 0.05
"""Score under which a memory is flagged for review (design document §9.2)."""
MOST_ARCHIVED: Final = 8
_KEPT_STORES: Final = ("vault", "core")
_RECENT: Final = timedelta(days=90)
_LASTING_TYPES: Final = frozenset({"decision", "correction", "preference"})


def propose_archival(snapshot: Snapshot, agenda: Agenda, work: Work) -> tuple[ReviewItem, ...]:
    """Return items for memories below 0.05 that nothing recent rests on, lowest score first, at most eight.

    Decisions, corrections and preferences that nothing else gives as its source come last.
    """
    return tuple(islice(_archival(snapshot, agenda, work), MOST_ARCHIVED))


def _archival(snapshot: Snapshot, agenda: Agenda, work: Work) -> Iterator[ReviewItem]:
    spoken_of = {f"entity:{area.entity}" for area in agenda.areas if area.entity}
    fresh = {passage.id for passage in snapshot.passages}
    said = "\n".join(passage.text for passage in snapshot.passages).casefold()
    for entry in sorted(
        _sunk(snapshot), key=lambda entry: (_is_lasting(snapshot, entry), entry.score, entry.id)
    ):
        work.check()
        if (
            entry.id in fresh
            or entry.id.partition("#")[0] in spoken_of
            or _is_tied(snapshot, entry.id, spoken_of)
            or _is_named(snapshot, entry.id, said)
            or _supports_something_recent(snapshot, entry.id, fresh)
        ):
            continue
        title = _title(snapshot, entry)
        proof = cite(snapshot, entry.id, title) or cite(snapshot, entry.id)
        if proof is None:
            continue
        yield forms.archive(entry.id, title, (proof,), reason=_why(snapshot, entry), score=entry.score)


def _why(snapshot: Snapshot, entry: DecayEntry) -> str:
    """Say how long nobody touched a memory, and who keeps what it says."""
    days = (snapshot.now.date() - in_zone(entry.last_accessed, snapshot.now.tzinfo).date()).days
    accesses = counted(entry.access_count, "access", "accesses")
    keepers = [source for source in snapshot.graph.mentions(entry.id) if source.startswith("entity:")]
    kept = (
        f" What it says is kept under {clipped(snapshot.titles(keepers[0].partition('#')[0]), 60)}."
        if keepers
        else ""
    )
    return (
        f"Not accessed for {counted(days, 'day')} ({accesses} in all); its score of {entry.score:.3f} is below "
        f"{ARCHIVED_BELOW}.{kept}"
    )


def _is_tied(snapshot: Snapshot, memory: str, spoken_of: set[str]) -> bool:
    """Return whether an entity is related to one that new passages name."""
    if not memory.startswith("entity:"):
        return False
    return any(
        edge.from_ in spoken_of or edge.to in spoken_of
        for edge in snapshot.graph.edges_of(memory.partition("#")[0])
    )


def _is_named(snapshot: Snapshot, memory: str, said: str) -> bool:
    """Return whether an entity is named in what was said, folded; an agenda holds only the weightiest."""
    record = snapshot.graph.entity(memory.partition("#")[0]) if memory.startswith("entity:") else None
    return record is not None and any(name.casefold() in said for name in (record.label, *record.aliases))


def _sunk(snapshot: Snapshot) -> Iterator[DecayEntry]:
    """Yield the memories whose scores sank below the threshold; what somebody archived scores 0 whatever its terms."""
    done = {entry.id for entry in snapshot.archived}
    for entry in snapshot.fading:
        by_hand = entry.raw is not None and displayed(entry.raw) != entry.score
        kept = entry.pinned or entry.store in _KEPT_STORES or entry.id in done
        if entry.score < ARCHIVED_BELOW and not by_hand and not kept:
            yield entry


def _is_lasting(snapshot: Snapshot, entry: DecayEntry) -> bool:
    """Return whether a memory holds what lasts and nothing else says it: it is let go of last."""
    record = snapshot.graph.memory(entry.id)
    return record is not None and record.type in _LASTING_TYPES and not snapshot.graph.mentions(entry.id)


def _supports_something_recent(snapshot: Snapshot, memory: str, fresh: set[str]) -> bool:
    """Return whether a memory of the last 90 days, a fact since then, or a pinned one gives it as its source."""
    since = snapshot.now - _RECENT
    for source in snapshot.graph.mentions(memory):
        if source in fresh:
            return True
        record = snapshot.graph.memory(source)
        if record is None:
            continue
        if record.pinned or (record.moment is not None and record.moment >= since):
            return True
        if record.store == "semantic" and any(
            fact.since is not None and fact.since >= since.date().isoformat()
            for fact in snapshot.graph.facts_of(source.partition("#")[0])
            if not fact.retired and memory in fact.provenance
        ):
            return True
    return False


def _title(snapshot: Snapshot, entry: DecayEntry) -> str:
    return clipped(entry.title or snapshot.titles(entry.id), 100)
