"""Memory as it was, what differs, and going back, through the door of a real workspace."""

from __future__ import annotations

import json

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import layout
from workbench.engine.errors import Cancelled, InvalidInput, NotFound
from workbench.engine.steps import Progress

DAY = "memory/episodes/2026-02-01.md"
EPISODE = "episode:2026-02-01:09:15"
ROBIN, HARBOUR = "entity:person--robin", "entity:project--harbour"
FACT = f"{ROBIN}#^tea1"
ITEM = "core:critical-facts:the-production-database-is-called"


@pytest.fixture
def lived(settled: AgentHome) -> tuple[AgentHome, str]:
    """A home in which much has changed since a commit, and that commit."""
    with settled.open() as workspace:
        first = workspace.head()
    assert first is not None
    settled.clock.advance(days=1)
    with settled.open() as workspace:
        day = settled.text(DAY)
        workspace.edit_file(DAY, day.replace("midnight", "noon"))
        workspace.edit(FACT, "Drinks coffee in the morning")
        workspace.core_replace(ITEM, "The production database is called anchor")
        workspace.pin(HARBOUR)
        workspace.remember("Robin sold the bicycle", store="episodic")
    return settled, first


def test_the_line_begins_with_the_first_commit_and_ends_with_the_newest(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        line = workspace.history_line()
        assert line.commits[0] == first
        assert line.commits[-1] == workspace.head()
        assert len(line.commits) == len(line.seconds) == len(line.actors)
        assert line.actors[0] == "system:init"


def test_what_was_said_then_is_shown_as_it_was(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        past = workspace.at(first)
        assert past.show(EPISODE).text == "Backups run at midnight."
        assert past.show(FACT).text == "Drinks tea in the morning"
        assert "harbour" in next(i.text for b in past.core().blocks for i in b.items if i.id == ITEM)
        assert workspace.show(EPISODE).text == "Backups run at noon."


def test_the_past_of_the_newest_commit_is_the_present(lived: tuple[AgentHome, str]) -> None:
    home, _ = lived
    with home.open() as workspace:
        past = workspace.at(workspace.head() or "")
        for depth in (0, 1, 2):
            now, then = workspace.graph(ROBIN, depth=depth), past.graph(ROBIN, depth=depth)
            assert {n.id: n.hop for n in then.nodes} == {n.id: n.hop for n in now.nodes}
            assert {(e.from_, e.relation, e.to) for e in then.edges} == {
                (e.from_, e.relation, e.to) for e in now.edges
            }
        assert past.core() == workspace.core()
        assert [m.id for m in past.scores()] == [e.id for e in workspace.decay().entries]


def test_a_relation_that_led_here_then_is_found_though_it_is_gone(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        workspace.forget(ids=[f"{ROBIN}#^dev1"], apply=True, hard=True)
        assert [n.id for n in workspace.graph(HARBOUR).nodes] == [HARBOUR]
        assert {n.id for n in workspace.at(first).graph(HARBOUR).nodes} == {HARBOUR, ROBIN}
        assert ROBIN in workspace.at(first).show(HARBOUR).links.from_


def test_a_comparison_tells_what_differs_memory_by_memory(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        told = {(m.id, m.change) for m in workspace.compare(first).memories}
    assert (EPISODE, "changed") in told
    assert (FACT, "changed") in told
    assert (HARBOUR, "scored") in told
    assert ("episode:2026-02-03:14:30", "added") in told
    assert (ROBIN, "changed") not in told


def test_a_comparison_tells_a_pin_where_it_was_set_and_not_where_it_is_noted(settled: AgentHome) -> None:
    pinned = "core:critical-facts:robin-is-allergic-to-penicillin"
    with settled.open() as workspace:
        first = workspace.head() or ""
        workspace.pin(ITEM)
        later = workspace.head() or ""
        (told,) = workspace.compare(first).memories
        assert (told.id, told.change) == (ITEM, "scored")
        entry = {
            "store": "core",
            "base_relevance": 1.0,
            "created": "2026-02-01T08:00:00Z",
            "last_accessed": "2026-02-02T08:00:00Z",
            "access_count": 2,
            "type_weight": 1.5,
            "current_score": 1.0,
            "status": "active",
            "pinned": True,
        }
        entries = {"version": 1, "entries": {pinned: entry, ITEM: entry, "vault:promise.md": entry}}
        settled.write(layout.DECAY_SCORES, json.dumps(entries))
        workspace.adopt()
        assert layout.DECAY_SCORES in {file.path for file in workspace.compare(later).files}
        assert workspace.compare(later).memories == ()
        entries["entries"] = {HARBOUR: entry}
        settled.write(layout.DECAY_SCORES, json.dumps(entries))
        workspace.adopt()
        assert [(m.id, m.change) for m in workspace.compare(later).memories] == [(HARBOUR, "scored")]


def test_a_comparison_with_now_sees_what_nobody_has_committed(lived: tuple[AgentHome, str]) -> None:
    home, _ = lived
    home.write("memory/vault/promise.md", "# Promise\n\nNever lend the boat.\n")
    with home.open("reader") as workspace:
        compared = workspace.compare(workspace.head() or "")
    assert [(m.id, m.change) for m in compared.memories] == [("vault:promise.md", "changed")]


def test_one_memory_goes_back_and_all_else_stays(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        before = home.tracked()
        for memory, said in ((EPISODE, "Backups run at midnight."), (FACT, "Drinks tea in the morning")):
            changed = workspace.rollback(memory=f"{memory}@{first}")
            assert changed.commit is not None
            assert workspace.show(memory).text == said
            workspace.undo()
            assert home.tracked() == before


def test_everything_goes_back_to_a_commit_that_shares_its_second(lived: tuple[AgentHome, str]) -> None:
    home, _ = lived
    with home.open() as workspace:
        line = workspace.history_line()
        assert line.seconds[-1] == line.seconds[-2]
        goal = line.commits[-2]
        workspace.rollback(to=goal)
        assert {f.path: f.blob for f in workspace.at(goal).moment.files if "decay" not in f.path} == {
            f.path: f.blob for f in workspace.at("HEAD").moment.files if "decay" not in f.path
        }


def test_what_was_not_there_then_is_put_away(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        changed = workspace.rollback(memory=f"episode:2026-02-03:14:30@{first}")
        assert changed.warnings
        score = workspace.show("episode:2026-02-03:14:30").score
        assert score is not None
        assert score.status == "archived"
        with pytest.raises(NotFound):
            workspace.rollback(memory=f"entity:person--nobody@{first}")


def test_times_and_days_name_moments(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        assert workspace.at("2026-02-02").commit == first
        assert workspace.at("now").commit == workspace.head()
        assert workspace.at("12h").commit == first
        assert workspace.at("2 Feb").commit == first
        assert workspace.at("a day ago").commit == first
        assert workspace.at("first").commit == workspace.history_line().commits[0]
        for missing in ("2026-01-01", "two months ago", "1 feb 2026 08:00"):
            with pytest.raises(NotFound, match="begins"):
                workspace.at(missing)
        with pytest.raises(InvalidInput) as error:
            workspace.at("soon")
        assert error.value.message == "“soon” is neither a commit nor a time."
        assert error.value.where is None


def test_a_comparison_is_in_the_order_of_stores_and_turns_round(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        head = workspace.head() or ""
        forth, back = workspace.compare(first, head), workspace.compare(head, first)
    stores = [change.store for change in forth.memories]
    order = ["core", "episodic", "semantic", "procedural", "vault", "file"]
    assert stores == sorted(stores, key=order.index)
    opposite = {"added": "removed", "removed": "added", "changed": "changed", "scored": "scored"}
    assert {(m.id, m.before, m.after, m.change) for m in forth.memories} == {
        (m.id, m.after, m.before, opposite[m.change]) for m in back.memories
    }
    assert (forth.from_, forth.to) == (first, head)


def test_an_entity_that_came_is_told_whole(lived: tuple[AgentHome, str]) -> None:
    home, _ = lived
    with home.open() as workspace:
        before = workspace.head() or ""
        workspace.graph_add("tool", "Press")
        workspace.graph_add_fact("Press", "Is made of iron")
        (told,) = workspace.compare(before).memories
        assert (told.id, told.change, told.before, told.title) == (
            "entity:tool--press",
            "added",
            None,
            "Press",
        )
        assert "Is made of iron" in (told.after or "")
        (fact,) = workspace.compare(workspace.history_line().commits[-2]).memories
        assert fact.id.startswith("entity:tool--press#^")
        (file,) = workspace.compare(before).files
        assert file.change == "added"


def test_nothing_differs_from_oneself(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        compared = workspace.compare(first, first)
        assert not compared.files
        assert not compared.memories
        assert not workspace.compare("HEAD").memories


def test_an_edit_back_to_what_was_is_no_difference(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    with home.open() as workspace:
        held = workspace.at(first).get(DAY)
    (home.root / DAY).write_bytes(held)
    with home.open("reader") as workspace:
        assert DAY not in {file.path for file in workspace.compare(first).files}


def test_a_comparison_tells_how_far_it_is_and_is_called_off(lived: tuple[AgentHome, str]) -> None:
    home, first = lived
    told: list[Progress] = []
    with home.open() as workspace:
        whole = workspace.compare(first, progress=told.append)
        count = len(whole.files)
        assert told == [
            Progress(phase, done, count) for phase in ("reading", "comparing") for done in (0, count)
        ]
        for asked in (0, 1, 2):
            told.clear()
            answers = iter([*[False] * asked, True])
            with pytest.raises(Cancelled, match="called off"):
                workspace.compare(first, progress=told.append, cancelled=answers.__next__)
            assert [each.phase for each in told] == ["reading"] * asked
        assert workspace.compare(first) == whole


def test_a_moment_that_is_kept_does_not_change_with_now(settled: AgentHome) -> None:
    with settled.open() as workspace:
        past = workspace.at(workspace.head() or "")
        fresh = workspace.at(workspace.head() or "")
        # Asked before anything changes, which is when it learns what it need not read.
        past.graph(ROBIN, depth=0)
        workspace.edit(FACT, "Drinks coffee in the morning")
        assert past.graph(HARBOUR) == fresh.graph(HARBOUR)
        assert {edge.from_ for edge in past.graph(HARBOUR).edges} >= {ROBIN}
        assert past.show(HARBOUR).links == fresh.show(HARBOUR).links
