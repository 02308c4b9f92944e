"""What a verb does to a subject: a call of the engine with its sentence, a question first, or why not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from workbench.display import words
from workbench.display.action_words import by_whom, plainly
from workbench.engine.errors import ConfirmationNeeded, InvalidInput, NotFound

if TYPE_CHECKING:
    from workbench.engine.results.audit import NextStep
    from workbench.engine.results.decay import DecayExplained
    from workbench.engine.workspace import Workspace

_LONGEST_QUOTE = 60


@dataclass(frozen=True)
class Memory:
    """A memory under the cursor, or marked.

    Args:
        id: Its id.
        store: core, episodic, semantic, procedural or vault.
        title: Its words.
        pinned: Whether it is.
        archived: Whether it is.
    """

    id: str
    store: str
    title: str
    pinned: bool = False
    archived: bool = False


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
    """

    call: Callable[[Workspace], str]
    question: str = ""
    answer: str = ""
    leave: Callable[[], object] = lambda: None


def quoted(title: str) -> str:
    """Return the words of a thing in quotes, cut where they are long."""
    words = " ".join(title.split())
    return f"“{words if len(words) <= _LONGEST_QUOTE else words[: _LONGEST_QUOTE - 1] + '…'}”"


def named(memories: tuple[Memory, ...]) -> str:
    """Return the words of one memory, or how many they are."""
    return quoted(memories[0].title) if len(memories) == 1 else f"{len(memories)} memories"


def pin(memories: tuple[Memory, ...]) -> Act:
    """Pin memories, or unpin them where all of them are pinned."""
    ids = tuple(each.id for each in memories)
    if all(each.pinned for each in memories):
        return Act(
            lambda workspace: _done(workspace.unpin(*ids).commit, f"Unpinned {named(memories)}.", "pins")
        )
    return Act(lambda workspace: _done(workspace.pin(*ids).commit, f"Pinned {named(memories)}.", "unpins"))


def forget(memories: tuple[Memory, ...]) -> Act | str:
    """Archive memories: the agent recalls them no more, and `r` brings them back."""
    if all(each.archived for each in memories):
        return "This is archived already; r brings it back."
    ids = tuple(each.id for each in memories)
    return Act(
        lambda workspace: _done(
            workspace.forget(ids=ids, apply=True).commit, f"Archived {named(memories)}.", "brings it back"
        )
    )


def bring_back(memories: tuple[Memory, ...]) -> Act | str:
    """Bring archived memories back."""
    archived = tuple(each for each in memories if each.archived)
    if not archived:
        return "This is as it is now; there is nothing to bring back."

    def restore(workspace: Workspace) -> str:
        for each in archived:
            workspace.restore(each.id)
        return f"Brought back {named(archived)}. u archives it again."

    return Act(restore)


def reinforce(memories: tuple[Memory, ...]) -> Act:
    """Count a use of memories, and say of one how long it then stays."""
    ids = tuple(each.id for each in memories)

    def count(workspace: Workspace) -> str:
        before = _explained(workspace, ids[0]) if len(ids) == 1 else None
        done = workspace.reinforce(*ids)
        after = _explained(workspace, ids[0]) if len(ids) == 1 else None
        until = ""
        if before is not None and after is not None:
            until = words.kept_until(before.falls, after.falls, after.now.date())
        lasts = f"; it lasts until {until}" if until else ""
        return _done(done.commit, f"Counted a use of {named(memories)}{lasts}.", "takes that back")

    return Act(count)


def _explained(workspace: Workspace, memory_id: str) -> DecayExplained | None:
    try:
        return workspace.decay_explain(memory_id)
    except (NotFound, InvalidInput):
        return None


def _done(commit: str | None, said: str, undone: str) -> str:
    return f"{said} u {undone}." if commit else "Nothing had to change."


VERBS: dict[str, Callable[[tuple[Memory, ...]], Act | str]] = {
    "pin": pin,
    "forget": forget,
    "bring-back": bring_back,
    "reinforce": reinforce,
}


Verb: TypeAlias = "Callable[[tuple[Any, ...]], Act | str]"
OTHER_VERBS: dict[type, Mapping[str, Verb]] = {}
"""Verbs of what is no memory, by its kind; the module of that kind puts them in. Any other says its `elsewhere`."""


def deed(step: NextStep) -> str:
    """Return what a step did, in plain words, cut where they are long."""
    said = plainly(step.summary)
    return said if len(said) <= _LONGEST_QUOTE else said[: _LONGEST_QUOTE - 1] + "…"


def undo(step: NextStep | None, written: Collection[str] = ()) -> Act | str:
    """Take back the newest action; ask first where it is somebody else's.

    Args:
        step: The action.
        written: Commits that were written here: reflections, which a person said yes to a moment ago.
    """
    if step is None:
        return "There is nothing to undo."
    what = f"{deed(step)} ({'yours' if step.own else by_whom(step.by)}, {step.timestamp:%H:%M})"
    call = partial(_undo, step.commit, f"Undone: {what}. U redoes.", confirmed=not step.own)
    if step.own or step.commit in written:
        return Act(call)
    return Act(call, f"Not yours ({by_whom(step.by)}): undo “{deed(step)}”?", "undo")


def redo(step: NextStep | None) -> Act | str:
    """Do again what was taken back last."""
    if step is None:
        return "There is nothing to redo."
    said = f"Redone: {deed(step)}. u takes that back."
    commit, own = step.commit, step.own

    def again(workspace: Workspace) -> str:
        workspace.redo(confirmed=not own, expected=commit)
        return said

    return Act(again) if own else Act(again, f"Not yours ({by_whom(step.by)}): redo “{deed(step)}”?", "redo")


def _undo(commit: str, said: str, workspace: Workspace, *, confirmed: bool) -> str:
    try:
        workspace.undo(confirmed=confirmed, expected=commit)
    except ConfirmationNeeded:
        return "Something newer was done meanwhile; press u again to see what."
    return said
