"""A past score is what a workspace would have told that stood at that commit, knowing nothing of what came later."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE, FACT, HARBOUR, ITEM, ROBIN
from tests.engine.services.test_past_bytes import checkout, read_all
from workbench.engine import FixedClock, Workspace
from workbench.engine.errors import WorkbenchError
from workbench.engine.results.memories import Score

CORE = "MEMORY.md"
DAY = "memory/episodes/2026-02-01.md"
UPPSALA = "core:identity:lives-in-uppsala"
PLACES = count()


def stood(home: AgentHome, commit: str, folder: Path) -> dict[str, tuple[float, str]]:
    """Return all scores that a workspace tells whose newest commit is this one, and whose clock stands at its time."""
    place = folder / f"then-{next(PLACES)}"
    files = checkout(home.root, commit, place)
    shutil.copytree(home.root / ".audit", place / ".audit")
    then = AgentHome.__new__(AgentHome)
    then.root = place
    then.git("update-ref", then.git("symbolic-ref", "HEAD").strip(), commit)
    with home.open("reader") as workspace:
        past = workspace.at(commit)
        past.copy_to(place.with_suffix(".copy"))
        assert read_all(place.with_suffix(".copy")) == files
        clock = FixedClock(past.timestamp)
    with Workspace.open(place, role="reader", clock=clock) as workspace:
        assert workspace.head() == commit
        return {entry.id: (entry.score, entry.status) for entry in workspace.decay().entries}


def told(workspace: Workspace, commit: str) -> dict[str, tuple[float, str]]:
    return {one.id: (one.score.value, one.score.status) for one in workspace.at(commit).scores()}


def score(workspace: Workspace, commit: str, memory: str) -> Score:
    (one,) = workspace.at(commit).scores([memory])
    return one.score


def assert_as_it_stood(home: AgentHome, commits: list[str], folder: Path) -> None:
    for commit in commits:
        expected = stood(home, commit, folder)
        with home.open("reader") as workspace:
            assert told(workspace, commit).keys() == expected.keys()
            for memory, (value, status) in told(workspace, commit).items():
                assert value == pytest.approx(expected[memory][0], abs=1e-12), (commit, memory)
                assert status == expected[memory][1], (commit, memory)


def merge(home: AgentHome, path: str, text: str) -> tuple[str, str]:
    """Merge a branch as another program does; return the commit beside the line, and the merge."""
    home.write(path, text)
    home.git("add", "-f", path)
    tree = home.git("write-tree").strip()
    with home.open("reader") as workspace:
        store = workspace._context.history.store
        head = workspace.head() or ""
        made = [head]
        for said in ("beside", "merged"):
            home.clock.advance(days=2)
            made.append(
                store.write_commit(
                    tree, made, said, author="manual", email="a@example.org", moment=home.clock.now()
                )
            )
        store.move_head(made[2], expected=head)
    return made[1], made[2]


def lives(home: AgentHome, chance: random.Random) -> list[Callable[[Workspace], object]]:
    """Return what may happen in a life."""

    def outside(path: str, change: Callable[[str], str]) -> Callable[[Workspace], object]:
        def edit(workspace: Workspace) -> object:
            home.write(path, change(home.text(path) if (home.root / path).exists() else ""))
            return workspace.adopt()

        return edit

    number = count(1)
    return [
        lambda w: w.remember(f"Robin heard of {next(number)} boats", store="episodic"),
        lambda w: w.core_add("Persona", f"Be patient with {next(number)} boats"),
        lambda w: w.reinforce(chance.choice([EPISODE, ROBIN, HARBOUR])),
        lambda w: w.pin(chance.choice([EPISODE, HARBOUR])),
        lambda w: w.unpin(chance.choice([EPISODE, HARBOUR])),
        lambda w: w.forget(ids=[chance.choice([EPISODE, UPPSALA, ITEM, FACT])], apply=True),
        lambda w: w.restore(chance.choice([EPISODE, FACT])),
        lambda w: w.forget(ids=[EPISODE], apply=True, hard=True),
        lambda w: w.graph_add("person", f"Kim {next(number)}"),
        lambda w: w.graph_merge("Robin", chance.choice(w.graph_entities().entities).id),
        lambda w: w.graph_unmerge(HARBOUR),
        lambda w: w.edit(FACT, f"Drinks {next(number)} cups"),
        lambda w: w.rollback(memory=f"{EPISODE}@{chance.choice(w.history_line().commits)}"),
        lambda w: w.undo(),
        lambda w: w.redo(),
        lambda w: w.rollback(to=chance.choice(w.history_line().commits)),
        lambda w: w.rollback(file=f"{CORE}@{chance.choice(w.history_line().commits)}"),
        outside(CORE, lambda text: text + f"- Noted by hand {next(number)}\n"),
        outside(CORE, lambda text: re.sub(r"- Lives in .*\n", "", text)),
        outside(CORE, lambda text: text.replace("- Name: Robin\n", "- Name: Robin\n- Lives in Uppsala\n")),
        outside("memory/vault/plan.md", lambda text: f"# Plan {next(number)}\n\nBuild a boat.\n"),
        outside(f"memory/graph/entities/person--{next(number)}.md", lambda text: text + "- Likes boats\n"),
        outside("memory/procedures/row.md", lambda text: text + "# Row\n\n## Steps\n1. Pull\n"),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_a_random_life_are_those_of_then(settled: AgentHome, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    acts = lives(settled, chance)
    for _ in range(26):
        settled.clock.advance(hours=chance.choice([1, 20, 200, 400]))
        with settled.open() as workspace:
            try:
                chance.choice(acts)(workspace)
            except WorkbenchError:
                # What is gone cannot be pinned, and nothing is there to undo.
                continue
    with settled.open() as workspace:
        commits = list(workspace.history_line().commits)
    assert len(commits) > 10
    assert_as_it_stood(settled, chance.sample(commits, 5), tmp_path)


def test_what_has_just_been_written_is_as_old_as_it_is(settled: AgentHome) -> None:
    with settled.open() as workspace:
        settled.clock.advance(days=3)
        workspace.core_add("Persona", "Be patient")
    with settled.open() as workspace:
        settled.clock.advance(days=7)
        # Its own commit is known to no catalog yet.
        later = workspace.remember("Robin heard of a boat", store="episodic").commit or ""
        assert score(workspace, later, "core:persona:be-patient").terms["days"] == 7


def test_what_was_purged_is_known_to_no_past(settled: AgentHome, tmp_path: Path) -> None:
    with settled.open() as workspace:
        settled.clock.advance(days=9)
        kept = workspace.remember("Robin keeps a secret boat", store="episodic").id
        settled.clock.advance(days=9)
        workspace.core_add("Persona", "Be patient")
        settled.clock.advance(days=9)
        workspace.forget(ids=[kept], apply=True, hard=True, purge_history=True)
        commits = list(workspace.history_line().commits)
        assert all(kept not in told(workspace, commit) for commit in commits)
    assert_as_it_stood(settled, commits, tmp_path)


def test_a_day_of_adoption_counts_from_the_commit_that_tells_it(settled: AgentHome, tmp_path: Path) -> None:
    """An agent noted it, it was lost, and a person wrote it down again: only then was it taken in."""
    with settled.open("main") as workspace:
        workspace.remember("Robin saw a boat", store="episodic")
        first = workspace.head() or ""
    text, episode = settled.text("memory/episodes/2026-02-02.md"), "episode:2026-02-02:14:30"
    with settled.open() as workspace:
        settled.clock.advance(days=10)
        before = workspace.core_add("Persona", "Be patient").commit or ""
        (settled.root / "memory/episodes/2026-02-02.md").unlink()
        settled.clock.advance(days=10)
        workspace.adopt()
        settled.clock.advance(days=10)
        settled.write("memory/episodes/2026-02-02.md", text.replace("a boat", "a blue boat"))
        again = workspace.adopt().commit or ""
    settled.clock.advance(days=5)
    with settled.open() as workspace:
        (now,) = (entry for entry in workspace.decay().entries if entry.id == episode)
        assert (settled.clock.now() - now.last_accessed).days == 5
        then = [score(workspace, commit, episode).terms["days"] for commit in (first, before, again)]
        assert then == [0, 10, 0]
    assert_as_it_stood(settled, [first, before, again], tmp_path)


def test_a_clock_that_was_set_back_forgets_no_adoption(settled: AgentHome, tmp_path: Path) -> None:
    settled.clock.advance(days=30)
    with settled.open() as workspace:
        settled.write("memory/vault/plan.md", "# Plan\n\nBuild a boat.\n")
        settled.write(CORE, settled.text(CORE) + "- Written by hand\n")
        taken_in = workspace.adopt().commit or ""
        settled.clock.moment -= timedelta(days=12)
        back = workspace.core_add("Persona", "Be patient").commit or ""
        for commit in (taken_in, back):
            # What was taken in on a day that has not come yet is as fresh as can be.
            assert score(workspace, commit, "core:critical-facts:written-by-hand").terms["days"] == 0
    assert_as_it_stood(settled, [taken_in, back], tmp_path)


def test_a_commit_beside_the_line_is_looked_at_as_well(settled: AgentHome, tmp_path: Path) -> None:
    settled.clock.advance(days=3)
    with settled.open() as workspace:
        workspace.core_add("Persona", "Be patient")
    side, merged = merge(settled, CORE, settled.text(CORE) + "- Written beside\n")
    with settled.open() as workspace:
        assert side not in workspace.history_line().commits
        assert merged in workspace.history_line().commits
        assert told(workspace, side).keys() == told(workspace, merged).keys()
    assert_as_it_stood(settled, [side, merged], tmp_path)


def test_the_age_of_a_memory_does_not_hang_on_a_cache(settled: AgentHome, tmp_path: Path) -> None:
    def seen() -> tuple[list[tuple[str, float, int, object, object]], list[dict[str, tuple[float, str]]]]:
        with settled.open("reader") as workspace:
            commits = workspace.history_line().commits
            entries = workspace.decay().entries
            return (
                [(one.id, one.score, one.access_count, one.created, one.last_accessed) for one in entries],
                [told(workspace, commit) for commit in commits],
            )

    with settled.open() as workspace:
        settled.clock.advance(days=15)
        workspace.remember("Robin likes plums", store="episodic")
        settled.clock.advance(days=15)
        added = workspace.core_add("Persona", "Be patient").commit or ""
        settled.clock.advance(days=5)
        settled.write(CORE, settled.text(CORE).replace("- Lives in Uppsala\n", ""))
        (settled.root / "memory/vault/promise.md").unlink()
        workspace.adopt()
        settled.clock.advance(days=30)
        # Since the first commit, though the line is no more; and since its own, though the file is older.
        assert score(workspace, added, UPPSALA).terms["days"] == 30
        assert score(workspace, added, "core:persona:be-patient").terms["days"] == 0
    with_cache = seen()
    shutil.rmtree(tmp_path / "cache")
    assert seen() == with_cache


def test_lost_contents_of_the_first_commit_cost_their_days_alone(settled: AgentHome, tmp_path: Path) -> None:
    settled.clock.advance(days=20)
    blob = settled.git("rev-parse", f"HEAD:{DAY}").strip()
    with settled.open() as workspace:
        settled.write(DAY, settled.text(DAY).replace("midnight", "noon"))
        workspace.adopt()
    settled.clock.advance(days=20)
    loose = settled.root / ".audit/objects" / blob[:2] / blob[2:]
    loose.chmod(0o644)
    loose.write_bytes(b"rot")
    shutil.rmtree(tmp_path / "cache")
    with settled.open("reader") as workspace:
        ages = {
            entry.id: (settled.clock.now() - entry.last_accessed).days for entry in workspace.decay().entries
        }
    assert ages[UPPSALA] == ages[ROBIN] == 40
