"""Fixtures of the bench: the sample memory, and a way to run the app that waits until it is at rest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tui import stillness
from tests.tui.fake_bench import FakeBench
from tests.tui.seen_workspace import seen, seen_clock, seen_folder, seen_template
from tests.tui.stillness import settle
from workbench.tui import app as bench_app
from workbench.tui.app import BenchApp
from workbench.tui.panes import base, core, inbox_reading

__all__ = ["seen", "seen_clock", "seen_folder", "seen_template"]

Running = Callable[..., AbstractAsyncContextManager[Pilot[None]]]


@pytest.fixture
def bench() -> FakeBench:
    return FakeBench.filled()


@pytest.fixture(autouse=True)
def restless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have everything that waits for a moment of rest wait for a short one, and cursors not blink."""
    for module, name in (
        (base, "REST"),
        (base, "REST_FOR_HISTORY"),
        (core, "_EDITOR_AFTER"),
        (inbox_reading, "REST_FOR_RELATED"),
        (bench_app, "_CALM"),
        (bench_app, "_LONG"),
    ):
        monkeypatch.setattr(module, name, 0.01)
    monkeypatch.setattr(Input, "cursor_blink", False)


@pytest.fixture(autouse=True)
def counted_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep count of what threads are at: those of a worker that was cancelled go on and may yet tell something."""
    stillness.under_way.clear()
    submit = ThreadPoolExecutor.submit

    def counted(executor: ThreadPoolExecutor, work: Callable[..., Any], /, *args: Any, **named: Any) -> Any:
        future: Future[Any] = submit(executor, work, *args, **named)
        stillness.under_way.add(future)
        future.add_done_callback(stillness.under_way.discard)
        return future

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)


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
