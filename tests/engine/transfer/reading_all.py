"""Reads a foreign source to its end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from zoneinfo import ZoneInfo

from workbench.engine.transfer.recognition import open_source
from workbench.engine.transfer.source import Item, Note, Piece, ReadingProgress, Skipped, StoredFile

ZONE = ZoneInfo("Europe/Stockholm")


def read_all(place: Path, form: str | None = None) -> list[Item]:
    return list(open_source(place, form).read(ReadingProgress(ZONE)))


def pieces(items: list[Item]) -> list[Piece]:
    return [item for item in items if isinstance(item, Piece)]


def notes(items: list[Item]) -> list[Note]:
    return [item for item in items if isinstance(item, Note)]


def files(items: list[Item]) -> list[StoredFile]:
    return [item for item in items if isinstance(item, StoredFile)]


def skipped(items: list[Item]) -> dict[str, str]:
    return {item.where: item.reason for item in items if isinstance(item, Skipped)}


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Lay out a folder."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder
