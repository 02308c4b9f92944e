"""The graph in bulk: steps, relations and degrees of many entities, with those that went into others."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.catalog.shelf import ENTITIES, Shelf
from workbench.engine.catalog.graph import EntityOutlines, KnowledgeGraph, RelationFilter, words_listed

NAMES = ["person--a", "person--b", "person--c", "person--d"]
ENDS = [*NAMES, "person--nowhere"]


def put(shelf: Shelf, name: str, relations: list[str], into: str = "", more: str = "") -> None:
    header = f"<!-- Merged into: [[{into}]] -->\n" if into else ""
    lines = "".join(f"- {line}\n" for line in relations)
    shelf.write(f"{ENTITIES}/{name}.md", f"# {name}\n\n{header}{more}\n## Relations\n{lines}")


@pytest.fixture
def drawn(shelf: Shelf) -> Shelf:
    put(shelf, "person--a", ["uses: [[person--b]] (since 2026-01) ^r001", "uses: [[person--a]] ^r002"])
    put(shelf, "person--b", ["uses: [[person--c]] (since 2026-02-10T08:00Z) ^r003", "knows: [[person--x]]"])
    put(shelf, "person--c", [])
    shelf.sync()
    return shelf


def ids(*names: str) -> list[str]:
    return [f"entity:{name}" for name in names]


def bare(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted((one.removeprefix("entity:"), other.removeprefix("entity:")) for one, other in pairs)


def test_steps_lead_both_ways_and_never_on_the_spot(drawn: Shelf) -> None:
    graph = KnowledgeGraph(drawn.catalog)
    assert bare(graph.steps(ids("person--b"))) == [
        ("person--b", "person--a"), ("person--b", "person--c"), ("person--b", "person--x"),
    ]  # fmt: skip
    assert bare(graph.steps(ids("person--x", "person--c"))) == [
        ("person--c", "person--b"), ("person--x", "person--b"),
    ]  # fmt: skip
    assert graph.steps([]) == []


@pytest.mark.parametrize(
    ("followed", "found"),
    [
        (RelationFilter(("knows",)), ["person--x"]),
        (RelationFilter(after="2026-02-10"), ["person--c", "person--x"]),
        (RelationFilter(after="2026-02-11"), ["person--x"]),
        (RelationFilter(after="2026-01-31"), ["person--a", "person--c", "person--x"]),
        (RelationFilter(before="2026-01-01"), ["person--a", "person--x"]),
        (RelationFilter(before="2025-12-31"), ["person--x"]),
        (RelationFilter(("uses",), "2026-02-01", "2026-02-28"), ["person--c"]),
    ],
)
def test_a_month_is_as_long_as_it_is_and_what_has_no_day_is_of_any(
    drawn: Shelf, followed: RelationFilter, found: list[str]
) -> None:
    graph = KnowledgeGraph(drawn.catalog, followed=followed)
    assert [far for _, far in bare(graph.steps(ids("person--b")))] == found


def test_degrees_count_every_relation_whatever_is_followed(drawn: Shelf) -> None:
    graph = KnowledgeGraph(drawn.catalog, followed=RelationFilter(("knows",)))
    degrees = {"entity:person--a": 2, "entity:person--b": 3, "entity:person--c": 1, "entity:person--x": 1}
    assert graph.degrees() == degrees
    assert graph.degrees(list(degrees)) == degrees
    assert graph.count_relations() == 4
    hidden = KnowledgeGraph(drawn.catalog, hidden=["entity:person--a#^r001", "entity:person--a#^gone"])
    assert hidden.degrees(ids("person--a", "person--b")) == {"entity:person--a": 1, "entity:person--b": 2}
    assert hidden.count_relations() == 3


def test_the_table_counts_what_holds(shelf: Shelf) -> None:
    more = (
        '\n## Aliases\n- A “quoted”\n- a "b", "c"\n- back\\slash\n- two, words\n'
        "## Facts\n- Holds ^f001\n- Held (until 2026-01-31) ^f002\n- Holds this month (until 2026-02) ^f003\n"
        "## Superseded\n- Old (2025-01-01 to 2025-02-01) ^f004\n"
    )
    put(shelf, "person--a", [], more=more)
    shelf.sync()
    found = EntityOutlines(shelf.catalog).columns("2026-02-02")
    assert found.facts == [2]
    record = shelf.lookups.entity("entity:person--a")
    assert record is not None
    assert (
        words_listed(found.aliases[0])
        == record.aliases
        == ("A “quoted”", 'a "b", "c"', "back\\slash", "two, words")
    )
    assert found.days[0] == "2026-01-31 2025-02-01 2025-01-01"
    found = EntityOutlines(shelf.catalog, hidden=["entity:person--a#^f001"]).columns("2026-02-02")
    assert found.facts == [1]


@settings(max_examples=40)
@given(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.tuples(st.lists(st.sampled_from(ENDS), max_size=4), st.sampled_from(["", "", *ENDS])),
        min_size=1,
    )
)
def test_however_entities_were_merged_what_is_counted_is_what_is_drawn(
    files: dict[str, tuple[list[str], str]],
) -> None:
    with TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        for name, (targets, into) in files.items():
            put(shelf, name, [f"uses: [[{target}]]" for target in targets], into)
        shelf.sync()
        graph = KnowledgeGraph(shelf.catalog)
        edges = graph.edges()
        ends = {end for edge in edges for end in (edge.from_, edge.to)}
        drawn = {end: sum(end in (edge.from_, edge.to) for edge in edges) for end in ends}
        assert len(edges) == sum(len(targets) for targets, _ in files.values()) == graph.count_relations()
        everything = {end: count for end, count in graph.degrees().items() if count}
        assert everything == drawn
        assert graph.degrees(ends) == drawn
        assert graph.among(ends) == edges
        assert set(graph.steps(ends)) == {
            step
            for edge in edges
            for step in ((edge.from_, edge.to), (edge.to, edge.from_))
            if len(set(step)) > 1
        }
        table = EntityOutlines(shelf.catalog).columns("2026-02-02")
        assert [*table.ids] == sorted(graph.everybody())
        assert table.degrees == [drawn.get(id_, 0) for id_ in table.ids]
        assert all(graph.whole(id_) == id_ for id_ in table.ids)
        shelf.catalog.close()
