"""The block structure of a Markdown file: where its headings, list items, comments and fences stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.documents.source import LineSpan

if TYPE_CHECKING:
    from workbench.engine.documents.source import SourceText


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that stands outside lists, quotes, fences, comments and HTML.

    Args:
        level: 1 to 6.
        text: Its text as written, without marks and outer white space.
        span: Its own lines (several for a setext heading).
        section: From the heading to before the next one of its level or higher.
        body: From after the heading to before the next one of any level.
    """

    level: int
    text: str
    span: LineSpan
    section: LineSpan
    body: LineSpan


@dataclass(frozen=True, slots=True)
class ListItem:
    """A list item outside quotes.

    Args:
        span: All its lines, nested ones too, without blank lines at the end.
        depth: 0 for an item of an outermost list.
        marker: `-`, `*`, `+`, `1.` or `1)`.
        indent: The column its content starts at, counted in characters.
        text: Its whole content, nested lines too, without marker and indentation, lines joined by `\\n`.
        own: As `text`, up to its first nested item.
    """

    span: LineSpan
    depth: int
    marker: str
    indent: int
    text: str
    own: str


@dataclass(frozen=True, slots=True)
class Comment:
    """An HTML comment: its lines, and the text between the marks without outer white space."""

    span: LineSpan
    text: str


@dataclass(frozen=True, slots=True)
class Fence:
    """A fenced code block with its info string; `closed` tells whether a closing fence ends it."""

    span: LineSpan
    info: str
    closed: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """The structure of a whole file, in the order of its lines.

    Args:
        front_matter: The YAML front matter with its `---` lines, or None.
        paragraphs: Outermost blocks that are neither heading, list, comment, fence nor rule.
    """

    front_matter: LineSpan | None
    headings: tuple[Heading, ...]
    items: tuple[ListItem, ...]
    comments: tuple[Comment, ...]
    fences: tuple[Fence, ...]
    paragraphs: tuple[LineSpan, ...]


def read_outline(source: SourceText) -> Outline:
    """Return a file's structure. Takes any text; linear in its length."""
    raise NotImplementedError


def read_headings(source: SourceText) -> tuple[Heading, ...]:
    """Return a file's headings alone: as `read_outline(source).headings`, faster on plain files."""
    raise NotImplementedError


def find_front_matter(source: SourceText) -> LineSpan | None:
    """Return the lines of the YAML front matter with its `---` lines, or None where there is none."""
    raise NotImplementedError
