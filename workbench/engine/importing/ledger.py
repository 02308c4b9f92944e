"""What was imported before, by digests: `memory/meta/imports/*.json`, one file for each commit of an import.

The files are part of the history, so taking an import back takes its account back too. They hold digests and paths
alone. What was edited or removed since stays in the account and does not come back.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from workbench.engine import layout
from workbench.engine.history.plan import FileView
from workbench.engine.importing.pieces import Note, Piece

FOLDER = f"{layout.META}/imports"
NOTES = "memory/imports"
_LONGEST_COUNT = 9
"""In digits; a longer one was written by nobody here."""


@dataclass
class Ledger:
    """The account of all imports.

    Args:
        pieces: By key, how far a conversation goes; empty for what is no conversation.
        notes: By key of a document, the path it is kept at.
        written: By path, the digest of the note as it was written last.
    """

    pieces: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    _read: set[str] = field(default_factory=set, repr=False)

    @classmethod
    def of(cls, view: FileView) -> Ledger:
        """Read the account; a file of it that is damaged is as good as none."""
        ledger = cls()
        ledger.catch_up(view)
        return ledger

    def catch_up(self, view: FileView) -> None:
        """Take in what another import added meanwhile."""
        for path in view.list(FOLDER):
            if path not in self._read:
                self._read.add(path)
                self._take(view.read(path) or b"")

    def _take(self, content: bytes) -> None:
        said = _read(content)
        pieces, notes, written = (_texts(said.get(name)) for name in ("pieces", "notes", "written"))
        for key, standing in pieces.items():
            if _turns(standing) >= _turns(self.pieces.get(key, "")):
                self.pieces[key] = standing
        self.notes |= notes
        self.written |= written

    def new_part(self, piece: Piece) -> Piece | None:
        """Return what of a piece was not imported before: all of it, the rest of a conversation, or nothing."""
        known = self.pieces.get(piece.key)
        if known is None:
            return piece
        count = _turns(known)
        if not piece.turns or count == 0:
            return None
        if len(piece.turns) <= count:
            # Another export of the same conversation may end earlier.
            return None
        return piece.after(count) if piece.standing(count) == known else piece

    def knows(self, note: Note) -> bool:
        """Tell whether a document was imported before in these very words."""
        return note.key in self.notes


@dataclass
class Account:
    """What one commit of an import adds to the ledger."""

    pieces: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    became: dict[str, str] = field(default_factory=dict)
    """By key of a piece, the id of its memory, or `#` and the number of its proposal."""

    def add(self, piece: Piece) -> None:
        """Note that a piece was imported whole."""
        self.pieces[piece.key] = piece.standing() if piece.turns else ""

    def render(self, **about: str) -> bytes:
        """Return the file's bytes.

        Args:
            about: What was imported, and when.
        """
        return _rendered(
            {
                **about,
                "pieces": self.pieces,
                "notes": self.notes,
                "written": self.written,
                "became": self.became,
            }
        )


def only(content: bytes, kept: Collection[str]) -> bytes | None:
    """Return a file of the account with what became something that is kept; None where nothing did.

    Args:
        content: As it was written.
        kept: Ids of memories, numbers of proposals with `#`, paths of notes.
    """
    said = _read(content)
    became = {key: what for key, what in _texts(said.get("became")).items() if what in kept}
    notes = {key: path for key, path in _texts(said.get("notes")).items() if path in kept}
    if not became and not notes:
        return None
    pieces = {key: standing for key, standing in _texts(said.get("pieces")).items() if key in became}
    written = {path: each for path, each in _texts(said.get("written")).items() if path in kept}
    return _rendered({**said, "pieces": pieces, "notes": notes, "written": written, "became": became})


def _read(content: bytes) -> Mapping[str, object]:
    """Return what a file of the account says; nothing where it is damaged."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, Mapping) else {}


def _rendered(said: Mapping[str, object]) -> bytes:
    return (json.dumps(said, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _texts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {key: said for key, said in value.items() if isinstance(key, str) and isinstance(said, str)}


def _turns(standing: str) -> int:
    count = standing.partition(":")[0]
    return int(count) if count.isdecimal() and len(count) <= _LONGEST_COUNT else 0
