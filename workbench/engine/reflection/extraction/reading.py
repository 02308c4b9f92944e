"""Reads passages one after the other and keeps what they say: statements, names, relatives and how these are joined."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import entity_id
from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.candidates import Acquaintance, Candidate, candidates
from workbench.engine.reflection.extraction.circumstances import circumstances
from workbench.engine.reflection.extraction.connections import GENERAL, Connections
from workbench.engine.reflection.extraction.entities import Naming
from workbench.engine.reflection.extraction.naming import Mention, Names
from workbench.engine.reflection.extraction.notes import noted
from workbench.engine.reflection.extraction.relatives import Persons, Relative, relatives
from workbench.engine.reflection.extraction.speaking import Voice, Voices
from workbench.engine.reflection.extraction.stated import stated
from workbench.engine.reflection.extraction.trimming import own_part
from workbench.engine.reflection.extraction.worth import terms_of
from workbench.engine.triggers.live_text import live_text
from workbench.engine.triggers.relations import find_relations

if TYPE_CHECKING:
    from workbench.engine.reflection.model import Passage, Snapshot

LONGEST_READ: Final = 20_000
"""Characters of a passage that are searched for names."""
_FIRST_NAME: Final = lazy_pattern(r"(?P<name>[A-Z][\w-]+)(?:['’]s|:)? [a-z]")
_RELATIVE: Final = 6.0
_MORE_THAN_A_NAME: Final = 4
# The relations whose verbs the triggers know (design document §6.3); others are read by their names.
_KNOWN_VERBS: Final = frozenset(
    (
        "develops", "uses", "used-by", "part-of", "contains", "depends-on", "decided-on", "supersedes",
        "preceded-by", "followed-by", "prefers", "avoids", "confident-about", "uncertain-about", "relates-to",
    )
)  # fmt: skip


@dataclass
class Found:
    """What was read so far.

    Args:
        statements: What may become facts.
        named: Entities that the graph does not have, by `type--slug`.
        known: Entities of the graph that passages name.
        where: Index of the first passage that names each entity.
        speakers: Who speaks, by entity.
        spoken: Indices of the passages that each of them speaks in.
        owner: Whose episodes there are, if any.
        relatives: Whom speakers call their own.
    """

    statements: list[Candidate] = field(default_factory=list)
    named: dict[str, Naming] = field(default_factory=dict)
    known: dict[str, Mention] = field(default_factory=dict)
    where: dict[str, int] = field(default_factory=dict)
    speakers: dict[str, Voice] = field(default_factory=dict)
    spoken: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    owner: Voice | None = None
    relatives: dict[str, Mention] = field(default_factory=dict)

    def in_its_place(self, one: Candidate) -> Candidate:
        """Return a statement of the owner’s under the person whom its text begins by naming, if it does."""
        owner = self.owner
        first = _FIRST_NAME.match(one.text)
        if first is None or owner is None or one.entity != owner.entity or one.text.startswith(owner.name):
            return one
        named = entity_id("person", first["name"]).name
        mention = self.relatives.get(named) or self.known.get(named)
        naming = self.named.get(named)
        label = mention.label if mention is not None else naming.label if naming is not None else ""
        return replace(one, entity=named, label=label) if label else one


class Reader:
    """Reads the passages of a snapshot; only what persons say is taken in."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.found = Found()
        self.names = Names(snapshot.graph)
        self.connections = Connections(snapshot.relations)
        self._voices = Voices(snapshot)
        self._participants = self._voices.names()
        self._persons = Persons()
        self._own_verbs = [name for name in snapshot.relations if name not in _KNOWN_VERBS]

    def read(self, at: int, passage: Passage) -> None:
        """Take in one passage.

        Args:
            at: Its index.
            passage: Of whomever.
        """
        voice = self._voices.of(passage)
        if voice is None:
            return
        if not passage.type:
            passage = replace(passage, text=own_part(passage.text))
        found = self.found
        if passage.speaker:
            found.speakers.setdefault(voice.entity, voice)
            found.spoken[voice.entity].append(at)
        if voice.is_owner:
            found.owner = voice
            self._persons.read(at, passage.text)
        meant = list(stated(at, passage, voice, self.names))
        explicit = bool(meant)
        told = self._read_relatives(at, passage, voice)
        if not passage.type:
            meant.extend(
                one
                for one in candidates(at, passage, voice, self._participants, self._acquainted)
                if len(one.terms) >= _MORE_THAN_A_NAME or not any(name in one.text for name in told)
            )
            if not passage.speaker and not explicit:
                meant.extend(noted(at, passage, voice, self.names))
            if voice.is_owner:
                meant.extend(circumstances(at, passage, voice, self.names, [one.quote for one in meant]))
        found.statements.extend(meant)
        # What is written down without a speaker is a note, meant to be read again.
        self._read_names(at, passage, voice, explicit=explicit or not passage.speaker)

    def settle(self) -> None:
        """Take in, once all is read, whom only what they do tells to be persons."""
        for at, mention in self._persons.named():
            if (
                self.names.record(mention.label) is None
                and mention.label.casefold() not in self._participants
            ):
                self._note(at, mention)

    def _acquainted(self, name: str) -> Acquaintance | None:
        """Find somebody named as a relative before, or an entity of the graph."""
        related = self.found.relatives.get(entity_id("person", name).name)
        if related is not None:
            return Acquaintance(related.entity, related.label)
        record = self.names.record(name)
        if record is None:
            return None
        return Acquaintance(record.id.removeprefix("entity:"), record.label)

    def _read_names(self, at: int, passage: Passage, voice: Voice, *, explicit: bool) -> None:
        text = passage.text[:LONGEST_READ]
        text = live_text(text) if "```" in text or "~~~" in text else text
        occurrences = self.names.occurrences(text)
        by_name: dict[str, Mention] = {}
        mentions: dict[str, Mention] = {}
        for one in occurrences:
            mention = self.names.mention(one)
            if one.mention.name.casefold() in self._participants and not mention.known:
                continue
            by_name[one.mention.name] = mention
            if mention.entity not in mentions:
                mentions[mention.entity] = mention
                self._note(at, mention)
        if not mentions:
            return
        self.connections.together(at, tuple(mentions.values()))
        own = _mention_of(voice)
        by_name.setdefault(voice.label, own)
        for told in find_relations(text, occurrences, voice.label, own=self._own_verbs):
            left, right = by_name.get(told.from_), by_name.get(told.to)
            if left is not None and right is not None:
                start = (right if left is own else left).start
                self.connections.state(at, start, left, told.relation, right, explicit=explicit)

    def _note(self, at: int, mention: Mention) -> None:
        found = self.found
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
                    text = f"{voice.name} has {article} {one.kin} called {one.name}"
                    self._say(at, passage, _mention_of(voice), text, quote, "pet")
                else:
                    self._read_relative(at, passage, voice, one, quote, sentence.start)
        return told

    def _read_relative(
        self, at: int, passage: Passage, voice: Voice, one: Relative, quote: str, offset: int
    ) -> None:
        record = self.names.record(one.name)
        entity = record.id.removeprefix("entity:") if record else entity_id("person", one.name).name
        if entity == voice.entity:
            return
        label = record.label if record else one.name
        mention = Mention(entity, label, "person", record is not None, offset + one.start, True)
        self.found.relatives.setdefault(entity, mention)
        self._note(at, mention)
        age = f" (as of {passage.day})" if "-old" in one.kin and passage.day else ""
        text = f"{one.name} is {voice.name}’s {one.kin}{age}"
        self._say(at, passage, mention, text, quote, "family")
        self.connections.state(
            at, mention.start, mention, GENERAL, _mention_of(voice), explicit=True, why=f"{text}."
        )

    def _say(self, at: int, passage: Passage, about: Mention, text: str, quote: str, kind: str) -> None:
        self.found.statements.append(
            Candidate(
                at, about.entity, about.label, text, quote, kind, _RELATIVE, terms_of(text), passage.day
            )
        )


def _mention_of(voice: Voice) -> Mention:
    return Mention(voice.entity, voice.label, "person", voice.known, 0, True)
