"""A drawing tells the truth, whole, in its cells: lines, words, names and places agree with the view."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.display.graph_drawing.graphs import (
    HOSTILE_NAMES,
    RELATIONS,
    chain,
    edge,
    id_of,
    neighbourhoods,
    node,
    star,
    view,
)
from tests.display.graph_drawing.tracing import Tracer, grid_of, told_in_boxes
from workbench.display.graph_drawing.views import draw_compact, draw_neighbourhood, draw_path, members_of
from workbench.display.ink import line_width, plain_text
from workbench.engine.results.graph import GraphView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.display.canvas import Picture, Region

SIZES = ((78, 20), (98, 30), (118, 36), (238, 58))
# What a row of a compact tree begins with: its place among its siblings, and where the relation points.
ROW_STARTS = tuple(f"{corner}─{arrow}" for corner in "├└" for arrow in "→←↔")
sizes = st.sampled_from(SIZES)
any_size = st.tuples(st.integers(0, 240), st.integers(0, 60))
any_name = st.one_of(st.sampled_from(HOSTILE_NAMES), st.text(max_size=40))


def shown(picture: Picture) -> str:
    return "\n".join(plain_text(line) for line in picture.lines)


def is_list(picture: Picture) -> bool:
    """Tell whether a drawing is lines of words without boxes."""
    return any(plain_text(line).lstrip().startswith(ROW_STARTS) for line in picture.lines)


def overlap(one: Region, other: Region) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def edges_of(drawn: GraphView) -> set[tuple[str, str, str]]:
    return {(each.from_, each.relation, each.to) for each in drawn.edges}


def edges_told(picture: Picture, drawn: GraphView) -> set[tuple[str, str, str]]:
    names = {each.label: each.id for each in drawn.nodes}
    return Tracer(picture).edges() | told_in_boxes(picture, names)


@settings(max_examples=400)
@given(neighbourhoods(), sizes)
def test_its_lines_and_sentences_tell_exactly_the_relations_there_are(
    drawn: GraphView, size: tuple[int, int]
) -> None:
    picture = draw_neighbourhood(drawn, *size)
    if not is_list(picture):
        assert edges_told(picture, drawn) == edges_of(drawn)


@given(neighbourhoods(), sizes)
def test_every_relation_stands_on_its_line_in_full_where_there_are_few(
    drawn: GraphView, size: tuple[int, int]
) -> None:
    text = shown(draw_neighbourhood(drawn, *size))
    assert "…" not in text
    for each in drawn.edges:
        assert each.relation in text


@example(view(["Centre", "می\u200cخواهم"], (0, "uses", 1)), (78, 20))
@given(neighbourhoods(names=any_name), any_size)
def test_nothing_leaves_its_cells(drawn: GraphView, size: tuple[int, int]) -> None:
    picture = draw_neighbourhood(drawn, *size)
    for line in picture.lines:
        assert line_width(line) == cell_len(plain_text(line)) <= max(1, size[0])


@given(neighbourhoods(most=40, names=any_name), any_size)
def test_every_entity_has_a_place_of_its_own_or_in_a_group(drawn: GraphView, size: tuple[int, int]) -> None:
    picture = draw_neighbourhood(drawn, *size)
    placed = [key for key in picture.regions if not key.startswith("group:")]
    for key in picture.regions:
        placed.extend(members_of(drawn, key))
    assert sorted(placed) == sorted(each.id for each in drawn.nodes)


@given(neighbourhoods(most=20, names=any_name), any_size)
def test_no_two_boxes_share_a_cell_and_none_is_outside(drawn: GraphView, size: tuple[int, int]) -> None:
    picture = draw_neighbourhood(drawn, *size)
    for region in picture.regions.values():
        assert region.x >= 0 <= region.y
        assert region.width > 0 < region.height
        assert region.x + region.width <= max(1, size[0])
        assert region.y + region.height <= len(picture.lines)
    assert not any(overlap(*pair) for pair in combinations(picture.regions.values(), 2))
    order = [(region.y, region.x) for region in picture.regions.values()]
    assert order == sorted(order)


@given(neighbourhoods(most=30, names=any_name), any_size)
def test_the_same_view_gives_the_same_drawing(drawn: GraphView, size: tuple[int, int]) -> None:
    again = GraphView(drawn.center, tuple(drawn.nodes), tuple(drawn.edges))
    assert draw_neighbourhood(drawn, *size) == draw_neighbourhood(again, *size)


@given(neighbourhoods(most=30), sizes, st.randoms(use_true_random=False))
def test_the_order_in_which_entities_come_changes_nothing(
    drawn: GraphView, size: tuple[int, int], random: object
) -> None:
    reordered = GraphView(drawn.center, drawn.nodes[::-1], drawn.edges)
    assert draw_neighbourhood(drawn, *size).regions == draw_neighbourhood(reordered, *size).regions


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("count", range(1, 12))
@pytest.mark.parametrize("outward", [True, False], ids=["points", "pointed at"])
def test_a_star_fits_and_says_its_directions_by_side(
    size: tuple[int, int], count: int, outward: bool
) -> None:
    drawn = star(count, relation="depends-on", outward=outward)
    picture = draw_neighbourhood(drawn, *size)
    assert len(picture.lines) <= size[1]
    centre = picture.regions[id_of(0)]
    for key, region in picture.regions.items():
        if key != id_of(0):
            assert (region.x > centre.x + centre.width) == outward
    assert edges_told(picture, drawn) == edges_of(drawn)


def test_names_up_to_24_cells_are_whole_and_longer_ones_lose_their_middle() -> None:
    long = "Kommunens öppna data för badplatser"
    drawn = view(["Centre", "A name of twenty-four ch", long], (0, "uses", 1), (0, "uses", 2))
    text = shown(draw_neighbourhood(drawn, 78, 6))
    assert "A name of twenty-four ch" in text
    assert "Kommunens öppna …platser" in text


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=range(len(HOSTILE_NAMES)))
@pytest.mark.parametrize("size", [*SIZES, (40, 10), (20, 5)])
def test_names_of_any_script_keep_the_boxes_square(name: str, size: tuple[int, int]) -> None:
    drawn = view(["Centre", name, "N2", name], (0, "uses", 1), (2, "uses", 0), (0, "part-of", 3))
    picture = draw_neighbourhood(drawn, *size, chosen=id_of(1))
    grid = grid_of(picture)
    if is_list(picture):
        return
    for region in picture.regions.values():
        for y in range(region.y, region.y + region.height):
            assert grid[y][region.x] in "╭│╰┏┃┗╔║╚[┆├┤┨┠╢╟"
            assert grid[y][region.x + region.width - 1] in "╮│╯┓┃┛╗║╝]┆├┤┨┠╢╟"


def test_status_and_missing_files_are_said_without_colour() -> None:
    nodes = (
        node(0, "Centre", hop=0),
        node(1, "Asleep", status="dormant"),
        node(2, "Kept", status="pinned"),
        node(3, "Put away", status="archived"),
        node(4, "Only named", known=False, status=""),
        node(5, "Plain", status="active"),
    )
    drawn = GraphView(id_of(0), nodes, tuple(edge(0, "uses", at) for at in range(1, 6)))
    for size in SIZES:
        text = shown(draw_neighbourhood(drawn, *size))
        assert all(word in text for word in ("dormant", "pinned", "archived"))
        assert "active" not in text
        assert "┆ Only named ┆" in text or "┆ Only named" in text


def test_the_chosen_box_is_marked_by_more_than_colour() -> None:
    drawn = star(4)
    assert shown(draw_neighbourhood(drawn, 98, 30, chosen=id_of(2))) != shown(
        draw_neighbourhood(drawn, 98, 30, chosen=id_of(3))
    )
    assert "▸N2◂" in shown(draw_neighbourhood(star(11), 60, 12, chosen=id_of(2)))
    assert "┏" in shown(draw_neighbourhood(drawn, 98, 30, chosen="no such key"))


def test_what_is_left_out_is_said() -> None:
    drawn = GraphView(id_of(0), star(3).nodes, star(3).edges, omitted=1204)
    assert "1,204 more entities not drawn" in shown(draw_neighbourhood(drawn, 78, 20))


def test_an_empty_view_is_an_empty_drawing() -> None:
    assert draw_neighbourhood(GraphView(None, (), ()), 78, 20).lines == ()


def test_a_view_without_its_centre_or_with_loose_ends_is_drawn_all_the_same() -> None:
    drawn = GraphView("entity:gone--x", star(2).nodes, (*star(2).edges, edge(0, "uses", 77)))
    assert set(draw_neighbourhood(drawn, 78, 20).regions) == {id_of(0), id_of(1), id_of(2)}


@example(chain(12), (78, 20))
@example(chain(5), (238, 58))
@given(neighbourhoods(), any_size)
def test_a_relation_of_any_length_is_never_an_error(drawn: GraphView, size: tuple[int, int]) -> None:
    longer = tuple(
        edge(int(each.from_.rpartition("n")[2]), each.relation * 9, int(each.to.rpartition("n")[2]))
        for each in drawn.edges
    )
    picture = draw_neighbourhood(GraphView(drawn.center, drawn.nodes, longer), *size)
    assert all(line_width(line) <= max(1, size[0]) for line in picture.lines)


@given(neighbourhoods(most=80, names=any_name), st.integers(0, 240))
def test_a_compact_tree_has_everything_in_its_cells(drawn: GraphView, width: int) -> None:
    picture = draw_compact(drawn, width)
    placed = [key for key in picture.regions if not key.startswith("group:")]
    for key, region in picture.regions.items():
        placed.extend(members_of(drawn, key))
        assert 0 <= region.x < region.x + region.width <= max(1, width)
    assert sorted(placed) == sorted(each.id for each in drawn.nodes)
    assert not any(overlap(*pair) for pair in combinations(picture.regions.values(), 2))
    for line in picture.lines:
        assert line_width(line) == cell_len(plain_text(line)) <= max(1, width)


@given(neighbourhoods(), st.integers(60, 240))
def test_a_compact_tree_tells_every_relation_there_is(drawn: GraphView, width: int) -> None:
    words = " ".join(shown(draw_compact(drawn, width)).split())
    for each in drawn.edges:
        assert each.relation in words


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
