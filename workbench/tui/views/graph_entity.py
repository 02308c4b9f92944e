"""Draws one entity to read: what it is, its facts with where they come from, its relations in words, its timeline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.display.ink import BLANK, Line, Span, column, cut, gap, ink, spread, wrap_line
from workbench.tui.views.dates import long_date
from workbench.tui.views.graph_table import entity_sign
from workbench.tui.views.inbox import without_links
from workbench.tui.views.memory import (
    known_lines,
    link_role,
    markdown_lines,
    score_bar,
    score_bar_width,
    score_lines,
    section,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.graph import GraphEdge, GraphFact, GraphNode, GraphView
    from workbench.tui.bench import Memory

RELATION_KEY = "relation:"
_CONFIDENCE = {"high": "●", "medium": "◐", "low": "○"}
_WIDEST = 88
_RELATION = 18
# More of a kind than this is not drawn: nobody reads it here, and the file has it.
_MOST = 300
_EPISODE_ID = len("episode:2026-02-02:14:30")


@dataclass(frozen=True)
class Portrait:
    """What is known so far about the entity that the cursor is on.

    Args:
        node: Its name, type and score, known at once.
        view: Its facts and relations, once they are read.
        memory: Its score with the terms, its history and what links to it, once they are read.
        missing: It has no file: only relations name it.
    """

    node: GraphNode
    view: GraphView | None = None
    memory: Memory | None = None
    missing: bool = False

    @property
    def edges(self) -> tuple[GraphEdge, ...]:
        """Return its own relations: outgoing ones first, each kind together."""
        here = self.node.id
        own = [edge for edge in self.view.edges if here in (edge.from_, edge.to)] if self.view else []
        return tuple(sorted(own, key=lambda edge: (edge.from_ != here, edge.relation)))

    def edge(self, link: str) -> GraphEdge | None:
        """Return the relation of that `relation_key`."""
        return next((edge for edge in self.edges if relation_key(edge) == link), None)

    def fact(self, link: str) -> GraphFact | None:
        """Return the fact of that id."""
        return next((fact for fact in self.view.facts if fact.id == link), None) if self.view else None

    def link_of(self, memory_id: str) -> str:
        """Return the link of the detail that stands for a fact or relation of that id; empty where none does."""
        if self.fact(memory_id) is not None:
            return memory_id
        return next((relation_key(edge) for edge in self.edges if edge.id == memory_id), "")


def relation_key(edge: GraphEdge) -> str:
    """Return what a relation is known by on the screen; no two of a graph have the same."""
    return f"{RELATION_KEY}{edge.from_}|{edge.relation}|{edge.to}"


def far_end(edge: GraphEdge, here: str) -> str:
    """Return the entity at the other end of a relation."""
    return edge.to if edge.from_ == here else edge.from_


def entity_lines(portrait: Portrait, width: int) -> list[Line]:
    """Draw an entity in full, as far as it is known.

    Facts and relations are links: a fact's is its id, a relation's its `relation_key`.
    """
    width = min(width, _WIDEST)
    return [cut(line, width) for line in _entity_lines(portrait, width)]


def _entity_lines(portrait: Portrait, width: int) -> list[Line]:
    node, view, memory = portrait.node, portrait.view, portrait.memory
    lines = _head(portrait, width)
    if portrait.missing:
        lines += _no_file(width)
    if view is None:
        return lines
    if view.summary:
        lines += [BLANK, *markdown_lines(view.summary, width)]
    facts = [fact for fact in view.facts if not fact.retired]
    retired = [fact for fact in view.facts if fact.retired]
    if facts:
        lines += [*section("Facts"), *_fact_lines(facts, view.facts, width)]
    if portrait.edges:
        names = {each.id: each for each in view.nodes}
        lines += [*section("Relations"), *_relation_lines(portrait.edges, node.id, names, width)]
    if view.questions:
        lines += section("Open questions")
        lines += [line for each in view.questions for line in _hanging("? ", "decide", each, width)]
    if view.events:
        lines += section("Timeline")
        lines += [
            line
            for each in view.events
            for line in _hanging(f"{long_date(each.date):>11}  ", "faint", each.text, width)
        ]
    if retired:
        lines += [*section("Superseded"), *_fact_lines(retired, view.facts, width, was=True)]
    if view.absorbed:
        lines += section("Merged into it")
        lines += [(Span("⊕ ", "store.semantic"), ink(each, "soft", width - 2)) for each in view.absorbed]
    if not (portrait.missing or view.summary or view.facts or portrait.edges):
        text = "Nothing is known about it yet: n adds a fact, l relates it."
        lines += [BLANK, *wrap_line((Span(text, "soft"),), width)]
    return lines + (_known(portrait, memory, width) if memory is not None else [])


def _head(portrait: Portrait, width: int) -> list[Line]:
    node, view, memory = portrait.node, portrait.view, portrait.memory
    name = (
        Span(entity_sign(node.status), "store.semantic"),
        gap(1),
        ink(node.label, "store.semantic+strong", width),
    )
    lines: list[Line] = [spread(name, (ink(node.type, "soft", 16),), width)]
    if view is not None and view.aliases:
        also = f"also {', '.join(view.aliases)}"
        lines += wrap_line((ink(also, "faint", 4 * width),), width)
    if portrait.missing:
        return lines
    if memory is not None and memory.score is not None:
        return lines + score_lines(memory.score, width)
    known = (gap(2), Span(f"{node.score:.2f}", "strong"), gap(2), ink(node.status, "soft"))
    # The line that the terms will take, so that nothing moves once they are known.
    return [*lines, (*score_bar(node.score, score_bar_width(width)), *known), BLANK]


def _no_file(width: int) -> list[Line]:
    text = "It has no file of its own: only relations name it. l relates it, m makes it one with another."
    return [BLANK, *wrap_line((Span(text, "soft"),), width)]


def _fact_lines(
    facts: Sequence[GraphFact], among: Sequence[GraphFact], width: int, *, was: bool = False
) -> list[Line]:
    lines: list[Line] = []
    texts = {fact.id.partition("#")[2]: fact.text for fact in among}
    for fact in facts[:_MOST]:
        lines += _hanging("· ", "faint", fact.text, width, link=fact.id, role="faint" if was else "text")
        told = _told(fact, texts)
        if told:
            lines += [(gap(2), *line) for line in wrap_line(told, width - 2)]
    return lines + _more(len(facts), width)


def _told(fact: GraphFact, texts: dict[str, str]) -> Line:
    """Draw when a fact holds and where it comes from."""
    begin, end = fact.validity.from_, fact.validity.until
    words = (
        f"{long_date(begin)} – {long_date(end)}"
        if begin and end
        else f"since {long_date(begin)}"
        if begin
        else f"until {long_date(end)}"
        if end
        else ""
    )
    spans = [Span(words, "faint")] if words else []
    for each in fact.provenance:
        lead = " · from " if spans else "from "
        spans += [Span(lead, "faint"), _source(each)]
    if by := fact.validity.superseded_by:
        text = texts.get(by.partition("#")[2] or by, "")
        lead = " · " if spans else ""
        target = by if ":" in by else f"{fact.id.partition('#')[0]}#{by}"
        spans += [
            Span(f"{lead}replaced by ", "faint"),
            ink(without_links(text) or by, "faint+link", 40, link=target),
        ]
    return tuple(spans)


def _source(each: str) -> Span:
    kind, _, rest = each.partition(":")
    if kind == "episode" and len(each) >= _EPISODE_ID:
        words = f"{long_date(rest[:10])}, {rest[11:]}"
        return ink(words, link_role(each), 40, link=each)
    if kind == "source":
        return ink(rest, "faint", 40)
    return ink(each, link_role(each) if rest else "faint", 60, link=each if rest else "")


def _relation_lines(
    edges: Sequence[GraphEdge], here: str, nodes: dict[str, GraphNode], width: int
) -> list[Line]:
    lines: list[Line] = []
    relation_width = min(_RELATION, max(len(edge.relation) for edge in edges[:_MOST]))
    for edge in edges[:_MOST]:
        other = nodes.get(far_end(edge, here))
        label = other.label if other is not None else far_end(edge, here)
        arrow = "↺" if edge.from_ == edge.to else "→" if edge.from_ == here else "←"
        since = long_date(edge.first_seen[:10]) if edge.first_seen else ""
        left = (
            column(edge.relation, relation_width, "soft"),
            Span(f" {arrow} ", "store.semantic"),
            ink(label, "store.semantic+link", width, link=relation_key(edge)),
        )
        right = (ink(since, "faint"), gap(1), Span(_CONFIDENCE.get(edge.confidence, " "), "faint"))
        lines.append(spread(left, right, width))
    return lines + _more(len(edges), width)


def _more(count: int, width: int) -> list[Line]:
    return [(ink(f"{count - _MOST:,} more.", "faint", width),)] if count > _MOST else []


def _hanging(
    lead: str, lead_role: str, text: str, width: int, *, link: str = "", role: str = "text"
) -> list[Line]:
    """Draw a paragraph with a sign before its first line."""
    first = ink(lead, lead_role, max(2, width // 3))
    indent = len(first.text)
    words = (ink(" ".join(without_links(text).split()), role, link=link),)
    return [
        (first if at == 0 else gap(indent), *line)
        for at, line in enumerate(wrap_line(words, max(8, width - indent)))
    ]


def _known(portrait: Portrait, memory: Memory, width: int) -> list[Line]:
    """Draw what links here, the history and the file; what stands above already is left out."""
    related = {far_end(edge, portrait.node.id) for edge in portrait.edges}
    links = tuple(each for each in memory.links_from if each.id.partition("#")[0] not in related)
    rest = replace(memory, score=None, links_to=(), links_from=links, provenance=())
    return known_lines(rest, width)


def group_lines(title: str, nodes: Sequence[GraphNode], width: int) -> list[Line]:
    """Draw the entities that one box stands for, each to go to."""
    width = min(width, _WIDEST)
    lines: list[Line] = [
        (ink(title, "store.semantic+strong", width),),
        BLANK,
        (Span("enter lists them in the table.", "soft"),),
        BLANK,
    ]
    for node in nodes[:_MOST]:
        left = (
            Span(entity_sign(node.status), "store.semantic"),
            gap(1),
            ink(node.label, "store.semantic+link", width, link=node.id),
        )
        lines.append(spread(left, (ink(node.type, "faint", 12),), width))
    return [cut(line, width) for line in lines + _more(len(nodes), width)]
