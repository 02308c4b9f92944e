"""Which state folder belongs to a workspace: by where that is, and by an identity that it keeps beside its history.

The identity is a file in `.audit` that no commit holds, so that no clone takes it along; the state folder notes whose
it is. A folder without history has no identity yet: its state is found by where it is alone.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import StorageError
from workbench.engine.file_access import read_regular_file, read_state, replace_file, write_state
from workbench.engine.history.git_objects import blob_hash
from workbench.engine.markdown.source import TEMPLATES, load_template
from workbench.engine.patterns import lazy_pattern
from workbench.engine.process import process_lock
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.history.alerts import Seen

_IDENTITY = f"{layout.HISTORY}/identity"
_OWNER = "workspace.json"
_LOCK = "workspaces.lock"
_WAIT = 10.0
_FORM = lazy_pattern(r"[a-z0-9]{8,64}", re.ASCII)


@dataclass(frozen=True)
class _Owner:
    """Whose state a folder holds: the workspace's identity, and where it was last."""

    identity: str
    root: str


def own_state(root: Path, folder: Path, now: datetime) -> tuple[Path, str]:
    """Return the state folder of a workspace, and what a person should be told of it; mostly nothing.

    What another workspace left at the same place is set aside, and a workspace that was moved finds its own again.

    Args:
        root: The workspace folder, absolute and real.
        folder: The state folder by the workspace's place; need not exist.
        now: Names what is set aside.
    """
    identity, owner = _read_identity(root), _read_owner(folder)
    if owner == (_Owner(identity, str(root)) if identity else None):
        return folder, ""
    with _alone(folder):
        # Read again: another process may have given the workspace its identity meanwhile.
        identity = _read_identity(root)
        told = _arrange(root, folder, identity, now)
        owner = _read_owner(folder)
    if owner is not None and not _is_of(root, folder, owner, identity):
        # It could not be set aside; better none than another's.
        return folder.with_name(f"{folder.name}.{identity or 'new'}"), told
    return folder, told


def claim_state(root: Path, folder: Path, new_identity: Callable[[], str]) -> None:
    """Make a workspace its identity, where it has none or that of the one it was copied from; note it with its state.

    Where that cannot be written, the state goes by the workspace's place as before.

    Args:
        root: The workspace folder; it has a history.
        folder: Its state folder, as `own_state` gives it.
        new_identity: Gives one that no other workspace has.
    """
    identity = _read_identity(root)
    if identity and _read_owner(folder) == _Owner(identity, str(root)):
        return
    if (root / layout.HISTORY).is_symlink():
        # It leads to another's; the next change refuses it.
        return
    with _alone(folder), contextlib.suppress(StorageError):
        identity, owner = _read_identity(root), _read_owner(folder)
        if identity is None or (owner is None and _has_original(root, folder, identity)):
            # A new history in the same folder still belongs to the workspace whose state this is.
            identity = owner.identity if owner else new_identity()
            _write_identity(root, identity)
        _note_owner(folder, _Owner(identity, str(root)))


def set_aside_beside(folder: Path) -> tuple[Path, ...]:
    """Return the state folders of other workspaces that were once at this one's place, the oldest first.

    Args:
        folder: The state folder of this workspace.
    """
    return tuple(sorted(place for place in folder.parent.glob(f"{folder.name}.*") if place.is_dir()))


def _arrange(root: Path, folder: Path, identity: str | None, now: datetime) -> str:
    """Make the folder by the workspace's place its own; return what is to be told."""
    told, owner = "", _read_owner(folder)
    with contextlib.suppress(OSError):
        if owner is not None and not _is_of(root, folder, owner, identity):
            told, owner = _set_aside(folder, now), None
        if identity is None:
            return told
        if owner is None and (moved := _of_moved(root, folder, identity)) is not None:
            # Noted first: a state that still named the former place would count as that of any copy, too.
            if not _note_owner(moved, _Owner(identity, str(root))):
                return told
            if folder.is_dir():
                told = _set_aside(folder, now)
            moved.rename(folder)
            return told
        if folder.is_dir() and (owner is not None or not _has_original(root, folder, identity)):
            _note_owner(folder, _Owner(identity, str(root)))
    return told


def _is_of(root: Path, folder: Path, owner: _Owner, identity: str | None) -> bool:
    """Return whether a state is this workspace's; without its history, it is known by what it still holds."""
    if identity is not None:
        return owner.identity == identity
    former = root.glob(f"{layout.HISTORY}.damaged-*/{Path(_IDENTITY).name}")
    if any(_identity_in(place) == owner.identity for place in former):
        return True
    from workbench.engine.history.alerts import load_seen

    seen = load_seen(folder)
    return seen is not None and _is_known_again(root, seen, by_own=identity is not None)


def _is_known_again(root: Path, seen: Seen, *, by_own: bool) -> bool:
    """Return True where a folder holds some of the memory last seen; what every workspace begins with proves little.

    Args:
        root: The folder.
        seen: What was last seen of the workspace.
        by_own: Whether what every new workspace begins with proves nothing at all.
    """
    if seen.memory is None:
        # An earlier version noted critical files alone.
        return not seen.critical or any(_is_critical_as_seen(root, seen, path) for path in seen.critical)
    same = {path for path, blob in seen.memory.items() if _digest(root / path, blob_hash) == blob}
    own = {
        path
        for path, blob in seen.memory.items()
        if path not in TEMPLATES or blob != blob_hash(load_template(path))
    }
    if own:
        return not own.isdisjoint(same)
    if by_own:
        return False
    whole = len(same) == len(seen.memory) and all(
        _is_critical_as_seen(root, seen, path) for path in seen.critical
    )
    return whole and bool(seen.memory or seen.critical)


def _is_critical_as_seen(root: Path, seen: Seen, path: str) -> bool:
    return _digest(root / path, lambda content: sha256(content).hexdigest()) == seen.critical[path][1]


def _of_moved(root: Path, folder: Path, identity: str) -> Path | None:
    """Return the state of this workspace from the place where it was before, or None."""
    return next(
        (
            place
            for place, owner in _owned(folder.parent, identity)
            if place != folder and not _is_there(owner, root)
        ),
        None,
    )


def _has_original(root: Path, folder: Path, identity: str) -> bool:
    """Return whether this workspace is a copy of another one that is still where its state says."""
    return any(_is_there(owner, root) for _, owner in _owned(folder.parent, identity))


def _is_there(owner: _Owner, root: Path) -> bool:
    return owner.root != str(root) and _read_identity(Path(owner.root)) == owner.identity


def _owned(base: Path, identity: str) -> Iterator[tuple[Path, _Owner]]:
    for place in sorted(base.glob(f"*/{_OWNER}")):
        owner = _read_owner(place.parent)
        if owner is not None and owner.identity == identity:
            yield place.parent, owner


def _set_aside(folder: Path, now: datetime) -> str:
    place = folder.with_name(f"{folder.name}.{now:%Y%m%dT%H%M%S}")
    number = 1
    while place.exists():
        number += 1
        place = folder.with_name(f"{folder.name}.{now:%Y%m%dT%H%M%S}-{number}")
    folder.rename(place)
    return (
        f"Another workspace was here before; its state (sessions, what was held back) was set aside: {place}"
    )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time arrange state folders; where no lock can be had, nothing can be moved either."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, StorageError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(process_lock(folder.parent / _LOCK, _WAIT))
        yield


def _read_identity(root: Path) -> str | None:
    return _identity_in(root / _IDENTITY)


def _identity_in(place: Path) -> str | None:
    try:
        text = (read_regular_file(place, 80) or b"").decode("ascii", "replace").strip()
    except OSError:
        return None
    return text if _FORM.fullmatch(text) else None


def _write_identity(root: Path, identity: str) -> None:
    with replace_file(root / _IDENTITY, "The identity of the workspace cannot be written") as file:
        file.write(f"{identity}\n".encode())


def _read_owner(folder: Path) -> _Owner | None:
    match read_state(folder / _OWNER):
        case {"identity": str(identity), "root": str(root)}:
            return _Owner(identity, root)
    return None


def _note_owner(folder: Path, owner: _Owner) -> bool:
    return _read_owner(folder) == owner or write_state(folder / _OWNER, json.dumps(asdict(owner)).encode())


def _digest(place: Path, of: Callable[[bytes], str]) -> str:
    try:
        content = read_regular_file(place)
    except OSError:
        return ""
    return "" if content is None else of(content)
