"""Syncing this memory with a git remote: what would go and come, doing it, and the devices that share it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import (
    Cancelled,
    ConfirmationNeeded,
    InvalidInput,
    StorageError,
    WorkbenchError,
)
from workbench.engine.file_access import expand_home, expand_writable
from workbench.engine.results.sync import SyncDevice, Synced, SyncKey, SyncPreview, SyncStatus
from workbench.engine.roles import Capability, require
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator
from workbench.engine.sync.devices import Device, Link, load_link, require_name, save_link
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.sync.job import SyncJob

Progress = Callable[[str, int, int], None]
_NAME_REMOTE = "Name a folder, host:path or URL: workbench sync REMOTE"


def _say_nothing(_what: str, _done: int, _total: int) -> None:
    """Leave long work untold."""


def _never() -> bool:
    return False


@dataclass(frozen=True)
class _Options:
    """How a person wants memory to go: see `Sync.preview`."""

    sealed: bool = False
    identity: str | None = None
    may_ask: bool = False


class Sync:
    """One memory on several devices."""

    def __init__(self, context: WorkspaceContext, mutator: Mutator) -> None:
        self._context = context
        self._mutator = mutator

    def preview(
        self,
        remote: str | None = None,
        *,
        device: str | None = None,
        sealed: bool = False,
        identity: str | None = None,
        may_ask: bool = False,
        progress: Progress = _say_nothing,
        cancelled: Callable[[], bool] = _never,
    ) -> SyncPreview:
        """Return what a sync would send and take in, and what in it looks like a secret; nothing is changed.

        Args:
            remote: A folder, `host:path` or URL; the one of this memory if left out.
            device: What this device would be called.
            sealed: Whether what is sent is sealed to the keys of the devices; a remote that was sealed stays so.
            identity: A file with another key that can read the remote, where this device was not let in yet.
            may_ask: Whether git and ssh may ask for passwords at the terminal.
            progress: Told of what is being done, and how far it is.
            cancelled: Asked now and then.

        Raises:
            InvalidInput: No remote is known, or none can be what was named.
            RemoteError: It cannot be reached, or what it holds is no part of this memory.
        """
        require(self._context.role, Capability.READ)
        # What was edited from outside would be sent too.
        self._context.adopt_for_reading()
        from workbench.engine.sync.job import preview

        link = self._link(device)
        options = _Options(sealed, identity, may_ask)
        found = preview(self._job(link, remote, options, progress, cancelled))
        return replace(found, device=device) if device else found

    def sync(
        self,
        remote: str | None = None,
        *,
        confirmed: bool = False,
        device: str | None = None,
        sealed: bool = False,
        identity: str | None = None,
        may_ask: bool = False,
        progress: Progress = _say_nothing,
        cancelled: Callable[[], bool] = _never,
    ) -> Synced:
        """Bring this memory and its remote together: fetch, join, send. What breaks off goes on at the next sync.

        The remote is remembered outside the workspace, so that a copied folder sends nothing anywhere. In an empty
        folder, the memory of the remote comes into it.

        Args:
            remote: As for `preview`. Only a person names one that is not remembered yet.
            confirmed: Whether a person saw what would leave for a new remote.
            device: What this device is called from now on; after its host if left out.
            sealed: As for `preview`.
            identity: As for `preview`; this device lets itself in with it.
            may_ask: As for `preview`.
            progress: As for `preview`.
            cancelled: As for `preview`.

        Raises:
            ConfirmationNeeded: The remote is new, and nobody confirmed it.
            RoleRefused: This door may not write, or names a new remote and is no person's.
            RemoteError: The remote cannot be reached, refuses, or holds what is no part of this memory.
            SecretFound: Something that would leave looks like a secret; what came in stays.
            Refused: This device was retired.
            Locked: Another sync, or another writer, is at work.
            StorageError: The disk refuses; nothing was changed, or the next sync goes on.
        """
        require(self._context.role, Capability.WRITE_MEMORY, doing="sync memory")
        from workbench.engine.sync.job import preview as look
        from workbench.engine.sync.job import run

        link = self._link(device)
        job = self._job(link, remote, _Options(sealed, identity, may_ask), progress, cancelled)
        context, url = self._context, job.remote.url
        is_new = url != link.remote or link.is_sealed != (job.keys is not None)
        if is_new:
            require(context.role, Capability.CHANGE_SETTINGS, doing="name a remote for memory")
            if not confirmed:
                raise ConfirmationNeeded(
                    "This memory has not been synced with that remote before.",
                    where=url,
                    remedy="Look at what would leave: workbench sync REMOTE --dry-run. Then add --yes.",
                )
        if not context.has_history() and layout.tracked_files(context.root):
            # Refuses before anything is made here.
            look(job)
        job = replace(job, is_named=remote is not None and confirmed)
        save_link(context.state, link)
        with self._recording_failure(is_new=is_new):
            self._mutator.prepare_writing()
            context.history.adopt()
            done = run(job)
        context.refresh_later()
        return Synced(
            done.commit,
            done.files,
            url,
            done.device,
            done.sent,
            done.received,
            done.conflicts,
            done.purged,
            warnings=done.notices,
        )

    def status(self) -> SyncStatus:
        """Return how this memory and its remote stand, without asking the remote."""
        require(self._context.role, Capability.READ)
        link = load_link(self._context.state)
        own = next((each for each in link.devices if each.id == link.device.id), link.device)
        others = sorted((each for each in link.devices if each.id != own.id), key=lambda each: each.name)
        return SyncStatus(
            link.remote or None,
            link.device.name,
            link.synced,
            self._waiting(link),
            link.trouble or None,
            tuple(_shown(each, own.id) for each in (own, *others)),
            link.is_sealed,
            self._keys() if link.is_sealed else (),
        )

    def key(self) -> SyncKey:
        """Return the public part of this device's key, which is made the first time. Only a person may.

        On a device that is in already, `allow` lets this one in. The private part stays in the person's own state.

        Raises:
            StorageError: It cannot be written, or is damaged.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="make a key")
        from workbench.engine.sync.keys import load_keys

        link = load_link(self._context.state)
        return SyncKey(load_keys(self._context.state).public, link.device.name, is_this=True)

    def allow(self, key: str, *, may_ask: bool = False) -> SyncStatus:
        """Let a key read what is at the remote, all of its past too, and what is sent from now on. Only a person may.

        Args:
            key: The public part: `age1…`, or of an ssh key.
            may_ask: As for `preview`.

        Raises:
            InvalidInput: It is no key, or the remote is not sealed.
            RemoteError: The remote cannot be reached, or refuses.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="let a key in")
        from workbench.engine.sync.keys import parse_key

        return self._reseal(may_ask, let_in=parse_key(key))

    def recovery(self, file: str, *, may_ask: bool = False) -> SyncKey:
        """Make a key for the drawer and let it in: whoever has the file can read the remote. Only a person may.

        Args:
            file: Where it goes; it is not there yet, and only once the key is let in.
            may_ask: As for `preview`.

        Raises:
            InvalidInput: The file is there, or lies in the memory's folder, or the remote is not sealed.
            RemoteError: The remote cannot be reached, or refuses.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="make a key")
        from workbench.engine.sync.keys import recovery_key

        place, job = expand_writable(file), self._sealed_job(may_ask)
        folder = Path(os.path.realpath(place.parent))
        for inner, what in ((self._context.root, "memory"), (job.remote.folder, "the remote")):
            if inner is not None and folder.is_relative_to(os.path.realpath(inner)):
                raise InvalidInput(
                    f"This key would lie in the folder of {what}, beside what it opens.",
                    where=str(place),
                    remedy="Name a file elsewhere, as on a stick.",
                )
        with recovery_key(self._context.state, place) as key:
            self._reseal(may_ask, let_in=key)
        return SyncKey(key, None, is_this=False)

    def retire(self, name: str, *, may_ask: bool = False) -> SyncStatus:
        """Retire another device, by its name; it is refused from its next sync on. Only a person may.

        What it has stays on it: revoke its access to the remote too. A sealed remote is encrypted again, to
        all others; a key that has no device is retired by the key itself.

        Raises:
            NotFound: No device has this name.
            RemoteError: The remote cannot be reached, or refuses.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="retire a device")
        from workbench.engine.sync.job import retire

        if name.startswith(("age1", "ssh-")):
            from workbench.engine.sync.keys import drop_recovery_key

            drop_recovery_key(self._context.state, name)
            return self._reseal(may_ask, take_out=name)
        link = self._link(None)
        retire(self._job(link, None, _Options(may_ask=may_ask), _say_nothing, _never), name)
        return self.status()

    def forget(self) -> SyncStatus:
        """Stop syncing this memory; what is here and at the remote stays. Only a person may."""
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="forget the remote")
        link = load_link(self._context.state)
        forgotten = replace(link, remote="", head="", synced=None, trouble="", objects=(), is_sealed=False)
        save_link(self._context.state, forgotten)
        return self.status()

    # Inner parts

    def _link(self, device: str | None) -> Link:
        link = load_link(self._context.state)
        if device is None:
            return link
        return replace(link, device=replace(link.device, name=require_name(device)))

    def _job(
        self,
        link: Link,
        remote: str | None,
        options: _Options,
        progress: Progress = _say_nothing,
        cancelled: Callable[[], bool] = _never,
    ) -> SyncJob:
        from workbench.engine.sync.job import SyncJob
        from workbench.engine.sync.keys import load_keys
        from workbench.engine.sync.remotes import Callbacks, parse_remote

        context = self._context
        context.follow_settings()
        named = remote or link.remote
        if not named:
            raise InvalidInput("This memory has no remote yet.", where=str(context.root), remedy=_NAME_REMOTE)
        secrets, place = context.settings.secrets, parse_remote(named, context.root)
        sealed = options.sealed or (link.is_sealed and place.url == link.remote)
        if options.identity and not sealed:
            raise InvalidInput(
                "This remote is not sealed, so there is nothing to open with a key.",
                where=place.url,
                remedy="For one that is sealed: workbench sync REMOTE --sealed --identity FILE",
            )
        identity = expand_home(options.identity) if options.identity else None
        return SyncJob(
            context.history,
            context.state,
            place,
            tuple(secrets.allow) if secrets.hold_back else None,
            Callbacks(progress, cancelled, options.may_ask),
            keys=load_keys(context.state, identity) if sealed else None,
        )

    def _sealed_job(self, may_ask: bool) -> SyncJob:
        job = self._job(self._link(None), None, _Options(may_ask=may_ask))
        if job.keys is None:
            raise InvalidInput(
                "This remote is not sealed: every device that can read it has access.",
                where=job.remote.url,
                remedy="To seal it, sync with a new, empty remote (workbench sync REMOTE --sealed).",
            )
        return job

    def _reseal(self, may_ask: bool, *, let_in: str = "", take_out: str = "") -> SyncStatus:
        from workbench.engine.sync.job import reseal

        reseal(self._sealed_job(may_ask), let_in=let_in, take_out=take_out)
        return self.status()

    def _keys(self) -> tuple[SyncKey, ...]:
        from workbench.engine.sync.job import shown_keys
        from workbench.engine.sync.keys import load_keys
        from workbench.engine.sync.sealed import load_seen

        seen = load_seen(self._context.state)
        keys = {key: seen.contents.name_of(key) for key in seen.contents.keys} if seen else {}
        return shown_keys(keys, load_keys(self._context.state).public)

    @contextmanager
    def _recording_failure(self, *, is_new: bool) -> Iterator[None]:
        """Keep why a sync failed for those who look later; a remote that never worked is not kept."""
        try:
            yield
        except Cancelled:
            raise
        except WorkbenchError as error:
            with suppress(StorageError):
                link = load_link(self._context.state)
                if link.remote and not is_new:
                    save_link(self._context.state, replace(link, trouble=str(error)))
            raise

    def _waiting(self, link: Link) -> int:
        """Return how many commits wait to be sent."""
        if not link.remote or not self._context.has_history():
            return 0
        store, head = self._context.history.store, self._context.history.head()
        if head is None or head == link.head:
            return 0
        if not link.head or not store.has_object(link.head):
            # Something was purged since; all of history has to be sent again.
            return 1
        return sum(1 for _ in store.beside((head,), link.head))


def _shown(device: Device, own: str) -> SyncDevice:
    return SyncDevice(device.id, device.name, device.synced, device.id == own, device.retired or None)
