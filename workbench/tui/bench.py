"""Owns what the bench asks of the engine: every call a pane makes, and the frozen answers it draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date, datetime

    from workbench.engine.results import (
        Applied,
        Found,
        IndexStatus,
        Progress,
        Reflected,
        ReflectionDue,
        Review,
        ReviewPreview,
        WhyNot,
    )
    from workbench.tui.decisions import Step


@dataclass(frozen=True, slots=True)
class Status:
    """Where one is, and what waits for a person.

    Args:
        workspace: Name of the folder.
        path: The folder itself.
        role: Whose door this is: `person`, `reader`, …
        now: The engine's time, in the workspace's zone.
        moment: The past moment shown, or None for now.
        alerts: Changes of critical files that nobody has acknowledged.
        to_decide: Review items and proposals without a verdict.
        notices: What works only in part, one sentence each: a stale index, a file that cannot be read whole.
        reading: Files read and files to read, or None when all have been.
        index: What search may not know yet, in a word or two; empty when its index is up to date.
        cycle: How far a reflection is that runs now, in a word or two; empty where none does.
    """

    workspace: str
    path: str
    role: str
    now: datetime
    moment: datetime | None = None
    alerts: int = 0
    to_decide: int = 0
    notices: tuple[str, ...] = ()
    reading: tuple[int, int] | None = None
    index: str = ""
    cycle: str = ""


@dataclass(frozen=True, slots=True)
class CoreItem:
    """One line of core memory; `id` is `core:<block>:<slug>`, `tokens` counts it as the engine does."""

    id: str
    text: str
    tokens: int = 0
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class CoreBlock:
    """One block of MEMORY.md; `budget` is None for a heading that the layout does not know."""

    name: str
    tokens: int
    budget: int | None
    items: tuple[CoreItem, ...] = ()


@dataclass(frozen=True, slots=True)
class CoreMemory:
    """The whole of core memory against its cap, in tokens."""

    blocks: tuple[CoreBlock, ...]
    tokens: int
    cap: int


@dataclass(frozen=True, slots=True)
class Episode:
    """One thing that happened, or one part of a flat daily log.

    Args:
        id: `episode:…`, or `file:…#L…` for a part of a flat log.
        day: In the workspace's zone.
        time: `14:30`, or empty where the file tells none.
        type: `decision`, `fact`, …; `log` for a part of a flat log.
        confidence: `high`, `medium`, `low`, or empty.
        tags: Without `#`.
        source: `conversation`, `reflection`, …
        text: Everything it says.
        path: Workspace-relative.
        score: 0 to 1, or None where it has none.
        status: `active`, `fading`, `dormant`, `archived`, or empty.
        pinned: Never decays.
    """

    id: str
    day: date
    time: str
    type: str
    confidence: str
    tags: tuple[str, ...]
    source: str
    text: str
    path: str
    score: float | None = None
    status: str = ""
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A way from one memory to another: where it leads, and the words to show for it."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change of a memory."""

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    summary: str


@dataclass(frozen=True, slots=True)
class Score:
    """How alive a memory is: `value` 0 to 1, `raw` before the cap, its `status`, and the terms of the formula."""

    value: float
    raw: float
    status: str
    terms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory with all that is known about it, as `show` gives it.

    Args:
        links_to: What it names.
        links_from: What names it, and what was learned from it.
        history: Newest first; None while it has not been looked for, which may take a moment.
    """

    id: str
    store: str
    path: str
    start_line: int
    end_line: int
    text: str
    pinned: bool = False
    score: Score | None = None
    provenance: tuple[str, ...] = ()
    valid_from: str | None = None
    valid_until: str | None = None
    superseded_by: str | None = None
    links_to: tuple[Link, ...] = ()
    links_from: tuple[Link, ...] = ()
    history: tuple[HistoryEntry, ...] | None = None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line of the audit log: one file changed by one action."""

    timestamp: datetime
    action: str
    file: str
    actor: str
    approval: str
    summary: str
    commit: str


@dataclass(frozen=True, slots=True)
class Alert:
    """A change of a critical file that wants a person's word."""

    id: str
    file: str
    timestamp: datetime
    actor: str
    summary: str
    commit: str
    acknowledged: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after; None where it was not there."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One commit of the history with everything it changed."""

    commit: str
    timestamp: datetime
    actor: str
    approval: str
    trigger: str
    summary: str
    files: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an action did; `commit` is None when it changed nothing, `summary` is one sentence for a person."""

    summary: str
    commit: str | None = None
    ids: tuple[str, ...] = ()


class Bench(Protocol):
    """The engine as the panes know it: synchronous, safe from several threads, raising `WorkbenchError`."""

    def place(self) -> Status:
        """Return where one is, at once, as if nothing waited."""
        ...

    def status(self) -> Status:
        """Return where one is and what waits."""
        ...

    def progress(self) -> tuple[int, int] | None:
        """Return how many files have been read and how many there are to read, at once; None when all have been."""
        ...

    def now(self) -> datetime:
        """Return the engine's time in the workspace's zone, at once."""
        ...

    def core(self) -> CoreMemory:
        """Return core memory."""
        ...

    def preview_core(self, block: str, item_id: str | None, text: str) -> CoreMemory:
        """Return core memory as it would be with a text in an item, or in a new one of a block; over its cap or not."""
        ...

    def episodes(self) -> Iterator[Sequence[Episode]]:
        """Yield the timeline newest first, in batches, so that the first is there at once."""
        ...

    def memory(self, memory_id: str) -> Memory:
        """Return one memory with its links and score, without its history; looking here counts as no access."""
        ...

    def history(self, memory: Memory) -> tuple[HistoryEntry, ...]:
        """Return the changes of a memory, newest first."""
        ...

    def audit(self) -> Iterator[Sequence[AuditEntry]]:
        """Yield the audit log newest first, in batches."""
        ...

    def change(self, commit: str) -> Change:
        """Return one commit with the files before and after it."""
        ...

    def alerts(self) -> Sequence[Alert]:
        """Return the alerts that nobody has acknowledged, newest first."""
        ...

    def search(
        self,
        query: str,
        *,
        store: str | None = None,
        after: str | None = None,
        before: str | None = None,
        include_dormant: bool = False,
        max_results: int | None = None,
        explain: bool = False,
    ) -> Found:
        """Return the memories that answer a question, best first; days as `2026-02-14`, both ends included."""
        ...

    def why_not(self, query: str, memory_id: str) -> WhyNot:
        """Return why a memory, told by its id or name, did not come up for a question."""
        ...

    def context(self, path: str, first: int, last: int) -> tuple[str, ...]:
        """Return lines of a file, counted from 1, both ends included; fewer where it ends before."""
        ...

    def index_status(self) -> IndexStatus:
        """Return what the search index holds and how fresh it is."""
        ...

    def sync_index(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> IndexStatus:
        """Bring the search index up to date.

        Args:
            progress: Told what is done and what there is to do, from the calling thread.
            cancelled: Asked now and then whether to stop; what is done stays done.
        """
        ...

    def rebuild_index(
        self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> IndexStatus:
        """Build the search index anew beside the old one, which answers meanwhile; likewise."""
        ...

    def review(self) -> Review:
        """Return the proposal that waits for decisions; one without an id where none does."""
        ...

    def decide(self, step: Step) -> Outcome:
        """Write what a person decided about items of the proposal, or how they reworded one."""
        ...

    def review_preview(self) -> ReviewPreview:
        """Return exactly what applying would write now."""
        ...

    def review_apply(self) -> Applied:
        """Apply what is approved and remember what is rejected, in one commit."""
        ...

    def review_source(self) -> str:
        """Return the proposal’s file as it is; empty where there is none."""
        ...

    def set_review_source(self, source: str, expected: str) -> Outcome:
        """Replace the proposal’s file; refused as stale when it no longer reads `expected`."""
        ...

    def reflection_due(self) -> ReflectionDue:
        """Return whether a cycle of reflection should run, and why."""
        ...

    def reflect(
        self, progress: Callable[[Progress], None], cancelled: Callable[[], bool], *, renew: bool = False
    ) -> Reflected:
        """Run a cycle of reflection, which writes a proposal and nothing else.

        Args:
            progress: Told how far it is, from the calling thread.
            cancelled: Asked now and then whether to stop; nothing is written then.
            renew: Write the waiting proposal anew.
        """
        ...

    def add_core(self, block: str, text: str) -> Outcome:
        """Add an item at the end of a block."""
        ...

    def set_core(self, item_id: str, text: str) -> Outcome:
        """Replace the text of an item."""
        ...

    def remove_core(self, item_ids: Sequence[str]) -> Outcome:
        """Take items out of core memory, all in one commit."""
        ...

    def block_source(self, block: str) -> str:
        """Return the Markdown of a block below its heading."""
        ...

    def set_block_source(self, block: str, source: str, expected: str) -> Outcome:
        """Replace the Markdown of a block; refused as stale when it no longer reads `expected`."""
        ...

    def pin(self, memory_ids: Sequence[str], *, pinned: bool) -> Outcome:
        """Protect memories from decay, or stop protecting them."""
        ...

    def forget(self, memory_ids: Sequence[str]) -> Outcome:
        """Archive memories; nothing is lost."""
        ...

    def revert(self, commit: str) -> Outcome:
        """Take back what a commit did."""
        ...

    def acknowledge(self, alert_ids: Sequence[str]) -> Outcome:
        """Say that changes of critical files were meant."""
        ...

    def undo(self) -> Outcome:
        """Take back the newest action that is not undone yet."""
        ...

    def redo(self) -> Outcome:
        """Do again what was undone last."""
        ...

    def subscribe(self, changed: Callable[[], object]) -> Callable[[], object]:
        """Call `changed`, from any thread, whenever memory has changed; returns what ends it."""
        ...
