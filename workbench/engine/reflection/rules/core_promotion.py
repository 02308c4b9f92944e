"""What must never be forgotten: memories that Critical Facts should say (design document §10.3, phase 4)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.core_items import is_owners, newest_first, read_lines, says
from workbench.engine.reflection.rules.phrasing import clipped, counted, plain
from workbench.engine.reflection.rules.quoting import cite, spoken
from workbench.engine.reflection.third_person import third_person
from workbench.engine.triggers.core_worth import core_block
from workbench.engine.triggers.cues import routing_cues
from workbench.engine.triggers.live_text import PUNCTUATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.work import Work

_MOST: Final = 4
_OFTEN: Final = 5
_LONGEST: Final = 160


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
