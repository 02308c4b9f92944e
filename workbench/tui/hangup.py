"""Notices that the terminal is gone, also where no signal tells of it: Textual would read its end again and again."""

from __future__ import annotations

import contextlib
import os
import select
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds that leaving may take: what draws may be stuck for good, and what was begun is whole or absent anyway.
_PATIENCE = 10.0


def leave_when_gone(
    terminal: int, leave: Callable[[], object], end: Callable[[], object], patience: float = _PATIENCE
) -> None:
    """Watch a terminal from a thread of its own, which sleeps until it is gone.

    Args:
        terminal: Its file descriptor.
        leave: Called then on that thread; nothing that is drawn goes anywhere any more.
        end: Called where the process is still there after that.
        patience: Seconds until then.
    """

    def watch() -> None:
        poll = select.poll()
        # No event is waited for but the end, which always counts.
        poll.register(terminal, 0)
        if not any(event & select.POLLHUP for _, event in poll.poll()):
            # Some systems cannot watch a terminal.
            return
        last = threading.Timer(patience, end)
        last.daemon = True
        last.start()
        _turn_away(gone)
        leave()

    gone = os.fstat(terminal)
    if os.isatty(terminal) and hasattr(select, "poll"):
        threading.Thread(target=watch, name="hangup", daemon=True).start()


def _turn_away(gone: os.stat_result) -> None:
    """Let what is still drawn go nowhere: a write to a terminal that is gone would fail in the midst of leaving."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        # One that is closed already says nothing to anybody either.
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(each), gone):
                os.dup2(nowhere, each)
    os.close(nowhere)
