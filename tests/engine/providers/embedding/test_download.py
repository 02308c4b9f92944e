"""Downloads: whole or absent, taken up again, checked; the hub may cut, stall, lie and change its mind."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.engine.providers.embedding.file_server import Fault, FileServer
from workbench.engine.errors import InvalidInput, Locked, NotFound, ProviderError, StorageError
from workbench.engine.providers.embedding import local
from workbench.engine.providers.embedding.local import DOCUMENTED_MODEL, download_model
from workbench.engine.settings.sections import EmbeddingSettings

URI = "hf:owner/repo/model.gguf"
NAME = "owner/repo/model.gguf"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_TIMEOUT_S", 5.0)
    monkeypatch.setattr(local, "sleep", lambda seconds: None)


def asked(hub: str, folder: Path, model: str = URI) -> EmbeddingSettings:
    return EmbeddingSettings(model_path=model, model_folder=str(folder), download_url=hub)


def fetch(server: FileServer, folder: Path, **options: Any) -> Path:
    return download_model(asked(server.url, folder), **options)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_a_file_arrives_whole_with_progress(file_server: FileServer, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    path = fetch(file_server, tmp_path, progress=lambda done, total: told.append((done, total)))
    assert path == tmp_path / NAME
    assert path.read_bytes() == file_server.content
    size = len(file_server.content)
    assert told[0] == (0, size)
    assert told[-1] == (size, size)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert names(tmp_path) == {"model.gguf", "model.gguf.part.lock"}
    assert file_server.paths[0] == "HEAD /owner/repo/resolve/main/model.gguf"


def test_what_is_there_is_not_fetched_again(file_server: FileServer, tmp_path: Path) -> None:
    fetch(file_server, tmp_path)
    asked = len(file_server.paths)
    fetch(file_server, tmp_path)
    assert len(file_server.paths) == asked


@pytest.mark.parametrize("says_digest", [True, False])
def test_a_cut_connection_is_taken_up_where_it_broke(
    file_server: FileServer, tmp_path: Path, says_digest: bool
) -> None:
    file_server.says_digest = says_digest
    file_server.faults = [Fault(cut_after=1000), Fault(cut_after=500), Fault(status=503), Fault(cut_after=0)]
    assert fetch(file_server, tmp_path).read_bytes() == file_server.content
    assert file_server.ranges == ["", "bytes=1000-", "bytes=1500-", "bytes=1500-", "bytes=1500-"]


def test_a_stalled_connection_is_given_up_and_taken_up(
    file_server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "_TIMEOUT_S", 0.3)
    file_server.faults = [Fault(stall_after=2_000_000)]
    assert fetch(file_server, tmp_path).read_bytes() == file_server.content
    assert len(file_server.ranges) >= 2


def test_the_next_call_goes_on_from_where_this_one_stopped(file_server: FileServer, tmp_path: Path) -> None:
    file_server.faults = [Fault(cut_after=1_500_000), *[Fault(status=503)] * 6]
    with pytest.raises(ProviderError, match="cannot be downloaded now"):
        fetch(file_server, tmp_path)
    assert not (tmp_path / NAME).exists()
    file_server.faults.clear()
    fetch(file_server, tmp_path)
    assert file_server.ranges[-1] == "bytes=1500000-"
    assert (tmp_path / NAME).read_bytes() == file_server.content


def test_stopping_it_keeps_what_has_arrived(file_server: FileServer, tmp_path: Path) -> None:
    told: list[int] = []

    def progress(done: int, total: int | None) -> None:
        told.append(done)
        if done >= 1 << 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(file_server, tmp_path, progress=progress)
    assert not (tmp_path / NAME).exists()
    fetch(file_server, tmp_path)
    assert file_server.ranges == ["", f"bytes={told[-1]}-"]


def test_a_hub_without_ranges_is_read_from_the_start(file_server: FileServer, tmp_path: Path) -> None:
    file_server.takes_ranges = False
    file_server.faults = [Fault(cut_after=1000)]
    assert fetch(file_server, tmp_path).read_bytes() == file_server.content


def test_another_part_than_asked_for_is_not_glued_on(file_server: FileServer, tmp_path: Path) -> None:
    file_server.faults = [Fault(cut_after=1000), Fault(wrong_start=True)]
    assert fetch(file_server, tmp_path).read_bytes() == file_server.content


@pytest.mark.parametrize("says_digest", [True, False])
def test_a_file_that_changed_meanwhile_is_read_anew(
    file_server: FileServer, tmp_path: Path, says_digest: bool
) -> None:
    file_server.says_digest = says_digest
    file_server.faults = [Fault(cut_after=1000), *[Fault(status=500)] * 6]
    with pytest.raises(ProviderError):
        fetch(file_server, tmp_path)
    file_server.faults.clear()
    file_server.content = b"GGUF" + b"other" * 10_000
    assert fetch(file_server, tmp_path).read_bytes() == file_server.content


def test_other_bytes_than_the_checksum_says_are_refused(file_server: FileServer, tmp_path: Path) -> None:
    file_server.faults = [Fault(garbles=True)]
    with pytest.raises(ProviderError, match="checksum"):
        fetch(file_server, tmp_path)
    assert "model.gguf" not in names(tmp_path)
    assert fetch(file_server, tmp_path).read_bytes() == file_server.content


def test_what_is_no_model_is_refused(file_server: FileServer, tmp_path: Path) -> None:
    file_server.content = b"<html>Sign in</html>"
    with pytest.raises(ProviderError, match="no GGUF"):
        fetch(file_server, tmp_path)
    assert "model.gguf" not in names(tmp_path)


def test_a_wrong_length_is_noticed(file_server: FileServer, tmp_path: Path) -> None:
    file_server.faults = [Fault(wrong_length=True)]
    assert fetch(file_server, tmp_path).read_bytes() == file_server.content
    file_server.faults = [Fault(wrong_length=True)] * 9
    with pytest.raises(ProviderError, match="another length"):
        fetch(file_server, tmp_path / "again")


def test_a_missing_file_is_said(file_server: FileServer, tmp_path: Path) -> None:
    file_server.missing = True
    with pytest.raises(NotFound, match="no such file"):
        fetch(file_server, tmp_path)


def test_a_hub_that_sends_in_circles_is_left(file_server: FileServer, tmp_path: Path) -> None:
    file_server.redirects = 1000
    with pytest.raises(ProviderError, match="circles"):
        fetch(file_server, tmp_path)


def test_nobody_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="cannot be downloaded now"):
        download_model(asked("http://127.0.0.1:9", tmp_path))


@pytest.mark.parametrize("hub", ["file:///etc", "ftp://host", "host"])
def test_a_hub_that_is_no_web_address_is_refused(tmp_path: Path, hub: str) -> None:
    with pytest.raises(ProviderError, match="not a web address"):
        download_model(asked(hub, tmp_path))


def test_only_addresses_are_downloaded(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        download_model(asked("http://127.0.0.1:9", tmp_path, "/models/x.gguf"))


def test_the_documented_model_is_fetched_where_none_is_named(file_server: FileServer, tmp_path: Path) -> None:
    path = download_model(asked(file_server.url, tmp_path, ""))
    assert path.relative_to(tmp_path).as_posix() == DOCUMENTED_MODEL.removeprefix("hf:")


def test_a_folder_that_cannot_be_written_is_said(file_server: FileServer, tmp_path: Path) -> None:
    (tmp_path / "owner").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be written"):
        fetch(file_server, tmp_path)


def test_two_at_once_do_not_mix(file_server: FileServer, tmp_path: Path) -> None:
    def again(done: int, total: int | None) -> None:
        with pytest.raises(Locked, match="Another process"):
            fetch(file_server, tmp_path)

    fetch(file_server, tmp_path, progress=again)


def test_a_killed_download_leaves_no_model_and_is_taken_up(file_server: FileServer, tmp_path: Path) -> None:
    file_server.faults = [Fault(stall_after=2_000_000)]
    program = (
        "import sys\n"
        "from workbench.engine.providers.embedding.local import download_model\n"
        "from workbench.engine.settings.sections import EmbeddingSettings\n"
        "asked = dict(zip(('model_path', 'model_folder', 'download_url'), sys.argv[1:]))\n"
        "download_model(EmbeddingSettings(**asked))"
    )
    child = subprocess.Popen([sys.executable, "-c", program, URI, str(tmp_path), file_server.url])
    part = tmp_path / (NAME + ".part")
    deadline = time.monotonic() + 20
    while not (part.exists() and part.stat().st_size >= 1 << 20):
        assert time.monotonic() < deadline
        assert child.poll() is None
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not (tmp_path / NAME).exists()
    arrived = part.stat().st_size
    path = fetch(file_server, tmp_path)
    assert file_server.ranges[-1] == f"bytes={arrived}-"
    assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(file_server.content).digest()


def test_a_full_disk_is_said_and_what_arrived_is_used(file_server: FileServer, tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from workbench.engine.errors import StorageError\n"
        "from workbench.engine.providers.embedding.local import download_model\n"
        "from workbench.engine.settings.sections import EmbeddingSettings\n"
        "asked = dict(zip(('model_path', 'model_folder', 'download_url'), sys.argv[1:]))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))\n"
        "try: download_model(EmbeddingSettings(**asked))\n"
        "except StorageError as error: print(error.remedy)"
    )
    command = [sys.executable, "-c", program, URI, str(tmp_path), file_server.url]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "embedding.model_folder" in run.stdout
    assert not (tmp_path / NAME).exists()
    assert fetch(file_server, tmp_path).read_bytes() == file_server.content
    assert int(file_server.ranges[-1].removeprefix("bytes=").rstrip("-")) >= 1 << 20
