"""One cycle of reflection: the five phases in their order, and the proposal they come to (design document §10.3).

What it came to is written: the proposal that waits for decisions, or that there was nothing to propose.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.history.plan import Action, FileChange, FileView, Plan
from workbench.engine.identifiers import slug as slug_of
from workbench.engine.markdown.review import PendingReflection, ReviewSection
from workbench.engine.memory.wording import one_line
from workbench.engine.reflection import items as forms
from workbench.engine.reflection import kinds, rejections
from workbench.engine.reflection.extraction.naming import sole_speaker
from workbench.engine.reflection.files import DROPPED, HELD_BACK, LEFT, READ, SPENT
from workbench.engine.reflection.kinds import SECTIONS, SUMMARY, Kind
from workbench.engine.reflection.model import RULES
from workbench.engine.reflection.passages import goes_by
from workbench.engine.reflection.review.staleness import stamp
from workbench.engine.reflection.rules.core_rewriting import name_of_owner
from workbench.engine.results.memories import Changed
from workbench.engine.results.reviews import Phase
from workbench.engine.tokens import count_tokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.markdown.reflection_records import RejectedClaims
    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Mind, Snapshot, Summary, Work

# What each section may take of a proposal before others have had theirs; what is left over goes round again.
_SHARES: Final = {
    kinds.CONTRADICTIONS: 0.2,
    kinds.UPDATES: 0.2,
    kinds.CORE: 0.2,
    kinds.KNOWLEDGE: 0.35,
    kinds.CONNECTIONS: 0.1,
    kinds.PROCEDURES: 0.1,
    kinds.ARCHIVAL: 0.15,
    kinds.EVOLUTION: 0.1,
    kinds.QUESTIONS: 0.1,
}


@dataclass(frozen=True)
class Proposal:
    """What a cycle came to.

    Args:
        items: Numbered, in the order of the file.
        summary: What a person reads first.
        dropped: Items whose quotes were not found.
        held_back: Items that were rejected before.
        left: Items for which there was no room, best first.
        fresh: How many of the items are new rather than carried over.
    """

    items: tuple[ReviewItem, ...]
    summary: Summary
    dropped: int
    held_back: int
    left: tuple[ReviewItem, ...]
    fresh: int


def run_cycle(
    snapshot: Snapshot,
    mind: Mind,
    work: Work,
    *,
    rejected: RejectedClaims,
    reflection: str,
    most: int,
    carried: Sequence[ReviewItem] = (),
    backlog: Sequence[ReviewItem] = (),
) -> Proposal:
    """Run the five phases; nothing is written.

    Args:
        snapshot: What may be looked at.
        mind: What thinks.
        work: The account of the cycle.
        rejected: What a person has rejected.
        reflection: The id of this one, `r-012`.
        most: Items that one proposal holds at most; carried ones come on top.
        carried: Items of an earlier proposal that were not decided; they keep their ids.
        backlog: Items for which the last proposal had no room, and that are still to be proposed.

    Raises:
        Cancelled: The cycle was called off.
    """
    with _phase(work, Phase.SURVEY, mind):
        snapshot = _with_owner(snapshot, rejected, work)
        agenda = mind.survey(snapshot, work)
    with _phase(work, Phase.META_REFLECTION, mind):
        guidance = mind.look_back(snapshot, agenda, work)
    checked = partial(_checked, snapshot=snapshot, rejected=rejected)
    with _phase(work, Phase.CONSOLIDATE, mind):
        found = checked((*mind.consolidate(snapshot, agenda, guidance, work), *guidance.items, *backlog))
        by_rules = work.accounts[-1].mind == RULES
        known = {rejections.claim_key(item) for item in carried}
        new = [
            item
            for item in without_doubles(found.kept, rejections.claim_key)
            if rejections.claim_key(item) not in known
        ]
        settled = checked(with_entities(new, snapshot.graph, lambda target: _label(target, snapshot)))
        work.check()
    with _phase(work, Phase.REWRITE_CORE, mind):
        core = checked(mind.rewrite_core(snapshot, agenda, settled.kept, work))
        together = without_doubles((*settled.kept, *core.kept), _in_its_place)
        selection = select(together, most, work.cap)
        # What a model wasted must not cost anybody what rules found in its stead.
        if by_rules and not work.exchanges:
            work.spend(sum(map(tokens_of, selection.items)))
    items = (*number(selection.items, reflection), *map(_again, _still_open(carried, rejected)))
    with _phase(work, Phase.SUMMARISE, mind):
        summary = mind.summarise(snapshot, items, guidance, work)
    return Proposal(
        items,
        summary,
        found.dropped + core.dropped,
        found.held + settled.held + core.held,
        selection.left,
        len(selection.items),
    )


def _with_owner(snapshot: Snapshot, rejected: RejectedClaims, work: Work) -> Snapshot:
    """Call the person by the name that this very proposal puts into core memory, unless it was rejected."""
    named = name_of_owner(snapshot, work)
    kept = _checked((named,), snapshot=snapshot, rejected=rejected).kept if named else ()
    if not kept:
        return snapshot
    name, speaker = kept[0].text.partition(": ")[2], sole_speaker(snapshot)
    # In a log that calls them otherwise they would be somebody else.
    return replace(snapshot, owner=speaker if speaker and not goes_by(speaker, name) else name)


@dataclass(frozen=True)
class _Checked:
    """Items that may be proposed, and how many may not."""

    kept: tuple[ReviewItem, ...]
    dropped: int
    held: int


def _checked(items: Sequence[ReviewItem], *, snapshot: Snapshot, rejected: RejectedClaims) -> _Checked:
    """Leave out what quotes nothing true, and what a person has rejected."""
    said = {passage.id: passage.moment for passage in snapshot.passages}

    def moment_of(memory: str) -> datetime | None:
        return said[memory] if memory in said else rejections.moment_in_id(memory)

    quoted = check_quotes(items, snapshot.text_of)
    left = rejections.hold_back(quoted.items, rejected, moment_of, snapshot.graph.absorbed)
    return _Checked(tuple(left.kept), quoted.dropped, len(left.held))


@contextmanager
def _phase(work: Work, phase: Phase, mind: Mind) -> Iterator[None]:
    work.begin(phase, mind.name)
    started = time.perf_counter()
    yield
    work.took(time.perf_counter() - started)


def _in_its_place(item: ReviewItem) -> str:
    """Tell items apart that say the same in different places: the graph and core memory may both say it."""
    place = "core" if item.target.startswith("core:") else "graph"
    return f"{place} {rejections.claim_key(item)}"


def _still_open(carried: Sequence[ReviewItem], rejected: RejectedClaims) -> Iterator[ReviewItem]:
    """Yield what is carried over, without what was rejected meanwhile under another id."""
    open_ = [item for item in carried if item.decision in ("undecided", "deferred")]
    held = {held.id for held in rejections.hold_back(open_, rejected).held}
    yield from (item for item in carried if item.id not in held)


def _again(item: ReviewItem) -> ReviewItem:
    """Return an item as it comes again: under its own id, and open once more where it was put off."""
    return replace(item, decision="undecided") if item.decision == "deferred" else item


def _label(target: str, snapshot: Snapshot) -> str:
    """Return a label for an entity that nobody named: the speaker's own spelling, else its slug in words."""
    kind, _, slug = target.partition("--")
    if kind == "person":
        names = (snapshot.owner, *(passage.speaker for passage in snapshot.passages))
        spelled = next((name for name in names if name and slug_of(name) == slug), None)
        if spelled:
            return spelled if spelled[:1].isupper() else spelled.capitalize()
    words = slug.replace("-", " ")
    return words.title() if kind == "person" else words


# Makes one proposal of what the phases came up with: checked against the sources, bounded, numbered.


@dataclass(frozen=True)
class Checked:
    """Items whose quotes stand in their sources, and how many were dropped since theirs do not."""

    items: tuple[ReviewItem, ...]
    dropped: int


def check_quotes(items: Iterable[ReviewItem], text_of: Callable[[str], str | None]) -> Checked:
    """Drop every item that quotes what its source does not say, or that quotes nothing at all.

    Args:
        items: As the phases made them.
        text_of: Gives a memory's own words by id.
    """
    kept: list[ReviewItem] = []
    dropped = 0
    said: dict[str, str] = {}

    def found(evidence: Evidence) -> bool:
        if evidence.id not in said:
            said[evidence.id] = one_line(text_of(evidence.id) or "")
        quote = one_line(evidence.quote)
        return bool(quote) and quote in said[evidence.id]

    for item in items:
        if item.evidence and all(map(found, item.evidence)):
            kept.append(item)
        else:
            dropped += 1
    return Checked(tuple(kept), dropped)


def without_doubles(items: Iterable[ReviewItem], key: Callable[[ReviewItem], str]) -> tuple[ReviewItem, ...]:
    """Return the first item of each claim.

    Args:
        items: Best first.
        key: Tells claims apart, whatever kind of item makes them.
    """
    first: dict[str, ReviewItem] = {}
    for item in items:
        first.setdefault(key(item), item)
    return tuple(first.values())


def with_entities(
    items: Sequence[ReviewItem], graph: Lookups, label_of: Callable[[str], str]
) -> tuple[ReviewItem, ...]:
    """Settle what items need: known entities need nothing, and unknown ones that nobody proposes are proposed.

    Args:
        items: Best first.
        graph: Knows the entities there are.
        label_of: Gives a label for an entity id `type--slug`.
    """
    proposed = {item.target for item in items if item.kind == Kind.ENTITY}
    known: dict[str, bool] = {}

    def is_known(target: str) -> bool:
        if target not in known:
            known[target] = graph.entity(f"entity:{target}") is not None
        return known[target]

    made: list[ReviewItem] = []
    settled: list[ReviewItem] = []
    for item in items:
        if item.kind == Kind.ENTITY and is_known(item.target):
            continue
        wanted = tuple(need for need in dict.fromkeys(item.needs) if not is_known(need))
        for need in wanted:
            if need not in proposed:
                proposed.add(need)
                made.append(
                    forms.entity(
                        need, label_of(need), item.evidence[:1], reason="What is proposed here is about it."
                    )
                )
        settled.append(replace(item, needs=wanted))
    return (*made, *settled)


@dataclass(frozen=True)
class Selection:
    """What one proposal holds, and what comes with the next since there was no room for it."""

    items: tuple[ReviewItem, ...]
    left: tuple[ReviewItem, ...]


def select(items: Sequence[ReviewItem], most: int, tokens: int) -> Selection:
    """Choose what fits one proposal: of each section its best, and every entity that a chosen item needs.

    Args:
        items: Best first within each section.
        most: Items at most.
        tokens: Tokens that the items' words may take at most.
    """
    entities = {item.target: item for item in items if item.kind == Kind.ENTITY}
    queues = {section: [i for i in items if i.section == section] for section in SECTIONS}
    chosen: dict[int, ReviewItem] = {}
    room = tokens

    def take(item: ReviewItem) -> bool:
        nonlocal room
        group = [item, *(entities[need] for need in item.needs if need in entities)]
        group = [one for one in group if id(one) not in chosen]
        cost = sum(map(tokens_of, group))
        if len(chosen) + len(group) > most or cost > room:
            return False
        chosen.update((id(one), one) for one in group)
        room -= cost
        return True

    for section, queue in queues.items():
        share = max(1, round(_SHARES[section] * most))
        for item in queue[:share]:
            take(item)
    for section in sorted(SECTIONS, key=lambda name: -_SHARES[name]):
        for item in queues[section]:
            if id(item) not in chosen and not take(item):
                break
    ordered = tuple(item for section in SECTIONS for item in queues[section] if id(item) in chosen)
    return Selection(ordered, tuple(item for item in items if id(item) not in chosen))


def tokens_of(item: ReviewItem) -> int:
    """Return how many tokens the words of an item take, its evidence included."""
    said = [item.text, item.before, item.reason, *(value for _, value in item.fields)]
    return count_tokens("\n".join(filter(None, [*said, *(e.quote for e in item.evidence)]))) + 12


def number(items: Sequence[ReviewItem], reflection: str) -> tuple[ReviewItem, ...]:
    """Give the items their ids, and let what they need name items instead of entities.

    Args:
        items: In the order of the file.
        reflection: `r-012`.
    """
    numbered = [replace(item, id=f"{reflection}.{place}") for place, item in enumerate(items, 1)]
    made_by = {item.target: item.id for item in numbered if item.kind == Kind.ENTITY}
    return tuple(
        replace(
            item,
            needs=tuple(made_by[need] for need in item.needs if need in made_by and made_by[need] != item.id),
        )
        for item in numbered
    )


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
