"""The bench's calls answered by a real workspace; every line of thinking is the engine's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.tui import bench

if TYPE_CHECKING:
    from workbench.engine import results
    from workbench.engine.workspace import Workspace

_EPISODES_AT_ONCE = 400
_ENTRIES_AT_ONCE = 400


class WorkspaceBench:
    """A workspace opened by a person, as the panes know it.

    Args:
        workspace: Opened with `reads_refresh=False`; this brings it up to date in the background.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._watching: Callable[[], None] | None = None
        self._closed = threading.Event()

    def status(self) -> bench.Status:
        """Return where one is and what waits."""
        workspace = self._workspace
        alerts = workspace.alerts_waiting()
        view = workspace.core()
        over = view.tokens - view.cap
        return bench.Status(
            workspace=workspace.root.name,
            path=str(workspace.root),
            role=workspace.role,
            now=workspace.now(),
            alerts=len(alerts),
            notices=(f"Core memory is {over:,} tokens over its cap",) if over > 0 else (),
        )

    def now(self) -> datetime:
        """Return the engine's time, in the workspace's zone."""
        return self._workspace.now()

    def core(self) -> bench.CoreMemory:
        """Return core memory."""
        view = self._workspace.core()
        return bench.CoreMemory(
            blocks=tuple(
                bench.CoreBlock(
                    name=block.name,
                    tokens=block.tokens,
                    budget=block.budget,
                    items=tuple(
                        bench.CoreItem(item.id, item.text, self.count_tokens(item.text), item.pinned)
                        for item in block.items
                    ),
                )
                for block in view.blocks
            ),
            tokens=view.tokens,
            cap=view.cap,
        )

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text would take in core memory."""
        from workbench.engine.tokens import count_tokens

        return count_tokens(text)

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
        """Return one memory with its links, score and history; looking here counts as no access."""
        shown = self._workspace.show(memory_id, count_access=False)
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
            links_to=self._links(shown.links.to),
            links_from=self._links(shown.links.from_),
            history=tuple(
                bench.HistoryEntry(one.commit, one.timestamp, one.actor, one.approval, one.summary)
                for one in shown.history
            ),
        )

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

    def add_core(self, block: str, text: str) -> bench.Outcome:
        """Add an item at the end of a block."""
        return _outcome(f"Added to {block}.", self._workspace.core_add(block, text))

    def set_core(self, item_id: str, text: str) -> bench.Outcome:
        """Replace the text of an item."""
        return _outcome("Changed.", self._workspace.core_replace(item_id, text))

    def remove_core(self, item_ids: Sequence[str]) -> bench.Outcome:
        """Take items out of core memory, all in one commit."""
        changed = self._workspace.core_remove(*item_ids)
        return _outcome(f"Removed {_counted(item_ids, 'item')} from core memory.", changed)

    def block_source(self, block: str) -> str:
        """Return the Markdown of a block below its heading."""
        found = next((one for one in self._workspace.core().blocks if one.name == block), None)
        return found.body if found else ""

    def set_block_source(self, block: str, source: str, expected: str) -> bench.Outcome:
        """Replace the Markdown of a block; refused as stale when it no longer reads `expected`."""
        return _outcome(f"Saved {block}.", self._workspace.core_set(block, source, expected=expected))

    def pin(self, memory_ids: Sequence[str], *, pinned: bool) -> bench.Outcome:
        """Protect memories from decay, or stop protecting them."""
        act = self._workspace.pin if pinned else self._workspace.unpin
        word = "Pinned" if pinned else "Unpinned"
        return _outcome(f"{word} {_counted(memory_ids, 'memory')}.", act(*memory_ids))

    def forget(self, memory_ids: Sequence[str]) -> bench.Outcome:
        """Archive memories; nothing is lost."""
        forgotten = self._workspace.forget(ids=memory_ids, apply=True)
        return bench.Outcome(f"Archived {_counted(memory_ids, 'memory')}.", forgotten.commit, forgotten.ids)

    def revert(self, commit: str) -> bench.Outcome:
        """Take back what a commit did."""
        return _outcome(f"Took back {commit[:7]}.", self._workspace.revert(commit))

    def acknowledge(self, alert_ids: Sequence[str]) -> bench.Outcome:
        """Say that changes of critical files were meant."""
        changed = [self._workspace.acknowledge(alert_id) for alert_id in alert_ids]
        if not changed:
            raise InvalidInput("No alert was chosen.", remedy="Move to one.")
        return _outcome(f"Acknowledged {_counted(alert_ids, 'alert')}.", changed[-1])

    def undo(self) -> bench.Outcome:
        """Take back the newest action that is not undone yet."""
        changed = self._workspace.undo()
        return _outcome(f"Undid {', '.join(one[:7] for one in changed.ids)}.", changed)

    def redo(self) -> bench.Outcome:
        """Do again what was undone last."""
        changed = self._workspace.redo()
        return _outcome(f"Did {', '.join(one[:7] for one in changed.ids)} again.", changed)

    def subscribe(self, changed: Callable[[], object]) -> Callable[[], object]:
        """Call `changed`, from any thread, whenever memory has changed; returns what ends it."""

        def tell() -> None:
            changed()

        def follow() -> None:
            # What cannot be taken in is told by the panes, whose own reading meets the same trouble.
            with suppress(WorkbenchError):
                self._workspace.adopt()
            if self._workspace.refresh(progress=lambda _done, _all: tell(), cancelled=self._closed.is_set):
                tell()
            if not self._closed.is_set():
                self._watching = self._workspace.watch(lambda _paths: tell())

        follower = threading.Thread(target=follow, name="follow changes", daemon=True)
        follower.start()

        def end() -> None:
            self._closed.set()
            follower.join()
            if self._watching is not None:
                self._watching()

        return end

    def _links(self, ids: Sequence[str]) -> tuple[bench.Link, ...]:
        return tuple(bench.Link(one, self._workspace.title(one)) for one in ids)


def _episode(entry: results.TimelineEntry) -> bench.Episode:
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
    )


def _score(score: results.Score | None) -> bench.Score | None:
    if score is None:
        return None
    numbers = {name: float(value) for name, value in score.terms.items() if isinstance(value, int | float)}
    return bench.Score(score.value, score.raw, score.status, numbers)


def _outcome(summary: str, changed: results.Changed) -> bench.Outcome:
    told = (
        " ".join((summary, *changed.warnings))
        if changed.commit
        else (changed.warnings or ("Nothing changed.",))[0]
    )
    return bench.Outcome(told, changed.commit, changed.ids)


def _counted(things: Sequence[str], noun: str) -> str:
    if len(things) == 1:
        return f"one {noun}"
    return f"{len(things)} {noun[:-1] + 'ies' if noun.endswith('y') else noun + 's'}"
