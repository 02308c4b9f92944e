"""Memory that was kept elsewhere, read piece by piece: agents' workspaces, transcripts, chat exports, documents."""

from workbench.engine.importing.pieces import Note, Piece, Skipped, StoredFile
from workbench.engine.importing.recognising import FORMS, open_source

__all__ = ["FORMS", "Note", "Piece", "Skipped", "StoredFile", "open_source"]
