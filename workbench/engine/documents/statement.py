"""One fact or relation as a list item: the sentence, what is known about it in words, and its block id."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known about a fact or relation: when it was true and where it comes from.

    Args:
        since: ISO date (or year, or month) from which it holds, or None.
        until: ISO date to which it held, or None.
        sources: Ids of the memories it comes from, for example `episode:2026-02-02:14:30`.
        superseded_by: Block id (without `^`) of the fact that took its place, or None.
        confidence: `high`, `medium`, `low` or None.
    """

    since: str | None = None
    until: str | None = None
    sources: tuple[str, ...] = ()
    superseded_by: str | None = None
    confidence: str | None = None

    def __bool__(self) -> bool:
        return bool(self.since or self.until or self.sources or self.superseded_by or self.confidence)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with its provenance and block id (without `^`), or None where it has none."""

    text: str
    provenance: Provenance = field(default_factory=Provenance)
    block_id: str | None = None


def parse_statement(text: str) -> Statement:
    """Read an item's text (without list marker). Takes any text."""
    raise NotImplementedError


def render_statement(statement: Statement) -> str:
    """Write an item's text, so that `parse_statement` gives the statement back, `text` cleaned of outer space."""
    raise NotImplementedError


def new_block_id(prefix: str, seed: str, taken: Iterable[str]) -> str:
    """Return a short block id that is not taken, the same every time for the same arguments.

    Args:
        prefix: One letter, `f` for facts, `r` for relations.
        seed: What is named, normally the text.
        taken: Ids that are in use in the file.
    """
    raise NotImplementedError
