"""The files of one commit, parted into those that still read as they did and those that do not."""

from __future__ import annotations

import builtins
from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.engine import layout

if TYPE_CHECKING:
    from workbench.engine.catalog.extract import FileRows
    from workbench.engine.catalog.same_files import SameFiles
    from workbench.engine.history.git_store import GitStore
    from workbench.engine.past.versions import Versions


class PastFiles:
    """A `FileView` of a commit that also says which version of each file it holds.

    Args:
        store: The history.
        tree: The commit’s root tree.
        versions: Reads contents.
        same: What the catalog knows of the files as they are now.
    """

    def __init__(self, store: GitStore, tree: str, versions: Versions, same: SameFiles) -> None:
        self._store = store
        self._tree = tree
        self.versions = versions
        self.same = same
        self._differing: tuple[Hashable, Mapping[str, str]] | None = None

    @cached_property
    def blobs(self) -> Mapping[str, str]:
        """Return git’s name of each file’s content, by path."""
        return self._store.tree_files(self._tree)

    @cached_property
    def paths(self) -> list[str]:
        """Return the path of every file, sorted."""
        return sorted(self.blobs)

    def read(self, path: str) -> bytes | None:
        """Return a file's content, or None where there was no such file."""
        blob = self.blob(layout.normalise(path))
        return self.versions.content(blob) if blob else None

    def list(self, folder: str) -> builtins.list[str]:
        """Return the paths below a folder (`""` for the whole workspace), sorted."""
        prefix = f"{layout.normalise(folder)}/" if folder else ""
        return [path for path in self.paths if path.startswith(prefix)]

    def blob(self, path: str) -> str | None:
        """Return git's name of a file's content, or None where there was no such file."""
        return self._store.tree_blob(self._tree, path)

    def rows(self, path: str) -> FileRows | None:
        """Return what stood in a file; None where there was none."""
        blob = self.blob(path)
        return self.versions.rows(path, blob) if blob else None

    def is_same(self, path: str, blob: bytes) -> bool:
        """Tell whether the catalog's rows of a file of this content are those of this commit."""
        return self.blobs.get(path) == blob.hex()

    def differing(self) -> Mapping[str, str]:
        """Return the files whose content the catalog does not know: git's name of it by path.

        The very mapping comes again until the catalog changes, and with it what it knows.
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
        """Return path, size in bytes and git's name of the content of every file, by path."""
        known = self.same.known()
        blobs, sizes = known.blobs.get, known.sizes
        found = []
        for path, blob in sorted(self.blobs.items()):
            same = blobs(path)
            is_known = same is not None and same.hex() == blob
            found.append((path, sizes[path] if is_known else self._store.blob_size(blob), blob))
        return found


def is_entity(path: str) -> bool:
    """Tell whether a file is that of an entity."""
    return path.startswith(f"{layout.ENTITIES}/") and path.endswith(".md")
