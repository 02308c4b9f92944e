"""Fixtures of the bench: the sample memory, and a way to run the app that waits for its workers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from textual.pilot import Pilot

from tests.tui.fake_bench import FakeBench
from workbench.tui.app import BenchApp
from workbench.tui.panes import base

Running = Callable[..., AbstractAsyncContextManager[Pilot[None]]]


@pytest.fixture
def bench() -> FakeBench:
    return FakeBench.filled()


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the cursor rest for a moment only."""
    monkeypatch.setattr(base, "REST", 0.01)
    monkeypatch.setattr(base, "REST_FOR_HISTORY", 0.01)


async def settle(pilot: Pilot[None]) -> None:
    """Wait until every worker is done and everything it said has been drawn."""
    for _ in range(3):
        await pilot.pause(0.05)
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()


@pytest.fixture
def running() -> Running:
    """Run an app over a bench, with toasts, and settle it."""

    @asynccontextmanager
    async def run(
        bench: FakeBench, size: tuple[int, int] = (120, 40), **options: object
    ) -> AsyncIterator[Pilot[None]]:
        app = BenchApp(bench, **options)  # type: ignore[arg-type]  # options differ in type
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            yield pilot

    return run
