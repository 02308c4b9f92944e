"""Reads a transcript for people: pages, text search, and a few lines per entry."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile

from workbench.engine.results.sessions import SessionLine, SessionProblem, TranscriptPage
from workbench.engine.sessions import events
from workbench.engine.sessions.events import (
    HEADER,
    Event,
    Lines,
    calls_in,
    is_call,
    parts_of,
    read_event,
    text_of,
)
from workbench.engine.sessions.transcripts import read_tree

MOST_CHARACTERS = 20_000
_RESULT_CHARACTERS = 2_000
# The active branch is marked if reading everything takes no noticeable time.
_WHOLE_BYTES = 8 * 1024 * 1024
# Lines per read when going backwards.
_BACKWARDS = 2048


def citation(name: str, line: int) -> str:
    """Return the id by which a memory cites a line of a transcript: `file:sessions/ID.jsonl#L12`.

    Args:
        name: The transcript, `sessions/ID.jsonl`.
        line: 1-based.
    """
    return f"file:{name}#L{line}"


def event_view(event: Event, name: str, *, active: bool | None = True) -> SessionLine:
    """Return an entry for display.

    Args:
        active: Whether it lies on the branch in use; None if unknown.
    """
    return SessionLine(
        line=event.line,
        id=event.id,
        kind=event.kind,
        role=event.role,
        moment=event.moment,
        text=_text(event),
        tools=tuple(call.name for call in calls_in(event.message)),
        citation=citation(name, event.line),
        active=active,
        counts=not event.is_mirror,
    )


def _text(event: Event) -> str:
    match event.kind:
        case events.MESSAGE:
            text = _of_message(event)
        case events.COMPACTION | events.BRANCH_SUMMARY:
            summary = event.fields.get("summary")
            text = summary if isinstance(summary, str) else ""
        case events.HEADER:
            text = f"session {event.id}"
        case events.LABEL:
            text = text_of(event.fields.get("label"))
        case events.CUSTOM if event.fields.get("customType") == events.FLUSH_MARK:
            text = _of_flush(event.fields.get("data"))
        case events.CUSTOM_MESSAGE:
            text = "\n".join(
                _of_part(part, MOST_CHARACTERS) for part in parts_of(event.fields.get("content"))
            )
        case _:
            rest = {
                name: value
                for name, value in event.fields.items()
                if name not in ("type", "id", "parentId", "timestamp")
            }
            words = next(iter(rest.values())) if len(rest) == 1 else None
            written = json.dumps(rest, ensure_ascii=False) if rest else ""
            text = words if isinstance(words, str) else written
    return _cut(text, MOST_CHARACTERS)


def _of_flush(data: object) -> str:
    saved = data.get("saved") if isinstance(data, dict) else None
    rows = [each for each in saved if isinstance(each, dict)] if isinstance(saved, list) else []
    told = [f"{text_of(each.get('id'))} from {text_of(each.get('from'))}" for each in rows]
    return "\n".join(["Memory was flushed up to here.", *told])


def _of_message(event: Event) -> str:
    most = MOST_CHARACTERS if event.role in ("user", "assistant") else _RESULT_CHARACTERS
    return "\n".join(
        part for each in parts_of(event.message.get("content")) if (part := _of_part(each, most))
    )


def _of_part(part: object, most: int) -> str:
    assert isinstance(part, dict)
    kind = text_of(part.get("type"))
    if is_call(part):
        given = part.get("arguments", part.get("input"))
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        return _cut(f"→ {text_of(part.get('name'))} {written}", _RESULT_CHARACTERS)
    if "image" in kind:
        return "[picture]"
    text = part.get("text", part.get("thinking"))
    if isinstance(text, str):
        return _cut(text, most)
    inner = part.get("content")
    return _cut(inner, _RESULT_CHARACTERS) if isinstance(inner, str) else ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


Memories = Mapping[int, tuple[str, ...]]


class TranscriptReader:
    """Reads a transcript page by page, thread-safe; remembers line offsets on the way.

    Args:
        memories: Returns the ids of memories drawn from its lines, by line.
    """

    def __init__(self, lines: Lines, memories: Callable[[], Memories]) -> None:
        self._lines = lines
        self._memories = memories
        self._lock = threading.Lock()
        self._branch: tuple[int, frozenset[int]] | None = None

    @property
    def name(self) -> str:
        """Return the name used in citations: `sessions/ID.jsonl`."""
        return self._lines.name

    def total(self) -> int:
        """Return the present number of lines."""
        with self._lock:
            return self._lines.count()

    def memories(self) -> Memories:
        """Return the ids of all memories drawn from it, by line."""
        return self._memories()

    def page(self, first: int, most: int) -> TranscriptPage:
        """Return some lines with the memories drawn from them.

        Args:
            first: First line, 1-based.
        """
        shown: list[SessionLine] = []
        problems: list[SessionProblem] = []
        with self._lock:
            active = self._active()
            for number, content in self._lines.read(first, most):
                event = read_event(number, content)
                if isinstance(event, Event):
                    on_branch = None if active is None else number in active or event.kind == HEADER
                    shown.append(event_view(event, self._lines.name, active=on_branch))
                elif event:
                    problems.append(SessionProblem(number, f"This line {event}; it was skipped."))
        last = first + most
        drawn = {line: ids for line, ids in self._memories().items() if first <= line < last}
        return TranscriptPage(first, tuple(shown), tuple(problems), drawn)

    def find(
        self, words: str, start: int, *, backwards: bool = False, stopped: Callable[[], bool] = lambda: False
    ) -> int | None:
        """Return the next line with these words, or None if there is none or the search was stopped.

        Args:
            words: Literal text; case is ignored.
            start: First line to examine, 1-based.
            backwards: Search towards the beginning.
            stopped: Polled; returns whether to stop.
        """
        wanted = words.casefold()
        # A line without these letters need not be parsed, unless they could be escaped.
        raw = wanted.encode() if wanted.isascii() and '"' not in wanted and "\\" not in wanted else b""
        every = self._before(start) if backwards else self._after(start)
        for number, content in takewhile(lambda _: not stopped(), every):
            if raw and raw not in content.lower():
                continue
            event = read_event(number, content)
            if isinstance(event, Event) and wanted in event_view(event, self._lines.name).text.casefold():
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
