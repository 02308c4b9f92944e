"""What the bench asks about sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workbench.engine.results.sessions import (
        CompactionProgress,
        FlushCheck,
        SessionPlace,
        Sessions,
        TranscriptPage,
    )
    from workbench.tui.bench.answers import Outcome


class TranscriptCalls(Protocol):
    """A transcript that stays open while one reads it; safe from several threads."""

    @property
    def name(self) -> str:
        """Return the name by which lines are cited: `sessions/ID.jsonl`."""
        ...

    def total(self) -> int:
        """Return how many lines there are by now."""
        ...

    def page(self, first: int, most: int) -> TranscriptPage:
        """Return some lines, with the ids of the memories that were drawn from them."""
        ...

    def find(
        self, words: str, start: int, *, backwards: bool = False, stopped: Callable[[], bool] = ...
    ) -> int | None:
        """Return the next line from `start` on, or before it, that says something; None where none does."""
        ...


class SessionCalls(Protocol):
    """Sessions of this workspace, and those of other programs, which are never written."""

    def session_places(self) -> Sequence[SessionPlace]:
        """Return where other programs keep sessions on this machine."""
        ...

    def sessions(self, place: str | None = None) -> Sessions:
        """Return all sessions of this workspace, or of another place, the latest first."""
        ...

    def transcript(self, key: str, place: str | None = None) -> TranscriptCalls:
        """Open the transcript of a session, or the one that the citation of a line names."""
        ...

    def fullness(self, key: str, place: str | None = None) -> FlushCheck:
        """Return how full a session is; estimated where nobody counted, which takes as long as reading it all."""
        ...

    def names_of(self, memory_ids: Sequence[str]) -> Mapping[str, str]:
        """Return a line that names each memory."""
        ...

    def compact_session(
        self,
        key: str,
        place: str | None = None,
        progress: Callable[[CompactionProgress], None] = ...,
        cancelled: Callable[[], bool] = ...,
    ) -> Outcome:
        """Replace by a summary all but the newest messages; of another program’s session, in a copy of it."""
        ...

    def flush_session(self, key: str, place: str | None = None) -> Outcome:
        """Save what matters of a session to memory now; one of another program is copied first."""
        ...

    def start_session_over(self, key: str) -> Outcome:
        """Begin a session anew; what matters of it is saved first."""
        ...

    def mend_session(self, key: str) -> Outcome:
        """Mend a transcript."""
        ...
