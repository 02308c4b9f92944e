"""Routing without a model: where a memory belongs, told from its words, always the same way."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.clauses import sentences
from workbench.engine.triggers.core_worth import core_block, speaks_of_oneself
from workbench.engine.triggers.cues import Cues, routing_cues
from workbench.engine.triggers.live_text import PUNCTUATION
from workbench.engine.triggers.mentions import find_occurrences, mentioned
from workbench.engine.triggers.model import (
    Confidence,
    CoreBlockName,
    EntityMention,
    FactStatement,
    MemoryType,
    RelationMention,
    Routing,
    RoutingHints,
    Store,
)
from workbench.engine.triggers.procedures import outline_procedure
from workbench.engine.triggers.relations import find_relations
from workbench.engine.triggers.statements import split_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_SUMMARY = 100
MOST_FACTS = 20
FEWEST_TAGS, MOST_TAGS = 2, 5

_LATIN_WORD = lazy_pattern(r"[a-z\u00c0-\u024f][\w'-]*\w", re.IGNORECASE)
_TAG_MARKS = lazy_pattern(r"[^\w+#.]+")
_EPISODIC: frozenset[MemoryType] = frozenset({"decision", "task", "event", "emotion"})


def route_by_rules(text: str, hints: RoutingHints | None = None) -> Routing:
    """Tell where a memory belongs and what it is about (design document §8.2), offline.

    Args:
        text: What shall be remembered, without the trigger phrase.
        hints: What the caller knows beyond the text.

    Returns:
        A routing with `router="rules"`, the same for the same arguments.
    """
    hints = hints or RoutingHints()
    cues, plain = routing_cues(), text.translate(PUNCTUATION)
    kind = _type_of(plain, cues)
    occurrences = find_occurrences(text, hints.known, hints.entities, hints.called)
    mentions = mentioned(occurrences)
    topic = next(iter(hints.entities), None)
    relations = find_relations(text, occurrences, hints.owner, topic=topic, own=hints.relations)
    block = core_block(plain, kind)
    if block == "Persona" and kind in ("fact", "task"):
        kind = "preference"
    if hints.store is not None:
        store = hints.store
        block = block if store == "core" else None
    else:
        store, block = _choose_store(plain, kind, block, hints, about_names=bool(mentions or relations))
    facts: tuple[FactStatement, ...] = ()
    if store == "semantic":
        facts = split_facts(text, occurrences, hints.owner, topic.name if topic else None)
        if len(facts) > MOST_FACTS and hints.store is None:
            # A whole story: it is kept as it was told, and reflection takes the facts out of it.
            store, facts = "episodic", ()
    elif store == "procedural":
        kind, relations = kind if kind == "preference" else "fact", ()
    entities, relations = _worth_keeping(store, mentions, relations, facts, hints.owner)
    return Routing(
        store=store,
        type=kind,
        tags=topical_tags(plain, mentions, kind),
        confidence=_confidence(plain, hints, cues),
        summary=summarise(text),
        entities=entities,
        relations=relations,
        facts=facts,
        core_update=block is not None,
        core_block=block,
        procedure=outline_procedure(text) if store == "procedural" else None,
    )


def _choose_store(
    plain: str, kind: MemoryType, block: CoreBlockName | None, hints: RoutingHints, *, about_names: bool
) -> tuple[Store, CoreBlockName | None]:
    """Return the store a text belongs to, and the block of core memory that it changes as well."""
    cues = routing_cues()
    if hints.protect or cues.fits("vault", plain):
        return "vault", None
    # “Never push to main” is a rule of behaviour rather than a way of doing something.
    rule = block == "Critical Facts" or (block == "Persona" and not cues.fits("occasion", plain))
    if kind not in ("decision", "emotion") and not rule and cues.fits("procedure", plain):
        return "procedural", None
    if block == "Persona" or (block == "Identity" and cues.fits("identity", plain)):
        return "core", block
    if kind in _EPISODIC or block == "Active Context":
        return "episodic", block
    if about_names or (block is not None and speaks_of_oneself(plain)):
        return "semantic", block
    return ("core" if block is not None else "episodic"), block


def _worth_keeping(
    store: Store,
    mentions: tuple[EntityMention, ...],
    relations: tuple[RelationMention, ...],
    facts: tuple[FactStatement, ...],
    owner: str,
) -> tuple[tuple[EntityMention, ...], tuple[RelationMention, ...]]:
    """Return the entities to link or make, and the relations between them.

    The graph takes every name, but tools and places that nothing is said of. Other stores take those that are
    known or marked as names, and well-known tools and places that the text states a relation of.
    """
    person = EntityMention(owner, "person")
    names = {mention.name: mention for mention in mentions}
    said = {end for relation in relations for end in (relation.from_, relation.to)}
    said.update(fact.subject for fact in facts if fact.subject)
    kept = {n: m for n, m in names.items() if m.marked or n in said or m.type not in ("tool", "place")}
    if store != "semantic":
        kept = {name: mention for name, mention in names.items() if mention.marked}
        for relation in relations:
            ends = [names.get(end, person) for end in (relation.from_, relation.to)]
            if all(_well_known(end, person) for end in ends):
                kept.update({end.name: end for end in ends if end is not person})
    relations = tuple(r for r in relations if all(e in kept or e == owner for e in (r.from_, r.to)))
    spoken_of = {end for relation in relations for end in (relation.from_, relation.to)}
    if owner not in kept and (owner in spoken_of or any(fact.subject == owner for fact in facts)):
        kept[owner] = person
    order = [name for name in names if name in kept]
    return tuple(kept[name] for name in (*order, *(n for n in kept if n not in names))), relations


def _well_known(mention: EntityMention, owner: EntityMention) -> bool:
    cues = routing_cues()
    name = mention.name.casefold()
    return mention.marked or mention is owner or name in cues.words["tools"] or name in cues.words["places"]


def summarise(text: str) -> str:
    """Return a text’s first sentence as one line of at most 100 characters, cut at a word."""
    stripped = text.strip()
    first = next(iter(sentences(stripped.translate(PUNCTUATION))), None)
    line = " ".join((stripped[first.start : first.end] if first else stripped).split()) or "…"
    if len(line) <= LONGEST_SUMMARY:
        return line
    cut = line[: LONGEST_SUMMARY - 1]
    head, blank, _ = cut.rpartition(" ")
    return (head if blank and len(head) > LONGEST_SUMMARY // 2 else cut).rstrip(" ,;:") + "…"


def topical_tags(text: str, mentions: Sequence[EntityMention], kind: MemoryType) -> tuple[str, ...]:
    """Return two to five tags: topics first, then names, then the text’s own words, then its type.

    Args:
        text: The memory.
        mentions: What it names.
        kind: Its type, which fills up where nothing else is found.
    """
    cues = routing_cues()
    words = [word.casefold() for word in _LATIN_WORD.findall(text)]
    tags: dict[str, None] = {}
    for word in words:
        if word in cues.topics:
            tags[cues.topics[word]] = None
    for word, tag in cues.topics.items():
        if word[0] >= "\u3400" and word in text:
            tags[tag] = None
    for mention in mentions:
        tag = _TAG_MARKS.sub("-", mention.name.casefold()).strip("-.")
        if 1 < len(tag) <= 30:
            tags[tag] = None
    if len(tags) < FEWEST_TAGS:
        own = Counter(
            word
            for word in words
            if len(word) > 3 and word not in cues.words["stop_words"] and "'" not in word
        )
        for word, _ in own.most_common(FEWEST_TAGS):
            tags[word] = None
    for filler in (kind, "note"):
        if len(tags) < FEWEST_TAGS:
            tags[filler] = None
    return tuple(tags)[:MOST_TAGS]


def _type_of(text: str, cues: Cues) -> MemoryType:
    return next((kind for kind, pattern in cues.types if pattern.search(text)), "fact")


def _confidence(text: str, hints: RoutingHints, cues: Cues) -> Confidence:
    if cues.fits("hedge", text):
        return "medium" if hints.explicit else "low"
    return "high" if hints.explicit else "medium"
