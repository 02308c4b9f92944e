"""Workspaces of OpenClaw, Moltbot and Clawdbot: curated memory item by item, daily logs stretch by stretch."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from pathlib import Path

from workbench.engine import layout
from workbench.engine.documents.annotations import comment_offsets, read_annotations
from workbench.engine.documents.daily import DailyLog
from workbench.engine.documents.episodes import EpisodeLog
from workbench.engine.documents.outline import Heading, read_outline
from workbench.engine.documents.source import SourceText
from workbench.engine.errors import WorkbenchError
from workbench.engine.importing.documents import note_path
from workbench.engine.importing.opening import FoundFile, place_of, read_text, walk
from workbench.engine.importing.pieces import Item, Note, Piece, Reading, Skipped
from workbench.engine.importing.words import clock_in, day_in, slug

CURATED = frozenset({"MEMORY.md", "memory.md", "USER.md"})
_INSTRUCTIONS = frozenset(
    {"AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOTSTRAP.md", "BOOT.md"}
)
_DREAMS = ("DREAMS.md", "dreams.md", "memory/dreaming/")
_META = "memory/meta/"
# What deep sleep writes behind an entry that it promoted.
_SCORES = re.compile(r"\s*\[score=[^\]]*?(?:source=([^\]\s]+))?\s*\]\s*$")
_SOURCE = re.compile(r"\s*\bSource:\s*(\S+?\.md(?:[#:][\w:-]+)?)\s*$")
_NOON = time(12)


@dataclass(frozen=True)
class AgentWorkspace:
    """A workspace of plain Markdown, as agents keep it.

    Args:
        place: Its folder.
    """

    place: Path
    form: str = "openclaw"

    @property
    def name(self) -> str:
        own = slug(self.place.name)
        return (
            own if own not in ("workspace", "import", "memory") else f"{slug(self.place.parent.name)}-{own}"
        )

    def read(self, reading: Reading) -> Iterator[Item]:
        found: list[FoundFile] = []
        for each in walk(self.place, _may_be_memory, own=reading.own):
            if isinstance(each, Skipped):
                yield each
            else:
                found.append(each)
        reading.total = sum(each.size for each in found)
        names = {each.relative for each in found}
        for each in found:
            if each.relative != "memory.md" or "MEMORY.md" not in names or not _is_same(found):
                yield from self._file(each, reading)
            reading.done += each.size

    def _file(self, found: FoundFile, reading: Reading) -> Iterator[Item]:
        path, where = found.relative, str(place_of(found))
        if path in _INSTRUCTIONS:
            yield Skipped(where, "It instructs the agent; it is no memory.")
            return
        if path.startswith(_DREAMS):
            yield Skipped(
                where, "It tells how memory was sorted at night; what came of it stands in MEMORY.md."
            )
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
    """Tell whether MEMORY.md and memory.md are one file, as on disks that do not tell case apart."""
    places = [each.place for each in found if each.relative in ("MEMORY.md", "memory.md")]
    return len(places) == 2 and places[0].samefile(places[1])


def _may_be_memory(relative: str) -> bool:
    if not relative.endswith(".md"):
        return False
    return "/" not in relative or relative.startswith("memory/")


def curated_pieces(found: FoundFile, text: str, reading: Reading) -> Iterator[Item]:
    """Give the items and paragraphs of a curated file, without the annotations that OpenClaw writes behind them.

    Args:
        found: The file, for places and moments.
        text: All of it.
        reading: Gives the zone of days.
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
        marks = {
            each.key: each.value for each in read_annotations(annotation_above[item.span.start] + item.text)
        }
        if marks.get("status", "").strip().lower() == "superseded":
            yield Skipped(str(place_of(found, item.span.start)), "It is marked as superseded.")
            continue
        yield from _curated_piece(found, item.text, item.span.start, item.span.end, headings, marks, reading)
    for start, end in _paragraphs(lines, in_items, {h.span.start for h in outline.headings}):
        body = "\n".join(lines[start - 1 : end])
        marks = {each.key: each.value for each in read_annotations(body)}
        yield from _curated_piece(found, body, start, end, above.at(start), marks, reading)


def _curated_piece(
    found: FoundFile,
    text: str,
    first: int,
    last: int,
    headings: tuple[str, ...],
    marks: dict[str, str],
    reading: Reading,
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


def _daily(found: FoundFile, text: str, reading: Reading) -> Iterator[Item]:
    log = DailyLog.parse(text.encode("utf-8", "surrogatepass"), found.relative)
    day = layout.day_in_name(found.relative)
    for entry in log.entries:
        body = _without_comments(entry.text).strip()
        if not body.strip("# \n") or ("\n" not in body and body.startswith("# ")):
            continue
        clock = clock_in(entry.time or "")
        moment = _at(day, clock, reading) if day else found.changed
        yield from cut(
            Piece(
                _plain_heading(body),
                place_of(found, entry.span.start, entry.span.end),
                moment,
                is_dated=day is not None,
                tags=(log.slug,) if log.slug and not log.slug.isdigit() else (),
            )
        )


def _episodes(found: FoundFile, text: str, reading: Reading) -> Iterator[Item]:
    log = EpisodeLog.parse(text.encode("utf-8", "surrogatepass"), found.relative)
    for problem in log.problems:
        yield Skipped(str(place_of(found, problem.line)), problem.message)
    for entry in log.entries:
        day = day_in(entry.date)
        if not entry.body.strip():
            continue
        yield from cut(
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


def cut(piece: Piece, most: int = 12_000) -> Iterator[Piece]:
    """Give a piece in parts that are short enough to be remembered; nearly always it is one."""
    text = piece.text
    while len(text) > most:
        at = max(text.rfind("\n\n", most // 2, most), text.rfind("\n", most // 2, most))
        at = at if at > 0 else most
        yield replace(piece, text=text[:at].strip("\n"))
        text = text[at:].strip("\n")
    if text.strip():
        yield replace(piece, text=text)


def _at(day: date, clock: tuple[int, int] | None, reading: Reading) -> datetime:
    return datetime.combine(day, time(*clock) if clock else _NOON, reading.zone)


class _Headings:
    """The headings that each line stands under, those of the first level left out.

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
        """Return the headings above a line, the outermost first."""
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
