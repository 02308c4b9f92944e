"""What people claim, as values: of whom, of what, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.reflection.claims.value import Value
    from workbench.engine.reflection.model import Passage


CLEARLY: Final = 2
"""How surely words say that something is new: not at all, 1 weakly, 2 clearly."""


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
        names: Stems of what the clause writes like names.
        own: Whether the speaker speaks of himself.
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
    names: frozenset[str] = frozenset()
    own: bool = False
