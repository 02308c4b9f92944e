"""What MEMORY.md said before OpenClaw consolidated it: the copies that it keeps in its database and shows nobody."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench.engine.errors import DocumentError, NotFound
from workbench.engine.importing.openclaw import curated_pieces
from workbench.engine.importing.opening import FoundFile, as_text, named, shown
from workbench.engine.importing.pieces import Item, Reading
from workbench.engine.importing.words import moment_of, slug
from workbench.engine.sessions.foreign_database import opened

DATABASE = "openclaw.sqlite"
_NAMESPACE = "dreaming-memory-backups"
_TABLE = "plugin_state_entries"
_MOST = 1_000
_MOST_BYTES = 8 << 20


@dataclass(frozen=True)
class PreImage:
    """One copy of MEMORY.md as it was.

    Args:
        number: 1 for the newest.
        created: When it was taken; None where that cannot be read.
        workspace: The folder that it was of; empty where nothing tells.
        content: All of it.
    """

    number: int
    created: datetime | None
    workspace: str
    content: str


def find_database(source: Path) -> Path:
    """Return the database with the copies: it itself, or that of a state folder.

    Raises:
        NotFound: There is none.
    """
    place = named(source)
    for each in (place, place / "state" / DATABASE, place / DATABASE, place.parent / "state" / DATABASE):
        if each.is_file() and each.suffix in (".sqlite", ".db"):
            return each
    raise NotFound(
        "There is no database with copies of MEMORY.md here.",
        where=shown(str(source)),
        remedy="Name OpenClaw’s state folder, ~/.openclaw, or its state/openclaw.sqlite.",
    )


def pre_images(database: Path) -> tuple[PreImage, ...]:
    """Return the copies, the newest first; what cannot be read of them is left out.

    Raises:
        DocumentError: It is no such database, or damaged.
        Locked: Its owner keeps it for itself.
    """
    with opened(database) as connection:
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({_TABLE})")}
        if not {"namespace", "value_json"} <= columns:
            raise DocumentError(
                "The database holds no copies of MEMORY.md as they are known.",
                where=shown(str(database)),
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
    """One copy, as something that can be imported.

    Args:
        image: The copy.
    """

    image: PreImage
    form: str = "pre-image"

    @property
    def name(self) -> str:
        stem = slug(Path(self.image.workspace).name) if self.image.workspace else "openclaw"
        return f"{stem}-before"

    def read(self, reading: Reading) -> Iterator[Item]:
        content = self.image.content
        reading.total = reading.done = len(content)
        changed = self.image.created or datetime.fromtimestamp(0, reading.zone)
        yield from curated_pieces(FoundFile(Path(), "MEMORY.md", len(content), changed), content, reading)


def choose(images: tuple[PreImage, ...], number: int, where: str) -> PreImage:
    """Return one of the copies.

    Raises:
        NotFound: There is none of that number.
    """
    for image in images:
        if image.number == number:
            return image
    many = f"There are {len(images)}" if images else "There is none"
    raise NotFound(
        f"There is no copy {number} of MEMORY.md.", where=where, remedy=f"{many}; see them with --pre-images."
    )
