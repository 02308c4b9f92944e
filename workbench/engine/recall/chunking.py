"""Makes chunks of the memories of a file: small ones whole, long ones in overlapping pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.engine import layout
from workbench.engine.catalog.model import FactRecord, MemoryRecord
from workbench.engine.recall.cutting import cut
from workbench.engine.recall.file_source import FileRecords
from workbench.engine.recall.model import Chunk

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
    for piece in cut(_whole_characters(record.text), size.tokens, size.overlap):
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
