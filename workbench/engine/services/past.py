"""The past of an open workspace: its moments, its line of commits, and the versions of one memory."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from workbench.engine.clock import parse_time, time_or_none
from workbench.engine.errors import HistoryError, InvalidInput, NotFound, WorkbenchError
from workbench.engine.history.audit import entry_of_file, file_history
from workbench.engine.history.commits import (
    INDEX_FILE,
    REDOES,
    UNDOES,
    CachedCommitIndex,
    CommitIndex,
    history_begins_later,
    parse_message,
    taken_back,
)
from workbench.engine.markdown.episodes import EpisodeLog
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.engine.history.git_objects import Commit
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.history.plan import FileView
    from workbench.engine.identifiers import MemoryId
    from workbench.engine.past.files import Versions
    from workbench.engine.past.past import Past
    from workbench.engine.results.memories import HistoryEntry
    from workbench.engine.services.context import WorkspaceContext
    from workbench.engine.services.scores import FirstSeen


_PURGED = b"\n\n[PURGE] "
_MOST_ENTRIES = 20
# Versions of a file that are looked into for one memory; older ones are left out.
_MOST_VERSIONS = 200
# Versions whose texts are kept in memory.
_MOST_REMEMBERED = 1_000
# Memories whose history is kept.
_MOST_HISTORIES = 50
# Words of what a commit says it did, between its quotes; where one thing that it did ends and the next begins.
_QUOTED = lazy_pattern(r"“([^”]+)”")
_PARTS = lazy_pattern(r"(?<=\w); (?=[a-z]+ “)|(?<=”); ")
_TAKING_BACK = ("undid ", "reverted ")
_PARTS_OF_FILES = frozenset({"core", "episode"})


_END_OF_DAY = time(23, 59, 59)
_AGO = lazy_pattern(r"([1-9]\d{0,4})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_DAYS = ("today", "yesterday")
_COMMIT = lazy_pattern(r"(?i)[0-9a-f]{4,40}|head|main")


def read_time(text: str, name: str, now: datetime, *, end: bool = False) -> datetime:
    """Read a time: ISO 8601, `3d` (ago; also `12h` and `2w`), `now`, `today` or `yesterday`.

    One without a zone is in the workspace's. Where clocks are put back, what they show twice means its first
    occurrence, or its second where an end is asked for; where they are put forward, what they never show means the
    moment they change, or the second before it where an end is asked for.

    Args:
        text: What was written.
        name: What the time is for, for the error.
        now: In the workspace's zone, a `ZoneInfo`.
        end: Whether a bare day means its end.

    Raises:
        InvalidInput: It is no time.
    """
    stripped = text.strip()
    zone = now.tzinfo or UTC
    if stripped == "now":
        return now
    if (ago := _AGO.fullmatch(stripped)) is not None:
        try:
            return now - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        except OverflowError:
            raise InvalidInput(f"“{text}” is not a time.", where=name, remedy="Name a later one.") from None
    if stripped in _DAYS:
        stripped = (now.date() - timedelta(days=_DAYS.index(stripped))).isoformat()
    parsed = parse_time(stripped, where=name)
    written = datetime.fromisoformat(stripped)
    if "T" not in stripped and " " not in stripped:
        written = datetime.combine(written.date(), _END_OF_DAY if end else time.min)
    try:
        return _shown(written, zone, end=end) if written.tzinfo is None else parsed
    except OverflowError:
        raise InvalidInput(f"“{text}” is too far away.", where=name, remedy="Name a nearer time.") from None


def _shown(local: datetime, zone: tzinfo, *, end: bool) -> datetime:
    """Return when clocks of a zone show a time, even where they do so twice or never."""
    earlier, later = local.replace(tzinfo=zone, fold=0), local.replace(tzinfo=zone, fold=1)
    first, second = earlier.astimezone(UTC), later.astimezone(UTC)
    if first <= second:
        return later if end else earlier
    # Never shown: between the two readings the offset changes; find the second it does.
    while (gap := int((first - second).total_seconds())) > 1:
        middle = second + timedelta(seconds=gap // 2)
        if middle.astimezone(zone).utcoffset() == earlier.utcoffset():
            second = middle
        else:
            first = middle
    return (second if end else first).astimezone(zone)


class PastReader:
    """The past of one workspace."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context
        self._lock = threading.Lock()
        self._kept: CachedCommitIndex | None = None
        self._versions: tuple[GitStore, Versions] | None = None
        self._texts: dict[tuple[str, str], Mapping[str, str]] = {}
        self._histories: dict[tuple[str | None, str, str], tuple[HistoryEntry, ...]] = {}

    def line(self) -> CommitIndex:
        """Return the way from the first commit to the newest.

        Raises:
            NotFound: There is no history yet.
            HistoryDamaged: A commit that has to be read is missing or broken.
        """
        store = self.store
        with self._lock:
            if self._kept is None:
                self._kept = CachedCommitIndex(self._context.derived / INDEX_FILE)
            return self._kept.read(store)

    @property
    def store(self) -> GitStore:
        """Return the history.

        Raises:
            NotFound: There is no history yet.
            HistoryDamaged: There was one, and it is gone.
        """
        self._context.history.refuse_gone()
        if not self._context.has_history():
            raise NotFound("There is no history here to go back in.", remedy="The next change begins one.")
        return self._context.history.store

    def moment(self, text: str, name: str) -> tuple[str, datetime | None]:
        """Return the commit that a person means, and the time they gave where they gave one.

        Args:
            text: A commit, a time, a day or span of days, whose end is meant, so long ago, or `first`.
            name: What it is for, for the error.

        Raises:
            NotFound: There is no such commit, or the history begins later.
            InvalidInput: It is neither a commit nor a time.
        """
        commit, asked = self.found(text, name)
        if commit is None:
            assert asked is not None
            raise history_begins_later(asked)
        return commit, asked

    def found(self, text: str, name: str) -> tuple[str | None, datetime | None]:
        """Do as `moment` does, and give None where the history begins later than the time."""
        if text.strip().casefold() == "first":
            return self.line().commit(0), None
        asked = self._time(text, name)
        if _COMMIT.fullmatch(text.strip()):
            try:
                return self.commit(text), None
            except NotFound:
                # What could be the beginning of a hash may be a day without hyphens, or so many days ago.
                if asked is None:
                    raise
        if asked is None:
            raise InvalidInput(
                f"“{text}” is neither a commit nor a time.",
                remedy="Name a commit, or a time such as 2026-02-02T14:30, 14 oct, last month or two weeks ago.",
            )
        return self.line().at(asked), asked

    def commit(self, name: str) -> str:
        """Return the full hash of the commit that a name means.

        Raises:
            NotFound: There is no such commit.
            Ambiguous: There are several.
        """
        try:
            return self.store.resolve(name)
        except NotFound as missing:
            if self._was_purged():
                raise NotFound(
                    f"No commit is called “{name[:60]}” any more.",
                    where=missing.where,
                    remedy="The history was purged, and commits have other names since: workbench audit log",
                ) from missing
            raise

    def past(self, text: str, name: str = "moment") -> Past:
        """Return memory as it was; arguments and errors as for `moment`."""
        return self.of(*self.moment(text, name))

    def of(self, commit: str, asked: datetime | None = None) -> Past:
        """Return memory as a commit held it.

        Args:
            commit: Full hash.
            asked: The time that was asked for; the commit's own by default.
        """
        # Undo, redo and the log come by here without a look at memory as it was, which takes more to load.
        from workbench.engine.past.files import CatalogedFiles
        from workbench.engine.past.past import Past
        from workbench.engine.services.scores import SeenUntil

        context = self._context
        store = self.store
        found = store.commit(commit)
        return Past(
            context.root,
            store,
            found,
            asked or found.moment,
            versions=self._versions_of(store),
            same=CatalogedFiles(context.catalog),
            settings=context.settings,
            first_seen=SeenUntil(self._first_seen, lambda: self._latest_by(found)),
        )

    def forget(self) -> None:
        """Let go of all that was read, for it may be gone from the history."""
        self._versions = None
        self._texts.clear()
        self._histories.clear()

    def _first_seen(self) -> FirstSeen:
        """Return when memories first stood in the history, up to its newest commit."""
        from workbench.engine.services.scores import FirstSeen, note_first_seen

        context = self._context
        if context.reads_refresh:
            # A damaged history costs the days of adoption, never an answer; `doctor` says so.
            with contextlib.suppress(HistoryError):
                note_first_seen(context.catalog, self.store)
        return FirstSeen(context.catalog)

    def _latest_by(self, commit: Commit) -> datetime:
        """Return the latest time that a clock had shown up to a commit, which another program may have merged."""
        line, latest = self.line(), commit.moment
        for ancestor in self.store.walk(commit.id):
            known = line.latest_by(ancestor.id)
            latest = max(latest, known or ancestor.moment)
            if known:
                break
        return latest

    def _time(self, text: str, name: str) -> datetime | None:
        stripped = text.strip()
        if _AGO.fullmatch(stripped) or stripped in ("now", "today", "yesterday") or time_or_none(stripped):
            return read_time(stripped, name, self._context.now(), end=True)
        if _COMMIT.fullmatch(stripped):
            return None
        from workbench.engine.language.periods import day_and_time

        now = self._context.now()
        named = day_and_time(stripped.casefold(), now.date())
        if named is None:
            return None
        day, at = named
        local = datetime.combine(day, _END_OF_DAY if at is None else at.replace(second=59))
        return _shown(local, now.tzinfo or UTC, end=True)

    def _versions_of(self, store: GitStore) -> Versions:
        from workbench.engine.past.files import Versions

        with self._lock:
            if self._versions is None or self._versions[0] is not store:
                self._versions = store, Versions(store, self._context.zone)
            return self._versions[1]

    def _was_purged(self) -> bool:
        line = self.line()
        return any(
            _PURGED in self.store.raw_object(line.commit(place)) for place in range(len(line) - 1, -1, -1)
        )

    def history_of(self, memory_id: MemoryId, path: str) -> tuple[HistoryEntry, ...]:
        """Return the commits that changed what a memory says, newest first.

        Args:
            memory_id: A memory; one that is a whole file has the file's history.
            path: The file that holds it.
        """
        store = self._context.history.store
        basis = (store.head(), str(memory_id), path)
        found = self._histories.get(basis)
        if found is None:
            # What a card tells of one memory comes by here more than once.
            if len(self._histories) >= _MOST_HISTORIES:
                self._histories.clear()
            found = self._histories[basis] = self._history_of(memory_id, path, store)
        return found

    def _history_of(self, memory_id: MemoryId, path: str, store: GitStore) -> tuple[HistoryEntry, ...]:
        root = self._context.root
        if memory_id.kind not in _PARTS_OF_FILES and memory_id.block is None:
            return _marked(_as_done(file_history(root, store, path, limit=_MOST_ENTRIES), store, path), store)
        versions = file_history(root, store, path, limit=_MOST_VERSIONS)
        if not versions:
            return ()
        known: dict[str | None, str | None] = {None: None}

        def said(commit: str) -> str | None:
            # A version is met twice: as what one commit made, and as what the next one found.
            blob = store.tree_blob(store.tree_of(commit), path)
            if blob not in known:
                known[blob] = self._said(memory_id, path, commit)
            return known[blob]

        def differs(commit: str) -> bool:
            now, parents = said(commit), store.commit(commit).parents
            return all(said(parent) != now for parent in parents) if parents else now is not None

        def about(entry: HistoryEntry) -> HistoryEntry:
            parents = store.commit(entry.commit).parents
            texts = (said(entry.commit), *(said(parent) for parent in parents))
            return replace(entry, summary=part_about(entry.summary, [text for text in texts if text]))

        changes = islice((each for each in versions if differs(each.commit)), _MOST_ENTRIES)
        return _marked(_as_done(tuple(map(about, changes)), store, path), store)

    def _said(self, memory_id: MemoryId, path: str, commit: str) -> str | None:
        from workbench.engine.memory.lookup import locate_memory

        try:
            if memory_id.block is None:
                return self._texts_at(commit, memory_id.kind, path).get(str(memory_id))
            context = self._context
            return locate_memory(context.history.at(commit), str(memory_id), context.zone).text
        except WorkbenchError:
            return None

    def _texts_at(self, commit: str, kind: str, path: str) -> Mapping[str, str]:
        """Return what each memory of a file said at a commit; read once for all of them."""
        texts = self._texts.get((commit, path))
        if texts is None:
            if len(self._texts) >= _MOST_REMEMBERED:
                self._texts.clear()
            view = self._context.history.at(commit)
            texts = _core_texts(view) if kind == "core" else _episodes(view, path)
            self._texts[commit, path] = texts
        return texts


def _core_texts(view: FileView) -> dict[str, str]:
    from workbench.engine.markdown.core import CoreMemory
    from workbench.engine.memory.core import core_path

    core = CoreMemory.parse(view.read(core_path(view)) or b"")
    return {item.id: item.text for block in core.blocks for item in block.items}


def _episodes(view: FileView, path: str) -> dict[str, str]:
    log = EpisodeLog.parse(view.read(path) or b"", path)
    return {entry.id: entry.body for entry in log.entries}


def _as_done(entries: tuple[HistoryEntry, ...], store: GitStore, path: str) -> tuple[HistoryEntry, ...]:
    """Return the history of a memory in which what was undone and redone is told once: when, and by whom, it was done.

    Args:
        entries: Newest first.
        path: The file that holds it.
    """
    if not any(each.summary.startswith("redid ") for each in entries):
        return entries
    told: list[HistoryEntry] = []
    known = {each.commit for each in entries}
    redone: set[str] = set()
    for each in entries:
        message = parse_message(store.commit(each.commit))
        again = [name for name in message.values(REDOES) if store.has_object(name)]
        redone.update(again)
        if again:
            # Where the file was gone meanwhile, its history begins with the redo.
            done = [store.commit(name) for name in again if name not in known]
            known.update(again)
            told += [entry_of_file(one, path) for one in done if _changes(store, one, path)]
        elif redone.isdisjoint(message.values(UNDOES)):
            told.append(each)
    return tuple(told)


def _marked(entries: tuple[HistoryEntry, ...], store: GitStore) -> tuple[HistoryEntry, ...]:
    """Return the history of a memory, newest first, with what was taken back, and what took it back, marked."""
    if not any(each.summary.startswith(_TAKING_BACK) for each in entries):
        return entries
    gone = taken_back((each.commit, parse_message(store.commit(each.commit))) for each in entries)
    return tuple(replace(each, undone=each.commit in gone) for each in entries)


def part_about(summary: str, texts: Sequence[str]) -> str:
    """Return the parts of what a commit did to a file that quote one of some texts; all of it where none does.

    Args:
        summary: Parts joined by semicolons, each with words in quotes, cut where they are long.
    """
    parts = _PARTS.split(summary)
    own = [
        part
        for part in parts
        if any(quote.strip("… ") in text for quote in _QUOTED.findall(part) for text in texts)
    ]
    return "; ".join(own) if own else summary


def _changes(store: GitStore, commit: Commit, path: str) -> bool:
    return any(path in (change.path, change.old_path) for change in store.changes(commit.id))
