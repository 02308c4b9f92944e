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
from workbench.tui.hangup import leave_when_gone
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
# The bench as it is where the signal of a closed terminal does not come.
_HEARS_NO_HANGUP = """
import signal, sys
from pathlib import Path
from workbench.tui.launch import run
signal.signal(signal.SIGHUP, signal.SIG_IGN)
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
    terminal, process = _in_a_terminal(_READS_FOR_EVER, seen_folder)
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


def test_the_process_ends_when_its_terminal_is_gone_without_a_signal(seen_folder: Path) -> None:
    terminal, process = _in_a_terminal(_HEARS_NO_HANGUP, seen_folder)
    try:
        _until(terminal, b"Identity")
        os.close(terminal)
        assert process.wait(_PATIENCE) == 0
    finally:
        process.kill()
        process.wait()


def test_the_process_ends_when_it_cannot_leave_either() -> None:
    terminal, inner = pty.openpty()
    stuck, ended = threading.Event(), threading.Event()
    leave_when_gone(inner, stuck.wait, ended.set, patience=0.0)
    assert not ended.is_set()
    os.close(terminal)
    assert ended.wait(_PATIENCE)
    stuck.set()
    os.close(inner)


def test_what_is_no_terminal_is_not_watched() -> None:
    reading, writing = os.pipe()
    before = threading.active_count()
    leave_when_gone(reading, lambda: None, lambda: None)
    assert threading.active_count() == before
    os.close(reading)
    os.close(writing)


def _in_a_terminal(program: str, folder: Path) -> tuple[int, subprocess.Popen[bytes]]:
    """Start a program with a folder in a terminal of its own."""
    terminal, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(inner)
    return terminal, process


def _until(terminal: int, wanted: bytes) -> bytes:
    """Read what is shown until something stands in it."""
    shown, end = b"", time.monotonic() + _PATIENCE
    while wanted not in shown:
        assert time.monotonic() < end, shown[-2000:]
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65_536)
    return shown
