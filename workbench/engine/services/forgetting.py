"""Forgetting: by decay, by archiving, by deletion for good, and by purging from wherever else it lies.

A purge takes it out of sessions, requests held back, and all that is derived from the files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout, results
from workbench.engine.catalog.terms import coverage, question_terms
from workbench.engine.errors import HistoryDamaged, InvalidInput, NotFound, WorkbenchError
from workbench.engine.history.erasure import PURGED, Erasure, erase_from_content, erase_from_text, erasure_of
from workbench.engine.history.plan import Attribution, FileView, Plan, Receipt
from workbench.engine.history.purge import purge
from workbench.engine.history.recovery import PurgeSteps, last_purge_of, purge_is_unfinished, was_asked_by
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.memory.decay import is_archived
from workbench.engine.memory.forget import Erased, plan_archive, plan_erase, plan_restore
from workbench.engine.memory.scores import score_course, score_terms
from workbench.engine.patterns import lazy_pattern
from workbench.engine.roles import Capability, require
from workbench.engine.services import kept_brief
from workbench.engine.services.context import SESSIONS_FOLDER, WorkspaceContext
from workbench.engine.services.inbox_ticks import Ticks
from workbench.engine.services.mutator import Mutator, plan_setting, shortened
from workbench.engine.services.past import PastReader
from workbench.engine.services.retrieval import Retrieval
from workbench.engine.services.scoped_view import forget_scopes
from workbench.engine.services.secret_guard import purge_held_back
from workbench.engine.services.sessions import own_home
from workbench.engine.services.state_folder import set_aside_beside
from workbench.engine.services.unread import forget_leftovers
from workbench.engine.sessions import transcripts
from workbench.engine.sessions.events import FileLines
from workbench.engine.sessions.foreign import originals
from workbench.engine.sync.conflicts import ConflictFile, is_conflict_id, texts_kept
from workbench.engine.sync.devices import load_link

if TYPE_CHECKING:
    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.search.chunks import Chunk
    from workbench.engine.search.ranking.question import LiteralMatch
    from workbench.engine.sessions.events import Lines
    from workbench.engine.sessions.transcripts import Erase, PurgedSessions

_MOST_MATCHES = 20
_SNIPPET = 160
# Facts named of those that lose their evidence.
_MOST_NAMED = 3
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
_CITED = lazy_pattern(r"file:(sessions/[\w.-]+\.jsonl)#L(\d{1,9})")
_MOST_LINES_NAMED = 5


class Forgetting:
    """Hides memories, brings them back, and deletes them; a purge that was cut short is finished when asked again."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, retrieval: Retrieval) -> None:
        self._context = context
        self._mutator = mutator
        self._retrieval = retrieval

    def forget(
        self,
        query: str | None = None,
        *,
        ids: Sequence[str] = (),
        apply: bool = False,
        hard: bool = False,
        purge_history: bool = False,
    ) -> results.memories.Forgotten:
        """Find what a query means and, with `apply`, hide it from search: score 0, out of index and core memory.

        A purge that was interrupted is finished by the next change; asked for again, it is finished at once.

        Args:
            query: What to forget, in words; left out where ids are given.
            ids: The memories to forget.
            apply: Do it; without, the matches are shown alone.
            hard: Delete them from the files instead of hiding them. A person's right.
            purge_history: Also rewrite history so that the text is truly gone. A person's right.

        Raises:
            InvalidInput: Neither a query nor ids are given.
            NotFound: An id names nothing.
            RoleRefused: This door may not do it.
        """
        if not query and not ids:
            raise InvalidInput("Nothing was named to forget.", remedy="Give words or an id.")
        context = self._context
        if apply:
            require(context.role, Capability.WRITE_MEMORY, doing="forget memories")
        if hard or purge_history:
            require(context.role, Capability.HARD_DELETE, doing="delete memories for good")
        asked = [
            " ".join(words.casefold().split()) for words in (query or "", " ".join(sorted(ids))) if words
        ]
        if purge_history and (finished := self._finish_purge(asked)):
            return finished
        hard = hard or purge_history
        context.refresh_for_reading()
        try:
            named = [
                name if is_conflict_id(name) else str(self._retrieval.resolve(name))
                for name in map(str.strip, ids)
            ]
            matches = self._of_ids(named) if ids else self._meant_by(query or "")
            kept = self._kept_in_conflicts(query, named if ids else None)
        except NotFound:
            if purge_history and (finished := self._purged_before(asked)):
                return finished
            raise
        warnings: tuple[str, ...] = ()
        if hard:
            matches = tuple(sorted((*matches, *kept), key=lambda match: -match.score))
        elif kept and context.role.may(Capability.HARD_DELETE):
            warnings = (_left_in_conflicts(kept),)
        warnings = (*warnings, *self._losing_their_evidence(matches))
        if not matches and purge_history and (finished := self._purged_before(asked)):
            return finished
        if not apply or not matches:
            return results.memories.Forgotten(matches, applied=False, hard=hard, warnings=warnings)
        chosen = [match.id for match in matches]
        said = shortened(query or ", ".join(named))
        by = self._mutator.attribution(f"user said “forget {said}”", actor="bot:trigger-forget")
        if purge_history:
            changed = self._purge(chosen, query, by, [*asked, " ".join(sorted(named))])
        elif hard:
            changed = self._erase(chosen, query, by)
        else:
            changed = self._mutator.change(
                lambda view: plan_archive(
                    view, chosen, context.now(), context.settings, context.scores().first_seen
                ),
                by,
            )
        return results.memories.Forgotten(
            matches,
            applied=True,
            commit=changed.commit,
            files=changed.files,
            ids=changed.ids,
            warnings=(*changed.warnings, *warnings),
            hard=hard,
        )

    def standing(self, ids: Sequence[str]) -> results.memories.Forgotten:
        """Return what of some memories can still be forgotten, as a preview; what is archived or gone is left out.

        Args:
            ids: Exact ids.
        """
        self._context.refresh_for_reading()
        lookups, archived = self._context.lookups, self._archived()
        left = [
            each
            for each in ids
            if each not in archived
            and ("#^" not in each or ((fact := lookups.fact(each)) is not None and not fact.retired))
        ]
        matches = self._of_ids(left)
        return results.memories.Forgotten(
            matches, applied=False, warnings=self._losing_their_evidence(matches)
        )

    def _losing_their_evidence(self, matches: Sequence[results.memories.Match]) -> tuple[str, ...]:
        """Return a sentence for each fact that stays, and rests on these memories alone."""
        going = {match.id for match in matches}
        citing = [
            fact
            for fact in self._context.lookups.facts_citing((), sorted(going))
            if not fact.retired and going.intersection(fact.provenance)
        ]
        if not citing:
            return ()
        gone = going | self._archived()
        alone = [
            f"“{shortened(fact.text, _SNIPPET)}”"
            for fact in citing
            if not gone.intersection((fact.id, fact.entity)) and gone.issuperset(fact.provenance)
        ]
        if len(alone) > _MOST_NAMED + 1:
            alone[_MOST_NAMED:] = [f"{len(alone) - _MOST_NAMED} more facts"]
        return tuple(f"Nothing else supports {named}." for named in alone)

    def restore(self, id: str, *more: str) -> results.memories.Changed:
        """Bring archived memories back, in one commit.

        Raises:
            NotFound: There is no such memory.
            BudgetExceeded: It belongs into core memory, which is full.
        """
        context = self._context
        require(context.role, Capability.WRITE_MEMORY, doing="restore memories")
        self._mutator.prepare_writing()
        # What was archived out of core memory is in no file that the catalog knows.
        names = [name.strip() for name in (id, *more)]
        ids = [name if name.startswith("core:") else str(self._retrieval.resolve(name)) for name in names]
        return self._mutator.change(
            lambda view: plan_restore(
                view, ids, context.now(), context.settings, context.scores().first_seen
            ),
            f"restore {', '.join(ids[:3])}",
        )

    def _of_ids(self, ids: Sequence[str]) -> tuple[results.memories.Match, ...]:
        """Return the memories of some ids that exist."""
        lookups = self._context.lookups
        found = []
        for memory_id in ids:
            whole, _, block = memory_id.partition("#^")
            record = lookups.memory(whole)
            fact = lookups.fact(memory_id) if block else None
            if record is not None:
                text = shortened(fact.text if fact else record.text, _SNIPPET)
                found.append(results.memories.Match(memory_id, record.store, record.path, text, 1.0))
        return tuple(found)

    def _meant_by(self, query: str) -> tuple[results.memories.Match, ...]:
        """Return the memories that a query means, best first; what is archived already is left out."""
        context = self._context
        visible = context.visible(context.scores())
        archived = self._archived()
        literal = context.finder.literal_matches(query, patience=_PATIENCE)
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
            for match in (_parts_meant(visible, found.chunk, query) or self._whole(found, query, archived))
        ]
        return tuple(sorted(matches, key=lambda match: -match.score))

    def _whole(
        self, found: LiteralMatch, query: str, archived: Collection[str]
    ) -> tuple[results.memories.Match, ...]:
        """Return a memory as it was found; nothing where only its archived facts and relations match."""
        chunk = found.chunk
        record = self._context.lookups.memory(chunk.memory_id) if chunk.store == "semantic" else None
        if record is not None:
            lines = record.text.splitlines()
            left = [
                line for line in lines if f"{record.id}#^{line.rpartition('^')[2].strip()}" not in archived
            ]
            if len(left) < len(lines):
                said = "\n".join((chunk.title, *chunk.tags, *left))
                if coverage(question_terms(query), said) < _LEAST_COVERAGE:
                    return ()
        return (_match(found),)

    def _kept_in_conflicts(
        self, query: str | None, ids: Sequence[str] | None
    ) -> tuple[results.memories.Match, ...]:
        """Return the conflicts between devices that keep what is meant, which their files do not say.

        Args:
            query: What is meant, in words.
            ids: What was named instead; conflicts among it are meant whole.
        """
        files, found = self._context.files, []
        wanted = question_terms(query or "")
        for record in ConflictFile.parse(files.read(layout.CONFLICTS)).records.values():
            if ids is not None and record.id not in ids:
                continue
            texts = texts_kept(record, files.read(record.path))
            shares = {text: coverage(wanted, text) if ids is None else 1.0 for text in texts}
            said = max(texts, key=lambda text: shares[text], default="")
            if said and shares[said] >= _LEAST_COVERAGE:
                snippet = f"{layout.shown(record.path)}, as another device has or had it: {said}"
                found.append(
                    results.memories.Match(
                        record.id,
                        layout.store_of(layout.CONFLICTS),
                        layout.CONFLICTS,
                        shortened(snippet, _SNIPPET),
                        round(shares[said], 4),
                    )
                )
        return tuple(found)

    def _plan_erase(self, view: FileView, ids: Sequence[str], query: str | None) -> Plan[Erased]:
        """Plan to delete memories, and what is meant of the versions that conflicts between devices keep."""
        context, wanted = self._context, question_terms(query or "")

        def is_meant(text: str, path: str, content: bytes) -> bool:
            if wanted:
                return coverage(wanted, text) >= _LEAST_COVERAGE
            # Who names a conflict does not mean what stands in the file.
            return not erase_from_content(erasure_of((), [text]), path, content)[1]

        records = ConflictFile.parse(view.read(layout.CONFLICTS)).records
        kept: dict[str, list[str]] = {}
        for record in (records[name] for name in ids if name in records):
            content = view.read(record.path)
            texts = texts_kept(record, content)
            kept[record.id] = [text for text in texts if is_meant(text, record.path, content or b"")]
        memories = [name for name in ids if not is_conflict_id(name)]
        return plan_erase(view, memories, context.lookups, context.now(), context.settings, kept=kept)

    def _archived(self) -> set[str]:
        entries = self._context.scores().entries
        return {memory_id for memory_id, entry in entries.items() if is_archived(entry)}

    def _erase(self, ids: Sequence[str], query: str | None, by: Attribution) -> results.memories.Changed:
        """Delete memories from the files; history still has them."""
        context = self._context
        receipt = self._mutator.mutate(
            lambda view: self._plan_erase(view, ids, query),
            by,
            Capability.HARD_DELETE,
            doing="delete memories for good",
        )
        erased = receipt.outcome
        context.journal.scrub(erased.ids)
        return results.memories.Changed(receipt.commit, receipt.files, erased.ids, erased.warnings)

    def _purge(
        self, ids: Sequence[str], query: str | None, by: Attribution, asked: Sequence[str]
    ) -> results.memories.Changed:
        """Delete memories from the files, from history and from everything derived, whole or not at all.

        Args:
            query: What is meant of the conflicts among them; all of it if left out.
            asked: The words and ids that it was asked for by.

        Raises:
            WorkbenchError: As `history.purge` says; the remedy says what has happened to the purge.
            KeyboardInterrupt: It was interrupted; its message says so too.
        """
        context = self._context
        context.follow_settings()
        sources = [source for memory_id in ids for source in context.lookups.links_from(memory_id)]

        def going(erased: Erased) -> PurgeSteps:
            return PurgeSteps((*erased.ids, *erased.derived), erased.texts, tuple(sources), erased.paths)

        with self._telling_what_happened(asked):
            self._mutator.prepare_writing()
            purged = purge(
                context.history,
                lambda view: self._plan_erase(view, ids, query),
                going,
                by,
                asked=asked,
            )
            erased = purged.outcome
            self._mutator.answer_alerts(Receipt(purged.deleted, purged.files, None))
        link = load_link(context.state)
        elsewhere = (
            f"The next sync takes it out of {link.remote}, and each device’s next one out of that device."
        )
        warnings = (*erased.warnings, *purged.told, *((elsewhere,) if link.remote else ()))
        return results.memories.Changed(purged.commit, purged.files, erased.ids, warnings)

    def _finish_purge(self, asked: Sequence[str]) -> results.memories.Forgotten | None:
        """Finish the purge that was interrupted, if it was asked for by one of these words or ids."""
        history = self._context.history
        marker = history.unfinished_purge() if self._context.has_history() else None
        if marker is None or not was_asked_by(marker, asked):
            return None
        with self._telling_what_happened(asked):
            adopted = history.adopt()
            told = dict.fromkeys((*adopted.warnings, *history.told_of_purges(now=True)))
        return self._purged("The purge that had been interrupted is finished.", *told)

    def _purged_before(self, asked: Sequence[str]) -> results.memories.Forgotten | None:
        """Return what to answer if the last purge was asked for by one of these words or ids, and is done."""
        context = self._context
        if not context.has_history() or not last_purge_of(context.state, asked):
            return None
        told = context.history.told_of_purges(now=True)
        done = "It was purged before" if told else "It was purged before; nothing is left to be done"
        return self._purged(f"{done}.", *told)

    def _purged(self, *told: str) -> results.memories.Forgotten:
        return results.memories.Forgotten(
            (), applied=True, commit=self._context.history.head(), warnings=told
        )

    @contextmanager
    def _telling_what_happened(self, asked: Sequence[str]) -> Iterator[None]:
        """Let whatever stops a purge say what has happened to it: nothing, part of it, or all of it."""
        context = self._context

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


def _left_in_conflicts(kept: Sequence[results.memories.Match]) -> str:
    names = ", ".join(match.id for match in kept)
    return (
        f"What other devices have or had still says it and cannot be archived: {names} in {layout.CONFLICTS}. "
        "Decide what waits (workbench review conflicts), or delete it for good: workbench forget WORDS --purge-history"
    )


def _match(found: LiteralMatch) -> results.memories.Match:
    chunk = found.chunk
    return results.memories.Match(
        chunk.memory_id, chunk.store, chunk.path, shortened(chunk.text, _SNIPPET), round(found.coverage, 4)
    )


def _parts_meant(lookups: Lookups, chunk: Chunk, query: str) -> tuple[results.memories.Match, ...]:
    """Return the facts and relations of an entity that a query means; none where it names the entity itself."""
    if chunk.store != "semantic":
        return ()
    wanted = question_terms(query)
    if coverage(wanted, chunk.title) == 1:
        return ()
    facts = [(each.id, each.text) for each in lookups.facts_of(chunk.memory_id) if not each.retired]
    # Who is only related to what is named must not go with it.
    relations = [
        (f"{each.from_}#^{each.block}", f"{each.relation}: {each.to.partition(':')[2]}")
        for each in lookups.edges_of(chunk.memory_id)
        if each.block and each.from_ == chunk.memory_id
    ]
    return tuple(
        results.memories.Match(part, chunk.store, chunk.path, shortened(text, _SNIPPET), round(share, 4))
        for part, text in (*facts, *relations)
        if "#^" in part and (share := coverage(wanted, text)) >= _LEAST_COVERAGE
    )


class Decay:
    """How relevant memories are, were and will be, and the rate of decay, a setting of the workspace."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator, retrieval: Retrieval) -> None:
        self._context = context
        self._mutator = mutator
        self._retrieval = retrieval

    def view(
        self, *, forecast: int | Sequence[int] = (), lambda_: float | None = None
    ) -> results.decay.DecayView:
        """Return every memory's score now, and at days to come.

        Args:
            forecast: Days from now to score as well, one or several.
            lambda_: Another decay rate per day, to see what it would change.
        """
        self._context.refresh_for_reading()
        days = (forecast,) if isinstance(forecast, int) else forecast
        return self._context.scores().view(forecast=days, lambda_=lambda_)

    def course(
        self, view: results.decay.DecayView, entry: results.decay.DecayEntry, days: Sequence[int]
    ) -> tuple[results.decay.ScorePoint, ...]:
        """Return one memory’s scores on some days if nobody touches it; nothing is read for it.

        Args:
            view: What `view` answered: its moment, rate and thresholds count.
            entry: One of its entries.
            days: Calendar days from the view’s, negative in the past.
        """
        return score_course(view, entry, days)

    def terms(
        self, view: results.decay.DecayView, entry: results.decay.DecayEntry, day: int
    ) -> results.memories.Score | None:
        """Return a score on one day with the terms of the formula; None where it is not known.

        Args:
            day: Calendar days from the view’s, negative in the past.
        """
        return score_terms(view, entry, day)

    def falls(self, within: int = 30, *, lambda_: float | None = None) -> results.decay.Falls:
        """Return what passes a threshold within some days if nobody touches it, the soonest first.

        Args:
            within: Calendar days from today.
            lambda_: Another rate per day to try.

        Raises:
            InvalidInput: The days lie in the past, or the rate is negative.
        """
        self._context.refresh_for_reading()
        return self._context.scores().falls(within, lambda_=lambda_)

    def explain(
        self,
        id: str,
        *,
        on: date | None = None,
        lambda_: float | None = None,
    ) -> results.decay.DecayExplained:
        """Return one memory’s score on a day, term by term, and when it passes which threshold.

        Args:
            id: A memory id, or the name of an entity; of a fact, its entity is explained.
            on: The day in the workspace’s zone; today by default.
            lambda_: Another rate per day to try.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: It has no score, or the rate is negative.
        """
        self._context.refresh_for_reading()
        memory_id = str(self._retrieval.resolve(id).whole)
        return self._context.scores().explained(memory_id, on, lambda_=lambda_)

    def keep(self, lambda_: float) -> results.memories.Changed:
        """Make another rate of decay the workspace’s; only a person may.

        Args:
            lambda_: Per day, 0 or more.

        Raises:
            InvalidSetting: The rate is negative, or `workbench.toml` cannot be read.
            RoleRefused: This door is no person’s.
        """
        context = self._context
        changed = self._mutator.change(
            lambda view: plan_setting(view, "decay.lambda", lambda_, f"decay.lambda = {lambda_:g}"),
            f"keep a decay rate of {lambda_:g} a day",
            Capability.CHANGE_SETTINGS,
            doing="change settings",
        )
        context.follow_settings()
        in_force, origin = context.settings.decay.lambda_, context.settings.origin("decay.lambda")
        if in_force == lambda_:
            return changed
        told = f"{layout.SETTINGS} says {lambda_:g} now, but λ is {in_force:g}: {origin} says so."
        return replace(changed, warnings=(*changed.warnings, told))


class Remains:
    """What holds memories besides the files and their history: sessions, requests held back, and all that is derived.

    Args:
        past: Keeps texts of former versions.
    """

    def __init__(self, context: WorkspaceContext, past: PastReader) -> None:
        self._context = context
        self._past = past

    def purge(self, purging: PurgeSteps) -> tuple[str, ...]:
        """Take what is purged out of it; return what a person should know, one sentence each."""
        context, erasure = self._context, purging.erasure
        # The files are rid of the texts already: a kill from here on leaves no copy of them.
        self._destroy_derived()
        context.journal.scrub(purging.names)
        Ticks(context.state).purge(lambda text: erase_from_text(erasure, text))
        cache = context.settings.cache_directory(context.root)
        unwritable = cache.exists() and not cache.samefile(context.derived)
        return (
            *purge_sessions(context, erasure, (*purging.sources, *purging.texts)),
            *purge_held_back(context, lambda text: erase_from_text(erasure, text)),
            *((f"May still hold it, and cannot be written: {cache}",) if unwritable else ()),
        )

    def forget_derived(self) -> None:
        """Delete everything derived, and read the files again."""
        self._destroy_derived()
        self._context.refresh()

    def _destroy_derived(self) -> None:
        context = self._context
        kept_brief.forget(context.derived)
        context.finder.destroy()
        context.catalog.destroy()
        context.outside.destroy()
        self._past.forget()
        forget_leftovers(context)
        forget_scopes(context)


def purge_sessions(context: WorkspaceContext, erasure: Erasure, sources: Sequence[str]) -> tuple[str, ...]:
    """Purge the own sessions; return what a person should know, one sentence each.

    What cannot be purged is named rather than raised: memory has let go of it already.

    Args:
        erasure: What has to go.
        sources: What may cite the lines that the memories were drawn from.
    """

    def erase(text: str) -> str:
        return PURGED if text.strip().casefold() in erasure.alone else erase_from_text(erasure, text)

    purged = transcripts.purge_sessions(context.sessions_folder, erase)
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
    try:
        foreign = list(_foreign(context))
    except WorkbenchError as error:
        yield f"May still be where sessions were copied from: {error}"
        return
    for lines in foreign:
        try:
            numbers = tuple(transcripts.lines_with(lines, erase))
        except WorkbenchError as error:
            yield f"May still hold it, for you to look at: {error}"
            continue
        if numbers:
            yield f"Still holds it, and is not ours to change: {lines.where} ({_numbered(numbers)})."


def _foreign(context: WorkspaceContext) -> Iterator[Lines]:
    """Yield the transcripts of others that this workspace knows: copied, searched, or left by who was here before."""
    yield from originals(own_home(context).store)
    for former in set_aside_beside(context.state):
        for place in sorted((former / SESSIONS_FOLDER).glob("*.jsonl*")):
            yield FileLines(place)
    settings = context.settings
    is_read = settings.search.sessions or settings.qmd.transcripts
    for name in settings.search.session_paths if is_read else ():
        for place in sorted((context.root / Path(name).expanduser()).rglob("*.jsonl")):
            yield FileLines(place)


def _numbered(numbers: Sequence[int]) -> str:
    named = ", ".join(f"L{number}" for number in numbers[:_MOST_LINES_NAMED])
    more = len(numbers) - _MOST_LINES_NAMED
    return f"{named} and {more:,} more" if more > 0 else named
