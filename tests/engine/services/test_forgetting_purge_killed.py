"""A purge that is killed at any step either never happened, or is finished by whoever opens the workspace next."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.services.purge_killing import Walk, holding, walk
from tests.isolation import isolate


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "now").mkdir()
    isolate(tmp_path / "now", monkeypatch, timezone="Europe/Stockholm")
    return tmp_path


@pytest.mark.parametrize("repacking", [False, True])
def test_killed_at_a_step_here_and_there(folder: Path, repacking: bool) -> None:
    # Coprime to the number of ways of opening, so that each comes up.
    come_to = walk(folder, iter(range(13, 100_000, 31)), repacking=repacking)
    # How many steps there are depends on what SQLite does; the last walk is one that nothing kills.
    assert come_to["was done"] >= 1
    assert sum(come_to.values()) > 2


@pytest.mark.campaign
@pytest.mark.timeout(600)
@pytest.mark.parametrize("repacking", [False, True])
def test_killed_at_every_seventh_step(folder: Path, repacking: bool) -> None:
    come_to = walk(folder, iter(range(0, 100_000, 7)), repacking=repacking)
    assert come_to["was done"] >= 1
    assert come_to.keys() >= {"nothing had happened", "was noted"}


def test_what_is_looked_for_is_said_in_many_places(folder: Path) -> None:
    walked = Walk(folder)
    said = {Path(name).name for name in holding(folder / "before")}
    for name in ("2026-02-02.md", "MEMORY.md", "audit.log", "catalog.sqlite", "held-back.json"):
        assert name in said
    assert {Path(name).suffix for name in said} >= {".jsonl", ".sqlite"}
    assert any(name.startswith(".audit:") for name in said)
    assert walked.die_at(100_000) == 0
    assert holding(folder / "now") == []
