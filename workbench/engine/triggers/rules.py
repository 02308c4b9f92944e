"""Routing without a model: where a memory belongs, told from its words, always the same way."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from workbench.engine.triggers.clauses import sentences
from workbench.engine.triggers.cues import Cues, routing_cues
from workbench.engine.triggers.live_text import PUNCTUATION
from workbench.engine.triggers.mentions import find_mentions
from workbench.engine.triggers.model import (
    Confidence,
    CoreBlockName,
    EntityMention,
    MemoryType,
    Routing,
    RoutingHints,
    Store,
)
from workbench.engine.triggers.procedures import outline_procedure
from workbench.engine.triggers.statements import find_relations, split_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_SUMMARY = 100
MOST_FACTS = 20
FEWEST_TAGS, MOST_TAGS = 2, 5

_LATIN_WORD = re.compile(r"[a-z\u00c0-\u024f][\w'-]*\w", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|my|we|our)\b|我", re.IGNORECASE)
_TAG_MARKS = re.compile(r"[^\w+#.]+")
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
    mentions = find_mentions(text, hints.known)
    relations, extra = find_relations(text, mentions, hints.owner)
    first_person = _FIRST_PERSON.search(plain) is not None
    block = _core_block(plain, kind, cues, first_person=first_person)
    # “Never push to main” is a rule of behaviour rather than a way of doing something.
    is_way = cues.fits("procedure", plain) and block != "Critical Facts"
    procedure = outline_procedure(text) if is_way else None
    store: Store
    if hints.protect or cues.fits("vault", plain):
        store, block = "vault", None
    elif procedure:
        store, kind, block = "procedural", kind if kind == "preference" else "fact", None
    elif block == "Identity" and cues.fits("identity", plain):
        store = "core"
    elif kind in _EPISODIC or block == "Active Context":
        store = "episodic"
    elif mentions or relations or (block is not None and first_person):
        store = "semantic"
    else:
        store = "core" if block is not None else "episodic"
    entities = (*mentions, *extra)
    facts = split_facts(text, mentions, hints.owner) if store == "semantic" else ()
    if len(facts) > MOST_FACTS:
        # A whole story: it is kept as it was told, and reflection takes the facts out of it.
        store, facts = "episodic", ()
    if any(fact.subject == hints.owner for fact in facts) and all(e.name != hints.owner for e in entities):
        entities = (*entities, EntityMention(hints.owner, "person"))
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
        procedure=procedure if store == "procedural" else None,
    )


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


def _core_block(text: str, kind: MemoryType, cues: Cues, *, first_person: bool) -> CoreBlockName | None:
    if cues.fits("critical", text):
        return "Critical Facts"
    if cues.fits("manner", text):
        return "Persona"
    if cues.fits("identity", text) or (kind == "preference" and first_person):
        return "Identity"
    if cues.fits("active", text):
        return "Active Context"
    return None


def _confidence(text: str, hints: RoutingHints, cues: Cues) -> Confidence:
    if cues.fits("hedge", text):
        return "medium" if hints.explicit else "low"
    return "high" if hints.explicit else "medium"
