"""What is known already near new passages, laid before a model: entities, facts, procedures and older passages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.model_mind.material import EXCERPT_TOKENS, Row, areas_of
from workbench.engine.reflection.model_mind.showing import Shown, Source, clipped, passage_row
from workbench.engine.reflection.named_entities import find_named

if TYPE_CHECKING:
    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.reflection.model import Agenda, Passage, Snapshot
    from workbench.engine.reflection.model_mind.windows import Window
    from workbench.engine.reflection.work import Work

_MOST_ENTITIES: Final = 40
_MOST_FACTS: Final = 12
_MOST_EDGES: Final = 12
_MOST_SUBJECTS: Final = 4
_SUBJECT_CHARACTERS: Final = 160
_MOST_EARLIER: Final = 3
_MOST_PROCEDURES: Final = 12


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
    each = max(EXCERPT_TOKENS, tokens // 8)
    rows = (
        passage_row(shown.give("E", Source(one.id, one.text, "passage", one)), one, each)
        for one in found.values()
    )
    return shown.fitting(rows, tokens)


def _entity_row(record: EntityRecord) -> Row:
    row = {
        "id": _bare(record.id),
        "label": record.label,
        "aliases": list(record.aliases[:6]),
        "summary": clipped(record.summary, EXCERPT_TOKENS),
    }
    return {key: value for key, value in row.items() if value}


def _fact_rows(snapshot: Snapshot, records: Iterable[EntityRecord], shown: Shown) -> Iterator[Row]:
    today = snapshot.now.date().isoformat()
    for record in records:
        facts = [fact for fact in snapshot.graph.facts_of(record.id) if fact.holds(today)]
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


def _bare(entity: str) -> str:
    return entity.removeprefix("entity:")
