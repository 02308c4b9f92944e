"""Answers about what was done to sessions: written, flushed, compacted, begun anew, mended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from workbench.engine.results.memories import Changed
from workbench.engine.results.sessions import FlushCheck, SessionProblem

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
