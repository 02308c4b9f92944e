"""Makes one proposal of what the phases came up with: checked against the sources, bounded, numbered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.memory.wording import one_line
from workbench.engine.reflection import items as forms
from workbench.engine.reflection import kinds
from workbench.engine.reflection.kinds import SECTIONS, Kind
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.markdown.review import Evidence, ReviewItem

# What each section may take of a proposal before others have had theirs; what is left over goes round again.
_SHARES: Final = {
    kinds.CONTRADICTIONS: 0.2,
    kinds.UPDATES: 0.2,
    kinds.CORE: 0.2,
    kinds.KNOWLEDGE: 0.35,
    kinds.CONNECTIONS: 0.1,
    kinds.PROCEDURES: 0.1,
    kinds.ARCHIVAL: 0.15,
    kinds.EVOLUTION: 0.1,
    kinds.QUESTIONS: 0.1,
}


@dataclass(frozen=True)
class Checked:
    """Items whose quotes stand in their sources, and how many were dropped since theirs do not."""

    items: tuple[ReviewItem, ...]
    dropped: int


def check_quotes(items: Iterable[ReviewItem], text_of: Callable[[str], str | None]) -> Checked:
    """Drop every item that quotes what its source does not say, or that quotes nothing at all.

    Args:
        items: As the phases made them.
        text_of: Gives a memory's own words by id.
    """
    kept: list[ReviewItem] = []
    dropped = 0
    said: dict[str, str] = {}

    def found(evidence: Evidence) -> bool:
        if evidence.id not in said:
            said[evidence.id] = one_line(text_of(evidence.id) or "")
        quote = one_line(evidence.quote)
        return bool(quote) and quote in said[evidence.id]

    for item in items:
        if item.evidence and all(map(found, item.evidence)):
            kept.append(item)
        else:
            dropped += 1
    return Checked(tuple(kept), dropped)


def without_doubles(items: Iterable[ReviewItem], key: Callable[[ReviewItem], str]) -> tuple[ReviewItem, ...]:
    """Return the first item of each claim.

    Args:
        items: Best first.
        key: Tells claims apart, whatever kind of item makes them.
    """
    first: dict[str, ReviewItem] = {}
    for item in items:
        first.setdefault(key(item), item)
    return tuple(first.values())


def with_entities(
    items: Sequence[ReviewItem], graph: Lookups, label_of: Callable[[str], str]
) -> tuple[ReviewItem, ...]:
    """Settle what items need: known entities need nothing, and unknown ones that nobody proposes are proposed.

    Args:
        items: Best first.
        graph: Knows the entities there are.
        label_of: Gives a label for an entity id `type--slug`.
    """
    proposed = {item.target for item in items if item.kind == Kind.ENTITY}
    known: dict[str, bool] = {}

    def is_known(target: str) -> bool:
        if target not in known:
            known[target] = graph.entity(f"entity:{target}") is not None
        return known[target]

    made: list[ReviewItem] = []
    settled: list[ReviewItem] = []
    for item in items:
        if item.kind == Kind.ENTITY and is_known(item.target):
            continue
        wanted = tuple(need for need in dict.fromkeys(item.needs) if not is_known(need))
        for need in wanted:
            if need not in proposed:
                proposed.add(need)
                made.append(
                    forms.entity(
                        need, label_of(need), item.evidence[:1], reason="What is proposed here is about it."
                    )
                )
        settled.append(replace(item, needs=wanted))
    return (*made, *settled)


@dataclass(frozen=True)
class Selection:
    """What one proposal holds, and what comes with the next since there was no room for it."""

    items: tuple[ReviewItem, ...]
    left: tuple[ReviewItem, ...]


def select(items: Sequence[ReviewItem], most: int, tokens: int) -> Selection:
    """Choose what fits one proposal: of each section its best, and every entity that a chosen item needs.

    Args:
        items: Best first within each section.
        most: Items at most.
        tokens: Tokens that the items' words may take at most.
    """
    entities = {item.target: item for item in items if item.kind == Kind.ENTITY}
    queues = {section: [i for i in items if i.section == section] for section in SECTIONS}
    chosen: dict[int, ReviewItem] = {}
    room = tokens

    def take(item: ReviewItem) -> bool:
        nonlocal room
        group = [item, *(entities[need] for need in item.needs if need in entities)]
        group = [one for one in group if id(one) not in chosen]
        cost = sum(map(tokens_of, group))
        if len(chosen) + len(group) > most or cost > room:
            return False
        chosen.update((id(one), one) for one in group)
        room -= cost
        return True

    for section, queue in queues.items():
        share = max(1, round(_SHARES[section] * most))
        for item in queue[:share]:
            take(item)
    for section in sorted(SECTIONS, key=lambda name: -_SHARES[name]):
        for item in queues[section]:
            if id(item) not in chosen and not take(item):
                break
    ordered = tuple(item for section in SECTIONS for item in queues[section] if id(item) in chosen)
    return Selection(ordered, tuple(item for item in items if id(item) not in chosen))


def tokens_of(item: ReviewItem) -> int:
    """Return how many tokens the words of an item take, its evidence included."""
    said = [item.text, item.before, item.reason, *(value for _, value in item.fields)]
    return count_tokens("\n".join(filter(None, [*said, *(e.quote for e in item.evidence)]))) + 12


def number(items: Sequence[ReviewItem], reflection: str) -> tuple[ReviewItem, ...]:
    """Give the items their ids, and let what they need name items instead of entities.

    Args:
        items: In the order of the file.
        reflection: `r-012`.
    """
    numbered = [replace(item, id=f"{reflection}.{place}") for place, item in enumerate(items, 1)]
    made_by = {item.target: item.id for item in numbered if item.kind == Kind.ENTITY}
    return tuple(
        replace(
            item,
            needs=tuple(made_by[need] for need in item.needs if need in made_by and made_by[need] != item.id),
        )
        for item in numbered
    )
