"""The graph index: the same graph gives the same bytes, whole or piece by piece."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.markdown.graph import (
    IndexedEdge,
    IndexedEntity,
    read_graph_index,
    render_graph_index,
    update_graph_index,
)
from workbench.engine.markdown.markup import one_line

cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=6).map(one_line) | st.sampled_from(
    ["a|b", "\\", "\\|", "---", "ID"]
)
names = st.sampled_from(["a--b", "a--bc", "a--b c", "person--李", "z--|"])
graphs = st.tuples(
    st.dictionaries(names, st.tuples(cells, cells, cells, cells), max_size=4).map(
        lambda rows: [IndexedEntity(key, *row) for key, row in rows.items()]
    ),
    st.lists(st.builds(IndexedEdge, names, cells, names, cells, cells, cells), max_size=5),
)


@given(graphs)
def test_rows_read_back(graph: tuple[list[IndexedEntity], list[IndexedEdge]]) -> None:
    entities, edges = graph
    read, linked = read_graph_index(render_graph_index(entities, edges))
    assert sorted(read, key=repr) == sorted(entities, key=repr)
    assert sorted(linked, key=repr) == sorted(edges, key=repr)


@given(graphs, graphs, names)
def test_a_piecewise_update_gives_what_rendering_gives(
    graph: tuple[list[IndexedEntity], list[IndexedEdge]],
    other: tuple[list[IndexedEntity], list[IndexedEdge]],
    name: str,
) -> None:
    entities, edges = graph
    row = next((entity for entity in other[0] if entity.id == name), None)
    links = [edge for edge in other[1] if edge.from_ == name]
    updated = update_graph_index(render_graph_index(entities, edges), name, row, links)
    assert updated == render_graph_index(
        [entity for entity in entities if entity.id != name] + ([row] if row else []),
        [edge for edge in edges if edge.from_ != name] + links,
    )


def test_a_file_of_another_hand_is_laid_out_anew() -> None:
    content = (
        b"# Graph\r\n\r\n## Entity Registry\r\n| ID | Type | Label | File | Decay Score |\r\n|:--|--|--|--|--:|\r\n"
        b"| person--alex | person | Alex | entities/person--alex.md | 1.00 (pinned) |\r\n| broken |\r\n"
    )
    entities, edges = read_graph_index(content)
    assert ([entity.score for entity in entities], edges) == (["1.00 (pinned)"], [])
    edge = IndexedEdge("person--alex", "uses", "tool--x", "high", "2026-01-01", "")
    updated = update_graph_index(content, "person--alex", entities[0], [edge])
    assert read_graph_index(updated) == (entities, [edge])
