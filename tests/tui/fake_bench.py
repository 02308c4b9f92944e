"""A small memory of one invented person, kept in the process, that answers the bench as the engine would."""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

from tests.tui.fake_importing import FakeImporting
from tests.tui.fake_recall import answered, explanation, fresh_index
from tests.tui.fake_review import PROPOSAL, FakeReview, open_gate
from tests.tui.fake_seeing import FakeSeeing
from workbench.engine.errors import (
    BudgetExceeded,
    ConfirmationNeeded,
    NotFound,
    Refused,
    Stale,
    WorkbenchError,
)
from workbench.engine.requests import SearchRequest
from workbench.engine.results.audit import NextSteps
from workbench.engine.results.recall import Found, IndexStatus, WhyNot
from workbench.tui.bench import (
    Alert,
    AuditEntry,
    Change,
    CoreBlock,
    CoreItem,
    CoreMemory,
    Episode,
    FileChange,
    HistoryEntry,
    Link,
    Memory,
    Outcome,
    Score,
    Status,
)

ZONE = ZoneInfo("Europe/Lisbon")
NOW = datetime(2026, 2, 2, 14, 30, tzinfo=ZONE)

SAMPLE = tomllib.loads((Path(__file__).parent / "sample.toml").read_text(encoding="utf-8"))


def tokens_of(text: str) -> int:
    """Count tokens roughly, always in the same way."""
    return max(1, (len(text) + 3) // 4 + 1)


def core_item(block: str, text: str, *, pinned: bool = False) -> CoreItem:
    """Return an item as the engine would name it."""
    return CoreItem(f"core:{_slug(block)}:{_slug(text)}", text, tokens_of(text), pinned)


def _slug(text: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in text.lower()).split())[:40] or "item"


@dataclass
class FakeBench(FakeReview, FakeSeeing, FakeImporting):
    """An engine for tests: same answers every time, and a list of what it was asked to do."""

    name: str = "ria-formosa"
    blocks: dict[str, list[CoreItem]] = field(default_factory=dict)
    budgets: dict[str, int | None] = field(default_factory=dict)
    cap: int = 3000
    happened: list[Episode] = field(default_factory=list)
    entries: list[AuditEntry] = field(default_factory=list)
    open_alerts: list[Alert] = field(default_factory=list)
    to_decide: int | None = None
    notices: tuple[str, ...] = ()
    reading: tuple[int, int] | None = None
    looked_up: list[str] = field(default_factory=list)
    index: IndexStatus = field(default_factory=lambda: fresh_index())
    answer: Found | None = None
    searches: list[SearchRequest] = field(default_factory=list)
    calls: list[tuple[str, object]] = field(default_factory=list)
    changes: dict[str, FileChange] = field(
        default_factory=lambda: {row["path"]: FileChange(**row) for row in SAMPLE["change"]}
    )
    step: threading.Event = field(default_factory=open_gate)
    steps_shown: NextSteps = field(default_factory=NextSteps)
    taken_back: list[tuple[bool, bool, str | None]] = field(default_factory=list)
    dependent: WorkbenchError | None = None
    _past: list[dict[str, list[CoreItem]]] = field(default_factory=list)
    _future: list[dict[str, list[CoreItem]]] = field(default_factory=list)

    @classmethod
    def empty(cls) -> FakeBench:
        """Return a workspace with nothing in it."""
        return cls()

    @classmethod
    def filled(cls) -> FakeBench:
        """Return the sample."""
        bench = cls(proposal=PROPOSAL)
        for block in SAMPLE["block"]:
            name = block["name"]
            bench.budgets[name] = block["budget"]
            bench.blocks[name] = [
                core_item(name, item["text"], pinned=item["pinned"]) for item in block["items"]
            ]
        bench.happened = [_episode(row) for row in SAMPLE["episode"]]
        bench.entries = [_entry(**row) for row in SAMPLE["audit"]]
        soul = next(entry for entry in bench.entries if entry.file == "SOUL.md")
        bench.open_alerts = [
            Alert("a-7", "SOUL.md", soul.timestamp, "manual", "rule about sending mail changed", soul.commit)
        ]
        return bench

    # --- reading --------------------------------------------------------------------------------------------

    def status(self) -> Status:
        waiting = self.undecided() if self.to_decide is None else self.to_decide
        return Status(
            self.name, f"/home/mira/{self.name}", self.role, NOW, None, len(self.open_alerts), waiting,
            self.notices, self.reading, "index behind" if self.index.dirty else "",
        )  # fmt: skip

    def place(self) -> Status:
        return Status(self.name, f"/home/mira/{self.name}", self.role, NOW)

    def progress(self) -> tuple[int, int] | None:
        return self.reading

    def now(self) -> datetime:
        return NOW

    def core(self) -> CoreMemory:
        blocks = tuple(
            CoreBlock(name, sum(item.tokens for item in items), self.budgets.get(name), tuple(items))
            for name, items in self.blocks.items()
        )
        return CoreMemory(blocks, sum(block.tokens for block in blocks), self.cap)

    def preview_core(self, block: str, item_id: str | None, text: str) -> CoreMemory:
        blocks = tuple(
            CoreBlock(
                name,
                sum(tokens_of(text) if item.id == item_id else item.tokens for item in items)
                + (
                    tokens_of(text)
                    if item_id is None and block in (name, _slug(name)) and text.strip()
                    else 0
                ),
                self.budgets.get(name),
                tuple(items),
            )
            for name, items in self.blocks.items()
        )
        return CoreMemory(blocks, sum(each.tokens for each in blocks), self.cap)

    def episodes(self) -> Iterator[Sequence[Episode]]:
        for at in range(0, len(self.happened), 500):
            yield self.happened[at : at + 500]

    def history(self, memory: Memory) -> tuple[HistoryEntry, ...]:
        self.looked_up.append(memory.id)
        return (
            HistoryEntry("9c1d2ab", NOW - timedelta(hours=2), "bot:auto-detect", "auto", "logged"),
            HistoryEntry(
                "41f0e77", NOW - timedelta(days=3), "reflection:r-011", "approved", "linked to the report"
            ),
        )

    def memory(self, memory_id: str) -> Memory:
        if memory_id.startswith("core:"):
            item = next((i for items in self.blocks.values() for i in items if i.id == memory_id), None)
            if item is None:
                raise NotFound("There is no such item.", where=memory_id)
            return Memory(
                memory_id, "core", "MEMORY.md", 12, 12, item.text, item.pinned,
                provenance=("episode:2026-02-02:13:55",),
            )  # fmt: skip
        episode = next((each for each in self.happened if each.id == memory_id), None)
        if episode is not None:
            learned = (
                Link("entity:project--winter-count#^d4m2", "Densities are reported per square metre"),
                Link(
                    "core:active-context:currently-working-on-the-winter-count-re",
                    "Currently working on: the winter count report",
                ),
            )
            score = (
                Score(
                    episode.score,
                    episode.score,
                    episode.status,
                    {"base": 0.9, "e^(−λ·days)": 0.86, "log₂(accesses + 1)": 1.58, "type": 1.0},
                )
                if episode.score is not None
                else None
            )
            return Memory(
                memory_id, "episodic", episode.path, 8, 11, episode.text, episode.pinned, score,
                links_from=learned if episode.type == "decision" else (),
                links_to=(Link("entity:project--winter-count", "Winter count"),) if episode.type == "decision" else (),
            )  # fmt: skip
        if memory_id.startswith("entity:"):
            return Memory(
                memory_id, "semantic", "memory/graph/entities/project--winter-count.md", 1, 30,
                SAMPLE["entity"]["text"],
                score=Score(0.95, 1.4, "active"),
            )  # fmt: skip
        raise NotFound("There is no such memory.", where=memory_id, remedy="Look for it with ctrl+p.")

    def search(self, request: SearchRequest) -> Found:
        self.searches.append(request)
        return self.answer if self.answer is not None else answered(self.happened, request)

    def why_not(self, query: str, memory_id: str) -> WhyNot:
        if not any(each.id == memory_id for each in self.happened):
            raise NotFound(f"There is no memory “{memory_id}”.", remedy="Find its id with search.")
        return WhyNot(
            memory_id,
            None,
            "Its words are not those of the question, and its meaning is the 212th nearest.",
            "Ask with a word of it, such as “backup”.",
            explanation(0.12, 1, found=False),
        )

    def context(self, path: str, first: int, last: int) -> tuple[str, ...]:
        day = PurePosixPath(path).stem
        lines = [f"# {day}", ""]
        for episode in self.happened:
            if episode.path == path:
                lines += [f"## {episode.time} | {episode.type} | confidence:{episode.confidence}", ""]
                lines += [*episode.text.splitlines(), ""]
        if len(lines) == 2:
            raise NotFound("There is no such memory file.", where=path)
        return tuple(lines[first - 1 : last])

    def index_status(self) -> IndexStatus:
        return self.index

    def sync_index(self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]) -> IndexStatus:
        return self._index("sync", progress, cancelled)

    def rebuild_index(
        self, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> IndexStatus:
        return self._index("rebuild", progress, cancelled)

    def _index(
        self, call: str, progress: Callable[[int, int], None], cancelled: Callable[[], bool]
    ) -> IndexStatus:
        self.calls.append((call, None))
        for done in range(0, self.index.chunks + 1, 8):
            progress(done, self.index.chunks)
            self.step.wait()
            if cancelled():
                self.calls.append(("stopped", done))
                return self.index
        self.index = replace(self.index, dirty=False, pending=0, last_sync=NOW)
        return self.index

    def audit(self) -> Iterator[Sequence[AuditEntry]]:
        for at in range(0, len(self.entries), 500):
            yield self.entries[at : at + 500]

    def change(self, commit: str) -> Change:
        entries = [entry for entry in self.entries if entry.commit == commit]
        if not entries:
            raise NotFound("There is no such commit.", where=commit)
        first = entries[0]
        files = tuple(
            self.changes.get(entry.file, FileChange(entry.file, None, f"# {entry.file}\n\n{entry.summary}\n"))
            for entry in entries
        )
        return Change(
            commit, first.timestamp, first.actor, first.approval, "user said “we report per square metre”",
            first.summary, files,
        )  # fmt: skip

    def alerts(self) -> Sequence[Alert]:
        return tuple(self.open_alerts)

    def block_source(self, block: str) -> str:
        return "".join(f"- {item.text}\n" for item in self.blocks[block])

    # --- acting ---------------------------------------------------------------------------------------------

    def _guard(self) -> None:
        if self.role == "reader":
            raise Refused("A reader changes nothing.", remedy="Open the workspace as a person.")

    def _changed(self, call: str, what: object) -> None:
        self.calls.append((call, what))
        for listener in list(self.listeners):
            listener()

    def _replace(self, call: str, what: object, blocks: dict[str, list[CoreItem]]) -> None:
        total = sum(item.tokens for items in blocks.values() for item in items)
        if total > self.cap:
            raise BudgetExceeded(
                f"Core memory would take {total:,} of {self.cap:,} tokens.",
                where="MEMORY.md",
                remedy="Make room first, for example with “Boat keys are with Tomás”.",
            )
        self._past.append(self.blocks)
        self._future.clear()
        self.blocks = blocks
        self._changed(call, what)

    def add_core(self, block: str, text: str) -> Outcome:
        self._guard()
        item = CoreItem(f"core:{_slug(block)}:{_slug(text)}", text, tokens_of(text))
        self._replace("add", text, {**self.blocks, block: [*self.blocks[block], item]})
        return Outcome(f"Added to {block}", "aaaaaaa", (item.id,))

    def set_core(self, item_id: str, text: str) -> Outcome:
        self._guard()
        block = next(name for name, items in self.blocks.items() if any(item.id == item_id for item in items))
        new_id = f"core:{_slug(block)}:{_slug(text)}"
        items = [
            replace(item, id=new_id, text=text, tokens=tokens_of(text)) if item.id == item_id else item
            for item in self.blocks[block]
        ]
        self._replace("set", text, {**self.blocks, block: items})
        return Outcome(f"Changed an item of {block}", "bbbbbbb", (new_id,))

    def remove_core(self, item_ids: Sequence[str]) -> Outcome:
        self._guard()
        gone = set(item_ids)
        self._replace(
            "remove",
            tuple(item_ids),
            {name: [i for i in items if i.id not in gone] for name, items in self.blocks.items()},
        )
        return Outcome(f"Removed {len(gone)} item{'s' * (len(gone) != 1)} · u brings it back", "ccccccc")

    def set_block_source(self, block: str, source: str, expected: str) -> Outcome:
        self._guard()
        if self.block_source(block) != expected:
            raise Stale(
                f"{block} has changed meanwhile.", where="MEMORY.md", remedy="Look at it again and edit anew."
            )
        texts = [line[2:] for line in source.splitlines() if line.startswith("- ")]
        items = [CoreItem(f"core:{_slug(block)}:{_slug(text)}", text, tokens_of(text)) for text in texts]
        self._replace("source", source, {**self.blocks, block: items})
        return Outcome(f"Changed {block}", "ddddddd")

    def pin(self, memory_ids: Sequence[str], *, pinned: bool) -> Outcome:
        self._guard()
        chosen = set(memory_ids)
        self.happened = [replace(e, pinned=pinned) if e.id in chosen else e for e in self.happened]
        self._replace(
            "pin" if pinned else "unpin",
            tuple(memory_ids),
            {
                name: [replace(i, pinned=pinned) if i.id in chosen else i for i in items]
                for name, items in self.blocks.items()
            },
        )
        return Outcome(f"{'Pinned' if pinned else 'Unpinned'} {len(chosen)}", "eeeeeee", tuple(memory_ids))

    def forget(self, memory_ids: Sequence[str]) -> Outcome:
        self._guard()
        self.happened = [each for each in self.happened if each.id not in set(memory_ids)]
        self._changed("forget", tuple(memory_ids))
        return Outcome(f"Archived {len(memory_ids)} · u brings it back", "fffffff")

    def revert(self, commit: str) -> Outcome:
        self._guard()
        self._changed("revert", commit)
        return Outcome(f"Reverted {commit[:7]}", "1111111")

    def revert_action(self, commit: str) -> Outcome:
        self._guard()
        self._changed("revert_action", commit)
        return Outcome(f"Took back {commit[:7]}", "1111111")

    def revert_reflection(self, reflection: str) -> Outcome:
        self._guard()
        self._changed("revert_reflection", reflection)
        return Outcome(f"Took back reflection {reflection}", "1111111")

    def try_to_revert(self, *, commit: str = "", reflection: str = "") -> None:
        if self.dependent is not None:
            raise self.dependent

    def acknowledge(self, alert_ids: Sequence[str]) -> Outcome:
        self._guard()
        self.open_alerts = [alert for alert in self.open_alerts if alert.id not in set(alert_ids)]
        self._changed("acknowledge", tuple(alert_ids))
        return Outcome("Acknowledged")

    def next_steps(self) -> NextSteps:
        return self.steps_shown

    def undo(self, *, mine: bool = False, sure: bool = False, expected: str | None = None) -> Outcome:
        self._guard()
        newest = self.steps_shown.undo
        if newest is not None and not newest.own and not sure and not mine:
            raise ConfirmationNeeded("The newest action is not yours.")
        self.taken_back.append((mine, sure, expected))
        if self.take_back():
            self.calls.append(("undo", None))
            return Outcome("Undone: the newest decision", "2222222")
        if not self._past:
            raise NotFound("There is nothing left to undo.")
        self._future.append(self.blocks)
        self.blocks = self._past.pop()
        self._changed("undo", None)
        return Outcome("Undone: the newest change", "2222222")

    def redo(self, *, sure: bool = False, expected: str | None = None) -> Outcome:
        self._guard()
        newest = self.steps_shown.redo
        if newest is not None and not newest.own and not sure:
            raise ConfirmationNeeded("The action undone last is not yours.")
        if self.take_forward():
            self.calls.append(("redo", None))
            return Outcome("Done again", "3333333")
        if not self._future:
            raise NotFound("There is nothing to redo.")
        self._past.append(self.blocks)
        self.blocks = self._future.pop()
        self._changed("redo", None)
        return Outcome("Done again", "3333333")

    def subscribe(self, changed: Callable[[], object]) -> Callable[[], object]:
        self.listeners.append(changed)
        return lambda: self.listeners.remove(changed)


def _episode(row: dict[str, Any]) -> Episode:
    day, score = row["day"], row["score"]
    status = "active" if score >= 0.7 else "fading" if score >= 0.3 else "dormant"
    return Episode(
        f"episode:{day}:{row['time']}",
        date.fromisoformat(day),
        row["time"],
        row["type"],
        row["confidence"],
        tuple(row["tags"].split()),
        row["source"],
        row["text"],
        f"memory/episodes/{day}.md",
        score,
        status,
    )


def _entry(*, when: str, action: str, file: str, actor: str, approval: str, summary: str) -> AuditEntry:
    moment = datetime.fromisoformat(when).replace(tzinfo=ZONE)
    commit = f"{int(moment.timestamp()) // 60 * 2654435761 % 16**7:07x}"
    return AuditEntry(moment, action, file, actor, approval, summary, commit, commit)


def many_episodes(count: int) -> list[Episode]:
    """Return that many episodes, eight a day, newest first."""
    kinds = ("decision", "fact", "preference", "task", "event")
    made: list[Episode] = []
    for at in range(count):
        day = NOW.date() - timedelta(days=at // 8)
        time = f"{20 - at % 8 * 2:02}:{at % 60:02}"
        made.append(
            Episode(
                f"episode:{day}:{time}",
                day,
                time,
                kinds[at % 5],
                "high",
                (f"tag-{at % 17}",),
                "conversation",
                f"Note number {at} about something that happened at the station",
                f"memory/episodes/{day}.md",
                (at % 100) / 100,
                "active",
            ),
        )
    return made
