"""What search looks at: extra files, transcripts and QMD as well; archived facts and relations not."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.lookups import Lookups
from workbench.engine.catalog.records import EdgeRecord, FactRecord
from workbench.engine.errors import NotFound
from workbench.engine.search.updater import BackgroundTask
from workbench.engine.tokens import count_tokens

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from workbench.engine.clock import Clock
    from workbench.engine.markdown.source import Problem
    from workbench.engine.search.chunks import FileSource
    from workbench.engine.search.outside_sources import ExtraPaths, SessionTranscripts, TranscriptCopies
    from workbench.engine.search.qmd import QmdBackend
    from workbench.engine.search.ranking.question import SearchOptions
    from workbench.engine.services.quarantine import Masking
    from workbench.engine.settings.sections import Settings


# Nobody watches places outside: they are looked at again after so many seconds.
_LOOK_SECONDS = 5.0
_EXTRA, _QMD = "extra:", "qmd/"


class Outside:
    """Places outside the workspace's own memory; nothing of them is opened before it is needed.

    Args:
        root: The workspace folder, absolute.
        settings: Which places, if any.
        derived: The folder for what can be rebuilt.
        clock: Tells the time.
        zone: Of days and times in the files.
        masking: Masks the secrets on which nobody has decided.
        own_sessions: Returns the folder of the workspace's own sessions.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        derived: Path,
        clock: Clock,
        zone: ZoneInfo,
        masking: Masking,
        own_sessions: Callable[[], Path],
    ) -> None:
        self.sources: list[FileSource] = []
        self._own_sessions = own_sessions
        self._derived = derived
        self._masking = masking
        self._policy = masking.policy()
        self._extra: ExtraPaths | None = None
        self._transcripts: SessionTranscripts | None = None
        self._copied: SessionTranscripts | None = None
        self._qmd: QmdBackend | None = None
        self._looked = -1e9
        self._version: Hashable = None
        self._told: Hashable = None
        self._scope = settings.qmd.scope
        search = settings.search
        if search.extra_paths:
            from workbench.engine.search.outside_sources import ExtraPaths

            self._extra = ExtraPaths(root, search.extra_paths, zone, derived / "extra-files.json", masking)
            self.sources.append(self._extra)
        if search.sessions:
            from workbench.engine.search.outside_sources import SessionTranscripts

            self._transcripts = SessionTranscripts(
                root, search, zone, clock, derived / "transcripts.json", masking, own_sessions
            )
            self.sources.append(self._transcripts)
        if search.backend == "qmd":
            from workbench.engine.search.qmd import QmdBackend

            copy = None
            if settings.qmd.transcripts:
                copy = self._copies(root, settings, derived, clock, zone).bring_up_to_date
            self._qmd = QmdBackend(settings.qmd, root, derived, clock, copy_transcripts=copy)
        self._background = BackgroundTask(self._refresh_qmd, name="workbench-qmd")

    def _copies(
        self, root: Path, settings: Settings, derived: Path, clock: Clock, zone: ZoneInfo
    ) -> TranscriptCopies:
        """Return what copies transcripts for QMD, whether or not the built-in index searches them, too."""
        from workbench.engine.search.outside_sources import SessionTranscripts, TranscriptCopies

        search = replace(settings.search, sessions=True)
        self._copied = SessionTranscripts(
            root, search, zone, clock, derived / "copied-transcripts.json", self._masking, self._own_sessions
        )
        return TranscriptCopies(self._copied, settings.qmd.transcript_days, clock)

    def version(self) -> Hashable:
        """Return a value that is another one after a change out there, some seconds later at most."""
        policy = self._masking.policy()
        if self.sources and (policy != self._policy or time.monotonic() - self._looked > _LOOK_SECONDS):
            self._policy = policy
            self._version = hash(tuple(frozenset(source.digests().items()) for source in self.sources))
            self._looked = time.monotonic()
        return self._version

    def problems(self) -> tuple[Problem, ...]:
        """Return what of the settings could not be followed, and which files not read, as far as was looked."""
        sources = (source for source in (self._extra, self._transcripts, self._copied) if source is not None)
        return tuple(problem for source in sources for problem in source.problems)

    def search(
        self, query: str, options: SearchOptions, version: Hashable
    ) -> tuple[results.recall.Found | None, str | None]:
        """Let QMD answer, where it is what searches.

        Args:
            options: Limits and filters.
            version: Of the workspace's files; another one than the last time means that they changed.

        Returns:
            Its answer, or None; and why it gave none, where it should have.
        """
        if self._qmd is None:
            return None, None
        from workbench.engine.search.qmd import is_in_scope
        from workbench.engine.search.qmd_program import QmdFailed

        if not is_in_scope(self._scope):
            return (
                None,
                "qmd.scope keeps QMD out of direct conversations, the built-in index answers instead.",
            )
        if version != self._told:
            self._told = version
            self._qmd.changed()
        if self._qmd.is_due():
            self._background.ask()
        try:
            answer = self._qmd.search(query, options.max_results, options.within)
        except QmdFailed as failure:
            return None, f"QMD failed, the built-in index answers instead: {failure}"
        # A least score is meant for our scores: QMD's mean something else in every collection.
        hits = tuple(replace(hit, snippet=self._masking.text(hit.snippet)) for hit in answer.hits)
        if options.budget is not None:
            hits = _filling(hits, options.budget)
        return results.recall.Found(hits, "qmd", answer.mode, None, not hits, 0.0), None

    def read(self, path: str) -> bytes | None:
        """Return the content of a file that a result outside names, unmasked; None for any other path.

        Raises:
            NotFound: It is no file that is searched.
            OutsideWorkspace: It leads out of the folders that are searched.
        """
        content = None
        if path.startswith(_EXTRA) and self._extra is not None:
            return self._extra.read_extra(path)
        if path.startswith(_QMD) and self._qmd is not None:
            content = self._qmd.read(path)
            if content is None:
                raise NotFound("QMD has no such file.", where=path, remedy="Take a path as search gives it.")
        return content

    def describe(self, status: results.recall.IndexStatus) -> results.recall.IndexStatus:
        """Say in the state of the index what searches."""
        if self._qmd is None:
            return status
        failure = f"QMD failed: {self._qmd.failure}" if self._qmd.failure else None
        return replace(status, backend="qmd", fallback=failure or status.fallback)

    def destroy(self) -> None:
        """Delete the copies of texts that QMD keeps, whether or not it is what searches now (raises StorageError)."""
        from workbench.engine.search.qmd import delete_home

        delete_home(self._derived)

    def close(self) -> None:
        """Stop what is under way."""
        self._background.stop()

    def _refresh_qmd(self, cancelled: Callable[[], bool]) -> None:
        from workbench.engine.search.qmd_program import QmdFailed

        if self._qmd is not None and not cancelled():
            # Its status keeps the reason, and searches say it.
            with suppress(QmdFailed):
                self._qmd.refresh()


def _filling(hits: tuple[results.recall.Hit, ...], budget: int) -> tuple[results.recall.Hit, ...]:
    """Return as many of the best hits as fill a budget of tokens."""
    kept = []
    for hit in hits:
        budget -= count_tokens(hit.snippet)
        if budget < 0:
            break
        kept.append(hit)
    return tuple(kept)


class VisibleLookups(Lookups):
    """The catalog as it is to be shown.

    Args:
        catalog: The catalog to ask.
        hidden: Ids of archived facts and relations, `entity:person--alex#^f7k2`.
    """

    def __init__(self, catalog: Catalog, hidden: Iterable[str]) -> None:
        super().__init__(catalog)
        self._hidden = frozenset(hidden)

    def facts_of(self, entity: str) -> tuple[FactRecord, ...]:
        """Return the visible facts of an entity."""
        return tuple(fact for fact in super().facts_of(entity) if fact.id not in self._hidden)

    def facts_citing(
        self, lines: Sequence[tuple[str, int, int]], memories: Sequence[str]
    ) -> tuple[FactRecord, ...]:
        """Return the visible facts that have any of these as a source."""
        found = super().facts_citing(lines, memories)
        return tuple(fact for fact in found if fact.id not in self._hidden)

    def edges(self) -> tuple[EdgeRecord, ...]:
        """Return every visible relation."""
        return self._seen(super().edges())

    def edges_of(self, entity: str) -> tuple[EdgeRecord, ...]:
        """Return the visible relations that start from or lead to an entity."""
        return self._seen(super().edges_of(entity))

    def edges_among(self, entities: Iterable[str]) -> tuple[EdgeRecord, ...]:
        """Return the visible relations from or to any of some entities."""
        return self._seen(super().edges_among(entities))

    def _seen(self, edges: Iterable[EdgeRecord]) -> tuple[EdgeRecord, ...]:
        return tuple(edge for edge in edges if f"{edge.from_}#^{edge.block}" not in self._hidden)
