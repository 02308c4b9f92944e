"""Two entities made one and parted again: everything moves with a mark of where it came from."""

from __future__ import annotations

from dataclasses import replace

from workbench.engine import layout
from workbench.engine.documents.entity import EntityFile, Fact
from workbench.engine.documents.outline import read_headings
from workbench.engine.documents.source import LineSpan
from workbench.engine.documents.statement import Provenance, Statement, parse_statement, render_statement
from workbench.engine.errors import InvalidInput
from workbench.engine.history.plan import Action, Plan
from workbench.engine.history.views import stem_of
from workbench.engine.identifiers import link_to, linked_in
from workbench.engine.results.memories import Changed
from workbench.engine.stores.entities import EntityFiles, merged_into
from workbench.engine.stores.merge_stub import MergeRecord, read_stub, record_merge, render_stub, undo_merge
from workbench.engine.stores.naming import same_name
from workbench.engine.stores.semantic import find_relation, same_fact
from workbench.engine.stores.wording import clip, text_key


def plan_merge(files: EntityFiles, keep: str, absorb: str) -> Plan[Changed]:
    """Plan that everything known about one entity becomes known about another.

    Facts, relations, dates, open questions and names move, each marked with `entity:<absorbed>` as a source;
    what the kept entity says already is not said twice. The absorbed file stays as a pointer that holds what
    stood in it, so that `plan_unmerge` can part them. Links to it elsewhere stay as they are: they lead on.

    Args:
        files: The entity files of an empty draft.
        keep: Id or name of the entity that stays.
        absorb: Id or name of the entity that goes into it.

    Raises:
        NotFound: There is no such entity.
        Ambiguous: A name fits several.
        InvalidInput: Both are one entity already.
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
    warnings = tuple(
        f"“{clip(heading, 40)}” of {absorbed.id} was not moved; it is kept in its file."
        for heading in absorbed.others
    )
    ids = (f"entity:{kept.id}", f"entity:{absorbed.id}")
    return files.draft.plan(
        Action.MERGE, f"{layout.ENTITIES}/*", summary, Changed(None, ids=ids, warnings=warnings)
    )


def plan_unmerge(files: EntityFiles, entity: str) -> Plan[Changed]:
    """Plan that an absorbed entity stands by itself again.

    Its file is given back to the byte; so is the other one, where nothing else changed in it. Otherwise what
    the merge had brought is taken out of it, and what was added or changed there since stays.

    Args:
        files: The entity files of an empty draft.
        entity: Id (`type--slug`) of the absorbed entity.

    Raises:
        InvalidInput: It is not merged into another, or that one is merged on.
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
    record = read_stub(stub.render(), stub.path)
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
        exact = undo_merge(kept.render(), record)
        if exact is None:
            kept, warnings = _take_out(kept, record, stub)
            exact = kept.render()
        files.draft.write(kept.path, exact, Action.RESTORE, summary)
    files.draft.write(stub.path, record.original, Action.RESTORE, summary)
    ids = (f"entity:{stub.id}", f"entity:{keep}")
    return files.draft.plan(
        Action.RESTORE, f"{layout.ENTITIES}/*", summary, Changed(None, ids=ids, warnings=warnings)
    )


def _mark(absorbed: EntityFile) -> str:
    return f"entity:{absorbed.id}"


def _marked(known: Provenance, absorbed: EntityFile) -> Provenance:
    return replace(known, sources=tuple(dict.fromkeys((*known.sources, _mark(absorbed)))))


def _with_mark(text: str, span: LineSpan, absorbed: EntityFile) -> str:
    """Return a date's or question's text with where it comes from, the absorbed entity added."""
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
            by = fact.provenance.superseded_by
            merged = merged.retire_fact(
                moved, until=fact.provenance.until, superseded_by=renamed.get(by, by) if by else None
            )
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
    """Take out the questions that the merge answers."""
    answered: list[str] = []
    for question in reversed(kept.questions):
        if absorbed in linked_in(question.text) and question.text.startswith("Is this the same as"):
            kept = kept.remove_item(question.span)
            answered.append(question.text)
    return kept, tuple(reversed(answered))


def _take_out(kept: EntityFile, record: MergeRecord, stub: EntityFile) -> tuple[EntityFile, tuple[str, ...]]:
    """Take out what a merge brought, where the file has changed since."""
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
    """Drop the headings of sections that held something before and hold nothing now."""
    filled = {h.text for h in read_headings(before.source) if before.source.trimmed(h.body)}
    source = after.source
    for heading in reversed(read_headings(source)):
        if heading.level > 1 and heading.text in filled and not source.trimmed(heading.body):
            source = source.splice(heading.section.start, heading.section.end, ())
    return EntityFile.parse(source.render(), after.path)
