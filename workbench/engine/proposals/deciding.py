"""Plans verdicts on proposals: what is stored, refused or left to the reflection (design document §13.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, Stale
from workbench.engine.history.plan import Action, Event, Plan
from workbench.engine.proposals import numbering
from workbench.engine.proposals.committing import Committing
from workbench.engine.proposals.file import REPEATS, read_proposals, without
from workbench.engine.proposals.storing import text_of
from workbench.engine.results.proposals import Settled
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.wording import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.documents.pending_memories import PendingMemories
    from workbench.engine.history.plan import FileView
    from workbench.engine.proposals.verdicts import Means, Verdicts

_MOST_TOLD: Final = 10


def plan_verdicts(view: FileView, verdicts: Verdicts, means: Means) -> Plan[Settled]:
    """Plan to carry out verdicts, all of them or none.

    Raises:
        NotFound: A number is none of those that wait: it may have been decided by somebody else.
        InvalidInput: Something of a proposal cannot be kept; one number has two verdicts; a memory was named that
            none of the proposals is marked as contradicting.
        Stale: A proposal says something else than when somebody looked at it.
        Refused: It takes a person, or their word about one memory, to let go what a proposal contradicts.
    """
    pending = read_proposals(view)
    chosen = {number: _chosen(pending, number, verdicts, means) for number in verdicts.numbers}
    if len(chosen) != len(verdicts.numbers):
        raise InvalidInput("A proposal was named twice.", remedy="Name each one once.")
    kept = [chosen[number] for number in verdicts.commit]
    _check_named(verdicts, kept)
    draft = Draft(view)
    sides = [memory for proposal in kept for memory in proposal.against] if verdicts.both else []
    committing = Committing(draft, verdicts, means, sides)
    for proposal in kept:
        committing.store(proposal)
    if verdicts.both:
        committing.ask_which_holds()
    lasting = [chosen[number] for number in verdicts.reject if not chosen[number].field(REPEATS)]
    if means.remember_rejections is not None and lasting:
        told = f"remembered the rejection of {_numbered(each.number for each in lasting)}"
        draft.write(layout.REJECTED, means.remember_rejections(view, lasting), Action.EDIT, told)
    became = {number: remembered.id for number, remembered in committing.stored.items()}
    after = without(pending, verdicts.reject, became, committing.retired).defer(verdicts.defer)
    summary = _told(verdicts, committing.retired)
    action = Action.COMMIT if verdicts.commit else Action.REJECT if verdicts.reject else Action.EDIT
    draft.write(layout.PENDING_MEMORIES, after.render(), action, summary)
    stored = committing.stored.values()
    outcome = Settled(
        None,
        ids=tuple(dict.fromkeys(memory for each in stored for memory in each.ids)),
        warnings=committing.warnings,
        committed=verdicts.commit,
        rejected=verdicts.reject,
        deferred=verdicts.defer,
        retired=tuple(committing.retired),
    )
    written = next((each.path for each in stored), layout.PENDING_MEMORIES)
    highest = numbering.highest_in(view.read(layout.PENDING_MEMORIES) or b"", means.given())
    plan = draft.plan(action, written, summary, outcome)
    return replace(plan, events=_refusals(verdicts), trailers=numbering.trailers(highest))


def _chosen(pending: PendingMemories, number: int, verdicts: Verdicts, means: Means) -> MemoryProposal:
    proposal = pending.proposal(number)
    if proposal is None:
        raise NotFound(
            f"No proposal #{number} waits; it may have been decided already.",
            where=pending.path,
            remedy="See what waits with: workbench proposals",
        )
    expected = verdicts.expected.get(number)
    prepared = means.prepared.get(number)
    changed = expected is not None and one_line(expected) != one_line(proposal.content)
    if prepared is not None:
        changed = changed or prepared.text != text_of(proposal, verdicts.wishes)
    if changed:
        line = proposal.span.start if proposal.span else 1
        raise Stale(
            f"Proposal #{number} says something else by now: “{clip(proposal.content)}”.",
            where=f"{pending.path}:{line}",
            remedy="Look at it again with: workbench proposals",
        )
    return proposal


def _check_named(verdicts: Verdicts, kept: Iterable[MemoryProposal]) -> None:
    marked = {memory for proposal in kept for memory in proposal.against}
    for memory in sorted(verdicts.named - marked):
        raise InvalidInput(
            f"No proposal that is stored is marked as contradicting {clip(memory, 120)}.",
            where=layout.PENDING_MEMORIES,
            remedy="Name what `workbench proposals` shows, or archive it with: workbench forget",
        )


def _refusals(verdicts: Verdicts) -> tuple[Event, ...]:
    """Return an audit line for each refusal that goes with something stored; alone, the file’s own line says it."""
    if not verdicts.commit:
        return ()
    return tuple(
        Event(Action.REJECT, layout.PENDING_MEMORIES, f"rejected proposal #{number}{_reason(verdicts)}")
        for number in verdicts.reject
    )


def _reason(verdicts: Verdicts) -> str:
    return f" — {clip(verdicts.reason, 200)}" if verdicts.reason.strip() else ""


def _told(verdicts: Verdicts, retired: list[str]) -> str:
    kept = ", both of what contradicts itself" if verdicts.both else ""
    if retired:
        more = f" and {len(retired) - _MOST_TOLD} more" if len(retired) > _MOST_TOLD else ""
        kept = f" in place of {', '.join(retired[:_MOST_TOLD])}{more}"
    parts = [
        f"{verb} {_numbered(numbers)}{why}"
        for verb, numbers, why in (
            ("accepted", verdicts.commit, kept),
            ("rejected", verdicts.reject, _reason(verdicts)),
            ("deferred", verdicts.defer, ""),
        )
        if numbers
    ]
    return "; ".join(parts)


def _numbered(numbers: Iterable[int]) -> str:
    listed = list(numbers)
    named = ", ".join(f"#{number}" for number in listed[:_MOST_TOLD])
    more = f" and {len(listed) - _MOST_TOLD} more" if len(listed) > _MOST_TOLD else ""
    return f"proposal{'s' if len(listed) > 1 else ''} {named}{more}"
