"""Draws one memory in full: what it says first, then all that is known about it, every step of it to be followed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.display.ink import BLANK, Line, Span, gap, ink, spread, wrap_line
from workbench.engine.identifiers import EPISODE_ID
from workbench.tui.navigation import is_whole_entity
from workbench.tui.views.dates import long_date
from workbench.tui.views.graph_entity import Portrait, entity_lines
from workbench.tui.views.memory import (
    known_lines,
    link_role,
    markdown_lines,
    score_lines,
    store_of_id,
    title_lines,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.graph import GraphView
    from workbench.tui.bench import Memory, Score

_WIDEST = 88
_LONGEST_TITLE = 400


@dataclass(frozen=True)
class Shown:
    """What has been read about a memory.

    Args:
        memory: Itself.
        view: What lies around the entity that it is, or that it is a fact or a relation of; None for other memories.
        entity: That entity, where the memory is a part of it.
    """

    memory: Memory
    view: GraphView | None = None
    entity: Memory | None = None


def memory_lines(shown: Shown, width: int) -> list[Line]:
    """Draw a memory of any store."""
    memory = shown.memory
    if shown.view is not None and is_whole_entity(memory.id):
        return [*_identity(memory, width), *_portrait(shown.view, memory, width)]
    if shown.view is not None and shown.entity is not None:
        return _part_lines(memory, shown.entity, shown.view, width)
    title, rest = _title_and_rest(memory)
    return [
        *_head(memory, title, width),
        *([BLANK, *markdown_lines(rest, width)] if rest else []),
        *known_lines(memory, width, score=_score_of(memory)),
    ]


def _head(memory: Memory, title: str, width: int) -> list[Line]:
    """Draw the words that a memory goes by, and below them its id."""
    width = min(width, _WIDEST)
    pinned = (Span("◆ pinned", f"store.{store_of_id(memory.id)}"),) if memory.pinned else ()
    return [
        *title_lines(memory.id, title, width),
        spread((gap(2), ink(memory.id, "faint", width)), pinned, width),
    ]


def _identity(memory: Memory, width: int) -> list[Line]:
    """Draw the id of an entity at the right, above its name."""
    pinned = (Span("◆ pinned", "store.semantic"),) if memory.pinned else ()
    return [spread((ink(memory.id, "faint", width),), pinned, min(width, _WIDEST))]


def _portrait(view: GraphView, memory: Memory, width: int) -> list[Line]:
    whole = memory.id.partition("#")[0]
    node = next((each for each in view.nodes if each.id in (whole, view.center)), None)
    return entity_lines(Portrait(node, view, memory), width) if node is not None else []


def _part_lines(memory: Memory, entity: Memory, view: GraphView, width: int) -> list[Line]:
    """Draw a fact or a relation before the entity that it is part of."""
    label = next((each.label for each in view.nodes if each.id == view.center), entity.id)
    names = {each.id.removeprefix("entity:"): each.label for each in view.nodes}
    text = memory.text
    for slug, name in names.items():
        text = text.replace(f"[[{slug}]]", name)
    width_of_text = min(width, _WIDEST)
    held = "No longer held of " if memory.retired else "Known of "
    of = (Span(held, "soft"), ink(label, link_role(entity.id), width_of_text, link=entity.id))
    return [
        *_head(memory, text, width),
        BLANK,
        *wrap_line(of, width_of_text),
        *_neighbours_in_time(memory, view, width_of_text),
        *known_lines(replace(memory, superseded_by=None), width, score=_score_of(memory, of=label)),
        BLANK,
        (Span("─" * width_of_text, "rule"),),
        BLANK,
        *_portrait(view, entity, width),
    ]


def _neighbours_in_time(memory: Memory, view: GraphView, width: int) -> list[Line]:
    """Draw what a fact took the place of, and what took its place."""
    block = memory.id.partition("#")[2]
    lines: list[Line] = []
    for fact in view.facts:
        if memory.superseded_by == fact.id:
            lead = "replaced by "
        elif block and (fact.validity.superseded_by or "").partition("#")[2] == block:
            lead = "in place of "
        else:
            continue
        words = ink(fact.text, link_role(fact.id), _LONGEST_TITLE, link=fact.id)
        lines += wrap_line((Span(lead, "soft"), words), width)
    return lines


def _score_of(memory: Memory, of: str = "") -> Callable[[Score, int], list[Line]]:
    """Return how to draw a score: in words where it does not follow from the formula."""

    def draw(score: Score, width: int) -> list[Line]:
        if memory.pinned:
            return score_lines(score, width, words="pinned: it never fades")
        return score_lines(score, width, words=f"{score.status}, as {of} is" if of else "")

    return draw


def _title_and_rest(memory: Memory) -> tuple[str, str]:
    """Return what to call a memory, and what of its text that does not say yet."""
    if found := EPISODE_ID.match(memory.id):
        return f"{long_date(found[1])}, {found[2]}", memory.text
    lines = memory.text.strip().splitlines()
    if lines and lines[0].startswith("# "):
        rest = [
            line.removeprefix("<!--").removesuffix("-->").strip() if _is_note(line) else line
            for line in lines[1:]
        ]
        return lines[0].removeprefix("# "), "\n".join(rest)
    if len(lines) == 1:
        return lines[0], ""
    return memory.path, memory.text


def _is_note(line: str) -> bool:
    return line.startswith("<!--") and line.endswith("-->")
