"""One fact or relation as a list item: the sentence, what is known about it in words, and its block id."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from workbench.engine.scopes import PATTERN, SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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


@dataclass(frozen=True, slots=True)
class Provenance:
    """What is known about a fact or relation: when it was true and where it comes from.

    Args:
        since: ISO date (or year, or month) from which it holds, or None.
        until: ISO date to which it held, or None.
        sources: Ids of the memories it comes from, for example `episode:2026-02-02:14:30`.
        superseded_by: Block id (without `^`) of the fact that took its place, or None.
        confidence: `high`, `medium`, `low` or None.
        scope: Whom it is for, for example `group:family` or `shared`; None for the owner's own.
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
    """A sentence with its provenance and block id (without `^`), or None where it has none."""

    text: str
    provenance: Provenance = field(default_factory=Provenance)
    block_id: str | None = None


# Each edit of a file reads all its lines again, and most are as they were.
@lru_cache(maxsize=1024)
def parse_statement(text: str) -> Statement:
    """Read an item's text (without list marker). Takes any text.

    Provenance and block id stand at the item's end, or at its first line's where lines are nested under it.
    """
    statement = _parse_end(text)
    if statement.block_id is None and not statement.provenance and "\n" in text:
        first, _, rest = text.partition("\n")
        head = _parse_end(first)
        if head.block_id is not None or head.provenance:
            return Statement(f"{head.text}\n{rest}", head.provenance, head.block_id)
    return statement


def render_statement(statement: Statement) -> str:
    """Write an item's text, so that `parse_statement` gives the statement back.

    The text loses white space at its ends; a fact without block id whose own end reads like one is
    the one thing that cannot be told apart.
    """
    text = statement.text.strip(" \t\n")
    at = _provenance_start(text)
    if at is not None:
        # Markdown does not show the backslash: it tells these words from what is known about the fact.
        text = f"{text[:at]}\\{text[at:]}"
    words = render_provenance(statement.provenance)
    parts = [text, f"({words})" if words else "", f"^{statement.block_id}" if statement.block_id else ""]
    return " ".join(part for part in parts if part)


def render_provenance(provenance: Provenance) -> str:
    """Write what is known about a fact as the words between the parentheses; empty where nothing is."""
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
    """Return a short block id that is not taken, the same every time for the same arguments.

    Args:
        prefix: One letter, `f` for facts, `r` for relations.
        seed: What is named, normally the text.
        taken: Ids that are in use in the file.
        was_given: Returns True for an id that must not be given again.
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
    """Return where the parenthesis starts that ends a text and reads as provenance, or None."""
    if not text.endswith(")"):
        return None
    at = text.rfind("(")
    return at if at >= 0 and _provenance(text[at + 1 : -1]) is not None else None


# What was learned at once is known in the same words.
@lru_cache(maxsize=1024)
def _provenance(words: str) -> Provenance | None:
    """Read the words between the parentheses; None where any of them is something else."""
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
