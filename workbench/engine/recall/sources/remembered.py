"""Keeps, between runs, what was last seen of each file, so that an untouched one is not read again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

from workbench.engine.catalog.files import Stamp

_VERSION = 2


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of a file.

    Args:
        stamp: What the file system said of it when it was last looked at.
        digest: Of what was taken of it; never empty.
        size: How many of its bytes were taken.
    """

    stamp: Stamp
    digest: bytes
    size: int


class Remembered:
    """What was seen of files, by their path; derived, so that a lost or broken one costs a reading.

    Args:
        place: The file it is kept in, outside the workspace; None keeps it for this run alone.
        policy: Returns what is masked in the files; what was seen of them under another policy is forgotten.
    """

    def __init__(self, place: Path | None, policy: Callable[[], str] = lambda: "") -> None:
        self._place = place
        self._policy = policy
        self._seen_under, self._seen = _read(place) if place else ("", {})
        self._kept = (self._seen_under, dict(self._seen))

    def get(self, path: str) -> Seen | None:
        """Return what is known of a file."""
        if self._seen_under != self._policy():
            self._seen_under, self._seen = self._policy(), {}
        return self._seen.get(path)

    def replace(self, seen: Mapping[str, Seen]) -> None:
        """Know these files and no others, also in the next run as far as the disk allows."""
        self._seen = dict(seen)
        known = (self._seen_under, self._seen)
        if self._place is None or known == self._kept:
            return
        temporary = self._place.with_name(f"{self._place.name}.{os.getpid()}.tmp")
        try:
            self._place.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(
                json.dumps([_VERSION, self._seen_under, [_row(*item) for item in self._seen.items()]]),
                "utf-8",
            )
            temporary.replace(self._place)
        except OSError:
            # The next run reads the files once more.
            temporary.unlink(missing_ok=True)
        else:
            self._kept = (self._seen_under, dict(self._seen))


def _row(path: str, seen: Seen) -> list[object]:
    return [path, *astuple(seen.stamp), seen.digest.hex(), seen.size]


def _read(place: Path) -> tuple[str, dict[str, Seen]]:
    try:
        version, policy, rows = json.loads(place.read_text("utf-8"))
        if version != _VERSION:
            return "", {}
        return str(policy), {
            str(path): Seen(
                Stamp(int(size), int(mtime), int(ctime), int(inode)), bytes.fromhex(digest), int(taken)
            )
            for path, size, mtime, ctime, inode, digest, taken in rows
        }
    except (OSError, ValueError, TypeError, RecursionError):
        return "", {}
