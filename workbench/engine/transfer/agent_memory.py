"""Memory of other agents: workspaces of OpenClaw, Moltbot and Clawdbot, and Claude Code's `CLAUDE.md`."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path

from workbench.engine import layout
from workbench.engine.errors import DocumentError, NotFound, WorkbenchError
from workbench.engine.file_access import printable_path
from workbench.engine.markdown.episodes import DailyLog, EpisodeLog
from workbench.engine.markdown.outline import Heading, comment_offsets, read_annotations, read_outline
from workbench.engine.markdown.source import SourceText
from workbench.engine.patterns import lazy_pattern
from workbench.engine.sessions.openclaw_database import open_database
from workbench.engine.transfer.conversations import Transcripts
from workbench.engine.transfer.documents import front_matter, note_path, passages_of
from workbench.engine.transfer.source import (
    FoundFile,
    Item,
    Note,
    Piece,
    ReadingProgress,
    Skipped,
    SourcePlace,
    as_text,
    clock_in,
    day_in,
    list_files,
    moment_of,
    named_place,
    place_of,
    read_text,
    slug,
)
from workbench.engine.values import dataclass

CURATED = frozenset({"MEMORY.md", "memory.md", "USER.md"})
_INSTRUCTIONS = frozenset(
    {"AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md"}
)
_DREAMS = ("DREAMS.md", "dreams.md", "memory/dreaming/")
_META = "memory/meta/"
# A longer piece is split.
_MOST_PIECE_CHARACTERS = 12_000
# OpenClaw's deep sleep appends this to entries it promoted.
_SCORES = lazy_pattern(r"\s*\[score=[^\]]*?(?:source=([^\]\s]+))?\s*\]\s*$")
_SOURCE = lazy_pattern(r"\s*\bSource:\s*(\S+?\.md(?:[#:][\w:-]+)?)\s*$")
_NOON = time(12)
DATABASE = "openclaw.sqlite"
_NAMESPACE = "dreaming-memory-backups"
_TABLE = "plugin_state_entries"
_MOST = 1_000
_MOST_BYTES = 8 << 20
NAMES = ("CLAUDE.md", "CLAUDE.local.md")
_INDEX = "MEMORY.md"
_ELSEWHERE = lazy_pattern(r"(?<![\w@`])@(?:~?[\w.-]*/)*[\w.-]+\.\w+")
_HIDDEN = frozenset({".claude"})


@dataclass(frozen=True)
class AgentWorkspace:
    """A workspace of plain Markdown, as other agents keep it."""

    place: Path
    form: str = "openclaw"

    @property
    def name(self) -> str:
        own = slug(self.place.name)
        return (
            own if own not in ("workspace", "import", "memory") else f"{slug(self.place.parent.name)}-{own}"
        )

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        found, skipped = list_files(self.place, _may_be_memory, own=reading.own)
        yield from skipped
        reading.total = sum(each.size for each in found)
        names = {each.relative for each in found}
        for each in found:
            if each.relative != "memory.md" or "MEMORY.md" not in names or not _is_same(found):
                yield from self._file(each, reading)
            reading.done += each.size

    def _file(self, found: FoundFile, reading: ReadingProgress) -> Iterator[Item]:
        path, where = found.relative, str(place_of(found))
        if path in _INSTRUCTIONS:
            yield Skipped(where, "It instructs the agent; it is no memory.")
            return
        if path.startswith(_DREAMS):
            yield Skipped(where, "It tells how memory was sorted at night; what came of it is in MEMORY.md.")
            return
        if path.startswith(_META) or path in layout.PROJECTIONS:
            yield Skipped(where, "It is an account of memory, no memory.")
            return
        try:
            text = read_text(found)
        except WorkbenchError as error:
            yield Skipped(where, error.told)
            return
        if path in CURATED:
            yield from curated_pieces(found, text, reading)
        elif path.startswith(layout.EPISODES + "/"):
            yield from _episodes(found, text, reading)
        elif layout.is_daily_log(path):
            yield from _daily(found, text, reading)
        elif text.strip():
            yield Note(note_path(path.removeprefix("memory/")), text, place_of(found), found.changed)


def _is_same(found: list[FoundFile]) -> bool:
    """Return whether MEMORY.md and memory.md are one file, as on case-insensitive disks."""
    places = [each.place for each in found if each.relative in ("MEMORY.md", "memory.md")]
    return len(places) == 2 and places[0].samefile(places[1])


def _may_be_memory(relative: str) -> bool:
    if not relative.endswith(".md"):
        return False
    return "/" not in relative or relative.startswith("memory/")


def curated_pieces(found: FoundFile, text: str, reading: ReadingProgress) -> Iterator[Item]:
    """Yield the items and paragraphs of a curated file, without OpenClaw's annotations.

    Args:
        found: The file, for places and moments.
        reading: For the zone of days.
    """
    outline = read_outline(SourceText.from_bytes(text.encode("utf-8", "surrogatepass")))
    lines, above = text.split("\n"), _Headings(outline.headings)
    in_items: set[int] = set()
    annotation_above: dict[int, str] = {}
    for item in outline.items:
        if item.depth == 0:
            in_items.update(range(item.span.start, item.span.end + 1))
            annotation_above[item.span.start] = _comments_above(lines, item.span.start)
    for item in outline.items:
        if item.depth:
            continue
        headings = above.at(item.span.start)
        marks = dict(read_annotations(annotation_above[item.span.start] + item.text))
        if marks.get("status", "").strip().lower() == "superseded":
            yield Skipped(str(place_of(found, item.span.start)), "It is marked as superseded.")
            continue
        yield from _curated_piece(found, item.text, item.span.start, item.span.end, headings, marks, reading)
    for start, end in _paragraphs(lines, in_items, {h.span.start for h in outline.headings}):
        body = "\n".join(lines[start - 1 : end])
        marks = dict(read_annotations(body))
        yield from _curated_piece(found, body, start, end, above.at(start), marks, reading)


def _curated_piece(
    found: FoundFile,
    text: str,
    first: int,
    last: int,
    headings: tuple[str, ...],
    marks: dict[str, str],
    reading: ReadingProgress,
) -> Iterator[Piece]:
    said = _without_comments(text)
    source = ""
    for pattern in (_SCORES, _SOURCE):
        match = pattern.search(said)
        if match:
            source = source or (match[1] or "")
            said = said[: match.start()].rstrip()
    if not said.strip(" \n-*#"):
        return
    day = (
        day_in(marks.get("observed", ""))
        or day_in(source)
        or next((each for heading in reversed(headings) if (each := day_in(heading))), None)
    )
    moment = _at(day, None, reading) if day else found.changed
    tags = [part.strip() for part in marks.get("trigger", "").split(",")] + list(headings[-1:])
    yield Piece(
        said.strip(),
        place_of(found, first, last),
        moment,
        is_dated=day is not None,
        type="fact",
        tags=tuple(tag for tag in tags if tag and day_in(tag) is None),
    )


def _daily(found: FoundFile, text: str, reading: ReadingProgress) -> Iterator[Item]:
    log = DailyLog.parse(text.encode("utf-8", "surrogatepass"), found.relative)
    day = layout.day_in_name(found.relative)
    for entry in log.entries:
        body = _without_comments(entry.text).strip()
        if not body.strip("# \n") or ("\n" not in body and body.startswith("# ")):
            continue
        clock = clock_in(entry.time or "")
        moment = _at(day, clock, reading) if day else found.changed
        yield from split_piece(
            Piece(
                _plain_heading(body),
                place_of(found, entry.span.start, entry.span.end),
                moment,
                is_dated=day is not None,
                tags=(log.slug,) if log.slug and not log.slug.isdigit() else (),
            )
        )


def _episodes(found: FoundFile, text: str, reading: ReadingProgress) -> Iterator[Item]:
    log = EpisodeLog.parse(text.encode("utf-8", "surrogatepass"), found.relative)
    for problem in log.problems:
        yield Skipped(str(place_of(found, problem.line)), problem.message)
    for entry in log.entries:
        day = day_in(entry.date)
        if not entry.body.strip():
            continue
        yield from split_piece(
            Piece(
                entry.body,
                place_of(found, entry.span.start, entry.span.end),
                _at(day, clock_in(entry.time), reading) if day else found.changed,
                is_dated=day is not None,
                type=entry.type,
                confidence=entry.confidence,
                tags=entry.tags,
            )
        )


def split_piece(piece: Piece) -> Iterator[Piece]:
    """Split a piece into parts short enough to remember; nearly always just one."""
    text = piece.text
    while len(text) > _MOST_PIECE_CHARACTERS:
        at = max(
            text.rfind("\n\n", _MOST_PIECE_CHARACTERS // 2, _MOST_PIECE_CHARACTERS),
            text.rfind("\n", _MOST_PIECE_CHARACTERS // 2, _MOST_PIECE_CHARACTERS),
        )
        at = at if at > 0 else _MOST_PIECE_CHARACTERS
        yield replace(piece, text=text[:at].strip("\n"))
        text = text[at:].strip("\n")
    if text.strip():
        yield replace(piece, text=text)


def _at(day: date, clock: tuple[int, int] | None, reading: ReadingProgress) -> datetime:
    return datetime.combine(day, time(*clock) if clock else _NOON, reading.zone)


class _Headings:
    """The headings above each line, except the first level.

    Args:
        headings: Of a document, in order.
    """

    def __init__(self, headings: tuple[Heading, ...]) -> None:
        self._lines = [heading.span.start for heading in headings]
        self._paths: list[tuple[str, ...]] = [()]
        above: list[tuple[int, str]] = []
        for heading in headings:
            while above and above[-1][0] >= heading.level:
                above.pop()
            above.append((heading.level, heading.text))
            self._paths.append(tuple(text for level, text in above if level > 1))

    def at(self, line: int) -> tuple[str, ...]:
        """Return the headings above a line, outermost first."""
        return self._paths[bisect_right(self._lines, line)]


def _comments_above(lines: list[str], line: int) -> str:
    above = []
    at = line - 2
    while at >= 0 and lines[at].lstrip().startswith("<!--") and lines[at].rstrip().endswith("-->"):
        above.append(lines[at])
        at -= 1
    return "\n".join(reversed(above)) + "\n" if above else ""


def _paragraphs(lines: list[str], taken: set[int], headings: set[int]) -> Iterator[tuple[int, int]]:
    start = None
    for number, line in enumerate([*lines, ""], 1):
        free = bool(line.strip()) and number not in taken and number not in headings
        if free and start is None:
            start = number
        elif not free and start is not None:
            yield start, number - 1
            start = None


def _without_comments(text: str) -> str:
    kept, at = [], 0
    for start, end in comment_offsets(text):
        kept.append(text[at:start].rstrip(" \t"))
        at = end
    kept.append(text[at:])
    return "".join(kept)


def _plain_heading(text: str) -> str:
    first, newline, rest = text.partition("\n")
    return (first.lstrip("#").strip() + newline + rest).strip() if first.startswith("#") else text


@dataclass(frozen=True)
class PreImage:
    """A saved copy of MEMORY.md.

    Args:
        number: 1 for the newest.
        created: When it was taken, or None if unreadable.
        workspace: Its workspace folder, or "" if unknown.
    """

    number: int
    created: datetime | None
    workspace: str
    content: str


def find_database(source: Path) -> Path:
    """Return the database of copies, given itself or a state folder.

    Raises:
        NotFound: There is none.
    """
    place = named_place(source)
    for each in (place, place / "state" / DATABASE, place / DATABASE, place.parent / "state" / DATABASE):
        if each.is_file() and each.suffix in (".sqlite", ".db"):
            return each
    raise NotFound(
        "There is no database with copies of MEMORY.md here.",
        where=printable_path(str(source)),
        remedy="Name OpenClaw’s state folder, ~/.openclaw, or its state/openclaw.sqlite.",
    )


def pre_images(database: Path) -> tuple[PreImage, ...]:
    """Return the readable copies, newest first.

    Raises:
        DocumentError: The database is of another kind or damaged.
        Locked: Its owner holds it exclusively.
    """
    with open_database(database) as connection:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({_TABLE})")}
        if not {"namespace", "value_json"} <= columns:
            raise DocumentError(
                "The database holds no copies of MEMORY.md as they are known.",
                where=printable_path(str(database)),
                remedy="Name the openclaw.sqlite of OpenClaw 2026.6 or later.",
            )
        rows = connection.execute(
            f"SELECT value_json FROM {_TABLE} WHERE namespace = ? AND length(value_json) <= ? LIMIT ?",  # noqa: S608 - a name of ours
            (_NAMESPACE, _MOST_BYTES, _MOST),
        ).fetchall()
    found = [image for row in rows if (image := _read(row[0])) is not None]
    found.sort(key=lambda image: image.created.timestamp() if image.created else 0.0, reverse=True)
    return tuple(
        PreImage(number, image.created, image.workspace, image.content)
        for number, image in enumerate(found, 1)
    )


def _read(given: object) -> PreImage | None:
    try:
        said = json.loads(given) if isinstance(given, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, Mapping):
        return None
    inner = said.get("value")
    value: Mapping[str, object] = inner if isinstance(inner, Mapping) else said
    content, folder = value.get("content"), said.get("workspaceDir")
    if not isinstance(content, str):
        return None
    try:
        text = as_text(content.encode("utf-8", "replace"), DATABASE)
    except DocumentError:
        return None
    return PreImage(0, moment_of(value.get("createdAt")), folder if isinstance(folder, str) else "", text)


@dataclass(frozen=True)
class PreImageSource:
    """One copy as an import source."""

    image: PreImage
    form: str = "pre-image"

    @property
    def name(self) -> str:
        stem = slug(Path(self.image.workspace).name) if self.image.workspace else "openclaw"
        return f"{stem}-before"

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        content = self.image.content
        reading.total = reading.done = len(content)
        changed = self.image.created or datetime.fromtimestamp(0, reading.zone)
        yield from curated_pieces(FoundFile(Path(), "MEMORY.md", len(content), changed), content, reading)


def choose_pre_image(images: tuple[PreImage, ...], number: int, where: str) -> PreImage:
    """Return a copy by number.

    Raises:
        NotFound: There is no such copy.
    """
    for image in images:
        if image.number == number:
            return image
    many = f"There are {len(images)}" if images else "There is none"
    raise NotFound(
        f"There is no copy {number} of MEMORY.md.", where=where, remedy=f"{many}; see them with --pre-images."
    )


@dataclass(frozen=True)
class ClaudeMemory:
    """Memory files of Claude Code.

    Args:
        place: CLAUDE.md, its folder, a memory folder, or `~/.claude`.
    """

    place: Path
    form: str = "claude-code"

    @property
    def name(self) -> str:
        folder = self.place.parent if self.place.is_file() else self.place
        while slug(folder.name) in ("memory", "claude") and folder.parent != folder:
            folder = folder.parent
        return f"claude-{slug(folder.name)}"[:40].strip("-")

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        found, skipped = list_files(self.place, self._is_memory, own=reading.own, hidden=_HIDDEN)
        yield from skipped
        reading.total += sum(each.size for each in found)
        indexed = {each.relative.rpartition("/")[0] for each in found if not each.relative.endswith(_INDEX)}
        for each in found:
            folder, _, name = each.relative.rpartition("/")
            if name == _INDEX and folder in indexed:
                yield Skipped(str(place_of(each)), "It lists the other files of this memory.")
            else:
                yield from _memory(each)
            reading.done += each.size
        if (self.place / "projects").is_dir():
            yield from Transcripts(self.place, self.form).read(reading)

    def _is_memory(self, relative: str) -> bool:
        folder, _, name = relative.rpartition("/")
        if name in NAMES:
            return folder in ("", ".claude")
        if not name.endswith(".md"):
            return False
        return folder.split("/")[-1] == "memory" or (folder == "" and self.place.name == "memory")


def _memory(found: FoundFile) -> Iterator[Item]:
    try:
        text = read_text(found)
    except WorkbenchError as error:
        yield Skipped(str(place_of(found)), error.told)
        return
    keys, _ = front_matter(text)
    about = keys.get("description") or keys.get("name") or ""
    tags = tuple(tag for tag in (keys.get("type", ""), keys.get("name", "")) if tag)
    for number, line in enumerate(text.split("\n"), 1):
        if named := _ELSEWHERE.search(line):
            told = f"It points to {named[0][1:][:80]}; nothing beside what was named is read."
            yield Skipped(str(place_of(found, number)), told)
    for passage in passages_of(text):
        said = f"{about}\n{passage.text}" if about else passage.text
        yield Piece(
            said,
            SourcePlace(place_of(found).file, passage.first, passage.last),
            found.changed,
            type="fact",
            tags=tags,
        )
