"""Conversations to import: session transcripts and ChatGPT and Claude exports, split into episodes."""

from __future__ import annotations

import codecs
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import tzinfo
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from workbench.engine.clock import in_zone
from workbench.engine.errors import DocumentError, WorkbenchError
from workbench.engine.file_access import printable_path
from workbench.engine.markdown.episodes import PAUSE
from workbench.engine.patterns import lazy_pattern
from workbench.engine.sessions.events import FileLines, Lines, turn_of
from workbench.engine.sessions.openclaw_database import DATABASE, DatabaseHome, DatabaseLines
from workbench.engine.transfer.source import (
    FoundFile,
    ImportedTurn,
    Item,
    Piece,
    ReadingProgress,
    Skipped,
    SourcePlace,
    list_files,
    moment_of,
    open_file,
    slug,
)
from workbench.engine.values import dataclass

MOST_CHARACTERS = 8_000
"""Length at which an episode is full; the turn that exceeds it begins the next."""
_MOST_TURN = 15_000
TRANSCRIPT = ".jsonl"
_TOLD_LINES = 20
_BLOCK = 1 << 20
MOST_ELEMENT = 256 << 20
"""Maximum characters of one element; no conversation is that long."""
_BEGINNING = lazy_pattern(r"\ufeff?\s*(?:\{\s*\"conversations\"\s*:\s*)?\[\s*")
_BETWEEN = lazy_pattern(r"\s*(?:(,)|(\]))\s*")
_OF_NUMBERS = frozenset("0123456789.eE+-")
_BLANK = lazy_pattern(r"\s*")
MEMBER = lazy_pattern(r"conversations(?:-\d+)?\.json")
_MOST_MEMBERS = 100_000
_MOST_BYTES = 8 << 30
# Text compresses ten- to thirtyfold; a thousandfold is a bomb.
_MOST_RATIO = 200
_SMALL = 64 << 20
_LONGEST_TITLE = 120
_SPEAKERS = {"user": "User", "human": "User", "assistant": "Assistant"}


def episodes_of(
    turns: Iterable[ImportedTurn],
    place: SourcePlace,
    zone: tzinfo,
    *,
    title: str = "",
    tags: tuple[str, ...] = (),
) -> Iterator[Piece]:
    """Split a conversation into episodes; later turns never change how earlier ones are split.

    Args:
        turns: In order; read lazily.
        place: Of the conversation.
        zone: Determines the days.
        title: Repeated above each part if given.
        tags: Of each part.
    """
    running: list[ImportedTurn] = []
    size = 0
    for turn in _cut(turns):
        if running and (size + len(turn.text) > MOST_CHARACTERS or _is_apart(running[-1], turn, zone)):
            yield _piece(running, place, title, tags)
            running, size = [], 0
        running.append(turn)
        size += len(turn.text)
    if running:
        yield _piece(running, place, title, tags)


def _is_apart(last: ImportedTurn, turn: ImportedTurn, zone: tzinfo) -> bool:
    if last.moment is None or turn.moment is None:
        return False
    before, after = in_zone(last.moment, zone), in_zone(turn.moment, zone)
    return after - before >= PAUSE or after.date() != before.date()


def _cut(turns: Iterable[ImportedTurn]) -> Iterator[ImportedTurn]:
    """Yield turns, splitting those too long for a memory."""
    for turn in turns:
        text = turn.text
        while len(text) > _MOST_TURN:
            at = max(
                text.rfind("\n", _MOST_TURN // 2, _MOST_TURN), text.rfind(" ", _MOST_TURN // 2, _MOST_TURN)
            )
            at = at if at > 0 else _MOST_TURN
            yield replace(turn, text=text[:at].rstrip())
            text = text[at:].lstrip()
        if text:
            yield replace(turn, text=text)


def _piece(turns: list[ImportedTurn], place: SourcePlace, title: str, tags: tuple[str, ...]) -> Piece:
    lines = [turn.line for turn in turns if turn.line is not None]
    moment = next((turn.moment for turn in turns if turn.moment is not None), None)
    if lines:
        place = replace(place, first=lines[0], last=lines[-1])
    return Piece(title, place, moment, is_dated=moment is not None, turns=tuple(turns), tags=tags)


@dataclass(frozen=True)
class Transcripts:
    """The transcripts in a folder, or a single one.

    Args:
        place: A state folder, a folder of transcripts, a transcript, or a database.
        form: `sessions` or `claude-code`.
    """

    place: Path
    form: str = "sessions"

    @property
    def name(self) -> str:
        return slug(self.place.stem if self.place.is_file() else self.place.name)

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        every, skipped = list_files(self.place, _is_transcript, own=reading.own)
        yield from skipped
        found = [each for each in every if each.size or not each.relative.endswith(DATABASE)]
        total = reading.done + sum(each.size for each in found)
        reading.total = max(reading.total, total)
        for each in found:
            start = reading.done
            if each.relative.endswith(TRANSCRIPT):
                yield from self._transcript(each, reading)
            else:
                yield from self._database(each, reading)
            reading.done = start + each.size

    def _transcript(self, found: FoundFile, reading: ReadingProgress) -> Iterator[Item]:
        where = printable_path(found.relative)
        tags = tuple(tag for tag in (_owner(found.relative),) if tag)
        yield from conversation_in(FileLines(found.place), SourcePlace(where), reading, tags=tags)

    def _database(self, found: FoundFile, reading: ReadingProgress) -> Iterator[Item]:
        home = DatabaseHome(found.place)
        where = printable_path(found.relative)
        try:
            content, windows = home.read(), home.windows()
        except WorkbenchError as error:
            yield Skipped(where, error.told)
            return
        for problem in content.problems:
            yield Skipped(where, problem.message)
        for key, entry in content.entries.items():
            ids = dict.fromkeys((*windows.get(key, ()), entry.session_id))
            for session_id in filter(None, ids):
                lines = DatabaseLines(found.place, session_id)
                yield from conversation_in(lines, SourcePlace(f"{where}/{session_id}"), reading, tags=())


def conversation_in(
    lines: Lines, place: SourcePlace, reading: ReadingProgress, *, tags: tuple[str, ...]
) -> Iterator[Item]:
    """Read one transcript, reporting the first twenty lines that are not JSON.

    Args:
        place: As cited.
        reading: Updated with progress.
        tags: Of each episode.
    """
    broken: list[int] = []

    def turns() -> Iterator[ImportedTurn]:
        for number, line in lines.read():
            reading.done += len(line) + 1
            turn = turn_of(number, line)
            if turn is not None:
                speaker, _, text = turn.text.partition(": ")
                yield ImportedTurn(speaker, text, turn.moment, number)
            elif line.strip() and not _is_object(line):
                broken.append(number)

    try:
        yield from episodes_of(turns(), place, reading.zone, tags=tags)
    except WorkbenchError as error:
        yield Skipped(str(place), error.told)
    for number in broken[:_TOLD_LINES]:
        yield Skipped(f"{place}#L{number}", "This line is torn or no JSON.")
    if len(broken) > _TOLD_LINES:
        yield Skipped(str(place), f"{len(broken) - _TOLD_LINES:,} more lines are torn or no JSON.")


def _is_object(line: bytes) -> bool:
    stripped = line.strip()
    return stripped.startswith(b"{") and stripped.endswith(b"}")


def _is_transcript(relative: str) -> bool:
    return relative.endswith((TRANSCRIPT, DATABASE))


def _owner(relative: str) -> str:
    """Return the project or agent of a transcript."""
    parts = relative.split("/")
    for folder in ("projects", "agents"):
        if folder in parts[:-2]:
            return parts[parts.index(folder) + 1].strip("-").rpartition("-")[2]
    return ""


class Readable(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes: ...


def elements(
    source: Readable, where: str, *, tell: Callable[[int], None] = lambda _: None, block: int = _BLOCK
) -> Iterator[Any]:
    """Yield each element of a JSON array, or of the array `conversations` of an object.

    Args:
        source: UTF-8; invalid bytes become replacement characters.
        where: Its name, for errors.
        tell: Called with the number of bytes of each block read.
        block: Bytes per read.

    Raises:
        DocumentError: It is not such an array, is truncated or damaged, nested too deep, or one element is too
            long.
    """
    decoder, parser = codecs.getincrementaldecoder("utf-8")("replace"), json.JSONDecoder()
    buffer, at, ended = "", 0, False

    def more() -> bool:
        nonlocal buffer, at, ended
        if ended:
            return False
        # The needed length doubles, so that a long element is not retried for every block.
        content = source.read(max(block, len(buffer) - at))
        tell(len(content))
        ended = not content
        buffer = buffer[at:] + decoder.decode(content, final=ended)
        at = 0
        return True

    more()
    start = _BEGINNING.match(buffer)
    if start is None:
        raise DocumentError(
            "This is no list in JSON.", where=where, remedy="Name the file as it was exported."
        )
    at, number = start.end(), 0
    while True:
        at = _past_blanks(buffer, at)
        if at >= len(buffer) and more():
            continue
        if buffer[at : at + 1] == "]" and number == 0:
            return
        try:
            element, end = parser.raw_decode(buffer, at)
            if (end >= len(buffer) or buffer[end] in _OF_NUMBERS) and more():
                # A number could continue, and what follows shows whether the array goes on.
                continue
        except RecursionError as error:
            raise DocumentError(
                f"Element {number + 1} is nested too deep.", where=where, remedy="Leave it out of the file."
            ) from error
        except ValueError as error:
            if len(buffer) - at > MOST_ELEMENT:
                raise DocumentError(
                    f"Element {number + 1} is longer than {MOST_ELEMENT >> 20} MB, or damaged.",
                    where=where,
                    remedy="Leave it out of the file.",
                ) from error
            if more():
                continue
            raise DocumentError(
                f"The file is damaged or cut off in element {number + 1}.",
                where=where,
                remedy="Export it once more; what comes before is read.",
            ) from error
        number += 1
        at = end
        yield element
        between = _BETWEEN.match(buffer, at)
        while between is None and more():
            between = _BETWEEN.match(buffer, at)
        if between is None:
            raise DocumentError(
                f"The file is damaged or cut off behind element {number}.",
                where=where,
                remedy="Export it once more; what comes before is read.",
            )
        if between[2]:
            return
        at = between.end()


def _past_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


@dataclass(frozen=True)
class ChatExport:
    """The conversations of an account.

    Args:
        place: A zip, its unpacked folder, or conversations.json.
        form: `chatgpt` or `claude`.
    """

    place: Path
    form: str

    @property
    def name(self) -> str:
        return slug(self.form)

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        try:
            with open_chat_export(self.place) as members:
                reading.total = sum(size for _, size, _ in members)
                for name, _, source in members:
                    yield from self._conversations(source, printable_path(name), reading)
        except WorkbenchError as error:
            yield Skipped(error.where or printable_path(self.place.name), error.told)
        except (
            zipfile.BadZipFile,
            EOFError,
            NotImplementedError,
            RuntimeError,
            ValueError,
            zlib.error,
        ) as error:
            yield Skipped(printable_path(self.place.name), f"The archive is damaged: {str(error)[:120]}.")

    def _conversations(self, source: Readable, where: str, reading: ReadingProgress) -> Iterator[Item]:
        def tell(count: int) -> None:
            reading.done += count

        read = _of_chatgpt if self.form == "chatgpt" else _of_claude
        for number, said in enumerate(elements(source, where, tell=tell), 1):
            part = _name_of(said) if isinstance(said, Mapping) else ""
            place = SourcePlace(where, part=part or f"conversation-{number}")
            if not isinstance(said, Mapping):
                yield Skipped(str(place), "This is no conversation.")
                continue
            turns = list(read(said))
            if not turns:
                yield Skipped(str(place), "Nobody says anything in it.")
                continue
            title = _title(said)
            yield from episodes_of(turns, place, reading.zone, title=title)


@contextmanager
def open_chat_export(place: Path) -> Iterator[list[tuple[str, int, Readable]]]:
    """Open the conversation files: name, size in bytes and readable of each.

    Raises:
        DocumentError: There are none, or the archive is unsafe.
    """
    with ExitStack() as stack:
        if place.is_dir():
            found = sorted(each for each in place.iterdir() if MEMBER.fullmatch(each.name))
            plain = [each for each in found if each.is_file() and not each.is_symlink()]
            yield [(each.name, each.stat().st_size, stack.enter_context(open_file(each))) for each in plain]
            return
        file = stack.enter_context(open_file(place))
        if not zipfile.is_zipfile(file):
            file.seek(0)
            yield [(place.name, place.stat().st_size, file)]
            return
        file.seek(0)
        archive = stack.enter_context(zipfile.ZipFile(file))
        members = members_of(archive, place)
        # Nothing is unpacked to disk, so names in the archive are harmless.
        yield [(each.filename, each.file_size, stack.enter_context(archive.open(each))) for each in members]


def members_of(archive: zipfile.ZipFile, place: Path) -> list[zipfile.ZipInfo]:
    """Return the conversation files of an archive.

    Raises:
        DocumentError: There are none, or the archive is unsafe.
    """
    every = archive.infolist()
    where = printable_path(place.name)
    if len(every) > _MOST_MEMBERS:
        raise DocumentError(f"The archive holds more than {_MOST_MEMBERS:,} files.", where=where)
    found = {each.filename: each for each in every if MEMBER.fullmatch(PurePosixPath(each.filename).name)}
    for member in found.values():
        ratio = member.file_size / max(1, member.compress_size)
        if member.file_size > _MOST_BYTES or (member.file_size > _SMALL and ratio > _MOST_RATIO):
            raise DocumentError(
                f"{printable_path(member.filename)} would unpack to {member.file_size >> 20:,} MB, "
                f"{ratio:,.0f} times its size.",
                where=where,
                remedy="No export of conversations does; unpack it yourself if you trust it.",
            )
        if member.flag_bits & 1:
            raise DocumentError(
                "The archive is locked with a password.", where=where, remedy="Unpack it first."
            )
    return [found[name] for name in sorted(found)]


def form_of(place: Path) -> str | None:
    """Return `chatgpt` or `claude`, or None for anything else."""
    try:
        with open_chat_export(place) as members:
            for _, _, source in members[:1]:
                beginning = source.read(1 << 18).decode("utf-8", "replace")
                if '"mapping"' in beginning:
                    return "chatgpt"
                if '"chat_messages"' in beginning:
                    return "claude"
                if re.match(r"\ufeff?\s*\[\s*\]", beginning):
                    return "chatgpt"
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error):
        return None
    return None


def _of_chatgpt(said: Mapping[str, Any]) -> Iterator[ImportedTurn]:
    mapping = said.get("mapping")
    if not isinstance(mapping, Mapping):
        return
    node, seen, path = said.get("current_node"), set(), []
    if not isinstance(node, str) or node not in mapping:
        node = _last_node(mapping)
    while isinstance(node, str) and node in mapping and node not in seen:
        seen.add(node)
        inner = mapping[node]
        if not isinstance(inner, Mapping):
            break
        path.append(inner.get("message"))
        node = inner.get("parent")
    for message in reversed(path):
        turn = _turn_of_chatgpt(message)
        if turn is not None:
            yield turn


def _last_node(mapping: Mapping[str, Any]) -> str | None:
    """Return the latest node without successors."""
    latest: tuple[float, str] | None = None
    for name, node in mapping.items():
        if not isinstance(node, Mapping) or node.get("children"):
            continue
        message = node.get("message")
        moment = moment_of(message.get("create_time")) if isinstance(message, Mapping) else None
        at = (moment.timestamp() if moment else 0.0, name)
        latest = at if latest is None else max(latest, at)
    return latest[1] if latest else None


def _turn_of_chatgpt(message: object) -> ImportedTurn | None:
    if not isinstance(message, Mapping):
        return None
    author, content, about = message.get("author"), message.get("content"), message.get("metadata")
    if not isinstance(author, Mapping) or not isinstance(content, Mapping):
        return None
    if isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation") is True:
        return None
    if content.get("content_type") not in ("text", "multimodal_text", None):
        return None
    if message.get("recipient", "all") not in ("all", None):
        return None
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    return _said(author.get("role"), "\n".join(texts), message.get("create_time"))


def _of_claude(said: Mapping[str, Any]) -> Iterator[ImportedTurn]:
    messages = said.get("chat_messages")
    for message in messages if isinstance(messages, list) else ():
        if not isinstance(message, Mapping):
            continue
        content = message.get("content")
        parts = content if isinstance(content, list) else []
        texts = [
            part["text"]
            for part in parts
            if isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str)
        ]
        text = "\n".join(texts) or message.get("text")
        turn = _said(message.get("sender"), text, message.get("created_at"))
        if turn is not None:
            yield turn


def _said(role: object, text: object, moment: object) -> ImportedTurn | None:
    if not isinstance(role, str) or role not in _SPEAKERS or not isinstance(text, str):
        return None
    clean = text.encode("utf-8", "replace").decode().replace("\0", "").strip()
    return ImportedTurn(_SPEAKERS[role], clean, moment_of(moment)) if clean else None


def _name_of(said: Mapping[str, Any]) -> str:
    for key in ("conversation_id", "id", "uuid"):
        given = said.get(key)
        if isinstance(given, str) and given:
            return printable_path(given)[:80]
    return ""


def _title(said: Mapping[str, Any]) -> str:
    for key in ("title", "name"):
        given = said.get(key)
        if isinstance(given, str) and given.strip():
            line = " ".join(printable_path(given).split())[:_LONGEST_TITLE]
            return f"Conversation “{line}”"
    return ""
