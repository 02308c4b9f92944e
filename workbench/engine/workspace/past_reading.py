"""Looking at memory as it was through the door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine import results
from workbench.engine.workspace.reading import Reading

if TYPE_CHECKING:
    from workbench.engine.past import Past


class PastReading(Reading):
    """Memory at any moment of its history, and what differs between two."""

    def history_line(self) -> results.HistoryLine:
        """Return every commit from the first to the newest."""
        raise NotImplementedError

    def at(self, moment: str) -> Past:
        """Return memory as it was.

        Args:
            moment: A commit, a time, or a day, whose end is meant; also `3d` (ago), `today` or `yesterday`.

        Raises:
            NotFound: There is no such commit.
            InvalidInput: This is no moment.
        """
        raise NotImplementedError

    def compare(self, older: str, newer: str | None = None) -> results.Comparison:
        """Return what is different at a later moment.

        Args:
            older: As for `at`.
            newer: Likewise; the files as they are now by default.
        """
        raise NotImplementedError
