"""When adopted memories came into the history: recorded bit by bit, whatever comes between."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import pytest

from tests.engine.services.agent_home import AgentHome
from workbench.engine import Workspace
from workbench.engine.catalog.catalog import Catalog
from workbench.engine.history.git_store import GitStore
from workbench.engine.services import scores
from workbench.engine.services.scores import FirstSeen, note_first_seen


def test_a_recording_that_was_called_off_goes_on_where_it_was(settled: AgentHome, tmp_path: Path) -> None:
    for number in range(4):
        settled.write(f"memory/procedures/step-{number}.md", f"# Step {number}\n\nDo it.\n")
        with settled.open() as workspace:
            workspace.adopt()
            zone = workspace.settings.zone
    store = GitStore(settled.root / ".audit")

    def recorded(name: str, *most: int) -> dict[str, object]:
        """Record in turns, each called off when it has asked so often; return what is known after the last."""
        catalog = Catalog(settled.root, tmp_path / name, zone)
        catalog.sync()
        for times in most:
            asked = iter(range(times))
            note_first_seen(catalog, store, cancelled=lambda asked=asked: next(asked, None) is None)  # type: ignore[misc]  # mypy knows no defaults of lambdas
        found = FirstSeen(catalog).everything()
        catalog.close()
        return dict(found)

    whole = recorded("whole", 1_000)
    assert sum("step-" in name for name in whole) == 4
    walked = sum(1 for _ in store.walk())
    assert recorded("nothing", walked - 1) == {}
    part = recorded("part", walked + 2)
    assert 0 < len(part) < len(whole)
    assert recorded("goes-on", walked + 2, walked + 1, 1_000) == whole


def test_a_first_look_says_how_far_it_is(settled: AgentHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "_TOLD_EVERY", 1)
    told: list[tuple[str, int, int]] = []
    with Workspace.open(settled.root, progress=lambda *how_far: told.append(how_far)) as workspace:
        for number in range(3):
            settled.write(f"memory/procedures/step-{number}.md", f"# Step {number}\n\nDo it.\n")
            workspace.adopt()
        told.clear()
        workspace.refresh()
    assert {what for what, *_ in told} == {"Reading memory", "Reading history"}
    assert told[-1] == ("Reading memory", 0, 0)
    assert all(done <= total for _, done, total in told)


def test_a_memory_that_says_no_date_is_as_old_as_its_first_commit(settled: AgentHome) -> None:
    made = {}
    with settled.open() as workspace:
        for day in range(3):
            settled.clock.advance(days=1)
            note = workspace.remember(f"# Promise {day}\n\nNever lend the boat number {day}.", store="vault")
            made[note.id] = settled.clock.now()
            fact = workspace.core_add("Critical Facts", f"The boat number {day} is called Otter").ids[0]
            made[fact] = settled.clock.now()
    settled.clock.advance(days=30, hours=5)
    assert dated(settled, made) == made
    with settled.open() as workspace:
        workspace.undo()
        workspace.redo()
    settled.clock.advance(days=1)
    assert dated(settled, made) == made


def dated(home: AgentHome, ids: Iterable[str | None]) -> dict[str, datetime]:
    """Return when memories were made; their last access is no later."""
    with home.open("reader") as workspace:
        found = {entry.id: entry for entry in workspace.decay().entries if entry.id in ids}
    assert all(entry.last_accessed == entry.created for entry in found.values())
    return {name: entry.created for name, entry in found.items()}
