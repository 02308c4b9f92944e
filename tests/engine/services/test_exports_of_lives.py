"""Random lives, exported and imported into an empty workspace: what comes out is what went in."""

from __future__ import annotations

import random
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from tests.engine.services.test_exports import memory_of, scores_of
from workbench.engine import FixedClock, Workspace
from workbench.engine.errors import WorkbenchError

NAMES = ("Kim", "Robin", "Ülo", "李雷", "Sam O’Neil")
THINGS = (
    "tea",
    "a lighthouse",
    "the night train",
    "## a heading",
    "```\nan open fence",
    "- [ ] a box",
    "<!-- half",
)


def live(workspace: Workspace, chance: random.Random) -> None:
    """Do one thing at random."""
    name, thing = chance.choice(NAMES), chance.choice(THINGS)
    ids = [entry.id for entry in workspace.decay().entries]
    one = chance.choice(ids) if ids else ""
    match chance.randrange(12):
        case 0 | 1 | 2:
            workspace.remember(f"{name} saw {thing} no. {chance.randrange(99)}", store="episodic")
        case 3 | 4:
            workspace.remember(f"{name} likes {thing}", store="semantic", entities=[f"person:{name}"])
        case 5:
            workspace.remember(f"{name} never sells {thing}", store=chance.choice(("core", "vault")))
        case 6:
            workspace.remember(f"1. Take {thing}\n2. Give it to {name}", store="procedural")
        case 7:
            workspace.pin(one)
        case 8:
            workspace.forget(ids=[one], apply=True)
        case 9:
            workspace.reinforce(one)
        case 10:
            workspace.show(one)
        case _:
            workspace.propose(f"{name} owns {thing}", entities=[f"person:{name}"])


@pytest.mark.parametrize("seed", range(6))
def test_a_life_comes_back_the_same(home: AgentHome, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    if seed % 2:
        home.furnish()
    home.init()
    for _ in range(4):
        with home.open("person") as workspace:
            for _ in range(6):
                with suppress(WorkbenchError):
                    live(workspace, chance)
        home.clock = FixedClock(home.clock.now() + timedelta(days=chance.randrange(9), hours=5))
    other = AgentHome(tmp_path / "other")
    other.clock = home.clock
    folder = bool(seed % 3)
    with home.open("reader") as workspace:
        workspace.export(tmp_path / "copy", folder=folder)
    with other.open("person") as workspace:
        imported = workspace.import_from(tmp_path / "copy", form="workbench")
        assert imported.left_out == ()
    assert memory_of(other) == memory_of(home)
    with home.open("reader") as one, other.open("reader") as two:
        assert scores_of(two) == scores_of(one)
        assert two.graph() == one.graph()
        assert two.core() == one.core()
        assert [each.content for each in two.proposals().proposals] == [
            each.content for each in one.proposals().proposals
        ]
