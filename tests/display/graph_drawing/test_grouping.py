"""Where there are too many entities, those of one kind share a box that says how many, and nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.display.graph_drawing.graphs import edge, id_of, neighbourhoods, node, star
from tests.display.graph_drawing.test_views import shown
from workbench.display.graph_drawing.ties import grouped, hidden_relations, read_ties, whole
from workbench.display.graph_drawing.views import draw_neighbourhood, members_of
from workbench.engine.results.graph import GraphView


def many(outward: int, inward: int) -> GraphView:
    """Return a hub that uses many and is part of many, the later ones less relevant."""
    total = outward + inward
    nodes = tuple(node(at, f"N{at}", score=1 - at / (total + 1), hop=min(1, at)) for at in range(total + 1))
    edges = [edge(0, "uses", at) for at in range(1, outward + 1)]
    edges += [edge(at, "part-of", 0) for at in range(outward + 1, total + 1)]
    return GraphView(id_of(0), nodes, tuple(edges))


def test_the_most_relevant_stay_single_and_the_rest_share_a_box() -> None:
    drawn = many(40, 30)
    picture = draw_neighbourhood(drawn, 100, 30)
    groups = [key for key in picture.regions if key.startswith("group:")]
    assert len(groups) == 2
    for key in groups:
        members = members_of(drawn, key)
        relation = "uses" if "uses" in key else "part-of"
        assert f"{len(members)} × {relation}" in shown(picture)
        singles = [id_ for id_ in picture.regions if id_ not in members and not id_.startswith("group:")]
        scores = {each.id: each.score for each in drawn.nodes}
        own = [id_ for id_ in singles if (relation == "uses") == (int(id_.rpartition("n")[2]) <= 40)]
        assert min(scores[id_] for id_ in own) > max(scores[id_] for id_ in members)
    assert len(picture.lines) <= 30


@pytest.mark.parametrize("size", [(78, 20), (98, 30), (118, 36), (238, 58)])
@pytest.mark.parametrize("count", [13, 24, 60, 499])
def test_any_number_fits_the_space(count: int, size: tuple[int, int]) -> None:
    for drawn in (star(count), many(count // 2, count - count // 2)):
        picture = draw_neighbourhood(drawn, *size)
        assert len(picture.lines) <= size[1]


@given(neighbourhoods(most=60), st.integers(3, 40))
def test_every_entity_is_single_or_in_one_group(drawn: GraphView, boxes: int) -> None:
    ties = read_ties(drawn)
    hung = [each for outer in grouped(ties, boxes).values() for each in outer]
    found = [ties.center]
    for each in hung:
        found += [each] if isinstance(each, str) else members_of(drawn, each.key)
    assert sorted(found) == sorted(ties.nodes)
    keys = [each.key for each in hung if not isinstance(each, str)]
    assert len(set(keys)) == len(keys)


@given(neighbourhoods(most=60))
def test_nothing_is_hidden_where_every_entity_has_a_box(drawn: GraphView) -> None:
    ties = read_ties(drawn)
    assert hidden_relations(ties, whole(ties)) == 0


def test_hidden_relations_are_counted() -> None:
    drawn = many(60, 0)
    more = (*drawn.edges, edge(59, "knows", 60), edge(60, "knows", 60))
    picture = draw_neighbourhood(GraphView(drawn.center, drawn.nodes, more), 78, 20)
    assert "2 relations among them not drawn" in shown(picture)


def test_what_hangs_on_grouped_entities_is_counted_and_among_its_members() -> None:
    drawn = many(60, 0)
    outer = tuple(node(at, f"N{at}", hop=2) for at in (61, 62))
    more = GraphView(
        drawn.center, (*drawn.nodes, *outer), (*drawn.edges, edge(59, "uses", 61), edge(62, "uses", 60))
    )
    picture = draw_neighbourhood(more, 78, 20)
    group = next(key for key in picture.regions if key.startswith("group:"))
    assert "+ 2 beyond" in shown(picture)
    assert set(members_of(more, group)) >= {id_of(59), id_of(60), id_of(61), id_of(62)}


def test_a_chosen_group_is_found_again_when_the_space_changes() -> None:
    drawn = many(40, 30)
    wide = draw_neighbourhood(drawn, 100, 30)
    group = next(key for key in wide.regions if "uses" in key)
    other = next(key for key in draw_neighbourhood(drawn, 100, 20).regions if "uses" in key)
    assert group != other
    marked = draw_neighbourhood(drawn, 100, 20, chosen=group)
    assert marked == draw_neighbourhood(drawn, 100, 20, chosen=other)
    assert marked != draw_neighbourhood(drawn, 100, 20)


@pytest.mark.parametrize("key", ["", "group:", "group:x:y|z", "group:1:nobody|>uses", id_of(1), "group:0:|*"])
def test_no_other_key_is_a_group(key: str) -> None:
    assert members_of(star(30), key) == ()
