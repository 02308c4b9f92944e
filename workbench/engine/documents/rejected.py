"""`memory/meta/rejected.md`: what a person rejected, so that it is not proposed again without new evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from workbench.engine.documents.items import append_lines, outermost_items, remove_lines
from workbench.engine.documents.outline import read_outline
from workbench.engine.documents.review_item import ReviewItem, read_item, review_item_lines
from workbench.engine.documents.source import LineSpan, SourceText, is_blank
from workbench.engine.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.problems import Problem

_REJECTED: Final = "rejected"
_OPENING: Final = (
    "# Rejected",
    "",
    "<!-- What you rejected is not proposed again without new evidence. Delete an item to allow it again. -->",
    "",
)


@dataclass(frozen=True, slots=True)
class RejectedClaim:
    """One claim that a person did not want.

    Args:
        item: As it was proposed: its kind, target, text, fields and evidence.
        time: When it was rejected, ISO 8601 as written; empty where the file does not say.
        reflection: Of which it was a part, `r-003`; empty where the file does not say.
    """

    item: ReviewItem
    time: str = ""
    reflection: str = ""

    @property
    def id(self) -> str:
        """Return the item's id, `r-003.2`."""
        return self.item.id

    @property
    def day(self) -> str:
        """Return the day of the rejection, ISO 8601."""
        return self.time[:10]


@dataclass(frozen=True)
class RejectedClaims:
    """All rejected claims in the file's order; edits return a new file."""

    path: str
    source: SourceText
    claims: tuple[RejectedClaim, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "memory/meta/rejected.md") -> RejectedClaims:
        """Read the file. Any bytes will do; of two claims with one id the first counts."""
        source = SourceText.from_bytes(content)
        outline = read_outline(source)
        problems: list[Problem] = []
        found: dict[str, RejectedClaim] = {}
        for listed in outermost_items(outline, source.span):
            item = read_item(outline, listed, "", problems, path, boxed=False)
            if item is not None:
                found.setdefault(item.id, _claim(item))
        return cls(path, source, tuple(found.values()), tuple(problems))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def claim(self, claim_id: str) -> RejectedClaim | None:
        """Find a claim by its id."""
        return next((claim for claim in self.claims if claim.id == claim_id), None)

    def add(self, claims: Iterable[RejectedClaim]) -> RejectedClaims:
        """Add claims at the end; one whose id is there already takes the old one's place."""
        new = {claim.id: claim for claim in claims}
        if not new:
            return self
        known = {claim.id for claim in self.claims}
        source = self.remove(known & new.keys()).source
        lines = [line for claim in new.values() for line in _lines(claim)]
        if all(is_blank(line) for line in source.lines):
            return self.parse(source.append([*_OPENING, *lines]).render(), self.path)
        ends_in_list = any(
            claim.item.span is not None and claim.item.span.end == source.trimmed(source.span).end
            for claim in self.parse(source.render()).claims
        )
        if ends_in_list:
            last = source.trimmed(source.span).end
            return self.parse(source.insert_after(last, lines).render(), self.path)
        return self.parse(append_lines(source, lines).render(), self.path)

    def remove(self, claim_ids: Iterable[str]) -> RejectedClaims:
        """Take claims out, so that they may be proposed again. Raises `NotFound`."""
        spans = sorted((self._span(claim_id) for claim_id in set(claim_ids)), reverse=True)
        source = self.source
        for span in spans:
            source = remove_lines(source, span)
        return self.parse(source.render(), self.path) if spans else self

    def _span(self, claim_id: str) -> LineSpan:
        claim = self.claim(claim_id)
        if claim is None or claim.item.span is None:
            raise NotFound(
                f"Nothing was rejected as {claim_id}.",
                where=self.path,
                remedy="List what was rejected with: workbench review rejected",
            )
        return claim.item.span


def _claim(item: ReviewItem) -> RejectedClaim:
    said = dict(item.fields).get(_REJECTED, "")
    time, _, reflection = said.partition(" in ")
    fields = tuple(field for field in item.fields if field[0] != _REJECTED)
    return RejectedClaim(replace(item, fields=fields, decision="rejected"), time.strip(), reflection.strip())


def _lines(claim: RejectedClaim) -> list[str]:
    said = f"{claim.time} in {claim.reflection}" if claim.reflection else claim.time
    fields = ((_REJECTED, said), *(field for field in claim.item.fields if field[0] != _REJECTED))
    return review_item_lines(replace(claim.item, fields=fields), boxed=False)
