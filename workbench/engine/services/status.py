"""The state of memory: what does not work here, with how to mend it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence

from workbench.engine import layout, results
from workbench.engine.errors import (
    WorkbenchError,
)
from workbench.engine.file_access import trouble_in
from workbench.engine.history.alerts import load_seen
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.graph import RelationVocabulary
from workbench.engine.markdown.proposals import PendingMemories
from workbench.engine.markdown.reflection_records import ReflectionLog
from workbench.engine.markdown.review import PendingReflection
from workbench.engine.markdown.source import Problem
from workbench.engine.providers.selection import try_local_model
from workbench.engine.services.context import COST_OF_STATE, WorkspaceContext
from workbench.engine.services.state_folder import set_aside_beside
from workbench.engine.settings.sections import Settings, shown_value

_MOST_PROBLEMS = 20


class Status:
    """Looks at the whole of an open workspace."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def broken_parts(self) -> tuple[results.audit.Check, ...]:
        """Return the parts of files that cannot be read as what they are, as `doctor` tells them."""
        self._context.refresh_for_reading()
        return _broken_parts(self._context)

    def diagnose(self) -> results.audit.Diagnosis:
        """Return what works here, what is degraded and how to mend it."""
        looks = (_programs, _settings, _folder, _files, _search, _history, _state)
        checks = tuple(check for look in looks for check in look(self._context))
        return results.audit.Diagnosis(all(check.state != "broken" for check in checks), checks)


def _programs(_context: WorkspaceContext) -> Iterator[results.audit.Check]:
    version = ".".join(str(part) for part in sys.version_info[:3])
    yield results.audit.Check("Python", "ok", version)
    if shutil.which("git"):
        yield results.audit.Check("git", "ok", "found; it repacks the history")
    else:
        yield results.audit.Check(
            "git",
            "degraded",
            "not found; history is kept but never repacked",
            "Install git from git-scm.com.",
        )


def _settings(context: WorkspaceContext) -> Iterator[results.audit.Check]:
    zone = context.zone.key
    origin = context.settings.origin("timezone")
    yield results.audit.Check("time zone", "ok", f"{zone} ({origin})")
    if context.settings.broken:
        yield results.audit.Check(
            "settings",
            "broken",
            context.settings.broken,
            "Mend the file; until then this check goes by the defaults, and most commands refuse.",
        )
    for warning in context.settings.warnings:
        yield results.audit.Check("settings", "degraded", warning)
    yield from _foreign_settings(context.settings)
    yield _model(context)


def _foreign_settings(settings: Settings) -> Iterator[results.audit.Check]:
    """Tell of each entry in the files of other programs what it sets here, or why it sets nothing."""
    for entry in settings.foreign:
        remedy = entry.instead
        if not entry.key:
            told = entry.told
        elif (origin := settings.origin(entry.key)) == f"{entry.file} {entry.path}":
            told = f"{entry.key} = {shown_value(settings, entry.key)}"
        else:
            told = f"not used: {entry.key} comes from {origin}"
        yield results.audit.Check(entry.file, "ok", f"{entry.path}: {told}", remedy)


def _folder(context: WorkspaceContext) -> Iterator[results.audit.Check]:
    for place in (context.root, context.root / layout.HISTORY):
        if place.is_dir() and not os.access(
            place, os.W_OK, effective_ids=os.access in os.supports_effective_ids
        ):
            yield results.audit.Check(
                "folder",
                "degraded",
                f"{place} cannot be written: memory can be read, and nothing of it changed",
                "Make the folder writable.",
            )
            return


def _model(context: WorkspaceContext) -> results.audit.Check:
    told = context.settings.model.told
    try:
        try_local_model(context.settings)
    except WorkbenchError as error:
        return results.audit.Check(
            "model", "degraded", f"{told}. {error.message} Built-in rules decide.", error.remedy or ""
        )
    return results.audit.Check("model", "ok", told or "none; built-in rules decide")


def _files(context: WorkspaceContext) -> Iterator[results.audit.Check]:
    try:
        context.refresh()
        # Parts of files outside the stores are found, and have no score: `decay` does not list them.
        parts = context.lookups.count("file")
        scored = context.lookups.count() - parts
    except WorkbenchError as error:
        yield results.audit.Check("memories", "broken", error.message, error.remedy)
        return
    problems = _broken_parts(context)
    told = (
        f", and {parts:,} part{'s' * (parts != 1)} of files, which {'do' if parts != 1 else 'does'} not fade"
    )
    yield results.audit.Check("memories", "ok", f"{scored:,}{told if parts else ''}")
    yield from problems[:_MOST_PROBLEMS]
    if len(problems) > _MOST_PROBLEMS:
        further = len(problems) - _MOST_PROBLEMS
        yield results.audit.Check("file", "degraded", f"{further} further broken parts")


def _search(context: WorkspaceContext) -> Iterator[results.audit.Check]:
    try:
        context.finder.try_local_model()
        status = context.outside.describe(context.finder.status())
    except WorkbenchError as error:
        yield results.audit.Check("search", "degraded", error.message, error.remedy)
        return
    vectors = status.provider if status.model is None else f"{status.provider}, {status.model}"
    waiting = "; brought up to date by the next search" if status.dirty else ""
    kept = f" in PostgreSQL at {status.place}" if status.backend == "postgres" else ""
    told = f"{status.chunks:,} chunk{'s' * (status.chunks != 1)}{kept}, vectors by {vectors}{waiting}"
    if status.pending and not status.dirty and status.provider != "none":
        told += f", {status.pending:,} of them found by words alone until they are embedded"
    if status.fallback:
        yield results.audit.Check(
            "search", "degraded", f"{told}. {status.fallback}", "Mend what it names, or choose another."
        )
    elif status.pending and not status.dirty:
        yield results.audit.Check("search", "degraded", told, "Run: workbench index")
    else:
        yield results.audit.Check("search", "ok", told)
    for problem in context.outside.problems():
        yield results.audit.Check("file", "degraded", f"{problem.where}: {problem.message}", problem.remedy)


def _broken_parts(context: WorkspaceContext) -> tuple[results.audit.Check, ...]:
    return tuple(
        results.audit.Check("file", "degraded", f"{f'{path}:{line}' if line else path}: {message}", remedy)
        for path, line, message, remedy in (*context.lookups.problems(), *_problems_of_books(context))
    )


def _problems_of_books(context: WorkspaceContext) -> Iterator[tuple[str, int | None, str, str]]:
    """Look at the files that hold no memories themselves, and so are not in the catalog."""
    readers: dict[str, Callable[[bytes], Sequence[Problem]]] = {
        layout.DECAY_SCORES: lambda content: DecayScores.parse(content).problems,
        layout.RELATIONS: lambda content: RelationVocabulary.parse(content).problems,
        layout.REFLECTION_LOG: lambda content: ReflectionLog.parse(content).problems,
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


def _history(context: WorkspaceContext) -> Iterator[results.audit.Check]:
    if not context.has_history() and (seen := load_seen(context.history.state)):
        yield results.audit.Check(
            "history",
            "broken",
            f"gone; it was last seen at commit {seen.head[:10]}",
            f"Put {layout.HISTORY} back from a backup, or begin a new history with: workbench init",
        )
        return
    if not context.has_history():
        yield results.audit.Check(
            "history", "degraded", "none yet; the first change makes it", "Run: workbench init"
        )
        return
    try:
        unfinished = context.history.unfinished_purge() is not None
        head = context.history.head()
        pending = sum(not alert.acknowledgement for alert in context.history.raised_alerts())
    except WorkbenchError as error:
        yield results.audit.Check("history", "broken", error.message, error.remedy)
        return
    yield results.audit.Check("history", "ok", f"newest commit {head[:10] if head else 'none'}")
    if unfinished:
        yield results.audit.Check(
            "purge",
            "broken",
            f"one was interrupted, and what it removes may still be in the history{_stop(context)}",
            "The next change finishes it; so does: workbench audit log",
        )
    for told in context.history.told_of_purges():
        yield results.audit.Check(
            "purged",
            "degraded",
            told,
            "Look at what it names; asking for the same purge again ends this note.",
        )
    for one in context.history.behind():
        yield results.audit.Check(
            "projection",
            "degraded",
            f"{one.name} is behind: {one.reason}",
            "Mend what it names; the next change brings it up to date.",
        )
    if pending:
        yield results.audit.Check(
            "alerts", "degraded", f"{pending} not acknowledged", "Look with: workbench audit alerts"
        )


def _stop(context: WorkspaceContext) -> str:
    stopped = context.history.purge_stopped_by
    return f"; it could not be finished: {stopped}" if stopped else ""


def _state(context: WorkspaceContext) -> Iterator[results.audit.Check]:
    cache = context.settings.cache_directory(context.root)
    for purpose, folder, cost in (
        ("state", context.state, COST_OF_STATE),
        ("cache", cache, "the catalog of memories is rebuilt each time"),
    ):
        trouble = trouble_in(folder)
        if not trouble:
            yield results.audit.Check(purpose, "ok", str(folder))
        else:
            yield results.audit.Check(
                purpose,
                "degraded",
                f"{folder} cannot be written ({trouble}): {cost}",
                f"Make room there, give yourself the right to write, or set paths.{purpose}.",
            )
    for place in set_aside_beside(context.state):
        yield results.audit.Check(
            "former state",
            "degraded",
            f"{place} was left by another workspace that stood here",
            f"Its sessions are read with: workbench sessions --from {place / 'sessions'}; "
            "delete the folder when nobody needs it.",
        )
