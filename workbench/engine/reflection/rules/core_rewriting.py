"""Core memory rewritten as single changes that keep within its cap, whichever of them are approved (§10.3, phase 4)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.core_room import Room
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.core_context import context_changes
from workbench.engine.reflection.rules.core_corrections import core_corrections
from workbench.engine.reflection.rules.core_demotion import demotions
from workbench.engine.reflection.rules.core_identity import identity_changes
from workbench.engine.reflection.rules.core_items import is_owners, newest_first, read_lines, says
from workbench.engine.reflection.rules.core_persona import persona_changes
from workbench.engine.reflection.rules.phrasing import clipped, counted, plain
from workbench.engine.reflection.rules.quoting import cite, spoken
from workbench.engine.reflection.rules.words import content_words, likeness
from workbench.engine.reflection.third_person import third_person
from workbench.engine.triggers.core_worth import core_block
from workbench.engine.triggers.cues import routing_cues
from workbench.engine.triggers.live_text import PUNCTUATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Agenda, Snapshot
    from workbench.engine.reflection.work import Work

_SAME = 0.7
_MOST: Final = 4
_OFTEN: Final = 5
_LONGEST: Final = 160


def rewrite_core(
    snapshot: Snapshot, agenda: Agenda, items: tuple[ReviewItem, ...], work: Work
) -> tuple[ReviewItem, ...]:
    """Return changes of core memory, one for each place, the surest first.

    All growth together keeps within the cap, so that any of the items may be approved or rejected. Where there is no
    room for a new item, it takes the place of a stale one, if there is one in its block.

    Args:
        snapshot: Its core memory and passages.
        agenda: Not needed by rules; what is newest decides.
        items: Of consolidation: their supersessions correct core memory.
        work: Told of progress.
    """
    del agenda
    asked = {proof.id for item in items if item.kind == Kind.QUESTION for proof in item.evidence}
    stale = [item for item in demotions(snapshot, work) if item.target not in asked]
    work.step(1, 2)
    chosen = _within_cap(snapshot, _wanted(snapshot, items, work), stale)
    work.step(2, 2)
    return chosen


def statements_for_core(
    snapshot: Snapshot, items: Sequence[ReviewItem], work: Work
) -> tuple[ReviewItem, ...]:
    """Return what core memory will be proposed to say, so that it is not proposed elsewhere too.

    Args:
        snapshot: As for `rewrite_core`.
        items: The conflicts found so far.
        work: Asked whether to go on.
    """
    return _within_cap(snapshot, _wanted(snapshot, items, work), ())


def _wanted(snapshot: Snapshot, items: Sequence[ReviewItem], work: Work) -> tuple[ReviewItem, ...]:
    wanted = (
        *core_corrections(snapshot, items),
        *identity_changes(snapshot, work),
        *promotions(snapshot, items, work),
        *context_changes(snapshot, work),
        *persona_changes(snapshot, work),
    )
    return _one_for_each_place(wanted, items)


def _one_for_each_place(wanted: Iterable[ReviewItem], items: Sequence[ReviewItem]) -> tuple[ReviewItem, ...]:
    """Return the first change of each item and of each wording, none that a question or update puts in doubt."""
    doubted = [
        content_words(text)
        for item in items
        if item.kind == Kind.CONTRADICTION
        for label, text in item.fields
        if label in (forms.THIS, forms.THAT)
    ]
    places: set[str] = set()
    said: list[frozenset[str]] = []
    kept: list[ReviewItem] = []
    for item in wanted:
        words = content_words(item.text)
        changes = item.target.count(":") > 1
        if changes and item.target in places:
            continue
        if any(likeness(words, other) >= _SAME for other in (*said, *doubted)):
            continue
        places.add(item.target)
        said.append(words)
        kept.append(item)
    return tuple(kept)


def _within_cap(
    snapshot: Snapshot, wanted: Sequence[ReviewItem], stale: Sequence[ReviewItem]
) -> tuple[ReviewItem, ...]:
    room = Room(snapshot)
    changed = {item.target for item in wanted}
    free = {item.target: item for item in stale if item.target not in changed}
    kept: list[ReviewItem] = []
    for item in wanted:
        if room.take(item):
            kept.append(item)
            continue
        instead = next((_instead(item, old) for old in free.values() if _fits(item, old)), None)
        if instead is not None and room.take(instead):
            kept.append(instead)
            del free[instead.target]
    return (*kept, *free.values())


def _fits(item: ReviewItem, old: ReviewItem) -> bool:
    """Return whether a new item may stand where an old one stood: in the same block."""
    return (
        item.kind == Kind.CORE_CHANGE
        and item.target.count(":") == 1
        and old.target.startswith(f"{item.target}:")
    )


def _instead(item: ReviewItem, old: ReviewItem) -> ReviewItem:
    return forms.core_change(
        old.target,
        item.text,
        (*item.evidence, *old.evidence),
        reason=f"{item.reason} It takes the place of an item that is stale, as core memory has no room.",
        before=old.before,
    )


# What must never be forgotten: memories that Critical Facts should say (design document §10.3, phase 4).


def promotions(snapshot: Snapshot, items: Sequence[ReviewItem], work: Work) -> tuple[ReviewItem, ...]:
    """Return promotions: first what is critical by its own words, then facts that are accessed often; at most four.

    Args:
        snapshot: Its passages, core memory and often accessed memories.
        items: Proposed by consolidation: what they supersede or lay in doubt is not promoted.
        work: Asked whether to go on.
    """
    disputed = {item.target for item in items if item.kind in (Kind.SUPERSESSION, Kind.CONTRADICTION)}
    disputed |= {
        proof.id
        for item in items
        if item.kind in (Kind.SUPERSESSION, Kind.CONTRADICTION)
        for proof in item.evidence
    }
    found = (
        item for item in _promotions(snapshot, work) if not disputed.intersection(p.id for p in item.evidence)
    )
    return tuple(islice(found, _MOST))


def _promotions(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    lines = read_lines(snapshot)
    given: set[str] = set()
    cues = routing_cues()
    for at, passage in enumerate(newest_first(snapshot.passages)):
        if at % 500 == 0:
            work.check()
        whole = passage.text.translate(PUNCTUATION)
        if not (cues.fits("critical", whole) or cues.fits("health", whole)) or not is_owners(
            passage, snapshot
        ):
            continue
        for sentence in sentences(passage.text):
            if core_block(sentence.text.translate(PUNCTUATION), "fact") != "Critical Facts":
                continue
            text = clipped(plain(third_person(sentence.text, snapshot.owner or "User")), _LONGEST)
            proof = cite(snapshot, passage.id, sentence.text)
            if proof is not None and text not in given and not says(lines, text):
                given.add(text)
                reason = "By its own words it must never be forgotten."
                yield forms.promotion(passage.id, text, (proof,), reason=reason, confidence="high")
            break
    for memory, said, accesses in _often(snapshot):
        text = clipped(plain(said), _LONGEST)
        proof = cite(snapshot, memory, said)
        if proof is not None and text not in given and not says(lines, text):
            given.add(text)
            reason = f"It was accessed {counted(accesses, 'time')}, and core memory does not say it."
            yield forms.promotion(memory, text, (proof,), reason=reason)


def _often(snapshot: Snapshot) -> Iterator[tuple[str, str, int]]:
    """Yield facts that are accessed often with their words: episodes, and facts of the graph that rest on such."""
    today = snapshot.now.date().isoformat()
    accesses = {entry.id: entry.access_count for entry in snapshot.often if entry.access_count >= _OFTEN}
    for entry in snapshot.often:
        record = snapshot.graph.memory(entry.id) if entry.id in accesses else None
        if record is not None and record.store == "episodic" and record.type == "fact":
            yield entry.id, spoken(record.text)[0], entry.access_count
        elif record is not None and record.store == "semantic":
            for fact in snapshot.graph.facts_of(entry.id.partition("#")[0]):
                sources = [accesses[source] for source in fact.provenance if source in accesses]
                if sources and fact.holds(today) and "#" in fact.id:
                    yield fact.id, fact.text, max(sources)
