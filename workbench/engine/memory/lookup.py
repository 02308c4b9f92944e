"""Looks up one memory by id in the files: its location, text and audience."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Final

from workbench.engine import layout
from workbench.engine.errors import NotFound, OutsideWorkspace, Stale
from workbench.engine.history.plan import FileView
from workbench.engine.identifiers import EPISODE_ID, FILE_ID, NOTE, MemoryId, linked_entity, parse_memory_id
from workbench.engine.markdown.core import CoreMemory
from workbench.engine.markdown.entity import Dated, EntityFile, Fact, Question, Relation
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.markdown.pages import Procedure, VaultNote
from workbench.engine.markdown.source import LineSpan, SourceText
from workbench.engine.markdown.statements import Provenance, WrittenAccesses, header_accesses
from workbench.engine.memory.core import core_path
from workbench.engine.memory.decay import MemoryFacts
from workbench.engine.memory.draft import MemoryLookup
from workbench.engine.memory.entities import entity_path
from workbench.engine.memory.stores import procedure_path, vault_path
from workbench.engine.memory.wording import clip, one_line
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.memories import Links, Score, Shown, Validity
from workbench.engine.values import dataclass

FOLDERS: Final = (layout.EPISODES, layout.ENTITIES, layout.PROCEDURES, layout.VAULT)
"""Folders and files whose memories may have an audience beside the owner."""
# How a scope begins, with the text before it; a file without that belongs to the owner and need not be parsed.
_SOMEBODY: Final = (b"shared", b"person:", b"group:")
_MARK: Final = lazy_pattern(rb"[Ff][Oo][Rr]\W*(?:shared\b|person:|group:)")

SOURCE_WORD = "source:"
"""Precedes a source that is not a memory, among the sources of a fact."""

_WIKILINK = lazy_pattern(r"\[\[([^\[\]|#\n]+)(?:#\^([A-Za-z0-9-]+)|#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_REFERENCE = lazy_pattern(
    r"\bepisode:\d{4}-\d{2}-\d{2}:\d{2}:\d{2}(?:#\d+)?"
    r"|\bentity:[\w-]+--[\w-]+(?:#\^[A-Za-z0-9-]+)?"
    r"|\bprocedure:[\w-]+|\bcore:[\w-]+:[\w-]+"
)
# Any link may lead to a note among the entities, and most lead elsewhere.
_NOTES = f"entity:{NOTE}--"


def may_be_scoped(path: str) -> bool:
    """Return True if memories at a path may have an audience beside the owner."""
    return path.startswith(tuple(f"{folder}/" for folder in FOLDERS))


def scopes_in(path: str, content: bytes) -> dict[str, str]:
    """Return the audience of the memories in a file, by id, without those that are the owner's alone.

    An entity's scope is that of its name, a fact's or relation's that of its line.
    """
    if not any(word in content for word in _SOMEBODY) or not _MARK.search(content):
        return {}
    found: dict[str, str | None] = {}
    if path.startswith(layout.EPISODES + "/"):
        found = {entry.id: entry.scope for entry in EpisodeLog.parse(content, path).entries}
    elif path.startswith(layout.ENTITIES + "/"):
        file = EntityFile.parse(content, path)
        whole = f"entity:{file.id}"
        found = {whole: file.scope}
        facts = (*file.facts, *file.retired)
        found |= {f"{whole}#^{fact.block_id}": fact.provenance.scope for fact in facts}
        found |= {f"{whole}#^{each.block_id}": each.provenance.scope for each in file.relations}
    elif path.startswith(layout.PROCEDURES + "/"):
        procedure = Procedure.parse(content, path)
        found = {procedure.id: procedure.scope}
    elif path.startswith(layout.VAULT + "/"):
        note = VaultNote.parse(content, path)
        found = {note.id: note.scope}
    return {memory_id: scope for memory_id, scope in found.items() if scope is not None}


@dataclass(frozen=True)
class LocatedMemory:
    """A memory in its file.

    Args:
        text: Its own text: of an item, entry or fact; the whole text of an entity, procedure or note.
        type: An episode's or entity's type, a core item's block, or empty.
        source: `conversation`, `user-explicit` or another word; empty if unknown.
        created: When it was made, aware; None if the file does not say.
        pinned: Whether the text itself marks it as pinned.
        provenance: Source and validity of a fact or relation.
        retired: Whether it is a fact that is no longer current.
        used: The accesses that a file's header tells of, or None.
    """

    id: MemoryId
    path: str
    span: LineSpan
    text: str
    title: str
    type: str = ""
    source: str = ""
    created: datetime | None = None
    pinned: bool = False
    provenance: Provenance = field(default_factory=Provenance)
    retired: bool = False
    used: WrittenAccesses | None = None

    @property
    def id_text(self) -> str:
        """Return the id as text."""
        return str(self.id)

    def facts(self, first_seen: datetime | None = None) -> MemoryFacts:
        """Return what its text says that affects its score.

        Args:
            first_seen: When it entered the history, for a memory whose file does not say when it was made.
        """
        return MemoryFacts(
            self.id_text,
            self.id.store,
            self.source,
            self.created,
            first_seen,
            pinned=self.pinned,
            title=self.title,
            used=self.used,
        )


def locate_memory(view: FileView, memory_id: str, zone: tzinfo) -> LocatedMemory:
    """Return a memory from its file.

    Raises:
        InvalidInput: It is not an id.
        NotFound: No memory has it.
        OutsideWorkspace: It leads out of the memory files.
    """
    wanted = parse_memory_id(memory_id)
    match wanted.kind:
        case "core":
            return _core_item(view, wanted)
        case "episode":
            return _episode(view, wanted, zone)
        case "entity":
            return _entity(view, wanted, zone)
        case "procedure":
            return _procedure(view, wanted, zone)
        case "vault":
            return _note(view, wanted)
        case _:
            return _lines(view, wanted)


def _whole_file(source: SourceText) -> LineSpan:
    """Return all lines of a file; line 1 of an empty one."""
    return LineSpan(1, max(1, len(source.lines)))


def _core_item(view: FileView, wanted: MemoryId) -> LocatedMemory:
    path = core_path(view)
    core = CoreMemory.parse(view.read(path) or b"", path)
    for block in core.blocks:
        for item in block.items:
            if item.id == str(wanted):
                return LocatedMemory(
                    wanted, path, item.span, item.text, clip(item.text), block.name, pinned=item.pinned
                )
    raise _missing(wanted, path)


def _episode(view: FileView, wanted: MemoryId, zone: tzinfo) -> LocatedMemory:
    match = EPISODE_ID.match(str(wanted))
    path = f"{layout.EPISODES}/{match.group(1) if match else ''}.md"
    entry = _log(_content(view, path, wanted), path).entry(str(wanted))
    if entry is None:
        raise _missing(wanted, path)
    return LocatedMemory(
        wanted,
        path,
        entry.span,
        entry.body,
        clip(entry.body),
        entry.type,
        entry.source,
        _moment(f"{entry.date}T{entry.time}", zone),
        provenance=Provenance(sources=entry.origins),
    )


# Many memories of one day are often looked up together.
@lru_cache(maxsize=8)
def _log(content: bytes, path: str) -> EpisodeLog:
    return EpisodeLog.parse(content, path)


def _entity(view: FileView, wanted: MemoryId, zone: tzinfo) -> LocatedMemory:
    path = entity_path(wanted.name, view)
    file = EntityFile.parse(_content(view, path, wanted), path)
    if wanted.block is None:
        made = _moment(file.created or "", zone)
        span, text = _whole_file(file.source), file.source.text
        used = header_accesses(file.header, zone)
        return LocatedMemory(
            wanted, path, span, text, file.label, file.type, created=made, pinned=file.pinned, used=used
        )
    stated: tuple[Fact | Relation, ...] = (*file.facts, *file.retired, *file.relations)
    for each in stated:
        if each.block_id == wanted.block:
            known, is_fact = each.provenance, isinstance(each, Fact)
            return LocatedMemory(
                wanted,
                path,
                each.span,
                each.text,
                clip(each.text) if is_fact else each.text,
                "fact" if is_fact else "relation",
                _source_word(known),
                _moment(known.since or file.created or "", zone),
                provenance=known,
                retired=isinstance(each, Fact) and each.retired,
            )
    others: tuple[Dated | Question, ...] = (*file.timeline, *file.questions)
    for item in others:
        if item.block_id == wanted.block:
            return LocatedMemory(wanted, path, item.span, item.text, clip(item.text))
    raise _missing(wanted, path)


def _procedure(view: FileView, wanted: MemoryId, zone: tzinfo) -> LocatedMemory:
    path = procedure_path(str(wanted))
    procedure = Procedure.parse(_content(view, path, wanted), path)
    learned = _moment(dict(procedure.header).get("learned", ""), zone)
    span, text = _whole_file(procedure.source), procedure.source.text
    used = header_accesses(procedure.header, zone)
    return LocatedMemory(wanted, path, span, text, procedure.title, created=learned, used=used)


def _note(view: FileView, wanted: MemoryId) -> LocatedMemory:
    path = vault_path(str(wanted))
    note = VaultNote.parse(_content(view, path, wanted), path)
    return LocatedMemory(wanted, path, _whole_file(note.source), note.source.text, note.title, pinned=True)


def _lines(view: FileView, wanted: MemoryId) -> LocatedMemory:
    match = FILE_ID.match(str(wanted))
    path = layout.normalise(match.group("path") if match else wanted.name)
    if not layout.is_memory_file(path):
        raise OutsideWorkspace(
            "This is not a memory file.",
            where=path,
            remedy=f"It is a line of a conversation; read it with: workbench sessions show {wanted}"
            if path.startswith("sessions/")
            else "Only the Markdown and JSON files of the layout are memory.",
        )
    source = SourceText.from_bytes(_content(view, path, wanted))
    start = int(match.group("start") or 1) if match else 1
    last = match.group("end") or match.group("start") if match else None
    end = int(last) if last else max(1, len(source.lines))
    if not 1 <= start <= end <= max(1, len(source.lines)):
        raise _missing(wanted, path)
    span = LineSpan(start, end)
    text = source.text_of(span) if match and match.group("start") else source.text
    return LocatedMemory(wanted, path, span, text, clip(text))


def _content(view: FileView, path: str, wanted: MemoryId) -> bytes:
    content = view.read(path)
    if content is None:
        raise _missing(wanted, path)
    return content


def _missing(wanted: MemoryId, path: str) -> NotFound:
    return NotFound(
        f"There is no memory {clip(str(wanted), 120)}.",
        where=path,
        remedy="Look for it with `workbench search`.",
    )


def _source_word(known: Provenance) -> str:
    words = [s.removeprefix(SOURCE_WORD) for s in known.sources if s.startswith(SOURCE_WORD)]
    return words[0] if words else ""


def _moment(text: str, zone: tzinfo) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=zone)
    except ValueError:
        return None


def check_expected(memory: LocatedMemory, expected: str | None) -> None:
    """Check that a memory is as it was when an edit started, ignoring line ends.

    Raises:
        Stale: It has changed.
    """
    if expected is not None and not _same_lines(expected, memory.text):
        raise Stale(
            f"{memory.id} has changed since this edit began.",
            where=f"{memory.path}:{memory.span.start}",
            remedy="Look at it again, then edit.",
        )


def _same_lines(one: str, other: str) -> bool:
    return SourceText.from_text(one).lines == SourceText.from_text(other).lines


def show_memory(
    view: FileView,
    memory_id: str,
    lookup: MemoryLookup,
    zone: tzinfo,
    today: str,
    *,
    score: Score | None = None,
) -> Shown:
    """Return one memory with everything the files say about it; its history is not read.

    Args:
        today: ISO date that decides whether it still holds.

    Raises:
        InvalidInput: It is not an id.
        NotFound: No memory has it.
    """
    memory = locate_memory(view, memory_id, zone)
    known = memory.provenance
    superseded = f"{memory.id.whole}#^{known.successor_block}" if known.successor_block else None
    own = str(memory.id)
    named = (link for link in links_in(memory.text) if not link.startswith(_NOTES) or lookup.entity(link))
    to = [link for link in (*named, *_memories(known.sources)) if link != own]
    return Shown(
        id=own,
        store=memory.id.store,
        path=layout.shown(memory.path),
        start_line=memory.span.start,
        end_line=memory.span.end,
        text=memory.text,
        score=score,
        provenance=_provenance_of(view, memory),
        validity=Validity(known.since, known.until, superseded),
        links=Links(tuple(dict.fromkeys(to)), tuple(m for m in lookup.mentions(own) if m != own)),
        history=(),
        title=one_line(memory.title),
        scope=scope_of(view, memory),
        retired=memory.retired or known.has_ended(today),
    )


def scope_of(view: FileView, memory: LocatedMemory) -> str | None:
    """Return a memory's audience; None for the owner alone. An entity's is that of its name."""
    if memory.id.block is not None:
        return memory.provenance.scope
    return scopes_in(memory.path, view.read(memory.path) or b"").get(str(memory.id))


def _provenance_of(view: FileView, memory: LocatedMemory) -> tuple[str, ...]:
    """Return a memory's sources: ids of memories, or a word such as `user-explicit`.

    A whole entity or procedure has the sources of all its parts.
    """
    content = view.read(memory.path) or b""
    found: Iterable[str] = memory.provenance.sources
    if memory.id.kind == "entity" and memory.id.block is None:
        file = EntityFile.parse(content, memory.path)
        known = [each.provenance for each in (*file.facts, *file.retired)]
        known.extend(relation.provenance for relation in file.relations)
        found = [source for provenance in known for source in provenance.sources]
    elif memory.id.kind == "procedure":
        found = Procedure.parse(content, memory.path).learned_from
    elif memory.source:
        found = (*found, memory.source)
    return tuple(dict.fromkeys(source.removeprefix(SOURCE_WORD) for source in found))


def links_in(text: str) -> tuple[str, ...]:
    """Return the distinct ids in a text, from wikilinks or plain; a link may lead to no entity."""
    found = []
    for match in _WIKILINK.finditer(text):
        name, block = linked_entity(match.group(1)), match.group(2)
        found.append(f"entity:{name}" + (f"#^{block}" if block else ""))
    found.extend(match.group() for match in _REFERENCE.finditer(text))
    return tuple(dict.fromkeys(found))


def _memories(sources: Iterable[str]) -> list[str]:
    return [source for source in sources if not source.startswith(SOURCE_WORD)]
