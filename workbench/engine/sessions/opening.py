"""Opens plain files of sessions, never through a link that stands at their own name."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from workbench.engine.errors import OutsideWorkspace, StorageError

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def open_plain(place: Path) -> BinaryIO | None:
    """Open a file for reading; None where there is none.

    Raises:
        OutsideWorkspace: A link stands there, or something that is no plain file.
        StorageError: It may not be read.
    """
    try:
        handle = os.open(place, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _no_file(place) from error
        raise StorageError(
            f"The file cannot be read: {error.strerror}.",
            where=str(place),
            remedy="Give the right to read it.",
        ) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _no_file(place)
    return os.fdopen(handle, "rb")


def _no_file(place: Path) -> OutsideWorkspace:
    return OutsideWorkspace(
        "This is no plain file of a session.",
        where=str(place),
        remedy="Links are never followed; put the file there.",
    )
