"""Purges a workspace, dying before a step: `python -m tests.engine.history.purging ROOT STATE STEP NUMBER`."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.engine.history.notebook import PERSON, START
from workbench.engine.clock import FixedClock
from workbench.engine.history.history import History
from workbench.engine.history.plan import Action, Plan
from workbench.engine.history.purge import Purged, purge
from workbench.engine.history.recovery import PurgeSteps

SECRET = "The vault code is 47-KXZQ since the move"


def purge_named(
    history: History,
    names: Sequence[str],
    texts: Sequence[str],
    *,
    asked: Sequence[str] = (),
    step: Callable[[str], None] = lambda _: None,
) -> Purged[None]:
    """Purge ids and texts, with nothing planned but that."""
    plan = Plan[None](Action.DELETE, "*", "deleted")
    going = PurgeSteps(tuple(names), tuple(texts))
    return purge(history, lambda _: plan, lambda _: going, PERSON, asked=asked, step=step)


def main(root: str, state: str, name: str, number: int) -> None:
    """Purge the secret; die before the step of that name, the number-th of its kind, counted from 0."""
    numbers = itertools.count()

    def step(text: str) -> None:
        if text.split()[0] == name and next(numbers) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    history = History(Path(root), clock=FixedClock(START), state=Path(state))
    purge_named(history, ["entity:person--alex#^f7k2"], [SECRET], step=step)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
