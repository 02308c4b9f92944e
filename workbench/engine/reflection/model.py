"""What a cycle of reflection reads and what its phases hand to each other, as values.

A running phase reports to its `Work`, and asks it: progress, cancellation, the token budget, what was done instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from workbench.engine.errors import Cancelled as Cancelled
from workbench.engine.results.reviews import CycleProgress, Phase
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.markdown.pages import Procedure
    from workbench.engine.markdown.reflection_records import Insight, ReflectionRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.results.decay import DecayEntry
    from workbench.engine.results.memories import CoreView

RULES: Final = "rules"
"""What a phase that asked no model, or had no use of its answer, was done by."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What one voice says in one go: an episode, a turn of a log, a stretch of notes.

    Args:
        id: By which it is cited: `episode:…`, or `file:PATH#L3-L5` with just its own lines.
        text: Its words, without time, speaker's label and list mark; lines stay lines.
        path: Workspace-relative file.
        start_line: First line in the file, 1-based.
        end_line: Last line, inclusive.
        moment: When it was said, aware; None where nothing says so.
        speaker: As the label says it (`Maria`, `user`, `assistant`); empty where there is none.
        type: An episode's type (decision, preference, correction …), else empty.
        confidence: high, medium, low or empty.
        source: `user-explicit`, `conversation` or another word; empty where nothing is said.
        tags: Topical tags.
        section: The heading it stands under.
    """

    id: str
    text: str
    path: str
    start_line: int
    end_line: int
    moment: datetime | None = None
    speaker: str = ""
    type: str = ""
    confidence: str = ""
    source: str = ""
    tags: tuple[str, ...] = ()
    section: str = ""

    @property
    def day(self) -> str:
        """Return the ISO date of its moment, empty where it has none."""
        return self.moment.date().isoformat() if self.moment else ""


@dataclass(frozen=True)
class Snapshot:
    """Everything that a cycle may look at, as it stood when the cycle began.

    Args:
        now: In the workspace's zone.
        owner: The person's name as core memory has it; empty where it does not say. “user” in a log is the owner.
        passages: What is new since the last reflection, oldest first: all that is surveyed deeply.
        earlier: Finds older passages near a text, at most so many; its cost does not grow with their number.
        graph: Entities, facts and relations: `entity`, `named`, `called`, `resolve`, `facts_of`, `edges_of` …
        core: Core memory with its tokens.
        procedures: Every procedure file.
        fading: Memories whose score is below the thresholds of dormant and archived, lowest first, bounded.
        often: Memories most accessed of late, highest score first, bounded.
        archived: Memories that were archived and not forgotten by name, newest first, bounded.
        titles: Names memories by id, for people.
        text_of: Gives a memory's own words by id, None where there is none: what quotes are checked against.
        records: Every reflection so far, oldest first.
        insights: Of `evolution.md`.
        relations: The workspace's vocabulary of relations.
        number: Of this reflection, from 1.
    """

    now: datetime
    owner: str
    passages: tuple[Passage, ...]
    earlier: Callable[[str, int], Sequence[Passage]]
    graph: Lookups
    core: CoreView
    procedures: tuple[Procedure, ...]
    fading: tuple[DecayEntry, ...]
    often: tuple[DecayEntry, ...]
    archived: tuple[DecayEntry, ...]
    titles: Callable[[str], str]
    text_of: Callable[[str], str | None]
    records: tuple[ReflectionRecord, ...]
    insights: tuple[Insight, ...]
    relations: tuple[str, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Area:
    """One thing to look into.

    Args:
        subject: What it is about: an entity's label, a topic, a day.
        passages: Indices into the snapshot's passages.
        weight: How much it matters, most first.
        reason: Why, one line.
        entity: The entity `type--slug` where it is a known one.
    """

    subject: str
    passages: tuple[int, ...]
    weight: float
    reason: str
    entity: str = ""


@dataclass(frozen=True)
class Agenda:
    """What the survey found worth looking into, most important first."""

    areas: tuple[Area, ...]


@dataclass(frozen=True)
class Guidance:
    """What meta-reflection gives to this cycle.

    Args:
        themes: What recurs across reflections, one line each.
        revised: Assumptions that were revised.
        persistent: Questions that stay open.
        items: Insights and milestones to propose.
        milestone: What is due at this number of reflections (§10.4), empty where nothing is.
    """

    themes: tuple[str, ...] = ()
    revised: tuple[str, ...] = ()
    persistent: tuple[str, ...] = ()
    items: tuple[ReviewItem, ...] = ()
    milestone: str = ""


@dataclass(frozen=True)
class Summary:
    """What a person reads before the items.

    Args:
        opening: One paragraph.
        prose: Free text by section heading, shown above its items.
    """

    opening: str
    prose: Mapping[str, str]


class Mind(Protocol):
    """What thinks in a cycle: built-in rules, or a model that falls back on them phase by phase.

    Every phase is a function of the snapshot and of what the phases before it gave; none writes anything.
    """

    @property
    def name(self) -> str:
        """Return what is at work, for people: `rules`, or a model's name."""
        ...

    def survey(self, snapshot: Snapshot, work: Work) -> Agenda:
        """Say what to look into."""
        ...

    def look_back(self, snapshot: Snapshot, agenda: Agenda, work: Work) -> Guidance:
        """Review past reflections and the evolution of understanding."""
        ...

    def consolidate(
        self, snapshot: Snapshot, agenda: Agenda, guidance: Guidance, work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose entities, facts, relations, merges, updates, contradictions, procedures, archival, questions."""
        ...

    def rewrite_core(
        self, snapshot: Snapshot, agenda: Agenda, items: tuple[ReviewItem, ...], work: Work
    ) -> tuple[ReviewItem, ...]:
        """Propose changes of core memory that keep within its cap, each applied alone or all together."""
        ...

    def summarise(
        self, snapshot: Snapshot, items: tuple[ReviewItem, ...], guidance: Guidance, work: Work
    ) -> Summary:
        """Say in words what is proposed."""
        ...


@dataclass(frozen=True)
class PhaseAccount:
    """What one phase took.

    Args:
        phase: Which.
        mind: What did it: `rules`, or a model's name.
        tokens: Output tokens: a model's as the server counts them, those of the items' words for rules.
        seconds: Wall time.
        fallback: Why rules did it though a model was to; None where that did not happen.
    """

    phase: Phase
    mind: str
    tokens: int = 0
    seconds: float = 0.0
    fallback: str | None = None


@dataclass(frozen=True)
class Exchange:
    """One question to a model with its answer, to be inspected afterwards.

    Args:
        phase: Which.
        model: As the server names it.
        messages: Role and content of each.
        answer: Its words as they came; empty where none came.
        problem: Why the answer could not be used, empty where it could.
        prompt_tokens: As the server counted, else None.
        completion_tokens: The same for what it answered.
    """

    phase: Phase
    model: str
    messages: tuple[tuple[str, str], ...]
    answer: str
    problem: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


@dataclass
class Work:
    """The account of one cycle while it runs; the only thing about it that changes.

    Args:
        cap: Output tokens that the cycle may take (design document §10.2).
        report: Told of progress, on the thread that runs the cycle.
        cancelled: Asked often.
    """

    cap: int = 8000
    report: Callable[[CycleProgress], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False
    phase: Phase = Phase.SURVEY
    spent: int = 0
    accounts: list[PhaseAccount] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    unread: int | None = None
    """Index of the first passage that there was no budget left to read; None where all were read."""

    def begin(self, phase: Phase, mind: str) -> None:
        """Enter a phase."""
        self.phase = phase
        self.accounts.append(PhaseAccount(phase, mind))
        self.step(0, 0)

    def step(self, done: int, total: int) -> None:
        """Report progress within the phase.

        Raises:
            Cancelled: The cycle was called off.
        """
        self.check()
        self.report(CycleProgress(self.phase, done, total, self.spent, self.cap))

    def check(self) -> None:
        """Raise `Cancelled` where the cycle was called off."""
        if self.cancelled():
            raise Cancelled("The reflection was called off; nothing was written.")

    @property
    def left(self) -> int:
        """Return the output tokens that may still be spent."""
        return max(0, self.cap - self.spent)

    def spend(self, tokens: int) -> None:
        """Count output tokens against the cycle and the phase."""
        self.spent += tokens
        self.accounts[-1] = replace(self.accounts[-1], tokens=self.accounts[-1].tokens + tokens)

    def fell_back(self, reason: str) -> None:
        """Note that rules did this phase, or part of it, and why."""
        last = self.accounts[-1]
        self.accounts[-1] = replace(last, mind=RULES, fallback=last.fallback or reason)

    def done_by(self, mind: str) -> None:
        """Note that another mind than the announced one did this phase, as there was nothing to ask it."""
        self.accounts[-1] = replace(self.accounts[-1], mind=mind)

    def took(self, seconds: float) -> None:
        """Note the wall time of the phase that ends."""
        self.accounts[-1] = replace(self.accounts[-1], seconds=seconds)
