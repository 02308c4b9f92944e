"""What a text states: its sentences as facts, each with its entity, and the relations between the names in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine.language.denials import is_denied_next
from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.live_text import PUNCTUATION, sentences
from workbench.engine.triggers.model import EntityMention, FactStatement, RelationMention
from workbench.engine.triggers.phrases import RelationCue, routing_cues
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.triggers.mentions import Occurrence

_LONGEST_STATEMENT = 1_000
_MOST_RELATIONS = 40
_GAP = 80

# Relations whose subject goes without saying: “Chose SQLite”, “Prefer tabs”.
_SUBJECTLESS = frozenset({"decided-on", "prefers", "avoids", "uses"})
# What a person decides on or uses “for project X” is the project’s.
_OF_PROJECTS = frozenset({"decided-on", "uses", "depends-on"})

_SWITCHED = lazy_pattern(
    r"\b(?:switch|mov|migrat|chang|port)(?:ed|es|e|s|ing)?\b(?P<what>[^.;]{0,60}?)"
    r"\bfrom (?P<old>(?:[^.;]|\.(?=\w)){1,60}?) (?:in)?to (?P<new>(?:[^.;]|\.(?=\w)){1,60})"
    r"|[从從](?P<zh_old>.{1,30}?)(?:迁移|遷移|切换|切換|换|換|改|转|轉|搬|迁|遷)(?:到|成|为|為|用)(?P<zh_new>.{1,30})",
    re.IGNORECASE,
)
_COMPARED = lazy_pattern(
    r"\s+(?:over|rather than|instead of|because|when|if|for|in|at|before|after|but|so|since|than|as|while|until|to)\b.*"
    r"|[,;:!?(\n。].*|(?:胜过|勝過|而不是|因为|因為|来|來).*",
    re.IGNORECASE | re.DOTALL,
)
_FAR = lazy_pattern(
    r"\s+(?:where|which|that|who|so|because|using|but|while|when|if|(?:and|where) (?:i|we|you|he|she|they))\b.*"
    r"|[,;:!?(\n。].*",
    re.IGNORECASE | re.DOTALL,
)
_AT_AN_END = lazy_pattern(
    r"`?\s*(?:$|[.,;:!?)'、,。]|(?:and|or|for|in|with|since|at|on|as|by|from|until|to)\b"
    r"|(?:topic|service|tool|program|package|plugin|library|repo|repository|bot|server|app)\b)",
    re.IGNORECASE,
)
_LISTED = lazy_pattern(
    r"\s*(?:,\s*(?:and|or)?|and|&|as well as|、|和|与|與|跟|以及)\s*(?:the\s+|also\s+)?", re.IGNORECASE
)
_CONTINUED = lazy_pattern(r"[\s,;]*(?:(?:and|but|or|then|also|it|they|并|並|而且|也)[\s,]*)*$", re.IGNORECASE)
_WHICH = lazy_pattern(r"\b(?:which|that|who)\s+(?:\w+\s+)?$", re.IGNORECASE)
_OWN_VERB = lazy_pattern(
    r"(?:^|[\s,;])(?:i|we|i'm|we're|i've|we've)\s+(?:\w+\s+){0,2}$|我们?$|我們$", re.IGNORECASE
)
_MOST_SENTENCES = 200

FIRST_PERSON = lazy_pattern(
    r"^\W*(?:(?:and|but|so|also|actually|please)[, ]+)?(?:i|i'm|i've|i'd|i'll|my|me|we|we're|we've|our)\b"
    r"|^\W*(?:我们|我們|我)",
    re.IGNORECASE,
)
PRONOUN = lazy_pattern(
    r"^\W*(?:she|he|it|they|her|his|their|its|this|that)\b|^\W*(?:他|她|它|这|這)", re.IGNORECASE
)
PREPOSITION = lazy_pattern(
    r"\b(?:of|from|at|in|on|for|with|to|by|via|about|after|before|during|since)\s+(?:the\s+)?$|[在从從对對]$"
)
_MINE = lazy_pattern(r"\W*(?:my|our|我)", re.IGNORECASE)


@dataclass(frozen=True)
class _Verb:
    start: int
    end: int
    cue: RelationCue


def find_relations(
    text: str,
    occurrences: Sequence[Occurrence],
    owner: str,
    *,
    topic: EntityMention | None = None,
    own: Sequence[str],
) -> tuple[RelationMention, ...]:
    """Return the relations a text states between names, each once.

    Args:
        text: One memory.
        occurrences: What it names, and where.
        owner: The name behind “I”, “we” and “my”; may be an end of relations without being named.
        topic: What the text is about, for sentences that say “it”.
        own: Relations of the workspace beyond those of design document §6.3, whose names are read as verbs.
    """
    relations: dict[RelationMention, None] = {}
    person = EntityMention(owner, "person")
    cues = (*routing_cues().relations, *(_own_cue(name) for name in own))

    def relate(left: EntityMention, relation: str, right: EntityMention) -> None:
        if left.name.casefold() != right.name.casefold() and len(relations) < _MOST_RELATIONS:
            relations[RelationMention(left.name, relation, right.name)] = None

    for statement in statements(text, occurrences):
        if len(statement.plain) > _LONGEST_STATEMENT or not statement.occurrences or statement.question:
            continue
        reader = _Reader(statement, person, topic, cues)
        if not reader.read_switch(relate):
            reader.read_verbs(relate)
        topic = statement.occurrences[0].mention if not PRONOUN.match(statement.plain) else topic
    return tuple(relations)


_Relate = Callable[[EntityMention, str, EntityMention], None]


@dataclass(frozen=True)
class _Reader:
    statement: Statement
    owner: EntityMention
    topic: EntityMention | None
    cues: Sequence[RelationCue]

    def read_switch(self, relate: _Relate) -> bool:
        """Read “moved (A) from X to Y”: Y supersedes X, and A uses it."""
        match = _SWITCHED.search(self.statement.plain)
        if match is None:
            return False
        groups = ("old", "new") if match["new"] else ("zh_old", "zh_new")
        old, new = (self._first(*match.span(group)) for group in groups)
        if old is None or new is None:
            return False
        things = ("tool", "concept", "project")
        if old.mention.type in things and new.mention.type in things:
            relate(new.mention, "supersedes", old.mention)
            moved = self._first(*match.span("what")) if match["what"] else None
            moved = moved or self._first(0, match.start())
            if moved is not None and moved.mention.type in things:
                relate(moved.mention, "uses", new.mention)
        return True

    def read_verbs(self, relate: _Relate) -> None:
        plain, last = self.statement.plain, 0
        subjects: tuple[EntityMention, ...] = ()
        verbs = self._verbs()
        for number, verb in enumerate(verbs):
            until = verbs[number + 1].start if number + 1 < len(verbs) else len(plain)
            continued = number > 0 and _CONTINUED.fullmatch(plain, last, verb.start) is not None
            subjects = subjects if continued else self._subjects(verb)
            last = verb.end
            if is_denied_next(plain[max(0, verb.start - 24) : verb.start]):
                continue
            objects = self._objects(verb, until)
            if objects:
                last = objects[-1].end
            for left in self._on_behalf(verb, subjects):
                for right in objects:
                    if verb.cue.passive:
                        self._relate_typed(relate, right.mention, verb.cue, left)
                    else:
                        self._relate_typed(relate, left, verb.cue, right.mention)

    def _relate_typed(
        self, relate: _Relate, left: EntityMention, cue: RelationCue, right: EntityMention
    ) -> None:
        if (not cue.of or left.type in cue.of) and (not cue.to or right.type in cue.to):
            relate(left, cue.relation, right)

    def _verbs(self) -> list[_Verb]:
        """Return the verbs of the sentence that state a relation, in order, overlapping ones once."""
        found = sorted(
            (
                _Verb(match.start(), match.end(), cue)
                for cue in self.cues
                for match in cue.verbs.finditer(self.statement.plain)
                if not self._within_a_name(match.start(), match.end())
            ),
            key=lambda verb: (verb.start, -verb.end),
        )
        kept: list[_Verb] = []
        for verb in found:
            if not kept or verb.start >= kept[-1].end:
                kept.append(verb)
        return kept

    def _within_a_name(self, start: int, end: int) -> bool:
        return any(one.start <= start and end <= one.end for one in self.statement.occurrences)

    def _subjects(self, verb: _Verb) -> tuple[EntityMention, ...]:
        plain = self.statement.plain
        before = [one for one in self.statement.occurrences if one.end <= verb.start]
        if _OWN_VERB.search(plain[max(0, verb.start - 40) : verb.start]):
            return (self.owner,)
        if not before:
            return self._unnamed_subject(plain[: verb.start], verb.cue)
        chosen = before[-1]
        if not _WHICH.search(plain[: verb.start]):
            free = [one for one in before if not self._after_preposition(one)]
            if not free and plain[verb.start : verb.end].casefold().endswith("ing"):
                # “Implement this in SQLite using Python”: who implements it uses it.
                return self._unnamed_subject(plain[: verb.start], verb.cue)
            chosen = free[-1] if free else chosen
        after = plain[chosen.end : verb.start]
        if len(after) > _GAP or (chosen.mention.type == "person" and after.startswith("'s")):
            # “Sam’s team uses …” says nothing of Sam.
            return ()
        return tuple(one.mention for one in self._listed_with(chosen, before))

    def _unnamed_subject(self, before: str, cue: RelationCue) -> tuple[EntityMention, ...]:
        if PRONOUN.match(before) and self.topic is not None:
            return (self.topic,)
        if FIRST_PERSON.match(before) or (not before.strip() and cue.relation in _SUBJECTLESS):
            return (self.owner,)
        return ()

    def _on_behalf(self, verb: _Verb, subjects: tuple[EntityMention, ...]) -> tuple[EntityMention, ...]:
        """Let what the owner decides on or uses for a project be the project’s."""
        if subjects != (self.owner,) or verb.cue.relation not in _OF_PROJECTS:
            return subjects
        projects = [one.mention for one in self.statement.occurrences if one.mention.type == "project"]
        return tuple(projects[:1]) or subjects

    def _objects(self, verb: _Verb, until: int) -> list[Occurrence]:
        plain = self.statement.plain
        inside = [o for o in self.statement.occurrences if verb.start <= o.start and o.end <= verb.end]
        if inside:
            return inside[:1]
        rest = plain[verb.end : until]
        limit = verb.end + len((_FAR if verb.cue.loose else _COMPARED).sub("", rest))
        after = [one for one in self.statement.occurrences if one.start >= verb.end and one.start < limit]
        if not after or after[0].start - verb.end > _GAP:
            return []
        # Who works on a GitHub pull request does not develop GitHub.
        of_tool = verb.cue.relation == "develops" and after[0].mention.type == "tool"
        if of_tool and not _AT_AN_END.match(plain, after[0].end):
            return []
        objects = [after[0]]
        for one in self.statement.occurrences:
            if (
                one.start > objects[-1].end
                and one.end <= until
                and _joins(plain[objects[-1].end : one.start])
            ):
                objects.append(one)
        return objects

    def _listed_with(self, chosen: Occurrence, before: Sequence[Occurrence]) -> list[Occurrence]:
        listed = [chosen]
        for one in reversed(before):
            if one.end <= listed[0].start and _joins(self.statement.plain[one.end : listed[0].start]):
                listed.insert(0, one)
        return listed

    def _after_preposition(self, occurrence: Occurrence) -> bool:
        return bool(
            PREPOSITION.search(self.statement.plain[max(0, occurrence.start - 12) : occurrence.start])
        )

    def _first(self, start: int, end: int) -> Occurrence | None:
        inside = (one for one in self.statement.occurrences if start <= one.start < end)
        return next(inside, None)


def _joins(between: str) -> bool:
    return _LISTED.fullmatch(between) is not None


@cache
def _own_cue(name: str) -> RelationCue:
    """Read a relation of the workspace’s own as a verb: `serves` is stated by serve, serves and served."""
    first, *rest = name.split("-")
    stem = re.sub(r"(?:es|s|ed|e)$", "", first) if len(first) > 3 else first
    words = "".join(rf"\ {re.escape(word)}" for word in rest)
    verbs = re.compile(rf"\b{re.escape(stem)}(?:e|es|s|ed|d|ing)?\b{words}", re.IGNORECASE)
    return RelationCue(name, verbs, loose=True)


@dataclass(frozen=True)
class Statement:
    """One sentence of a text.

    Args:
        plain: Its characters, full-width punctuation made ASCII; as long as in the text.
        text: It as one line that can be read alone.
        occurrences: The names in it; their places count from its beginning.
        question: Whether it asks rather than says.
    """

    plain: str
    text: str
    occurrences: tuple[Occurrence, ...]
    question: bool = False


def statements(text: str, occurrences: Sequence[Occurrence]) -> Iterator[Statement]:
    """Yield the first 200 sentences of a text with the names in them."""
    from workbench.engine.triggers.mentions import Occurrence

    plain = text.translate(PUNCTUATION)
    for each in islice(sentences(plain), _MOST_SENTENCES):
        line = " ".join(text[each.start : each.end].split()).lstrip("-*• ").rstrip(" .。;")
        if line:
            inside = tuple(
                Occurrence(one.start - each.start, one.end - each.start, one.mention)
                for one in occurrences
                if each.start <= one.start and one.end <= each.end
            )
            yield Statement(plain[each.start : each.end], line, inside, each.question)


def split_facts(
    text: str, occurrences: Sequence[Occurrence], owner: str, topic: str | None
) -> tuple[FactStatement, ...]:
    """Return a text’s sentences, each with the entity it is about.

    Args:
        text: One memory.
        occurrences: What it names, and where.
        owner: The name behind “I” and “my”.
        topic: What it is about where a sentence does not say.

    Returns:
        Every sentence of the text (of its first 200). One that begins with a pronoun is about the same as
        the one before.
    """
    facts: list[FactStatement] = []
    previous = topic
    for statement in statements(text, occurrences):
        subject = _subject(statement)
        if PRONOUN.match(statement.plain) and previous:
            subject = previous
        elif FIRST_PERSON.match(statement.plain):
            # “My sister’s name is Marta” says more of Marta than of the speaker.
            persons = (o.mention.name for o in statement.occurrences if o.mention.type == "person")
            named = next(persons, None)
            subject = named if named and _MINE.match(statement.plain) else owner
        facts.append(FactStatement(subject or previous, statement.text))
        previous = subject or previous
    return tuple(facts)


def _subject(statement: Statement) -> str | None:
    """Return the first name that no preposition leads to, or else the first."""
    for occurrence in statement.occurrences:
        if not PREPOSITION.search(statement.plain[max(0, occurrence.start - 12) : occurrence.start]):
            return occurrence.mention.name
    return statement.occurrences[0].mention.name if statement.occurrences else None
