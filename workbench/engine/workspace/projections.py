"""What is brought along after each change of the files: the catalog, and the graph index for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.engine import layout

if TYPE_CHECKING:
    from workbench.engine.history.plan import FileView
    from workbench.engine.history.projecting import Projection
    from workbench.engine.workspace.ground import Ground

_ROW = re.compile(rb"^\| ([^|\s]+--[^|\s]+) \|.*\| ([^|]*) \|$", re.MULTILINE)


def projections(ground: Ground) -> tuple[Projection, ...]:
    """Return what a history runs after each change, under the writer's lock."""
    from workbench.engine.history.projecting import Projection

    def catalog(changed: Sequence[str], _view: FileView) -> Mapping[str, bytes]:
        ground.catalog.update(changed)
        return {}

    def graph_index(changed: Sequence[str], view: FileView) -> Mapping[str, bytes]:
        relevant = [path for path in changed if path.startswith(layout.ENTITIES + "/")]
        if not ground.writes_graph_index or (not relevant and layout.DECAY_SCORES not in changed):
            return {}
        from workbench.engine.history.views import read_work_file
        from workbench.engine.stores.graph_index import project_changes

        index = read_work_file(ground.root, layout.GRAPH_INDEX)
        if index is None and not relevant:
            # Building all of it is for a change of what it shows; scores come by the way.
            return {}
        rescored = _rescored(ground, index) if index and layout.DECAY_SCORES in changed else ()
        return project_changes(relevant, index, view, ground.lookups, ground.scores(), rescored)

    return (
        Projection("the catalog of memories", catalog),
        Projection(f"the graph index ({layout.GRAPH_INDEX})", graph_index),
    )


def _rescored(ground: Ground, index: bytes) -> list[str]:
    """Return the entities whose row in the index, or lack of one, no longer fits the scores file."""
    from workbench.engine.decay.records import is_archived

    registry = index.split(b"## Edges")[0]
    shown = {match[1].decode("utf-8", "replace"): b"pinned" in match[2] for match in _ROW.finditer(registry)}
    entries = ground.scores().entries
    found = []
    for entity in ground.lookups.entities():
        entry, name = entries.get(entity.id), entity.id.removeprefix("entity:")
        visible = entry is None or not is_archived(entry)
        if visible != (name in shown) or (visible and shown[name] != (entry is not None and entry.pinned)):
            found.append(entity.id)
    # The rows of relations do not say whether they were archived and restored, or never were.
    found.extend(memory_id.partition("#^")[0] for memory_id in entries if "#^" in memory_id)
    return found
