"""What people claim, as values: of whom, of what, and how surely.

A word tells the more, the fewer passages have it; claims are near each other where they share the telling ones.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.engine.reflection.claims.values import Value
    from workbench.engine.reflection.model import Passage

_RAREST: Final = 4
_MOST_CANDIDATES: Final = 80


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a claim was read.

    Args:
        passage: The passage, or a recorded fact in the form of one.
        order: Its place among all that was read, oldest first.
        speaker: Whose claim it is, folded; what different people say of themselves never conflicts.
        fact: The fact's id where it is a recorded one, else empty.
        is_new: Whether it is among what this cycle surveys.
        subject: Whom the words name, where that is not the speaker.
    """

    passage: Passage
    order: int
    speaker: str
    fact: str = ""
    is_new: bool = True
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a passage's text that says a claim; `key` is the place in it that a short quote must hold."""

    start: int
    end: int
    key: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A value with what it is the value of.

    Args:
        origin: Where it was read.
        value: The value.
        heads: Stems of the words that say what is measured or counted.
        terms: Stems of everything around that says of what; includes the heads.
        labels: Which one of several (“sprint 2” gives `2`).
        aims: Whether it is a goal rather than a state.
        change: How surely the words say that it is new: 0 not at all, 1 weakly, 2 clearly.
        was: The value that the words say it had before, or None.
        span: The words.
        unnamed: Whether it only says “it” or “which”, so that the attribute is that of the words before.
        bare: Whether it is a number with neither a unit nor a noun.
        stands: Whether the words say that something of the speaker's is or has the value.
        context: Stems of the whole sentence.
    """

    origin: Origin
    value: Value
    heads: frozenset[str]
    terms: frozenset[str]
    labels: frozenset[str]
    aims: bool
    change: int
    was: Value | None
    span: Span
    unnamed: bool = False
    bare: bool = False
    stands: bool = True
    context: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of the things that a denial names: its stems, and those of the thing itself.

    Args:
        stems: Of all its words.
        core: Of those before the first preposition: “macros” in “macros for reports”.
    """

    stems: frozenset[str]
    core: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Denial:
    """“I have never …”: each alternative of “or” by its stems.

    Args:
        origin: Where it was read.
        verb: Stem of what was never done.
        alternatives: What it was never done to.
        span: The words.
        has_yet: Whether it is rather a state than a history: “haven’t … yet”, “don’t have”.
        names: Those of the stems that are written like names.
        meant: What “which” goes back to, where the denial hangs on one.
    """

    origin: Origin
    verb: str
    alternatives: tuple[Alternative, ...]
    span: Span
    has_yet: bool
    names: frozenset[str]
    meant: str

    @property
    def never(self) -> bool:
        """Return whether it denies a whole history."""
        return not self.has_yet


@dataclass(frozen=True, slots=True)
class Deed:
    """What somebody has done, does or has.

    Args:
        origin: Where it was read.
        verb: Stem of the verb.
        terms: Stems of the clause.
        head: Of what is had, the stem of the thing itself: “key” of “my API key”; empty where nothing is.
        presupposed: Whether the words take it for granted: “the loan I had”.
        strength: 1 done or had, 0.75 going on, 0.5 tried or meant.
        span: The words.
    """

    origin: Origin
    verb: str
    terms: frozenset[str]
    strength: float
    span: Span
    head: str = ""
    presupposed: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing preferred or taken in another's place.

    Args:
        origin: Where it was read.
        kind: `prefers`, `uses` or the name of an attribute that has one value (“lives in”).
        chosen: Stems of what.
        against: Stems of what not; empty where nothing is said.
        about: Stems of the rest of the clause.
        change: As for `Measured`.
        span: The words.
    """

    origin: Origin
    kind: str
    chosen: frozenset[str]
    against: frozenset[str]
    about: frozenset[str]
    change: int
    span: Span


class Weights:
    """Inverse document frequencies.

    Args:
        documents: The stems of each passage.
    """

    def __init__(self, documents: Iterable[frozenset[str]]) -> None:
        self._counts: Counter[str] = Counter()
        self._number = 0
        for stems in documents:
            self._counts.update(stems)
            self._number += 1

    def of(self, stem: str) -> float:
        """Return ln(1 + N / (1 + n)): N passages, n of which have the stem."""
        return math.log(1.0 + (self._number + 2.0) / (1.0 + self._counts[stem]))

    def total(self, stems: Iterable[str]) -> float:
        """Return the sum over stems."""
        return sum(map(self.of, stems))

    def similarity(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return how much of both is shared, 0–1: the shared weight by six parts the lighter, four the heavier."""
        shared = self.total(one & other)
        if not shared:
            return 0.0
        lighter, heavier = sorted((self.total(one), self.total(other)))
        return shared / (0.6 * lighter + 0.4 * heavier)

    def coverage(self, asked: frozenset[str], given: frozenset[str], names: frozenset[str]) -> float:
        """Return the share of the weight of `asked` that `given` has, 0–1; `names` weigh double."""
        total = self.total(asked) + self.total(asked & names)
        shared = asked & given
        return (self.total(shared) + self.total(shared & names)) / total if total else 0.0

    def rarest(self, stems: Iterable[str]) -> list[str]:
        """Return the four that tell most."""
        return sorted(stems, key=lambda stem: (-self.of(stem), stem))[:_RAREST]


class Postings:
    """Claims by their stems, in the order they were added."""

    def __init__(self) -> None:
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, number: int, stems: Iterable[str]) -> None:
        """Enter a claim by its number."""
        for stem in stems:
            self._by_stem[stem].append(number)

    def near(self, stems: Sequence[str]) -> list[int]:
        """Return the claims that have any of these stems: of each stem the 80 entered last, newest first."""
        found: dict[int, None] = {}
        for stem in stems:
            for number in self._by_stem.get(stem, ())[-_MOST_CANDIDATES:]:
                found[number] = None
        return sorted(found, reverse=True)
