"""Reads a memory file for the catalog: its memories, entities, facts, relations and links as rows."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.records import EdgeRecord, EntityRecord, EntityStory, FactRecord, MemoryRecord
from workbench.engine.file_access import Stamp
from workbench.engine.identifiers import NOTE, WIKILINK, linked_entity, slug
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.markdown.entity import EntityFile, Fact
from workbench.engine.markdown.episodes import DailyLog, EpisodeLog
from workbench.engine.markdown.graph import canonical_relation
from workbench.engine.markdown.outline import read_headings, strip_comments
from workbench.engine.markdown.pages import Procedure, VaultNote
from workbench.engine.markdown.source import LineSpan, Problem, SourceText
from workbench.engine.markdown.statements import header_accesses, parse_statement
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

TITLE_CHARACTERS = 100
# ASCII, as an id may stand among Chinese characters without a blank.
_MEMORY_REFERENCE = lazy_pattern(r"(?a)\bepisode:\d{4}-\d{2}-\d{2}:\d{2}:\d{2}(?:#\d+)?")
_LINK = lazy_pattern(r"\[\[([^\[\]|#]+)")
_ISO_DAY = lazy_pattern(r"\d{4}-\d{2}-\d{2}")
_DAY = len("2026-02-02")
# Future days come before the newest past one.
_MOST_DAYS = 16
# A full stop after a single letter (“e.g.”, “J. Smith”) or a title (“Dr. Okoro”) does not end a sentence.
_FIRST_SENTENCE = lazy_pattern(
    r"(.+?(?:(?<![\s.(]\w)(?<!\b[DM]r)(?<!\bMs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)[.!?](?=\s|$)|[。！？]))"
)
_LETTERS = lazy_pattern(r"(?![A-Za-z]\b)[^\W\d_]+")
# Titles made of these and a date name a log, not what it is about.
_WORDS_OF_LOGS = frozenset(
    ("daily", "day", "diary", "episode", "episodes", "journal", "log", "memory", "notes", "session", "utc")
).union(("日志", "日记", "年", "月", "日"))
_MOST_TITLE_SOURCE = 1_000
_MOST_NAME = 200
# A hundred pages; of a longer memory only the beginning is indexed. The file itself is never cut.
MOST_CHARACTERS = 200_000
# Free text in one piece would be found as a whole by any query.
_PIECE_CHARACTERS = 20_000

# Parsing all of a file that is larger than any memory would block everything else.
MOST_BYTES = 4 * 1024 * 1024
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@dataclass(frozen=True)
class FileRows:
    """All rows of one file.

    Args:
        sort_keys: By memory id, the unique text that orders dated memories in time, `2026-02-02T14:30|…`.
        merged_into: By entity id, the entity it was merged into.
        stories: By entity id, the other content of its file.
        links: (id of the memory, id it names).
    """

    memories: tuple[MemoryRecord, ...] = ()
    sort_keys: dict[str, str] = field(default_factory=dict)
    entities: tuple[EntityRecord, ...] = ()
    merged_into: dict[str, str] = field(default_factory=dict)
    stories: dict[str, EntityStory] = field(default_factory=dict)
    facts: tuple[FactRecord, ...] = ()
    edges: tuple[EdgeRecord, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


def extract(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    """Parse one tracked file into rows; unreadable parts are reported as problems.

    Args:
        content: Its bytes, of any kind.
        zone: The zone of times in it.
    """
    reader = _reader_of(path)
    if reader is None:
        return FileRows()
    content, problems = _as_utf8(path, content)
    rows = reader(path, content, zone)
    problems.extend(
        Problem(
            path,
            record.start_line,
            "Only the beginning of this memory is searched, for it is very long.",
            "Part it into several memories.",
        )
        for record in rows.memories
        if len(record.text) == MOST_CHARACTERS
    )
    return replace(rows, problems=(*rows.problems, *problems)) if problems else rows


def _reader_of(path: str) -> Callable[[str, bytes, ZoneInfo], FileRows] | None:
    if not path.endswith(".md"):
        return None
    if path.startswith(layout.ENTITIES + "/"):
        return _entity
    store = layout.store_of(path)
    if store == "file":
        return _daily_log if layout.is_daily_log(path) else _free_text
    return {"core": _core, "episodic": _episodes, "procedural": _procedure, "vault": _vault}.get(store)


def _as_utf8(path: str, content: bytes) -> tuple[bytes, list[Problem]]:
    """Replace bytes that are not UTF-8, which the database could not hold."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        problem = Problem(
            path,
            content.count(b"\n", 0, error.start) + 1,
            "Not all of this file is UTF-8 text.",
            "Save it as UTF-8.",
        )
        return content.decode(errors="replace").encode(), [problem]
    return content, []


def title_of(text: str) -> str:
    """Return the first sentence of a text on one line, cut at 100 characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")[:_MOST_TITLE_SOURCE]
    line = re.sub(r"^(?:[#>*+-]+|\d+[.)])\s+", "", line)
    sentence = _FIRST_SENTENCE.match(line)
    line = sentence.group(1) if sentence else line
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"


def links_in(text: str) -> list[str]:
    """Return the distinct ids in a text's `[[wikilinks]]` or episode ids."""
    found = [f"entity:{name}" for match in WIKILINK.finditer(text) for name in _linked(match.group(1))]
    found.extend(match.group() for match in _MEMORY_REFERENCE.finditer(text))
    return list(dict.fromkeys(found))


def _linked(link: str) -> tuple[str, ...]:
    """Return the entities that a link may mean: editors ignore case in the names of notes."""
    name = linked_entity(link)
    words = name.removeprefix(f"{NOTE}--")
    return (name,) if words == name else tuple(dict.fromkeys((name, f"{NOTE}--{slug(link)}")))


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
    memories += _left_over(path, core.source, memories, headings_count=False)
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
            moment=moment_of(entry.date, entry.time, zone),
            text_line=_first_line(entry.span, entry.body),
        )
        for entry in log.entries
    ]
    keys = {
        record.id: _sort_key(entry.date, entry.time, record)
        for entry, record in zip(log.entries, memories, strict=True)
        if record.moment is not None
    }
    memories = _with_left_over(path, log.source, log.date, memories, keys, zone)
    rows = _rows(memories, sort_keys=keys, problems=log.problems)
    about = tuple(
        (entry.id, f"entity:{name.strip()}")
        for entry in log.entries
        for key, value in entry.extra
        if key == "entities"
        for name in value.strip("[] ").split(",")
        if "--" in name
    )
    learned_from = tuple((entry.id, origin) for entry in log.entries for origin in entry.origins)
    return replace(rows, links=tuple(dict.fromkeys((*about, *rows.links, *learned_from))))


def _daily_log(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    log = DailyLog.parse(content, path)
    memories = []
    keys = {}
    latest = "00:00"
    for entry in log.entries:
        latest = max(latest, entry.time or latest)
        record = MemoryRecord(
            id=_file_id(path, entry.span),
            store="file",
            path=path,
            start_line=entry.span.start,
            end_line=entry.span.end,
            title=title_of(entry.title),
            text=_bounded(entry.text),
            type="log",
            tags=(log.slug,) if log.slug else (),
            moment=moment_of(log.date, entry.time or "00:00", zone),
        )
        memories.append(record)
        if record.moment is not None:
            keys[record.id] = _sort_key(log.date, latest, record)
    memories = _with_left_over(path, log.source, log.date, memories, keys, zone)
    return _rows(memories, sort_keys=keys, problems=log.problems)


def _with_left_over(
    path: str,
    source: SourceText,
    day: str,
    entries: list[MemoryRecord],
    keys: dict[str, str],
    zone: ZoneInfo,
) -> list[MemoryRecord]:
    """Return a log's entries and what stands outside them, in the order of lines; adds the sort keys of the latter."""
    moment = moment_of(day, "00:00", zone)
    tags = entries[0].tags if entries and entries[0].type == "log" else ()
    rest = [
        replace(record, type="log", tags=tags, moment=moment) for record in _left_over(path, source, entries)
    ]
    if not rest:
        return entries
    found = sorted([*entries, *rest], key=lambda record: record.start_line)
    latest = "00:00"
    for record in found:
        if record.id in keys:
            latest = max(latest, keys[record.id][len("2026-02-02T") :].partition("|")[0])
        elif moment is not None and record in rest:
            keys[record.id] = _sort_key(day, latest, record)
    return found


def _left_over(
    path: str, source: SourceText, memories: list[MemoryRecord], *, headings_count: bool = True
) -> list[MemoryRecord]:
    """Return the text of a file that belongs to none of its memories, cut at headings.

    What a person writes has to be found wherever in the file it stands. Comments are for programs, and a title that
    only says which log this is says nothing.

    Args:
        headings_count: Whether a heading with nothing below it is text, too.
    """
    free = set(range(1, len(source.lines) + 1))
    for record in memories:
        free.difference_update(range(record.start_line, record.end_line + 1))
    if not any(_says_something(source.line(number), headings_count) for number in free):
        return []
    starts = {heading.span.start for heading in read_headings(source)}
    spans: list[LineSpan] = []
    for number in sorted(free):
        if spans and spans[-1].end == number - 1 and number not in starts:
            spans[-1] = LineSpan(spans[-1].start, number)
        else:
            spans.append(LineSpan(number, number))
    return [
        MemoryRecord(
            id=_file_id(path, piece),
            store="file",
            path=path,
            start_line=piece.start,
            end_line=piece.end,
            title=title_of(text),
            text=_bounded(text),
        )
        for span in spans
        for piece in _pieces(source, source.trimmed(span))
        if _says_something(strip_comments(text := source.text_of(piece)), headings_count)
    ]


def _says_something(text: str, headings_count: bool) -> bool:
    return any(
        headings_count and any(word.casefold() not in _WORDS_OF_LOGS for word in _LETTERS.findall(line))
        if line.startswith("#")
        else any(map(str.isalnum, line))
        for line in text.split("\n")
    )


def _entity(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    document = EntityFile.parse(content, path)
    entity_id = f"entity:{document.id}"
    text = _without_retired(document)
    keep = _merged_into(document)
    record = MemoryRecord(
        id=entity_id,
        store="semantic",
        path=path,
        start_line=1,
        end_line=max(1, len(document.source.lines)),
        title=document.label[:_MOST_NAME],
        text=_bounded(text),
        type=document.type,
        moment=moment_of(document.created or "", "00:00", zone),
        pinned=document.pinned,
        used=header_accesses(document.header, zone),
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
    entity = EntityRecord(
        entity_id,
        document.type,
        document.label[:_MOST_NAME],
        path,
        tuple(alias[:_MOST_NAME] for alias in document.aliases),
        title_of(document.summary),
    )
    return FileRows(
        # The content of a merged entity lives on in the other one: it is found only by its id and names. Its links
        # count, because its text is kept in the file.
        memories=() if keep else (record,),
        entities=(entity,),
        merged_into={entity_id: f"entity:{keep}"} if keep else {},
        stories={entity_id: _story(document)},
        facts=tuple(facts),
        edges=tuple(edges),
        links=tuple(dict.fromkeys(links)),
        problems=document.problems,
    )


def _story(document: EntityFile) -> EntityStory:
    known = [fact.provenance for fact in (*document.facts, *document.retired)]
    known += [relation.provenance for relation in document.relations]
    named = [document.created, *(dated.date for dated in document.timeline)]
    named += [day for each in known for day in (each.since, each.until)]
    days = {day[:_DAY] for day in named if day and _ISO_DAY.match(day)}
    return EntityStory(
        tuple(
            (
                dated.date or "",
                dated.text,
                parse_statement(document.source.text_of(dated.span)).provenance.sources,
            )
            for dated in document.timeline
        ),
        tuple(question.text for question in document.questions),
        tuple(sorted(days, reverse=True)[:_MOST_DAYS]),
    )


def _merged_into(document: EntityFile) -> str | None:
    """Return the id (`type--slug`) of the entity that this one was merged into, or None."""
    value = next((value.strip() for key, value in document.header if key == "merged into"), "")
    link = _LINK.match(value)
    name = (link.group(1) if link else value).strip()
    return linked_entity(name) if name else None


def _without_retired(document: EntityFile) -> str:
    """Return the file's text with retired facts blanked, so that line numbers stay."""
    blank = {line for fact in document.retired for line in range(fact.span.start, fact.span.end + 1)}
    return "\n".join(
        "" if number in blank else line for number, line in enumerate(document.source.lines, start=1)
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
        superseded_by=f"{entity_id}#^{known.successor_block}" if known.successor_block else None,
        provenance=known.sources,
        retired=fact.retired,
    )


def _procedure(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    document = Procedure.parse(content, path)
    learned = next((value for key, value in document.header if key == "learned"), "")
    record = _whole_file(document.id, "procedural", path, document.source, document.title)
    record = replace(
        record, moment=moment_of(learned, "00:00", zone), used=header_accesses(document.header, zone)
    )
    return _rows([record])


def _vault(path: str, content: bytes, zone: ZoneInfo) -> FileRows:
    del zone
    note = VaultNote.parse(content, path)
    record = _whole_file(note.id, "vault", path, note.source, note.title)
    return _rows([record])


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
        for piece in _pieces(source, source.trimmed(span)):
            text = source.text_of(piece)
            memories.append(
                MemoryRecord(
                    id=_file_id(path, piece),
                    store="file",
                    path=path,
                    start_line=piece.start,
                    end_line=piece.end,
                    title=title_of(title) or title_of(text),
                    text=_bounded(text),
                )
            )
    return _rows(memories)


def _pieces(source: SourceText, span: LineSpan) -> Iterator[LineSpan]:
    """Split long text between lines, never within one."""
    start, size = span.start, 0
    for number in range(span.start, span.end + 1):
        size += len(source.line(number)) + 1
        if size > _PIECE_CHARACTERS or number == span.end:
            piece = source.trimmed(LineSpan(start, number))
            if piece:
                yield piece
            start, size = number + 1, 0


def _whole_file(memory_id: str, store: str, path: str, source: SourceText, title: str) -> MemoryRecord:
    return MemoryRecord(
        id=memory_id,
        store=store,
        path=path,
        start_line=1,
        end_line=max(1, len(source.lines)),
        title=title,
        text=_bounded(source.text_of(source.span)),
        type=store,
    )


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


def moment_of(day: str, time: str, zone: ZoneInfo) -> datetime | None:
    """Return the moment of an ISO day and a time in a zone; None if they are invalid."""
    try:
        return datetime.fromisoformat(f"{day}T{time}").replace(tzinfo=zone)
    except ValueError:
        return None


def _first_line(span: LineSpan, body: str) -> int:
    """Return the first line of an entry's body, which ends with the entry."""
    return max(span.start, span.end - body.count("\n"))


def _sort_key(day: str, time: str, record: MemoryRecord) -> str:
    return f"{day}T{time}|{record.start_line:08d}|{record.path}"


def _bounded(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS]


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file.

    Args:
        content: Its bytes; of a larger file the whole lines within the first 4 MiB.
        cut: Whether there is more.
        unreadable: Why it cannot be read, or None.
        masked: Whether secrets in it were masked.
    """

    stamp: Stamp
    content: bytes
    cut: bool = False
    unreadable: str | None = None
    masked: bool = False

    @property
    def digest(self) -> bytes:
        """Return a digest that shows whether a touched file has changed; empty if it is unreadable."""
        if self.unreadable is not None:
            return b""
        return hashlib.blake2b(self.content, digest_size=16, salt=b"cut" if self.cut else b"").digest()

    @property
    def blob(self) -> bytes | None:
        """Return git's blob hash of the content (20 bytes); None if it was not read completely."""
        if self.cut or self.masked or self.unreadable is not None:
            return None
        return hashlib.sha1(b"blob %d\0" % len(self.content) + self.content, usedforsecurity=False).digest()


def read_file(root: Path, path: str) -> FileContent | None:
    """Read a tracked file; None if it is missing, a link or not a regular file."""
    if "\0" in path:
        return None
    try:
        if _behind_a_link(root, path):
            return None
        handle = os.open(f"{root}/{path}", _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return _unreadable(root, path, error)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return None
        content = _read(handle, min(status.st_size, MOST_BYTES) + 1)
    except OSError as error:
        return _unreadable(root, path, error)
    finally:
        os.close(handle)
    if len(content) <= MOST_BYTES:
        return FileContent(Stamp.of(status), content)
    end = content.rfind(b"\n", 0, MOST_BYTES) + 1
    return FileContent(Stamp.of(status), content[: end or MOST_BYTES], cut=True)


def _behind_a_link(root: Path, path: str) -> bool:
    place = str(root)
    for part in path.split("/")[:-1]:
        place = f"{place}/{part}"
        if stat.S_ISLNK(os.lstat(place).st_mode):
            return True
    return False


def _read(handle: int, most: int) -> bytes:
    content = os.read(handle, most)
    while len(content) < most and (more := os.read(handle, most - len(content))):
        content += more
    return content


def _unreadable(root: Path, path: str, error: OSError) -> FileContent | None:
    try:
        status = os.lstat(root / path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return FileContent(Stamp.of(status), b"", unreadable=error.strerror or str(error))
