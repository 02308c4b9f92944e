"""Neighbourhoods to draw: ones made by hand, and any at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from workbench.engine.results.graph import GraphEdge, GraphNode, GraphView

if TYPE_CHECKING:
    from collections.abc import Sequence

RELATIONS = ("uses", "part-of", "depends-on", "decided-on", "knows", "supersedes")
STATUSES = ("active", "fading", "dormant", "archived", "pinned")
HOSTILE_NAMES = (
    "", " ", "東京港の潮汐モデル", "नमस्ते दुनिया", "מרכז הנמל", "مرفأ بيروت", "👩\u200d🚀 Ada",
    "e" + "\u0301" * 9 + "cole", "\x1b[31mred", "a\x00b\nc\td", "x" * 300, "[b]bold[/b]", "─├▶ ◀┤", "可" * 60,
    "می\u200cخواهم", "\u202eright",
)  # fmt: skip


def id_of(number: int) -> str:
    return f"entity:thing--n{number}"


def node(
    number: int,
    name: str = "",
    *,
    score: float = 0.5,
    status: str = "active",
    known: bool = True,
    type_: str = "tool",
    hop: int = 1,
) -> GraphNode:
    return GraphNode(id_of(number), type_, name or f"N{number}", score, hop, status, 1, known)


def edge(from_: int, relation: str, to: int) -> GraphEdge:
    return GraphEdge(id_of(from_), relation, id_of(to), "high", "2026-02-02", None)


def view(names: Sequence[str], *edges: tuple[int, str, int], omitted: int = 0) -> GraphView:
    """Return a neighbourhood of entities named so; the first is the centre."""
    nodes = tuple(
        node(at, name, score=1 - at / (len(names) + 1), hop=min(at, 1)) for at, name in enumerate(names)
    )
    return GraphView(id_of(0), nodes, tuple(edge(*each) for each in edges), omitted=omitted)


def star(count: int, *, relation: str = "uses", outward: bool = True) -> GraphView:
    """Return a centre and what it points at, or what points at it."""
    edges = [(0, relation, at) if outward else (at, relation, 0) for at in range(1, count + 1)]
    return view(["Centre", *(f"N{at}" for at in range(1, count + 1))], *edges)


def chain(count: int) -> GraphView:
    """Return entities each of which points at the next, or is pointed at."""
    names = [f"N{at}" for at in range(count)]
    nodes = tuple(node(at, name, hop=at) for at, name in enumerate(names))
    edges = [
        edge(at, RELATIONS[at % 6], at + 1) if at % 3 else edge(at + 1, RELATIONS[at % 6], at)
        for at in range(count - 1)
    ]
    return GraphView(id_of(0), nodes, tuple(edges))


@st.composite
def neighbourhoods(
    draw: st.DrawFn, *, most: int = 12, names: st.SearchStrategy[str] | None = None
) -> GraphView:
    """Any graph of up to `most` entities: trees, cycles, cliques, self-links, parallel relations, things apart."""
    count = draw(st.integers(1, most))
    nodes = tuple(
        GraphNode(
            id_of(at),
            draw(st.sampled_from(("tool", "person", "project"))),
            draw(names) if names is not None else f"N{at}",
            draw(st.sampled_from((0.0, 0.2, 0.5, 1.0))),
            min(at, 1),
            draw(st.sampled_from(STATUSES)),
            1,
            draw(st.booleans()),
        )
        for at in range(count)
    )
    numbers = st.integers(0, count - 1)
    near = st.tuples(st.just(0), st.sampled_from(RELATIONS), numbers)
    any_ = st.tuples(numbers, st.sampled_from(RELATIONS), numbers)
    edges = draw(st.lists(st.one_of(near, near.map(lambda each: each[::-1]), any_), max_size=2 * most))
    return GraphView(id_of(0), nodes, tuple(edge(*each) for each in edges))
