"""What the bench asks about memory as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from workbench.engine.past.past import Past
    from workbench.engine.results.audit import CommitView, Comparison, HistoryLine
    from workbench.tui.bench.answers import Outcome


class PastCalls(Protocol):
    """Memory at any commit, what differs, and going back."""

    def history_line(self) -> HistoryLine:
        """Return every commit from the first to the newest, quick enough for tens of thousands."""
        ...

    def past(self, commit: str) -> Past:
        """Return memory as a commit held it."""
        ...

    def moment(self, commit: str) -> CommitView:
        """Return what one commit did, at once."""
        ...

    def compare(self, older: str, newer: str | None = None) -> Comparison:
        """Return what is different at a later commit, or now where none is given."""
        ...

    def restore_memory(self, memory_id: str, commit: str) -> Outcome:
        """Let one memory read again as it did at a commit; one that was not there then is archived or removed."""
        ...

    def restore_file(self, path: str, commit: str) -> Outcome:
        """Let one file read again as it did at a commit."""
        ...

    def roll_back(self, commit: str) -> Outcome:
        """Let everything read again as it did at a commit, which is one commit more and can be undone."""
        ...
