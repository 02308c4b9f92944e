"""Draws how memories differ between two moments, memory by memory: rows, and one of them word by word."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.action_words import sentence, slug_words
from workbench.display.card import Card, Differs, Section, page_body
from workbench.display.diffing import compare
from workbench.display.ink import Span, at_right, gap, ink, line_width, spread
from workbench.display.markdown import bare, unlinked, unmarked
from workbench.display.rows import store_sign
from workbench.engine.markdown.statements import parse_statement
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from workbench.display.diffing import DiffRow, Piece
    from workbench.display.ink import Line
    from workbench.engine.results.account import SinceChange
    from workbench.engine.results.audit import Action, MemoryChange
    from workbench.engine.results.memories import Shown

# Sign and role of what became of a memory.
SIGNS = {
    "added": ("+", "strong"),
    "changed": ("±", "decide"),
    "removed": ("-", "danger"),
}
_STANDING = {
    "pinned": ("◆", "soft"),
    "unpinned": ("◇", "soft"),
    "archived": ("↓", "soft"),
    "restored": ("↑", "soft"),
}
SECTIONS = {
    "core": "Core memory",
    "semantic": "People, projects, things",
    "episodic": "What happened",
    "procedural": "How things are done",
    "vault": "Vault",
    "file": "Files",
}
# Lines of one memory that a list of many shows of how it differs.
_MOST_LINES = 6
# Memories that a sentence names.
_MOST_NAMED = 3
_COMMENT = lazy_pattern(r"<!--.*?-->", re.DOTALL)
_BLOCK = lazy_pattern(r"\s+\^[\w-]+\s*$", re.MULTILINE)
_BESIDE = lazy_pattern(r"\s*\(([^()]*)\)$", re.MULTILINE)
_DAYS = lazy_pattern(
    r"since \d{4}-\d{2}-\d{2}|until \d{4}-\d{2}-\d{2}|\d{4}-\d{2}-\d{2} to \d{4}-\d{2}-\d{2}"
)
_SLUG_HEADING = lazy_pattern(r"^(#{1,6} +)([a-z]+--[\w-]+)$", re.MULTILINE)
_ITEM = lazy_pattern(r"^\s*- ", re.MULTILINE)
_RELATION = lazy_pattern(r"([\w-]+): ([\w-]+--[\w-]+(?:, [\w-]+--[\w-]+)*)")
_BLANKS = lazy_pattern(r"\n\s*\n\s*")


def readable(text: str | None, *, marked: bool = False) -> str | None:
    """Return what a memory says without what files note for the engine: comments, ids and where a fact came from.

    Args:
        marked: Whether emphasis stays marked, to be drawn; without, texts can be compared word by word.
    """
    if text is None:
        return None
    without = _BLOCK.sub("", _COMMENT.sub("", text))
    if text.lstrip().startswith("- ") and "\n" not in text.strip():
        without = _ITEM.sub("", without)
    lines = map(_dated, without.splitlines())
    lines = lines if marked else map(unmarked, lines)
    return _BLANKS.sub("\n", "\n".join(lines)).strip("\n")


def _dated(line: str) -> str:
    """Keep of what stands in parentheses after a fact the days alone, and none where it merely began to hold."""
    found = _BESIDE.search(line)
    if found is None or not (_DAYS.search(found[1]) or parse_statement(line).provenance):
        return line
    days = _DAYS.search(found[1])
    kept = days[0] if days is not None and not days[0].startswith("since") else ""
    return line[: found.start()] + (f" (held {words.told_days(kept)})" if kept else "")


def title_of(change: MemoryChange) -> str:
    """Return what a memory is called in a list; a relation with whose it is."""
    title = words.without_id(change.title) or change.id.partition(":")[2]
    if "#^" in change.id and (relation := _RELATION.fullmatch(title)):
        ends = " and ".join(slug_words(each) for each in relation[2].split(", "))
        return f"{slug_words(change.id.partition(':')[2].partition('#')[0])} {relation[1].replace('-', ' ')} {ends}"
    return bare(title)


def sign_of(change: MemoryChange) -> tuple[str, str]:
    """Return the sign of what became of a memory, and its role."""
    return SIGNS.get(change.change) or _STANDING.get(change.standing, ("±", "decide"))


def change_row(change: MemoryChange, by: SinceChange | None, now: datetime, width: int) -> Line:
    """Draw a memory that differs, with who changed it last where that is known."""
    sign, role = sign_of(change)
    left = (Span(f"{sign} ", role), ink(title_of(change), "soft" if change.change == "removed" else "text"))
    beside = ""
    if by is not None:
        day = words.day(by.timestamp.astimezone(now.tzinfo).date(), now.date())
        beside = f"{words.who(by.owner)}, {day}"
    return spread(left, at_right(line_width(left), change.standing or "", beside, width), width)


def same_row(store: str, title: str, width: int) -> Line:
    """Draw a memory that reads the same at both moments."""
    return spread((gap(2), Span(words.sign(store) + " ", "faint"), ink(bare(title), "soft")), (), width)


def counts_of(changes: Iterable[MemoryChange]) -> str:
    """Write how many of these came, changed and went: “+2 ±3 -1”; empty where there are none."""
    counts = Counter(sign_of(each)[0] for each in changes)
    signs = [sign for sign, _ in (*SIGNS.values(), *_STANDING.values())]
    return " ".join(f"{sign}{counts[sign]:,}" for sign in signs if counts[sign])


def counted(changes: Iterable[MemoryChange]) -> str:
    """Say how many of these came, changed and went."""
    # As `sign_of` tells it: where the text differs, that counts, whatever its standing is.
    counts = Counter(each.standing if each.change == "scored" else each.change for each in changes)
    told = [
        f"{counts[name]:,} {name}" for name in ("added", "changed", "removed", *_STANDING) if counts[name]
    ]
    return " · ".join(told) or "nothing differs"


def effect_words(changes: Sequence[MemoryChange]) -> str:
    """Say which memories went, came back or read otherwise: “Gone: “A”, “B”. Back: “C”.”; empty where none did."""
    kinds = (("Gone", "removed"), ("Back", "added"), ("Reads otherwise", "changed"))
    told = []
    for word, kind in kinds:
        titles = [words.quoted(title_of(each), 40) for each in changes if each.change == kind]
        more = f" and {len(titles) - _MOST_NAMED:,} more" if len(titles) > _MOST_NAMED else ""
        if titles:
            told.append(f"{word}: {', '.join(titles[:_MOST_NAMED])}{more}.")
    return " ".join(told)


def change_lines(change: MemoryChange) -> list[Line]:
    """Draw what became of a memory in a list of several: its words, and where it reads otherwise, how.

    The first span of each line is a sign, and hangs.
    """
    sign, role = sign_of(change)
    title = ink(title_of(change), "text", None, change.id)
    if change.change == "scored":
        return [(Span(f"{sign} ", role), ink(f"{change.standing}: ", "soft"), title)]
    if change.change != "changed":
        return [(Span(f"{sign} ", role), title)]
    rows = [row for row in differing(change, 0) if row.kind != "gap"]
    if len(rows) == 1 and rows[0].before_number and rows[0].after_number:
        # A memory of one line is called by what it says: the line itself tells.
        return _sides(rows[0], "", change.id)
    lines: list[Line] = [(Span(f"{sign} ", role), title)]
    for row in rows[:_MOST_LINES]:
        lines += _sides(row, "  ")
    if len(rows) > _MOST_LINES:
        lines.append((gap(4), Span(f"and {len(rows) - _MOST_LINES:,} more lines", "faint")))
    return lines


def differing(change: MemoryChange, context: int) -> tuple[DiffRow, ...]:
    """Return how a memory reads differently, with so many lines around each change that stay."""
    before, after = (_in_words(readable(text)) for text in (change.before, change.after))
    # What only files note may be all that differs.
    return compare(before, after, context) or compare(change.before, change.after, context)


def _in_words(text: str | None) -> str | None:
    """Return a text with the names of what it links to, and of the entity that heads its page."""
    return text and _SLUG_HEADING.sub(lambda found: found[1] + slug_words(found[2]), unlinked(text))


def _sides(row: DiffRow, indent: str, link: str = "") -> list[Line]:
    lines: list[Line] = []
    if row.before_number:
        lines.append((Span(f"{indent}- ", "removed"), *_pieces(row.before, "removed", "soft", link)))
    if row.after_number:
        lines.append((Span(f"{indent}+ ", "added"), *_pieces(row.after, "added", "text", link)))
    return lines


def _pieces(pieces: Sequence[Piece], kind: str, plain: str, link: str) -> Iterable[Span]:
    for piece in pieces:
        yield ink(bare_spaced(piece.text), f"{kind}.word" if piece.changed else plain, 2000, link)


def bare_spaced(text: str) -> str:
    """Return a piece of a line as it is, but for links; its spaces hold it apart from the next."""
    stripped = bare(text)
    lead = text[: len(text) - len(text.lstrip())]
    trail = text[len(text.rstrip()) :] if stripped else ""
    return f"{lead}{stripped}{trail}"


def difference_card(
    change: MemoryChange, older: str, newer: str, actions: Sequence[Action], back: str, now: datetime
) -> Card:
    """Return the card of a memory that differs between two moments.

    Args:
        actions: What changed it last, newest first.
        back: What `r` does, in words.
    """
    said = {
        "added": f"not there on {older}, there {_on(newer)}",
        "removed": f"there on {older}, gone {_on(newer)}",
        "scored": f"{change.standing} since {older}; its text is the same",
    }.get(change.change, f"reads differently on {older} and {_on(newer)}")
    kind = (store_sign(change.store), ink(f"{words.kind(change.store)} · {said}", "soft"))
    sections: list[Section | Differs] = []
    if change.change != "scored":
        sections.append(Differs(f"◇ {older}   ◆ {newer}", differing(change, 2)))
    if actions:
        sections.append(Section("WHO", tuple(_who(each, now) for each in actions)))
    sections.append(Section.of("BACK", back, "soft"))
    details = (
        Section.of("ID", change.id, "soft"),
        Section.of("FILE", change.path, "soft"),
    )
    title = title_of(change)
    return Card(title, title, kind, tuple(sections), details)


def _on(moment: str) -> str:
    return moment if moment == "now" else f"on {moment}"


def _who(action: Action, now: datetime) -> Line:
    return (
        ink(f"{words.moment(action.timestamp, now)}  ", "soft"),
        ink(sentence(action), "text+link", None, f"commit:{action.id}"),
    )


def past_card(shown: Shown, then: str) -> Card:
    """Return the card of a memory as it was, and still is.

    Args:
        then: The moment, as a sentence goes on: “as on 1 Nov”.
    """
    told = f"{words.kind(shown.store)} · {then}, and the same at the other moment"
    kind = (store_sign(shown.store), ink(told, "soft"))
    details = (
        Section.of("ID", shown.id, "soft"),
        Section.of("LINES", f"{shown.path} {shown.start_line}–{shown.end_line}", "soft"),
    )
    title = bare(shown.title or shown.text)
    text = readable(shown.text, marked=True) or title
    return Card(title, text, kind, (), details, body=page_body(text))
