"""Writers at the door: `python door_writers.py kill|race ROOT COUNT TOKENS` forks them, reports what was said.

A writer remembers one token after the other, each in its episode, in a fact and, where it fits, in core memory, and
says the token once `remember` has answered.
"""

from __future__ import annotations

import json
import os
import random
import selectors
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from workbench.engine import Workspace
from workbench.engine.history import journal

LONGEST_LIFE = 0.12


def remember_token(workspace: Workspace, slot: int, token: str) -> None:
    """Remember a token in one action that touches several files."""
    workspace.remember(
        f"token {token} was said",
        store="semantic" if token.endswith(("3", "7")) else "episodic",
        entities=[f"person:Writer {'AB'[slot % 2]}{slot}"],
        actor=f"bot:writer-{slot}",
        trigger=token,
    )


@dataclass
class Writer:
    """A forked writer, and what it said.

    Args:
        slot: Which writer it is.
        process: Its process id.
        pipe: Where it speaks.
        heard: What it said so far.
    """

    slot: int
    process: int
    pipe: int
    heard: bytes = field(default=b"")


def fork_writer(root: Path, slot: int, generation: int, most: int) -> Writer:
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return Writer(slot, process, reading)
    os.close(reading)
    code = 1
    try:
        with Workspace.open(root, role="main", lock_timeout=100) as workspace:
            for number in range(most):
                token = f"{slot}.{generation}.{number}"
                remember_token(workspace, slot, token)
                os.write(writing, f"{token}\n".encode())
        code = 0
    except BaseException:  # the parent sees the code alone
        traceback.print_exc()
    finally:
        os._exit(code)


def hear(writer: Writer, seconds: float | None) -> bool:
    """Listen for a while; return whether the writer may say more."""
    with selectors.DefaultSelector() as selector:
        selector.register(writer.pipe, selectors.EVENT_READ)
        if selector.select(seconds):
            said = os.read(writer.pipe, 65536)
            writer.heard += said
            return bool(said)
    return True


def finish(writer: Writer) -> tuple[list[str], int]:
    """Hear a writer to its end; return what it said and how it ended."""
    while hear(writer, None):
        pass
    os.close(writer.pipe)
    _, status = os.waitpid(writer.process, 0)
    return writer.heard.decode().split(), status


def kill(root: Path, kills: int) -> list[str]:
    """Kill writers, two at a time, each some moments after its first word or before it."""
    chance = random.Random(20260202)
    acknowledged: list[str] = []
    writers = [fork_writer(root, slot, 0, 10_000) for slot in range(2)]
    for generation in range(1, kills + 1):
        writer = writers[generation % 2]
        # Every fourth dies while it opens the workspace and clears up after its predecessor.
        while generation % 4 and b"\n" not in writer.heard and hear(writer, None):
            pass
        deadline = time.monotonic() + chance.uniform(0, LONGEST_LIFE)
        while (left := deadline - time.monotonic()) > 0:
            hear(writer, left)
        os.kill(writer.process, signal.SIGKILL)
        said, status = finish(writer)
        assert os.WIFSIGNALED(status), f"writer {writer.slot} ended by itself: {status}"
        acknowledged += said
        writers[generation % 2] = fork_writer(root, writer.slot, generation, 10_000)
    for writer in writers:
        os.kill(writer.process, signal.SIGKILL)
        acknowledged += finish(writer)[0]
    return acknowledged


def race(root: Path, writers: int, tokens: int) -> list[str]:
    """Have many writers remember their tokens at once."""
    started = [fork_writer(root, slot, 0, tokens) for slot in range(writers)]
    acknowledged: list[str] = []
    for writer in started:
        said, status = finish(writer)
        assert status == 0, f"writer {writer.slot}: {status}"
        acknowledged += said
    return acknowledged


def main() -> None:
    mode, root, *numbers = sys.argv[1:]
    count, tokens = map(int, numbers)
    # Small, so that starting over happens, and dies, often.
    journal.CHECKPOINT_SIZE = 30_000
    # What the writers need is loaded once, here: they are forked and have no time to lose.
    with Workspace.open(root, role="main", lock_timeout=100) as workspace:
        remember_token(workspace, 0, "0.first.0")
    acknowledged = kill(Path(root), count) if mode == "kill" else race(Path(root), count, tokens)
    print(json.dumps(["0.first.0", *acknowledged]))


if __name__ == "__main__":
    main()
