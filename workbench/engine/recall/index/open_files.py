"""Which index file answers, and which one is built."""

from __future__ import annotations

import threading
from pathlib import Path

from workbench.engine.errors import StorageError
from workbench.engine.recall.index.folder import InUse, Named, delete_older, index_files
from workbench.engine.recall.index.opened import IndexFile
from workbench.engine.recall.index.schema import ask
from workbench.engine.recall.index.shape import Shape
from workbench.engine.recall.index.state import FileState


class OpenFiles:
    """The open index files of a folder; safe from several threads.

    The newest complete file of the wanted shape answers; before there is one, a complete file of another shape;
    before there is any, the one that is being built.

    Args:
        folder: Of the index files.
        shape: The wanted one.
    """

    def __init__(self, folder: Path, shape: Shape) -> None:
        self._folder = folder
        self._shape = shape
        self._lock = threading.RLock()
        self._open: dict[Named, IndexFile] = {}
        self._in_use: InUse | None = None
        self._seen: list[Named] = []
        self._settled: IndexFile | None = None

    def make_folder(self) -> None:
        """Make the folder where it is missing.

        Raises:
            StorageError: It cannot be made.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"The search index cannot be kept: {error.strerror or error}.",
                where=str(self._folder),
                remedy="Give the right to write there, or name another folder in WORKBENCH_PATHS_CACHE.",
            ) from error

    def answering(self) -> IndexFile:
        """Return the file that answers now.

        Raises:
            IndexLost: It is gone or damaged; asked again, it is another.
            StorageError: It cannot be opened.
        """
        with self._lock:
            present = index_files(self._folder)
            if self._settled is not None and present == self._seen and self._settled.is_in_place():
                return self._settled
            self._settled = None
            self._close_gone(present)
            own = [named for named in present if named.digest == self._shape.digest]
            for named in own:
                if (file := self._file(named)).state().complete:
                    self._settled, self._seen = file, present
                    return file
            others = [named for named in present if named not in own]
            for named in sorted(others, key=self._age):
                if (file := self._file(named)).state().complete:
                    return file
            return self._file(own[0]) if own else self.to_build()

    def to_build(self, *, anew: bool = False) -> IndexFile:
        """Return the file to build: the newest of the wanted shape, made where there is none.

        Args:
            anew: Make one more beside a complete one.
        """
        with self._lock:
            own = [named for named in index_files(self._folder) if named.digest == self._shape.digest]
            if not own:
                return self._file(Named(self._shape.digest, 1))
            newest = own[0]
            if anew and self._file(newest).state().complete:
                newest = Named(newest.digest, newest.generation + 1)
            return self._file(newest)

    def share_built(self) -> float | None:
        """Return which share of the file to build is done, where it has not taken over yet."""
        with self._lock:
            file = self.to_build()
            with file.reading() as connection:
                state = file.state()
                files = int(ask(connection, "SELECT count(*) FROM files")[0][0])
            if state.complete or not state.wanted:
                return None
            return min(1.0, files / state.wanted)

    def others_answer(self) -> bool:
        """Tell whether a file of other words but the same embedder answers, with all its vectors, until then."""
        with self._lock:
            file = self.answering()
            state = file.state()
            return state.shape != self._shape.digest and state.embedder == self._shape.embedder

    def clear_away(self, file: IndexFile) -> None:
        """Clear away what a complete file has replaced, also where whoever was to do that has died."""
        with self._lock:
            if len(index_files(self._folder)) == 1:
                return
            named = next(named for named, each in self._open.items() if each is file)
            delete_older(self._folder, named)
            self._close_gone(index_files(self._folder))

    def close(self) -> None:
        """Let go of all files; they are opened again when asked for."""
        with self._lock:
            self._settled = None
            for file in self._open.values():
                file.close()
            self._open.clear()
            if self._in_use is not None:
                self._in_use.close()
                self._in_use = None

    def _file(self, named: Named) -> IndexFile:
        known = self._open.get(named)
        if known is not None and known.is_in_place():
            return known
        self.make_folder()
        if self._in_use is None:
            self._in_use = InUse(self._folder, self._shape.digest)
        if known is not None:
            known.close()
        state = FileState(shape=self._shape.digest, embedder=self._shape.embedder)
        file = self._open[named] = IndexFile(self._folder / named.name, state)
        return file

    def _close_gone(self, present: list[Named]) -> None:
        for named in [named for named in self._open if named not in present]:
            self._open.pop(named).close()

    def _age(self, named: Named) -> float:
        try:
            return -(self._folder / named.name).stat().st_mtime
        except OSError:
            return 0.0
