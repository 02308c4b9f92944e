"""What lies around an entity, and the shortest way between two."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.catalog.graph import Neighbourhood, Steps, neighbourhood_of, shortest_path

Pairs = list[tuple[str, str]]
NAMES = "abcdefg"


def graph(pairs: Pairs) -> Steps:
    both = [*pairs, *((other, one) for one, other in pairs)]

    def steps(entities: Collection[str]) -> Pairs:
        return [(one, other) for one, other in both if one in entities and one != other]

    return steps


def walked(pairs: Pairs, start: str, allowed: str = NAMES) -> dict[str, int]:
    """Return the hops to everything that can be reached, by asking each entity for itself."""
    hops, waiting = {start: 0}, [start]
    while waiting:
        here = waiting.pop(0)
        for one, other in pairs:
            for near, far in ((one, other), (other, one)):
                if near == here and far not in hops and far in allowed:
                    hops[far] = hops[here] + 1
                    waiting.append(far)
    return hops


def test_no_hops_give_the_centre_alone() -> None:
    assert neighbourhood_of("a", graph([("a", "b")]), depth=0, most=10) == Neighbourhood({"a": 0}, 0)


def test_relations_are_followed_in_both_directions() -> None:
    found = neighbourhood_of("b", graph([("a", "b"), ("b", "c"), ("c", "d")]), depth=1, most=10)
    assert found.hops == {"b": 0, "a": 1, "c": 1}


def test_circles_and_links_to_itself_end() -> None:
    found = neighbourhood_of("a", graph([("a", "a"), ("a", "b"), ("b", "c"), ("c", "a")]), depth=9, most=10)
    assert found.hops == {"a": 0, "b": 1, "c": 1}


def test_what_is_not_joined_is_not_there() -> None:
    assert neighbourhood_of("a", graph([("b", "c")]), depth=5, most=10).hops == {"a": 0}


def test_a_bound_keeps_the_nearest_and_counts_the_rest() -> None:
    star = [("a", f"n{number:02}") for number in range(100)] + [("n99", "far"), ("far", "farther")]
    found = neighbourhood_of("a", graph(star), depth=2, most=10)
    assert found.hops == {"a": 0, **{f"n{number:02}": 1 for number in range(9)}}
    assert found.omitted == 91 + 1


def test_a_bound_keeps_the_best_of_one_hop() -> None:
    star = [("a", name) for name in "bcdefg"]
    found = neighbourhood_of(
        "a", graph(star), depth=1, most=3, best=lambda names, room: sorted(names)[-room:]
    )
    assert found == Neighbourhood({"a": 0, "f": 1, "g": 1}, 4)


def test_nothing_is_reached_through_what_may_not_be_given() -> None:
    known = graph([("a", "b"), ("b", "c"), ("a", "d"), ("d", "e")])
    found = neighbourhood_of("a", known, depth=4, most=10, admit=lambda names: sorted(set(names) - {"b"}))
    assert found.hops == {"a": 0, "d": 1, "e": 2}


def test_the_shortest_way_in_walking_order() -> None:
    known = graph([("a", "b"), ("c", "b"), ("c", "d"), ("a", "x"), ("x", "y"), ("y", "z"), ("z", "d")])
    assert shortest_path("a", "d", known) == ["a", "b", "c", "d"]
    assert shortest_path("d", "a", known) == ["d", "c", "b", "a"]


def test_of_several_shortest_ways_the_same_each_time() -> None:
    pairs = [("a", "x"), ("a", "y"), ("x", "d"), ("y", "d")]
    assert shortest_path("a", "d", graph(pairs)) == ["a", "x", "d"]
    assert shortest_path("a", "d", graph(pairs[::-1])) == ["a", "x", "d"]


def test_no_way_and_the_same_place() -> None:
    known = graph([("a", "a"), ("a", "b"), ("c", "d")])
    assert shortest_path("a", "c", known) is None
    assert shortest_path("a", "a", known) == ["a"]
    assert shortest_path("nobody", "a", known) is None


def test_few_entities_are_asked_on_the_way_out_of_a_hub() -> None:
    star = [("hub", f"n{number}") for number in range(5_000)] + [("n7", "m"), ("m", "goal")]
    asked: list[int] = []

    def steps(entities: Collection[str]) -> list[tuple[str, str]]:
        asked.append(len(entities))
        return list(known(entities))

    known = graph(star)
    assert shortest_path("hub", "goal", steps) == ["hub", "n7", "m", "goal"]
    assert sum(asked) < 10


joined = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), max_size=15)


@given(joined, st.integers(0, 4), st.sets(st.sampled_from(NAMES)))
def test_all_within_reach_is_given_and_nothing_else(pairs: Pairs, depth: int, allowed: set[str]) -> None:
    found = neighbourhood_of(
        "a", graph(pairs), depth=depth, most=100, admit=lambda names: sorted(allowed & set(names))
    )
    reached = walked(pairs, "a", "".join(allowed))
    assert found.hops == {name: hops for name, hops in reached.items() if hops <= depth}
    assert found.omitted == 0


@given(joined, st.integers(0, 4), st.integers(1, 7))
def test_what_is_left_out_is_counted(pairs: Pairs, depth: int, most: int) -> None:
    found = neighbourhood_of("a", graph(pairs), depth=depth, most=most)
    reached = {name: hops for name, hops in walked(pairs, "a").items() if hops <= depth}
    assert len(found.hops) == min(most, len(reached))
    assert len(found.hops) + found.omitted == len(reached)
    assert found.hops.items() <= reached.items()
    assert max(found.hops.values()) <= min(
        (hops for name, hops in reached.items() if name not in found.hops), default=depth
    )


@given(joined, st.sampled_from(NAMES))
def test_a_way_is_as_short_as_can_be_and_can_be_walked(pairs: Pairs, goal: str) -> None:
    way = shortest_path("a", goal, graph(pairs))
    hops = walked(pairs, "a")
    if goal not in hops:
        assert way is None
        return
    assert way is not None
    assert (way[0], way[-1], len(way) - 1) == ("a", goal, hops[goal])
    either = {*pairs, *((other, one) for one, other in pairs)}
    assert all(step in either for step in pairwise(way))
