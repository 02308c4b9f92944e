"""What the tab key offers for a memory or a file: the names of files as they lie there, nothing is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import click

from workbench.cli.command import invocation_of
from workbench.cli.printing import unsafe_characters
from workbench.engine import layout
from workbench.engine.errors import WorkbenchError
from workbench.engine.identifiers import entity_name

MOST_OFFERED = 200


def complete_entity(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the ids of entities, in the short form that shells do not take apart at a colon."""
    return _offer(context, begun, _entities)


def complete_memory(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the ids of entities and procedures."""
    return _offer(context, begun, _entities, _procedures)


def complete_file(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Offer the paths of memory files."""
    return _offer(context, begun, _files)


def complete_memory_or_file(context: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
    """Offer ids and paths."""
    return _offer(context, begun, _entities, _procedures, _files)


def _offer(context: click.Context, begun: str, *sources: Callable[[Path], Iterator[str]]) -> list[str]:
    try:
        root = invocation_of(context).locate()
        names = (name for source in sources for name in source(root))
        offered = (name for name in names if name.startswith(begun) and not any(unsafe_characters(name)))
        return sorted(islice(offered, MOST_OFFERED))
    except (OSError, WorkbenchError):
        # The line is not finished: whatever is wrong is said when it is run.
        return []


def _stems(folder: Path) -> Iterator[str]:
    if folder.is_dir():
        with os.scandir(folder) as found:
            yield from (entry.name[:-3] for entry in found if entry.name.endswith(".md"))


def _entities(root: Path) -> Iterator[str]:
    return map(entity_name, _stems(root / layout.ENTITIES))


def _procedures(root: Path) -> Iterator[str]:
    return (f"procedure:{stem}" for stem in _stems(root / layout.PROCEDURES))


def _files(root: Path) -> Iterator[str]:
    yield from (path.name for path in root.glob("*.md") if layout.is_memory_file(path.name))
    for path in (root / "memory").rglob("*.md"):
        name = path.relative_to(root).as_posix()
        if layout.is_memory_file(name):
            yield name
