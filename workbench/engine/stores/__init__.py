"""The stores: what a memory is and how it changes, as planners that write nothing themselves.

A planner takes the files, a request, the settings and the present moment (aware, in the workspace's zone), and
returns a plan for history to carry out. Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.stores.core import (
        CoreEdit,
        add_item,
        core_path,
        preview_core,
        read_core,
        view_core,
        within_cap,
    )
    from workbench.engine.stores.core_changes import (
        plan_add_item,
        plan_pin_item,
        plan_remove_item,
        plan_replace_item,
        plan_set_block,
    )
    from workbench.engine.stores.drafting import Draft
    from workbench.engine.stores.edit import plan_edit, plan_edit_file
    from workbench.engine.stores.entities import (
        EntityFiles,
        Named,
        Resolved,
        entity_path,
        merged_into,
        parse_entity,
    )
    from workbench.engine.stores.episodic import (
        PAUSE,
        Episode,
        Recorded,
        append_episode,
        episode_path,
        plan_episode,
        starts_new_entry,
    )
    from workbench.engine.stores.erase import Erased, plan_erase
    from workbench.engine.stores.forget import items_saying, plan_archive, plan_restore
    from workbench.engine.stores.graph_changes import (
        plan_add,
        plan_add_fact,
        plan_link,
        plan_rename,
        plan_retire,
        plan_unlink,
    )
    from workbench.engine.stores.graph_index import project_all, project_changes
    from workbench.engine.stores.intent import RememberRequest
    from workbench.engine.stores.locate import Placed, locate_memory
    from workbench.engine.stores.lookups import EntityLookup, MemoryLookup, Standing, StandingLookup
    from workbench.engine.stores.merging import plan_merge, plan_unmerge
    from workbench.engine.stores.procedural import Workflow, learn, plan_procedure, procedure_path
    from workbench.engine.stores.remember import plan_remember
    from workbench.engine.stores.scores import memory_facts, reckoning_at
    from workbench.engine.stores.semantic import (
        Origin,
        add_fact,
        add_relation,
        add_timeline,
        find_fact,
        read_vocabulary,
        remove_fact,
        remove_relation,
        retire_fact,
        supersede_fact,
    )
    from workbench.engine.stores.show import show_memory
    from workbench.engine.stores.together import plan_together
    from workbench.engine.stores.vault import keep_note, plan_note, vault_path
    from workbench.engine.stores.wording import (
        MEMORY_CHARACTERS,
        clean_line,
        clean_memory,
        clean_tags,
        clip,
        text_key,
    )

_HOME: Final = {
    "CoreEdit": "core",
    "Draft": "drafting",
    "EntityFiles": "entities",
    "EntityLookup": "lookups",
    "Episode": "episodic",
    "Erased": "erase",
    "MEMORY_CHARACTERS": "wording",
    "MemoryLookup": "lookups",
    "Named": "entities",
    "Origin": "semantic",
    "PAUSE": "episodic",
    "Placed": "locate",
    "Recorded": "episodic",
    "RememberRequest": "intent",
    "Resolved": "entities",
    "Standing": "lookups",
    "StandingLookup": "lookups",
    "Workflow": "procedural",
    "add_fact": "semantic",
    "add_item": "core",
    "add_relation": "semantic",
    "add_timeline": "semantic",
    "append_episode": "episodic",
    "clean_line": "wording",
    "clean_memory": "wording",
    "clean_tags": "wording",
    "clip": "wording",
    "core_path": "core",
    "entity_path": "entities",
    "episode_path": "episodic",
    "find_fact": "semantic",
    "items_saying": "forget",
    "keep_note": "vault",
    "learn": "procedural",
    "locate_memory": "locate",
    "memory_facts": "scores",
    "merged_into": "entities",
    "parse_entity": "entities",
    "plan_add": "graph_changes",
    "plan_add_fact": "graph_changes",
    "plan_add_item": "core_changes",
    "plan_archive": "forget",
    "plan_edit": "edit",
    "plan_edit_file": "edit",
    "plan_episode": "episodic",
    "plan_erase": "erase",
    "plan_link": "graph_changes",
    "plan_merge": "merging",
    "plan_note": "vault",
    "plan_pin_item": "core_changes",
    "plan_procedure": "procedural",
    "plan_remember": "remember",
    "plan_remove_item": "core_changes",
    "plan_rename": "graph_changes",
    "plan_replace_item": "core_changes",
    "plan_restore": "forget",
    "plan_retire": "graph_changes",
    "plan_set_block": "core_changes",
    "plan_together": "together",
    "plan_unlink": "graph_changes",
    "plan_unmerge": "merging",
    "preview_core": "core",
    "procedure_path": "procedural",
    "project_all": "graph_index",
    "project_changes": "graph_index",
    "read_core": "core",
    "read_vocabulary": "semantic",
    "reckoning_at": "scores",
    "remove_fact": "semantic",
    "remove_relation": "semantic",
    "retire_fact": "semantic",
    "show_memory": "show",
    "starts_new_entry": "episodic",
    "supersede_fact": "semantic",
    "text_key": "wording",
    "vault_path": "vault",
    "view_core": "core",
    "within_cap": "core",
}

__all__ = [
    "MEMORY_CHARACTERS",
    "PAUSE",
    "CoreEdit",
    "Draft",
    "EntityFiles",
    "EntityLookup",
    "Episode",
    "Erased",
    "MemoryLookup",
    "Named",
    "Origin",
    "Placed",
    "Recorded",
    "RememberRequest",
    "Resolved",
    "Standing",
    "StandingLookup",
    "Workflow",
    "add_fact",
    "add_item",
    "add_relation",
    "add_timeline",
    "append_episode",
    "clean_line",
    "clean_memory",
    "clean_tags",
    "clip",
    "core_path",
    "entity_path",
    "episode_path",
    "find_fact",
    "items_saying",
    "keep_note",
    "learn",
    "locate_memory",
    "memory_facts",
    "merged_into",
    "parse_entity",
    "plan_add",
    "plan_add_fact",
    "plan_add_item",
    "plan_archive",
    "plan_edit",
    "plan_edit_file",
    "plan_episode",
    "plan_erase",
    "plan_link",
    "plan_merge",
    "plan_note",
    "plan_pin_item",
    "plan_procedure",
    "plan_remember",
    "plan_remove_item",
    "plan_rename",
    "plan_replace_item",
    "plan_restore",
    "plan_retire",
    "plan_set_block",
    "plan_together",
    "plan_unlink",
    "plan_unmerge",
    "preview_core",
    "procedure_path",
    "project_all",
    "project_changes",
    "read_core",
    "read_vocabulary",
    "reckoning_at",
    "remove_fact",
    "remove_relation",
    "retire_fact",
    "show_memory",
    "starts_new_entry",
    "supersede_fact",
    "text_key",
    "vault_path",
    "view_core",
    "within_cap",
]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
