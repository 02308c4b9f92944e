"""The way between two entities is drawn as one chain that tells every relation with its direction."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.display.graph_drawing.graphs import HOSTILE_NAMES, RELATIONS, chain, edge, id_of, node
from tests.display.graph_drawing.test_neighbourhood import is_list, overlap, shown
from tests.display.graph_drawing.tracing import Tracer
from workbench.display.graph_drawing.path import draw_path
from workbench.display.ink import line_width
from workbench.engine.results.graph import GraphView

if TYPE_CHECKING:
    from collections.abc import Sequence

any_size = st.tuples(st.integers(0, 240), st.integers(0, 60))
directions = st.lists(st.sampled_from(["there", "back"]), min_size=0, max_size=29)


def way(directions: Sequence[str], names: Sequence[str] = ()) -> GraphView:
    """Return a chain with one relation for each direction."""
    nodes = tuple(
        node(at, names[at % len(names)] if names else f"N{at}", hop=at) for at in range(len(directions) + 1)
    )
    edges = tuple(
        edge(at, RELATIONS[at % 6], at + 1) if each == "there" else edge(at + 1, RELATIONS[at % 6], at)
        for at, each in enumerate(directions)
    )
    return GraphView(id_of(0), nodes, edges)


@given(directions, st.integers(40, 240), st.integers(5, 60))
def test_its_lines_tell_exactly_the_relations_there_are(
    directions: Sequence[str], width: int, height: int
) -> None:
    drawn = way(directions)
    picture = draw_path(drawn, width, height)
    assert not is_list(picture)
    assert Tracer(picture).edges() == {(each.from_, each.relation, each.to) for each in drawn.edges}


@given(directions, any_size, st.lists(st.sampled_from(HOSTILE_NAMES), min_size=1, max_size=4))
def test_it_keeps_to_its_cells(
    directions: Sequence[str], size: tuple[int, int], names: Sequence[str]
) -> None:
    drawn = way(directions, names)
    picture = draw_path(drawn, *size)
    assert set(picture.regions) == {each.id for each in drawn.nodes}
    assert not any(overlap(*pair) for pair in combinations(picture.regions.values(), 2))
    for line in picture.lines:
        assert line_width(line) <= max(1, size[0])
    for region in picture.regions.values():
        assert region.x >= 0 <= region.y
        assert region.x + region.width <= max(1, size[0])
        assert region.y + region.height <= len(picture.lines)


@pytest.mark.parametrize("width", [24, 78, 120, 238])
def test_thirty_entities_are_a_chain(width: int) -> None:
    assert len(draw_path(chain(30), width, 40).regions) == 30


def test_both_directions_stand_on_one_line_each_beside_its_head() -> None:
    drawn = GraphView(id_of(0), chain(2).nodes, (edge(0, "uses", 1), edge(1, "supersedes", 0)))
    assert "◀ supersedes ─── uses ▶" in shown(draw_path(drawn, 78, 20))


def test_no_way_is_no_drawing() -> None:
    assert draw_path(GraphView(id_of(0), (), ()), 78, 20).lines == ()
