"""Draws one memory to read: its text lightly styled, its score with the terms, its links and its history."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.display.cells import cell_width, plain, wrap
from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, line_width, score_role, wrap_line
from workbench.engine.identifiers import linked_entity
from workbench.tui.bench import Link
from workbench.tui.views.dates import long_day
from workbench.tui.views.scopes import knowers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.tui.bench import HistoryEntry, Memory, Score

_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_ITEM = re.compile(r"^(\s*)(?:[-*+]|(\d{1,4}[.)]))\s+(.*)$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_WIKILINK = re.compile(
    r"\[\[([^\[\]|]{1,120})(?:\|([^\[\]]{1,120}))?\]\]|(episode:\d{4}-\d{2}-\d{2}:\d{2}:\d{2}(?:#\d+)?)"
)
_KINDS = frozenset({"core", "episode", "entity", "procedure", "vault", "file"})
STORE_SIGNS = {
    "core": "◎",
    "episodic": "◷",
    "semantic": "◇",
    "procedural": "≡",
    "vault": "▣",
    "file": "▤",
}
STORE_TITLES = {
    "core": "Core memory",
    "episodic": "Episodes",
    "semantic": "Graph",
    "procedural": "Procedures",
    "vault": "Vault",
    "file": "Other files",
}
"""What heads the memories of a store."""
_LONGEST_TITLE = 400
_SCORE_BAR = 24
# A score that is written as 0.00 has no bar.
_LEAST = 0.005
# Two spaces, “0.82”, two spaces, “archived”.
_BESIDE_BAR = 16
_MOST_HISTORY = 8
# Cells that a summary needs beside who made the change; with fewer it has a line of its own.
_LEAST_SUMMARY = 14
# A space at which a formula is not broken, and what stands for it meanwhile.
_WITHIN_TERM, _KEPT = re.compile(r"(?<![×,]) (?![×(])"), "\u00a0"
_WIDEST_TEXT = 88
# Longer texts are shown up to here; the file itself has the rest.
MOST_CHARACTERS = 60_000


def markdown_lines(text: str, width: int) -> list[Line]:
    """Draw Markdown as plain text: headings strong, items hanging, code softer, links to memories walkable."""
    width = min(width, _WIDEST_TEXT)
    lines: list[Line] = []
    in_fence = False
    cut_short = len(text) > MOST_CHARACTERS
    for source in text[:MOST_CHARACTERS].splitlines():
        if _FENCE.match(source):
            in_fence = not in_fence
            lines.append((ink(source, "faint", width),))
        elif in_fence:
            lines.extend((Span(piece, "code"),) for piece in wrap_code(source, width))
        elif heading := _HEADING.match(source):
            if lines and lines[-1]:
                lines.append(BLANK)
            lines.extend((Span(piece, "strong"),) for piece in wrap(heading[2], width))
        elif item := _ITEM.match(source):
            indent = min(len(item[1].expandtabs(4)), max(0, width - 20))
            bullet = (item[2] or "·") + " "
            lines.extend(_hanging(item[3], indent, bullet, width))
        elif source.startswith(">"):
            lines.extend(
                (Span("▏ ", "faint"), *line) for line in _flowing(source[1:].strip(), width - 2, "soft")
            )
        elif not source.strip():
            if lines and lines[-1]:
                lines.append(BLANK)
        else:
            lines.extend(_flowing(source.strip(), width))
    if cut_short:
        lines += [BLANK, (Span(f"… {len(text) - MOST_CHARACTERS:,} more characters in the file.", "faint"),)]
    return lines


def wrap_code(source: str, width: int) -> list[str]:
    """Break a line of code at the width, keeping its spaces."""
    safe = plain(source, width * 40)
    pieces: list[str] = []
    while cell_width(safe) > width:
        head = plain(safe, width + 1).removesuffix("…") or safe[:1]
        pieces.append(head)
        safe = safe[len(head) :]
    return [*pieces, safe]


def _hanging(text: str, indent: int, bullet: str, width: int) -> list[Line]:
    lines = _flowing(text, width - indent - len(bullet))
    lead = Span(" " * indent + bullet, "faint")
    return [(lead if at == 0 else gap(len(lead.text)), *line) for at, line in enumerate(lines)]


def _flowing(text: str, width: int, role: str = "text") -> list[Line]:
    """Wrap a paragraph whose links stay whole in meaning, wherever they break."""
    text = " ".join(text.replace("**", "").splitlines())
    spans: list[Span] = []
    at = 0
    for found in _WIKILINK.finditer(text):
        target = found[3] or (found[1].strip() if ":" in found[1] else _entity_linked(found[1]))
        spans.append(ink(text[at : found.start()], role))
        spans.append(ink(found[3] or found[2] or found[1], link_role(target), link=target))
        at = found.end()
    spans.append(ink(text[at:], role))
    return wrap_line(tuple(span for span in spans if span.text), width)


def _entity_linked(link: str) -> str:
    """Return the id of the entity, or of the line of its file, that a wikilink leads to."""
    name, _, part = link.strip().partition("#")
    return f"entity:{linked_entity(name)}" + (f"#{part}" if part.startswith("^") else "")


def store_of_id(memory_id: str) -> str:
    """Return the store that an id belongs to, for its hue."""
    kind = memory_id.partition(":")[0]
    stores = {"episode": "episodic", "entity": "semantic", "procedure": "procedural"}
    return stores.get(kind, kind if kind in ("core", "vault") else "file")


def store_sign(memory_id: str) -> str:
    """Return the glyph that says the store of an id where its hue cannot be seen."""
    return STORE_SIGNS[store_of_id(memory_id)]


def link_role(memory_id: str) -> str:
    """Return the look of a link to a memory: the hue of its store, underlined."""
    return f"store.{store_of_id(memory_id)}+link"


def title_lines(memory_id: str, title: str, width: int) -> list[Line]:
    """Draw what a memory goes by, behind the sign of its store.

    Args:
        memory_id: Of the memory.
        title: Its words; the id where there are none.
        width: Cells.
    """
    role = f"store.{store_of_id(memory_id)}"
    words = wrap_line((ink(title.strip() or memory_id, f"{role}+strong", _LONGEST_TITLE),), max(8, width - 2))
    sign = Span(f"{store_sign(memory_id)} ", role)
    return [cut((sign if at == 0 else gap(2), *line), width) for at, line in enumerate(words)]


def section(title: str) -> list[Line]:
    """Return the heading of a part of a detail, with white space before it."""
    return [BLANK, (Span(title, "soft"),)]


def link_lines(links: Sequence[Link], width: int) -> list[Line]:
    """Draw links one below the other by their words, and by the id where there are none."""
    lines: list[Line] = []
    for each in links:
        words = each.text.strip() or each.id
        for at, piece in enumerate(wrap(words, max(8, width - 2), limit=2)):
            lead = f"{store_sign(each.id)} " if at == 0 else "  "
            lines.append(
                (Span(lead, f"store.{store_of_id(each.id)}"), Span(piece, link_role(each.id), each.id))
            )
    return lines


def score_lines(score: Score, width: int, *, words: str = "") -> list[Line]:
    """Draw a score as a bar with its status in a word, and the terms that make it.

    Args:
        score: To draw.
        width: Cells.
        words: What to say instead of the status.
    """
    bar = (
        *score_bar(score.value, score_bar_width(width)),
        gap(2),
        Span(f"{score.value:.2f}", "strong"),
        gap(2),
        ink(words or score.status, "soft"),
    )
    lines: list[Line] = [cut(bar, width)]
    lines.extend((Span(piece, "faint"),) for piece in _wrapped_formula(score, width))
    return lines


def score_bar(score: float, cells: int, role: str = "") -> Line:
    """Draw a score from 0 to 1 as a bar; whatever is written as more than 0.00 shows.

    Args:
        score: To draw.
        cells: Of the whole bar.
        role: Look of the filled part; as bright as the score where none is given.
    """
    filled = max(0, min(cells, max(int(score >= _LEAST), round(cells * score))))
    return (Span("━" * filled, role or score_role(score)), Span("─" * (cells - filled), "rule"))


def score_bar_width(width: int) -> int:
    """Return how long a score’s bar is where its number and its word stand beside it, in cells."""
    return max(4, min(_SCORE_BAR, width - _BESIDE_BAR))


def formula(score: Score) -> str:
    """Write the terms of a score as the product that they are; terms that are not known stand after it."""
    terms = dict(score.terms)
    words: list[str] = []
    for name, label, of in (
        ("base", "base", ()),
        ("decay", "decay", (("days", "days"), ("lambda", "λ"))),
        ("reinforcement", "use", (("accessCount", "accesses"),)),
        ("typeWeight", "type", ()),
    ):
        value = terms.pop(name, None)
        details = ", ".join(f"{text} {terms.pop(key):.3g}" for key, text in of if key in terms)
        if value is not None:
            words.append(f"{label} {value:.3g}" + (f" ({details})" if details else ""))
    words += [f"{name} {value:.3g}" for name, value in terms.items() if value]
    return " × ".join(words)


def _wrapped_formula(score: Score, width: int) -> list[str]:
    """Break a formula between its terms alone: a name stays with its number."""
    kept = _WITHIN_TERM.sub(_KEPT, formula(score))
    return [piece.replace(_KEPT, " ") for piece in wrap(kept, width)]


def known_lines(
    memory: Memory,
    width: int,
    *,
    learned: str = "What links here",
    score: Callable[[Score, int], list[Line]] = score_lines,
) -> list[Line]:
    """Draw all that is known about a memory below its text.

    Args:
        memory: To draw.
        width: Cells.
        learned: Heading of what links here.
        score: Draws the score.
    """
    width = min(width, _WIDEST_TEXT)
    lines: list[Line] = []
    if memory.scope:
        who = (ink(f"You, and {knowers(memory.scope)}"), gap(2), ink(memory.scope, "faint"))
        lines += [*section("Who may know it"), cut(who, width)]
    if memory.links_from:
        lines += [*section(learned), *link_lines(memory.links_from, width)]
    found = sources(memory)
    if named := [each for each in memory.links_to if each.id not in found]:
        lines += [*section("Names"), *link_lines(named, width)]
    if found:
        words = {each.id: each.text for each in memory.links_to}
        lines += [
            *section("Comes from"),
            *link_lines([Link(each, words.get(each, each)) for each in found], width),
        ]
    if memory.valid_from or memory.valid_until or memory.retired:
        end = memory.valid_until or ("…" if memory.retired else "now")
        span = f"true from {memory.valid_from or '…'} until {end}"
        lines += [*section("No longer holds" if memory.retired else "Holds"), (ink(span, "text", width),)]
        if memory.superseded_by:
            lines.append(
                (
                    Span("superseded by "),
                    Span(plain(memory.superseded_by, width - 14), link_role(memory.id), memory.superseded_by),
                )
            )
    if memory.score is not None:
        lines += [*section("Score"), *score(memory.score, width)]
    if memory.history:
        shown = memory.history[:_MOST_HISTORY]
        actor_width = min(21, max(len(each.actor) for each in shown))
        lines += section("History")
        lines += [line for each in shown for line in _history_lines(each, actor_width, width)]
        if more := len(memory.history) - _MOST_HISTORY:
            lines += [(Span(f"{more} earlier; h shows all of them.", "faint"),)] if more > 0 else []
    where = f"{memory.path}:{memory.start_line}" if memory.start_line else memory.path
    return [*lines, BLANK, (ink(where, "faint", width),)]


def sources(memory: Memory) -> list[str]:
    """Return the ids of the memories that a memory comes from; a bare word such as “conversation” leads nowhere."""
    return [each for each in memory.provenance if each.partition(":")[0] in _KINDS]


def _history_lines(entry: HistoryEntry, actor_width: int, width: int) -> list[Line]:
    link = f"commit:{entry.commit}"
    day = (column(long_day(entry.timestamp), 11, "faint"), gap(1))
    lead = (*day, column(entry.actor, actor_width, "soft"), gap(2))
    room = width - line_width(lead)
    if room >= _LEAST_SUMMARY:
        return [cut((*lead, Span(plain(entry.summary, room), "text", link)), width)]
    told = Span(plain(entry.summary, max(1, width - line_width(day))), "text", link)
    return [cut((*day, told), width), cut((gap(line_width(day)), ink(entry.actor, "soft", 60)), width)]
