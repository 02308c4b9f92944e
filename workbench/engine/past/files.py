"""The files of one commit, cached by blob, the catalog's knowledge of the unchanged ones, and a copy in a folder."""

from __future__ import annotations

import builtins
import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from workbench.engine import layout
from workbench.engine.catalog.catalog import Catalog
from workbench.engine.catalog.file_rows import FileRows, extract, moment_of
from workbench.engine.catalog.graph import json_list
from workbench.engine.errors import HistoryDamaged, InvalidInput, OutsideWorkspace, StorageError
from workbench.engine.identifiers import entity_name, linked_entity
from workbench.engine.markdown.statements import ACCESS_KEYS, WrittenAccesses
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path
    from zoneinfo import ZoneInfo

    from workbench.engine.history.git_store import GitStore

# A plain title, and one comment below it.
_PLAIN = lazy_pattern(rb"# ([^\n\r\t\\`*_\[\]<>&!#~]+)\n+<!-- ([^\n\r<>]*) -->\n")
MERGED = lazy_pattern(rb"merged\s*into", re.IGNORECASE)
_WIDE_COLON = "："
_MOST_LABEL = 200

# Neighbouring commits share nearly all of their contents.
_MOST_BYTES = 16_000_000
_MOST_ROWS = 4_000
_LINK = lazy_pattern(rb"\[\[([^\[\]|#]+)")

T = TypeVar("T")
# While a workspace is read for the first time, the catalog changes constantly and no answer is complete.
_MOST_ATTEMPTS = 5


class PastFiles:
    """A `FileView` of a commit that also identifies the version of each file.

    Args:
        tree: The commit’s root tree.
        versions: Reads contents.
        same: The catalog's knowledge of the current files.
    """

    def __init__(self, store: GitStore, tree: str, versions: Versions, same: CatalogedFiles) -> None:
        self._store = store
        self._tree = tree
        self.versions = versions
        self.same = same
        self._differing: tuple[Hashable, Mapping[str, str]] | None = None

    @cached_property
    def blobs(self) -> Mapping[str, str]:
        """The blob hash of each file, by path."""
        return self._store.tree_files(self._tree)

    @cached_property
    def paths(self) -> list[str]:
        """The path of every file, sorted."""
        return sorted(self.blobs)

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None if there was no such file."""
        blob = self.blob(layout.normalise(path))
        return self.versions.content(blob) if blob else None

    def list(self, folder: str) -> builtins.list[str]:
        """Return the paths below a folder (`""` for the whole workspace), sorted."""
        prefix = f"{layout.normalise(folder)}/" if folder else ""
        return [path for path in self.paths if path.startswith(prefix)]

    def blob(self, path: str) -> str | None:
        """Return a file's blob hash, or None if there was no such file."""
        return self._store.tree_blob(self._tree, path)

    def rows(self, path: str) -> FileRows | None:
        """Return the parsed content of a file; None if there was no such file."""
        blob = self.blob(path)
        return self.versions.rows(path, blob) if blob else None

    def unchanged(self, question: str, *values: str) -> builtins.list[tuple[Any, ...]]:
        """Return the catalog's rows of the files that read the same in this commit.

        Args:
            question: A query for path, blob (20 bytes) and what is wanted, for files that were read completely.
            values: Bound to it.

        Returns:
            What is wanted.
        """
        blobs = self.blobs.get
        return [row[2:] for row in self.same.rows(question, values) if blobs(row[0]) == row[1].hex()]

    def outlines(self, stores: Collection[str]) -> builtins.list[MemoryOutline]:
        """Return every memory of some stores in the files that read the same, in order within each file."""
        rows = self.unchanged(
            # As all columns are read: a table scan is faster than an index.
            "SELECT m.path, blob, m.path, m.id, store, title, source, moment, pinned, used FROM memories m NOT INDEXED"
            " JOIN files f ON f.number = m.file WHERE blob IS NOT NULL"
            " AND store IN (SELECT value FROM json_each(?)) ORDER BY m.path, start_line, m.number",
            json_list(sorted(stores)),
        )
        moments = {text: datetime.fromisoformat(text) if text else None for text in {row[5] for row in rows}}
        return [
            MemoryOutline._make(
                (*row[:5], moments[row[5]], row[6] == 1, WrittenAccesses.read(row[7]) if row[7] else None)
            )
            for row in rows
        ]

    def differing(self) -> Mapping[str, str]:
        """Return the files whose content the catalog does not know: blob hash by path.

        The same mapping is returned until the catalog changes.
        """
        files = self.same.known()
        told = self._differing
        if told is None or told[0] != files.version:
            known = files.blobs
            found = {
                path: blob
                for path, blob in self.blobs.items()
                if (same := known.get(path)) is None or same.hex() != blob
            }
            told = self._differing = (files.version, found)
        return told[1]

    def sized(self) -> builtins.list[tuple[str, int, str]]:
        """Return path, size in bytes and blob hash of every file, by path."""
        known = self.same.known()
        blobs, sizes = known.blobs.get, known.sizes
        found = []
        for path, blob in sorted(self.blobs.items()):
            same = blobs(path)
            is_known = same is not None and same.hex() == blob
            found.append((path, sizes[path] if is_known else self._store.blob_size(blob), blob))
        return found


def is_entity(path: str) -> bool:
    return path.startswith(f"{layout.ENTITIES}/") and path.endswith(".md")


class EntityHead(NamedTuple):
    """The beginning of an entity's file.

    Args:
        created: As written, `2026-01-15`; empty if missing.
    """

    label: str
    created: str
    pinned: bool


def read_entity_head(content: bytes, entity: str) -> EntityHead | None:
    """Return the head of an entity that was not merged; None if that needs a full parse.

    Args:
        content: Its file, as written by the engine.
        entity: Its id, `type--slug`.
    """
    match = _PLAIN.match(content)
    if match is None or content.count(b"<!--") > 1 or MERGED.search(content):
        return None
    try:
        title, comment = match[1].decode().strip(), match[2].decode()
    except UnicodeDecodeError:
        return None
    if _WIDE_COLON in comment:
        return None
    fields = {}
    for part in comment.split("|"):
        key, _, value = part.partition(":")
        if value.strip():
            fields[key.strip().lower()] = value.strip()
    label = fields.get("label", title)
    if ACCESS_KEYS & fields.keys():
        return None
    if not label or label == entity or len(label) > _MOST_LABEL or not label.isprintable():
        return None
    return EntityHead(label, fields.get("created", ""), fields.get("pinned", "").lower() in ("yes", "true"))


class NamedEntity(NamedTuple):
    """An entity in a version of its file, without its content."""

    id: str
    label: str
    moment: datetime | None
    pinned: bool
    used: WrittenAccesses | None = None


class Versions:
    """A cache of file versions.

    Args:
        zone: The time zone of dates and times in the files.
    """

    def __init__(self, store: GitStore, zone: ZoneInfo) -> None:
        self._store = store
        self._zone = zone
        self._contents: dict[str, bytes] = {}
        self._bytes = 0
        self._rows: dict[tuple[str, str], FileRows] = {}
        self._linked: dict[str, tuple[str, ...]] = {}
        self._merged: dict[tuple[str, str], dict[str, str]] = {}
        self._named: dict[tuple[str, str], NamedEntity | None] = {}

    def content(self, blob: str) -> bytes:
        """Return a version's bytes.

        Raises:
            HistoryDamaged: It is missing or broken.
        """
        known = self._contents.get(blob)
        if known is None:
            known = self._store.read_blob(blob)
            if self._bytes + len(known) > _MOST_BYTES:
                self._contents, self._bytes = {}, 0
            self._contents[blob] = known
            self._bytes += len(known)
        return known

    def rows(self, path: str, blob: str) -> FileRows:
        """Return the parsed content of a version."""
        known = self._rows.get((path, blob))
        if known is None:
            if len(self._rows) >= _MOST_ROWS:
                self._rows = {}
            known = self._rows[path, blob] = extract(path, self.content(blob), self._zone)
        return known

    def linked(self, blob: str) -> tuple[str, ...]:
        """Return the distinct entities (`type--slug`) that a version's `[[wikilinks]]` name."""
        known = self._linked.get(blob)
        if known is None:
            names = set(_LINK.findall(self.content(blob)))
            known = self._linked[blob] = tuple(linked_entity(name.decode(errors="replace")) for name in names)
        return known

    def merged(self, path: str, blob: str) -> dict[str, str]:
        """Return the targets into which the entities of a version were merged, by id."""
        known = self._merged.get((path, blob))
        if known is None:
            is_merged = MERGED.search(self.content(blob)) is not None
            known = self._merged[path, blob] = self.rows(path, blob).merged_into if is_merged else {}
        return known

    def named(self, path: str, blob: str) -> NamedEntity | None:
        """Return the entity in a version of its file; None if it was merged into another."""
        try:
            return self._named[path, blob]
        except KeyError:
            pass
        stem = path.rsplit("/", 1)[1].removesuffix(".md")
        name = entity_name(stem)
        # The front matter or the name of a note counts too.
        head = read_entity_head(self.content(blob), name) if name == stem else None
        if head is not None:
            found: NamedEntity | None = NamedEntity(
                f"entity:{name}", head.label, moment_of(head.created, "00:00", self._zone), head.pinned
            )
        else:
            records = self.rows(path, blob).memories
            found = next(
                (NamedEntity(one.id, one.title, one.moment, one.pinned, one.used) for one in records), None
            )
        self._named[path, blob] = found
        return found


@dataclass(frozen=True)
class KnownFiles:
    """The files that the catalog has read.

    Args:
        version: The catalog's; another version may know other files.
        blobs: Blob hash (20 bytes) by path.
        sizes: Bytes by path.
    """

    version: Hashable
    blobs: Mapping[str, bytes]
    sizes: Mapping[str, int]


class MemoryOutline(NamedTuple):
    """A memory without its text."""

    path: str
    id: str
    store: str
    title: str
    source: str
    moment: datetime | None
    pinned: bool
    used: WrittenAccesses | None


class CatalogedFiles:
    """What the catalog knows of the current files, with the version of each."""

    def __init__(self, catalog: Catalog) -> None:
        self.rows = catalog.rows
        self._catalog = catalog
        self._known: KnownFiles | None = None

    def known(self) -> KnownFiles:
        """Return the files that the catalog has read completely."""
        version = self._catalog.version()
        if self._known is None or self._known.version != version:
            rows = self._catalog.rows("SELECT path, blob, size FROM files WHERE blob IS NOT NULL")
            blobs = {path: blob for path, blob, _ in rows}
            self._known = KnownFiles(version, blobs, {path: size for path, _, size in rows})
        return self._known

    def whole(self) -> list[tuple[Any, ...]]:
        """Return every memory as it reads now: path, blob of the file, id, store, title, text, first line."""
        return self.rows(
            "SELECT m.path, blob, m.id, store, title, text, start_line FROM memories m"
            " JOIN files f ON f.number = m.file"
            " WHERE blob IS NOT NULL AND secrets = '' AND store <> 'file' ORDER BY m.number"
        )

    def settled(self, ask: Callable[[], T]) -> T:
        """Return the answer of several queries, repeated if the catalog changed between them.

        Otherwise a file that changes meanwhile could be missing from all of them.
        """
        for _ in range(_MOST_ATTEMPTS):
            version = self._catalog.version()
            answer = ask()
            if self._catalog.version() == version:
                break
        return answer


def export_files(target: Path, root: Path, files: Iterable[tuple[str, bytes]]) -> tuple[int, int]:
    """Write files into a folder, all or nothing.

    Args:
        target: A new or empty folder.
        root: The workspace folder, in which no copy may be made.
        files: Relative paths with contents.

    Returns:
        The number of files and of bytes.

    Raises:
        InvalidInput: The target is not empty.
        OutsideWorkspace: The target is in the workspace.
        HistoryDamaged: A path leads out of the folder.
        StorageError: It cannot be written.
    """
    # Links on the way to the folder are the person's own; the real location counts.
    place = target.parent.resolve() / target.name
    real_root = root.resolve()
    if place == real_root or real_root in place.parents:
        raise OutsideWorkspace(
            "A copy cannot be made inside the workspace, where it would be memory itself.",
            where=str(target),
            remedy="Name a new folder elsewhere.",
        )
    _require_free(place, target)
    made = place.with_name(f".{place.name}.workbench-{secrets.token_hex(6)}")
    count = size = 0
    try:
        made.mkdir(parents=True)
        for path, content in files:
            _write(made / _checked(path), content)
            count += 1
            size += len(content)
        made.rename(place)
    except OSError as error:
        raise StorageError(
            f"The copy cannot be written: {error.strerror or error}.",
            where=str(target),
            remedy="Free some space, or name a folder that you may write.",
        ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return count, size


def _require_free(place: Path, target: Path) -> None:
    try:
        is_free = not os.path.lexists(place) or (
            place.is_dir() and not place.is_symlink() and not any(place.iterdir())
        )
    except OSError as error:
        raise StorageError(
            f"This folder cannot be read: {error.strerror or error}.",
            where=str(target),
            remedy="Name a folder that you may write.",
        ) from error
    if not is_free:
        raise InvalidInput(
            "There is something there already.",
            where=str(target),
            remedy="Name a new folder, or an empty one.",
        )


def _checked(path: str) -> str:
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise HistoryDamaged(
            "The history names a file outside the workspace.",
            where=path,
            remedy="Look with: workbench audit verify",
        )
    return path


def _write(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("xb") as file:
        file.write(content)
