"""What a person does to the graph by hand: add, state, retire, link, unlink and rename."""

from __future__ import annotations

import contextlib
import re

from workbench.engine.documents.entity import EntityFile
from workbench.engine.documents.outline import read_outline
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.history.plan import Action, Plan
from workbench.engine.results.memories import Changed
from workbench.engine.settings.sections import Settings
from workbench.engine.stores.entities import EntityFiles
from workbench.engine.stores.naming import same_name
from workbench.engine.stores.semantic import (
    Origin,
    add_fact,
    add_relation,
    checked_relation,
    read_vocabulary,
    remove_relation,
    retire_statement,
)
from workbench.engine.stores.wording import clean_name, clip

_LABEL = re.compile(r"(?<![\w-])(Label\s*[:：]\s*)([^|\n]*?)(?=\s*(?:\||-->))", re.IGNORECASE)


def plan_add(files: EntityFiles, entity_type: str, name: str) -> Plan[Changed]:
    """Plan a new entity; names near its own are told as warnings, and asked in its file.

    Args:
        files: The entity files of an empty draft.
        entity_type: person, project, concept, tool, place or another word.
        name: What it is called.

    Raises:
        InvalidInput: The type or the name is none, or an entity of that type is called so already.
    """
    made = files.make(entity_type, name)
    namesakes = [
        match.entity.id.removeprefix("entity:")
        for match in files.called(made.label)
        if match.entity.type != made.type
    ]
    warnings = [*made.questions, *(f"[[{other}]] is called “{made.label}” too." for other in namesakes)]
    return files.draft.plan(
        Action.CREATE,
        made.path,
        f"new entity “{made.label}” ({made.type})",
        Changed(None, ids=(f"entity:{made.id}",), warnings=tuple(warnings)),
    )


def plan_add_fact(files: EntityFiles, entity: str, text: str, origin: Origin) -> Plan[Changed]:
    """Plan a fact of an entity that is named by id or name; one that stands there already is a warning.

    Raises:
        NotFound: There is no such entity.
        Ambiguous: The name fits several.
        InvalidInput: The text cannot be kept.
    """
    stated = add_fact(files, files.find(entity).id, text, origin)
    known = () if stated.fresh else (f"This fact stands already, as {stated.id}.",)
    return files.draft.plan(
        Action.EDIT,
        stated.path,
        f"added fact “{clip(text)}”",
        Changed(None, ids=(stated.id,), warnings=(*stated.warnings, *known)),
    )


def plan_retire(files: EntityFiles, statement_id: str, *, expected: str | None = None) -> Plan[Changed]:
    """Plan that a fact or a relation holds no longer; see `retire_statement`, and what it raises."""
    stated = retire_statement(files, statement_id, expected=expected)
    return files.draft.plan(Action.EDIT, stated.path, f"retired {stated.id}", Changed(None, ids=(stated.id,)))


def plan_link(
    files: EntityFiles, settings: Settings, from_: str, relation: str, to: str, origin: Origin
) -> Plan[Changed]:
    """Plan a relation between two entities, named by id or name.

    Args:
        files: The entity files of an empty draft.
        settings: Give the workspace's own relations.
        from_: The entity it starts from.
        relation: A relation of the vocabulary.
        to: The entity it leads to.
        origin: Where it comes from.

    Raises:
        NotFound: There is no such entity.
        Ambiguous: A name fits several.
        InvalidInput: The vocabulary does not know the relation, or both are one entity.
    """
    vocabulary = read_vocabulary(files.draft, settings)
    name = checked_relation(vocabulary, relation)
    start, end = files.find(from_), files.find(to)
    stated = add_relation(files, vocabulary, start.id, name, end.id, origin)
    warnings = () if stated.fresh else (f"This relation stands already, as {stated.id}.",)
    return files.draft.plan(
        Action.EDIT,
        stated.path,
        f"added relation {name} → {end.id}",
        Changed(None, ids=(stated.id,), warnings=warnings),
    )


def plan_unlink(files: EntityFiles, settings: Settings, from_: str, relation: str, to: str) -> Plan[Changed]:
    """Plan a relation's removal, whichever of the two files it is written in.

    Raises:
        NotFound: There is no such entity or relation.
        Ambiguous: A name fits several.
    """
    start, end = files.find(from_), files.find(to)
    path = remove_relation(files, read_vocabulary(files.draft, settings), start.id, relation, end.id)
    ids = (f"entity:{start.id}", f"entity:{end.id}")
    return files.draft.plan(
        Action.EDIT, path, f"removed relation {relation} → {end.id}", Changed(None, ids=ids)
    )


def plan_rename(files: EntityFiles, entity: str, name: str) -> Plan[Changed]:
    """Plan another name for an entity; the old one becomes an alias, and the id stays, as links need it.

    Raises:
        NotFound: There is no such entity.
        Ambiguous: The name fits several.
        InvalidInput: The new name cannot be a label.
    """
    file = files.find(entity)
    label = clean_name(name)
    entity_id = f"entity:{file.id}"
    if label == file.label:
        warning = f"{file.id} is called “{label}” already."
        return Plan(
            Action.RENAME, file.path, warning, outcome=Changed(None, ids=(entity_id,), warnings=(warning,))
        )
    old = file.label
    renamed = relabel(file, label)
    # A name that front matter gives stays there; it does no harm beside the label.
    with contextlib.suppress(NotFound):
        renamed = renamed.remove_alias(label)
    if not same_name(old, label):
        renamed = renamed.add_alias(old)
    summary = f"renamed “{old}” to “{label}”"
    files.save(renamed, summary, Action.RENAME)
    return files.draft.plan(Action.RENAME, file.path, summary, Changed(None, ids=(entity_id,)))


def relabel(file: EntityFile, label: str) -> EntityFile:
    """Return an entity's file with another label in its header.

    Raises:
        InvalidInput: The file's header cannot hold it.
    """
    written = label.replace("--", "–")
    source = file.source
    before_sections = next(
        (n for n, line in enumerate(source.lines) if line.startswith("## ")), len(source.lines)
    )
    for number, line in enumerate(source.lines[:before_sections], 1):
        if "<!--" in line and _LABEL.search(line):
            changed = _LABEL.sub(lambda match: match.group(1) + written, line, count=1)
            return _checked(
                EntityFile.parse(source.splice(number, number, [changed]).render(), file.path), written
            )
    outline = read_outline(source)
    title = next((heading.span.end for heading in outline.headings if heading.level == 1), 0)
    # Front matter is none any more once something stands above it.
    after = title or (outline.front_matter.end if outline.front_matter else 0)
    added = source.insert_after(after, [*([""] if after else []), f"<!-- Label: {written} -->"])
    return _checked(EntityFile.parse(added.render(), file.path), written)


def _checked(file: EntityFile, label: str) -> EntityFile:
    if file.label != label:
        raise InvalidInput(
            f"The header of {file.id} cannot be given the label “{label}”.",
            where=file.path,
            remedy="Write <!-- Label: … --> under its title.",
        )
    return file
