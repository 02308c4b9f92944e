"""What is no regular file below memory/ is left alone by every change."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.engine.errors import StorageError, WorkbenchError
from workbench.engine.history.work_files import Staging


def pipe(place: Path) -> None:
    os.mkfifo(place)


def folder(place: Path) -> None:
    place.mkdir()


def listener(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        # The path of a socket is short; the name is what counts.
        here = Path.cwd()
        os.chdir(place.parent)
        try:
            one.bind(place.name)
        finally:
            os.chdir(here)


def link(place: Path) -> None:
    place.symlink_to(place.parent / "elsewhere.md")


@pytest.mark.parametrize("make", [pipe, folder, listener, link])
def test_it_is_refused_before_anything_is_laid_beside_it(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    place = tmp_path / "memory" / "note.md"
    place.parent.mkdir()
    make(place)
    before = place.lstat()
    staging = Staging(tmp_path, "abc")
    with pytest.raises(WorkbenchError) as raised:
        staging.lay("memory/note.md", b"text")
    assert raised.value.where == "memory/note.md"
    assert [each.name for each in place.parent.iterdir()] == ["note.md"]
    assert (place.lstat().st_mode, place.lstat().st_ino) == (before.st_mode, before.st_ino)
    if make is not link:
        assert isinstance(raised.value, StorageError)
        assert raised.value.remedy
