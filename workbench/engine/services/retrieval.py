"""Memories read: search and why something was not found, one memory, excerpts, the timeline."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.engine import layout, results
from workbench.engine.catalog.lookups import parse_filter
from workbench.engine.clock import in_zone, parse_time
from workbench.engine.errors import (
    Ambiguous,
    HistoryError,
    InvalidInput,
    Locked,
    NotFound,
    OutsideWorkspace,
    StorageError,
)
from workbench.engine.identifiers import MemoryId, cited_lines, parse_memory_id
from workbench.engine.markdown.source import LineSpan, SourceText
from workbench.engine.memory.lookup import may_be_scoped, scopes_in, show_memory
from workbench.engine.requests import SearchRequest
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.index_beside import IndexBeside
from workbench.engine.services.past import PastReader

if TYPE_CHECKING:
    from datetime import date

    from workbench.engine.catalog.records import MemoryRecord
    from workbench.engine.search.ranking.question import SearchOptions
    from workbench.engine.search.ranking.search import SearchQuery

T = TypeVar("T")


def _timeline_entry(
    record: MemoryRecord,
    day_and_rest: tuple[str, str, str],
    score: results.memories.Score | None,
    scope: str | None,
    shared: dict[Any, Any],
) -> results.memories.TimelineEntry:
    """Return the entry of a memory.

    Args:
        shared: Words that many entries have, each kept once.
    """
    moment = record.moment

    def one(said: T) -> T:
        found: T = shared.setdefault(said, said)
        return found

    timed = moment is not None and (record.store == "episodic" or (moment.hour, moment.minute) != (0, 0))
    return results.memories.TimelineEntry(
        id=record.id,
        day=one(day_and_rest[0]),
        time=f"{moment:%H:%M}" if moment and timed else None,
        kind="episode" if record.store == "episodic" else "log",
        type=one(record.type),
        confidence=one(record.confidence),
        source=one(record.source),
        tags=one(record.tags),
        title=record.title,
        path=one(record.path),
        start_line=record.start_line,
        end_line=record.end_line,
        text=record.text,
        status=score.status if score else None,
        score=score.value if score else None,
        scope=scope,
    )


def _plain(text: str) -> str:
    """Return a text without what no memory holds and the catalog cannot be asked for: NUL, half characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


# How long a question waits on a first look at more files than can be read meanwhile, so that it is answered within
# 1.5 s: half of it while the catalog reads them, the rest while the index does.
# Others read along there and must not learn the names of a person's private files.
_SHARED = frozenset({"group", "channel", "subagent"})
_READING_SECONDS = 1.1
# Entries of the timeline that are made of rows at once.
_ROWS_AT_ONCE = 1_000
# Without a budget or a minimum, a result with less than this share of the best one's score only fills the list: on half
# of the conversations it was chosen on and on the other one, 0.1 % of the evidence went with what it leaves out.
_LEAST_SHARE = 0.5
_FEW_FILES = 200


class Retrieval:
    """Everything that changes nothing but the count of accesses; finds memories by what they say and mean."""

    def __init__(self, context: WorkspaceContext, past: PastReader) -> None:
        self._context = context
        self._past = past

    def get(
        self, path: str, *, from_: int = 1, lines: int | None = None, count_access: bool = True
    ) -> results.memories.Excerpt:
        """Read lines of a memory file, exactly as they are, line ends included.

        Args:
            path: Workspace-relative; also with `#L3-L5`, and as an id `file:…`.
            from_: First line, 1-based.
            lines: How many; to the end by default.
            count_access: Whether this counts as an access to the memories in these lines (design document §9.4).

        Raises:
            OutsideWorkspace: The path leads out of the memory files.
            NotFound: There is no such memory file.
        """
        path = path.removeprefix("file:")
        whole, hash_mark, place = path.rpartition("#L")
        # The name of a file may hold what otherwise cites lines of one.
        if hash_mark and not layout.is_memory_file(path):
            path = whole
            first, _, final = place.partition("-L")
            if not (first.isdecimal() and (final.isdecimal() or not final)):
                raise InvalidInput("These are no lines.", where=f"{path}#L{place}", remedy="Write #L3-L5.")
            from_, lines = int(first), int(final or first) - int(first) + 1
        if from_ < 1 or (lines is not None and lines < 0):
            raise InvalidInput("Lines are counted from 1.", remedy="Ask for --from 1 or more.")
        relative, content = self._content_of(path)
        source = SourceText.from_bytes(content)
        total = len(source.lines)
        last = total if lines is None else min(total, from_ - 1 + lines)
        span = LineSpan(from_, max(last, from_ - 1))
        if count_access:
            self._count_access_of_lines(relative, from_, last)
        # What is edited and written back must come back with its own line ends.
        text = source.text if len(span) == total else source.raw_of(span)
        return results.memories.Excerpt(relative, text, from_, len(span))

    def _content_of(self, path: str) -> tuple[str, bytes]:
        """Return the path and the bytes of a memory file, or of a file outside that search gives.

        A person gets them as they are, everybody else without the secrets on which nobody has decided.
        """
        context = self._context
        is_masked = context.role.kind != "person"
        context.follow_settings()
        searches_outside = context.settings.search.extra_paths or context.settings.search.backend != "builtin"
        if searches_outside and (content := context.outside.read(path)) is not None:
            return path, context.masking.elsewhere(content) if is_masked else content
        relative = layout.normalise(path)
        layout.resolve(context.root, relative)
        files = context.files if is_masked else context.raw_files
        content = files.read(relative) if layout.is_memory_file(relative) else None
        if content is None:
            raise NotFound(
                "There is no such memory file.",
                where=relative,
                remedy="`get` reads MEMORY.md, memory/ and the agent’s own files such as SOUL.md.",
            )
        return relative, content

    def show(self, id: str, *, count_access: bool = True, history: bool = True) -> results.memories.Shown:
        """Return one memory with its provenance, validity, score, links and history.

        Args:
            id: A memory id, an entity's or fact's too, or the name of an entity.
            count_access: Whether this counts as an access (design document §9.4).
            history: Whether to look for its history as well, which `history_of` also gives by itself.

        Raises:
            NotFound: There is no such memory.
        """
        context = self._context
        context.refresh_for_reading()
        memory_id = self.resolve(id)
        scores = context.scores()
        score = scores.of(str(memory_id.whole))
        if score is not None and str(memory_id) in scores.archived_parts():
            score = replace(score, value=0.0, status="archived")
        today = context.now().date().isoformat()
        shown = show_memory(context.files, str(memory_id), context.lookups, context.zone, today, score=score)
        if history:
            shown = replace(shown, history=self.history_of(str(memory_id), shown.path))
        if count_access and score is not None:
            context.count_access(str(memory_id.whole))
        return shown

    def history_of(self, id: str, path: str) -> tuple[results.memories.HistoryEntry, ...]:
        """Return the newest commits that changed a memory, newest first; none where the history is damaged.

        Args:
            path: The file that holds it, as `show` says.
        """
        if self._context.has_history():
            # Commits that the log names may be lost, too.
            with contextlib.suppress(HistoryError, NotFound):
                return self._past.history_of(parse_memory_id(id), path)
        return ()

    def resolve(self, name: str) -> MemoryId:
        """Return the id that a person's words mean: an id, a path, or an entity's name.

        Raises:
            NotFound: Nothing answers to it.
            Ambiguous: Several memories do.
        """
        name = _plain(name).strip()
        cited = cited_lines(name)
        is_cited = cited is not None and layout.is_memory_file(cited[0])
        try:
            memory_id = parse_memory_id(f"file:{name}" if is_cited else name)
        except InvalidInput:
            memory_id = None
        lookups = self._context.lookups
        if memory_id is not None and memory_id.kind == "file":
            return memory_id
        if memory_id is not None and (
            lookups.memory(str(memory_id.whole)) or (memory_id.block and lookups.fact(str(memory_id)))
        ):
            return memory_id
        if memory_id is not None and memory_id.kind == "vault" and lookups.memory(f"{memory_id}.md"):
            return MemoryId("vault", f"{memory_id.name}.md")
        if layout.is_memory_file(name) and layout.resolve(self._context.root, name).is_file():
            found = lookups.memories_in(name)
            is_one = layout.store_of(name) in ("semantic", "procedural", "vault") and len(found) == 1
            return parse_memory_id(found[0].id) if is_one else MemoryId("file", name)
        kind, _, rest = name.partition(":")
        matches = lookups.resolve(rest if kind == "entity" else name)
        sure = [match.entity for match in matches if match.how != "near"]
        if len(sure) == 1:
            return parse_memory_id(sure[0].id)
        if sure:
            raise Ambiguous(
                f"“{name}” may be {', '.join(entity.id for entity in sure[:5])}.", remedy="Name one of them."
            )
        near = ", ".join(match.entity.id for match in matches[:3])
        raise NotFound(
            f"There is no memory “{name}”.",
            remedy=f"Did you mean {near}?" if near else "Find its id with: workbench search WORDS",
        )

    def known(self, name: str) -> str:
        """Return the id of a memory or an entity by what it may be called; see `resolve`."""
        self._context.refresh_for_reading()
        return str(self.resolve(name).whole)

    def memory_around(self, name: str) -> MemoryId:
        """Return the whole memory that a person's words mean; of lines of a file, the one that holds the first.

        Raises:
            NotFound: Nothing answers to it.
            Ambiguous: Several memories do.
        """
        memory_id = self.resolve(name).whole
        if memory_id.kind != "file" or self._context.lookups.memory(str(memory_id)):
            return memory_id
        cited = cited_lines(memory_id.name)
        path, line = (cited[0], cited[1]) if cited else (memory_id.name, 1)
        around = [
            record
            for record in self._context.lookups.memories_in(path)
            if line <= record.end_line and (line >= record.start_line or cited is None)
        ]
        return parse_memory_id(around[0].id) if around else memory_id

    def title(self, id: str) -> str:
        """Return a line that names a memory; the id itself where nothing is known of it."""
        lookups = self._context.lookups
        fact = lookups.fact(id) if "#^" in id else None
        if fact is not None:
            return fact.text
        record = lookups.memory(id)
        return record.title if record else id

    def titles(self, *stores: str) -> Mapping[str, str]:
        """Return the line that names each memory of some stores, by its id.

        Args:
            stores: core, episodic, semantic, procedural or vault.
        """
        self._context.refresh_for_reading()
        return self._context.lookups.titles(stores)

    def timeline(
        self, *, before: str | None = None, limit: int = 200, query: str = ""
    ) -> results.memories.Timeline:
        """Return episodes and flat daily logs, newest first.

        Args:
            before: The cursor `next` of the page before, or None for the newest.
            query: A filter such as `type:decision tag:auth after:2026-01 words`.
        """
        self._context.refresh_for_reading()
        narrowed = parse_filter(_plain(query))
        cursor = None if before is None else _plain(before)
        scores = self._context.scores()
        entries: list[results.memories.TimelineEntry] = []
        shared: dict[Any, Any] = {}
        # All of a long life is read in pages: rows, records and entries of it at once would take three times the room.
        while True:
            most = min(limit - len(entries), _ROWS_AT_ONCE)
            rows = self._context.lookups.timeline(narrowed, before=cursor, limit=most + 1)
            scores.first_seen.read([record.id for _, record in rows[:most]])
            scopes = self._scopes_in({record.path for _, record in rows})
            entries += [
                _timeline_entry(
                    record, key.partition("T"), scores.of_record(record), scopes.get(record.id), shared
                )
                for key, record in rows[:most]
            ]
            cursor = rows[most - 1][0] if len(rows) > most else None
            if cursor is None or len(entries) >= limit:
                break
        return results.memories.Timeline(
            tuple(entries), cursor, self._context.lookups.timeline_length(narrowed)
        )

    def _scopes_in(self, paths: Iterable[str]) -> dict[str, str]:
        """Return whom the memories in some files are for, by id; what lies elsewhere is for nobody but the owner."""
        found: dict[str, str] = {}
        for path in filter(may_be_scoped, paths):
            # A file that cannot be read is told of by `doctor`, and hides no other.
            with contextlib.suppress(OutsideWorkspace, StorageError):
                found |= scopes_in(path, self._context.raw_files.read(path) or b"")
        return found

    def _count_access_of_lines(self, path: str, first: int, last: int) -> None:
        # A catalog that cannot be kept costs a count, never an answer.
        with contextlib.suppress(StorageError, Locked):
            self._context.refresh_for_reading()
            for record in self._context.lookups.memories_in(path):
                if record.start_line <= last and record.end_line >= first and record.store != "file":
                    self._context.count_access(record.id)

    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        store: str | None = None,
        after: str | None = None,
        before: str | None = None,
        include_dormant: bool = False,
        budget: int | None = None,
        explain: bool = False,
    ) -> results.recall.Found:
        """Find the memories that answer a question; `search_request` with the fields of the request as arguments.

        Raises:
            InvalidInput: An option makes no sense as given.
            StorageError: The index cannot be kept anywhere.
        """
        return self.search_request(
            SearchRequest(
                query, max_results, min_score, store, after, before, include_dormant, budget, explain
            )
        )

    def search_request(self, request: SearchRequest) -> results.recall.Found:
        """Find the memories that answer a question, in any language, with or without a model.

        Args:
            request: The question, and which answers are wanted.

        Raises:
            InvalidInput: A day cannot be read.
            StorageError: The index cannot be kept anywhere.
        """
        from workbench.engine.search.finder import PATIENCE

        context, query = self._context, request.query
        options = self._options(request)
        started = time.perf_counter()
        until = time.monotonic() + _READING_SECONDS
        # The first index of all is waited for even so: there would be nothing to answer from.
        waits = context.settings.search.sync_on_search or not context.finder.status().chunks
        is_behind = waits and context.refresh_in_part(_READING_SECONDS / 2, _FEW_FILES)
        other, failure = context.outside.search(query, options, context.catalog.version())
        patience = PATIENCE
        if is_behind or not waits:
            patience = 0.0
        elif context.unread:
            patience = max(until - time.monotonic(), 0.0)
        found = other or context.finder.search(self._query(query, options), patience=patience)
        context.read_on()
        scopes = self._scopes_in({hit.path for hit in (*found.results, *found.faded.results)})
        found = found.with_hits(lambda hit: replace(self._cited(hit), scope=scopes.get(hit.id)))
        took_ms = round((time.perf_counter() - started) * 1000, 2)
        return replace(
            found,
            cuts=tuple(map(self._untold, found.cuts)),
            fallback=failure or found.fallback,
            took_ms=took_ms,
        )

    def why_not(self, query: str, id: str) -> results.recall.WhyNot:
        """Say why a memory did not come up for a question.

        Args:
            id: A memory's id, or what `resolve` understands; lines of a file mean the memory they stand in.

        Raises:
            NotFound: There is no such memory.
            Ambiguous: There are several.
        """
        self._context.refresh_for_reading()
        memory_id = str(self.memory_around(id))
        # Nothing is too far down to be asked about.
        options = replace(self._options(SearchRequest(query)), min_score=None)
        return self._context.finder.why_not(self._query(query, options), memory_id)

    def index(
        self,
        *,
        force: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.recall.IndexStatus:
        """Bring the search index up to date with the files, however long that takes.

        Args:
            force: Build a new one beside the old one, which answers meanwhile.
            progress: Called with what is done and what there is to do.
            cancelled: Asked now and then; what is done by then stays.

        Raises:
            StorageError: The index cannot be kept.
        """
        context = self._context
        with IndexBeside(context) as beside:

            def told(done: int, total: int) -> None:
                context.progress("Reading memory", done, total)
                if not force:
                    beside.begin(total - done)

            context.refresh(progress=told, cancelled=cancelled)
            beside.finish(progress, cancelled)
        context.finder.sync(force=force, progress=progress, cancelled=cancelled)
        return self.index_status()

    def index_status(self) -> results.recall.IndexStatus:
        """Return what the search index holds and how fresh it is."""
        self._context.refresh_for_reading()
        status = replace(self._context.finder.status(), entities=self._context.lookups.count_unmerged())
        return self._context.outside.describe(status)

    def _untold(self, cut: results.recall.Cut) -> results.recall.Cut:
        """Return what was left out; only a person sees the words of what was forgotten."""
        is_told = self._context.role.kind == "person" or cut.reason != "archived"
        return cut if is_told else replace(cut, text="")

    def _cited(self, hit: results.recall.Hit) -> results.recall.Hit:
        context = "subagent" if self._context.role.kind == "agent" else "direct"
        given = are_citations_given(self._context.settings.search.citations, context)
        return replace(hit, citation=hit.place if given else None)

    def _options(self, request: SearchRequest) -> SearchOptions:
        """Lay a request over the settings; a budget replaces their limits."""
        from workbench.engine.search.chunks import Within
        from workbench.engine.search.ranking.question import SearchOptions

        search = self._context.settings.search
        max_results, min_score = request.max_results, request.min_score
        if request.budget is None:
            max_results = search.max_results if max_results is None else max_results
            min_score = search.min_score if min_score is None else min_score
        return SearchOptions(
            max_results=max_results,
            min_score=min_score,
            within=Within(request.store, self._day(request.after), self._day(request.before)),
            include_dormant=request.include_dormant,
            budget=request.budget,
            explain=request.explain,
            fusion=search.fusion if search.hybrid else "weighted-sum",
            vector_weight=search.vector_weight if search.hybrid else 1.0,
            text_weight=search.text_weight if search.hybrid else 0.0,
            candidate_multiplier=search.candidate_multiplier,
            least_share=_LEAST_SHARE if request.budget is None and request.min_score is None else 0.0,
        )

    def _day(self, text: str | None) -> date | None:
        """Return the day that is meant, of a moment the one it falls on in the workspace's zone."""
        if not text:
            return None
        moment = parse_time(text)
        if len(text.strip()) > len("2026-02-01"):
            moment = in_zone(moment, self._context.zone)
        return moment.date()

    def _query(self, text: str, options: SearchOptions) -> SearchQuery:
        """Return a question with what answers it besides the index: graph, scores, what is archived in part."""
        from workbench.engine.memory.proposals import contradict
        from workbench.engine.search.ranking.approved import CoreTruth
        from workbench.engine.search.ranking.graph import EntityGraph
        from workbench.engine.search.ranking.search import SearchQuery

        context = self._context
        scores = context.scores()
        lookups = context.visible(scores)
        return SearchQuery(
            text,
            options,
            context.now(),
            scores.of_all,
            EntityGraph(lookups, context.settings.graph.depth),
            lookups,
            scores.archived_parts(),
            CoreTruth(
                contradict,
                scores.first_seen,
                context.now() if context.has_history() else None,
                context.zone,
            ),
            scores.known,
        )


def are_citations_given(choice: str, context: str) -> bool:
    """Return whether results carry citations.

    Args:
        choice: `on`, `off`, or `auto` (on, except for sub-agents and where others read along).
        context: Where the answer goes: `direct`, `group`, `channel` or `subagent`.
    """
    return choice == "on" or (choice == "auto" and context not in _SHARED)
