"""What is remembered of a model that failed its first run under llama.cpp: why, and under which conditions."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from workbench.engine.errors import ProviderError, StorageError
from workbench.engine.private_files import replacing

_LIBRARY = "llama_cpp"
_DISTRIBUTION = "llama-cpp-python"


@dataclass(frozen=True)
class Trial:
    """One model's first run on this machine.

    A failure holds for one build of llama.cpp, one state of the model file and one processor. It is not repeated
    until one of them changes or it is forgotten. A success leaves no record: the run it began goes on.

    Args:
        model: The GGUF file.
        purpose: `embedding` or `chat`.
        folder: Where failures are recorded; None to record nothing.
    """

    model: Path
    purpose: str
    folder: Path | None = None

    def check(self) -> None:
        """Raise the failure that is on record, if it still holds.

        Raises:
            ProviderError: The model failed here before, and nothing has changed since.
        """
        found = self._read()
        if found is not None and found.get("conditions") == self._conditions():
            raise ProviderError(found["message"], where=found["where"], remedy=found["remedy"])

    def record(self, failure: ProviderError) -> None:
        """Record a failure; where the folder cannot be written, the next process finds out for itself."""
        place = self._place
        if place is None:
            return
        content = {
            "model": str(self.model),
            "message": failure.message,
            "where": failure.where,
            "remedy": failure.remedy,
            "conditions": self._conditions(),
        }
        with contextlib.suppress(OSError, StorageError):
            place.parent.mkdir(parents=True, exist_ok=True)
            with replacing(place, "The model's trial cannot be recorded") as file:
                file.write(json.dumps(content, indent=1).encode())

    def forget(self) -> None:
        """Delete the record, so that the model is tried again."""
        if self._place is not None:
            with contextlib.suppress(OSError):
                self._place.unlink(missing_ok=True)

    @property
    def _place(self) -> Path | None:
        if self.folder is None:
            return None
        name = hashlib.sha256(os.fsencode(self.model.absolute())).hexdigest()[:16]
        return self.folder / f"{self.purpose}-{name}.json"

    def _read(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self._place.read_bytes()) if self._place is not None else None
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or not isinstance(found.get("message"), str):
            return None
        texts = (found.get("where"), found.get("remedy"))
        return found if all(text is None or isinstance(text, str) for text in texts) else None

    def _conditions(self) -> dict[str, Any]:
        return {"library": library_build(), "file": _size_and_time(self.model), "processor": _processor()}


def library_build() -> list[Any]:
    """Return what tells one build of llama-cpp-python from another, without loading it."""
    from importlib import metadata

    try:
        version = metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        version = ""
    folders = [Path(given)] if (given := os.environ.get("LLAMA_CPP_LIB_PATH")) else []
    with contextlib.suppress(ImportError, ValueError):
        spec = find_spec(_LIBRARY)
        folders += [Path(each) / "lib" for each in (spec and spec.submodule_search_locations) or ()]
    files = sorted(file for folder in folders if folder.is_dir() for file in folder.iterdir())
    return [version, *([str(file), *_size_and_time(file)] for file in files)]


def is_installed() -> bool:
    """Return whether llama-cpp-python can be found, without loading it."""
    try:
        return find_spec(_LIBRARY) is not None
    except (ImportError, ValueError):
        return False


def _size_and_time(file: Path) -> list[int]:
    try:
        found = file.stat()
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns]


def _processor() -> str:
    """Return machine, kernel and processor; a kernel may forbid what a processor announces."""
    told = [platform.machine(), platform.release()]
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        for name in ("model name", "flags", "Features"):
            told += next(([line] for line in lines if line.startswith(name)), [])
    except OSError:
        told.append(platform.processor())
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
