"""Episode logs, `memory/episodes/YYYY-MM-DD.md`: dated entries that are only ever appended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.documents.problems import Problem
    from workbench.engine.documents.source import LineSpan, SourceText


@dataclass(frozen=True, slots=True)
class EpisodeEntry:
    """One entry.

    Args:
        id: `episode:2026-02-02:14:30`, with `#2` for a second one in the same minute.
        date: `2026-02-02`.
        time: `14:30`, in the workspace's time zone.
        number: 1, or which one of its minute it is.
        type: As written, lower case; empty where the heading says none. Known ones: decision, fact, preference,
            task, event, emotion, correction.
        confidence: `high`, `medium`, `low`, another word as written, or empty.
        tags: As written.
        source: `conversation` where the heading says nothing.
        extra: Further `key:value` fields of the heading, in its order; a field without a key has the key "".
        body: What was recorded, lines joined by `\\n`, escapes undone.
        span: All its lines, without blank lines at the end.
    """

    id: str
    date: str
    time: str
    number: int
    type: str
    confidence: str
    tags: tuple[str, ...]
    source: str
    extra: tuple[tuple[str, str], ...]
    body: str
    span: LineSpan


@dataclass(frozen=True)
class EpisodeLog:
    """One day's entries in the file's order."""

    path: str
    date: str
    source: SourceText
    entries: tuple[EpisodeEntry, ...]
    problems: tuple[Problem, ...] = ()

    @classmethod
    def parse(cls, content: bytes, path: str) -> EpisodeLog:
        """Read the file. Any bytes will do; the date is taken from the path, else from the title."""
        raise NotImplementedError

    def render(self) -> bytes:
        """Return the file's bytes."""
        return self.source.render()

    def entry(self, entry_id: str) -> EpisodeEntry | None:
        """Find an entry by its id."""
        raise NotImplementedError

    def append_entry(
        self,
        time: str,
        body: str,
        *,
        type: str = "event",  # noqa: A002 - the design document's name of the field
        confidence: str = "high",
        tags: Iterable[str] = (),
        source: str = "conversation",
        extra: Iterable[tuple[str, str]] = (),
    ) -> EpisodeLog:
        """Append an entry (it is `entries[-1]` of the result); a new file gets its title first.

        Args:
            time: `HH:MM` in the workspace's time zone. The number within the minute is found.
            body: Any text. What would read as structure is escaped, so that a parse gives it back.
            source: Written into the heading where it is not `conversation`.

        Raises:
            InvalidInput: `time` is no time of day.
        """
        raise NotImplementedError

    def remove_entry(self, entry_id: str) -> EpisodeLog:
        """Take an entry out again (revert and hard deletion only).

        Raises:
            NotFound: There is no such entry.
        """
        raise NotImplementedError
