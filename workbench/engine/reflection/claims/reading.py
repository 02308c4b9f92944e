"""Reads every claim that a cycle may compare: of the new passages, of older ones near them, and of recorded facts.

A stance says that something is so or not of one thing: liked, allowed, there. An occupant has a place that one thing
at a time has: the tool for a task, the person in a role, a thing's home. Of each claim, a sentence says what it says
and whom or what it is about, and the words that say it are quoted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import stem
from workbench.engine.identifiers import slug
from workbench.engine.language.calendar import ENGLISH_MONTH_IN_FULL, ENGLISH_WEEKDAY
from workbench.engine.language.sentences import asks
from workbench.engine.markdown.review import Evidence
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.chinese import changes
from workbench.engine.reflection.claims.clauses import Mode, asserts, begin_of, clauses_of, without_lead
from workbench.engine.reflection.claims.deeds import deeds, denials, denies, of_whom, telling
from workbench.engine.reflection.claims.likely import said_in
from workbench.engine.reflection.claims.measuring import measured
from workbench.engine.reflection.claims.model import Choice, Origin, Span, Weights
from workbench.engine.reflection.claims.vocabulary import (
    CHANGE_STEMS,
    CLEAR_CHANGE,
    ENDED,
    FAINT_CHANGE,
    FEELS,
    HOLDS,
    IS,
    OCCUPIES,
    PATTERNS,
    PEOPLE,
    PREFERS,
    SAME_MEANING,
    STOPPED,
    SWITCHED,
)
from workbench.engine.reflection.english import third_person, words
from workbench.engine.reflection.model import Passage
from workbench.engine.reflection.passages import goes_by
from workbench.engine.search.chunks import AGENT, PERSON

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.reflection.claims.chinese import Change
    from workbench.engine.reflection.claims.clauses import Clause, Token
    from workbench.engine.reflection.claims.likely import Said
    from workbench.engine.reflection.claims.model import Deed, Denial, Measured
    from workbench.engine.reflection.model import Snapshot, Work

_NO_FAVOURITE = words("part memory thing moment way time one feature aspect pastime")
YES: Final = frozenset(("yes",))
NO: Final = frozenset(("no",))

_WHO = r"(?:\b(?:i|we)|^(?P<he>(?-i:[A-Z])[\w-]+))"
_ADVERBS = (
    r"(?:(?:really|just|absolutely|always|also|still|now|totally|honestly|simply|actually|usually)\s+)*"
)
_LIKES = lazy_pattern(
    rf"{_WHO}\s+{_ADVERBS}(?:loves?|likes?|enjoys?|adores?)\s+(?P<what>[^.,;!?]+)"
    r"|\b(?:i['’]m|i\s+am)\s+(?:a\s+)?(?:big\s+|huge\s+)?(?:fan\s+of|fond\s+of|into)\s+(?P<what2>[^.,;!?]+)",
    re.IGNORECASE,
)
_DISLIKES = lazy_pattern(
    rf"{_WHO}\s+{_ADVERBS}(?:(?:can['’]?t|can\s*not|cannot)\s+(?:stand|bear)|hates?|dislikes?|detests?"
    r"|(?:do\s*n['’]?t|do\s+not|does\s*n['’]?t)\s+(?:really\s+|even\s+)?(?:like|enjoy))\s+(?P<what>[^.,;!?]+)"
    r"|\b(?:i['’]m|i\s+am)\s+(?:not|no)\s+(?:a\s+)?(?:big\s+|huge\s+)?(?:fan\s+of|fond\s+of|into)\s+(?P<what2>[^.,;!?]+)",
    re.IGNORECASE,
)
_CHINESE_FEELS = lazy_pattern(
    r"我(?:们|家|妈|爸)?(?:还是|一直|现在|比较|很|最|更|特别|真)*(?:(?P<no>不(?:太|怎么)?喜欢|讨厌|受不了)|喜欢)了?(?P<what>[\u3400-\u9fffA-Za-z]{1,10})"
)
_TASTE_OF = lazy_pattern(
    r"^(?:the\s+)?(?:(?:taste|smell|sound|idea|thought|look)\s+of|cooking\s+with|eating|drinking|having|using)\s+",
    re.IGNORECASE,
)
_REST = lazy_pattern(
    r"\s+(?:because|since|when|while|so|but|and|as|for|if|in\s+the|on\s+the|after|before)\b.*", re.IGNORECASE
)
_NOT = lazy_pattern(
    r"\b(?:is|are|am|was|were)\s+(?:\w+\s+)?not\s+|\b(?:is|are|was|were)n['’]?t\s+|['’](?:s|re|m)\s+not\s+"
    r"|\b(?:is|are|there['’]s)\s+no\s+",
    re.IGNORECASE,
)
_IS = lazy_pattern(r"\b(?:is|are|am)\s+|(?<=\w)['’](?:s|re|m)\s+", re.IGNORECASE)
_SUBJECT = lazy_pattern(
    r"(?:here|that|this|it|what|which|how|who|where|these|those|let|i|we|you|one|everything|nothing|something)$",
    re.IGNORECASE,
)
"""What may stand before “is” without saying of what it is so."""
_OF_ONESELF = lazy_pattern(r"(?:an?\s+(?!bit|little|lot|few|couple)|allergic\b)", re.IGNORECASE)
_AFTER_ALL = lazy_pattern(r"\bafter\s+all\b|\bat\s+last\b|\bagain\b|\bmeanwhile\b", re.IGNORECASE)
_LONGEST: Final = 160
_FEWEST: Final = 2
_BEING = lazy_pattern(
    r"\bI(?:['’]m|\s+am)\s+|^(?P<he>(?:the\s+)?user|(?!(?:It|This|That|There|He|She|What|Who|Here|The)\b)(?-i:[A-Z])[\w-]+"
    r"(?:\s(?-i:[A-Z])[\w-]+)?)\s+is\s+",
    re.IGNORECASE,
)
_NOT_ANY_MORE = lazy_pattern(r"(?:not|(?P<longer>no\s+longer))\s+(?:an?\s+)?", re.IGNORECASE)
_ANY_MORE = lazy_pattern(r"\bany\s?(?:more|longer)\b", re.IGNORECASE)
_OCCUPANT = (
    r"(?P<chosen>(?-i:(?:Dr\.?|Mr\.?|Ms\.?|Mrs\.?|Prof\.?)\s+)?(?-i:[A-Z])[\w+#&-]*(?:[ ](?-i:[A-Z])[\w+#&-]*){0,2}"
    r"|(?-i:[a-z]+[A-Z])\w*)"
)
_SLOT = r"(?P<about>(?:(?-i:[A-Z])[\w-]+['’]s\s+)?(?:[a-z][\w-]*\s+){0,4}?[a-z][\w-]*)"
_LAST_SLOT = (
    r"(?P<about>[a-z][\w-]*(?:\s+(?!(?:from|since|as|because|when|while|and|but|in|on|at|with|until|so|now)\b)"
    r"[a-z][\w-]*){0,4})"
)
_THE = r"(?:(?:the|my|our|all|every|all\s+my|all\s+our|each|this)\s+)"
_STATE = (
    r"(?:is|are|was|were|runs?|goes|go|comes?|sits?|lives?|stays?|(?:is|are)\s+(?:now\s+)?(?:kept|done|stored|hosted"
    r"|described|built|written|managed|made|tracked|handled))"
)
_AT = r"(?:in|on|with|by|through|over|via|at|from|out\s+of)\s+(?:the\s+)?"
_SLOT_ADVERBS = r"(?:(?:now|currently|still|all|mostly|actually|today)\s+)*"

_WRITTEN: Final = (
    (
        rf"\b(?:switched|moved|migrated|changed|switching|moving)\s+(?:over\s+)?to\s+{_OCCUPANT}\s+(?:for|as)\s+"
        rf"{_THE}?{_LAST_SLOT}\b"
    ),
    (
        rf"\b(?:moved|switched|migrated|transferred|handed|shifted|ported|moving|switching|migrating)\s+{_THE}?{_SLOT}"
        rf"(?:\s+over)?\s+(?:to|into|onto)\s+(?:the\s+)?{_OCCUPANT}"
    ),
    (
        rf"\b(?:i|we)\s+{_SLOT_ADVERBS}(?:do|write|run|keep|store|track|manage|build|make|draw|host|deploy|handle|test|plan"
        rf"|have)\s+{_THE}?{_SLOT}\s+{_AT}{_OCCUPANT}"
    ),
    (
        rf"\b(?:i|we)(?:['’]re|['’]m|\s+am|\s+are)?\s+{_SLOT_ADVERBS}us(?:e|ing)\s+{_OCCUPANT}(?:\s+v?\d[\w.]*)?\s+(?:for|as)\s+"
        rf"{_THE}?{_LAST_SLOT}\b"
    ),
    (
        rf"^(?:(?:and|but|so)\s+)?{_OCCUPANT}\s+{_SLOT_ADVERBS}(?:is|stays|remains|leads|runs|drives|manages|handles|(?:has\s+)?took"
        rf"\s+over|has\s+taken\s+over)\s+(?:now\s+)?{_THE}{_LAST_SLOT}\b"
    ),
    rf"^(?:(?:and|but|so)\s+)?{_OCCUPANT}\s+{_SLOT_ADVERBS}(?:takes|took|is\s+taking)\s+over\s+{_THE}?{_LAST_SLOT}\b",
    rf"^{_THE}{_SLOT}\s+(?:has\s+|have\s+)?moved\s+to\s+(?:the\s+)?{_OCCUPANT}",
    rf"\b{_THE}(?:new\s+|current\s+)?{_SLOT}\s+{_SLOT_ADVERBS}(?:is|are)\s+{_SLOT_ADVERBS}(?:called\s+|named\s+)?(?:an?\s+)?{_OCCUPANT}",
    rf"(?:^|\b{_THE}|[,:]\s+){_SLOT}\s+{_SLOT_ADVERBS}{_STATE}\s+{_SLOT_ADVERBS}{_AT}{_OCCUPANT}",
)
_CHINESE: Final = (
    (
        r"^(?P<chosen>(?![我你他她它这那])[\u3400-\u9fff]{2,3}|[A-Za-z]\w+)(?:现在|一直)?负责"
        r"(?P<about>[\u3400-\u9fffA-Za-z ]{2,12}?)(?:了|的|工作)*$"
    ),
    (
        r"^(?P<about>[\u3400-\u9fffA-Za-z ]{2,12}?)(?:的工作)?(?:现在|以后|改)?由"
        r"(?P<chosen>[\u3400-\u9fff]{2,3}|[A-Za-z]\w+)来?(?:负责|接手|接管|主管)了?$"
    ),
    (
        r"^(?:现在的?|如今的?)?(?P<about>(?![我你他她它这那今明昨])[\u3400-\u9fff]{2,6}?)(?:现在|最后|已经)?(?:用的是|选的是|选了"
        r"|换成|改成|改用|改为|改铺|是|叫)了?(?P<chosen>[\u3400-\u9fffA-Za-z][\u3400-\u9fff\w]{1,14}?)(?:的|了)?$"
    ),
)
_PATTERNS: Final = tuple(lazy_pattern(pattern, re.IGNORECASE) for pattern in (*_WRITTEN, *_CHINESE))
_MOVES: Final = _PATTERNS[:2]
_OVER = lazy_pattern(
    r"接手|接管|改由|\b(?:taken|took|takes|taking)\s+over\b|\bsince\b|\bas\s+of\b|\bfrom\s+\w+\s+on\b",
    re.IGNORECASE,
)
_CALENDAR: Final = lazy_pattern(
    rf"(?:{ENGLISH_MONTH_IN_FULL}|(?:{ENGLISH_WEEKDAY})s?|i)$",
    re.IGNORECASE,
)
_NO_SLOT: Final = words(
    "everything anything nothing something one it that this there here who which what work lot"
)
_QUOTE: Final = 200
_STATEMENT: Final = 260
_CAPITALIZED = lazy_pattern(r"[A-Z][\w.+#-]*(?: [A-Z][\w.+#-]*){0,2}")
_OWN = lazy_pattern(r"\b(?:[Ii](?!\.)|[Ii]['’]\w+|my|My|me|we|We|our|Our|us|we['’]\w+)\b|我")
_OURS = lazy_pattern(r"(?:we|our)\b(?!.*\byou)", re.IGNORECASE)
_OWN_WORDS = (
    (lazy_pattern(r"\b(?:we are|we['’]re)\b", re.IGNORECASE), "I'm"),
    (lazy_pattern(r"\bwe were\b", re.IGNORECASE), "I was"),
    (lazy_pattern(r"\bwe\b", re.IGNORECASE), "I"),
    (lazy_pattern(r"\bour\b", re.IGNORECASE), "my"),
    (lazy_pattern(r"\bourselves\b", re.IGNORECASE), "myself"),
    (lazy_pattern(r"\bus\b"), "me"),
)
"""Who says “we” of his work or household speaks for himself as well."""
_SINCE = lazy_pattern(r"(?:and\s+|but\s+)?since\s+(?:the|my|our|last|this)\b", re.IGNORECASE)
"""What cannot lose its “since” without losing its sense."""
_SAYS = lazy_pattern(
    r"(?:the|this|that|it|its|there|[A-Z][\w.’'+#-]*)\b.{0,160}?\s(?:is|are|was|were|has|have|had|now\s+\w+s|\w+s|\w+ed|will)\b",
    re.IGNORECASE,
)
_HANGS = lazy_pattern(r",\s+(?:which|who|that)\b", re.IGNORECASE)
_FRAGMENT = lazy_pattern(
    r"(?:with|for|by|of|in|on|at|to|including|like|from|as|using|\w+ing)\b", re.IGNORECASE
)


# “Raised to 2 TB”: of what, only the statement before says.
_HEADLESS = lazy_pattern(
    r"(?:[a-z]+ed|cut|put|set|brought|grown|risen|fallen|up|down) (?:up |down |back )?(?:to|from|by) ",
    re.IGNORECASE,
)
_HEAD = lazy_pattern(
    r"(?!(?:it|this|that|these|those|they|he|she|there|here)\b)(?P<head>(?:[\w.’'+#/-]+ ){1,8}?)"
    r"(?:(?:now|currently|still|only) )?"
    r"(?:is|are|was|were|has|have|had|holds?|takes?|costs?|lasts?|gets?|needs?|runs?)\b"
    r"|(?P<label>[\w ’'-]{2,60}): ",
    re.IGNORECASE,
)


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
        if (found := clause.means(pattern)) is None:
            continue
        chosen, against = _stems(clause, found, "chosen"), _stems(clause, found, "against")
        about = _stems(clause, found, "about")
        if about & _NO_FAVOURITE or not (chosen or against):
            return
        change = 2 if CLEAR_CHANGE.search(clause.text) or kind in (SWITCHED, STOPPED) else 0
        change = change or (1 if FAINT_CHANGE.search(clause.text) else 0)
        stopped = found.groupdict().get("verb") if kind == STOPPED else None
        verb = frozenset((stem(stopped.casefold()),)) if stopped else frozenset()
        rest = telling([t for t in clause.tokens if t.start >= clause.start + found.end()])
        span = Span(clause.start, clause.end, clause.start + found.start())
        whose = of_whom(origin, found.groupdict().get("he"))
        yield Choice(whose, kind, chosen, against, about or (rest if kind == PREFERS else verb), change, span)
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
    said: list[Said] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    documents: list[frozenset[str]] = field(default_factory=list)
    owner: str = ""

    def read(self, origin: Origin) -> None:
        """Add what a passage claims."""
        clauses = clauses_of(origin.passage.text)
        self.documents.append(frozenset(token.stem for clause in clauses for token in clause.tokens))
        values = [value for number in range(len(clauses)) for value in measured(clauses, number, origin)]
        self.measured.extend(values[:_MOST_VALUES])
        self.said.extend(said_in(clauses, origin))
        self.changes.extend(changes(origin))
        for number in range(len(clauses)):
            for denial in denials(clauses, number, origin):
                self.denials.append(replace(denial, origin=self._of_owner(denial.origin)))
            for deed in deeds(clauses, number, origin):
                self.deeds.append(replace(deed, origin=self._of_owner(deed.origin)))
            chosen = tuple(choices(clauses, number, origin)) or tuple(occupants(clauses, number, origin))
            for choice in (*chosen, *stances(clauses, number, origin)):
                self.choices.append(replace(choice, origin=self._of_owner(choice.origin)))

    def _of_owner(self, origin: Origin) -> Origin:
        """Return what is said of the owner by name as what the owner says."""
        if not origin.subject or not goes_by(origin.speaker, self.owner):
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
            sorted(self.said, key=lambda claim: claim.origin.order),
            sorted(self.changes, key=lambda claim: claim.origin.order),
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


def stances(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    """Yield what a clause says to be liked or not, and what it says to be so or not; at most one of each.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if clause.asked:
        return
    for pattern, yes in ((_DISLIKES, NO), (_LIKES, YES)):
        if (found := clause.states(pattern)) is not None:
            whose = of_whom(origin, found["he"] if found["what"] else None)
            yield from _feeling(clauses, number, whose, found, yes)
            break
    chinese = _CHINESE_FEELS.search(clause.text)
    if chinese is not None:
        yield from _feeling(clauses, number, origin, chinese, NO if chinese["no"] else YES)
    if len(clause.text) <= _LONGEST:
        yield from _state(clauses, number, origin)
        yield from _being(clauses, number, origin)


def _feeling(
    clauses: Sequence[Clause], number: int, origin: Origin, found: re.Match[str], yes: frozenset[str]
) -> Iterator[Choice]:
    clause = clauses[number]
    group = "what" if found["what"] else "what2"
    said = _REST.sub("", found[group])
    lead = _TASTE_OF.match(said)
    start = clause.start + found.start(group) + (lead.end() if lead else 0)
    end = clause.start + found.start(group) + len(said)
    about = telling([token for token in clause.tokens if start <= token.start and token.end <= end])
    if about:
        span = Span(begin_of(clauses, number), clause.end, clause.start + found.start())
        yield Choice(origin, FEELS, yes, frozenset(), about, _change(clause), span)


def _being(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    clause = clauses[number]
    if (found := clause.states(_BEING)) is None:
        return
    denied = _NOT_ANY_MORE.match(clause.text, found.end())
    any_more = _ANY_MORE.search(clause.text, denied.end()) if denied is not None else None
    ends = any_more is not None or (denied is not None and denied["longer"] is not None)
    start, end = (denied or found).end(), any_more.start() if any_more else len(clause.text)
    what = telling([token for token in clause.tokens if start <= token.start - clause.start < end])
    if what and (ends or denied is None):
        span = Span(begin_of(clauses, number), clause.end, clause.start + found.start())
        whose = of_whom(origin, found["he"])
        said, ended = (frozenset[str](), what) if ends else (what, frozenset[str]())
        yield Choice(whose, ENDED if ends else IS, said, ended, frozenset(), 2 if ends else 0, span)


def _state(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    clause = clauses[number]
    denied = _NOT.search(clause.text)
    found = denied or _IS.search(clause.text)
    if found is None or clause.mode_at(clause.start + found.start()) is not Mode.STATES:
        return
    place = clause.start + found.start()
    before = [token for token in clause.tokens if token.start < place]
    behind = telling([token for token in clause.tokens if token.start >= clause.start + found.end()])
    about = telling(clause.tokens)
    if not before or (
        _SUBJECT.match(before[-1].word.partition("'")[0])
        and not (before[-1].word[:1] == "i" and _OF_ONESELF.match(clause.text, found.end()))
    ):
        return
    if behind and len(about) >= _FEWEST:
        span = Span(begin_of(clauses, number), clause.end, clause.start + found.start())
        yield Choice(origin, HOLDS, NO if denied else YES, frozenset(), about, _change(clause), span)


def _change(clause: Clause) -> int:
    return 2 if CLEAR_CHANGE.search(clause.text) or _AFTER_ALL.search(clause.text) else 0


def occupants(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    """Yield what a clause says to have a place that one thing at a time has; at most one.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if clause.asked or denies(clause.text):
        return
    for pattern in _PATTERNS:
        if (found := clause.states(pattern)) is None:
            continue
        name, slot = _tokens(clause, found, "chosen"), _tokens(clause, found, "about")
        about = frozenset(
            SAME_MEANING.get(token.stem, token.stem)
            for token in slot
            if token.tells and token.word not in _NO_SLOT and token.stem not in CHANGE_STEMS
        )
        if not about or slot[-1].word in PEOPLE or _CALENDAR.match(found["chosen"]):
            continue
        change = 2 if pattern in _MOVES or CLEAR_CHANGE.search(clause.text) else 0
        change = change or (1 if _OVER.search(clause.text) or FAINT_CHANGE.search(clause.text) else 0)
        chosen = frozenset(token.stem for token in name)
        span = Span(begin_of(clauses, number), clause.end, clause.start + found.start())
        yield Choice(origin, OCCUPIES, chosen, frozenset(), about, change, span)
        return


def _tokens(clause: Clause, found: re.Match[str], group: str) -> list[Token]:
    start, end = clause.start + found.start(group), clause.start + found.end(group)
    return [token for token in clause.tokens if start <= token.start and token.end <= end]


def speaker_key(speaker: str, owner: str) -> str:
    """Return by what two claims are told to be of one speaker: “user”, no label and the owner's name are one."""
    folded = speaker.casefold().strip()
    return "" if folded in PERSON or goes_by(speaker, owner) else folded


def speaker_name(origin: Origin, owner: str) -> str:
    """Return the name a speaker is spoken of by: the label, for “user” the owner, and without one “The user”."""
    return (origin.subject or origin.passage.speaker) if origin.speaker else owner or "The user"


def statement(origin: Origin, span: Span, owner: str, before: str = "") -> str:
    """Say a claim as a sentence in the third person.

    Where the words are no sentence that can stand alone they are quoted: “Alex said: …”. What has no subject gets
    that of the statement before: “The archive: raised to 2 TB”.

    Args:
        origin: Where it was read.
        span: The words.
        owner: The owner's name, empty where it is not known.
        before: The statement whose place it takes, if any.
    """
    written = _cut(origin.passage.text, span, _STATEMENT)
    if origin.fact:
        return written
    name = speaker_name(origin, owner)
    said = without_lead(written).rstrip(" .,;:?!？")
    head = _HEAD.match(before.partition("said: “")[2] or before) if _HEADLESS.match(said) else None
    subject = (head["head"] or head["label"]).strip() if head else ""
    if subject and subject.casefold() != name.casefold():
        return f"{subject}: {said[:1].lower()}{said[1:]}"
    if _SINCE.match(written):
        return f"{name} said: “{written.rstrip(' .,;:?!？')}”"
    if _OURS.match(said):
        for plural, own in _OWN_WORDS:
            said = plural.sub(own, said)
    if asks(said) or ("?" in written and not asserts(said)):
        return f"{name} asked: “{said}?”"
    if _OWN.search(said):
        return third_person(said, name)
    if not origin.passage.speaker or (
        _SAYS.match(said) and not _HANGS.search(said) and not _FRAGMENT.match(said)
    ):
        return said[:1].upper() + said[1:]
    return f"{name} said: “{said}”"


def evidence(sides: Iterable[tuple[Origin, Span]]) -> list[Evidence]:
    """Quote the words of claims, each passage once.

    Args:
        sides: Where each was read, and its words.
    """
    found: dict[tuple[str, str], Evidence] = {}
    for origin, span in sides:
        lead = len(origin.passage.text[span.start : span.end]) - len(
            without_lead(origin.passage.text[span.start : span.end])
        )
        telling = replace(span, start=min(span.start + lead, span.key))
        quoted = Evidence(origin.fact or origin.passage.id, _cut(origin.passage.text, telling, _QUOTE))
        found.setdefault((quoted.id, quoted.quote), quoted)
    return list(found.values())


def target(
    snapshot: Snapshot, sides: tuple[tuple[Origin, Span], tuple[Origin, Span]]
) -> tuple[str, tuple[str, ...]]:
    """Return the entity that two claims are about, and what it needs to be known first.

    That is the entity of the graph that both sides name, the one named first, else the person who speaks.
    """
    (_, _), (later, span) = sides
    named = set(_names(*sides[0]))
    for name in _names(later, span):
        entity = snapshot.graph.named(name) if name in named else None
        if entity is not None and entity.type != "person":
            return entity.id.removeprefix("entity:"), ()
    return person(snapshot, later)


def person(snapshot: Snapshot, origin: Origin) -> tuple[str, tuple[str, ...]]:
    """Return the entity of the one who speaks, and it again where the graph does not know it."""
    name = (origin.subject or origin.passage.speaker) if origin.speaker else snapshot.owner or "user"
    known = snapshot.graph.named(name) or snapshot.graph.called(name)
    if known is not None and known.type == "person":
        return known.id.removeprefix("entity:"), ()
    made = f"person--{slug(name)}"
    return made, () if snapshot.graph.entity(f"entity:{made}") else (made,)


def _names(origin: Origin, span: Span) -> Iterable[str]:
    """Yield what may be a name, in the order of the words, the longer ones first."""
    for match in _CAPITALIZED.finditer(origin.passage.text, span.start, span.end):
        parts = match[0].rstrip(".,").split()
        for begin in range(len(parts)):
            for end in range(len(parts), begin, -1):
                yield " ".join(parts[begin:end])


def _cut(text: str, span: Span, limit: int) -> str:
    """Return the words of a span as one line; of a long one a stretch of whole words around its key."""
    start, end = span.start, span.end
    if end - start > limit:
        start = max(start, min(span.key - limit // 2, end - limit))
        end = min(end, start + limit)
        if start > span.start:
            blank = text.find(" ", start, span.key)
            start = blank + 1 if blank >= 0 else start
        if end < span.end:
            blank = text.rfind(" ", span.key, end)
            end = blank if blank > span.key else end
    return " ".join(text[start:end].split())
