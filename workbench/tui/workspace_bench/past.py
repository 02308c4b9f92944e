"""The bench’s calls about memory as it was, answered by a real workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.workspace_bench.door import Door

if TYPE_CHECKING:
    from workbench.engine.past.past import Past
    from workbench.engine.results.audit import CommitView, Comparison, HistoryLine
    from workbench.tui import bench


class WorkspacePast(Door):
    """The part of a workspace that is over."""

    def history_line(self) -> HistoryLine:
        """Return every commit from the first to the newest."""
        return self._workspace.history_line()

    def past(self, commit: str) -> Past:
        """Return memory as a commit held it."""
        return self._workspace.at(commit)

    def moment(self, commit: str) -> CommitView:
        """Return what one commit did."""
        return self._workspace.audit_show(commit)

    def compare(self, older: str, newer: str | None = None) -> Comparison:
        """Return what is different at a later commit, or now where none is given."""
        return self._workspace.compare(older, newer)

    def restore_memory(self, memory_id: str, commit: str) -> bench.Outcome:
        """Let one memory read again as it did at a commit."""
        return self._did("It is as it was.", self._workspace.rollback(memory=f"{memory_id}@{commit}"))

    def restore_file(self, path: str, commit: str) -> bench.Outcome:
        """Let one file read again as it did at a commit."""
        return self._did(f"{path} is as it was.", self._workspace.rollback(file=f"{path}@{commit}"))

    def roll_back(self, commit: str) -> bench.Outcome:
        """Let everything read again as it did at a commit."""
        return self._did("Everything is as it was.", self._workspace.rollback(to=commit))
