"""What an agent needs at the start of a session, and what works in this workspace and what does not."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.clock import time_or_none
from workbench.engine.errors import (
    DocumentError,
    HistoryError,
    OutsideWorkspace,
    StorageError,
    WorkbenchError,
)
from workbench.engine.workspace.dueness import reflection_due
from workbench.engine.workspace.ground import Ground, can_be_kept
from workbench.engine.workspace.own_state import set_aside_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import tzinfo

_MOST_PROBLEMS = 20
_MOST_ENDED = 3


def brief(ground: Ground) -> results.Brief:
    """Return core memory with what waits for attention: alerts, proposals, a reflection that is due."""
    from workbench.engine.documents import CoreMemory, PendingMemories
    from workbench.engine.stores import view_core

    alerts: tuple[results.Alert, ...] = ()
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
    return results.Brief(
        core=core.text,
        tokens=view.tokens,
        cap=view.cap,
        alerts=alerts,
        proposals_waiting=waiting,
        reflection_due=due,
        unprocessed_episodes=unprocessed,
        notices=(*notices, *_notices(view, alerts, waiting, ground.zone), *review),
    )


def _notices(
    view: results.CoreView, alerts: tuple[results.Alert, ...], waiting: int, zone: tzinfo
) -> Iterator[str]:
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
    from workbench.engine.workspace.session_places import own_home

    if not ground.settings.flush.enabled:
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


def _due_notice(due: results.ReflectionDue) -> Iterator[str]:
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


def diagnose(ground: Ground) -> results.Diagnosis:
    """Look at everything the workspace stands on, and say how to mend what is not well."""
    checks = [
        check for look in (_programs, _settings, _files, _search, _history, _state) for check in look(ground)
    ]
    return results.Diagnosis(all(check.state != "broken" for check in checks), tuple(checks))


def _programs(ground: Ground) -> Iterator[results.Check]:
    del ground
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield results.Check("Python", "ok", version)
    if shutil.which("git"):
        yield results.Check("git", "ok", "found; it repacks the history")
    else:
        yield results.Check(
            "git",
            "degraded",
            "not found; history is kept but never repacked",
            "Install git from git-scm.com.",
        )


def _settings(ground: Ground) -> Iterator[results.Check]:
    zone = ground.zone.key
    origin = ground.settings.origin("timezone")
    yield results.Check("time zone", "ok", f"{zone} ({origin})")
    if ground.settings.broken:
        yield results.Check(
            "settings", "broken", ground.settings.broken, "Mend the file; until then the defaults hold here."
        )
    for warning in ground.settings.warnings:
        yield results.Check("settings", "degraded", warning)
    yield results.Check("model", "ok", ground.settings.model.told or "none; built-in rules decide")


def _files(ground: Ground) -> Iterator[results.Check]:
    try:
        ground.refresh()
        total = ground.lookups.count()
    except WorkbenchError as error:
        yield results.Check("memories", "broken", error.message, error.remedy)
        return
    problems = broken_parts(ground)
    yield results.Check("memories", "ok", f"{total:,} in the catalog")
    yield from problems[:_MOST_PROBLEMS]
    if len(problems) > _MOST_PROBLEMS:
        further = len(problems) - _MOST_PROBLEMS
        yield results.Check("file", "degraded", f"{further} further broken parts")


def _search(ground: Ground) -> Iterator[results.Check]:
    try:
        status = ground.outside.describe(ground.finder.status())
    except WorkbenchError as error:
        yield results.Check("search", "degraded", error.message, error.remedy)
        return
    vectors = status.provider if status.model is None else f"{status.provider}, {status.model}"
    waiting = "; brought up to date by the next search" if status.dirty else ""
    told = f"{status.chunks:,} chunks, vectors by {vectors}{waiting}"
    if status.pending and not status.dirty and status.provider != "none":
        told += f", {status.pending:,} of them found by words alone until they are embedded"
    if status.fallback:
        yield results.Check(
            "search", "degraded", f"{told}. {status.fallback}", "Mend what it names, or choose another."
        )
    elif status.pending and not status.dirty:
        yield results.Check("search", "degraded", told, "Run: workbench index")
    else:
        yield results.Check("search", "ok", told)
    for problem in ground.outside.problems():
        yield results.Check("file", "degraded", f"{problem.where}: {problem.message}", problem.remedy)


def broken_parts(ground: Ground) -> tuple[results.Check, ...]:
    """Return what cannot be read in the files, as far as they have been looked at."""
    return tuple(
        results.Check("file", "degraded", f"{f'{path}:{line}' if line else path}: {message}", remedy)
        for path, line, message, remedy in (*ground.lookups.problems(), *_problems_of_books(ground))
    )


def _problems_of_books(ground: Ground) -> Iterator[tuple[str, int | None, str, str]]:
    """Look at the files that hold no memories themselves, and so are not in the catalog."""
    from workbench.engine import documents

    readers: dict[str, Callable[[bytes], Sequence[documents.Problem]]] = {
        layout.DECAY_SCORES: lambda content: documents.DecayScores.parse(content).problems,
        layout.RELATIONS: lambda content: documents.RelationVocabulary.parse(content).problems,
        layout.REFLECTION_LOG: lambda content: documents.ReflectionLog.parse(content).problems,
        layout.EVOLUTION: lambda content: documents.Evolution.parse(content).problems,
        layout.PENDING_REFLECTION: lambda content: documents.PendingReflection.parse(content).problems,
        layout.PENDING_MEMORIES: lambda content: documents.PendingMemories.parse(content).problems,
    }
    for path, problems_of in readers.items():
        try:
            content = ground.files.read(path)
        except WorkbenchError as error:
            yield path, None, error.message, error.remedy or ""
            continue
        if content is not None:
            for problem in problems_of(content):
                yield problem.path, problem.line, problem.message, problem.remedy


def _history(ground: Ground) -> Iterator[results.Check]:
    if not ground.has_history():
        yield results.Check(
            "history", "degraded", "none yet; the first change makes it", "Run: workbench init"
        )
        return
    try:
        head = ground.history.head()
        pending = sum(not alert.acknowledgement for alert in ground.history.raised_alerts())
    except WorkbenchError as error:
        yield results.Check("history", "broken", error.message, error.remedy)
        return
    yield results.Check("history", "ok", f"newest commit {head[:10] if head else 'none'}")
    if pending:
        yield results.Check(
            "alerts", "degraded", f"{pending} not acknowledged", "Look with: workbench audit alerts"
        )


def _state(ground: Ground) -> Iterator[results.Check]:
    cache = ground.settings.cache_directory(ground.root)
    for purpose, folder, cost in (
        ("state", ground.state, "accesses are not counted"),
        ("cache", cache, "the catalog of memories is made anew each time"),
    ):
        probe = folder / "doctor.probe"
        if can_be_kept(probe):
            probe.unlink(missing_ok=True)
            yield results.Check(purpose, "ok", str(folder))
        else:
            yield results.Check(
                purpose,
                "degraded",
                f"{folder} cannot be written; {cost}",
                f"Make room there, give yourself the right to write, or set paths.{purpose}.",
            )
    for place in set_aside_beside(ground.state):
        yield results.Check(
            "former state",
            "degraded",
            f"{place} was left by another workspace that stood here",
            f"Its sessions are read with: workbench sessions --from {place / 'sessions'}; "
            "delete the folder when nobody needs it.",
        )
