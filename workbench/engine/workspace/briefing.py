"""What an agent needs at the start of a session: core memory, and notices of what waits for attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.clock import time_or_none
from workbench.engine.errors import (
    DocumentError,
    HistoryError,
    OutsideWorkspace,
    StorageError,
)
from workbench.engine.results.audit import Alert
from workbench.engine.results.core import CoreView
from workbench.engine.results.reflection import ReflectionDue
from workbench.engine.results.standing import Brief
from workbench.engine.workspace.dueness import reflection_due

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from workbench.engine.workspace.ground import Ground

_MOST_ENDED = 3


def brief(ground: Ground) -> Brief:
    """Return core memory with what waits for attention: alerts, proposals, a reflection that is due."""
    from workbench.engine.documents.core import CoreMemory
    from workbench.engine.documents.pending_memories import PendingMemories
    from workbench.engine.stores.core import view_core

    alerts: tuple[Alert, ...] = ()
    notices: list[str] = []
    try:
        ground.adopt_for_reading()
        if ground.has_history():
            alerts = ground.history.alerts(waiting=True)
    except HistoryError as error:
        notices.append(str(error))
    files = ground.files
    view = view_core(files, ground.settings)
    core = CoreMemory.parse(files.read(view.path) or b"", view.path)
    ground.refresh_for_reading()
    due, waiting, unprocessed = False, 0, 0
    review: tuple[str, ...] = ()
    try:
        content = files.read(layout.PENDING_MEMORIES) or b""
        proposals = PendingMemories.parse(content, layout.PENDING_MEMORIES).proposals
        waiting = sum(not proposal.is_deferred for proposal in proposals)
        answer = reflection_due(ground, "schedule")
        due, unprocessed = answer.due, answer.unprocessed
        review = (
            *_held_back(ground),
            *_ended_sessions(ground),
            *_waiting_review(ground),
            *_due_notice(answer),
        )
    except (OutsideWorkspace, StorageError) as error:
        # What an agent needs to know must not hang on one file.
        notices.append(str(error))
    return Brief(
        core=core.text,
        tokens=view.tokens,
        cap=view.cap,
        alerts=alerts,
        proposals_waiting=waiting,
        reflection_due=due,
        unprocessed_episodes=unprocessed,
        notices=(*notices, *_notices(view, alerts, waiting, ground.zone), *review),
    )


def _notices(view: CoreView, alerts: tuple[Alert, ...], waiting: int, zone: tzinfo) -> Iterator[str]:
    for alert in alerts:
        day = alert.timestamp.astimezone(zone)
        yield f"{alert.file} was changed on {day:%Y-%m-%d} by {alert.actor}. Was this intentional?"
    if view.tokens > view.cap:
        yield f"Core memory holds {view.tokens:,} tokens of {view.cap:,}: shorten it."
    if waiting:
        yield f"{waiting} {'proposals wait' if waiting > 1 else 'proposal waits'} for a decision."


def _held_back(ground: Ground) -> Iterator[str]:
    from workbench.engine.workspace.held_back import waiting

    held = waiting(ground)
    edits = sum(bool(each.path) for each in held)
    counts = ((len(held) - edits, "memory", "memories"), (edits, "edit of a file", "edits of files"))
    told = " and ".join(f"{count} {one if count == 1 else many}" for count, one, many in counts if count)
    if told:
        were = "was" if len(held) == 1 else "were"
        yield f"{told} {were} held back as a secret; a person decides with: workbench secrets"


def _ended_sessions(ground: Ground) -> Iterator[str]:
    from workbench.engine.workspace.session_places import own_folder, own_home

    if not ground.settings.flush.enabled or not own_folder(ground).is_dir():
        return
    try:
        ended = own_home(ground).store.with_ended()
    except DocumentError as error:
        yield str(error)
        return
    for name in ended[:_MOST_ENDED]:
        yield f"{name} ended by the clock and is not saved to memory: workbench sessions flush {name}"
    if len(ended) > _MOST_ENDED:
        yield f"{len(ended) - _MOST_ENDED} more sessions ended and are not saved: workbench sessions"


def _due_notice(due: ReflectionDue) -> Iterator[str]:
    if due.due:
        yield f"A reflection is due. {due.reason}"


def _waiting_review(ground: Ground) -> Iterator[str]:
    """Say which proposal waits, and for how long where that is more than a day (design document §10.6)."""
    from workbench.engine.reflection.due import AGEING_HOURS
    from workbench.engine.reflection.files import read_pending, reflection_of

    pending = read_pending(ground.files)
    undecided = sum(item.decision == "undecided" for item in pending.items)
    if not undecided:
        return
    written = time_or_none(pending.created)
    hours = (ground.now() - written).total_seconds() / 3600 if written else 0
    age = f" It was written {hours:,.0f} hours ago." if hours > AGEING_HOURS else ""
    changes = "1 change waits" if undecided == 1 else f"{undecided} changes wait"
    name = f"Reflection {reflection_of(pending)}".rstrip()
    yield f"{name}: {changes} for a person’s decision.{age}"
