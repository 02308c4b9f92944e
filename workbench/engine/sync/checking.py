"""Checks what a remote sent before any of it counts, commit by commit, and what would leave, for secrets."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine import layout
from workbench.engine.errors import HistoryDamaged, RemoteError, SecretFound, WorkbenchError
from workbench.engine.history.git_objects import libgit2, parse_commit
from workbench.engine.results.sync import SyncSecret
from workbench.engine.secrets.detection import find_secrets, text_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.history.history import History
    from workbench.engine.sync.remotes import Connection

MOST_FILE = 32 << 20
"""Bytes of a file of memory; a larger one is refused."""
MOST_COMMIT = 4 << 20
"""Bytes of a commit; a larger one is refused."""
_MOST_SECRETS = 50
_ABSENT, _FILE = "000000", "100644"
_KINDS = {"120000": "a symbolic link", "160000": "another repository", "100755": "a program"}


@dataclass(frozen=True)
class Transfer:
    """Commits that one side has and the other lacks.

    Args:
        commits: Full hashes, oldest first.
        files: The paths that they change.
        blobs: Contents that are new with them: the first path each has, by hash.
        size: Bytes of these contents.
    """

    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    blobs: dict[str, str] | None = None
    size: int = 0


def transfer_of(
    connection: Connection, head: str | None, known: Iterable[str], *, strictly: bool
) -> Transfer:
    """Return what comes with a commit.

    Args:
        connection: Where the objects are.
        head: The commit.
        known: Commits that are there already, with all that they rest on.
        strictly: Whether everything is checked: it was sent by a remote.

    Raises:
        RemoteError: Something in it is no part of a memory.
        HistoryDamaged: It cannot be read.
    """
    if head is None:
        return Transfer()
    without = [word for commit in known for word in ("--not", commit, "--not")]
    commits = _listed(connection, "rev-list", "--topo-order", "--reverse", head, *without)
    if not commits:
        return Transfer()
    changes = list(_changes(connection, head, without))
    blobs: dict[str, str] = {}
    for path, mode, oid in changes:
        if mode != _ABSENT:
            blobs.setdefault(oid, path)
    if strictly:
        _check_commits(connection, commits)
        _check_names(connection, changes)
    size = _check_sizes(connection, blobs)
    return Transfer(commits, tuple(sorted({path for path, _, _ in changes})), blobs, size)


def refuse_one_name_twice(
    connection: Connection, root: Path, paths: Iterable[str], all_paths: Iterable[str]
) -> None:
    """Refuse names that this disk would take for one.

    Args:
        root: The workspace folder, which has a history.
        paths: Files to be written.
        all_paths: Every file that is there then.

    Raises:
        RemoteError: Two of them are one file here.
    """
    if not (root / layout.HISTORY.upper()).exists():
        return
    owners: dict[str, str] = {}
    for path in all_paths:
        owners.setdefault(_folded(path), path)
    for path in paths:
        if owners.get(_folded(path), path) != path:
            raise _refused(connection, path, f"this disk takes its name for that of {owners[_folded(path)]}")


def secrets_in(
    connection: Connection, outgoing: Transfer, history: History, allowed: Sequence[str] | None
) -> tuple[SyncSecret, ...]:
    """Return what looks like a secret in what would leave, in the past too; the newest files first.

    Args:
        allowed: Digests of those that a person has allowed; None where secrets are not looked for.
    """
    if allowed is None or not outgoing.commits:
        return ()
    head = history.head()
    store = history.store
    known, found = frozenset(allowed), dict[tuple[str, str], SyncSecret]()
    tree = store.tree_of(head)
    blobs = outgoing.blobs or {}
    for done, (oid, path) in enumerate(blobs.items(), start=1):
        connection.callbacks.progress("Looking for secrets", done, len(blobs))
        for secret in find_secrets(text_of(store.read_blob(oid))):
            if secret.digest not in known:
                is_past = store.tree_blob(tree, path) != oid
                before = found.get((secret.digest, path))
                found[secret.digest, path] = SyncSecret(
                    secret.kind, path, secret.digest, is_past and (before is None or before.is_past)
                )
    for each in outgoing.commits:
        for secret in find_secrets(store.commit(each).message):
            if secret.digest not in known:
                found.setdefault(
                    (secret.digest, ""), SyncSecret(secret.kind, "", secret.digest, is_past=True)
                )
    return tuple(sorted(found.values(), key=lambda each: (each.is_past, each.path)))[:_MOST_SECRETS]


def refused_secret(found: Sequence[SyncSecret]) -> SecretFound:
    """Return the error for what must not leave before a person has decided on it."""
    kinds = tuple(dict.fromkeys(each.kind for each in found))
    where = next((each.path for each in found if each.path), "the message of a commit")
    past = " in its history" if all(each.is_past for each in found) else ""
    return SecretFound(
        f"Nothing was sent, for something{past} looks like a secret: {' and '.join(kinds)}.",
        where=where,
        remedy="Look with: workbench sync --dry-run. Purge it (workbench forget QUERY --purge-history), or, if it may "
        f"leave, allow it: workbench secrets allow {found[0].digest}",
        kinds=kinds,
        digests=tuple(dict.fromkeys(each.digest for each in found)),
    )


def _listed(connection: Connection, *arguments: str) -> tuple[str, ...]:
    ran = connection.objects.local(*arguments)
    if ran.status:
        raise HistoryDamaged(
            f"Commits cannot be listed: {ran.err.strip()[-200:]}",
            where=layout.HISTORY,
            remedy="Look with: workbench audit verify",
        )
    return tuple(ran.out.split())


def _changes(connection: Connection, head: str, without: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield path, mode and content of every file that a commit changed; a merge against its first parent."""
    options = (
        "--raw",
        "-z",
        "--no-abbrev",
        "--no-renames",
        "--root",
        "--diff-merges=first-parent",
        "--format=",
    )
    ran = connection.objects.local("log", *options, head, *without)
    if ran.status:
        raise RemoteError(
            f"What was fetched is incomplete: {ran.err.strip()[-200:]}",
            where=connection.remote.url,
            remedy="Sync again. Nothing was changed.",
        )
    words = iter(ran.out.split("\0"))
    for word in words:
        row = word.strip("\n")
        if row.startswith(":"):
            _, mode, _, oid, _ = row.split(" ")
            yield next(words, ""), mode, oid


def _check_commits(connection: Connection, commits: Iterable[str]) -> None:
    for commit in commits:
        raw = connection.objects.read(commit, MOST_COMMIT)
        try:
            if raw is None:
                raise ValueError("it is too large")
            parse_commit(commit, raw)
        except (HistoryDamaged, ValueError, OverflowError, OSError) as error:
            raise _refused(
                connection, f"commit {commit[:10]}", f"it is no commit of a memory ({error})"
            ) from error


def _check_names(connection: Connection, changes: Iterable[tuple[str, str, str]]) -> None:
    for path, mode, _ in changes:
        if mode in _KINDS:
            raise _refused(connection, path, f"it is {_KINDS[mode]}")
        if mode not in (_ABSENT, _FILE):
            raise _refused(connection, path, f"it has the mode {mode}")
        try:
            usual = layout.normalise(path) == path
        except WorkbenchError:
            usual = False
        if not usual or not layout.is_tracked(path):
            raise _refused(connection, path, "a memory has no such file")


def _check_sizes(connection: Connection, blobs: dict[str, str]) -> int:
    git = libgit2()
    total = 0
    for oid, path in blobs.items():
        try:
            size = int(connection.objects.repository.odb.read_header(oid)[1])
        except (git.GitError, KeyError, ValueError) as error:
            raise _refused(connection, path, "its content is missing") from error
        if size > MOST_FILE:
            raise _refused(connection, path, f"it is larger than {MOST_FILE >> 20} MB")
        total += size
    return total


def _refused(connection: Connection, what: str, reason: str) -> RemoteError:
    return RemoteError(
        f"What the remote holds was rejected: {layout.shown(os.fspath(what))[:200]}: {reason}.",
        where=connection.remote.url,
        remedy="Look at who can write there; for this memory alone, name another remote. Nothing was changed here.",
    )


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
