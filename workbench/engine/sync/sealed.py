"""Syncs through a git remote that nobody has to trust: everything it holds is encrypted (sealed).

The branch `sealed` of the remote holds one file that says what there is, the *contents*, and parts of packs; each is
sealed with age to the keys of all devices, and named by its hash. A sync adds a pack of what is new and new contents.
After a purge or a change of keys the branch starts over. What was unsealed is checked and joined like anything fetched.

A remote can be read by whoever keeps it, and changed: the contents hold a secret that only those with a key know, so
that nobody else can write any, and a number that only grows, so that older ones are not taken for the newest.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import secrets
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, field, replace
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final

from workbench.engine.errors import Cancelled, Refused, RemoteError, StorageError
from workbench.engine.file_access import read_state, replace_file
from workbench.engine.history.git_folder import BRANCH
from workbench.engine.history.git_objects import libgit2
from workbench.engine.history.maintenance import start_git
from workbench.engine.sync.devices import without_login
from workbench.engine.sync.keys import Keys, seal, seal_stream, unseal, unseal_stream
from workbench.engine.sync.remotes import (
    MOST_BYTES,
    SEALED,
    Advertised,
    Connection,
    GitTransport,
    Objects,
    lay_out,
)
from workbench.engine.values import dataclass

MOST_PACKS: Final = 32
"""When there are more packs than this, those that came last are made one."""
PART: Final = 32 << 20
"""Bytes of the largest file at the remote; hosts refuse very large ones."""
_CONTENTS = "contents"
_MOST_CONTENTS = 8 << 20
_KEPT = "sealed.json"
_NOBODY = "sealed <sealed@localhost> 0 +0000"


@dataclass(frozen=True)
class Pack:
    """Commits at the remote, with all that is new with them.

    Args:
        tip: The newest of them; they rest on those of the packs before.
        size: Bytes, sealed.
        parts: The SHA-256 of each part, sealed, which is its name.
    """

    tip: str
    size: int
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Contents:
    """What the remote holds.

    Args:
        number: Grows by one with every change.
        secrets: What proves that somebody with a key wrote this, the newest first; a new one comes when a key is taken
            out.
        packs: In the order in which they are to be read.
        devices: What each device says of itself, by id.
        keys: Public keys to which everything is sealed, each with the id of its device, or "".
    """

    number: int
    secrets: tuple[str, ...] = field(repr=False)
    packs: tuple[Pack, ...] = ()
    devices: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)

    def as_bytes(self) -> bytes:
        """Return the bytes to encrypt."""
        return json.dumps(asdict(self), sort_keys=True).encode()

    def name_of(self, key: str) -> str | None:
        """Return the name of the device whose key this is; None if it has not synced yet."""
        said = self.devices.get(self.keys.get(key, ""))
        return str(said["name"]) if isinstance(said, dict) and "name" in said else None


def parse_contents(content: bytes) -> Contents | None:
    """Parse decrypted contents; None if they are malformed."""
    with suppress(ValueError, TypeError, KeyError):
        said = json.loads(content)
        packs = tuple(
            Pack(str(row["tip"]), int(row["size"]), tuple(map(str, row["parts"]))) for row in said["packs"]
        )
        known = tuple(map(str, said["secrets"]))
        if packs and known and isinstance(said["devices"], dict):
            keys = {str(key): str(device) for key, device in said["keys"].items()}
            return Contents(int(said["number"]), known, packs, said["devices"], keys)
    return None


@dataclass(frozen=True)
class Seen:
    """The remote as it was seen.

    Args:
        url: Which one.
        head: The commit there; it holds names and sizes alone.
        commit: That commit, raw.
        tree: Its tree, raw.
        digest: The SHA-256 of the sealed contents.
        contents: Those.
        unannounced: Keys that other devices let in and that nobody here has been shown yet.
    """

    url: str
    head: str
    commit: bytes
    tree: bytes
    digest: str
    contents: Contents
    unannounced: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, str]:
        """Return the objects at the remote by name."""
        found, rest = {}, self.tree
        while rest:
            row, _, rest = rest.partition(b"\0")
            found[row.partition(b" ")[2].decode("ascii", "replace")] = rest[:20].hex()
            rest = rest[20:]
        return found


def load_seen(state: Path) -> Seen | None:
    """Return what a device last saw of a sealed remote, whatever remote it was; None before the first time."""
    with suppress(ValueError, TypeError, KeyError):
        said = read_state(state / _KEPT) or {}
        contents = parse_contents(base64.b64decode(said["contents"]))
        commit, tree = base64.b64decode(said["commit"]), base64.b64decode(said["tree"])
        if contents is not None:
            unannounced = tuple(map(str, said.get("unannounced", ())))
            url, head, digest = (str(said[key]) for key in ("url", "head", "digest"))
            return Seen(without_login(url), head, commit, tree, digest, contents, unannounced)
    return None


def _save_seen(state: Path, seen: Seen) -> None:
    row = {"url": seen.url, "head": seen.head, "digest": seen.digest, "unannounced": seen.unannounced}
    raw = {"commit": seen.commit, "tree": seen.tree, "contents": seen.contents.as_bytes()}
    with replace_file(state / _KEPT, "What was seen of the remote cannot be kept") as file:
        file.write(
            json.dumps(row | {key: base64.b64encode(each).decode() for key, each in raw.items()}).encode()
        )


class SealedTransport:
    """Memory sealed in a branch of a git remote.

    Args:
        connection: A connection to that remote.
        state: The state folder of the workspace.
        keys: What this device opens it with.
        is_named: Whether a person named the remote just now: then it is taken as it is, whatever was seen before.
        keeps: Whether what is seen is kept; not where it is only looked at.
    """

    def __init__(
        self, connection: Connection, state: Path, keys: Keys, *, is_named: bool, keeps: bool
    ) -> None:
        self._remote, self._callbacks = connection.remote, connection.callbacks
        self._plain = connection.objects
        self._state, self._keys = state, keys
        self._keeps, self._is_named = keeps, is_named
        self._kept = load_seen(state)
        self._seen: Seen | None = None
        self._let_in: frozenset[str] = frozenset()
        self._taken_out: frozenset[str] = frozenset()
        # A number that is below what any device saw would be refused there.
        self._number = self._kept.contents.number if self._kept else 0
        self._parts: dict[str, str] = {}
        self._outer, self._git = self._begin("sealed.git")

    @property
    def notices(self) -> tuple[str, ...]:
        """Return a sentence about each new key that nobody has been shown yet."""
        unannounced = self._seen.unannounced if self._seen else ()
        return tuple(
            f"A new key can read this memory: {key}. If you did not let it in: workbench sync --retire {key}"
            for key in unannounced
        )

    def mark_shown(self) -> None:
        """Remember that these notices were shown."""
        if self._seen and self._seen.unannounced:
            self._seen = replace(self._seen, unannounced=())
            if self._keeps:
                _save_seen(self._state, self._seen)
                self._kept = self._seen

    @property
    def contents(self) -> Contents:
        """Return what the remote holds, or what it held last, or nothing."""
        seen = self._seen or self._kept
        return seen.contents if seen else Contents(0, (secrets.token_hex(32),))

    @property
    def keys(self) -> dict[str, str | None]:
        """Return the keys that can read the remote, with the name of each one's device."""
        contents = self.contents
        return {key: contents.name_of(key) for key in self._keys_with(contents, {})}

    def advertised(self) -> Advertised:
        """Ask the remote what it holds, and read the contents.

        Raises:
            RemoteError: It cannot be reached; it is not sealed, or not to this device, or not by one that has a key;
                it is older than what was seen before.
        """
        said = self._git.advertised()
        if said.head is None:
            if BRANCH in said.others:
                raise RemoteError(
                    "This remote is not sealed; nothing was sent.",
                    where=self._remote.url,
                    remedy="Use a new, empty remote for sealed memory.",
                )
            self._seen = None
            return Advertised(None, {}, said.others)
        kept = self._kept
        if kept is None or kept.url != self._remote.url or kept.head != said.head:
            self._see(self._look(said.head, kept))
        else:
            self._know(kept)
            self._seen = kept
        devices = self.contents.devices
        return Advertised(
            self.contents.packs[-1].tip,
            {ident: self._plain.write(json.dumps(each).encode()) for ident, each in devices.items()},
        )

    def fetch(self, known: Sequence[str], advertised: Advertised) -> str | None:
        """Decrypt the commits that the history lacks into the temporary git directory.

        Raises:
            RemoteError: A part is missing, damaged, or holds something else.
        """
        if self._seen is None:
            return None
        head = advertised.head or ""
        packs = self._lacking(known)
        have = self._seen.files
        if any(self._size_of(have.get(part, "")) is None for pack in packs for part in pack.parts):
            # Fetched before, but not joined, or purged here since; or it is missing.
            self._outer, self._git = self._begin("whole.git")
            self._see(self._look(head, None))
            packs = self._lacking(known)
        for done, pack in enumerate(packs, start=1):
            self._callbacks.progress("Unsealing", done, len(packs))
            self._take_in(pack)
        return self.contents.packs[-1].tip

    def push(self, head: str, expected: str | None, devices: Mapping[str, str]) -> None:
        """Encrypt new commits and push them, if the remote has not moved since it was read.

        Raises:
            Stale: Another device synced first.
            RemoteError: The remote refuses or cannot be reached.
        """
        before, now = self._seen, self.contents
        said = {ident: json.loads(self._plain.read(oid, PART) or b"{}") for ident, oid in devices.items()}
        keys = self._keys_with(now, said)
        known = (secrets.token_hex(32), *now.secrets) if now.keys.keys() - keys.keys() else now.secrets
        begins = before is None or keys.keys() != now.keys.keys()
        if begins or (expected is not None and not self._leads_to(expected, head)):
            # What stands there is void: purged, or sealed to others than it should be.
            before = None
            packs: tuple[Pack, ...] = (self._seal(head, None, keys),)
        else:
            added = (self._seal(head, expected, keys),) if head != expected else ()
            packs = self._made_fewer((*now.packs, *added), keys)
        contents = Contents(max(now.number, self._number) + 1, known, packs, {**now.devices, **said}, keys)
        sealed = seal(contents.as_bytes(), keys)
        have = self._seen.files if self._seen else {}
        wanted = [part for pack in packs for part in pack.parts]
        files = {part: self._parts.get(part) or have[part] for part in wanted}
        files[_CONTENTS] = self._outer.write(sealed)
        tree = b"".join(
            b"100644 %s\0%s" % (name.encode(), bytes.fromhex(files[name])) for name in sorted(files)
        )
        parent = f"parent {before.head}\n" if before else ""
        commit = (
            f"tree {self._outer.write(tree, 'TREE')}\n{parent}author {_NOBODY}\ncommitter {_NOBODY}\n\nsealed\n"
        ).encode()
        new = self._outer.write(commit, "COMMIT")
        self._git.push(new, self._seen.head if self._seen else None, {})
        self._see(Seen(self._remote.url, new, commit, tree, sha256(sealed).hexdigest(), contents))

    def clean(self) -> bool:
        """Delete unreachable data from a remote that is a local folder; return whether that was done."""
        return self._git.clean()

    def make(self) -> None:
        """Make a bare repository where the remote is a folder that is missing or empty."""
        self._git.make()

    def let_in(self, key: str) -> None:
        """Encrypt everything, past included, to another key too, from the next push on."""
        self._let_in |= {key}

    def take_out(self, key: str) -> None:
        """Stop encrypting to a key from the next push on; its owner keeps what they have."""
        self._taken_out |= {key}

    # What is there

    def _look(self, head: str, kept: Seen | None) -> Seen:
        """Fetch what is new at the remote, or all of it, and read the contents."""
        if kept is not None and kept.url == self._remote.url:
            # It may stand somewhere else entirely.
            with suppress(RemoteError):
                return self._read(head, kept)
            self._outer, self._git = self._begin("again.git")
        return self._read(head, None)

    def _read(self, head: str, kept: Seen | None) -> Seen:
        known = (self._know(kept),) if kept else ()
        now = self._git.fetch(known, Advertised(head)) or head
        commit = self._outer.read(now, 4096) or b""
        tree = self._outer.read(commit[5:45].decode("ascii", "replace"), _MOST_CONTENTS) or b""
        seen = Seen(self._remote.url, now, commit, tree, "", Contents(0, ()))
        sealed = self._outer.read(seen.files.get(_CONTENTS, ""), _MOST_CONTENTS)
        if sealed is None:
            raise self._damaged("its list of contents is missing")
        try:
            plain = unseal(sealed, self._keys)
        except ValueError as error:
            raise self._damaged(f"its list of contents cannot be decrypted ({error})") from error
        if plain is None:
            raise self._not_to_us()
        contents = parse_contents(plain)
        if contents is None:
            raise self._damaged("its list of contents cannot be read")
        return replace(seen, digest=sha256(sealed).hexdigest(), contents=contents)

    def _know(self, kept: Seen) -> str:
        """Tell git what the remote held before, without having all of it here."""
        self._outer.write(kept.tree, "TREE")
        (self._outer.folder / "shallow").write_text(f"{kept.head}\n", encoding="ascii")
        return self._outer.write(kept.commit, "COMMIT")

    def _see(self, seen: Seen) -> None:
        """Accept the remote's state if it is newer than the last one and by a device of this memory."""
        kept = self._kept
        if kept is not None and kept.url == seen.url:
            # Told once the sync succeeds, this one or a later one.
            known = {*kept.contents.keys, *kept.unannounced, *self._let_in, self._keys.public}
            unannounced = (*kept.unannounced, *(key for key in seen.contents.keys if key not in known))
            seen = replace(seen, unannounced=tuple(key for key in unannounced if key in seen.contents.keys))
        if kept is not None and kept.url == seen.url and not self._is_named:
            if kept.contents.secrets[0] not in seen.contents.secrets:
                raise RemoteError(
                    "The remote was sealed by somebody who is not one of this memory’s devices.",
                    where=seen.url,
                    remedy="Nothing was changed. Find out who writes there. If a device of yours recreated it, name it "
                    f"again: workbench sync {seen.url} --sealed --yes",
                )
            if (seen.contents.number, seen.digest) != (kept.contents.number, kept.digest) and (
                seen.contents.number <= kept.contents.number
            ):
                raise RemoteError(
                    "The remote shows an older state than this device has seen there.",
                    where=seen.url,
                    remedy="Nothing was changed. A backup may have been restored there, or new changes are hidden. To "
                    f"go on from what it shows, name it again: workbench sync {seen.url} --sealed --yes",
                )
        self._seen = seen
        if self._keeps and seen != kept:
            _save_seen(self._state, seen)
            self._kept = seen

    def _lacking(self, known: Sequence[str]) -> tuple[Pack, ...]:
        """Return the packs with commits that the history lacks."""
        packs = self.contents.packs
        if not known:
            return packs
        here = (each for each in range(len(packs), 0, -1) if self._leads_to(packs[each - 1].tip, known[0]))
        return packs[next(here, 0) :]

    def _take_in(self, pack: Pack) -> None:
        """Decrypt a pack into the temporary git directory."""
        assert self._seen is not None
        files, place = self._seen.files, self._outer.folder / "pack.age"
        try:
            with place.open("wb") as file:
                for part in pack.parts:
                    content = self._outer.read(files.get(part, ""), PART)
                    if content is None:
                        raise self._damaged(f"the part {part[:10]} is missing")
                    if sha256(content).hexdigest() != part:
                        raise self._damaged(f"the part {part[:10]} is not what was sent")
                    file.write(content)
            self._index(place, pack)
        except OSError as error:
            raise _no_room(place, error) from error
        finally:
            place.unlink(missing_ok=True)
        if self._plain.read(pack.tip, MOST_BYTES) is None:
            raise self._damaged(f"commit {pack.tip[:10]} is missing")

    def _index(self, place: Path, pack: Pack) -> None:
        options = ("--stdin", "--fix-thin", "--strict", f"--max-input-size={MOST_BYTES}")
        why = ""
        with place.open("rb") as sealed, _git(self._plain.folder, "index-pack", *options) as (process, plain):
            # Git itself tells why it ends before all was said.
            with suppress(BrokenPipeError), plain:
                why = "" if unseal_stream(sealed, plain, self._keys) else "it cannot be decrypted"
            why = why or _complaint(process)
        if os.strerror(errno.ENOSPC) in why:
            raise _no_room(self._plain.folder, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        if why:
            raise self._damaged(f"the pack of commit {pack.tip[:10]}: {why}")
        if self._callbacks.cancelled():
            raise Cancelled("Cancelled.")

    # What goes

    def _keys_with(self, now: Contents, said: Mapping[str, Any]) -> dict[str, str]:
        """Return the keys to encrypt to."""
        retired = {ident for ident, each in said.items() if each.get("retired")}
        own = next((ident for ident in said if ident not in retired), now.keys.get(self._keys.public, ""))
        keys = {
            **now.keys,
            **{key: "" for key in self._let_in if key not in now.keys},
            self._keys.public: own,
        }
        return {
            key: device
            for key, device in sorted(keys.items())
            if key == self._keys.public or not (key in self._taken_out or (device and device in retired))
        }

    def _seal(self, head: str, rest: str | None, keys: Iterable[str]) -> Pack:
        """Pack the commits between two, encrypt the pack, and keep its parts for the push."""
        self._callbacks.progress("Sealing", 0, 0)
        options = ("--revs", "--thin", "--stdout", "--delta-base-offset", "--quiet")
        place = self._outer.folder / "pack.age"
        names, size = [], 0
        try:
            with (
                place.open("wb") as sealed,
                _git(self._plain.folder, "pack-objects", *options) as (process, wanted),
            ):
                with wanted:
                    wanted.write(f"{head}\n".encode() + (f"^{rest}\n".encode() if rest else b""))
                assert process.stdout is not None
                seal_stream(process.stdout, sealed, keys)
                if why := _complaint(process):
                    raise StorageError(
                        f"New commits cannot be packed: {why}.",
                        where=str(self._plain.folder.parent),
                        remedy="Look with: workbench audit verify",
                    )
            with place.open("rb") as sealed:
                while part := sealed.read(PART):
                    names.append(sha256(part).hexdigest())
                    self._parts[names[-1]] = self._outer.write(part)
                    size += len(part)
        except OSError as error:
            raise _no_room(place, error) from error
        finally:
            place.unlink(missing_ok=True)
        if self._callbacks.cancelled():
            raise Cancelled("Cancelled.")
        return Pack(head, size, tuple(names))

    def _made_fewer(self, packs: tuple[Pack, ...], keys: Iterable[str]) -> tuple[Pack, ...]:
        """Make the last packs one where there are too many, but for those that are large beside what follows."""
        if len(packs) <= MOST_PACKS:
            return packs
        first, size = len(packs) - 1, packs[-1].size
        while first and (first > MOST_PACKS // 2 or packs[first - 1].size <= 2 * size):
            first -= 1
            size += packs[first].size
        return (*packs[:first], self._seal(packs[-1].tip, packs[first - 1].tip if first else None, keys))

    # What both need

    def _begin(self, name: str) -> tuple[Objects, GitTransport]:
        """Create a git directory for encrypted data, with a transport to the remote."""
        folder = self._plain.folder / name
        try:
            folder.mkdir()
            lay_out(folder)
        except OSError as error:
            raise _no_room(folder, error) from error
        outer = Objects(folder, self._callbacks.cancelled)
        return outer, GitTransport(self._remote, outer, self._callbacks, SEALED)

    def _leads_to(self, commit: str, head: str) -> bool:
        return commit == head or self._plain.local("merge-base", "--is-ancestor", commit, head).status == 0

    def _size_of(self, oid: str) -> int | None:
        git = libgit2()
        with suppress(git.GitError, KeyError, ValueError):
            return int(self._outer.repository.odb.read_header(oid)[1])
        return None

    def _damaged(self, why: str) -> RemoteError:
        return RemoteError(
            f"What the remote holds was rejected: {why}.",
            where=self._remote.url,
            remedy="Nothing was changed. Sync again; if it fails again, sync a device that has the memory with a new, "
            "empty remote (workbench sync REMOTE --sealed).",
        )

    def _not_to_us(self) -> Refused:
        was_in = self._kept is not None and self._kept.url == self._remote.url
        what = "was taken out" if was_in else "was not let in"
        return Refused(
            f"The remote is sealed, and this device {what}.",
            where=self._remote.url,
            remedy=f"On a device that is in: workbench sync --allow {self._keys.public}. Then sync here again.",
        )


@contextmanager
def _git(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Run git on a history; yield it, and what it reads from."""
    process = start_git(folder, *arguments, stdin=subprocess.PIPE)
    assert process.stdin is not None
    try:
        yield process, process.stdin
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for end in filter(None, (process.stdin, process.stdout, process.stderr)):
            with suppress(OSError):
                end.close()


def _complaint(process: subprocess.Popen[bytes]) -> str:
    """Wait for a process that has read all it gets; return what it says if it failed."""
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read()
    said = process.stderr.read().decode("utf-8", "replace").strip()
    return (said[-200:] or "git did not say why") if process.wait() else ""


def _no_room(place: Path, error: OSError) -> StorageError:
    return StorageError(
        f"Nothing can be encrypted or decrypted: {error.strerror or error}.",
        where=str(place),
        remedy="Free some space, or make the folder writable. Nothing was changed.",
    )
