"""Chunks of memories: their source files, how text is cut, and the queries an index answers about them."""

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

# One match is about one token: words (long ones several), three digits, a run of signs, a run of line ends,
# one character of a script without spaces.
_TOKEN = re.compile(
    r"[A-Za-z]{1,11}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003134f]|[^\W\d_]{1,4}|\d{1,3}|[^\w\s]{1,6}\n*"
    r"|_+|\n+|[ \t]{16}"
)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"#{1,6}\s+(.*\S)")
_SENTENCE_END = re.compile(r"[.!?。！？；;]\s*|\s")
_BETWEEN_TITLES = " › "
_HALF = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class FileRecords:
    """A file split into its memories.

    Args:
        path: As results show it.
        digest: Changes when the file does; never empty.
        records: Its memories in order, with their whole texts.
        retired: Facts in it that no longer hold, indexed separately.
    """

    path: str
    digest: bytes
    records: tuple[MemoryRecord, ...]
    retired: tuple[FactRecord, ...] = ()


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
    """A chunk as stored in the index.

    Args:
        number: Its number in the index.
        chunk: The chunk.
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
        store: Only this store.
        after: Only from this day on; excludes chunks without a day.
        before: Only up to this day; excludes chunks without a day.
    """

    store: str | None = None
    after: date | None = None
    before: date | None = None


@dataclass(frozen=True)
class Statistics:
    """Collection statistics for BM25.

    Args:
        chunks: Number of chunks.
        average_terms: Their mean length in terms.
        frequencies: Number of chunks that hold each queried term.
    """

    chunks: int
    average_terms: float
    frequencies: Mapping[str, int]


class ChunkSource(Protocol):
    """Queries to the index; all answers come from one consistent state."""

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
        """Return the memory id of each of these chunks."""
        ...

    def read(self, numbers: Sequence[int]) -> list[StoredChunk]:
        """Return chunks in the order asked for, skipping those that are gone."""
        ...


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
        tokens: Maximum tokens of a chunk.
        overlap: Tokens shared by neighbouring chunks of a memory.
    """

    tokens: int = 400
    overlap: int = 80


def chunks_of(file: FileRecords, size: ChunkSize) -> list[Chunk]:
    """Return the chunks of a file: its memories in order, then its retired facts."""
    chunks = [
        chunk for record in file.records for chunk in _of_record(record, _file_title(file, record), size)
    ]
    labels = {record.id: record.title for record in file.records}
    chunks.extend(_of_fact(fact, labels.get(fact.entity, ""), file.path) for fact in file.retired)
    return chunks


def _file_title(file: FileRecords, record: MemoryRecord) -> str:
    """Return the file's title if its section does not repeat it; days say nothing as titles."""
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
        is_retired=True,
        superseded_by=fact.superseded_by,
    )
