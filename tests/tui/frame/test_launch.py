"""The bench at a real terminal: it begins where one asks, on the terminal's ground, and ends when it shall."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.tui.frame.hands import drawn, frame_of, opened, said
from tests.tui.seen_workspace import MEI
from workbench.engine import Workspace
from workbench.tui.launch import leave_when_gone
from workbench.tui.themes import DARK, LIGHT, load_themes

_PROGRAM = "import sys\nfrom pathlib import Path\nfrom workbench.tui.launch import run\n"
_OPEN = f"{_PROGRAM}run(Path(sys.argv[1]))\n"
# The bench over a workspace of which something is read that never ends.
_READS_FOR_EVER = (
    f"{_PROGRAM}import threading\nfrom workbench.tui.frame import edges\n"
    "edges._quick = lambda workspace: threading.Event().wait()\nrun(Path(sys.argv[1]))\n"
)
# The bench as it is where the signal of a closed terminal does not come.
_HEARS_NO_HANGUP = f"import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n{_OPEN}"
_LEAVE, _SHOWN = b"\x11", b"Today"
_PATIENCE = 60.0


@contextmanager
def in_a_terminal(program: str, folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a program with a folder in a terminal of its own."""
    terminal, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(folder)],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
    )
    os.close(inner)
    try:
        yield terminal, process
    finally:
        process.kill()
        process.wait()


def until(terminal: int, wanted: bytes) -> bytes:
    """Read what is shown until something stands in it."""
    shown, end = b"", time.monotonic() + _PATIENCE
    while wanted not in shown:
        assert time.monotonic() < end, shown[-2000:]
        if select.select([terminal], [], [], 0.1)[0]:
            shown += os.read(terminal, 65_536)
    return shown


def paper(name: str) -> bytes:
    """Return how the terminal is told the ground of a theme."""
    colour = load_themes().by_name[name]["ground.paper"]
    return b"48;2;" + ";".join(str(int(colour[at : at + 2], 16)) for at in (1, 3, 5)).encode()


def test_the_process_ends_though_something_is_read_for_ever(seen_folder: Path) -> None:
    with in_a_terminal(_READS_FOR_EVER, seen_folder) as (terminal, process):
        until(terminal, _SHOWN)
        os.write(terminal, _LEAVE)
        shown = until(terminal, b"\x1b[?1049l")
        assert b"Traceback" not in shown
        assert process.wait(_PATIENCE) == 0
        os.close(terminal)


def test_the_process_ends_when_its_terminal_is_gone_without_a_signal(seen_folder: Path) -> None:
    with in_a_terminal(_HEARS_NO_HANGUP, seen_folder) as (terminal, process):
        until(terminal, _SHOWN)
        os.close(terminal)
        assert process.wait(_PATIENCE) == 0


def test_it_takes_the_ground_of_the_terminal_and_loses_no_key(seen_folder: Path) -> None:
    with in_a_terminal(_OPEN, seen_folder) as (terminal, process):
        until(terminal, b"\x1b]11;?\x1b\\\x1b[c")
        os.write(terminal, b"3\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c")
        shown = until(terminal, b"of 3,000 tokens")
        assert paper(LIGHT) in shown
        assert paper(DARK) not in shown
        assert b"\x1b[?2031h" in shown
        os.write(terminal, b"\x1b[?997;1n")
        until(terminal, paper(DARK))
        os.write(terminal, _LEAVE)
        shown = until(terminal, b"\x1b[?2031l")
        assert process.wait(_PATIENCE) == 0, shown[-3000:]
        os.close(terminal)


def test_a_terminal_that_says_nothing_is_dark(seen_folder: Path) -> None:
    with in_a_terminal(_OPEN, seen_folder) as (terminal, process):
        until(terminal, paper(DARK))
        os.write(terminal, _LEAVE)
        until(terminal, b"\x1b[?1049l")
        assert process.wait(_PATIENCE) == 0
        os.close(terminal)


async def test_it_begins_at_a_memory(seen: Workspace) -> None:
    async with opened(seen, at=MEI) as pilot:
        assert frame_of(pilot).place.cursor_key == MEI


async def test_it_begins_at_a_file(seen: Workspace) -> None:
    async with opened(seen, at="MEMORY.md") as pilot:
        assert drawn(pilot, "crumbs").strip().startswith("Core")


async def test_it_begins_with_what_is_to_be_brought_in(seen: Workspace, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\n- Reply in English\n")
    async with opened(seen, at=f"import:{tmp_path / 'CLAUDE.md'}") as pilot:
        assert frame_of(pilot).place.spot == str(tmp_path / "CLAUDE.md")
        assert frame_of(pilot).place.cursor_key == "memories"


async def test_a_name_of_nothing_is_told_where_one_is(seen: Workspace) -> None:
    async with opened(seen, at="episode:1999-01-01:00:00") as pilot:
        assert drawn(pilot, "crumbs").strip().startswith("Timeline")
        assert "episode:1999-01-01:00:00" in said(pilot)


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
