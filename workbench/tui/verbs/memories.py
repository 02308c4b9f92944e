"""What keys do to memories: pin, forget, bring back, count a use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.words import in_bench, quoted
from workbench.engine.errors import InvalidInput, NotFound
from workbench.engine.values import dataclass
from workbench.tui.verbs.act import Act, Verb

if TYPE_CHECKING:
    from workbench.engine.results.decay import DecayExplained
    from workbench.engine.workspace import Workspace


@dataclass(frozen=True)
class Memory:
    """A memory under the cursor, or marked.

    Args:
        id: Its id.
        store: core, episodic, semantic, procedural or vault.
        pinned: Whether it is.
        archived: Whether it is.
    """

    id: str
    store: str
    title: str
    pinned: bool = False
    archived: bool = False


def named(memories: tuple[Memory, ...]) -> str:
    """Return the words of one memory, or how many they are."""
    return quoted(memories[0].title) if len(memories) == 1 else f"{len(memories)} memories"


def _of_scores(verb: Verb) -> Verb:
    """Refuse lines that were written into a file as free text: they have no score, so they never fade."""
    return lambda memories: (
        "Free text never fades; ⸨edit⸩ changes it or takes it out."
        if all(each.id.startswith("file:") for each in memories)
        else verb(memories)
    )


@_of_scores
def pin(memories: tuple[Memory, ...]) -> Act | str:
    """Pin memories, or unpin them where all of them are pinned; what is archived does not fade any more."""
    if all(each.archived and not each.pinned for each in memories):
        return "This is archived; ⸨bring-back⸩ brings it back, and then it can be pinned."
    memories = tuple(each for each in memories if each.pinned or not each.archived)
    ids = tuple(each.id for each in memories)
    if all(each.pinned for each in memories):
        return Act(
            lambda workspace: _done(workspace.unpin(*ids).commit, f"Unpinned {named(memories)}.", "pins")
        )
    # What the agent always carries does not fade anyway; pinned, it is not proposed to be taken out either.
    kept = ": no reflection takes it out" if all(each.store == "core" for each in memories) else ""
    said = f"Pinned {named(memories)}{kept}."
    return Act(lambda workspace: _done(workspace.pin(*ids).commit, said, "unpins"))


@_of_scores
def forget(memories: tuple[Memory, ...]) -> Act | str:
    """Archive memories: the agent recalls them no more, and `r` brings them back."""
    if all(each.archived for each in memories):
        return "This is archived already; ⸨bring-back⸩ brings it back."
    memories = tuple(each for each in memories if not each.archived)
    ids = tuple(each.id for each in memories)

    def archive(workspace: Workspace) -> str:
        done = workspace.forget(ids=ids, apply=True)
        said = " ".join((f"Archived {named(memories)}.", *map(in_bench, done.warnings)))
        return _done(done.commit, said, "brings it back" if len(ids) == 1 else "brings them back")

    return Act(archive)


def bring_back(memories: tuple[Memory, ...]) -> Act | str:
    """Bring archived memories back."""
    archived = tuple(each for each in memories if each.archived)
    if not archived:
        return "This is as it is now; there is nothing to bring back."

    def restore(workspace: Workspace) -> str:
        for each in archived:
            workspace.restore(each.id)
        return f"Brought back {named(archived)}. ⸨undo⸩ archives it again."

    return Act(restore)


@_of_scores
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
    return f"{said} ⸨undo⸩ {undone}." if commit else "Nothing had to change."


VERBS: dict[str, Verb] = {
    "pin": pin,
    "forget": forget,
    "bring-back": bring_back,
    "reinforce": reinforce,
}


@dataclass(frozen=True)
class Copied:
    """What can be copied of a thing; empty where it has none.

    Args:
        quote: What was said, by whom and when.
        id: Its id.
    """

    text: str
    citation: str = ""
    quote: str = ""
    id: str = ""


def copied_memory(workspace: Workspace, memory_id: str) -> Copied:
    """Read what can be copied of a memory; called on a thread."""
    shown = workspace.show(memory_id, count_access=False, history=False)
    lines = f"{shown.start_line}" + (f"-{shown.end_line}" if shown.end_line != shown.start_line else "")
    quote = ""
    for saying in workspace.why(memory_id).said:
        if saying.quote:
            by = words.speaker(saying.speaker) if saying.speaker is not None else ""
            when = words.moment(saying.moment, workspace.now()) if saying.moment is not None else ""
            told = ", ".join(filter(None, (by, when)))
            quote = f"“{saying.quote}” ({told})" if told else f"“{saying.quote}”"
            break
    return Copied(shown.text, f"{shown.path}:{lines}", quote, shown.id)
