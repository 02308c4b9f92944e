"""Reads passages one after the other and keeps what they say: statements, names, relatives and how these are joined.

Notes state something of somebody named: “User lives in Lisbon”, “Ana moved to Porto”. An owner states the numbers,
days and names of his work and home. Family, friends and pets are introduced: “my sister Ines”.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.identifiers import entity_id
from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.candidates import Acquaintance, Candidate, candidates, own_part
from workbench.engine.reflection.extraction.connections import Connections, Naming
from workbench.engine.reflection.extraction.lasting import standing_of
from workbench.engine.reflection.extraction.naming import Mention, Names, Voice, Voices
from workbench.engine.reflection.extraction.relatives import Relative, relatives
from workbench.engine.reflection.extraction.retelling import leaves_i_out, own_words, tell, with_i
from workbench.engine.reflection.extraction.stated import is_concrete, particulars, stated
from workbench.engine.reflection.extraction.ties import Ties
from workbench.engine.reflection.extraction.worth import (
    LEAST,
    features_of,
    is_ones_own,
    terms_of,
    worth_of,
)
from workbench.engine.triggers.live_text import live_text
from workbench.engine.triggers.phrases import routing_cues
from workbench.engine.triggers.relations import find_relations
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.model import Passage, Snapshot

LONGEST_READ: Final = 20_000
"""Characters of a passage that are searched for names."""
_FIRST_NAME: Final = lazy_pattern(r"(?P<name>[A-Z][\w-]+)(?:['’]s|:)? [a-z]")
_RELATIVE: Final = 6.0
# The relations whose verbs the triggers know (design document §6.3); others are read by their names.
_KNOWN_VERBS: Final = frozenset(
    (
        "develops", "uses", "used-by", "part-of", "contains", "depends-on", "decided-on", "supersedes",
        "preceded-by", "followed-by", "prefers", "avoids", "confident-about", "uncertain-about", "relates-to",
    )
)  # fmt: skip
# A note is written to be read again.
_WRITTEN: Final = 0.8
_SHORTEST: Final = 10
_LONGEST: Final = 320
_USER = lazy_pattern(r"(?:the )?user(?P<own>['’]s)?\s+(?=\w)", re.IGNORECASE)
_BEFORE_NAME = lazy_pattern(r"(?:the |project |our )*", re.IGNORECASE)
_SAYS = lazy_pattern(r"(?:['’]s\s+[\w-]+)?\s+(?:project\s+|team\s+)?[a-z][\w'’-]+")
_NAMED_TYPES: Final = frozenset(("person", "project", "tool", "concept", "place"))
KIND: Final = "circumstance"
_WORTH: Final = 3.4
_PER_WORD: Final = 0.25
_MOST_WORDS: Final = 4
_DATED: Final = 0.4
_FEWEST_WORDS: Final = 2
_ARTICLE: Final = lazy_pattern(r"^(?:the|our|my|an?)\s+", re.IGNORECASE)
_LABELLED: Final = lazy_pattern(
    r"(?P<label>(?!(?:TODO|Todo|To do|Note|Idea|Maybe|Question|Q|A|Link|See|Source|Log|Error|Warning|Example)\b)"
    r"[A-Z][^\W\d_]*(?:[ ’'-][^\W\d_]+){0,3}):\s+(?P<says>[^?:|<>={}]{6,160}(?::\d\d[^?:|<>={}]{0,80})?)"
)
_BEGINS_ABOUT: Final = ("person", "project")


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
        self._ties = Ties()
        self._called: set[tuple[str, str]] = set()
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
        if passage.speaker:
            meant.extend(self._ties.read(at, passage, voice))
        if not passage.type:
            meant.extend(candidates(at, passage, voice, self._participants, self._acquainted))
            if not passage.speaker and not explicit:
                meant.extend(noted(at, passage, voice, self.names))
            if voice.is_owner:
                meant.extend(circumstances(at, passage, voice, self.names, [one.quote for one in meant]))
        found.statements.extend(
            one
            for one in meant
            if not any(name in one.text and one.terms <= said for name, said in told.items())
        )
        # What is written down without a speaker is a note, meant to be read again.
        self._read_names(at, passage, voice, explicit=explicit or not passage.speaker)

    def settle(self) -> None:
        """Once all is read, add persons known only by what they do, and those whom speakers have."""
        self.found.statements.extend(self._ties.told(self._called))
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
                # “I'm working on my Flask app”: what is made is the app, and Flask is used for it.
                made_with = told.relation == "develops" and right.type == "tool" and not right.known
                relation = "uses" if made_with else told.relation
                self.connections.state(at, start, left, relation, right, explicit=explicit)

    def _note(self, at: int, mention: Mention) -> None:
        found = self.found
        found.where.setdefault(mention.entity, at)
        if mention.known:
            found.known.setdefault(mention.entity, mention)
        else:
            found.named.setdefault(mention.entity, Naming(mention)).add(at, mention)

    def _read_relatives(self, at: int, passage: Passage, voice: Voice) -> dict[str, frozenset[str]]:
        """Take in whom a passage names as the speaker’s own; return the names with the telling words that do so."""
        told: dict[str, frozenset[str]] = {}
        for sentence in sentences(passage.text):
            for one in relatives(sentence.text, self._participants):
                quote = sentence.text[one.start : one.end]
                told[one.name] = terms_of(quote)
                self._called.add((voice.entity, one.kin))
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
        on = f" (as of {passage.day})" if ("-old" in one.kin or one.age) and passage.day else ""
        old = f", {one.age} old" if one.age else ""
        text = f"{one.name} is {voice.name}’s {one.kin}{old}{on}"
        self._say(at, passage, mention, text, quote, "family")
        # No relation: the vocabulary (design document §6.3) has no kinship, and “relates to” only repeats the fact.

    def _say(self, at: int, passage: Passage, about: Mention, text: str, quote: str, kind: str) -> None:
        self.found.statements.append(
            Candidate(
                at, about.entity, about.label, text, quote, kind, _RELATIVE, terms_of(text), passage.day
            )
        )


def _mention_of(voice: Voice) -> Mention:
    return Mention(voice.entity, voice.label, "person", voice.known, 0, True)


def noted(at: int, passage: Passage, voice: Voice, names: Names) -> Iterator[Candidate]:
    """Yield what a note, which nobody speaks, states of its owner or of what it names first.

    Args:
        at: Index of the passage.
        passage: Without a speaker and without a type.
        voice: The owner.
        names: Tells the entities that a sentence names.
    """
    said = passage.moment.date() if passage.moment else None
    for sentence in sentences(passage.text):
        line = " ".join(sentence.text.split()).rstrip(" .。!")
        if not _SHORTEST <= len(line) <= _LONGEST or is_ones_own(line):
            continue
        told = _about_owner(line, voice) or _about_named(line, names)
        if told is None:
            continue
        about, own = told
        worth = worth_of(own, known=True)
        in_full = tell(own, voice.name, said)
        if in_full.text and worth.value + _WRITTEN >= LEAST:
            yield Candidate(
                at,
                about.entity,
                about.label,
                in_full.text,
                sentence.text,
                worth.kind,
                worth.value + _WRITTEN,
                worth.terms,
                in_full.day or passage.day,
                in_full.dated,
            )


def _about_owner(line: str, voice: Voice) -> tuple[Acquaintance, str] | None:
    owner = Acquaintance(voice.entity, voice.label)
    user = _USER.match(line)
    if user:
        return owner, f"{voice.name}{'’s' if user['own'] else ''} {line[user.end() :]}"
    if leaves_i_out(line):
        return owner, own_words(with_i(line), elliptic=False)
    return None


def _about_named(line: str, names: Names) -> tuple[Acquaintance, str] | None:
    """Return the entity that a line begins by naming and then says something of."""
    begin = _BEFORE_NAME.match(line)
    start = begin.end() if begin else 0
    for mention in names.in_text(line):
        if (
            mention.start <= start
            and mention.type in _NAMED_TYPES
            and (mention.known or mention.type in ("person", "project"))
        ):
            named = line[mention.start :]
            end = len(mention.label) if named.startswith(mention.label) else named.find(" ")
            if end > 0 and _SAYS.match(named, end):
                return Acquaintance(mention.entity, mention.label), line
    return None


def circumstances(
    at: int, passage: Passage, voice: Voice, names: Names, said_already: Sequence[str]
) -> Iterator[Candidate]:
    """Yield what the owner states of things that a clause names itself.

    They are worth less than what somebody says of himself, so that they come after it where there is no room for both.

    Args:
        at: Index of the passage.
        passage: Of the owner: a message, or a note without a speaker.
        voice: The owner.
        names: Tells the entities that a clause names.
        said_already: The words of the passage that other statements quote.
    """
    labelled = None if passage.speaker else _labelled(at, passage, voice)
    if labelled is not None:
        yield labelled
        return
    said = passage.moment.date() if passage.moment else None
    for sentence in sentences(passage.text):
        for one in particulars(sentence.text):
            quote = sentence.text[one.start : one.end]
            if any(quote in other or other in quote for other in said_already):
                continue
            own = own_words(quote, elliptic=False)
            told = tell(own[:1].upper() + own[1:], voice.name, said)
            terms = terms_of(own)
            if not told.text or len(terms) < _FEWEST_WORDS:
                continue
            entity, label = _about(one.subject, voice, names)
            value = _WORTH + _PER_WORD * min(_MOST_WORDS, len(terms)) + _DATED * told.dated
            day = told.day or passage.day
            subject = _ARTICLE.sub("", one.subject)
            yield Candidate(
                at,
                entity,
                label,
                told.text,
                quote,
                KIND,
                value,
                terms,
                day,
                told.dated,
                subject=subject,
                features=(
                    *features_of(own, KIND, joint=False, dated=told.dated, asks=True),
                    standing_of(own, KIND),
                )
                if passage.speaker
                else (),
            )


def _labelled(at: int, passage: Passage, voice: Voice) -> Candidate | None:
    """Return what a line of notes says behind its label: “Boiler: serviced by Kessler, 129 euros”."""
    line = " ".join(passage.text.split()).rstrip(" .")
    found = _LABELLED.fullmatch(line)
    if found is None or not is_concrete(found["says"]) or tell(line, voice.name, None).text != line:
        return None
    terms = terms_of(line)
    if len(terms) < _FEWEST_WORDS:
        return None
    value = _WORTH + _PER_WORD * min(_MOST_WORDS, len(terms))
    quote = passage.text.strip()
    return Candidate(
        at, voice.entity, voice.label, line, quote, KIND, value, terms, passage.day, subject=found["label"]
    )


def _about(subject: str, voice: Voice, names: Names) -> tuple[str, str]:
    """Return whom or what a subject names: an entity of the graph, a person, a project; else the owner."""
    mentions: tuple[Mention, ...] = names.in_text(subject) if subject else ()
    for mention in mentions:
        if mention.known or (mention.type in _BEGINS_ABOUT and subject.endswith(mention.label)):
            return mention.entity, mention.label
    return voice.entity, voice.label


_DOER: Final = r"[A-Z][a-zà-ÿ]{2,20}"
# In “the code of Orchid lives in …” it is the code that lives there: a name after a preposition does nothing.
_GOVERNED: Final = "".join(rf"(?<!\b{word} )" for word in ("of", "for", "from", "in", "at", "on", "with"))
_DOES = lazy_pattern(
    rf"(?<![\w-]){_GOVERNED}(?P<name>{_DOER})\s+(?:(?:also|really|now|always)\s+)?(?:wears|prefers|likes|loves|hates|wants|asked|said|says"
    r"|told|thinks|reads|drives|lives|leads|studies|practi[sc]es|threw|bought|complained|suggested|insists"
    r"|is (?:allergic|team lead|moving|leaving|pregnant|her|his|my|our)|goes on (?:\w+ )?leave"
    r"|broke (?:his|her)|got (?:his|her)"
    r"|will (?:write|take|deliver|send|call|ask)|would like|works (?:at|as|for))\b"
)
_WITHIN = lazy_pattern(rf"(?<=[a-z,;:] )(?P<name>{_DOER})\b")
_LONGEST_PASSAGE: Final = 8_000


class Persons:
    """Collects names that do what only persons do; one seen but at the beginning of sentences may be any word."""

    def __init__(self) -> None:
        self._does: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._within: set[str] = set()

    def read(self, at: int, text: str) -> None:
        """Take in a passage of the owner’s.

        Args:
            at: Its index.
            text: What it says.
        """
        text = text[:_LONGEST_PASSAGE]
        self._within.update(found["name"] for found in _WITHIN.finditer(text))
        for found in _DOES.finditer(text):
            self._does[found["name"]].append((at, found.start("name")))

    def named(self) -> Iterator[tuple[int, Mention]]:
        """Yield each place where a person is told by what it does: index of the passage, and whom it names."""
        ordinary = routing_cues().words["no_names"]
        for name, places in self._does.items():
            folded = name.casefold()
            if name not in self._within or folded in ordinary or folded in STOP_WORDS:
                continue
            entity = entity_id("person", name).name
            for at, start in places:
                yield at, Mention(entity, name, "person", False, start, marked=False)
