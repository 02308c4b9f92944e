"""A memory written into its store, with the entities and relations that it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from workbench.engine.errors import BudgetExceeded
from workbench.engine.history.plan import Action
from workbench.engine.results.memories import RelationRef
from workbench.engine.settings.sections import Settings
from workbench.engine.stores.core import add_item, read_core, same_item
from workbench.engine.stores.core_archive import release_ids
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.entities import EntityFiles, Named, Resolved
from workbench.engine.stores.episodic import Episode, append_episode, read_log, same_entry
from workbench.engine.stores.intent import Intent
from workbench.engine.stores.lookups import StandingLookup
from workbench.engine.stores.naming import same_name
from workbench.engine.stores.procedural import Workflow, learn
from workbench.engine.stores.semantic import (
    GENERAL_RELATION,
    add_fact,
    add_relation,
    add_timeline,
    find_relation,
    read_vocabulary,
    relation_or_general,
)
from workbench.engine.stores.vault import keep_note, note_title
from workbench.engine.stores.wording import clip, one_line

CORE_ITEM_CHARACTERS = 240
"""A longer text is said in core memory by its summary."""

_GENERAL = Named("General", "concept")
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


@dataclass
class Writing:
    """A memory while it is being written; collects what the answer says."""

    intent: Intent
    draft: Draft
    files: EntityFiles
    settings: Settings
    now: datetime
    standing: StandingLookup | None
    entities: list[tuple[Named, Resolved]]
    relations: list[RelationRef]
    warnings: list[str]
    store: str
    core_update: str | None = None


@dataclass(frozen=True)
class Written:
    """Where a memory stands; `fresh` is false where it stood there before."""

    id: str
    path: str
    fresh: bool
    warnings: tuple[str, ...] = ()


def write_memory(writing: Writing) -> Written:
    """Write a memory into its store, unless it stands there already.

    Raises:
        InvalidInput: Something of it cannot be kept.
        NotFound: An entity given by id, or a block of core memory, does not exist.
    """
    match writing.intent.store:
        case "core":
            return _write_core(writing)
        case "semantic":
            return _write_facts(writing)
        case "procedural":
            return _write_procedure(writing)
        case "vault":
            kept = keep_note(
                writing.draft,
                note_title(writing.intent.summary),
                writing.intent.text,
                scope=writing.intent.scope,
            )
            _connect(writing, kept.id if kept.fresh else None)
            return Written(kept.id, kept.path, kept.fresh)
        case _:
            return _write_episode(writing)


def _write_episode(writing: Writing) -> Written:
    intent, now = writing.intent, writing.now
    log = read_log(writing.draft, now)
    known = same_entry(log.entries, intent.text, intent.scope)
    if known is not None:
        return Written(known.id, log.path, fresh=False)
    _resolve(writing, create=True)
    about = tuple(dict.fromkeys(resolved.id for _, resolved in writing.entities))
    episode = Episode(
        intent.text,
        intent.type,
        intent.confidence,
        intent.tags,
        intent.source,
        about,
        intent.origins,
        intent.scope,
    )
    recorded = append_episode(writing.draft, episode, now, summary=intent.summary, log=log)
    for _, resolved in writing.entities:
        if resolved.created:
            add_timeline(writing.files, resolved.id, "First mentioned", recorded.id)
    _relate(writing, recorded.id)
    return Written(recorded.id, log.path, recorded.fresh)


def _write_facts(writing: Writing) -> Written:
    intent, files = writing.intent, writing.files
    _resolve(writing, create=True)
    if not writing.entities:
        writing.entities.append((_GENERAL, files.resolve(_GENERAL)))
        writing.warnings.append(
            f"No entity was named; the fact was filed under [[{writing.entities[0][1].id}]]. "
            "Name one with TYPE:NAME to file it there."
        )
    origin = intent.origin()
    stated = []
    subjects = []
    for fact in intent.facts:
        subject = _subject(writing, fact.subject)
        subjects.append(subject.id)
        stated.append(add_fact(files, subject.id, fact.text, origin))
    _relate(writing, None)
    _associate(writing, subjects)
    first = next((each for each in stated if each.fresh), stated[0])
    return Written(first.id, first.path, first.fresh)


def _write_procedure(writing: Writing) -> Written:
    intent = writing.intent
    outline = intent.procedure
    learned_from = intent.origins or (f"{intent.source} on {writing.now:%Y-%m-%d}",)
    if outline is not None:
        workflow = Workflow(outline.title, outline.trigger, outline.steps, learned_from=learned_from)
    else:
        lines = [_LIST_MARK.sub("", line).strip() for line in intent.text.split("\n") if line.strip()]
        workflow = Workflow(intent.summary, steps=tuple(lines), learned_from=learned_from)
    learned = learn(writing.draft, workflow, writing.now, scope=intent.scope)
    _connect(writing, learned.id if learned.fresh else None)
    return Written(learned.id, learned.path, learned.fresh, learned.warnings)


def _write_core(writing: Writing) -> Written:
    intent = writing.intent
    core = read_core(writing.draft)
    known = same_item(core, _core_text(intent))
    if known is not None:
        return Written(known.id, core.path, fresh=False)
    try:
        item_id = _add_to_core(writing)
    except BudgetExceeded as full:
        writing.warnings.append(f"{full.message} It was kept as an episode instead. {full.remedy}")
        writing.store = "episodic"
        return _write_episode(writing)
    _connect(writing, item_id)
    return Written(item_id, core.path, fresh=True)


def update_core(writing: Writing) -> None:
    """Say the memory in core memory as well; where that is full, a warning says what could go."""
    known = same_item(read_core(writing.draft), _core_text(writing.intent))
    if known is not None:
        return
    try:
        writing.core_update = _add_to_core(writing)
    except BudgetExceeded as full:
        writing.warnings.append(f"{full.message} It was left out of core memory. {full.remedy}")


def _add_to_core(writing: Writing) -> str:
    intent = writing.intent
    core = read_core(writing.draft)
    block = intent.core_block or "Active Context"
    pinned = intent.pinned and intent.store == "core"
    edit, item = add_item(
        core, block, _core_text(intent), writing.settings, pinned=pinned, standing=writing.standing
    )
    name = next(each.name for each in edit.core.blocks if item in each.items)
    summary = f"added “{clip(item.text, 60)}” to {name}"
    writing.draft.write(core.path, edit.core.render(), Action.EDIT, summary)
    release_ids(writing.draft, edit.core, writing.now)
    writing.warnings.extend(edit.warnings)
    return item.id


def _core_text(intent: Intent) -> str:
    line = one_line(intent.text)
    return line if len(line) <= CORE_ITEM_CHARACTERS else intent.summary


def _resolve(writing: Writing, *, create: bool) -> None:
    """Find the entities; those that the text merely mentions are made only where a store lives by them."""
    ends = [end for relation in writing.intent.relations for end in (relation.from_, relation.to)]
    for named in writing.intent.named:
        wanted = create or named.given or any(same_name(named.name, end) for end in ends)
        resolved = writing.files.resolve(named) if wanted else writing.files.known(named)
        if resolved is not None:
            writing.entities.append((named, resolved))


def _connect(writing: Writing, memory_id: str | None) -> None:
    """Join a memory that is no part of the graph to the entities that were given for it."""
    if memory_id is None:
        found = [(named, writing.files.known(named)) for named in writing.intent.named]
        writing.entities.extend((named, resolved) for named, resolved in found if resolved is not None)
        return
    _resolve(writing, create=False)
    for named, resolved in writing.entities:
        if named.given or resolved.created:
            add_timeline(writing.files, resolved.id, writing.intent.summary, memory_id)
    _relate(writing, None)


def _relate(writing: Writing, memory_id: str | None) -> None:
    vocabulary = read_vocabulary(writing.draft, writing.settings)
    for mention in writing.intent.relations:
        start, end = _entity(writing, mention.from_), _entity(writing, mention.to)
        if start is None or end is None or start.id == end.id:
            continue
        relation, note = relation_or_general(vocabulary, mention.relation)
        add_relation(writing.files, vocabulary, start.id, relation, end.id, writing.intent.origin(memory_id))
        writing.relations.append(RelationRef(f"entity:{start.id}", relation, f"entity:{end.id}"))
        if note:
            writing.warnings.append(note)


def _associate(writing: Writing, subjects: list[str]) -> None:
    """Join entities that were given or made for a fact, and stand in no relation yet, to its subject."""
    vocabulary = read_vocabulary(writing.draft, writing.settings)
    related = {end for ref in writing.relations for end in (ref.from_, ref.to)}
    for named, resolved in writing.entities:
        loose = f"entity:{resolved.id}" not in related and resolved.id not in subjects
        if not loose or not (named.given or resolved.created):
            continue
        subject = writing.files.require(subjects[0])
        if find_relation(subject, GENERAL_RELATION, resolved.id, writing.intent.scope) is None:
            origin = writing.intent.origin()
            add_relation(writing.files, vocabulary, subject.id, GENERAL_RELATION, resolved.id, origin)
        writing.relations.append(
            RelationRef(f"entity:{subject.id}", GENERAL_RELATION, f"entity:{resolved.id}")
        )


def _subject(writing: Writing, name: str | None) -> Resolved:
    """Return the entity that a fact is filed under: one that was given wins over one read out of the text."""
    found = _entity(writing, name) if name else None
    given = [resolved for named, resolved in writing.entities if named.given]
    if given and (found is None or found not in given):
        return given[0]
    return found or writing.entities[0][1]


def _entity(writing: Writing, name: str) -> Resolved | None:
    for named, resolved in writing.entities:
        if name == resolved.id or same_name(name, named.name) or same_name(name, resolved.label):
            return resolved
    return None
