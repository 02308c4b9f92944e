"""The way of history from the first commit to the newest as columns: which commit, when, by whom."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.history.commit_message import parse_message
from workbench.engine.results import HistoryLine

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.git_store import GitStore


@dataclass(frozen=True)
class Line:
    """Commits along first parents, oldest first.

    Args:
        ids: The 20 bytes of each commit's hash, one after the other.
        seconds: When each was made, since 1970 in UTC.
        actors: The place of each one's actor among the names.
        names: Actors.
    """

    ids: bytes
    seconds: array[int]
    actors: array[int]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.seconds)

    def commit(self, place: int) -> str:
        """Return the full hash of a commit by its place, from 0."""
        return self.ids[20 * place : 20 * place + 20].hex()

    def at(self, moment: datetime) -> str | None:
        """Return the newest commit not later than a time, as `moments.commit_at` does."""
        # Commits are dated to the second.
        latest = moment.timestamp()
        for place in range(len(self.seconds) - 1, -1, -1):
            if self.seconds[place] <= latest:
                return self.commit(place)
        return None

    def shown(self) -> HistoryLine:
        """Return it as an answer."""
        digits = self.ids.hex()
        commits = tuple(digits[start : start + 40] for start in range(0, len(digits), 40))
        names = self.names
        return HistoryLine(commits, tuple(self.seconds), tuple(names[place] for place in self.actors))


def read_line(store: GitStore) -> Line:
    """Return the way to the newest commit, read from the commits themselves."""
    ids: list[bytes] = []
    seconds, actors = array("q"), array("I")
    names: dict[str, int] = {}
    for commit in reversed(list(store.walk())):
        ids.append(bytes.fromhex(commit.id))
        seconds.append(int(commit.moment.timestamp()))
        actors.append(names.setdefault(parse_message(commit).actor, len(names)))
    return Line(b"".join(ids), seconds, actors, tuple(names))
