"""Takes the snapshot that a cycle of reflection looks at: one commit of the files, with what the catalog knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.engine.documents import PendingReflection, Procedure, ReflectionLog
    from workbench.engine.history import FileView
    from workbench.engine.reflection.backlog import Backlog
    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.reflection.unread import ReadMark
    from workbench.engine.results import DecayEntry, DecayView, Hit
    from workbench.engine.workspace.ground import Ground

_MOST_SCORED = 400
# Of the backlog a cycle takes up this many times what fits one proposal.
_BACKLOG_SHARE = 2
_ARCHIVED_BY_REFLECTION = re.compile(r"\bapproved: archive[^`\[]*`([^`\s]+)`")
READ = "read"
"""The field of a reflection's record that holds its `ReadMark`."""
TRACES = "reflections"
"""The folder, beside the index, of what reflections leave behind on this machine."""
READ_META = "Read"
"""The line of a proposal that holds it until then."""


@dataclass(frozen=True)
class Unread:
    """What no reflection has read.

    Args:
        head: The commit that was looked at; empty where there is no history.
        mark: How far was read before.
        passages: Oldest first.
        backlog: Items that were found before and had no room.
    """

    head: str
    mark: ReadMark
    passages: tuple[Passage, ...]
    backlog: Backlog

    @property
    def entries(self) -> int:
        """Return how many episodes and sections of logs they come from."""
        return len(
            {(passage.section and (passage.path, passage.section)) or passage.id for passage in self.passages}
        )

    def mark_after(self, first_unread: int | None, *, left_over: bool) -> ReadMark:
        """Return the mark for when these have been read.

        Args:
            first_unread: Index of the first passage that there was no budget to read; None where all were read.
            left_over: Whether items found no room, and wait in the backlog.
        """
        from workbench.engine.reflection.unread import ReadMark, order_of

        before = replace(self.mark, otherwise=None)
        lost = self.mark.otherwise if self.backlog.items and self.mark.otherwise else before
        if first_unread is None:
            mark = ReadMark(self.head)
        elif first_unread == 0:
            mark = before
        else:
            mark = ReadMark(self.mark.base, self.head, order_of(self.passages[first_unread - 1]))
        return replace(mark, otherwise=lost) if left_over else mark


def read_log(view: FileView) -> ReflectionLog:
    """Return the record of reflections."""
    from workbench.engine.documents import ReflectionLog

    return ReflectionLog.parse(view.read(layout.REFLECTION_LOG) or b"", layout.REFLECTION_LOG)


def read_pending(view: FileView) -> PendingReflection:
    """Return the proposal that waits; one without items where none does."""
    from workbench.engine.documents import PendingReflection

    return PendingReflection.parse(view.read(layout.PENDING_REFLECTION) or b"", layout.PENDING_REFLECTION)


def last_mark(ground: Ground, view: FileView) -> ReadMark:
    """Return how far reflection has read; nothing where the history no longer knows that commit.

    The mark stands with the proposal, and goes into the log with its decisions: a proposal that somebody deletes
    was never read.
    """
    return _standing_mark(ground, view)[0]


def _standing_mark(ground: Ground, view: FileView) -> tuple[ReadMark, Backlog]:
    """Return the mark with the backlog that belongs to it; without that, the mark from which it can be found again."""
    from workbench.engine.reflection.backlog import Backlog, parse_backlog
    from workbench.engine.reflection.unread import ReadMark

    written = [(record.id, dict(record.fields).get(READ, "")) for record in read_log(view).records]
    pending = read_pending(view)
    written.append((pending.reflection, dict(pending.meta).get(READ_META, "")))
    reflection, text = next((each for each in reversed(written) if each[1]), ("", ""))
    mark = ReadMark.parse(text)
    backlog = Backlog()
    if mark.otherwise is not None:
        # A long backlog is not read to its end: what a reflection costs shall not grow with it.
        turn = _BACKLOG_SHARE * ground.settings.reflection.items
        kept = parse_backlog(_read_derived(backlog_place(ground)), reflection, turn)
        mark, backlog = (mark.otherwise, backlog) if kept is None else (mark, kept)
    if all(_is_known(ground, commit) for commit in (mark.base, mark.head) if commit):
        return mark, backlog
    return ReadMark(), Backlog()


def backlog_place(ground: Ground) -> Path:
    """Return where items wait for which a proposal had no room."""
    return ground.derived / TRACES / "backlog.json"


def _read_derived(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return b""


def find_unread(ground: Ground, view: FileView, head: str) -> Unread:
    """Return the passages that no reflection has read; only files that changed since are opened.

    Args:
        ground: The open workspace.
        view: The files as of the commit.
        head: That commit.
    """
    from workbench.engine.reflection.unread import find_unread as unread_in
    from workbench.engine.reflection.unread import order_of

    mark, backlog = _standing_mark(ground, view)
    store = ground.history.store
    paths = (
        [change.path for change in store.changed_paths(store.commit(mark.base).tree, store.commit(head).tree)]
        if mark.base
        else view.list("memory")
    )
    changed = ((path, content) for path in paths if (content := view.read(path)) is not None)
    found = unread_in(changed, mark, lambda commit, path: store.file_at(commit, path), ground.zone)
    return Unread(head, mark, tuple(sorted(found, key=order_of)), backlog)


def take_snapshot(
    ground: Ground,
    view: FileView,
    unread: Unread,
    search: Callable[[str, int], Sequence[Hit]],
    number: int,
) -> Snapshot:
    """Return everything that a cycle may look at.

    Args:
        ground: The open workspace, its catalog up to date.
        view: The files as of the commit.
        unread: What is to be read.
        search: Finds memories near a text.
        number: Of the reflection.
    """
    from workbench.engine.documents import Evolution
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.stores import view_core
    from workbench.engine.triggers.model_routing import RELATIONS
    from workbench.engine.workspace.routing import own_relations, owner_of

    log = read_log(view)
    scores = ground.scores()
    standing = scores.view(forecast=(), lambda_=None)
    graph = ground.visible(scores)
    by_id = {passage.id: passage for passage in unread.passages}
    owner = owner_of(ground)
    return Snapshot(
        now=ground.now(),
        owner="" if owner == "User" else owner,
        passages=unread.passages,
        earlier=_earlier(ground, view, unread, search),
        graph=graph,
        core=view_core(view, ground.settings),
        procedures=tuple(_procedures(view)),
        fading=_fading(standing),
        often=_often(standing),
        archived=_archived(standing, log),
        titles=_titles(ground),
        text_of=lambda memory_id: (
            by_id[memory_id].text if memory_id in by_id else _text_of(ground, view, memory_id)
        ),
        records=log.records,
        insights=Evolution.parse(view.read(layout.EVOLUTION) or b"").insights,
        relations=(*RELATIONS, *own_relations(ground)),
        number=number,
    )


def _is_known(ground: Ground, commit: str) -> bool:
    return ground.has_history() and ground.history.store.has_object(commit)


def _procedures(view: FileView) -> Iterator[Procedure]:
    from workbench.engine.documents import Procedure

    for path in view.list(layout.PROCEDURES):
        if path.endswith(".md"):
            yield Procedure.parse(view.read(path) or b"", path)


def _fading(standing: DecayView) -> tuple[DecayEntry, ...]:
    # What somebody archived has score 0.
    low = [entry for entry in standing.entries if entry.status in ("dormant", "archived") and entry.score > 0]
    return tuple(sorted(low, key=lambda entry: (entry.score, entry.id))[:_MOST_SCORED])


def _often(standing: DecayView) -> tuple[DecayEntry, ...]:
    used = [entry for entry in standing.entries if entry.access_count > 1 and entry.status != "archived"]
    return tuple(sorted(used, key=lambda entry: (-entry.access_count, -entry.score, entry.id))[:_MOST_SCORED])


def _archived(standing: DecayView, log: ReflectionLog) -> tuple[DecayEntry, ...]:
    """Return what reflections archived; what a person forgot by name is never offered again."""
    ids = {found for record in log.records for found in _ARCHIVED_BY_REFLECTION.findall(record.body)}
    away = [entry for entry in standing.entries if entry.id in ids and entry.status == "archived"]
    return tuple(sorted(away, key=lambda entry: entry.last_accessed, reverse=True)[:_MOST_SCORED])


def _titles(ground: Ground) -> Callable[[str], str]:
    def title(memory_id: str) -> str:
        record = ground.lookups.memory(memory_id)
        return record.title if record else memory_id

    return title


def _text_of(ground: Ground, view: FileView, memory_id: str) -> str | None:
    from workbench.engine.stores import locate_memory

    try:
        return locate_memory(view, memory_id, ground.zone).text
    except (NotFound, InvalidInput):
        return None


def _earlier(
    ground: Ground, view: FileView, unread: Unread, search: Callable[[str, int], Sequence[Hit]]
) -> Callable[[str, int], Sequence[Passage]]:
    from workbench.engine.reflection.passages import holds_passages, passages_of

    if not unread.mark.base and not unread.mark.head:
        return lambda _text, _limit: ()
    new = {passage.id for passage in unread.passages}

    @lru_cache(maxsize=64)
    def passages(path: str) -> list[Passage]:
        return passages_of(path, view.read(path) or b"", ground.zone) if holds_passages(path) else []

    def find(text: str, limit: int) -> list[Passage]:
        found: dict[str, Passage] = {}
        for hit in search(text, limit):
            for passage in passages(hit.path):
                if (
                    passage.id not in new
                    and passage.start_line <= hit.end_line
                    and passage.end_line >= hit.start_line
                ):
                    found.setdefault(passage.id, passage)
        return list(found.values())[:limit]

    return find
