"""The router's words: cues, name lists and topics, read once from their data file."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.engine.triggers.model import MemoryType


@dataclass(frozen=True)
class RelationCue:
    """Verbs that state a relation.

    Args:
        relation: Of the vocabulary.
        verbs: How it is said.
        passive: The relation runs from what follows the verb to what stands before it.
        loose: Its end may stand further from the verb than its direct object (“leads the work on …”).
        of: Types that it may start from; empty for all.
        to: Types that it may lead to; empty for all.
    """

    relation: str
    verbs: re.Pattern[str]
    passive: bool = False
    loose: bool = False
    of: frozenset[str] = frozenset()
    to: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Cues:
    """What `routing.toml` holds.

    Args:
        types: A pattern for each type, in the order of precedence.
        cues: A pattern for each other question the router asks of a text.
        words: Word lists, lower case.
        topics: The tag that a word stands for.
        relations: Verbs that state relations, the surest first.
    """

    types: tuple[tuple[MemoryType, re.Pattern[str]], ...]
    cues: Mapping[str, re.Pattern[str]]
    words: Mapping[str, frozenset[str]]
    topics: Mapping[str, str]
    relations: tuple[RelationCue, ...] = ()

    def fits(self, cue: str, text: str) -> bool:
        """Return whether a cue of the `cues` table stands in the text."""
        return self.cues[cue].search(text) is not None


@cache
def routing_cues() -> Cues:
    """Return the shipped cues."""
    import tomllib

    text = resources.files("workbench.engine.triggers").joinpath("routing.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return Cues(
        tuple((kind, _any_of(patterns)) for kind, patterns in table["types"].items()),
        {name: _any_of(patterns) for name, patterns in table["cues"].items()},
        {name: frozenset(words) for name, words in table["words"].items()},
        {word: tag for tag, words in table["topics"].items() for word in words},
        tuple(_relation(entry) for entry in table["relations"]),
    )


def _relation(entry: dict[str, Any]) -> RelationCue:
    return RelationCue(
        entry["relation"],
        _any_of(entry["verbs"]),
        entry.get("passive", False),
        entry.get("loose", False),
        frozenset(entry.get("of", ())),
        frozenset(entry.get("to", ())),
    )


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE | re.MULTILINE)
