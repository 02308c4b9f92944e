"""One memory laid open: its text, where it comes from, when it held, and what it is linked with."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import tzinfo

from workbench.engine import layout
from workbench.engine.documents.entity import EntityFile
from workbench.engine.documents.procedure import Procedure
from workbench.engine.history.plan import FileView
from workbench.engine.identifiers import NOTE, linked_entity
from workbench.engine.results.memories import HistoryEntry, Links, Score, Shown, Validity
from workbench.engine.stores.locate import SOURCE_WORD, Placed, locate_memory
from workbench.engine.stores.lookups import MemoryLookup
from workbench.engine.stores.scoping import scopes_in
from workbench.engine.stores.wording import one_line

_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:#\^([A-Za-z0-9-]+)|#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_REFERENCE = re.compile(
    r"\bepisode:\d{4}-\d{2}-\d{2}:\d{2}:\d{2}(?:#\d+)?"
    r"|\bentity:[\w-]+--[\w-]+(?:#\^[A-Za-z0-9-]+)?"
    r"|\bprocedure:[\w-]+|\bcore:[\w-]+:[\w-]+"
)

# Any link may lead to a note among the entities, and most lead elsewhere.
_NOTES = f"entity:{NOTE}--"


def show_memory(
    view: FileView,
    memory_id: str,
    lookup: MemoryLookup,
    zone: tzinfo,
    *,
    score: Score | None = None,
    history: tuple[HistoryEntry, ...] = (),
) -> Shown:
    """Return one memory with all that the files say about it.

    Args:
        view: The files.
        memory_id: Any id.
        lookup: Finds the memories that name this one.
        zone: The workspace's.
        score: Its relevance, or None where it has none.
        history: The commits that touched it, newest first.

    Raises:
        InvalidInput: It is no id.
        NotFound: No memory has it.
    """
    placed = locate_memory(view, memory_id, zone)
    known = placed.provenance
    superseded = f"{placed.id.whole}#^{known.superseded_by}" if known.superseded_by else None
    own = str(placed.id)
    named = (link for link in links_in(placed.text) if not link.startswith(_NOTES) or lookup.entity(link))
    to = [link for link in (*named, *_memories(known.sources)) if link != own]
    return Shown(
        id=own,
        store=placed.id.store,
        path=layout.shown(placed.path),
        start_line=placed.span.start,
        end_line=placed.span.end,
        text=placed.text,
        score=score,
        provenance=provenance_of(view, placed),
        validity=Validity(known.since, known.until, superseded),
        links=Links(tuple(dict.fromkeys(to)), tuple(m for m in lookup.mentions(own) if m != own)),
        history=history,
        title=one_line(placed.title),
        scope=scope_of(view, placed),
    )


def scope_of(view: FileView, placed: Placed) -> str | None:
    """Return whom a memory is for; None for the owner alone. An entity's is whom its name is for."""
    if placed.id.block is not None:
        return placed.provenance.scope
    return scopes_in(placed.path, view.read(placed.path) or b"").get(str(placed.id))


def provenance_of(view: FileView, placed: Placed) -> tuple[str, ...]:
    """Return where a memory comes from: ids of memories, or a word such as `user-explicit`.

    A whole entity or procedure comes from everything that anything in it comes from.
    """
    content = view.read(placed.path) or b""
    found: Iterable[str] = placed.provenance.sources
    if placed.id.kind == "entity" and placed.id.block is None:
        file = EntityFile.parse(content, placed.path)
        known = [each.provenance for each in (*file.facts, *file.retired)]
        known.extend(relation.provenance for relation in file.relations)
        found = [source for provenance in known for source in provenance.sources]
    elif placed.id.kind == "procedure":
        found = Procedure.parse(content, placed.path).learned_from
    elif placed.source:
        found = (*found, placed.source)
    return tuple(dict.fromkeys(source.removeprefix(SOURCE_WORD) for source in found))


def links_in(text: str) -> tuple[str, ...]:
    """Return the ids that a text names, by wikilinks or as they are, each once; a link may lead to no entity."""
    found = []
    for match in _WIKILINK.finditer(text):
        name, block = linked_entity(match.group(1)), match.group(2)
        found.append(f"entity:{name}" + (f"#^{block}" if block else ""))
    found.extend(match.group() for match in _REFERENCE.finditer(text))
    return tuple(dict.fromkeys(found))


def _memories(sources: Iterable[str]) -> list[str]:
    return [source for source in sources if not source.startswith(SOURCE_WORD)]
