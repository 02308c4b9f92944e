"""What the parts of a workspace’s bench share: the door, and telling what was done through it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.engine.errors import WorkbenchError
from workbench.tui import bench
from workbench.tui.navigation import cited_number, is_cited_line

if TYPE_CHECKING:
    from workbench.engine.results.memories import Changed
    from workbench.engine.workspace import Workspace


_MOST_SAID = 160
_ID = re.compile(r"\b(?:episode|entity|procedure|core|vault):[^\s“”,;]+")
_ID_OF_TITLE = re.compile(rf"{_ID.pattern} (?=“)")
_TAKEN_BACK = re.compile(r"^(?:reverted|undid|redid) [A-Z]+ [0-9a-f]{7,40}(?: and \d+ that go on with it)?: ")


class Door:
    """A workspace opened by a person.

    Args:
        workspace: Opened with `reads_refresh=False`; the bench brings it up to date in the background.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._tell: Callable[[], object] = lambda: None

    def _did(self, summary: str, changed: Changed) -> bench.Outcome:
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

    def _action(self, commits: Sequence[str]) -> str:
        """Return what an action did, as the end of a sentence, and how many commits it is, where it is several."""
        said = f"commit {commits[-1][:7]}"
        with suppress(WorkbenchError):
            subject = self._workspace.audit_show(commits[-1]).subject
            _, dash, summary = subject.partition(" — ")
            said = self._in_words(summary if dash else subject)
        return f"{said} ({len(commits):,} commits)." if len(commits) > 1 else f"{said}."

    def _in_words(self, summary: str) -> str:
        """Return a commit's summary with titles instead of ids."""

        def title(found: re.Match[str]) -> str:
            return f"“{self._name_of(found[0])}”"

        said = _TAKEN_BACK.sub("took back: ", summary.rstrip("."))
        return single_inside(_ID.sub(title, _ID_OF_TITLE.sub("", said)))


def single_inside(text: str) -> str:
    """Return a text with single quotation marks inside double ones; as it is where they do not go in pairs."""
    depth, written = 0, ""
    for character in text:
        if character == "“":
            written += "‘" if depth else "“"
            depth += 1
        elif character == "”":
            depth -= 1
            written += "’" if depth else "”"
        else:
            written += character
        if depth < 0:
            return text
    return text if depth else written


def quoted(said: str) -> str:
    """Return the beginning of what was said, on one line."""
    begun = " ".join(said[: _MOST_SAID + 1].split())
    return f"“{begun if len(begun) <= _MOST_SAID else begun[: _MOST_SAID - 1] + '…'}”"


def counted(things: Sequence[str], noun: str) -> str:
    """Return how many things there are, in words: “one memory”, “3 memories”."""
    if len(things) == 1:
        return f"one {noun}"
    return f"{len(things)} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"
