"""Lets memories that a proposal contradicts go for the one that it becomes (design document §13.6).

A fact is retired and points to the one that holds; what is no fact is archived, as forgetting does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import Refused
from workbench.engine.stores.core import read_core
from workbench.engine.stores.forget import items_saying, plan_archive
from workbench.engine.stores.locate import locate_memory
from workbench.engine.stores.past_facts import retire_it
from workbench.engine.stores.semantic import Origin, add_fact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from workbench.engine.proposals.opposed import Opposed
    from workbench.engine.results.memories import Remembered
    from workbench.engine.settings.sections import Settings
    from workbench.engine.stores.drafting import Draft
    from workbench.engine.stores.entities import EntityFiles


def archive_opposed(
    draft: Draft,
    opposed: Sequence[Opposed],
    told: str,
    *,
    now: datetime,
    settings: Settings,
    first_seen: Mapping[str, datetime],
) -> list[str]:
    """Hide what is no fact, and return its ids; an item of core memory leaves it.

    Args:
        draft: The files; changed.
        opposed: What goes; its facts are left to `retire_facts`.
        told: On whose account, for the audit log.
        now: Aware, in the workspace's zone.
        settings: The constants of decay.
        first_seen: When memories came into the history, by id.

    Raises:
        Refused: An item of core memory that nobody named says the same, and would go along.
    """
    ids = [each.id for each in opposed if not each.entity]
    if not ids:
        return []
    core, zone = read_core(draft), now.tzinfo or settings.zone
    along = {
        item.id: memory
        for memory in ids
        if not memory.startswith("core:")
        for item in items_saying(core, locate_memory(draft, memory, zone))
        if item.id not in ids
    }
    for item, memory in along.items():
        raise Refused(
            f"{item} says what {memory} does, and would leave core memory with it.",
            where=core.path,
            remedy=f"Take it out first with: workbench core remove {item}",
        )
    for change in plan_archive(draft, ids, now, settings, first_seen).changes:
        if change.content is not None:
            draft.write(change.path, change.content, change.action, f"{change.summary}; {told}")
    return ids


def retire_facts(
    files: EntityFiles, opposed: Sequence[Opposed], remembered: Remembered, text: str
) -> list[str]:
    """Retire facts as of today; each points to the fact of its entity that holds from now on.

    Where what was stored is no such fact, and is the owner's, one is added that comes from it.

    Args:
        files: The entity files of what is drafted; changed.
        opposed: What goes; what is no fact is left to `archive_opposed`.
        remembered: What takes its place.
        text: What a fact says that is added for it.

    Returns:
        The ids of what was retired.
    """
    retired = []
    for each in opposed:
        if not each.entity:
            continue
        entity, _, block = remembered.id.removeprefix("entity:").partition("#^")
        if entity != each.entity:
            origin = Origin((remembered.id,), remembered.confidence)
            added = add_fact(files, each.entity, text, origin).id if files.scope is None else ""
            block = added.partition("#^")[2]
        file = files.require(each.entity)
        fact = next(
            (one for one in file.facts if (one.text, one.provenance.scope) == (each.text, each.scope)), None
        )
        if fact is not None and retire_it(files, file, fact, by=block or None) is not None:
            own = fact.block_id or next(iter(files.require(each.entity).block_ids - file.block_ids), "")
            retired.append(f"entity:{file.id}#^{own}")
    return retired
