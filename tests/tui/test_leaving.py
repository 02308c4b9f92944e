"""Leaving waits for what was asked for, and for nothing that is only read."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path

from tests.tui.fake_bench import FakeBench
from tests.tui.seen_workspace import MEI, looking
from workbench.engine import Workspace
from workbench.tui.app import BenchApp
from workbench.tui.in_order import InOrder
from workbench.tui.widgets.item_editor import ItemEditor

# The bench over a workspace of which something is read that never ends.
_READS_FOR_EVER = """
import sys, threading
from pathlib import Path
from workbench.tui.launch import run
from workbench.tui.workspace_bench import WorkspaceBench
WorkspaceBench.status = lambda self: threading.Event().wait()
run(Path(sys.argv[1]))
"""
_LEAVE = b"\x11"
_PATIENCE = 60.0


async def test_the_end_waits_for_actions_and_not_for_looks() -> None:
    gate, done = threading.Event(), list[str]()
    in_order = InOrder(lambda error: done.append(repr(error)))
    in_order.submit(lambda number: done.append(f"asked {number}"))
    in_order.look(lambda _number: done.append(f"looked {gate.wait()}"))
    await in_order.finish()
    assert done == ["asked 1"]
    assert in_order.submit(lambda _number: done.append("too late")) == 3
    gate.set()


async def test_an_action_is_done_though_all_other_threads_are_taken(seen: Workspace) -> None:
    gate = threading.Event()
    try:
        async with looking(seen, target=MEI) as pilot:
            loop = asyncio.get_running_loop()
            for _ in range(64):
                loop.run_in_executor(None, gate.wait)
            await pilot.press("p", "ctrl+q")
            while not pilot.app._exit:
                await pilot.pause(0.01)
            gate.set()
    finally:
        gate.set()
    score = seen.show(MEI, count_access=False).score
    assert score is not None
    assert score.status == "pinned"


async def test_a_pane_that_was_left_while_writing_is_found_so(bench: FakeBench) -> None:
    async with BenchApp(bench).run_test(size=(120, 40)) as pilot:
        await pilot.pause(0.1)
        await pilot.press("down", "e")
        await pilot.app.action_show_pane(2)  # type: ignore[attr-defined]  # BenchApp
        await pilot.app.action_show_pane(0)  # type: ignore[attr-defined]  # BenchApp
        await pilot.pause()
        assert pilot.app.query_one(ItemEditor).display
        assert pilot.app.query_one("#core").has_class("-reading", "-editing")


def test_the_process_ends_though_something_is_read_for_ever(seen_folder: Path) -> None:
    terminal, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-c", _READS_FOR_EVER, str(seen_folder)],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(inner)
    try:
        shown = _until(terminal, b"Identity")
        os.write(terminal, _LEAVE)
        shown = _until(terminal, b"\x1b[?1049l")
        assert b"Traceback" not in shown
        assert process.wait(_PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def _until(terminal: int, wanted: bytes) -> bytes:
    """Read what is shown until something stands in it."""
    shown, end = b"", time.monotonic() + _PATIENCE
    while wanted not in shown:
        assert time.monotonic() < end, shown[-2000:]
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65_536)
    return shown
