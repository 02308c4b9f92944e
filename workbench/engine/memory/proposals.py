"""Proposals: reading the file, unique numbers, plans to append or remove, and comparison with others (§13.2, §13.6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal, TypeVar

from workbench.engine import layout
from workbench.engine.catalog.terms import STOP_WORDS, fold, terms
from workbench.engine.clock import render_time, time_or_none
from workbench.engine.errors import InvalidInput
from workbench.engine.history.commits import VERDICT
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.language.calendar import MONTHS, WEEKDAYS
from workbench.engine.language.denials import is_denied, without_denials
from workbench.engine.markdown.audit_log import parse_audit_fields, render_audit_fields
from workbench.engine.markdown.proposals import (
    DEFERRED,
    Mark,
    MemoryProposal,
    PendingMemories,
    append_to,
    written_numbers,
)
from workbench.engine.memory.entities import parse_entity
from workbench.engine.memory.wording import (
    CONFIDENCES,
    EPISODE_TYPES,
    checked_word,
    clean_line,
    clean_memory,
    clean_tags,
    clip,
    common_length,
    text_key,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.requests import ProposeRequest
from workbench.engine.results.reviews import Proposal, Proposals, ProposalStatus, Proposed
from workbench.engine.roles import written_scope
from workbench.engine.values import dataclass

REPEATS: Final = "Repeats"
TYPE: Final = "Type"
TAGS: Final = "Tags"
ORIGINS: Final = "Origins"
SCOPE: Final = "For"
"""Fields beside those of design document §13.2; lists are separated by commas."""

HIGHEST: Final = "Highest-Proposal"
_TRAILER: Final = f"\n{HIGHEST}: "
# Larger numbers, written by hand, are skipped, so that they cannot exhaust all numbers.
_BEYOND: Final = 100_000_000

T = TypeVar("T")

_TRIGGER_CHARACTERS: Final = 300
_MOST_ENTITIES: Final = 20
_MOST_ORIGINS: Final = 20


def read_proposals(view: FileView) -> PendingMemories:
    """Return the waiting proposals; none if there is no file."""
    return PendingMemories.parse(view.read(layout.PENDING_MEMORIES) or b"", layout.PENDING_MEMORIES)


def overview(pending: PendingMemories) -> Proposals:
    """Return the waiting proposals as a result value."""
    known = {proposal.number for proposal in pending.proposals}
    return Proposals(
        tuple(_answer(proposal, known) for proposal in pending.proposals),
        tuple(f"{problem.line}: {problem.message} {problem.remedy}" for problem in pending.problems),
    )


def _conflicts_of(proposal: MemoryProposal, known: set[int]) -> tuple[str, ...]:
    """Return what a proposal contradicts: waiting proposals, as `#4`, and memories by id."""
    return (*(f"#{other}" for other in proposal.conflicts if other in known), *proposal.against)


def without(
    pending: PendingMemories,
    numbers: Iterable[int],
    became: Mapping[int, str] = MappingProxyType({}),
    retired: Collection[str] = (),
) -> PendingMemories:
    """Return the file without some proposals, with other proposals' references to them updated.

    Args:
        became: For stored proposals, the memory that each became, which others now contradict.
        retired: Ids of memories that are no longer current.
    """
    gone = {*numbers, *became}
    marks = {}
    for proposal in pending.proposals:
        others = tuple(other for other in proposal.conflicts if other not in gone)
        stored = (became[other] for other in proposal.conflicts if other in became)
        holding = (memory for memory in (*proposal.against, *stored) if memory not in retired)
        mark = Mark(others, tuple(dict.fromkeys(holding)))
        if proposal.number not in gone and mark != Mark(proposal.conflicts, proposal.against):
            marks[proposal.number] = mark
    return (pending.mark(marks) if marks else pending).remove(gone)


def listed(text: str) -> tuple[str, ...]:
    """Return the parts of a list field."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _answer(proposal: MemoryProposal, known: set[int]) -> Proposal:
    conflicts = _conflicts_of(proposal, known)
    status: ProposalStatus = "deferred" if proposal.is_deferred else "conflict" if conflicts else "pending"
    return Proposal(
        number=proposal.number,
        from_=proposal.sender,
        timestamp=time_or_none(proposal.timestamp),
        trigger=proposal.trigger,
        store=proposal.store,
        content=proposal.content,
        entities=proposal.entities,
        confidence=proposal.confidence,
        core_worthy=proposal.core_worthy,
        status=status,
        conflicts_with=conflicts,
        repeats=proposal.field(REPEATS) or None,
        type=proposal.field(TYPE),
        tags=listed(proposal.field(TAGS)),
        origins=listed(proposal.field(ORIGINS)),
        line=proposal.span.start if proposal.span else 0,
        scope=written_scope(proposal.field(SCOPE)),
    )


def highest_given(messages: Iterable[str]) -> int:
    """Return the highest number in history, 0 if there is none.

    Args:
        messages: Commit messages, newest first; read up to the first with a number.
    """
    for message in messages:
        _, trailer, rest = message.rpartition(_TRAILER)
        word = rest.partition("\n")[0].strip()
        if trailer and word.isdecimal():
            return int(word)
    return 0


def highest_in(content: bytes, given: int) -> int:
    """Return the highest valid number in the file and in history."""
    return max([given, *(number for number in written_numbers(content) if number < _BEYOND)])


def free_numbers(content: bytes, given: int) -> Iterator[int]:
    """Yield unused numbers, lowest first."""
    taken = set(written_numbers(content))
    number = highest_in(content, given)
    while True:
        number += 1
        if number not in taken:
            yield number


def is_doubled(content: bytes) -> bool:
    """Return True if two proposals have the same number."""
    numbers = written_numbers(content)
    return len(numbers) != len(set(numbers))


def number_trailers(highest: int) -> tuple[tuple[str, str], ...]:
    """Return the trailers of a commit that changes proposals."""
    return ((HIGHEST, str(highest)),)


@dataclass(frozen=True)
class Decision:
    """What became of a proposal, as its commit keeps it for the agent that made it.

    Args:
        status: `committed` or `rejected`.
        content: Its beginning.
        reason: Why it was rejected; empty if nobody said.
        became: Id of the memory that it was stored as; empty if that is not known.
    """

    number: int
    sender: str
    status: str
    content: str
    reason: str = ""
    became: str = ""

    @classmethod
    def on(cls, proposal: MemoryProposal, *, reason: str = "", became: str | None = None) -> Decision:
        """Return what became of a proposal: it was stored if `became` is given, else rejected."""
        status = "rejected" if became is None else "committed"
        sender, content = clip(proposal.sender), clip(proposal.content)
        return cls(proposal.number, sender, status, content, clip(reason, 200), became or "")

    def trailer(self) -> tuple[str, str]:
        """Return it as a trailer of a commit; `read` gives it back."""
        fields = (str(self.number), self.sender, self.status, self.content, self.reason, self.became)
        return VERDICT, render_audit_fields(fields)

    @classmethod
    def read(cls, value: str) -> Decision | None:
        """Return a trailer's decision, or None if it is not one."""
        match parse_audit_fields(value):
            case (number, sender, status, content, reason, became) if number.isdecimal():
                return cls(int(number), sender, status, content, reason, became)
        return None


def without_proposals(
    plan: Plan[T], view: FileView, numbers: Iterable[int], accepted: Collection[int]
) -> Plan[T]:
    """Extend a plan to remove some proposals from the file; missing ones are ignored.

    Args:
        numbers: Those that were decided on.
        accepted: Those among them that were accepted.
    """
    pending = read_proposals(view)
    gone = [number for number in numbers if pending.proposal(number) is not None]
    if not gone or any(change.path == layout.PENDING_MEMORIES for change in plan.changes):
        return plan
    told = f"decided in a reflection: {', '.join(f'proposal #{number}' for number in gone)}"
    change = FileChange(layout.PENDING_MEMORIES, without(pending, gone).render(), Action.EDIT, told)
    decisions = (
        Decision.on(proposal, became="" if proposal.number in accepted else None).trailer()
        for proposal in pending.proposals
        if proposal.number in gone
    )
    return replace(plan, changes=(*plan.changes, change), trailers=(*plan.trailers, *decisions))


@dataclass(frozen=True)
class NewProposal:
    """A valid proposal, still without a number.

    Args:
        warnings: What was left out.
    """

    proposal: MemoryProposal
    warnings: tuple[str, ...]


def check_request(request: ProposeRequest, sender: str, now: datetime) -> NewProposal:
    """Check a request; one without a store is an episode until it is known better.

    Args:
        sender: Who, as its door says.

    Raises:
        InvalidInput: The text cannot be kept, or a word is not in its vocabulary.
    """
    wording = clean_memory(request.content, what="A proposal")
    trigger = clean_line(request.trigger, what="A trigger").text if request.trigger.strip() else ""
    entities = dict.fromkeys(_entity(entity) for entity in request.entities)
    if len(entities) > _MOST_ENTITIES:
        raise InvalidInput(
            f"A proposal names {_MOST_ENTITIES} entities at most; this one has {len(entities)}.",
            remedy="Propose its parts one by one.",
        )
    origins = dict.fromkeys(_origin(origin) for origin in request.origins)
    kind = checked_word(request.type, EPISODE_TYPES, "type of memory") if request.type else ""
    fields = (
        (TYPE, kind),
        (TAGS, ", ".join(clean_tags(request.tags))),
        (ORIGINS, ", ".join(list(origins)[:_MOST_ORIGINS])),
        (SCOPE, request.scope or ""),
    )
    return NewProposal(
        MemoryProposal(
            sender=sender,
            content=wording.text,
            timestamp=render_time(now),
            trigger=clip(trigger, _TRIGGER_CHARACTERS),
            store=checked_word(request.store or "episodic", MEMORY_STORES, "store"),
            entities=tuple(entities),
            confidence=checked_word(request.confidence, CONFIDENCES, "confidence"),
            core_worthy=request.core_worthy,
            fields=tuple((name, value) for name, value in fields if value),
        ),
        wording.warnings,
    )


def plan_propose(
    view: FileView, new: NewProposal, against: Compared, *, compare: Compare, given: Callable[[], int]
) -> Plan[Proposed]:
    """Plan to append a proposal; contradictions are marked on both sides.

    A proposal with the same wording is not appended again; the answer names the waiting one.

    Args:
        against: Its relation to memory.
        given: Returns the highest number in history.
    """
    content = view.read(layout.PENDING_MEMORIES) or b""
    waiting = list(scan_waiting(content))
    proposal = new.proposal
    key = text_key(proposal.content)
    same = [each for each in waiting if each.key == key]
    known = _for_the_same(content, same, proposal.field(SCOPE)) if same else None
    if known is not None:
        return _waits_already(content, known, new)
    near = nearest_proposals(proposal.content, waiting)
    found = compare_all(proposal.content, ((f"#{each.number}", each.text) for each in near), compare)
    others = tuple(sorted(int(name[1:]) for name in found.contradicts))
    repeats = found.repeats or against.repeats
    highest = given()
    content = _with_own_numbers(content, highest)
    number = next(free_numbers(content, highest))
    conflicts = (*found.contradicts, *against.contradicts)
    marked = replace(
        proposal,
        conflicts=others,
        against=against.contradicts,
        status=f"conflict — see {', '.join(conflicts)}" if conflicts else "pending",
        fields=((REPEATS, repeats), *proposal.fields) if repeats else proposal.fields,
    )
    content = append_to(content, marked, number)
    if conflicts:
        content = _marked(content, number, others, against.contradicts)
    told = f"#{number} “{clip(proposal.content)}”"
    change = FileChange(layout.PENDING_MEMORIES, content, Action.PROPOSE, told)
    outcome = Proposed(
        None,
        warnings=new.warnings,
        number=number,
        status="conflict" if conflicts else "pending",
        conflicts_with=conflicts,
        duplicate_of=repeats,
    )
    trailers = number_trailers(max(number, highest_in(content, highest)))
    return Plan(Action.PROPOSE, layout.PENDING_MEMORIES, told, (change,), trailers=trailers, outcome=outcome)


def _for_the_same(content: bytes, same: Sequence[WaitingProposal], scope: str) -> WaitingProposal | None:
    """Return the first proposal with the same text for the same audience."""
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    scopes = {each.number: each.field(SCOPE) for each in pending.proposals}
    return next((each for each in same if scopes.get(each.number, "") == scope), None)


def _waits_already(content: bytes, known: WaitingProposal, new: NewProposal) -> Plan[Proposed]:
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    proposal = pending.proposal(known.number)
    conflicts = tuple(f"#{other}" for other in proposal.conflicts) + proposal.against if proposal else ()
    outcome = Proposed(
        None,
        warnings=(
            *new.warnings,
            f"The same waits already, as proposal #{known.number}; it was not written again.",
        ),
        number=known.number,
        status="deferred" if known.deferred else "conflict" if conflicts else "pending",
        conflicts_with=conflicts,
        duplicate_of=f"#{known.number}",
    )
    return Plan(Action.PROPOSE, layout.PENDING_MEMORIES, f"#{known.number} waits already", outcome=outcome)


def _with_own_numbers(content: bytes, given: int) -> bytes:
    """Return the file with unique proposal numbers, in case an edit by hand duplicated one."""
    if not is_doubled(content):
        return content
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    written = set(written_numbers(content))
    free = free_numbers(content, given)
    taken = {each.number: next(free) for each in pending.proposals if each.number not in written}
    return pending.renumber(taken).render() if taken else content


def _marked(content: bytes, number: int, others: tuple[int, ...], memories: tuple[str, ...]) -> bytes:
    """Return the file with the other sides of a conflict marked too."""
    pending = PendingMemories.parse(content, layout.PENDING_MEMORIES)
    marks = {
        other: Mark(tuple(sorted({*proposal.conflicts, number})), proposal.against)
        for other in others
        if (proposal := pending.proposal(other)) is not None
    }
    # Text that only looks like a proposal, such as inside a fence, is not a side of a conflict.
    if pending.proposal(number) is not None:
        marks[number] = Mark(tuple(sorted(marks)), memories)
    return pending.mark(marks).render()


def _entity(text: str) -> str:
    """Return an entity as written in the file: a canonical id, or `TYPE:NAME`."""
    bare = text.strip().removeprefix("[[").removesuffix("]]").strip()
    kind, dashes, slug = bare.removeprefix("entity:").partition("--")
    if dashes and kind.replace("-", "").isalnum() and slug and not set(slug) & set(",[] :/\\"):
        return clip(f"{kind}--{slug}", 200)
    named = parse_entity(bare)
    return f"{named.type}:{named.name.replace(',', ' ')}"


def _origin(text: str) -> str:
    word = clean_line(text, what="An origin").text
    if "," in word or len(word) > _TRIGGER_CHARACTERS:
        raise InvalidInput(
            f"“{clip(word)}” cannot be where a memory comes from.",
            remedy="Give an id such as episode:2026-02-02:14:30, or a file with its lines.",
        )
    return word


Relation = Literal["", "repeats", "contradicts"]

Compare = Callable[[str, str], Relation]
"""Returns the relation of a new text to an older one."""

MOST_COMPARED: Final = 24
_HEADING: Final = lazy_pattern(
    r"^##[ \t]+proposal[ \t]*#?[ \t]*(\d{1,9})(?!\w)", re.IGNORECASE | re.MULTILINE
)
_CONTENT: Final = lazy_pattern(
    r"^- \*\*Content\*\*:[ \t]*(.*(?:\n(?:[ \t].*|[ \t]*(?=\n[ \t])))*)", re.IGNORECASE | re.MULTILINE
)
_STATUS: Final = lazy_pattern(rf"^- \*\*Status\*\*:[ \t]*{DEFERRED}[ \t]*$", re.IGNORECASE | re.MULTILINE)
# The part of a text used to find its topic.
_LOOKED_AT: Final = 2000
_FEW_WORDS: Final = 3

_WORD: Final = lazy_pattern(r"[^\s,;:!?()\[\]“”\"]+")
_MOST_WORDS: Final = 30
_MOST_VALUE: Final = 5
_STATES: Final = frozenset(
    (
        "is", "are", "was", "were", "be", "equals", "costs", "cost", "weighs", "lasts", "takes", "ends", "starts",
        "begins", "opens", "closes", "expires", "on", "at", "by", "within", "until", "till", "from", "to", "in",
        "called", "named", "has", "have", "uses", "use", "runs", "run", "happens", "happen", "due", "needs", "=",
        "prefers", "wants", "likes", "of", "version", "port",
    )
)  # fmt: skip
_COPULA: Final = frozenset(("is", "are", "was", "were", "equals", "called", "named", "uses", "use", "="))
_NAMING: Final = frozenset(("called", "named"))
_LABELS: Final = frozenset(
    (
        "number", "no", "nr", "item", "task", "step", "issue", "ticket", "chapter", "page", "part", "line", "row",
        "agent", "proposal", "thing", "phase", "sprint", "day", "section", "case", "note", "entry", "#",
    )
)  # fmt: skip
_HELPING: Final = frozenset(("do", "does", "did"))
_MONTHS: Final = frozenset(name for name in MONTHS if name.isascii())
_DAYS: Final = frozenset(
    (
        *WEEKDAYS, *(f"{name}s" for name in WEEKDAYS if name.isascii()), "today", "tomorrow", "daily", "weekly",
        "monthly", "noon", "midnight", "morning", "evening", "yes",
    )
)  # fmt: skip
_PASSING: Final = frozenset(("the", "a", "an", "on", "at", "by", "th", "st", "nd", "rd"))
_POINTED: Final = frozenset(("the", "our", "my", "your", "their", "his", "her", "its"))
_FEWEST_SHARED: Final = 2


@dataclass(frozen=True)
class Compared:
    """The relation of a text to others, by their names.

    Args:
        contradicts: Texts that it contradicts, in the order given.
        repeats: The first with the same meaning, or None.
    """

    contradicts: tuple[str, ...] = ()
    repeats: str | None = None


def compare_all(text: str, others: Iterable[tuple[str, str]], compare: Compare) -> Compared:
    """Compare a text with several others.

    Args:
        others: Names and texts; facts without an id share the name of their entity.
    """
    found = [(name, compare(text, other)) for name, other in others]
    contradicts = dict.fromkeys(name for name, relation in found if relation == "contradicts")
    return Compared(
        tuple(contradicts), next((name for name, relation in found if relation == "repeats"), None)
    )


def ways_to_say(fact: str, label: str) -> tuple[str, ...]:
    """Return a fact as written, and with the name of its entity, which it may omit: “Drinks tea”, of Robin."""
    if not label or label.casefold() in fact.casefold():
        return (fact,)
    return (fact, f"{label} {fact[:1].lower()}{fact[1:]}" if fact[1:2].islower() else f"{label} {fact}")


@dataclass(frozen=True)
class WaitingProposal:
    """The fields of a proposal that can be read quickly.

    Args:
        key: Equal for texts with the same wording.
    """

    number: int
    text: str
    key: str
    words: frozenset[str]
    deferred: bool


def scan_waiting(content: bytes) -> Iterator[WaitingProposal]:
    """Yield the waiting proposals of the file, line by line; all but list items at the margin are skipped.

    This only selects candidates for comparison; changes parse the file as Markdown.
    """
    text = content.decode("utf-8", "replace")
    found = list(_HEADING.finditer(text))
    ends = [*(match.start() for match in found), len(text)][1:]
    for match, end in zip(found, ends, strict=False):
        waiting = _read(int(match[1]), text[match.end() : end])
        if waiting is not None:
            yield waiting


def nearest_proposals(text: str, waiting: list[WaitingProposal]) -> list[WaitingProposal]:
    """Return the proposals that may share a text's topic, likeliest first, at most 24."""
    words = telling_words(text)
    rated = []
    for each in waiting:
        shared = len(words & each.words)
        needed = 1 if min(len(words), len(each.words)) <= _FEW_WORDS else 2
        if shared >= needed:
            rated.append((-shared / len(words | each.words), each.number, each))
    return [each for _, _, each in sorted(rated, key=lambda pair: pair[:2])[:MOST_COMPARED]]


def telling_words(text: str) -> frozenset[str]:
    """Return the topic words of a text."""
    return frozenset(terms(text[:_LOOKED_AT])) - STOP_WORDS


@lru_cache(maxsize=8192)
def _read(number: int, part: str) -> WaitingProposal | None:
    match = _CONTENT.search(part)
    if match is None or not match[1].strip():
        return None
    content = "\n".join(line.removeprefix("  ") for line in match[1].split("\n")).strip()
    deferred = _STATUS.search(part) is not None
    return WaitingProposal(number, content, text_key(content), telling_words(content), deferred)


def contradict(one: str, other: str) -> bool:
    """Return True if two statements evidently cannot both hold."""
    first, second = _words(one), _words(other)
    if not first or not second or max(len(first), len(second)) > _MOST_WORDS:
        return False
    a, b = [fold(word) for word in first], [fold(word) for word in second]
    return _denies(a, b) or _differs_in_a_value(first, a, second, b)


def _words(text: str) -> list[str]:
    return [word for found in _WORD.findall(text[:1000]) if (word := found.strip(".'’…"))]


def _denies(a: list[str], b: list[str]) -> bool:
    """Return True if one statement is the other with a negation."""
    if any(map(is_denied, a)) == any(map(is_denied, b)):
        return False
    one, other = (
        sorted(
            _stem(rest)
            for word in words
            if word not in _HELPING | _PASSING and (rest := without_denials(word))
        )
        for words in (a, b)
    )
    # Chinese writes a statement as one word.
    return one == other and (len(one) > 1 or not "".join(one).isascii())


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _differs_in_a_value(first: list[str], a: list[str], second: list[str], b: list[str]) -> bool:
    # “is on 30 March” and “is March 15” begin alike; small words in between do not count.
    first, a = _plain(first, a)
    second, b = _plain(second, b)
    start = common_length(a, b)
    end = common_length(a[start:][::-1], b[start:][::-1])
    value_a, value_b = first[start : len(a) - end], second[start : len(b) - end]
    if not (value_a and value_b) or max(len(value_a), len(value_b)) > _MOST_VALUE:
        return False
    before, after = a[:start], a[len(a) - end :]
    telling = [word for word in (*before, *after) if word not in STOP_WORDS | _COPULA]
    if not any(word in _STATES for word in before) or (before and before[-1] in _LABELS):
        return False
    if _is_measure(value_a) and _is_measure(value_b):
        return len(telling) >= _FEWEST_SHARED or (len(telling) == 1 and bool(set(before) & _COPULA))
    named = before[-1] in _NAMING or all(word[:1].isupper() for word in (value_a[0], value_b[0]))
    points = a[0] in _POINTED or any(word.endswith(("'s", "’s")) for word in a[:3])
    return named and points and bool(telling) and before[-1] in _COPULA


def _plain(words: list[str], folded: list[str]) -> tuple[list[str], list[str]]:
    kept = [
        (word, plain)
        for at, (word, plain) in enumerate(zip(words, folded, strict=True))
        if at == 0 or plain not in _PASSING
    ]
    return [word for word, _ in kept], [plain for _, plain in kept]


def _is_measure(words: list[str]) -> bool:
    """Return True if a passage is mainly a number, a day or a time."""
    folded = [fold(word) for word in words]
    telling = [word for word in folded if any(c.isdigit() for c in word) or word in _MONTHS | _DAYS]
    return bool(telling) and len(folded) - len(telling) <= 2
