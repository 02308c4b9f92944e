"""For whom the memories in a file are, read from the file itself."""

from __future__ import annotations

import re
from typing import Final

from workbench.engine import layout
from workbench.engine.documents.entity import EntityFile
from workbench.engine.documents.episodes import EpisodeLog
from workbench.engine.documents.procedure import Procedure
from workbench.engine.documents.vault import VaultNote

FOLDERS: Final = (layout.EPISODES, layout.ENTITIES, layout.PROCEDURES, layout.VAULT)
"""Where memories stand that can be for somebody beside the owner."""
# How every scope begins, and what stands before it; a file without that is the owner's, and need not be taken apart.
_SOMEBODY: Final = (b"shared", b"person:", b"group:")
_MARK: Final = re.compile(rb"[Ff][Oo][Rr]\W*(?:shared\b|person:|group:)")


def may_be_scoped(path: str) -> bool:
    """Tell of a path whether what stands there can be for somebody beside the owner."""
    return path.startswith(tuple(f"{folder}/" for folder in FOLDERS))


def scopes_in(path: str, content: bytes) -> dict[str, str]:
    """Return whom the memories in a file are for, by id; those that are the owner's alone are not in it.

    An entity's scope is whom its name is for, that of a fact or a relation whom the line is for.

    Args:
        path: Workspace-relative.
        content: The whole file.
    """
    if not any(word in content for word in _SOMEBODY) or not _MARK.search(content):
        return {}
    found: dict[str, str | None] = {}
    if path.startswith(layout.EPISODES + "/"):
        found = {entry.id: entry.scope for entry in EpisodeLog.parse(content, path).entries}
    elif path.startswith(layout.ENTITIES + "/"):
        file = EntityFile.parse(content, path)
        whole = f"entity:{file.id}"
        found = {whole: file.scope}
        found |= {f"{whole}#^{fact.block_id}": fact.provenance.scope for fact in file.facts}
        found |= {f"{whole}#^{each.block_id}": each.provenance.scope for each in file.relations}
    elif path.startswith(layout.PROCEDURES + "/"):
        procedure = Procedure.parse(content, path)
        found = {procedure.id: procedure.scope}
    elif path.startswith(layout.VAULT + "/"):
        note = VaultNote.parse(content, path)
        found = {note.id: note.scope}
    return {memory_id: scope for memory_id, scope in found.items() if scope is not None}
