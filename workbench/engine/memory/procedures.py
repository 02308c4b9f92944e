"""Procedures: learned ways to do something, created once and then extended (design document §7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from workbench.engine import layout
from workbench.engine.catalog.names import same_name
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.identifiers import parse_memory_id, slug
from workbench.engine.markdown.procedure import Procedure
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.wording import NAME_CHARACTERS, clean_line, clip, text_key
from workbench.engine.results.memories import Changed

_MOST_STEPS = 200


@dataclass(frozen=True)
class Workflow:
    """A newly learned way to do something.

    Args:
        title: For example `How to deploy`; determines which procedure is extended.
        trigger: When it applies; empty if unknown.
        steps: In order, without numbers.
        notes: Further notes.
        learned_from: Ids of memories it was learned from.
    """

    title: str
    trigger: str = ""
    steps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    learned_from: tuple[str, ...] = ()


@dataclass(frozen=True)
class StoredProcedure:
    """The procedure that holds a workflow; `fresh` is False if it already held all of it."""

    id: str
    path: str
    fresh: bool
    warnings: tuple[str, ...] = ()


def procedure_path(procedure: str) -> str:
    """Return the file of a procedure by its id, `procedure:how-to-deploy`.

    Raises:
        InvalidInput: It is not such an id.
    """
    name = parse_memory_id(procedure if procedure.startswith("procedure:") else f"procedure:{procedure}").name
    return layout.normalise(f"{layout.PROCEDURES}/{name}.md")


def learn(draft: Draft, workflow: Workflow, now: datetime, *, scope: str | None = None) -> StoredProcedure:
    """Add a workflow to the procedure with its title, or create that procedure.

    An existing trigger and existing steps stay; missing steps and notes are appended.

    Args:
        draft: The plan's draft.
        workflow: The workflow.
        now: Aware, in the workspace's zone.
        scope: Its audience, None for the owner alone; another audience means another procedure.

    Raises:
        InvalidInput: One of its texts cannot be kept.
    """
    title = clean_line(workflow.title, what="The title of a procedure", limit=NAME_CHARACTERS).text
    steps, notes = _lines(workflow.steps, "A step"), _lines(workflow.notes, "A note")
    trigger = clean_line(workflow.trigger, what="The trigger").text if workflow.trigger.strip() else ""
    warnings: tuple[str, ...] = ()
    if len(steps) > _MOST_STEPS:
        warnings = (f"{len(steps):,} steps are many; consider several procedures.",)
    path, known = _place(draft, title, scope)
    if known is None:
        made = Procedure.create(
            path,
            title=title,
            learned=f"{now:%Y-%m-%d}",
            trigger=trigger,
            steps=steps,
            notes=notes,
            learned_from=workflow.learned_from,
            scope=scope,
        )
        draft.write(path, made.render(), Action.CREATE, f"learned “{clip(title)}”")
        return StoredProcedure(made.id, path, fresh=True, warnings=warnings)
    return _extend(draft, known, trigger, steps, notes, workflow.learned_from, warnings)


def plan_procedure(view: FileView, workflow: Workflow, now: datetime) -> Plan[Changed]:
    """Plan a single workflow; see `learn`."""
    draft = Draft(view)
    learned = learn(draft, workflow, now)
    warnings = learned.warnings if learned.fresh else (f"{learned.id} says all this already.",)
    outcome = Changed(None, ids=(learned.id,), warnings=warnings)
    action = Action.CREATE if view.read(learned.path) is None else Action.EDIT
    return draft.plan(action, learned.path, f"learned “{clip(workflow.title)}”", outcome)


def _extend(
    draft: Draft,
    known: Procedure,
    trigger: str,
    steps: tuple[str, ...],
    notes: tuple[str, ...],
    learned_from: tuple[str, ...],
    warnings: tuple[str, ...],
) -> StoredProcedure:
    extended = known if known.trigger or not trigger else known.set_trigger(trigger)
    for step in _missing(steps, known.steps):
        extended = extended.add_step(step)
    for note in _missing(notes, known.notes):
        extended = extended.add_note(note)
    fresh = extended is not known
    if fresh:
        for source in learned_from:
            extended = extended.add_learned_from(source)
        draft.write(known.path, extended.render(), Action.EDIT, f"extended “{clip(known.title)}”")
    if trigger and known.trigger and text_key(trigger) != text_key(known.trigger):
        warnings = (*warnings, f"{known.id} keeps its trigger “{clip(known.trigger)}”.")
    return StoredProcedure(known.id, known.path, fresh, warnings)


def _place(draft: Draft, title: str, scope: str | None) -> tuple[str, Procedure | None]:
    """Return the procedure with that title and audience, or an unused path."""
    base = slug(title)
    number = 1
    while True:
        path = f"{layout.PROCEDURES}/{base}{f'-{number}' if number > 1 else ''}.md"
        content = draft.read(path)
        if content is None:
            return path, None
        known = Procedure.parse(content, path)
        # A file whose author gave it another title, or none, matches by its name.
        named = same_name(known.title, title) or slug(known.title.removesuffix(".md")) == base
        if named and known.scope == scope:
            return path, known
        number += 1


def _missing(new: Iterable[str], known: Iterable[str]) -> list[str]:
    keys = {text_key(text) for text in known}
    return [text for text in new if text_key(text) not in keys]


def _lines(texts: Iterable[str], what: str) -> tuple[str, ...]:
    return tuple(clean_line(text, what=what).text for text in texts if text.strip())
