"""The knowledge graph: adding and retiring facts, relations and dates of entities (design document §6)."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, Stale
from workbench.engine.history.plan import Action, FileView
from workbench.engine.history.work_files import stem_of
from workbench.engine.identifiers import FILE_ID, link_to, linked_entity, parse_memory_id
from workbench.engine.markdown.entity import EntityFile, Fact, Relation
from workbench.engine.markdown.graph import RelationVocabulary, canonical_relation
from workbench.engine.markdown.statements import Provenance, Statement, render_statement
from workbench.engine.memory.entities import EntityFiles, entity_path
from workbench.engine.memory.wording import clean_line, clip, one_line, text_key
from workbench.engine.settings.sections import Settings

GENERAL_RELATION = "relates-to"

_LINK = r"\[\[([^\[\]|#]+)\]\]"
_RELATION = re.compile(rf"([^:：\[\]]{{1,80}}?)\s*[:：]\s*({_LINK}(?:\s*[,，、]\s*{_LINK})*)")


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


@dataclass(frozen=True)
class StoredStatement:
    """The stored fact or relation; `fresh` is False if it already existed."""

    id: str
    path: str
    fresh: bool
    warnings: tuple[str, ...] = ()


def add_fact(files: EntityFiles, entity: str, text: str, origin: Origin) -> StoredStatement:
    """Add a fact to an entity, unless it already has it.

    Args:
        files: The entity files of the plan.
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
    if known is not None:
        return StoredStatement(_id(file, known.block_id), file.path, fresh=False)
    confidence = origin.confidence if origin.confidence != "high" else None
    provenance = Provenance(
        since=origin.since or files.today, sources=origin.sources, confidence=confidence, scope=files.scope
    )
    block_id = _new_block(files, file, "f", wording.text)
    extended = file.add_fact(wording.text, provenance, block_id=block_id)
    files.save(extended, f"added fact “{clip(wording.text)}”")
    # In a file with several sections of facts the new one need not be last.
    (block,) = extended.block_ids - file.block_ids
    return StoredStatement(_id(file, block), file.path, fresh=True, warnings=wording.warnings)


def same_fact(file: EntityFile, text: str, scope: str | None = None) -> Fact | None:
    """Return a current fact with the same text; with a scope, for the same audience."""
    wanted = text_key(text)
    told = [fact for fact in file.facts if scope is None or fact.provenance.scope == scope]
    return next((fact for fact in told if text_key(fact.text) == wanted), None)


def _new_block(files: EntityFiles, file: EntityFile, prefix: str, text: str) -> str:
    """Return a new block id; with a scope, one that does not reveal whether others know the same."""
    return files.new_block(file, prefix, f"{files.scope}\0{text}" if files.scope is not None else text)


def retire_fact(
    files: EntityFiles, fact_id: str, *, until: str | None = None, by: str | None = None
) -> StoredStatement:
    """Retire a fact; its line moves under `## Superseded`.

    Args:
        files: The entity files of the plan.
        fact_id: `entity:type--slug#^block`.
        until: ISO date until which it held; None for today.
        by: Block id of the replacing fact of the same entity, or None.

    Raises:
        NotFound: There is no such fact, or it is already retired.
    """
    file, fact = find_fact(files, fact_id)
    if fact.retired:
        raise _retired_already(fact_id, file)
    retired = file.retire_fact(fact, until=until or files.today, superseded_by=by)
    files.save(retired, f"retired fact “{clip(fact.text)}”")
    return StoredStatement(fact_id, file.path, fresh=True)


def retire_statement(
    files: EntityFiles, statement_id: str, *, expected: str | None = None, until: str | None = None
) -> StoredStatement:
    """Retire a fact or relation; its line moves under `## Superseded`.

    Args:
        files: The entity files of the plan.
        statement_id: `entity:type--slug#^block`, or `file:PATH#L12` for a line without a block id.
        expected: The text that it is expected to have.
        until: ISO date until which it held; None for today.

    Raises:
        NotFound: There is no such fact or relation, or it is already retired.
        Stale: Its text has changed.
    """
    file, found = _find_statement(files, statement_id)
    text = _words_of(found)
    if expected is not None and one_line(expected) != one_line(text):
        raise Stale(
            f"{clip(statement_id, 120)} says something else by now: “{clip(text)}”.",
            where=f"{file.path}:{found.span.start}",
            remedy="Look at it again.",
        )
    if isinstance(found, Fact):
        if found.retired:
            raise _retired_already(statement_id, file)
        block = None if found.block_id else files.new_block(file, "f", found.text)
        retired = file.retire_fact(found, until=until or files.today, block_id=block)
    else:
        block = None if found.block_id else files.new_block(file, "r", text)
        retired = file.retire_relation(found, until=until or files.today, block_id=block)
    what = "fact" if isinstance(found, Fact) else "relation"
    files.save(retired, f"retired {what} “{clip(text)}”")
    block = found.block_id or next(iter(retired.block_ids - file.block_ids), None)
    return StoredStatement(_id(file, block), file.path, fresh=True)


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


def _words_of(found: Fact | Relation) -> str:
    if isinstance(found, Fact):
        return found.text
    return f"{found.name}: {', '.join(f'[[{target}]]' for target in found.targets)}"


def _retired_already(statement_id: str, file: EntityFile) -> NotFound:
    return NotFound(
        f"{statement_id} no longer holds already.", where=file.path, remedy="Nothing needs to be done."
    )


def supersede_fact(files: EntityFiles, fact_id: str, text: str, origin: Origin) -> StoredStatement:
    """Replace a fact that is no longer true; both stay readable.

    Raises:
        NotFound: There is no such fact, or it is already retired.
        InvalidInput: The text cannot be kept.
    """
    file, fact = find_fact(files, fact_id)
    if text_key(fact.text) == text_key(text) and not fact.retired:
        return StoredStatement(fact_id, file.path, fresh=False)
    stated = add_fact(files, file.id, text, origin)
    retire_fact(
        files, fact_id, until=origin.since, by=stated.id.rpartition("#^")[2] if "#^" in stated.id else None
    )
    return stated


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
) -> StoredStatement:
    """Add a relation to its source's file, unless it or its inverse exists.

    Args:
        files: The entity files of the plan.
        vocabulary: Knows inverse relations.
        from_: `type--slug` of the source entity.
        relation: Canonical name.
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
            return StoredStatement(_id(place, known), place.path, fresh=False)
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
    return StoredStatement(_id(file, block), file.path, fresh=True)


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


def remove_fact(files: EntityFiles, fact_id: str) -> StoredStatement:
    """Remove a fact, and references to it as a replacement in other facts.

    Raises:
        NotFound: There is no such fact.
    """
    file, fact = find_fact(files, fact_id)
    for other in (*file.facts, *file.retired):
        if other.provenance.superseded_by == fact.block_id and other.block_id:
            file = file.set_provenance(other.block_id, replace(other.provenance, superseded_by=None))
    files.save(file.remove_block(fact.block_id or ""), f"removed fact “{clip(fact.text)}”", Action.EDIT)
    return StoredStatement(fact_id, file.path, fresh=True)


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
) -> StoredStatement:
    """Record a former fact under `## Superseded`, unless it is there.

    Args:
        files: The entity files of the plan.
        entity: `type--slug`; merges are followed.
        text: A sentence.
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
            return StoredStatement(f"entity:{file.id}#^{past.block_id}", file.path, fresh=False)
    confidence = origin.confidence if origin.confidence != "high" else None
    known = Provenance(since=origin.since, sources=origin.sources, confidence=confidence)
    extended = file.add_fact(wording.text, known, block_id=files.new_block(file, "f", wording.text))
    (block,) = extended.block_ids - file.block_ids
    added = next(fact for fact in extended.facts if fact.block_id == block)
    files.save(
        extended.retire_fact(added, until=until or files.today, superseded_by=by),
        f"noted that “{clip(wording.text)}” held once",
    )
    return StoredStatement(f"entity:{file.id}#^{block}", file.path, fresh=True, warnings=wording.warnings)


def retire_stated(
    files: EntityFiles, entity: str, text: str, *, until: str | None = None, by: str | None = None
) -> Fact | None:
    """Retire the fact with a text, with or without an id; return it as it was.

    Args:
        files: The entity files of the plan.
        entity: `type--slug`; merges are followed.
        text: Its text.
        until: ISO date until which it held; None for today.
        by: Block id of the replacing fact of the same entity, which is never retired.

    Raises:
        NotFound: There is no such entity.
    """
    file = files.require(entity)
    fact = same_fact(file, text)
    return retire_it(files, file, fact, until=until, by=by) if fact is not None else None


def retire_it(
    files: EntityFiles, file: EntityFile, fact: Fact, *, until: str | None = None, by: str | None = None
) -> Fact | None:
    """Retire a fact of a file; return None for the replacing fact itself."""
    if by is not None and fact.block_id == by:
        return None
    block = None if fact.block_id else files.new_block(file, "f", fact.text)
    retired = file.retire_fact(fact, until=until or files.today, superseded_by=by, block_id=block)
    files.save(retired, f"retired fact “{clip(fact.text)}”")
    return fact


def checked_words(view: FileView, settings: Settings, file: EntityFile, block: str, text: str) -> str:
    """Return a relation's text as written in its line.

    Args:
        view: The files.
        settings: They give the workspace's own relations.
        file: The source entity's file.
        block: Block id of its line.
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
