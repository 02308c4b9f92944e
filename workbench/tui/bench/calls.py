"""The engine as the panes know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from workbench.tui.bench.decay import DecayCalls
from workbench.tui.bench.graph import GraphCalls
from workbench.tui.bench.importing import ImportCalls
from workbench.tui.bench.memory import MemoryCalls
from workbench.tui.bench.past import PastCalls
from workbench.tui.bench.proposals import ProposalCalls
from workbench.tui.bench.review import ReviewCalls
from workbench.tui.bench.secrets import SecretCalls
from workbench.tui.bench.sessions import SessionCalls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from workbench.engine.requests import SearchRequest
    from workbench.engine.results.audit import NextSteps
    from workbench.engine.results.recall import Found, IndexStatus, WhyNot
    from workbench.tui.bench.answers import (
        Alert,
        AuditEntry,
        Change,
        CoreMemory,
        Episode,
        HistoryEntry,
        Memory,
        Outcome,
        Status,
    )


class Bench(
    ReviewCalls,
    ProposalCalls,
    SecretCalls,
    MemoryCalls,
    GraphCalls,
    DecayCalls,
    PastCalls,
    SessionCalls,
    ImportCalls,
    Protocol,
):
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

    def search(self, request: SearchRequest) -> Found:
        """Return the memories that answer a question, best first."""
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

    def revert_action(self, commit: str) -> Outcome:
        """Take back all commits of the action that a commit belongs to."""
        ...

    def revert_reflection(self, reflection: str) -> Outcome:
        """Take back everything that a reflection changed, in however many commits."""
        ...

    def try_to_revert(self, *, commit: str = "", reflection: str = "") -> None:
        """Raise what taking back a whole action, or a reflection, would be refused for."""
        ...

    def acknowledge(self, alert_ids: Sequence[str]) -> Outcome:
        """Say that changes of critical files were meant."""
        ...

    def next_steps(self) -> NextSteps:
        """Return what undo, undo of the person's own and redo would do, in words for a person."""
        ...

    def undo(self, *, mine: bool = False, sure: bool = False, expected: str | None = None) -> Outcome:
        """Take back the newest action that is not undone yet.

        Args:
            mine: The newest of the person's own instead.
            sure: It may be somebody else's; otherwise `ConfirmationNeeded` is raised, and nothing done.
            expected: The commit of the action that was shown.
        """
        ...

    def redo(self, *, sure: bool = False, expected: str | None = None) -> Outcome:
        """Do again what was undone last; arguments as for `undo`."""
        ...

    def subscribe(self, changed: Callable[[], object]) -> Callable[[], object]:
        """Call `changed`, from any thread, whenever memory has changed; returns what ends it."""
        ...
