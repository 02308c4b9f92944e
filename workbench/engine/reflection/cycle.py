"""One cycle of reflection: the five phases in their order, and the proposal they come to (design document §10.3)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from workbench.engine.identifiers import slug as slug_of
from workbench.engine.reflection import rejections
from workbench.engine.reflection.proposing import (
    check_quotes,
    number,
    select,
    tokens_of,
    with_entities,
    without_doubles,
)
from workbench.engine.reflection.work import RULES
from workbench.engine.results.reviews import Phase
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.markdown.reflection_records import RejectedClaims
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Mind, Snapshot, Summary
    from workbench.engine.reflection.work import Work


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
    held = {held.item.id for held in rejections.hold_back(open_, rejected).held}
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
