"""One writer's transaction: changes of history and files under the lock, completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TypeVar

from workbench.engine import layout
from workbench.engine.clock import Clock
from workbench.engine.errors import (
    DocumentError,
    InvalidInput,
    RoleRefused,
    Stale,
    StorageError,
    WorkbenchError,
)
from workbench.engine.file_access import Stamp, flush_to_disk, stamp_of
from workbench.engine.history.alerts import ALERT, CRITICAL_CHANGED, CRITICAL_MARK, critical_alert
from workbench.engine.history.commits import (
    ASKED_BY,
    DEVICE,
    AuditTrailer,
    CommitMessage,
    author_of,
    render_message,
)
from workbench.engine.history.git_objects import blob_hash
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.journal import FileStep, Journal, Record
from workbench.engine.history.outside_edits import (
    Adopted,
    Adoption,
    Edits,
    PlannedCommit,
    ScreenedEdits,
    find_edits,
    first_commit,
    refuse_left_out,
    screen_edits,
)
from workbench.engine.history.permissions import refuse_decisions, refuse_others
from workbench.engine.history.plan import Attribution, Plan, Planner, Receipt, Screen
from workbench.engine.history.projections import Projections
from workbench.engine.history.recovery import checkpoint, flush_objects
from workbench.engine.history.spent_ids import (
    SpentIds,
    keep_spent_of,
    spent_ids_restored,
    with_spent_ids,
)
from workbench.engine.history.work_files import RecordedFiles, Staging, WorkFiles, cannot_write
from workbench.engine.roles import require_vault
from workbench.engine.values import dataclass

T = TypeVar("T")

# Attempts at a plan whose files are edited meanwhile.
_ROUNDS = 5
# Transactions with more bytes of new content than this flush it outside the journal.
_JOURNALLED_BYTES = 1024 * 1024
_UNCHANGED = "Nothing was changed."
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class TransactionContext:
    """Dependencies of a transaction.

    Args:
        clock: Dates the commits.
        zone: The time zone of commit dates.
        new_id: Returns a new transaction id.
        projecting: Updates derived files.
        warn: Takes one line about a problem that stops nothing.
        alerting: Files whose changes raise alerts: critical ones always, others if they are edited outside.
        screen: Checks each outside edit.
        device: Returns the name of this device where memory is synced, else "".
    """

    root: Path
    state: Path
    clock: Clock
    zone: tzinfo
    new_id: Callable[[], str]
    projecting: Projections
    warn: Callable[[str], None]
    critical: frozenset[str]
    alerting: frozenset[str]
    screen: Screen
    device: Callable[[], str]


@dataclass(frozen=True)
class Replacement:
    """A work file to replace: its content when read, and its new content; None means no file."""

    path: str
    before: bytes | None
    after: bytes | None
    stamp: Stamp | None


class Transaction:
    """A writer's transaction; for use inside `History.writing` only.

    Args:
        journal: Its journal, recovered.
        context: The workspace.

    Attributes:
        begun: The commit with which this transaction began the history, or None.
        told: What a person should know about a purge that this transaction had to finish first.
    """

    def __init__(self, store: GitStore, journal: Journal, context: TransactionContext) -> None:
        self.store = store
        self.journal = journal
        self._context = context
        self._root = context.root
        self.begun: str | None = None
        self.told: tuple[str, ...] = ()

    def head(self) -> str | None:
        """Return the newest commit."""
        return self.store.head()

    def settled(self, changes: Mapping[str, bytes | None]) -> tuple[Replacement, ...] | None:
        """Return how work files come to hold new contents; None where an outside edit of one was adopted first.

        Args:
            changes: New content by path; None deletes the file.

        Raises:
            SecretFound: A file stays out of history until a person decides on a secret in it.
        """
        view = RecordedFiles(self._root)
        found = tuple(
            Replacement(path, view.read(path), content, view.stamps[path])
            for path, content in changes.items()
        )
        edits = self._differing(view.contents)
        if not edits:
            return found
        taken = self._adopt(edits, "manual")
        refuse_left_out(taken.left_out, changes.keys())
        return None

    def carry_out(self, planner: Planner[T], attribution: Attribution) -> Receipt[T]:
        """Carry out a plan; see `History.mutate`."""
        adopted: list[str] = []
        for _ in range(_ROUNDS):
            view = RecordedFiles(self._root)
            plan = planner(view)
            replacements = _replacements(plan, view)
            if not attribution.may_touch_critical:
                self._refuse_critical(replacements, attribution)
                self._refuse_decisions(plan.trailers, replacements, attribution)
            if not attribution.may_write_vault:
                for step in replacements:
                    require_vault(step.path, may_write=False)
            edits = self._differing(view.contents)
            if edits:
                taken = self._adopt(edits, "manual")
                adopted += taken.commits
                refuse_left_out(taken.left_out, {step.path for step in replacements})
                if edits.keys() != taken.left_out.keys():
                    continue
            if any(stamp_of(self._root / path) != stamp for path, stamp in view.stamps.items()):
                continue
            try:
                return self._commit_plan(plan, replacements, attribution, tuple(adopted))
            except _Overtaken:
                # What was just saved is adopted first, and the plan made again on top of it.
                continue
        where = ", ".join(sorted(view.contents)[:3])
        told = "The files concerned keep changing while they are being changed here."
        raise Stale(told, where=where, remedy="Let the other program finish, then do it again.")

    def adopt(self, actor: str, only: str | None = None, trailers: Sequence[tuple[str, str]] = ()) -> Adopted:
        """Adopt every outside edit, or that of one file only; see `History.adopt`."""
        tree = self.store.tree_of(self.head())
        edits = find_edits(self._root, self.store, tree, self._context.state)
        wanted = {path: content for path, content in edits.files.items() if only in (None, path)}
        taken = self._adopt(wanted, actor, trailers)
        return replace(taken, warnings=(*_warnings(edits), *taken.warnings))

    def begin_history(self) -> None:
        """Commit every file found, if there is no commit yet."""
        if self.head() is not None:
            return
        found = find_edits(self._root, self.store, None, self._context.state)
        screened = self._screened(found.files, None)
        for warning in (*_warnings(found), *screened.warnings):
            self._context.warn(warning)
        if screened.edits:
            transaction = self._context.new_id()
            self.begun = self.commit([first_commit(screened.edits, transaction)], transaction)[0]

    def record(self, message: CommitMessage) -> str:
        """Make a commit that changes no file; return its hash."""
        return self.commit([PlannedCommit(message, {})], message.transaction)[0]

    def commit(
        self,
        drafts: Sequence[PlannedCommit],
        transaction: str,
        replacements: Sequence[Replacement] = (),
        *,
        gives_way: bool = False,
    ) -> list[str]:
        """Make successive commits and replace work files, all or nothing.

        Args:
            drafts: The commits, oldest first.
            replacements: Work files to write; none if the files on disk already match.
            gives_way: Whether a file that was just edited calls all of it off; else the edit becomes the next commit.

        Returns:
            The commits' hashes.

        Raises:
            StorageError: Something could not be written; files and history are unchanged.
            Stale: The branch moved meanwhile, or a file was edited; files and history are unchanged.
        """
        parent = self.head()
        staging = Staging(self._root, transaction)
        with nothing_changed(), spent_ids_restored(self.store) as spent, staging:
            for joined in filter(None, (draft.joins for draft in drafts)):
                keep_spent_of(self.store, map(self.store.commit, self.store.beside((joined,), parent)))
            with self.store.recording() as objects:
                commits, blobs = self.write_commits(drafts, parent)
            for step in replacements:
                if step.after is not None:
                    staging.lay(step.path, step.after)
            if sum(map(len, blobs.values())) > _JOURNALLED_BYTES:
                flush_objects(self.store, dict.fromkeys(objects))
                blobs = {}
            record = Record(transaction, parent, tuple(commits), blobs, _steps(replacements), tuple(objects))
            overtaken = self._put_in_place(record, replacements, staging, spent, gives_way=gives_way)
        self._conclude(record, overtaken)
        return [commit for commit, _, _ in commits]

    def forward(self, theirs: str, replacements: Sequence[Replacement]) -> None:
        """Move on to a commit that rests on the newest one, and replace work files, all or nothing.

        Args:
            theirs: A commit whose objects are on disk; full hash.
            replacements: What differs between the two.

        Raises:
            StorageError: Something could not be written; files and history are unchanged.
        """
        transaction, parent = self._context.new_id(), self.head()
        staging = Staging(self._root, transaction)
        with nothing_changed(), spent_ids_restored(self.store) as spent, staging:
            keep_spent_of(self.store, self.store.walk(theirs, stop=parent))
            for step in replacements:
                if step.after is not None:
                    staging.lay(step.path, step.after)
            changes = {step.path: _hash(step.after) for step in replacements}
            commits = ((theirs, self.store.raw_object(theirs), changes),)
            record = Record(transaction, parent, commits, {}, _steps(replacements), ())
            overtaken = self._put_in_place(record, replacements, staging, spent)
        self._conclude(record, overtaken)

    def _put_in_place(
        self,
        record: Record,
        replacements: Sequence[Replacement],
        staging: Staging,
        spent: SpentIds,
        *,
        gives_way: bool = False,
    ) -> list[str]:
        """Write down what shall happen, do it, and return the files that were just edited and left alone."""
        self.journal.append(record)
        spent.is_kept = True
        done: list[Replacement] = []
        try:
            overtaken = self._replace_files(replacements, staging, done)
            if overtaken and gives_way:
                raise _Overtaken("It was edited in this moment.", where=overtaken[0], remedy="Do it again.")
            self.store.move_head(record.head, expected=record.parent)
        except WorkbenchError:
            self._take_back(done, record.transaction)
            spent.is_kept = False
            raise
        return overtaken

    def _conclude(self, record: Record, overtaken: Sequence[str]) -> None:
        self.project([path for _, _, changes in record.commits for path in changes])
        self._settle(record.transaction)
        if overtaken:
            edits = self._differing({path: WorkFiles(self._root).read(path) for path in overtaken})
            self._adopt(edits, "manual")

    def project(self, paths: Sequence[str]) -> None:
        """Update everything derived from changed files; what cannot follow is recorded as behind."""
        self._context.projecting.follow(paths, self.store)

    # Inner parts

    def _commit_plan(
        self,
        plan: Plan[T],
        replacements: Sequence[Replacement],
        attribution: Attribution,
        adopted: tuple[str, ...],
    ) -> Receipt[T]:
        if not replacements and not plan.events:
            return Receipt(None, (), plan.outcome, adopted)
        transaction = self._context.new_id()
        changes = {step.path: step.after for step in replacements}
        drafts = self.drafts_of_plan(plan, changes, attribution, transaction)
        commit = self.commit(drafts, transaction, replacements, gives_way=True)[0]
        return Receipt(commit, tuple(map(layout.shown, sorted(changes))), plan.outcome, adopted)

    def drafts_of_plan(
        self,
        plan: Plan[T],
        changing: Mapping[str, bytes | None],
        attribution: Attribution,
        transaction: str,
    ) -> list[PlannedCommit]:
        """Return the commit of a plan, and those of its alerts.

        Args:
            changing: What it changes, by path.
            attribution: The actor, approval and trigger.
        """
        entries = [
            AuditTrailer(
                change.action,
                change.path,
                attribution.approval,
                _marked(summary) if path in self._context.critical else summary,
                _own(actor, attribution),
            )
            for change in plan.changes
            if (path := layout.normalise(change.path)) in changing
            for actor, summary in change.by_actor or (("", change.summary),)
        ]
        entries += [
            AuditTrailer(
                event.action, event.file, attribution.approval, event.summary, _own(event.actor, attribution)
            )
            for event in plan.events
        ]
        mark = CRITICAL_CHANGED if changing.keys() & self._context.critical else ""
        message = CommitMessage(
            plan.action,
            plan.file,
            plan.summary,
            attribution.actor,
            attribution.approval,
            attribution.trigger + mark,
            transaction,
            tuple(entries),
            (*plan.trailers, *(((ASKED_BY, attribution.asker),) if attribution.asker else ())),
        )
        if attribution.actor == "system:init":
            return [PlannedCommit(message, changing)]
        by_path = {entry.file: (entry.action, entry.actor or attribution.actor) for entry in entries}
        unsaid = (plan.action, attribution.actor)
        alerts = [
            critical_alert(path, *by_path.get(path, unsaid), attribution.approval, transaction)
            for path in sorted(changing.keys() & self._context.alerting & self._context.critical)
        ]
        return [PlannedCommit(message, changing), *(PlannedCommit(alert, {}) for alert in alerts)]

    def _refuse_critical(self, replacements: Sequence[Replacement], attribution: Attribution) -> None:
        for step in replacements:
            if step.path in self._context.critical:
                raise RoleRefused(
                    f"{attribution.actor} may not change a critical file.",
                    where=step.path,
                    remedy="Ask the person whose workspace it is to change it.",
                )

    def _refuse_decisions(
        self,
        trailers: Sequence[tuple[str, str]],
        replacements: Sequence[Replacement],
        attribution: Attribution,
    ) -> None:
        if not trailers and not any(layout.is_decided(step.path) for step in replacements):
            return
        changes = [(step.path, step.before, step.after) for step in replacements]
        refuse_decisions(self.store, attribution.actor, changes, trailers)
        refuse_others(self.store, attribution, changes, trailers)

    def _differing(self, contents: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Return the contents that differ from the newest commit."""
        tree = self.store.tree_of(self.head())
        return {
            path: content
            for path, content in contents.items()
            if layout.is_tracked(path) and _hash(content) != self.store.tree_blob(tree, path)
        }

    def _adopt(
        self, edits: Mapping[str, bytes | None], actor: str, trailers: Sequence[tuple[str, str]] = ()
    ) -> Adopted:
        tree = self.store.tree_of(self.head())
        screened = self._screened(self._without_lost_scores(edits, tree), tree)
        if not screened.edits:
            return Adopted(warnings=screened.warnings, left_out=screened.left_out)
        transaction = self._context.new_id()
        adoption = Adoption(self.store, tree, screened.edits, actor, transaction, screened.cut)
        drafts = adoption.commits(self._context.critical, self._context.alerting)
        drafts = [
            replace(each, message=replace(each.message, trailers=(*each.message.trailers, *trailers)))
            for each in drafts
        ]
        commits = self.commit(drafts, transaction)
        alerts = [value for draft in drafts for key, value in draft.message.trailers if key == ALERT]
        return Adopted(
            tuple(commits), tuple(sorted(screened.edits)), tuple(alerts), screened.warnings, screened.left_out
        )

    def _screened(self, edits: Mapping[str, bytes | None], tree: str | None) -> ScreenedEdits:
        context = self._context
        return screen_edits(self._root, self.store, tree, edits, context.screen, context.new_id)

    def _without_lost_scores(
        self, edits: Mapping[str, bytes | None], tree: str | None
    ) -> Mapping[str, bytes | None]:
        """Restore a missing scores file: nobody edits it by hand, and it holds pins and archivings."""
        path = layout.DECAY_SCORES
        blob = self.store.tree_blob(tree, path) if edits.get(path, b"") is None else None
        if blob is None:
            return edits
        try:
            with Staging(self._root, self._context.new_id()) as staging:
                staging.lay(path, self.store.read_blob(blob))
                staging.place(path)
        except OSError as error:
            raise cannot_write(path, error) from error
        return {other: content for other, content in edits.items() if other != path}

    def write_commits(
        self, drafts: Sequence[PlannedCommit], parent: str | None
    ) -> tuple[list[tuple[str, bytes, Mapping[str, str | None]]], dict[str, bytes]]:
        """Write successive commits, leaving branch and work files unchanged.

        Returns:
            Hash, raw object and changed blobs by path of each commit; the content of each blob."""
        moment: datetime = self._context.clock.now().astimezone(self._context.zone)
        device = self._context.device()
        tree = self.store.tree_of(parent)
        blobs: dict[str, bytes] = {}
        commits: list[tuple[str, bytes, Mapping[str, str | None]]] = []
        for draft in drafts:
            message = with_spent_ids(self.store, tree, draft.message, draft.changes)
            if device:
                message = replace(message, trailers=(*message.trailers, (DEVICE, device)))
            changes: dict[str, str | None] = {}
            for path, content in draft.changes.items():
                changes[path] = None if content is None else self.store.write_blob(content)
                if content is not None:
                    blobs[changes[path] or ""] = content
            if changes or tree is None:
                tree = self.store.write_tree(tree, changes)
            author, email = author_of(message.actor)
            parents = [each for each in (parent, draft.joins) if each]
            text = render_message(message)
            parent = self.store.write_commit(tree, parents, text, author=author, email=email, moment=moment)
            commits.append((parent, self.store.raw_object(parent), changes))
        return commits, blobs

    def _replace_files(
        self, replacements: Sequence[Replacement], staging: Staging, done: list[Replacement]
    ) -> list[str]:
        """Replace files; return those that were just edited and therefore left alone."""
        overtaken: list[str] = []
        for step in replacements:
            place = self._root / step.path
            try:
                if stamp_of(place) != step.stamp:
                    overtaken.append(step.path)
                elif step.after is None:
                    place.unlink(missing_ok=True)
                    done.append(step)
                elif staging.place(step.path, step.before):
                    done.append(step)
                else:
                    overtaken.append(step.path)
            except OSError as error:
                raise cannot_write(step.path, error) from error
        for folder in {(self._root / step.path).parent for step in done}:
            try:
                flush_to_disk(folder)
            except OSError as error:
                raise cannot_write(str(folder), error) from error
        return overtaken

    def _take_back(self, done: Sequence[Replacement], transaction: str) -> None:
        """Undo a change that stopped midway.

        Raises:
            StorageError: It cannot be undone; the next writer completes it.
        """
        try:
            self._put_back(done, transaction)
            self.journal.call_off(transaction)
        except StorageError as error:
            raise _Unfinished(
                "The change has begun, and can be neither completed nor taken back: "
                f"{error.message[0].lower()}{error.message[1:]}",
                where=error.where,
                remedy="Free some space, or make the folder writable: the next change completes this one first.",
            ) from error

    def _put_back(self, done: Sequence[Replacement], transaction: str) -> None:
        try:
            with Staging(self._root, f"{transaction}back") as staging:
                for step in done:
                    if step.before is None:
                        (self._root / step.path).unlink(missing_ok=True)
                    else:
                        staging.lay(step.path, step.before)
                        # What somebody saved on top of it stays.
                        staging.place(step.path, step.after)
        except OSError as error:
            raise cannot_write(step.path, error) from error

    def _settle(self, transaction: str) -> None:
        """Clean up after a completed transaction; the next writer repairs a failure here."""
        try:
            self.journal.finish(transaction)
            if self.journal.is_due():
                checkpoint(self.store, self.journal)
        except StorageError as error:
            self._context.warn(
                f"{error.where}: {error.message} The change is saved; the next one tidies up here."
            )


class _Overtaken(Stale):
    """Another program saved a file between the plan and its carrying out; nothing was changed."""


class _Unfinished(StorageError):
    """A change is half done, with its record in the journal."""


@contextmanager
def nothing_changed() -> Iterator[None]:
    """Let an error of the disk say that nothing was changed."""
    try:
        yield
    except StorageError as error:
        if not isinstance(error, _Unfinished) and _UNCHANGED not in (error.remedy or ""):
            error.remedy = f"{error.remedy or ''} {_UNCHANGED}".strip()
        raise


def _steps(replacements: Sequence[Replacement]) -> tuple[FileStep, ...]:
    return tuple(FileStep(each.path, _hash(each.before), _hash(each.after)) for each in replacements)


def _replacements(plan: Plan[T], view: RecordedFiles) -> list[Replacement]:
    """Return the effective changes of a plan.

    Raises:
        InvalidInput: A path is given twice, or is not tracked.
        DocumentError: A file is UTF-16: a line of UTF-8 in it would leave it a text in neither.
    """
    found: dict[str, Replacement] = {}
    seen: set[str] = set()
    for change in plan.changes:
        path = layout.normalise(change.path)
        if not layout.is_tracked(path):
            raise InvalidInput(
                "History does not keep this file.",
                where=path,
                remedy="Write Markdown or JSON below memory/, or one of the workspace's own files.",
            )
        if path in seen:
            raise InvalidInput("A plan names this file twice.", where=path, remedy="Join the two changes.")
        seen.add(path)
        before = view.read(path)
        if before != change.content:
            if (before or b"").startswith(_UTF_16) and (change.content or b"").startswith(_UTF_16):
                raise DocumentError(
                    "This file is UTF-16, and memory is written in UTF-8.",
                    where=path,
                    remedy="Save it as UTF-8, and run it again.",
                )
            found[path] = Replacement(path, before, change.content, view.stamps[path])
    return list(found.values())


def _own(actor: str, attribution: Attribution) -> str:
    """Return the actor that an audit line has to name: one that is not the commit's."""
    return "" if actor == attribution.actor else actor


def _marked(summary: str) -> str:
    return summary if summary.startswith(CRITICAL_MARK) else CRITICAL_MARK + summary


def _hash(content: bytes | None) -> str | None:
    return None if content is None else blob_hash(content)


def _warnings(edits: Edits) -> tuple[str, ...]:
    return tuple(f"{path}: {reason}" for path, reason in edits.unreadable.items())
