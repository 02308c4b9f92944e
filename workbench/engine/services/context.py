"""What every service of an open workspace uses: folder, role, clock, settings, history, catalog and search."""

from __future__ import annotations

import contextlib
import platform
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.records import CatalogLost
from workbench.engine.clock import Clock
from workbench.engine.errors import (
    HistoryError,
    InvalidSetting,
    Locked,
    OutsideWorkspace,
    StorageError,
)
from workbench.engine.file_access import DerivedFolder, trouble_in
from workbench.engine.history.work_files import WorkFiles, read_work_file
from workbench.engine.memory.access_journal import AccessJournal, JournalPage
from workbench.engine.memory.decay import DecayContext
from workbench.engine.roles import Capability, Role
from workbench.engine.services.quarantine import MaskedFiles, Masking
from workbench.engine.services.state_folder import claim_state, own_state
from workbench.engine.settings.layers import load_settings
from workbench.engine.settings.sections import Settings

if TYPE_CHECKING:
    from workbench.engine.catalog.catalog import Catalog, Synced
    from workbench.engine.catalog.lookups import Lookups
    from workbench.engine.catalog.notices import ChangeNotices
    from workbench.engine.history.history import History
    from workbench.engine.history.outside_edits import Adopted
    from workbench.engine.history.plan import FileView
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.search.finder import Finder, ServerIndex
    from workbench.engine.search.updater import BackgroundTask
    from workbench.engine.services.scores import CurrentScores, Scores
    from workbench.engine.services.search_sources import Outside

T = TypeVar("T")


def _no_history() -> History:
    raise HistoryError("This part of memory has no history of its own.")


@runtime_checkable
class Closable(Protocol):
    """What holds files or threads that are to be let go of."""

    def close(self) -> None: ...


CATALOG = "catalog.sqlite"
SESSIONS_FOLDER = "sessions"
# Reading again within this many seconds trusts the last look at the files.
_FRESH_SECONDS = 0.5
# What the kernel does not tell (see `ChangeNotices`) is found by a look at all files after so many seconds.
_LOOK_AGAIN_SECONDS = 30.0
# Where the kernel tells nothing, it is asked to only after so many seconds: finding that out takes as long as a look.
_ASK_AGAIN_SECONDS = 30.0
# Files that are read in the background before they can be found.
_TAKEN_IN_AT_ONCE = 4_000
_NEVER = -1e9
_MOST_ATTEMPTS = 3
# Sections of the settings that are asked for again each time, so that a change holds at once.
_FOLLOWED = ("core", "brief", "decay", "vault", "reflection", "proposals", "graph", "flush", "secrets")
# What nobody can keep in a state folder that cannot be written.
COST_OF_STATE = (
    "accesses are not counted, decay is settled with every change, and nobody notices that history was rewritten; "
    "sessions and held-back requests cannot be stored"
)


def _random_id() -> str:
    import secrets

    return secrets.token_hex(8)


def _say_nothing(_what: str, _done: int, _total: int) -> None:
    """Leave long work untold."""


@dataclass
class WorkspaceContext:
    """One open workspace, shared by all its services.

    Args:
        root: The workspace folder, absolute and real.
        role: What this door may do.
        actor: The actor that changes are attributed to where a call names none, or None for the usual one.
        clock: Tells the time.
        settings: As they held when the workspace was opened; those that may change meanwhile follow the files.
        reads_refresh: Whether reading looks for changed files first; the bench does that in the background.
        follows_files: Whether the kernel is to tell which files change; of no use where each answer begins with a
            look at all of them.
        lock_timeout: Seconds that a change waits for another writer, or None for the setting’s.
        new_id: Gives a fresh id, of a transaction or a journal.
        progress: Told of long work: what it is, what is done, and of how much (0 where that is unknown). When it
            is over, both are the same.
        open_history: Makes the history when it is first asked for.
    """

    root: Path
    role: Role
    actor: str | None
    clock: Clock
    settings: Settings
    reads_refresh: bool = True
    follows_files: bool = True
    lock_timeout: float | None = None
    new_id: Callable[[], str] = field(default=_random_id, repr=False)
    progress: Callable[[str, int, int], None] = field(default=_say_nothing, repr=False)
    open_history: Callable[[], History] = field(default=_no_history, repr=False)
    writes_graph_index: bool = field(default=True, init=False)
    state_told: str = field(default="", init=False)
    trouble_told: dict[str, str] = field(default_factory=dict, init=False)
    unread: Sequence[str] = field(default=(), init=False)
    _refreshed: float = field(default=_NEVER, repr=False)
    _looked: float = field(default=_NEVER, repr=False)
    _looks: int = field(default=0, repr=False)
    _notices: ChangeNotices | None = field(default=None, repr=False)
    _notices_hold: bool = field(default=False, repr=False)
    _told_nothing: float = field(default=_NEVER, repr=False)
    _following: threading.RLock = field(default_factory=threading.RLock, repr=False)
    _settings_file: bytes | None = field(default=None, repr=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def zone(self) -> ZoneInfo:
        """Return the zone of days and times in the files."""
        return self.settings.zone

    def now(self) -> datetime:
        """Return the present moment in the workspace's zone."""
        return self.clock.now().astimezone(self.zone)

    @cached_property
    def state(self) -> Path:
        """Return the folder of what cannot be derived from the files, rid of what another workspace left there."""
        return self.arrange_state()

    def arrange_state(self) -> Path:
        """Return the state folder, rid once more of what another workspace left there."""
        folder, told = own_state(self.root, self.settings.state_directory(self.root), self.clock.now())
        self.state_told = told or self.state_told
        return folder

    @property
    def sessions_folder(self) -> Path:
        """Return the folder of this workspace's own sessions, which need not exist yet."""
        given = self.settings.sessions.path
        return self.root / Path(given).expanduser() if given else self.state / SESSIONS_FOLDER

    @cached_property
    def history(self) -> History:
        """Return the history; opening it reads nothing yet."""
        return self.open_history()

    @cached_property
    def masking(self) -> Masking:
        """Return what masks the secrets on which nobody has decided."""
        return Masking(lambda: self.settings.secrets, lambda: self.history if self.has_history() else None)

    @property
    def files(self) -> FileView:
        """Return the files as they may be read: on disk now, secrets on which nobody has decided masked; no lock."""
        self.follow_settings()
        return MaskedFiles(self.raw_files, self.masking)

    @property
    def raw_files(self) -> FileView:
        """Return the files as they are on disk, secrets and all, read without a lock."""
        return WorkFiles(self.root)

    @cached_property
    def derived_folder(self) -> DerivedFolder:
        """Return where what is made from the files is kept: catalog and search index."""
        return DerivedFolder(self.settings.cache_directory(self.root), CATALOG)

    @property
    def derived(self) -> Path:
        """Return the folder of what is made from the files."""
        return self.derived_folder.path

    @cached_property
    def catalog(self) -> Catalog:
        """Return the catalog of memories, not yet brought up to date."""
        from workbench.engine.catalog.catalog import Catalog

        return Catalog(
            self.root,
            self.derived / CATALOG,
            self.zone,
            mask=self.masking,
            elsewhere=self.derived_folder.elsewhere,
        )

    @cached_property
    def finder(self) -> Finder:
        """Return what answers questions; its index is not yet brought up to date."""
        from workbench.engine.search.finder import Finder

        outside = self.outside
        return Finder(
            self.catalog,
            self.settings,
            self.derived,
            self.clock,
            outside.sources,
            lambda: (self.catalog.version(), outside.version()),
            lambda: self.unread,
            self.derived_folder.elsewhere,
            self._server_index(),
        )

    def _server_index(self) -> ServerIndex | None:
        """Return the database that keeps the index, where the settings name one."""
        if self.settings.search.backend != "postgres":
            return None
        from workbench.engine.search.postgres.index import ServerView, View
        from workbench.engine.search.postgres.server import Server

        view = View(platform.node(), str(self.root))
        return ServerView(Server(self.settings.hub), view, self.clock)

    @cached_property
    def outside(self) -> Outside:
        """Return what is searched beside the workspace's own memory."""
        from workbench.engine.services.search_sources import Outside

        return Outside(
            self.root,
            self.settings,
            self.derived,
            self.clock,
            self.zone,
            self.masking,
            lambda: self.sessions_folder,
        )

    @cached_property
    def lookups(self) -> Lookups:
        """Return the questions that the catalog answers."""
        from workbench.engine.catalog.lookups import Lookups

        return Lookups(self.catalog)

    @cached_property
    def journal(self) -> AccessJournal:
        """Return the journal of accesses that are not yet folded into the scores file."""
        return AccessJournal(self.state, self.new_id)

    @property
    def troubles(self) -> tuple[str, ...]:
        """Return what a person should know of the folders outside the workspace that could not be written."""
        folder = self.__dict__.get("derived_folder")
        return (*filter(None, (self.state_told, folder.told if folder else "")), *self.trouble_told.values())

    def accesses(self) -> JournalPage:
        """Return what the journal holds; one that cannot be read costs counts, never an answer or a change."""
        try:
            return self.journal.read()
        except StorageError as error:
            # One sentence about the folder says enough.
            self.trouble_told.setdefault("state", f"{error.where}: {error.message}")
            return JournalPage()

    def has_history(self) -> bool:
        """Return whether the workspace has a history, without loading what reads it."""
        return (self.root / layout.HISTORY).is_dir()

    def refresh(
        self,
        *,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Synced:
        """Bring the catalog up to date with the files."""
        self.follow_settings()
        look = self._begin_look()
        try:
            for attempt in range(_MOST_ATTEMPTS):
                synced = self.catalog.sync(
                    progress=progress or partial(self.progress, "Reading memory"),
                    unread=self._note_unread,
                    cancelled=cancelled,
                )
                if synced.unread:
                    return synced
                try:
                    self._note_first_seen(cancelled)
                    break
                except CatalogLost:
                    if attempt == _MOST_ATTEMPTS - 1:
                        raise
        finally:
            self.progress("Reading memory", 0, 0)
        self._refreshed = self._looked = time.monotonic()
        with self._following:
            # A later look may have taken notices that this one did not see the files of.
            self._notices_hold = (
                self._notices is not None and look == self._looks and not self.catalog.depends_on_decisions()
            )
        return synced

    def _begin_look(self) -> int:
        """Have the kernel tell what changes from here on; return the number of the look at all files that follows."""
        with self._following:
            self._looks += 1
            self._notices_hold = False
            # A process that asks once has no use for what comes later.
            if self.follows_files and self.reads_refresh and self._looks > 1:
                if self._notices is not None and self._notices.take() is None:
                    self._notices = None
                now = time.monotonic()
                if self._notices is None and now - self._told_nothing > _ASK_AGAIN_SECONDS:
                    from workbench.engine.catalog.notices import ChangeNotices

                    self._notices = ChangeNotices.of(self.root)
                    self._told_nothing = now if self._notices is None else _NEVER
            return self._looks

    def _note_first_seen(self, cancelled: Callable[[], bool]) -> None:
        if not self.has_history() or cancelled():
            return
        from workbench.engine.services.scores import first_seen_is_noted, note_first_seen

        if first_seen_is_noted(self.catalog, self.root / layout.HISTORY / "refs" / "heads" / "main"):
            return
        told = partial(self.progress, "Reading history")
        # A damaged history costs the days of adoption, never an answer; `doctor` says so.
        with contextlib.suppress(HistoryError):
            note_first_seen(self.catalog, self.history.store, progress=told, cancelled=cancelled)

    def _note_unread(self, paths: Sequence[str]) -> None:
        self.unread = paths

    def __post_init__(self) -> None:
        self._settings_file = _content_of_settings(self.root)

    def follow_settings(self, *, again: bool = False) -> None:
        """Take settings that may change while a workspace is open as the file has them now; a broken one is left aside.

        All else stays as it was at opening: the catalog is kept in one time zone, and a program that search asks
        is not swapped under it.

        Args:
            again: Also where the workspace's file is as it was: the user's own has changed.
        """
        content = _content_of_settings(self.root)
        if content == self._settings_file and not again:
            return
        with self._lock, contextlib.suppress(InvalidSetting, OutsideWorkspace, StorageError):
            self._settings_file = content
            found = load_settings(self.root)
            origins = {key: value for key, value in self.settings.origins.items() if not _is_followed(key)}
            origins |= {key: value for key, value in found.origins.items() if _is_followed(key)}
            sections = {name: getattr(found, name) for name in _FOLLOWED}
            search = replace(
                self.settings.search, max_results=found.search.max_results, min_score=found.search.min_score
            )
            self.settings = replace(self.settings, search=search, origins=origins, **sections)

    def scores(self) -> Scores:
        """Return the relevance of memories at this moment."""
        self.follow_settings()
        content = self.raw_files.read(layout.DECAY_SCORES) or b""
        reckoning = DecayContext(self.now(), self.zone, self.settings.decay)
        return self._current_scores.now(content, self.accesses(), self.catalog, self.lookups, reckoning)

    @cached_property
    def _current_scores(self) -> CurrentScores:
        from workbench.engine.services.scores import CurrentScores

        return CurrentScores()

    def visible(self, scores: Scores) -> Lookups:
        """Return the questions that the catalog answers for search and graph: without what was archived in part."""
        hidden = scores.archived_parts()
        if not hidden:
            return self.lookups
        from workbench.engine.services.search_sources import VisibleLookups

        return VisibleLookups(self.catalog, hidden)

    def count_access(self, memory_id: str) -> None:
        """Note an access of a memory; a journal that cannot be written costs a count, never an answer."""
        with contextlib.suppress(StorageError):
            self.journal.record_access(memory_id, self.clock.now())

    @contextlib.contextmanager
    def leaving_the_graph_index(self) -> Iterator[None]:
        """Take memory into a new history without adding anything beside it."""
        self.writes_graph_index = False
        try:
            yield
        finally:
            self.writes_graph_index = True

    def refresh_for_reading(self) -> None:
        """Look for changed files, unless that was done a moment ago or is done elsewhere."""
        if self._is_reading_due() and not self._follow_notices():
            self.refresh()

    def refresh_in_part(self, seconds: float, least: int) -> bool:
        """Look for changed files as `refresh_for_reading` does, and read them for a limited time.

        Args:
            seconds: How long to read at most.
            least: How many files to read all the same: a slow machine must not hide a small memory.

        Returns:
            Whether the rest is being read in the background (see `read_on`); `unread` says what that is.
        """
        if self._reading_on.is_busy:
            self._reading_on.wait(seconds)
        elif self._is_reading_due() and not self._follow_notices():
            until = time.monotonic() + seconds
            read = count()
            self.refresh(cancelled=lambda: next(read) >= least and time.monotonic() >= until)
        return self._reading_on.is_busy

    def read_on(self) -> None:
        """Read the files for which there was no time in the background."""
        if self.unread:
            self._reading_on.ask()

    def _is_reading_due(self) -> bool:
        return self.reads_refresh and (
            self._notices_hold or time.monotonic() - self._refreshed > _FRESH_SECONDS
        )

    def _follow_notices(self) -> bool:
        """Read the files of which the kernel told; return False if all have to be looked at."""
        with self._following:
            if not self._notices_hold or self._notices is None:
                return False
            # Until it is done: what fails halfway is found by a look at all files.
            self._notices_hold = False
            paths = self._notices.take()
            if paths is None:
                return False
            if paths:
                self.catalog.update(paths)
                if self.catalog.depends_on_decisions():
                    return False
            if time.monotonic() - self._refreshed > _FRESH_SECONDS:
                self.follow_settings()
                self._note_first_seen(lambda: False)
                self._refreshed = time.monotonic()
            self._notices_hold = True
        if time.monotonic() - self._looked > _LOOK_AGAIN_SECONDS:
            self._looked = time.monotonic()
            self._looking_again.ask()
        return True

    @cached_property
    def _looking_again(self) -> BackgroundTask:
        """Return what looks at all files behind the questions, though the kernel told of nothing."""
        from workbench.engine.search.updater import BackgroundTask

        def look(cancelled: Callable[[], bool]) -> None:
            self.catalog.sync(cancelled=cancelled)

        return BackgroundTask(look, name="workbench-look")

    @cached_property
    def _reading_on(self) -> BackgroundTask:
        """Return what reads the files that nobody could wait for."""
        from workbench.engine.search.updater import BackgroundTask

        def read(cancelled: Callable[[], bool]) -> None:
            taken_in = 0

            def take_in(done: int, total: int) -> None:
                nonlocal taken_in
                if done - taken_in >= _TAKEN_IN_AT_ONCE and done < total and not cancelled():
                    taken_in = done
                    # If the index fails, the next question says so; the catalog is read all the same.
                    with contextlib.suppress(StorageError):
                        self.finder.take_in(cancelled=cancelled)

            self.refresh(progress=take_in, cancelled=cancelled)
            if not cancelled():
                self.finder.freshen()

        return BackgroundTask(read, name="workbench-catalog")

    def refresh_later(self) -> None:
        """Have the next reading look for changed files, however short ago that was done."""
        self._refreshed = _NEVER
        self._notices_hold = False

    @contextlib.contextmanager
    def chat_model(self, timeout_s: float | None = None) -> Iterator[ChatModel | None]:
        """Yield the chat model that is configured, or None without one, and let go of it afterwards.

        Args:
            timeout_s: For one answer; the setting `model.timeout` by default.
        """
        if not self.settings.model.configured:
            yield None
            return
        from workbench.engine.providers.selection import chat_model

        chat = chat_model(self.settings, timeout_s=timeout_s)
        try:
            yield chat
        finally:
            if chat is not None:
                chat.close()

    def adopt(self) -> Adopted | None:
        """Take in outside edits, where this door may and there is a history."""
        if not self.has_history() or not self.role.may(Capability.WRITE_MEMORY):
            return None
        self.follow_settings()
        return self.history.adopt()

    def adopt_for_reading(self) -> None:
        """Take in outside edits where that can be done now: a full disk or a busy writer keeps nobody from looking.

        Where files are followed in the background, that takes them in.

        Raises:
            HistoryError: The history is damaged.
        """
        if not self.reads_refresh:
            return
        with contextlib.suppress(StorageError, Locked):
            self.adopt()

    def look_at_state(self) -> None:
        """Warn where the state folder cannot be written: what is kept there costs a change nothing else."""
        if trouble := trouble_in(self.state):
            self.trouble_told["state"] = (
                f"The state folder {self.state} cannot be written ({trouble}): {COST_OF_STATE}."
            )

    def claim_state(self) -> None:
        """Note whose state it is that this workspace keeps on this machine; without a history it goes by its place."""
        if self.has_history():
            claim_state(self.root, self.state, _random_id)

    def close(self) -> None:
        """Let go of everything that was opened."""
        for name in ("_reading_on", "_looking_again"):
            if (task := self.__dict__.pop(name, None)) is not None:
                task.stop()
        with self._following:
            self._notices_hold = False
            if self._notices is not None:
                self._notices.close()
                self._notices = None
        # In this order: the finder reads the catalog until it is closed.
        for name in ("finder", "outside", "catalog", "lookups", "derived_folder"):
            opened = self.__dict__.pop(name, None)
            if isinstance(opened, Closable):
                opened.close()


def _content_of_settings(root: Path) -> bytes | None:
    try:
        return read_work_file(root, layout.SETTINGS)
    except (OutsideWorkspace, StorageError):
        return None


def _is_followed(key: str) -> bool:
    return key.partition(".")[0] in _FOLLOWED or key in ("search.max_results", "search.min_score")
