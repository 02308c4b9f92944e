"""Where sessions live: one interface for the own store, foreign folders and foreign databases."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from workbench.engine.sessions.entries import SessionEntry
from workbench.engine.sessions.foreign_policy import foreign_rules
from workbench.engine.sessions.keys import SessionKey
from workbench.engine.sessions.lines import FileLines, Lines
from workbench.engine.sessions.policy import ResetRules
from workbench.engine.sessions.store import SessionStore, StoreContent


class SessionHome(Protocol):
    """Sessions with their transcripts, to be read."""

    @property
    def source(self) -> str:
        """Return what it is: `own`, `files`, `database` or `claude-code`."""
        ...

    @property
    def where(self) -> str:
        """Return the file that it is read from."""
        ...

    @property
    def rules(self) -> ResetRules | None:
        """Return when its sessions end, where its own program says so; None where the workspace does."""
        ...

    def read(self) -> StoreContent:
        """Return all sessions."""
        ...

    def lines(self, key: SessionKey, entry: SessionEntry) -> Lines:
        """Return the lines of a session's transcript; there may be none."""
        ...


class ForeignHome:
    """What the sessions of another program have in common, however it keeps them.

    Args:
        place: The file or folder that they are in.
        source: `files`, `database` or `claude-code`.
    """

    def __init__(self, place: Path, source: str) -> None:
        self.place = place
        self.source = source

    @property
    def where(self) -> str:
        return str(self.place)

    @property
    def rules(self) -> ResetRules | None:
        return foreign_rules(self.place)


class FileHome:
    """Sessions in a folder of plain files.

    Args:
        folder: Holds `sessions.json` and `*.jsonl`.
        source: `own` or `files`.
    """

    def __init__(self, folder: Path, source: str = "own") -> None:
        self.store = SessionStore(folder)
        self.source = source

    @property
    def where(self) -> str:
        return str(self.store.place)

    @property
    def rules(self) -> ResetRules | None:
        return None if self.source == "own" else foreign_rules(self.store.folder)

    def read(self) -> StoreContent:
        return self.store.read()

    def lines(self, key: SessionKey, entry: SessionEntry) -> Lines:
        return FileLines(self.store.transcript(key, entry))
