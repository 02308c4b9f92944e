"""Devices that share a memory: their names and ids, what each says of itself at the remote, and the state kept here."""

from __future__ import annotations

import contextlib
import json
import re
import secrets
import socket
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path

from workbench.engine.clock import parse_time
from workbench.engine.errors import InvalidInput, StorageError
from workbench.engine.file_access import make_private, read_state, write_state
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

_FILE = "sync.json"
_NAME = lazy_pattern(r"[a-z0-9][a-z0-9-]{0,30}", re.ASCII)
_ID = lazy_pattern(r"[0-9a-f]{16}", re.ASCII)
_LOGIN = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]*://)([^\s/?#@:]*)[^\s/?#]*@")
MOST_SAID = 4096
"""Bytes that a device may say of itself."""


@dataclass(frozen=True)
class Device:
    """A device that shares a memory.

    Args:
        id: 16 hex digits, made once for a workspace on a device.
        name: Lower-case letters, digits and hyphens.
        synced: When it last synced, to about an hour; None if never.
        retired: The name of the device that retired it; empty if it is in use.
    """

    id: str
    name: str
    synced: datetime | None = None
    retired: str = ""

    def as_bytes(self) -> bytes:
        """Return what is kept of it at the remote."""
        said = asdict(self) | {"synced": self.synced.isoformat() if self.synced else None}
        return json.dumps(said, sort_keys=True).encode()


def parse_device(ident: str, content: bytes) -> Device | None:
    """Return what a device says of itself at the remote; None if that is nothing readable.

    Args:
        ident: The id under which it was kept.
    """
    if not _ID.fullmatch(ident):
        return None
    with contextlib.suppress(ValueError, InvalidInput):
        match json.loads(content):
            case {"name": str(name), "synced": str() | None as synced, "retired": str(retired)}:
                if _NAME.fullmatch(name) and (not retired or _NAME.fullmatch(retired)):
                    return Device(ident, name, parse_time(synced) if synced else None, retired)
    return None


@dataclass(frozen=True)
class Link:
    """What this device keeps about syncing one workspace, in the person's own state.

    Args:
        device: This device.
        remote: Where memory is synced; empty before the first time.
        head: The commit at which both stood last; empty before the first time.
        synced: When that was.
        devices: What the devices said of themselves then.
        objects: The objects in which they said it, by id.
        trouble: Why the last attempt failed; empty if it did not.
        is_cleaning_due: Whether something was purged that the remote, a folder here, may still hold unreachably.
        is_sealed: Whether what goes to the remote is sealed.
    """

    device: Device
    remote: str = ""
    head: str = ""
    synced: datetime | None = None
    devices: tuple[Device, ...] = ()
    objects: tuple[tuple[str, str], ...] = ()
    trouble: str = ""
    is_cleaning_due: bool = False
    is_sealed: bool = False


def without_login(text: str) -> str:
    """Return a text in which no URL has a password or token: of `USER:PASSWORD@`, ssh keeps the user alone."""
    return _LOGIN.sub(lambda found: found[1] + (f"{found[2]}@" if "ssh" in found[1].lower() else ""), text)


def load_link(state: Path) -> Link:
    """Return what is kept about syncing; a new device before the first time.

    Args:
        state: The state folder of the workspace.
    """
    match read_state(state / _FILE):
        case {"device": str(ident), "name": str(name), "remote": str(remote), **rest} if _ID.fullmatch(ident):
            rows = rest.get("devices")
            found = (
                parse_device(str(key), json.dumps(row).encode())
                for key, row in (rows.items() if isinstance(rows, dict) else ())
            )
            objects = rest.get("objects")
            return Link(
                Device(ident, name),
                without_login(remote),
                str(rest.get("head", "")),
                _moment(rest.get("synced")),
                tuple(device for device in found if device is not None),
                tuple(sorted((str(a), str(b)) for a, b in objects.items()))
                if isinstance(objects, dict)
                else (),
                without_login(str(rest.get("trouble", ""))),
                bool(rest.get("cleaning")),
                bool(rest.get("sealed")),
            )
    return Link(new_device(plain_name(socket.gethostname())))


def new_device(name: str) -> Device:
    """Return a device that never synced."""
    return Device(secrets.token_hex(8), name)


def save_link(state: Path, link: Link) -> None:
    """Keep it.

    Raises:
        StorageError: The state folder cannot be written.
    """
    row = {
        "device": link.device.id,
        "name": link.device.name,
        "remote": link.remote,
        "head": link.head,
        "synced": link.synced.isoformat() if link.synced else None,
        "devices": {each.id: json.loads(each.as_bytes()) for each in link.devices},
        "objects": dict(link.objects),
        "trouble": link.trouble,
        "cleaning": link.is_cleaning_due,
        "sealed": link.is_sealed,
    }
    with contextlib.suppress(OSError):
        make_private(state)
    if not write_state(state / _FILE, json.dumps(row).encode()):
        raise StorageError(
            "The state folder cannot be written, so this device would not know its remote again.",
            where=str(state),
            remedy="Make it writable, or name another with the setting paths.state.",
        )


def require_name(name: str) -> str:
    """Return a name that a person gave to a device.

    Raises:
        InvalidInput: It is none.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"“{name[:60]}” cannot be the name of a device.",
            remedy="Use up to 31 lower-case letters, digits and hyphens, as in: laptop",
        )
    return name


def plain_name(host: str) -> str:
    """Return the name of a device after its host."""
    plain = unicodedata.normalize("NFKD", host.partition(".")[0]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:24].strip("-") or "device"


def named_apart(device: Device, others: Iterable[Device]) -> Device:
    """Return a device under a name that none of the others has: `laptop-2` where there is a laptop."""
    taken = {each.name for each in others if each.id != device.id}
    if device.name not in taken:
        return device
    return replace(
        device,
        name=next(
            name for number in range(2, len(taken) + 3) if (name := f"{device.name}-{number}") not in taken
        ),
    )


def _moment(text: object) -> datetime | None:
    with contextlib.suppress(InvalidInput, ValueError):
        return parse_time(text) if isinstance(text, str) else None
    return None
