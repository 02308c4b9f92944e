"""Relevance of memories now, and when those that do not say how old they are came into the history."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from datetime import date, datetime
from functools import cached_property, lru_cache
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from workbench.engine import layout, results
from workbench.engine.catalog.file_rows import extract
from workbench.engine.catalog.lookups import Lookups, memory_columns, scored_columns
from workbench.engine.clock import in_zone, parse_time, render_time
from workbench.engine.errors import HistoryDamaged, InvalidInput
from workbench.engine.history.commits import (
    parse_message,
)
from workbench.engine.markdown.decay_scores import DecayScores, ScoreEntry
from workbench.engine.memory.access_journal import JournalPage
from workbench.engine.memory.decay import (
    ARCHIVED,
    DORMANT,
    NEVER,
    SCORED_STORES,
    Accesses,
    DecayContext,
    DecayRecord,
    MemoryFacts,
    day_of,
    decay_record,
    half_life,
    is_archived,
    score_now,
)
from workbench.engine.memory.draft import Relevance
from workbench.engine.memory.scores import (
    FactColumns,
    ScoreTable,
    Terms,
    build_score_table,
    explained_scores,
    falls_between,
    moved_to_moment,
    score_all,
    score_course,
    score_terms,
    scores_and_statuses,
    table_of_records,
    upcoming_changes,
    update_score_table,
    with_decay_rate,
)
from workbench.engine.memory.scores_file import pending_accesses
from workbench.engine.past.files import CatalogedFiles
from workbench.engine.process import garbage_collection_paused
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.engine.catalog.catalog import Catalog
    from workbench.engine.catalog.records import MemoryRecord
    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore


_HEAD = "first_seen_until"
_ADOPTING = frozenset({"manual", "system:init"})
_IMPORTING = "import:"
RESTORING = "import:workbench:"
"""What another workspace kept is as old as it says; all else that is imported is adopted."""
# Where the engine itself writes memories that do not say how old they are.
_UNDATED = (layout.CORE, f"{layout.VAULT}/")
# A commit changes what one shortly before it left.
_RECENT = 64
# Commits between two reports.
_TOLD_EVERY = 50
# Whether each memory of a version says how old it is, by path and blob.
_Memories = Callable[[str, str], Mapping[str, bool]]


def first_seen_is_noted(catalog: Catalog, branch: Path) -> bool:
    """Return whether `note_first_seen` has nothing to do; told without loading what reads a history.

    Args:
        branch: The file that names the newest commit; without it, nothing is known.
    """
    try:
        head = branch.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False
    return bool(head) and head == catalog.state(_HEAD)


def note_first_seen(
    catalog: Catalog,
    store: GitStore,
    *,
    progress: Callable[[int, int], None] = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> None:
    """Record when memories that do not say so themselves first appeared in the history, up to its newest commit.

    These are adopted memories, core items and notes of the vault.

    What was taken back or done again is not adopted again: a memory that comes back is as old as it says.

    Args:
        catalog: Brought up to date with the files already; keeps the record.
        store: The history.
        progress: Told how many commits are done, and of how many.
        cancelled: Asked between commits; what is recorded by then stays, and the next time goes on from there.
    """
    head = store.head()
    known = catalog.state(_HEAD)
    if head is None or head == known:
        return
    commits: list[Commit] = []
    since = str(known) if known and store.is_ancestor(str(known), head) else None
    for commit in store.walk(stop=since):
        if cancelled():
            return
        if _adopts(commit.author) or any(each in commit.message for each in _UNDATED):
            commits.append(commit)
    zone = catalog.zone

    @lru_cache(maxsize=_RECENT)
    def memories(path: str, blob: str) -> dict[str, bool]:
        records = extract(path, store.read_blob(blob), zone).memories
        return {record.id: record.moment is not None for record in records}

    reached = known
    for done, commit in enumerate(reversed(commits)):
        if done and done % _TOLD_EVERY == 0:
            progress(done, len(commits))
        if cancelled():
            break
        moment = render_time(commit.moment)
        if commit.author == "system:init" and commit.parent is None:
            _note_files(catalog, store, commit, moment, memories)
        else:
            _note_memories(catalog, store, commit, moment, memories)
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


def _note_files(catalog: Catalog, store: GitStore, commit: Commit, moment: str, memories: _Memories) -> None:
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
            ids.update(memories(path, blob))
    with catalog.database() as connection, connection:
        connection.executemany(
            "INSERT OR IGNORE INTO first_seen SELECT id, ? FROM memories WHERE path = ?",
            [(moment, path) for path in same],
        )
        connection.executemany(
            "INSERT OR IGNORE INTO first_seen VALUES (?, ?)", [(memory_id, moment) for memory_id in ids]
        )


def _note_memories(
    catalog: Catalog, store: GitStore, commit: Commit, moment: str, memories: _Memories
) -> None:
    # What says how old it is comes in with its adoption alone, and comes back as old as it was.
    adopts = _adopts(commit.author)
    counts_dated = adopts and parse_message(commit).action != "REVERT"
    for change in store.changes(commit.id):
        if change.new_blob is None or not change.path.endswith(".md") or not _is_text(change.path):
            continue
        if not adopts and not change.path.startswith(_UNDATED):
            continue
        # An empty file can be a memory too; a missing one cannot.
        known = memories(change.old_path or change.path, change.old_blob) if change.old_blob else {}
        new = [
            memory_id
            for memory_id, is_dated in memories(change.path, change.new_blob).items()
            if memory_id not in known and (counts_dated or not is_dated)
        ]
        with catalog.database() as connection, connection:
            connection.executemany(
                "INSERT OR IGNORE INTO first_seen VALUES (?, ?)", [(memory_id, moment) for memory_id in new]
            )


def _is_text(path: str) -> bool:
    """Return whether a file's name is text; history keeps others too, which the catalog does not know."""
    return not any("\ud800" <= character <= "\udfff" for character in path)


class Grade(NamedTuple):
    """A memory's score without its terms.

    Args:
        value: 0–1.
        status: active, fading, dormant, archived or pinned.
        last_accessed: The day of its last access in the workspace's zone, `2026-02-02`.
    """

    value: float
    status: str
    last_accessed: str


@dataclass
class ScoreCache:
    """What is known so far of the scores of one day.

    Args:
        basis: What all of it depends on: the day, the memories, the scores file and the constants, then the accesses
            that are not yet in that file.
        settled: The basis without those accesses, and a census without them.
        memories: The catalog's version, and what the texts of all memories said at it.
        scores: Scores of single memories that were asked for, by id; None for what has none.
        alike: The day and the constants, and scores at them by what alone tells those of two memories apart.
        census: What the scores of all memories depend on.
        view: All scores.
        grades: All scores, by id.
        lock: Held while any of it is computed for all memories, so that two threads do not both compute it.
    """

    basis: tuple[Hashable, Hashable] = (None, None)
    settled: tuple[Hashable, ScoreTable] | None = None
    memories: tuple[Hashable, FactColumns] | None = None
    scores: dict[str, results.memories.Score | None] = field(default_factory=dict)
    alike: tuple[Hashable, dict[Terms, results.memories.Score]] = field(default_factory=lambda: (None, {}))
    census: ScoreTable | None = None
    view: results.decay.DecayView | None = None
    grades: Mapping[str, Grade] | None = None
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False, compare=False)


# Statuses of what the agent does not recall by itself.
_FADED = frozenset({DORMANT, ARCHIVED})
# So many memories are asked for one by one rather than all of them read.
_FEW = 2_000


@dataclass(frozen=True)
class Scores:
    """Scores at one moment, computed when asked for.

    Args:
        catalog: Of the memories, up to date.
        lookups: The catalog's questions.
        entries: What the scores file says, by memory id.
        pending: Accesses that are not yet in the scores file.
        first_seen: When memories that do not say so themselves came into the history.
        reckoning: The moment, the zone and the constants.
        known: What was computed before, for as long as nothing that it depends on changes.
    """

    catalog: Catalog
    lookups: Lookups
    entries: Mapping[str, ScoreEntry]
    pending: Mapping[str, Accesses]
    first_seen: FirstSeen
    reckoning: DecayContext
    known: ScoreCache = field(default_factory=ScoreCache, repr=False)

    def of(self, memory_id: str) -> results.memories.Score | None:
        """Return a memory's score; None where it has none or does not exist."""
        record = self.lookups.memory(memory_id)
        return self.of_record(record) if record else None

    def of_all(self, ids: Sequence[str]) -> dict[str, results.memories.Score | None]:
        """Return the scores of many memories at once, by id; None for those without one."""
        known = self.known.scores
        unknown = [memory_id for memory_id in ids if memory_id not in known]
        if unknown:
            self.first_seen.read(unknown)
            table = self._table_of(unknown)
            scores = explained_scores(table, self.reckoning, self.known.alike[1])
            known.update(dict.fromkeys(unknown) | dict(zip(table.ids, scores, strict=True)))
        return {memory_id: known[memory_id] for memory_id in ids}

    def _table_of(self, ids: Sequence[str]) -> ScoreTable:
        """Return what the scores of some memories depend on, without what they are called and tagged."""
        rows = scored_columns(self.catalog, ids, SCORED_STORES)
        found, stores, sources, moments, pinned, used = zip(*rows, strict=True) if rows else ((),) * 6
        none: tuple[tuple[str, ...], ...] = ((),) * len(rows)
        columns = FactColumns(
            ids=found,
            stores=stores,
            sources=sources,
            created=moments,
            adopted=[self.first_seen.get(memory_id) for memory_id in found],
            pinned=pinned,
            titles=("",) * len(rows),
            tags=none,
            entities=none,
            used=used,
        )
        entries = {id_: self.entries[id_] for id_ in found if id_ in self.entries}
        pending = {id_: self.pending[id_] for id_ in found if id_ in self.pending}
        return build_score_table(columns, entries, pending, self.reckoning)

    def graded(self, ids: Sequence[str] | None = None) -> Mapping[str, Grade]:
        """Return the scores of many memories without their terms, by id; those without one are absent.

        Args:
            ids: Which memories, or None for every one that has a score.
        """
        if ids is not None and self.known.grades is None and len(ids) < _FEW:
            self.first_seen.read(ids)
            return self._grades_of(ids)
        with self.known.lock:
            if self.known.grades is None:
                self.known.grades = self._every_grade()
            grades = self.known.grades
        return grades if ids is None else {id_: grades[id_] for id_ in ids if id_ in grades}

    def of_record(self, record: MemoryRecord) -> results.memories.Score | None:
        """Return the score of a memory that is at hand; None for free text and logs."""
        composed = self._compose(record)
        return score_now(composed, self.reckoning) if composed else None

    def relevance(self, memory_id: str) -> Relevance:
        """Return what planners want to know about a memory's relevance."""
        if "#^" in memory_id:
            # A fact or relation: it has no score of its own, but may be archived by itself.
            return Relevance(0.0, archived=is_archived(self.entries.get(memory_id)))
        record = self.lookups.memory(memory_id)
        composed = self._compose(record) if record else None
        if composed is None:
            return Relevance(0.0)
        score = score_now(composed, self.reckoning)
        last = in_zone(composed.last_accessed, self.reckoning.zone).date()
        return Relevance(score.value, composed.pinned, composed.archived, last)

    def archived_parts(self) -> frozenset[str]:
        """Return the facts and relations that were archived by themselves, their entity not."""
        return frozenset(name for name, entry in self.entries.items() if "#^" in name and is_archived(entry))

    @garbage_collection_paused()
    def view(self, *, forecast: Sequence[int], lambda_: float | None) -> results.decay.DecayView:
        """Return every score, with days to come and another decay rate where asked for."""
        census = self._census()
        if forecast or lambda_ is not None:
            found = score_all(census, self.reckoning, forecast=forecast, lambda_=lambda_)
        else:
            with self.known.lock:
                if self.known.view is None:
                    self.known.view = score_all(census, self.reckoning)
                found = self.known.view
        return moved_to_moment(found, census, self.reckoning)

    @garbage_collection_paused()
    def falls(self, within: int, *, lambda_: float | None) -> results.decay.Falls:
        """Return what passes a threshold within some days, the soonest first."""
        told = self.reckoning if lambda_ is None else with_decay_rate(self.reckoning, lambda_)
        return upcoming_changes(self._census(), within, told)

    @garbage_collection_paused()
    def faded(self, since: datetime) -> tuple[results.decay.Fall, ...]:
        """Return what dropped out of recall after a moment's day, nobody having touched it since; the latest first."""
        told = self.reckoning
        first = day_of(since, told.zone) + 1 - day_of(told.now, told.zone)
        falls = falls_between(self._census(), first, 0, told)
        return tuple(fall for fall in reversed(falls) if fall.after in _FADED and fall.before not in _FADED)

    def explained(
        self, memory_id: str, on: date | None, *, lambda_: float | None
    ) -> results.decay.DecayExplained:
        """Return one memory's score on a day, term by term, and what becomes of it.

        Raises:
            InvalidInput: The memory has no score, or the rate is negative.
        """
        record = self.lookups.memory(memory_id)
        composed = self._compose(record) if record else None
        if composed is None:
            raise InvalidInput(
                "This has no score of its own.",
                where=memory_id,
                remedy="Memories have one; facts go by their entity, and free text and logs do not decay.",
            )
        told = self.reckoning if lambda_ is None else with_decay_rate(self.reckoning, lambda_)
        census = table_of_records([composed], told)
        answer = score_all(census, told)
        (entry,), day = answer.entries, on or told.now.date()
        ahead = (day - told.now.date()).days
        (point,) = score_course(answer, entry, [ahead])
        used = replace(composed, access_count=composed.access_count + 1, last_accessed=told.now)
        decays = entry.raw is not None and not entry.archived and answer.lambda_ > 0
        return results.decay.DecayExplained(
            id=entry.id,
            store=entry.store,
            title=entry.title,
            now=answer.now,
            on=day,
            status=point.status,
            score=score_terms(answer, entry, ahead),
            half_life=half_life(answer.lambda_) if decays else None,
            created=entry.created,
            last_accessed=entry.last_accessed,
            falls=upcoming_changes(census, NEVER, told).falls,
            if_used=upcoming_changes(table_of_records([used], told), NEVER, told).falls if decays else (),
        )

    def _census(self) -> ScoreTable:
        """Return what all scores depend on; an access more costs no more than that memory."""
        known = self.known
        with known.lock:
            if known.census is None:
                known.census = self._taken_census()
            return known.census

    def _taken_census(self) -> ScoreTable:
        known, basis = self.known, self.known.basis[0]
        columns = self._columns()
        if known.settled is None or known.settled[0] != basis:
            known.settled = (basis, build_score_table(columns, self.entries, {}, self.reckoning))
        settled, pending = known.settled[1], self.pending
        if not pending:
            return settled
        return update_score_table(settled, columns, self.entries, pending, self.reckoning, pending)

    def _columns(self) -> FactColumns:
        """Return what the texts of all memories say, read again only where the catalog has changed."""
        version = self.catalog.version()
        if self.known.memories is None or self.known.memories[0] != version:
            read = memory_columns(self.catalog, SCORED_STORES)
            adopted = self.first_seen.everything()
            columns = FactColumns(
                ids=read.ids,
                stores=read.stores,
                sources=read.sources,
                created=read.moments,
                adopted=tuple([adopted.get(memory_id) for memory_id in read.ids]),
                pinned=read.pinned,
                titles=read.titles,
                tags=read.tags,
                entities=read.entities,
                used=read.used,
            )
            self.known.memories = (version, columns)
        return self.known.memories[1]

    @garbage_collection_paused()
    def _every_grade(self) -> dict[str, Grade]:
        census, told = self._census(), self.reckoning
        raws = census.raws(day_of(told.now, told.zone), told.settings.lambda_)
        scores, statuses = scores_and_statuses(census, raws, told.thresholds)
        names = {day: date.fromordinal(day).isoformat() for day in set(census.days)}
        days = [names[day] for day in census.days]
        grades = list(map(tuple.__new__, repeat(Grade), zip(scores, statuses, days, strict=True)))
        # Backwards, so that of a memory in several files the first counts.
        return dict(zip(reversed(census.ids), reversed(grades), strict=True))

    def _grades_of(self, ids: Sequence[str]) -> dict[str, Grade]:
        found = {}
        for record in self.lookups.outlines(ids):
            composed = self._compose(record)
            if composed is not None:
                score = score_now(composed, self.reckoning)
                day = date.fromordinal(day_of(composed.last_accessed, self.reckoning.zone))
                found[record.id] = Grade(score.value, score.status, day.isoformat())
        return found

    def _compose(self, record: MemoryRecord) -> DecayRecord | None:
        if record.store not in SCORED_STORES:
            return None
        return decay_record(
            self.facts(record), self.entries.get(record.id), self.pending.get(record.id), self.reckoning
        )

    def facts(self, record: MemoryRecord) -> MemoryFacts:
        """Return what a memory's own text says that matters to its score."""
        return MemoryFacts(
            id=record.id,
            store=record.store,
            source=record.source,
            created=record.moment,
            adopted=self.first_seen.get(record.id),
            pinned=record.pinned,
            title=record.title,
            tags=record.tags,
            used=record.used,
        )


class CurrentScores:
    """Asked again and again by one open workspace, from any thread."""

    def __init__(self) -> None:
        self._file: DecayScores | None = None
        self._known = ScoreCache()
        self._lock = threading.Lock()

    def now(
        self,
        content: bytes,
        accesses: JournalPage,
        catalog: Catalog,
        lookups: Lookups,
        reckoning: DecayContext,
    ) -> Scores:
        """Return the relevance of memories at a moment.

        Args:
            content: Of the scores file.
            accesses: Those that the journal holds.
            catalog: Of the memories, up to date.
            lookups: The catalog's questions.
            reckoning: The moment, the zone and the constants.
        """
        file = self._file
        if file is None or content != file.content:
            file = self._file = DecayScores.parse(content)
        pending = pending_accesses(file, accesses)
        # Scores change with the day, the memories, the scores file and the journal, and with nothing else.
        settled = (reckoning.now.date(), catalog.version(), content, reckoning.settings)
        basis = (settled, frozenset(pending.items()))
        with self._lock:
            if basis != self._known.basis:
                told, known = (reckoning.now.date(), reckoning.settings), self._known
                alike = known.alike if known.alike[0] == told else (told, {})
                self._known = ScoreCache(basis, known.settled, known.memories, alike=alike)
            known = self._known
        return Scores(catalog, lookups, file.entries, pending, FirstSeen(catalog), reckoning, known)
