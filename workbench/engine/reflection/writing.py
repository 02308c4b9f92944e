"""Writes what a cycle came to: the proposal that waits for decisions, or that there was nothing to propose."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.markdown.review import PendingReflection, ReviewSection
from workbench.engine.reflection.account import DROPPED, HELD_BACK, LEFT, READ, SPENT
from workbench.engine.reflection.kinds import SECTIONS, SUMMARY
from workbench.engine.reflection.review.staleness import stamp
from workbench.engine.results.memories import Changed

if TYPE_CHECKING:
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.cycle import Proposal
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.work import Work


def plan_proposal(
    view: FileView,
    proposal: Proposal,
    reflection: str,
    now: datetime,
    account: Sequence[tuple[str, str]],
    zone: tzinfo,
) -> Plan[Changed]:
    """Plan the file in which a proposal waits.

    Args:
        view: The files; items are stamped with what they would change as it reads there.
        proposal: What the cycle came to.
        reflection: `r-012`.
        now: In the workspace's zone.
        account: The lines at the end of the file, as `account_lines` gives them.
        zone: The workspace's.
    """
    own = f"{reflection}."
    # What is carried over is still compared with what it was proposed on.
    items = [stamp(item, view, zone) if item.id.startswith(own) else item for item in proposal.items]
    path = layout.PENDING_REFLECTION
    file = PendingReflection.create(
        reflection, now.isoformat(timespec="seconds"), _sections(proposal, items), account, path
    )
    summary = f"{reflection} proposes {len(items)} {'changes' if len(items) != 1 else 'change'}"
    change = FileChange(path, file.render(), Action.PROPOSE, summary)
    ids = tuple(item.id for item in items)
    return Plan(Action.PROPOSE, path, summary, (change,), outcome=Changed(None, ids=ids))


def plan_nothing(
    reflection: str, now: datetime, entries: int, account: Sequence[tuple[str, str]]
) -> Plan[Changed]:
    """Plan a proposal without items, so that nobody reads again what holds nothing worth proposing.

    Args:
        reflection: `r-012`.
        now: In the workspace's zone.
        entries: How many were read.
        account: The lines at the end of the file, as `account_lines` gives them.
    """
    path = layout.PENDING_REFLECTION
    told = f"{entries:,} entries were read; nothing in them was worth proposing."
    file = PendingReflection.create(
        reflection, now.isoformat(timespec="seconds"), [ReviewSection(SUMMARY, prose=told)], account, path
    )
    summary = f"{reflection} found nothing to propose"
    return Plan(
        Action.PROPOSE,
        path,
        summary,
        (FileChange(path, file.render(), Action.PROPOSE, summary),),
        outcome=Changed(None),
    )


def account_lines(
    snapshot: Snapshot,
    proposal: Proposal,
    work: Work,
    *,
    entries: int,
    left: int,
    planned: datetime | None,
    mark: str,
) -> list[tuple[str, str]]:
    """Return what a cycle tells of itself at the end of its file, as design document §10.5 has it.

    Args:
        snapshot: What it looked at.
        proposal: What it came to.
        work: What it took.
        entries: How many entries it read.
        left: Items for which there was no room.
        planned: When the next one is to run; None where that is not by the clock.
        mark: How far it read, as `ReadMark` renders it.
    """
    minds = tuple(dict.fromkeys(account.mind for account in work.accounts))
    fallback = next((account.fallback for account in work.accounts if account.fallback), None)
    about = {item.target for item in proposal.items if "--" in item.target}
    lines = [
        ("Reflection #", str(snapshot.number)),
        (SPENT, f"{work.spent:,} / {work.cap:,}"),
        (
            "Memories processed",
            f"{entries:,} entries, {len(about):,} entities, {len(snapshot.procedures):,} procedures",
        ),
        ("Reflections reviewed", str(len(snapshot.records))),
        ("Thought by", ", ".join(minds) + (f" ({fallback})" if fallback else "")),
        (DROPPED, str(proposal.dropped)),
        (HELD_BACK, str(proposal.held_back)),
        (LEFT, str(left)),
    ]
    if planned is not None:
        lines.append(("Next scheduled reflection", f"{planned:%Y-%m-%d %H:%M}"))
    return [*lines, (READ, mark)]


def _sections(proposal: Proposal, items: Sequence[ReviewItem]) -> list[ReviewSection]:
    prose = proposal.summary.prose
    sections = [ReviewSection(SUMMARY, prose=proposal.summary.opening)] if proposal.summary.opening else []
    for heading in SECTIONS:
        own = tuple(item for item in items if item.section == heading)
        if own or prose.get(heading):
            sections.append(ReviewSection(heading, own, prose.get(heading, "")))
    return sections
