"""The vault: notes permanently protected from decay."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.engine import layout
from workbench.engine.history.plan import Action, FileView, Plan
from workbench.engine.identifiers import slug
from workbench.engine.markdown.vault import VaultNote
from workbench.engine.memory.draft import Draft
from workbench.engine.memory.wording import (
    NAME_CHARACTERS,
    clean_line,
    clean_memory,
    clip,
    one_line,
    text_key,
)
from workbench.engine.results.memories import Changed

_TITLE_CHARACTERS = 60
_TITLE_END = re.compile(r"\s*(?:[:\uff1a\u3002.!?;\uff1b\u2014]|\s[\u2013-]\s)(?=\s|$|[\u3400-\u9fff“\"])\s*")


@dataclass(frozen=True)
class StoredNote:
    """The note that holds a text; `fresh` is False if it already existed."""

    id: str
    path: str
    fresh: bool
    warnings: tuple[str, ...] = ()


def vault_path(note: str) -> str:
    """Return the file of a note by its id, `vault:promises/first`.

    Raises:
        OutsideWorkspace: The id leads out of the vault.
    """
    name = note.removeprefix("vault:").removesuffix(".md")
    return layout.normalise(f"{layout.VAULT}/{name}.md")


def note_title(text: str) -> str:
    """Return a short heading for a text: up to its first colon or full stop, cut at a word."""
    line = one_line(text)
    head = _TITLE_END.split(line, maxsplit=1)[0] or line
    if len(head) <= _TITLE_CHARACTERS:
        return head
    cut = head[:_TITLE_CHARACTERS]
    words, blank, _ = cut.rpartition(" ")
    return (words if blank else cut).rstrip(' ,;:“"(') + "…"


def keep_note(draft: Draft, title: str, text: str, *, scope: str | None = None) -> StoredNote:
    """Put a note into the vault, unless one with that name has the same text.

    Args:
        draft: The plan's draft.
        title: Its heading, which also names its file.
        text: Any text.
        scope: Its audience; None for the owner alone.

    Raises:
        InvalidInput: Title or text cannot be kept.
    """
    heading = clean_line(title, what="The title of a note", limit=NAME_CHARACTERS).text
    wording = clean_memory(text)
    base = slug(heading)
    number = 1
    while True:
        path = f"{layout.VAULT}/{base}{f'-{number}' if number > 1 else ''}.md"
        content = draft.read(path)
        if content is None:
            break
        known = VaultNote.parse(content, path)
        if known.scope == scope and text_key(known.body) == text_key(wording.text):
            return StoredNote(known.id, path, fresh=False)
        number += 1
    note = VaultNote.create(path, title=heading, body=wording.text, scope=scope)
    draft.write(path, note.render(), Action.CREATE, f"protected “{clip(heading)}”")
    return StoredNote(note.id, path, fresh=True, warnings=wording.warnings)


def plan_note(view: FileView, title: str, text: str) -> Plan[Changed]:
    """Plan a single note; see `keep_note`."""
    draft = Draft(view)
    kept = keep_note(draft, title, text)
    warnings = kept.warnings if kept.fresh else (f"{kept.id} says this already.",)
    outcome = Changed(None, ids=(kept.id,), warnings=warnings)
    return draft.plan(Action.CREATE, kept.path, f"protected “{clip(title)}”", outcome)
