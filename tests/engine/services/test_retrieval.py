"""Searching through the door: what settings and options change about the answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import layout
from workbench.engine.catalog import catalog
from workbench.engine.catalog.catalog import Synced
from workbench.engine.errors import InvalidInput
from workbench.engine.identifiers import SEARCHED_STORES
from workbench.engine.results import to_json
from workbench.engine.search.index import index
from workbench.engine.services import context, retrieval


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no time to read files before an answer."""
    monkeypatch.setattr(retrieval, "_READING_SECONDS", 0.0)
    monkeypatch.setattr(retrieval, "_FEW_FILES", 0)


def scores(home: AgentHome) -> dict[str, float]:
    with home.open() as workspace:
        return {hit.id: hit.score for hit in workspace.search("ferry to Gotland", min_score=0).results}


def test_the_weighted_sum_and_its_parts_can_be_set(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = scores(settled)
    monkeypatch.setenv("WORKBENCH_SEARCH_VECTOR_WEIGHT", "0.1")
    monkeypatch.setenv("WORKBENCH_SEARCH_CANDIDATE_MULTIPLIER", "1")
    monkeypatch.setenv("WORKBENCH_SEARCH_FUSION", "two-grain")
    assert scores(settled) == usual
    # A weight chooses the fusion that knows weights.
    monkeypatch.delenv("WORKBENCH_SEARCH_FUSION")
    summed = scores(settled)
    monkeypatch.setenv("WORKBENCH_SEARCH_VECTOR_WEIGHT", "0.9")
    assert len({tuple(each.items()) for each in (usual, summed, scores(settled))}) == 3
    assert next(iter(summed)) == next(iter(usual))


def test_an_entity_called_by_a_part_of_its_name_comes_with_its_relations(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    (settled.root / "memory/graph/entities/project--tern.md").write_text(
        "# project--tern\n\n<!-- Type: project | Label: Tern Ledger System -->\n\n## Facts\n- Counts birds\n\n"
        "## Relations\n- developed by: [[person--robin]]\n- built on: [[project--harbour]]\n"
    )
    with settled.open() as workspace:
        found = workspace.search("What do you know about the ledger project?")
        first = found.results[0]
        assert (first.id, first.signals.graph) == ("entity:project--tern", 1.0)
        assert [each.told(first.id) for each in first.relations] == [
            "developed-by › Robin",
            "built-on › Harbour",
        ]
        who = workspace.search("Who developed the ledger project?").results[0]
        assert [each.label for each in who.relations] == ["Robin"]
        assert to_json(who)["relations"] == [
            {"from": first.id, "relation": "developed-by", "to": "entity:person--robin", "label": "Robin"}
        ]
    # Where no step through the graph is wanted, nothing but what is named is reached.
    monkeypatch.setenv("WORKBENCH_GRAPH_DEPTH", "0")
    with settled.open() as workspace:
        hits = workspace.search("What do you know about the ledger project?", min_score=0).results
        assert {hit.id for hit in hits if hit.signals.graph} == {first.id}
        assert not hits[0].relations


def test_words_count_for_nothing_where_search_is_not_hybrid(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_SEARCH_HYBRID", "false")
    with settled.open() as workspace:
        hits = workspace.search("ferry to Gotland", min_score=0).results
    assert hits
    assert all(hit.score == pytest.approx(max(0.0, hit.signals.vector or 0.0), abs=0.2) for hit in hits)


def test_a_search_answers_from_the_index_as_it_is_where_it_is_not_to_look(
    settled: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found() -> bool:
        with settled.open() as workspace:
            hits = workspace.search("zeppelin", min_score=0).results
            return any("zeppelin" in hit.snippet for hit in hits)

    monkeypatch.setenv("WORKBENCH_SEARCH_SYNC_ON_SEARCH", "false")
    with settled.open() as workspace:
        # The first search of all reads what there is.
        assert workspace.search("Gotland").results
    (settled.root / "memory/2026-01-29.md").write_text("# 2026-01-29\n\nThe zeppelin flew over.\n")
    assert not found()
    with settled.open() as workspace:
        workspace.index()
    assert found()
    (settled.root / "memory/2026-01-28.md").write_text("# 2026-01-28\n\nAnother zeppelin came.\n")
    monkeypatch.setenv("WORKBENCH_SEARCH_SYNC_ON_SEARCH", "true")
    with settled.open() as workspace:
        hits = workspace.search("zeppelin", min_score=0).results
        assert any("Another" in hit.snippet for hit in hits)


@pytest.mark.parametrize("store", SEARCHED_STORES)
def test_a_search_can_be_narrowed_to_every_store(settled: AgentHome, store: str) -> None:
    with settled.open() as workspace:
        found = workspace.search("Robin lighthouse release promise backups", store=store, min_score=0)
        assert {hit.store for hit in found.results} <= {store}
        with pytest.raises(InvalidInput, match="no store"):
            workspace.search("Robin", store=store + "s")


def test_a_least_score_counts_only_where_no_budget_is_filled(settled: AgentHome) -> None:
    with settled.open() as workspace:
        few = workspace.search("Robin", min_score=0.9, max_results=1000).results
        filled = workspace.search("Robin", budget=100_000).results
        assert all(hit.score >= 0.9 for hit in few)
        assert len(filled) > len(few)


@pytest.mark.parametrize(
    "asked", [{"max_results": 0}, {"budget": -1}, {"min_score": float("nan")}, {"min_score": 1.5}]
)
def test_limits_that_make_no_sense_are_refused(settled: AgentHome, asked: dict[str, Any]) -> None:
    with settled.open() as workspace, pytest.raises(InvalidInput, match=next(iter(asked))):
        workspace.search("Robin", **asked)


def test_a_first_look_answers_with_what_was_read_and_reads_the_rest_by_itself(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch)
    with furnished.open(role="reader") as workspace:
        files = len(layout.tracked_files(furnished.root))
        first = workspace.search("ferry to Gotland", min_score=0)
        assert first.results == ()
        assert f"{files} files are not read yet" in (first.stale or "")
        assert workspace._context._reading_on.wait(None)
        workspace._context.finder._current()._background.wait(None)
        second = workspace.search("ferry to Gotland", min_score=0)
        assert second.stale is None
        assert second.results[0].id == "episode:2026-02-01:18:40"


def test_a_memory_can_be_shown_while_a_first_look_is_unfinished(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch)
    with furnished.open(role="reader") as workspace:
        workspace.search("ferry")
        assert "ferry" in workspace.show("episode:2026-02-01:18:40").text


def test_a_first_look_can_be_left_unfinished_and_goes_on_where_it_was(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        furnished.write(
            f"memory/notes/{number:03}.md", f"# Note {number}\n\nThe buoy {number} was painted.\n"
        )
    hurry(monkeypatch)
    left = []
    for _ in range(3):
        with furnished.open(role="reader") as workspace:
            workspace.search("buoy")
            left.append(len(workspace._context.unread))
    monkeypatch.undo()
    with furnished.open(role="reader") as workspace:
        assert len(workspace.search("buoy 299 was painted", min_score=0, max_results=500).results) > 0
    assert left == sorted(left, reverse=True)


def test_a_few_files_are_read_however_slow_the_machine(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieval, "_READING_SECONDS", 0.0)
    with furnished.open(role="reader") as workspace:
        assert workspace.search("ferry to Gotland", min_score=0).results


def test_on_a_first_look_each_unread_file_is_counted_once_until_none_is_left(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    hurry(monkeypatch)
    # Each file by itself, so that the count is looked at after every one.
    monkeypatch.setattr(catalog, "_FIRST_BATCH_SECONDS", 0.0)
    monkeypatch.setattr(catalog, "_BATCH_SECONDS", 0.0)
    monkeypatch.setattr(context, "_TAKEN_IN_AT_ONCE", 3)
    with furnished.open(role="reader") as workspace:
        files = len(layout.tracked_files(furnished.root))
        finder = workspace._context.finder
        left: list[int] = []

        def tell(*_: object) -> None:
            unread, gone = finder._current().files_behind()
            assert gone == 0
            left.append(unread)

        sync = workspace._context.catalog.sync

        def sync_telling(*, progress: Callable[[int, int], None] | None = None, **more: Any) -> Synced:
            def told(done: int, total: int) -> None:
                if progress is not None:
                    progress(done, total)
                tell()

            return sync(progress=told, **more)

        monkeypatch.setattr(workspace._context.catalog, "sync", sync_telling)
        workspace.search("ferry to Gotland")
        tell()
        assert workspace._context._reading_on.wait(None)
        finder._current()._background.wait(None)
        tell()
    assert left[0] == files
    assert left[-1] == 0
    assert left == sorted(left, reverse=True)
    assert len(set(left)) > 3


def test_a_changed_file_that_is_not_read_again_yet_is_counted_once(settled: AgentHome) -> None:
    with settled.open(role="reader") as workspace:
        workspace.index()
        settled.write("memory/vault/promise.md", "# Promise\n\nShare the house key code.\n")
        workspace._context.catalog.update(["memory/vault/promise.md"])
        settled.write("memory/vault/promise.md", "# Promise\n\nNever ever share the house key code.\n")
        workspace._context.refresh(cancelled=lambda: True)
        # Files written a moment ago are looked at once more, whatever stands in them.
        unread = set(workspace._context.unread)
        assert "memory/vault/promise.md" in unread
        assert workspace._context.finder._current().files_behind() == (len(unread), 0)


def test_no_vectors_are_made_while_there_are_files_to_read(
    furnished: AgentHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_MANY_STALE", 0)
    with furnished.open(role="reader") as workspace:
        context = workspace._context
        read = count()
        context.refresh(cancelled=lambda: next(read) > 6)
        assert context.unread
        context.finder.take_in(cancelled=lambda: False)
        updater = context.finder._current()
        assert updater.index.state().pending_vectors == updater.index.state().chunks > 0
        assert not updater.is_current
        context.refresh()
        updater.freshen(60)
        updater._background.wait(None)
        assert updater.index.state().pending_vectors == 0
        assert workspace.search("ferry to Gotland").stale is None
