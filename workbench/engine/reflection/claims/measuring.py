"""Reads the values that a clause states or aims at, and how surely they are new."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.attributes import STANDS, attribute_of, stems_of
from workbench.engine.reflection.claims.clauses import Mode
from workbench.engine.reflection.claims.model import Measured, Span
from workbench.engine.reflection.claims.value import APPOINTED_DIMENSIONS
from workbench.engine.reflection.claims.values import values_in
from workbench.engine.reflection.claims.vocabulary import ADDS_UP, CLEAR_CHANGE, CLEAR_MOVE, FAINT_CHANGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.clauses import Clause
    from workbench.engine.reflection.claims.model import Origin
    from workbench.engine.reflection.claims.value import Value

# A clause with more is a table or a dump.
_MOST_VALUES: Final = 12
_MARKER_REACH: Final = 70
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
    r"|boost|bump|trim|slash|shift|mov|push|postpon|delay|climb|jump|gain|beat|exceed|overr[au]n|short|behind|ahead|up|down"
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


def measured(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Measured]:
    """Yield the values of a clause with what they are of; suppositions and what has no attribute are left out.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    values = [
        v
        for v in values_in(clause.text)
        if not _DENIED.search(clause.text[: v.start]) and not _is_difference(clause.text, v)
    ]
    if not values:
        return
    context = stems_of(
        token
        for other in clauses[max(0, number - _SENTENCE_REACH) : number + _SENTENCE_REACH]
        if other.sentence == clause.sentence
        for token in other.tokens
    )
    if len(values) > _MOST_VALUES:
        return
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
            _change(clause, value, previous, following, was),
            was,
            Span(found.start, clause.end, clause.start + value.start),
            found.unnamed,
            found.bare,
            value.dimension in APPOINTED_DIMENSIONS or bool(origin.fact) or _stands(clause, value),
            context,
        )


def _is_difference(text: str, value: Value) -> bool:
    """Return whether an amount says by how much something changed or differs, not what it is: “raised it by 5 %”."""
    if value.dimension in (*APPOINTED_DIMENSIONS, "version"):
        return False
    before = text[: value.start]
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
        return 2
    adds_up = value.dimension == "count" and ADDS_UP.search(near)
    return 1 if adds_up or FAINT_CHANGE.search(near) else 0
