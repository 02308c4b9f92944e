"""Vault notes, `memory/vault/**.md`: any Markdown, protected from decay."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from workbench.engine.markdown.markup import one_line
from workbench.engine.markdown.outline import find_front_matter, read_headings
from workbench.engine.markdown.source import LineSpan, SourceText, text_lines
from workbench.engine.scopes import written_scope

if TYPE_CHECKING:
    from workbench.engine.markdown.source import Problem


@dataclass(frozen=True)
class VaultNote:
    """One note.

    Args:
        id: `vault:<path below memory/vault>`.
        title: Its first heading, else the file's name.
        body: Its text without front matter and title, lines joined by `\\n`, without outer blank lines.
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
        """Parse the file. Any bytes are accepted."""
        source = SourceText.from_bytes(content)
        matter = find_front_matter(source)
        name = PurePosixPath(path)
        title = next((head.text for head in read_headings(source) if head.text), "")
        parts = name.parts[2:] if name.parts[:2] == ("memory", "vault") else name.parts
        return cls(
            path,
            "vault:" + "/".join(parts),
            title or name.name.removesuffix(".md"),
            source.text_of(_body_span(source, matter)),
            matter,
            source,
        )

    @classmethod
    def create(cls, path: str, *, title: str, body: str, scope: str | None = None) -> VaultNote:
        """Return a new note; `scope` is its audience, None for the owner alone."""
        matter = ["---", f"for: {scope}", "---", ""] if scope else []
        source = SourceText().append([*matter, f"# {one_line(title) or 'Untitled'}", "", *text_lines(body)])
        return cls.parse(source.render(), path)

    @property
    def scope(self) -> str | None:
        """The audience in the front matter; None, the owner alone, if it has none or several."""
        if self.front_matter is None:
            return None
        pairs = (line.partition(":") for line in self.source.lines_of(self.front_matter)[1:-1])
        named = [value.strip().strip("\"'") for key, _, value in pairs if key.strip().lower() == "for"]
        return written_scope(named[0]) if len(named) == 1 else None

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()


def _body_span(source: SourceText, matter: LineSpan | None) -> LineSpan:
    """Return the lines after front matter and a leading title; an empty span at the end if there are none."""
    start = matter.end + 1 if matter else 1
    headings = read_headings(source)
    first = source.trimmed(LineSpan(start, len(source.lines)))
    if headings and headings[0].level == 1 and headings[0].span.start == first.start:
        start = headings[0].span.end + 1
    body = source.trimmed(LineSpan(start, len(source.lines)))
    return body or LineSpan(len(source.lines) + 1, len(source.lines))
