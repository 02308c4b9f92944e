"""Draws one thing closely as it was: a memory, an entity with what lay around it, a file, or how it differs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.display.cells import wrap
from workbench.display.diff import diff_lines
from workbench.display.ink import BLANK, Line, Span, cut, gap, ink
from workbench.tui.bench import Link, Memory, Score
from workbench.tui.views.audit import store_of_path
from workbench.tui.views.core import core_score_lines
from workbench.tui.views.memory import (
    MOST_CHARACTERS,
    known_lines,
    link_role,
    markdown_lines,
    store_of_id,
    title_lines,
    wrap_code,
)
from workbench.tui.views.past import SIGNS, change_key
from workbench.tui.views.past_moment import NOW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.display.diffing import DiffRow
    from workbench.engine.errors import WorkbenchError
    from workbench.engine.results.audit import MemoryChange
    from workbench.engine.results.graph import GraphView
    from workbench.engine.results.memories import Shown

_WHEN_SIGN = "◷"
_COMMENT = re.compile(r"^<!--[^\n]*-->\s*?$\n?", re.MULTILINE)
_LONGEST_LINE = 2000


def memory_of(shown: Shown) -> Memory:
    """Return what the engine showed of a memory in the past as the bench’s other views know memories."""
    score = shown.score
    terms = (
        {name: float(value) for name, value in score.terms.items() if isinstance(value, int | float)}
        if score
        else {}
    )
    return Memory(
        id=shown.id,
        store=shown.store,
        path=shown.path,
        start_line=shown.start_line,
        end_line=shown.end_line,
        text=shown.text,
        pinned=bool(score and score.status == "pinned"),
        score=Score(score.value, score.raw, score.status, terms) if score else None,
        provenance=shown.provenance,
        valid_from=shown.validity.from_,
        valid_until=shown.validity.until,
        superseded_by=shown.validity.superseded_by,
        retired=shown.retired,
        links_to=tuple(Link(each, each) for each in shown.links.to),
        links_from=tuple(Link(each, each) for each in shown.links.from_),
        history=(),
    )


def as_it_was(when: str, width: int, *, past: bool) -> list[Line]:
    """Draw of which moment the thing below is, so that nobody takes it for the present."""
    if not past:
        return [(ink(when, "faint", width),)]
    return [(ink(f"{_WHEN_SIGN} {when}", "decide", width),)]


def memory_as_it_was(memory: Memory, drawn: Sequence[Line], head: Sequence[Line], width: int) -> list[Line]:
    """Draw a memory in full.

    Args:
        memory: As it was.
        drawn: What lay around it, where it is an entity.
        head: Of which moment it is.
        width: Cells.
    """
    store = store_of_id(memory.id)
    lines: list[Line] = [*title_lines(memory.id, memory.id, width), *head, BLANK]
    if drawn:
        lines += [*drawn, BLANK]
    if store == "core":
        return [
            *lines,
            *markdown_lines(memory.text, width),
            *known_lines(memory, width, score=core_score_lines),
        ]
    # What a file says of itself to tools is no more than its name and its dates.
    text = _COMMENT.sub("", memory.text)
    return [*lines, *markdown_lines(text, width), *known_lines(memory, width)]


def neighbours(view: GraphView, width: int) -> list[Line]:
    """Draw the relations of an entity as lines, where there is no room for a drawing of them."""
    names = {node.id: node.label for node in view.nodes}
    lines: list[Line] = []
    for edge in view.edges:
        outward = edge.from_ == view.center
        other = edge.to if outward else edge.from_
        arrow = f"{edge.relation} →" if outward else f"← {edge.relation}"
        lines.append(
            cut(
                (ink(arrow, "soft", 24), gap(1), ink(names.get(other, other), link_role(other), link=other)),
                width,
            )
        )
    return lines


def file_as_it_was(path: str, text: str, head: Sequence[Line], width: int) -> list[Line]:
    """Draw a file: Markdown lightly styled, anything else line by line."""
    title = (ink(path, f"store.{store_of_path(path)}+strong", width),)
    lines: list[Line] = [title, *head, BLANK]
    if path.endswith(".md"):
        return [*lines, *markdown_lines(text, width)]
    for source in text[:MOST_CHARACTERS].splitlines():
        lines.extend((Span(piece, "code"),) for piece in wrap_code(source[:_LONGEST_LINE], width))
    if len(text) > MOST_CHARACTERS:
        lines += [BLANK, (Span(f"… {len(text) - MOST_CHARACTERS:,} more characters.", "faint"),)]
    return lines


def change_as_it_was(
    change: MemoryChange, rows: Sequence[DiffRow], older: str, newer: str, width: int
) -> list[Line]:
    """Draw how a memory differs between two moments, the older at the left or above.

    Args:
        change: What differs.
        rows: How, line by line.
        older: The older moment in words.
        newer: The newer one.
        width: Cells.
    """
    sign, role, _ = SIGNS.get(change.change, ("~", "strong", ""))
    key = change_key(change)
    # What an entity goes by stands nowhere in its text; of anything else the text says it below.
    name = change.title if key.startswith("entity:") and "#" not in key else key
    said = {
        "added": f"Not there yet {_on(older)}, there {_on(newer)}.",
        "removed": f"There {_on(older)}, gone {_on(newer)}.",
        "scored": f"Reads the same {_on(older)} and {_on(newer)}; its pin or archiving differs.",
    }.get(change.change, f"Differs between {older} and {newer}.")
    lines = title_lines(key, name, width)
    for at, piece in enumerate(wrap(said, max(8, width - 2))):
        lines.append((Span(sign if at == 0 else " ", role), gap(1), Span(piece, "decide")))
    lines.append(BLANK)
    if rows:
        lines += diff_lines(rows, width)
    elif change.before is not None:
        lines += markdown_lines(change.before, width)
    return [*lines, BLANK, (ink(change.path, "faint", width),)]


def _on(moment: str) -> str:
    return moment if moment == NOW else f"on {moment}"


def trouble_lines(error: WorkbenchError, width: int) -> list[Line]:
    """Draw why something of the past cannot be shown, and what helps."""
    lines: list[Line] = [(Span(piece, "danger"),) for piece in wrap(error.message, width)]
    if error.where:
        lines.append((ink(error.where, "soft", width),))
    if error.remedy:
        lines += [BLANK, *((Span(piece, "soft"),) for piece in wrap(error.remedy, width))]
    return lines
