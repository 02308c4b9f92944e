"""Vault notes, `memory/vault/**.md`: any Markdown, protected from decay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText


@dataclass(frozen=True)
class VaultNote:
    """One note.

    Args:
        id: `vault:<path below memory/vault>`.
        title: Its first heading, else the file's name.
        body: Its text without front matter and title, lines joined by `\\n`, blank lines at the ends dropped.
    """

    path: str
    id: str
    title: str
    body: str
    front_matter: LineSpan | None
    source: SourceText
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> VaultNote:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    @classmethod
    def create(cls, path: str, *, title: str, body: str) -> VaultNote:
        """Return a new note."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def set_body(self, body: str) -> VaultNote:
        """Replace the text; front matter and title stay."""
        raise NotImplementedError
