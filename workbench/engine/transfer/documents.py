"""Documents written by people: Markdown, Obsidian vaults, plain text and PDF, split into passages."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from workbench.engine import layout
from workbench.engine.errors import DocumentError, WorkbenchError
from workbench.engine.file_access import printable_path
from workbench.engine.markdown.outline import read_headings
from workbench.engine.markdown.source import SourceText
from workbench.engine.transfer.source import (
    FoundFile,
    Item,
    Note,
    Piece,
    ReadingProgress,
    Skipped,
    SourcePlace,
    day_in,
    list_files,
    open_file,
    place_of,
    read_text,
    slug,
)
from workbench.engine.values import dataclass

PASSAGE_CHARACTERS = 1_600
_LONGEST = 12_000
SUFFIX = ".pdf"
MOST_BYTES = 200 << 20
MOST_PAGES = 3_000
MOST_CHARACTERS = 8 << 20
MARKDOWN = (".md", ".markdown", ".mdown")
TEXT = (".txt", ".text", ".log", ".rst", ".org")
_TEMPLATES = ("templates/", "_templates/")


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive lines of a document that belong together.

    Args:
        text: Without the headings above.
        first: First line, 1-based.
        headings: Those above, outermost first.
    """

    text: str
    first: int
    last: int
    headings: tuple[str, ...] = ()


def front_matter(text: str) -> tuple[dict[str, str], int]:
    """Return the scalar keys of a document's front matter and its number of lines; ({}, 0) without any."""
    lines = text.split("\n", 200)
    if lines[0].rstrip() != "---":
        return {}, 0
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() in ("---", "..."):
            keys: dict[str, str] = {}
            for said in lines[1:number]:
                key, colon, value = said.partition(":")
                if colon and key.strip() == key and key:
                    keys[key.lower()] = value.strip().strip("\"'")
            return keys, number + 1
    return {}, 0


def passages_of(text: str) -> Iterator[Passage]:
    r"""Split a Markdown document at headings, and long sections at blank lines.

    Args:
        text: The whole document, with line ends `\n`.
    """
    lines = text.split("\n")
    _, skip = front_matter(text)
    found = read_headings(SourceText.from_bytes(text.encode("utf-8", "surrogatepass")))
    headings = [heading for heading in found if heading.span.start > skip]
    starts = [heading.span.start for heading in headings]
    above: list[tuple[int, str]] = []
    end = starts[0] - 1 if starts else len(lines)
    yield from _section(lines, skip + 1, end, ())
    for at, heading in enumerate(headings):
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, heading.text.strip()))
        end = starts[at + 1] - 1 if at + 1 < len(starts) else len(lines)
        titles = tuple(title for _, title in above if title)
        below = list(_section(lines, heading.span.end + 1, end, titles))
        yield from below
        deeper = at + 1 < len(headings) and headings[at + 1].level > heading.level
        if not below and not deeper and heading.text.strip():
            yield Passage(" › ".join(titles), heading.span.start, heading.span.end, titles[:-1])


def _section(lines: list[str], first: int, last: int, headings: tuple[str, ...]) -> Iterator[Passage]:
    start, size = first, 0
    fenced = False
    for number in range(first, last + 1):
        line = lines[number - 1]
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        size += len(line) + 1
        long_enough = size >= PASSAGE_CHARACTERS and not line.strip() and not fenced
        if long_enough or size >= _LONGEST:
            yield from _passage(lines, start, number, headings)
            start, size = number + 1, 0
    yield from _passage(lines, start, last, headings)


def _passage(lines: list[str], first: int, last: int, headings: tuple[str, ...]) -> Iterator[Passage]:
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    if first > last:
        return
    body = "\n".join(lines[first - 1 : last])
    head = " › ".join(headings)
    whole = f"{head}\n{body}" if head else body
    # A single line can be too long for a memory.
    for at in range(0, len(whole), _LONGEST):
        yield Passage(whole[at : at + _LONGEST], first, last, headings)


def read_pdf(found: FoundFile) -> str:
    """Return the text of a PDF as Markdown, each page under a heading.

    Raises:
        DocumentError: pypdf is not installed; the file is damaged, locked, too long or without text.
    """
    where = printable_path(found.relative)
    if found.size > MOST_BYTES:
        raise DocumentError(
            f"It is longer than {MOST_BYTES >> 20} MB.", where=where, remedy="Part it into several documents."
        )
    with open_file(found.place) as opened:
        pages = _pages(opened, where)
    if not any(page.strip() for page in pages):
        raise DocumentError(
            "There is no text in it, only pictures.",
            where=where,
            remedy="Let a program recognise its text first.",
        )
    parts = [f"## Page {number}\n\n{page.strip()}" for number, page in enumerate(pages, 1) if page.strip()]
    return "\n\n".join(parts) + "\n"


def _pages(opened: BinaryIO, where: str) -> list[str]:
    try:
        import pypdf
        from pypdf.errors import PyPdfError
    except ImportError as error:
        raise DocumentError(
            "Reading PDF needs a library that is not installed.",
            where=where,
            remedy="Install it with: pip install 'memory-workbench[pdf]'",
        ) from error
    # pypdf warns of every oddity of every file; only the result matters.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    pages: list[str] = []
    size = 0
    try:
        reader = pypdf.PdfReader(opened)
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError("It is locked with a password.", where=where, remedy="Unlock it first.")
        if len(reader.pages) > MOST_PAGES:
            raise DocumentError(
                f"It has more than {MOST_PAGES:,} pages.",
                where=where,
                remedy="Part it into several documents.",
            )
        for page in reader.pages:
            text = page.extract_text().encode("utf-8", "replace").decode().replace("\0", "")
            size += len(text)
            if size > MOST_CHARACTERS:
                raise DocumentError(
                    f"It holds more than {MOST_CHARACTERS >> 20} million characters.",
                    where=where,
                    remedy="Part it into several documents.",
                )
            pages.append(text)
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        OSError,
    ) as error:
        raise DocumentError(
            f"It is damaged: {str(error)[:120] or type(error).__name__}.",
            where=where,
            remedy="Export it again.",
        ) from error
    return pages


@dataclass(frozen=True)
class Documents:
    """Documents of a folder, or a single one.

    Args:
        place: The folder or file.
        form: `markdown`, `obsidian`, `text` or `pdf`.
    """

    place: Path
    form: str

    @property
    def name(self) -> str:
        return slug(self.place.stem if self.place.is_file() else self.place.name)

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        found, skipped = list_files(self.place, is_document, own=reading.own)
        yield from skipped
        reading.total = sum(each.size for each in found)
        taken: set[str] = set()
        for each in found:
            yield from self._note(each, taken)
            reading.done += each.size

    def _note(self, found: FoundFile, taken: set[str]) -> Iterator[Item]:
        if self.form == "obsidian" and found.relative.lower().startswith(_TEMPLATES):
            yield Skipped(str(place_of(found)), "It is a template.")
            return
        try:
            text = read_pdf(found) if found.relative.lower().endswith(SUFFIX) else read_text(found)
        except WorkbenchError as error:
            yield Skipped(str(place_of(found)), error.told)
            return
        if not text.strip():
            yield Skipped(str(place_of(found)), "It is empty.")
            return
        path = note_path(found.relative)
        if path in taken:
            yield Skipped(str(place_of(found)), f"Another document is kept as {path} already.")
            return
        taken.add(path)
        yield Note(path, text, place_of(found), _moment(text, found))


def note_path(relative: str) -> str:
    """Return the path of an imported document, below the folder of its import.

    Args:
        relative: Its POSIX path below the named folder; no part of it can lead elsewhere.
    """
    parts = [part for part in relative.split("/") if part not in ("", ".", "..")] or ["-"]
    cleaned = [
        "".join(c if c.isprintable() and c not in '\\:*?"<>|#^[]' else "-" for c in part) for part in parts
    ]
    cleaned = [part.strip().lstrip(".") or "-" for part in cleaned]
    stem, dot, suffix = cleaned[-1].rpartition(".")
    if f"{dot}{suffix}".lower() in (*MARKDOWN, *TEXT, SUFFIX):
        cleaned[-1] = stem
    # File systems take names of 255 bytes; the rest of the path needs room too.
    short = [part.encode()[:120].decode("utf-8", "ignore").rstrip() or "-" for part in cleaned]
    return "/".join(short[-12:]) + ".md"


def pieces_of(note: Note) -> Iterator[Piece]:
    """Split a note into pieces to be remembered separately."""
    keys, _ = front_matter(note.text)
    named = [part.strip(" []\"'#") for part in keys.get("tags", "").split(",")]
    title = keys.get("title") or PurePosixPath(note.path).stem
    for passage in passages_of(note.text):
        text = passage.text if passage.headings else f"{title}\n{passage.text}"
        yield Piece(
            text,
            SourcePlace(note.place.file, passage.first, passage.last, note.place.part),
            note.moment,
            type="fact",
            tags=tuple(tag for tag in named if tag),
        )


def is_document(relative: str) -> bool:
    """Return whether a file name is that of a document."""
    return relative.lower().endswith((*MARKDOWN, *TEXT, SUFFIX))


def _moment(text: str, found: FoundFile) -> datetime:
    keys, _ = front_matter(text)
    for key in ("date", "created", "updated"):
        day = day_in(keys.get(key, ""))
        if day is not None:
            return datetime.combine(day, time(12), found.changed.tzinfo)
    day = layout.day_in_name(found.relative)
    return datetime.combine(day, time(12), found.changed.tzinfo) if day else found.changed
