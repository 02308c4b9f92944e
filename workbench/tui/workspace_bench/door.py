"""What the parts of a workspace’s bench share: the door, and telling what was done through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError
from workbench.tui import bench
from workbench.tui.navigation import cited_number, is_cited_line

if TYPE_CHECKING:
    from workbench.engine import results
    from workbench.engine.workspace import Workspace


_MOST_NAMED = 3
_MOST_SAID = 160


class Door:
    """A workspace opened by a person.

    Args:
        workspace: Opened with `reads_refresh=False`; the bench brings it up to date in the background.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._tell: Callable[[], object] = lambda: None

    def _did(self, summary: str, changed: results.Changed) -> bench.Outcome:
        """Tell the panes at once, and a person in a sentence."""
        self._tell()
        if not changed.commit:
            summary = (changed.warnings or ("Nothing changed.",))[0]
        else:
            summary = " ".join((summary, *changed.warnings))
        return bench.Outcome(summary, changed.commit, changed.ids)

    def _name_of(self, memory_id: str) -> str:
        """Return a line that names a memory; of a line of a conversation what was said there."""
        if is_cited_line(memory_id):
            with suppress(WorkbenchError):
                page = self._workspace.session_reader(memory_id).page(cited_number(memory_id), 1)
                return quoted(page.lines[0].text) if page.lines else memory_id
        return self._workspace.title(memory_id)

    def _named(self, commit: str) -> str:
        """Return what a commit did, in quotes; its short id where that cannot be read."""
        with suppress(WorkbenchError):
            subject = self._workspace.audit_show(commit).subject
            _, dash, summary = subject.partition(" — ")
            return f"“{summary if dash else subject}”"
        return commit[:7]

    def _names(self, commits: Sequence[str]) -> str:
        """Return what commits did, the first of them in words; a whole import may be hundreds."""
        named = ", ".join(map(self._named, commits[:_MOST_NAMED]))
        more = len(commits) - _MOST_NAMED
        return f"{named} and {more:,} more" if more > 0 else named


def quoted(said: str) -> str:
    """Return the beginning of what was said, on one line."""
    begun = " ".join(said[: _MOST_SAID + 1].split())
    return f"“{begun if len(begun) <= _MOST_SAID else begun[: _MOST_SAID - 1] + '…'}”"


def counted(things: Sequence[str], noun: str) -> str:
    """Return how many things there are, in words: “one memory”, “3 memories”."""
    if len(things) == 1:
        return f"one {noun}"
    return f"{len(things)} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"
