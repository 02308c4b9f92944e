"""What lies around an entity, and the shortest way between two."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.catalog import EdgeRecord
from workbench.engine.catalog.neighbourhood import around, shortest_path

Pairs = list[tuple[str, str]]


def graph(pairs: Pairs) -> Callable[[str], list[EdgeRecord]]:
    edges = [EdgeRecord(one, "knows", other) for one, other in pairs]
    return lambda entity: [edge for edge in edges if entity in (edge.from_, edge.to)]


def ends(edges: list[EdgeRecord]) -> Pairs:
    return [(edge.from_, edge.to) for edge in edges]


def test_no_hops_give_the_centre_alone() -> None:
    assert around("a", graph([("a", "b")]), depth=0, most=10) == ({"a": 0}, [])


def test_relations_are_followed_in_both_directions() -> None:
    hops, edges = around("b", graph([("a", "b"), ("b", "c"), ("c", "d")]), depth=1, most=10)
    assert hops == {"b": 0, "a": 1, "c": 1}
    assert ends(edges) == [("a", "b"), ("b", "c")]


def test_relations_among_the_outermost_are_given_too() -> None:
    hops, edges = around("a", graph([("a", "b"), ("a", "c"), ("c", "b"), ("b", "x")]), depth=1, most=10)
    assert set(hops) == {"a", "b", "c"}
    assert set(ends(edges)) == {("a", "b"), ("a", "c"), ("c", "b")}


def test_circles_and_links_to_itself_end() -> None:
    hops, edges = around("a", graph([("a", "a"), ("a", "b"), ("b", "c"), ("c", "a")]), depth=9, most=10)
    assert hops == {"a": 0, "b": 1, "c": 1}
    assert sorted(ends(edges)) == [("a", "a"), ("a", "b"), ("b", "c"), ("c", "a")]


def test_what_is_not_joined_is_not_there() -> None:
    assert around("a", graph([("b", "c")]), depth=5, most=10) == ({"a": 0}, [])


def test_a_bound_keeps_the_nearest() -> None:
    star = [("a", f"n{number}") for number in range(100)] + [("n0", "far")]
    hops, edges = around("a", graph(star), depth=3, most=10)
    assert len(hops) == 10
    assert "far" not in hops
    assert len(edges) == 9


def test_the_shortest_way_in_walking_order() -> None:
    known = graph([("a", "b"), ("c", "b"), ("c", "d"), ("a", "x"), ("x", "y"), ("y", "z"), ("z", "d")])
    path = shortest_path("a", "d", known, most=100)
    assert path is not None
    assert ends(path) == [("a", "b"), ("c", "b"), ("c", "d")]


def test_no_way_the_same_place_and_giving_up() -> None:
    known = graph(
        [("a", "a"), ("a", "b"), ("c", "d")] + [("a", f"n{n}") for n in range(50)] + [("n49", "far")]
    )
    assert shortest_path("a", "c", known, most=1_000) is None
    assert shortest_path("a", "a", known, most=10) == []
    assert shortest_path("a", "far", known, most=10) is None
    assert shortest_path("a", "far", known, most=1_000) is not None


pairs = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=15)


@given(pairs, st.integers(0, 4))
def test_hops_are_the_lengths_of_the_shortest_ways(joined: Pairs, depth: int) -> None:
    known = graph(joined)
    hops, edges = around("a", known, depth=depth, most=100)
    for name in "abcdefg":
        path = shortest_path("a", name, known, most=100)
        if path is None or len(path) > depth:
            assert name not in hops
        else:
            assert hops[name] == len(path)
    assert set(ends(edges)) == {(one, other) for one, other in joined if one in hops and other in hops}


@given(pairs)
def test_a_way_can_be_walked(joined: Pairs) -> None:
    path = shortest_path("a", "g", graph(joined), most=100)
    here = "a"
    for edge in path or []:
        assert here in (edge.from_, edge.to)
        here = edge.to if edge.from_ == here else edge.from_
    assert path is None or here == "g"
