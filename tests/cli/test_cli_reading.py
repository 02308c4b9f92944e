"""What search, get and the index ask of the door, and how their answers are told."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.cli import samples
from tests.cli.door import Bench, Door
from workbench.engine.errors import DocumentError
from workbench.engine.results.memories import Excerpt
from workbench.engine.results.reviews import ReviewItem


class TestReading:
    def test_search_hands_on_every_option(self, bench: Bench, door: Door) -> None:
        door.answers["search"] = samples.FOUND
        bench.json(
            "search", "hybrid", "approach", "--max-results", "3", "--min-score", "0.2", "--store", "episodic",
            "--after", "2026-01-01", "--before", "2026-03-01", "--include-dormant", "--budget", "500",
            "--explain",
        )  # fmt: skip
        assert door.called("search") == {
            "query": "hybrid approach",
            "max_results": 3,
            "min_score": 0.2,
            "store": "episodic",
            "after": "2026-01-01",
            "before": "2026-03-01",
            "include_dormant": True,
            "budget": 500,
            "explain": True,
        }

    def test_explaining_shows_lanes_nudges_cuts_and_the_reading(self, bench: Bench, door: Door) -> None:
        door.answers |= {
            "search": samples.FOUND,
            "review": samples.NO_REVIEW,
            "proposals": samples.NO_PROPOSALS,
        }
        explained = bench.run("search", "x", "--explain").stdout
        for part in (
            " 0.90  1st  hybrid",
            "× 0.97",
            "asks for the latest",
            "says what result 1",
            "read as: latest",
        ):
            assert part in explained
            assert part not in bench.run("search", "x").stdout

    def test_search_marks_what_waits_for_a_decision(self, bench: Bench, door: Door) -> None:
        item = ReviewItem(
            "r-002.1", "contradiction", samples.EPISODE, "", "", "", "", (), "undecided", title="Nordlicht"
        )
        door.answers |= {
            "search": samples.FOUND,
            "review": replace(samples.NO_REVIEW, items=(item,)),
            "proposals": samples.NO_PROPOSALS,
        }
        assert "contradicted, waits in the Inbox: workbench review" in bench.run("search", "x").stdout
        assert "contradicted" not in json.dumps(bench.json("search", "x"))

    def test_search_answers_though_what_waits_cannot_be_read(self, bench: Bench, door: Door) -> None:
        door.answers |= {"search": samples.FOUND, "review": DocumentError("It is no proposal.")}
        assert bench.run("search", "x").exit_code == 0

    def test_search_says_why_a_memory_is_not_found(self, bench: Bench, door: Door) -> None:
        door.answers["why_not"] = samples.WHY_NOT
        assert "It is archived." in bench.run("search", "x", "--why-not", samples.EPISODE).stdout
        assert door.called("why_not") == {"query": "x", "id": samples.EPISODE}

    def test_the_index_is_brought_up_to_date_or_built_anew(self, bench: Bench, door: Door) -> None:
        door.answers["index"] = door.answers["index_status"] = samples.INDEX
        assert bench.json("index", "--force")["dimensions"] == 768
        assert door.called("index")["force"] is True
        assert "3 still to be read" in bench.run("index", "status").stdout

    def test_a_piped_file_is_exactly_the_file(self, bench: Bench, door: Door) -> None:
        door.answers["get"] = samples.EXCERPT
        result = bench.run("get", "MEMORY.md", "--from", "2", "--lines", "3")
        assert result.stdout_bytes == samples.EXCERPT.text.encode()
        assert door.called("get") == {"path": "MEMORY.md", "from_": 2, "lines": 3}

    @pytest.mark.usefixtures("terminal")
    def test_at_a_terminal_a_file_is_harmless(self, bench: Bench, door: Door) -> None:
        door.answers["get"] = Excerpt("MEMORY.md", samples.HOSTILE, 1, 1)
        assert "\x1b" not in bench.run("get", "MEMORY.md").stdout

    def test_the_past_of_a_file_is_printed_as_it_was(self, bench: Bench, door: Door) -> None:
        door.answers["audit_at"] = samples.MOMENT
        assert bench.run("audit", "at", "2026-02-02", "--file", "MEMORY.md").stdout == "# MEMORY\n"

    def test_a_file_that_was_not_there_then_is_3(self, bench: Bench, door: Door) -> None:
        door.answers["audit_at"] = samples.NO_MOMENT
        bench.json("audit", "at", "2026-02-02", "--file", "MEMORY.md", code=3)


def test_a_search_that_finds_nothing_looks_for_what_it_left_out(bench: Bench, door: Door) -> None:
    door.answers["search"], door.answers["index_status"] = samples.NOTHING, samples.INDEX
    result = bench.run("search", "tea", "--store", "vault")
    assert "without --store" in result.stdout
    assert [each["explain"] for name, each in door.calls if name == "search"] == [False, True]


def test_json_of_a_search_that_finds_nothing_asks_once(bench: Bench, door: Door) -> None:
    door.answers["search"] = samples.NOTHING
    assert bench.run("search", "tea", "--json").exit_code == 3
    assert [name for name, _ in door.calls if name == "search"] == ["search"]
