"""Answers about syncing: what would go and come, what did, and which devices share the memory."""

from __future__ import annotations

from datetime import datetime

from workbench.engine.values import dataclass


@dataclass(frozen=True)
class SyncDevice:
    """A device that shares this memory.

    Args:
        synced: When it last synced, to about an hour; None if never.
        is_this: Whether it is this one.
        retired_by: The device that retired it; None if it is in use.
    """

    id: str
    name: str
    synced: datetime | None
    is_this: bool
    retired_by: str | None = None


@dataclass(frozen=True)
class SyncKey:
    """A key to which what is sent is sealed.

    Args:
        key: Its public part: `age1…`, or of an ssh key.
        device: The name of its device; None if it has not synced yet, or is kept for emergencies.
        is_this: Whether it is this device's.
    """

    key: str
    device: str | None
    is_this: bool


@dataclass(frozen=True)
class SyncStatus:
    """How this memory and its remote stand, as far as this device knows without asking.

    Args:
        remote: None where it is not synced.
        device: The name of this device.
        synced: When both last stood at the same commit; None if never.
        waiting: Commits that wait to be sent.
        trouble: Why the last attempt failed; None if it did not.
        devices: Known devices, this one first.
        sealed: Whether what is sent is sealed.
        keys: To which keys, this device's first.
    """

    remote: str | None
    device: str
    synced: datetime | None
    waiting: int
    trouble: str | None
    devices: tuple[SyncDevice, ...]
    sealed: bool = False
    keys: tuple[SyncKey, ...] = ()


@dataclass(frozen=True)
class SyncSide:
    """What one side has and the other lacks.

    Args:
        commits: How many.
        files: The paths that they change.
        size: Bytes of the contents that are new with them, unpacked.
    """

    commits: int = 0
    files: tuple[str, ...] = ()
    size: int = 0


@dataclass(frozen=True)
class SyncSecret:
    """Something in what would leave that looks like a secret; never the secret itself.

    Args:
        kind: For example `GitHub token`.
        path: The file that holds it, now or in the past; empty for the message of a commit.
        digest: Under which a person can allow it.
        is_past: Whether only the past holds it.
    """

    kind: str
    path: str
    digest: str
    is_past: bool


@dataclass(frozen=True)
class SyncPreview:
    """What syncing would do; nothing of it is done.

    Args:
        is_first: Whether this memory was never synced with that remote.
        makes_remote: Whether a bare repository would be made there.
        brings_memory: Whether the memory would come into an empty folder.
        purges: Whether something was purged on one side that the other still has.
        keys: The keys to which what is sent would be sealed, this device's first; empty if it is not sealed.
    """

    remote: str
    device: str
    is_first: bool
    makes_remote: bool
    brings_memory: bool
    outgoing: SyncSide
    incoming: SyncSide
    purges: bool = False
    secrets: tuple[SyncSecret, ...] = ()
    keys: tuple[SyncKey, ...] = ()


@dataclass(frozen=True)
class Synced:
    """What was done.

    Args:
        commit: The newest commit, at which both stand now.
        files: The files that changed here.
        sent: Commits that went to the remote.
        received: Commits that came from it.
        conflicts: What both sides changed differently, and waits in the Inbox.
        purged: Whether something was purged here because another device purged it.
    """

    commit: str | None
    files: tuple[str, ...]
    remote: str
    device: str
    sent: int
    received: int
    conflicts: int
    purged: bool
    ids: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    ok: bool = True
