"""Draws entities: rows of the table, and the card with what is known beside what it is connected to."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from workbench.display import words
from workbench.display.card import (
    Beside,
    Card,
    Section,
    Walked,
    detail_sections,
    fades_section,
    history_lines,
    named_lines,
    why_lines,
)
from workbench.display.cells import cell_width, plain
from workbench.display.ink import Span, column, gap, ink, line_width, score_role, spread
from workbench.display.markdown import bare
from workbench.display.rows import store_sign
from workbench.display.words import counted
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from datetime import datetime

    from workbench.display.ink import Line
    from workbench.engine.results.decay import DecayExplained
    from workbench.engine.results.graph import (
        EntityRow,
        EntityTable,
        GraphEdge,
        GraphFact,
        GraphNode,
        GraphView,
    )
    from workbench.engine.results.memories import Shown, Why

# The orders of the table: what each sorts by, greatest first where that is a number.
SORTS: Final = ("use", "links", "type", "name", "last seen")
# More of a kind than this is not drawn: nobody reads it here, and the file has it.
_MOST = 300
_RELATION = 16
# Names longer than those of nearly all entities are cut before columns go.
_NEARLY_ALL, _LONGEST = 0.95, 48
# The id of what a question quotes, behind the quote.
_QUOTED_ID = lazy_pattern(r"(?<=”) \((?:\^[a-z0-9]+|[a-z]+:[^\s()]+)\)")


def sorted_entities(rows: Sequence[EntityRow], by: str) -> list[EntityRow]:
    """Return entities, which come by id, in an order of `SORTS`, equals by name."""
    found = sorted(rows, key=lambda row: row.label.casefold())
    if by != "name":
        keys = {"use": ("score", "degree"), "links": ("degree",), "type": ("type",), "last seen": ("seen",)}
        found.sort(key=attrgetter(*keys[by]), reverse=by != "type")
    return found


def table_heading(table: EntityTable, shown: int, sort: str, name_room: int, width: int) -> Line:
    """Draw the line above the table: how many there are, in what order, and what the columns are."""
    total = len(table.entities)
    count = f"{total:,}" if shown == total else f"{shown:,} of {total:,}"
    said = f"{count} {'entity' if total == 1 else 'entities'} · by {sort}"
    return spread((ink(said, "soft"),), entity_columns(name_room, width), width)


def entity_row(row: EntityRow, name_room: int, today: date, width: int) -> Line:
    """Draw an entity in the table.

    Args:
        name_room: Cells that the longest name wants; columns get only what is left.
    """
    faded = row.status in ("dormant", "archived")
    right = entity_columns(name_room, width, row, today)
    left: Line = (
        store_sign("semantic"),
        ink(row.label, "soft" if faded else score_role(row.score), width),
    )
    if row.status in ("pinned", "archived"):
        left = (*left, Span(" ◆" if row.status == "pinned" else " archived", "faint"))
    return spread(left, right, width)


def name_room(rows: Sequence[EntityRow]) -> int:
    """Return the cells that nearly all names want."""
    labels = [row.label for row in rows]
    sizes = sorted(len(each) if each.isascii() else cell_width(plain(each, _LONGEST)) for each in labels)
    return min(_LONGEST, sizes[int((len(sizes) - 1) * _NEARLY_ALL)]) if sizes else 0


def entity_columns(
    name_room: int, width: int, row: EntityRow | None = None, today: date | None = None
) -> Line:
    """Draw the columns that there is room for beside the names; their heads where there is no row."""
    spans: Line = ()
    wanted = (
        ("links", 5, True, f"{row.degree:,}" if row else ""),
        ("type", 9, False, row.type if row else ""),
        ("facts", 5, True, f"{row.facts:,}" if row else ""),
        ("last seen", 11, True, _seen(row.seen, today) if row and today else ""),
    )
    room = width - 2 - max(16, min(40, name_room)) - 2
    kept = []
    for name, size, right, text in wanted:
        if room >= size + 2:
            room -= size + 2
            kept.append((name, size, right, text))
    for name, size, right, text in kept:
        spans = (*spans, gap(2), column(text if row else name, size, "soft" if row else "faint", right=right))
    return spans[1:]


def _seen(day: str, today: date) -> str:
    """Return a day in words that stay together where a line is broken."""
    try:
        return words.day(date.fromisoformat(day), today).replace(" ", "\u00a0")
    except ValueError:
        return day


def narrowed(view: GraphView, passing: Container[str]) -> GraphView:
    """Return a neighbourhood without the entities that do not pass, and what only they lead to."""
    kept: set[str] = {view.center or ""}
    ring = set(kept)
    allowed = {node.id for node in view.nodes if node.id in passing}
    while ring:
        ends = [(edge.from_, edge.to) for edge in view.edges if edge.from_ in ring or edge.to in ring]
        ring = {each for pair in ends for each in pair if each in allowed} - kept
        kept |= ring
    nodes = tuple(node for node in view.nodes if node.id in kept)
    edges = tuple(edge for edge in view.edges if edge.from_ in kept and edge.to in kept)
    return replace(view, nodes=nodes, edges=edges, omitted=0)


def edge_link(edge: GraphEdge) -> str:
    """Return what a relation is known by on a card: its id, or what it says where its line has none."""
    return edge.id or f"relation:{edge.from_}|{edge.relation}|{edge.to}"


def name_of_absorbed(view: GraphView, absorbed: str) -> str:
    """Return what an entity was called that was merged into the centre."""
    slug = absorbed.partition("--")[2]
    return next(
        (name for name in view.aliases if "-".join(name.casefold().split()) == slug), slug.replace("-", " ")
    )


def far_end(edge: GraphEdge, here: str) -> str:
    """Return the entity at the other end of a relation."""
    return edge.to if edge.from_ == here else edge.from_


def own_edges(view: GraphView) -> list[GraphEdge]:
    """Return the relations of the centre, each kind together."""
    here = view.center
    own = [edge for edge in view.edges if here in (edge.from_, edge.to)]
    return sorted(own, key=lambda edge: (edge.from_ == here, edge.relation))


def own_facts(view: GraphView) -> list[GraphFact]:
    """Return the facts of the centre: those that hold, the newest first, and then those that do no longer."""
    newest = sorted(view.facts, key=lambda fact: fact.validity.from_ or "", reverse=True)
    return sorted(newest, key=lambda fact: fact.retired)


def center_of(view: GraphView) -> GraphNode | None:
    """Return the entity in the middle of a view."""
    return next((node for node in view.nodes if node.id == view.center), None)


def entity_card(
    view: GraphView,
    shown: Shown | None,
    why: Why | None,
    explained: DecayExplained | None,
    titles: Mapping[str, str],
    disputed: Mapping[str, str],
    now: datetime,
    chosen: str = "",
    *,
    whole: bool = False,
) -> Card:
    """Return the card of an entity.

    Args:
        shown: The entity as a memory; None where only relations name it.
        why: Why the chosen fact or relation is believed, or the entity where none is chosen.
        explained: Its score, or None where it has none.
        titles: Titles by id, of what names it.
        disputed: What is said against a fact, by its id.
        chosen: Id of the fact or relation that WHY is of; of a fact it stands right below it.
        whole: Whether all is listed, with what each fact and event rests on.
    """
    node, facts, edges = center_of(view), own_facts(view), own_edges(view)
    if not whole:
        facts, edges = facts[:_MOST], edges[:_MOST]
    label = node.label if node is not None else view.center or ""
    held = sum(not fact.retired for fact in view.facts)
    standing = [
        node.type.capitalize() if node else "",
        counted(held, "fact"),
        counted(len(edges), "relation"),
    ]
    if node is not None and not node.known:
        standing.append("no file of its own")
    elif explained is not None:
        standing.append(
            f"used {words.day(explained.last_accessed.astimezone(now.tzinfo).date(), now.date())}"
        )
        standing += [explained.status] if explained.status != "active" else []
    kind = (store_sign("semantic"), ink(" · ".join(filter(None, standing)), "soft"))
    sections: list[Section | Beside] = []
    if view.aliases:
        sections.append(Section.of("ALSO", ", ".join(view.aliases), "soft"))
    is_fact = any(fact.id == chosen for fact in facts)
    reason = why_lines(why, now) if why is not None else ()
    below = {chosen: reason} if is_fact else {}
    sections.append(_known_beside_connected(view, facts, edges, disputed, below, now.date(), whole=whole))
    if view.questions:
        sections.append(
            Section(
                "OPEN",
                tuple((Span("? ", "decide"), ink(question_words(each))) for each in view.questions),
                True,
            )
        )
    if view.events:
        sections.append(
            Section(
                "EVENTS",
                tuple(
                    (
                        *_event(each.date, each.text, now.date()),
                        *(_rests_on(each.provenance) if whole else ()),
                    )
                    for each in view.events
                ),
                True,
            )
        )
    if view.absorbed:
        took = ", ".join(name_of_absorbed(view, each) for each in view.absorbed)
        sections.append(Section("MERGED", ((ink(took), Span(" · ⸨merge⸩ takes it apart again", "soft")),)))
    if reason and not is_fact:
        if chosen:
            reason = ((ink(f"of “{_words_of(chosen, view)}”:", "soft"),), *reason)
        sections.append(Section("WHY", reason))
    if shown is not None:
        near = {far_end(edge, view.center or "") for edge in edges}
        users = tuple(each for each in shown.links.from_ if each.partition("#")[0] not in near)
        if users:
            sections.append(Section("USED BY", named_lines(users, titles)))
        if explained is not None:
            sections.append(fades_section(explained))
        if shown.history:
            sections.append(Section("HISTORY", history_lines(shown, now), hangs=1))
    details = tuple(detail_sections(shown, explained)) if shown is not None else ()
    of = Walked("", "", view.center or "", label, node is not None and node.status == "pinned")
    walked = (
        *(replace(of, link=fact.id, title=bare(fact.text), retired=fact.retired) for fact in facts),
        *(_walked(edge, view, of) for edge in edges),
    )
    return Card(label, label, kind, tuple(sections), details, walked)


def _walked(edge: GraphEdge, view: GraphView, of: Walked) -> Walked:
    link = edge_link(edge)
    return replace(of, link=link, title=_words_of(link, view), edge=(edge.from_, edge.relation, edge.to))


def _words_of(link: str, view: GraphView) -> str:
    """Return what a fact or relation of the centre says."""
    names = {node.id: node.label for node in view.nodes}
    for fact in view.facts:
        if fact.id == link:
            return bare(fact.text)
    for edge in view.edges:
        if edge_link(edge) == link:
            return f"{names.get(edge.from_, edge.from_)} {edge.relation} {names.get(edge.to, edge.to)}"
    return link


def _known_beside_connected(
    view: GraphView,
    facts: Sequence[GraphFact],
    edges: Sequence[GraphEdge],
    disputed: Mapping[str, str],
    below: Mapping[str, Sequence[Line]],
    today: date,
    *,
    whole: bool,
) -> Section | Beside:
    texts = {fact.id.partition("#^")[2]: bare(fact.text) for fact in view.facts}
    known: list[Line] = [
        (Span(""), ink(bare(each), "soft")) for each in view.summary.split("\n\n") if each.strip()
    ]
    for fact in facts:
        said = _fact(fact, texts, disputed.get(fact.id, ""), today)
        known.append((*said, *(_rests_on(fact.provenance) if whole else ())))
        for at, line in enumerate(below.get(fact.id, ())):
            known.append((Span("      " if at else "  WHY ", "soft+strong"), *line))
    if not known:
        known.append((Span(""), Span("nothing yet; ⸨new⸩ adds a fact", "soft")))
    left = Section("WHAT IS KNOWN", tuple(known), hangs=1)
    if not edges:
        return left
    names = {node.id: node.label for node in view.nodes}
    size = min(_RELATION, max(line_width((ink(edge.relation),)) for edge in edges))
    right = [_edge(edge, view.center or "", names, size) for edge in edges]
    return Beside(left, Section("CONNECTED", tuple(right), hangs=3))


def _fact(fact: GraphFact, texts: Mapping[str, str], against: str, today: date) -> Line:
    begin, end = (_when(each, today) for each in (fact.validity.from_, fact.validity.until))
    text = ink(bare(fact.text), "faint" if fact.retired else "text", None, fact.id)
    spans: list[Span] = [Span("· ", "faint")]
    if fact.retired:
        spans += [ink(f"until {end}: " if end else "no longer: ", "soft"), text]
        if now := texts.get((fact.validity.superseded_by or "").rpartition("^")[2], ""):
            spans.append(ink(f" ·\u00a0replaced by “{now if len(now) < 48 else now[:47] + '…'}”", "soft"))
    else:
        spans.append(text)
        when = f"{begin} – {end}" if begin and end else begin or (f"until {end}" if end else "")
        if when:
            spans.append(ink(f" ·\u00a0{when}", "soft"))
        if against:
            spans.append(ink(f" ·\u00a0{against}", "decide"))
    return tuple(spans)


def _rests_on(provenance: Sequence[str]) -> Line:
    return tuple(ink(f" ·\u00a0{words.origin(each)}", "soft") for each in provenance)


def _when(day: str | None, today: date) -> str:
    return _seen(day, today) if day else ""


def _edge(edge: GraphEdge, here: str, names: Mapping[str, str], size: int) -> Line:
    arrow = "↺" if edge.from_ == edge.to else "→" if edge.from_ == here else "←"
    other = far_end(edge, here)
    unsure = f" · {edge.confidence} confidence" if edge.confidence in ("medium", "low") else ""
    return (
        Span(f"{arrow} ", "store.semantic"),
        column(edge.relation, size, "soft"),
        gap(2),
        ink(names.get(other, other), "store.semantic", None, edge_link(edge)),
        ink(unsure, "faint"),
    )


def question_words(text: str) -> str:
    """Return an open question without the ids of the statements that it quotes."""
    return _QUOTED_ID.sub("", bare(text))


def _event(day: str, text: str, today: date) -> Line:
    return column(_seen(day, today), 11, "soft"), gap(1), ink(bare(text))


def group_card(title: str, nodes: Sequence[GraphNode]) -> Card:
    """Return the card of a box that stands for several entities."""
    lines: list[Line] = [
        (
            Span("◇ ", "store.semantic"),
            ink(node.label, "store.semantic+link", None, node.id),
            ink(f" · {node.type}", "soft"),
        )
        for node in nodes[:_MOST]
    ]
    if len(nodes) > _MOST:
        lines.append((Span("  "), ink(f"and {len(nodes) - _MOST:,} more", "faint")))
    return Card(
        title,
        title,
        (Span("enter lists them in the table", "soft"),),
        (Section("THESE ARE", tuple(lines), hangs=1),),
    )
