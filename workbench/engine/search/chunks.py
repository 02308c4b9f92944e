"""Chunks of memories: the files they come from, how text is cut, and what the index can be asked about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Protocol

from workbench.engine import layout
from workbench.engine.catalog.records import FactRecord, MemoryRecord

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


@dataclass(frozen=True)
class FileRecords:
    """One file taken apart.

    Args:
        path: As results give it.
        digest: Tells whether the file changed; never empty.
        records: Its memories in order, their texts whole.
        retired: Facts in it that no longer hold, to be found for themselves.
    """

    path: str
    digest: bytes
    records: tuple[MemoryRecord, ...]
    retired: tuple[FactRecord, ...] = ()


class FileSource(Protocol):
    """Some of the files that are searched."""

    def digests(self) -> Mapping[str, bytes]:
        """Return the digest of every file by path, in any order."""
        ...

    def read(self, paths: Sequence[str]) -> Iterable[FileRecords]:
        """Take these files apart; those that are gone, or not of this source, are left out.

        The digest and the records of a file are of the same state of it.
        """
        ...


@dataclass(frozen=True)
class Chunk:
    """A piece of memory that is found as one: a whole small memory, or a part of a long one.

    Args:
        memory_id: The memory it belongs to (see `engine.identifiers`).
        store: core, episodic, semantic, procedural, vault or file; `extra` and `session` for what lies outside.
        path: The file it stands in, as results give it.
        start_line: The line of that file that `text` begins on, 1-based; line k of the text stands at start_line + k.
        text: Its lines as they stand in the file, joined by line feeds; lines that are not to be found are blank.
        title: What names it: file title and heading, an entity's label, an episode's first sentence.
        day: The day it is about, or None.
        tags: Topical tags.
        is_retired: Whether it no longer holds.
        superseded_by: The id of the fact that replaced it, or None.
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


@dataclass(frozen=True)
class StoredChunk:
    """A chunk as the index holds it.

    Args:
        number: Its number in the index.
        chunk: The chunk.
        vector: Of the whole chunk, length 1; None while it has none.
        unit_vectors: One row per unit of the chunk (see `units`), length 1 each; None while it has none.
        unit_terms: Of each unit the terms it can be found by, stemmed, parted by one space.
    """

    number: int
    chunk: Chunk
    vector: FloatArray | None = None
    unit_vectors: FloatArray | None = None
    unit_terms: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Within:
    """Which chunks are asked for.

    Args:
        store: Of this store alone.
        after: From this day on; chunks without a day are left out.
        before: Up to this day, likewise.
    """

    store: str | None = None
    after: date | None = None
    before: date | None = None


@dataclass(frozen=True)
class Statistics:
    """What BM25 needs to know of all chunks.

    Args:
        chunks: How many there are.
        average_terms: Their mean length in terms.
        frequencies: In how many chunks each term stands that was asked for.
    """

    chunks: int
    average_terms: float
    frequencies: Mapping[str, int]


class ChunkSource(Protocol):
    """What can be asked of the index; each answer is of one consistent state."""

    def statistics(self, terms: Sequence[str]) -> Statistics:
        """Return the counts that BM25 needs for these terms."""
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

    def by_day(self, first: date, last: date, limit: int, within: Within) -> list[int]:
        """Return chunks of these days, newest first."""
        ...

    def owners(self, numbers: Sequence[int]) -> Mapping[int, str]:
        """Return the memory that each of these chunks belongs to."""
        ...

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """Return chunks in the order asked for; one that is gone meanwhile is left out."""
        ...


# One match is about one token: words (long ones several), three digits, a run of signs, a run of line ends,
# one character of a script without spaces.
_TOKEN = re.compile(
    r"[A-Za-z]{1,11}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003134f]|[^\W\d_]{1,4}|\d{1,3}|[^\w\s]{1,6}\n*"
    r"|_+|\n+|[ \t]{16}"
)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}\s+(.*\S)")
_SENTENCE_END = re.compile(r"[.!?。！？；;]\s*|\s")


@dataclass(frozen=True)
class Piece:
    """A part of a text.

    Args:
        line: Its first line, counted from 0.
        text: Lines joined by line feeds; a part of one line where that is longer than a piece.
        heading: The last heading before it, or the empty string.
    """

    line: int
    text: str
    heading: str = ""


def estimate_tokens(text: str) -> int:
    """Return about how many tokens of o200k_base a text has.

    Within a tenth on prose and code in Latin script, up to half too many elsewhere; much quicker than counting.
    """
    return sum(1 for _ in _TOKEN.finditer(text)) if len(text) > 4096 else len(_TOKEN.findall(text))


def cut_text(text: str, most: int, overlap: int) -> list[Piece]:
    """Cut a text into pieces.

    A cut is made before a heading or after a blank line where there is one in the last third of a piece, and
    within a code fence only where the fence is longer than that. Lines longer than a piece are parted.

    Args:
        text: Of any length, lines joined by line feeds.
        most: Tokens of a piece.
        overlap: Tokens that a piece repeats of the one before; less than half of `most` is used.

    Returns:
        Pieces that together hold every line that is not blank, in order.
    """
    # A token holds at least a character; what is short needs no counting.
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
    """A text's lines, the very long ones in parts, with how many tokens each has and how well a cut before it suits."""

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
        """Return the line before which the piece that starts here ends."""
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
        """Return the line that the piece after a cut starts with."""
        if self._suits[end] == 3:
            return end
        start = end
        while start > 0 and overlap >= self.tokens[start - 1]:
            start -= 1
            overlap -= self.tokens[start]
        return start

    def piece(self, start: int, end: int) -> Piece | None:
        """Return the lines as a piece, without blank ones at its ends; None where there are no others."""
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
    """Part a line that is longer than a piece, after a sentence or a word where there is one."""
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
    """Return the best place for a cut between two: after a sentence, else after a blank, else the last."""
    best, kind = last, ""
    for match in _SENTENCE_END.finditer(line, first, last):
        if match.group().strip() or not kind:
            best, kind = match.end(), match.group().strip()
    return best


_BETWEEN_TITLES = " › "
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class ChunkSize:
    """How long a chunk is.

    Args:
        tokens: Most tokens of a chunk.
        overlap: Tokens that two chunks of one memory share.
    """

    tokens: int = 400
    overlap: int = 80


def chunks_of(file: FileRecords, size: ChunkSize) -> list[Chunk]:
    """Return the chunks of a file, memories in order, then the facts that no longer hold."""
    chunks = [
        chunk for record in file.records for chunk in _of_record(record, _file_title(file, record), size)
    ]
    labels = {record.id: record.title for record in file.records}
    chunks.extend(_of_fact(fact, labels.get(fact.entity, ""), file.path) for fact in file.retired)
    return chunks


def _file_title(file: FileRecords, record: MemoryRecord) -> str:
    """Return the title of a file of several sections that a section does not repeat; days say nothing as titles."""
    if record.store not in ("file", "extra") or layout.is_daily_log(file.path):
        return ""
    title = file.records[0].title
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
    """Put a mark for half characters, which JSON may hold (transcripts) and no database or server takes."""
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
        is_retired=True,
        superseded_by=fact.superseded_by,
    )
