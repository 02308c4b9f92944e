"""What a verb does to a subject: a call of the engine with its sentence, a question first, or why not; and undo."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    Protocol,
    TypeAlias,
)

from workbench.display.action_words import (
    brought_back,
    by_whom,
    named,
    of_file,
    plainly,
    taken_back,
    wrote,
)
from workbench.display.words import LONGEST_QUOTE
from workbench.engine.errors import ConfirmationNeeded
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.results.audit import NextStep, NextSteps
    from workbench.engine.workspace import Workspace


class Subject(Protocol):
    """What keys act on: a frozen value of its kind."""

    @property
    def id(self) -> str: ...

    @property
    def title(self) -> str: ...


@dataclass(frozen=True)
class Act:
    """What is done.

    Args:
        call: Does it on the thread of actions and returns the sentence of the status line.
        question: Asked first; empty where undo takes it back.
        answer: What `enter` then does, in words.
        leave: Called where the question is answered with no.
        stays: Whether its sentence holds wherever one goes on to; else it is about the row alone.
        only_looks: Whether it changes nothing, so that undo means what it meant before.
    """

    call: Callable[[Workspace], str]
    question: str = ""
    answer: str = ""
    leave: Callable[[], object] = lambda: None
    stays: bool = True
    only_looks: bool = False


Verb: TypeAlias = "Callable[[tuple[Any, ...]], Act | str]"
OTHER_VERBS: dict[type, Mapping[str, Verb]] = {}
"""Verbs of what is no memory, by its kind; the module of that kind puts them in. Any other says its `elsewhere`."""


def deed(step: NextStep) -> str:
    """Return what a step did, in plain words, cut where they are long."""
    if step.accepted or step.declined or step.set_aside:
        return wrote(step)
    said = plainly(step.summary)
    if step.file:
        said = of_file(said, named(step.file))
    over = len(said) - LONGEST_QUOTE
    if over <= 0:
        return said
    # What stands behind the words that are quoted says what was done with them.
    begin, end = said.find("“") + 1, said.rfind("”")
    if 0 < begin < end - over - _LEAST_QUOTED:
        return f"{said[: end - over - 1].rstrip()}…{said[end:]}"
    kept = said[: LONGEST_QUOTE - 1]
    return f"{kept}…{'”' if kept.count('“') > kept.count('”') else ''}"


_TICK = "tick:"
_LEAST_QUOTED = 12
_NO_UNDO = "What was done last has no undo."


def _whose(step: NextStep) -> str:
    """Return what a step did, and who did it, as a sentence goes on."""
    by, said = "you" if step.own else by_whom(step.by), deed(step)
    return f"“{said}” ({by})" if said[:1].isupper() else f"what {by} did ({said})"


def next_undo(steps: NextSteps, written: Collection[str], since: datetime) -> NextStep | None:
    """Return what undo takes back here: one's own newest action; None where that is older than what others did.

    Args:
        written: Commits that were written here: reflections, which a person said yes to a moment ago.
        since: When one came. What one did after that is taken back though others did something since.
    """
    last, own = steps.last, steps.own
    if last is None or last.own or last.commit in written:
        return last
    return own if own is not None and own.timestamp >= since else None


def not_yours(last: NextStep) -> str:
    """Say that what was done last is somebody else's, and where it can be taken back all the same."""
    return (
        f"Nothing of yours is left to undo. The newest is {_whose(last)}; "
        "⸨place-history⸩ shows it, and ⸨bring-back⸩ there takes it back."
    )


def undo(
    steps: NextSteps, written: Collection[str], since: datetime, *, is_another: bool = False
) -> Act | str:
    """Take back one's own newest action; ask first where it is not what was done last.

    What others did is taken back in History alone, where one sees what it was.

    Args:
        written: As for `next_undo`.
        since: As for `next_undo`.
        is_another: Whether what was done last is no action of its own, so that this one is another or more than that.
    """
    last, step = steps.last, next_undo(steps, written, since)
    if last is None:
        return "There is nothing to undo."
    if step is None:
        return f"{_NO_UNDO} {not_yours(last)}" if is_another else not_yours(last)
    what = f"{taken_back(deed(step))} ({'yours' if step.own else by_whom(step.by)}, {step.timestamp:%H:%M})"
    again = "" if step.commit.startswith(_TICK) else f" ⸨redo⸩ {_back_again(what)}."
    call = partial(_undo, step.commit, f"{what}.{again}", mine=step is not last, confirmed=not step.own)
    if step is not last:
        return Act(call, f"{_upper(_whose(last))} came after it: undo {_whose(step)}?", "undo")
    if step.own and is_another:
        return Act(call, f"{_NO_UNDO} Undo {_whose(step)} instead?", "undo")
    return Act(call)


def _back_again(said: str) -> str:
    return "brings it back" if said.startswith("Took") else "takes that back"


def _upper(said: str) -> str:
    return said[:1].upper() + said[1:]


def redo(step: NextStep | None) -> Act | str:
    """Bring back what was taken back last."""
    if step is None:
        return "There is nothing to redo."
    done = brought_back(deed(step))
    said = f"{done}. ⸨undo⸩ {_back_again(done)}."
    commit, own = step.commit, step.own

    def again(workspace: Workspace) -> str:
        workspace.redo(confirmed=not own, expected=commit)
        return said

    not_yours = "" if step.by.startswith("reflection") else "Not yours: "
    return Act(again) if own else Act(again, _upper(f"{not_yours}redo {_whose(step)}?"), "redo")


def _undo(commit: str, said: str, workspace: Workspace, *, mine: bool, confirmed: bool) -> str:
    if commit.startswith(_TICK):
        workspace.inbox_undo_tick(commit)
        return said
    try:
        workspace.undo(mine=mine, confirmed=confirmed, expected=commit)
    except ConfirmationNeeded:
        return "Something newer was done meanwhile; press ⸨undo⸩ again to see what."
    return said
