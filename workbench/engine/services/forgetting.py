"""Forgetting: finding what is meant, archiving it, and deleting it for good, from sessions too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.errors import HistoryDamaged, WorkbenchError
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.roles import Capability, require
from workbench.engine.services import sessions as places

if TYPE_CHECKING:
    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.history.erasure import Erasure
    from workbench.engine.history.plan import Attribution
    from workbench.engine.history.recovery import PurgeSteps
    from workbench.engine.memory.forget import Erased
    from workbench.engine.search.chunks import Chunk
    from workbench.engine.search.ranking.question import LiteralMatch
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.mutator import Mutator
    from workbench.engine.sessions.lines import Lines
    from workbench.engine.sessions.transcripts import Erase, PurgedSessions


_MOST_MATCHES = 20
_SNIPPET = 160
# A memory that holds fewer of the words asked for than this is not what was meant.
_LEAST_COVERAGE = 0.5
# Seconds to wait for what changed to be read: what is not known cannot be forgotten.
_PATIENCE = 10.0
_NOTED = (
    "The purge is noted and will be finished by the next change; part of it may have been done. "
    "Run the same command again to finish it now."
)
_FINISHED = "The purge itself is finished; run the same command again to see whether anything still holds it."
_NOTHING_DELETED = "Nothing was deleted."


def find_matches(
    context: WorkspaceContext, query: str | None, ids: Sequence[str]
) -> tuple[results.memories.Match, ...]:
    """Return the memories that a query or ids mean, best first; what is archived already is left out.

    Args:
        context: The open workspace.
        query: Words, or None.
        ids: Ids that exist.
    """
    from workbench.engine.memory.decay import is_archived
    from workbench.engine.search.ranking.question import literal_matches

    scores = context.scores()
    if ids:
        found = []
        for memory_id in ids:
            whole, _, block = memory_id.partition("#^")
            record = context.lookups.memory(whole)
            fact = context.lookups.fact(memory_id) if block else None
            if record is not None:
                text = fact.text if fact else record.text
                found.append(
                    results.memories.Match(memory_id, record.store, record.path, _snippet(text), 1.0)
                )
        return tuple(found)
    visible = context.visible(scores)
    archived = {memory_id for memory_id, entry in scores.entries.items() if is_archived(entry)}
    wanted = query or ""
    literal, _ = context.finder.ask(lambda source, _: literal_matches(source, wanted), patience=_PATIENCE)
    # What faded by itself can still be meant; what somebody archived is forgotten already.
    meant = (
        match
        for match in literal
        if match.chunk.store in MEMORY_STORES
        and match.coverage >= _LEAST_COVERAGE
        and not match.chunk.is_retired
        and match.chunk.memory_id not in archived
    )
    matches = [
        match
        for found in islice(meant, _MOST_MATCHES)
        for match in (_facts_meant(visible, found.chunk, wanted) or (_match(found),))
    ]
    return tuple(sorted(matches, key=lambda match: -match.score))


def _match(found: LiteralMatch) -> results.memories.Match:
    chunk = found.chunk
    return results.memories.Match(
        chunk.memory_id, chunk.store, chunk.path, _snippet(chunk.text), round(found.coverage, 4)
    )


def _facts_meant(lookups: Lookups, chunk: Chunk, query: str) -> tuple[results.memories.Match, ...]:
    """Return the facts of an entity that a query means; none where it names the entity itself."""
    from workbench.engine.search.ranking.question import coverage
    from workbench.engine.search.stemming import question_terms

    if chunk.store != "semantic":
        return ()
    wanted = question_terms(query)
    if coverage(wanted, chunk.title) == 1:
        return ()
    return tuple(
        results.memories.Match(fact.id, chunk.store, chunk.path, _snippet(fact.text), round(share, 4))
        for fact in lookups.facts_of(chunk.memory_id)
        if "#^" in fact.id and not fact.retired and (share := coverage(wanted, fact.text)) >= _LEAST_COVERAGE
    )


def forget(
    context: WorkspaceContext, mutator: Mutator, ids: Sequence[str], by: Attribution
) -> results.memories.Changed:
    """Hide memories: archived, out of the graph index and out of core memory, in one commit."""
    from workbench.engine.memory.forget import plan_archive

    receipt = mutator.mutate(
        lambda view: plan_archive(view, ids, context.now(), context.settings, context.scores().first_seen),
        by,
        Capability.WRITE_MEMORY,
        doing="forget memories",
    )
    return replace(receipt.outcome, commit=receipt.commit, files=receipt.files)


def forget_for_good(
    context: WorkspaceContext, mutator: Mutator, ids: Sequence[str], by: Attribution
) -> results.memories.Changed:
    """Delete memories from the files; history still has them."""
    from workbench.engine.memory.forget import plan_erase

    receipt = mutator.mutate(
        lambda view: plan_erase(view, ids, context.lookups, context.now(), context.settings),
        by,
        Capability.HARD_DELETE,
        doing="delete memories for good",
    )
    erased = receipt.outcome
    context.journal.scrub(erased.ids)
    return results.memories.Changed(receipt.commit, receipt.files, erased.ids, erased.warnings)


def forget_without_trace(
    context: WorkspaceContext, mutator: Mutator, ids: Sequence[str], by: Attribution, *, asked: Sequence[str]
) -> results.memories.Changed:
    """Delete memories from the files, from history and from everything derived, whole or not at all.

    Args:
        context: The open workspace.
        mutator: What changes it.
        ids: Which.
        by: Who deletes.
        asked: The words and ids that it was asked for by.

    Raises:
        WorkbenchError: As `history.purge` says; the remedy says what has happened to the purge.
        KeyboardInterrupt: It was interrupted; its message says so too.
    """
    from workbench.engine.history.plan import Receipt
    from workbench.engine.history.purge import purge
    from workbench.engine.history.recovery import PurgeSteps
    from workbench.engine.memory.forget import plan_erase

    require(context.role, Capability.HARD_DELETE, doing="delete memories for good")
    context.follow_settings()
    sources = [source for memory_id in ids for source in context.lookups.links_from(memory_id)]

    def going(erased: Erased) -> PurgeSteps:
        return PurgeSteps((*erased.ids, *erased.derived), erased.texts, tuple(sources), erased.paths)

    with _telling_what_happened(context, asked):
        mutator.prepare_writing()
        purged = purge(
            context.history,
            lambda view: plan_erase(view, ids, context.lookups, context.now(), context.settings),
            going,
            by,
            asked=asked,
        )
        erased = purged.outcome
        mutator.answer_alerts(Receipt(purged.deleted, purged.files, context.now(), None))
    return results.memories.Changed(purged.commit, purged.files, erased.ids, (*erased.warnings, *purged.told))


def finish_forgetting(context: WorkspaceContext, asked: Sequence[str]) -> results.memories.Forgotten | None:
    """Finish the purge that was interrupted, if it was asked for by one of these words or ids; None without one.

    Args:
        context: The open workspace.
        asked: The words and ids of the call.
    """
    from workbench.engine.history.recovery import was_asked_by

    marker = context.history.unfinished_purge() if context.has_history() else None
    if marker is None or not was_asked_by(marker, asked):
        return None
    with _telling_what_happened(context, asked):
        adopted = context.history.adopt()
        told = dict.fromkeys((*adopted.warnings, *context.history.told_of_purges(now=True)))
    return _purged(context, "The purge that had been interrupted is finished.", *told)


def forgotten_before(context: WorkspaceContext, asked: Sequence[str]) -> results.memories.Forgotten | None:
    """Return what to answer if the last purge was asked for by one of these words or ids, and is done; else None."""
    from workbench.engine.history.recovery import last_purge_of

    if not context.has_history() or not last_purge_of(context.state, asked):
        return None
    told = context.history.told_of_purges(now=True)
    done = "It was purged before" if told else "It was purged before; nothing is left to be done"
    return _purged(context, f"{done}.", *told)


def _purged(context: WorkspaceContext, *told: str) -> results.memories.Forgotten:
    return results.memories.Forgotten((), applied=True, commit=context.history.head(), warnings=told)


@contextmanager
def _telling_what_happened(context: WorkspaceContext, asked: Sequence[str]) -> Iterator[None]:
    """Let whatever stops a purge say what has happened to it: nothing, part of it, or all of it."""
    from workbench.engine.history.recovery import last_purge_of, purge_is_unfinished

    def finished_last() -> str:
        # A purge that stopped on its last steps has noted itself as the last one already.
        return "" if purge_is_unfinished(context.history.path) else last_purge_of(context.state, asked)

    def happened() -> str:
        if purge_is_unfinished(context.history.path):
            return _NOTED
        return _NOTHING_DELETED if finished_last() == before else _FINISHED

    before = finished_last()
    try:
        yield
    except WorkbenchError as error:
        # A history that has to be set aside is not finished by the next change, and says so itself.
        damaged = isinstance(error, HistoryDamaged) and purge_is_unfinished(context.history.path)
        if not damaged:
            error.remedy = f"{error.remedy or ''} {happened()}".strip()
        raise
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"Interrupted. {happened()}") from error


class Remains:
    """What holds memories besides the files and their history: sessions, requests held back, and all that is derived.

    Args:
        context: The open workspace.
    """

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def purge(self, purging: PurgeSteps) -> tuple[str, ...]:
        """Take what is purged out of it; return what a person should know, one sentence each."""
        from workbench.engine.history.erasure import erase_from_text
        from workbench.engine.services.quarantine import purge_held_back

        context, erasure = self._context, purging.erasure
        # The files are rid of the texts already: a kill from here on leaves no copy of them.
        _destroy_derived(context)
        context.journal.scrub(purging.names)
        cache = context.settings.cache_directory(context.root)
        unwritable = cache.exists() and not cache.samefile(context.derived)
        return (
            *purge_sessions(context, erasure, (*purging.sources, *purging.texts)),
            *purge_held_back(context, lambda text: erase_from_text(erasure, text)),
            *((f"May still hold it, and cannot be written: {cache}",) if unwritable else ()),
        )

    def forget_derived(self) -> None:
        """Delete everything derived, and read the files again."""
        _destroy_derived(self._context)
        self._context.refresh()


def _destroy_derived(context: WorkspaceContext) -> None:
    from workbench.engine.services.reflection_cache import forget_leftovers
    from workbench.engine.services.scoped_view import forget_scopes

    context.finder.destroy()
    context.catalog.destroy()
    context.outside.destroy()
    context.looking_back.forget()
    context.past_texts.clear()
    forget_leftovers(context)
    forget_scopes(context)


def _snippet(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SNIPPET else line[: _SNIPPET - 1] + "…"


_CITED = re.compile(r"file:(sessions/[\w.-]+\.jsonl)#L(\d{1,9})")
_MOST_NAMED = 5


def purge_sessions(context: WorkspaceContext, erasure: Erasure, sources: Sequence[str]) -> tuple[str, ...]:
    """Purge the own sessions; return what a person should know, one sentence each.

    What cannot be purged is named rather than raised: memory has let go of it already.

    Args:
        context: The open workspace.
        erasure: What has to go.
        sources: What may cite the lines that the memories were drawn from.
    """
    from workbench.engine.history.erasure import PURGED, erase_from_text
    from workbench.engine.sessions import transcripts

    def erase(text: str) -> str:
        return PURGED if text.strip().casefold() in erasure.alone else erase_from_text(erasure, text)

    purged = transcripts.purge_sessions(places.own_folder(context), erase)
    return (*_told(purged, sources), *_elsewhere(context, erase))


def _told(purged: PurgedSessions, sources: Sequence[str]) -> Iterator[str]:
    for name, numbers in purged.lines.items():
        yield f"It was said in {name} too, and taken out there: {_numbered(numbers)}."
    for problem in purged.left.values():
        yield f"May still hold it, for you to look at: {problem}"
    cited = dict.fromkeys((found[1], int(found[2])) for text in sources for found in _CITED.finditer(text))
    for name, line in cited:
        if name not in purged.left and line not in purged.lines.get(name, ()):
            yield f"file:{name}#L{line}, which it was drawn from, says it in other words and was left as it is."


def _elsewhere(context: WorkspaceContext, erase: Erase) -> Iterator[str]:
    from workbench.engine.sessions.transcripts import lines_with

    try:
        foreign = list(_foreign(context))
    except WorkbenchError as error:
        yield f"May still stand where sessions were copied from: {error}"
        return
    for lines in foreign:
        try:
            numbers = tuple(lines_with(lines, erase))
        except WorkbenchError as error:
            yield f"May still hold it, for you to look at: {error}"
            continue
        if numbers:
            yield f"Still holds it, and is not ours to change: {lines.where} ({_numbered(numbers)})."


def _foreign(context: WorkspaceContext) -> Iterator[Lines]:
    """Give the transcripts of others that this workspace knows: copied, searched, or left by who was here before."""
    from workbench.engine.services.state_folder import set_aside_beside
    from workbench.engine.sessions.foreign import originals
    from workbench.engine.sessions.lines import FileLines

    yield from originals(places.own_home(context).store)
    for former in set_aside_beside(context.state):
        for place in sorted((former / places.SESSIONS_FOLDER).glob("*.jsonl*")):
            yield FileLines(place)
    for name in context.settings.search.session_paths if context.settings.search.sessions else ():
        for place in sorted((context.root / Path(name).expanduser()).rglob("*.jsonl")):
            yield FileLines(place)


def _numbered(numbers: Sequence[int]) -> str:
    named = ", ".join(f"L{number}" for number in numbers[:_MOST_NAMED])
    more = len(numbers) - _MOST_NAMED
    return f"{named} and {more:,} more" if more > 0 else named
