"""Reads every claim that a cycle may compare: of the new passages, of older ones near them, and of recorded facts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import stem
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.choice_patterns import (
    PATTERNS,
    PREFERS,
    STOPPED,
    SWITCHED,
)
from workbench.engine.reflection.claims.clauses import Mode, clauses_of
from workbench.engine.reflection.claims.deeds import deeds
from workbench.engine.reflection.claims.denials import denials, telling
from workbench.engine.reflection.claims.measuring import measured
from workbench.engine.reflection.claims.model import Choice, Origin, Span
from workbench.engine.reflection.claims.occupants import occupants
from workbench.engine.reflection.claims.stances import stances
from workbench.engine.reflection.claims.stating import speaker_key
from workbench.engine.reflection.claims.vocabulary import CLEAR_CHANGE, FAINT_CHANGE
from workbench.engine.reflection.claims.weights import Weights
from workbench.engine.reflection.english import words
from workbench.engine.reflection.model import Passage
from workbench.engine.search.chunks import AGENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.reflection.claims.clauses import Clause
    from workbench.engine.reflection.claims.model import Deed, Denial, Measured
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.work import Work

_NO_FAVOURITE = words("part memory thing moment way time one feature aspect pastime")


def choices(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    """Yield the choices that a clause states; at most one.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if clause.asked:
        return
    for kind, pattern in PATTERNS:
        found = pattern.search(clause.text)
        if found is None or clause.mode_at(clause.start + found.start()) is Mode.SUPPOSES:
            continue
        chosen, against = _stems(clause, found, "chosen"), _stems(clause, found, "against")
        about = _stems(clause, found, "about")
        if about & _NO_FAVOURITE or not (chosen or against):
            return
        change = 2 if CLEAR_CHANGE.search(clause.text) or kind in (SWITCHED, STOPPED) else 0
        change = change or (1 if FAINT_CHANGE.search(clause.text) else 0)
        verb = frozenset((stem(found["verb"].casefold()),)) if kind == STOPPED else frozenset()
        rest = telling([t for t in clause.tokens if t.start >= clause.start + found.end()])
        span = Span(clause.start, clause.end, clause.start + found.start())
        yield Choice(
            origin, kind, chosen, against, about or (rest if kind == PREFERS else verb), change, span
        )
        return


def _stems(clause: Clause, found: re.Match[str], group: str) -> frozenset[str]:
    if group not in found.re.groupindex or found[group] is None:
        return frozenset()
    start, end = clause.start + found.start(group), clause.start + found.end(group)
    return telling([token for token in clause.tokens if start <= token.start and token.end <= end])


MOST_LOOK_UPS: Final = 48
"""Questions to `Snapshot.earlier` in one cycle: the telling claims of the newest passages come first."""
_NEAR: Final = 6
# Of one passage; a passage with more is a report, not talk.
_MOST_VALUES: Final = 150
_MOST_ENTITIES: Final = 60
_MOST_FACTS: Final = 400
_REPORT_EVERY: Final = 200
_LONGEST_QUESTION: Final = 200
_NAME = lazy_pattern(r"\b[A-Z][\w+#-]{2,}")


@dataclass
class Claims:
    """All claims, each kind oldest first, with the weights of their words."""

    measured: list[Measured] = field(default_factory=list)
    denials: list[Denial] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    documents: list[frozenset[str]] = field(default_factory=list)
    owner: str = ""

    def read(self, origin: Origin) -> None:
        """Add what a passage claims."""
        clauses = clauses_of(origin.passage.text)
        self.documents.append(frozenset(token.stem for clause in clauses for token in clause.tokens))
        values = [value for number in range(len(clauses)) for value in measured(clauses, number, origin)]
        self.measured.extend(values[:_MOST_VALUES])
        for number in range(len(clauses)):
            for denial in denials(clauses, number, origin):
                self.denials.append(replace(denial, origin=self._of_owner(denial.origin)))
            for deed in deeds(clauses, number, origin):
                self.deeds.append(replace(deed, origin=self._of_owner(deed.origin)))
            self.choices.extend(tuple(choices(clauses, number, origin)) or occupants(clauses, number, origin))
            self.choices.extend(stances(clauses, number, origin))

    def _of_owner(self, origin: Origin) -> Origin:
        """Return what is said of the owner by name as what the owner says."""
        owner = self.owner.casefold()
        if not origin.subject or origin.speaker not in (owner, *owner.split()[:1]):
            return origin
        return replace(origin, speaker="", subject="")

    @property
    def weights(self) -> Weights:
        """Return how much each word tells among all that was read."""
        return Weights(self.documents)

    def in_order(self) -> Claims:
        """Return the same claims, each kind oldest first."""
        return Claims(
            sorted(self.measured, key=lambda claim: claim.origin.order),
            sorted(self.denials, key=lambda claim: claim.origin.order),
            sorted(self.deeds, key=lambda claim: claim.origin.order),
            sorted(self.choices, key=lambda claim: claim.origin.order),
            self.documents,
            self.owner,
        )


def read_claims(snapshot: Snapshot, work: Work) -> Claims:
    """Return what people claim in all that this cycle may compare.

    What an assistant says is no claim of a person. Older passages are asked for at most 48 times, 6 each; facts
    are those of at most 60 entities that the new passages name or whose speakers they are, 400 in all.

    Args:
        snapshot: What the cycle looks at.
        work: Told of progress; may call it off.
    """
    claims = Claims(owner=snapshot.owner)
    spoken = [passage for passage in snapshot.passages if passage.speaker.casefold() not in AGENT]
    for number, passage in enumerate(spoken):
        if number % _REPORT_EVERY == 0:
            work.step(number, len(spoken))
        claims.read(_origin(passage, number + 1, snapshot.owner))
    known = {passage.id for passage in spoken}
    older = [p for p in _older(snapshot, claims, work) if p.id not in known]
    older.sort(
        key=lambda passage: (passage.moment is not None, passage.moment and passage.moment.timestamp())
    )
    for number, passage in enumerate(older):
        claims.read(_origin(passage, number - len(older), snapshot.owner, is_new=False))
    for origin in _facts(snapshot, spoken, -len(older)):
        claims.read(origin)
    return claims.in_order()


def _origin(passage: Passage, order: int, owner: str, *, is_new: bool = True) -> Origin:
    return Origin(passage, order, speaker_key(passage.speaker, owner), is_new=is_new)


def _older(snapshot: Snapshot, claims: Claims, work: Work) -> Iterator[Passage]:
    """Yield older passages of people near the claims that tell of a change or deny something."""
    asked: dict[str, None] = {}
    for denial in reversed(claims.denials):
        asked.setdefault(denial.origin.passage.text[denial.span.start : denial.span.end][:_LONGEST_QUESTION])
    for choice in reversed(claims.choices):
        asked.setdefault(choice.origin.passage.text[choice.span.start : choice.span.end][:_LONGEST_QUESTION])
    for change in (2, 1, 0):
        for claim in reversed(claims.measured):
            if claim.change == change:
                asked.setdefault(
                    claim.origin.passage.text[claim.span.start : claim.span.end][:_LONGEST_QUESTION]
                )
    found: set[str] = set()
    for question in list(asked)[:MOST_LOOK_UPS]:
        work.check()
        for passage in snapshot.earlier(question, _NEAR):
            if passage.id not in found and passage.speaker.casefold() not in AGENT:
                found.add(passage.id)
                yield passage


def _facts(snapshot: Snapshot, passages: Sequence[Passage], before: int) -> Iterator[Origin]:
    """Yield the standing facts of the speakers and of what is named, each in the form of a passage."""
    today = snapshot.now.date().isoformat()
    standing = [
        (fact, speaker)
        for entity_id, speaker in _entities(snapshot.graph, passages, snapshot.owner)
        for fact in snapshot.graph.facts_of(entity_id)
        if fact.holds(today)
    ][:_MOST_FACTS]
    standing.sort(key=lambda pair: pair[0].since or "")
    for order, (fact, speaker) in enumerate(standing, before - len(standing)):
        since = _moment(fact.since, snapshot.now)
        passage = Passage(fact.id, fact.text, "", fact.line, fact.line, since)
        yield Origin(passage, order, speaker, fact.id, is_new=False)


def _moment(day: str | None, now: datetime) -> datetime | None:
    try:
        return datetime.fromisoformat(day).replace(tzinfo=now.tzinfo) if day else None
    except ValueError:
        return None


def _entities(graph: Lookups, passages: Iterable[Passage], owner: str) -> Iterator[tuple[str, str]]:
    """Yield entity ids with the speaker whose claims they are compared with: the owner's where it is no person.

    First those that the passages name; of a graph of at most 60 entities the others too.
    """
    names: dict[str, str] = {owner: ""} if owner else {}
    for passage in passages:
        if speaker := speaker_key(passage.speaker, owner):
            names.setdefault(passage.speaker, speaker)
    for passage in reversed(list(passages)):
        for name in _NAME.findall(passage.text[:2000]):
            names.setdefault(name, "")
        if len(names) > 20 * _MOST_ENTITIES:
            break
    seen: dict[str, None] = {}
    for name, speaker in names.items():
        entity = graph.named(name)
        if entity is not None and entity.id not in seen:
            seen[entity.id] = None
            yield entity.id, speaker
            if len(seen) == _MOST_ENTITIES:
                return
    every = graph.entities()
    if len(every) <= _MOST_ENTITIES:
        for entity in every:
            if entity.id not in seen:
                yield entity.id, speaker_key(entity.label, owner) if entity.type == "person" else ""
