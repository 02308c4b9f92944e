"""Remembering: one plan that writes a memory into its store, the graph and, if important, core memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from workbench.engine.catalog.names import same_name
from workbench.engine.errors import BudgetExceeded, InvalidInput
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.memory import decay_decisions
from workbench.engine.memory.core import add_item, read_core, release_ids, same_item
from workbench.engine.memory.draft import Draft, EntityLookup, StandingLookup
from workbench.engine.memory.entities import EntityFiles, EntityName, ResolvedEntity, parse_entity
from workbench.engine.memory.episodes import Episode, append_episode, read_log, same_entry
from workbench.engine.memory.graph import (
    GENERAL_RELATION,
    Origin,
    add_fact,
    add_relation,
    add_timeline,
    find_relation,
    read_vocabulary,
    relation_or_general,
)
from workbench.engine.memory.lookup import locate_memory
from workbench.engine.memory.procedures import Workflow, learn
from workbench.engine.memory.vault import keep_note, note_title
from workbench.engine.memory.wording import (
    CONFIDENCES,
    EPISODE_TYPES,
    checked_source,
    checked_word,
    clean_memory,
    clean_name,
    clean_tags,
    clip,
    one_line,
)
from workbench.engine.requests import RememberRequest
from workbench.engine.results.memories import EntityRef, RelationRef, Remembered
from workbench.engine.settings.sections import Settings
from workbench.engine.triggers.model import FactStatement, ProcedureOutline, RelationMention, Routing

SUMMARY_CHARACTERS = 100

CORE_ITEM_CHARACTERS = 240
"""Core memory gets only the summary of longer texts."""
_GENERAL = EntityName("General", "concept")
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")


@dataclass(frozen=True)
class Intent:
    """A memory ready to be stored: the routing's decisions, overridden by the request.

    Args:
        named: Every entity, those of the request first.
        core_block: The block of core memory for it; None for none.
        router: `given`, `rules` or `model`.
    """

    text: str
    store: str
    type: str
    tags: tuple[str, ...]
    confidence: str
    source: str
    summary: str
    named: tuple[EntityName, ...]
    relations: tuple[RelationMention, ...]
    facts: tuple[FactStatement, ...]
    procedure: ProcedureOutline | None
    core_block: str | None
    origins: tuple[str, ...]
    pinned: bool
    router: str
    fallback: str | None
    warnings: tuple[str, ...]
    scope: str | None = None

    @property
    def given(self) -> tuple[EntityName, ...]:
        """Return the entities that the request names."""
        return tuple(named for named in self.named if named.given)

    def origin(self, memory_id: str | None = None) -> Origin:
        """Return the source of the facts and relations of this memory.

        Args:
            memory_id: The episode that holds the memory, if any.
        """
        sources = (memory_id, *self.origins) if memory_id else self.origins
        return Origin(sources or (f"source:{self.source}",), self.confidence)


def read_intent(request: RememberRequest, routing: Routing) -> Intent:
    """Validate a request and combine it with the routing of its text.

    Raises:
        InvalidInput: The text cannot be kept, or a word is not in its vocabulary.
    """
    wording = clean_memory(request.text)
    store = routing.store if request.store is None else checked_word(request.store, MEMORY_STORES, "store")
    kind = (
        routing.type if request.type is None else checked_word(request.type, EPISODE_TYPES, "type of memory")
    )
    given = routing.confidence if request.confidence is None else request.confidence
    named, warnings = _named(request, routing)
    block = request.block
    if request.scope is not None and (block is not None or request.store == "core"):
        raise InvalidInput(
            "Core memory is the owner’s alone.",
            remedy="Leave out for whom it is, or the store and the block.",
        )
    if request.scope is not None and store == "core":
        store = "episodic"
    # A request for another store is a decision; core memory is then left alone unless a block is requested.
    worth_it = store == "core" or (routing.core_update and request.store is None)
    if block is None and worth_it and request.scope is None:
        block = routing.core_block or "Active Context"
    return Intent(
        text=wording.text,
        store=store,
        type=kind,
        tags=clean_tags(request.tags or routing.tags),
        confidence=checked_word(given, CONFIDENCES, "confidence"),
        source=checked_source(request.source),
        summary=clip(routing.summary, SUMMARY_CHARACTERS) or clip(wording.text, SUMMARY_CHARACTERS),
        named=named,
        relations=routing.relations,
        facts=routing.facts or (FactStatement(None, wording.text),),
        procedure=routing.procedure,
        core_block=block,
        origins=request.origins,
        pinned=request.pinned,
        router="given" if request.store is not None else routing.router,
        fallback=routing.fallback,
        warnings=(*wording.warnings, *warnings),
        scope=request.scope,
    )


def _named(request: RememberRequest, routing: Routing) -> tuple[tuple[EntityName, ...], list[str]]:
    named = [parse_entity(text) for text in request.entities]
    warnings = []
    for mention in routing.entities:
        try:
            name = clean_name(mention.name)
        except InvalidInput:
            warnings.append(f"“{clip(mention.name, 40)}” cannot be the name of an entity and was left out.")
            continue
        if not any(same_name(name, known.name) for known in named):
            named.append(EntityName(name, mention.type))
    return tuple(named), warnings


@dataclass
class MemoryWrite:
    """A memory being written, with the messages about it."""

    intent: Intent
    draft: Draft
    files: EntityFiles
    settings: Settings
    now: datetime
    standing: StandingLookup | None
    entities: list[tuple[EntityName, ResolvedEntity]]
    relations: list[RelationRef]
    warnings: list[str]
    store: str
    core_update: str | None = None


@dataclass(frozen=True)
class StoredMemory:
    """The location of a memory; `fresh` is False if it already existed."""

    id: str
    path: str
    fresh: bool
    warnings: tuple[str, ...] = ()


def write_memory(writing: MemoryWrite) -> StoredMemory:
    """Write a memory into its store, unless it is already there.

    Raises:
        InvalidInput: Part of it cannot be kept.
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
            return StoredMemory(kept.id, kept.path, kept.fresh)
        case _:
            return _write_episode(writing)


def _write_episode(writing: MemoryWrite) -> StoredMemory:
    intent, now = writing.intent, writing.now
    log = read_log(writing.draft, now)
    known = same_entry(log.entries, intent.text, intent.scope)
    if known is not None:
        return StoredMemory(known.id, log.path, fresh=False)
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
    return StoredMemory(recorded.id, log.path, recorded.fresh)


def _write_facts(writing: MemoryWrite) -> StoredMemory:
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
    return StoredMemory(first.id, first.path, first.fresh)


def _write_procedure(writing: MemoryWrite) -> StoredMemory:
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
    return StoredMemory(learned.id, learned.path, learned.fresh, learned.warnings)


def _write_core(writing: MemoryWrite) -> StoredMemory:
    intent = writing.intent
    core = read_core(writing.draft)
    known = same_item(core, _core_text(intent))
    if known is not None:
        return StoredMemory(known.id, core.path, fresh=False)
    try:
        item_id = _add_to_core(writing)
    except BudgetExceeded as full:
        writing.warnings.append(f"{full.message} It was kept as an episode instead. {full.remedy}")
        writing.store = "episodic"
        return _write_episode(writing)
    _connect(writing, item_id)
    return StoredMemory(item_id, core.path, fresh=True)


def update_core(writing: MemoryWrite) -> None:
    """Add the memory to core memory; if that is full, a warning names candidates for removal."""
    known = same_item(read_core(writing.draft), _core_text(writing.intent))
    if known is not None:
        return
    try:
        writing.core_update = _add_to_core(writing)
    except BudgetExceeded as full:
        writing.warnings.append(f"{full.message} It was left out of core memory. {full.remedy}")


def _add_to_core(writing: MemoryWrite) -> str:
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


def _resolve(writing: MemoryWrite, *, create: bool) -> None:
    """Resolve the entities; those only mentioned in the text are created only for stores that need them."""
    ends = [end for relation in writing.intent.relations for end in (relation.from_, relation.to)]
    for named in writing.intent.named:
        wanted = create or named.given or any(same_name(named.name, end) for end in ends)
        resolved = writing.files.resolve(named) if wanted else writing.files.known(named)
        if resolved is not None:
            writing.entities.append((named, resolved))


def _connect(writing: MemoryWrite, memory_id: str | None) -> None:
    """Link a memory outside the graph to the entities given for it."""
    if memory_id is None:
        found = [(named, writing.files.known(named)) for named in writing.intent.named]
        writing.entities.extend((named, resolved) for named, resolved in found if resolved is not None)
        return
    _resolve(writing, create=False)
    for named, resolved in writing.entities:
        if named.given or resolved.created:
            add_timeline(writing.files, resolved.id, writing.intent.summary, memory_id)
    _relate(writing, None)


def _relate(writing: MemoryWrite, memory_id: str | None) -> None:
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


def _associate(writing: MemoryWrite, subjects: list[str]) -> None:
    """Link entities given or created for a fact, and still unrelated, to its subject."""
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


def _subject(writing: MemoryWrite, name: str | None) -> ResolvedEntity:
    """Return the entity for a fact: a given one takes precedence over one found in the text."""
    found = _entity(writing, name) if name else None
    given = [resolved for named, resolved in writing.entities if named.given]
    if given and (found is None or found not in given):
        return given[0]
    return found or writing.entities[0][1]


def _entity(writing: MemoryWrite, name: str) -> ResolvedEntity | None:
    for named, resolved in writing.entities:
        if name == resolved.id or same_name(name, named.name) or same_name(name, resolved.label):
            return resolved
    return None


def plan_remember(
    view: FileView,
    request: RememberRequest,
    routing: Routing,
    *,
    now: datetime,
    settings: Settings,
    lookup: EntityLookup,
    standing: StandingLookup | None = None,
) -> Plan[Remembered]:
    """Plan to remember a text.

    A memory that already exists (an episode of today, a current fact, a note, a procedure or an item of core memory
    with the same text) is not written again, and the answer says so. If core memory is full, the memory is still
    stored, with a warning that names candidates for removal; if it belonged only in core memory, it becomes an
    episode.

    Args:
        view: The files.
        request: The text and the caller's options.
        routing: The routing of the text.
        now: Aware, in the workspace's zone.
        settings: They give the cap of core memory and the workspace's relations.
        lookup: Finds entities by name.
        standing: If given, a full core memory names its least relevant items first.

    Raises:
        InvalidInput: The text cannot be kept, or an option is invalid.
        NotFound: An entity given by id, or the block, does not exist.
    """
    intent = read_intent(request, routing)
    draft = Draft(view)
    files = EntityFiles(draft, lookup, now, scope=request.scope)
    writing = MemoryWrite(
        intent, draft, files, settings, now, standing, [], [], list(intent.warnings), intent.store
    )
    written = write_memory(writing)
    writing.warnings.extend(written.warnings)
    if not written.fresh:
        writing.warnings.append(f"This is remembered already, as {written.id}; it was not written again.")
    if intent.core_block is not None and writing.store != "core" and intent.store != "core":
        update_core(writing)
    if intent.pinned and not written.id.startswith("vault:"):
        located = locate_memory(draft, written.id, now.tzinfo or settings.zone)
        decay_decisions.pin(draft, [located], decay_decisions.decay_context(now, settings))
    return _plan(writing, written)


def _plan(writing: MemoryWrite, written: StoredMemory) -> Plan[Remembered]:
    intent, changes = writing.intent, writing.draft.changes()
    entities = {resolved.id: resolved for _, resolved in writing.entities}
    ids = [written.id, *([writing.core_update] if writing.core_update else [])]
    ids.extend(f"entity:{entity}" for entity, resolved in entities.items() if resolved.created)
    outcome = Remembered(
        commit=None,
        files=tuple(change.path for change in changes),
        ids=tuple(dict.fromkeys(ids)),
        warnings=tuple(dict.fromkeys(writing.warnings)),
        id=written.id,
        store=writing.store,
        path=written.path,
        router=intent.router,
        fallback=intent.fallback,
        tags=intent.tags,
        confidence=intent.confidence,
        entities=tuple(EntityRef(f"entity:{each.id}", each.type, each.label) for each in entities.values()),
        relations=tuple(writing.relations),
        core_update=writing.core_update,
        summary=intent.summary,
        questions=tuple(question for each in entities.values() for question in each.questions),
    )
    main = next(
        (change for change in changes if change.path == written.path), changes[0] if changes else None
    )
    action, path, summary = (
        (main.action, main.path, main.summary) if main else (Action.EDIT, written.path, "")
    )
    return writing.draft.plan(action, path, summary or f"remembered already as {written.id}", outcome)
