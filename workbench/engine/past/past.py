"""Memory as of one commit: queried, compared with another commit, or written to a folder."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.catalog.file_rows import extract, title_of
from workbench.engine.errors import (
    Ambiguous,
    HistoryDamaged,
    InvalidInput,
    NotFound,
    OutsideWorkspace,
    StorageError,
)
from workbench.engine.history.commits import parse_message
from workbench.engine.history.git_store import SHORT, blob_hash
from workbench.engine.identifiers import MemoryId, parse_memory_id
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.markdown.entity import EntityFile
from workbench.engine.memory.core import view_core
from workbench.engine.memory.decay import DecayContext, is_archived
from workbench.engine.memory.lookup import show_memory
from workbench.engine.past.files import PastFiles, is_entity, read_entity_head
from workbench.engine.past.lookups import PastLookups, PastScores, neighbourhood
from workbench.engine.results.audit import (
    Comparison,
    Copied,
    FileChanged,
    MemoryChange,
    Moment,
    PastFile,
    PastScore,
)
from workbench.engine.results.graph import GraphView
from workbench.engine.results.memories import CoreView, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.history.git_store import Commit, GitStore
    from workbench.engine.markdown.source import LineSpan
    from workbench.engine.past.files import CatalogedFiles, Versions
    from workbench.engine.settings.sections import Settings

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)

_ORDER = {store: place for place, store in enumerate(("core", "episodic", "semantic", "procedural", "vault"))}
Pairs = Mapping[str, tuple[bytes | None, bytes | None]]


@dataclass(frozen=True, slots=True)
class PastMemory:
    """One memory in a version of a file.

    Args:
        text: The displayed text.
        compared: The text that decides whether two versions are the same.
        line: Its first line, 1-based.
    """

    id: str
    store: str
    title: str
    text: str
    compared: str
    line: int


def memories_in(path: str, content: bytes, zone: ZoneInfo) -> dict[str, PastMemory]:
    """Return the memories of a file by id, in file order.

    An entity’s facts and relations with a block id are separate memories, and the entity is unchanged if only they
    differ. Flat logs, other free text and the engine's files are one memory each.
    """
    if is_entity(path):
        return dict(_entity(path, content))
    if layout.store_of(path) == "file" or not path.endswith(".md"):
        text = content.decode("utf-8", "replace")
        return {f"file:{path}": PastMemory(f"file:{path}", "file", path.rsplit("/", 1)[-1], text, text, 1)}
    return {
        record.id: PastMemory(
            record.id, record.store, record.title, record.text, _compared(record.text), record.start_line
        )
        for record in extract(path, content, zone).memories
    }


def whole_entity(path: str, content: bytes) -> PastMemory:
    """Return an entity without its parts; faster than `memories_in`."""
    name = path.rsplit("/", 1)[1].removesuffix(".md")
    head = read_entity_head(content, name)
    if head is None:
        return next(unit for _, unit in _entity(path, content))
    text = content.decode("utf-8", "surrogateescape")
    return PastMemory(f"entity:{name}", "semantic", head.label, text, text, 1)


def _entity(path: str, content: bytes) -> Iterator[tuple[str, PastMemory]]:
    file = EntityFile.parse(content, path)
    entity = f"entity:{file.id}"
    parts: list[tuple[str | None, LineSpan, str]] = [
        (fact.block_id, fact.span, fact.text) for fact in (*file.facts, *file.retired)
    ]
    parts += [
        (each.block_id, each.span, f"{each.name}: {', '.join(each.targets)}") for each in file.relations
    ]
    named = sorted((part for part in parts if part[0]), key=lambda part: part[1].start)
    own = {line for _, span, _ in named for line in range(span.start, span.end + 1)}
    # A section is added and removed with its content.
    rest = "\n".join(
        line
        for number, line in enumerate(file.source.lines, start=1)
        if number not in own and line.strip() and not line.startswith("## ")
    )
    yield entity, PastMemory(entity, "semantic", file.label, file.source.text, _compared(rest), 1)
    for block, span, title in named:
        text = file.source.text_of(span)
        id_ = f"{entity}#^{block}"
        yield id_, PastMemory(id_, "semantic", title_of(title), text, _compared(text), span.start)


def _compared(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())


class Past:
    """Memory as of a commit, with answers shaped like the workspace's current ones.

    Reads lazily.

    Args:
        root: The workspace folder.
        store: The history.
        commit: The commit.
        asked: The time that was asked for; the commit's own if it was named.
        versions: The cache of file versions, shared with other commits.
        same: The catalog's knowledge of the current files.
        settings: The current ones; they give the cap of core memory and the decay constants.
        first_seen: When memories without a date of their own entered the history.
    """

    def __init__(
        self,
        root: Path,
        store: GitStore,
        commit: Commit,
        asked: datetime,
        *,
        versions: Versions,
        same: CatalogedFiles,
        settings: Settings,
        first_seen: Mapping[str, datetime],
    ) -> None:
        self._root = root
        self._store = store
        self._units: dict[str, dict[str, PastMemory]] = {}
        self._commit = commit
        self._asked = asked
        self._settings = settings
        self._zone: ZoneInfo = settings.zone
        self.files = PastFiles(store, commit.tree, versions, same)
        moment = commit.moment.astimezone(self._zone)
        self._scores = PastScores(self.files, first_seen, DecayContext(moment, self._zone, settings.decay))
        self.lookups = PastLookups(self.files, self._scores.is_archived)

    @property
    def commit(self) -> str:
        """The full hash of the commit."""
        return self._commit.id

    @property
    def timestamp(self) -> datetime:
        """The time of the commit, in UTC."""
        return self._commit.moment.astimezone(UTC)

    @cached_property
    def moment(self) -> Moment:
        """Return the commit with its list of files."""
        return self._moment(tuple([PastFile(path, size, blob) for path, size, blob in self.files.sized()]))

    def moment_of(self, path: str) -> Moment:
        """Return the commit with one file and its text.

        Raises:
            NotFound: There was no such file.
        """
        content, path = self.get(path), layout.normalise(path)
        file = PastFile(path, len(content), blob_hash(content), content.decode("utf-8", "replace"))
        return self._moment((file,))

    def _moment(self, files: tuple[PastFile, ...]) -> Moment:
        message = parse_message(self._commit)
        return Moment(self._asked, self._commit.id, self.timestamp, files, message.actor, message.summary)

    def core(self) -> CoreView:
        """Return core memory."""
        return view_core(self.files, self._settings)

    def get(self, path: str) -> bytes:
        """Return a file's bytes.

        Raises:
            NotFound: There was no such file.
        """
        content = self.files.read(path)
        if content is None:
            raise NotFound(
                f"There was no such file at {self._commit.id[:SHORT]}.",
                where=path,
                remedy=f"List what there was: workbench audit at {self._commit.id[:SHORT]}",
            )
        return content

    def copy_to(self, folder: Path) -> Copied:
        """Write every file to a folder outside the workspace.

        Args:
            folder: A new or empty folder.

        Raises:
            InvalidInput: The folder is not empty.
            OutsideWorkspace: It is in the workspace.
            StorageError: It cannot be written; nothing is left of it.
        """

        contents = (
            (path, self.files.versions.content(blob)) for path, blob in sorted(self.files.blobs.items())
        )
        count, size = export_files(folder, self._root, contents)
        return Copied(self._commit.id, str(folder), count, size)

    def show(self, id: str) -> Shown:  # noqa: A002 - the field's word
        """Return one memory with its provenance, validity, score and links at the time; without its history.

        Raises:
            NotFound: There was no such memory.
        """
        memory_id = self._named(id)
        record = self.lookups.memory(str(memory_id.whole))
        score = self._scores.of(record) if record else None
        if score is not None and memory_id.block and self._scores.is_archived(str(memory_id)):
            score = replace(score, value=0.0, status="archived")
        return show_memory(self.files, str(memory_id), self.lookups, self._zone, score=score)

    def graph(self, entity: str, *, depth: int = 1) -> GraphView:
        """Return an entity, by id or label, with its facts and neighbourhood.

        Raises:
            NotFound: There was no such entity.
        """
        if depth < 0:
            raise InvalidInput("A depth is 0 or more.", remedy="Ask for --depth 1.")
        view = neighbourhood(str(self._named(entity).whole), depth, self.lookups, self._scores)
        if view is None:
            raise NotFound(
                f"There was no entity “{entity}” at {self._commit.id[:SHORT]}.",
                remedy=f"See what there was: workbench audit at {self._commit.id[:SHORT]}",
            )
        return view

    def entities(self) -> Sequence[tuple[str, str]]:
        """Return id and label of every unmerged entity, by id."""
        return self.lookups.entities()

    def scores(self, ids: Sequence[str] | None = None) -> Sequence[PastScore]:
        """Return the scores at the time.

        Args:
            ids: Only these memories, which is fast; all by default.
        """
        if ids is None:
            return self._scores.all()
        found = ((record, self._scores.of(record)) for record in map(self.lookups.memory, ids) if record)
        return tuple(
            PastScore(record.id, record.store, record.title, score)
            for record, score in found
            if score is not None
        )

    def differing(self, other: Past) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return the contents of files that differ from another commit, here and there, by path."""
        read = self.files.versions.content
        return {
            change.path: (
                read(change.old_blob) if change.old_blob else None,
                read(change.new_blob) if change.new_blob else None,
            )
            for change in self._store.changed_paths(self._commit.tree, other._commit.tree)
        }

    def unit(self, memory_id: str) -> tuple[str, PastMemory] | None:
        """Return a memory's file and content, or None."""
        path = self.lookups.path_of(memory_id)
        content = self.files.read(path) if path else None
        if path is None or content is None:
            return None
        if path not in self._units:
            self._units = {path: memories_in(path, content, self._zone)}
        unit = self._units[path].get(memory_id)
        return (path, unit) if unit else None

    def _label(self, entity: str) -> str:
        known = self.lookups.entity(entity)
        return known.label.casefold() if known else ""

    def _named(self, name: str) -> MemoryId:
        """Return the id for a person’s words: an id, or an entity’s name at the time."""
        try:
            return parse_memory_id(name)
        except InvalidInput:
            wanted = name.strip().casefold()
            matches = [id_ for id_, label in self.entities() if label.casefold() == wanted]
            if not matches:
                merged = self.lookups.merges.kept().items()
                matches = sorted({keeper for id_, keeper in merged if self._label(id_) == wanted})
            if not matches:
                raise
            if len(matches) > 1:
                raise Ambiguous(
                    f"“{name}” may be {', '.join(matches[:5])}.", remedy="Name one of them."
                ) from None
            return parse_memory_id(matches[0])


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
            "Something stands there already.",
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
    handle = os.open(place, _NEW, 0o666)
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def compare_moments(
    pairs: Pairs,
    find: Callable[[str], tuple[str, PastMemory] | None],
    zone: ZoneInfo,
    ends: tuple[str | None, str | None],
) -> Comparison:
    """Return the differences between two commits.

    Args:
        pairs: The content of each differing file at the first and second commit, by path; None if absent.
        find: Returns a memory’s path and content at the second commit, for files that do not differ.
        zone: The time zone of dates and times in the files.
        ends: The two commits.
    """
    pairs = {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}
    files = tuple(
        FileChanged(path, "added" if before is None else "removed" if after is None else "changed")
        for path, (before, after) in sorted(pairs.items())
    )
    changes: dict[str, tuple[int, MemoryChange]] = {}
    for path, (before, after) in sorted(pairs.items()):
        if path == layout.DECAY_SCORES:
            continue
        for line, change in _changes(path, before, after, zone):
            changes.setdefault(change.id, (line, change))
    for change in _scored(pairs, find, changes.keys()):
        changes[change.id] = (0, change)
    ordered = sorted(
        changes.values(),
        key=lambda row: (_ORDER.get(row[1].store, len(_ORDER)), row[1].path, row[0], row[1].id),
    )
    return Comparison(*ends, files, tuple(change for _, change in ordered))


def _changes(
    path: str, before: bytes | None, after: bytes | None, zone: ZoneInfo
) -> Iterator[tuple[int, MemoryChange]]:
    content = after if before is None else before if after is None else None
    if content is not None and is_entity(path):
        # Its parts were added or removed with it.
        one = whole_entity(path, content)
        change, was, now = ("added", None, one.text) if before is None else ("removed", one.text, None)
        yield one.line, MemoryChange(one.id, one.store, path, one.title, change, was, now)
        return
    old = memories_in(path, before, zone) if before is not None else {}
    new = memories_in(path, after, zone) if after is not None else {}
    for id_ in dict.fromkeys((*new, *old)):
        earlier, later = old.get(id_), new.get(id_)
        told = later or earlier
        if told is None or (earlier and later and earlier.compared == later.compared):
            continue
        change = "added" if earlier is None else "removed" if later is None else "changed"
        yield (
            told.line,
            MemoryChange(
                id_,
                told.store,
                path,
                told.title,
                change,
                earlier.text if earlier else None,
                later.text if later else None,
            ),
        )


def _scored(
    pairs: Pairs, find: Callable[[str], tuple[str, PastMemory] | None], told: Collection[str]
) -> Iterator[MemoryChange]:
    """Yield the memories that were pinned, unpinned, archived or restored, with their former text."""
    before, after = pairs.get(layout.DECAY_SCORES, (None, None))
    if before == after:
        return
    old, new = _decided(before), _decided(after)
    for id_ in sorted({*old, *new}):
        if old.get(id_) == new.get(id_) or id_ in told:
            continue
        found = find(id_)
        if found is not None:
            path, unit = found
            yield MemoryChange(id_, unit.store, path, unit.title, "scored", unit.text, unit.text)


def _decided(content: bytes | None) -> dict[str, tuple[bool, bool]]:
    entries = DecayScores.parse(content or b"").entries
    decided = {id_: (entry.pinned, is_archived(entry)) for id_, entry in entries.items()}
    return {id_: each for id_, each in decided.items() if any(each)}
