"""What is taken back leaves nothing behind, and takes no access along that was made meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.callings import EPISODE, HARBOUR, ITEM, ROBIN
from tests.isolation import isolate
from workbench.engine import Workspace, layout

HOW_TO, FERRY = "procedure:how-to-release", "episode:2026-02-01:18:40"
KIM, VISBY = "entity:person--kim", "entity:place--visby"
PROPOSAL = (
    "<!-- reflection: r-001 | created: 2026-01-20 -->\n## A\n"
    "- [x] `r-001.1` fact for [[person--robin]]: Walks to work\n"
    f'  - {EPISODE} says "Backups run at midnight."\n'
    f'  - {HARBOUR}#^lang says "Harbour is written in Rust"\n'
    "- [x] `r-001.2` fact for [[project--harbour]]: Has a pier\n"
    f'  - {EPISODE} says "Backups run at midnight."\n'
    f'  - {ROBIN}#^tea1 says "Drinks tea in the morning"\n'
)


def elsewhere(workspace: Workspace) -> Path:
    folder = workspace.root.parent / "elsewhere"
    folder.mkdir(exist_ok=True)
    (folder / "recipes.md").write_text("# Recipes\n\nBoil the water first.\n", encoding="utf-8")
    return folder


ACTIONS: dict[str, Callable[[Workspace], object]] = {
    "remember": lambda w: w.remember("Robin sails", store="episodic", entities=["person:Robin"]),
    "learn": lambda w: w.remember(
        "Robin likes Harbour", store="semantic", entities=["person:Robin", "project:Harbour"]
    ),
    "forget": lambda w: w.forget(ids=[EPISODE], apply=True),
    "forget for good": lambda w: w.forget(ids=[FERRY], apply=True, hard=True),
    "pin": lambda w: w.pin(EPISODE, HARBOUR),
    "pin the item": lambda w: w.pin(ITEM),
    "merge": lambda w: w.graph_merge(KIM, VISBY),
    "import": lambda w: w.import_from(elsewhere(w)),
    "apply": lambda w: w.review_apply(),
}
ACCESSES: dict[str, Callable[[Workspace], object]] = {
    "get": lambda w: w.get(f"{layout.PROCEDURES}/how-to-release.md"),
    "show an episode": lambda w: w.show(EPISODE),
    "show an entity": lambda w: w.show(ROBIN),
    "show a fact": lambda w: w.show(f"{HARBOUR}#^lang"),
    "reinforce": lambda w: w.reinforce(HARBOUR, HOW_TO),
    "settle": lambda w: w.settle(),
}
STEPS = st.lists(
    st.tuples(st.sampled_from([*ACTIONS, *ACCESSES]), st.sampled_from([0, 1, 40, 3000])),
    min_size=1,
    max_size=9,
)
_numbers = itertools.count()


def home_in(folder: Path) -> AgentHome:
    home = AgentHome(folder)
    home.furnish()
    home.init()
    with home.open() as workspace:
        workspace.graph_add("person", "Kim")
        workspace.graph_add("place", "Visby")
    home.clock.advance(days=1)
    home.write(layout.PENDING_REFLECTION, PROPOSAL)
    with home.open() as workspace:
        workspace.adopt()
    return home


def scores(workspace: Workspace) -> dict[str, tuple[object, ...]]:
    """Return what a score is made of, for every memory that has one."""
    return {
        one.id: (one.access_count, one.created, one.last_accessed, one.pinned, one.raw, one.score, one.status)
        for one in workspace.decay().entries
    }


def files(home: AgentHome) -> dict[str, bytes]:
    return {path: content for path, content in home.tracked().items() if path != layout.DECAY_SCORES}


def walk(
    home: AgentHome, steps: list[tuple[str, int]], *, acts: bool, whole: bool = False
) -> dict[str, tuple[object, ...]]:
    """Take the steps, and take back those that act, or leave these out; return the scores."""
    done: dict[str, str] = {}
    with home.open() as workspace:
        for name, minutes in steps:
            home.clock.advance(minutes=minutes)
            if name in ACCESSES:
                ACCESSES[name](workspace)
            elif acts and name not in done:
                before = workspace.head()
                ACTIONS[name](workspace)
                done[name] = action_of(workspace, before)
        for commit in reversed(done.values()):
            workspace.revert(commit, whole=whole)
        return scores(workspace)


def action_of(workspace: Workspace, before: str | None) -> str:
    """Return the commit since another one that is no upkeep."""
    commits = list(workspace.history_line().commits)
    since = commits[commits.index(str(before)) + 1 :]
    return next(each for each in since if not workspace.audit_show(each).actor.startswith("system:"))


@given(STEPS, st.booleans())
@example([("apply", 1), ("settle", 0)], True)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_taken_back_might_never_have_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: list[tuple[str, int]], whole: bool
) -> None:
    number = next(_numbers)
    (tmp_path / f"own{number}").mkdir()
    isolate(tmp_path / f"own{number}", monkeypatch, timezone="Europe/Stockholm")
    home, twin = home_in(tmp_path / f"a{number}/agent"), home_in(tmp_path / f"b{number}/agent")
    assert walk(home, steps, acts=True, whole=whole) == walk(twin, steps, acts=False)
    assert files(home) == files(twin)
    assert home.clock.now() == twin.clock.now()
