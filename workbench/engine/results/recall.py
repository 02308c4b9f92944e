"""Answers of recall: what was found and why, what was not, and the state of the index."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


def citation(path: str, start_line: int, end_line: int) -> str:
    """Return the place of some lines as text: `path#L3-L5`, `path#L3` for one line.

    Args:
        path: As results give it.
        start_line: First line, 1-based.
        end_line: Last line, inclusive.
    """
    return f"{path}#L{start_line}" + (f"-L{end_line}" if end_line > start_line else "")


@dataclass(frozen=True)
class Signals:
    """What each lane of search contributed, 0–1 or None where the lane had nothing to say."""

    vector: float | None
    text: float | None
    graph: float | None
    decay: float | None


@dataclass(frozen=True)
class Lane:
    """One lane's word on a result: `keywords`, `meaning`, `graph` or `dates`.

    Args:
        rank: Its place in that lane, from 1; None where the lane did not find it.
        score: What the lane made of it, 0–1; None likewise.
        detail: What it rests on in a few words, such as the words that matched or the way through the graph.
    """

    lane: str
    rank: int | None
    score: float | None
    detail: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why a result stands where it does.

    Args:
        lanes: What each lane said of it.
        relevance: What the lanes together made of it, 0–1, before the nudges.
        decay_factor: What its relevance was multiplied by for its age and use, close to 1; None without a score.
        nudges: What else moved it, one sentence each.
    """

    lanes: tuple[Lane, ...]
    relevance: float
    decay_factor: float | None
    nudges: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cut:
    """A candidate that is not among the results, and why.

    Args:
        reason: `archived`, `dormant`, `near-duplicate`, `below-minimum`, `over-budget`, `over-limit`.
        detail: The reason as a sentence.
        text: Its first words.
        date: Its day, or None.
    """

    id: str
    path: str
    start_line: int
    end_line: int
    score: float
    reason: str
    detail: str
    text: str = ""
    date: str | None = None

    @property
    def place(self) -> str:
        """Return its lines as they are cited."""
        return citation(self.path, self.start_line, self.end_line)


@dataclass(frozen=True)
class Hit:
    """One search result; lines are 1-based and inclusive.

    Args:
        citation: `path#L3-L5`, or None where citations are off.
        explanation: Why it stands here, where that was asked for.
        superseded_by: The id of what replaced it, or None while it holds.
        scope: Whom it is for; None for the owner alone.
    """

    id: str
    path: str
    start_line: int
    end_line: int
    snippet: str
    score: float
    store: str
    status: str | None
    signals: Signals
    title: str = ""
    date: str | None = None
    citation: str | None = None
    explanation: Explanation | None = None
    superseded_by: str | None = None
    scope: str | None = None

    @property
    def place(self) -> str:
        """Return its lines as they are cited, whether citations are asked for or not."""
        return citation(self.path, self.start_line, self.end_line)


@dataclass(frozen=True)
class Found:
    """What `search` answers.

    Args:
        provider: What made the vectors: builtin, local, openai, gemini, qmd, or none.
        fallback: Why another means answered than the configured one, or None.
        likely_absent: Whether nothing found deserves belief.
        strategy: How the question was read: general, when, about, how, latest.
        period: First and last day that the question itself names, or None.
        stale: What the answer may not know yet, as a sentence; None where the index is up to date.
        cuts: What was found and left out, where an explanation was asked for.
    """

    results: tuple[Hit, ...]
    provider: str
    model: str | None
    fallback: str | None
    likely_absent: bool
    took_ms: float
    strategy: str = "general"
    period: tuple[str, str] | None = None
    stale: str | None = None
    cuts: tuple[Cut, ...] = ()


@dataclass(frozen=True)
class WhyNot:
    """Why a memory did not come up for a question.

    Args:
        id: The memory.
        rank: Its place among the results, from 1; None where it is not among them.
        reason: In a sentence, what kept it away or that nothing did.
        remedy: What would bring it up, or the empty string.
        explanation: What each lane made of it; None where none looked at it.
    """

    id: str
    rank: int | None
    reason: str
    remedy: str = ""
    explanation: Explanation | None = None


@dataclass(frozen=True)
class IndexStatus:
    """What the search index holds and how fresh it is.

    Args:
        dimensions: Of its vectors; None without vectors.
        dirty: Whether files changed that it does not know yet.
        last_sync: When it was last brought up to date, aware; None before the first time.
        size_bytes: On disk, embedding cache included.
        fallback: Why another provider than the configured one is at work, or None.
        pending: Files that are still to be read, and chunks that still lack their vector.
        rebuilding: Share done of a rebuild that is under way, 0–1, or None.
        place: The folder it is kept in.
    """

    files: int
    chunks: int
    entities: int
    provider: str
    model: str | None
    dimensions: int | None
    dirty: bool
    last_sync: datetime | None
    size_bytes: int
    fallback: str | None
    pending: int = 0
    rebuilding: float | None = None
    backend: str = "builtin"
    place: str = ""
