"""What of a memory file a door of one scope may see: the file written anew with that alone in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from workbench.engine import layout
from workbench.engine.documents.entity import EntityFile
from workbench.engine.documents.episodes import SCOPE_FIELD, EpisodeLog, NewEntry, entry_lines
from workbench.engine.documents.procedure import Procedure
from workbench.engine.documents.source import SourceText
from workbench.engine.documents.statement import Provenance
from workbench.engine.documents.vault import VaultNote
from workbench.engine.scopes import SHARED, sees
from workbench.engine.stores.wording import CONFIDENCES, EPISODE_TYPES

_SOURCES: Final = ("conversation", "user-explicit", "reflection")


@dataclass(frozen=True)
class Seen:
    """How a door of one scope sees.

    Args:
        scope: `person:SLUG` or `group:SLUG`.
        is_hidden: Tells by its id whether a memory was forgotten.
    """

    scope: str
    is_hidden: Callable[[str], bool]

    def may_see(self, scope: str | None, *ids: str) -> bool:
        """Tell whether a memory is for this scope and not forgotten, nor what it stands in."""
        return sees(self.scope, scope) and not any(map(self.is_hidden, ids))


def may_hold(content: bytes, scope: str) -> bool:
    """Tell whether anything in a file can be for a scope, without taking the file apart."""
    return scope.encode() in content or SHARED.encode() in content


def seen_in(path: str, content: bytes, seen: Seen) -> bytes | None:
    """Return the file as a scope sees it; None where nothing in it is for that scope.

    Nothing is carried over but what is named here: provenance, links between files, comments, aliases, summaries,
    questions, dates and retired facts say things about other memories, and stay behind.

    Args:
        path: Workspace-relative.
        content: The whole file.
        seen: By whom.
    """
    if not path.endswith(".md") or not may_hold(content, seen.scope):
        return None
    if path.startswith(layout.EPISODES + "/"):
        return _episodes(path, content, seen)
    if path.startswith(layout.ENTITIES + "/"):
        return _entity(path, content, seen)
    if path.startswith(layout.PROCEDURES + "/"):
        return _procedure(path, content, seen)
    if path.startswith(layout.VAULT + "/"):
        return _note(path, content, seen)
    return None


def _episodes(path: str, content: bytes, seen: Seen) -> bytes | None:
    log = EpisodeLog.parse(content, path)
    lines: list[str] = []
    for entry in log.entries:
        if not seen.may_see(entry.scope, entry.id):
            continue
        told = NewEntry(
            entry.time,
            entry.body,
            entry.type if entry.type in EPISODE_TYPES else "event",
            entry.confidence if entry.confidence in CONFIDENCES else "medium",
            entry.tags,
            entry.source if entry.source in _SOURCES else "conversation",
            ((SCOPE_FIELD, entry.scope or ""),),
        )
        lines += ["", *entry_lines(told, entry.number)]
    return SourceText().append([f"# {log.date} — Episode Log", *lines]).render() if lines else None


def _entity(path: str, content: bytes, seen: Seen) -> bytes | None:
    file = EntityFile.parse(content, path)
    whole = f"entity:{file.id}"
    if seen.is_hidden(whole):
        return None
    named = sees(seen.scope, file.scope)
    names = (*file.names_for(seen.scope), *file.names_for(SHARED))
    slug = file.id.partition("--")[2].replace("-", " ") or file.id
    label = file.label if named else next(iter(names), slug)
    told = EntityFile.create(path, label=label, created="")
    bare = told
    for fact in file.facts:
        known = fact.provenance
        if seen.may_see(known.scope, f"{whole}#^{fact.block_id}"):
            told = told.add_fact(fact.text, _told(known), block_id=fact.block_id)
    for relation in file.relations:
        known = relation.provenance
        if seen.may_see(known.scope, f"{whole}#^{relation.block_id}"):
            for target in relation.targets:
                block_id = relation.block_id if len(relation.targets) == 1 else None
                told = told.add_relation(relation.name, target, _told(known), block_id=block_id)
    return told.render() if told is not bare or named else None


def _told(known: Provenance) -> Provenance:
    """Return what may be told of where a fact comes from: its days, not the memories behind it."""
    return Provenance(since=known.since, until=known.until, confidence=known.confidence, scope=known.scope)


def _procedure(path: str, content: bytes, seen: Seen) -> bytes | None:
    file = Procedure.parse(content, path)
    if not seen.may_see(file.scope, file.id):
        return None
    told = Procedure.create(
        path,
        title=file.title,
        learned=dict(file.header).get("learned", ""),
        trigger=file.trigger,
        steps=file.steps,
        notes=file.notes,
        scope=file.scope,
    )
    return told.render()


def _note(path: str, content: bytes, seen: Seen) -> bytes | None:
    note = VaultNote.parse(content, path)
    if not seen.may_see(note.scope, note.id):
        return None
    return VaultNote.create(path, title=note.title, body=note.body, scope=note.scope).render()
