"""The commands of the graph: what they ask of the engine, what people read, and what programs get."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.cli import samples
from tests.cli.door import Bench, Door
from tests.cli.program import Program
from workbench.display.graph import entity_lines, graph_lines, path_lines
from workbench.display.text import Page, display_width
from workbench.engine.results.graph import (
    EntityRow,
    EntityTable,
    GraphEdge,
    GraphEvent,
    GraphFact,
    GraphNode,
    GraphView,
)
from workbench.engine.results.memories import Validity

HOSTILE = samples.HOSTILE
ADA, MILL, LOOM = "entity:person--ada", "entity:project--mill", "entity:tool--loom"
TABLE = EntityTable(
    (
        EntityRow(ADA, "person", "Ada", 0.9, "active", 4, 2, "2026-02-01", ("uses",), ("Countess",)),
        EntityRow(MILL, "project", "Mill", 0.95, "active", 9, 0, "2026-01-01"),
        EntityRow(LOOM, "tool", "Loom", 0.2, "dormant", 4, 1, ""),
    ),
    7,
)
WAY = GraphView(
    ADA,
    (
        GraphNode(ADA, "person", "Ada", 1, 0),
        GraphNode(MILL, "project", "Mill", 1, 1),
        GraphNode(LOOM, "tool", "Loom", 1, 2),
    ),
    (
        GraphEdge(ADA, "works-on", MILL, "high", "2026-01-15", None, f"{ADA}#^r001"),
        GraphEdge(LOOM, "used-by", MILL, "low", None, None),
    ),
)
ENTITY = GraphView(
    ADA,
    (
        GraphNode(ADA, "person", "Ada", 0.876, 0, "active", 2),
        GraphNode("entity:person--bo", "person", "bo", 0.0, 1, "", 1, known=False),
    ),
    (GraphEdge(ADA, "knows", "entity:person--bo", "medium", "2026-01-10", None, f"{ADA}#^r004"),),
    (
        GraphFact(f"{ADA}#^f001", "Wrote it", (samples.EPISODE,), Validity("2026-01-11", None, None)),
        GraphFact(f"{ADA}#^f002", "Lives in Bath", (), Validity("2026-01-01", "2026-01-05", None), True, 9),
    ),
    "Weaves.",
    12,
    ("Countess",),
    (GraphEvent("2026-01-12", "Met Charles", (samples.EPISODE,)), GraphEvent("", "Died young")),
    ("Does she sail?",),
    ("entity:person--ada-2",),
)


@pytest.fixture
def program(program: Program) -> Program:
    """Run command lines in this process: what they answer is looked at."""
    return replace(program, here=True)


def text(lines: list[str]) -> str:
    return "\n".join(lines)


class TestAsking:
    def test_every_filter_is_handed_on(self, bench: Bench, door: Door) -> None:
        door.answers["graph"] = samples.GRAPH
        bench.json(
            "graph", "lena", "--depth", "2", "--relation", "uses", "--relation", "part-of", "--type", "tool",
            "--min-score", "0.3", "--after", "2026-01-01", "--before", "2026-02-01",
        )  # fmt: skip
        assert door.called("graph") == {
            "entity": "lena", "depth": 2, "relations": ("uses", "part-of"), "types": ("tool",), "min_score": 0.3,
            "after": "2026-01-01", "before": "2026-02-01",
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("words", "method", "arguments"),
        [
            (["add", "person", "Robin Ek"], "graph_add", {"type_": "person", "name": "Robin Ek"}),
            (["add-fact", "ada", "- Sails"], "graph_add_fact", {"entity": "ada", "text": "- Sails"}),
            (["retire", "x#^f1"], "graph_retire", {"id": "x#^f1", "expected": None, "by": None}),
            (
                ["retire", "x#^f1", "--expected", "Old", "--by", "x#^f2"],
                "graph_retire",
                {"id": "x#^f1", "expected": "Old", "by": "x#^f2"},
            ),
            (
                ["propose-merge", "a", "b", "--reason", "One"],
                "graph_propose_merge",
                {"keep": "a", "absorb": "b", "reason": "One"},
            ),
        ],
    )
    def test_changes(
        self, bench: Bench, door: Door, words: list[str], method: str, arguments: dict[str, object]
    ) -> None:
        door.answers[method] = samples.CHANGED
        result = bench.run("graph", *words, "--json")
        assert result.stdout.startswith('{"ok":true,"commit":')
        assert door.called(method) == arguments
        assert "commit abc1234" in bench.run("graph", *words).stdout
        door.answers[method] = replace(samples.UNCHANGED, warnings=("It stands already.",))
        unchanged = bench.run("graph", *words)
        assert "Nothing changed." in unchanged.output
        assert "It stands already." in unchanged.output


class TestEntities:
    @pytest.mark.parametrize(
        ("words", "order"),
        [
            ([], ["Mill", "Ada", "Loom"]),
            (["--sort", "degree"], ["Mill", "Ada", "Loom"]),
            (["--sort", "name"], ["Ada", "Loom", "Mill"]),
            (["--sort", "seen"], ["Ada", "Mill", "Loom"]),
            (["--type", "tool"], ["Loom"]),
        ],
    )
    def test_they_are_chosen_and_sorted(
        self, bench: Bench, door: Door, words: list[str], order: list[str]
    ) -> None:
        door.answers["graph_entities"] = TABLE
        found = bench.json("graph", "entities", "--limit", "1", *words)
        assert [row["label"] for row in found["entities"]] == order
        assert set(found["entities"][0]) >= {
            "id",
            "type",
            "label",
            "score",
            "status",
            "degree",
            "facts",
            "seen",
        }
        assert found["relations"] == 7

    def test_so_many_are_printed_and_the_rest_is_told(self, bench: Bench, door: Door) -> None:
        door.answers["graph_entities"] = TABLE
        printed = bench.run("graph", "entities", "--limit", "2").stdout
        assert "3 entities, 7 relations in all" in printed
        assert "0.95 active" in printed
        assert "Loom" not in printed
        assert "1 more" in printed

    def test_none_of_a_type_is_nothing_found(self, bench: Bench, door: Door) -> None:
        door.answers["graph_entities"] = TABLE
        assert bench.json("graph", "entities", "--type", "boat", code=3)["entities"] == []


class TestReading:
    def test_an_entity_tells_where_it_is_known_from(self) -> None:
        lines = graph_lines(Page(), ENTITY)
        for line in (
            "Ada",
            "ALSO     Countess",
            f"· Wrote it ·\u00a011\u00a0Jan\u00a02026 ·\u00a0{samples.EPISODE}  {ADA}#^f001",
            f"· until 5\u00a0Jan\u00a02026: Lives in Bath  {ADA}#^f002",
            f"→ knows  bo · medium confidence  {ADA}#^r004",
            "OPEN     ? Does she sail?",
            "                     Died young",
            "MERGED   ada 2 · workbench graph unmerge takes it apart again",
            f"ID       {ADA} · 0.88 active",
        ):
            assert line in lines
        assert "12 entities more within reach" in lines[-1]

    def test_several_relations_of_two_share_a_line_further_away(self) -> None:
        edges = (
            *(GraphEdge(ADA, name, MILL, "", None, None) for name in ("uses", "develops")),
            GraphEdge(MILL, "uses", LOOM, "", None, None),
        )
        lines = graph_lines(Page(), replace(WAY, edges=edges))
        assert lines[lines.index("AROUND") + 1 :] == [
            " Ada",
            "└─→ uses, develops ── Mill",
            "   └─→ uses ── Loom",
        ]

    def test_an_entity_without_a_file_says_so(self) -> None:
        nodes = (GraphNode("entity:person--bo", "person", "bo", 0, 0, "", 1, known=False),)
        lines = graph_lines(Page(), GraphView("entity:person--bo", nodes, ()))
        assert lines[:2] == ["bo", "◇ Person · 0 facts · 0 relations · no file of its own"]
        assert "nothing yet; workbench graph add-fact adds a fact" in lines

    def test_a_way_is_a_chain_with_its_arrows(self) -> None:
        assert "┃ Ada    ┠── works-on ─▶│ Mill    │◀─ used-by ──┤ Loom │" in text(path_lines(Page(), WAY))

    def test_a_long_way_turns_back_at_the_edge(self) -> None:
        ids = [f"entity:person--n{n}" for n in range(40)]
        nodes = tuple(GraphNode(id_, "person", f"Somebody 林 {n}", 1, n) for n, id_ in enumerate(ids))
        edges = tuple(GraphEdge(a, "knows", b, "", None, None) for a, b in pairwise(ids))
        lines = path_lines(Page(width=60), GraphView(ids[0], nodes, edges))
        assert all(display_width(line) <= 60 for line in lines)
        assert text(lines).count(" knows ") == 39

    def test_a_way_to_itself_and_none(self) -> None:
        assert "Ada" in text(path_lines(Page(), GraphView(ADA, WAY.nodes[:1], ())))
        assert path_lines(Page(), samples.EMPTY_GRAPH) == []

    def test_nothing_in_a_file_reaches_the_terminal_raw(self) -> None:
        node = GraphNode(HOSTILE, HOSTILE, HOSTILE, 1, 0, HOSTILE)
        edge = GraphEdge(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, f"{HOSTILE}#^{HOSTILE}")
        fact = GraphFact(HOSTILE, HOSTILE, (HOSTILE,), Validity(HOSTILE, HOSTILE, HOSTILE), True)
        events = (GraphEvent(HOSTILE, HOSTILE, (HOSTILE,)),)
        hostile = (HOSTILE,)
        view = GraphView(HOSTILE, (node,), (edge,), (fact,), HOSTILE, 1, hostile, events, hostile, hostile)
        row = EntityRow(HOSTILE, HOSTILE, HOSTILE, 1, HOSTILE, 1, 1, HOSTILE, hostile, hostile)
        lines = [
            *graph_lines(Page(), view),
            *path_lines(Page(), replace(view, edges=(edge, edge))),
            *entity_lines(Page(), EntityTable((row,), 1), limit=1),
        ]
        assert not any(character in text(lines) for character in "\x1b\x07\u202e\u200b\x9b\r\ud800")


class TestAgainstARealWorkspace:
    def test_by_hand_from_nothing_to_a_merge(self, agent: Program) -> None:
        assert agent.json("graph", "add", "person", "Ada King")["ids"] == ["entity:person--ada-king"]
        assert agent.json("graph", "add", "project", "Mill")["ok"]
        (fact,) = agent.json("graph", "add-fact", "Ada King", "Wrote the first program")["ids"]
        again = agent.run("graph", "add-fact", "Ada King", "Wrote the first program")
        assert fact in again.stdout + again.stderr
        (relation,) = agent.json("graph", "link", "Ada King", "develops", "Mill")["ids"]
        found = agent.json("graph", "Ada King", "--relation", "develops", "--after", "2026-01-01")
        assert [edge["id"] for edge in found["edges"]] == [relation]
        assert set(found) >= {"center", "nodes", "edges", "omitted", "aliases", "events", "questions"}
        assert (
            "┃ Ada King ┠── develops ─▶│ Mill    │" in agent.run("graph", "path", "Ada King", "Mill").stdout
        )
        agent.json("graph", "retire", relation)
        assert agent.json("graph", "Ada King")["edges"] == []
        agent.json("restore", relation)
        assert len(agent.json("graph", "Ada King")["edges"]) == 1
        agent.json("graph", "add", "person", "Lady Ada")
        told = agent.run("graph", "propose-merge", "Ada King", "Lady Ada").stdout
        (item,) = agent.json("review")["items"]
        assert f"It waits as {item['id']}." in told
        agent.json("review", "approve", item["id"])
        agent.json("review", "apply", "--yes")
        assert agent.json("graph", "Lady Ada")["absorbed"] == ["entity:person--lady-ada"]
        table = agent.json("graph", "entities", "--type", "person")
        assert [row["id"] for row in table["entities"]] == ["entity:person--ada-king"]

    def test_what_is_wrong_is_told_with_a_remedy(self, agent: Program) -> None:
        agent.json("graph", "add", "person", "Ada King")
        for words in (
            ["graph", "Ada King", "--relation", "admires"],
            ["graph", "Ada King", "--type", "dragon"],
            ["graph", "Ada King", "--min-score", "7"],
            ["graph", "--after", "tomorrow"],
            ["graph", "add", "person", "Ada King"],
            ["graph", "retire", "entity:person--ada-king#^gone"],
            ["graph", "propose-merge", "Ada King", "Ada King"],
        ):
            failed = agent.run(*words, "--json")
            error = json.loads(failed.stdout)["error"]
            assert failed.returncode not in (0, 1) or error["message"]
            assert error["remedy"], words
