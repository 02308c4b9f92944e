"""Finds proposals and memories that a proposal repeats or contradicts: selects the nearest, compares values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Final, Literal

from workbench.engine.catalog.terms import STOP_WORDS, fold, terms
from workbench.engine.markdown.proposals import DEFERRED
from workbench.engine.memory.wording import text_key

if TYPE_CHECKING:
    from collections.abc import Iterator


Relation = Literal["", "repeats", "contradicts"]

Compare = Callable[[str, str], Relation]
"""Returns the relation of a new text to an older one."""

MOST_COMPARED: Final = 24
_HEADING: Final = re.compile(r"^##[ \t]+proposal[ \t]*#?[ \t]*(\d{1,9})(?!\w)", re.IGNORECASE | re.MULTILINE)
_CONTENT: Final = re.compile(
    r"^- \*\*Content\*\*:[ \t]*(.*(?:\n(?:[ \t].*|[ \t]*(?=\n[ \t])))*)", re.IGNORECASE | re.MULTILINE
)
_STATUS: Final = re.compile(rf"^- \*\*Status\*\*:[ \t]*{DEFERRED}[ \t]*$", re.IGNORECASE | re.MULTILINE)
# The part of a text used to find its topic.
_LOOKED_AT: Final = 2000
_FEW_WORDS: Final = 3

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
        text: The new text.
        others: Names and texts; facts without an id share the name of their entity.
        compare: Returns the relation of two texts.
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
        number: As written.
        text: The text to remember.
        key: Equal for texts with the same wording.
        words: Its topic words.
        deferred: Whether it was left to the reflection.
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
    # “is on 30 March” and “is March 15” begin alike; small words in between do not count.
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
    """Return True if a passage is mainly a number, a day or a time."""
    folded = [fold(word) for word in words]
    telling = [word for word in folded if any(c.isdigit() for c in word) or word in _MONTHS | _DAYS]
    return bool(telling) and len(folded) - len(telling) <= 2
