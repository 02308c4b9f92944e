"""Takes up what was left to the reflection of agents' proposals: an item each, for a person to decide on (§13.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.identifiers import entity_id, entity_type, slug
from workbench.engine.markdown.review import Evidence
from workbench.engine.memory.wording import clip, one_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.items import field_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.engine.markdown.proposals import MemoryProposal
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.items import Confidence

_LIST_MARK: Final = lazy_pattern(r"^\s*(?:[-*+]|\d+[.)])\s+")
_NUMBER: Final = lazy_pattern(r"#(\d{1,9})")
_QUOTED: Final = 300
_LONGEST: Final = 2000
_TITLE: Final = 80
_GENERAL: Final = "concept--general"


def items_of(proposals: Iterable[MemoryProposal], owner: str) -> Iterator[ReviewItem]:
    """Yield an item for each proposal that was deferred; it names the proposal, which goes with its decision.

    Args:
        proposals: Of the file.
        owner: The person's name as core memory has it; empty where it does not say.
    """
    for proposal in proposals:
        text = one_line(proposal.content)
        if proposal.is_deferred and proposal.span is not None and text:
            item = _item(proposal, text, owner)
            named = (items.OF_PROPOSAL, f"#{proposal.number}")
            yield replace(item, fields=(*item.fields, named))


def numbers_of(decided: Iterable[ReviewItem]) -> tuple[int, ...]:
    """Return the numbers of the proposals that some items come from."""
    found = (_NUMBER.fullmatch(field_of(item, items.OF_PROPOSAL)) for item in decided)
    return tuple(dict.fromkeys(int(match[1]) for match in found if match))


def _item(proposal: MemoryProposal, text: str, owner: str) -> ReviewItem:
    span = proposal.span
    assert span is not None
    where = f"file:{layout.PENDING_MEMORIES}#L{span.start}-L{span.end}"
    evidence = [Evidence(where, text[:_QUOTED])]
    sender = clip(proposal.sender, 40) or "somebody"
    reason = f"{sender} proposed it, and it was left to the reflection."
    confidence: Confidence = (
        "high" if proposal.confidence == "high" else "low" if proposal.confidence == "low" else "medium"
    )
    text = clip(text, _LONGEST)
    steps = [_LIST_MARK.sub("", line).strip() for line in proposal.content.split("\n") if line.strip()]
    if proposal.store == "procedural" and len(steps) > 1:
        title = clip(steps[0] if not _LIST_MARK.match(proposal.content) else text, _TITLE)
        return items.procedure(
            f"procedure:{slug(title)}", title, steps, evidence, reason=reason, confidence=confidence
        )
    if proposal.store == "core" or proposal.core_worthy:
        return items.core_change("core:active-context", text, evidence, reason=reason, confidence=confidence)
    entity = next(_entities(proposal), "") or (entity_id("person", owner).name if owner else _GENERAL)
    return items.fact(entity, text, evidence, reason=reason, confidence=confidence, needs=[entity])


def _entities(proposal: MemoryProposal) -> Iterator[str]:
    """Yield the entities that it is about by id, as far as its names are such."""
    for entity in proposal.entities:
        bare = entity.strip().removeprefix("entity:")
        kind, dashes, name = bare.partition("--")
        if not dashes:
            kind, _, name = bare.partition(":")
        if entity_type(kind) and name.strip():
            yield entity_id(kind, name).name
