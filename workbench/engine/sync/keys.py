"""Keys for memory that is sealed on its way: a device's own, and those of whoever else may read it.

age does the sealing, by way of pyrage. Who has a key's private part can read; whoever knows the public part can seal.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path
from typing import IO, Any, Final

import pyrage

from workbench.engine.errors import InvalidInput, StorageError, WorkbenchError
from workbench.engine.file_access import (
    make_private,
    open_outside_file,
    read_regular_file,
    replace_file,
)
from workbench.engine.values import dataclass

KEY: Final = "sync.key"
"""The file with a device's own key, in the state folder of the workspace."""
_RECOVERY: Final = "recovery.key"
_LONGEST = 64 << 10
_OTHERS = 0o077
_PRIVATE = "AGE-SECRET-KEY-"
_SSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"


@dataclass(frozen=True)
class Keys:
    """What a device opens sealed memory with.

    Args:
        public: Its own key, the part that may be known.
        identities: The private parts: of its own key, and of another that a person gave.
    """

    public: str
    identities: tuple[Any, ...] = field(repr=False)


def load_keys(state: Path, identity: Path | None = None) -> Keys:
    """Return a device's keys; its own is made the first time.

    Args:
        state: The state folder of the workspace.
        identity: A file with another key: of age, or an ssh key without a passphrase.

    Raises:
        StorageError: The file with its own key is damaged, readable for others, or cannot be made.
        InvalidInput: The other file holds no key, or is readable for others.
    """
    place = state / KEY
    try:
        content = read_regular_file(place, _LONGEST) or _new_key(place)
        if place.stat().st_mode & _OTHERS:
            raise StorageError(
                "Others can read the private key of this device.",
                where=str(place),
                remedy=f"Take that from them: chmod 600 {shlex.quote(str(place))}. If somebody may have read it, move "
                "it away instead: a new one is made, and another device lets it in and takes this one out.",
            )
    except OSError as error:
        raise _damaged(place, error.strerror or str(error)) from error
    own = _identities(content)
    if not own or isinstance(own[0], pyrage.ssh.Identity):
        raise _damaged(place, "it holds no key of age")
    return Keys(str(own[0].to_public()), (*own, *(_identities_in(identity) if identity else ())))


def parse_key(text: str) -> str:
    """Return the public part of a key that a person gave: `age1…`, or of an ssh key.

    Raises:
        InvalidInput: It is none.
    """
    key = " ".join(text.split()[:2]) if text.strip().startswith("ssh-") else text.strip()
    if key.upper().startswith(_PRIVATE):
        raise InvalidInput(
            "This is a private key, which nobody else may see.",
            remedy="Give the public key; it begins with age1. Make a new key, now that this one was typed.",
        )
    try:
        _recipient(key)
    except (pyrage.RecipientError, ValueError) as error:
        raise InvalidInput(
            f"“{ascii(key)[1:-1][:80]}” is not a key that memory can be sealed to.",
            remedy="Give the public part of an age key (age1…) or of an ssh key (ssh-ed25519 …). "
            "A device shows its own (workbench sync --key).",
        ) from error
    return key


@contextmanager
def recovery_key(state: Path, place: Path) -> Iterator[str]:
    """Yield the public part of a new key for the drawer; its file is there once the body has let it in.

    Until then the key waits in the state folder: one that was interrupted is taken up by the next attempt.

    Args:
        state: The state folder of the workspace.
        place: Where the key goes; there is no such file yet.

    Raises:
        InvalidInput: The file is there already.
        StorageError: It cannot be written.
    """
    waiting = state / _RECOVERY
    content = read_regular_file(waiting, _LONGEST)
    is_written = content is not None and place.is_file() and place.read_bytes() == content
    if not is_written and (place.exists() or place.is_symlink()):
        raise InvalidInput(
            "This file is there already, and is not replaced.", where=str(place), remedy="Name a new one."
        )
    if not place.parent.is_dir():
        raise InvalidInput("There is no such folder.", where=str(place.parent), remedy="Make it first.")
    if not is_written:
        # Tried under the name that the key is written under: what a kill leaves, the next attempt replaces.
        _write_part(place, bytes(_LONGEST)).unlink()
    own = _identities(content or _new_key(waiting))
    if not own:
        raise _damaged(waiting, "it holds no key of age")
    yield str(own[0].to_public())
    if not is_written:
        _write_new(place, waiting.read_bytes())
    waiting.unlink(missing_ok=True)


def drop_recovery_key(state: Path, key: str) -> None:
    """Forget a key for the drawer whose making was interrupted, so that it is not handed out once it is retired."""
    waiting = state / _RECOVERY
    own = _identities(read_regular_file(waiting, _LONGEST) or b"")
    if own and str(own[0].to_public()) == key:
        waiting.unlink(missing_ok=True)


def _write_new(place: Path, content: bytes) -> None:
    """Write a private file that was not there, whole or not at all."""
    new = _write_part(place, content)
    try:
        # A stick may know no hard links.
        new.rename(place)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise _unwritable(place, error) from error


def _write_part(place: Path, content: bytes) -> Path:
    """Write a private file beside its place; returns where it is."""
    new = place.with_name(f".{place.name}.part")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(new, flags, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise _unwritable(place, error) from error
    return new


def seal(content: bytes, keys: Iterable[str]) -> bytes:
    """Return content sealed to keys."""
    sealed: bytes = pyrage.encrypt(content, _recipients(keys))
    return sealed


def seal_stream(plain: IO[bytes], sealed: IO[bytes], keys: Iterable[str]) -> None:
    """Seal a stream to keys, without holding it in memory."""
    pyrage.encrypt_io(plain, sealed, _recipients(keys))


def unseal(sealed: bytes, keys: Keys) -> bytes | None:
    """Return what was sealed; None if it was not sealed to these keys.

    Raises:
        ValueError: It is damaged, or was never sealed.
    """
    try:
        content: bytes = pyrage.decrypt(sealed, list(keys.identities))
    except pyrage.DecryptError as error:
        if "matching keys" in str(error):
            return None
        raise ValueError(str(error)) from error
    return content


def unseal_stream(sealed: IO[bytes], plain: IO[bytes], keys: Keys) -> bool:
    """Unseal a stream; return whether all of it was whole. What was written before is not, until it is."""
    with suppress(pyrage.DecryptError):
        pyrage.decrypt_io(sealed, plain, list(keys.identities))
        return True
    return False


def _recipients(keys: Iterable[str]) -> list[Any]:
    return [_recipient(key) for key in keys]


def _recipient(key: str) -> Any:
    return (pyrage.ssh if key.startswith("ssh-") else pyrage.x25519).Recipient.from_str(key)


def _new_key(place: Path) -> bytes:
    """Make a key in a file, unless another process was faster; return what the file holds."""
    own = pyrage.x25519.Identity.generate()
    content = f"# public key: {own.to_public()}\n{own}\n".encode()
    new = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        make_private(place.parent)
        with replace_file(new, "The key of this device cannot be written") as file:
            file.write(content)
        with suppress(FileExistsError):
            os.link(new, place)
        return read_regular_file(place, _LONGEST) or b""
    except OSError as error:
        raise _unwritable(place, error) from error
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def _identities_in(place: Path) -> tuple[Any, ...]:
    opened = open_outside_file(place)
    content = b""
    if opened is not None:
        with opened:
            if os.fstat(opened.fileno()).st_mode & _OTHERS:
                raise InvalidInput(
                    "Others can read the private key in this file, so it is not used.",
                    where=str(place),
                    remedy=f"Take that from them: chmod 600 {shlex.quote(str(place))}. A stick may have no "
                    "permissions: copy the file into your home first, and delete it there afterwards.",
                )
            content = opened.read(_LONGEST)
    if found := _identities(content):
        return found
    raise InvalidInput(
        "This file holds no key that can be used." if opened else "There is no such file.",
        where=str(place),
        remedy="Name a file with an age key (AGE-SECRET-KEY-…), or an ssh key without a passphrase.",
    )


def _identities(content: bytes) -> tuple[Any, ...]:
    try:
        if content.lstrip().startswith(_SSH):
            return (pyrage.ssh.Identity.from_buffer(content),)
        lines = (line.strip() for line in content.decode("ascii", "replace").splitlines())
        return tuple(pyrage.x25519.Identity.from_str(line) for line in lines if line.startswith(_PRIVATE))
    except (pyrage.IdentityError, ValueError):
        return ()


def _unwritable(place: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The key cannot be written: {error.strerror or error}.",
        where=str(place),
        remedy="Make the folder writable, or name another place; of the state folder, with the setting paths.state.",
    )


def _damaged(place: Path, why: str) -> WorkbenchError:
    return StorageError(
        f"The key of this device cannot be read: {why}.",
        where=str(place),
        remedy="Put it back from a backup. Or move it away: a new one is made, and another device has to let it in.",
    )
