"""Answers about sessions: what there is, what was said in them, what a model would be shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from workbench.engine.results.json_shape import OR_NULL

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
