"""What others submit to a person beside what a reflection proposes.

A merge that somebody thought of, and proposals of agents that were left to the reflection (§13.3), an item each.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import DocumentError, InvalidInput, Refused
from workbench.engine.history.plan import Action, FileChange, Plan
from workbench.engine.identifiers import entity_id, entity_type, slug
from workbench.engine.markdown.review import Evidence, PendingReflection
from workbench.engine.markdown.source import load_template
from workbench.engine.memory.wording import clean_line, clip, one_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.claim_keys import claim_of, same
from workbench.engine.reflection.files import (
    next_reflection,
    read_log,
    read_pending,
    read_rejected,
    reflection_of,
)
from workbench.engine.reflection.items import field_of
from workbench.engine.reflection.kinds import SECTIONS, Kind, kind_of
from workbench.engine.reflection.review.staleness import stamp
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.entity import EntityFile
    from workbench.engine.markdown.proposals import MemoryProposal
    from workbench.engine.markdown.reflection_records import RejectedClaim
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.memory.entities import EntityFiles
    from workbench.engine.reflection.items import Confidence

_FROM_THE_GRAPH = "Proposed by hand, from the graph."
_LINKED = lazy_pattern(r"\[\[([^\[\]|#]+)")
_LIST_MARK: Final = lazy_pattern(r"^\s*(?:[-*+]|\d+[.)])\s+")
_NUMBER: Final = lazy_pattern(r"#(\d{1,9})")
_QUOTED: Final = 300
_LONGEST: Final = 2000
_TITLE: Final = 80
_GENERAL: Final = "concept--general"


def plan_propose_merge(
    files: EntityFiles, keep: str, absorb: str, now: datetime, *, reason: str, person: bool
) -> Plan[Changed]:
    """Plan an item of the proposal that waits, or a proposal of this one item.

    Args:
        files: The entity files of an empty draft.
        keep: Id or name of the entity that would stay.
        absorb: Id or name of the entity that would go into it.
        now: In the workspace's zone.
        reason: Why they are one, one sentence.
        person: Whether a person proposes it, who may propose again what was rejected.

    Raises:
        NotFound: There is no such entity.
        Ambiguous: A name fits several.
        InvalidInput: They are one entity already, or this merge waits already.
        Refused: A person rejected this merge, and somebody else proposes it.
        DocumentError: The proposal that waits does not say which reflection it is of, or cannot be added to.
    """
    view = files.draft
    kept, absorbed = files.find(keep), files.find(absorb)
    if kept.id == absorbed.id:
        raise InvalidInput(
            f"{clip(keep)} and {clip(absorb)} are one entity already.",
            where=kept.path,
            remedy="Part them with: workbench graph unmerge",
        )
    pending = read_pending(view)
    waiting = next((item for item in pending.items if _joins(item, kept.id, absorbed.id)), None)
    if waiting is not None:
        raise InvalidInput(
            f"This merge waits already, as {waiting.id}.",
            where=layout.PENDING_REFLECTION,
            remedy="Decide on it in the Inbox or with `workbench review`.",
        )
    item = items.merge(
        kept.id,
        absorbed.id,
        [_proof(kept), _proof(absorbed)],
        reason=clean_line(reason, what="A reason").text if reason.strip() else _FROM_THE_GRAPH,
    )
    item = replace(item, fields=((items.PROPOSED, items.BY_HAND),))
    warnings = _warnings(view, item, person=person)
    file, item = _added(view, pending, item, now)
    summary = f"{item.id} proposes to merge {absorbed.id} into {kept.id}"
    change = FileChange(file.path, file.render(), Action.PROPOSE, summary)
    outcome = Changed(None, ids=(item.id,), warnings=warnings)
    return Plan(Action.PROPOSE, file.path, summary, (change,), outcome=outcome)


def _added(
    view: FileView, pending: PendingReflection, item: ReviewItem, now: datetime
) -> tuple[PendingReflection, ReviewItem]:
    reflection = reflection_of(pending)
    is_new = pending.source.text.strip() in ("", load_template(layout.PENDING_REFLECTION).decode().strip())
    if not reflection and not is_new:
        raise DocumentError(
            "The proposal does not say which reflection it is of.",
            where=pending.path,
            remedy="Write <!-- reflection: r-012 | created: 2026-02-03T03:00:00Z --> below its title.",
        )
    if is_new:
        reflection = next_reflection(read_log(view), pending, view.read(layout.SPENT_IDS))
        pending = PendingReflection.create(reflection, now.isoformat(timespec="seconds"), ())
    numbered = replace(item, id=f"{reflection}.{_next_number(view, reflection)}")
    stamped = stamp(numbered, view, now.tzinfo) if now.tzinfo else numbered
    later = SECTIONS[SECTIONS.index(item.section) + 1 :]
    file = pending.add(stamped, later)
    if file.item(stamped.id) is None:
        raise DocumentError(
            "What somebody left open in the proposal, a fence or a comment, would swallow a new item.",
            where=pending.path,
            remedy="Close it, or decide on what waits first.",
        )
    return file, stamped


def _next_number(view: FileView, reflection: str) -> int:
    """Return a number that no item of a reflection has, those included that were decided and are gone."""
    named = re.compile(rf"{re.escape(reflection)}\.(\d{{1,9}})(?!\d)")
    known = (
        view.read(path) or b"" for path in (layout.PENDING_REFLECTION, layout.REFLECTION_LOG, layout.REJECTED)
    )
    numbers = [int(number) for content in known for number in named.findall(content.decode(errors="replace"))]
    return max(numbers, default=0) + 1


def _joins(item: ReviewItem, one: str, other: str) -> bool:
    if kind_of(item.kind) is not Kind.MERGE:
        return False
    link = _LINKED.search(item.text)
    return {item.target.removeprefix("entity:"), link[1].strip() if link else ""} == {one, other}


def _proof(file: EntityFile) -> Evidence:
    """Return what an entity says of itself, in words that stand in its file."""
    said = [file.label, *(fact.text for fact in file.facts)]
    quote = next((words for words in said if words in file.source.text), "")
    return Evidence(f"entity:{file.id}", quote)


def _warnings(view: FileView, item: ReviewItem, *, person: bool) -> tuple[str, ...]:
    found = next(
        (claim for claim in read_rejected(view).claims if same(claim_of(claim.item), claim_of(item))), None
    )
    if found is None:
        return ()
    if not person:
        raise Refused(
            f"A person rejected this merge before, as {found.id}.",
            where=layout.REJECTED,
            remedy=f"The person can allow it again with: workbench review allow {found.id}",
        )
    return (f"You rejected this merge before, as {_told(found)}.",)


def _told(claim: RejectedClaim) -> str:
    return f"{claim.id} on {claim.time[:10]}" if claim.time else claim.id


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
