"""Writes the files of a commit out into a folder of their own."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import HistoryDamaged, InvalidInput, OutsideWorkspace, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterable

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)


def write_out(target: Path, root: Path, files: Iterable[tuple[str, bytes]]) -> tuple[int, int]:
    """Write files into a folder: all of them, or nothing.

    Args:
        target: A folder that is not there yet, or is empty.
        root: The workspace folder, in which no copy may be made.
        files: Paths below the folder with contents, byte for byte.

    Returns:
        How many files, and how many bytes.

    Raises:
        InvalidInput: Something stands at the target.
        OutsideWorkspace: The target is in the workspace.
        HistoryDamaged: A path leads out of the folder.
        StorageError: It cannot be written.
    """
    # Links on the way to the folder are the person's own; where it really lies is what counts.
    place = target.parent.resolve() / target.name
    real_root = root.resolve()
    if place == real_root or real_root in place.parents:
        raise OutsideWorkspace(
            "A copy cannot be made inside the workspace, where it would be memory itself.",
            where=str(target),
            remedy="Name a new folder elsewhere.",
        )
    _require_free(place, target)
    made = place.with_name(f".{place.name}.workbench-{secrets.token_hex(6)}")
    count = size = 0
    try:
        made.mkdir(parents=True)
        for path, content in files:
            _write(made / _checked(path), content)
            count += 1
            size += len(content)
        made.rename(place)
    except OSError as error:
        raise StorageError(
            f"The copy cannot be written: {error.strerror or error}.",
            where=str(target),
            remedy="Free some space, or name a folder that you may write.",
        ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return count, size


def _require_free(place: Path, target: Path) -> None:
    try:
        is_free = not os.path.lexists(place) or (
            place.is_dir() and not place.is_symlink() and not any(place.iterdir())
        )
    except OSError as error:
        raise StorageError(
            f"This folder cannot be read: {error.strerror or error}.",
            where=str(target),
            remedy="Name a folder that you may write.",
        ) from error
    if not is_free:
        raise InvalidInput(
            "Something stands there already.", where=str(target), remedy="Name a new folder, or an empty one."
        )


def _checked(path: str) -> str:
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise HistoryDamaged(
            "The history names a file outside the workspace.",
            where=path,
            remedy="Look with: workbench audit verify",
        )
    return path


def _write(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(place, _NEW, 0o666)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
