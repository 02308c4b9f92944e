"""The history of a workspace: the only way to change it, and the record of what changed it."""

from __future__ import annotations

import secrets
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TypeVar

from workbench.engine import layout, results
from workbench.engine.clock import Clock
from workbench.engine.errors import NotFound, StorageError
from workbench.engine.history.alerts import (
    ACKNOWLEDGES,
    RaisedAlert,
    describe_alert,
    history_alert,
    history_is_gone,
    keep_seen,
    load_seen,
    raised_alerts,
    tampering,
)
from workbench.engine.history.commits import parse_message
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.journal import JOURNAL_FILE, LOCK_FILE, Journal, WriterLock
from workbench.engine.history.maintenance import repacking_paused
from workbench.engine.history.outside_edits import Adopted, find_edits, first_commit
from workbench.engine.history.plan import (
    Action,
    Attribution,
    Event,
    FileView,
    Plan,
    Planner,
    Receipt,
    Screen,
    screen_nothing,
)
from workbench.engine.history.projections import (
    Progress,
    Projection,
    Projections,
    StaleProjection,
    say_nothing,
)
from workbench.engine.history.recovery import (
    OtherHolders,
    PurgeMarker,
    finish_purge,
    purge_is_unfinished,
    purge_notices,
    purge_obstacle,
    read_marker,
    recover,
    save_purge_notices,
)
from workbench.engine.history.spent_ids import keep_all_spent
from workbench.engine.history.transaction import Transaction, TransactionContext
from workbench.engine.history.work_files import CommitFiles, WorkFiles

T = TypeVar("T")

_INIT = Attribution("system:init", "auto", "first run")


class History:
    """The history of one workspace. Creating one touches nothing; only its changing methods write.

    Args:
        clock: Dates the commits.
        state: The folder of this workspace's derived state, outside the workspace; created on first use.
        zone: The time zone of commit dates.
        lock_timeout: Seconds to wait for another writer.
        projections: Further files derived from the tracked ones, updated after each change.
        new_id: Returns a new transaction id of lower-case letters and digits.
        critical: Paths of the files that only some roles may change, and whose changes raise alerts.
        critical_alerts: Whether they, and outside edits of sensitive files, raise alerts; settings files, which hold
            this switch, always do.
        screen: Checks each outside edit before it is adopted.
        rescore: Given the scores file that a revert leaves, returns it with the scores that the revert cannot know.
        progress: Told how far the audit log is where all of it is written.
        other_holders: Returns the holders of memories beside the files and their history, for a purge.
        device: Returns the name of this device where memory is synced, else "".
    """

    def __init__(
        self,
        root: Path,
        *,
        clock: Clock,
        state: Path,
        zone: tzinfo = UTC,
        lock_timeout: float = 10.0,
        projections: Sequence[Projection] = (),
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
        critical: frozenset[str] = layout.CRITICAL,
        critical_alerts: bool = True,
        screen: Screen = screen_nothing,
        rescore: Callable[[bytes], bytes] = lambda scores: scores,
        progress: Progress = say_nothing,
        other_holders: Callable[[], OtherHolders | None] = lambda: None,
        device: Callable[[], str] = lambda: "",
    ) -> None:
        self.root = root
        self.path = root / layout.HISTORY
        self.clock = clock
        self.zone = zone
        self.state = state
        self.new_id = new_id
        self.critical = critical
        self.lock_timeout = lock_timeout
        self.journal = Journal(self.path / JOURNAL_FILE)
        self._other_holders = other_holders
        self._rescore = rescore
        self._lock = WriterLock(self.path / LOCK_FILE, timeout=lock_timeout)
        self._warnings: dict[str, None] = {}
        self._store: GitStore | None = None
        self._opening = threading.Lock()
        settings_files = critical & {layout.SETTINGS, *layout.FOREIGN_SETTINGS}
        alerting = critical | layout.SENSITIVE if critical_alerts else settings_files
        self._projecting = Projections(root, state, projections, progress)
        self._context = TransactionContext(
            root, state, clock, zone, new_id, self._projecting, self._warn, critical, alerting, screen, device
        )

    # Reading

    @property
    def exists(self) -> bool:
        """Whether the workspace has a history yet."""
        return self.path.is_dir()

    @property
    def store(self) -> GitStore:
        """Return the git repository, for reading.

        Raises:
            NotFound: There is no history yet.
            HistoryError: `.audit` is something else, or damaged.
        """
        with self._opening:
            if self._store is None or not self.exists:
                self._store = None
                self._store = GitStore(self.path)
            return self._store

    @property
    def warnings(self) -> tuple[str, ...]:
        """One line for each thing that does not work as it should."""
        missing = (
            ()
            if shutil.which("git")
            else (
                "The git program is missing, so history is never repacked; install git. Everything else works.",
            )
        )
        return (*missing, *self._warnings, *(one.told for one in self.behind()))

    def behind(self) -> tuple[StaleProjection, ...]:
        """The projections that have not followed every change."""
        return self._projecting.behind()

    def head(self) -> str | None:
        """Return the newest commit, or None if there is none."""
        return self.store.head() if self.exists else None

    def holds(self, commit: str) -> bool:
        """Return True if a commit is the newest or an ancestor of it, and no purge is about to change that."""
        head = self.head()
        return (
            head is not None and not purge_is_unfinished(self.path) and self.store.is_ancestor(commit, head)
        )

    def refuse_gone(self) -> None:
        """Raise if a history existed here before and has disappeared.

        Raises:
            HistoryDamaged: The history or its branch is gone.
        """
        if self.head() is None and not purge_is_unfinished(self.path) and (seen := load_seen(self.state)):
            raise history_is_gone(seen)

    def now(self) -> FileView:
        """Return the files on disk, without a lock."""
        return WorkFiles(self.root)

    def at(self, commit: str) -> FileView:
        """Return the files of a commit.

        Args:
            commit: A hash or its first digits.

        Raises:
            NotFound: There is no such commit.
        """
        return CommitFiles(self.store, self.store.resolve(commit))

    def alerts(self, *, waiting: bool = False) -> tuple[results.audit.Alert, ...]:
        """Return every alert with the change that raised it, newest first.

        Args:
            waiting: Leave out acknowledged alerts.
        """
        raised = (one for one in self.raised_alerts() if not (waiting and one.acknowledgement))
        return tuple(describe_alert(self.store, one) for one in raised)

    def raised_alerts(self) -> list[RaisedAlert]:
        """Return every alert without its change, newest first; fast even in a long history."""
        return raised_alerts(self.store, self.state) if self.exists else []

    # Changing

    def init(self, attribution: Attribution = _INIT) -> Receipt[None]:
        """Create `.audit` and commit the existing files; if it exists, adopt outside edits.

        Args:
            attribution: Who does it; the tag is shown to waiting writers.

        Raises:
            StorageError: The folder cannot be written.
            HistoryError: `.audit` is something other than a history.
        """
        before = self.head()
        with self.writing(attribution.actor) as turn:
            if turn.begun:
                return Receipt(turn.begun, tuple(turn.store.files_at(turn.begun)), None)
            adopted = turn.adopt("manual") if before else Adopted()
            commit = adopted.commits[-1] if adopted.commits else None
            return Receipt(commit, adopted.files, None, adopted.commits)

    def begin(self) -> str:
        """Return the newest commit, creating an empty one if every file found awaits a person’s decision.

        Raises:
            StorageError: The folder cannot be written.
        """
        with self.writing(_INIT.actor) as turn:
            return turn.head() or turn.record(first_commit({}, self.new_id()).message)

    def mutate(self, planner: Planner[T], attribution: Attribution) -> Receipt[T]:
        """Carry out a plan, completely or not at all.

        The planner may be called several times: if a file it read or wants to change was edited from outside, that
        edit is committed first and the planner runs again.

        Args:
            planner: Reads the files it is given and returns the changes.
            attribution: The actor, their rights, approval and trigger.

        Returns:
            The receipt; its commit is None if the plan changed nothing.

        Raises:
            RoleRefused: A critical file would change, or a decision be made or undone, without the right to it.
            Locked: Another writer did not release the lock in time.
            StorageError: Something cannot be written; nothing was changed.
            Stale: The files keep changing.
            InvalidInput: The plan names a file that history does not track.
        """
        with self.writing(attribution.actor) as turn:
            return turn.carry_out(lambda view: self._rescored(planner(view)), attribution)

    def _rescored(self, plan: Plan[T]) -> Plan[T]:
        if plan.action is not Action.REVERT:
            return plan
        changes = tuple(
            replace(change, content=self._rescore(change.content))
            if change.path == layout.DECAY_SCORES and change.content is not None
            else change
            for change in plan.changes
        )
        return replace(plan, changes=changes)

    def adopt(
        self, actor: str = "manual", only: str | None = None, trailers: Sequence[tuple[str, str]] = ()
    ) -> Adopted:
        """Finish what a crash left and commit outside edits; takes no lock if there is nothing to do.

        Args:
            actor: Who made the edits, if known.
            only: The only file to adopt; all by default.
            trailers: Further trailers of the commits.

        Returns:
            What was adopted.
        """
        if self._is_clean():
            return Adopted()
        with self.writing(actor) as turn:
            taken = turn.adopt(actor, only, trailers)
            return replace(taken, warnings=(*turn.told, *taken.warnings))

    def acknowledge(
        self, alert: str, attribution: Attribution, trailers: tuple[tuple[str, str], ...] = ()
    ) -> Receipt[None]:
        """Record that a person has seen an alert; repeating it changes nothing.

        Args:
            alert: Its id.
            attribution: Who has seen it.
            trailers: Further trailers of the commit.

        Raises:
            NotFound: There is no such alert.
        """
        with self.writing(attribution.actor) as turn:
            found = next((one for one in raised_alerts(turn.store, self.state) if one.id == alert), None)
            if found is None:
                raise NotFound(
                    "There is no such alert.", where=alert, remedy="List them with: workbench audit alerts"
                )
            if found.acknowledgement:
                return Receipt(None, (), None)
            file = parse_message(turn.store.commit(found.commit)).file
            event = Event(Action.ACK, file, f"acknowledged alert {alert} about {file}")
            plan = Plan[None](
                Action.ACK, file, event.summary, events=(event,), trailers=((ACKNOWLEDGES, alert), *trailers)
            )
            return turn.carry_out(lambda _: plan, attribution)

    @contextmanager
    def writing(self, actor: str) -> Iterator[Transaction]:
        """Hold the writer's lock for a block, after finishing what a crash left.

        Args:
            actor: The tag shown to waiting writers.

        Raises:
            Locked: Another writer did not release the lock in time.
            StorageError: The workspace cannot be written.
        """
        store = self._store_for_writing()
        with self._lock.hold(actor, self.clock.now()) as held:
            turn = Transaction(store, self.journal, self._context)
            if purge_is_unfinished(self.path):
                with repacking_paused(self.path, self.lock_timeout):
                    turn.told = self.finish_purge(turn)
                for line in turn.told:
                    self._warn(line)
            recovered = recover(store, self.journal, self.root, predecessor_died=held.predecessor_died)
            keep_all_spent(store)
            seen = load_seen(self.state)
            problem = tampering(store, seen) if seen else None
            if recovered is not None:
                turn.project(recovered)
            turn.begin_history()
            if problem:
                turn.record(history_alert(problem, self.new_id()))
            yield turn
            keep_seen(store, self.state, seen, self.critical)

    def unfinished_purge(self) -> PurgeMarker | None:
        """Return the marker of an interrupted purge, which the next change finishes; None if there is none.

        Raises:
            HistoryDamaged: It is unreadable.
        """
        return read_marker(self.path) if purge_is_unfinished(self.path) else None

    def finish_purge(
        self, turn: Transaction, *, step: Callable[[str], None] = lambda _: None
    ) -> tuple[str, ...]:
        """Finish a purge from its marker on, with repacking kept off; see `recovery`.

        Args:
            step: Called with the name of each step.

        Returns:
            What a person should know, one sentence each.
        """
        told = finish_purge(
            turn.store,
            self.journal,
            self.root,
            self.state,
            critical=self.critical,
            project=self._projecting.write_or_remove,
            other_holders=self._other_holders(),
            step=step,
        )
        aside = sorted(place.name for place in self.root.glob(f"{layout.HISTORY}.*") if place.is_dir())
        told = (*told, *((f"May still hold it, for you to delete: {', '.join(aside)}.",) if aside else ()))
        told = tuple(dict.fromkeys(told))
        save_purge_notices(self.state, told)
        return told

    def told_of_purges(self, *, now: bool = False) -> tuple[str, ...]:
        """Return what a person should know about purges that another change finished.

        Args:
            now: Whether it is being shown; it is then forgotten.
        """
        told = purge_notices(self.state)
        if now:
            save_purge_notices(self.state, ())
        return told

    @property
    def purge_stopped_by(self) -> str:
        """Return what prevented an unfinished purge from finishing; empty if unknown."""
        return purge_obstacle(self.state)

    def set_aside(self) -> Path:
        """Move an unusable history out of the way, so that a new one can begin; nothing is deleted.

        Returns:
            Its new location.

        Raises:
            StorageError: It cannot be moved.
        """
        moment = self.clock.now().strftime("%Y%m%dT%H%M%SZ")
        place = self.path.with_name(f"{self.path.name}.damaged-{moment}")
        number = 1
        while place.exists():
            number += 1
            place = self.path.with_name(f"{self.path.name}.damaged-{moment}-{number}")
        try:
            self.path.rename(place)
        except OSError as error:
            raise StorageError(
                f"The history cannot be moved: {error.strerror}.",
                where=str(self.path),
                remedy="Make the workspace folder writable.",
            ) from error
        self._store = None
        return place

    def _store_for_writing(self) -> GitStore:
        if not self.root.is_dir():
            raise NotFound(
                "There is no such folder.", where=str(self.root), remedy="Make it, or name another workspace."
            )
        if not self.exists:
            self._store = GitStore.create(self.path)
        return self.store

    def _is_clean(self) -> bool:
        if (
            not self.exists
            or not self.journal.is_settled()
            or self._lock.was_abandoned()
            or purge_is_unfinished(self.path)
        ):
            return False
        store = self.store
        head = store.head()
        seen = load_seen(self.state)
        if head is None or (seen and seen.head != head):
            return False
        edits = find_edits(self.root, store, store.commit(head).tree, self.state)
        return not edits.files and not edits.unreadable

    def _warn(self, line: str) -> None:
        self._warnings[line] = None
