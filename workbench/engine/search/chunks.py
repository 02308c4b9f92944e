"""Chunks of memories: their source files, how text is cut, and the queries an index answers about them.

Within chunks, text is cut into units: turns, facts, passages.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from workbench.engine.catalog.records import FactRecord, MemoryRecord
from workbench.engine.markdown.statements import has_ended
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.embedder import FloatArray

    Numbers = NDArray[np.int64]


# One match is about one token: words (long ones several), three digits, a run of signs, a run of line ends,
# one character of a script without spaces.
_TOKEN = lazy_pattern(
    r"[A-Za-z]{1,11}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003134f]|[^\W\d_]{1,4}|\d{1,3}|[^\w\s]{1,6}\n*"
    r"|_+|\n+|[ \t]{16}"
)
_FENCE = lazy_pattern(r"\s*(`{3,}|~{3,})")
_HEADING = lazy_pattern(r"#{1,6}\s+(.*\S)")
_SENTENCE_END = lazy_pattern(r"[.!?。！？；;]\s*|\s")
_BETWEEN_TITLES = " › "
_HALF = lazy_pattern("[\ud800-\udfff]")

_STAMP = r"(?:[\[(]?(?:\d{4}-\d\d-\d\d[ T])?\d{1,2}[:.]\d{2}(?::\d{2})?(?:\s?[ap]m)?[\])]?\s*(?:[-–—|,]\s*)?)"
_NAME = r"[^\W\d_][\w.'’-]*(?: [\w.'’-]+){0,2}"
_TURN = lazy_pattern(
    rf"\s*(?P<mark>[-*+•]\s+|\d+[.)]\s+)?(?P<stamp>{_STAMP})?"
    rf"(?:(?P<name>(?:\*\*|__)?{_NAME}(?:\*\*|__)?)\s*[:：](?!//)(?:\*\*|__)?\s*(?=\S))?"
)
_TITLE = lazy_pattern(rf"(?:{_STAMP}\s*)?({_NAME})\s*(?:[:：]|$)")
_LOG_HEADING = lazy_pattern(r"#{1,6}\s+")
_LONGEST_LABEL = 120
_MARKS_AT_ONCE = 4096

PERSON = frozenset(("user", "human", "me", "i", "用户", "用戶", "使用者", "我"))
AGENT = frozenset(("assistant", "agent", "ai", "bot", "model", "助手", "助理", "ai助手", "机器人", "機器人"))
# A passage is about as long as a snippet.
_LONGEST_PASSAGE = 700
# With this share of list items, each is a unit of its own.
_LIST_SHARE = 0.8
# Start of a line with a list mark or a time.
_MARK_OR_STAMP = lazy_pattern(r"\s*[-*+•\d(\[]")
# A short text with no such line, except for a heading at the top, is a single passage.
_PARTING = lazy_pattern(r"^(?:[^\S\n]*[-*+•\d(\[]|#)", re.MULTILINE)


@dataclass(frozen=True)
class FileRecords:
    """A file split into its memories.

    Args:
        path: As results show it.
        digest: Changes when the file does; never empty.
        records: Its memories in order, with their whole texts.
        ending: Facts in it that are retired or have an end, indexed separately.
    """

    path: str
    digest: bytes
    records: tuple[MemoryRecord, ...]
    ending: tuple[FactRecord, ...] = ()


class FileSource(Protocol):
    """A set of files to search."""

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every file by path, in any order."""
        ...

    def read(self, paths: Sequence[str]) -> Iterable[FileRecords]:
        """Read and split these files, skipping those that are gone or belong to another source.

        Digest and records of a file describe the same state of it.
        """
        ...


@dataclass(frozen=True)
class Chunk:
    """A unit of retrieval: a small memory, or part of a long one.

    Args:
        memory_id: The memory it belongs to (see `engine.identifiers`).
        store: core, episodic, semantic, procedural, vault or file; `extra` and `session` for what lies outside.
        path: Its file, as results show it.
        start_line: 1-based line of that file where `text` begins; line k of the text is line start_line + k.
        text: Its lines as in the file, joined by line feeds; lines that must not be found are blank.
        title: File title and heading, an entity's label, or an episode's first sentence.
        day: The day it is about, or None.
        tags: Topical tags.
        is_retired: Whether it no longer holds: the file says so, or its end has passed.
        superseded_by: The id of the fact that replaced it, or None.
        until: ISO date until which it holds, or None.
    """

    memory_id: str
    store: str
    path: str
    start_line: int
    text: str
    title: str
    day: date | None = None
    tags: tuple[str, ...] = ()
    is_retired: bool = False
    superseded_by: str | None = None
    until: str | None = None


@dataclass(frozen=True)
class StoredChunk:
    """A chunk as stored in the index.

    Args:
        vector: Of the whole chunk, length 1; None if not embedded yet.
        unit_vectors: One row per unit of the chunk (see `units_of`), length 1 each; None if not embedded yet.
        unit_terms: For each unit, its stemmed terms separated by one space.
    """

    number: int
    chunk: Chunk
    vector: FloatArray | None = None
    unit_vectors: FloatArray | None = None
    unit_terms: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Within:
    """Filter on chunks.

    Args:
        after: Only from this day on; excludes chunks without a day.
        before: Only up to this day; excludes chunks without a day.
    """

    store: str | None = None
    after: date | None = None
    before: date | None = None


@dataclass(frozen=True)
class Statistics:
    """Collection statistics.

    Args:
        frequencies: Number of chunks that hold each queried term.
    """

    chunks: int
    frequencies: Mapping[str, int]


class ChunkMarks:
    """A small number for each chunk, 0 where none was noted; what threads note at once may get lost."""

    def __init__(self) -> None:
        import numpy as np

        self._marks = np.zeros(0, np.int8)

    def of(self, numbers: Numbers) -> NDArray[np.int8]:
        """Return the mark of each of these chunks."""
        marks = self._marks_up_to(int(numbers.max(initial=0)))
        return marks[numbers]

    def note(self, found: Mapping[int, int]) -> None:
        """Mark some chunks."""
        marks = self._marks_up_to(max(found, default=0))
        marks[list(found)] = list(found.values())

    def _marks_up_to(self, number: int) -> NDArray[np.int8]:
        import numpy as np

        marks = self._marks
        if number >= len(marks):
            longer = np.zeros(number + _MARKS_AT_ONCE, np.int8)
            longer[: len(marks)] = marks
            self._marks = marks = longer
        return marks


class ChunkSource(Protocol):
    """Queries to the index; all answers come from one consistent state."""

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Return how many chunks there are, and how many hold each of these terms."""
        ...

    def by_keywords(self, terms: Sequence[str], limit: int, within: Within) -> list[tuple[int, float]]:
        """Return the chunks that hold any of the terms, best first, with BM25 (positive, higher is better).

        A term that ends in `*` stands for every term that begins with it.
        """
        ...

    def by_vector(self, vector: FloatArray, limit: int, within: Within) -> list[tuple[int, float]]:
        """Return the chunks nearest to a unit vector, best first, with their cosine; nothing without vectors."""
        ...

    def by_memory(self, memory_ids: Sequence[str], within: Within) -> list[int]:
        """Return the chunks of these memories, in the order of the ids and of their lines."""
        ...

    def by_lines(self, path: str, first: int, last: int, limit: int, within: Within) -> list[int]:
        """Return the chunks that hold these lines of a file, 1-based and inclusive, in the order of the lines."""
        ...

    def by_day(self, first: date, last: date, limit: int, within: Within) -> list[int]:
        """Return chunks of these days, newest first."""
        ...

    def owners(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """Return the memory id of each of these chunks."""
        ...

    def marks(self, basis: object) -> ChunkMarks:
        """Return marks of chunks by their memories, kept as long as those stay the same and the same object is given.

        Args:
            basis: What the marks depend on besides; None for marks that are not kept.
        """
        ...

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """Return chunks in the order asked for, skipping those that are gone."""
        ...


class ChunksOfToday:
    """A source as it stands on a day: without what was archived by itself, and with what has ended marked as retired.

    Args:
        hidden: Ids of facts and relations that were archived by themselves, `entity:person--alex#^f7k2`.
        today: ISO date.
    """

    def __init__(self, source: ChunkSource, hidden: Iterable[str], today: str) -> None:
        self.statistics = source.statistics
        self.by_keywords = source.by_keywords
        self.by_vector = source.by_vector
        self.by_memory = source.by_memory
        self.by_lines = source.by_lines
        self.by_day = source.by_day
        self.owners = source.owners
        self.marks = source.marks
        self._read = source.read
        self._today = today
        self._hidden = frozenset(hidden)
        self._marks: dict[str, tuple[str, ...]] = defaultdict(tuple)
        for memory_id in self._hidden:
            entity, _, block = memory_id.partition("#^")
            self._marks[entity] += (f"^{block}",)

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """Return chunks with blank lines for what is hidden, so that line numbers stay right."""
        return [self._blanked(self._dated(stored)) for stored in self._read(numbers)]

    def _dated(self, stored: StoredChunk) -> StoredChunk:
        chunk = stored.chunk
        if chunk.is_retired or not has_ended(chunk.until, self._today):
            return stored
        return replace(stored, chunk=replace(chunk, is_retired=True))

    def _blanked(self, stored: StoredChunk) -> StoredChunk:
        marks = self._marks.get(stored.chunk.memory_id)
        if stored.chunk.memory_id in self._hidden:
            marks = ("",)
        if not marks:
            return stored
        lines = stored.chunk.text.split("\n")
        text = "\n".join("" if line.rstrip().endswith(marks) else line for line in lines)
        # Its units are others now, and what was stored for each does not fit them.
        return replace(stored, chunk=replace(stored.chunk, text=text), unit_vectors=None, unit_terms=None)


@dataclass(frozen=True)
class Piece:
    """Part of a text.

    Args:
        line: Its first line, counted from 0.
        text: Lines joined by line feeds, or part of one overlong line.
        heading: The last heading before it, or "".
    """

    line: int
    text: str
    heading: str = ""


def estimate_tokens(text: str) -> int:
    """Estimate the number of o200k_base tokens of a text.

    Within 10 % on prose and code in Latin script, up to half too high elsewhere; much faster than counting.
    """
    return sum(1 for _ in _TOKEN.finditer(text)) if len(text) > 4096 else len(_TOKEN.findall(text))


def cut_text(text: str, most: int, overlap: int) -> list[Piece]:
    """Cut a text into pieces.

    Prefers to cut before a heading or after a blank line in the last third of a piece, and cuts inside a code
    fence only if the fence is longer than that. Splits lines longer than a piece.

    Args:
        text: Any length; lines joined by line feeds.
        most: Maximum tokens of a piece.
        overlap: Tokens repeated from the piece before; capped below half of `most`.

    Returns:
        Pieces that together hold every non-blank line, in order.
    """
    # A token holds at least one character: short text needs no counting.
    if len(text) <= most or (len(text) <= 6 * most and estimate_tokens(text) <= most):
        return [Piece(0, text)] if text.strip() else []
    lines = _Lines(text, most)
    overlap = min(overlap, most // 2)
    pieces: list[Piece] = []
    start = 0
    while start < len(lines.texts):
        end = lines.end_of(start, most)
        piece = lines.piece(start, end)
        if piece is not None:
            pieces.append(piece)
        if end >= len(lines.texts):
            break
        start = max(start + 1, lines.overlapping(end, overlap))
    return pieces


class _Lines:
    """A text's lines (very long ones split), with the token count of each and how well a cut before it suits."""

    def __init__(self, text: str, most: int) -> None:
        self.texts: list[str] = []
        self.numbers: list[int] = []
        self.tokens: list[int] = []
        self.headings: list[str] = []
        self._suits: list[int] = []
        fence = heading = ""
        after_blank = True
        for number, line in enumerate(text.split("\n")):
            mark = _FENCE.match(line)
            inside = bool(fence)
            found = None if inside else _HEADING.match(line)
            if mark and not inside:
                fence = mark.group(1)
            elif mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
                fence = ""
            suits = 0 if inside else 3 if found else 2 if after_blank else 1
            for part in _parts(line, most):
                self.texts.append(part)
                self.numbers.append(number)
                self.tokens.append(estimate_tokens(part) + 1)
                self.headings.append(heading)
                self._suits.append(suits)
                suits = 0
            heading = found.group(1) if found else heading
            after_blank = not line.strip()

    def end_of(self, start: int, most: int) -> int:
        """Return the line before which the piece starting here ends."""
        size, end = 0, start
        while end < len(self.texts) and (end == start or size + self.tokens[end] <= most):
            size += self.tokens[end]
            end += 1
        if end == len(self.texts):
            return end
        room, best = size // 3, end
        for at in range(end - 1, start, -1):
            room -= self.tokens[at]
            if room < 0:
                break
            if self._suits[at] > self._suits[best]:
                best = at
        return best

    def overlapping(self, end: int, overlap: int) -> int:
        """Return the first line of the piece after a cut."""
        if self._suits[end] == 3:
            return end
        start = end
        while start > 0 and overlap >= self.tokens[start - 1]:
            start -= 1
            overlap -= self.tokens[start]
        return start

    def piece(self, start: int, end: int) -> Piece | None:
        """Return the lines as a piece without blank lines at its ends, or None if all are blank."""
        while start < end and not self.texts[start].strip():
            start += 1
        while start < end and not self.texts[end - 1].strip():
            end -= 1
        if start == end:
            return None
        parts = [self.texts[start]]
        for at in range(start + 1, end):
            joint = "" if self.numbers[at] == self.numbers[at - 1] else "\n"
            parts.append(joint + self.texts[at])
        return Piece(self.numbers[start], "".join(parts), self.headings[start])


def _parts(line: str, most: int) -> list[str]:
    """Split a line longer than a piece, preferably after a sentence or a word."""
    if len(line) <= most:
        return [line]
    parts = []
    start, tokens = 0, 0
    allowed = max(1, most - 1)
    for match in _TOKEN.finditer(line):
        tokens += 1
        if tokens > allowed:
            end = _last_end(line, start + (match.start() - start) * 2 // 3, match.start())
            parts.append(line[start:end])
            start, tokens = end, estimate_tokens(line[end : match.end()])
    parts.append(line[start:])
    return parts


def _last_end(line: str, first: int, last: int) -> int:
    """Return the best cut between two positions: after a sentence, else after a space, else the last."""
    best, kind = last, ""
    for match in _SENTENCE_END.finditer(line, first, last):
        if match.group().strip() or not kind:
            best, kind = match.end(), match.group().strip()
    return best


@dataclass(frozen=True)
class ChunkSize:
    """Chunk length.

    Args:
        overlap: Tokens shared by neighbouring chunks of a memory.
    """

    tokens: int = 400
    overlap: int = 80


def chunks_of(file: FileRecords, size: ChunkSize) -> list[Chunk]:
    """Return the chunks of a file: its memories in order, then its facts that are retired or have an end."""
    chunks = [
        chunk for record in file.records for chunk in _of_record(record, _file_title(file, record), size)
    ]
    labels = {record.id: record.title for record in file.records}
    chunks.extend(_of_fact(fact, labels.get(fact.entity, ""), file.path) for fact in file.ending)
    return chunks


def _file_title(file: FileRecords, record: MemoryRecord) -> str:
    """Return the file's title if its section does not repeat it; days say nothing as titles."""
    first = file.records[0]
    if record.store not in ("file", "extra") or record.type == "log" or first.store != record.store:
        return ""
    title = first.title
    return "" if title in record.title else title


def _of_record(record: MemoryRecord, file_title: str, size: ChunkSize) -> Iterator[Chunk]:
    start = record.start_line if record.text_line is None else record.text_line
    title = f"{file_title}{_BETWEEN_TITLES}{record.title}" if file_title else record.title
    for piece in cut_text(_whole_characters(record.text), size.tokens, size.overlap):
        heading = "" if piece.heading in record.title else f"{_BETWEEN_TITLES}{piece.heading}"
        yield Chunk(
            memory_id=record.id,
            store=record.store,
            path=record.path,
            start_line=start + piece.line,
            text=piece.text,
            title=_whole_characters(title + heading),
            day=record.moment.date() if record.moment else None,
            tags=record.tags,
        )


def _whole_characters(text: str) -> str:
    """Replace lone surrogates, which JSON transcripts may hold and databases and servers reject."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _HALF.search(text) else text


def _of_fact(fact: FactRecord, label: str, path: str) -> Chunk:
    return Chunk(
        memory_id=fact.id,
        store="semantic",
        path=path,
        start_line=fact.line,
        text=fact.text,
        title=label,
        is_retired=fact.retired,
        superseded_by=fact.superseded_by,
        until=fact.until,
    )


@dataclass(frozen=True, slots=True)
class LogTurn:
    """A parsed log line.

    Args:
        speaker: The label before the colon, folded, or None. See `speakers_among`.
        text: The line without list mark, time and label.
        is_item: Whether it is an unindented list item.
        is_stamped: Whether it begins with a time.
    """

    speaker: str | None
    text: str
    is_item: bool
    is_stamped: bool


def turn_of(line: str) -> LogTurn:
    """Parse a line; any line is valid."""
    match = _TURN.match(line[:_LONGEST_LABEL])
    assert match is not None, "every part of the pattern may be absent"
    name = match["name"]
    return LogTurn(
        name.strip("*_").casefold() if name else None,
        line[match.end() :],
        match["mark"] is not None and not line[:2].isspace(),
        match["stamp"] is not None,
    )


def speakers_among(lines: Sequence[str]) -> frozenset[str]:
    """Return the labels that name a speaker, folded: “10:02 Ann: hello” has one, “- **Budget:** $5” does not.

    A label names a speaker if its line has a time, if it is a common name of the person or the agent, or if every line
    has a label and the labels alternate, as in a dialogue.

    Args:
        lines: Consecutive lines of one text. Indented lines and headings are ignored.
    """
    turns = [
        turn_of(line)
        for line in lines
        if line.strip() and not (line[0].isspace() or _LOG_HEADING.match(line))
    ]
    names = {turn.speaker for turn in turns if turn.speaker}
    stamped = {turn.speaker for turn in turns if turn.speaker and turn.is_stamped}
    return frozenset(names if _take_turns(turns) else stamped | names & (PERSON | AGENT))


def _take_turns(turns: Sequence[LogTurn]) -> bool:
    order = [speaker for speaker, _ in groupby(turn.speaker for turn in turns)]
    return (
        len(set(order)) > 1 and None not in order and all(order.count(speaker) > 1 for speaker in set(order))
    )


def speaker_of_section(text: str, title: str) -> str | None:
    """Return the speaker of a log section such as “## 09:28 user” or of the title “user: …”, folded.

    A first-level heading is the title of a document.
    """
    first = text[: text.find("\n")] if "\n" in text else text
    heading = _LOG_HEADING.match(first)
    if heading is not None and not first.startswith("# "):
        match = _TITLE.fullmatch(first[heading.end() :].strip())
        if match is not None:
            return match[1].casefold()
    match = _TITLE.match(title)
    return match[1].casefold() if match is not None and match.end() < len(title) else None


def units_of(text: str) -> list[tuple[int, int]]:
    """Return the units of a chunk's text as first and last line, counted from 0, in order.

    A line with a time, and a list item with what is indented under it, is a unit of its own; other lines are packed
    into passages of about 700 characters; a heading belongs to what follows. The result is deterministic, since the
    index keeps one vector per unit.
    """
    if len(text) <= _LONGEST_PASSAGE:
        kept = text.strip()
        if not kept:
            return []
        if _PARTING.search(kept, 1 if kept.startswith("#") else 0) is None:
            first = text.count("\n", 0, text.index(kept[0]))
            return [(first, first + kept.count("\n"))]
    lines = text.split("\n")
    begins = _own_units(lines)
    units: list[tuple[int, int]] = []
    first = last = -1
    size = 0
    only_headings = False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        is_heading = _LOG_HEADING.match(line) is not None
        starts = (
            first < 0
            or (is_heading and not only_headings)
            or (begins[number] and not only_headings)
            or (size + len(line) > _LONGEST_PASSAGE and not only_headings)
            or (begins[last] and not line[:1].isspace() and number > last + 1)
        )
        if starts:
            if first >= 0:
                units.append((first, last))
            first, size, only_headings = number, 0, True
        only_headings = only_headings and is_heading
        last = number
        size += len(line) + 1
    if first >= 0:
        units.append((first, last))
    return units


def unit_texts(text: str, units: Sequence[tuple[int, int]] | None = None) -> list[str]:
    """Return the text to embed for each unit: its lines without headings, list marks, times and speakers.

    Args:
        units: From `units_of`, if already known.
    """
    lines = text.split("\n")
    return [_spoken(lines[first : last + 1]) for first, last in (units_of(text) if units is None else units)]


def _own_units(lines: list[str]) -> list[bool]:
    """Return for each line whether it is a unit of its own."""
    present = [line.strip() != "" and _LOG_HEADING.match(line) is None for line in lines]
    # Parsing every line would cost more than everything else done to a chunk.
    turns = [
        turn_of(line) if is_there and _MARK_OR_STAMP.match(line) else None
        for is_there, line in zip(present, lines, strict=True)
    ]
    at_margin = sum(
        is_there and not line[:2].isspace() for is_there, line in zip(present, lines, strict=True)
    )
    items = sum(turn is not None and turn.is_item for turn in turns)
    is_list = items > 1 and items >= _LIST_SHARE * at_margin
    return [turn is not None and (turn.is_stamped or (is_list and turn.is_item)) for turn in turns]


def _spoken(lines: list[str]) -> str:
    spoken = [line for line in lines if line.strip() and _LOG_HEADING.match(line) is None] or lines
    return "\n".join((turn_of(spoken[0]).text or spoken[0], *spoken[1:]))
