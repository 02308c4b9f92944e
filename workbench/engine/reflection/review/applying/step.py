"""One item while it is applied: a draft of its own over what the items before it did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import parse_memory_id
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.entities import EntityFiles
from workbench.engine.memory.graph import Origin
from workbench.engine.memory.lookup import SOURCE_WORD
from workbench.engine.memory.wording import is_correction
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.review.parsed_files import ParsedFiles
    from workbench.engine.reflection.review.plan_context import PlanContext

T = TypeVar("T")
_DAY: Final = lazy_pattern(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_CONFIDENCES: Final = ("high", "medium", "low")


@dataclass
class Step:
    """One item being applied.

    Args:
        item: The item.
        reflection: `r-012`.
        context: What planners need.
        before: The files before any item was applied.
        draft: The files with the items before this one applied, and what this one drafts.
        ids: Memories that it made or changed.
        warnings: What a person should know.
    """

    item: ReviewItem
    reflection: str
    context: PlanContext
    before: ParsedFiles
    draft: Draft
    ids: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def files(self) -> EntityFiles:
        """Return the entity files of its draft."""
        return EntityFiles(self.draft, self.context.lookup, self.context.now)

    @property
    def today(self) -> str:
        """Return the ISO date in the workspace’s zone."""
        return f"{self.context.now:%Y-%m-%d}"

    def evidence(self, part: slice = slice(None)) -> tuple[str, ...]:
        """Return the ids of memories that say so, each once; a part without any gives all of them."""
        every = self.item.evidence
        return tuple(dict.fromkeys(proof.id for proof in every[part] or every if _is_memory(proof.id)))

    def origin(self, since: str | None = None, part: slice = slice(None)) -> Origin:
        """Return where what an item states comes from.

        Args:
            since: ISO date from which it holds; without one, the first day that its evidence names.
            part: The part of the evidence that says it.
        """
        proofs = self.evidence(part)
        confidence = self.item.confidence if self.item.confidence in _CONFIDENCES else "medium"
        sources = (*proofs, f"{SOURCE_WORD}reflection:{self.reflection}")
        return Origin(sources, confidence, since or first_day(proofs))

    def corrected(self, part: slice = slice(None)) -> str | None:
        """Return what the item proposed where the person wrote something else, which its evidence does not say.

        Args:
            part: The part of the evidence that says it.
        """
        proposed = self.context.proposed(self.item.id)
        quotes = [proof.quote for proof in self.item.evidence[part] or self.item.evidence]
        if proposed is None or not is_correction(proposed, self.item.text, quotes):
            return None
        return proposed

    def own_origin(self) -> Origin:
        """Return where what a person wrote instead of an item’s words comes from: them, today."""
        return Origin((f"{SOURCE_WORD}reflection:{self.reflection}",), "high", self.today)


def first_day(ids: Sequence[str]) -> str | None:
    """Return the ISO date in the first of some ids that has one."""
    return next((found[0] for each in ids if (found := _DAY.search(each))), None)


def _is_memory(text: str) -> bool:
    try:
        parse_memory_id(text)
    except InvalidInput:
        return False
    return True
