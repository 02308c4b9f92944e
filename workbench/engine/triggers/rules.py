"""Routing without a model: where a memory belongs, told from its words, always the same way.

Core memory changes by who the user is, what is going on, how to behave and what must never be forgotten alone (design
document §8.2). A way of doing something is taken apart: when it applies, and its steps.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.live_text import PUNCTUATION, sentences
from workbench.engine.triggers.mentions import find_occurrences, mentioned
from workbench.engine.triggers.model import (
    Confidence,
    CoreBlockName,
    EntityMention,
    FactStatement,
    MemoryType,
    ProcedureOutline,
    RelationMention,
    Routing,
    RoutingHints,
    Store,
)
from workbench.engine.triggers.phrases import Cues, routing_cues
from workbench.engine.triggers.relations import find_relations, split_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_SUMMARY = 100
MOST_FACTS = 20
FEWEST_TAGS, MOST_TAGS = 2, 5

_LATIN_WORD = lazy_pattern(r"[a-z\u00c0-\u024f][\w'-]*\w", re.IGNORECASE)
_TAG_MARKS = lazy_pattern(r"[^\w+#.]+")
_EPISODIC: frozenset[MemoryType] = frozenset({"decision", "task", "event", "emotion"})
_FIRST_PERSON = lazy_pattern(r"\b(?:i|i'm|i've|i'd|me|my|mine|we|our)\b|我", re.IGNORECASE)
# What was done, is to be done or was felt once tells nothing of how the user wants things.
_PASSING: frozenset[MemoryType] = frozenset({"task", "decision", "emotion"})
_LASTING: frozenset[MemoryType] = frozenset({"preference", "fact", "correction"})
_LONGEST_TITLE = 70
_STEP_LINE = lazy_pattern(r"^\s*(?:[-*•]|\d{1,2}[.)、]|[①-⑳])\s*(?P<step>\S.*)$", re.MULTILINE)
_INLINE_STEP = lazy_pattern(r"(?:^|(?<=[\s:;,.。]))(?:\d{1,2}[.)、](?!\d)|[①-⑳])\s*")
_SEQUENCE = lazy_pattern(
    r"[,;.]?\s*\b(?:and then|then|after that|afterwards|finally|and finally|next)\b,?\s*"
    r"|[,;,。]?\s*(?:然后|然後|接着|接著|最后|最後|再)\s*",
    re.IGNORECASE,
)
_LISTED_STEP = lazy_pattern(r"[,;、\uff0c\uff1b]\s*(?:and\s+)?(?!which|who|that\b)")
_HEAD = lazy_pattern(
    r"""^\s*(?:
        (?:how\ )?to\ (?P<aim>[^:,.!?\n]{2,60})\s*[:,]
      | (?:the\ )?(?:steps|procedure|process|workflow|way)\ (?:to|for|of)\ (?P<named>[^:,.!?\n]{2,60}?)
            \s*(?::|\bis\b:?|\bare\b:?)
      | (?:when|whenever|if|every\ time|each\ time)\ (?P<when>[^,:\n]{3,120})[,:]\s*
      | (?P<border>(?:before|after)\ [^,:\n]{3,80})[,:]\s*
      | (?P<chinese>[^:,。\n]{1,24}?)(?:的)?(?:步骤|步驟|流程|做法)(?:是|如下)?\s*[:,]
      | (?:当|當)?我(?:让|讓|要|叫|请|請)你?(?P<told>[^,:。\n]{1,30}?)(?:时|時|的时候|的時候)[,:]?
      | (?:每次|每当|每當|当|當)(?P<each>[^,:。\n]{1,30}?)(?:时|時|的时候|的時候)?[,:]?
        (?:我们?|我們|咱们?)?(?:[,:]|(?=都要|都会|都會|就要|先|都|必须|必須))
    )""",
    re.IGNORECASE | re.VERBOSE,
)
# “To release we do this: …”: the aim ends where its clause does.
_MAIN_CLAUSE = lazy_pattern(r"\s+(?:we|you|i|one|they)\s", re.IGNORECASE)
# “…模板用公司的，先写…再写…”: what stands before the first step names them all.
_BEFORE_STEPS = lazy_pattern(
    r"^(?:(?:yes|ok|okay|好的?|对|對|嗯|可以)\s*,\s*)?(?P<topic>[^,]{2,40}?)\s*,?\s*先[^,]{1,40},?\s*(?:再|然后|然後|最后|最後)",
    re.IGNORECASE,
)
_ASKED = lazy_pattern(
    r"^(?:i|we|the user|user)\s+(?P<verb>ask|say|want|tell|need)s?\s+(?:you\s+)?(?P<link>to\b|for\b)?\s*",
    re.IGNORECASE,
)
_FIRST_ARTICLE = lazy_pattern(r"^(?:an?|the|my|our|some)\s+", re.IGNORECASE)
_MUST = lazy_pattern(
    r"^(?:(?:please|you (?:should|must)|always|make sure (?:you |to )?)\s+"
    r"|(?:都要|都会|都會|就要|必须|必須|一定要|都|就)+(?=[^\s])|(?:first|首先|先|再|然后|然後),?\s*)+",
    re.IGNORECASE,
)


_AS_IT_IS = ("never ", "do not ", "don't ", "before ", "after ")


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


def speaks_of_oneself(plain: str) -> bool:
    """Return whether a text is in the first person."""
    return _FIRST_PERSON.search(plain) is not None


def core_block(plain: str, kind: MemoryType) -> CoreBlockName | None:
    """Return the block of core memory that a memory changes, or None.

    Args:
        plain: The memory with ASCII punctuation.
        kind: Its type.
    """
    cues = routing_cues()
    if kind == "task":
        return None
    # Of a longer story only the first sentence would stand in core memory, so that is what has to be worth it.
    parts = list(islice(sentences(plain), 3))
    if len(parts) > 2:
        plain = plain[parts[0].start : parts[0].end]
    if cues.fits("critical", plain) or (cues.fits("health", plain) and speaks_of_oneself(plain)):
        return "Critical Facts"
    if cues.fits("standing", plain) and not cues.fits("vault", plain):
        return "Persona"
    if (
        kind not in _PASSING
        and kind != "event"
        and cues.fits("manner", plain)
        and not cues.fits("thanks", plain)
    ):
        return "Persona"
    if kind not in _PASSING and cues.fits("identity", plain):
        return "Identity"
    if kind in _LASTING and cues.fits("lasting", plain) and not cues.fits("passing", plain):
        return "Identity"
    if kind not in _PASSING and cues.fits("active", plain):
        return "Active Context"
    return None


def outline_procedure(text: str) -> ProcedureOutline:
    """Take a way of doing something apart (design document §7).

    Args:
        text: Such as “To deploy: 1. run the tests 2. tag”, “When I ask for a review, always …”, or a rule
            like “Always back up before migrating”.

    Returns:
        A title, when it applies, and at least one step.
    """
    plain = " ".join(text.translate(PUNCTUATION).split())
    head = _HEAD.match(text.translate(PUNCTUATION))
    body = text[head.end() :] if head else text
    occasion, action = _occasion(head)
    steps = _steps(body, listed=head is not None) or (_one_line(body) or plain,)
    if action:
        named = bool(head and head["when"]) and not action[:1].islower()
        return ProcedureOutline(_short(action) if named else _title(action), occasion, steps)
    first = next(iter(sentences(plain)), None)
    action = _MUST.sub("", plain[first.start : first.end] if first else plain).rstrip(" .。:")
    if topic := _BEFORE_STEPS.match(action):
        return ProcedureOutline(_title(topic["topic"]), f"{topic['topic']}的时候。", steps)
    return ProcedureOutline(_title(action), f"When this applies: {_short(action)}.", steps)


def _occasion(head: re.Match[str] | None) -> tuple[str, str]:
    """Return when a procedure applies, as a sentence, and what it is a way of doing."""
    if head is None:
        return "", ""
    if aim := head["aim"] or head["named"]:
        aim = _MAIN_CLAUSE.split(aim, maxsplit=1)[0].strip()
        return f"When asked to {aim}.", aim
    if head["chinese"]:
        return f"{head['chinese'].strip()}的时候。", head["chinese"].strip()
    if when := head["when"]:
        return _asked_for(when.strip())
    if told := head["told"]:
        return f"让我{told.strip()}的时候。", told.strip()
    if each := head["each"]:
        moment = "" if each.strip()[-1] in "前后後时時" else "时"
        return f"每次{each.strip()}{moment}。", f"{each.strip()}{moment}"
    return f"{head['border'].strip().capitalize()}.", head["border"].strip()


def _asked_for(when: str) -> tuple[str, str]:
    """Return the occasion and the title of what is done on it: “I ask to deploy” is asked, “staging fails” occurs."""
    asked = _ASKED.match(when)
    if asked is None:
        return f"When {when}.", f"When {when}"
    wanted = when[asked.end() :].strip(" '\"“”")
    if (asked["link"] or "").casefold() == "to":
        return f"When asked to {wanted}.", wanted
    if asked["verb"].casefold() in ("say", "tell"):
        return f"When told “{wanted}”.", f"When told “{wanted}”"
    noun = _FIRST_ARTICLE.sub("", wanted)
    return f"When asked for {wanted}.", noun[:1].upper() + noun[1:]


def _title(action: str) -> str:
    short = _short(action)
    if re.search(r"[\u4e00-\u9fff]", short) or short.casefold().startswith(_AS_IT_IS):
        return short[:1].upper() + short[1:]
    return f"How to {short[0].lower()}{short[1:]}" if re.match(r"[a-z]+\b", short, re.IGNORECASE) else short


def _short(text: str) -> str:
    line = _one_line(text)
    if len(line) <= _LONGEST_TITLE:
        return line
    return line[: _LONGEST_TITLE - 1].rpartition(" ")[0] + "…"


def _steps(body: str, *, listed: bool) -> tuple[str, ...]:
    lines = [_one_line(match["step"]) for match in _STEP_LINE.finditer(body)]
    if len(lines) > 1:
        return tuple(line for line in lines if line)
    for border in (_INLINE_STEP, _SEQUENCE):
        parts = [_one_line(part) for part in border.split(body)]
        if len(parts) > 1:
            return _as_steps(parts)
    if listed and len(list(sentences(body.translate(PUNCTUATION)))) == 1:
        parts = _LISTED_STEP.split(body)
        if len(parts) > 2:
            return _as_steps([_one_line(part) for part in parts])
    return _as_steps(
        [_one_line(body[each.start : each.end]) for each in sentences(body.translate(PUNCTUATION))]
    )


def _as_steps(parts: list[str]) -> tuple[str, ...]:
    bare = [_MUST.sub("", part) for part in parts]
    return tuple(step[:1].upper() + step[1:] for step in bare if step)


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip(" ,;.。\uff0c\uff1b:")
