"""Writes what a cycle came to: the proposal that waits for decisions, or that there was nothing to propose."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.documents import PendingReflection, ReviewSection
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.reflection.kinds import SECTIONS
from workbench.engine.reflection.review.staleness import stamp
from workbench.engine.results import Changed

if TYPE_CHECKING:
    from workbench.engine.documents.pending_reflection import ReviewItem
    from workbench.engine.reflection.cycle import Proposal

SUMMARY: Final = "Summary"


def plan_proposal(
    view: FileView,
    proposal: Proposal,
    reflection: str,
    now: datetime,
    meta: Sequence[tuple[str, str]],
    zone: tzinfo,
) -> Plan[Changed]:
    """Plan the file in which a proposal waits.

    Args:
        view: The files; items are stamped with what they would change as it reads there.
        proposal: What the cycle came to.
        reflection: `r-012`.
        now: In the workspace's zone.
        meta: The lines at the end of the file.
        zone: The workspace's.
    """
    own = f"{reflection}."
    # What is carried over is still compared with what it was proposed on.
    items = [stamp(item, view, zone) if item.id.startswith(own) else item for item in proposal.items]
    path = layout.PENDING_REFLECTION
    file = PendingReflection.create(
        reflection, now.isoformat(timespec="seconds"), _sections(proposal, items), meta, path
    )
    summary = f"{reflection} proposes {len(items)} {'changes' if len(items) != 1 else 'change'}"
    change = FileChange(path, file.render(), Action.PROPOSE, summary)
    ids = tuple(item.id for item in items)
    return Plan(Action.PROPOSE, path, summary, (change,), outcome=Changed(None, ids=ids))


def plan_nothing(
    reflection: str, now: datetime, entries: int, meta: Sequence[tuple[str, str]]
) -> Plan[Changed]:
    """Plan a proposal without items, so that nobody reads again what holds nothing worth proposing.

    Args:
        reflection: `r-012`.
        now: In the workspace's zone.
        entries: How many were read.
        meta: The lines at the end of the file.
    """
    path = layout.PENDING_REFLECTION
    told = f"{entries:,} entries were read; nothing in them was worth proposing."
    file = PendingReflection.create(
        reflection, now.isoformat(timespec="seconds"), [ReviewSection(SUMMARY, prose=told)], meta, path
    )
    summary = f"{reflection} found nothing to propose"
    return Plan(
        Action.PROPOSE,
        path,
        summary,
        (FileChange(path, file.render(), Action.PROPOSE, summary),),
        outcome=Changed(None),
    )


def _sections(proposal: Proposal, items: Sequence[ReviewItem]) -> list[ReviewSection]:
    prose = proposal.summary.prose
    sections = [ReviewSection(SUMMARY, prose=proposal.summary.opening)] if proposal.summary.opening else []
    for heading in SECTIONS:
        own = tuple(item for item in items if item.section == heading)
        if own or prose.get(heading):
            sections.append(ReviewSection(heading, own, prose.get(heading, "")))
    return sections
