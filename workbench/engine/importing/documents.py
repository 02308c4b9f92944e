"""Documents that people wrote: folders of Markdown, Obsidian vaults, plain text; each becomes a note."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path, PurePosixPath

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError
from workbench.engine.importing.opening import FoundFile, place_of, read_text, single, walk
from workbench.engine.importing.passages import front_matter, passages_of
from workbench.engine.importing.pdf import SUFFIX, read_pdf
from workbench.engine.importing.pieces import Item, Note, Piece, Place, Reading, Skipped
from workbench.engine.importing.words import day_in, slug

MARKDOWN = (".md", ".markdown", ".mdown")
TEXT = (".txt", ".text", ".log", ".rst", ".org")
_TEMPLATES = ("templates/", "_templates/")


@dataclass(frozen=True)
class Documents:
    """Documents of a folder, or one of them.

    Args:
        place: The folder or file.
        form: `markdown`, `obsidian`, `text` or `pdf`.
    """

    place: Path
    form: str

    @property
    def name(self) -> str:
        return slug(self.place.stem if self.place.is_file() else self.place.name)

    def read(self, reading: Reading) -> Iterator[Item]:
        found: list[FoundFile] = []
        if self.place.is_file():
            found.append(single(self.place))
        else:
            for each in walk(self.place, is_document, own=reading.own):
                if isinstance(each, Skipped):
                    yield each
                else:
                    found.append(each)
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
    """Return the path at which a document is kept, below the folder of its import.

    Args:
        relative: Its POSIX path below what was named; no part of it leads anywhere else.
    """
    parts = [part for part in relative.split("/") if part not in ("", ".", "..")] or ["-"]
    cleaned = [
        "".join(c if c.isprintable() and c not in '\\:*?"<>|#^[]' else "-" for c in part) for part in parts
    ]
    cleaned = [part.strip().lstrip(".") or "-" for part in cleaned]
    stem, dot, suffix = cleaned[-1].rpartition(".")
    if f"{dot}{suffix}".lower() in (*MARKDOWN, *TEXT, SUFFIX):
        cleaned[-1] = stem
    # Names of 255 bytes are what file systems take; the rest of a path needs room as well.
    short = [part.encode()[:120].decode("utf-8", "ignore").rstrip() or "-" for part in cleaned]
    return "/".join(short[-12:]) + ".md"


def pieces_of(note: Note, *, tags: tuple[str, ...] = ()) -> Iterator[Piece]:
    """Cut a note into pieces that can be remembered one by one."""
    keys, _ = front_matter(note.text)
    named = [part.strip(" []\"'#") for part in keys.get("tags", "").split(",")]
    title = keys.get("title") or PurePosixPath(note.path).stem
    for passage in passages_of(note.text):
        text = passage.text if passage.headings else f"{title}\n{passage.text}"
        yield Piece(
            text,
            Place(note.place.file, passage.first, passage.last, note.place.part),
            note.moment,
            type="fact",
            tags=(*tags, *(tag for tag in named if tag)),
        )


def is_document(relative: str) -> bool:
    """Tell whether a file of this name is a document."""
    return relative.lower().endswith((*MARKDOWN, *TEXT, SUFFIX))


def _moment(text: str, found: FoundFile) -> datetime:
    keys, _ = front_matter(text)
    for key in ("date", "created", "updated"):
        day = day_in(keys.get(key, ""))
        if day is not None:
            return datetime.combine(day, time(12), found.changed.tzinfo)
    day = layout.day_in_name(found.relative)
    return datetime.combine(day, time(12), found.changed.tzinfo) if day else found.changed
