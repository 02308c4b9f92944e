"""What is brought along after each change of the files: the catalog, and the graph index for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbench.engine import layout

if TYPE_CHECKING:
    from workbench.engine.history import FileView, Projection
    from workbench.engine.workspace.ground import Ground

_ROW = re.compile(rb"^\| ([\w-]+--[\w-]+) \|", re.MULTILINE)


def projections(ground: Ground) -> tuple[Projection, ...]:
    """Return what a history runs after each change, under the writer's lock."""

    def project(changed: Sequence[str], view: FileView) -> Mapping[str, bytes]:
        ground.catalog.update(changed)
        relevant = [path for path in changed if path.startswith(layout.ENTITIES + "/")]
        if not ground.writes_graph_index or (not relevant and layout.DECAY_SCORES not in changed):
            return {}
        from workbench.engine.history.views import read_work_file
        from workbench.engine.stores import project_changes

        index = read_work_file(ground.root, layout.GRAPH_INDEX)
        archived = _archivings(ground, index or b"") if layout.DECAY_SCORES in changed else ()
        return project_changes(relevant, index, view, ground.lookups, ground.scores(), archived)

    return (project,)


def _archivings(ground: Ground, index: bytes) -> list[str]:
    """Return the entities whose row in the index no longer fits the scores file."""
    from workbench.engine.decay.records import is_archived

    shown = {f"entity:{match.group(1).decode()}" for match in _ROW.finditer(index.split(b"## Edges")[0])}
    return [
        memory_id
        for memory_id, entry in ground.scores().entries.items()
        if memory_id.startswith("entity:") and is_archived(entry) == (memory_id in shown)
    ]
