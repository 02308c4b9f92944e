"""Opening files that others may have replaced by links, pipes or folders."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tests.engine.flushes import Flushes, reads_handles
from workbench.engine.errors import OutsideWorkspace, StorageError
from workbench.engine.file_access import (
    NotAFile,
    open_outside_file,
    open_regular_file,
    printable_path,
    read_regular_file,
    replace_file,
    replace_unflushed,
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


@pytest.mark.parametrize("content", [b"", b"shorter", b"x" * 100_000])
def test_the_new_content_takes_the_place_of_the_old(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "derived"
    place.write_bytes(b"what stood there before")
    replace_unflushed(place, content, tmp_path / "derived.tmp")
    assert place.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir()] == ["derived"]


def test_what_cannot_be_replaced_stays_and_nothing_lies_about(tmp_path: Path) -> None:
    place = tmp_path / "derived"
    (place / "inner").mkdir(parents=True)
    with pytest.raises(OSError, match="derived"):
        replace_unflushed(place, b"new", tmp_path / "derived.tmp")
    assert [entry.name for entry in tmp_path.iterdir()] == ["derived"]


def test_a_read_only_file_system_is_told_as_what_it_refused_first(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        # It refuses to remove even what is not there.
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        patched.setattr(Path, "unlink", refuse)
        with pytest.raises(StorageError, match="kept: Read-only"), replace_file(file, "It cannot be kept"):
            pass
    assert file.read_bytes() == b"abc"


@reads_handles
def test_a_file_is_on_disk_before_it_replaces_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "kept.json"
    place.write_bytes(b"old")
    flushes = Flushes(monkeypatch)
    with replace_file(place, "It cannot be written") as file:
        file.write(b"new")
    assert place.read_bytes() == b"new"
    assert flushes.hold_content(place)
