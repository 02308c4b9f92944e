"""Which planner carries out what an item asks, and in which order items are carried out.

Each item is applied on a draft of its own, over what the items before it did.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound, Stale
from workbench.engine.history.plan import Action
from workbench.engine.identifiers import parse_memory_id
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.markdown.pages import Procedure
from workbench.engine.markdown.statements import Provenance, Statement, parse_statement, render_statement
from workbench.engine.memory.core import plan_add_item, plan_pin_item, plan_replace_item, read_core
from workbench.engine.memory.decay import DecayContext
from workbench.engine.memory.draft import Draft, Stored
from workbench.engine.memory.entities import EntityFiles, entity_path
from workbench.engine.memory.forget import plan_archive, plan_restore
from workbench.engine.memory.graph import (
    Origin,
    add_fact,
    add_relation,
    checked_relation,
    find_fact,
    read_vocabulary,
    record_past_fact,
    retire,
    retire_stated,
    same_fact,
)
from workbench.engine.memory.graph_changes import plan_merge
from workbench.engine.memory.lookup import SOURCE_WORD, locate_memory
from workbench.engine.memory.remember import plan_remember
from workbench.engine.memory.scores_file import Decision, decide
from workbench.engine.memory.stores import procedure_path
from workbench.engine.memory.wording import (
    NAME_CHARACTERS,
    clean_line,
    clean_memory,
    clean_name,
    clip,
    is_correction,
    text_key,
)
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.files import read_evolution
from workbench.engine.reflection.review import item_changes as ask
from workbench.engine.requests import RememberRequest
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.review.plan_context import ParsedFiles, PlanContext

_OLD, _NEW = slice(0, 1), slice(1, None)
T = TypeVar("T")
_DAY: Final = lazy_pattern(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_CONFIDENCES: Final = ("high", "medium", "low")


def carry_out(step: Step, change: ask.ItemChange) -> None:
    """Draft what an item asks.

    Raises:
        WorkbenchError: It cannot be done; the message says why.
    """
    match change:
        case ask.NewFact():
            add_new_fact(step, change)
        case ask.OtherWording():
            reword_fact(step, change)
        case ask.NewEntity():
            make_entity(step, change)
        case ask.NewRelation():
            relate(step, change)
        case ask.Merging():
            merge(step, change)
        case ask.Superseding():
            supersede(step, change)
        case ask.Deciding():
            settle(step, change)
        case ask.Archiving():
            archive(step, change)
        case ask.Restoring():
            restore(step, change)
        case ask.Pinning():
            pin(step, change)
        case ask.NewProcedure():
            learn(step, change)
        case ask.OtherSteps():
            change_steps(step, change)
        case ask.CoreWording():
            reword_core_item(step, change)
        case ask.CoreAddition():
            add_core_item(step, change)
        case ask.Demoting():
            demote(step, change)
        case ask.Confirming():
            # It stays as it is; that it was used is counted with the commit.
            step.ids.append(change.item)
        case ask.NewInsight():
            note_insight(step, change)
        case ask.Answering():
            remember_answer(step, change)


def stage_of(change: ask.ItemChange, files: ParsedFiles) -> int:
    """Return how early an item is carried out, lowest first; items of one stage go in the order of the file.

    Entities before what is said of them; merges before what is said of the merged; what makes room in core
    memory before what fills it, so that whether an item fits does not depend on where it stands in the file.
    """
    match change:
        case ask.NewEntity():
            return 0
        case ask.Merging():
            return 1
        case ask.Demoting() | ask.Archiving():
            return 2
        case ask.CoreWording(item=item, text=text):
            known = files.core.item(item)
            return 3 if known is not None and len(text) <= len(known.text) else 4
        case _:
            return 4


# Entities, facts, relations and merges, as approved.


def add_new_fact(step: Step, change: ask.NewFact) -> None:
    """Add a fact with its evidence as sources; those of one that was corrected stay with what was proposed."""
    proposed = step.corrected()
    origin = step.origin(change.since)
    stated = add_fact(step.files, change.entity, change.text, step.own_origin() if proposed else origin)
    step.ids.append(stated.id)
    step.warnings.extend(stated.warnings)
    if proposed:
        by = stated.id.rpartition("#^")[2] if "#^" in stated.id else None
        step.ids.append(record_past_fact(step.files, change.entity, proposed, origin, by=by).id)


def reword_fact(step: Step, change: ask.OtherWording) -> None:
    """Change what a fact says; its dates and id stay, and the evidence joins its sources."""
    files = step.files
    file, fact = find_fact(files, change.fact)
    wording = clean_line(change.text)
    block = fact.block_id or ""
    sources = tuple(dict.fromkeys((*fact.provenance.sources, *step.evidence())))
    reworded = file.replace_fact(block, wording.text)
    reworded = reworded.set_provenance(block, replace(fact.provenance, sources=sources))
    files.save(reworded, f"changed “{clip(fact.text, 60)}” to “{clip(wording.text, 60)}”")
    step.ids.append(change.fact)
    step.warnings.extend(wording.warnings)


def make_entity(step: Step, change: ask.NewEntity) -> None:
    """Make an entity’s file with its names, and say where it was first mentioned.

    Raises:
        InvalidInput: It exists already, or its name cannot be a label.
    """
    path = entity_path(change.entity, step.draft)
    if step.draft.read(path) is not None:
        raise InvalidInput(
            f"[[{change.entity}]] exists already.",
            where=path,
            remedy="Reject the item, or choose another id.",
        )
    label = clean_name(change.label)
    file = EntityFile.create(path, label=label, created=step.today)
    for alias in change.aliases:
        file = file.add_alias(clean_name(alias, what="Another name"))
    if change.summary:
        file = file.set_summary(clean_memory(change.summary, what="A summary").text)
    origin = step.origin()
    if step.evidence():
        mention = render_statement(Statement("First mentioned", Provenance(sources=step.evidence()[:1])))
        file = file.add_timeline(origin.since or step.today, mention)
    kind = change.entity.partition("--")[0]
    step.files.save(file, f"new entity “{clip(label)}” ({kind})", Action.CREATE)
    step.ids.append(f"entity:{change.entity}")


def relate(step: Step, change: ask.NewRelation) -> None:
    """Add a relation of the workspace’s vocabulary.

    Raises:
        InvalidInput: The vocabulary does not know it, or both ends are one entity.
        NotFound: One of the entities does not exist.
    """
    vocabulary = read_vocabulary(step.draft, step.context.settings)
    name = checked_relation(vocabulary, change.name)
    origin = step.origin(change.since)
    stated = add_relation(step.files, vocabulary, change.from_, name, change.to, origin)
    step.ids.append(stated.id)


def merge(step: Step, change: ask.Merging) -> None:
    """Let one entity go into another, so that they can be parted again."""
    outcome = plan_merge(step.files, change.keep, change.absorb).outcome
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


# Memories hidden, brought back and protected, and ways of working, as approved.


def archive(step: Step, change: ask.Archiving) -> None:
    """Hide a memory, with the items of core memory that say it.

    Raises:
        NotFound: There is no such memory.
        InvalidInput: It is free text, which has no score.
    """
    context = step.context
    memory = called_now(step, change.memory) if change.memory.startswith("core:") else change.memory
    outcome = step.draft.lay(
        plan_archive(step.draft, [memory], context.now, context.settings, context.first_seen)
    )
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def restore(step: Step, change: ask.Restoring) -> None:
    """Bring an archived memory back.

    Raises:
        NotFound: There is no such memory, not even archived.
        BudgetExceeded: It belongs into core memory, which is full.
    """
    context = step.context
    plan = plan_restore(step.draft, [change.memory], context.now, context.settings, context.first_seen)
    outcome = step.draft.lay(plan)
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def pin(step: Step, change: ask.Pinning) -> None:
    """Protect a memory from fading. Raises `NotFound`, and `InvalidInput` for free text."""
    context = step.context
    if change.memory.startswith("core:"):
        pin_core_item(step, change.memory)
        return
    placed = locate_memory(step.draft, change.memory, context.zone)
    decay = DecayContext.at(context.now, context.settings)
    step.ids.extend(decide(step.draft, Decision.PIN, [placed.facts()], decay))


def learn(step: Step, change: ask.NewProcedure) -> None:
    """Write a procedure down.

    Raises:
        InvalidInput: It exists already, or a text of it cannot be kept.
    """
    path = procedure_path(change.procedure)
    if step.draft.read(path) is not None:
        raise InvalidInput(
            f"{change.procedure} exists already.", where=path, remedy="Reject the item, or choose another id."
        )
    title = clean_line(change.title, what="The title of a procedure", limit=NAME_CHARACTERS).text
    made = Procedure.create(
        path,
        title=title,
        learned=step.today,
        trigger=_when(change.when),
        steps=_steps(change.steps),
        learned_from=step.evidence(),
    )
    step.draft.write(path, made.render(), Action.CREATE, f"learned “{clip(title)}”")
    step.ids.append(change.procedure)


def change_steps(step: Step, change: ask.OtherSteps) -> None:
    """Replace the steps of a procedure; its notes stay, and the evidence joins what it was learned from.

    Raises:
        NotFound: There is no such procedure.
        InvalidInput: A step cannot be kept.
    """
    path = procedure_path(change.procedure)
    known = Procedure.parse(step.draft.require(path, f"procedure {change.procedure}"), path)
    changed = known.set_steps(_steps(change.steps))
    when = _when(change.when)
    if when and text_key(when) != text_key(known.trigger):
        changed = changed.set_trigger(when)
    for memory in step.evidence():
        changed = changed.add_learned_from(memory)
    step.draft.write(path, changed.render(), Action.EDIT, f"changed the steps of “{clip(known.title)}”")
    step.ids.append(change.procedure)


def _when(text: str) -> str:
    return clean_line(text, what="The trigger").text if text.strip() else ""


def _steps(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(clean_line(text, what="A step").text for text in texts)


# What is understood better now: insights approved, and questions answered.


def note_insight(step: Step, change: ask.NewInsight) -> None:
    """Add an insight to its section of `evolution.md`, which is made where it is missing."""
    evolution = read_evolution(step.draft)
    section = clean_line(change.section, what="A section", limit=80).text
    wording = clean_memory(change.text, what="An insight")
    step.warnings.extend(wording.warnings)
    added = evolution.add(
        section, wording.text, lambda block: step.draft.was_given(f"{layout.EVOLUTION}#^{block}")
    )
    told = f"added “{clip(wording.text, 60)}” to {clip(section)}"
    step.draft.write(evolution.path, added.render(), Action.EDIT, told)


def remember_answer(step: Step, change: ask.Answering) -> None:
    """Remember a question with the person’s answer, and close the open question of the entity it is about.

    Raises:
        InvalidInput: There is no answer, or it cannot be kept.
        NotFound: There is no such entity.
    """
    if not change.answer:
        raise InvalidInput("It has no answer yet.", remedy="Write one behind “answer:”.")
    context = step.context
    # An answer alone (“Yes, until May”) says nothing to a reader a year later.
    text = f"{clean_memory(change.question).text} {clean_memory(change.answer).text}"
    request = RememberRequest(
        text,
        store="episodic",
        entities=(change.about,) if change.about else (),
        confidence="high",
        source="user-explicit",
        origins=step.evidence(),
    )
    plan = plan_remember(
        step.draft,
        request,
        context.route(change.answer),
        now=context.now,
        settings=context.settings,
        lookup=context.lookup,
        scores=context.standing,
    )
    outcome = step.draft.lay(plan)
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)
    if change.about:
        _close_question(step, change)


def _close_question(step: Step, change: ask.Answering) -> None:
    files = step.files
    file = files.require(change.about)
    for question in file.questions:
        if text_key(question.text) == text_key(change.question):
            files.save(file.remove_item(question.span), f"answered “{clip(change.question, 60)}”")
            return


# Core memory, as approved: other words, new items and items that leave, always within its cap.


def reword_core_item(step: Step, change: ask.CoreWording) -> None:
    """Change what an item says.

    Raises:
        BudgetExceeded: Core memory would pass its cap.
        NotFound: There is no such item.
    """
    context = step.context
    plan = plan_replace_item(
        step.draft, called_now(step, change.item), change.text, context.settings, context.now
    )
    outcome = step.draft.lay(plan)
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def add_core_item(step: Step, change: ask.CoreAddition) -> None:
    """Add an item at the end of a block; raises as `reword_core_item`."""
    context = step.context
    plan = plan_add_item(
        step.draft, change.block, change.text, context.settings, context.now, scores=context.standing
    )
    outcome = step.draft.lay(plan)
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def demote(step: Step, change: ask.Demoting) -> None:
    """Take an item out of core memory; it is archived, so that it can be restored. Raises `NotFound`."""
    context = step.context
    item = called_now(step, change.item)
    outcome = step.draft.lay(
        plan_archive(step.draft, [item], context.now, context.settings, context.first_seen)
    )
    step.ids.extend(outcome.ids)
    step.warnings.extend(outcome.warnings)


def pin_core_item(step: Step, item: str) -> None:
    """Mark an item so that it is neither pruned nor fades; raises as `reword_core_item`."""
    context = step.context
    outcome = step.draft.lay(
        plan_pin_item(step.draft, called_now(step, item), True, context.settings, context.now)
    )
    step.ids.extend(outcome.ids)


def called_now(step: Step, item_id: str) -> str:
    """Return the id that an item has by now: alike items are told apart by their order, which others may change.

    Raises:
        NotFound: It is gone.
    """
    original = step.before.core.item(item_id)
    if original is None:
        raise NotFound(
            f"Core memory has no item {clip(item_id)}.", remedy="`workbench core --json` lists them."
        )
    block = item_id.split(":")[1]
    drafted = [item for each in read_core(step.draft).blocks if each.slug == block for item in each.items]
    same = [item for item in drafted if text_key(item.text) == text_key(original.text)]
    if any(item.id == item_id for item in same):
        return item_id
    if not same:
        raise NotFound(
            f"Another item of this reflection changes {clip(item_id)} already.",
            remedy="Reject one of the two.",
        )
    return same[0].id


# Values that change and statements that contradict each other, as decided.


def supersede(step: Step, change: ask.Superseding) -> None:
    """Replace an old value by a new one, which keeps its line with the days to which it held.

    Raises:
        InvalidInput: Both say the same.
        Stale: The recorded old value no longer holds.
        NotFound: There is no such entity or fact.
    """
    if change.old and text_key(change.old) == text_key(change.new):
        raise InvalidInput(
            "The old and the new value say the same.", remedy="Reword one, or reject the item."
        )
    files = step.files
    recorded = _recorded(step, change.fact)
    origin = step.origin(change.since, _NEW)
    proposed = step.corrected(_NEW)
    stated = add_fact(files, change.entity, change.new, step.own_origin() if proposed else origin)
    block = _block(stated)
    if proposed:
        step.ids.append(record_past_fact(files, change.entity, proposed, origin, by=block).id)
    until = change.until or change.since or origin.since
    step.ids.append(stated.id)
    step.warnings.extend(stated.warnings)
    if recorded:
        file, fact = find_fact(files, recorded)
        if fact.block_id != block:
            retire(files, file, fact, until=until, by=block)
    elif retire_stated(files, change.entity, change.old, until=until, by=block) is None:
        was = replace(step.origin(change.held_since, _OLD), since=change.held_since)
        past = record_past_fact(files, change.entity, change.old, was, until=until, by=block)
        step.ids.append(past.id)


def settle(step: Step, change: ask.Deciding) -> None:
    """Let the chosen statements hold, and a recorded one that lost hold no longer.

    Raises:
        Stale: The recorded statement no longer holds.
        NotFound: There is no such entity or fact.
        InvalidInput: A statement cannot be kept.
    """
    recorded = _recorded(step, change.fact)
    this = _chosen(step, change.this, _OLD) if change.resolve in ("this", "both") else None
    that = _chosen(step, change.that, _NEW) if change.resolve in ("that", "both") else None
    winner: Stored | None = None
    since: str | None = None
    if this is not None:
        winner = _state(step, change.entity, this, recorded)
        since = this.origin.since
    if that is not None:
        winner = _state(step, change.entity, that, None)
        since = that.origin.since
    if winner is None or change.resolve == "both":
        return
    block, files = _block(winner), step.files
    if since is None and block is not None:
        # A recorded fact that quotes itself has no day of its own but the one it holds from.
        since = find_fact(files, winner.id)[1].provenance.since
    if change.resolve == "that" and recorded:
        file, fact = find_fact(files, recorded)
        if fact.block_id != block:
            retire(files, file, fact, until=since, by=block)
    else:
        loser = change.that if change.resolve == "this" else change.this
        if loser:
            retire_stated(files, change.entity, _bare(loser), until=since, by=block)


@dataclass(frozen=True)
class _Chosen:
    """A statement that shall hold: its words, and dates that the person wrote into it."""

    text: str
    since: str | None
    until: str | None
    origin: Origin


def _chosen(step: Step, text: str, part: slice) -> _Chosen:
    known = parse_statement(text)
    since, until = known.provenance.since, known.provenance.until
    return _Chosen(known.text, since, until, step.origin(since, part))


def _bare(text: str) -> str:
    return parse_statement(text).text


def _state(step: Step, entity: str, chosen: _Chosen, recorded: str | None) -> Stored:
    """Record a statement, as another wording of the recorded one where there is one."""
    files = step.files
    over = chosen.until is not None and chosen.until <= step.today[: len(chosen.until)]
    if recorded is not None:
        file, fact = find_fact(files, recorded)
        known = replace(
            fact.provenance,
            since=chosen.since or fact.provenance.since,
            until=chosen.until or fact.provenance.until,
        )
        stated = Stored(recorded, file.path, fresh=False)
        text = clean_line(chosen.text).text
        if text_key(text) != text_key(fact.text) or known != fact.provenance:
            block = fact.block_id or ""
            changed = file.replace_fact(block, text).set_provenance(block, known)
            files.save(changed, f"changed “{clip(fact.text, 60)}” to “{clip(text, 60)}”")
        if over:
            file, fact = find_fact(files, recorded)
            retire(files, file, fact, until=chosen.until)
    elif over:
        stated = record_past_fact(files, entity, chosen.text, chosen.origin, until=chosen.until)
    else:
        stated = add_fact(files, entity, chosen.text, chosen.origin)
        if chosen.until is not None and stated.fresh:
            _hold_until(step, stated, chosen)
    step.ids.append(stated.id)
    step.warnings.extend(stated.warnings)
    return stated


def _hold_until(step: Step, stated: Stored, chosen: _Chosen) -> None:
    files = step.files
    file, fact = find_fact(files, stated.id)
    known: Provenance = replace(fact.provenance, until=chosen.until)
    files.save(file.set_provenance(fact.block_id or "", known), f"dated “{clip(fact.text, 60)}”")


def _recorded(step: Step, fact_id: str | None) -> str | None:
    """Return the id of the recorded fact, where the item names one.

    Raises:
        Stale: It no longer holds.
    """
    if fact_id is None:
        return None
    file, fact = find_fact(step.files, fact_id)
    if fact.retired or same_fact(file, fact.text) is None:
        raise Stale(
            f"“{clip(fact.text)}” no longer holds already.",
            where=file.path,
            remedy="Reject the item, or let it be about the entity instead of that fact.",
        )
    return fact_id


def _block(stated: Stored) -> str | None:
    return stated.id.rpartition("#^")[2] if "#^" in stated.id else None


@dataclass
class Step:
    """One item being applied.

    Args:
        item: The item.
        reflection: `r-012`.
        context: What planners need.
        before: The files before any item was applied.
        draft: The files with the items before this one applied, and what this one drafts.
        ids: Memories that it made or changed.
        warnings: What a person should know.
    """

    item: ReviewItem
    reflection: str
    context: PlanContext
    before: ParsedFiles
    draft: Draft
    ids: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def files(self) -> EntityFiles:
        """Return the entity files of its draft."""
        return EntityFiles(self.draft, self.context.lookup, self.context.now)

    @property
    def today(self) -> str:
        """Return the ISO date in the workspace’s zone."""
        return f"{self.context.now:%Y-%m-%d}"

    def evidence(self, part: slice = slice(None)) -> tuple[str, ...]:
        """Return the ids of memories that say so, each once; a part without any gives all of them."""
        every = self.item.evidence
        return tuple(dict.fromkeys(proof.id for proof in every[part] or every if _is_memory(proof.id)))

    def origin(self, since: str | None = None, part: slice = slice(None)) -> Origin:
        """Return where what an item states comes from.

        Args:
            since: ISO date from which it holds; without one, the first day that its evidence names.
            part: The part of the evidence that says it.
        """
        proofs = self.evidence(part)
        confidence = self.item.confidence if self.item.confidence in _CONFIDENCES else "medium"
        sources = (*proofs, f"{SOURCE_WORD}reflection:{self.reflection}")
        return Origin(sources, confidence, since or first_day(proofs))

    def corrected(self, part: slice = slice(None)) -> str | None:
        """Return what the item proposed where the person wrote something else, which its evidence does not say.

        Args:
            part: The part of the evidence that says it.
        """
        proposed = self.context.proposed(self.item.id)
        quotes = [proof.quote for proof in self.item.evidence[part] or self.item.evidence]
        if proposed is None or not is_correction(proposed, self.item.text, quotes):
            return None
        return proposed

    def own_origin(self) -> Origin:
        """Return where what a person wrote instead of an item’s words comes from: them, today."""
        return Origin((f"{SOURCE_WORD}reflection:{self.reflection}",), "high", self.today)


def first_day(ids: Sequence[str]) -> str | None:
    """Return the ISO date in the first of some ids that has one."""
    return next((found[0] for each in ids if (found := _DAY.search(each))), None)


def _is_memory(text: str) -> bool:
    try:
        parse_memory_id(text)
    except InvalidInput:
        return False
    return True
