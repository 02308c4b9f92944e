"""The files of a new workspace."""

from __future__ import annotations

from typing import Final

TEMPLATES: Final = {
    "MEMORY.md": "MEMORY.md",
    "memory/graph/relations.md": "relations.md",
    "memory/meta/decay-scores.json": "decay-scores.json",
    "memory/meta/evolution.md": "evolution.md",
    "memory/meta/reflection-log.md": "reflection-log.md",
    "memory/meta/pending-memories.md": "pending-memories.md",
}
"""Workspace path of each file that `init` creates, with the name of its template."""


def load_template(path: str) -> bytes:
    """Return the initial content of the file at a workspace path.

    Raises:
        KeyError: There is no template for it.
    """
    from importlib import resources

    return resources.files(__package__).joinpath("templates", TEMPLATES[path]).read_bytes()
