"""Writers to be killed: `python crash_writers.py kill|race ROOT STATE COUNT TOKENS` forks them, reports what was said.

A writer adds one token to two files in one mutation, and says the token once that stands.
"""

from __future__ import annotations

import json
import os
import random
import selectors
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from workbench.engine.clock import SystemClock
from workbench.engine.history import journal
from workbench.engine.history.history import History
from workbench.engine.history.plan import Action, Attribution, FileChange, FileView, Plan

SHARED = "memory/episodes/2026-02-02.md"
LONGEST_LIFE = 0.06


def own_file(slot: int) -> str:
    return f"memory/vault/writer-{slot}.md"


def open_history(root: Path, state: Path) -> History:
    return History(root, clock=SystemClock(), state=state, lock_timeout=100)


def write_token(history: History, slot: int, token: str) -> None:
    def plan(files: FileView) -> Plan[None]:
        changes = tuple(
            FileChange(path, (files.read(path) or b"") + f"{token}\n".encode(), Action.APPEND, token)
            for path in (SHARED, own_file(slot))
        )
        return Plan(Action.APPEND, SHARED, token, changes)

    history.mutate(plan, Attribution(f"bot:writer-{slot}"))


@dataclass
class Writer:
    """A forked writer, and what it said.

    Args:
        slot: Which of the files is its own.
        process: Its process id.
        pipe: Where it speaks.
        heard: What it said so far.
        deadline: When it shall die; None until it has spoken.
    """

    slot: int
    process: int
    pipe: int
    heard: bytes = b""
    deadline: float | None = field(default=None)


def fork_writer(root: Path, state: Path, slot: int, generation: int, most: int) -> Writer:
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return Writer(slot, process, reading)
    os.close(reading)
    history = open_history(root, state)
    for number in range(most):
        token = f"{slot}.{generation}.{number}"
        write_token(history, slot, token)
        os.write(writing, f"{token}\n".encode())
    os._exit(0)


def hear(writer: Writer, seconds: float | None) -> bool:
    """Listen for a while; return whether the writer may say more."""
    with selectors.DefaultSelector() as selector:
        selector.register(writer.pipe, selectors.EVENT_READ)
        if selector.select(seconds):
            said = os.read(writer.pipe, 65536)
            writer.heard += said
            return bool(said)
    return True


def finish(writer: Writer) -> list[str]:
    while hear(writer, None):
        pass
    os.close(writer.pipe)
    os.waitpid(writer.process, 0)
    return writer.heard.decode().split()


def kill(root: Path, state: Path, kills: int) -> list[str]:
    """Kill writers, two at a time, each some moments after its first word."""
    chance = random.Random(20260202)
    acknowledged: list[str] = []
    writers = [fork_writer(root, state, slot, 0, 10_000) for slot in range(2)]
    for generation in range(1, kills + 1):
        writer = writers[generation % 2]
        while b"\n" not in writer.heard:
            hear(writer, None)
        deadline = time.monotonic() + chance.uniform(0, LONGEST_LIFE)
        while (left := deadline - time.monotonic()) > 0:
            hear(writer, left)
        os.kill(writer.process, signal.SIGKILL)
        acknowledged += finish(writer)
        writers[generation % 2] = fork_writer(root, state, writer.slot, generation, 10_000)
    for writer in writers:
        os.kill(writer.process, signal.SIGKILL)
        acknowledged += finish(writer)
    return acknowledged


def race(root: Path, state: Path, writers: int, tokens: int) -> list[str]:
    """Have many writers write their tokens at once."""
    started = [fork_writer(root, state, slot, 0, tokens) for slot in range(writers)]
    return [token for writer in started for token in finish(writer)]


def main() -> None:
    mode, root, state, *numbers = sys.argv[1:]
    count, tokens = map(int, numbers)
    # Small, so that starting over happens, and dies, often.
    journal.CHECKPOINT_SIZE = 30_000
    if mode == "kill":
        acknowledged = kill(Path(root), Path(state), count)
    else:
        acknowledged = race(Path(root), Path(state), count, tokens)
    print(json.dumps(acknowledged))


if __name__ == "__main__":
    main()
