"""What each phase lays before a model: bounded parts of the snapshot as rows of data, each with its handle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from workbench.engine import layout
from workbench.engine.reflection.model_mind.showing import Shown, Source, clipped, passage_row
from workbench.engine.reflection.named_entities import find_named

if TYPE_CHECKING:
    from workbench.engine.catalog import EntityRecord
    from workbench.engine.documents import ReviewItem
    from workbench.engine.reflection.model import Agenda, Area, Passage, Snapshot
    from workbench.engine.reflection.model_mind.showing import What
    from workbench.engine.reflection.model_mind.windows import Window
    from workbench.engine.reflection.work import Work
    from workbench.engine.results import DecayEntry

Row = dict[str, Any]

_MOST_ENTITIES: Final = 40
_MOST_FACTS: Final = 12
_MOST_EDGES: Final = 12
_MOST_SUBJECTS: Final = 4
_SUBJECT_CHARACTERS: Final = 160
_MOST_EARLIER: Final = 3
_MOST_FOCUS: Final = 8
_MOST_PROCEDURES: Final = 12
_MOST_RECORDS: Final = 30
_MOST_EXAMPLES: Final = 2
_EXCERPT_TOKENS: Final = 70


def about(snapshot: Snapshot) -> Row:
    """Return what every phase has to know: the day, the person, and which reflection this is."""
    return {
        "today": f"{snapshot.now:%Y-%m-%d}",
        "owner": snapshot.owner,
        "reflection": snapshot.number,
    }


def window_rows(snapshot: Snapshot, window: Window, shown: Shown, tokens: int) -> list[Row]:
    """Return the new passages of a window; none is left out."""
    return [
        passage_row(_passage_ref(snapshot.passages[at], at, shown), snapshot.passages[at], tokens)
        for at in range(window.start, window.end)
    ]


def near_rows(
    snapshot: Snapshot, passages: Sequence[Passage], shown: Shown, tokens: int, work: Work
) -> dict[str, list[Row]]:
    """Return what the graph holds near some passages: the entities that they name with facts and relations, bounded.

    Args:
        snapshot: Its graph is asked for nothing else, so that its size costs nothing.
        passages: What is near.
        shown: Learns the handles.
        tokens: Most tokens of all.
        work: Asked whether to go on.
    """
    named = find_named(passages, snapshot.graph, work)
    most_named = sorted(named.passages, key=lambda entity: (-len(named.passages[entity]), entity))
    records = [named.records[entity] for entity in most_named[:_MOST_ENTITIES]]
    entities = shown.fitting(map(_entity_row, records), int(tokens * 0.3))
    chosen = [record for record in records if any(row["id"] == _bare(record.id) for row in entities)]
    return {
        "entities": entities,
        "facts": shown.fitting(_fact_rows(snapshot, chosen, shown), int(tokens * 0.35)),
        "relations": shown.fitting(_edge_rows(snapshot, chosen), int(tokens * 0.1)),
        "procedures": shown.fitting(_procedure_rows(snapshot), int(tokens * 0.1)),
    }


def earlier_rows(snapshot: Snapshot, agenda: Agenda, window: Window, shown: Shown, tokens: int) -> list[Row]:
    """Return older passages near the weightiest subjects of a window and what it says of them."""
    to_come = {passage.id for passage in snapshot.passages[window.start :]}
    found: dict[str, Passage] = {}
    for area in areas_of(agenda, window)[:_MOST_SUBJECTS]:
        newest = max(at for at in area.passages if window.start <= at < window.end)
        words = f"{area.subject} {snapshot.passages[newest].text[:_SUBJECT_CHARACTERS]}"
        for one in snapshot.earlier(words, _MOST_EARLIER):
            if one.id not in to_come:
                found.setdefault(one.id, one)
    each = max(_EXCERPT_TOKENS, tokens // 8)
    rows = (
        passage_row(shown.give("E", Source(one.id, one.text, "passage", one)), one, each)
        for one in found.values()
    )
    return shown.fitting(rows, tokens)


def areas_of(agenda: Agenda, window: Window) -> list[Area]:
    """Return the weightiest areas with a passage in a window."""
    inside = range(window.start, window.end)
    found = (area for area in agenda.areas if any(at in inside for at in area.passages))
    return list(islice(found, _MOST_FOCUS))


def memory_rows(snapshot: Snapshot, shown: Shown, tokens: int) -> list[Row]:
    """Return memories that fade, that are archived and that are often used, with their scores."""
    kinds: tuple[tuple[What, str, Sequence[DecayEntry]], ...] = (
        ("memory", "fading", snapshot.fading),
        ("archived", "archived", snapshot.archived),
        ("often", "often used", snapshot.often),
    )
    rows: list[Row] = []
    for what, state, entries in kinds:
        rows += shown.fitting(_entry_rows(snapshot, shown, what, state, entries), tokens // len(kinds))
    return rows


def often_rows(snapshot: Snapshot, shown: Shown, tokens: int) -> list[Row]:
    """Return the memories that are used most."""
    return shown.fitting(_entry_rows(snapshot, shown, "often", "often used", snapshot.often), tokens)


def core_rows(snapshot: Snapshot, shown: Shown, tokens: int) -> list[Row]:
    """Return core memory item by item."""
    return shown.fitting(
        (
            {
                "ref": shown.give("C", Source(item.id, item.text, "core", item)),
                "block": block.name,
                "text": item.text,
                **({"protected": True} if item.pinned else {}),
            }
            for block in snapshot.core.blocks
            for item in block.items
        ),
        tokens,
    )


def core_room(snapshot: Snapshot) -> Row:
    """Return how full core memory is, in tokens."""
    return {
        "tokens": snapshot.core.tokens,
        "cap": snapshot.core.cap,
        "blocks": [
            {"name": block.name, "tokens": block.tokens, "budget": block.budget}
            for block in snapshot.core.blocks
        ],
    }


def area_rows(snapshot: Snapshot, agenda: Agenda, shown: Shown, tokens: int) -> list[Row]:
    """Return the areas of an agenda, each with the beginning of some of its newest passages."""
    rows = (
        {
            "area": number,
            "subject": area.subject,
            "why": area.reason,
            "passages": len(area.passages),
            "examples": [
                passage_row(_passage_ref(passage, at, shown), passage, _EXCERPT_TOKENS)
                for at, passage in _newest(snapshot, area.passages)
            ],
        }
        for number, area in enumerate(agenda.areas, 1)
    )
    return shown.fitting(rows, tokens)


def past_rows(snapshot: Snapshot, shown: Shown, tokens: int) -> dict[str, list[Row]]:
    """Return the books of reflection: the newest records, and every insight that there is room for."""
    records = (
        {
            "ref": shown.give(
                "R",
                Source(
                    f"file:{layout.REFLECTION_LOG}#L{record.span.start}-L{record.span.end}",
                    record.body,
                    "past",
                ),
            ),
            "id": record.id,
            "time": record.time,
            "outcome": record.outcome,
            "text": clipped(record.body, max(_EXCERPT_TOKENS, tokens // 12)),
        }
        for record in islice(reversed(snapshot.records), _MOST_RECORDS)
        if record.span is not None
    )
    insights = (
        {
            "ref": shown.give(
                "I",
                Source(
                    f"file:{layout.EVOLUTION}#L{insight.span.start}-L{insight.span.end}", insight.text, "past"
                ),
            ),
            "section": insight.section,
            "text": clipped(insight.text, _EXCERPT_TOKENS * 2),
        }
        for insight in reversed(snapshot.insights)
    )
    return {
        "reflections": shown.fitting(records, tokens * 2 // 3),
        "evolution": shown.fitting(insights, tokens // 3),
    }


def proposed_rows(snapshot: Snapshot, items: Iterable[ReviewItem], shown: Shown, tokens: int) -> list[Row]:
    """Return what is proposed so far, with its evidence to cite again."""
    places = {passage.id: (at, passage) for at, passage in enumerate(snapshot.passages)}

    def evidence(item: ReviewItem) -> Iterator[Row]:
        for proof in item.evidence[:_MOST_EXAMPLES]:
            if proof.id in places:
                at, passage = places[proof.id]
                yield {"ref": _passage_ref(passage, at, shown), "quote": proof.quote}
            elif (text := snapshot.text_of(proof.id)) is not None:
                yield {"ref": shown.give("M", Source(proof.id, text, "memory")), "quote": proof.quote}

    return shown.fitting(
        (
            {
                **({"id": item.id} if item.id else {}),
                "kind": item.kind,
                "about": item.target,
                **({"before": item.before} if item.before else {}),
                "text": item.text,
                "evidence": list(evidence(item)),
            }
            for item in items
        ),
        tokens,
    )


def _passage_ref(passage: Passage, at: int, shown: Shown) -> str:
    return shown.give("P", Source(passage.id, passage.text, "passage", passage), at + 1)


def _newest(snapshot: Snapshot, places: Sequence[int]) -> list[tuple[int, Passage]]:
    return [(at, snapshot.passages[at]) for at in places[-_MOST_EXAMPLES:]]


def _entity_row(record: EntityRecord) -> Row:
    row = {
        "id": _bare(record.id),
        "label": record.label,
        "aliases": list(record.aliases[:6]),
        "summary": clipped(record.summary, _EXCERPT_TOKENS),
    }
    return {key: value for key, value in row.items() if value}


def _fact_rows(snapshot: Snapshot, records: Iterable[EntityRecord], shown: Shown) -> Iterator[Row]:
    for record in records:
        facts = [fact for fact in snapshot.graph.facts_of(record.id) if not fact.retired]
        for fact in facts[-_MOST_FACTS:]:
            yield {
                "ref": shown.give("F", Source(fact.id, fact.text, "fact", fact)),
                "about": _bare(record.id),
                "text": fact.text,
                **({"since": fact.since} if fact.since else {}),
            }


def _edge_rows(snapshot: Snapshot, records: Iterable[EntityRecord]) -> Iterator[Row]:
    seen: set[tuple[str, str, str]] = set()
    for record in records:
        for edge in snapshot.graph.edges_of(record.id)[:_MOST_EDGES]:
            key = (edge.from_, edge.relation, edge.to)
            if key not in seen:
                seen.add(key)
                yield {"from": _bare(edge.from_), "relation": edge.relation, "to": _bare(edge.to)}


def _procedure_rows(snapshot: Snapshot) -> Iterator[Row]:
    for procedure in snapshot.procedures[:_MOST_PROCEDURES]:
        yield {"id": procedure.id, "title": procedure.title, "steps": list(procedure.steps)}


def _entry_rows(
    snapshot: Snapshot, shown: Shown, what: What, state: str, entries: Iterable[DecayEntry]
) -> Iterator[Row]:
    for entry in entries:
        text = snapshot.text_of(entry.id)
        if text is None or not text.strip():
            continue
        yield {
            "ref": shown.give("M", Source(entry.id, text, what, entry)),
            "state": state,
            "score": round(entry.score, 3),
            "last used": f"{entry.last_accessed:%Y-%m-%d}",
            "text": clipped(text, _EXCERPT_TOKENS),
            **({"protected": True} if entry.pinned else {}),
        }


def _bare(entity: str) -> str:
    return entity.removeprefix("entity:")
