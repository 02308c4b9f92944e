"""What is searched beside the workspace's own memory, where settings say so: extra files, transcripts, QMD."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import NotFound
from workbench.engine.recall.background import Background
from workbench.engine.results.recall import Found, Hit, IndexStatus
from workbench.engine.tokens import count_tokens

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from workbench.engine.clock import Clock
    from workbench.engine.documents.problems import Problem
    from workbench.engine.recall.file_source import FileSource
    from workbench.engine.recall.qmd import QmdBackend
    from workbench.engine.recall.ranking import Options
    from workbench.engine.recall.sources import ExtraPaths, SessionTranscripts
    from workbench.engine.settings.sections import Settings
    from workbench.engine.workspace.masking import Masking

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
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        derived: Path,
        clock: Clock,
        zone: ZoneInfo,
        masking: Masking,
    ) -> None:
        self.sources: list[FileSource] = []
        self._derived = derived
        self._masking = masking
        self._policy = masking.policy()
        self._extra: ExtraPaths | None = None
        self._transcripts: SessionTranscripts | None = None
        self._qmd: QmdBackend | None = None
        self._looked = -1e9
        self._version: Hashable = None
        self._told: Hashable = None
        search = settings.search
        if search.extra_paths:
            from workbench.engine.recall.sources import ExtraPaths

            self._extra = ExtraPaths(root, search.extra_paths, zone, derived / "extra-files.json", masking)
            self.sources.append(self._extra)
        if search.sessions:
            from workbench.engine.recall.sources import SessionTranscripts

            self._transcripts = SessionTranscripts(
                root, search, zone, clock, derived / "transcripts.json", mask=masking
            )
            self.sources.append(self._transcripts)
        if search.backend == "qmd":
            from workbench.engine.recall.qmd import QmdBackend

            self._qmd = QmdBackend(settings.qmd, root, derived, clock)
        self._background = Background(self._refresh_qmd, name="workbench-qmd")

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
        sources = (source for source in (self._extra, self._transcripts) if source is not None)
        return tuple(problem for source in sources for problem in source.problems)

    def search(self, query: str, options: Options, version: Hashable) -> tuple[Found | None, str | None]:
        """Let QMD answer, where it is what searches.

        Args:
            query: The question.
            options: Limits and filters.
            version: Of the workspace's files; another one than the last time means that they changed.

        Returns:
            Its answer, or None; and why it gave none, where it should have.
        """
        if self._qmd is None:
            return None, None
        from workbench.engine.recall.qmd import QmdFailed

        if version != self._told:
            self._told = version
            self._qmd.changed()
        if self._qmd.is_due():
            self._background.ask()
        try:
            answer = self._qmd.search(query, options.max_results, options.within)
        except QmdFailed as failure:
            return None, f"QMD failed, the built-in index answers instead: {failure.reason}"
        # A least score is meant for our scores: QMD's mean something else in every collection.
        hits = tuple(replace(hit, snippet=self._masking.text(hit.snippet)) for hit in answer.hits)
        if options.budget is not None:
            hits = _filling(hits, options.budget)
        return Found(hits, "qmd", answer.mode, None, not hits, 0.0), None

    def read(self, path: str) -> bytes | None:
        """Return the content of a file that a result outside names, unmasked; None for any other path.

        Raises:
            NotFound: It is no file that is searched.
            OutsideWorkspace: Likewise.
        """
        content = None
        if path.startswith(_EXTRA) and self._extra is not None:
            return self._extra.read_extra(path)
        if path.startswith(_QMD) and self._qmd is not None:
            content = self._qmd.read(path)
            if content is None:
                raise NotFound("QMD has no such file.", where=path, remedy="Take a path as search gives it.")
        return content

    def describe(self, status: IndexStatus) -> IndexStatus:
        """Say in the state of the index what searches."""
        if self._qmd is None:
            return status
        qmd = self._qmd.status()
        failure = f"QMD failed: {qmd.failure}" if qmd.failure else None
        return replace(status, backend="qmd", fallback=failure or status.fallback)

    def destroy(self) -> None:
        """Delete the copies of texts that QMD keeps, whether or not it is what searches now (raises StorageError)."""
        from workbench.engine.recall.qmd import delete_home

        delete_home(self._derived)

    def close(self) -> None:
        """Stop what is under way."""
        self._background.stop()

    def _refresh_qmd(self, cancelled: Callable[[], bool]) -> None:
        from contextlib import suppress

        from workbench.engine.recall.qmd import QmdFailed

        if self._qmd is not None and not cancelled():
            # Its status keeps the reason, and searches say it.
            with suppress(QmdFailed):
                self._qmd.refresh()


def _filling(hits: tuple[Hit, ...], budget: int) -> tuple[Hit, ...]:
    """Return as many of the best hits as fill a budget of tokens."""
    kept = []
    for hit in hits:
        budget -= count_tokens(hit.snippet)
        if budget < 0:
            break
        kept.append(hit)
    return tuple(kept)
