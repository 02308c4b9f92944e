"""The recalling part of the door: search, why a memory was not found, and the index behind both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from workbench.engine.clock import in_zone, parse_time
from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.results.recall import Cut, Found, Hit, IndexStatus, WhyNot
from workbench.engine.workspace.reading import Reading

if TYPE_CHECKING:
    from datetime import date

    from workbench.engine.recall.finder import Means
    from workbench.engine.recall.ranking import Options, Search

# How long a question waits on a first look at more files than can be read meanwhile, so that it is answered within
# 1.5 s: half of it while the catalog reads them, the rest while the index does.
_READING_SECONDS = 1.1
_FEW_FILES = 200
T = TypeVar("T")


class Recalling(Reading):
    """Finds memories by what they say and mean."""

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
    ) -> Found:
        """Find the memories that answer a question, in any language, with or without a model.

        Args:
            query: What is looked for; none of it is read as a search language.
            max_results: Most results; the setting `search.max_results` unless a budget is given.
            min_score: Least score, 0–1; the setting `search.min_score` unless a budget is given.
            store: core, episodic, semantic, procedural, vault, file, extra or session.
            after: First day, `2026-02-01`.
            before: Last day.
            include_dormant: Also give dormant memories.
            budget: Tokens to fill with what is handed over.
            explain: Also say why each result stands where it does, and what was left out.

        Raises:
            InvalidInput: An option makes no sense as given.
            StorageError: The index cannot be kept anywhere.
        """
        for name, given in (("max_results", max_results), ("budget", budget)):
            if given is not None and given < 1:
                raise InvalidInput(f"{name} is {given}.", remedy="Ask for 1 or more.")
        if min_score is not None and not 0 <= min_score <= 1:
            raise InvalidInput(f"min_score is {min_score}.", remedy="Scores are between 0 and 1.")
        settings = self._ground.settings
        if budget is None:
            max_results = settings.search.max_results if max_results is None else max_results
            min_score = settings.search.min_score if min_score is None else min_score
        options = replace(
            self._options(store, after, before),
            max_results=max_results,
            min_score=min_score,
            include_dormant=include_dormant,
            budget=budget,
            explain=explain,
        )
        started = time.perf_counter()
        ground = self._ground
        until = time.monotonic() + _READING_SECONDS
        is_behind = ground.refresh_in_part(_READING_SECONDS / 2, _FEW_FILES)
        other, failure = ground.outside.search(query, options, ground.catalog.version())
        patience = None
        if is_behind:
            patience = 0.0
        elif ground.unread:
            patience = max(until - time.monotonic(), 0.0)
        found = other or self._from_index(query, options, failure, patience)
        ground.read_on()
        scopes = self._scopes_in({hit.path for hit in found.results})
        took_ms = round((time.perf_counter() - started) * 1000, 2)
        return replace(
            found,
            results=tuple(replace(self._cited(hit), scope=scopes.get(hit.id)) for hit in found.results),
            cuts=tuple(map(self._untold, found.cuts)),
            took_ms=took_ms,
        )

    def why_not(self, query: str, id: str) -> WhyNot:  # noqa: A002 - the field's word
        """Say why a memory did not come up for a question.

        Args:
            query: The question.
            id: A memory's id, or what `resolve` understands; lines of a file mean the memory they stand in.

        Raises:
            NotFound: There is no such memory.
            Ambiguous: There are several.
        """
        self._ground.refresh_for_reading()
        memory_id = str(self.memory_around(id))
        answer, _ = self._asked(lambda search: search.why_not(memory_id), query, self._options())
        return answer

    def index(
        self,
        *,
        force: bool = False,
        progress: Callable[[int, int], None] = lambda _done, _total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IndexStatus:
        """Bring the search index up to date with the files, however long that takes.

        Args:
            force: Build a new one beside the old one, which answers meanwhile.
            progress: Called with what is done and what there is to do.
            cancelled: Asked now and then; what is done by then stays.

        Raises:
            StorageError: The index cannot be kept.
        """
        self._ground.refresh(cancelled=cancelled)
        self._ground.finder.sync(force=force, progress=progress, cancelled=cancelled)
        return self.index_status()

    def index_status(self) -> IndexStatus:
        """Return what the search index holds and how fresh it is."""
        self._ground.refresh_for_reading()
        status = replace(self._ground.finder.status(), entities=len(self._ground.lookups.entities()))
        return self._ground.outside.describe(status)

    def _from_index(self, query: str, options: Options, failure: str | None, patience: float | None) -> Found:
        found, means = self._asked(lambda search: search.found(), query, options, patience)
        return replace(
            found,
            # What is not read yet may hold the answer.
            likely_absent=found.likely_absent and means.stale is None,
            provider=means.provider,
            model=means.model,
            fallback=failure or means.fallback,
            stale=means.stale,
        )

    def _untold(self, cut: Cut) -> Cut:
        """Return what was left out without the words of what was forgotten, but to a person."""
        is_told = self._ground.role.kind == "person" or cut.reason != "archived"
        return cut if is_told else replace(cut, text="")

    def _cited(self, hit: Hit) -> Hit:
        from workbench.engine.recall.citations import are_citations_given

        context = "subagent" if self._ground.role.kind == "agent" else "direct"
        given = are_citations_given(self._ground.settings.search.citations, context)
        return replace(hit, citation=hit.place if given else None)

    def _options(
        self, store: str | None = None, after: str | None = None, before: str | None = None
    ) -> Options:
        from workbench.engine.recall.model import Within
        from workbench.engine.recall.ranking import Options

        if store is not None and store not in SEARCHED_STORES:
            raise InvalidInput(
                f"There is no store “{store}”.", remedy=f"Stores are {', '.join(SEARCHED_STORES)}."
            )
        search = self._ground.settings.search
        return Options(
            within=Within(store, self._day(after), self._day(before)),
            max_results=search.max_results,
            fusion=search.fusion,
            vector_weight=search.vector_weight,
            text_weight=search.text_weight,
            candidate_multiplier=search.candidate_multiplier,
        )

    def _day(self, text: str | None) -> date | None:
        """Return the day that is meant, of a moment the one it falls on in the workspace's zone."""
        if not text:
            return None
        moment = parse_time(text)
        if len(text.strip()) > len("2026-02-01"):
            moment = in_zone(moment, self._ground.zone)
        return moment.date()

    def _asked(
        self,
        answer: Callable[[Search], T],
        query: str,
        options: Options,
        patience: float | None = None,
    ) -> tuple[T, Means]:
        """Have a question answered from the index, what is archived in part left out."""
        from workbench.engine.recall.finder import PATIENCE
        from workbench.engine.recall.ranking import EntityGraph, Search
        from workbench.engine.workspace.visible import VisibleChunks

        ground = self._ground
        scores = ground.scores()
        lookups = ground.visible(scores)
        hidden = scores.archived_parts()
        return ground.finder.ask(
            lambda source, embed_query: answer(
                Search(
                    query,
                    VisibleChunks(source, hidden) if hidden else source,
                    options=options,
                    now=ground.now(),
                    embed_query=embed_query,
                    graph=EntityGraph(lookups),
                    scores_of=scores.of_all,
                )
            ),
            patience=PATIENCE if patience is None else patience,
        )
