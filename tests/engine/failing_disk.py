"""A disk that stops taking what SQLite writes, or giving what it reads, from a moment on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw


class Disk(apsw.VFS):
    """SQLite's access to files, through which everything goes that is opened meanwhile.

    Args:
        folder: Below it everything fails, once `trouble` is set.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.trouble: type[Exception] | None = None
        self.failed = 0
        self.base = apsw.vfs_names()[0]
        super().__init__("failing-disk", base=self.base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's own name
        return _File(self, name, flags)

    def use(self, name: str, *, is_write: bool) -> None:
        """Fail where this is to fail."""
        if self.trouble is None or not name.startswith(self.folder):
            return
        if is_write or self.trouble is apsw.IOError:
            self.failed += 1
            raise self.trouble("made to fail")


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else str(name or "")
        super().__init__(disk.base, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's own name
        self._disk.use(self._name, is_write=True)
        super().xWrite(data, offset)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802 - SQLite's own name
        self._disk.use(self._name, is_write=False)
        return super().xRead(amount, offset)


@contextmanager
def failing_disk(folder: Path) -> Iterator[Disk]:
    """Put a disk that can be made to fail below a folder."""
    disk = Disk(folder)
    try:
        yield disk
    finally:
        disk.unregister()
