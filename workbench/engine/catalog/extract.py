"""What one file holds: its memories, entities, facts, relations and links, as rows of the catalog."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.model import EdgeRecord, EntityRecord, FactRecord, MemoryRecord
from workbench.engine.documents import (
    CoreMemory,
    DailyLog,
    EntityFile,
    EpisodeLog,
    Fact,
    LineSpan,
    Problem,
    Procedure,
    SourceText,
    VaultNote,
    canonical_relation,
    read_headings,
)

TITLE_CHARACTERS = 100
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:[|#][^\[\]\n]*)?\]\]")
_MEMORY_REFERENCE = re.compile(r"\bepisode:\d{4}-\d{2}-\d{2}:\d{2}:\d{2}(?:#\d+)?")
_FIRST_SENTENCE = re.compile(r"(.+?[.!?。！？])(?:\s|$)")
# Lines beyond this are kept in the index as the beginning of what they are; the file itself is never cut.
_MOST_CHARACTERS = 200_000


@dataclass(frozen=True)
class FileRows:
    """Everything the catalog keeps of one file.

    Args:
        sort_keys: By memory id, the text that orders dated memories in time.
        merged_into: By entity id, the entity it was merged into.
        links: (id of the memory, id it names).
    """

    memories: tuple[MemoryRecord, ...] = ()
    sort_keys: dict[str, str] = field(default_factory=dict)
    entities: tuple[EntityRecord, ...] = ()
    merged_into: dict[str, str] = field(default_factory=dict)
    facts: tuple[FactRecord, ...] = ()
    edges: tuple[EdgeRecord, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


def extract(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    """Read one tracked file into rows; what cannot be read is reported among the problems.

    Args:
        path: Workspace-relative.
        content: Its bytes, of any kind.
        zone: The zone of the times in it.
    """
    store = layout.store_of(path)
    readers: dict[str, Callable[[str, bytes, ZoneInfo], FileRows]] = {
        "core": _core,
        "episodic": _episodes,
        "procedural": _procedure,
        "vault": _vault,
    }
    if not path.endswith(".md"):
        return FileRows()
    if path.startswith(layout.ENTITIES + "/"):
        return _entity(path, content, zone)
    if store in readers:
        return readers[store](path, content, zone)
    if layout.is_daily_log(path):
        return _daily_log(path, content, zone)
    if store in ("meta", "semantic"):
        return FileRows()
    return _free_text(path, content, zone)


def title_of(text: str) -> str:
    """Return the first sentence of a text in one line, cut at 100 characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = re.sub(r"^(?:[#>*+-]+|\d+[.)])\s+", "", line)
    sentence = _FIRST_SENTENCE.match(line)
    line = sentence.group(1) if sentence else line
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"


def links_in(text: str) -> list[str]:
    """Return the ids that a text names by `[[wikilinks]]` or episode ids, each once."""
    found = [_target(match.group(1)) for match in _WIKILINK.finditer(text)]
    found.extend(match.group() for match in _MEMORY_REFERENCE.finditer(text))
    return list(dict.fromkeys(found))


def _target(link: str) -> str:
    name = link.strip().removesuffix(".md").rsplit("/", 1)[-1]
    return f"entity:{name}" if "--" in name else f"name:{name}"


def _core(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    del zone
    core = CoreMemory.parse(content, path)
    memories = [
        MemoryRecord(
            id=item.id,
            store="core",
            path=path,
            start_line=item.span.start,
            end_line=item.span.end,
            title=title_of(item.text),
            text=_bounded(item.text),
            type=block.name,
            pinned=item.pinned,
        )
        for block in core.blocks
        for item in block.items
    ]
    return _rows(memories, problems=core.problems)


def _episodes(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    log = EpisodeLog.parse(content, path)
    memories = [
        MemoryRecord(
            id=entry.id,
            store="episodic",
            path=path,
            start_line=entry.span.start,
            end_line=entry.span.end,
            title=title_of(entry.body) or entry.type or entry.time,
            text=_bounded(entry.body),
            type=entry.type,
            confidence=entry.confidence,
            source=entry.source,
            tags=entry.tags,
            moment=_moment(entry.date, entry.time, zone),
        )
        for entry in log.entries
    ]
    keys = {
        entry.id: f"{entry.date}T{entry.time}|{entry.span.start:08d}" for entry in log.entries if entry.date
    }
    rows = _rows(memories, sort_keys=keys, problems=log.problems)
    about = tuple(
        (entry.id, f"entity:{name.strip()}")
        for entry in log.entries
        for key, value in entry.extra
        if key == "entities"
        for name in value.strip("[] ").split(",")
        if "--" in name
    )
    return replace(rows, links=tuple(dict.fromkeys((*about, *rows.links))))


def _daily_log(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    log = DailyLog.parse(content, path)
    memories = []
    keys = {}
    latest = "00:00"
    for entry in log.entries:
        memory_id = _file_id(path, entry.span)
        latest = max(latest, entry.time or latest)
        keys[memory_id] = f"{log.date}T{latest}|{entry.span.start:08d}"
        memories.append(
            MemoryRecord(
                id=memory_id,
                store="file",
                path=path,
                start_line=entry.span.start,
                end_line=entry.span.end,
                title=title_of(entry.title),
                text=_bounded(entry.text),
                type="log",
                tags=(log.slug,) if log.slug else (),
                moment=_moment(log.date, entry.time or "00:00", zone),
            )
        )
    return _rows(memories, sort_keys=keys, problems=log.problems)


def _entity(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    document = EntityFile.parse(content, path)
    entity_id = f"entity:{document.id}"
    text = document.source.text
    record = MemoryRecord(
        id=entity_id,
        store="semantic",
        path=path,
        start_line=1,
        end_line=max(1, len(document.source.lines)),
        title=document.label,
        text=_bounded(text),
        type=document.type,
        moment=_moment(document.created or "", "00:00", zone),
        pinned=document.pinned,
    )
    facts = [_fact_record(entity_id, fact) for fact in (*document.facts, *document.retired)]
    edges = [
        EdgeRecord(
            entity_id,
            canonical_relation(relation.name),
            f"entity:{target}",
            relation.provenance.confidence or "",
            relation.provenance.since,
            relation.block_id,
        )
        for relation in document.relations
        for target in relation.targets
    ]
    links = [(entity_id, target) for target in links_in(text)]
    links.extend((fact.id, source) for fact in facts for source in fact.provenance)
    merged = next((value for key, value in document.header if key == "merged into"), None)
    entity = EntityRecord(
        entity_id, document.type, document.label, path, document.aliases, title_of(document.summary)
    )
    if merged:
        # What stood in it lives on in the other; found by its id alone, so that links to it lead on.
        return FileRows(entities=(entity,), merged_into={entity_id: f"entity:{merged.strip('[] ')}"})
    return FileRows(
        memories=(record,),
        entities=(entity,),
        facts=tuple(facts),
        edges=tuple(edges),
        links=tuple(dict.fromkeys(links)),
        problems=document.problems,
    )


def _fact_record(entity_id: str, fact: Fact) -> FactRecord:
    known = fact.provenance
    return FactRecord(
        id=f"{entity_id}#^{fact.block_id}" if fact.block_id else entity_id,
        entity=entity_id,
        text=fact.text,
        line=fact.span.start,
        since=known.since,
        until=known.until,
        superseded_by=f"{entity_id}#^{known.superseded_by}" if known.superseded_by else None,
        provenance=known.sources,
        retired=fact.retired,
    )


def _procedure(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    document = Procedure.parse(content, path)
    learned = next((value for key, value in document.header if key == "learned"), "")
    record = _whole_file(document.id, "procedural", path, document.source, document.title)
    record = _dated(record, _moment(learned, "00:00", zone))
    return _rows([record], problems=document.problems)


def _vault(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    del zone
    note = VaultNote.parse(content, path)
    record = _whole_file(note.id, "vault", path, note.source, note.title)
    return _rows([record], problems=note.problems)


def _free_text(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    del zone
    source = SourceText.from_bytes(content)
    headings = read_headings(source)
    spans = [(heading.text, LineSpan(heading.span.start, heading.body.end)) for heading in headings]
    first = headings[0].span.start if headings else len(source.lines) + 1
    if first > 1:
        spans.insert(0, (path.rsplit("/", 1)[-1], LineSpan(1, first - 1)))
    memories = []
    for title, span in spans:
        trimmed = source.trimmed(span)
        text = source.text_of(trimmed) if trimmed else ""
        if text.strip():
            memories.append(
                MemoryRecord(
                    id=_file_id(path, trimmed),
                    store="file",
                    path=path,
                    start_line=trimmed.start,
                    end_line=trimmed.end,
                    title=title_of(title),
                    text=_bounded(text),
                )
            )
    return _rows(memories)


def _whole_file(memory_id: str, store: str, path: str, source: SourceText, title: str) -> MemoryRecord:
    return MemoryRecord(
        id=memory_id,
        store=store,
        path=path,
        start_line=1,
        end_line=max(1, len(source.lines)),
        title=title,
        text=_bounded(source.text),
        type=store,
    )


def _dated(record: MemoryRecord, moment: datetime | None) -> MemoryRecord:
    return replace(record, moment=moment)


def _rows(
    memories: Iterable[MemoryRecord],
    *,
    sort_keys: dict[str, str] | None = None,
    problems: tuple[Problem, ...] = (),
) -> FileRows:
    kept = tuple(memories)
    links = tuple((record.id, target) for record in kept for target in links_in(record.text))
    return FileRows(memories=kept, sort_keys=sort_keys or {}, links=links, problems=problems)


def _file_id(path: str, span: LineSpan) -> str:
    return f"file:{path}#L{span.start}-L{span.end}"


def _moment(day: str, time: str, zone: ZoneInfo) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=zone)
    except ValueError:
        return None


def _bounded(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS]
