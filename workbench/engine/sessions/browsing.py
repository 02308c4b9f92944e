"""A transcript that stays open while somebody reads it: any page of it at once, and words found in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile

from workbench.engine.results.sessions import SessionLine, SessionProblem
from workbench.engine.results.transcripts import TranscriptPage
from workbench.engine.sessions.events import HEADER, Event, read_event
from workbench.engine.sessions.lines import Lines
from workbench.engine.sessions.tree import read_tree
from workbench.engine.sessions.views import told

# The branch in use is told apart where reading everything takes no time that a person notices.
_WHOLE_BYTES = 8 * 1024 * 1024
# Lines that are read at once on the way backwards.
_BACKWARDS = 2048

Memories = Mapping[int, tuple[str, ...]]


class TranscriptReader:
    """Reads a transcript page by page, from several threads; where lines begin is remembered on the way.

    Args:
        lines: Of the transcript.
        memories: Gives the ids of the memories that were drawn from its lines, by line.
    """

    def __init__(self, lines: Lines, memories: Callable[[], Memories]) -> None:
        self._lines = lines
        self._memories = memories
        self._lock = threading.Lock()
        self._branch: tuple[int, frozenset[int]] | None = None

    @property
    def name(self) -> str:
        """Return the name by which lines are cited: `sessions/ID.jsonl`."""
        return self._lines.name

    def total(self) -> int:
        """Return how many lines there are by now."""
        with self._lock:
            return self._lines.count()

    def page(self, first: int, most: int) -> TranscriptPage:
        """Return some lines with the memories that were drawn from them.

        Args:
            first: First line, 1-based.
            most: How many lines at most.
        """
        shown: list[SessionLine] = []
        problems: list[SessionProblem] = []
        with self._lock:
            active = self._active()
            for number, content in self._lines.read(first, most):
                event = read_event(number, content)
                if isinstance(event, Event):
                    on_branch = None if active is None else number in active or event.kind == HEADER
                    shown.append(told(event, self._lines.name, active=on_branch))
                elif event:
                    problems.append(SessionProblem(number, f"This line {event}; it was skipped."))
        last = first + most
        drawn = {line: ids for line, ids in self._memories().items() if first <= line < last}
        return TranscriptPage(first, tuple(shown), tuple(problems), drawn)

    def find(
        self, words: str, start: int, *, backwards: bool = False, stopped: Callable[[], bool] = lambda: False
    ) -> int | None:
        """Return the next line that says something; None where none does, or when it was called off.

        Args:
            words: To be found as they are, upper and lower case alike.
            start: First line to look at, 1-based.
            backwards: Look at the lines before it instead of those after it.
            stopped: Asked now and then whether to stop.
        """
        wanted = words.casefold()
        # A line that holds the letters nowhere need not be taken apart; others may be written as escapes.
        raw = wanted.encode() if wanted.isascii() and '"' not in wanted and "\\" not in wanted else b""
        every = self._before(start) if backwards else self._after(start)
        for number, content in takewhile(lambda _: not stopped(), every):
            if raw and raw not in content.lower():
                continue
            event = read_event(number, content)
            if isinstance(event, Event) and wanted in told(event, self._lines.name).text.casefold():
                return number
        return None

    def _after(self, start: int) -> Iterator[tuple[int, bytes]]:
        first = max(1, start)
        while block := self._block(first, _BACKWARDS):
            yield from block
            first += _BACKWARDS

    def _before(self, start: int) -> Iterator[tuple[int, bytes]]:
        last = start
        while last >= 1:
            first = max(1, last - _BACKWARDS + 1)
            yield from reversed(self._block(first, last - first + 1))
            last = first - 1

    def _block(self, first: int, most: int) -> list[tuple[int, bytes]]:
        with self._lock:
            return list(self._lines.read(first, most))

    def _active(self) -> frozenset[int] | None:
        size = self._lines.size()
        if size > _WHOLE_BYTES:
            return None
        if self._branch is None or self._branch[0] != size:
            tree = read_tree(self._lines)
            self._branch = (size, frozenset(tree.lines[number] for number in tree.path()))
        return self._branch[1]
