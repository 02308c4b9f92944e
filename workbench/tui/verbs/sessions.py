"""What keys do to a session: compact it, save what matters of it, start it over, repair it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.words import counted
from workbench.engine.values import dataclass
from workbench.tui.verbs.act import OTHER_VERBS, Act, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.engine.results.sessions import Flushed
    from workbench.engine.steps import Progress
    from workbench.engine.workspace import Workspace

ONE = "One session at a time; esc unmarks."
_ELSEWHERE = "It is kept by another program and stays as it is; m c works on a copy."
_COPIED = " A copy of it was made first."


@dataclass(frozen=True)
class Session:
    """A session in the list, or the one that is read.

    Args:
        title: What it goes by.
        key: What the engine knows it by.
        place: Where another program keeps it; None for this workspace's own.
    """

    id: str
    title: str
    key: str
    place: str | None = None


def compact(
    session: Session, workspace: Workspace, tell: Callable[[str], None], stopped: Callable[[], bool]
) -> str:
    """Put a summary in place of all but the newest messages; called on a thread.

    Args:
        tell: Told in a word or two how far it is.
        stopped: Asked all the while whether it was called off.

    Returns:
        The sentence of the status line.
    """

    def progress(told: Progress) -> None:
        tell(f"{told.phase} {told.done:,} of {told.total:,}; esc stops")

    done = workspace.session_compact(session.key, from_=session.place, progress=progress, cancelled=stopped)
    if done.line is None:
        return done.told
    copied = _COPIED if done.copied_from else ""
    rules = f" {done.fallback}" if done.fallback else ""
    return (
        f"Compacted {quoted(session.title)}: {done.tokens_before:,} tokens became {done.tokens_after:,}; "
        f"the transcript keeps every line.{copied}{rules}"
    )


def save(sessions: tuple[Session, ...]) -> Act | str:
    """Save what matters of a session to memory now."""
    if len(sessions) > 1:
        return ONE
    (session,) = sessions

    def call(workspace: Workspace) -> str:
        done = workspace.session_flush(session.key, now=True, from_=session.place)
        return _saved(done, f" of {quoted(session.title)}")

    return Act(call)


def start_over(sessions: tuple[Session, ...]) -> Act | str:
    """Begin a session anew, after saving what matters."""
    if len(sessions) > 1:
        return ONE
    (session,) = sessions
    if session.place:
        return _ELSEWHERE

    def call(workspace: Workspace) -> str:
        done = workspace.session_reset(session.key)
        saved = f" {_saved(done.flushed)}" if done.flushed is not None else ""
        return " ".join(
            (f"{quoted(session.title)} starts over; its transcript stays.{saved}", *done.warnings)
        )

    return Act(call, f"Start {quoted(session.title)} over? What matters is saved first.", "start over")


def repair(sessions: tuple[Session, ...]) -> Act | str:
    """Empty the lines that cannot be read, so that all others keep their numbers."""
    if len(sessions) > 1:
        return ONE
    (session,) = sessions
    if session.place:
        return _ELSEWHERE

    def call(workspace: Workspace) -> str:
        done = workspace.session_repair(session.key)
        if done.copy is None:
            return f"No line of {quoted(session.title)} is damaged."
        return f"Repaired {quoted(session.title)}. The file as it was is kept beside it."

    return Act(call, f"Repair {quoted(session.title)}? The file as it was stays beside it.", "repair")


def _saved(done: Flushed, of: str = "") -> str:
    """Say what a flush saved."""
    fresh = sum(not one.known for one in done.saved)
    known = len(done.saved) - fresh
    again = f" {counted(known, 'was', 'were')} remembered already." if known else ""
    if fresh:
        said = f"Saved {counted(fresh, 'memory', 'memories')}{of}. ⸨undo⸩ takes that back.{again}"
    else:
        said = f"Nothing new was worth saving{of}.{again}"
    return " ".join((said, *done.warnings, *((done.fallback,) if done.fallback else ())))


OTHER_VERBS[Session] = {
    "save-now": save,
    "start-over": start_over,
    "repair": repair,
    "pin": lambda _sessions: "A session cannot be pinned; what came from it can.",
    "forget": lambda _sessions: "A session is kept as evidence; m b starts it over.",
    "bring-back": lambda _sessions: "A session stays as it was; there is nothing to bring back.",
    "reinforce": lambda _sessions: "A session does not fade.",
}
