"""The parts of an entity file: what each is, and how it is read from the file's structure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from workbench.engine.documents.items import item_text, one_line, paragraphs_within
from workbench.engine.documents.problems import Problem
from workbench.engine.documents.protection import unprotect_body
from workbench.engine.documents.statement import Provenance, Statement, parse_statement
from workbench.engine.identifiers import linked_entity
from workbench.engine.scopes import written_scope

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.engine.documents.outline import Heading, ListItem, Outline
    from workbench.engine.documents.source import LineSpan, SourceText

SECTIONS: Final = (
    "Aliases",
    "Summary",
    "Facts",
    "Superseded",
    "Timeline",
    "Open Questions",
    "Relations",
)
_SECTION_NAMES: Final = {
    "aliases": "Aliases",
    "alias": "Aliases",
    "also known as": "Aliases",
    "summary": "Summary",
    "facts": "Facts",
    "superseded": "Superseded",
    "superseded facts": "Superseded",
    "timeline": "Timeline",
    "open questions": "Open Questions",
    "questions": "Open Questions",
    "relations": "Relations",
    "别名": "Aliases",
    "摘要": "Summary",
    "概述": "Summary",
    "事实": "Facts",
    "已取代": "Superseded",
    "时间线": "Timeline",
    "待解问题": "Open Questions",
    "关系": "Relations",
}
_LINK: Final = re.compile(r"\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]")
_RELATION: Final = re.compile(r"\s*([^:：\[\]]{1,80}?)\s*[:：]\s*(?=.*\[\[)", re.DOTALL)
# Nothing but a name and links; the block ids that are made for facts start with this letter.
_BARE_RELATION: Final = re.compile(
    r"[^:：\[\]]{1,80}[:：]\s*\[\[[^\[\]]+\]\](?:\s*[,，、]\s*\[\[[^\[\]]+\]\])*"
)
_FACT_BLOCK: Final = "f"
_DATED: Final = re.compile(r"(\d{4}(?:-\d{2}(?:-\d{2})?)?)\s*(?:[:：]|[—–-]\s)\s*(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact.

    Args:
        text: The sentence, without provenance and block id.
        block_id: Without `^`; None for an item that has none.
        retired: Whether it stands under `## Superseded`.
        span: Its lines.
    """

    text: str
    provenance: Provenance
    block_id: str | None
    retired: bool
    span: LineSpan


@dataclass(frozen=True, slots=True)
class Relation:
    """One line of `## Relations`.

    Args:
        name: As written: `develops`, `Inspired by`.
        targets: Entity ids (`type--slug`) of its wikilinks, one for a line that the engine wrote.
    """

    name: str
    targets: tuple[str, ...]
    provenance: Provenance
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True, slots=True)
class Dated:
    """One line of `## Timeline`: a date (or None) and what happened."""

    date: str | None
    text: str
    block_id: str | None
    span: LineSpan


@dataclass(frozen=True, slots=True)
class Question:
    """One line of `## Open Questions`."""

    text: str
    block_id: str | None
    span: LineSpan


# All files have the same few headings.
@lru_cache(maxsize=256)
def section_name(heading: str) -> str | None:
    """Return the canonical name of a known section, or None."""
    words = "".join(char if char.isalnum() else " " for char in heading.casefold()).split()
    return _SECTION_NAMES.get(" ".join(words))


def known_sections(outline: Outline) -> dict[str, list[Heading]]:
    """Return the headings of each known section."""
    found: dict[str, list[Heading]] = {name: [] for name in SECTIONS}
    for heading in outline.headings:
        name = section_name(heading.text) if heading.level > 1 else None
        if name:
            found[name].append(heading)
    return found


def untitled_items(outline: Outline) -> Iterator[ListItem]:
    """Yield the list items before the first section: what a note says in so many words."""
    first = next((head.span.start for head in outline.headings if head.level > 1), None)
    for item in outline.items:
        if first is not None and item.span.start > first:
            return
        if item.depth == 0:
            yield item


def read_header(outline: Outline) -> Iterator[tuple[str, str]]:
    """Read the comments before the first section: `Type: project | Created: 2026-01-15`."""
    first = next((head.span.start for head in outline.headings if head.level > 1), None)
    for comment in outline.comments:
        if first is not None and comment.span.start > first:
            return
        for part in comment.text.split("|"):
            key, colon, value = part.replace("：", ":").partition(":")
            if colon and value.strip():
                yield key.strip().lower(), value.strip()


def header_scope(header: Iterable[tuple[str, str]]) -> str | None:
    """Return whom a file's header says it is for; None, the owner's own, where it says nothing or several."""
    named = [value for key, value in header if key == "for"]
    return written_scope(named[0]) if len(named) == 1 else None


def comment_text(text: str) -> str:
    """Return a text that cannot end the comment or the field it stands in."""
    return one_line(text).replace("|", "/").replace("--", "–").replace(">", "›")


def listed_words(text: str) -> list[str]:
    """Return the words of a list on one line."""
    return [word.strip(" \"'[]") for word in re.split(r"[,，、;；]", text)]


def front_matter_word(source: SourceText, outline: Outline, name: str) -> str:
    """Return what the front matter says under a name in one line; empty where it says nothing."""
    if outline.front_matter is None:
        return ""
    for line in source.lines_of(outline.front_matter)[1:-1]:
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() == name:
            return value.strip().strip("\"'").strip()
    return ""


def front_matter_aliases(source: SourceText, outline: Outline) -> list[str]:
    """Return the aliases of the front matter."""
    if outline.front_matter is None:
        return []
    lines = source.lines_of(outline.front_matter)[1:-1]
    for at, line in enumerate(lines):
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() in ("aliases", "alias"):
            if value.strip():
                return listed_words(value.strip().strip("[]"))
            following = []
            for more in lines[at + 1 :]:
                if not more.lstrip().startswith("- "):
                    break
                following.append(more.lstrip()[2:].strip(" \"'"))
            return following
    return []


def statement_of(item: ListItem) -> Statement:
    """Return what an item says, taken apart."""
    return parse_statement(item_text(item.text))


def plain_text(item: ListItem) -> str:
    """Return what an item says, without provenance and block id."""
    return statement_of(item).text


def read_fact(item: ListItem, *, retired: bool) -> Fact:
    """Read one item of `## Facts` or `## Superseded`."""
    found = statement_of(item)
    return Fact(found.text, found.provenance, found.block_id, retired, item.span)


def loose_paragraphs(source: SourceText, outline: Outline, heads: list[Heading]) -> Iterator[LineSpan]:
    """Yield the paragraphs of some sections."""
    for head in heads:
        for part in paragraphs_within(outline, head.section):
            yield source.trimmed(part)


def read_loose_fact(source: SourceText, span: LineSpan) -> Fact:
    """Read a paragraph of `## Facts` that is no list item."""
    found = parse_statement(source.text_of(span))
    return Fact(found.text, found.provenance, found.block_id, retired=False, span=span)


def read_relation(item: ListItem) -> Relation | None:
    """Read one item of `## Relations`; None where it names no entity."""
    found = statement_of(item)
    targets = tuple(dict.fromkeys(linked_entity(match) for match in _LINK.findall(found.text)))
    if not targets:
        return None
    name = _RELATION.match(found.text)
    return Relation(name[1] if name else "relates-to", targets, found.provenance, found.block_id, item.span)


def was_relation(fact: Fact) -> bool:
    """Tell whether a line under `## Superseded` stood under `## Relations` before."""
    was_fact = (fact.block_id or "").startswith(_FACT_BLOCK)
    return fact.retired and not was_fact and _BARE_RELATION.fullmatch(fact.text) is not None


def read_dated(item: ListItem) -> Dated:
    """Read one item of `## Timeline`."""
    found = statement_of(item)
    match = _DATED.match(found.text)
    return Dated(match[1] if match else None, match[2] if match else found.text, found.block_id, item.span)


def read_question(item: ListItem) -> Question:
    """Read one item of `## Open Questions`."""
    found = statement_of(item)
    return Question(found.text, found.block_id, item.span)


def read_summary(source: SourceText, heads: list[Heading]) -> str:
    """Return the text under `## Summary`."""
    return unprotect_body(source.lines_of(heads[0].body)) if heads else ""


def doubled_ids(outline: Outline, path: str) -> Iterator[Problem]:
    """Yield a problem for each block id that stands in the file twice."""
    seen: dict[str, int] = {}
    for item in outline.items:
        block = statement_of(item).block_id
        if block is None or (item.depth and block in seen):
            continue
        if block in seen:
            yield Problem(
                path,
                item.span.start,
                f"The block id ^{block} stands on line {seen[block]} too.",
                "Give one of the two lines another id.",
            )
        seen.setdefault(block, item.span.start)
