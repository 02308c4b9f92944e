"""Memory as one commit held it, read on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from workbench.engine import layout
from workbench.engine.decay.records import Reckoning
from workbench.engine.errors import Ambiguous, InvalidInput, NotFound
from workbench.engine.history.commit_message import parse_message
from workbench.engine.history.git_store import SHORT, blob_hash
from workbench.engine.identifiers import MemoryId, parse_memory_id
from workbench.engine.past.files import PastFiles
from workbench.engine.past.lookups import PastLookups
from workbench.engine.past.neighbourhood import neighbourhood
from workbench.engine.past.scores import PastScores
from workbench.engine.past.units import Unit, units_of
from workbench.engine.results.core import CoreView
from workbench.engine.results.graph import GraphView
from workbench.engine.results.memories import Shown
from workbench.engine.results.past import Copied, Moment, PastFile, PastScore
from workbench.engine.stores.core import view_core
from workbench.engine.stores.show import show_memory

if TYPE_CHECKING:
    from workbench.engine.catalog.same_files import SameFiles
    from workbench.engine.history.git_store import Commit, GitStore
    from workbench.engine.past.versions import Versions
    from workbench.engine.settings.sections import Settings


class Past:
    """Memory as it was; what its methods answer is shaped as the workspace’s own answers about now.

    Reads no more of the commit than each question needs.

    Args:
        root: The workspace folder.
        store: The history.
        commit: What is looked at.
        asked: The time that was asked for; the commit's own where it was named.
        versions: Reads contents, and remembers them for the next moment.
        same: What the catalog knows of the files as they are now.
        settings: As they are now; the cap of core memory and the constants of decay come from them.
        first_seen: When memories that do not say so themselves came into the history.
    """

    def __init__(
        self,
        root: Path,
        store: GitStore,
        commit: Commit,
        asked: datetime,
        *,
        versions: Versions,
        same: SameFiles,
        settings: Settings,
        first_seen: Mapping[str, datetime],
    ) -> None:
        self._root = root
        self._store = store
        self._units: dict[str, dict[str, Unit]] = {}
        self._commit = commit
        self._asked = asked
        self._settings = settings
        self._zone: ZoneInfo = settings.zone
        self.files = PastFiles(store, commit.tree, versions, same)
        moment = commit.moment.astimezone(self._zone)
        self._scores = PastScores(self.files, first_seen, Reckoning(moment, self._zone, settings.decay))
        self.lookups = PastLookups(self.files, self._scores.is_archived)

    @property
    def commit(self) -> str:
        """Return the full hash of the commit."""
        return self._commit.id

    @property
    def timestamp(self) -> datetime:
        """Return when the commit was made, in UTC."""
        return self._commit.moment.astimezone(UTC)

    @cached_property
    def moment(self) -> Moment:
        """Return which commit this is, with its files (without their texts)."""
        from workbench.engine.results.past import PastFile

        return self._moment(tuple([PastFile(path, size, blob) for path, size, blob in self.files.sized()]))

    def moment_of(self, path: str) -> Moment:
        """Return which commit this is, with one file and its text.

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
        """Return a file, byte for byte.

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
        """Write every file out into a folder outside the workspace, byte for byte.

        Args:
            folder: One that is not there yet, or is empty.

        Raises:
            InvalidInput: Something stands there.
            OutsideWorkspace: It is in the workspace.
            StorageError: It cannot be written; nothing is left of it.
        """
        from workbench.engine.past.copying import write_out

        contents = (
            (path, self.files.versions.content(blob)) for path, blob in sorted(self.files.blobs.items())
        )
        count, size = write_out(folder, self._root, contents)
        return Copied(self._commit.id, str(folder), count, size)

    def show(self, id: str) -> Shown:  # noqa: A002 - the field's word
        """Return one memory with its provenance, validity, score and links as they were; without its history.

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
        """Return an entity, by its id or label, with its facts and what lay around it.

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
        """Return id and label of every entity that was not merged into another, by id."""
        return self.lookups.entities()

    def scores(self, ids: Sequence[str] | None = None) -> Sequence[PastScore]:
        """Return the scores as they were.

        Args:
            ids: Of these memories alone, which is quick; of all by default.
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
        """Return the contents of the files that differ at another commit, here and there, by path."""
        read = self.files.versions.content
        return {
            change.path: (
                read(change.old_blob) if change.old_blob else None,
                read(change.new_blob) if change.new_blob else None,
            )
            for change in self._store.changed_paths(self._commit.tree, other._commit.tree)
        }

    def unit(self, memory_id: str) -> tuple[str, Unit] | None:
        """Return the file that a memory stood in and what it said there, or None."""
        path = self.lookups.path_of(memory_id)
        content = self.files.read(path) if path else None
        if path is None or content is None:
            return None
        if path not in self._units:
            self._units = {path: units_of(path, content, self._zone)}
        unit = self._units[path].get(memory_id)
        return (path, unit) if unit else None

    def _label(self, entity: str) -> str:
        known = self.lookups.entity(entity)
        return known.label.casefold() if known else ""

    def _named(self, name: str) -> MemoryId:
        """Return the id that a person’s words mean: an id, or an entity’s name at that time."""
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
