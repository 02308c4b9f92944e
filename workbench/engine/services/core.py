"""Core memory changed, and the brief that an agent gets at the start of a session."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.clock import time_or_none
from workbench.engine.errors import DocumentError, HistoryError, OutsideWorkspace, StorageError
from workbench.engine.services.mutator import Mutator
from workbench.engine.services.reviews import reflection_due

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from workbench.engine.services.context import WorkspaceContext


class Core:
    """Core memory by blocks and items; its cap is enforced before anything is written."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator) -> None:
        self._context = context
        self._mutator = mutator

    def core_set(self, block: str, body: str, *, expected: str | None = None) -> results.memories.Changed:
        """Replace the body of a block of core memory.

        Args:
            block: Its name.
            body: Markdown below the heading.
            expected: The body the edit started from.

        Raises:
            NotFound: There is no such block.
            Stale: It no longer reads `expected`.
            BudgetExceeded: Core memory would pass its cap; the message names what could go.
        """
        from workbench.engine.memory.core import plan_set_block

        context = self._context
        return self._mutator.change(
            lambda view: plan_set_block(
                view, block, body, context.settings, context.now(), expected=expected
            ),
            f"core set {block}",
        )

    def core_add(self, block: str, text: str) -> results.memories.Changed:
        """Add an item to a block of core memory; raises as `core_set`."""
        from workbench.engine.memory.core import plan_add_item

        context = self._context
        return self._mutator.change(
            lambda view: plan_add_item(
                view, block, text, context.settings, context.now(), standing=context.scores()
            ),
            f"core add {block}",
        )

    def core_replace(self, id: str, text: str) -> results.memories.Changed:  # noqa: A002 - the field's word
        """Replace the text of an item of core memory; raises as `core_set`."""
        from workbench.engine.memory.core import plan_replace_item

        context = self._context
        return self._mutator.change(
            lambda view: plan_replace_item(view, id, text, context.settings, context.now()),
            f"core replace {id}",
        )

    def core_remove(self, id: str, *more: str) -> results.memories.Changed:  # noqa: A002 - the field's word
        """Take items out of core memory, in one commit.

        Raises:
            NotFound: There is no such item.
        """
        from workbench.engine.memory.core import plan_remove_item
        from workbench.engine.memory.draft import plan_together

        context = self._context
        # From the last one given: items that say the same are told apart by their order.
        steps = [partial(plan_remove_item, item_id=one, now=context.now()) for one in reversed((id, *more))]
        summary = f"removed {len(steps)} items"
        return self._mutator.change(lambda view: plan_together(view, steps, summary), f"core remove {id}")


_MOST_ENDED = 3


def brief(context: WorkspaceContext) -> results.status.Brief:
    """Return core memory with what waits for attention: alerts, proposals, a reflection that is due."""
    from workbench.engine.markdown.core import CoreMemory
    from workbench.engine.markdown.proposals import PendingMemories
    from workbench.engine.memory.core import view_core

    alerts: tuple[results.audit.Alert, ...] = ()
    notices: list[str] = []
    try:
        context.adopt_for_reading()
        if context.has_history():
            alerts = context.history.alerts(waiting=True)
    except HistoryError as error:
        notices.append(str(error))
    files = context.files
    view = view_core(files, context.settings)
    core = CoreMemory.parse(files.read(view.path) or b"", view.path)
    context.refresh_for_reading()
    due, waiting, unprocessed = False, 0, 0
    review: tuple[str, ...] = ()
    try:
        content = files.read(layout.PENDING_MEMORIES) or b""
        proposals = PendingMemories.parse(content, layout.PENDING_MEMORIES).proposals
        waiting = sum(not proposal.is_deferred for proposal in proposals)
        answer = reflection_due(context, "schedule")
        due, unprocessed = answer.due, answer.unprocessed
        review = (
            *_held_back(context),
            *_ended_sessions(context),
            *_waiting_review(context),
            *_due_notice(answer),
        )
    except (OutsideWorkspace, StorageError) as error:
        # What an agent needs to know must not hang on one file.
        notices.append(str(error))
    return results.status.Brief(
        core=core.text,
        tokens=view.tokens,
        cap=view.cap,
        alerts=alerts,
        proposals_waiting=waiting,
        reflection_due=due,
        unprocessed_episodes=unprocessed,
        notices=(*notices, *_notices(view, alerts, waiting, context.zone), *review),
    )


def _notices(
    view: results.memories.CoreView, alerts: tuple[results.audit.Alert, ...], waiting: int, zone: tzinfo
) -> Iterator[str]:
    for alert in alerts:
        day = alert.timestamp.astimezone(zone)
        yield f"{alert.file} was changed on {day:%Y-%m-%d} by {alert.actor}. Was this intentional?"
    if view.tokens > view.cap:
        yield f"Core memory holds {view.tokens:,} tokens of {view.cap:,}: shorten it."
    if waiting:
        yield f"{waiting} {'proposals wait' if waiting > 1 else 'proposal waits'} for a decision."


def _held_back(context: WorkspaceContext) -> Iterator[str]:
    from workbench.engine.services.quarantine import waiting

    held = waiting(context)
    edits = sum(bool(each.path) for each in held)
    counts = ((len(held) - edits, "memory", "memories"), (edits, "edit of a file", "edits of files"))
    told = " and ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    if told:
        were = "was" if len(held) == 1 else "were"
        yield f"{told} {were} held back as a secret; a person decides with: workbench secrets"


def _ended_sessions(context: WorkspaceContext) -> Iterator[str]:
    from workbench.engine.services.sessions import own_folder, own_home

    if not context.settings.flush.enabled or not own_folder(context).is_dir():
        return
    try:
        ended = own_home(context).store.with_ended()
    except DocumentError as error:
        yield str(error)
        return
    for name in ended[:_MOST_ENDED]:
        yield f"{name} ended by the clock and is not saved to memory: workbench sessions flush {name}"
    if len(ended) > _MOST_ENDED:
        yield f"{len(ended) - _MOST_ENDED} more sessions ended and are not saved: workbench sessions"


def _due_notice(due: results.reviews.ReflectionDue) -> Iterator[str]:
    if due.due:
        yield f"A reflection is due. {due.reason}"


def _waiting_review(context: WorkspaceContext) -> Iterator[str]:
    """Say which proposal waits, and for how long where that is more than a day (design document §10.6)."""
    from workbench.engine.reflection.due import AGEING_HOURS
    from workbench.engine.reflection.files import read_pending, reflection_of

    pending = read_pending(context.files)
    undecided = sum(item.decision == "undecided" for item in pending.items)
    if not undecided:
        return
    written = time_or_none(pending.created)
    hours = (context.now() - written).total_seconds() / 3600 if written else 0
    age = f" It was written {hours:,.0f} hours ago." if hours > AGEING_HOURS else ""
    changes = "1 change waits" if undecided == 1 else f"{undecided} changes wait"
    name = f"Reflection {reflection_of(pending)}".rstrip()
    yield f"{name}: {changes} for a person’s decision.{age}"
