"""Tells what a value is the value of: the words around it, and where it only says “which” or “it”, those before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.clauses import begin_of
from workbench.engine.reflection.claims.value import APPOINTED_DIMENSIONS
from workbench.engine.reflection.claims.values import RATE, labels_in
from workbench.engine.reflection.claims.vocabulary import (
    APPOINTED,
    CHANGE_STEMS,
    DEADLINE,
    FUNCTION_WORDS,
    SAME_MEANING,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.reflection.claims.clauses import Clause, Token
    from workbench.engine.reflection.claims.value import Value

_LEFT: Final = 8
_RIGHT: Final = 6
_AND = lazy_pattern(r"\s*(?:and|,|&|/)?\s*(?:a|an|the)?\s*", re.IGNORECASE)
STANDS = lazy_pattern(
    r"(?:\b(?:is|are|was|were|am|be|being|been|has|have|had|costs?|takes?|lasts?|needs?|weighs?|pays?|earns?|of|at|to"
    r"|reached|hit|scored|equals)|['’](?:s|m|re|ve)|:|[是有为達达到])\s*(?:[\w’']+\s+){0,2}$",
    re.IGNORECASE,
)
"""What stands before a value that something is or has."""
_CALCULATES = lazy_pattern(r"[=+*/^×÷(<>≤≥√∠-]\s*$")
_CALCULATED = lazy_pattern(r"\s*[°²³=+*/^×÷!√-]|\s*(?:choose|sided?|degrees?)\b")
_ON_IT = lazy_pattern(r"\s*(?:on|for|of|with|in|to)\s+(?:it|this|that|them)\b", re.IGNORECASE)
_OF_WHAT = lazy_pattern(r"\s*(?:on|for|of|in|at)\s+(?:the|my|our|all)\s", re.IGNORECASE)
_BY = lazy_pattern(r"\b(?:by|until|till|due(?:\s+(?:on|by))?)\s+(?:the\s+)?$", re.IGNORECASE)
"""What stands before a day by which something is to be done."""
_IS_SET = lazy_pattern(
    r"\b(?:is|are|takes\s+place|(?:set|scheduled|planned)\s+for)\s+(?:now\s+)?(?:on|at|from)?\s*$"
    r"|\b(?:moved|shifted|pushed|postponed|rescheduled)\b[^,.;]{0,40}?\b(?:to|until|till)\s+$",
    re.IGNORECASE,
)
"""What stands before a day or time that something is set for, whatever it is."""
_RECURS = lazy_pattern(r"(?:\b(?:every|each)\s+(?:\w+\s+)?\w+|days)$", re.IGNORECASE)
_REFERS = lazy_pattern(
    r"\s*(?:(?:and|but|so|since|because|as)\s+)?(?:which|it|it's|its|that|this|these|they|i['’]ve|i\s+have|we['’]ve|currently|now)\b",
    re.IGNORECASE,
)
_OF = lazy_pattern(r"\s*(?:out\s+)?of\s+(?:(?:the|my|our|all|these|its)\s+)?(?:\d+\s+)?", re.IGNORECASE)
_NOUN_STOP = lazy_pattern(r"[^\w\s'’`\"“”-]")
_ADJECTIVE_RATES = {
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "hourly": "hour",
    "yearly": "year",
    "annual": "year",
}
_PAST_EVENT = lazy_pattern(
    r"\b(?:completed|finished|obtained|created|started|launched|released|deployed|met|attended|ended|delivered|submitted"
    r"|tagged|held|had|went|ran|did|done)\b(?:\W+\w+){0,8}?\W*$",
    re.IGNORECASE,
)
_NOT_COUNTED = frozenset(
    ("times", "x", "percent", "of", "or", "and", "more", "hundred", "thousand", "million", "am", "pm")
)
_NEAREST: Final = 3


@dataclass(frozen=True, slots=True)
class Attribute:
    """What a value is the value of.

    Args:
        heads: Stems of the words that say what is measured or counted.
        terms: Stems of everything around that says of what; includes the heads.
        labels: Which one of several.
        per: The rate that the words around give, singular; empty where they give none.
        start: Where in the passage the words begin.
        unnamed: Whether the words are those that “which” or “it” goes back to.
        bare: Whether the value is a number with neither a unit nor a noun.
    """

    heads: frozenset[str]
    terms: frozenset[str]
    labels: frozenset[str]
    per: str
    start: int
    unnamed: bool
    bare: bool


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The words of a clause on both sides of a value, up to the values before and after it.

    Args:
        left: Words before.
        right: Words behind.
        behind: Words behind, those beyond the next value too where “and” joins the two (“150 commits and 12 branches”).
        counted: The noun phrase right behind: “calls” in “1,200 calls per day”.
    """

    left: list[Token]
    right: list[Token]
    behind: list[Token]
    counted: list[Token]


def _surroundings(
    clause: Clause, value: Value, previous: Value | None, following: Value | None
) -> _Surroundings:
    left_edge = clause.start + (previous.end if previous else 0)
    start, end = clause.start + value.start, clause.start + value.end
    right_edge = clause.start + (following.start if following else len(clause.text))
    left = [token for token in clause.tokens if left_edge <= token.start and token.end <= start]
    if previous is not None and previous.dimension == "count":
        left = left[len(_noun_phrase(clause, left, left_edge)) :]
    behind = [token for token in clause.tokens if end <= token.start]
    right = [token for token in behind if token.end <= right_edge]
    counted = _noun_phrase(clause, right, end) or _part_of(clause, behind, end)
    between = (counted[-1].end if counted else end) - clause.start
    joined = following is not None and _AND.fullmatch(clause.text, between, following.start)
    return _Surroundings(left, right, behind if joined else right, counted)


def attribute_of(
    clauses: Sequence[Clause], number: int, value: Value, previous: Value | None, following: Value | None
) -> Attribute | None:
    """Return what a value is of; None where the words do not say, or only calculate with it.

    Args:
        clauses: Of the passage.
        number: Of the clause that gives the value.
        value: One of the clause's.
        previous: The one before it, whose words are not this one's.
        following: The same for the one after it.
    """
    clause = clauses[number]
    around = _surroundings(clause, value, previous, following)
    counted = around.counted
    on_it = _ON_IT.match(clause.text, value.end) is not None
    if (
        value.dimension == "count"
        and not (counted or on_it)
        and around.right
        and around.right[0].word in _NOT_COUNTED
    ):
        return None
    bare = value.dimension == "count" and not counted
    if bare and (_CALCULATES.search(clause.text[: value.start]) or _CALCULATED.match(clause.text, value.end)):
        return None
    told_left = _telling(around.left)[-_LEFT:] + _same_noun(clauses, number, counted)
    told_right = _telling(around.behind)[:_RIGHT]
    begin, labels = begin_of(clauses, number), labels_in(clause.text)
    unnamed = not told_left and not counted
    if bare and not unnamed and STANDS.search(clause.text[: value.start]) is None:
        return None
    if on_it:
        more_left, begin, more = _antecedent(clauses, number)
        told_left, labels = more_left + told_left, labels | more
    if unnamed:
        told_left, begin, more = _antecedent(clauses, number)
        begin = min(begin, begin_of(clauses, number))
        told_right = told_right if _OF_WHAT.match(clause.text, value.end) else []
        labels = labels | more
        if not told_left and value.dimension != "version":
            return None
    heads = _heads(value, told_left, counted, unnamed=unnamed)
    terms = heads | stems_of(told_left) | stems_of(told_right)
    if value.dimension in APPOINTED_DIMENSIONS:
        if _PAST_EVENT.search(clause.text[: value.start]):
            return None
        near = {token.stem for token in (*around.left[-_LEFT:], *around.right[:_RIGHT])}
        heads = frozenset(
            APPOINTED[stem] for stem in (near | terms if unnamed else near) if stem in APPOINTED
        )
        if not heads and _IS_SET.search(clause.text[: value.start]):
            heads = stems_of(told_left[-_NEAREST:])
        if value.dimension == "weekday" and _RECURS.search(clause.text[: value.end]):
            heads |= {"recurs"}
        if _BY.search(clause.text[: value.start]):
            heads = frozenset((DEADLINE,))
        terms = frozenset(stem for stem in terms if stem not in APPOINTED) | heads
    elif value.dimension == "version":
        heads = frozenset((value.tool,))
        terms |= heads
    return Attribute(heads, terms, labels, _rate(clause, around), begin, unnamed, bare) if heads else None


def _heads(value: Value, left: Sequence[Token], counted: Sequence[Token], *, unnamed: bool) -> frozenset[str]:
    """Return what is measured or counted: the noun behind the value, else the nearest words before it."""
    if counted:
        plural = [token for token in counted if token.word.endswith("s")][:1]
        return stems_of(plural or counted) if value.dimension == "count" else stems_of(counted)
    return stems_of(left if unnamed or value.dimension == "count" else left[-_NEAREST:])


def _rate(clause: Clause, around: _Surroundings) -> str:
    if around.counted:
        found = RATE.match(clause.text, around.counted[-1].end - clause.start)
        if found:
            return found[1].lower()
    rates = (_ADJECTIVE_RATES.get(token.word, "") for token in (*around.left[-4:], *around.counted))
    return next(filter(None, rates), "")


def _same_noun(clauses: Sequence[Clause], number: int, counted: Sequence[Token]) -> list[Token]:
    """Return what told of the same noun earlier in the sentence: “area problems … 12 problems” gives “area”."""
    if len(counted) != 1:
        return []
    for clause in reversed(clauses[max(0, number - 2) : number + 1]):
        if clause.sentence != clauses[number].sentence:
            break
        places = [
            place
            for place, token in enumerate(clause.tokens)
            if token.stem == counted[0].stem and token.end < counted[0].start
        ]
        if places:
            found: list[Token] = []
            for token in reversed(clause.tokens[max(0, places[-1] - _NEAREST) : places[-1]]):
                if not token.tells:
                    break
                found.insert(0, token)
            return found
    return []


def _noun_phrase(clause: Clause, right: Sequence[Token], end: int) -> list[Token]:
    """Return the words right behind a value up to the first that tells nothing: “1,200 calls per day” gives “calls”."""
    found: list[Token] = []
    for token in right:
        between = clause.text[end - clause.start : token.start - clause.start]
        if _NOUN_STOP.search(between) or token.word in FUNCTION_WORDS or len(found) == 4:
            break
        if token.tells:
            found.append(token)
        end = token.end
    return found


def _part_of(clause: Clause, behind: Sequence[Token], end: int) -> list[Token]:
    """Return what a value is a part of: “3 of the 10 modules” gives “modules”."""
    found = _OF.match(clause.text, end - clause.start)
    if found is None:
        return []
    place = clause.start + found.end()
    return _noun_phrase(clause, [token for token in behind if token.start >= place], place)


def _antecedent(clauses: Sequence[Clause], number: int) -> tuple[list[Token], int, frozenset[str]]:
    """Return what “which”, “it” or a bare verb refers to: what the clause before tells."""
    clause = clauses[number]
    for other in reversed(clauses[max(0, number - 2) : number]):
        if clause.sentence - other.sentence > 1 or (
            other.sentence != clause.sentence and not _REFERS.match(clause.text)
        ):
            break
        told = _telling(other.tokens)[-_LEFT:]
        if told:
            begin = other.start if other.sentence == clause.sentence else clause.start
            return told, begin, labels_in(other.text)
    return [], clause.start, frozenset()


def _telling(tokens: Sequence[Token]) -> list[Token]:
    return [token for token in tokens if token.tells and token.stem not in CHANGE_STEMS]


def stems_of(tokens: Iterable[Token]) -> frozenset[str]:
    """Return the stems by which what tokens mean is compared."""
    return frozenset(SAME_MEANING.get(token.stem, token.stem) for token in tokens if token.tells)
