"""The bench’s calls about sessions, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui import bench
from workbench.tui.workspace_bench.door import Door

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workbench.engine.results.sessions import (
        CompactionProgress,
        FlushCheck,
        Flushed,
        SessionPlace,
        Sessions,
    )
    from workbench.tui.bench.sessions import TranscriptCalls


class WorkspaceSessions(Door):
    """The part of a workspace that was said."""

    def session_places(self) -> Sequence[SessionPlace]:
        """Return where other programs keep sessions on this machine."""
        return self._workspace.session_places()

    def sessions(self, place: str | None = None) -> Sessions:
        """Return all sessions of this workspace, or of another place."""
        return self._workspace.sessions(from_=place)

    def transcript(self, key: str, place: str | None = None) -> TranscriptCalls:
        """Open the transcript of a session."""
        return self._workspace.session_reader(key, from_=place)

    def fullness(self, key: str, place: str | None = None) -> FlushCheck:
        """Return how full a session is."""
        return self._workspace.session_flush_check(key, from_=place)

    def names_of(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return a line that names each memory."""
        return {each: self._workspace.title(each) for each in memory_ids}

    def compact_session(
        self,
        key: str,
        place: str | None = None,
        progress: Callable[[CompactionProgress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> bench.Outcome:
        """Replace by a summary all but the newest messages."""
        done = self._workspace.session_compact(key, from_=place, progress=progress, cancelled=cancelled)
        copied = " It was copied first." if done.copied_from else ""
        told = (
            f"{done.told} {done.tokens_before:,} tokens became {done.tokens_after:,}."
            if done.line
            else done.told
        )
        self._tell()
        return bench.Outcome(told + copied)

    def flush_session(self, key: str, place: str | None = None) -> bench.Outcome:
        """Save what matters of a session to memory now."""
        done = self._workspace.session_flush(key, now=True, from_=place)
        self._tell()
        return bench.Outcome(_saved(done), done.commit, done.ids)

    def start_session_over(self, key: str) -> bench.Outcome:
        """Begin a session anew."""
        done = self._workspace.session_reset(key)
        self._tell()
        saved = f" {_saved(done.flushed)}" if done.flushed is not None else ""
        return bench.Outcome(" ".join((f"It starts over.{saved}", *done.warnings)))

    def mend_session(self, key: str) -> bench.Outcome:
        """Mend a transcript."""
        done = self._workspace.session_repair(key)
        self._tell()
        return bench.Outcome(" ".join(done.repairs) or "There is nothing to mend.")


def _saved(done: Flushed) -> str:
    return " ".join((done.told, *done.warnings, *((done.fallback,) if done.fallback else ())))
