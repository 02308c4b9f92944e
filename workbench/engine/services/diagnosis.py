"""What works in an open workspace and what does not, with how to mend it."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.derived_files import trouble_in
from workbench.engine.errors import WorkbenchError
from workbench.engine.services.context import COST_OF_STATE, WorkspaceContext
from workbench.engine.services.state_folder import set_aside_beside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_MOST_PROBLEMS = 20


def diagnose(context: WorkspaceContext) -> results.status.Diagnosis:
    """Look at everything the workspace stands on, and say how to mend what is not well."""
    checks = [
        check for look in (_programs, _settings, _files, _search, _history, _state) for check in look(context)
    ]
    return results.status.Diagnosis(all(check.state != "broken" for check in checks), tuple(checks))


def _programs(_context: WorkspaceContext) -> Iterator[results.status.Check]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield results.status.Check("Python", "ok", version)
    if shutil.which("git"):
        yield results.status.Check("git", "ok", "found; it repacks the history")
    else:
        yield results.status.Check(
            "git",
            "degraded",
            "not found; history is kept but never repacked",
            "Install git from git-scm.com.",
        )


def _settings(context: WorkspaceContext) -> Iterator[results.status.Check]:
    zone = context.zone.key
    origin = context.settings.origin("timezone")
    yield results.status.Check("time zone", "ok", f"{zone} ({origin})")
    if context.settings.broken:
        yield results.status.Check(
            "settings", "broken", context.settings.broken, "Mend the file; until then the defaults hold here."
        )
    for warning in context.settings.warnings:
        yield results.status.Check("settings", "degraded", warning)
    yield _model(context)


def _model(context: WorkspaceContext) -> results.status.Check:
    from workbench.engine.providers.selection import try_local_model

    told = context.settings.model.told
    try:
        try_local_model(context.settings)
    except WorkbenchError as error:
        return results.status.Check(
            "model", "degraded", f"{told}. {error.message} Built-in rules decide.", error.remedy or ""
        )
    return results.status.Check("model", "ok", told or "none; built-in rules decide")


def _files(context: WorkspaceContext) -> Iterator[results.status.Check]:
    try:
        context.refresh()
        total = context.lookups.count()
    except WorkbenchError as error:
        yield results.status.Check("memories", "broken", error.message, error.remedy)
        return
    problems = broken_parts(context)
    yield results.status.Check("memories", "ok", f"{total:,} in the catalog")
    yield from problems[:_MOST_PROBLEMS]
    if len(problems) > _MOST_PROBLEMS:
        further = len(problems) - _MOST_PROBLEMS
        yield results.status.Check("file", "degraded", f"{further} further broken parts")


def _search(context: WorkspaceContext) -> Iterator[results.status.Check]:
    try:
        context.finder.try_local_model()
        status = context.outside.describe(context.finder.status())
    except WorkbenchError as error:
        yield results.status.Check("search", "degraded", error.message, error.remedy)
        return
    vectors = status.provider if status.model is None else f"{status.provider}, {status.model}"
    waiting = "; brought up to date by the next search" if status.dirty else ""
    told = f"{status.chunks:,} chunk{'s' * (status.chunks != 1)}, vectors by {vectors}{waiting}"
    if status.pending and not status.dirty and status.provider != "none":
        told += f", {status.pending:,} of them found by words alone until they are embedded"
    if status.fallback:
        yield results.status.Check(
            "search", "degraded", f"{told}. {status.fallback}", "Mend what it names, or choose another."
        )
    elif status.pending and not status.dirty:
        yield results.status.Check("search", "degraded", told, "Run: workbench index")
    else:
        yield results.status.Check("search", "ok", told)
    for problem in context.outside.problems():
        yield results.status.Check("file", "degraded", f"{problem.where}: {problem.message}", problem.remedy)


def broken_parts(context: WorkspaceContext) -> tuple[results.status.Check, ...]:
    """Return what cannot be read in the files, as far as they have been looked at."""
    return tuple(
        results.status.Check("file", "degraded", f"{f'{path}:{line}' if line else path}: {message}", remedy)
        for path, line, message, remedy in (*context.lookups.problems(), *_problems_of_books(context))
    )


def _problems_of_books(context: WorkspaceContext) -> Iterator[tuple[str, int | None, str, str]]:
    """Look at the files that hold no memories themselves, and so are not in the catalog."""
    from workbench.engine.markdown.decay_scores import DecayScores
    from workbench.engine.markdown.graph import RelationVocabulary
    from workbench.engine.markdown.proposals import PendingMemories
    from workbench.engine.markdown.reflection_records import Evolution, ReflectionLog
    from workbench.engine.markdown.review import PendingReflection
    from workbench.engine.markdown.source import Problem

    readers: dict[str, Callable[[bytes], Sequence[Problem]]] = {
        layout.DECAY_SCORES: lambda content: DecayScores.parse(content).problems,
        layout.RELATIONS: lambda content: RelationVocabulary.parse(content).problems,
        layout.REFLECTION_LOG: lambda content: ReflectionLog.parse(content).problems,
        layout.EVOLUTION: lambda content: Evolution.parse(content).problems,
        layout.PENDING_REFLECTION: lambda content: PendingReflection.parse(content).problems,
        layout.PENDING_MEMORIES: lambda content: PendingMemories.parse(content).problems,
    }
    for path, problems_of in readers.items():
        try:
            content = context.files.read(path)
        except WorkbenchError as error:
            yield path, None, error.message, error.remedy or ""
            continue
        if content is not None:
            for problem in problems_of(content):
                yield problem.path, problem.line, problem.message, problem.remedy


def _history(context: WorkspaceContext) -> Iterator[results.status.Check]:
    from workbench.engine.history.alerts import load_seen

    if not context.has_history() and (seen := load_seen(context.history.state)):
        yield results.status.Check(
            "history",
            "broken",
            f"gone; it was last seen at commit {seen.head[:10]}",
            f"Put {layout.HISTORY} back from a backup, or begin a new history with: workbench init",
        )
        return
    if not context.has_history():
        yield results.status.Check(
            "history", "degraded", "none yet; the first change makes it", "Run: workbench init"
        )
        return
    try:
        unfinished = context.history.unfinished_purge() is not None
        head = context.history.head()
        pending = sum(not alert.acknowledgement for alert in context.history.raised_alerts())
    except WorkbenchError as error:
        yield results.status.Check("history", "broken", error.message, error.remedy)
        return
    yield results.status.Check("history", "ok", f"newest commit {head[:10] if head else 'none'}")
    if unfinished:
        yield results.status.Check(
            "purge",
            "broken",
            f"one was interrupted, and what it removes may still be in the history{_stop(context)}",
            "The next change finishes it; so does: workbench audit log",
        )
    for told in context.history.told_of_purges():
        yield results.status.Check(
            "purged",
            "degraded",
            told,
            "Look at what it names; asking for the same purge again ends this note.",
        )
    for one in context.history.behind():
        yield results.status.Check(
            "projection",
            "degraded",
            f"{one.name} is behind: {one.reason}",
            "Mend what it names; the next change brings it up to date.",
        )
    if pending:
        yield results.status.Check(
            "alerts", "degraded", f"{pending} not acknowledged", "Look with: workbench audit alerts"
        )


def _stop(context: WorkspaceContext) -> str:
    stopped = context.history.purge_stopped_by
    return f"; it could not be finished: {stopped}" if stopped else ""


def _state(context: WorkspaceContext) -> Iterator[results.status.Check]:
    cache = context.settings.cache_directory(context.root)
    for purpose, folder, cost in (
        ("state", context.state, COST_OF_STATE),
        ("cache", cache, "the catalog of memories is rebuilt each time"),
    ):
        trouble = trouble_in(folder)
        if not trouble:
            yield results.status.Check(purpose, "ok", str(folder))
        else:
            yield results.status.Check(
                purpose,
                "degraded",
                f"{folder} cannot be written ({trouble}): {cost}",
                f"Make room there, give yourself the right to write, or set paths.{purpose}.",
            )
    for place in set_aside_beside(context.state):
        yield results.status.Check(
            "former state",
            "degraded",
            f"{place} was left by another workspace that stood here",
            f"Its sessions are read with: workbench sessions --from {place / 'sessions'}; "
            "delete the folder when nobody needs it.",
        )
