"""Brings derived files along after a change: whatever they meet, the change stands, and what is behind is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from workbench.engine import layout
from workbench.engine.errors import InvalidInput, WorkbenchError
from workbench.engine.history.audit_projection import complete_audit_log
from workbench.engine.history.git_store import GitStore
from workbench.engine.history.plan import FileView
from workbench.engine.history.state_files import read_state, write_state
from workbench.engine.history.unflushed import replace_unflushed
from workbench.engine.history.views import WorkFiles

_FILE = "projections.json"
_AUDIT = f"the audit log ({layout.AUDIT_LOG})"


@dataclass(frozen=True)
class Projection:
    """Something derived from the tracked files.

    Args:
        name: What people call it, with its article and its file: `the graph index (memory/graph/index.md)`.
        run: Given the changed paths and the files as they now are; returns untracked files to write, by path.
    """

    name: str
    run: Callable[[Sequence[str], FileView], Mapping[str, bytes]]


@dataclass(frozen=True)
class Behind:
    """A projection that could not follow a change.

    Args:
        name: Which.
        reason: What it met.
        paths: The changed files that it has yet to take in.
    """

    name: str
    reason: str
    paths: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """Return what a person should know, with what to do about it."""
        stop = "" if self.reason.rstrip("”’)").endswith((".", "!", "?", "…")) else "."
        return (
            f"The change is stored, but {self.name} could not follow it: {self.reason}{stop} "
            "The next change tries again; `workbench doctor` says what is still behind."
        )


class Projecting:
    """Everything that follows the files, and what of it is behind.

    Args:
        root: The workspace folder, absolute.
        state: Folder of derived state, where it is noted what is behind.
        projections: Beside the audit log.
    """

    def __init__(self, root: Path, state: Path, projections: Sequence[Projection]) -> None:
        self._root = root
        self._state = state
        self._projections = projections
        # What could not be noted there is known until this process ends.
        self._unnoted: dict[str, Behind] | None = None

    def behind(self) -> tuple[Behind, ...]:
        """Return the projections that have not taken in every change."""
        # Other processes follow changes too, and a purge takes the note away.
        known = _load(self._state / _FILE) if self._unnoted is None else self._unnoted
        return tuple(known.values())

    def follow(self, paths: Sequence[str], store: GitStore) -> None:
        """Bring the audit log and everything else that is derived up to date after changes of files."""
        before = {one.name: one for one in self.behind()}
        found = dict(before)
        self._attempt(found, _AUDIT, paths, lambda _: complete_audit_log(self._root, store, self._state))
        for projection in self._projections:
            self._attempt(found, projection.name, paths, partial(self._write, projection))
        if found != before:
            rows = {one.name: {"reason": one.reason, "paths": one.paths} for one in found.values()}
            is_noted = write_state(self._state / _FILE, json.dumps(rows).encode())
            self._unnoted = None if is_noted else found

    def write_or_remove(self, paths: Sequence[str]) -> None:
        """Write the files derived from the work files at these paths; one that cannot be written is removed.

        It is for a purge: a derived file must not keep what went.

        Raises:
            OSError: One can be neither written nor removed.
        """
        found: dict[str, Behind] = {}
        for projection in self._projections:
            self._attempt(found, projection.name, paths, partial(self._write, projection))
        if found:
            (self._root / layout.GRAPH_INDEX).unlink(missing_ok=True)

    def _attempt(
        self,
        found: dict[str, Behind],
        name: str,
        paths: Sequence[str],
        run: Callable[[Sequence[str]], None],
    ) -> None:
        missed = found[name].paths if name in found else ()
        due = tuple(dict.fromkeys((*missed, *paths)))
        try:
            run(due)
        except Exception as error:  # the change stands already: nothing that is derived from it may fail it
            reason = (
                str(error)
                if isinstance(error, WorkbenchError | OSError)
                else f"{type(error).__name__}: {error}"
            )
            found[name] = Behind(name, reason, due)
        else:
            found.pop(name, None)

    def _write(self, projection: Projection, paths: Sequence[str]) -> None:
        view = WorkFiles(self._root)
        for path, content in projection.run(paths, view).items():
            if path not in layout.PROJECTIONS:
                raise InvalidInput(f"“{path}” is not a derived file.", remedy="Return it in the plan.")
            place = layout.resolve(self._root, path)
            if view.read(path) != content:
                place.parent.mkdir(parents=True, exist_ok=True)
                replace_unflushed(place, content, place.with_name(".workbench-projection-0.tmp"))


def _load(file: Path) -> dict[str, Behind]:
    stored = read_state(file)
    found: dict[str, Behind] = {}
    for name, row in stored.items() if isinstance(stored, dict) else ():
        match row:
            case {"reason": str(reason), "paths": list(paths)}:
                found[str(name)] = Behind(str(name), reason, tuple(map(str, paths)))
    return found
