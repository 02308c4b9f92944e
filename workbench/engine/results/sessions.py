"""Results about sessions: listings, transcripts, model contexts, and changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from workbench.engine.results import OR_NULL
from workbench.engine.results.memories import Changed
from workbench.engine.values import dataclass

_OR_NULL = {OR_NULL: True}


@dataclass(frozen=True)
class SessionProblem:
    """Something that could not be read.

    Args:
        line: 1-based line of the transcript; None if no line is concerned.
        message: The problem, and what was done about it.
    """

    line: int | None
    message: str


@dataclass(frozen=True)
class FlushCheck:
    """How far a session is from its memory flush.

    Args:
        due: Whether memory should be flushed now.
        reason: Why, or why not; one sentence.
        tokens: Of the context; None if neither counted nor estimated.
        estimated: Whether the tokens are our estimate.
        window: Tokens of the model's context window.
        reserve: Tokens kept free.
        soft: Margin in tokens before the reserve.
        threshold: Tokens from which the flush is due.
        compaction_at: Tokens from which the session should be compacted.
        compactions: Number of compactions, which is the number of its cycle.
        flushed_cycle: The last flushed cycle, or None.
        flushed: When that was.
        ended: Sessions under this key that ended by themselves and are not saved to memory.
    """

    due: bool
    reason: str
    tokens: int | None
    estimated: bool
    window: int
    reserve: int
    soft: int
    threshold: int
    compaction_at: int
    compactions: int
    flushed_cycle: int | None
    flushed: datetime | None
    ended: int = 0


@dataclass(frozen=True)
class SessionRow:
    """One session.

    Args:
        kind: main, direct, group, channel, subagent, acp, cron, hook, node, global or other.
        agent: Its agent, or "".
        channel: The messenger, or "".
        session_id: Of the transcript in use.
        label: Its label, or "".
        model: Of the last answer, or "".
        created: When it began, or None.
        updated: When it was last used.
        fresh: Whether the next message continues it.
        expires: When it ends if nothing more is said; None for never.
        transcript: Its file or database; None without one.
        size_bytes: Of the transcript.
        flush: How full it is.
        source: `own`, `files`, `database`, `claude-code` or `codex`.
        shared: Whether others besides the user read along.
    """

    key: str
    kind: str
    agent: str = field(metadata=_OR_NULL)
    channel: str = field(metadata=_OR_NULL)
    session_id: str = field(metadata=_OR_NULL)
    label: str = field(metadata=_OR_NULL)
    model: str = field(metadata=_OR_NULL)
    created: datetime | None
    updated: datetime | None
    fresh: bool
    expires: datetime | None
    transcript: str | None
    size_bytes: int
    flush: FlushCheck
    source: str = "own"
    shared: bool = False


@dataclass(frozen=True)
class Sessions:
    """The sessions of one store, latest first.

    Args:
        sessions: Each with its state.
        where: The store.
        source: `own`, `files`, `database`, `both`, `claude-code` or `codex`.
        problems: What could not be read.
    """

    sessions: tuple[SessionRow, ...]
    where: str
    source: str = "own"
    problems: tuple[SessionProblem, ...] = ()


@dataclass(frozen=True)
class SessionLine:
    """One transcript entry, for people.

    Args:
        line: 1-based line of the file.
        id: Of the entry, or "".
        kind: message, compaction, branch_summary, custom, label, reset or another type.
        role: The speaker, or "".
        moment: When.
        text: What was said or done; long tool results are cut.
        tools: Names of the tools it calls.
        citation: The id by which memories name this line.
        active: Whether it lies on the active branch; None if the transcript is too long to check.
        counts: Whether it is part of the conversation, rather than a copy of something sent elsewhere.
    """

    line: int
    id: str = field(metadata=_OR_NULL)
    kind: str
    role: str = field(metadata=_OR_NULL)
    moment: datetime | None
    text: str
    tools: tuple[str, ...]
    citation: str
    active: bool | None = True
    counts: bool = True


@dataclass(frozen=True)
class SessionView:
    """A session with some lines of its transcript.

    Args:
        lines: The requested lines, in order; unreadable ones are among the problems.
        from_: First requested line.
        next: The line after them; None at the end.
        total: Lines of the file.
        problems: Unreadable lines among these.
    """

    session: SessionRow
    lines: tuple[SessionLine, ...]
    from_: int
    next: int | None
    total: int
    problems: tuple[SessionProblem, ...] = ()


@dataclass(frozen=True)
class ContextMessage:
    """One message in a model's context.

    Args:
        role: user, assistant or toolResult.
        line: Its line; None if it was inserted.
        citation: The id of that line, or "".
        message: The message in transcript format.
        synthetic: Whether it was inserted: a summary, or a missing result.
    """

    role: str
    line: int | None
    citation: str = field(metadata=_OR_NULL)
    tokens: int
    message: Mapping[str, Any]
    synthetic: bool = False


@dataclass(frozen=True)
class SessionContext:
    """What a model would see of a session.

    Args:
        messages: In order.
        window: Tokens of the context window.
        summary_line: Line of the compaction whose summary replaces earlier entries, or None.
        left_out: Messages of the branch that did not fit.
        repairs: What was repaired, one sentence each.
        problems: Unreadable lines.
    """

    key: str
    session_id: str
    messages: tuple[ContextMessage, ...]
    tokens: int
    window: int
    summary_line: int | None
    left_out: int
    repairs: tuple[str, ...] = ()
    problems: tuple[SessionProblem, ...] = ()


@dataclass(frozen=True)
class TranscriptPage:
    """Some lines of a transcript.

    Args:
        first: First requested line, 1-based.
        lines: The readable ones, in order.
        problems: The unreadable ones, and why.
        memories: Ids of the memories drawn from a line, by its number.
    """

    first: int
    lines: tuple[SessionLine, ...]
    problems: tuple[SessionProblem, ...] = ()
    memories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionPlace:
    """Where another program keeps sessions on this machine.

    Args:
        place: A state folder; never written.
        world: `files`, `database`, `both`, `claude-code`, or `codex`.
        agents: Its agents with sessions; for Claude Code, projects; for Codex CLI, itself.
    """

    place: str
    world: str
    agents: tuple[str, ...]


@dataclass(frozen=True)
class SessionAppended:
    """Outcome of writing to a transcript.

    Args:
        session_id: Of the transcript; new if the session had ended.
        lines: The lines written.
        ids: Ids of the entries.
        began: Whether a new session was begun for it.
        reason: Why: new, daily, idle, or "".
        rest: Text after a trigger such as `/new` in the message, or None.
        warnings: What was not done as asked.
    """

    key: str
    session_id: str
    lines: tuple[int, ...]
    ids: tuple[str, ...]
    began: bool = False
    reason: str = ""
    rest: str | None = None
    ok: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SavedMemory:
    """A memory that a flush saved.

    Args:
        id: Its id.
        citation: The line it comes from.
        known: Whether memory already had it, so that nothing was written.
    """

    id: str
    text: str
    citation: str
    known: bool = False


@dataclass(frozen=True)
class Flushed(Changed):
    """Outcome of a memory flush.

    Args:
        saved: What memory holds now, in the order it was said, including what it held before.
        by: `model` or `rules`.
        fallback: Why the rules decided although a model is configured, or None.
        flushed: Whether anything was flushed, from the present session or ended ones before it.
        check: How full the session was.
    """

    key: str = ""
    saved: tuple[SavedMemory, ...] = ()
    by: str = "rules"
    fallback: str | None = None
    flushed: bool = False
    check: FlushCheck | None = None

    @property
    def told(self) -> str:
        """Describe in one sentence what was saved."""
        fresh = sum(not one.known for one in self.saved)
        known = len(self.saved) - fresh
        again = f"{known} {'was' if known == 1 else 'were'} remembered already"
        if fresh:
            saved = f"Saved {fresh} {'memory' if fresh == 1 else 'memories'}"
            return f"{saved}; {again}." if known else f"{saved}."
        return f"Nothing new to save: {again}." if known else "Nothing was worth saving."


@dataclass(frozen=True)
class Compacted:
    """Outcome of a compaction.

    Args:
        session_id: Of its transcript.
        line: Of the compaction in the transcript; None if there was nothing to compact.
        summary: The summary of what was removed.
        by: `model` or `rules`.
        fallback: Why the rules decided although a model is configured.
        tokens_before: Of the context.
        tokens_after: Of the context.
        summarised: Number of summarised messages.
        kept: Number of messages kept.
        compactions: Number of compactions so far.
        told: One sentence.
        copied_from: The foreign transcript copied first, or None.
    """

    key: str
    session_id: str
    line: int | None
    summary: str
    by: str
    fallback: str | None
    tokens_before: int
    tokens_after: int
    summarised: int
    kept: int
    compactions: int
    told: str
    copied_from: str | None = None
    ok: bool = True


@dataclass(frozen=True)
class SessionBegun:
    """A session restarted under its key; the old transcript stays.

    Args:
        session_id: The new one.
        previous_id: The previous one, or None.
        previous_transcript: Its file, or None.
        flushed: What was saved of the old one first; None if not requested.
        warnings: What the command of `sessions.on_reset` did not do.
    """

    key: str
    session_id: str
    previous_id: str | None
    previous_transcript: str | None
    reason: str
    flushed: Flushed | None = None
    ok: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SessionRepaired:
    """Outcome of a repair.

    Args:
        repairs: What was done, one sentence each.
        copy: The original file; None if nothing was replaced.
    """

    key: str
    repairs: tuple[str, ...]
    problems: tuple[SessionProblem, ...]
    copy: str | None
    ok: bool = True


@dataclass(frozen=True)
class SessionRecovered:
    """How a failed session continues.

    Args:
        action: `continue`, `retry` or `rotated`.
        session_id: The session to continue with.
        previous_id: The abandoned one, or None.
        told: One sentence.
    """

    key: str
    action: str
    session_id: str
    previous_id: str | None
    told: str
    ok: bool = True
