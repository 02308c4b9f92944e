"""Remembering: one plan that writes a memory into its store, the graph and, if important, core memory."""

from __future__ import annotations

from datetime import date, datetime

from workbench.engine.catalog.terms import same_name
from workbench.engine.errors import BudgetExceeded, InvalidInput
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.identifiers import MEMORY_STORES
from workbench.engine.markdown.episodes import NewEntry
from workbench.engine.memory.core import add_item, read_core, release_ids, same_item
from workbench.engine.memory.decay import DecayContext
from workbench.engine.memory.draft import Draft, EntityLookup, RelevanceLookup, Stored
from workbench.engine.memory.entities import EntityFiles, EntityName, ResolvedEntity, parse_entity
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
from workbench.engine.memory.scores_file import Decision, decide
from workbench.engine.memory.stores import (
    append_episode,
    heading_fields,
    keep_note,
    learn,
    note_title,
    read_log,
    same_entry,
)
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
from workbench.engine.patterns import lazy_pattern
from workbench.engine.requests import RememberRequest
from workbench.engine.results.memories import EntityRef, RelationRef, Remembered
from workbench.engine.settings.sections import Settings
from workbench.engine.triggers.model import FactStatement, ProcedureOutline, RelationMention, Routing
from workbench.engine.values import dataclass

_SUMMARY_CHARACTERS = 100
_CORE_ITEM_CHARACTERS = 240
"""Core memory gets only the summary of longer texts."""
_GENERAL = EntityName("General", "concept")
_LIST_MARK = lazy_pattern(r"^\s*(?:[-*+]|\d+[.)])\s+")


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
    scope: str | None
    on: date | None

    def origin(self, memory_id: str | None = None) -> Origin:
        """Return the source of the facts and relations of this memory.

        Args:
            memory_id: The episode that holds the memory, if any.
        """
        sources = (memory_id, *self.origins) if memory_id else self.origins
        return Origin(sources or (f"source:{self.source}",), self.confidence)


def _read_intent(request: RememberRequest, routing: Routing) -> Intent:
    """Validate a request and combine it with the routing of its text."""
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
        summary=clip(routing.summary, _SUMMARY_CHARACTERS) or clip(wording.text, _SUMMARY_CHARACTERS),
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
        on=date.fromisoformat(request.on) if request.on is not None else None,
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


class MemoryWriter:
    """Writes one memory into a draft, and collects what comes of it and the messages about it."""

    def __init__(
        self,
        intent: Intent,
        files: EntityFiles,
        settings: Settings,
        now: datetime,
        scores: RelevanceLookup | None,
    ) -> None:
        self._intent = intent
        self._files = files
        self._draft = files.draft
        self._settings = settings
        self._now = now
        self._scores = scores
        self._entities: list[tuple[EntityName, ResolvedEntity]] = []
        self._relations: list[RelationRef] = []
        self._warnings = list(intent.warnings)
        self._store = intent.store
        self._core_update: str | None = None

    def write(self) -> Plan[Remembered]:
        """Write the memory into its store, unless it is already there, and into core memory if it belongs there.

        Raises:
            InvalidInput: Part of it cannot be kept.
            NotFound: An entity given by id, or a block of core memory, does not exist.
        """
        intent = self._intent
        written = self._write_into_store()
        self._warnings.extend(written.warnings)
        if not written.fresh:
            self._warnings.append(f"This is remembered already, as {written.id}; it was not written again.")
        if intent.core_block is not None and intent.store != "core":
            self._update_core()
        if intent.pinned and not written.id.startswith("vault:"):
            located = locate_memory(self._draft, written.id, self._now.tzinfo or self._settings.zone)
            context = DecayContext.at(self._now, self._settings)
            decide(self._draft, Decision.PIN, [located.facts()], context)
        return self._plan(written)

    def _write_into_store(self) -> Stored:
        match self._intent.store:
            case "core":
                return self._write_core()
            case "semantic":
                return self._write_facts()
            case "procedural":
                return self._write_procedure()
            case "vault":
                return self._write_note()
            case _:
                return self._write_episode()

    def _write_episode(self) -> Stored:
        intent = self._intent
        if intent.on is not None and intent.on > self._now.date():
            raise InvalidInput(
                f"{intent.on} is still to come.", remedy="An episode is logged once it happened."
            )
        moment = self._now if intent.on is None else datetime.combine(intent.on, self._now.timetz())
        log = read_log(self._draft, moment)
        known = same_entry(log.entries, intent.text, intent.scope)
        if known is not None:
            return Stored(known.id, log.path, fresh=False)
        self._resolve(create=True)
        about = tuple(dict.fromkeys(resolved.id for _, resolved in self._entities))
        entry = NewEntry(
            f"{self._now:%H:%M}",
            intent.text,
            intent.type,
            intent.confidence,
            intent.tags,
            intent.source,
            heading_fields(about, intent.origins, intent.scope),
        )
        recorded = append_episode(self._draft, log, entry, intent.summary)
        for _, resolved in self._entities:
            if resolved.created:
                add_timeline(self._files, resolved.id, "First mentioned", recorded)
        self._relate(recorded)
        return Stored(recorded, log.path, fresh=True)

    def _write_facts(self) -> Stored:
        intent, files = self._intent, self._files
        self._resolve(create=True)
        if not self._entities:
            self._entities.append((_GENERAL, files.resolve(_GENERAL)))
            self._warnings.append(
                f"No entity was named; the fact was filed under [[{self._entities[0][1].id}]]. "
                "Name one with TYPE:NAME to file it there."
            )
        origin = intent.origin()
        subjects = [self._subject(fact.subject).id for fact in intent.facts]
        stated = [
            add_fact(files, subject, fact.text, origin)
            for subject, fact in zip(subjects, intent.facts, strict=True)
        ]
        self._relate(None)
        self._associate(subjects)
        first = next((each for each in stated if each.fresh), stated[0])
        return Stored(first.id, first.path, first.fresh)

    def _write_procedure(self) -> Stored:
        intent = self._intent
        workflow = intent.procedure
        if workflow is None:
            lines = [_LIST_MARK.sub("", line).strip() for line in intent.text.split("\n") if line.strip()]
            workflow = ProcedureOutline(intent.summary, "", tuple(lines))
        learned_from = intent.origins or (f"{intent.source} on {self._now:%Y-%m-%d}",)
        learned = learn(self._draft, workflow, learned_from, self._now, scope=intent.scope)
        self._connect(learned.id if learned.fresh else None)
        return learned

    def _write_note(self) -> Stored:
        intent = self._intent
        kept = keep_note(self._draft, note_title(intent.summary), intent.text, scope=intent.scope)
        self._connect(kept.id if kept.fresh else None)
        return kept

    def _write_core(self) -> Stored:
        core = read_core(self._draft)
        known = same_item(core, self._core_text())
        if known is not None:
            return Stored(known.id, core.path, fresh=False)
        try:
            item_id = self._add_to_core()
        except BudgetExceeded as full:
            self._warnings.append(f"{full.message} It was kept as an episode instead. {full.remedy}")
            self._store = "episodic"
            return self._write_episode()
        self._connect(item_id)
        return Stored(item_id, core.path, fresh=True)

    def _update_core(self) -> None:
        """Add the memory to core memory; if that is full, a warning names candidates for removal."""
        if same_item(read_core(self._draft), self._core_text()) is not None:
            return
        try:
            self._core_update = self._add_to_core()
        except BudgetExceeded as full:
            self._warnings.append(f"{full.message} It was left out of core memory. {full.remedy}")

    def _add_to_core(self) -> str:
        intent = self._intent
        core = read_core(self._draft)
        edit, item = add_item(
            core,
            intent.core_block or "Active Context",
            self._core_text(),
            self._settings,
            pinned=intent.pinned and intent.store == "core",
            scores=self._scores,
        )
        name = next(each.name for each in edit.core.blocks if item in each.items)
        summary = f"added “{clip(item.text, 60)}” to {name}"
        self._draft.write(core.path, edit.core.render(), Action.EDIT, summary)
        release_ids(self._draft, edit.core, self._now)
        self._warnings.extend(edit.warnings)
        return item.id

    def _core_text(self) -> str:
        """Return the text for core memory, which gets only the summary of longer texts."""
        line = one_line(self._intent.text)
        return line if len(line) <= _CORE_ITEM_CHARACTERS else self._intent.summary

    def _resolve(self, *, create: bool) -> None:
        """Resolve the entities; those only mentioned in the text are created only for stores that need them."""
        ends = [end for relation in self._intent.relations for end in (relation.from_, relation.to)]
        for named in self._intent.named:
            wanted = create or named.given or any(same_name(named.name, end) for end in ends)
            resolved = self._files.resolve(named) if wanted else self._files.known(named)
            if resolved is not None:
                self._entities.append((named, resolved))

    def _connect(self, memory_id: str | None) -> None:
        """Link a memory outside the graph to the entities given for it."""
        if memory_id is None:
            found = [(named, self._files.known(named)) for named in self._intent.named]
            self._entities.extend((named, resolved) for named, resolved in found if resolved is not None)
            return
        self._resolve(create=False)
        for named, resolved in self._entities:
            if named.given or resolved.created:
                add_timeline(self._files, resolved.id, self._intent.summary, memory_id)
        self._relate(None)

    def _relate(self, memory_id: str | None) -> None:
        vocabulary = read_vocabulary(self._draft, self._settings)
        for mention in self._intent.relations:
            start, end = self._entity(mention.from_), self._entity(mention.to)
            if start is None or end is None or start.id == end.id:
                continue
            relation, note = relation_or_general(vocabulary, mention.relation)
            add_relation(self._files, vocabulary, start.id, relation, end.id, self._intent.origin(memory_id))
            self._relations.append(RelationRef(f"entity:{start.id}", relation, f"entity:{end.id}"))
            if note:
                self._warnings.append(note)

    def _associate(self, subjects: list[str]) -> None:
        """Link entities given or created for a fact, and still unrelated, to its subject."""
        files, origin = self._files, self._intent.origin()
        vocabulary = read_vocabulary(self._draft, self._settings)
        related = {end for ref in self._relations for end in (ref.from_, ref.to)}
        for named, resolved in self._entities:
            loose = f"entity:{resolved.id}" not in related and resolved.id not in subjects
            if not loose or not (named.given or resolved.created):
                continue
            subject = files.require(subjects[0])
            if find_relation(subject, GENERAL_RELATION, resolved.id, self._intent.scope) is None:
                add_relation(files, vocabulary, subject.id, GENERAL_RELATION, resolved.id, origin)
            self._relations.append(
                RelationRef(f"entity:{subject.id}", GENERAL_RELATION, f"entity:{resolved.id}")
            )

    def _subject(self, name: str | None) -> ResolvedEntity:
        """Return the entity for a fact: a given one takes precedence over one found in the text."""
        found = self._entity(name) if name else None
        given = [resolved for named, resolved in self._entities if named.given]
        if given and (found is None or found not in given):
            return given[0]
        return found or self._entities[0][1]

    def _entity(self, name: str) -> ResolvedEntity | None:
        for named, resolved in self._entities:
            if name == resolved.id or same_name(name, named.name) or same_name(name, resolved.label):
                return resolved
        return None

    def _plan(self, written: Stored) -> Plan[Remembered]:
        intent, changes = self._intent, self._draft.changes()
        entities = {resolved.id: resolved for _, resolved in self._entities}
        ids = [written.id, *([self._core_update] if self._core_update else [])]
        ids.extend(f"entity:{entity}" for entity, resolved in entities.items() if resolved.created)
        outcome = Remembered(
            commit=None,
            files=tuple(change.path for change in changes),
            ids=tuple(dict.fromkeys(ids)),
            warnings=tuple(dict.fromkeys(self._warnings)),
            id=written.id,
            store=self._store,
            path=written.path,
            router=intent.router,
            fallback=intent.fallback,
            tags=intent.tags,
            confidence=intent.confidence,
            entities=tuple(
                EntityRef(f"entity:{each.id}", each.type, each.label) for each in entities.values()
            ),
            relations=tuple(self._relations),
            core_update=self._core_update,
            summary=intent.summary,
            questions=tuple(question for each in entities.values() for question in each.questions),
        )
        first = changes[0] if changes else None
        main = next((change for change in changes if change.path == written.path), first)
        if main is None:
            told = f"remembered already as {written.id}"
            return self._draft.plan(Action.EDIT, written.path, told, outcome)
        return self._draft.plan(main.action, main.path, main.summary, outcome)


def plan_remember(
    view: FileView,
    request: RememberRequest,
    routing: Routing,
    *,
    now: datetime,
    settings: Settings,
    lookup: EntityLookup,
    scores: RelevanceLookup | None = None,
) -> Plan[Remembered]:
    """Plan to remember a text.

    A memory that already exists (an episode of today, a current fact, a note, a procedure or an item of core memory
    with the same text) is not written again, and the answer says so. If core memory is full, the memory is still
    stored, with a warning that names candidates for removal; if it belonged only in core memory, it becomes an
    episode.

    Args:
        scores: If given, a full core memory names its least relevant items first.

    Raises:
        InvalidInput: The text cannot be kept, or an option is invalid.
        NotFound: An entity given by id, or the block, does not exist.
    """
    files = EntityFiles(Draft(view), lookup, now, scope=request.scope)
    return MemoryWriter(_read_intent(request, routing), files, settings, now, scores).write()
