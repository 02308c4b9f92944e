"""Remembering: one plan that writes the store, the graph and, where it is worth it, core memory.

`decay-scores.json` is left alone unless a pin is asked for: a memory without an entry scores from its text.
"""

from __future__ import annotations

from datetime import datetime

from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.results.memories import EntityRef, Remembered
from workbench.engine.settings.sections import Settings
from workbench.engine.stores import scores
from workbench.engine.stores.drafting import Draft
from workbench.engine.stores.entities import EntityFiles
from workbench.engine.stores.intent import RememberRequest, read_intent
from workbench.engine.stores.locate import locate_memory
from workbench.engine.stores.lookups import EntityLookup, StandingLookup
from workbench.engine.stores.writing import Writing, Written, update_core, write_memory
from workbench.engine.triggers.model import Routing


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

    What is remembered already (an episode of today, a fact that holds, a note, a procedure or an item of core
    memory that says the same) is not written again, and the answer says so. Where core memory is full, the
    memory is stored all the same and a warning says what could go; what belonged into core memory alone
    becomes an episode then.

    Args:
        view: The files.
        request: What to remember, with the wishes of whoever asks.
        routing: Where it belongs.
        now: Aware, in the workspace's zone.
        settings: Give the cap of core memory and the workspace's relations.
        lookup: Finds entities by name.
        standing: Where given, a full core memory names its least relevant items first.

    Raises:
        InvalidInput: The text cannot be kept, or a wish makes no sense.
        NotFound: An entity given by id, or the block, does not exist.
    """
    intent = read_intent(request, routing)
    draft = Draft(view)
    files = EntityFiles(draft, lookup, now, scope=request.scope)
    writing = Writing(
        intent, draft, files, settings, now, standing, [], [], list(intent.warnings), intent.store
    )
    written = write_memory(writing)
    writing.warnings.extend(written.warnings)
    if not written.fresh:
        writing.warnings.append(f"This is remembered already, as {written.id}; it was not written again.")
    if intent.core_block is not None and writing.store != "core" and intent.store != "core":
        update_core(writing)
    if intent.pinned and not written.id.startswith("vault:"):
        placed = locate_memory(draft, written.id, now.tzinfo or settings.zone)
        scores.pin(draft, [placed], scores.reckoning_at(now, settings))
    return _plan(writing, written)


def _plan(writing: Writing, written: Written) -> Plan[Remembered]:
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
