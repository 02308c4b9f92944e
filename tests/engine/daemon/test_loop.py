"""The loop of the daemon on a workspace of its own, in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.isolation import isolate
from workbench.engine import Workspace, layout
from workbench.engine.clock import FixedClock
from workbench.engine.daemon.loop import Daemon, Told
from workbench.engine.daemon.process import read_status
from workbench.engine.errors import StorageError
from workbench.engine.history.recovery import purge_is_unfinished
from workbench.engine.results.memories import Changed
from workbench.engine.services.forgetting import Remains


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    isolate(tmp_path, monkeypatch, timezone="UTC")
    folder = tmp_path / "agent"
    Workspace.init(folder, clock=FixedClock(), timezone="UTC")
    return folder


def looked_after(
    place: Path, door: type[Workspace], lines: list[Told], told: Callable[[Told], object]
) -> Daemon:
    def tell(line: Told) -> None:
        lines.append(line)
        told(line)

    return Daemon(lambda: door.open(place, role="main", clock=FixedClock(), reads_refresh=False), tell)


def test_it_can_be_ended_while_it_reads_everything_for_the_first_time(place: Path) -> None:
    asked: list[bool] = []

    class Long(Workspace):
        def refresh(
            self,
            *,
            progress: Callable[[int, int], None] | None = None,
            cancelled: Callable[[], bool] = lambda: False,
        ) -> frozenset[str]:
            daemon.end("a test")
            asked.append(cancelled())
            return super().refresh(progress=progress, cancelled=cancelled)

    lines: list[Told] = []
    daemon = looked_after(place, Long, lines, lambda _: None)
    daemon.run()
    assert asked == [True]
    assert [line.what for line in lines] == ["start", "end"]


def test_it_finishes_a_purge_that_was_interrupted(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def be_interrupted(*_: object) -> tuple[str, ...]:
        raise KeyboardInterrupt

    with Workspace.open(place, role="person", clock=FixedClock()) as workspace:
        kept = workspace.remember("Robin bought a xylophone", store="episodic")
        with monkeypatch.context() as patch:
            patch.setattr(Remains, "purge", be_interrupted)
            with pytest.raises(KeyboardInterrupt):
                workspace.forget(ids=[str(kept.id)], apply=True, purge_history=True)
    assert purge_is_unfinished(place / layout.HISTORY)
    daemon = looked_after(
        place, Workspace, [], lambda line: daemon.end("a test") if line.what == "sync" else None
    )
    daemon.run()
    assert not purge_is_unfinished(place / layout.HISTORY)
    assert "xylophone" not in (place / layout.AUDIT_LOG).read_text()


def test_it_can_be_ended_while_it_looks_after_scores_and_log(place: Path) -> None:
    asked: list[bool] = []

    class Long(Workspace):
        def upkeep(self, *, cancelled: Callable[[], bool] = lambda: False) -> Changed:
            daemon.end("a test")
            asked.append(cancelled())
            return super().upkeep(cancelled=cancelled)

    lines: list[Told] = []
    daemon = looked_after(place, Long, lines, lambda _: None)
    daemon.run()
    assert asked == [True]
    assert [line.what for line in lines] == ["start", "sync", "end"]


def test_what_cannot_be_done_is_told_once_and_all_else_goes_on(place: Path) -> None:
    tries: list[int] = []

    class Full(Workspace):
        def adopt(self) -> Changed:
            tries.append(1)
            if len(tries) < 3:
                raise StorageError("The disk is full.", where=".audit", remedy="Make room.")
            return super().adopt()

    def told(line: Told) -> None:
        if line.what == "ready":
            problems.extend(read_status(state).problems)
            daemon.end("a test")

    problems: list[str] = []
    lines: list[Told] = []
    with Workspace.open(place) as door:
        state = door.settings.state_directory(door.root)
    daemon = looked_after(place, Full, lines, told)
    daemon.run()
    assert [(line.what, line.text) for line in lines if line.problem] == [
        ("adopt", ".audit: The disk is full. Make room.")
    ]
    assert any(line.what == "sync" for line in lines)
    assert problems == [".audit: The disk is full. Make room."]


def test_sessions_that_ended_by_the_clock_are_saved(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(line: Told) -> None:
        if line.what == "ready":
            daemon.end("a test")

    clock = FixedClock()
    # A model that is not there: what was said waits for somebody with time to ask it.
    monkeypatch.setenv("WORKBENCH_MODEL_NAME", "fake")
    monkeypatch.setenv("WORKBENCH_MODEL_BASE_URL", "http://127.0.0.1:9/v1")
    with Workspace.open(place, clock=clock) as door:
        door.session_append("main", "Remember that the ferry is called Visborg.")
        clock.advance(days=1)
        door.session_append("main", "Good morning.")
        assert door.session_flush_check("main").ended == 1
    monkeypatch.delenv("WORKBENCH_MODEL_NAME")
    monkeypatch.delenv("WORKBENCH_MODEL_BASE_URL")
    lines: list[Told] = []
    daemon = looked_after(place, Workspace, lines, told)
    daemon.run()
    assert [line.text for line in lines if line.what == "upkeep"] == [
        "A session of agent:main:main had ended. Saved 1 memory."
    ]
