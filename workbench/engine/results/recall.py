"""Results of recall: what was found and why, what was not, and the state of the index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from workbench.engine.values import dataclass


def citation(path: str, start_line: int, end_line: int) -> str:
    """Return the citation of some lines: `path#L3-L5`, or `path#L3` for one line.

    Args:
        path: As results give it.
        start_line: First line, 1-based.
        end_line: Last line, inclusive.
    """
    return f"{path}#L{start_line}" + (f"-L{end_line}" if end_line > start_line else "")


@dataclass(frozen=True)
class Signals:
    """Scores of each search lane, 0–1, or None without one."""

    vector: float | None
    text: float | None
    graph: float | None
    decay: float | None


@dataclass(frozen=True)
class Lane:
    """A lane's score for a result: `keywords`, `meaning`, `graph` or `dates`.

    Args:
        rank: Its rank in that lane, from 1; None if not found there.
        score: Its score in that lane, 0–1, or None.
        detail: The basis in a few words, such as the matching words or the way through the graph.
    """

    lane: str
    rank: int | None
    score: float | None
    detail: str = ""


@dataclass(frozen=True)
class Explanation:
    """Why a result has its rank.

    Args:
        lanes: Its score in each lane.
        relevance: The combined relevance, 0–1, before the nudges.
        decay_factor: Factor for age and use, close to 1; None without a score.
        nudges: Other adjustments, one sentence each.
    """

    lanes: tuple[Lane, ...]
    relevance: float
    decay_factor: float | None
    nudges: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cut:
    """A candidate left out of the results, and why.

    Args:
        reason: `archived`, `dormant`, `near-duplicate`, `below-minimum`, `weak`, `other-days`,
            `over-budget`, `over-limit`.
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
class HitRelation:
    """A relation of a found entity.

    Args:
        from_: Id of the entity that has it.
        to: Id of the entity it leads to.
        label: Name of the other one: where it leads to or, if it leads to what was found, comes from.
    """

    from_: str
    relation: str
    to: str
    label: str

    def told(self, found: str) -> str:
        """Return it in a few words, such as `developed-by › Alex`, or `Alex › develops` if it leads to what was found.

        Args:
            found: Id of the entity that was found.
        """
        if self.from_ == found:
            return f"{self.relation} › {self.label}"
        return f"{self.label} › {self.relation}"


@dataclass(frozen=True)
class Hit:
    """One search result; lines are 1-based and inclusive.

    Args:
        citation: `path#L3-L5`, or None where citations are off.
        explanation: Why it has its rank, if requested.
        superseded_by: The id of its successor, or None.
        scope: Who it is for; None for the owner alone.
        retired: Whether it no longer holds, with or without a successor.
        until: ISO date until which it held or will hold, or None if the file does not say.
        relations: Of an entity: those that answer the question (design document §11.2), at most eight.
        outdated_by: The approved fact that holds instead of what these lines say, or None.
        outdated_since: ISO date from which that fact holds, or None.
        approved_as: The approved fact that rests on these lines and says what the question asks, or None.
        workspace: Of which of many memories it is; None where one was asked.
        matched: First and last line of the file of what matches best in the snippet, or None where that is not known.
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
    retired: bool = False
    until: str | None = None
    relations: tuple[HitRelation, ...] = ()
    outdated_by: str | None = None
    outdated_since: str | None = None
    approved_as: str | None = None
    workspace: str | None = None
    matched: tuple[int, int] | None = None

    @property
    def place(self) -> str:
        """Return its lines as they are cited, whether or not citations were requested."""
        return citation(self.path, self.start_line, self.end_line)


@dataclass(frozen=True)
class Faded:
    """Memories hidden for having faded that match as well as what was found.

    Args:
        count: How many there are.
        results: The best of them.
    """

    count: int = 0
    results: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Found:
    """Result of `search`.

    Args:
        provider: What made the vectors: builtin, local, openai, gemini, qmd, or none.
        fallback: Why this is not the configured provider, or None.
        likely_absent: Always None: no measure recognised missing answers well enough (`docs/recall.md`).
        strategy: How the question was read: general, when, about, how, latest.
        period: First and last day named in the question, or None.
        stale: What the answer may miss, as a sentence; None if the index is up to date.
        cuts: What was found but left out, if an explanation was requested.
        faded: What would be among the results if it had not faded.
    """

    results: tuple[Hit, ...]
    provider: str
    model: str | None
    fallback: str | None
    likely_absent: bool | None
    took_ms: float
    strategy: str = "general"
    period: tuple[str, str] | None = None
    stale: str | None = None
    cuts: tuple[Cut, ...] = ()
    faded: Faded = Faded()

    def with_hits(self, change: Callable[[Hit], Hit]) -> Found:
        """Return this with each hit changed, those that faded as well."""
        faded = replace(self.faded, results=tuple(map(change, self.faded.results)))
        return replace(self, results=tuple(map(change, self.results)), faded=faded)


@dataclass(frozen=True)
class WhyNot:
    """Why a memory did not come up for a question.

    Args:
        id: The memory.
        rank: Its rank, from 1; None if it is not among the results.
        reason: One sentence on what kept it out, or that nothing did.
        remedy: What would bring it up, or "".
        explanation: Its score in each lane; None if no lane examined it.
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
