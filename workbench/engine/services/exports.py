"""Memory handed over: as JSON Lines, or as a plain folder; either can be imported again."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.engine import layout, results
from workbench.engine.clock import render_time
from workbench.engine.errors import Cancelled, DocumentError, InvalidInput, OutsideWorkspace, StorageError
from workbench.engine.file_access import expand_writable
from workbench.engine.markdown.decay_scores import DecayScores
from workbench.engine.memory.decay import SCORED_STORES, decay_record
from workbench.engine.memory.scores_file import entry_of
from workbench.engine.past.files import export_files
from workbench.engine.results import to_json
from workbench.engine.roles import Capability, require
from workbench.engine.services.context import WorkspaceContext
from workbench.engine.transfer.export_format import export_header, file_line
from workbench.engine.transfer.source import MANIFEST

if TYPE_CHECKING:
    from workbench.engine.catalog.records import EntityRecord, MemoryRecord
    from workbench.engine.services.scores import Grade


_Step = TypeVar("_Step")


@dataclass
class _Steps:
    """The steps of an export, told one by one."""

    progress: Callable[[results.transfer.ExportProgress], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False
    done: int = 0
    total: int = 0

    def through(self, steps: Iterable[_Step]) -> Iterator[_Step]:
        """Go through some of them.

        Raises:
            Cancelled: It was called off.
        """
        for step in steps:
            if self.cancelled():
                raise Cancelled("The export was called off.", remedy="Nothing of it was kept; export again.")
            yield step
            self.done += 1
            self.progress(results.transfer.ExportProgress(self.done, self.total))


class Exports:
    """What hands memory over to other programs, and to another workspace."""

    def __init__(self, context: WorkspaceContext) -> None:
        self._context = context

    def lines(self, *, memories: bool = True, files: bool = True) -> Iterator[str]:
        """Yield the whole memory as lines of JSON without their ends.

        The first line tells what it is. A line of kind `memory` tells one memory with what is known of it, one of kind
        `file` holds a file as it is. The latter alone are read by an import, and give the same memory.

        Args:
            memories: Give lines about memories.
            files: Give lines with files.
        """
        require(self._context.role, Capability.READ, doing="export memory")
        return self._lines(_Steps(), memories=memories, files=files)

    def write(
        self,
        target: str | Path,
        *,
        folder: bool = False,
        memories: bool = True,
        files: bool = True,
        progress: Callable[[results.transfer.ExportProgress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> results.transfer.Exported:
        """Write the whole memory to a file of JSON Lines, or into a plain folder; whole, or not at all.

        Args:
            target: A file or folder that is not there yet, outside the workspace.
            folder: Write a folder of the files as they are.
            cancelled: Asked between one memory or file and the next.

        Raises:
            Cancelled: It was called off; nothing is left at the target.
            InvalidInput: The target exists, or is below the folder of an unknown user.
            OutsideWorkspace: The target lies in the workspace.
            StorageError: It cannot be written.
        """
        context = self._context
        require(context.role, Capability.READ, doing="export memory")
        place, steps = expand_writable(target), _Steps(progress, cancelled)
        if folder:
            context.refresh_for_reading()
            content = self._all_files(steps)
            about = (json.dumps(self._header(len(content)), indent=1) + "\n").encode()
            written = steps.through(content.items())
            count, size = export_files(place, context.root, chain(written, [(MANIFEST, about)]))
            return results.transfer.Exported(str(target), count - 1, 0, size)
        return self._to_file(place, target, self._lines(steps, memories=memories, files=files))

    def _to_file(self, place: Path, target: str | Path, lines: Iterable[str]) -> results.transfer.Exported:
        root = self._context.root
        real = place.parent.resolve() / place.name
        if root == real or root in real.parents:
            raise OutsideWorkspace(
                "An export cannot be made inside the workspace.",
                where=str(target),
                remedy="Name a new file elsewhere.",
            )
        if os.path.lexists(real):
            raise InvalidInput(
                "There is something there already.", where=str(target), remedy="Name a new file."
            )
        draft = real.with_name(f".{real.name}.{secrets.token_hex(6)}")
        counts = {"memory": 0, "file": 0}
        try:
            with draft.open("x", encoding="utf-8", newline="\n") as written:
                for line in lines:
                    written.write(line + "\n")
                    for kind in counts:
                        counts[kind] += line.startswith(f'{{"kind": "{kind}"')
                size = written.tell()
            draft.replace(real)
        except OSError as error:
            raise StorageError(
                f"The export cannot be written: {error.strerror or error}.",
                where=str(target),
                remedy="Free some space, or name a file that you may write.",
            ) from error
        finally:
            draft.unlink(missing_ok=True)
        return results.transfer.Exported(str(target), counts["file"], counts["memory"], size)

    def _lines(self, steps: _Steps, *, memories: bool, files: bool) -> Iterator[str]:
        context = self._context
        context.refresh_for_reading()
        records = context.lookups.memories() if memories else []
        entities = context.lookups.entities() if memories else []
        steps.total = len(records) + len(entities)
        content = self._all_files(steps) if files else {}
        yield json.dumps(self._header(len(content)), ensure_ascii=False)
        if memories:
            scores = context.scores()
            grades = scores.graded()
            for record in steps.through(records):
                if record.store != "meta":
                    yield _dumped(self._told(record, grades.get(record.id)))
            yield from self._graph(steps.through(entities))
        for path, each in steps.through(content.items()):
            yield _dumped(file_line(path, each))

    def _header(self, files: int) -> dict[str, Any]:
        context = self._context
        return export_header(
            name=context.root.name,
            timezone=context.zone.key,
            moment=render_time(context.clock.now()),
            files=files,
        )

    def _all_files(self, steps: _Steps) -> dict[str, bytes]:
        """Read every memory file, each of which is then to be written."""
        paths = [path for path in self._context.files.list("") if layout.is_memory_file(path)]
        steps.total += 2 * len(paths)
        content = dict(self._files(steps.through(paths)))
        steps.total += len(content) - len(paths)
        return content

    def _files(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield memory files; of the scores, also what follows from history alone."""
        context = self._context
        scored = False
        for path in paths:
            content = context.files.read(path)
            if path == layout.DECAY_SCORES:
                scored = True
                content = self._scores_file(content or b"")
            if content is not None:
                yield path, content
        if not scored and (content := self._scores_file(b"")):
            yield layout.DECAY_SCORES, content

    def _scores_file(self, content: bytes) -> bytes:
        """Return the scores file with an entry for every memory that scores otherwise than its text says."""
        context = self._context
        scores = context.scores()
        seen = scores.first_seen.everything()
        new = {}
        for record in context.lookups.memories():
            if record.store not in SCORED_STORES:
                continue
            if record.id in scores.pending or (record.id in seen and record.id not in scores.entries):
                standing = scores.entries.get(record.id)
                composed = decay_record(
                    scores.facts(record), standing, scores.pending.get(record.id), scores.reckoning
                )
                new[record.id] = entry_of(composed, standing, scores.reckoning)
        if not new:
            return content
        try:
            return DecayScores.parse(content).update(dict(new)).render()
        except DocumentError:
            # A broken file is handed over as it is.
            return content

    def _told(self, record: MemoryRecord, grade: Grade | None) -> dict[str, Any]:
        told: dict[str, Any] = {
            "kind": "memory",
            "id": record.id,
            "store": record.store,
            "path": record.path,
            "startLine": record.start_line,
            "endLine": record.end_line,
            "title": record.title,
            "text": record.text,
            "type": record.type or None,
            "confidence": record.confidence or None,
            "source": record.source or None,
            "tags": list(record.tags),
            "moment": record.moment.isoformat() if record.moment else None,
            "pinned": record.pinned,
            "score": None,
            "status": None,
        }
        if grade is not None:
            told |= {"score": grade.value, "status": grade.status}
        return told

    def _graph(self, entities: Iterable[EntityRecord]) -> Iterator[str]:
        lookups, today = self._context.lookups, self._context.now().date().isoformat()
        for entity in entities:
            for fact in lookups.facts_of(entity.id):
                yield _dumped(
                    {
                        "kind": "fact",
                        "id": fact.id,
                        "entity": entity.id,
                        "text": fact.text,
                        "since": fact.since,
                        "until": fact.until,
                        "supersededBy": fact.superseded_by,
                        "retired": not fact.holds(today),
                        "provenance": list(fact.provenance),
                    }
                )
        for edge in lookups.edges():
            yield _dumped(to_json(edge) | {"kind": "relation"})


def _dumped(line: Mapping[str, Any]) -> str:
    # The kind first, so that a line tells at its beginning what it is.
    ordered = {"kind": line["kind"], **line}
    return json.dumps(ordered, ensure_ascii=False).encode("utf-8", "replace").decode()
