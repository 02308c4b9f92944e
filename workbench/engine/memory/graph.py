"""The knowledge graph: facts, relations and dates of entities (design document §6), and `graph/index.md`.

The index is a projection of the entity files: changed rows are updated, or the whole is rebuilt. Archived and merged
entities have no row; a relation to a merged entity leads to the one it was merged into.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import PurePosixPath

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, Stale, WorkbenchError
from workbench.engine.history.plan import FileView
from workbench.engine.history.work_files import notes_among, stem_of
from workbench.engine.identifiers import FILE_ID, entity_name, link_to, linked_entity, parse_memory_id
from workbench.engine.markdown.entity import EntityFile, Fact, Relation
from workbench.engine.markdown.graph import (
    IndexedEdge,
    IndexedEntity,
    RelationVocabulary,
    canonical_relation,
    render_graph_index,
    update_graph_index,
)
from workbench.engine.markdown.statements import Provenance, Statement, render_statement
from workbench.engine.memory.core import settle_contradictions
from workbench.engine.memory.draft import EntityLookup, RelevanceLookup, Stored
from workbench.engine.memory.entities import EntityFiles, entity_path, merged_into
from workbench.engine.memory.wording import NAME_CHARACTERS, clean_line, clip, one_line, text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.settings.sections import Settings
from workbench.engine.values import dataclass

GENERAL_RELATION = "relates-to"

_LINK = r"\[\[([^\[\]|#]+)\]\]"
_RELATION = lazy_pattern(rf"([^:：\[\]]{{1,80}}?)\s*[:：]\s*({_LINK}(?:\s*[,，、]\s*{_LINK})*)")

_MOST_MERGES = 16


@dataclass(frozen=True)
class Origin:
    """The source of a fact or relation.

    Args:
        sources: Ids of memories; without any, `source:` and a word, such as `source:user-explicit`.
        confidence: high, medium or low.
        since: ISO date from which it holds; None for today.
    """

    sources: tuple[str, ...] = ()
    confidence: str = "high"
    since: str | None = None


def add_fact(files: EntityFiles, entity: str, text: str, origin: Origin) -> Stored:
    """Add a fact to an entity, unless it already has it.

    Args:
        entity: `type--slug`; merges are followed.
        text: A sentence; line breaks become spaces.
        origin: Its source. A high confidence is not written down.

    Raises:
        InvalidInput: The text cannot be kept.
        NotFound: There is no such entity.
    """
    file = files.require(entity)
    wording = clean_line(text)
    known = same_fact(file, wording.text, files.scope)
    if known is not None and not known.provenance.has_ended(files.today):
        return Stored(_id(file, known.block_id), file.path, fresh=False)
    confidence = origin.confidence if origin.confidence != "high" else None
    provenance = Provenance(
        since=origin.since or files.today, sources=origin.sources, confidence=confidence, scope=files.scope
    )
    block_id = _new_block(files, file, "f", wording.text)
    extended = file.add_fact(wording.text, provenance, block_id=block_id)
    files.save(extended, f"added fact “{clip(wording.text)}”")
    # In a file with several sections of facts the new one need not be last.
    (block,) = extended.block_ids - file.block_ids
    return Stored(_id(file, block), file.path, fresh=True, warnings=wording.warnings)


def same_fact(file: EntityFile, text: str, scope: str | None = None) -> Fact | None:
    """Return a current fact with the same text; with a scope, for the same audience."""
    wanted = text_key(text)
    told = [fact for fact in file.facts if scope is None or fact.provenance.scope == scope]
    return next((fact for fact in told if text_key(fact.text) == wanted), None)


def _new_block(files: EntityFiles, file: EntityFile, prefix: str, text: str) -> str:
    """Return a new block id; with a scope, one that does not reveal whether others know the same."""
    return files.new_block(file, prefix, f"{files.scope}\0{text}" if files.scope is not None else text)


def retire_statement(
    files: EntityFiles, statement_id: str, *, expected: str | None = None, by: str | None = None
) -> Stored:
    """Retire a fact or relation today; its line moves under `## Superseded`.

    Args:
        statement_id: `entity:type--slug#^block`, or `file:PATH#L12` for a line without a block id.
        by: The id of the fact or relation of the same entity that holds instead.

    Raises:
        NotFound: There is no such fact or relation, or it is already retired.
        InvalidInput: What shall hold instead is the same, of another entity, or retired itself.
        Stale: Its text has changed.
    """
    file, found = _find_statement(files, statement_id)
    text = found.text
    if expected is not None and one_line(expected) != one_line(text):
        raise Stale(
            f"{clip(statement_id, 120)} says something else by now: “{clip(text)}”.",
            where=f"{file.path}:{found.span.start}",
            remedy="Look at it again.",
        )
    if isinstance(found, Fact) and found.retired:
        raise NotFound(
            f"{statement_id} no longer holds already.", where=file.path, remedy="Nothing needs to be done."
        )
    return retire(files, file, found, by=_successor(files, file, found, by) if by is not None else None)


def _successor(files: EntityFiles, file: EntityFile, found: Fact | Relation, by: str) -> str:
    """Return the block id of what holds instead of a fact or relation."""
    other, new = _find_statement(files, by)
    if (
        other.id != file.id
        or new.block_id in (None, found.block_id)
        or (isinstance(new, Fact) and new.retired)
    ):
        raise InvalidInput(
            f"{clip(by, 120)} cannot hold instead of {_id(file, found.block_id)}.",
            where=file.path,
            remedy="Name another fact of the same entity that holds and has an id.",
        )
    return str(new.block_id)


def _find_statement(files: EntityFiles, statement_id: str) -> tuple[EntityFile, Fact | Relation]:
    wanted = parse_memory_id(statement_id)
    in_file = FILE_ID.match(str(wanted))
    name = PurePosixPath(in_file["path"]).name.removesuffix(".md") if in_file else wanted.name
    file = files.require(name)
    line = int(in_file["start"] or 0) if in_file and in_file["path"] == file.path else 0
    stated: tuple[Fact | Relation, ...] = (*file.facts, *file.relations, *file.retired)
    for each in stated:
        if (wanted.block and each.block_id == wanted.block) or (line and each.span.start == line):
            return file, each
    raise NotFound(
        f"There is no fact or relation {clip(statement_id, 120)}.",
        where=file.path,
        remedy="`workbench graph` shows the facts and relations of an entity.",
    )


def find_fact(files: EntityFiles, fact_id: str) -> tuple[EntityFile, Fact]:
    """Return a fact with its file. Raises `NotFound`."""
    entity, _, block = fact_id.removeprefix("entity:").partition("#^")
    file = files.require(entity)
    for fact in (*file.facts, *file.retired):
        if fact.block_id == block and block:
            return file, fact
    raise NotFound(
        f"There is no fact {clip(fact_id)}.", where=file.path, remedy="`workbench show` lists its facts."
    )


def read_vocabulary(view: FileView, settings: Settings) -> RelationVocabulary:
    """Return the relation types of design document §6.3, the workspace's file and its settings."""
    vocabulary = RelationVocabulary.parse(view.read(layout.RELATIONS) or b"", layout.RELATIONS)
    for name in settings.graph.relations:
        vocabulary = vocabulary.add(name)
    return vocabulary


def checked_relation(vocabulary: RelationVocabulary, name: str) -> str:
    """Return a relation's canonical name.

    Raises:
        InvalidInput: The vocabulary lacks it; the remedy suggests similar ones.
    """
    canonical = canonical_relation(name)
    if vocabulary.find(canonical) is not None:
        return canonical
    names = [n for kind in vocabulary.types for n in (kind.name, kind.inverse) if n]
    near = difflib.get_close_matches(canonical, names, n=3, cutoff=0.5) or names[:6]
    raise InvalidInput(
        f"“{clip(name)}” is not a relation of this workspace.",
        where=layout.RELATIONS,
        remedy=f"Use {', '.join(near)} or another one of {layout.RELATIONS}, or add it there.",
    )


def relation_or_general(vocabulary: RelationVocabulary, name: str) -> tuple[str, str | None]:
    """Return a relation's canonical name; `relates-to` and a note if the vocabulary lacks it."""
    try:
        return checked_relation(vocabulary, name), None
    except InvalidInput:
        note = f"“{clip(name)}” is not a relation of this workspace; {GENERAL_RELATION} was written instead."
        return GENERAL_RELATION, note


def add_relation(
    files: EntityFiles, vocabulary: RelationVocabulary, from_: str, relation: str, to: str, origin: Origin
) -> Stored:
    """Add a relation to its source's file, unless it or its inverse exists.

    Args:
        from_: `type--slug` of the source entity.
        to: `type--slug` of the target entity.
        origin: Its source; the confidence is written down.

    Raises:
        NotFound: One of the entities does not exist.
        InvalidInput: Both are the same entity.
    """
    file, target = files.require(from_), files.require(to)
    if file.id == target.id:
        raise InvalidInput(
            f"{file.id} cannot be related to itself.", where=file.path, remedy="Name two different entities."
        )
    opposite = vocabulary.inverse_of(relation)
    for place, name, end in ((file, relation, target.id), (target, opposite, file.id)):
        known = find_relation(place, name, end, files.scope) if name else None
        if known is not None:
            return Stored(_id(place, known), place.path, fresh=False)
    provenance = Provenance(
        since=origin.since or files.today,
        sources=origin.sources,
        confidence=origin.confidence,
        scope=files.scope,
    )
    block_id = _new_block(files, file, "r", f"{relation}: {target.id}")
    extended = file.add_relation(
        relation, target.id, provenance, block_id=block_id, stem=stem_of(target.path)
    )
    files.save(extended, f"added relation {relation} → {target.id}")
    (block,) = extended.block_ids - file.block_ids
    return Stored(_id(file, block), file.path, fresh=True)


def find_relation(file: EntityFile, relation: str, to: str, scope: str | None = None) -> str | None:
    """Return a relation's block id, empty if it has none; None if there is no such relation.

    With a scope, only relations for that audience count.
    """
    for known in file.relations:
        if scope is not None and known.provenance.scope != scope:
            continue
        if to in known.targets and canonical_relation(known.name) == canonical_relation(relation):
            return known.block_id or ""
    return None


def remove_relation(
    files: EntityFiles, vocabulary: RelationVocabulary, from_: str, relation: str, to: str
) -> str:
    """Remove a relation under its own name or its inverse, from whichever file has it; return that file.

    Raises:
        NotFound: There is no such relation.
    """
    file, target = files.require(from_), files.require(to)
    opposite = vocabulary.inverse_of(relation)
    for place, name, end in ((file, relation, target.id), (target, opposite, file.id)):
        if not name:
            continue
        for known in place.relations:
            if end in known.targets and canonical_relation(known.name) == canonical_relation(name):
                files.save(place.remove_relation(known.name, end), f"removed relation {name} → {end}")
                return place.path
    raise NotFound(
        f"{file.id} has no relation {clip(relation)} to {target.id}.",
        where=file.path,
        remedy="`workbench graph` shows the relations of an entity.",
    )


def add_timeline(files: EntityFiles, entity: str, text: str, source: str | None = None) -> None:
    """Add today's event to an entity's timeline, unless it is there."""
    file = files.require(entity)
    line = clean_line(text).text
    if any(dated.date == files.today and text_key(dated.text) == text_key(line) for dated in file.timeline):
        return
    provenance = Provenance(sources=(source,) if source else (), scope=files.scope)
    written = render_statement(Statement(line, provenance))
    files.save(file.add_timeline(files.today, written), f"added “{clip(line, 60)}” to the timeline")


def _id(file: EntityFile, block: str | None) -> str:
    return f"entity:{file.id}" + (f"#^{block}" if block else "")


def record_past_fact(
    files: EntityFiles,
    entity: str,
    text: str,
    origin: Origin,
    *,
    until: str | None = None,
    by: str | None = None,
) -> Stored:
    """Record a former fact under `## Superseded`, unless it is there.

    Args:
        origin: Its source; a `since` of None is left out.
        until: ISO date until which it held; None for today.
        by: Block id of the replacing fact of the same entity, or None.

    Raises:
        InvalidInput: The text cannot be kept.
        NotFound: There is no such entity.
    """
    file = files.require(entity)
    wording = clean_line(text)
    for past in file.retired:
        if text_key(past.text) == text_key(wording.text) and past.block_id:
            return Stored(_id(file, past.block_id), file.path, fresh=False)
    confidence = origin.confidence if origin.confidence != "high" else None
    known = Provenance(since=origin.since, sources=origin.sources, confidence=confidence)
    extended = file.add_fact(wording.text, known, block_id=files.new_block(file, "f", wording.text))
    (block,) = extended.block_ids - file.block_ids
    added = next(fact for fact in extended.facts if fact.block_id == block)
    files.save(
        extended.retire(added, until=until or files.today, by=by),
        f"noted that “{clip(wording.text)}” held once",
    )
    return Stored(_id(file, block), file.path, fresh=True, warnings=wording.warnings)


def retire_stated(
    files: EntityFiles, entity: str, text: str, *, until: str | None = None, by: str | None = None
) -> Stored | None:
    """Retire the fact with this text; return None if no fact has it, or if that fact is the replacing one.

    Args:
        until: ISO date until which it held; None for today.
        by: Block id of the replacing fact of the same entity, which is never retired.

    Raises:
        NotFound: There is no such entity.
    """
    file = files.require(entity)
    fact = same_fact(file, text)
    return retire(files, file, fact, until=until, by=by) if fact is not None and fact.block_id != by else None


def retire(
    files: EntityFiles,
    file: EntityFile,
    found: Fact | Relation,
    *,
    until: str | None = None,
    by: str | None = None,
) -> Stored:
    """Retire a fact or relation of a file, which gets a block id if it has none.

    Args:
        until: ISO date until which it held; None for today, or for its own end if that has passed.
        by: Block id of what holds instead, in the same file.
    """
    what = "relation" if isinstance(found, Relation) else "fact"
    block = found.block_id or files.new_block(file, what[0], found.text)
    ended = found.provenance.until if found.provenance.has_ended(files.today) else files.today
    left = file.retire(found, until=until or ended, by=by, block_id=block)
    files.save(left, f"retired {what} “{clip(found.text)}”")
    settle_contradictions(files.draft, {_id(file, block)})
    return Stored(_id(file, block), file.path, fresh=True)


def checked_words(view: FileView, settings: Settings, file: EntityFile, block: str, text: str) -> str:
    """Return a relation's text as written in its line.

    Args:
        text: As a person wrote it; `[[…]]` names entities by id, several separated by commas.

    Raises:
        InvalidInput: It is not a relation, leads to its source, already exists, or the vocabulary lacks it.
        NotFound: A target entity does not exist.
    """
    found = _RELATION.fullmatch(text)
    if found is None:
        raise InvalidInput(
            f"“{clip(text)}” is not a relation.",
            where=file.path,
            remedy="Write it as uses: [[tool--git]], with the id of an entity in the brackets.",
        )
    name = checked_relation(read_vocabulary(view, settings), found[1])
    targets = [linked_entity(target) for target in re.findall(_LINK, found[2])]
    for target in targets:
        if target == file.id:
            raise InvalidInput(
                f"{file.id} cannot be related to itself.",
                where=file.path,
                remedy="Name two different entities.",
            )
        if view.read(entity_path(target, view)) is None:
            raise NotFound(
                f"There is no entity {clip(target)}.",
                where=entity_path(target, view),
                remedy="Make it first with: workbench graph add",
            )
        if any(
            target in other.targets and canonical_relation(other.name) == name and other.block_id != block
            for other in file.relations
        ):
            raise InvalidInput(
                f"{file.id} has the relation {name} to {target} already.",
                where=file.path,
                remedy="Retire one of the two.",
            )
    links = (link_to(target, stem_of(entity_path(target, view))) for target in targets)
    return f"{name}: {', '.join(f'[[{link}]]' for link in links)}"


def project_changes(
    changed: Iterable[str],
    content: bytes | None,
    view: FileView,
    lookup: EntityLookup,
    scores: RelevanceLookup,
    archived: Iterable[str] = (),
) -> dict[str, bytes]:
    """Return the index after some files changed.

    Args:
        changed: Paths of changed files; those other than entity files are ignored.
        content: The current index; None to build all of it.
        archived: Ids of entities archived or restored without a change of their files.

    Returns:
        `{GRAPH_INDEX: content}`, or nothing if the index does not change.
    """
    if content is None:
        return project_all(view, scores)
    prefix, names = layout.ENTITIES + "/", set[str]()
    for path in changed:
        if path.startswith(prefix) and path.endswith(".md"):
            names.add(entity_name(stem_of(path)))
    names.update(e.removeprefix("entity:") for e in archived if e.startswith("entity:") and "#" not in e)
    updated, others = content, set[str]()
    files = _ReadOnce(view)
    for name in sorted(names):
        before = updated
        updated = _with_entity(updated, name, files, scores)
        if _has_row(before, name) != _has_row(updated, name) or files.entity(name) is None:
            # It was added, removed, merged or archived, which changes the relations of others.
            others |= _leading_to(name, lookup)
    for name in sorted(others - names):
        updated = _with_entity(updated, name, files, scores)
    return {} if updated == content else {layout.GRAPH_INDEX: updated}


def project_all(view: FileView, scores: RelevanceLookup) -> dict[str, bytes]:
    """Return the index of all entity files."""
    rows: list[IndexedEntity] = []
    edges: list[IndexedEdge] = []
    # Each entity is read for its own row and for each relation to it.
    files, known = _ReadOnce(view), _AskedOnce(scores)
    for path in view.list(layout.ENTITIES):
        file = files.entity(entity_name(stem_of(path))) if path.endswith(".md") else None
        if file is None or file.path != path:
            # Of several files with the same id the first counts.
            continue
        row = _row(file, known)
        if row is not None:
            rows.append(row)
            edges.extend(_edges(file, files, known))
    return {layout.GRAPH_INDEX: render_graph_index(rows, edges)}


class _ReadOnce:
    """A view that reads each file once."""

    def __init__(self, view: FileView) -> None:
        self._view = view
        self._contents: dict[str, bytes | None] = {}
        self._merged: dict[str, str | None] = {}

    def read(self, path: str) -> bytes | None:
        if path not in self._contents:
            try:
                self._contents[path] = self._view.read(path)
            except WorkbenchError:
                # An invalid name, a link, or a file without permission to read; `doctor` reports these.
                self._contents[path] = None
        return self._contents[path]

    @cached_property
    def _notes(self) -> dict[str, str]:
        return notes_among(tuple(self._view.list(layout.ENTITIES)))

    def entity(self, name: str, *, stub: bool = False) -> EntityFile | None:
        """Return an entity's file; None if it is missing, or the name cannot be a file's.

        With `stub`, also None if it certainly was not merged.
        """
        try:
            path = layout.normalise(f"{layout.ENTITIES}/{name}.md")
        except WorkbenchError:
            # The text between the brackets may be anything.
            return None
        if self.read(path) is None:
            path = self._notes.get(name, path)
        content = self.read(path)
        # Most files are not stubs, and this is called for each end of each relation.
        if content is None or (stub and b"erged into" not in content):
            return None
        return EntityFile.parse(content, path)

    def merged(self, name: str) -> str | None:
        """Return the entity that an entity was merged into, or None."""
        known = self._merged.get(name, "")
        if known == "":
            file = self.entity(name, stub=True)
            known = self._merged[name] = merged_into(file) if file is not None else None
        return known


class _AskedOnce:
    """A cached `RelevanceLookup`."""

    def __init__(self, scores: RelevanceLookup) -> None:
        self.relevance = cache(scores.relevance)


def _with_entity(content: bytes, name: str, files: _ReadOnce, scores: RelevanceLookup) -> bytes:
    file = files.entity(name)
    row = None if file is None else _row(file, scores)
    edges = () if file is None or row is None else _edges(file, files, scores)
    return update_graph_index(content, name, row, edges)


def _has_row(content: bytes, name: str) -> bool:
    at = content.find(f"\n| {name} |".encode())
    return 0 <= at < content.find(b"\n## Edges")


def _leading_to(name: str, lookup: EntityLookup) -> set[str]:
    """Return the entities with relations to an entity, or to one merged into it."""
    found, waiting, seen = set[str](), [f"entity:{name}"], set[str]()
    while waiting:
        entity = waiting.pop()
        if entity not in seen:
            seen.add(entity)
            found.update(edge.from_.removeprefix("entity:") for edge in lookup.edges_of(entity))
            waiting.extend(lookup.absorbed(entity))
    return found


def _row(file: EntityFile, scores: RelevanceLookup) -> IndexedEntity | None:
    known = scores.relevance(f"entity:{file.id}")
    if known.archived or merged_into(file) is not None:
        return None
    score = "1.00 (pinned)" if known.pinned or file.pinned else f"{known.score:.2f}"
    # Whatever was written there by hand: a projection never refuses.
    label = clip(file.label, NAME_CHARACTERS) or file.id
    return IndexedEntity(file.id, file.type, label, file.path.removeprefix(f"{layout.GRAPH}/"), score)


def _edges(file: EntityFile, files: _ReadOnce, scores: RelevanceLookup) -> list[IndexedEdge]:
    found: dict[tuple[str, str], IndexedEdge] = {}
    for relation in file.relations:
        name = canonical_relation(relation.name)
        block = f"entity:{file.id}#^{relation.block_id}"
        known = scores.relevance(block) if relation.block_id else None
        if relation.provenance.until or (known is not None and known.archived):
            continue
        accessed = known.last_accessed if known is not None else None
        first = (relation.provenance.since or "")[:10]
        for written in relation.targets:
            target = _final(written, files)
            if target == file.id or scores.relevance(f"entity:{target}").archived:
                continue
            edge = IndexedEdge(
                file.id,
                name,
                target,
                relation.provenance.confidence or "",
                first,
                accessed.isoformat() if accessed else first,
            )
            found.setdefault((name, target), edge)
    return list(found.values())


def _final(entity: str, files: _ReadOnce) -> str:
    """Follow merges from an entity to its present one."""
    for _ in range(_MOST_MERGES):
        target = files.merged(entity)
        if target is None:
            return entity
        entity = target
    return entity
