"""The graph browser’s lines: pure functions of what the engine answered and of the room there is."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.display.ink import line_width, plain_text
from workbench.engine.results.graph import EntityRow, GraphEdge, GraphEvent, GraphFact, GraphNode, GraphView
from workbench.engine.results.memories import Validity
from workbench.tui.panes.graph_places import GraphPlace, place_of_key
from workbench.tui.views.graph_entity import Portrait, entity_lines, group_lines, relation_key
from workbench.tui.views.graph_filter import Narrowing, narrowed, narrowing, parse_graph_filter
from workbench.tui.views.graph_head import around_line, members_line, path_line
from workbench.tui.views.graph_table import (
    SORT_LINK,
    SORTS,
    EntityRows,
    header_line,
    in_order,
    matching,
    seen_words,
)
from workbench.tui.views.memory import score_bar

TODAY = date(2026, 2, 2)
MIRA = EntityRow(
    "entity:person--mira", "person", "Mira", 0.8, "active", 4, 2, "2026-01-30", ("leads",), ("M. O.",)
)
APOLLO = EntityRow(
    "entity:project--apollo", "project", "Apollo", 1.0, "pinned", 9, 5, "2026-02-01", ("uses",)
)
RADAR = EntityRow("entity:tool--radar", "tool", "Radar", 0.05, "dormant", 1, 0, "2024-03-01", ("used-by",))
NEVER = EntityRow("entity:tool--never", "tool", "Never", 0.4, "fading", 0, 0)
ALL = (MIRA, APOLLO, RADAR, NEVER)
HOSTILE = ("[/b]", "\x1b[2J", "\u202eevil", "𓂀" * 90, "陈美" * 60, "يوسف", "a\nb", "", "e\u0301" * 200)


def shown(text: str) -> list[str]:
    return [row.label for row in matching(ALL, parse_graph_filter(text, TODAY))]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("", ["Mira", "Apollo", "Radar", "Never"]),
        ("mira", ["Mira"]),
        ("M. O.", ["Mira"]),
        ("type:p", ["Mira", "Apollo"]),
        ("type:person,tool", ["Mira", "Radar", "Never"]),
        ("-type:tool", ["Mira", "Apollo"]),
        ("score:>0.5", ["Mira", "Apollo"]),
        ("score:0.8", ["Mira", "Apollo"]),
        ("score:<0.1", ["Radar"]),
        ("score:", ["Mira", "Apollo", "Radar", "Never"]),
        ("score:>x", ["Mira", "Apollo", "Radar", "Never"]),
        ("score:>7", ["Mira", "Apollo", "Radar", "Never"]),
        ("relation:use", ["Apollo", "Radar"]),
        ("relation:uses", ["Apollo"]),
        ("-relation:uses", ["Mira", "Radar", "Never"]),
        ("status:pinned", ["Apollo"]),
        ("after:2026-01", ["Mira", "Apollo"]),
        ("after:2026-02-01", ["Apollo"]),
        ("before:2026-01", ["Mira", "Radar"]),
        ("since:1w", ["Mira", "Apollo"]),
        ("after:nonsense", ["Mira", "Apollo", "Radar", "Never"]),
        ("type:person apollo", []),
    ],
)
def test_the_filter_of_the_table(text: str, labels: list[str]) -> None:
    assert shown(text) == labels


def test_what_the_engine_is_asked_to_leave_out() -> None:
    types, relations = ("person", "place", "tool"), ("uses", "used-by", "leads")

    def asked(text: str) -> Narrowing:
        return narrowing(parse_graph_filter(text, TODAY), types, relations)

    assert asked("mira") == Narrowing()
    assert asked("type:p") == Narrowing(types=("person", "place"))
    assert asked("-type:p") == Narrowing(types=("tool",))
    assert asked("relation:us score:>0.5") == Narrowing(relations=("uses", "used-by"), min_score=0.5)
    assert asked("after:2026-01 before:2026-01") == Narrowing(after="2026-01-01", before="2026-01-31")
    # What is none of them hides everything, rather than nothing.
    assert asked("type:zzz").types == ("zzz",)


def node(name: str, hop: int, score: float = 0.5, type_: str = "person") -> GraphNode:
    return GraphNode(f"entity:{type_}--{name}", type_, name, score, hop, "active", 1)


def edge(from_: GraphNode, to: GraphNode, relation: str = "uses") -> GraphEdge:
    return GraphEdge(
        from_.id, relation, to.id, "high", "2026-01-02", "2026-01-03", f"{from_.id}#^{from_.label}{to.label}"
    )


A, B, C, D = node("a", 0), node("b", 1), node("c", 2), node("d", 1, 0.9)
AROUND = GraphView(A.id, (A, B, D, C), (edge(A, B), edge(B, C), edge(D, A), edge(D, D)))


def test_a_narrowed_neighbourhood_keeps_what_leads_to_what_passes() -> None:
    found = narrowed(AROUND, parse_graph_filter("c", TODAY))
    assert [each.label for each in found.nodes] == ["a", "b", "c"]
    assert len(found.edges) == 2
    high = narrowed(AROUND, parse_graph_filter("score:<0.6", TODAY))
    assert [each.label for each in high.nodes] == ["a", "b", "c"]
    assert narrowed(AROUND, parse_graph_filter("", TODAY)) is AROUND
    assert [each.label for each in narrowed(AROUND, parse_graph_filter("zzz", TODAY)).nodes] == ["a"]


def test_sorting_puts_the_greatest_first_and_equals_by_name() -> None:
    assert [row.label for row in in_order(ALL, "relations")] == ["Apollo", "Mira", "Radar", "Never"]
    assert [row.label for row in in_order(ALL, "facts")] == ["Apollo", "Mira", "Never", "Radar"]
    assert [row.label for row in in_order(ALL, "seen")] == ["Apollo", "Mira", "Radar", "Never"]
    assert [row.label for row in in_order(ALL, "type")] == ["Mira", "Apollo", "Never", "Radar"]
    assert [row.label for row in in_order(ALL, "name")] == ["Apollo", "Mira", "Never", "Radar"]


@pytest.mark.parametrize("width", range(30, 140, 3))
def test_columns_stand_below_their_words(width: int) -> None:
    rows = EntityRows(ALL, TODAY)
    # A row begins after the gutter, and keeps a cell for the scroll bar and one beside it.
    header = plain_text(header_line("score", width + 4))
    assert line_width(header_line("score", width + 4)) <= width + 4
    for at in range(len(ALL)):
        line = rows.line(at, width)
        assert line_width(line) == width
        text = "  " + plain_text(line)
        for word, value in (("score▾", f"{ALL[at].score:.2f}"), ("links", str(ALL[at].degree))):
            if word in header:
                end = header.index(word) + len(word)
                assert text[:end].endswith(value), (header, text)


def test_every_word_over_the_columns_sorts_by_it() -> None:
    links = {span.link for span in header_line("name", 120) if span.link}
    assert links == {SORT_LINK + key for key in SORTS}


def test_days_are_short_and_old_ones_tell_their_year() -> None:
    assert seen_words("2026-01-12", TODAY) == "12 Jan"
    assert seen_words("2024-03-01", TODAY) == "Mar ’24"
    assert seen_words("", TODAY) == ""
    assert seen_words("soon", TODAY) == ""


def test_a_score_that_is_not_nothing_shows() -> None:
    assert plain_text(score_bar(0.01, 6)) == "━─────"
    assert plain_text(score_bar(0.004, 6)) == "──────"
    assert plain_text(score_bar(1.0, 6)) == "━━━━━━"


def portrait(label: str = "a", text: str = "It holds") -> Portrait:
    view = GraphView(
        A.id,
        AROUND.nodes,
        AROUND.edges,
        facts=(
            GraphFact(f"{A.id}#^f1", text, ("episode:2026-01-12:10:05",), Validity("2026-01-12", None, None)),
            GraphFact(
                f"{A.id}#^f0",
                "It held",
                ("source:conversation",),
                Validity("2025-12-01", "2026-01-12", "^f1"),
                retired=True,
            ),
        ),
        summary="What it is.",
        aliases=("Other",),
        events=(GraphEvent("2026-01-12", text),),
        questions=("Why?",),
        absorbed=("entity:person--gone",),
    )
    return Portrait(GraphNode(A.id, "person", label, 0.5, 0, "active", 2), view)


def test_an_entity_says_what_holds_what_held_and_where_it_is_from() -> None:
    text = "\n".join(plain_text(line) for line in entity_lines(portrait(), 60))
    facts, _, superseded = text.partition("Superseded")
    assert "It holds" in facts
    assert "since 12 Jan 2026 · from 12 Jan 2026, 10:05" in facts
    assert "It held" not in facts
    assert "1 Dec 2025 – 12 Jan 2026" in superseded
    assert "replaced by It holds" in " ".join(superseded.split())
    assert "uses → b" in facts
    assert "uses ← d" in facts
    assert " c" not in facts.partition("Relations")[2].partition("Open")[0]
    for words in ("What it is.", "also Other", "? Why?", "entity:person--gone"):
        assert words in text


def test_facts_relations_and_sources_can_be_walked() -> None:
    links = [span.link for line in entity_lines(portrait(), 60) for span in line if span.link]
    assert links[:2] == [f"{A.id}#^f1", "episode:2026-01-12:10:05"]
    own = [relation_key(each) for each in portrait().edges]
    assert [link for link in links if link.startswith("relation:")] == own
    assert len(own) == 2
    assert portrait().edge(own[0]) is not None
    assert portrait().edge("relation:nothing") is None
    assert portrait().fact(f"{A.id}#^f0") is not None


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("width", [12, 38, 100])
def test_hostile_words_stay_within_the_width(text: str, width: int) -> None:
    long = EntityRow(f"entity:x--{text}", text, text, 0.5, text, 10**9, 10**6, text)
    lines = [
        *entity_lines(portrait(text, text), width),
        *group_lines(text, [node(text, 1)], width),
        around_line(text, 2, AROUND, 3, width),
        path_line(text, text, AROUND, width),
        members_line(text, 3, width),
        EntityRows([long], TODAY).line(0, max(30, width)),
    ]
    for line in lines:
        assert line_width(line) <= max(30, width)
        assert all(span.text.isprintable() or not span.text for span in line), line


def test_the_head_counts_what_is_drawn_and_hidden() -> None:
    assert "3 around it · 2 hops" in plain_text(around_line("A", 2, AROUND, 0, 80))
    assert "2 hidden by the filter" in plain_text(around_line("A", 1, AROUND, 2, 80))
    assert "1 hop" in plain_text(around_line("A", 1, None, 0, 80))
    assert "no way" in plain_text(path_line("A", "B", GraphView(A.id, (), ()), 80))
    assert "3 steps" in plain_text(path_line("A", "B", AROUND, 80))


ids = st.text(st.characters(exclude_characters="#>", exclude_categories=["Cs", "Cc"]), min_size=1).map(
    lambda name: f"entity:x--{name}"
)


@given(st.sampled_from(["members", "path"]), ids, ids)
def test_places_come_back_from_the_trail(kind: str, center: str, other: str) -> None:
    place = GraphPlace("path" if kind == "path" else "members", center, other)
    assert place_of_key(place.key) == place


@given(ids)
def test_the_table_and_a_neighbourhood_come_back_from_the_trail(center: str) -> None:
    assert place_of_key(GraphPlace("table", center).key) == GraphPlace("table", center)
    assert place_of_key(center) == GraphPlace("around", center)
    assert place_of_key(f"{center}#^f1") == GraphPlace("around", center, item=f"{center}#^f1")
    assert place_of_key("") == GraphPlace("table")
