"""Memory as resources: core memory, and every memory file by its path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.secrets.detection import find_secrets

if TYPE_CHECKING:
    from workbench.engine.workspace import Workspace

CORE_URI = "memory://core"
FILES_URI = "memory://files/"
FILES_TEMPLATE = "memory://files/{+path}"
PAGE = 200


@dataclass(frozen=True)
class MemoryFile:
    """A memory file as it is listed; its size in bytes."""

    uri: str
    path: str
    size: int

    @property
    def media_type(self) -> str:
        """Return what sort of text it is."""
        return media_type_of(self.path)


def media_type_of(path: str) -> str:
    """Return what sort of text a memory file is, by its name."""
    return (
        "application/json"
        if path.endswith(".json")
        else "text/markdown"
        if path.endswith(".md")
        else "text/plain"
    )


def memory_files(door: Workspace, cursor: str | None) -> tuple[tuple[MemoryFile, ...], str | None]:
    """Return a page of the memory files there are, by path, and the cursor of the next page.

    Args:
        door: The workspace.
        cursor: As an earlier page gave it; None for the first.

    Raises:
        InvalidInput: No page gave such a cursor.
    """
    if cursor is not None and not re.fullmatch(r"[0-9]{1,9}", cursor):
        raise InvalidInput("There is no page by this cursor.", remedy="List from the beginning.")
    first = int(cursor or 0)
    allowed = set(door.settings.secrets.allow)
    files = [
        (path, status.st_size)
        for path, status in layout.tracked_files(door.root).items()
        if layout.is_memory_file(path)
    ]
    # Names are looked at page by page: a name that tells a secret leaves its page shorter, and moves no other file.
    found = tuple(
        MemoryFile(FILES_URI + quote(path), path, size)
        for path, size in files[first : first + PAGE]
        if allowed.issuperset(each.digest for each in find_secrets(path))
    )
    return found, str(first + PAGE) if first + PAGE < len(files) else None


def read_resource(door: Workspace, uri: str) -> tuple[str, str]:
    """Return the text of a resource, and what sort of text it is.

    Raises:
        NotFound: There is no such resource.
        OutsideWorkspace: Its path leads out of the memory files.
    """
    if uri == CORE_URI:
        return door.brief().core, "text/markdown"
    if not uri.startswith(FILES_URI):
        raise NotFound(
            "There is no such resource.",
            where=uri[:200],
            remedy=f"There are {CORE_URI} and {FILES_TEMPLATE}.",
        )
    path = unquote(uri.removeprefix(FILES_URI))
    return door.get(path).text, media_type_of(path)
