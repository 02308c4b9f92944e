"""MEMORY.md: the blocks and items of core memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.identifiers import slug as slugify
from workbench.engine.markdown.markup import (
    append_item,
    append_section,
    clear_of_next,
    insert_lines,
    insert_section,
    item_lines,
    item_text,
    one_line,
    outermost_items,
    paragraphs_within,
    protect_body,
    remove_lines,
    unprotect_body,
)
from workbench.engine.markdown.outline import (
    Heading,
    Outline,
    read_headings,
    read_outline,
    stretches,
    strip_comments,
    trailing_comments,
)
from workbench.engine.markdown.source import LineSpan, Problem, Problems, SourceText, load_template
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

CORE_BLOCKS: Final = ("Identity", "Active Context", "Persona", "Critical Facts")
PIN: Final = "<!-- pinned -->"
_PIN: Final = lazy_pattern(r"(?<![ \t])[ \t]*(?:<!--[ \t]*pinned[ \t]*-->|📌\ufe0f?)", re.IGNORECASE)
_UNSETTLED: Final = lazy_pattern(
    r"[ \t]*<!--[ \t]*unsettled:[ \t]*contradicts[ \t]+([^<>]*?)[ \t]*-->", re.IGNORECASE
)
_ITEM_START: Final = lazy_pattern(r"[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]*")
_LABEL: Final = lazy_pattern(r"[*_]*([^:：*_]{1,40}?)[*_]*[:：][*_]*(?:\s|$)")
_STANDARD: Final = {
    "identity": "Identity",
    "身份": "Identity",
    "active context": "Active Context",
    "context": "Active Context",
    "当前上下文": "Active Context",
    "persona": "Persona",
    "人设": "Persona",
    "critical facts": "Critical Facts",
    "critical": "Critical Facts",
    "关键事实": "Critical Facts",
}


@dataclass(frozen=True, slots=True)
class CoreItem:
    """One outermost list item, or one paragraph, of a block.

    Args:
        id: `core:<block>:<item>`; unique in the file. The item's part is its label if it has one (`Name: …` gives
            `name`), so that it survives a change of the value.
        text: Its text, nested lines included, without list marker, pin and HTML comments.
        pinned: Whether it has `<!-- pinned -->` or 📌.
    """

    id: str
    text: str
    span: LineSpan
    pinned: bool


@dataclass(frozen=True, slots=True)
class CoreBlock:
    """One block.

    Args:
        slug: `identity`, `active-context`, `persona`, `critical-facts`, or the heading's own slug; unique in the file.
            Text before the first block, or a file without headings, is the block `memory`.
        name: The standard name of a standard block, else the heading as written.
        standard: Whether it is one of the four of design document §4.
        heading: The heading's line, from 1, or None for the block `memory`.
        span: All its lines, heading included.
        body: Its lines without the heading and without outer blank lines; may be empty.
        text: The lines of `span` as they go into context, comments included, joined by `\\n`.
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
    problems: tuple[Problem, ...]

    @classmethod
    def parse(cls, content: bytes, path: str = "MEMORY.md") -> CoreMemory:
        """Parse the file. Any bytes are accepted."""
        return cls._of(SourceText.from_bytes(content), path)

    # One change parses the same file many times: for the plan, the token count and the check of the result.
    @staticmethod
    @lru_cache(maxsize=16)
    def _of(source: SourceText, path: str) -> CoreMemory:
        outline = read_outline(source)
        taken: dict[str, int] = {}
        blocks: list[CoreBlock] = []
        problems = Problems(path)
        for heading, span in _block_spans(source, outline):
            standard = _standard_name(heading.text) if heading else None
            name = standard or (heading.text if heading else "Memory") or "Untitled"
            slug = _free(slugify(name) if heading else "memory", taken)
            if standard and slug != slugify(standard):
                problems.add(
                    span.start,
                    f"There is a second block “{name}”.",
                    "Move its items into the first one and delete this heading.",
                )
            blocks.append(_block(source, outline, heading, span, slug, name, standard is not None))
        return CoreMemory(path, source, tuple(blocks), tuple(problems.found))

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    @property
    def text(self) -> str:
        """The whole file as it goes into context, which is what tokens are counted on."""
        return self.source.text_of(self.source.span)

    def block(self, name: str) -> CoreBlock | None:
        """Return a block by slug or name, ignoring case, emoji and `[identity]`-style brackets."""
        for block in self.blocks:
            if name in (block.slug, block.name):
                return block
        wanted = slugify(_standard_name(name) or name)
        return next((block for block in self.blocks if block.slug == wanted), None)

    def item(self, item_id: str) -> CoreItem | None:
        """Return an item by its id."""
        return next((item for block in self.blocks for item in block.items if item.id == item_id), None)

    def add_item(self, block: str, text: str, *, pinned: bool = False) -> CoreMemory:
        """Add a list item at the end of a block; a missing standard block is created."""
        lines = item_lines(text)
        if pinned:
            lines = _with_pin(lines)
        memory = self._with_block(block)
        found = memory._block(block)
        outline = read_outline(memory.source)
        heading = next((h for h in outline.headings if h.span.start == found.heading), None)
        if heading is not None:
            inside = Heading(heading.level, heading.text, heading.span, found.span, heading.body)
            source = append_item(memory.source, outline, inside, lines)
        else:
            at = found.body.end if found.body else found.span.end
            gap = [] if any(item.span.end == at for item in found.items) or not found.body else [""]
            source = insert_lines(memory.source, at, [*gap, *clear_of_next(memory.source, at, lines)])
        return self._of(source, self.path)

    def replace_item(self, item_id: str, text: str) -> CoreMemory:
        """Replace an item's text; its marker, pin and annotations stay."""
        item = self._item(item_id)
        old = self.source.lines_of(item.span)
        listed = _ITEM_START.match(old[0])
        marker = listed[0] if listed else ""
        kept = trailing_comments(old[0]) or (trailing_comments(old[-1]) if len(old) > 1 else "")
        if item.pinned and not _PIN.search(kept) and not _PIN.search(text):
            kept = f"{kept} {PIN}"
        if not listed:
            body = protect_body(text)
            if not body:
                raise InvalidInput("There is no text to write.", remedy="Remove the item instead.")
            lines = [body[0] + kept, *body[1:]]
        else:
            start = len(marker) - len(marker.lstrip(" \t"))
            lines = item_lines(text, marker[start:] if marker.endswith(" ") else marker[start:] + " ")
            lines = [marker[:start] + line if line else line for line in lines]
            lines[0] += kept
        return self._of(self.source.replace(item.span, lines), self.path)

    def remove_item(self, item_id: str) -> CoreMemory:
        """Remove an item's lines."""
        return self._of(remove_lines(self.source, self._item(item_id).span), self.path)

    def set_pinned(self, item_id: str, pinned: bool) -> CoreMemory:
        """Add or remove an item's pin mark."""
        item = self._item(item_id)
        if item.pinned == pinned:
            return self
        lines = list(self.source.lines_of(item.span))
        lines = _with_pin(lines) if pinned else [_PIN.sub("", line) for line in lines]
        return self._of(self.source.replace(item.span, lines), self.path)

    def contradicted_by(self, item_id: str) -> tuple[str, ...]:
        """Return the memories that an item is marked as contradicting."""
        found = _UNSETTLED.search("\n".join(self.source.lines_of(self._item(item_id).span)))
        return tuple(part.strip() for part in found[1].split(",") if part.strip()) if found else ()

    def set_contradicted(self, item_id: str, others: Sequence[str]) -> CoreMemory:
        """Mark an item: `<!-- unsettled: contradicts ID, ID -->`; without ids the mark is taken off."""
        item = self._item(item_id)
        lines = [_UNSETTLED.sub("", line) for line in self.source.lines_of(item.span)]
        if others:
            lines[0] = f"{lines[0].rstrip()} <!-- unsettled: contradicts {', '.join(others)} -->"
        return self._of(self.source.replace(item.span, lines), self.path)

    def set_block_body(self, block: str, body: str) -> CoreMemory:
        """Replace a block's body, given as Markdown source (the lines of `CoreBlock.body`).

        A missing standard block is created. Headings of level 1 and 2 and unclosed constructs are escaped, so that the
        other blocks are unaffected.
        """
        memory = self._with_block(block)
        found = memory._block(block)
        lines = protect_body(body, source=True)
        if found.body:
            return self._of(memory.source.replace(found.body, lines), self.path)
        return self._of(insert_lines(memory.source, found.heading or 0, lines), self.path)

    def ensure_blocks(self) -> CoreMemory:
        """Add missing standard blocks from the template."""
        memory = self
        for name in CORE_BLOCKS:
            if memory.block(name) is None:
                memory = memory._with_block(name)
        return memory

    def _with_block(self, name: str) -> CoreMemory:
        if self.block(name) is not None:
            return self
        standard = _standard_name(name)
        if standard is None:
            if slugify(name) == "memory" and not self.blocks:
                return self._of(append_section(self.source, one_line(name), []), self.path)
            raise NotFound(
                f"Core memory has no block “{name}”.",
                where=self.path,
                remedy="Its blocks are " + ", ".join(block.name for block in self.blocks) + ".",
            )
        template = SourceText.from_bytes(load_template("MEMORY.md"))
        if not self.source.lines:
            first = next(h for h in read_headings(template) if h.level == 2)
            title = template.lines_of(LineSpan(1, first.span.start - 2))
            return self._of(SourceText(bom=self.source.bom).append(title), self.path)._with_block(name)
        section = next(h for h in read_headings(template) if h.text == standard).section
        lines = template.lines_of(template.trimmed(section))
        later = CORE_BLOCKS[CORE_BLOCKS.index(standard) + 1 :]
        source = insert_section(
            self.source,
            read_headings(self.source),
            standard,
            lines[1:],
            lambda text: _standard_name(text) in later,
        )
        return self._of(source, self.path)

    def _block(self, name: str) -> CoreBlock:
        block = self.block(name)
        if block is None:
            raise NotFound(
                f"Core memory has no block “{name}”.", where=self.path, remedy="See `workbench core`."
            )
        return block

    def _item(self, item_id: str) -> CoreItem:
        item = self.item(item_id)
        if item is None:
            raise NotFound(
                f"Core memory has no item “{item_id}”.",
                where=self.path,
                remedy="See `workbench core --json` for the ids of its items.",
            )
        return item


def _standard_name(heading: str) -> str | None:
    words = "".join(char if char.isalnum() else " " for char in heading.casefold()).split()
    return _STANDARD.get(" ".join(words))


def _block_spans(source: SourceText, outline: Outline) -> list[tuple[Heading | None, LineSpan]]:
    """Split the file at its headings of level 1 and 2; an initial heading of level 1 is the title."""
    tops = [heading for heading in outline.headings if heading.level <= 2]
    last = len(source.lines)
    title = 0
    if (
        tops
        and tops[0].level == 1
        and _standard_name(tops[0].text) is None
        and (len(tops) == 1 or any(heading.level == 2 for heading in tops))
    ):
        title = tops.pop(0).span.end
    start = max(title, outline.front_matter.end if outline.front_matter else 0) + 1
    spans: list[tuple[Heading | None, LineSpan]] = []
    before = LineSpan(start, tops[0].span.start - 1 if tops else last)
    held = [item.span for item in outline.items] + list(outline.fences)
    if any(part.start in before for part in held) or any(part.start in before for part in outline.paragraphs):
        spans.append((None, before))
    return [*spans, *stretches(tops, last)]


def _block(
    source: SourceText,
    outline: Outline,
    heading: Heading | None,
    span: LineSpan,
    slug: str,
    name: str,
    standard: bool,
) -> CoreBlock:
    inner = LineSpan(heading.span.end + 1 if heading else span.start, span.end)
    body = source.trimmed(inner)
    parts = [(item.span, item_text(item.text)) for item in outermost_items(outline, inner)]
    for part in paragraphs_within(outline, inner):
        lines = source.trimmed(part)
        parts.append((lines, unprotect_body(source.lines_of(lines))))
    taken: dict[str, int] = {}
    items = []
    for lines, text in sorted(parts):
        plain = strip_comments(_PIN.sub("", text)).strip()
        item_slug = _free(_item_slug(plain), taken)
        items.append(CoreItem(f"core:{slug}:{item_slug}", plain, lines, bool(_PIN.search(text))))
    return CoreBlock(
        slug,
        name,
        standard,
        heading.span.start if heading else None,
        span,
        body,
        source.text_of(span),
        tuple(items),
    )


def _item_slug(text: str) -> str:
    first = text.partition("\n")[0]
    label = _LABEL.match(first)
    return slugify(label[1] if label else first, limit=40)


def _free(wanted: str, taken: dict[str, int]) -> str:
    number = taken.get(wanted, 0) + 1
    name = wanted if number == 1 else f"{wanted}-{number}"
    while name in taken:
        number += 1
        name = f"{wanted}-{number}"
    taken[wanted] = number
    taken.setdefault(name, 1)
    return name


def _with_pin(lines: list[str]) -> list[str]:
    return [f"{lines[0].rstrip()} {PIN}", *lines[1:]]
