"""What a power cut would leave: files and folders as they were when they were last flushed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

reads_handles = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="reads files by their handles")


class Flushes:
    """Remembers which files and folders were flushed, by what they are rather than by name."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._files: dict[tuple[int, int], bytes] = {}
        self._folders: dict[tuple[int, int], set[str]] = {}
        for name in ("fsync", "fdatasync"):
            if not hasattr(os, name):
                continue
            flush = getattr(os, name)

            def flushing(handle: int, flush: object = flush) -> None:
                assert callable(flush)
                flush(handle)
                self._note(handle)

            monkeypatch.setattr(os, name, flushing)

    def _note(self, handle: int) -> None:
        status = os.fstat(handle)
        one = (status.st_dev, status.st_ino)
        place = Path(f"/proc/self/fd/{handle}")
        if stat.S_ISDIR(status.st_mode):
            self._folders[one] = set(os.listdir(handle))
        elif stat.S_ISREG(status.st_mode):
            self._files[one] = place.read_bytes()

    def hold(self, place: Path) -> bool:
        """Return whether a file would be there, as it is now, after a power cut."""
        return self.hold_content(place) and self.hold_name(place)

    def hold_content(self, place: Path) -> bool:
        """Return whether what a file says is on disk, by whatever name."""
        status = place.stat()
        return self._files.get((status.st_dev, status.st_ino)) == place.read_bytes()

    def hold_name(self, place: Path) -> bool:
        """Return whether the folder of a file or folder would list it."""
        folder = place.parent.stat()
        return place.name in self._folders.get((folder.st_dev, folder.st_ino), ())

    def hold_absence(self, place: Path) -> bool:
        """Return whether a file that is gone would be gone after a power cut."""
        folder = place.parent.stat()
        return place.name not in self._folders.get((folder.st_dev, folder.st_ino), {place.name})
