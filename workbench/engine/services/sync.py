"""Syncing this memory with a git remote: what would go and come, doing it, and the devices that share it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import (
    Cancelled,
    ConfirmationNeeded,
    InvalidInput,
    StorageError,
    WorkbenchError,
)
from workbench.engine.results.sync import SyncDevice, Synced, SyncPreview, SyncStatus
from workbench.engine.roles import Capability, require
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.services.mutator import Mutator
from workbench.engine.sync.devices import Device, Link, load_link, require_name, save_link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.sync.carrying import Carrying

Progress = Callable[[str, int, int], None]
_NAME_REMOTE = "Name a folder, host:path or URL: workbench sync REMOTE"


def _say_nothing(_what: str, _done: int, _total: int) -> None:
    """Leave long work untold."""


def _never() -> bool:
    return False


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
        may_ask: bool = False,
        progress: Progress = _say_nothing,
        cancelled: Callable[[], bool] = _never,
    ) -> SyncPreview:
        """Return what a sync would send and take in, and what in it looks like a secret; nothing is changed.

        Args:
            remote: A folder, `host:path` or URL; the one of this memory if left out.
            device: What this device would be called.
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
        from workbench.engine.sync.carrying import preview

        link = self._link(device)
        found = preview(self._carrying(link, remote, may_ask, progress, cancelled))
        return replace(found, device=device) if device else found

    def sync(
        self,
        remote: str | None = None,
        *,
        confirmed: bool = False,
        device: str | None = None,
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
        from workbench.engine.sync.carrying import carry
        from workbench.engine.sync.carrying import preview as look

        link = self._link(device)
        carrying = self._carrying(link, remote, may_ask, progress, cancelled)
        context, url = self._context, carrying.remote.url
        is_new = url != link.remote
        if is_new:
            require(context.role, Capability.CHANGE_SETTINGS, doing="name a remote for memory")
            if not confirmed:
                raise ConfirmationNeeded(
                    "This memory was not synced with that remote before.",
                    where=url,
                    remedy="Look at what would leave: workbench sync REMOTE --dry-run. Then add --yes.",
                )
        if not context.has_history() and layout.tracked_files(context.root):
            # Refuses before anything is made here.
            look(carrying)
        carrying = replace(carrying, is_named=remote is not None and confirmed)
        save_link(context.state, link)
        with self._noting_trouble(is_new=is_new):
            self._mutator.prepare_writing()
            context.history.adopt()
            done = carry(carrying)
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
            warnings=done.told,
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
        )

    def retire(self, name: str, *, may_ask: bool = False) -> SyncStatus:
        """Retire another device, by its name; it is refused from its next sync on. Only a person may.

        What it has stays on it: take its key off the remote too.

        Raises:
            NotFound: No device has this name.
            RemoteError: The remote cannot be reached, or refuses.
        """
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="retire a device")
        from workbench.engine.sync.carrying import retire

        link = self._link(None)
        retire(self._carrying(link, None, may_ask, _say_nothing, _never), name)
        return self.status()

    def forget(self) -> SyncStatus:
        """Stop syncing this memory; what is here and at the remote stays. Only a person may."""
        require(self._context.role, Capability.CHANGE_SETTINGS, doing="forget the remote")
        link = load_link(self._context.state)
        save_link(self._context.state, replace(link, remote="", head="", synced=None, trouble="", objects=()))
        return self.status()

    # Inner parts

    def _link(self, device: str | None) -> Link:
        link = load_link(self._context.state)
        if device is None:
            return link
        return replace(link, device=replace(link.device, name=require_name(device)))

    def _carrying(
        self,
        link: Link,
        remote: str | None,
        may_ask: bool,
        progress: Progress,
        cancelled: Callable[[], bool],
    ) -> Carrying:
        from workbench.engine.sync.carrying import Carrying
        from workbench.engine.sync.remotes import Course, parse_remote

        context = self._context
        context.follow_settings()
        named = remote or link.remote
        if not named:
            raise InvalidInput("This memory has no remote yet.", where=str(context.root), remedy=_NAME_REMOTE)
        secrets = context.settings.secrets
        return Carrying(
            context.history,
            context.state,
            parse_remote(named, context.root),
            tuple(secrets.allow) if secrets.hold_back else None,
            Course(progress, cancelled, may_ask),
        )

    @contextmanager
    def _noting_trouble(self, *, is_new: bool) -> Iterator[None]:
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
            # Something was purged since; all of history has to be told anew.
            return 1
        return sum(1 for _ in store.beside((head,), link.head))


def _shown(device: Device, own: str) -> SyncDevice:
    return SyncDevice(device.id, device.name, device.synced, device.id == own, device.retired or None)
