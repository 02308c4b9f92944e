"""The bench's calls answered by a real workspace; every line of thinking is the engine's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.tui import bench
from workbench.tui.follower import Follower
from workbench.tui.workspace_bench.decay import WorkspaceDecay
from workbench.tui.workspace_bench.door import counted
from workbench.tui.workspace_bench.graph import WorkspaceGraph
from workbench.tui.workspace_bench.importing import WorkspaceImporting
from workbench.tui.workspace_bench.memory import WorkspaceMemory
from workbench.tui.workspace_bench.past import WorkspacePast
from workbench.tui.workspace_bench.proposals import WorkspaceProposals
from workbench.tui.workspace_bench.review import WorkspaceReview
from workbench.tui.workspace_bench.secrets import WorkspaceSecrets
from workbench.tui.workspace_bench.sessions import WorkspaceSessions

if TYPE_CHECKING:
    from workbench.engine.requests import SearchRequest
    from workbench.engine.results.audit import NextStep, NextSteps
    from workbench.engine.results.memories import CoreView, Score, TimelineEntry
    from workbench.engine.results.recall import Found, IndexStatus, WhyNot
    from workbench.engine.workspace import Workspace

_EPISODES_AT_ONCE = 200
_ENTRIES_AT_ONCE = 400
_MOST_HISTORIES = 500


class WorkspaceBench(
    WorkspaceReview,
    WorkspaceProposals,
    WorkspaceSecrets,
    WorkspaceMemory,
    WorkspaceGraph,
    WorkspaceDecay,
    WorkspacePast,
    WorkspaceSessions,
    WorkspaceImporting,
):
    """A workspace opened by a person, as the panes know it.

    Args:
        workspace: Opened with `reads_refresh=False`; this brings it up to date in the background.
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._follower: Follower | None = None
        self._histories: dict[tuple[str, str | None], tuple[bench.HistoryEntry, ...]] = {}

    def place(self) -> bench.Status:
        """Return where one is, at once, as if nothing waited."""
        workspace = self._workspace
        return bench.Status(
            workspace=workspace.root.name or str(workspace.root),
            path=str(workspace.root),
            role=workspace.role,
            now=workspace.now(),
        )

    def status(self) -> bench.Status:
        """Return where one is and what waits."""
        workspace = self._workspace
        unread: list[str] = [self._follower.trouble] if self._follower and self._follower.trouble else []

        def how_many(waiting: Callable[[], int]) -> int:
            try:
                return waiting()
            except WorkbenchError as error:
                unread.append(str(error))
                return 0

        return replace(
            self.place(),
            alerts=how_many(lambda: len(workspace.alerts_waiting())),
            to_decide=sum(
                how_many(each)
                for each in (workspace.review_waiting, self.proposals_waiting, self.held_waiting)
            ),
            reading=self.progress(),
            index=self._follower.index if self._follower is not None else "",
            notices=(*unread, *notices(workspace)),
        )

    def progress(self) -> tuple[int, int] | None:
        """Return how many files have been read and how many there are to read; None when all have been."""
        return self._follower.progress if self._follower is not None else (0, 0)

    def now(self) -> datetime:
        """Return the engine's time, in the workspace's zone."""
        return self._workspace.now()

    def core(self) -> bench.CoreMemory:
        """Return core memory."""
        return self._core(self._workspace.core())

    def preview_core(self, block: str, item_id: str | None, text: str) -> bench.CoreMemory:
        """Return core memory as it would be with a text in an item, or in a new one of a block."""
        return self._core(self._workspace.core_preview(block, text, id=item_id))

    def _core(self, view: CoreView) -> bench.CoreMemory:
        from workbench.engine.tokens import count_tokens

        blocks = tuple(
            bench.CoreBlock(
                name=block.name,
                tokens=block.tokens,
                budget=block.budget,
                items=tuple(
                    bench.CoreItem(item.id, item.text, count_tokens(item.text), item.pinned)
                    for item in block.items
                ),
            )
            for block in view.blocks
        )
        return bench.CoreMemory((*blocks, *self._missing_blocks(view)), view.tokens, view.cap)

    def _missing_blocks(self, view: CoreView) -> tuple[bench.CoreBlock, ...]:
        """Return the standard blocks that are not there yet; none where core memory has headings of its own."""
        budgets = self._workspace.settings.core.budgets
        standard = {block.name for block in view.blocks if block.budget is not None}
        if view.blocks and not standard:
            return ()
        return tuple(
            bench.CoreBlock(name, 0, budget) for name, budget in budgets.items() if name not in standard
        )

    def episodes(self) -> Iterator[Sequence[bench.Episode]]:
        """Yield the timeline newest first, in batches."""
        cursor: str | None = None
        while True:
            page = self._workspace.timeline(before=cursor, limit=_EPISODES_AT_ONCE)
            yield [_episode(entry) for entry in page.entries]
            cursor = page.next
            if cursor is None:
                return

    def memory(self, memory_id: str) -> bench.Memory:
        """Return one memory with its links and score, without its history; looking here counts as no access."""
        shown = self._workspace.show(memory_id, count_access=False, history=False)
        return bench.Memory(
            id=shown.id,
            store=shown.store,
            path=shown.path,
            start_line=shown.start_line,
            end_line=shown.end_line,
            text=shown.text,
            pinned=bool(shown.score and shown.score.status == "pinned"),
            score=_score(shown.score),
            provenance=shown.provenance,
            valid_from=shown.validity.from_,
            valid_until=shown.validity.until,
            superseded_by=shown.validity.superseded_by,
            retired=shown.retired,
            links_to=self._links(shown.links.to),
            links_from=self._links(shown.links.from_),
            scope=shown.scope,
        )

    def history(self, memory: bench.Memory) -> tuple[bench.HistoryEntry, ...]:
        """Return the changes of a memory, newest first; kept until there is another commit."""
        key = (memory.id, self._workspace.head())
        if key not in self._histories:
            if len(self._histories) >= _MOST_HISTORIES:
                self._histories.clear()
            zone = self.now().tzinfo
            self._histories[key] = tuple(
                bench.HistoryEntry(
                    one.commit, one.timestamp.astimezone(zone), one.actor, one.approval, one.summary
                )
                for one in self._workspace.history_of(memory.id, memory.path)
            )
        return self._histories[key]

    def audit(self) -> Iterator[Sequence[bench.AuditEntry]]:
        """Yield the audit log newest first, in batches."""
        for page in self._workspace.audit_pages(_ENTRIES_AT_ONCE):
            yield [
                bench.AuditEntry(
                    one.timestamp.astimezone(self.now().tzinfo),
                    one.action,
                    one.file,
                    one.actor,
                    one.approval,
                    one.summary,
                    one.commit or "",
                    one.group or "",
                    one.action_commits,
                )
                for one in page
            ]

    def change(self, commit: str) -> bench.Change:
        """Return one commit with the files before and after it."""
        view = self._workspace.audit_show(commit)
        difference = self._workspace.audit_diff(commit)
        return bench.Change(
            commit=view.commit,
            timestamp=view.timestamp.astimezone(self.now().tzinfo),
            actor=view.actor,
            approval=view.approval,
            trigger=view.trigger,
            summary=view.subject,
            files=tuple(bench.FileChange(one.path, one.before, one.after) for one in difference.files),
        )

    def alerts(self) -> Sequence[bench.Alert]:
        """Return the alerts that nobody has acknowledged, newest first."""
        return [
            bench.Alert(
                id=one.id,
                file=one.file,
                timestamp=one.timestamp,
                actor=one.actor,
                summary=one.summary,
                commit=one.commit or "",
            )
            for one in self._workspace.alerts_waiting()
        ]

    def search(self, request: SearchRequest) -> Found:
        """Return the memories that answer a question, best first."""
        return self._workspace.search_request(request)

    def why_not(self, query: str, memory_id: str) -> WhyNot:
        """Return why a memory, told by its id or name, did not come up for a question."""
        return self._workspace.why_not(query, memory_id)

    def context(self, path: str, first: int, last: int) -> tuple[str, ...]:
        """Return lines of a file, counted from 1, both ends included; looking here counts as no access."""
        excerpt = self._workspace.get(path, from_=first, lines=last - first + 1, count_access=False)
        return tuple(excerpt.text.splitlines())

    def index_status(self) -> IndexStatus:
        """Return what the search index holds and how fresh it is."""
        return self._workspace.index_status()

    def sync_index(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> IndexStatus:
        """Bring the search index up to date."""
        return self._workspace.index(force=False, progress=progress, cancelled=cancelled)

    def rebuild_index(
        self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> IndexStatus:
        """Build the search index anew beside the old one."""
        return self._workspace.index(force=True, progress=progress, cancelled=cancelled)

    def add_core(self, block: str, text: str) -> bench.Outcome:
        """Add an item at the end of a block."""
        return self._did(f"Added to {block}.", self._workspace.core_add(block, text))

    def set_core(self, item_id: str, text: str) -> bench.Outcome:
        """Replace the text of an item."""
        return self._did("Changed.", self._workspace.core_replace(item_id, text))

    def remove_core(self, item_ids: Sequence[str]) -> bench.Outcome:
        """Take items out of core memory, all in one commit."""
        changed = self._workspace.core_remove(*item_ids)
        return self._did(f"Removed {counted(item_ids, 'item')} from core memory.", changed)

    def block_source(self, block: str) -> str:
        """Return the Markdown of a block below its heading."""
        found = next((one for one in self._workspace.core().blocks if one.name == block), None)
        return found.body if found else ""

    def set_block_source(self, block: str, source: str, expected: str) -> bench.Outcome:
        """Replace the Markdown of a block; refused as stale when it no longer reads `expected`."""
        return self._did(f"Saved {block}.", self._workspace.core_set(block, source, expected=expected))

    def pin(self, memory_ids: Sequence[str], *, pinned: bool) -> bench.Outcome:
        """Protect memories from decay, or stop protecting them."""
        act = self._workspace.pin if pinned else self._workspace.unpin
        word = "Pinned" if pinned else "Unpinned"
        return self._did(f"{word} {counted(memory_ids, 'memory')}.", act(*memory_ids))

    def forget(self, memory_ids: Sequence[str]) -> bench.Outcome:
        """Archive memories; nothing is lost."""
        forgotten = self._workspace.forget(ids=memory_ids, apply=True)
        self._tell()
        return bench.Outcome(f"Archived {counted(memory_ids, 'memory')}.", forgotten.commit, forgotten.ids)

    def revert(self, commit: str) -> bench.Outcome:
        """Take back what a commit did."""
        return self._did(f"Reverted: {self._action([commit])}", self._workspace.revert(commit))

    def revert_action(self, commit: str) -> bench.Outcome:
        """Take back all commits of the action that a commit belongs to."""
        return self._did(f"Took back: {self._action([commit])}", self._workspace.revert(commit, whole=True))

    def try_to_revert(self, *, commit: str = "", reflection: str = "") -> None:
        """Raise what taking back a whole action, or a reflection, would be refused for."""
        if reflection:
            self._workspace.rollback(reflection=reflection, dry_run=True)
        else:
            self._workspace.revert(commit, whole=True, dry_run=True)

    def revert_reflection(self, reflection: str) -> bench.Outcome:
        """Take back everything that a reflection changed."""
        return self._did(
            f"Took back reflection {reflection}.", self._workspace.rollback(reflection=reflection)
        )

    def acknowledge(self, alert_ids: Sequence[str]) -> bench.Outcome:
        """Say that changes of critical files were meant."""
        changed = [self._workspace.acknowledge(alert_id) for alert_id in alert_ids]
        if not changed:
            raise InvalidInput("No alert was chosen.", remedy="Move to one.")
        done = f"Acknowledged {counted(alert_ids, 'alert')}. u does not undo this, but what came before it."
        return self._did(done, changed[-1])

    def next_steps(self) -> NextSteps:
        """Return what undo, undo of the person's own and redo would do, in words for a person."""
        steps = self._workspace.next_steps()

        def told(step: NextStep | None) -> NextStep | None:
            return replace(step, summary=self._in_words(step.summary)) if step else None

        return replace(steps, undo=told(steps.undo), own=told(steps.own), redo=told(steps.redo))

    def undo(self, *, mine: bool = False, sure: bool = False, expected: str | None = None) -> bench.Outcome:
        """Take back the newest action that is not undone yet."""
        changed = self._workspace.undo(mine=mine, confirmed=sure, expected=expected)
        return self._did(f"Undone: {self._action(changed.ids)}", changed)

    def redo(self, *, sure: bool = False, expected: str | None = None) -> bench.Outcome:
        """Do again what was undone last."""
        changed = self._workspace.redo(confirmed=sure, expected=expected)
        return self._did(f"Redone: {self._action(changed.ids)}", changed)

    def subscribe(self, changed: Callable[[], object]) -> Callable[[], object]:
        """Call `changed`, from any thread, whenever memory has changed; returns what ends it."""
        self._tell = changed
        follower = self._follower = Follower(self._workspace, changed)

        def end() -> None:
            self._tell = lambda: None
            follower.stop()

        return end

    def _links(self, ids: Sequence[str]) -> tuple[bench.Link, ...]:
        return tuple(bench.Link(one, self._name_of(one)) for one in ids)


def _episode(entry: TimelineEntry) -> bench.Episode:
    return bench.Episode(
        id=entry.id,
        day=date.fromisoformat(entry.day),
        time=entry.time or "",
        type=entry.type,
        confidence=entry.confidence,
        tags=entry.tags,
        source=entry.source,
        text=entry.text,
        path=entry.path,
        score=entry.score,
        status=entry.status or "",
        pinned=entry.status == "pinned",
        scope=entry.scope,
    )


def _score(score: Score | None) -> bench.Score | None:
    if score is None:
        return None
    numbers = {name: float(value) for name, value in score.terms.items() if isinstance(value, int | float)}
    return bench.Score(score.value, score.raw, score.status, numbers)


def notices(workspace: Workspace) -> Iterator[str]:
    """Yield what works only in part, one sentence each."""
    view = workspace.core()
    if (over := view.tokens - view.cap) > 0:
        yield f"Core memory is {over:,} tokens over its cap."
    if not os.access(workspace.root, os.W_OK):
        yield "This folder cannot be written: memory can be read, not changed."
    with suppress(WorkbenchError):
        for part in workspace.broken_parts():
            yield f"{part.detail} {part.remedy or ''}".strip()
    yield from workspace.warnings
