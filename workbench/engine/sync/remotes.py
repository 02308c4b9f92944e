"""Talks to a git remote: lists it, fetches from it into a temporary git directory, pushes to it.

The git program does it, with the person's own settings, credential helpers and ssh, in a git directory made for the one
occasion: nothing that the workspace says about git is read, and no hook is run.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from workbench.engine import layout
from workbench.engine.errors import Cancelled, InvalidInput, RemoteError, Stale, StorageError
from workbench.engine.file_access import flush_to_disk
from workbench.engine.history.git_folder import BRANCH
from workbench.engine.history.git_objects import libgit2
from workbench.engine.history.maintenance import GitOutside, Ran, run_git
from workbench.engine.patterns import lazy_pattern
from workbench.engine.sync.devices import without_login
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import pygit2

DEVICES = "refs/workbench/devices/"
"""Where a remote keeps what each device says of itself."""
SEALED = "refs/heads/sealed"
"""The branch of a remote that holds sealed memory."""
INCOMING = "refs/incoming/main"
MOST_BYTES = 4 << 30
"""A fetch that brings more is broken off."""

_PLACE = "workbench.carrying"
_IN_REMOTE = "workbench.lock"
_PROTOCOLS = "file:git:http:https:ssh"
_SCHEMES = ("file", "git", "http", "https", "ssh", "git+ssh", "ssh+git")
_URL = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
# `host:path`, as ssh and scp write it.
_SSH = lazy_pattern(r"(?:[\w.-]+@)?(?:[\w.-]+|\[[0-9a-fA-F:]+\]):[^:].*")
_ROW = lazy_pattern(r"([0-9a-f]{40})\t(refs/[^\s]+)")
_CONFIG = (
    "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfilemode = false\n\tlogallrefupdates = false\n"
)
# What a person's settings could have git do beside fetching and pushing.
_NOTHING_ELSE = (
    "fetch.fsckObjects=true",
    # One pack for each fetch is flushed whole and moved whole.
    "fetch.unpackLimit=1",
    "fetch.recurseSubmodules=false",
    "fetch.prune=false",
    "fetch.writeCommitGraph=false",
    "push.followTags=false",
    "push.gpgSign=false",
    "push.recurseSubmodules=no",
    "push.default=nothing",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
)
_SEALED = ("fetch.fsckObjects=false", "pack.window=0", "core.compression=0", "core.bigFileThreshold=1")
_PLAINLY = "git -c core.hooksPath=/dev/null -c gc.auto=0 -c core.fsync=all"
# Lines of progress.
_COUNTS = lazy_pattern(
    r"\s*(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Total|To )"
)
_RACED = (
    "stale info",
    "fetch first",
    "non-fast-forward",
    "cannot lock ref",
    "failed to update ref",
    "failed to lock",
)
_LONGEST = 300
# The server in a URL, or in `host:path`.
_SERVER = lazy_pattern(r"(?:[A-Za-z+]+://)?([^/:\s]+)")
# What git and ssh say (in English: LC_ALL is C), what that means, and what to do.
_TROUBLES = (
    (
        ("REMOTE HOST IDENTIFICATION HAS CHANGED", "host key for"),
        "{server} shows another host key than the one this device knows",
        "Ask whoever runs it: somebody may be in between. If its key changed, remove the old one (ssh-keygen -R).",
    ),
    (
        ("Host key verification failed",),
        "this device does not know the host key of {server}",
        "Connect once by hand (ssh {server}), compare the fingerprint with what whoever runs it says, and accept it.",
    ),
    (
        ("Permission denied (",),
        "{server} takes none of the keys that ssh offers",
        "Give it this device’s public ssh key (~/.ssh/*.pub), or name the right key for it in ~/.ssh/config.",
    ),
    (
        ("could not read Username", "could not read Password", "Authentication failed"),
        "{server} wants a login, and git has none that it takes",
        "Let git keep one: git config --global credential.helper store, then once: git ls-remote {url}",
    ),
)


@dataclass(frozen=True)
class Remote:
    """A git remote.

    Args:
        url: As git takes it; of a folder, its absolute path.
        folder: The folder, where it is one on this machine.
    """

    url: str
    folder: Path | None = None

    @property
    def is_missing(self) -> bool:
        """Return whether it is a folder that is yet to be made: none, or an empty one."""
        if self.folder is None:
            return False
        try:
            return not any(self.folder.iterdir())
        except FileNotFoundError:
            return True
        except OSError:
            return False


def parse_remote(text: str, root: Path) -> Remote:
    """Return the remote that a person named.

    Args:
        text: A URL, `host:path`, or a folder, which may begin with `~`.
        root: The workspace folder.

    Raises:
        InvalidInput: It is none that git speaks, holds a password, or is the workspace itself.
    """
    name = text.strip()
    if not name or name.startswith("-") or not name.isprintable():
        raise _no_remote(text, "Name a folder, host:path, or a URL with ssh:// or https://.")
    if url := _URL.fullmatch(name):
        scheme = url[1].lower()
        if scheme not in _SCHEMES:
            raise _no_remote(text, f"Name a URL with one of: {', '.join(_SCHEMES)}.")
        if scheme != "file" and without_login(name) != name:
            plain = without_login(name)
            raise InvalidInput(
                "This address holds a user name, password or token, which would be shown and kept.",
                where=plain,
                remedy=f"Leave it out: workbench sync {plain}. Git asks for it, and a credential helper keeps it: "
                "git config --global credential.helper store",
            )
        return _folder(text, url[2], root) if scheme == "file" else Remote(name)
    if "::" in name:
        raise _no_remote(text, "Name a folder, host:path, or a URL with ssh:// or https://.")
    if _SSH.fullmatch(name) and not Path(name).exists():
        return Remote(name)
    return _folder(text, name, root)


def _no_remote(text: str, remedy: str) -> InvalidInput:
    where = ascii(without_login(text))[1:-1][:200]
    return InvalidInput("Git cannot use this as a remote.", where=where, remedy=remedy)


def _folder(text: str, name: str, root: Path) -> Remote:
    try:
        place = Path(os.path.realpath(Path(name).expanduser()))
    except RuntimeError as error:
        raise _no_remote(text, "Name the folder by its whole path.") from error
    if place == root or place.is_relative_to(root) or root.is_relative_to(place):
        raise InvalidInput(
            "The remote cannot be the workspace itself, or lie in it.",
            where=str(place),
            remedy="Name a folder elsewhere, on another disk or a server.",
        )
    if (place / layout.HISTORY).is_dir():
        raise InvalidInput(
            "This folder is a workspace, not a remote.",
            where=str(place),
            remedy="Name a bare repository, or a folder that does not exist yet.",
        )
    if place.exists() and not place.is_dir():
        raise _no_remote(text, "Name a folder; this is a file.")
    return Remote(str(place), place)


@dataclass(frozen=True)
class Advertised:
    """What a remote says it holds.

    Args:
        head: The newest commit of the memory; None if it holds none.
        devices: The object with what a device says of itself, by the device's id.
        others: Branches that are no memory's.
    """

    head: str | None
    devices: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Callbacks:
    """What is called while git runs, and whether it may ask for passwords.

    Args:
        progress: Told what is being done, how much of it is done, and the total.
        cancelled: Returns True to stop.
        may_ask: Whether git and ssh may ask at the terminal.
    """

    progress: Callable[[str, int, int], None]
    cancelled: Callable[[], bool]
    may_ask: bool


class Objects:
    """The temporary git directory of one sync: fetched objects, with the history as alternate.

    Args:
        folder: The git directory.
        cancelled: Asked while git runs.
    """

    def __init__(self, folder: Path, cancelled: Callable[[], bool]) -> None:
        self.folder = folder
        self.cancelled = cancelled

    @cached_property
    def repository(self) -> pygit2.Repository:
        """Return what reads the objects of the history and those that were fetched."""
        git = libgit2()
        flags = git.enums.RepositoryOpenFlag
        opened: pygit2.Repository = git.Repository(os.fspath(self.folder), flags.NO_SEARCH | flags.NO_DOTGIT)
        return opened

    def read(self, oid: str, most: int) -> bytes | None:
        """Return an object of at most so many bytes that was fetched; None if there is none."""
        git = libgit2()
        with suppress(git.GitError, KeyError, ValueError):
            if int(self.repository.odb.read_header(oid)[1]) <= most:
                return bytes(self.repository.odb.read(oid)[1])
        return None

    def write(self, content: bytes, kind: str = "BLOB") -> str:
        """Write an object that is pushed and is no part of the history; return its hash."""
        git = libgit2()
        return str(self.repository.odb.write(int(git.enums.ObjectType[kind]), content))

    def local(self, *arguments: str) -> Ran:
        """Run an isolated git command on the history together with what was fetched."""
        return run_git(self.folder, *arguments, cancelled=self.cancelled)

    def install(self) -> None:
        """Move what was fetched and checked into the history; it is on disk then. Needs the writer's lock.

        Raises:
            StorageError: The disk refuses; the history holds no part of it that counts.
        """
        packs, goal = self.folder / "objects" / "pack", self.folder.parent / "objects" / "pack"
        try:
            goal.mkdir(parents=True, exist_ok=True)
            # A pack counts once its index is there.
            for place in sorted(packs.iterdir(), key=lambda each: each.suffix == ".idx"):
                if place.suffix not in (".pack", ".idx", ".rev"):
                    continue
                flush_to_disk(place)
                place.rename(goal / place.name)
            flush_to_disk(goal)
        except FileNotFoundError:
            return
        except OSError as error:
            raise StorageError(
                f"The fetched commits cannot be saved: {error.strerror or error}.",
                where=str(goal),
                remedy="Free some space, or make the folder writable. Nothing was changed.",
            ) from error

    def note(self, ref: str, commit: str) -> None:
        """Have a ref lead to a commit, which may be one of the history."""
        place = self.folder / ref
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{commit}\n", encoding="ascii")


class Transport(Protocol):
    """Reads and writes memory at a remote: plain or sealed."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a person should be shown about the remote, one sentence each."""

    def mark_shown(self) -> None:
        """Remember that these notices were shown."""

    def advertised(self) -> Advertised:
        """Return what the remote holds."""

    def fetch(self, known: Sequence[str], advertised: Advertised) -> str | None:
        """Fetch missing commits into the temporary git directory; return the newest."""

    def push(self, head: str, expected: str | None, devices: Mapping[str, str]) -> None:
        """Move the remote’s memory to a commit, if it has not moved since it was read."""

    def clean(self) -> bool:
        """Delete unreachable data from a remote that is a local folder; return whether that was done."""

    def make(self) -> None:
        """Create a bare repository where the remote is a missing or empty folder."""


@dataclass(frozen=True)
class Connection:
    """A connection to a remote, for use within `connect`.

    Args:
        remote: The remote.
        objects: What was fetched, in a temporary git directory.
        transport: Reads and writes the remote.
        callbacks: Progress and cancelling.
    """

    remote: Remote
    objects: Objects
    transport: Transport
    callbacks: Callbacks


class GitTransport:
    """Reads and writes plain memory in a branch of a git remote.

    Args:
        remote: The remote.
        objects: Where what is fetched goes, and what is pushed is.
        callbacks: Progress and cancelling.
        branch: The branch that holds it. Of `SEALED`, what is known already need not be here: its newest state alone
            is fetched, and checked when it is unsealed.
    """

    def __init__(
        self,
        remote: Remote,
        objects: Objects,
        callbacks: Callbacks,
        branch: str = BRANCH,
    ) -> None:
        self.remote = remote
        self.callbacks = callbacks
        self.notices: tuple[str, ...] = ()
        self._objects = objects
        self._branch = branch
        self._is_sealed = branch == SEALED

    def mark_shown(self) -> None:
        """Do nothing: there are no notices."""

    def advertised(self) -> Advertised:
        """Return what the remote holds, without reading it.

        Raises:
            RemoteError: It cannot be reached, or is no git repository.
        """
        if self.remote.is_missing:
            return Advertised(None)
        self.callbacks.progress("Asking the remote", 0, 0)
        ran = self._run("ls-remote", "--", self.remote.url, "refs/heads/*", f"{DEVICES}*")
        self._require(ran, "reached")
        rows = {ref: oid for oid, ref in _ROW.findall(ran.out)}
        devices = {ref.removeprefix(DEVICES): oid for ref, oid in rows.items() if ref.startswith(DEVICES)}
        heads = (ref for ref in rows if ref.startswith("refs/heads/") and ref != self._branch)
        return Advertised(rows.get(self._branch), devices, tuple(sorted(heads)))

    def fetch(self, known: Sequence[str], advertised: Advertised) -> str | None:
        """Fetch missing commits into the temporary git directory; they take effect with `install`.

        Args:
            known: Commits of the history, so that only what is new is sent.
            advertised: What the remote holds.

        Returns:
            The newest commit there; it may be newer than what was advertised.

        Raises:
            RemoteError: It broke off, an object is malformed, or there is too much of it.
        """
        for number, commit in enumerate(known):
            self._objects.note(f"refs/heads/known-{number}", commit)
        wanted = [f"+{self._branch}:{INCOMING}"] if advertised.head else []
        if advertised.devices:
            wanted.append(f"+{DEVICES}*:refs/devices/*")
        if not wanted:
            return None
        options = [
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--progress",
            *(("--depth=1",) if self._is_sealed and not known else ()),
            *self._plainly("upload"),
        ]
        ran = self._run("fetch", *options, "--", self.remote.url, *wanted, label="Receiving", bounded=True)
        self._require(ran, "fetched from")
        place = self._objects.folder / INCOMING
        return place.read_text(encoding="ascii").strip() if place.is_file() else None

    def push(self, head: str, expected: str | None, devices: Mapping[str, str]) -> None:
        """Move the remote’s memory to a commit, if it has not moved since it was read.

        Args:
            head: The commit.
            expected: Where it was seen; None if there was no memory.
            devices: Objects with what devices say of themselves, by id.

        Raises:
            Stale: Another device synced first.
            RemoteError: The remote refuses or cannot be reached.
        """
        moved = [f"{head}:{self._branch}"] if head != expected else []
        said = [f"+{oid}:{DEVICES}{device}" for device, oid in devices.items()]
        options = ["--no-verify", "--porcelain", "--progress", *self._plainly("receive")]
        lease = f"--force-with-lease={self._branch}:{expected or ''}"
        with self._not_cleaning() as held:
            ran = self._run(
                "push", *options, lease, "--", self.remote.url, *moved, *said, label="Sending", pass_fds=held
            )
        rows = [line.split("\t") for line in ran.out.splitlines() if line.count("\t") >= 2]
        refused = next((row for row in rows if row[0] == "!" and row[1].endswith(f":{self._branch}")), None)
        if refused is not None and any(reason in refused[2] + ran.err for reason in _RACED):
            raise Stale(
                "Another device synced first.", where=self.remote.url, remedy="Sync again; nothing was lost."
            )
        if refused is not None:
            raise RemoteError(
                f"The remote rejected the push: {_last_words(refused[2] + chr(10) + ran.err)}.",
                where=self.remote.url,
                remedy="Get write access, including force pushes to main. Nothing was lost; your changes wait here.",
            )
        if moved and not any(row[1].endswith(f":{self._branch}") for row in rows):
            self._require(ran, "sent to")

    def clean(self) -> bool:
        """Delete unreachable data from a remote that is a local folder; return whether that was done.

        Raises:
            RemoteError: It cannot be cleaned.
        """
        if self.remote.folder is None:
            return False
        with self._lock(exclusive=True):
            for command in (
                ("reflog", "expire", "--expire=now", "--all"),
                ("repack", "-a", "-d", "-l", "-q"),
                ("prune", "--expire=now"),
            ):
                self._require(run_git(self.remote.folder, *command), "cleaned")
        return True

    def make(self) -> None:
        """Create a bare repository where the remote is a missing or empty folder.

        Raises:
            RemoteError: It cannot be made.
        """
        if self.remote.folder is not None and self.remote.is_missing:
            try:
                self.remote.folder.mkdir(parents=True, exist_ok=True)
                lay_out(self.remote.folder)
            except OSError as error:
                raise RemoteError(
                    f"The folder cannot be made: {error.strerror or error}.",
                    where=self.remote.url,
                    remedy="Name another, or make it writable.",
                ) from error

    # Inner parts

    def _run(
        self,
        *arguments: str,
        label: str = "",
        bounded: bool = False,
        pass_fds: tuple[int, ...] = (),
    ) -> Ran:
        callbacks = self.callbacks
        cancelled = self._watching(callbacks.cancelled) if bounded else callbacks.cancelled
        variables = {
            "GIT_ALLOW_PROTOCOL": _PROTOCOLS,
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "1" if callbacks.may_ask else "0",
            "LC_ALL": "C",
            "LANGUAGE": "C",
        }
        settings = (*_NOTHING_ELSE, *(_SEALED if self._is_sealed else ()))
        options = tuple(word for each in settings for word in ("-c", each))
        return run_git(
            self._objects.folder,
            *arguments,
            progress=lambda done, total: callbacks.progress(label, done, total),
            cancelled=cancelled,
            outside=GitOutside(variables, options, callbacks.may_ask, pass_fds),
        )

    def _plainly(self, service: str) -> tuple[str, ...]:
        """Return options that disable the hooks of a remote that is a local folder."""
        return (f"--{service}-pack={_PLAINLY} {service}-pack",) if self.remote.folder is not None else ()

    def _watching(self, cancelled: Callable[[], bool]) -> Callable[[], bool]:
        """Stop a fetch that brings too much."""
        packs = self._objects.folder / "objects" / "pack"

        def is_over() -> bool:
            size = 0
            with suppress(OSError), os.scandir(packs) as entries:
                size = sum(each.stat().st_size for each in entries)
            if size > MOST_BYTES:
                raise RemoteError(
                    f"The remote sends more than {MOST_BYTES >> 30} GB; no memory is that large.",
                    where=self.remote.url,
                    remedy="Check what it holds. Nothing was changed.",
                )
            return cancelled()

        return is_over

    @contextmanager
    def _not_cleaning(self) -> Iterator[tuple[int, ...]]:
        if self.remote.folder is None:
            yield ()
            return
        with self._lock(exclusive=False) as held:
            # Whatever becomes of this process, git holds it as long as it writes there.
            yield (held,)

    @contextmanager
    def _lock(self, *, exclusive: bool) -> Iterator[int]:
        assert self.remote.folder is not None
        place = self.remote.folder / _IN_REMOTE
        try:
            handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            raise RemoteError(
                f"The remote cannot be written: {error.strerror or error}.",
                where=self.remote.url,
                remedy="Make the folder writable. What waits is kept, and goes with the next sync.",
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield handle
        finally:
            os.close(handle)

    def _require(self, ran: Ran, done: str) -> None:
        if ran.status == 0:
            return
        if self.callbacks.cancelled():
            raise Cancelled("Cancelled.")
        if done == "fetched from" and os.strerror(errno.ENOSPC) in ran.err:
            raise StorageError(
                "The disk is full: what the remote sends does not fit.",
                where=str(self._objects.folder.parent),
                remedy="Free some space, and sync again. Nothing was changed.",
            )
        told, remedy = _trouble(ran.err, self.remote.url)
        raise RemoteError(
            f"The remote cannot be {done}: {told or _last_words(ran.err)}.",
            where=self.remote.url,
            remedy=f"{remedy} Nothing was lost; what waits goes with the next sync.",
        )


@contextmanager
def connect(remote: Remote, base: Path, callbacks: Callbacks, history: Path | None) -> Iterator[Connection]:
    """Connect to a remote. Leftovers of an interrupted connection are removed first.

    Args:
        remote: The remote.
        base: The folder for the temporary git directory; the history itself if commits will be installed.
        callbacks: Progress and cancelling.
        history: The git directory of the history; None if there is none yet.

    Raises:
        StorageError: The disk refuses.
    """
    folder = base / _PLACE
    try:
        _remove(folder)
        folder.mkdir()
        lay_out(folder)
        if history is not None:
            # Relative, since a path may hold what git reads otherwise.
            known = "../../objects"
            if base != history:
                (folder / "history").symlink_to(history / "objects")
                known = "../history"
            (folder / "objects" / "info" / "alternates").write_text(f"{known}\n", encoding="ascii")
    except OSError as error:
        raise StorageError(
            f"Nothing can be fetched: {error.strerror or error}.",
            where=str(folder),
            remedy="Free some space, or make the folder writable. Nothing was changed.",
        ) from error
    objects = Objects(folder, callbacks.cancelled)
    try:
        yield Connection(remote, objects, GitTransport(remote, objects, callbacks), callbacks)
    finally:
        remove_leftovers(base)


def remove_leftovers(base: Path) -> None:
    """Remove what an interrupted connection left in a folder."""
    with suppress(OSError):
        _remove(base / _PLACE)


def lay_out(folder: Path) -> None:
    """Write an empty bare repository, without the person’s hooks and templates."""
    objects = folder / "objects"
    for place in (objects / "info", objects / "pack", folder / "refs" / "heads", folder / "info"):
        place.mkdir(parents=True, exist_ok=True)
    (folder / "config").write_text(_CONFIG, encoding="ascii")
    (folder / "HEAD").write_text(f"ref: {BRANCH}\n", encoding="ascii")


def _remove(folder: Path) -> None:
    if folder.is_symlink() or folder.is_file():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)


def _trouble(said: str, url: str) -> tuple[str, str]:
    """Return what is wrong in plain words (empty to quote git), and the remedy."""
    found = _SERVER.match(url)
    server = found[1] if found else url
    for signs, told, remedy in _TROUBLES:
        if any(sign in said for sign in signs):
            return told.format(server=server), remedy.format(server=server, url=url)
    return "", "Check that it exists and that you have access."


def _last_words(text: str) -> str:
    """Return git’s last errors on one line."""
    lines = [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip() and not _COUNTS.match(line)]
    telling = [line for line in lines if line.startswith(("fatal:", "error:", "ssh:"))] or lines
    told = "; ".join(dict.fromkeys(telling[:2])) or "git did not say why"
    return without_login(told.removeprefix("fatal: "))[:_LONGEST].rstrip(".")
