"""Files outside the workspace that only their owner reads, replaced whole and flushed to the disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workbench.engine.errors import StorageError

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW


@contextmanager
def replacing(place: Path, failing: str, remedy: str = "Make room there.") -> Iterator[BinaryIO]:
    """Give a file to be written, which takes the place of the one there once it is whole and on the disk.

    Args:
        place: The file; its folder exists.
        failing: What does not work then, for example `The session cannot be copied`.
        remedy: What to do about it.

    Raises:
        StorageError: The disk does not take it; the file is as it was.
    """
    temporary = place.with_name(f"{place.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        handle = os.open(temporary, _FLAGS, 0o600)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(handle, 0o600)
            yield file
            file.flush()
            os.fsync(handle)
        temporary.replace(place)
    except OSError as error:
        raise StorageError(
            f"{failing}: {error.strerror or error}.", where=str(place), remedy=remedy
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
