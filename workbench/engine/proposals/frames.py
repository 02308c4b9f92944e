"""Tells of two short statements whether they give one thing two values: “the deadline is March 15” and “… March 30”.

Compared are single statements that say the same words but for one stretch. What people tell over time is compared with
more care elsewhere; here two agents say the like at once, and somebody looks at both.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from workbench.engine.catalog.terms import STOP_WORDS, fold

_WORD: Final = re.compile(r"[^\s,;:!?()\[\]“”\"]+")
_MOST_WORDS: Final = 30
_MOST_VALUE: Final = 5
_STATES: Final = frozenset(
    (
        "is", "are", "was", "were", "be", "equals", "costs", "cost", "weighs", "lasts", "takes", "ends", "starts",
        "begins", "opens", "closes", "expires", "on", "at", "by", "until", "till", "from", "to", "in", "called",
        "named", "has", "have", "uses", "use", "runs", "run", "happens", "happen", "due", "needs", "=", "prefers",
        "wants", "likes", "of", "version", "port",
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
_DENIALS: Final = frozenset(
    ("not", "never", "no", "cannot", "don't", "doesn't", "didn't", "isn't", "aren't", "won't")
)
_HELPING: Final = frozenset(("do", "does", "did"))
_MONTHS: Final = frozenset(
    (
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
    )
)  # fmt: skip
_DAYS: Final = frozenset(
    (
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mondays", "tuesdays",
        "wednesdays", "thursdays", "fridays", "saturdays", "sundays", "today", "tomorrow", "daily", "weekly", "monthly",
        "noon", "midnight", "morning", "evening", "yes",
    )
)  # fmt: skip
_PASSING: Final = frozenset(("the", "a", "an", "on", "at", "by", "th", "st", "nd", "rd"))
_POINTED: Final = frozenset(("the", "our", "my", "your", "their", "his", "her", "its"))
_FEWEST_SHARED: Final = 2


def contradict(one: str, other: str) -> bool:
    """Tell whether two statements cannot both hold, as far as their words show it."""
    first, second = _words(one), _words(other)
    if not first or not second or max(len(first), len(second)) > _MOST_WORDS:
        return False
    a, b = [fold(word) for word in first], [fold(word) for word in second]
    return _denies(a, b) or _differs_in_a_value(first, a, second, b)


def _words(text: str) -> list[str]:
    return [word for found in _WORD.findall(text[:1000]) if (word := found.strip(".'’…"))]


def _denies(a: list[str], b: list[str]) -> bool:
    """Tell whether one says the other’s words and a denial."""
    if (_DENIALS & set(a) == set()) == (_DENIALS & set(b) == set()):
        return False
    one, other = (
        sorted(_stem(word) for word in words if word not in _DENIALS | _HELPING | _PASSING)
        for words in (a, b)
    )
    return one == other and len(one) > 1


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _differs_in_a_value(first: list[str], a: list[str], second: list[str], b: list[str]) -> bool:
    # “is on 30 March” and “is March 15” begin alike; small words between do not count.
    first, a = _plain(first, a)
    second, b = _plain(second, b)
    start = _shared(a, b)
    end = _shared(a[start:][::-1], b[start:][::-1])
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


def _shared(one: list[str], other: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _is_measure(words: list[str]) -> bool:
    """Tell whether a stretch gives a number, a day or a time, and little else."""
    folded = [fold(word) for word in words]
    telling = [word for word in folded if any(c.isdigit() for c in word) or word in _MONTHS | _DAYS]
    return bool(telling) and len(folded) - len(telling) <= 2
