"""Opening files that others may have replaced by links, pipes or folders."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from workbench.engine.errors import OutsideWorkspace
from workbench.engine.file_access import (
    NotAFile,
    open_outside_file,
    open_regular_file,
    printable_path,
    read_regular_file,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "notes.md"
    place.write_bytes(b"abc")
    return place


def test_a_regular_file_is_opened(file: Path) -> None:
    with open_regular_file(file) as opened:
        assert opened.read() == b"abc"


def test_a_link_is_followed_only_on_request(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.md"
    link.symlink_to(file)

    with pytest.raises(OSError) as caught:
        open_regular_file(link)
    assert caught.value.errno == errno.ELOOP
    with pytest.raises(OutsideWorkspace):
        open_outside_file(link)
    assert read_regular_file(link) == b"abc"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_folder_or_a_pipe_is_refused_without_waiting(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "folder":
        place.mkdir()
    else:
        os.mkfifo(place)

    with pytest.raises(NotAFile):
        open_regular_file(place)
    with pytest.raises(NotAFile):
        read_regular_file(place)
    with pytest.raises(OutsideWorkspace):
        open_outside_file(place)


def test_a_missing_file_is_none(tmp_path: Path, file: Path) -> None:
    for place in (tmp_path / "missing", file / "below"):
        assert open_outside_file(place) is None
        assert read_regular_file(place) is None


def test_reading_stops_at_the_limit(file: Path) -> None:
    assert read_regular_file(file, 2) == b"ab"
    assert read_regular_file(file) == b"abc"


def test_a_path_is_shown_printable_and_short() -> None:
    assert printable_path("a\x1b[31mb") == "a\ufffd[31mb"
    assert len(printable_path("a" * 1000)) == 300
