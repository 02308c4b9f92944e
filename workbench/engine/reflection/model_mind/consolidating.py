"""Consolidation by a model: new passages window by window, oldest first, as far as the budget reaches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.model import Agenda
from workbench.engine.reflection.model_mind import material
from workbench.engine.reflection.model_mind.asking import LEAST_ANSWER, NO_BUDGET, PLENTY, NoAnswer, allowance
from workbench.engine.reflection.model_mind.material import EXCERPT_TOKENS, Row, Window, areas_of, cut_windows
from workbench.engine.reflection.model_mind.showing import (
    Shown,
    Source,
    clipped,
    items_schema,
    passage_row,
    record,
)
from workbench.engine.reflection.passages import find_named

if TYPE_CHECKING:
    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Guidance, Passage, Snapshot, Work
    from workbench.engine.reflection.model_mind.mind import Inquiry

_KNOWLEDGE: Final = (
    Kind.ENTITY,
    Kind.FACT,
    Kind.RELATION,
    Kind.MERGE,
    Kind.SUPERSESSION,
    Kind.CONTRADICTION,
    Kind.PROCEDURE,
    Kind.QUESTION,
)
# Windows in a row without an answer that can be used, after which rules read the rest.
_MOST_FAILURES: Final = 3
_UPKEEP: Final = (Kind.ARCHIVE, Kind.RESTORE, Kind.VAULT_PIN)

ByRules = Callable[["Snapshot", Agenda], tuple["ReviewItem", ...]]
_MOST_ENTITIES: Final = 40
_MOST_FACTS: Final = 12
_MOST_EDGES: Final = 12
_MOST_SUBJECTS: Final = 4
_SUBJECT_CHARACTERS: Final = 160
_MOST_EARLIER: Final = 3
_MOST_PROCEDURES: Final = 12


def consolidate(
    inquiry: Inquiry, agenda: Agenda, guidance: Guidance, by_rules: ByRules
) -> tuple[ReviewItem, ...]:
    """Return what the model proposes for each window, and what rules propose where it did not answer.

    Where the budget is used up, what was not read is left to the next cycle (`Work.unread`); where the model is gone or
    keeps failing, rules read all the rest.

    Args:
        inquiry: Of the cycle.
        agenda: What matters most.
        guidance: Of meta-reflection.
        by_rules: Consolidates a part of the snapshot without the model.
    """
    snapshot, work = inquiry.snapshot, inquiry.work
    passages = snapshot.passages
    items: list[ReviewItem] = []
    windows = cut_windows(passages, inquiry.sizes.passages, inquiry.sizes.frame)
    ahead: deque[Window] = deque()
    done = failed = 0
    work.step(done, len(passages))
    while done < len(passages) or done == 0:
        left = allowance(work, work.phase)
        if left < LEAST_ANSWER:
            if done:
                work.unread = done
            else:
                # A reflection that reads nothing would never come to an end of what is new.
                work.fell_back(NO_BUDGET)
                items += by_rules(snapshot, agenda)
            break
        wanted = max(1, left // PLENTY)
        ahead.extend(islice(windows, max(0, wanted - len(ahead))))
        window = ahead.popleft() if ahead else Window(0, 0)
        most = left // min(wanted, len(ahead) + 1)
        try:
            items += _read_window(inquiry, agenda, guidance, window, most)
            failed = 0
        except NoAnswer as reason:
            work.fell_back(str(reason))
            failed += 1
            if inquiry.questions.gave_up or failed == _MOST_FAILURES:
                window = Window(window.start, len(passages))
            items += by_rules(*narrowed(snapshot, agenda, window))
        done = window.end
        work.step(done, len(passages))
        if window.end == window.start:
            break
    return tuple(items)


def narrowed(snapshot: Snapshot, agenda: Agenda, window: Window) -> tuple[Snapshot, Agenda]:
    """Return a snapshot of which only a window of passages is new, with the areas that lie in it."""
    if (window.start, window.end) == (0, len(snapshot.passages)):
        return snapshot, agenda
    areas = (
        replace(
            area,
            passages=tuple(at - window.start for at in area.passages if window.start <= at < window.end),
        )
        for area in agenda.areas
    )
    part = replace(snapshot, passages=snapshot.passages[window.start : window.end])
    return part, Agenda(tuple(area for area in areas if area.passages))


def _read_window(
    inquiry: Inquiry, agenda: Agenda, guidance: Guidance, window: Window, most: int
) -> tuple[ReviewItem, ...]:
    snapshot, sizes, shown = inquiry.snapshot, inquiry.sizes, inquiry.shown()
    passages = snapshot.passages[window.start : window.end]
    new = material.window_rows(snapshot, window, shown, sizes.passages)
    kinds: tuple[Kind, ...] = _KNOWLEDGE
    data: dict[str, Any] = {
        **material.about(snapshot),
        "focus": [f"{area.subject}: {area.reason}" for area in material.areas_of(agenda, window)],
        "themes": list(guidance.themes),
        "core": material.core_rows(snapshot, shown, sizes.core),
        **near_rows(snapshot, passages, shown, int(sizes.near * 0.7), inquiry.work),
        "earlier": earlier_rows(snapshot, agenda, window, shown, int(sizes.near * 0.3)),
        "proposed": [{"id": key, "label": label} for key, label in inquiry.targets.proposed.items()],
        "passages": new,
    }
    if window.start == 0 and (memories := material.memory_rows(snapshot, shown, sizes.core)):
        data["memories"] = memories
        kinds = (*_KNOWLEDGE, *_UPKEEP)
    if not passages and "memories" not in data:
        return ()
    schema = record(items=items_schema(kinds, snapshot.relations))
    answer = inquiry.questions.ask("consolidate", data, schema, most=min(most, sizes.answer))
    return inquiry.read_items(answer, shown, kinds)


# What is known already near new passages, laid before a model: entities, facts, procedures and older passages.


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
    for each in records:
        facts = [fact for fact in snapshot.graph.facts_of(each.id) if fact.holds(today)]
        for fact in facts[-_MOST_FACTS:]:
            yield {
                "ref": shown.give("F", Source(fact.id, fact.text, "fact", fact)),
                "about": _bare(each.id),
                "text": fact.text,
                **({"since": fact.since} if fact.since else {}),
            }


def _edge_rows(snapshot: Snapshot, records: Iterable[EntityRecord]) -> Iterator[Row]:
    seen: set[tuple[str, str, str]] = set()
    for each in records:
        for edge in snapshot.graph.edges_of(each.id)[:_MOST_EDGES]:
            key = (edge.from_, edge.relation, edge.to)
            if key not in seen:
                seen.add(key)
                yield {"from": _bare(edge.from_), "relation": edge.relation, "to": _bare(edge.to)}


def _procedure_rows(snapshot: Snapshot) -> Iterator[Row]:
    for procedure in snapshot.procedures[:_MOST_PROCEDURES]:
        yield {"id": procedure.id, "title": procedure.title, "steps": list(procedure.steps)}


def _bare(entity: str) -> str:
    return entity.removeprefix("entity:")
