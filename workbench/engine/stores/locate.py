"""Where a memory stands right now: an id looked up in the files themselves, which are the truth."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import lru_cache

from workbench.engine import layout
from workbench.engine.documents.core import CoreMemory
from workbench.engine.documents.entity import Dated, EntityFile, Question
from workbench.engine.documents.episodes import EpisodeLog
from workbench.engine.documents.procedure import Procedure
from workbench.engine.documents.source import LineSpan, SourceText
from workbench.engine.documents.statement import Provenance
from workbench.engine.documents.vault import VaultNote
from workbench.engine.errors import NotFound, OutsideWorkspace, Stale
from workbench.engine.history.plan import FileView
from workbench.engine.identifiers import EPISODE_ID, FILE_ID, MemoryId, parse_memory_id
from workbench.engine.stores.core import core_path
from workbench.engine.stores.entities import entity_path
from workbench.engine.stores.procedural import procedure_path
from workbench.engine.stores.vault import vault_path
from workbench.engine.stores.wording import clip

SOURCE_WORD = "source:"
"""What stands before a source that is no memory, among the sources of a fact."""


@dataclass(frozen=True)
class Placed:
    """A memory as it stands in its file.

    Args:
        id: Its id.
        path: Its file.
        span: Its lines.
        text: Its own text: what an item, entry or fact says; the whole text of an entity, procedure or note.
        title: A line that names it.
        type: An episode's or entity's type, a core item's block, or empty.
        source: `conversation`, `user-explicit` or another word; empty where nothing is said.
        created: When it was made, aware; None where the file does not say.
        pinned: Whether the text itself marks it as pinned.
        provenance: Where a fact or relation comes from and when it held.
        retired: Whether it is a fact that no longer holds.
    """

    id: MemoryId
    path: str
    span: LineSpan
    text: str
    title: str = ""
    type: str = ""
    source: str = ""
    created: datetime | None = None
    pinned: bool = False
    provenance: Provenance = field(default_factory=Provenance)
    retired: bool = False

    @property
    def id_text(self) -> str:
        """Return the id as it is written."""
        return str(self.id)


def locate_memory(view: FileView, memory_id: str, zone: tzinfo) -> Placed:
    """Return a memory as it stands.

    Args:
        view: The files.
        memory_id: Any id.
        zone: The workspace's, which dates and times of the files are in.

    Raises:
        InvalidInput: It is no id.
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


def whole_file(source: SourceText) -> LineSpan:
    """Return all lines of a file; line 1 of an empty one."""
    return LineSpan(1, max(1, len(source.lines)))


def _core_item(view: FileView, wanted: MemoryId) -> Placed:
    path = core_path(view)
    core = CoreMemory.parse(view.read(path) or b"", path)
    for block in core.blocks:
        for item in block.items:
            if item.id == str(wanted):
                return Placed(
                    wanted, path, item.span, item.text, clip(item.text), block.name, pinned=item.pinned
                )
    raise _missing(wanted, path)


def _episode(view: FileView, wanted: MemoryId, zone: tzinfo) -> Placed:
    match = EPISODE_ID.match(str(wanted))
    path = f"{layout.EPISODES}/{match.group(1) if match else ''}.md"
    entry = _log(_content(view, path, wanted), path).entry(str(wanted))
    if entry is None:
        raise _missing(wanted, path)
    return Placed(
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


# Many memories of one day are often looked for together.
@lru_cache(maxsize=8)
def _log(content: bytes, path: str) -> EpisodeLog:
    return EpisodeLog.parse(content, path)


def _entity(view: FileView, wanted: MemoryId, zone: tzinfo) -> Placed:
    path = entity_path(wanted.name, view)
    file = EntityFile.parse(_content(view, path, wanted), path)
    if wanted.block is None:
        made = _moment(file.created or "", zone)
        span, text = whole_file(file.source), file.source.text
        return Placed(wanted, path, span, text, file.label, file.type, created=made, pinned=file.pinned)
    for fact in (*file.facts, *file.retired):
        if fact.block_id == wanted.block:
            known = fact.provenance
            return Placed(
                wanted,
                path,
                fact.span,
                fact.text,
                clip(fact.text),
                "fact",
                _source_word(known),
                _moment(known.since or file.created or "", zone),
                provenance=known,
                retired=fact.retired,
            )
    for relation in file.relations:
        if relation.block_id == wanted.block:
            known = relation.provenance
            text = f"{relation.name}: {', '.join(f'[[{target}]]' for target in relation.targets)}"
            made = _moment(known.since or file.created or "", zone)
            return Placed(
                wanted,
                path,
                relation.span,
                text,
                text,
                "relation",
                _source_word(known),
                made,
                provenance=known,
            )
    others: tuple[Dated | Question, ...] = (*file.timeline, *file.questions)
    for item in others:
        if item.block_id == wanted.block:
            return Placed(wanted, path, item.span, item.text, clip(item.text))
    raise _missing(wanted, path)


def _procedure(view: FileView, wanted: MemoryId, zone: tzinfo) -> Placed:
    path = procedure_path(str(wanted))
    procedure = Procedure.parse(_content(view, path, wanted), path)
    learned = _moment(dict(procedure.header).get("learned", ""), zone)
    source = procedure.source
    return Placed(wanted, path, whole_file(source), source.text, procedure.title, created=learned)


def _note(view: FileView, wanted: MemoryId) -> Placed:
    path = vault_path(str(wanted))
    note = VaultNote.parse(_content(view, path, wanted), path)
    return Placed(wanted, path, whole_file(note.source), note.source.text, note.title, pinned=True)


def _lines(view: FileView, wanted: MemoryId) -> Placed:
    match = FILE_ID.match(str(wanted))
    path = layout.normalise(match.group("path") if match else wanted.name)
    if not layout.is_memory_file(path):
        raise OutsideWorkspace(
            "This is no memory file.",
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
    return Placed(wanted, path, span, text, clip(text))


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


def check_expected(placed: Placed, expected: str | None) -> None:
    """Make sure that a memory still says what an edit started from; line ends do not count.

    Raises:
        Stale: It says something else by now.
    """
    if expected is not None and not _same_lines(expected, placed.text):
        raise Stale(
            f"{placed.id} has changed since this edit began.",
            where=f"{placed.path}:{placed.span.start}",
            remedy="Look at it again, then edit.",
        )


def _same_lines(one: str, other: str) -> bool:
    return SourceText.from_text(one).lines == SourceText.from_text(other).lines
