"""What new passages teach: entities, facts, relations and merges, the most welcome first."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import entity_id
from workbench.engine.reflection.extraction.candidates import Acquaintance, Candidate, candidates
from workbench.engine.reflection.extraction.connections import (
    Connections,
    Stated,
    relation_item,
    together_item,
)
from workbench.engine.reflection.extraction.entities import Naming, named_entity, speaking_entity
from workbench.engine.reflection.extraction.facts import KnownFacts, fact_item
from workbench.engine.reflection.extraction.grouping import group, in_order
from workbench.engine.reflection.extraction.merging import merges
from workbench.engine.reflection.extraction.naming import Mention, Names
from workbench.engine.reflection.extraction.relatives import relatives
from workbench.engine.reflection.extraction.speaking import Voice, Voices
from workbench.engine.reflection.extraction.stated import stated
from workbench.engine.reflection.extraction.worth import terms_of
from workbench.engine.reflection.wording import sentences
from workbench.engine.triggers.relations import find_relations

if TYPE_CHECKING:
    from workbench.engine.documents.pending_reflection import ReviewItem
    from workbench.engine.reflection.model import Agenda, Passage, Snapshot
    from workbench.engine.reflection.work import Work

LONGEST_READ: Final = 20_000
"""Characters of a passage that are read."""
_STEP: Final = 200
_MOST_RELATIONS: Final = 200
_MOST_FACTS: Final = 400
_RELATIVE: Final = 6.0
_MORE_THAN_A_NAME: Final = 5
_STATED_RELATION: Final = 5.0
_MERGE: Final = 6.5
_TOGETHER: Final = 1.5
_FIRST_AREAS: Final = 5
_ON_AGENDA: Final = 0.2


@dataclass
class _Found:
    """What was read so far."""

    statements: list[Candidate] = field(default_factory=list)
    named: dict[str, Naming] = field(default_factory=dict)
    known: dict[str, Mention] = field(default_factory=dict)
    speakers: dict[str, Voice] = field(default_factory=dict)
    spoken: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    relatives: dict[str, Mention] = field(default_factory=dict)
    where: dict[str, int] = field(default_factory=dict)


def extract_knowledge(snapshot: Snapshot, agenda: Agenda, work: Work) -> tuple[ReviewItem, ...]:
    """Propose what the new passages of a snapshot teach.

    What the agenda names first is raised a little. Only the snapshot’s passages are read; the graph is asked once for
    each name and for the facts of each entity concerned.

    Returns:
        Items of the kinds entity, fact, relation and merge, best first; an entity before the first item that needs it.
    """
    reader = _Reader(snapshot, agenda)
    total = len(snapshot.passages)
    for at, passage in enumerate(snapshot.passages):
        if at % _STEP == 0:
            work.step(at, total)
        reader.read(at, passage)
    work.step(total, total)
    return reader.items()


class _Reader:
    """Reads passages one after the other, then makes items of what they said."""

    def __init__(self, snapshot: Snapshot, agenda: Agenda) -> None:
        self._snapshot = snapshot
        self._first = frozenset(
            at for area in agenda.areas[:_FIRST_AREAS] if area.entity for at in area.passages
        )
        self._voices = Voices(snapshot)
        self._participants = self._voices.names()
        self._names = Names(snapshot.graph)
        self._connections = Connections(snapshot.relations)
        self._facts = KnownFacts(snapshot.graph)
        self._found = _Found()

    def read(self, at: int, passage: Passage) -> None:
        """Take in one passage; agents are not listened to."""
        voice = self._voices.of(passage)
        if voice is None:
            return
        found = self._found
        if passage.speaker:
            found.speakers.setdefault(voice.entity, voice)
            found.spoken[voice.entity].append(at)
        meant = list(stated(at, passage, voice, self._names))
        found.statements.extend(meant)
        told = self._read_relatives(at, passage, voice)
        if not passage.type:
            found.statements.extend(
                one
                for one in candidates(at, passage, voice, self._participants, self._acquainted)
                if len(one.terms) >= _MORE_THAN_A_NAME or not any(name in one.text for name in told)
            )
        self._read_names(at, passage, voice, explicit=bool(meant))

    def _acquainted(self, name: str) -> Acquaintance | None:
        """Find somebody named as a relative before, or an entity of the graph."""
        related = self._found.relatives.get(entity_id("person", name).name)
        if related is not None:
            return Acquaintance(related.entity, related.label)
        record = self._names.record(name)
        if record is None:
            return None
        return Acquaintance(record.id.removeprefix("entity:"), record.label)

    def _read_names(self, at: int, passage: Passage, voice: Voice, *, explicit: bool) -> None:
        text = _own_words_of(passage.text)
        occurrences = self._names.occurrences(text)
        by_name: dict[str, Mention] = {}
        mentions: dict[str, Mention] = {}
        for one in occurrences:
            mention = self._names.mention(one)
            if one.mention.name.casefold() in self._participants and not mention.known:
                continue
            by_name[one.mention.name] = mention
            if mention.entity not in mentions:
                mentions[mention.entity] = mention
                self._note(at, mention)
        if mentions:
            self._connections.together(at, tuple(mentions.values()))
            own = self._voice_mention(voice)
            by_name.setdefault(voice.label, own)
            stands = (*self._snapshot.relations,)
            for stated_one in find_relations(
                text, occurrences, voice.label, own=[r for r in stands if r not in _BUILT_IN]
            ):
                left, right = by_name.get(stated_one.from_), by_name.get(stated_one.to)
                if left is not None and right is not None:
                    start = (right if left is own else left).start
                    self._connections.state(at, start, left, stated_one.relation, right, explicit=explicit)

    def _note(self, at: int, mention: Mention) -> None:
        found = self._found
        found.where.setdefault(mention.entity, at)
        if mention.known:
            found.known.setdefault(mention.entity, mention)
        else:
            found.named.setdefault(mention.entity, Naming(mention)).add(at, mention)

    def _read_relatives(self, at: int, passage: Passage, voice: Voice) -> set[str]:
        """Take in whom a passage names as the speaker’s own; return their names."""
        told: set[str] = set()
        for sentence in sentences(passage.text):
            for one in relatives(sentence.text, self._participants):
                quote = sentence.text[one.start : one.end]
                told.add(one.name)
                if one.animal:
                    article = "an" if one.kin[0] in "aeiou" else "a"
                    self._say(
                        at,
                        voice.entity,
                        voice.label,
                        f"{voice.name} has {article} {one.kin} called {one.name}",
                        quote,
                        "pet",
                    )
                    continue
                record = self._names.record(one.name)
                entity = record.id.removeprefix("entity:") if record else entity_id("person", one.name).name
                label = record.label if record else one.name
                if entity == voice.entity:
                    continue
                mention = Mention(
                    entity, label, "person", record is not None, sentence.start + one.start, True
                )
                self._found.relatives.setdefault(entity, mention)
                self._note(at, mention)
                age = f" (as of {passage.day})" if "-old" in one.kin and passage.day else ""
                text = f"{one.name} is {voice.name}’s {one.kin}{age}"
                self._say(at, entity, label, text, quote, "family")
                self._connections.state(
                    at,
                    mention.start,
                    mention,
                    "relates-to",
                    self._voice_mention(voice),
                    explicit=True,
                    why=f"{text}.",
                )

        return told

    def _say(self, at: int, entity: str, label: str, text: str, quote: str, kind: str) -> None:
        day = self._snapshot.passages[at].day
        self._found.statements.append(
            Candidate(at, entity, label, text, quote, kind, _RELATIVE, terms_of(text), day)
        )

    def _voice_mention(self, voice: Voice) -> Mention:
        return Mention(voice.entity, voice.label, "person", voice.known, 0, True)

    def items(self) -> tuple[ReviewItem, ...]:
        """Return what was read as items, best first."""
        passages = self._snapshot.passages
        statements = (
            replace(one, value=one.value + _ON_AGENDA) if one.at in self._first else one
            for one in self._found.statements
        )
        groups = in_order(
            each
            for each in group(statements)
            if not self._facts.say(each.best.entity, each.best.text, passages[each.best.at].id)
        )
        ranked: list[tuple[float, ReviewItem, tuple[str, ...]]] = []
        wanted: set[str] = set()
        ceiling = math.inf
        for each in groups[:_MOST_FACTS]:
            needs = self._needs(each.best.entity)
            wanted.update(needs)
            # The order of the groups holds whatever their worth, so that what repeats stays behind.
            ceiling = min(ceiling, each.value)
            ranked.append((ceiling, fact_item(each, passages, needs), needs))
        ranked.extend(self._relations(wanted))
        ranked.extend(
            (_MERGE, item, ())
            for item in merges(
                self._names.shared(), self._found.known, self._found.where, passages, self._snapshot.graph
            )
        )
        ranked.sort(key=lambda each: -each[0])
        return self._with_entities(ranked)

    def _relations(self, wanted: set[str]) -> list[tuple[float, ReviewItem, tuple[str, ...]]]:
        passages = self._snapshot.passages
        made: list[tuple[float, ReviewItem, tuple[str, ...]]] = []
        for one in self._connections.stated():
            if (
                self._is_told(one)
                and self._stands(one.from_.entity, wanted)
                and self._stands(one.to.entity, wanted)
            ):
                needs = tuple(dict.fromkeys((*self._needs(one.from_.entity), *self._needs(one.to.entity))))
                value = _STATED_RELATION - 1.2 + min(3.0, math.log2(len(one.places))) + one.explicit
                made.append((value, relation_item(one, passages, needs), needs))
        for left, right, times, places in self._connections.often_together():
            if self._stands(left, wanted) and self._stands(right, wanted) and not self._joined(left, right):
                needs = tuple(dict.fromkeys((*self._needs(left), *self._needs(right))))
                item = together_item(left, right, times, places, passages, needs)
                made.append((_TOGETHER + math.log2(times) / 2, item, needs))
        return sorted(made, key=lambda each: -each[0])[:_MOST_RELATIONS]

    def _is_told(self, one: Stated) -> bool:
        """Tell whether a relation is stated surely enough, and not in the graph already."""
        if len(one.places) < 2 and not one.explicit:
            return False
        return not any(
            edge.relation == one.relation and edge.to.removeprefix("entity:") == one.to.entity
            for edge in self._snapshot.graph.edges_of(f"entity:{one.from_.entity}")
        )

    def _joined(self, left: str, right: str) -> bool:
        edges = self._snapshot.graph.edges_of(f"entity:{left}")
        return any(f"entity:{right}" in (edge.from_, edge.to) for edge in edges)

    def _stands(self, entity: str, wanted: set[str]) -> bool:
        """Tell whether an entity is known, or worth being proposed."""
        found = self._found
        return (
            entity in found.known
            or entity in wanted
            or entity in found.relatives
            or (entity in found.speakers)
            or (entity in found.named and found.named[entity].is_worth_a_file)
        )

    def _needs(self, entity: str) -> tuple[str, ...]:
        known = entity in self._found.known or self._snapshot.graph.entity(f"entity:{entity}") is not None
        return () if known else (entity,)

    def _with_entities(
        self, ranked: list[tuple[float, ReviewItem, tuple[str, ...]]]
    ) -> tuple[ReviewItem, ...]:
        """Put each proposed entity before the first item that needs it."""
        done: dict[str, None] = {}
        items: list[ReviewItem] = []
        for _, item, needs in ranked:
            for need in needs:
                if need not in done:
                    done[need] = None
                    made = self._entity(need)
                    if made is not None:
                        items.append(made)
            items.append(item)
        return tuple(items)

    def _entity(self, entity: str) -> ReviewItem | None:
        found, passages = self._found, self._snapshot.passages
        if entity in found.speakers:
            return speaking_entity(found.speakers[entity], found.spoken[entity], passages)
        if entity in found.named:
            return named_entity(found.named[entity], passages)
        return None


def _own_words_of(text: str) -> str:
    return text[:LONGEST_READ]


_BUILT_IN: Final = frozenset(
    (
        "develops", "uses", "used-by", "part-of", "contains", "depends-on", "decided-on", "supersedes",
        "preceded-by", "followed-by", "prefers", "avoids", "confident-about", "uncertain-about", "relates-to",
    )
)  # fmt: skip
