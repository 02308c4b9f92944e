"""Which folders QMD indexes, under which names, and what its file names mean."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, OutsideWorkspace
from workbench.engine.identifiers import slug
from workbench.engine.recall.sources.globs import fits, parted
from workbench.engine.recall.sources.outside_files import absolute, files_below, has_link, is_file, is_folder
from workbench.engine.settings.sections import QmdSettings

PREFIX = "qmd/"
_MARKDOWN = "**/*.md"
_DEFAULT = (
    ("memory-root", "", layout.CORE),
    ("memory-alt", "", "memory.md"),
    ("memory-dir", "memory", _MARKDOWN),
)
_NOT_PLAIN = re.compile(r"[^\w/.]+|_+")


@dataclass(frozen=True)
class Collection:
    """A folder that QMD indexes.

    Args:
        name: As QMD calls it.
        folder: Where it is, absolute.
        pattern: Which files of it.
        inside: Its workspace-relative path with a slash at the end, or empty for the workspace itself; None for a
            folder outside.
    """

    name: str
    folder: Path
    pattern: str
    inside: str | None

    def shown(self, relative: str) -> str:
        """Return how results name a file of it: by its place in the workspace, or `qmd/<collection>/<relative>`."""
        return f"{PREFIX}{self.name}/{relative}" if self.inside is None else self.inside + relative

    def place(self, relative: str) -> Path | None:
        """Return where a file of it stands; None where it is none of its files, or a link."""
        try:
            relative = layout.normalise(relative)
            place = layout.resolve(self.folder, relative)
        except (OutsideWorkspace, InvalidInput):
            return None
        return place if is_file(place) and fits(relative, self.pattern) else None

    def find(self, named: str) -> str | None:
        """Return the relative path of the file that QMD names; older versions write names in small plain letters."""
        if self.place(named) is not None:
            return str(PurePosixPath(named))
        wanted = _folded(named)
        files = files_below(self.folder, lambda relative: _folded(relative) == wanted)
        return next((file.relative for file in files if fits(file.relative, self.pattern)), None)


def collections_of(root: Path, settings: QmdSettings) -> tuple[Collection, ...]:
    """Return what QMD indexes for a workspace: its memory files, and the folders that its user named.

    Folders that do not exist or stand behind a link are left out.
    """
    found = []
    if settings.include_default_memory:
        for name, below, pattern in _DEFAULT:
            folder = root / below
            there = is_folder(folder) if pattern == _MARKDOWN else is_file(folder / pattern)
            if there and not has_link(folder, root):
                found.append(Collection(name, folder, pattern, f"{below}/" if below else ""))
    taken = {name for name, _, _ in _DEFAULT}
    for name, path in settings.paths.items():
        fixed, pattern = parted(path)
        folder = absolute(fixed or ".", root)
        if is_file(folder):
            folder, pattern = folder.parent, folder.name
        if not is_folder(folder) or has_link(folder):
            continue
        plain = _free(slug(name), taken)
        taken.add(plain)
        found.append(Collection(plain, folder, pattern or _MARKDOWN, None))
    return tuple(found)


def configuration(collections: Iterable[Collection]) -> str:
    """Return QMD's `index.yml`. JSON is YAML, and quotes every name and path for certain."""
    entries: dict[str, dict[str, object]] = {}
    for each in collections:
        entries[each.name] = {"path": str(each.folder), "pattern": each.pattern}
        if each.inside == "memory/":
            # The engine's own records are no memories.
            entries[each.name]["ignore"] = ["meta/**"]
    return json.dumps({"collections": entries}, ensure_ascii=False, indent=2) + "\n"


def find_file(collections: Iterable[Collection], shown_path: str) -> Path | None:
    """Return where the file of a path `qmd/<collection>/<relative>` stands; None where it names no such file."""
    name, _, relative = shown_path.removeprefix(PREFIX).partition("/")
    for each in collections:
        if shown_path.startswith(PREFIX) and each.name == name and each.inside is None:
            return each.place(relative)
    return None


def _free(name: str, taken: set[str]) -> str:
    number = 2
    wanted = name
    while name in taken:
        name = f"{wanted}-{number}"
        number += 1
    return name


def _folded(path: str) -> str:
    parts = [_NOT_PLAIN.sub("-", part).strip("-") for part in path.casefold().split("/")]
    return "/".join(re.sub(r"-*\.-*", ".", part) for part in parts)
