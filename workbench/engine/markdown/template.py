"""The files that a new workspace starts with."""

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
"""Workspace path of each file that `init` lays out, with the template's own name."""


def load_template(path: str) -> bytes:
    """Return the content that the file at this workspace path starts with.

    Raises:
        KeyError: The layout has no template for it.
    """
    from importlib import resources

    return resources.files(__package__).joinpath("templates", TEMPLATES[path]).read_bytes()
