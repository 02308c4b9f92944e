"""Facts, relations, dates and questions as list items, and the other parts of an entity file."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from workbench.engine.identifiers import linked_entity
from workbench.engine.markdown.markup import item_text, one_line, paragraphs_within, unprotect_body
from workbench.engine.markdown.source import Problem
from workbench.engine.scopes import PATTERN, SHARED, written_scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from workbench.engine.markdown.outline import Heading, ListItem, Outline
    from workbench.engine.markdown.source import LineSpan, SourceText


_DATE: Final = r"\d{4}(?:-\d{2}(?:-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?)?)?"
_CLAUSES: Final = re.compile(
    rf"(?P<start>{_DATE}) to (?P<end>{_DATE})|since (?P<since>{_DATE})|until (?P<until>{_DATE})"
    r"|from (?P<sources>[^\s,():]*:[^\s,()]+(?: and [^\s,():]*:[^\s,()]+)*)"
    r"|superseded by \^(?P<superseded>[A-Za-z0-9-]+)|confidence (?P<confidence>high|medium|low)"
    rf"|for (?P<scope>{SHARED}|(?a:{PATTERN}))"
)
_BLOCK: Final = re.compile(r"(?:^|(?<=[ \t\n]))\^([A-Za-z0-9-]+)\Z")
_RESERVED: Final = re.compile(r"[\s,()%]")
_DIGITS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"

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
# Only a name and links; block ids generated for facts start with this letter.
_BARE_RELATION: Final = re.compile(
    r"[^:：\[\]]{1,80}[:：]\s*\[\[[^\[\]]+\]\](?:\s*[,，、]\s*\[\[[^\[\]]+\]\])*"
)
_FACT_BLOCK: Final = "f"
_DATED: Final = re.compile(r"(\d{4}(?:-\d{2}(?:-\d{2})?)?)\s*(?:[:：]|[—–-]\s)\s*(.*)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Validity and source of a fact or relation.

    Args:
        since: ISO date (or year, or month) from which it holds, or None.
        until: ISO date until which it held, or None.
        sources: Ids of its source memories, for example `episode:2026-02-02:14:30`.
        superseded_by: Block id (without `^`) of the replacing fact, or None.
        confidence: `high`, `medium`, `low` or None.
        scope: Its audience, for example `group:family` or `shared`; None for the owner's own.
    """

    since: str | None = None
    until: str | None = None
    sources: tuple[str, ...] = ()
    superseded_by: str | None = None
    confidence: str | None = None
    scope: str | None = None

    def __bool__(self) -> bool:
        known = self.since or self.until or self.sources or self.superseded_by or self.confidence
        return bool(known or self.scope)


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with its provenance, and its block id (without `^`) or None."""

    text: str
    provenance: Provenance = field(default_factory=Provenance)
    block_id: str | None = None


# Each edit of a file parses all its lines again, and most are unchanged.
@lru_cache(maxsize=1024)
def parse_statement(text: str) -> Statement:
    """Parse an item's text (without list marker). Accepts any text.

    Provenance and block id are at the item's end, or at its first line's end if lines are nested under it.
    """
    statement = _parse_end(text)
    if statement.block_id is None and not statement.provenance and "\n" in text:
        first, _, rest = text.partition("\n")
        head = _parse_end(first)
        if head.block_id is not None or head.provenance:
            return Statement(f"{head.text}\n{rest}", head.provenance, head.block_id)
    return statement


def render_statement(statement: Statement) -> str:
    """Format an item's text, so that `parse_statement` returns the statement.

    The text loses outer white space. The only ambiguity is a fact without block id whose own text ends like one.
    """
    text = statement.text.strip(" \t\n")
    at = _provenance_start(text)
    if at is not None:
        # Markdown does not show the backslash, which distinguishes these words from provenance.
        text = f"{text[:at]}\\{text[at:]}"
    words = render_provenance(statement.provenance)
    parts = [text, f"({words})" if words else "", f"^{statement.block_id}" if statement.block_id else ""]
    return " ".join(part for part in parts if part)


def render_provenance(provenance: Provenance) -> str:
    """Format provenance as the words between the parentheses; empty if nothing is known."""
    clauses: list[str] = []
    if provenance.scope:
        clauses.append(f"for {provenance.scope}")
    if provenance.confidence:
        clauses.append(f"confidence {provenance.confidence}")
    if provenance.since and provenance.until:
        clauses.append(f"{provenance.since} to {provenance.until}")
    elif provenance.since:
        clauses.append(f"since {provenance.since}")
    elif provenance.until:
        clauses.append(f"until {provenance.until}")
    if provenance.sources:
        clauses.append("from " + " and ".join(_quoted(source) for source in provenance.sources))
    if provenance.superseded_by:
        clauses.append(f"superseded by ^{provenance.superseded_by}")
    return ", ".join(clauses)


def new_block_id(
    prefix: str, seed: str, taken: Iterable[str], was_given: Callable[[str], bool] = lambda _: False
) -> str:
    """Return a short unused block id, the same every time for the same arguments.

    Args:
        prefix: One letter, `f` for facts, `r` for relations.
        seed: Usually the text.
        taken: Ids in use in the file.
        was_given: Returns True for a used id, which may not be used again.
    """
    used = {block.lower() for block in taken}
    attempt = 0
    while True:
        digest = hashlib.sha256(f"{prefix}\0{attempt}\0{seed}".encode("utf-8", "surrogatepass")).digest()
        length = 3 + attempt // 4
        block = prefix + "".join(_DIGITS[byte % 36] for byte in digest[:length])
        if block not in used and not was_given(block):
            return block
        attempt += 1


def _parse_end(text: str) -> Statement:
    block = _BLOCK.search(text)
    rest = text[: block.start()] if block else text
    rest = rest.rstrip(" \t\n")
    provenance = None
    at = _provenance_start(rest)
    if at and rest[at - 1] != "\\":
        provenance = _provenance(rest[at + 1 : -1])
        rest = rest[:at].rstrip(" \t\n")
        at = _provenance_start(rest)
    if at and rest[at - 1] == "\\":
        rest = rest[: at - 1] + rest[at:]
    return Statement(rest, provenance or Provenance(), block[1] if block else None)


def _provenance_start(text: str) -> int | None:
    """Return the start of the parenthesis that ends a text and parses as provenance, or None."""
    if not text.endswith(")"):
        return None
    at = text.rfind("(")
    return at if at >= 0 and _provenance(text[at + 1 : -1]) is not None else None


# Facts learned together have the same provenance.
@lru_cache(maxsize=1024)
def _provenance(words: str) -> Provenance | None:
    """Parse the words between the parentheses; None if any of them is unknown."""
    known: dict[str, str] = {}
    sources: list[str] = []
    for clause in words.split(", "):
        match = _CLAUSES.fullmatch(clause)
        if match is None:
            return None
        found = {key: value for key, value in match.groupdict().items() if value}
        sources.extend(unquote(source) for source in found.pop("sources", "").split(" and ") if source)
        known.update(found)
    return Provenance(
        known.get("start") or known.get("since"),
        known.get("end") or known.get("until"),
        tuple(sources),
        known.get("superseded"),
        known.get("confidence"),
        known.get("scope"),
    )


def _quoted(source: str) -> str:
    return _RESERVED.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), source)


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact.

    Args:
        text: The sentence, without provenance and block id.
        block_id: Without `^`; None if it has none.
        retired: Whether it is under `## Superseded`.
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
        targets: Entity ids (`type--slug`) of its wikilinks, one for a line written by the engine.
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
    found: dict[str, list[Heading]] = {name: [] for name in SECTIONS}
    for heading in outline.headings:
        name = section_name(heading.text) if heading.level > 1 else None
        if name:
            found[name].append(heading)
    return found


def untitled_items(outline: Outline) -> Iterator[ListItem]:
    """Yield the list items before the first section: statements of a note."""
    first = next((head.span.start for head in outline.headings if head.level > 1), None)
    for item in outline.items:
        if first is not None and item.span.start > first:
            return
        if item.depth == 0:
            yield item


def read_header(outline: Outline) -> Iterator[tuple[str, str]]:
    """Parse the comments before the first section: `Type: project | Created: 2026-01-15`."""
    first = next((head.span.start for head in outline.headings if head.level > 1), None)
    for comment in outline.comments:
        if first is not None and comment.span.start > first:
            return
        for part in comment.text.split("|"):
            key, colon, value = part.replace("：", ":").partition(":")
            if colon and value.strip():
                yield key.strip().lower(), value.strip()


def header_scope(header: Iterable[tuple[str, str]]) -> str | None:
    """Return the audience in a file's header; None, the owner alone, if it has none or several."""
    named = [value for key, value in header if key == "for"]
    return written_scope(named[0]) if len(named) == 1 else None


def comment_text(text: str) -> str:
    """Return a text that cannot end its comment or field."""
    return one_line(text).replace("|", "/").replace("--", "–").replace(">", "›")


def listed_words(text: str) -> list[str]:
    """Return the words of a list on one line."""
    return [word.strip(" \"'[]") for word in re.split(r"[,，、;；]", text)]


def front_matter_word(source: SourceText, outline: Outline, name: str) -> str:
    """Return a one-line value of the front matter; empty if it is missing."""
    if outline.front_matter is None:
        return ""
    for line in source.lines_of(outline.front_matter)[1:-1]:
        key, colon, value = line.partition(":")
        if colon and key.strip().lower() == name:
            return value.strip().strip("\"'").strip()
    return ""


def front_matter_aliases(source: SourceText, outline: Outline) -> list[str]:
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
    return parse_statement(item_text(item.text))


def plain_text(item: ListItem) -> str:
    """Return an item's text without provenance and block id."""
    return statement_of(item).text


def read_fact(item: ListItem, *, retired: bool) -> Fact:
    """Parse one item of `## Facts` or `## Superseded`."""
    found = statement_of(item)
    return Fact(found.text, found.provenance, found.block_id, retired, item.span)


def loose_paragraphs(source: SourceText, outline: Outline, heads: list[Heading]) -> Iterator[LineSpan]:
    """Yield the paragraphs of some sections."""
    for head in heads:
        for part in paragraphs_within(outline, head.section):
            yield source.trimmed(part)


def read_loose_fact(source: SourceText, span: LineSpan) -> Fact:
    """Parse a paragraph of `## Facts` that is not a list item."""
    found = parse_statement(source.text_of(span))
    return Fact(found.text, found.provenance, found.block_id, retired=False, span=span)


def read_relation(item: ListItem) -> Relation | None:
    """Parse one item of `## Relations`; None if it names no entity."""
    found = statement_of(item)
    targets = tuple(dict.fromkeys(linked_entity(match) for match in _LINK.findall(found.text)))
    if not targets:
        return None
    name = _RELATION.match(found.text)
    return Relation(name[1] if name else "relates-to", targets, found.provenance, found.block_id, item.span)


def was_relation(fact: Fact) -> bool:
    """Return True if a line under `## Superseded` was a relation."""
    was_fact = (fact.block_id or "").startswith(_FACT_BLOCK)
    return fact.retired and not was_fact and _BARE_RELATION.fullmatch(fact.text) is not None


def read_dated(item: ListItem) -> Dated:
    """Parse one item of `## Timeline`."""
    found = statement_of(item)
    match = _DATED.match(found.text)
    return Dated(match[1] if match else None, match[2] if match else found.text, found.block_id, item.span)


def read_question(item: ListItem) -> Question:
    """Parse one item of `## Open Questions`."""
    found = statement_of(item)
    return Question(found.text, found.block_id, item.span)


def read_summary(source: SourceText, heads: list[Heading]) -> str:
    """Return the text under `## Summary`."""
    return unprotect_body(source.lines_of(heads[0].body)) if heads else ""


def doubled_ids(outline: Outline, path: str) -> Iterator[Problem]:
    """Yield a problem for each block id that occurs twice in the file."""
    seen: dict[str, int] = {}
    for item in outline.items:
        block = statement_of(item).block_id
        if block is None or (item.depth and block in seen):
            continue
        if block in seen:
            yield Problem(
                path,
                item.span.start,
                f"The block id ^{block} is also on line {seen[block]}.",
                "Give one of the two lines another id.",
            )
        seen.setdefault(block, item.span.start)
