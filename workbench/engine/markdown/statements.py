"""Statements, the sentences of facts and relations with provenance and block id, and the headers of files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from datetime import datetime, tzinfo
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from workbench.engine.markdown.outline import Outline
from workbench.engine.patterns import lazy_pattern
from workbench.engine.roles import PATTERN, SHARED, written_scope
from workbench.engine.values import dataclass

_DATE: Final = r"\d{4}(?:-\d{2}(?:-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:\d{2})?)?)?)?"
_CLAUSES: Final = lazy_pattern(
    rf"(?P<start>{_DATE}) to (?P<end>{_DATE})|since (?P<since>{_DATE})|until (?P<until>{_DATE})"
    r"|from (?P<sources>[^\s,():]*:[^\s,()]+(?: and [^\s,():]*:[^\s,()]+)*)"
    r"|superseded by \^(?P<superseded>[A-Za-z0-9-]+)|confidence (?P<confidence>high|medium|low)"
    rf"|for (?P<scope>{SHARED}|(?a:{PATTERN}))"
)
_BLOCK: Final = lazy_pattern(r"(?:^|(?<=[ \t\n]))\^([A-Za-z0-9-]+)\Z")
_RESERVED: Final = lazy_pattern(r"[\s,()%]")
_DAY: Final = len("2026-02-02")
_COUNT: Final = "access count"
ACCESS_KEYS: Final = frozenset({_COUNT, "last updated", "last used", "last accessed"})
"""Fields of a header that tell of accesses, in lower case."""
_ACCESSES: Final = lazy_pattern(r"[0-9]{1,9}")
_DIGITS: Final = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Validity and source of a fact or relation.

    Args:
        since: ISO date (or year, or month) from which it holds, or None.
        until: ISO date until which it held, or None.
        sources: Ids of its source memories, for example `episode:2026-02-02:14:30`.
        successor_block: Block id (without `^`) of the replacing fact, or None.
        confidence: `high`, `medium`, `low` or None.
        scope: Its audience, for example `group:family` or `shared`; None for the owner's own.
    """

    since: str | None = None
    until: str | None = None
    sources: tuple[str, ...] = ()
    successor_block: str | None = None
    confidence: str | None = None
    scope: str | None = None

    def __bool__(self) -> bool:
        known = self.since or self.until or self.sources or self.successor_block or self.confidence
        return bool(known or self.scope)

    def has_ended(self, today: str) -> bool:
        """Return whether `until` lies before an ISO day."""
        return has_ended(self.until, today)


def has_ended(until: str | None, today: str) -> bool:
    """Return whether a time lies before a day; the last day, month or year is not over while it lasts.

    Args:
        until: ISO date, year or month; None for no end.
        today: ISO date.
    """
    return until is not None and until[:_DAY] < today[: len(until[:_DAY])]


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
    words = _render_provenance(statement.provenance)
    parts = [text, f"({words})" if words else "", f"^{statement.block_id}" if statement.block_id else ""]
    return " ".join(part for part in parts if part)


def _render_provenance(provenance: Provenance) -> str:
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
    if provenance.successor_block:
        clauses.append(f"superseded by ^{provenance.successor_block}")
    return ", ".join(clauses)


def new_block_id(
    prefix: str, seed: str, taken: Iterable[str], was_given: Callable[[str], bool] = lambda _: False
) -> str:
    """Return a short unused block id, the same every time for the same arguments.

    Args:
        prefix: One letter, `f` for facts, `r` for relations.
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


@dataclass(frozen=True, slots=True)
class WrittenAccesses:
    """The accesses that the header of an entity or a procedure tells of (design document §6.2, §7).

    Args:
        count: From 1.
        last: The day of the last one, aware; None if the header does not say.
    """

    count: int
    last: datetime | None

    def render(self) -> str:
        """Return it as text that `read` understands."""
        return f"{self.count} {self.last.isoformat() if self.last else ''}"

    @classmethod
    def read(cls, text: str) -> WrittenAccesses:
        """Return what `render` wrote."""
        count, _, last = text.partition(" ")
        return cls(int(count), datetime.fromisoformat(last) if last else None)


def header_accesses(header: Iterable[tuple[str, str]], zone: tzinfo) -> WrittenAccesses | None:
    """Return the accesses in a file's header, of several the most and the latest; None if it has none that can be read.

    The score that stands beside them is not read: it follows from them, and is another every day.

    Args:
        zone: The zone of its days.
    """
    fields = [(key, value) for key, value in header if key in ACCESS_KEYS]
    counts = [int(value) for key, value in fields if key == _COUNT and _ACCESSES.fullmatch(value)]
    days = [day for key, value in fields if key != _COUNT and (day := _day_of(value, zone))]
    if not counts and not days:
        return None
    return WrittenAccesses(max(1, *counts, 1), max(days, default=None))


def _day_of(text: str, zone: tzinfo) -> datetime | None:
    try:
        return datetime.fromisoformat(text[:_DAY]).replace(tzinfo=zone)
    except ValueError:
        return None


def header_scope(header: Iterable[tuple[str, str]]) -> str | None:
    """Return the audience in a file's header; None, the owner alone, if it has none or several."""
    named = [value for key, value in header if key == "for"]
    return written_scope(named[0]) if len(named) == 1 else None
