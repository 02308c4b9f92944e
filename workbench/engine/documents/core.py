"""MEMORY.md: the blocks and items of core memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText

CORE_BLOCKS: Final = ("Identity", "Active Context", "Persona", "Critical Facts")


@dataclass(frozen=True, slots=True)
class CoreItem:
    """One outermost list item, or one paragraph, of a block.

    Args:
        id: `core:<block>:<item>`; unique in the file. The item's part is its label where it has one
            (`Name: …` gives `name`), so that it survives a change of the value.
        text: What it says, nested lines too, without list marker, pin and HTML comments.
        span: Its lines.
        pinned: Whether it carries `<!-- pinned -->` or 📌.
    """

    id: str
    text: str
    span: LineSpan
    pinned: bool


@dataclass(frozen=True, slots=True)
class CoreBlock:
    """One block.

    Args:
        slug: `identity`, `active-context`, `persona`, `critical-facts`, or the heading's own slug; unique in the
            file. Text before the first block, or a file without headings, is the block `memory`.
        name: The standard name of a standard block, else the heading as written.
        standard: Whether it is one of the four of design document §4.
        heading: The heading's line, from 1, or None for the block `memory`.
        span: All its lines, heading included.
        body: Its lines without the heading and without blank lines at start and end; may be empty.
        text: The lines of `span` as they go into context, comments included, joined by `\\n`.
        items: Its items in the file's order.
    """

    slug: str
    name: str
    standard: bool
    heading: int | None
    span: LineSpan
    body: LineSpan
    text: str
    items: tuple[CoreItem, ...]


@dataclass(frozen=True)
class CoreMemory:
    """Core memory as a file. Edits return a new one and raise `NotFound` for an unknown block or item."""

    path: str
    source: SourceText
    blocks: tuple[CoreBlock, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str = "MEMORY.md") -> CoreMemory:
        """Read the file. Any bytes will do."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    @property
    def text(self) -> str:
        """The whole file as it goes into context, which is what tokens are counted on."""
        raise NotImplementedError

    def block(self, name: str) -> CoreBlock | None:
        """Find a block by slug or name, tolerant of case, emoji and `[identity]`-style brackets."""
        raise NotImplementedError

    def item(self, item_id: str) -> CoreItem | None:
        """Find an item by its id."""
        raise NotImplementedError

    def add_item(self, block: str, text: str, *, pinned: bool = False) -> CoreMemory:
        """Add a list item at the end of a block; a missing standard block is made first."""
        raise NotImplementedError

    def replace_item(self, item_id: str, text: str) -> CoreMemory:
        """Replace what an item says; its marker, pin and annotations stay."""
        raise NotImplementedError

    def remove_item(self, item_id: str) -> CoreMemory:
        """Remove an item's lines."""
        raise NotImplementedError

    def set_pinned(self, item_id: str, pinned: bool) -> CoreMemory:
        """Mark an item as pinned, or take the mark away."""
        raise NotImplementedError

    def set_block_body(self, block: str, body: str) -> CoreMemory:
        """Replace a block's body (see `CoreBlock.body`); a missing standard block is made first."""
        raise NotImplementedError

    def ensure_blocks(self) -> CoreMemory:
        """Add those of the four blocks that are missing, from the template."""
        raise NotImplementedError
