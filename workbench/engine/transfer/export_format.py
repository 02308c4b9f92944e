"""The export format: JSON Lines, or a plain folder with a list of its files; the only place that reads or writes it.

A line of kind `file` holds one file of the workspace verbatim; only these lines are read back. A line of kind `memory`
describes one memory for other programs.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any

from workbench.engine import layout
from workbench.engine.errors import WorkbenchError
from workbench.engine.file_access import printable_path
from workbench.engine.transfer.source import (
    MANIFEST,
    Item,
    ReadingProgress,
    Skipped,
    SourcePlace,
    StoredFile,
    list_files,
    open_file,
    read_beginning,
    slug,
)
from workbench.engine.values import dataclass

FORMAT = "workbench-export"
VERSION = 1
_MOST_LINE = 64 << 20
_MOST_HEADER = 1 << 16


def export_header(*, name: str, timezone: str, moment: str, files: int) -> dict[str, Any]:
    """Return the first line of an export."""
    return {
        "kind": FORMAT,
        "version": VERSION,
        "workspace": name,
        "timezone": timezone,
        "exported": moment,
        "files": files,
    }


def file_line(path: str, content: bytes) -> dict[str, Any]:
    """Return the line of one file, from which `read_line` restores it byte for byte."""
    try:
        return {"kind": "file", "path": path, "text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"kind": "file", "path": path, "base64": base64.b64encode(content).decode("ascii")}


def other_zone(header_line: bytes, zone: tzinfo, where: str) -> Skipped | None:
    """Report an export from another time zone, since settings are not imported; None if the zones agree."""
    try:
        said = json.loads(header_line)
    except (ValueError, RecursionError):
        return None
    given = said.get("timezone") if isinstance(said, Mapping) and said.get("kind") == FORMAT else None
    if not isinstance(given, str) or given in ("", str(zone)):
        return None
    return Skipped(
        where,
        f"The export’s days and times are those of {printable_path(given[:60])}, "
        f"here they are read as those of {zone}. "
        "To keep them as they were, give the setting “timezone” the same value.",
    )


def read_line(line: bytes, number: int, where: str) -> StoredFile | Skipped | None:
    """Parse one line; None if it holds no file."""
    place = SourcePlace(where, number, number)
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return Skipped(str(place), "This is no JSON.")
    if not isinstance(said, Mapping) or said.get("kind") != "file":
        return None
    path, text, coded = said.get("path"), said.get("text"), said.get("base64")
    try:
        if isinstance(path, str) and isinstance(text, str):
            return StoredFile(path, text.encode("utf-8"), place)
        if isinstance(path, str) and isinstance(coded, str):
            return StoredFile(path, base64.b64decode(coded, validate=True), place)
    except (UnicodeEncodeError, binascii.Error, ValueError):
        pass
    return Skipped(str(place), "This line holds no file that can be read.")


@dataclass(frozen=True)
class ExportedLines:
    """An export in a single file."""

    place: Path
    form: str = "workbench"

    @property
    def name(self) -> str:
        return slug(self.place.stem)

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        reading.total = self.place.stat().st_size
        where = printable_path(self.place.name)
        with open_file(self.place) as opened:
            number, held = 0, False
            while line := opened.readline(_MOST_LINE):
                number += 1
                reading.done += len(line)
                if len(line) == _MOST_LINE and not line.endswith(b"\n"):
                    yield Skipped(
                        str(SourcePlace(where, number)), f"This line is longer than {_MOST_LINE >> 20} MB."
                    )
                    while (rest := opened.readline(1 << 20)) and not rest.endswith(b"\n"):
                        reading.done += len(rest)
                    continue
                found = read_line(line, number, where)
                if number == 1 and found is None:
                    found = other_zone(line, reading.zone, str(SourcePlace(where, number)))
                held = held or isinstance(found, StoredFile)
                if found is not None:
                    yield found
        if not held:
            told = "It holds no files, which alone are read back. Export it again without “--only memories”."
            yield Skipped(where, told)


@dataclass(frozen=True)
class ExportedFolder:
    """An export as a folder, or the folder of a workspace itself."""

    place: Path
    form: str = "workbench"

    @property
    def name(self) -> str:
        return slug(self.place.name)

    def read(self, reading: ReadingProgress) -> Iterator[Item]:
        found, skipped = list_files(self.place, _is_exported, own=reading.own)
        yield from skipped
        reading.total = sum(each.size for each in found)
        manifest = self.place / MANIFEST
        if manifest.is_file() and not manifest.is_symlink():
            with open_file(manifest) as opened:
                told = other_zone(opened.read(_MOST_HEADER), reading.zone, MANIFEST)
            if told is not None:
                yield told
        for each in found:
            try:
                with open_file(each.place) as opened:
                    content = opened.read(_MOST_LINE + 1)
            except WorkbenchError as error:
                yield Skipped(printable_path(each.relative), error.told)
                continue
            reading.done += each.size
            if len(content) > _MOST_LINE:
                yield Skipped(printable_path(each.relative), f"It is longer than {_MOST_LINE >> 20} MB.")
                continue
            yield StoredFile(each.relative, content, SourcePlace(printable_path(each.relative)))


def _is_exported(path: str) -> bool:
    return layout.is_memory_file(path) and path not in layout.PROJECTIONS


def is_export(place: Path) -> bool:
    """Return whether a file begins like an export."""
    first = read_beginning(place).partition(b"\n")[0]
    try:
        said = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, Mapping) and said.get("kind") == FORMAT
