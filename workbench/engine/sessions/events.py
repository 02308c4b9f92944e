"""Transcripts line by line: what an entry is, what was said, which tools were called.

Lines are numbered, read a few at a time, and secrets in them are masked if the reader may not see them.
"""

from __future__ import annotations

import json
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import MAXYEAR, MINYEAR, UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol

from workbench.engine.errors import NotFound
from workbench.engine.file_access import open_outside_file
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

MOST_TURN_CHARACTERS = 20_000
_SPEAKERS = {"user": "User", "assistant": "Assistant"}
_TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
# Messages to or from the machinery, not from a person.
_SILENT = lazy_pattern(r"\W*(?:NO_REPLY|HEARTBEAT_OK)\W*", re.IGNORECASE)
_NOISE = lazy_pattern(
    r"<(system-reminder|local-command-stdout|local-command-caveat|command-name|command-message|command-args)>"
    r".*?</\1>",
    re.DOTALL,
)
_MACHINE_MODELS = frozenset({"delivery-mirror", "<synthetic>"})
_ASIDE = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly")
# Leaves room for every time zone, and for the day on which the session ends.
_YEARS = range(MINYEAR + 1, MAXYEAR - 20)
_SPACES = lazy_pattern(r"\s+")
VERSION = 3
HEADER = "session"
MESSAGE = "message"
COMPACTION = "compaction"
BRANCH_SUMMARY = "branch_summary"
CUSTOM = "custom"
CUSTOM_MESSAGE = "custom_message"
LABEL = "label"
RESET = "reset"
KINDS = (
    HEADER, MESSAGE, COMPACTION, BRANCH_SUMMARY, CUSTOM, CUSTOM_MESSAGE, LABEL, RESET, "model_change",
    "thinking_level_change", "session_info",
)  # fmt: skip
DELIVERY_MIRROR = "delivery-mirror"
FLUSH_MARK = "workbench.flush"
_CALLS = frozenset({"toolCall", "toolUse", "tool_use", "functionCall"})
RESULT_ROLES = frozenset({"toolResult", "tool"})
_WRITING = lazy_pattern(r"write|edit|create|patch|insert|replace|delete|move|rename", re.IGNORECASE)
_READING = lazy_pattern(r"read|view|open|cat|get_file|memory_get", re.IGNORECASE)
_PATHS = ("path", "file_path", "filePath", "filename", "file", "target_file")
_PATH_CHARACTERS = 300

# A longer line is an image or an attack; only its beginning is read, and it counts as unreadable.
MOST_LINE_BYTES = 16 * 1024 * 1024
STEP = 256
_BLOCK = 1 << 20
# By device and inode, so that reading the next page continues where the last one ended.
_MOST_INDEXES = 16


@dataclass(frozen=True, slots=True)
class TranscriptTurn:
    """What one transcript line says.

    Args:
        line: 1-based line of the transcript.
        text: `User: …` or `Assistant: …`, on one line.
        moment: When it was said, aware; None if not stated.
    """

    line: int
    text: str
    moment: datetime | None


def turn_of(number: int, line: bytes) -> TranscriptTurn | None:
    """Read one transcript line of OpenClaw, Moltbot, Clawdbot or Claude Code; None if nobody speaks in it.

    Ignores tool calls and results, thoughts, summaries, side chains, reminders, silent answers and invalid JSON.

    Args:
        number: 1-based.
    """
    try:
        entry = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, Mapping) or any(entry.get(mark) is True for mark in _ASIDE):
        return None
    inner = entry.get("message")
    message: Mapping[str, Any] = inner if isinstance(inner, Mapping) else entry
    speaker = message.get("role")
    if not isinstance(speaker, str) or speaker not in _SPEAKERS or message.get("model") in _MACHINE_MODELS:
        return None
    said = _SPACES.sub(" ", _NOISE.sub(" ", words_of(message))).strip()
    if not said or _SILENT.fullmatch(said):
        return None
    # JSON may hold lone surrogates; databases may not.
    said = said.encode("utf-8", "replace").decode()
    if len(said) > MOST_TURN_CHARACTERS:
        said = said[: MOST_TURN_CHARACTERS - 1] + "…"
    return TranscriptTurn(number, f"{_SPEAKERS[speaker]}: {said}", moment_in(entry) or moment_in(message))


def words_of(message: Mapping[str, Any]) -> str:
    """Return the text of a message, without calls, thoughts and images."""
    return "\n".join(
        part["text"]
        for part in parts_of(message.get("content"))
        if part.get("type") in _TEXT_PARTS and isinstance(part.get("text"), str)
    )


def moment_in(entry: Mapping[str, Any]) -> datetime | None:
    """Return when an entry or a message was written, or None."""
    return moment_of(entry.get("timestamp"))


def moment_of(given: object) -> datetime | None:
    """Parse a time given as text or in milliseconds since 1970; None if invalid or at the ends of the calendar."""
    try:
        if isinstance(given, str):
            moment = datetime.fromisoformat(given)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        elif isinstance(given, int | float) and not isinstance(given, bool):
            moment = datetime.fromtimestamp(given / 1000, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return moment if moment.year in _YEARS else None


@dataclass(frozen=True)
class Event:
    """One entry of a transcript.

    Args:
        line: 1-based.
        fields: Its JSON fields.
    """

    line: int
    fields: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Return its type, such as `message`, or ""."""
        return text_of(self.fields.get("type"))

    @property
    def id(self) -> str:
        """Return its id, or ""."""
        return text_of(self.fields.get("id"))

    @property
    def parent_id(self) -> str | None:
        """Return the id of the entry before it on its branch; None for the first, "" if not stated."""
        given = self.fields.get("parentId", "")
        return None if given is None else text_of(given)

    @property
    def moment(self) -> datetime | None:
        return moment_in(self.fields) or moment_in(self.message)

    @property
    def message(self) -> Mapping[str, Any]:
        """Return its message, or an empty mapping."""
        given = self.fields.get("message")
        return given if isinstance(given, Mapping) else {}

    @property
    def role(self) -> str:
        """Return the speaker: user, assistant, toolResult or another word, or ""."""
        return text_of(self.message.get("role"))

    @property
    def is_mirror(self) -> bool:
        """Return whether it is a copy of a message sent elsewhere, which does not count."""
        return self.message.get("model") == DELIVERY_MIRROR


def read_event(line: int, content: bytes) -> Event | str:
    """Parse one line; return the reason as text if it is not an entry.

    Args:
        line: Its number, 1-based.
    """
    try:
        fields = json.loads(content)
    except (ValueError, RecursionError):
        return "is no JSON" if content.strip() else ""
    if not isinstance(fields, dict):
        return "holds no object"
    if not isinstance(fields.get("type"), str):
        return "says no type"
    return Event(line, fields)


def text_of(value: object) -> str:
    """Return a text of reasonable length, or "" for anything else."""
    return value if isinstance(value, str) and len(value) <= 1024 else ""


def render_event(fields: Mapping[str, Any]) -> bytes:
    """Render an entry as one line with its end; the inverse of `read_event`."""
    try:
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def header(session_id: str, now: datetime, folder: str) -> dict[str, Any]:
    """Return the first line of a transcript."""
    return {"type": HEADER, "version": VERSION, "id": session_id, "timestamp": iso(now), "cwd": folder}


def entry(kind: str, id_: str, parent_id: str | None, now: datetime, **fields: Any) -> dict[str, Any]:
    """Return a new entry of any type but the header."""
    return {"type": kind, "id": id_, "parentId": parent_id, "timestamp": iso(now), **fields}


def message(role: str, text: str, now: datetime) -> dict[str, Any]:
    return {
        "role": role,
        "content": [{"type": "text", "text": text}],
        "timestamp": round(now.timestamp() * 1000),
    }


def iso(moment: datetime) -> str:
    """Format a moment as transcripts do: `2026-01-24T09:00:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parts_of(content: object) -> Sequence[Mapping[str, Any]]:
    """Return the parts of a message's content; plain text is one part."""
    if isinstance(content, str):
        return ({"type": "text", "text": content},)
    if not isinstance(content, list):
        return ()
    return tuple(part for part in content if isinstance(part, Mapping))


@dataclass(frozen=True)
class ToolCall:
    """A tool call.

    Args:
        id: Referenced by its result.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]

    @property
    def path(self) -> str:
        """Return the file it concerns, or ""."""
        for name in _PATHS:
            given = self.arguments.get(name)
            if isinstance(given, str) and given.strip():
                return " ".join(given.split())[:_PATH_CHARACTERS]
        return ""

    @property
    def deed(self) -> str:
        """Return its operation on the file: `written`, `read`, or "" if unknown."""
        if not self.path:
            return ""
        if _WRITING.search(self.name):
            return "written"
        return "read" if _READING.search(self.name) else ""


def calls_in(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """Return the tool calls of an assistant message."""
    if message.get("role") != "assistant":
        return ()
    return tuple(
        ToolCall(text_of(part.get("id")), text_of(part.get("name")), _arguments(part))
        for part in parts_of(message.get("content"))
        if part.get("type") in _CALLS
    )


def is_call(part: Mapping[str, Any]) -> bool:
    """Return whether a part of a message is a tool call."""
    return part.get("type") in _CALLS


def answered_by(message: Mapping[str, Any]) -> str | None:
    """Return the id of the call that a message answers; "" if not stated, None if it is not a result."""
    if message.get("role") in RESULT_ROLES:
        for name in ("toolCallId", "toolUseId", "tool_call_id", "tool_use_id"):
            if text := text_of(message.get(name)):
                return text
        return ""
    return None


def tool_failed(message: Mapping[str, Any]) -> bool:
    """Return whether a result reports a failure of its tool."""
    details = message.get("details")
    status = details.get("status") if isinstance(details, Mapping) else None
    return bool(message.get("isError")) or status in ("error", "failed")


def _arguments(part: Mapping[str, Any]) -> Mapping[str, Any]:
    given = part.get("arguments", part.get("input"))
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {}
    return given if isinstance(given, Mapping) else {}


class Lines(Protocol):
    @property
    def name(self) -> str:
        """Return the name used in citations: `sessions/ID.jsonl`."""
        ...

    @property
    def where(self) -> str:
        """Return the file they are read from."""
        ...

    def size(self) -> int:
        """Return their size in bytes."""
        ...

    def stamp(self) -> tuple[int, ...] | None:
        """Return a value that changes when they change, or None without any."""
        ...

    def count(self) -> int:
        """Return the number of lines, including a torn last one."""
        ...

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield lines with their numbers, in order, without line ends.

        Args:
            first: First line, 1-based.
            most: Maximum number of lines, or None.
        """
        ...


@dataclass
class _Index:
    """Line offsets of one file: of every 256th line, and the number of lines up to a size."""

    offsets: array[int] = field(default_factory=lambda: array("q", [0]))
    size: int = 0
    count: int = 0


_indexes: dict[tuple[int, int], _Index] = {}


class FileLines:
    """The lines of a JSONL file; remembers the offset of every 256th line passed.

    Args:
        place: The file; if missing, there are no lines.
    """

    def __init__(self, place: Path) -> None:
        self.place = place

    @property
    def name(self) -> str:
        return f"sessions/{self.place.name}"

    @property
    def where(self) -> str:
        return str(self.place)

    def size(self) -> int:
        try:
            return os.lstat(self.place).st_size
        except OSError:
            return 0

    def stamp(self) -> tuple[int, ...] | None:
        try:
            status = os.lstat(self.place)
        except OSError:
            return None
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    def count(self) -> int:
        opened = open_outside_file(self.place)
        if opened is None:
            return 0
        with opened:
            size = os.fstat(opened.fileno()).st_size
            index = _index_of(opened)
            if index.size == size:
                return index.count
            count, last = index.count if _ends_line(opened, index.size) else 0, b"\n"
            opened.seek(index.size if count else 0)
            left = size - opened.tell()
            while left > 0 and (block := opened.read(min(_BLOCK, left))):
                count += block.count(b"\n")
                left -= len(block)
                last = block[-1:]
            if last == b"\n":
                index.size, index.count = size, count
            return count + (last != b"\n")

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        opened = open_outside_file(self.place)
        if opened is None:
            return
        with opened:
            if most == 0:
                return
            index = _index_of(opened)
            number = _seek(opened, index, first)
            last = None if most is None else first + most - 1
            for line in _lines(opened, index, number):
                if number >= first:
                    yield number, line
                if last is not None and number >= last:
                    return
                number += 1


def _index_of(opened: BinaryIO) -> _Index:
    status = os.fstat(opened.fileno())
    key = (status.st_dev, status.st_ino)
    index = _indexes.pop(key, None)
    if index is None or index.offsets[-1] > status.st_size or index.size > status.st_size:
        index = _Index()
    _indexes[key] = index
    while len(_indexes) > _MOST_INDEXES:
        with suppress(StopIteration, KeyError):
            del _indexes[next(iter(_indexes))]
    return index


def _seek(opened: BinaryIO, index: _Index, first: int) -> int:
    """Seek to the nearest known line before; return its 1-based number."""
    at = min((max(first, 1) - 1) // STEP, len(index.offsets) - 1)
    if not _ends_line(opened, index.offsets[at]):
        # The file was rewritten.
        del index.offsets[1:]
        index.size = index.count = at = 0
    opened.seek(index.offsets[at])
    return at * STEP + 1


def _ends_line(opened: BinaryIO, offset: int) -> bool:
    if offset == 0:
        return True
    opened.seek(offset - 1)
    return opened.read(1) == b"\n"


def _lines(opened: BinaryIO, index: _Index, number: int) -> Iterator[bytes]:
    offset = opened.tell()
    while True:
        if (number - 1) % STEP == 0 and (number - 1) // STEP == len(index.offsets):
            index.offsets.append(offset)
        line = opened.readline(MOST_LINE_BYTES)
        if not line:
            return
        offset += len(line)
        rest = line
        while not rest.endswith(b"\n") and (rest := opened.readline(_BLOCK)):
            offset += len(rest)
        number += 1
        yield line.rstrip(b"\r\n")


@contextmanager
def random_access(lines: Lines) -> Iterator[LineReader]:
    """Open lines for random access."""
    reader = LineReader(lines)
    try:
        yield reader
    finally:
        reader.close()


class LineReader:
    """Reads single lines, caching those around the last one read."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._first = 1
        self._block: list[bytes] = []

    def line(self, number: int) -> bytes:
        """Return one line.

        Raises:
            NotFound: There are fewer lines.
        """
        if not self._first <= number < self._first + len(self._block):
            self._first = max(1, (number - 1) // STEP * STEP + 1)
            self._block = [line for _, line in self._lines.read(self._first, STEP)]
        at = number - self._first
        if not 0 <= at < len(self._block):
            raise NotFound(
                f"There is no line {number:,}.",
                where=self._lines.where,
                remedy="It became shorter meanwhile.",
            )
        return self._block[at]

    def lines(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        for number in numbers:
            yield number, self.line(number)

    def close(self) -> None:
        """Drop the cache."""
        self._block = []


Mask = Callable[[str], str]


class MaskedLines:
    """A masked transcript; its lines keep their numbers and stay JSON."""

    def __init__(self, lines: Lines, mask: Mask) -> None:
        self.unmasked: Final = lines
        self._mask = mask

    @property
    def name(self) -> str:
        return self.unmasked.name

    @property
    def where(self) -> str:
        return self.unmasked.where

    def size(self) -> int:
        return self.unmasked.size()

    def stamp(self) -> tuple[int, ...] | None:
        return self.unmasked.stamp()

    def count(self) -> int:
        return self.unmasked.count()

    def read(self, first: int = 1, most: int | None = None) -> Iterator[tuple[int, bytes]]:
        for number, line in self.unmasked.read(first, most):
            yield number, masked_line(line, self._mask)


def masked_line(line: bytes, mask: Mask) -> bytes:
    """Return one transcript line, masked; the same object if it holds no secret.

    Args:
        line: JSON or anything else, with or without line end.
    """
    text = line.decode("utf-8", "surrogateescape")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        masked = mask(text)
        return line if masked == text else masked.encode("utf-8", "surrogateescape")
    # Most lines have none: one check of all their text is enough.
    everything = "\n\n".join(_texts_in(said))
    if mask(everything) == everything:
        return line
    end = line[len(line.rstrip(b"\r\n")) :]
    return json.dumps(_masked(said, mask), ensure_ascii=True, separators=(",", ":")).encode() + end


def _texts_in(said: Any) -> Iterator[str]:
    waiting = [said]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            waiting += each
        elif isinstance(each, Mapping):
            for name, value in each.items():
                if isinstance(value, str):
                    yield f"{name}: {value}"
                else:
                    yield name
                    waiting.append(value)


def _masked(said: Any, mask: Mask) -> Any:
    if isinstance(said, str):
        return mask(said)
    if isinstance(said, list):
        return [_masked(each, mask) for each in said]
    if isinstance(said, Mapping):
        return {mask(name): _named(name, each, mask) for name, each in said.items()}
    return said


def _named(name: str, value: Any, mask: Mask) -> Any:
    """Mask a value; its key may make it a secret, as in `"password": "…"`."""
    if not isinstance(value, str):
        return _masked(value, mask)
    label = f"{name}: "
    told = mask(label + value)
    return told.removeprefix(label) if told.startswith(label) else mask(value)
