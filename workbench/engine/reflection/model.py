"""What a cycle of reflection reads and what its phases hand to each other, as values."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.markdown.pages import Procedure
    from workbench.engine.markdown.reflection_records import Insight, ReflectionRecord
    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.work import Work
    from workbench.engine.results.decay import DecayEntry
    from workbench.engine.results.memories import CoreView


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
