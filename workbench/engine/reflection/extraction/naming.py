"""Which entities a text names, and whose words it holds: the person's of the workspace, somebody else's, or an agent's.

Entities of the graph are known by all their names; each name is looked up once in a cycle. Agents are not listened to.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.identifiers import entity_id
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.worth import terms_of
from workbench.engine.reflection.passages import goes_by
from workbench.engine.search.chunks import AGENT, PERSON
from workbench.engine.triggers.mentions import find_occurrences
from workbench.engine.triggers.model import EntityMention
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.records import EntityRecord
    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.triggers.mentions import Occurrence

MOST_LOOKUPS: Final = 200_000
"""Names that are looked up in the graph in one cycle."""
_MOST_SHARED: Final = 2_000
_MOST_LABELS: Final = 5_000
_INTERFACE: Final = lazy_pattern(r" (?:API|SDK|CLI|UI|REST API)s?$")
_NOBODY: Final = frozenset(
    (
        "system",
        "tool",
        "function",
        "note",
        "notes",
        "todo",
        "summary",
        "error",
        "warning",
        "unknown",
        "session",
    )
)
_NO_OWNER: Final = "User"
_NAMELESS: Final = "person--user"
_LONGEST_NAME: Final = 60
# Turns from which on somebody speaks in a log rather than being quoted, and which share of all.
_FEWEST_TURNS: Final = 3
_NEARLY_ALL: Final = 0.8


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity that a text names.

    Args:
        entity: `type--slug`.
        label: As the graph has it, or as the text writes it.
        type: person, project, concept, tool or place.
        known: Whether the graph has it.
        start: Where its first mention begins.
        marked: Whether the text marks it as a name.
    """

    entity: str
    label: str
    type: str
    known: bool
    start: int
    marked: bool


class Names:
    """Finds entities in texts."""

    def __init__(self, graph: Lookups) -> None:
        self._graph = graph
        self._named: dict[str, EntityRecord | None] = {}
        self._called: dict[str, EntityRecord | None] = {}
        self._by_word: dict[str, list[EntityRecord]] | None = None
        self._shared: dict[str, tuple[EntityRecord, ...]] = {}

    def occurrences(self, text: str) -> tuple[Occurrence, ...]:
        """Return the places of a text where an entity is named."""
        return find_occurrences(text, self._known, called=self._first_name)

    def in_text(self, text: str) -> tuple[Mention, ...]:
        """Return the entities that a text names, each once, in the order of the text."""
        found: dict[str, Mention] = {}
        for one in self.occurrences(text):
            mention = self.mention(one)
            found.setdefault(mention.entity, mention)
        return tuple(found.values())

    def tagged(self, tags: Sequence[str]) -> tuple[Mention, ...]:
        """Return the entities of the graph that tags name, projects first."""
        records = [record for record in map(self.record, tags) if record is not None]
        records.sort(key=lambda record: record.type != "project")
        return tuple(
            Mention(record.id.removeprefix("entity:"), record.label, record.type, True, 0, True)
            for record in records
        )

    def suggested(self, text: str) -> tuple[Mention, ...]:
        """Return the entity of the graph whose label a text says in other words, or by the one word that tells it.

        “Wave forecasts are free” is about the “Wave forecast”, “the Ningbo pilot” about the “Port of Ningbo”; persons
        are left out.
        """
        if self._by_word is None:
            self._by_word = self._label_words()
        terms = terms_of(text)
        found = {record.id: record for term in terms for record in self._by_word.get(term, ())}
        best: tuple[int, bool, str] | None = None
        for record in found.values():
            label = terms_of(record.label)
            shared = label & terms
            telling = any(len(self._by_word[term]) == 1 and _has_capital(term, text) for term in shared)
            if label <= terms or telling:
                rank = (len(shared), record.type == "project", record.id)
                best = rank if best is None or rank > best else best
        if best is None:
            return ()
        record = found[best[2]]
        return (Mention(record.id.removeprefix("entity:"), record.label, record.type, True, 0, True),)

    def _label_words(self) -> dict[str, list[EntityRecord]]:
        words: dict[str, list[EntityRecord]] = {}
        for record in self._graph.entities()[:_MOST_LABELS]:
            if record.type != "person":
                for term in terms_of(record.label):
                    words.setdefault(term, []).append(record)
        return words

    def mention(self, one: Occurrence) -> Mention:
        """Return whom or what a place of a text names."""
        record = self.record(one.mention.name)
        if record is None:
            alike = self.sharing(one.mention.name)
            record = next((each for each in alike if each.type == one.mention.type), next(iter(alike), None))
        if record is not None:
            return Mention(
                record.id.removeprefix("entity:"), record.label, record.type, True, one.start, True
            )
        name, kind = one.mention.name, one.mention.type
        bare = _INTERFACE.sub("", name)
        if bare != name and kind in ("concept", "tool"):
            # “The Stripe API” is Stripe, as far as a graph goes.
            name, kind = bare, "tool"
        return Mention(entity_id(kind, name).name, name, kind, False, one.start, one.mention.marked)

    def record(self, name: str) -> EntityRecord | None:
        """Return the entity of the graph that a name means, if just one has it as its label or alias."""
        key = name.casefold()
        if key not in self._named:
            if len(self._named) >= MOST_LOOKUPS:
                return None
            self._named[key] = self._graph.named(name)
        return self._named[key]

    def sharing(self, name: str) -> tuple[EntityRecord, ...]:
        """Return the entities of the graph that have a name as label or alias, where several have it."""
        key = name.casefold()
        if key not in self._shared:
            if len(self._shared) >= _MOST_SHARED:
                return ()
            matches = self._graph.resolve(name)
            self._shared[key] = tuple(match.entity for match in matches if match.how in ("exact", "alias"))
        return self._shared[key]

    def shared(self) -> list[tuple[EntityRecord, ...]]:
        """Return, for every name met so far that several entities of the graph have, those entities."""
        return [records for records in self._shared.values() if len(records) > 1]

    def _known(self, name: str) -> EntityMention | None:
        words = name.split(" ")
        if len(words) > 1 and (words[0] in STOP_WORDS or words[-1] in STOP_WORDS):
            return None
        return _as_mention(self.record(name))

    def _first_name(self, name: str) -> EntityMention | None:
        if name not in self._called:
            if len(self._called) >= MOST_LOOKUPS:
                return None
            self._called[name] = self._graph.called(name)
        return _as_mention(self._called[name])


def _as_mention(record: EntityRecord | None) -> EntityMention | None:
    if record is None:
        return None
    return EntityMention(record.label, record.type, marked=True)


def _has_capital(term: str, text: str) -> bool:
    """Return whether a text writes a stemmed word with a capital, not just because it begins with it."""
    return any(word[0].isupper() and term in terms_of(word) for word in text.split()[1:])


def sole_speaker(snapshot: Snapshot) -> str:
    """Return who alone talks to an agent in logs that nothing was learned of yet; empty where that is not one person.

    A log that has such a voice is that of a person whom it calls by name instead of “User”. Later on somebody may be
    alone in what is new without being the one whose memory it is.
    """
    if snapshot.records:
        return ""
    speakers = Counter(passage.speaker.strip() for passage in snapshot.passages)
    people = {name: turns for name, turns in speakers.items() if name.casefold() not in AGENT | _NOBODY}
    name = max(people, key=lambda each: people[each], default="")
    is_alone = people.get(name, 0) >= max(_FEWEST_TURNS, _NEARLY_ALL * sum(people.values()))
    if not is_alone or name.casefold() in PERSON or len(name) > _LONGEST_NAME:
        return ""
    return name[:1].upper() + name[1:]


@dataclass(frozen=True, slots=True)
class Voice:
    """The one who says “I” in a passage.

    Args:
        entity: `person--maria`.
        label: The entity's label: “Maria Lund”.
        name: As sentences call the person: “Maria”.
        known: Whether the graph has the entity.
        is_owner: Whether it is the person whose memory it is, who talks to an agent.
    """

    entity: str
    label: str
    name: str
    known: bool
    is_owner: bool = False


class Voices:
    """Tells who speaks; each label is looked up in the graph once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._by_label: dict[str, Voice | None] = {}

    def of(self, passage: Passage) -> Voice | None:
        """Return who says “I” in a passage; None where an agent or no person speaks."""
        label = passage.speaker.strip()
        if label not in self._by_label:
            self._by_label[label] = self._voice(label)
        return self._by_label[label]

    @property
    def owner(self) -> Voice:
        """Return the person whose memory it is."""
        owner = self._person(self._snapshot.owner.strip() or _NO_OWNER)
        nameless = self._snapshot.graph.entity(f"entity:{_NAMELESS}")
        if nameless is not None and not owner.known:
            # What was learned before anybody gave a name stays with what is learned now.
            owner = Voice(_NAMELESS, nameless.label, owner.name, known=True)
        return replace(owner, is_owner=True)

    def names(self) -> frozenset[str]:
        """Return what everybody who speaks is called, folded, first names included."""
        found = {
            voice.name.casefold() for voice in map(self.of, self._snapshot.passages) if voice is not None
        }
        return frozenset(found | {name.split(" ")[0] for name in found})

    def _voice(self, label: str) -> Voice | None:
        folded = label.casefold()
        if folded in AGENT or folded in _NOBODY or len(label) > _LONGEST_NAME:
            return None
        if not label or folded in PERSON or goes_by(label, self._snapshot.owner):
            return self.owner
        return self._person(label)

    def _person(self, label: str) -> Voice:
        record = self._snapshot.graph.named(label) or self._snapshot.graph.called(label)
        if record is not None and record.type == "person":
            return Voice(record.id.removeprefix("entity:"), record.label, label, known=True)
        made = entity_id("person", label).name
        known = self._snapshot.graph.entity(f"entity:{made}")
        return Voice(made, known.label if known else label, label, known is not None)
