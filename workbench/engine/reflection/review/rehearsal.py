"""All approved items carried out on one draft, each by itself: what applying, previewing and counting share."""

from __future__ import annotations

from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.engine.markdown.reflection_records import RejectedClaims
from workbench.engine.memory.core import view_core
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.wording import clip
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.reflection.review import item_changes as ask
from workbench.engine.reflection.review.applying import Step, carry_out, stage_of
from workbench.engine.reflection.review.item_reading import read_item
from workbench.engine.reflection.review.plan_context import ParsedFiles
from workbench.engine.reflection.review.staleness import Staleness, check_all
from workbench.engine.results.reviews import CoreTokens
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from workbench.engine.history.plan import FileView
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.review.plan_context import PlanContext

# Each item reads again what those before it wrote, so the time goes with the square of their number.
_MOST = 500
_TOO_MANY = f"More than {_MOST} items are approved: apply the others first."
_NOTHING_TO_DO = "It would change nothing: the memory says so already."
_SHOWN: Final = 120


@dataclass(frozen=True)
class Carried:
    """What one item did.

    Args:
        item: Which.
        changes: Content before and after, of this item alone, by path.
        ids: Memories that it made or changed.
        warnings: What a person should know.
    """

    item: ReviewItem
    changes: Mapping[str, tuple[bytes | None, bytes | None]]
    ids: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Rehearsal:
    """What carrying out the approved items comes to.

    Args:
        draft: The files with all of it, over the view.
        carried: The items that were carried out, in the order of the file.
        waiting: Why the other approved ones cannot be, by id.
        stale: Of every item of the file, by id.
        core_tokens: Before and after.
    """

    draft: Draft
    carried: tuple[Carried, ...]
    waiting: Mapping[str, str]
    stale: Mapping[str, Staleness]
    core_tokens: CoreTokens

    @property
    def applied(self) -> tuple[str, ...]:
        """Return the ids of the items that were carried out."""
        return tuple(each.item.id for each in self.carried)


@dataclass
class _Stage:
    """The rehearsal while it goes on."""

    items: Sequence[ReviewItem]
    files: ParsedFiles
    context: PlanContext
    reflection: str
    draft: Draft
    reasons: dict[str, str]
    carried: dict[str, Carried] = field(default_factory=dict)

    def waits(self) -> dict[str, str]:
        return what_waits(self.items, self.reasons, lambda entity: self.files.entity(entity) is not None)


def rehearse(
    view: FileView,
    items: Sequence[ReviewItem],
    context: PlanContext,
    reflection: str = "r-0",
) -> Rehearsal:
    """Carry out the approved items on a draft.

    Each item is whole or absent: one that fails leaves nothing behind and waits, with the reason. Core memory
    keeps its cap: what makes room goes first, then items in the order of the file, as far as they fit. Of a great
    many, the first are carried out, and the others wait for the next time.

    Args:
        view: The files.
        items: All items of the file, whatever was decided.
        context: What planners need.
        reflection: `r-012`.
    """
    files = ParsedFiles.of(view)
    stale = check_all(items, files, context.zone)
    stage = _Stage(items, files, context, reflection, Draft(files), own_reasons(items, stale))
    stage.reasons |= _declined_reasons(view, items)
    waits = stage.waits()
    ordered = [pair for pair in _in_order(items, files) if pair[0].id not in waits]
    for item, change in ordered[:_MOST]:
        if item.id not in waits and not _carry(stage, item, change):
            waits = stage.waits()
    if len(ordered) > _MOST:
        stage.reasons |= {item.id: _TOO_MANY for item, _ in ordered[_MOST:]}
        waits = stage.waits()
    return Rehearsal(
        stage.draft,
        tuple(stage.carried[item.id] for item in items if item.id in stage.carried),
        {item.id: waits[item.id] for item in items if item.id in waits},
        stale,
        _core_tokens(files, stage.draft, context),
    )


def _in_order(items: Sequence[ReviewItem], files: ParsedFiles) -> list[tuple[ReviewItem, ask.ItemChange]]:
    """Return the readable approved items by stages, each behind those it needs."""
    readable: dict[str, tuple[ReviewItem, ask.ItemChange]] = {}
    for item in items:
        if item.decision == "approved":
            try:
                readable[item.id] = (item, read_item(item))
            except WorkbenchError:
                continue
    staged = sorted(readable.values(), key=lambda pair: stage_of(pair[1], files))
    ordered: dict[str, tuple[ReviewItem, ask.ItemChange]] = {}
    begun: set[str] = set()
    # A chain of needs may be as long as the file, so nothing here calls itself.
    ahead = list(reversed(staged))
    while ahead:
        item, change = ahead[-1]
        needed = [] if item.id in begun else [readable[need] for need in item.needs if need in readable]
        begun.add(item.id)
        missing = [pair for pair in needed if pair[0].id not in begun]
        if missing:
            ahead.extend(reversed(missing))
        else:
            ordered.setdefault(item.id, (item, change))
            ahead.pop()
    return list(ordered.values())


def _carry(stage: _Stage, item: ReviewItem, change: ask.ItemChange) -> bool:
    """Carry out one item, or note why it cannot be."""
    step = Step(item, stage.reflection, stage.context, stage.files, Draft(stage.draft))
    try:
        carry_out(step, change)
    except WorkbenchError as error:
        stage.reasons[item.id] = error.told
        return False
    changes = step.draft.changes()
    if not changes and not ask.may_change_nothing(change):
        stage.reasons[item.id] = step.warnings[-1] if step.warnings else _NOTHING_TO_DO
        return False
    own = {each.path: (stage.draft.read(each.path), each.content) for each in changes}
    for each in changes:
        if each.content is None:
            stage.draft.delete(each.path, each.summary)
        else:
            stage.draft.write(each.path, each.content, each.action, each.summary)
    stage.carried[item.id] = Carried(item, own, tuple(step.ids), tuple(step.warnings))
    return True


def _core_tokens(before: FileView, after: FileView, context: PlanContext) -> CoreTokens:
    was, becomes = view_core(before, context.settings), view_core(after, context.settings)
    return CoreTokens(was.tokens, becomes.tokens, becomes.cap)


# Which approved items cannot be applied now, and why: told from the items alone.


def own_reasons(items: Iterable[ReviewItem], stale: Mapping[str, Staleness]) -> dict[str, str]:
    """Return why approved items wait by themselves, by their ids.

    Args:
        items: All items of the file, whatever was decided.
        stale: Of the approved ones, at least.
    """
    approved = (item for item in items if item.decision == "approved")
    return {item.id: reason for item in approved if (reason := _own_reason(item, stale))}


def what_waits(
    items: Iterable[ReviewItem], reasons: Mapping[str, str], exists: Callable[[str], bool]
) -> dict[str, str]:
    """Return why approved items wait, by themselves or for others, by their ids.

    Args:
        items: All items of the file, whatever was decided.
        reasons: Items that wait by themselves, or could not be applied when that was tried.
        exists: Whether there is an entity, by `type--slug`.
    """
    by_id = {item.id: item for item in items}
    approved = [item for item in by_id.values() if item.decision == "approved"]
    waits = dict(reasons)
    needed_by: dict[str, list[ReviewItem]] = {}
    for item in approved:
        for need in item.needs:
            needed_by.setdefault(need, []).append(item)
    # What waits keeps those waiting that need it, and these again others.
    change = deque(item for item in approved if item.id not in waits)
    while change:
        item = change.popleft()
        reason = "" if item.id in waits else _unmet(item, by_id, waits, exists)
        if reason:
            waits[item.id] = reason
            change.extend(needed_by.get(item.id, ()))
    return {item.id: waits[item.id] for item in approved if item.id in waits}


def _own_reason(item: ReviewItem, stale: Mapping[str, Staleness]) -> str:
    try:
        change = read_item(item)
    except InvalidInput as error:
        return error.told
    found = stale.get(item.id)
    if found is not None and found.stale:
        now = f" Now: {clip(found.now, _SHOWN)}" if found.now else ""
        return f"{found.reason}{now}"
    return ask.lacks_words(change)


def _declined_reasons(view: FileView, items: Sequence[ReviewItem]) -> dict[str, str]:
    approved = {item.id: item for item in items if item.decision == "approved"}
    gone = declined_needs(view, items, approved)
    told = {
        item.id: next((gone[need].text for need in item.needs if need in gone), None)
        for item in approved.values()
    }
    return {
        item_id: f"It needs “{clip(text, _SHOWN)}”, which was declined; accept it once more to accept both."
        for item_id, text in told.items()
        if text is not None
    }


def declined_needs(view: FileView, items: Iterable[ReviewItem], of: Collection[str]) -> dict[str, ReviewItem]:
    """Return the entities that some items need, that were rejected for good and are not there, by the id of their item.

    Args:
        items: All items of the file.
        of: Ids of those whose needs are meant.
    """
    by_id = {item.id: item for item in items}
    wanted = {need for item in by_id.values() if item.id in of for need in item.needs} - by_id.keys()
    content = view.read(layout.REJECTED) if wanted else None
    if content is None:
        return {}
    rejected = (claim.item for claim in RejectedClaims.parse(content).claims if claim.id in wanted)
    files = ParsedFiles.of(view)
    return {
        item.id: item
        for item in rejected
        if kind_of(item.kind) is Kind.ENTITY
        and not _made(item, lambda entity: files.entity(entity) is not None)
    }


def _unmet(
    item: ReviewItem, by_id: Mapping[str, ReviewItem], waits: Mapping[str, str], exists: Callable[[str], bool]
) -> str:
    """Return the item that this one needs and that was not approved; one no longer in the file does not count."""
    for need in item.needs:
        other = by_id.get(need)
        if other is None or other is item or _made(other, exists):
            continue
        if other.decision != "approved":
            return f"It needs {need}, which is {other.decision}."
        if need in waits:
            return f"It needs {need}, which waits itself."
    return ""


def _made(item: ReviewItem, exists: Callable[[str], bool]) -> bool:
    """Return whether the entity that an item would make is there anyway."""
    try:
        entity = ask.creates(read_item(item))
    except InvalidInput:
        return False
    return entity is not None and exists(entity)
