"""Plans verdicts on proposals: what is stored, refused or left to the reflection (design document §13.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.documents.pending_memories import MemoryProposal, PendingMemories
from workbench.engine.errors import InvalidInput, NotFound, Stale
from workbench.engine.history.plan import Action, Event, Plan
from workbench.engine.proposals import numbering
from workbench.engine.proposals.file import REPEATS, read_proposals, without
from workbench.engine.proposals.linking import ask_which_holds, naming
from workbench.engine.proposals.storing import Wishes, entities_of, request_of, sender_tag, store_of, text_of
from workbench.engine.results import Settled
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.remember import plan_remember
from workbench.engine.stores.wording import clip, one_line

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.plan import FileView
    from workbench.engine.results import Remembered
    from workbench.engine.settings import Settings
    from workbench.engine.stores.lookups import EntityLookup, StandingLookup
    from workbench.engine.triggers.model import Routing

_MOST_NAMED: Final = 4
_BLOCK: Final = "Active Context"


@dataclass(frozen=True)
class Verdicts:
    """What somebody decided.

    Args:
        commit: Numbers of what shall be stored.
        reject: Numbers of what shall not.
        defer: Numbers of what is left to the reflection.
        reason: Why something is rejected; empty where nothing is said.
        wishes: What shall be otherwise than proposed.
        both: Whether what is stored contradicts each other and is linked as such.
        expected: Texts that proposals had when somebody looked at them, by number.
    """

    commit: tuple[int, ...] = ()
    reject: tuple[int, ...] = ()
    defer: tuple[int, ...] = ()
    reason: str = ""
    wishes: Wishes = field(default_factory=Wishes)
    both: bool = False
    expected: Mapping[int, str] = field(default_factory=dict)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return every number."""
        return (*self.commit, *self.reject, *self.defer)


@dataclass(frozen=True)
class Prepared:
    """Where a text belongs, found out before anything is locked.

    Args:
        text: The text.
        routing: Where it belongs.
        rejected: What a person has rejected of it, one sentence each.
    """

    text: str
    routing: Routing
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Means:
    """What verdicts need beside the files.

    Args:
        now: Aware, in the workspace's zone.
        settings: Of the workspace.
        lookup: Finds entities by name.
        standing: Knows what matters in core memory.
        prepared: Of what is to be stored, by number.
        given: The highest number that history knows of.
        remember_rejections: Gives the file of rejections with some more; None where no person decides.
        trusting: Whether a person decides, who may store what was rejected before.
    """

    now: datetime
    settings: Settings
    lookup: EntityLookup
    standing: StandingLookup | None
    prepared: Mapping[int, Prepared]
    given: Callable[[], int]
    remember_rejections: Callable[[FileView, Sequence[MemoryProposal]], bytes] | None = None
    trusting: bool = False


def plan_verdicts(view: FileView, verdicts: Verdicts, means: Means) -> Plan[Settled]:
    """Plan to carry out verdicts, all of them or none.

    Raises:
        NotFound: A number is none of those that wait: it may have been decided by somebody else.
        InvalidInput: Something of a proposal cannot be kept; one number has two verdicts.
        Stale: A proposal says something else than when somebody looked at it.
    """
    pending = read_proposals(view)
    chosen = {number: _chosen(pending, number, verdicts, means) for number in verdicts.numbers}
    if len(chosen) != len(verdicts.numbers):
        raise InvalidInput("A proposal was named twice.", remedy="Name each one once.")
    draft = Draft(view)
    stored: dict[int, Remembered] = {}
    warnings: dict[str, None] = {}
    sides = (
        [memory for number in verdicts.commit for memory in chosen[number].against] if verdicts.both else []
    )
    for number in verdicts.commit:
        stored[number] = _store(draft, chosen[number], verdicts, means, warnings, sides)
        if verdicts.both:
            sides.append(stored[number].id)
    if verdicts.both:
        sides = list(dict.fromkeys(sides))
        ask_which_holds(draft, sides, means.now, means.settings.zone, means.lookup)
    rejected = [chosen[number] for number in verdicts.reject]
    lasting = [proposal for proposal in rejected if not proposal.field(REPEATS)]
    if means.remember_rejections is not None and lasting:
        told = f"remembered the rejection of {_numbered(each.number for each in lasting)}"
        draft.write(layout.REJECTED, means.remember_rejections(view, lasting), Action.EDIT, told)
    after = without(pending, (*verdicts.commit, *verdicts.reject)).defer(verdicts.defer)
    summary = _told(verdicts)
    action = Action.COMMIT if verdicts.commit else Action.REJECT if verdicts.reject else Action.EDIT
    draft.write(layout.PENDING_MEMORIES, after.render(), action, summary)
    ids = dict.fromkeys(memory for each in stored.values() for memory in each.ids)
    outcome = Settled(
        None,
        ids=tuple(ids),
        warnings=tuple(warnings),
        committed=verdicts.commit,
        rejected=verdicts.reject,
        deferred=verdicts.defer,
    )
    written = next((each.path for each in stored.values()), layout.PENDING_MEMORIES)
    highest = numbering.highest_in(view.read(layout.PENDING_MEMORIES) or b"", means.given())
    plan = draft.plan(action, written, summary, outcome)
    return replace(plan, events=_refusals(verdicts), trailers=numbering.trailers(highest))


def actor_of(senders: Iterable[str]) -> str:
    """Return the actor of what the main agent stores for others: `bot:commit-from:NAME`, a name for each sender."""
    names = list(dict.fromkeys(map(sender_tag, senders)))
    more = ["more"] if len(names) > _MOST_NAMED else []
    return ":".join(["bot:commit-from", *names[:_MOST_NAMED], *more])


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


def _store(
    draft: Draft,
    proposal: MemoryProposal,
    verdicts: Verdicts,
    means: Means,
    warnings: dict[str, None],
    sides: Sequence[str],
) -> Remembered:
    prepared = means.prepared[proposal.number]
    entities, left_out = entities_of(proposal, draft)
    store = store_of(proposal, verdicts.wishes) or prepared.routing.store
    if prepared.rejected and not means.trusting:
        # As when it notices something itself: that it was said may be noted, it is not believed for that.
        store, proposal = "episodic", replace(proposal, core_worthy=False)
    block = prepared.routing.core_block or _BLOCK
    request = request_of(proposal, entities, wishes=verdicts.wishes, store=store, block=block)
    if verdicts.both:
        # A fact reads as a sentence; its entity asks instead. Other people are not told what else there is.
        told = request.text if request.scope is not None or store == "semantic" else None
        text = told if told is not None else naming(request.text, list(dict.fromkeys(sides)))
        request = replace(request, text=text, confidence="low")
    try:
        plan = plan_remember(
            draft,
            request,
            prepared.routing,
            now=means.now,
            settings=means.settings,
            lookup=means.lookup,
            standing=means.standing,
        )
    except InvalidInput as error:
        raise InvalidInput(
            f"Proposal #{proposal.number} cannot be stored: {error.message}",
            where=error.where or layout.PENDING_MEMORIES,
            remedy=f"{error.remedy or ''} Or give other words or another store, or reject it.".strip(),
        ) from error
    told = f"accepted proposal #{proposal.number}"
    for change in plan.changes:
        if change.content is not None:
            draft.write(change.path, change.content, Action.COMMIT, told)
    standing = (
        () if verdicts.both else (f"It contradicts {each}, which still stands." for each in proposal.against)
    )
    for warning in (*left_out, *plan.outcome.warnings, *prepared.rejected, *standing):
        warnings[f"#{proposal.number}: {warning}"] = None
    return plan.outcome


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


def _told(verdicts: Verdicts) -> str:
    parts = [
        f"{verb} {_numbered(numbers)}{why}"
        for verb, numbers, why in (
            ("accepted", verdicts.commit, ", both of what contradicts itself" if verdicts.both else ""),
            ("rejected", verdicts.reject, _reason(verdicts)),
            ("deferred", verdicts.defer, ""),
        )
        if numbers
    ]
    return "; ".join(parts)


def _numbered(numbers: Iterable[int]) -> str:
    listed = list(numbers)
    named = ", ".join(f"#{number}" for number in listed[:10])
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return f"proposal{'s' if len(listed) > 1 else ''} {named}{more}"
