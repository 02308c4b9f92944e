"""Transcripts on disk: the tree of their entries, appending under a lock, repair, and purging texts."""

from __future__ import annotations

import json
import os
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from workbench.engine.errors import InvalidInput, OutsideWorkspace, StorageError, WorkbenchError
from workbench.engine.file_access import open_outside_file, replace_file
from workbench.engine.results.sessions import SessionProblem
from workbench.engine.sessions import events
from workbench.engine.sessions.events import Event, FileLines, Lines, MaskedLines, read_event, render_event
from workbench.engine.sessions.locks import transcript_lock
from workbench.engine.sessions.store import NAME, SessionStore
from workbench.engine.steps import UNTOLD, Steps
from workbench.engine.values import dataclass

_BACK = 1 << 16
MOST_ENTRY_BYTES = 16 * 1024 * 1024
LEAF = "leaf"
MOST_PROBLEMS = 1000
# Consecutive queries are mostly about one transcript.
_MOST_KNOWN = 4
T = TypeVar("T")
_CODES = {kind: code for code, kind in enumerate(events.KINDS, 1)}
_KINDS = ("other", *events.KINDS)


class TranscriptWriter:
    """Appends to one transcript.

    Args:
        place: The file; its folder exists. Created with the first entry.
        session_id: For its header.
        folder: The agent's working folder, for the header.
        new_id: Returns a new unique id.
    """

    def __init__(self, place: Path, session_id: str, folder: str, new_id: Callable[[], str]) -> None:
        self.place = place
        self._session_id = session_id
        self._folder = folder
        self._new_id = new_id

    def append(
        self,
        entries: Sequence[tuple[str, Mapping[str, Any]]],
        now: datetime,
        *,
        parent: str | None = LEAF,
    ) -> tuple[Event, ...]:
        """Append entries after the leaf, each following the previous one, and flush them to disk.

        Args:
            entries: Type and fields of each, without id, parent and time.
            parent: Id of the entry that the first one follows; by default the last one in the file. None starts
                a branch at the root.

        Returns:
            The written entries with their lines.

        Raises:
            Locked: Another program is writing this transcript.
            InvalidInput: An entry is too long.
            StorageError: The disk cannot take it; the file is unchanged.
        """
        with transcript_lock(self.place):
            fresh, mended, last = self._end()
            follows = (last.id if last is not None else None) if parent == LEAF else parent
            written: list[dict[str, Any]] = []
            if fresh:
                written.append(events.header(self._session_id, now, self._folder))
            for kind, fields in entries:
                entry = events.entry(kind, self._new_id(), follows, now, **fields)
                written.append(entry)
                follows = str(entry["id"])
            contents = [render_event(entry) for entry in written]
            if any(len(content) > MOST_ENTRY_BYTES for content in contents):
                raise InvalidInput(
                    "This entry is too long for a transcript.",
                    where=str(self.place),
                    remedy="Leave out pictures and long results of tools.",
                )
            # A torn last line counts as a line and is terminated now.
            first = 1 if fresh else FileLines(self.place).count() + 1
            self._write((b"\n" if mended else b"") + b"".join(contents))
        numbered = [Event(first + at, entry) for at, entry in enumerate(written)]
        return tuple(event for event in numbered if event.kind != events.HEADER)

    def _end(self) -> tuple[bool, bool, Event | None]:
        """Return whether the file is empty, whether its last line is torn, and its last readable entry."""
        opened = open_outside_file(self.place)
        if opened is None:
            return True, False, None
        with opened:
            size = os.fstat(opened.fileno()).st_size
            if size == 0:
                return True, False, None
            opened.seek(size - 1)
            torn = opened.read(1) != b"\n"
            start, tail = size, b""
            while True:
                # Backwards in growing steps: the last entry may be long, or followed by damage.
                start = max(0, start - max(_BACK, len(tail)))
                opened.seek(start)
                tail = opened.read(size - start)
                lines = tail.split(b"\n")
                whole = lines if start == 0 else lines[1:]
                for line in reversed(whole):
                    event = read_event(0, line) if line.strip() else ""
                    if isinstance(event, Event) and event.id and event.kind != events.HEADER:
                        return False, torn, event
                if start == 0:
                    return False, torn, None

    def _write(self, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            handle = os.open(self.place, flags, 0o600)
        except OSError as error:
            if self.place.is_symlink():
                raise OutsideWorkspace(
                    "There is a link where the transcript should be.",
                    where=str(self.place),
                    remedy="Remove it.",
                ) from error
            raise _unwritable(self.place, error) from error
        try:
            before = os.fstat(handle).st_size
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(handle, view) :]
                os.fsync(handle)
            except OSError as error:
                os.ftruncate(handle, before)
                raise _unwritable(self.place, error) from error
        finally:
            os.close(handle)


def _unwritable(place: Path, error: OSError) -> StorageError:
    return StorageError(
        f"The transcript cannot be written: {error.strerror}.",
        where=str(place),
        remedy="Make room, or choose another folder with sessions.path.",
    )


@dataclass
class Tree:
    """Structure of one transcript: for each entry its line and its parent.

    Args:
        lines: Line of each entry except the header, in file order.
        parents: Number of each entry's parent, -1 for none.
        kinds: Type of each, as a number.
        kept_from: For each compaction, the number of the first entry it keeps.
        header: The first line if it is a header, else None.
        problems: Unreadable lines, and entries whose parent had to be guessed.
        more_problems: Number of further problems.
    """

    lines: array[int] = field(default_factory=lambda: array("q"))
    parents: array[int] = field(default_factory=lambda: array("q"))
    kinds: bytearray = field(default_factory=bytearray)
    kept_from: dict[int, int] = field(default_factory=dict)
    header: Event | None = None
    problems: list[SessionProblem] = field(default_factory=list)
    more_problems: int = 0
    total: int = 0

    @property
    def leaf(self) -> int:
        """Return the number of the last entry, or -1."""
        return len(self.lines) - 1

    def path(self, start: int | None = None) -> Iterator[int]:
        """Yield entry numbers from the leaf to the root.

        Args:
            start: First entry; the leaf by default.
        """
        at = self.leaf if start is None else start
        while at >= 0:
            yield at
            at = self.parents[at]

    def kind(self, number: int) -> str:
        """Return the type of an entry; `other` if unknown."""
        return _KINDS[self.kinds[number]]

    def told(self) -> tuple[SessionProblem, ...]:
        """Return the problems, with the number of those left out."""
        if not self.more_problems:
            return tuple(self.problems)
        return (
            *self.problems,
            SessionProblem(None, f"{self.more_problems:,} more lines like these were skipped."),
        )


_known: dict[tuple[int, ...], Tree] = {}


def read_tree(lines: Lines, steps: Steps = UNTOLD) -> Tree:
    """Return the structure of a transcript, cached while it is unchanged.

    Args:
        steps: Told how far it has come.

    Raises:
        Cancelled: `steps` was cancelled.
    """
    if isinstance(lines, MaskedLines):
        # No text is kept, so nothing needs masking.
        lines = lines.unmasked
    stamp = lines.stamp()
    tree = _known.pop(stamp, None) if stamp is not None else None
    if tree is None:
        numbered = lines.read()
        # Counting reads the file once more.
        tree = _read(numbered if steps is UNTOLD else steps.over("reading", numbered, lines.count()))
    if stamp is None:
        return tree
    _known[stamp] = tree
    while len(_known) > _MOST_KNOWN:
        with suppress(StopIteration, KeyError):
            del _known[next(iter(_known))]
    return tree


def _read(lines: Iterable[tuple[int, bytes]]) -> Tree:
    """Read every line once and keep only the structure; no text stays in memory.

    An unreadable line is reported and skipped; an entry with a missing parent follows the entry before it in the file,
    so that damage stays local. A parent always precedes its child, so there are no cycles.

    Args:
        lines: Numbered lines of the transcript.
    """
    tree = Tree()
    known: dict[str, int] = {}
    for number, content in lines:
        tree.total = number
        event = read_event(number, content)
        if isinstance(event, str):
            if event:
                _report(tree, number, f"This line {event}; it was skipped.")
            continue
        _add(tree, event, known)
    return tree


def _add(tree: Tree, event: Event, known: dict[str, int]) -> None:
    if event.kind == events.HEADER:
        if tree.header is None:
            tree.header = event
        return
    at = len(tree.lines)
    before = at - 1
    parent_id = event.parent_id
    if parent_id is None:
        parent = -1
    elif parent_id == "":
        # The first versions wrote a flat list.
        parent = before
    else:
        parent = known.get(parent_id, -2)
        if parent == -2:
            parent = before
            _report(
                tree,
                event.line,
                "The entry that this one follows is not there; it was put behind the one before.",
            )
    if event.kind == events.COMPACTION:
        tree.kept_from[at] = known.get(events.text_of(event.fields.get("firstKeptEntryId")), at)
    tree.lines.append(event.line)
    tree.parents.append(parent)
    tree.kinds.append(_CODES.get(event.kind, 0))
    if event.id:
        known[event.id] = at


def _report(tree: Tree, line: int, told: str) -> None:
    if len(tree.problems) < MOST_PROBLEMS:
        tree.problems.append(SessionProblem(line, told))
    else:
        tree.more_problems += 1


@dataclass(frozen=True)
class RepairedTranscript:
    """Outcome of a repair.

    Args:
        repairs: One sentence each.
        copy: The original file; None if nothing was replaced.
    """

    repairs: tuple[str, ...]
    problems: tuple[SessionProblem, ...]
    copy: Path | None


def repair_transcript(place: Path, now: datetime) -> RepairedTranscript:
    """Blank the unreadable lines of a transcript, and terminate its last line.

    Args:
        now: For the name of the copy.

    Raises:
        Locked: Another program is writing it.
        StorageError: The disk cannot take it; the file is unchanged.
    """
    lines = FileLines(place)
    if not lines.size():
        return RepairedTranscript((), (), None)
    with transcript_lock(place):
        bad = dict(_unreadable(lines))
        torn = _is_torn(place)
        if not bad and not torn:
            return RepairedTranscript((), (), None)
        copy = place.with_name(f"{place.name}.bak-{now:%Y%m%dT%H%M%S%f}")
        try:
            shutil.copy2(place, copy, follow_symlinks=False)
        except OSError as error:
            raise StorageError(
                f"The transcript cannot be mended: {error.strerror}.", where=str(place), remedy="Make room."
            ) from error
        with replace_file(place, "The transcript cannot be mended") as file:
            for number, content in lines.read():
                file.write((b"" if number in bad else content) + b"\n")
    problems = tuple(
        SessionProblem(number, f"This line {why}; it was emptied.")
        for number, why in list(bad.items())[:MOST_PROBLEMS]
    )
    repairs = [f"Lines that could not be read were emptied ({len(bad):,})."] if bad else []
    if torn:
        repairs.append("The last line got its end.")
    return RepairedTranscript(tuple(repairs), problems, copy)


def _unreadable(lines: FileLines) -> Iterator[tuple[int, str]]:
    for number, content in lines.read():
        event = read_event(number, content)
        if isinstance(event, str) and event:
            yield number, event


def _is_torn(place: Path) -> bool:
    with place.open("rb") as opened:
        opened.seek(-1, os.SEEK_END)
        return opened.read(1) != b"\n"


Erase = Callable[[str], str]


@dataclass(frozen=True)
class PurgedSessions:
    """Outcome of purging sessions.

    Args:
        lines: Changed lines, 1-based, by transcript, `sessions/ID.jsonl`.
        left: Why a file could not be purged, by the same name.
    """

    lines: dict[str, tuple[int, ...]]
    left: dict[str, str]


def purge_sessions(folder: Path, erase: Erase) -> PurgedSessions:
    """Remove texts from every transcript of a folder and from its store; lines keep their numbers.

    Args:
        folder: The own store's folder; need not exist.
        erase: Returns a text without what must go.
    """
    purged: dict[str, tuple[int, ...]] = {}
    left: dict[str, str] = {}
    for place in sorted(folder.glob("*.jsonl*")):
        if place.name.endswith(".lock") or not place.is_file():
            continue
        name = f"sessions/{place.name}"
        try:
            numbers = _purge_transcript(place, erase)
        except WorkbenchError as error:
            left[name] = str(error)
            continue
        if numbers:
            purged[name] = numbers
    if (folder / NAME).exists():
        try:
            SessionStore(folder).rewrite(lambda raw: without_texts(raw, erase))
        except WorkbenchError as error:
            left[f"sessions/{NAME}"] = str(error)
    return PurgedSessions(purged, left)


def lines_with(lines: Lines, erase: Erase) -> Iterator[int]:
    """Yield the numbers of lines from which something would be removed, without writing."""
    for number, content in lines.read():
        if _purged(content, erase) is not None:
            yield number


def without_texts(value: Any, erase: Erase) -> Any:
    """Return a JSON value with all its texts erased as required."""
    if isinstance(value, str):
        return erase(value)
    if isinstance(value, dict):
        return {erase(key): without_texts(item, erase) for key, item in value.items()}
    if isinstance(value, list):
        return [without_texts(item, erase) for item in value]
    return value


def _purge_transcript(place: Path, erase: Erase) -> tuple[int, ...]:
    lines = FileLines(place)
    if next(lines_with(lines, erase), None) is None:
        return ()
    numbers = []
    with transcript_lock(place), replace_file(place, "The transcript cannot be purged") as file:
        for number, content in lines.read():
            purged = _purged(content, erase)
            if purged is not None:
                numbers.append(number)
            file.write((content if purged is None else purged) + b"\n")
    return tuple(numbers)


def _purged(content: bytes, erase: Erase) -> bytes | None:
    """Return a line without what must go ("" if it is unreadable), or None if nothing must."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        text = content.decode("utf-8", "replace")
        return b"" if erase(text) != text else None
    left = without_texts(said, erase)
    return render_event(left).rstrip(b"\n") if left != said else None
