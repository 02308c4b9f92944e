"""Syncs a memory with a git remote: fetch, check, join, push; again if another device pushed first.

Whatever it dies of, the next one goes on: what was fetched counts only once it is joined, joining is one transaction of
the history, and the remote moves only from where it was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final

from workbench.engine import layout
from workbench.engine.errors import (
    InvalidInput,
    Locked,
    NotFound,
    Refused,
    RemoteError,
    Stale,
    StorageError,
)
from workbench.engine.file_access import flush_to_disk, make_private
from workbench.engine.history.alerts import critical_alert
from workbench.engine.history.commits import DEVICE, parse_message
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.history import History
from workbench.engine.history.joining import JOINS, Apart, How, Joining, JoinPlan, join_commit
from workbench.engine.history.maintenance import repacking_paused
from workbench.engine.history.plan import Action, Attribution, Receipt
from workbench.engine.history.purge import Rewriting, mark_replacement
from workbench.engine.history.recovery import PurgeSteps
from workbench.engine.history.transaction import Transaction
from workbench.engine.process import process_lock
from workbench.engine.results.sync import SyncKey, SyncPreview, SyncSide
from workbench.engine.sync.checking import (
    MOST_COMMIT,
    Transfer,
    refuse_one_name_twice,
    refused_secret,
    secrets_in,
    transfer_of,
)
from workbench.engine.sync.devices import (
    MOST_SAID,
    Device,
    Link,
    load_link,
    named_apart,
    new_device,
    parse_device,
    save_link,
)
from workbench.engine.sync.joining import Joined, Moments, Side, join
from workbench.engine.sync.keys import Keys
from workbench.engine.sync.purges import (
    NOTHING_GONE,
    Sides,
    is_another_memory,
    led_apart,
    ours_rewritten,
    theirs_rewritten,
)
from workbench.engine.sync.remotes import (
    SEALED,
    Advertised,
    Callbacks,
    Connection,
    Remote,
    connect,
    remove_leftovers,
)
from workbench.engine.sync.sealed import SealedTransport
from workbench.engine.values import dataclass

ACTOR: Final = "system:sync"

_LOCK = "sync.lock"
_FETCHED = "workbench.fetched"
# Seconds to wait for another sync of this memory.
_PATIENCE = 30.0
# Attempts where other devices are faster.
_ROUNDS = 12
# Refusals at one and the same commit after which it is no other device that is faster.
_STANDING = 4
# How often a device that has nothing to say says that it is there.
_ALIVE = timedelta(hours=1)
_UNNAMED = "another device"


@dataclass(frozen=True)
class SyncJob:
    """Everything a sync needs.

    Args:
        history: This memory's.
        state: Its state folder.
        remote: The remote.
        allowed: Digests of secrets that a person has allowed; None where secrets are not looked for.
        callbacks: Progress, cancelling, and whether git may ask.
        is_named: Whether a person named the remote just now: a folder that is missing is made then, and a device that
            was retired comes back as a new one.
        keys: What the remote's memory is unsealed with; None where it is not sealed.
    """

    history: History
    state: Path
    remote: Remote
    allowed: Sequence[str] | None
    callbacks: Callbacks
    is_named: bool = False
    keys: Keys | None = None


@dataclass(frozen=True)
class Outcome:
    """What a sync has done; see `results.sync.Synced`."""

    commit: str | None
    files: tuple[str, ...]
    sent: int
    received: int
    conflicts: int
    purged: bool
    device: str
    notices: tuple[str, ...] = ()


def preview(job: SyncJob) -> SyncPreview:
    """Return what a sync would do; the workspace and the remote stay as they are.

    Raises:
        RemoteError: The remote cannot be reached, or what it holds is no part of this memory.
        Refused: This device was retired.
    """
    history, link = job.history, load_link(job.state)
    with _alone(job.state), _connection(job, looks=True) as connection:
        advertised = connection.transport.advertised()
        _refuse_foreign(job.remote, advertised)
        theirs = connection.transport.fetch(_known(history), advertised)
        devices = _devices(connection, advertised)
        device = _own_device(link, job, devices)
        ours = history.head() if history.exists else None
        _refuse_mixing(history, ours, theirs, job.remote)
        incoming = transfer_of(connection, theirs, filter(None, (ours,)), strictly=True)
        sides = None
        if ours and theirs and incoming.commits:
            store = history.store
            with store.reading_beside(connection.objects.folder / "objects"):
                if is_another_memory(store, ours, theirs):
                    raise _another_memory(job.remote)
                sides = led_apart(store, ours, theirs, where=job.remote.url)
        outgoing = transfer_of(connection, ours, filter(None, (theirs,)), strictly=False)
        side = SyncSide(len(outgoing.commits), outgoing.files, outgoing.size)
        if ours is None and theirs is None:
            found = layout.tracked_files(history.root)
            side = SyncSide(0, tuple(found), sum(each.st_size for each in found.values()))
        return SyncPreview(
            job.remote.url,
            device.name,
            link.remote != job.remote.url,
            job.remote.is_missing,
            ours is None and theirs is not None,
            side,
            SyncSide(len(incoming.commits), incoming.files, incoming.size),
            sides is not None,
            secrets_in(connection, outgoing, history, job.allowed),
            shown_keys(connection.transport.keys, job.keys.public)
            if isinstance(connection.transport, SealedTransport) and job.keys
            else (),
        )


def run(job: SyncJob) -> Outcome:
    """Bring memory and remote together. The history exists, and outside edits were taken in.

    Raises:
        RemoteError: The remote cannot be reached, refuses, or holds what is no part of this memory.
        SecretFound: Something that would leave looks like a secret; what came in stays.
        Refused: This device was retired.
        Locked: Another sync, or another writer, is at work.
        Stale: Other devices were faster again and again.
        StorageError: The disk refuses; nothing was changed, or the next sync goes on.
        Cancelled: It was called off; the next sync goes on.
    """
    with _alone(job.state):
        link = load_link(job.state)
        done = Outcome(None, (), 0, 0, 0, purged=False, device=link.device.name)
        refused: list[str] = []
        for _ in range(_ROUNDS):
            with _connection(job) as connection:
                try:
                    return _round(job, connection, load_link(job.state), done)
                except _Again as again:
                    done = again.done
                    refused += [again.refused_at] if again.refused_at else []
            if len(refused) - len(set(refused)) >= _STANDING:
                raise RemoteError(
                    "The remote accepts nothing: its branch seems to be locked.",
                    where=job.remote.url,
                    remedy="If no git process runs there, delete refs/heads/main.lock. Your changes wait here.",
                )
    raise Stale(
        "Other devices kept syncing first.",
        where=job.remote.url,
        remedy="Sync again in a minute. Their changes are here; yours wait.",
    )


def retire(job: SyncJob, name: str) -> Device:
    """Retire another device: it is refused from its next sync on.

    Raises:
        NotFound: No device in use has this name.
        InvalidInput: It is this one.
        RemoteError: The remote cannot be reached, or refuses.
    """
    with _alone(job.state), _connection(job) as connection:
        link = load_link(job.state)
        advertised = connection.transport.advertised()
        connection.transport.fetch(_known(job.history), advertised)
        devices = _devices(connection, advertised)
        own = _own_device(link, job, devices)
        found = next((each for each in devices if each.name == name and not each.retired), None)
        if found is None:
            raise NotFound(
                f"No device in use is called “{name[:60]}”.",
                remedy="List them with: workbench sync --devices",
            )
        if found.id == own.id:
            raise InvalidInput(
                "This is the device you are using.",
                where=name,
                remedy="To stop syncing it: workbench sync --forget. To retire it, use another one.",
            )
        found = replace(found, retired=own.name)
        said = connection.objects.write(found.as_bytes())
        if job.keys is not None:
            # What was sealed to it, too, is void; should this end here, the next sync has the remote drop it.
            save_link(job.state, replace(link, is_cleaning_due=True))
        connection.transport.push(advertised.head or "", advertised.head, {found.id: said})
        if job.keys is not None:
            connection.transport.clean()
        others = (each for each in devices if each.id != found.id)
        save_link(job.state, replace(link, devices=(*others, found)))
        return found


def reseal(job: SyncJob, *, let_in: str, take_out: str) -> None:
    """Encrypt everything at a sealed remote again, with a key added or removed.

    Args:
        job: Has keys.
        let_in: A key's public part.
        take_out: The same; what its owner has, its owner keeps.

    Raises:
        InvalidInput: Nothing is at the remote yet, or the key to take out is this device's.
        NotFound: The key to take out is not in.
        Refused: This device was retired, or its key taken out.
        Stale: Another device synced first.
        RemoteError: The remote cannot be reached, or refuses.
    """
    with _alone(job.state), _connection(job) as connection:
        transport = connection.transport
        assert isinstance(transport, SealedTransport)
        assert job.keys is not None
        advertised = transport.advertised()
        theirs = transport.fetch(_known(job.history), advertised)
        if theirs is None:
            raise InvalidInput(
                "The remote is empty.",
                where=job.remote.url,
                remedy="Sync first: workbench sync",
            )
        _own_device(load_link(job.state), job, _devices(connection, advertised))
        if take_out == job.keys.public:
            raise InvalidInput(
                "This is this device’s own key.",
                where=take_out,
                remedy="To stop syncing it: workbench sync --forget. To take its key out, use another one.",
            )
        if take_out and take_out not in transport.contents.keys:
            raise NotFound(
                "This key has no access.",
                where=take_out,
                remedy="List them with: workbench sync --devices",
            )
        if let_in:
            transport.let_in(let_in)
        if take_out:
            transport.take_out(take_out)
        # Should this end here, the next sync has the remote drop what was sealed otherwise.
        link = load_link(job.state)
        save_link(job.state, replace(link, is_cleaning_due=True))
        transport.push(theirs, theirs, {})
        transport.clean()
        save_link(job.state, link)


def shown_keys(keys: Mapping[str, str | None], own: str) -> tuple[SyncKey, ...]:
    """Return keys as they are shown, this device's first."""
    found = (SyncKey(key, name, key == own) for key, name in keys.items())
    return tuple(sorted(found, key=lambda each: (not each.is_this, each.device or "~", each.key)))


class _Again(Exception):
    """The remote has to be read again; what was done so far stays.

    Args:
        done: That.
        refused_at: Where the remote stood when it refused to move, for another device was faster; else "".
    """

    def __init__(self, done: Outcome, refused_at: str = "") -> None:
        super().__init__()
        self.done = done
        self.refused_at = refused_at


def _round(job: SyncJob, connection: Connection, link: Link, done: Outcome) -> Outcome:
    history, remote = job.history, job.remote
    if remote.is_missing and not job.is_named:
        raise _gone(remote, "The remote is not there.")
    connection.transport.make()
    advertised = connection.transport.advertised()
    _refuse_foreign(remote, advertised)
    if advertised.head is None and link.head and link.remote == remote.url and not job.is_named:
        raise _gone(remote, "The remote’s memory is gone or damaged.")
    theirs, devices = advertised.head, link.devices
    objects = tuple(sorted(advertised.devices.items()))
    if not _has(history, theirs) or objects != link.objects:
        theirs = connection.transport.fetch(_known(history), advertised)
        devices = _devices(connection, advertised)
    device = _own_device(link, job, devices)
    link = replace(
        link,
        device=device,
        remote=remote.url,
        devices=devices,
        objects=objects,
        is_sealed=job.keys is not None,
    )
    if theirs is not None and not _has(history, theirs):
        done = _take_in(job, connection, theirs, link, done)
    head = history.head()
    if head == theirs and not link.is_cleaning_due and not _has_to_tell(link, history):
        return _note(job, connection, link, replace(done, commit=head))
    return _send(job, connection, link, theirs, done)


def _has(history: History, commit: str | None) -> bool:
    """Return whether the history has a remote's commit already."""
    head = history.head()
    return commit is None or (head is not None and history.store.is_ancestor(commit, head))


# What came


def _take_in(job: SyncJob, connection: Connection, theirs: str, link: Link, done: Outcome) -> Outcome:
    """Check what was fetched and join it with what is here.

    Raises:
        _Again: Something was purged at the remote, and is gone here now too; the next round joins the rest.
    """
    history, remote, store = job.history, job.remote, job.history.store
    ours = history.head()
    _refuse_mixing(history, ours, theirs, remote)
    incoming = transfer_of(connection, theirs, filter(None, (ours,)), strictly=True)
    refuse_one_name_twice(
        connection,
        history.root,
        incoming.files,
        connection.objects.local("ls-tree", "-r", "-z", "--name-only", theirs).out.split("\0"),
    )
    job.callbacks.progress("Joining", 0, 0)
    goal = theirs
    with history.writing(ACTOR) as turn, repacking_paused(history.path, history.lock_timeout):
        sides = None
        if ours is not None:
            turn.adopt("manual")
            ours = turn.head() or ours
            if _fetched(history).exists() and _purges_in(connection, incoming):
                raise _Again(replace(done, notices=(*done.notices, *_drop_unreachable(job, turn))))
            with store.reading_beside(connection.objects.folder / "objects"):
                if is_another_memory(store, ours, theirs):
                    raise _another_memory(remote)
                sides = led_apart(store, ours, theirs, where=remote.url)
                if sides is not None and sides.purged_there:
                    notices = _purge_here(job, turn, sides)
                    raise _Again(replace(done, purged=True, notices=(*done.notices, *notices)))
                if sides is not None:
                    # What was fetched holds what was purged here, and does not come into this history.
                    with suppress(OSError):
                        _fetched(history).touch()
                    goal = _without_purged(store, sides)
        if sides is None:
            with suppress(OSError):
                _fetched(history).touch()
            connection.objects.install()
    store.forget_handles()
    if not store.has_object(goal):
        # Something was purged here in between, and all that nothing led to went with it.
        raise _Again(done)
    new = list(store.beside((goal,), history.head()))
    receipt = join_commit(
        history,
        goal,
        partial(_join_plan, device=link.device.name),
        Attribution(ACTOR, "auto", f"sync on {link.device.name}"),
    )
    with suppress(OSError):
        _fetched(history).unlink(missing_ok=True)
    _alert_unannounced(history, receipt, new)
    joined = receipt.outcome.plan.outcome if receipt.outcome.plan else None
    return replace(
        done,
        files=tuple(dict.fromkeys((*done.files, *receipt.files))),
        received=done.received + len(new),
        conflicts=done.conflicts + (len(joined.conflicts) if isinstance(joined, Joined) else 0),
    )


def _purge_here(job: SyncJob, turn: Transaction, sides: Sides) -> tuple[str, ...]:
    """Take out of this history, and of all else here, what another device has purged."""
    history, store, where = job.history, turn.store, job.remote.url
    adopted = turn.adopt("manual")
    theirs_now = theirs_rewritten(store, sides).commits if sides.purged_here else {}
    rewriting, gone = ours_rewritten(store, sides, theirs_now, where=where)
    newest = rewriting.commits[sides.ours]
    mark_replacement(history, turn, newest, gone, adopted.left_out, rewriting=rewriting)
    notices = history.finish_purge(turn)
    history.told_of_purges(now=True)
    return notices


def _fetched(history: History) -> Path:
    """Return the file that is there from when fetched objects came into the history until they are joined."""
    return history.path / _FETCHED


def _purges_in(connection: Connection, incoming: Transfer) -> bool:
    mark = f"\n\n[{Action.PURGE}]".encode()
    return any(mark in (connection.objects.read(each, MOST_COMMIT) or b"") for each in incoming.commits)


def _drop_unreachable(job: SyncJob, turn: Transaction) -> tuple[str, ...]:
    """Drop what an earlier sync fetched and did not join: since then, some of it may have been purged."""
    history, store = job.history, turn.store
    adopted = turn.adopt("manual")
    head = turn.head() or ""
    rewriting = Rewriting(store, NOTHING_GONE)
    gone = PurgeSteps((f"commit:{head}",), ())
    mark_replacement(history, turn, head, gone, adopted.left_out, rewriting=rewriting)
    notices = history.finish_purge(turn)
    history.told_of_purges(now=True)
    with suppress(OSError):
        _fetched(history).unlink(missing_ok=True)
    return notices


def _without_purged(store: GitStore, sides: Sides) -> str:
    """Rewrite what other devices sent meanwhile without what was purged here; return its newest commit."""
    rewriting = theirs_rewritten(store, sides)
    newest = rewriting.commits[sides.theirs]
    new = [store.commit(each) for each in store.beside((newest,), sides.ours)]
    if new:
        packs = store.path / "objects" / "pack"
        # None is new where a sync that was cut off here wrote the same pack; that one may not be on disk yet.
        for file in store.pack(sorted(rewriting.objects_of(new))) or packs.iterdir():
            flush_to_disk(file)
        flush_to_disk(packs)
    return newest


def _join_plan(apart: Apart, *, device: str) -> JoinPlan:
    store = apart.store
    theirs = store.commit(apart.theirs)
    other = next(
        (
            name
            for each in store.beside((apart.theirs,), apart.ours)
            if (name := parse_message(store.commit(each)).trailer(DEVICE))
        ),
        _UNNAMED,
    )
    moments = Moments(
        Side(device, apart.ours, store.commit(apart.ours).moment), Side(other, apart.theirs, theirs.moment)
    )
    base, ours, theirs_files = apart.trees

    def written(side: Side, path: str) -> tuple[str, datetime]:
        commit = apart.last_change(side.commit, path)
        return parse_message(commit).trailer(DEVICE) or side.device, commit.moment

    joined = join(
        base,
        ours,
        theirs_files,
        at=moments,
        paths=apart.changed(),
        is_spent=apart.is_spent,
        written=written,
    )
    many = len(joined.conflicts)
    conflicts = f"; {many} to decide" if many else ""
    return JoinPlan(
        joined.files, f"joined {device} with {other}{conflicts}", ((JOINS, other),), outcome=joined
    )


def _alert_unannounced(history: History, receipt: Receipt[Joining], new: Sequence[str]) -> None:
    """Raise an alert where a critical file changed and no alert came with it."""
    if receipt.outcome.before is None or receipt.outcome.how is How.NOTHING_NEW:
        return
    changed = history.critical & frozenset(receipt.files)
    if not changed:
        return
    messages = [parse_message(history.store.commit(each)) for each in new]
    told = {message.file for message in messages if message.action == Action.ALERT}
    with history.writing(ACTOR) as turn:
        for path in sorted(changed - told):
            turn.record(critical_alert(path, Action.SYNC, ACTOR, "auto", history.new_id()))


# What goes


def _send(job: SyncJob, connection: Connection, link: Link, theirs: str | None, done: Outcome) -> Outcome:
    history, state = job.history, job.state
    head = history.head()
    if head is None:
        return _note(job, connection, link, done)
    outgoing = transfer_of(connection, head, filter(None, (theirs,)), strictly=False)
    if found := secrets_in(connection, outgoing, history, job.allowed):
        save_link(state, link)
        raise refused_secret(found)
    forced = theirs is not None and not history.store.is_ancestor(theirs, head)
    if forced:
        # Should this end here, the next sync still has the remote drop what was purged.
        link = replace(link, is_cleaning_due=True)
        save_link(state, link)
    now = history.clock.now()
    device = replace(link.device, synced=now)
    said = connection.objects.write(device.as_bytes())
    try:
        connection.transport.push(head, theirs, {device.id: said})
    except Stale:
        raise _Again(done, theirs or "nothing") from None
    if link.is_cleaning_due:
        if not connection.transport.clean():
            told = "What was taken out is gone from the remote’s history; its host may keep it until it cleans up."
            done = replace(done, notices=(*done.notices, told))
        link = replace(link, is_cleaning_due=False)
    others = tuple(each for each in link.devices if each.id != device.id)
    objects = dict(link.objects) | {device.id: said}
    link = replace(link, devices=(*others, device), objects=tuple(sorted(objects.items())))
    done = replace(done, commit=head, sent=done.sent + len(outgoing.commits))
    return _note(job, connection, link, done)


def _note(job: SyncJob, connection: Connection, link: Link, done: Outcome) -> Outcome:
    history = job.history
    done = replace(done, notices=tuple(dict.fromkeys((*done.notices, *connection.transport.notices))))
    link = replace(link, head=done.commit or "", synced=history.clock.now(), trouble="")
    save_link(job.state, link)
    connection.transport.mark_shown()
    return replace(done, device=link.device.name)


def _has_to_tell(link: Link, history: History) -> bool:
    """Return whether the others should hear of this device."""
    told = next((each for each in link.devices if each.id == link.device.id), None)
    if told is None or told.name != link.device.name or told.synced is None:
        return True
    return history.clock.now() - told.synced > _ALIVE


# What both need


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    try:
        make_private(state)
    except OSError as error:
        raise StorageError(
            f"The state folder cannot be made: {error.strerror or error}.",
            where=str(state),
            remedy="Make its parent writable, or name another with the setting paths.state.",
        ) from error
    with process_lock(state / _LOCK, _PATIENCE) as alone:
        if not alone:
            raise Locked(
                "Another sync of this memory is under way.",
                where=str(state / _LOCK),
                remedy=f"Wait until it is done; waited {_PATIENCE:g} s.",
            )
        yield


@contextmanager
def _connection(job: SyncJob, *, looks: bool = False) -> Iterator[Connection]:
    history = job.history if job.history.exists else None
    # What is only looked at touches no workspace; a folder that memory has yet to come into stays empty.
    base = job.state if history is None or looks else history.path
    if base != job.state:
        # What a look that was killed had fetched may be purged by now.
        remove_leftovers(job.state)
    with connect(job.remote, base, job.callbacks, history.path if history else None) as connection:
        if job.keys is None:
            yield connection
        else:
            named = job.is_named
            transport = SealedTransport(connection, job.state, job.keys, is_named=named, keeps=not looks)
            yield replace(connection, transport=transport)


def _known(history: History) -> tuple[str, ...]:
    head = history.head() if history.exists else None
    return (head,) if head else ()


def _devices(connection: Connection, advertised: Advertised) -> tuple[Device, ...]:
    said = (
        (ident, connection.objects.read(oid, MOST_SAID)) for ident, oid in sorted(advertised.devices.items())
    )
    found = (parse_device(ident, content) for ident, content in said if content is not None)
    return tuple(device for device in found if device is not None)


def _own_device(link: Link, job: SyncJob, devices: Sequence[Device]) -> Device:
    own, remote = link.device, job.remote
    known = next((each for each in devices if each.id == own.id), None)
    if known is not None and known.retired and job.is_named:
        own = new_device(own.name)
    elif known is not None and known.retired:
        raise Refused(
            f"This device, {known.name}, was retired by {known.retired} and no longer syncs.",
            where=remote.url,
            remedy=f"To use it again, as a new device: workbench sync {remote.url} --yes",
        )
    return named_apart(own, (each for each in devices if not each.retired))


def _refuse_foreign(remote: Remote, advertised: Advertised) -> None:
    if SEALED in advertised.others:
        raise RemoteError(
            "This remote is sealed.",
            where=remote.url,
            remedy=f"Name it as a sealed one: workbench sync {remote.url} --sealed",
        )
    if advertised.head is None and advertised.others:
        branches = ", ".join(ref.removeprefix("refs/heads/") for ref in advertised.others[:3])
        raise RemoteError(
            f"This repository holds something else, not a memory (branches: {branches}).",
            where=remote.url,
            remedy="Use a new, empty repository.",
        )


def _refuse_mixing(history: History, ours: str | None, theirs: str | None, remote: Remote) -> None:
    """Refuse a memory that would come into a folder with files of its own."""
    if ours is None and theirs is not None and layout.tracked_files(history.root):
        raise _another_memory(remote)


def _gone(remote: Remote, told: str) -> RemoteError:
    return RemoteError(
        told,
        where=remote.url,
        remedy="Attach its disk or repair it. If it is gone for good, recreate it from this device: "
        "workbench sync REMOTE --yes",
    )


def _another_memory(remote: Remote) -> RemoteError:
    return RemoteError(
        "The remote holds another memory than this folder; they are not merged.",
        where=remote.url,
        remedy="Sync it into an empty folder, or this folder with an empty remote. To combine them: "
        "workbench import",
    )
