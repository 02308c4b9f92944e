"""What git's objects say, as values: commits, and files that differ between two of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from workbench.engine.errors import HistoryDamaged

SHORT = 10
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


@dataclass(frozen=True)
class Commit:
    """One commit as it stands in history.

    Args:
        id: Full hash, 40 hex digits.
        tree: Hash of the root tree.
        parents: Hashes; empty for the first commit.
        author: The author's name, which is the actor's tag.
        moment: Author date with its offset.
        message: The whole message.
    """

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    moment: datetime
    message: str

    @property
    def parent(self) -> str | None:
        """Return the first parent, or None."""
        return self.parents[0] if self.parents else None

    @property
    def short(self) -> str:
        """Return the hash as it is shown and written into the audit log."""
        return self.id[:SHORT]


@dataclass(frozen=True)
class TreeChange:
    """One file that differs between two commits.

    Args:
        path: Where it is now; where it was, if it is gone.
        old_blob: Hash of the content before, None where there was no file.
        new_blob: Hash of the content after, None where the file is gone.
        old_path: Where it was before, where it was renamed; else None.
    """

    path: str
    old_blob: str | None
    new_blob: str | None
    old_path: str | None = None


def parse_commit(oid: str, raw: bytes) -> Commit:
    """Read a commit object's content.

    Raises:
        HistoryDamaged: It is no commit.
    """
    header, _, message = raw.partition(b"\n\n")
    tree, parents, author = "", [], ""
    for line in header.decode("utf-8", "replace").split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree":
            tree = value
        elif key == "parent":
            parents.append(value)
        elif key == "author":
            author = value
    signature = re.match(r"^(.*) <[^>]*> (-?\d+) ([+-])(\d\d)(\d\d)$", author)
    if not tree or not signature:
        raise HistoryDamaged(
            f"Object {oid[:SHORT]} is no commit.", remedy="Look with: workbench audit verify"
        )
    name, seconds, sign, hours, minutes = signature.groups()
    offset = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1)
    moment = datetime.fromtimestamp(int(seconds), UTC).astimezone(timezone(offset))
    return Commit(oid, tree, tuple(parents), name, moment, message.decode("utf-8", "replace"))


def render_commit(
    tree: str, parents: Iterable[str], message: str, *, author: str, email: str, moment: datetime
) -> bytes:
    """Write a commit object's content; author and committer are the same."""
    offset = moment.utcoffset() or timedelta(0)
    stamp = f"{author} <{email}> {int(moment.timestamp())} {_render_offset(offset)}"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {stamp}"]
    return "\n".join([*lines, f"committer {stamp}", "", message]).encode("utf-8", "replace")


def blob_hash(content: bytes) -> str:
    """Return the hash git gives to a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _render_offset(offset: timedelta) -> str:
    minutes = int(offset.total_seconds() // 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"
