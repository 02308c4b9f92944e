"""A cursor walks a drawing: every key ends, every box is reached from every other, and the way back is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.display.graph_drawing.graphs import chain, edge, id_of, neighbourhoods, node, star, view
from workbench.display.canvas import DOWN, LEFT, RIGHT, UP
from workbench.display.graph_drawing.views import draw_neighbourhood, draw_path
from workbench.engine.results.graph import GraphView

if TYPE_CHECKING:
    from workbench.display.canvas import Picture

DIRECTIONS = (LEFT, RIGHT, UP, DOWN)
any_size = st.tuples(st.integers(0, 240), st.integers(0, 60))


def reached(picture: Picture, start: str) -> set[str]:
    found, ring = {start}, [start]
    while ring:
        key = ring.pop()
        for direction in DIRECTIONS:
            to = picture.step(key, direction)
            if to not in found:
                found.add(to)
                ring.append(to)
    return found


@given(neighbourhoods(most=40), any_size)
def test_every_box_is_reached_from_every_other(drawn: GraphView, size: tuple[int, int]) -> None:
    picture = draw_neighbourhood(drawn, *size)
    for key in picture.regions:
        assert reached(picture, key) == set(picture.regions)


@given(neighbourhoods(most=40), any_size, st.sampled_from(DIRECTIONS))
def test_going_on_in_one_direction_ends(drawn: GraphView, size: tuple[int, int], direction: str) -> None:
    picture = draw_neighbourhood(drawn, *size)
    for key in picture.regions:
        for _ in picture.regions:
            key = picture.step(key, direction)
        assert picture.step(key, direction) == key


@given(neighbourhoods(most=40), st.sampled_from([(78, 20), (118, 36), (238, 58)]))
def test_up_and_down_undo_each_other(drawn: GraphView, size: tuple[int, int]) -> None:
    picture = draw_neighbourhood(drawn, *size)
    for key in picture.regions:
        for there, back in ((UP, DOWN), (DOWN, UP)):
            to = picture.step(key, there)
            if to != key:
                assert picture.step(to, back) == key


def test_outward_and_back_comes_to_the_same_box() -> None:
    drawn = view(
        ["Centre", "A", "B", "C", "A1", "A2", "B1"],
        *[(0, "uses", at) for at in (1, 2, 3)], (1, "uses", 4), (1, "uses", 5), (2, "uses", 6),
    )  # fmt: skip
    picture = draw_neighbourhood(drawn, 200, 50)
    assert picture.step(id_of(4), LEFT) == id_of(1)
    assert picture.step(id_of(5), LEFT) == id_of(1)
    assert picture.step(id_of(6), LEFT) == id_of(2)
    for key in (id_of(1), id_of(2)):
        assert picture.step(picture.step(key, RIGHT), LEFT) == key
        assert picture.step(key, LEFT) == id_of(0)


def test_a_cursor_without_a_box_comes_to_the_centre() -> None:
    picture = draw_neighbourhood(star(3), 78, 20)
    assert picture.step("entity:elsewhere", UP) == id_of(0)
    assert draw_neighbourhood(GraphView(None, (), ()), 78, 20).step("x", UP) == "x"


@pytest.mark.parametrize("width", [30, 60, 78, 160])
def test_a_way_is_walked_from_end_to_end(width: int) -> None:
    picture = draw_path(chain(20), width, 30)
    assert reached(picture, id_of(0)) == set(picture.regions)
    for key in picture.regions:
        for there, back in ((LEFT, RIGHT), (RIGHT, LEFT)):
            to = picture.step(key, there)
            assert to == key or picture.step(to, back) == key or picture.step(to, there) == key


def test_a_click_finds_what_stands_there() -> None:
    picture = draw_neighbourhood(star(3), 78, 20)
    for key, region in picture.regions.items():
        assert picture.at(region.x, region.y) == key
        assert picture.at(region.x + region.width - 1, region.y + region.height - 1) == key
    assert picture.at(0, 999) == ""


def test_a_lonely_entity_stands_alone() -> None:
    drawn = GraphView(id_of(0), (node(0, "Alone", hop=0),), (edge(0, "replaces", 0),))
    picture = draw_neighbourhood(drawn, 78, 20)
    assert list(picture.regions) == [id_of(0)]
    assert all(picture.step(id_of(0), direction) == id_of(0) for direction in DIRECTIONS)
