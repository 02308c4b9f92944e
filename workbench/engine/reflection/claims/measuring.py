"""Reads the values that a clause states or aims at: what each is the value of, and how surely it is new."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.clauses import Mode, begin_of
from workbench.engine.reflection.claims.model import Measured, Span
from workbench.engine.reflection.claims.values import APPOINTED_DIMENSIONS, RATE, labels_in, values_in
from workbench.engine.reflection.claims.vocabulary import (
    ADDS_UP,
    APPOINTED,
    CHANGE_STEMS,
    CLEAR_CHANGE,
    CLEAR_MOVE,
    DEADLINE,
    FAINT_CHANGE,
    FUNCTION_WORDS,
    SAME_MEANING,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.engine.reflection.claims.clauses import Clause, Token
    from workbench.engine.reflection.claims.model import Origin
    from workbench.engine.reflection.claims.values import Value

# A clause with more is a table or a dump.
_MOST_VALUES: Final = 12
_MARKER_REACH: Final = 70
_FORMULA: Final = lazy_pattern(r"\\[()\[\]a-z]|[\w)}]\^[\w({]")
_DENIED = lazy_pattern(r"\b(?:can['’]?t|cannot|won['’]?t|no\s+longer)\b(?:\W+\w+){0,4}\W*$", re.IGNORECASE)
_NOW_AT_THE_END: Final = lazy_pattern(r"\b(?:now|these\s+days)\W*$", re.IGNORECASE)
_SENTENCE_REACH: Final = 6
_PRESUPPOSED = lazy_pattern(
    r"\b(?:the|my|our|this|its)\s+(?:[\w'’-]+\s+)?(?:\d[\w,./%]*\s+[\w/]+\s+and\s+)?$"
    r"|\b(?:the|my|our|this|its)\s+(?:[\w'’-]+\s+){1,4}of\s+$|\b(?:currently|now|already)\s+$",
    re.IGNORECASE,
)
_NAMED = lazy_pattern(r"\b(?:the|my|our|this|its)\s+(?:[\w'’-]+\s+){1,4}of\s+$", re.IGNORECASE)
_FROM = lazy_pattern(r"\bfrom\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_TO = lazy_pattern(r"^\s*(?:per\s+\w+\s+)?(?:[\w-]+\s+){0,2}?to\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_NOT = lazy_pattern(
    r"[^,.;]{0,30}?(?:,?\s+(?:and\s+|but\s+)?not(?!\s+(?:just|only|even|all|every)\b)|,?\s+(?:instead|in\s+place)\s+of|,?\s+rather\s+than)\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
"""What stands between a value and the one that it takes the place of: “11:00, not 10:00”."""
_BY: Final = lazy_pattern(
    r"\bby\s+(?:(?:about|around|roughly|approximately|nearly|almost|only|just|over|under|up\s+to|at\s+(?:least|most)"
    r"|(?:more|less|fewer)\s+than|an?\s+(?:additional|extra|whole|full|further|total\s+of)|an(?:other)?|some|as\s+much\s+as)\s+)*$",
    re.IGNORECASE,
)
_CHANGES: Final = lazy_pattern(
    r"\b(?:increas|decreas|reduc|rais|lower|rise|rose|risen|grow|grew|cut|drop|fall|fell|improv|extend|shorten|expand|shrink|shr[au]nk"
    r"|boost|bump|divi[ds]|multipl|trim|slash|shift|mov|push|postpon|delay|climb|jump|gain|beat|exceed|overr[au]n|short|behind|ahead|up|down"
    r"|(?:fast|slow|high|low|long|short|big|great|small|old|young|larg|bett|wors|few|cheap)er)\w*",
    re.IGNORECASE,
)
_DIFFERENCE: Final = lazy_pattern(
    r"\b(?:an?|the|this|that)\s+(?:[\w-]+\s+){0,2}?(?:increase|decrease|rise|raise|reduction|drop|improvement|gain|fall|growth|cut|boost"
    r"|bump|jump|decline|saving|loss|extension|delay|difference)s?\s+of\s+(?:(?:about|around|roughly|nearly|almost|over)\s+)?$"
    r"|(?<!have )(?<!has )(?<!['’]ve )(?<!['’]s )\b(?:gained|shed|put\s+on|shaved\s+off|knocked\s+off)\s+"
    r"(?:(?:about|around|roughly|nearly|almost|over|only|just)\s+)?$"
    r"|\b(?:another|an?\s+(?:additional|extra|further))\s+$",
    re.IGNORECASE,
)
_MORE: Final = lazy_pattern(
    r"\s+(?:(?:more|less|fewer|extra|additional)\b(?!\s+than\s+\d)"
    r"|(?:fast|slow|high|low|long|short|bigg|great|small|old|young|larg|cheap|heavi|light|earli|lat)er\b"
    r"|(?:(?!(?:after|and|at|by|for|from|in|of|on|or|per|through|to|with)\b)[a-z]+\s+)?"
    r"(?:increase|decrease|raise|reduction|improvement|boost|bump|drop|rise|decline|growth)s?\b)",
    re.IGNORECASE,
)
"""What stands around an amount by which something changed or differs, which is not what it is."""
_TOGETHER = lazy_pattern(r"\s*,?\s*(?:(?:on|at|from|the|around|about)\s+){0,2}", re.IGNORECASE)
"""What stands between a day and its time of day."""
_ROW = lazy_pattern(r"\s*(?:°|,|and|or|x|×|by|&|,\s*and|°,?(?:\s*and)?)\s*", re.IGNORECASE)
_PERSONAL = lazy_pattern(r"\b(?:i|i['’]m|i['’]ve|my|we|we['’]re|we['’]ve|our)\b|我", re.IGNORECASE)
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
_BY_DAY = lazy_pattern(r"\b(?:by|until|till|due(?:\s+(?:on|by))?)\s+(?:the\s+)?$", re.IGNORECASE)
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
_CLEARLY: Final = 2
# Characters before a value that may say that it is a difference.
_REACH: Final = 160
# What a sentence begins with that puts right what was said before.
_CORRECTS = lazy_pattern(r"\W*(?:correction|update|更正|纠正|糾正)\W*", re.IGNORECASE)


def measured(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Measured]:
    """Yield the values of a clause with what they are of; suppositions and what has no attribute are left out.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    written = values_in(clause.text)
    if len(written) > _MOST_VALUES:
        return
    values = [
        v for v in written if not _DENIED.search(clause.text[: v.start]) and not is_difference(clause.text, v)
    ]
    if not values or _FORMULA.search(clause.text):
        return
    context = stems_of(
        token
        for other in clauses[max(0, number - _SENTENCE_REACH) : number + _SENTENCE_REACH]
        if other.sentence == clause.sentence
        for token in other.tokens
    )
    corrects = (
        number > 0
        and clauses[number - 1].sentence == clause.sentence
        and _CORRECTS.fullmatch(clauses[number - 1].text) is not None
    )
    before: Value | None = None
    for place, value in enumerate(values):
        following = values[place + 1] if place + 1 < len(values) else None
        mode = _mode(clause, value)
        was = _was(clause, before, value) or _not(clause, value, following)
        yields_later = following is not None and _was(clause, value, following) is not None
        is_denied = before is not None and _not(clause, before, value) is not None
        previous, before = before if not _go_together(clause, before, value) else None, value
        if (
            mode is None
            or yields_later
            or is_denied
            or _is_listed(clause, previous, value)
            or _is_listed(clause, value, following)
        ):
            continue
        found = attribute_of(clauses, number, value, previous if was is None else None, following)
        if found is None:
            continue
        yield Measured(
            origin,
            value if not found.per or value.per else replace(value, per=found.per),
            found.heads,
            found.terms,
            found.labels,
            mode is Mode.AIMS,
            _CLEARLY if corrects else _change(clause, value, previous, following, was),
            was,
            Span(found.start, clause.end, clause.start + value.start),
            found.unnamed,
            found.bare,
            value.dimension in APPOINTED_DIMENSIONS or bool(origin.fact) or _stands(clause, value),
            context,
        )


def is_difference(text: str, value: Value) -> bool:
    """Return whether an amount says by how much something changed or differs, not what it is: “raised it by 5 %”."""
    if value.dimension in (*APPOINTED_DIMENSIONS, "version"):
        return False
    before = text[max(0, value.start - _REACH) : value.start]
    by = _BY.search(before)
    if by is not None:
        # “Read by 40 people” counts readers; only a verb of change makes an amount of it.
        return value.dimension != "count" or _CHANGES.search(before[: by.start()]) is not None
    return _DIFFERENCE.search(before) is not None or _MORE.match(text, value.end) is not None


def _mode(clause: Clause, value: Value) -> Mode | None:
    mode = clause.mode_at(clause.start + value.start)
    if mode is Mode.SUPPOSES:
        return None
    if value.dimension in APPOINTED_DIMENSIONS and not clause.asked:
        return Mode.STATES
    if clause.asked:
        return Mode.STATES if mode is Mode.ASKS and _PRESUPPOSED.search(clause.text[: value.start]) else None
    if mode is Mode.AIMS and _NAMED.search(clause.text[: value.start]):
        return Mode.STATES
    return mode


def _was(clause: Clause, before: Value | None, value: Value) -> Value | None:
    """Return the value before where the text says “from … to …”."""
    if before is None or before.dimension != value.dimension:
        return None
    if _FROM.search(clause.text[: before.start]) and _TO.match(clause.text[before.end : value.start]):
        return before
    return None


def _not(clause: Clause, value: Value, following: Value | None) -> Value | None:
    """Return the value behind where the text says “…, not …” or “… instead of …”."""
    if following is None or following.dimension != value.dimension:
        return None
    return following if _NOT.fullmatch(clause.text, value.end, following.start) else None


def _go_together(clause: Clause, before: Value | None, value: Value) -> bool:
    """Return whether a day and a time of day are said in one breath: “Wednesdays at 10:00”."""
    if before is None or not {before.dimension, value.dimension} <= APPOINTED_DIMENSIONS:
        return False
    return _TOGETHER.fullmatch(clause.text, before.end, value.start) is not None


def _stands(clause: Clause, value: Value) -> bool:
    before = clause.text[: value.start]
    return _PERSONAL.search(before) is not None and STANDS.search(before) is not None


def _is_listed(clause: Clause, one: Value | None, other: Value | None) -> bool:
    """Return whether two values stand in a row, “sides of 3 cm, 4 cm”: then neither is the value of anything alone."""
    if one is None or other is None or one.dimension != other.dimension:
        return False
    return _ROW.fullmatch(clause.text, one.end, other.start) is not None


def _change(
    clause: Clause, value: Value, previous: Value | None, following: Value | None, was: Value | None
) -> int:
    """Tell how surely the words between the value before and this one say that it is new."""
    apart = previous is not None and (
        previous.dimension not in APPOINTED_DIMENSIONS or value.dimension in APPOINTED_DIMENSIONS
    )
    edge = previous.end if previous and apart else 0
    near = clause.text[max(edge, value.start - _MARKER_REACH) : value.start]
    behind = clause.text[value.end : value.end + 24]
    clear = CLEAR_MOVE if value.dimension in APPOINTED_DIMENSIONS else CLEAR_CHANGE
    now = following is None and _NOW_AT_THE_END.search(clause.text, value.end) is not None
    if was is not None or now or clear.search(near) or re.match(r"\W*(?:now|instead|不再)\b", behind):
        return _CLEARLY
    adds_up = value.dimension == "count" and ADDS_UP.search(near)
    return 1 if adds_up or FAINT_CHANGE.search(near) else 0


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
        if _BY_DAY.search(clause.text[: value.start]):
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
