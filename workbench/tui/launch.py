"""Opens the bench on a workspace from the command line, and ends it when its terminal goes."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds that a change waits for another writer, with a person looking on.
_LOCK_TIMEOUT = 3.0
# Seconds that a background thread may keep a key waiting.
_SWITCH_INTERVAL = 0.0002
# What is read comes by tens of thousands and stays: looking it through for garbage again and again while it grows
# would keep a person waiting. Objects more than there were, looks at the young, looks at those somewhat older.
_GARBAGE = (50_000, 10, 10)
# Repaints a second, at most: a key that comes right after one waits for the next.
_FRAMES = "120"


def run(path: Path, at: str | None = None, role: str = "person") -> None:
    """Open the bench and stay until it is closed; the process ends with it.

    Args:
        at: A memory or file to open at.
        role: Who sits there; a person, unless the shell was given to an agent.

    Raises:
        WorkbenchError: The workspace cannot be opened.
    """
    import asyncio

    # Little of what is made until the first place stands is ever thrown away: looking for garbage would only cost time.
    gc.disable()
    os.environ.setdefault("TEXTUAL_FPS", _FRAMES)
    sys.setswitchinterval(_SWITCH_INTERVAL)

    from workbench.engine.process import share_freed_memory
    from workbench.tui.ground import Ground

    share_freed_memory()

    # The terminal answers while everything else is loaded.
    with Ground(os.environ) as ground:
        from workbench.engine.settings.sections import user_settings_file
        from workbench.engine.workspace import Workspace
        from workbench.tui.frame.app import FrameApp

        with Workspace.open(path, role=role, reads_refresh=False, lock_timeout=_LOCK_TIMEOUT) as workspace:
            app = FrameApp(
                workspace,
                config_folder=user_settings_file(os.environ).parent,
                at=at or "",
                on_shown=_collect_garbage_again,
                follow=True,
            )
            app.begin_on(ground.answer())
            if app.follows_ground:
                ground.follow()
            leave_when_gone(sys.stdin.fileno(), lambda: app.call_later(app.leave), lambda: _end_at_once(1))
            # On a loop of its own: Python’s would wait until every thread has read to its end.
            app.run(loop=asyncio.new_event_loop())
    _end_at_once(app.return_code or 0)


def _end_at_once(code: int) -> NoReturn:
    """End the process with the bench, though threads may still read: Python would wait for each of them.

    Everything that was asked for is written by now, the workspace is closed and the terminal is as it was.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _collect_garbage_again() -> None:
    gc.freeze()
    gc.set_threshold(*_GARBAGE)
    gc.enable()


# Seconds that leaving may take: what draws may be stuck for good, and what was begun is whole or absent anyway.
_PATIENCE = 10.0


def leave_when_gone(
    terminal: int, leave: Callable[[], object], end: Callable[[], object], patience: float = _PATIENCE
) -> None:
    """Watch a terminal from a thread of its own, which sleeps until it is gone.

    Args:
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
