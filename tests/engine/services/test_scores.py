"""Relevance through the door: scores against a computation of their own, and what raises, keeps and hides them."""

from __future__ import annotations

import json
import math
import random
import shutil
from dataclasses import dataclass

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE, FACT, HARBOUR, ITEM, ROBIN
from workbench.engine import Workspace, layout
from workbench.engine.errors import InvalidInput
from workbench.engine.results.decay import DecayEntry
from workbench.engine.results.memories import Score

LAMBDA = 0.03
WEIGHTS = {"core": 1.5, "episodic": 0.8, "semantic": 1.2, "procedural": 1.0}
BASES = {"user-explicit": 1.0, "conversation": 0.7, "reflection": 0.5}


@dataclass
class Expected:
    """What a memory's score should be made of, by the design document's section 9."""

    base: float
    weight: float
    count: int = 1
    day: int = 0
    pinned: bool = False
    archived: bool = False

    def raw(self, today: int) -> float:
        return (
            self.base
            * math.exp(-LAMBDA * (today - self.day))
            * (math.log(self.count + 1) / math.log(2))
            * self.weight
        )

    def value(self, today: int) -> float:
        if self.archived:
            return 0.0
        return 1.0 if self.pinned else min(1.0, self.raw(today))

    def status(self, today: int) -> str:
        if self.archived:
            return "archived"
        if self.pinned:
            return "pinned"
        value = self.value(today)
        for least, status in ((0.5, "active"), (0.2, "fading"), (0.05, "dormant")):
            if value >= least:
                return status
        return "archived"


@pytest.fixture(autouse=True)
def rate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_DECAY_LAMBDA", str(LAMBDA))


def score_of(workspace: Workspace, memory: str) -> Score:
    score = workspace.show(memory, count_access=False).score
    assert score
    return score


def entry_of(workspace: Workspace, memory: str) -> DecayEntry:
    return next(entry for entry in workspace.decay().entries if entry.id == memory)


@pytest.mark.parametrize("source", BASES)
@pytest.mark.parametrize("store", ["episodic", "procedural"])
def test_a_new_memory_starts_at_base_times_weight(settled: AgentHome, source: str, store: str) -> None:
    with settled.open("main") as workspace:
        kept = workspace.remember("1. Boil the kettle\n2. Warm the pot", store=store, source=source)
        score = score_of(workspace, kept.id)
        assert score.raw == pytest.approx(
            (BASES[source] if store == "episodic" else BASES["user-explicit"]) * WEIGHTS[store]
        )
        for days in (1, 22, 80):
            settled.clock.advance(days=days)
        ahead = score_of(workspace, kept.id)
        assert ahead.raw == pytest.approx(score.raw * math.exp(-LAMBDA * 103))
        assert ahead.terms["days"] == 103
    # A memory without a history of accesses costs the scores file nothing.
    assert kept.id not in settled.tracked().get(layout.DECAY_SCORES, b"").decode()


def test_scores_follow_the_formula_through_months_of_use(settled: AgentHome) -> None:
    chance = random.Random(9)
    expected: dict[str, Expected] = {}
    start = settled.clock.now()
    for _ in range(60):
        today = (settled.clock.now() - start).days
        with settled.open("main") as workspace:
            act = chance.choice(
                (
                    "new",
                    "new",
                    "reinforce",
                    "reinforce",
                    "show",
                    "get",
                    "pin",
                    "unpin",
                    "forget",
                    "restore",
                    "none",
                )
            )
            known = sorted(expected)
            if act == "new" or not known:
                source = chance.choice(list(BASES))
                kept = workspace.remember(
                    f"Note {len(expected)} of the {today}th day", store="episodic", source=source
                )
                expected[kept.id] = Expected(BASES[source], WEIGHTS["episodic"], day=today)
            else:
                memory = chance.choice(known)
                is_ = expected[memory]
                if act == "reinforce":
                    workspace.reinforce(memory)
                    is_.count, is_.day = is_.count + 1, today
                elif act == "show":
                    workspace.show(memory)
                    is_.count, is_.day = is_.count + 1, today
                elif act == "get":
                    shown = workspace.show(memory, count_access=False)
                    workspace.get(shown.path, from_=shown.start_line, lines=1)
                    is_.count, is_.day = is_.count + 1, today
                elif act == "pin":
                    workspace.pin(memory)
                    is_.pinned, is_.archived = True, False
                elif act == "unpin":
                    workspace.unpin(memory)
                    is_.pinned = False
                elif act == "forget":
                    workspace.forget(ids=[memory], apply=True)
                    is_.archived = True
                elif act == "restore" and is_.status(today) == "archived":
                    workspace.restore(memory)
                    is_.archived = False
                    if is_.status(today) == "archived":
                        is_.count, is_.day = is_.count + 1, today
            entries = {entry.id: entry for entry in workspace.decay().entries}
            for memory, is_ in expected.items():
                entry = entries[memory]
                assert entry.score == pytest.approx(is_.value(today), abs=1e-9), (act, memory)
                assert entry.status == is_.status(today), (act, memory)
                assert entry.access_count == is_.count, (act, memory)
                shown_score = score_of(workspace, memory)
                assert (shown_score.value, shown_score.status) == (entry.score, entry.status)
        settled.clock.advance(days=chance.choice((0, 1, 2, 5, 11)))
    with settled.open() as workspace:
        assert workspace.audit_verify().problems == ()
    statuses = {is_.status((settled.clock.now() - start).days) for is_ in expected.values()}
    assert len(statuses) >= 3


def test_days_are_those_of_the_workspaces_zone(settled: AgentHome) -> None:
    # 23:30 in Stockholm, then ten minutes past midnight there: one day, though the UTC date is the same.
    settled.clock.advance(hours=9)
    with settled.open("main") as workspace:
        kept = workspace.remember("Late at night", store="episodic")
        assert kept.id == "episode:2026-02-02:23:30"
        settled.clock.advance(minutes=40)
        assert score_of(workspace, kept.id).terms["days"] == 1
        assert workspace.remember("Past midnight", store="episodic").id == "episode:2026-02-03:00:10"


def test_being_found_is_no_access_and_being_looked_at_is_one(settled: AgentHome) -> None:
    with settled.open("reader") as workspace:
        for _ in range(3):
            workspace.search("backups midnight")
            workspace.timeline()
            workspace.decay()
            workspace.forget("backups")
        assert entry_of(workspace, EPISODE).access_count == 1
        workspace.show(EPISODE)
        assert entry_of(workspace, EPISODE).access_count == 2
        workspace.get("memory/episodes/2026-02-01.md#L3-L4")
        assert entry_of(workspace, EPISODE).access_count == 3
        assert entry_of(workspace, "episode:2026-02-01:18:40").access_count == 1
        workspace.show("Robin")
        assert entry_of(workspace, ROBIN).access_count == 2
        assert entry_of(workspace, HARBOUR).access_count == 1


@pytest.mark.parametrize(
    ("text", "origins", "store"),
    [
        (f"Robin keeps to what {EPISODE} says.", (), "episodic"),
        (f"Robin 仍按{EPISODE}所说的做。", (), "episodic"),
        ("Tea is bought on Mondays.", (EPISODE, "file:memory/2026-02-01.md#L1-L2"), "semantic"),
    ],
)
def test_what_a_new_memory_cites_is_reinforced(
    settled: AgentHome, text: str, origins: tuple[str, ...], store: str
) -> None:  # design document §9.4
    settled.clock.advance(days=4)
    with settled.open() as workspace:
        made = workspace.remember(text, store=store, origins=origins)
        cited = entry_of(workspace, EPISODE)
        assert (cited.access_count, cited.last_accessed) == (2, settled.clock.now())
        assert entry_of(workspace, (made.id or "").partition("#")[0]).access_count == 1
        workspace.undo()
        assert entry_of(workspace, EPISODE).access_count == 1
        workspace.remember("episode:2026-01-01:00:00 never was.", store="episodic")


def test_undo_takes_back_the_access_that_came_with_a_change_though_it_was_folded(settled: AgentHome) -> None:
    with settled.open() as workspace:
        workspace.remember("Robin sails at weekends", store="semantic", entities=["person:Robin"])
        assert workspace.settle().commit
        assert entry_of(workspace, ROBIN).access_count == 2
        workspace.undo()
        assert entry_of(workspace, ROBIN).access_count == 1
    folded = json.loads(settled.text("memory/meta/decay-scores.json"))["entries"].get(ROBIN, {})
    assert folded.get("access_count", 1) == 1


def test_accesses_are_folded_together_and_never_twice(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        # The first change of a day settles what waits.
        workspace.core_add("Persona", "Be kind")
        commits = len(settled.commits())
        for _ in range(20):
            workspace.show(EPISODE)
        assert len(settled.commits()) == commits
        before = score_of(workspace, EPISODE)
        settled_ = workspace.settle()
        assert settled_.ids == (EPISODE,)
        assert len(settled.commits()) == commits + 1
        assert score_of(workspace, EPISODE) == before
        assert workspace.settle().commit is None
        assert entry_of(workspace, EPISODE).access_count == 21
    stored = json.loads(settled.text(layout.DECAY_SCORES))["entries"][EPISODE]
    assert stored["access_count"] == 21
    view = settled.commit_of(settled_.commit)
    assert (view.actor, view.approval) == ("system:decay", "auto")


def test_accesses_that_were_not_folded_may_be_lost_and_nothing_else(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        workspace.show(EPISODE)
        workspace.settle()
        workspace.show(EPISODE)
    shutil.rmtree(settled.root.parent / "state")
    shutil.rmtree(settled.root.parent / "cache")
    with settled.open("main") as workspace:
        assert entry_of(workspace, EPISODE).access_count == 2
        assert workspace.search("ferry").results


def test_transitions_are_logged_once_a_day(settled: AgentHome) -> None:
    def decays() -> list[str]:
        with settled.open("reader") as reader:
            return [entry.summary for entry in reader.audit_log(action="DECAY").entries]

    with settled.open("main") as workspace:
        kept = workspace.remember("A thing of the moment", store="episodic", source="conversation")
        workspace.core_add("Persona", "Be kind")
        assert decays() == []
        settled.clock.advance(days=20)
        workspace.core_add("Persona", "Be quick")
        assert len(decays()) == 1
        assert "active→fading" in decays()[0]
        settled.clock.advance(hours=3)
        workspace.core_add("Persona", "Be calm")
        assert len(decays()) == 1
    settled.clock.advance(days=70)
    for item in ("Be still", "Be warm"):
        with settled.open("main") as workspace:
            workspace.core_add("Persona", item)
    assert len(decays()) == 2
    with settled.open("main") as workspace:
        assert entry_of(workspace, kept.id).status == "dormant" or entry_of(workspace, kept.id).score < 0.2
        assert workspace.audit_verify().problems == ()


def test_undo_passes_over_what_the_system_does_by_itself(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        workspace.remember("A thing of the moment", store="episodic", source="conversation")
        before = settled.text(layout.CORE)
        workspace.core_add("Persona", "Be kind")
        settled.clock.advance(days=30)
        workspace.show(EPISODE)
        workspace.settle()
        workspace.undo()
    assert settled.text(layout.CORE) == before


def test_status_decides_what_search_gives(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        kept = workspace.remember("The walrus met the carpenter", store="episodic", source="conversation")
        found = {0: True, 30: True, 50: False, 100: False}
        passed = 0
        for day, plain in found.items():
            settled.clock.advance(days=day - passed)
            passed = day
            hits = {hit.id for hit in workspace.search("walrus carpenter").results}
            assert (kept.id in hits) == plain, day
        score = score_of(workspace, kept.id)
        assert score.status == "archived"
        assert not workspace.search("walrus carpenter", include_dormant=True).results
        workspace.restore(kept.id)
        assert score_of(workspace, kept.id).status in ("active", "fading", "dormant")
        assert workspace.search("walrus carpenter", include_dormant=True).results[0].id == kept.id


def test_forgetting_hides_and_restoring_shows_again(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        workspace.graph_link("Harbour", "depends-on", "Robin")
        everything = settled.tracked()
        preview = workspace.forget("backups at midnight")
        assert not preview.applied
        assert settled.tracked() == everything
        assert EPISODE in {match.id for match in preview.matches}
        for memory in (EPISODE, ROBIN, "vault:promise.md", "procedure:how-to-release", ITEM):
            score_before = score_of(workspace, memory)
            settled.clock.advance(minutes=1)
            gone = workspace.forget(ids=[memory], apply=True)
            assert gone.applied
            assert gone.ids[0] == memory
            if memory == ITEM:
                assert "harbour" not in settled.text(layout.CORE)
            else:
                assert score_of(workspace, memory).value == 0.0
                assert score_of(workspace, memory).status == "archived"
                # Its file is as it was.
                assert {p: c for p, c in settled.tracked().items() if p != layout.DECAY_SCORES} == {
                    p: c for p, c in everything.items() if p != layout.DECAY_SCORES
                }
            hits = {
                hit.id
                for word in ("backups midnight", "Robin", "house key code", "release", "database harbour")
                for hit in workspace.search(word, include_dormant=True).results
            }
            assert memory not in hits
            assert ("| person--robin |" in settled.text(layout.GRAPH_INDEX)) == (memory != ROBIN)
            back = workspace.restore(memory)
            assert back.commit
            assert back.ids == (memory,)
            after = score_of(workspace, memory)
            assert (after.value, after.status) == (score_before.value, score_before.status)
            assert workspace.restore(memory).commit is None if memory != ITEM else True
        assert "| person--robin |" in settled.text(layout.GRAPH_INDEX)


def test_one_fact_of_an_entity_is_forgotten_by_itself(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        (match,) = workspace.forget("drinks tea in the morning").matches
        assert match.id == FACT
        before = settled.tracked()
        assert workspace.forget(ids=[FACT], apply=True).ids == (FACT,)
        assert score_of(workspace, FACT).status == "archived"
        assert score_of(workspace, ROBIN).status == "active"
        assert all("tea" not in hit.snippet for hit in workspace.search("tea morning").results)
        assert all("tea" not in hit.snippet for hit in workspace.search("Robin lighthouses").results)
        assert "Drinks tea" not in {fact.text for fact in workspace.graph("Robin").facts}
        assert workspace.forget("drinks tea in the morning").matches == ()
        assert workspace.restore(FACT).ids == (FACT,)
        assert score_of(workspace, FACT).status == "active"
        assert workspace.search("tea morning").results[0].id == ROBIN
        workspace.undo()
        workspace.undo()
        assert settled.tracked() == before


def test_hard_deletion_takes_the_text_out_of_every_file(settled: AgentHome) -> None:
    word = "xylophone"
    with settled.open() as workspace:
        kept = workspace.remember(f"Robin bought a {word} in Visby", store="episodic")
        workspace.reinforce(kept.id)
        gone = workspace.forget(ids=[kept.id], apply=True, hard=True)
        assert gone.applied
        assert workspace.search(word, include_dormant=True).results == ()
        assert workspace.audit_verify().problems == ()
        for path, content in settled.tracked().items():
            assert word.encode() not in content, path
            assert kept.id.encode() not in content, path
        workspace.undo()
        assert workspace.search(word).results[0].id == kept.id


@pytest.mark.parametrize("memory", [EPISODE, ROBIN, "procedure:how-to-release", ITEM])
def test_a_pin_holds_the_years_off(settled: AgentHome, memory: str) -> None:
    with settled.open("main") as workspace:
        assert workspace.pin(memory).ids == (memory,)
        assert workspace.pin(memory).commit is None
        settled.clock.advance(days=1000)
        assert (score_of(workspace, memory).value, score_of(workspace, memory).status) == (1.0, "pinned")
        workspace.unpin(memory)
        assert score_of(workspace, memory).status == "archived"
        assert workspace.unpin(memory).commit is None


def test_the_vault_never_decays_and_cannot_be_unpinned(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        settled.clock.advance(days=4000)
        score = score_of(workspace, "vault:promise.md")
        assert (score.value, score.status) == (1.0, "pinned")
        assert workspace.pin("vault:promise.md").commit is None
        with pytest.raises(InvalidInput):
            workspace.unpin("vault:promise.md")


def test_adopted_memories_count_from_their_adoption(furnished: AgentHome) -> None:
    furnished.clock.advance(days=300)
    with furnished.open("reader") as workspace:
        assert entry_of(workspace, ITEM).status == "active"
    furnished.init()
    furnished.clock.advance(days=10)
    furnished.write("memory/procedures/how-to-bake.md", "# How to bake\n\n## Steps\n1. Heat\n")
    with furnished.open("main") as workspace:
        workspace.adopt()
        workspace.refresh()
        assert score_of(workspace, ITEM).terms["days"] == 10
        assert score_of(workspace, "procedure:how-to-bake").terms["days"] == 0
        furnished.clock.advance(days=5)
        assert score_of(workspace, ITEM).terms["days"] == 15
        assert score_of(workspace, "procedure:how-to-bake").terms["days"] == 5


APOLLO = "memory/graph/entities/project--apollo.md"
DEPLOY = "memory/procedures/how-to-deploy.md"


def test_accesses_that_files_tell_of_are_counted(settled: AgentHome) -> None:
    """The headers are those of design document §6.2 and §7."""
    settled.write(
        APOLLO,
        "# project--apollo\n\n<!-- Type: project | Created: 2026-01-15 | Last updated: 2026-01-30 -->\n"
        "<!-- Decay score: 0.95 | Access count: 14 | Pinned: no -->\n\n## Facts\n- Routing: by a model\n",
    )
    settled.write(
        DEPLOY,
        "# how-to-deploy.md\n\n<!-- Type: procedure | Learned: 2026-01-25 | Last used: 2026-01-30 -->\n"
        "<!-- Decay score: 0.85 | Access count: 3 -->\n\n## Steps\n1. Run the tests\n",
    )
    written = {path: settled.text(path) for path in (APOLLO, DEPLOY)}
    with settled.open("reader") as workspace:
        for memory, count in (("entity:project--apollo", 14), ("procedure:how-to-deploy", 3)):
            entry = entry_of(workspace, memory)
            assert (entry.access_count, entry.last_accessed.date().isoformat()) == (count, "2026-01-30")
            assert score_of(workspace, memory).terms["accessCount"] == count
    with settled.open() as workspace:
        workspace.reinforce("entity:project--apollo")
        assert entry_of(workspace, "entity:project--apollo").access_count == 15
        past = {each.id: each.score.terms["accessCount"] for each in workspace.at("today").scores()}
        assert (past["entity:project--apollo"], past["procedure:how-to-deploy"]) == (15, 3)
    assert {path: settled.text(path) for path in written} == written
    # What the scores file has is later; another program that counts on is believed again.
    settled.write(APOLLO, written[APOLLO].replace("count: 14", "count: 20"))
    with settled.open("reader") as workspace:
        assert entry_of(workspace, "entity:project--apollo").access_count == 15
    settled.clock.advance(days=9)
    settled.write(APOLLO, settled.text(APOLLO).replace("updated: 2026-01-30", "updated: 2026-02-09"))
    with settled.open("reader") as workspace:
        assert entry_of(workspace, "entity:project--apollo").access_count == 20


def test_a_forecast_is_what_comes_if_nobody_touches_it(settled: AgentHome) -> None:
    with settled.open("main") as workspace:
        view = workspace.decay(forecast=(0, 7, 40))
        foretold = {entry.id: entry.forecast or {} for entry in view.entries}
        settled.clock.advance(days=40)
        for entry in workspace.decay().entries:
            assert entry.score == pytest.approx(foretold[entry.id]["40"])
        other = workspace.decay(lambda_=0.5)
        assert other.lambda_ == 0.5
        assert any(entry.would_be != entry.status for entry in other.entries)
        with pytest.raises(InvalidInput):
            workspace.decay(forecast=(-1,))


@pytest.mark.parametrize("role", ["person", "main", "agent:scout", "reader"])
def test_the_words_of_what_is_forgotten_reach_no_agent(settled: AgentHome, role: str) -> None:
    with settled.open() as workspace:
        kept = workspace.remember("The pelican sleeps in the bathtub", store="episodic")
        assert "bathtub" in str(workspace.search("pelican"))
        workspace.forget(ids=[kept.id], apply=True)
    with settled.open(role) as workspace:
        for include_dormant in (False, True):
            found = workspace.search("pelican", explain=True, include_dormant=include_dormant)
            (cut,) = (cut for cut in found.cuts if cut.id == kept.id)
            assert cut.reason == "archived"
            assert ("bathtub" in str(found)) is (role == "person")


def test_purging_leaves_the_text_nowhere(settled: AgentHome) -> None:
    word = "xylophone"
    with settled.open() as workspace:
        kept = workspace.remember(f"Robin bought a {word} in Visby", store="episodic")
        workspace.remember("The tram was late", store="episodic")
        workspace.show(kept.id)
        workspace.search(word)
        # QMD searched once, and was let go of again: its index holds the texts themselves.
        (cached,) = (settled.root.parent / "cache").iterdir()
        (cached / "qmd").mkdir()
        (cached / "qmd/index.sqlite").write_text(f"Robin bought a {word} in Visby")
        before = len(settled.commits())
        workspace.forget(ids=[kept.id], apply=True, purge_history=True)
        assert workspace.search(word, include_dormant=True).results == ()
        assert workspace.audit_verify().problems == ()
        assert workspace.audit_alerts().alerts == ()
        assert {entry.action for entry in workspace.audit_log(limit=3).entries} & {"PURGE", "DELETE"}
    assert len(settled.commits()) >= before
    objects = settled.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    for name in objects:
        assert word not in settled.git("cat-file", "-p", name), name
    for folder in (settled.root, settled.root.parent / "state", settled.root.parent / "cache"):
        for place in folder.rglob("*"):
            if place.is_file():
                assert word.encode() not in place.read_bytes(), place
