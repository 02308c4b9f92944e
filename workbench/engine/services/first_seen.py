"""When memories came into the history that were written elsewhere, or do not say how old they are."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.catalog.file_rows import extract
from workbench.engine.clock import parse_time, render_time
from workbench.engine.errors import HistoryDamaged
from workbench.engine.history.commits import parse_message
from workbench.engine.past.files import CatalogedFiles

if TYPE_CHECKING:
    from workbench.engine.catalog.catalog import Catalog
    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore

_HEAD = "first_seen_head"
_ADOPTING = frozenset({"manual", "system:init"})
_IMPORTING = "import:"
RESTORING = "import:workbench:"
"""What another workspace kept is as old as it says; all else that is imported is adopted."""


def note_first_seen(
    catalog: Catalog, store: GitStore, *, cancelled: Callable[[], bool] = lambda: False
) -> None:
    """Record when adopted memories and core items first stood in the history, up to its newest commit.

    What was taken back or done again is not adopted anew: a memory that comes back is as old as it says.

    Args:
        catalog: Brought up to date with the files already; keeps the record.
        store: The history.
        cancelled: Asked between commits; what is recorded by then stays, and the next time goes on from there.
    """
    head = store.head()
    known = catalog.state(_HEAD)
    if head is None or head == known:
        return
    commits: list[Commit] = []
    for commit in store.walk():
        if commit.id == known:
            break
        if cancelled():
            return
        if _adopts(commit.author) or layout.CORE in commit.message:
            commits.append(commit)
    reached = known
    for commit in reversed(commits):
        if cancelled():
            break
        moment = render_time(commit.moment)
        if commit.author == "system:init" and commit.parent is None:
            _note_files(catalog, store, commit, moment)
        else:
            _note_memories(catalog, store, commit, moment)
        reached = commit.id
    else:
        reached = head
    if reached is not None:
        catalog.set_state({_HEAD: reached})


def _adopts(author: str) -> bool:
    return author in _ADOPTING or (author.startswith(_IMPORTING) and not author.startswith(RESTORING))


def hand_on_first_seen(whole: Catalog, part: Catalog) -> None:
    """Let the catalog of a part of memory know when the memories in it first stood in the history of the whole."""
    ids = [str(row[0]) for row in part.rows("SELECT id FROM memories")]
    rows = whole.rows(
        "SELECT id, moment FROM first_seen WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(ids, ensure_ascii=False),),
    )
    with part.database() as connection, connection:
        connection.executemany(
            "INSERT OR REPLACE INTO first_seen VALUES (?, ?)", [tuple(row) for row in rows]
        )


class FirstSeen(Mapping[str, datetime]):
    """When each recorded memory first stood in the history; asked for one memory, it reads one row.

    Args:
        catalog: Keeps the record.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._all: dict[str, datetime] | None = None
        self._some: dict[str, datetime | None] = {}

    def __getitem__(self, memory_id: str) -> datetime:
        if self._all is not None:
            return self._all[memory_id]
        if memory_id in self._some:
            moment = self._some[memory_id]
            if moment is None:
                raise KeyError(memory_id)
            return moment
        rows = self._catalog.rows("SELECT moment FROM first_seen WHERE id = ?", (memory_id,))
        if not rows:
            raise KeyError(memory_id)
        return parse_time(rows[0][0])

    def read(self, ids: Sequence[str]) -> None:
        """Read what is recorded of these memories at once; from then on they are answered from memory."""
        if self._all is not None:
            return
        rows = self._catalog.rows(
            "SELECT id, moment FROM first_seen WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids), ensure_ascii=False),),
        )
        self._some.update(dict.fromkeys(ids))
        self._some.update((row[0], parse_time(row[1])) for row in rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self.everything())

    def __len__(self) -> int:
        return len(self.everything())

    def everything(self) -> dict[str, datetime]:
        """Return all of it, read at once; from then on it answers from memory."""
        if self._all is None:
            parsed: dict[str, datetime] = {}
            rows = self._catalog.rows("SELECT id, moment FROM first_seen")
            # Memories adopted together share their moment.
            self._all = {
                row[0]: parsed.get(row[1]) or parsed.setdefault(row[1], parse_time(row[1])) for row in rows
            }
        return self._all


class SeenUntil(Mapping[str, datetime]):
    """When memories first stood in the history, of those alone that did so by a moment of it.

    Args:
        first_seen: Gives it of all; asked once, and only where it matters, as is the other.
        until: Gives the latest time that a clock had shown by then.
    """

    def __init__(
        self, first_seen: Callable[[], Mapping[str, datetime]], until: Callable[[], datetime]
    ) -> None:
        self._find_first_seen = first_seen
        self._find_until = until

    @cached_property
    def _first_seen(self) -> Mapping[str, datetime]:
        return self._find_first_seen()

    @cached_property
    def _until(self) -> datetime:
        return self._find_until()

    def __getitem__(self, memory_id: str) -> datetime:
        moment = self._first_seen[memory_id]
        if moment > self._until:
            raise KeyError(memory_id)
        return moment

    def __iter__(self) -> Iterator[str]:
        return (memory_id for memory_id in self._first_seen if memory_id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _note_files(catalog: Catalog, store: GitStore, commit: Commit, moment: str) -> None:
    """Record every memory of the first commit; the catalog tells those of files that still read as they did."""
    known = CatalogedFiles(catalog).known().blobs
    same: list[str] = []
    ids: set[str] = set()
    for path, blob in store.files_at(commit.id).items():
        if not path.endswith(".md") or not _is_text(path):
            continue
        if known.get(path) == bytes.fromhex(blob):
            same.append(path)
            continue
        # What was lost of a file costs the days of its memories alone.
        with contextlib.suppress(HistoryDamaged):
            ids |= _ids(catalog, path, store.read_blob(blob))
    with catalog.database() as connection, connection:
        connection.executemany(
            "INSERT OR IGNORE INTO first_seen SELECT id, ? FROM memories WHERE path = ?",
            [(moment, path) for path in same],
        )
        connection.executemany(
            "INSERT OR IGNORE INTO first_seen VALUES (?, ?)", [(memory_id, moment) for memory_id in ids]
        )


def _note_memories(catalog: Catalog, store: GitStore, commit: Commit, moment: str) -> None:
    came_back = parse_message(commit).action == "REVERT"
    for change in store.changes(commit.id):
        if change.new_blob is None or not change.path.endswith(".md") or not _is_text(change.path):
            continue
        if commit.author.startswith(RESTORING) and change.path != layout.CORE:
            continue
        known: set[str] = set()
        # An empty file is a memory too, where a file is one; no file is none.
        if change.old_blob:
            known = _ids(catalog, change.old_path or change.path, store.read_blob(change.old_blob))
        new = _ids(catalog, change.path, store.read_blob(change.new_blob), undated=came_back) - known
        with catalog.database() as connection, connection:
            connection.executemany(
                "INSERT OR IGNORE INTO first_seen VALUES (?, ?)", [(memory_id, moment) for memory_id in new]
            )


def _is_text(path: str) -> bool:
    """Tell whether a file's name is text; history keeps others too, and the catalog knows nothing of them."""
    return not any("\ud800" <= character <= "\udfff" for character in path)


def _ids(catalog: Catalog, path: str, content: bytes, *, undated: bool = False) -> set[str]:
    """Return the memories of a file; of those that do not say how old they are alone, if so asked."""
    memories = extract(path, content, catalog.zone).memories
    return {record.id for record in memories if not (undated and record.moment is not None)}
