"""Manual changes of the graph: add, retire, link, rename, merge two entities, and separate them."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import re
from dataclasses import replace

from workbench.engine import layout
from workbench.engine.catalog.terms import same_name
from workbench.engine.errors import DocumentError, InvalidInput, NotFound
from workbench.engine.history.plan import Action, Plan
from workbench.engine.history.work_files import stem_of
from workbench.engine.identifiers import link_to, linked_in
from workbench.engine.markdown.entity import EntityFile, Fact
from workbench.engine.markdown.outline import read_headings, read_outline
from workbench.engine.markdown.source import LineSpan
from workbench.engine.markdown.statements import Provenance, Statement, parse_statement, render_statement
from workbench.engine.memory.core import read_core, rename_contradicted
from workbench.engine.memory.entities import EntityFiles, merged_into
from workbench.engine.memory.forget import items_saying
from workbench.engine.memory.graph import (
    Origin,
    add_fact,
    add_relation,
    checked_relation,
    find_fact,
    find_relation,
    read_vocabulary,
    remove_relation,
    retire_statement,
    same_fact,
)
from workbench.engine.memory.wording import clean_name, clip, text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.results.memories import Changed
from workbench.engine.settings.sections import Settings
from workbench.engine.values import dataclass

_LABEL = lazy_pattern(r"(?<![\w-])(Label\s*[:：]\s*)([^|\n]*?)(?=\s*(?:\||-->))", re.IGNORECASE)

_BACKTICKS = lazy_pattern(rb"`{3,}")
_RECORD = lazy_pattern(rb"^<!-- Unmerge: (\{.*\}) -->\r?\n\r?\n(`{4,})markdown\r?\n", re.MULTILINE)


def plan_add(files: EntityFiles, entity_type: str, name: str) -> Plan[Changed]:
    """Plan a new entity; similar names become warnings, and questions in its file.

    Raises:
        InvalidInput: The type or the name is invalid, or an entity of that type has this name.
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
    """Plan a fact of an entity given by id or name; an existing one causes a warning.

    Raises:
        NotFound: There is no such entity.
        Ambiguous: The name fits several.
        InvalidInput: The text cannot be kept.
    """
    stated = add_fact(files, files.find(entity).id, text, origin)
    known = () if stated.fresh else (f"This fact already exists, as {stated.id}.",)
    return files.draft.plan(
        Action.EDIT,
        stated.path,
        f"added fact “{clip(text)}”",
        Changed(None, ids=(stated.id,), warnings=(*stated.warnings, *known)),
    )


def plan_retire(
    files: EntityFiles, statement_id: str, *, expected: str | None, by: str | None
) -> Plan[Changed]:
    """Plan to retire a fact or a relation; arguments and errors as for `retire_statement`.

    What core memory says in the same words stays there, with a warning.
    """
    stated = retire_statement(files, statement_id, expected=expected, by=by)
    file, fact = find_fact(files, stated.id)
    warnings = tuple(
        f"Core memory still says so. Take it out with: workbench core remove {item.id}"
        for item in items_saying(read_core(files.draft), fact.text)
    )
    changed = Changed(None, ids=(stated.id,), warnings=warnings)
    return files.draft.plan(Action.EDIT, file.path, f"retired {stated.id}", changed)


def plan_link(
    files: EntityFiles, settings: Settings, from_: str, relation: str, to: str, origin: Origin
) -> Plan[Changed]:
    """Plan a relation between two entities, given by id or name.

    Raises:
        NotFound: There is no such entity.
        Ambiguous: A name fits several.
        InvalidInput: The vocabulary lacks the relation, or both are the same entity.
    """
    vocabulary = read_vocabulary(files.draft, settings)
    name = checked_relation(vocabulary, relation)
    start, end = files.find(from_), files.find(to)
    stated = add_relation(files, vocabulary, start.id, name, end.id, origin)
    warnings = () if stated.fresh else (f"This relation already exists, as {stated.id}.",)
    return files.draft.plan(
        Action.EDIT,
        stated.path,
        f"added relation {name} → {end.id}",
        Changed(None, ids=(stated.id,), warnings=warnings),
    )


def plan_unlink(files: EntityFiles, settings: Settings, from_: str, relation: str, to: str) -> Plan[Changed]:
    """Plan to remove a relation from whichever of the two files has it.

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
    """Plan a new name for an entity; the old one becomes an alias, and the id stays, because links use it.

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
    renamed = _relabel(file, label)
    # A name in front matter stays; it does no harm beside the label.
    with contextlib.suppress(NotFound):
        renamed = renamed.remove_alias(label)
    if not same_name(old, label):
        renamed = renamed.add_alias(old)
    summary = f"renamed “{old}” to “{label}”"
    files.save(renamed, summary, Action.RENAME)
    return files.draft.plan(Action.RENAME, file.path, summary, Changed(None, ids=(entity_id,)))


def _relabel(file: EntityFile, label: str) -> EntityFile:
    """Return an entity's file with a new label in its header."""
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
    # Front matter loses its meaning once there is text above it.
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


@dataclass(frozen=True)
class MergeRecord:
    """The information to reverse a merge.

    Args:
        digest: Digest of the kept entity's file right after the merge.
        undo: Runs of lines of that file with their former content: first line (from 0), end (excluded), and the former
            lines with their ends.
        aliases: Names that the kept entity got by the merge.
        answered: Open questions of the kept entity that the merge settled.
        original: The absorbed entity's file before the merge.
    """

    digest: str
    undo: tuple[tuple[int, int, tuple[str, ...]], ...]
    aliases: tuple[str, ...]
    answered: tuple[str, ...]
    original: bytes


def record_merge(
    before: bytes, after: bytes, original: bytes, aliases: tuple[str, ...], answered: tuple[str, ...]
) -> MergeRecord:
    """Record how the kept entity's file changed, so that it can be restored byte for byte."""
    old, new = _lines(before), _lines(after)
    matcher = difflib.SequenceMatcher(None, new, old, autojunk=False)
    undo = tuple(
        (start, end, tuple(old[from_:to]))
        for kind, start, end, from_, to in matcher.get_opcodes()
        if kind != "equal"
    )
    return MergeRecord(digest(after), undo, aliases, answered, original)


def _undo_merge(content: bytes, record: MergeRecord) -> bytes | None:
    """Return the kept entity's file before the merge; None if it has changed since."""
    if digest(content) != record.digest:
        return None
    lines = _lines(content)
    for start, end, old in reversed(record.undo):
        lines[start:end] = old
    return "".join(lines).encode("utf-8", "surrogateescape")


def render_stub(absorbed: EntityFile, keep: str, today: str, record: MergeRecord) -> bytes:
    """Format the file that replaces an absorbed entity's.

    Args:
        keep: The link target of the kept entity.
    """
    head = EntityFile.create(absorbed.path, label=absorbed.label, created=absorbed.created or today).render()
    final_newline = record.original.endswith(b"\n")
    written = json.dumps(
        {
            "digest": record.digest,
            "undo": record.undo,
            "aliases": record.aliases,
            "answered": record.answered,
            "finalNewline": final_newline,
        }
    )
    # A comment ends at the first arrow, and the fields of a header comment are separated by bars.
    written = written.replace(">", "\\u003e").replace("|", "\\u007c")
    longest = max((len(run) for run in _BACKTICKS.findall(record.original)), default=3)
    fence = b"`" * max(4, longest + 1)
    text = (
        f"<!-- Merged into: [[{keep}]] -->\n\nMerged into [[{keep}]] on {today}. "
        f"What stood here before is kept below.\n\n<!-- Unmerge: {written} -->\n\n"
    )
    body = record.original + (b"" if final_newline else b"\n")
    return head.rstrip(b"\r\n") + b"\n" + text.encode() + fence + b"markdown\n" + body + fence + b"\n"


def _read_stub(content: bytes, path: str) -> MergeRecord:
    """Parse the merge record of a stub."""
    match = _RECORD.search(content)
    try:
        if match is None:
            raise ValueError("there is no record of the merge")
        end = content.rindex(b"\n" + match.group(2))
        known = json.loads(match.group(1))
        original = content[match.end() : end + 1] if end >= match.end() else b""
        return MergeRecord(
            digest=str(known["digest"]),
            undo=tuple((int(a), int(b), tuple(map(str, lines))) for a, b, lines in known["undo"]),
            aliases=tuple(map(str, known["aliases"])),
            answered=tuple(map(str, known["answered"])),
            original=original if known["finalNewline"] else original[:-1],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise DocumentError(
            "The record of this merge has been edited and cannot be read.",
            where=path,
            remedy="Revert the merge in the history instead: `workbench audit log` finds its commit.",
        ) from error


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _lines(content: bytes) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", content.decode("utf-8", "surrogateescape"))


def plan_merge(files: EntityFiles, keep: str, absorb: str) -> Plan[Changed]:
    """Plan to merge one entity into another.

    Facts, relations, dates, open questions and names move, each with `entity:<absorbed>` as a source, except those
    the kept entity already has. The absorbed file remains as a pointer that contains its former text, so that
    `plan_unmerge` can separate them. Links to it elsewhere stay: they lead to the kept entity.

    Args:
        keep: Id or name of the entity that stays.
        absorb: Id or name of the entity to merge into it.

    Raises:
        NotFound: There is no such entity.
        Ambiguous: A name fits several.
        InvalidInput: Both are already the same entity.
    """
    kept, absorbed = files.find(keep), files.find(absorb)
    if kept.id == absorbed.id:
        raise InvalidInput(
            f"{keep} and {absorb} are one entity already.",
            where=kept.path,
            remedy="Part them with: workbench graph unmerge",
        )
    before, original = kept.render(), absorbed.render()
    merged, answered = _without_question(kept, absorbed.id)
    merged = _move_facts(merged, absorbed, files)
    merged = _move_relations(merged, absorbed, files)
    merged = _move_dates_and_questions(merged, absorbed, kept.id)
    merged, aliases = _move_names(merged, absorbed)
    if absorbed.summary and not merged.summary:
        merged = merged.set_summary(absorbed.summary)
    record = record_merge(before, merged.render(), original, aliases, answered)
    summary = f"merged {absorbed.id} into {kept.id}"
    files.save(merged, summary, Action.MERGE)
    stub = render_stub(absorbed, link_to(kept.id, stem_of(kept.path)), files.today, record)
    files.draft.write(absorbed.path, stub, Action.MERGE, summary)
    rename_contradicted(files.draft, _same_statements(absorbed, merged))
    warnings = tuple(
        f"“{clip(heading, 40)}” of {absorbed.id} was not moved; it is kept in its file."
        for heading in absorbed.others
    )
    ids = (f"entity:{kept.id}", f"entity:{absorbed.id}")
    return files.draft.plan(
        Action.MERGE, f"{layout.ENTITIES}/*", summary, Changed(None, ids=ids, warnings=warnings)
    )


def plan_unmerge(files: EntityFiles, entity: str) -> Plan[Changed]:
    """Plan to separate an absorbed entity again.

    Its file is restored byte for byte; so is the other one, if nothing else changed in it. Otherwise the content from
    the merge is removed from it, and later additions and changes stay.

    Args:
        entity: Id (`type--slug`) of the absorbed entity.

    Raises:
        InvalidInput: It is not merged into another, or that one is itself merged.
        DocumentError: The record of the merge was edited.
    """
    absorbed_id = entity.strip().removeprefix("entity:")
    stub = files.read(absorbed_id)
    keep = merged_into(stub) if stub is not None else None
    if stub is None or keep is None:
        raise InvalidInput(
            f"{clip(entity)} is not merged into another entity.",
            remedy="Name the entity that was absorbed, by its id.",
        )
    record = _read_stub(stub.render(), stub.path)
    kept = files.read(keep)
    if kept is not None and merged_into(kept) is not None:
        raise InvalidInput(
            f"{keep} is itself merged into {merged_into(kept)}.",
            where=stub.path,
            remedy=f"Unmerge {keep} first.",
        )
    summary = f"parted {stub.id} from {keep}"
    warnings: tuple[str, ...] = ()
    if kept is None:
        warnings = (f"{keep} is no longer there; only {stub.id} was given back.",)
    else:
        original = EntityFile.parse(record.original, stub.path)
        moved = _same_statements(kept, original)
        exact = _undo_merge(kept.render(), record)
        if exact is None:
            kept, warnings = _without_merged_content(kept, record, stub)
            exact = kept.render()
        files.draft.write(kept.path, exact, Action.RESTORE, summary)
        left = _same_statements(EntityFile.parse(exact, kept.path), original)
        rename_contradicted(files.draft, {old: new for old, new in moved.items() if old not in left})
    files.draft.write(stub.path, record.original, Action.RESTORE, summary)
    ids = (f"entity:{stub.id}", f"entity:{keep}")
    return files.draft.plan(
        Action.RESTORE, f"{layout.ENTITIES}/*", summary, Changed(None, ids=ids, warnings=warnings)
    )


def _same_statements(file: EntityFile, other: EntityFile) -> dict[str, str]:
    """Return the ids of facts and relations of one file with the id of what says the same in another."""
    pairs = [
        *(
            (fact.block_id, same.block_id if (same := same_fact(other, fact.text)) else None)
            for fact in file.facts
        ),
        *(
            (relation.block_id, find_relation(other, relation.name, target))
            for relation in file.relations
            for target in relation.targets
        ),
    ]
    return {
        f"entity:{file.id}#^{block}": f"entity:{other.id}#^{same}" for block, same in pairs if block and same
    }


def _mark(absorbed: EntityFile) -> str:
    return f"entity:{absorbed.id}"


def _marked(known: Provenance, absorbed: EntityFile) -> Provenance:
    return replace(known, sources=tuple(dict.fromkeys((*known.sources, _mark(absorbed)))))


def _with_mark(text: str, span: LineSpan, absorbed: EntityFile) -> str:
    """Return the text of a date or question with its sources and the absorbed entity."""
    known = parse_statement(absorbed.source.text_of(span)).provenance
    return render_statement(Statement(text, _marked(known, absorbed)))


def _move_facts(merged: EntityFile, absorbed: EntityFile, files: EntityFiles) -> EntityFile:
    renamed: dict[str, str] = {}
    added: list[tuple[Fact, str]] = []
    for fact in (*absorbed.facts, *absorbed.retired):
        if not fact.retired and same_fact(merged, fact.text) is not None:
            continue
        block = files.draft.moved_block(merged, "f", fact.text, fact.block_id)
        merged = merged.add_fact(fact.text, _marked(fact.provenance, absorbed), block_id=block)
        renamed[fact.block_id or ""] = block
        added.append((fact, block))
    for fact, block in added:
        if fact.retired:
            moved = next(each for each in merged.facts if each.block_id == block)
            by = fact.provenance.successor_block
            merged = merged.retire(moved, until=fact.provenance.until, by=renamed.get(by, by) if by else None)
    return merged


def _move_relations(merged: EntityFile, absorbed: EntityFile, files: EntityFiles) -> EntityFile:
    for relation in absorbed.relations:
        for target in relation.targets:
            if target in (merged.id, absorbed.id) or find_relation(merged, relation.name, target) is not None:
                continue
            seed = f"{relation.name}: {target}"
            block = files.draft.moved_block(merged, "r", seed, relation.block_id)
            known = _marked(relation.provenance, absorbed)
            merged = merged.add_relation(
                relation.name, target, known, block_id=block, stem=files.stem(target)
            )
    return merged


def _move_dates_and_questions(merged: EntityFile, absorbed: EntityFile, kept: str) -> EntityFile:
    for dated in absorbed.timeline:
        text = _with_mark(dated.text, dated.span, absorbed)
        if any(d.date == dated.date and text_key(d.text) == text_key(dated.text) for d in merged.timeline):
            continue
        merged = (
            merged.add_timeline(dated.date, text)
            if dated.date
            else merged.insert_lines("Timeline", [f"- {text}"])
        )
    for question in absorbed.questions:
        if kept not in linked_in(question.text):
            merged = merged.add_question(_with_mark(question.text, question.span, absorbed))
    return merged


def _move_names(merged: EntityFile, absorbed: EntityFile) -> tuple[EntityFile, tuple[str, ...]]:
    added: list[str] = []
    for name in (absorbed.label, *absorbed.aliases):
        if not any(same_name(name, known) for known in (merged.label, *merged.aliases)):
            merged = merged.add_alias(name)
            added.append(name)
    return merged, tuple(added)


def _without_question(kept: EntityFile, absorbed: str) -> tuple[EntityFile, tuple[str, ...]]:
    """Remove the questions answered by the merge."""
    answered: list[str] = []
    for question in reversed(kept.questions):
        if absorbed in linked_in(question.text) and question.text.startswith("Is this the same as"):
            kept = kept.remove_item(question.span)
            answered.append(question.text)
    return kept, tuple(reversed(answered))


def _without_merged_content(
    kept: EntityFile, record: MergeRecord, stub: EntityFile
) -> tuple[EntityFile, tuple[str, ...]]:
    """Remove the content from a merge, for a file that has changed since."""
    absorbed = EntityFile.parse(record.original, stub.path)
    before = kept
    warnings: list[str] = []
    known = {(text_key(fact.text), fact.retired) for fact in (*absorbed.facts, *absorbed.retired)}
    for fact in (*kept.facts, *kept.retired):
        if _mark(absorbed) not in fact.provenance.sources or fact.block_id is None:
            continue
        if (text_key(fact.text), fact.retired) in known:
            kept = kept.remove_block(fact.block_id)
        else:
            warnings.append(f"“{clip(fact.text, 60)}” has changed since the merge; it stays with {kept.id}.")
    for relation in kept.relations:
        if _mark(absorbed) in relation.provenance.sources and relation.block_id is not None:
            kept = kept.remove_block(relation.block_id)
    for items in ("questions", "timeline"):
        for item in reversed(getattr(kept, items)):
            if _mark(absorbed) in parse_statement(kept.source.text_of(item.span)).provenance.sources:
                kept = kept.remove_item(item.span)
    for alias in record.aliases:
        if alias in kept.aliases:
            kept = kept.remove_alias(alias)
    if absorbed.summary and kept.summary == absorbed.summary:
        kept = kept.set_summary("")
    kept = _without_emptied(before, kept)
    for question in record.answered:
        kept = kept.add_question(question)
    return kept, tuple(warnings)


def _without_emptied(before: EntityFile, after: EntityFile) -> EntityFile:
    """Drop the headings of sections emptied by a change."""
    filled = {h.text for h in read_headings(before.source) if before.source.trimmed(h.body)}
    source = after.source
    for heading in reversed(read_headings(source)):
        if heading.level > 1 and heading.text in filled and not source.trimmed(heading.body):
            source = source.splice(heading.section.start, heading.section.end, ())
    return EntityFile.parse(source.render(), after.path)
