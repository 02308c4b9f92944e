"""Answers about sessions: what there is, what was said, what a model would be shown, and what was changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from workbench.engine.results.json_shape import OR_NULL
from workbench.engine.results.memories import Changed

_OR_NULL = {OR_NULL: True}


@dataclass(frozen=True)
class SessionProblem:
    """Something that could not be read as it should.

    Args:
        line: Of the transcript, 1-based; None where it concerns no line.
        message: What is wrong, and what was done about it.
    """

    line: int | None
    message: str


@dataclass(frozen=True)
class FlushCheck:
    """How far a session is from its memory flush.

    Args:
        due: Whether memory should be flushed now.
        reason: Why, or why not; one sentence.
        tokens: Of the context; None where nobody counted or estimated them.
        estimated: Whether the tokens are an estimate of ours.
        window: Tokens of the model's context window.
        reserve: Tokens that are kept free.
        soft: Tokens before the reserve at which the flush is due.
        threshold: Tokens from which on the flush is due.
        compaction_at: Tokens from which on the session is to be compacted.
        compactions: How often it was compacted, the number of its cycle.
        flushed_cycle: The cycle that was flushed last; None for none.
        flushed: When that was.
        ended: Sessions under this key that ended by themselves and were not saved to memory.
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
        key: As the store writes it.
        kind: main, direct, group, channel, subagent, acp, cron, hook, node, global or other.
        agent: Whose it is, or empty.
        channel: The messenger, or empty.
        session_id: Of the transcript in use.
        label: What it is called, or empty.
        model: Of the last answer, or empty.
        created: When it began, where that is known.
        updated: When it was last used.
        fresh: Whether the next message goes on with it.
        expires: When it ends if nothing more is said; None for never.
        transcript: The file, or the database, that it is in; None where there is none.
        size_bytes: Of the transcript.
        flush: How full it is.
        source: `own`, `files`, `database` or `claude-code`.
        shared: Whether others than the person read along.
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
    """The sessions of one store, the latest first.

    Args:
        sessions: Each with its state.
        where: The store.
        source: `own`, `files`, `database`, `both` or `claude-code`.
        problems: What could not be read.
    """

    sessions: tuple[SessionRow, ...]
    where: str
    source: str = "own"
    problems: tuple[SessionProblem, ...] = ()


@dataclass(frozen=True)
class SessionLine:
    """One entry of a transcript, as it is told to a person.

    Args:
        line: In the file, 1-based.
        id: Of the entry, or empty.
        kind: message, compaction, branch_summary, custom, label, reset or another type.
        role: Who speaks, or empty.
        moment: When.
        text: What was said or done; long results of tools are cut.
        tools: Names of the tools that are called in it.
        citation: The id by which memories name this line.
        active: Whether it lies on the branch that ends at the leaf; None where it is too long to look.
        counts: Whether it is part of the conversation; copies of what was sent elsewhere are none.
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
        session: The session.
        lines: Those asked for, in order; what could not be read is among the problems.
        from_: First line asked for.
        next: The first line behind them; None at the end.
        total: Lines of the file.
        problems: Lines among these that could not be read.
    """

    session: SessionRow
    lines: tuple[SessionLine, ...]
    from_: int
    next: int | None
    total: int
    problems: tuple[SessionProblem, ...] = ()


@dataclass(frozen=True)
class ContextMessage:
    """One message that a model would be shown.

    Args:
        role: user, assistant or toolResult.
        line: Where it stands; None for one that was put in.
        citation: The id of that line, or empty.
        tokens: What it takes.
        message: The message itself, as transcripts write it.
        synthetic: Whether it was put in: a summary, or a result that was missing.
    """

    role: str
    line: int | None
    citation: str = field(metadata=_OR_NULL)
    tokens: int
    message: Mapping[str, Any]
    synthetic: bool = False


@dataclass(frozen=True)
class SessionContext:
    """What a model would be shown of a session.

    Args:
        key: Of the session.
        session_id: Of the transcript.
        messages: In order.
        tokens: All of them together.
        window: Tokens of the context window.
        summary_line: Line of the compaction whose summary stands for what was before; None without one.
        left_out: Messages of the branch that found no room.
        repairs: What was put right, one sentence each.
        problems: Lines that could not be read.
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
        first: First line asked for, 1-based.
        lines: Those that could be read, in order.
        problems: Those that could not, and why.
        memories: Ids of the memories that were drawn from a line, by its number.
    """

    first: int
    lines: tuple[SessionLine, ...]
    problems: tuple[SessionProblem, ...] = ()
    memories: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class SessionPlace:
    """Where another program keeps sessions on this machine.

    Args:
        place: A state folder; it is only ever read.
        world: `files`, `database`, `both`, or `claude-code`.
        agents: Whose sessions it has; of Claude Code the projects.
    """

    place: str
    world: str
    agents: tuple[str, ...]


CompactionPhase = Literal["reading", "gathering", "summarising"]


@dataclass(frozen=True)
class SessionAppended:
    """What was written to a transcript.

    Args:
        key: As the store writes it.
        session_id: Of the transcript, a new one where the session had ended.
        lines: The lines written.
        ids: Ids of the entries.
        began: Whether a new session was begun for it.
        reason: Why it was: new, daily, idle, or empty.
        rest: What follows a trigger such as `/new` in the message; None where it held none.
    """

    key: str
    session_id: str
    lines: tuple[int, ...]
    ids: tuple[str, ...]
    began: bool = False
    reason: str = ""
    rest: str | None = None
    ok: bool = True


@dataclass(frozen=True)
class SavedMemory:
    """A memory that a flush saved.

    Args:
        id: Its id.
        text: What it says.
        citation: The line that it comes from.
        known: Whether memory said so already; then nothing was written.
    """

    id: str
    text: str
    citation: str
    known: bool = False


@dataclass(frozen=True)
class Flushed(Changed):
    """What a memory flush did.

    Args:
        key: Of the session.
        saved: What is in memory now, in the order it was said; also what was there already.
        by: `model` or `rules`.
        fallback: Why the rules decided although a model is configured; None where they did not.
        flushed: Whether a flush was made, of the session in use or of those that ended before it.
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
        """Return one sentence on what was saved."""
        fresh = sum(not one.known for one in self.saved)
        known = len(self.saved) - fresh
        again = f"{known} {'was' if known == 1 else 'were'} remembered already"
        if fresh:
            saved = f"Saved {fresh} {'memory' if fresh == 1 else 'memories'}"
            return f"{saved}; {again}." if known else f"{saved}."
        return f"Nothing new to save: {again}." if known else "Nothing was worth saving."


@dataclass(frozen=True)
class CompactionProgress:
    """How far a compaction has come.

    Args:
        phase: `reading` the transcript, `gathering` what is to be left, or `summarising` it.
        done: Lines, messages, or stages of the summary that are done.
        total: How many there are.
    """

    phase: CompactionPhase
    done: int
    total: int


@dataclass(frozen=True)
class Compacted:
    """What a compaction did.

    Args:
        key: Of the session.
        session_id: Of its transcript.
        line: Of the compaction in the transcript; None where there was nothing to compact.
        summary: What stands for what was before.
        by: `model` or `rules`.
        fallback: Why the rules decided although a model is configured.
        tokens_before: Of the context.
        tokens_after: Of the context.
        summarised: How many messages the summary stands for.
        kept: How many were kept as they were.
        compactions: How often the session was compacted by now.
        told: One sentence.
        copied_from: The foreign transcript that was copied first; None for an own one.
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
    """A session that starts over under its key; the transcript before stays.

    Args:
        key: As the store writes it.
        session_id: The new one.
        previous_id: The one before; None where there was none.
        previous_transcript: Its file; None where there is none.
        reason: Why.
        flushed: What was saved of the old one first; None where nothing was asked for.
    """

    key: str
    session_id: str
    previous_id: str | None
    previous_transcript: str | None
    reason: str
    flushed: Flushed | None = None
    ok: bool = True


@dataclass(frozen=True)
class SessionRepaired:
    """What was put right in a transcript.

    Args:
        key: Of the session.
        repairs: What was done, one sentence each.
        problems: What was found.
        copy: The file as it was before; None where nothing of it was replaced.
    """

    key: str
    repairs: tuple[str, ...]
    problems: tuple[SessionProblem, ...]
    copy: str | None
    ok: bool = True


@dataclass(frozen=True)
class SessionRecovered:
    """How a session that failed goes on.

    Args:
        key: Of the session.
        action: `continue`, `retry` or `rotated`.
        session_id: The one to go on with.
        previous_id: The one that was left; None where it goes on.
        told: One sentence.
    """

    key: str
    action: str
    session_id: str
    previous_id: str | None
    told: str
    ok: bool = True
