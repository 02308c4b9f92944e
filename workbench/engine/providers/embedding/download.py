"""Downloads a model file on request: resumable, and verified before use."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from workbench.engine.errors import Locked, NotFound, ProviderError, StorageError
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled
from workbench.engine.providers.http_client import CONNECTION_FAULTS, open_url
from workbench.engine.providers.retries import PassingFault, pause_before, seconds_asked_for, with_retries
from workbench.engine.providers.selection import ModelAddress

HUB = "https://huggingface.co"
_PIECE = 1 << 20
_MOST_REDIRECTS = 8
_SHA256 = re.compile(r"[0-9a-f]{64}")
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_LONGEST_WAIT_S = 120.0

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class RemoteFile:
    """A hub's metadata of a file.

    Args:
        url: Its address.
        size: In bytes, or None.
        sha256: In hexadecimal, or None.
        etag: Changes with the content, or "".
    """

    url: str
    size: int | None
    sha256: str | None
    etag: str


def download_model(
    uri: str,
    folder: Path,
    *,
    progress: Progress = lambda *_: None,
    cancelled: Callable[[], bool] = lambda: False,
    hub: str = HUB,
    timeout_s: float = 30.0,
    retries: int = 5,
    pause: Callable[[float], None] = time.sleep,
) -> Path:
    """Download a model file into the models folder, unless it is already there.

    An interrupted download is kept, and the next call resumes it as long as the hub has the same file. The file
    gets its
    final name only when complete and verified.

    Args:
        uri: As `hf:owner/repository/file.gguf`.
        folder: Of all models; see `models_folder`.
        progress: Called with bytes present and total bytes, or None if unknown.
        cancelled: Polled about every megabyte.
        hub: Its base URL.
        timeout_s: Seconds without data after which the connection is given up.
        retries: Further attempts in a row without progress.
        pause: Sleeps for some seconds.

    Returns:
        The file.

    Raises:
        InvalidInput: The address is malformed.
        NotFound: The hub has no such file, or requires an account for it.
        ProviderError: The connection kept failing, or the content is not the file.
        StorageError: It cannot be written.
        Locked: Another process is downloading it.
        EmbeddingCancelled: `cancelled` returned true; what has arrived is kept.
    """
    address = ModelAddress.read(uri)
    target = address.file_in(folder)
    if target.is_file():
        return target
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(part.with_name(part.name + ".lock"), uri):
            _Download(address.url(hub), part, progress, cancelled, timeout_s, retries, pause).run()
            part.replace(target)
            _note_of(part).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"The model cannot be written: {error.strerror or error}.",
            where=str(part),
            remedy="Make room there, or set embedding.model_folder to another folder.",
        ) from error
    return target


@dataclass
class _Download:
    url: str
    part: Path
    progress: Progress
    cancelled: Callable[[], bool]
    timeout_s: float
    retries: int
    pause: Callable[[float], None]

    def run(self) -> None:
        """Download the file to its temporary path and verify it."""
        deadline = time.monotonic() + _LONGEST_WAIT_S
        remote = with_retries(self._look, retries=self.retries, deadline=deadline, pause=self.pause)
        self._forget_another(remote)
        fruitless = 0
        while True:
            before = self._arrived()
            try:
                self._fetch(remote)
                break
            except PassingFault as fault:
                # An attempt that makes progress does not count.
                fruitless = 0 if self._arrived() > before else fruitless + 1
                wait = pause_before(max(0, fruitless - 1), fault.retry_after_s)
                if fruitless > self.retries or wait > _LONGEST_WAIT_S:
                    raise fault.error from fault.error.__cause__
                self.pause(wait)
        self._check(remote)

    def _look(self) -> RemoteFile:
        """Fetch the file's metadata, following redirects; the hub takes precedence over a mirror."""
        url, size, sha256, etag = self.url, None, None, ""
        for _ in range(_MOST_REDIRECTS):
            with self._open(url, {}, "HEAD") as answer:
                told = answer.headers
                linked = told.get("X-Linked-Etag", "").strip('W/"')
                sha256 = sha256 or (linked if _SHA256.fullmatch(linked) else None)
                size = size if size is not None else _number(told.get("X-Linked-Size"))
                if answer.status in (301, 302, 303, 307, 308):
                    url = _onward(url, told.get("Location", ""))
                    continue
                self._complain(answer)
                size = size if size is not None else _number(told.get("Content-Length"))
                etag = linked or told.get("ETag", "")
                return RemoteFile(url, size, sha256, etag)
        raise ProviderError(
            "The hub sends in circles.", where=self.url, remedy="Check embedding.download_url."
        )

    def _forget_another(self, remote: RemoteFile) -> None:
        """Drop a partial download that belongs to another file."""
        known = {key: value for key, value in asdict(remote).items() if key != "url"}
        note = _note_of(self.part)
        try:
            same = bool(remote.sha256 or remote.etag) and json.loads(note.read_bytes()) == known
        except (OSError, ValueError):
            same = False
        if not same or (remote.size is not None and self._arrived() > remote.size):
            self.part.unlink(missing_ok=True)
            note.write_text(json.dumps(known), encoding="utf-8")

    def _fetch(self, remote: RemoteFile) -> None:
        start = self._arrived()
        if remote.size is not None and start == remote.size:
            return
        # Looked up again: signed addresses of mirrors expire soon.
        url = remote.url if start == 0 and remote.url != self.url else self._look().url
        headers = {"Range": f"bytes={start}-"} if start else {}
        with self._open(url, headers, "GET") as answer:
            if answer.status == 416:
                self.part.unlink(missing_ok=True)
                raise PassingFault(self._lost("it has no such part of the file"))
            self._complain(answer)
            if answer.status == 206:
                told = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
                if told is None or int(told[1]) != start:
                    self.part.unlink(missing_ok=True)
                    raise PassingFault(self._lost("it sent another part than was asked for"))
            else:
                start = 0
            expected = _number(answer.headers.get("Content-Length"))
            if None not in (expected, remote.size) and start + (expected or 0) != remote.size:
                raise PassingFault(self._lost("it sends another length than it said"))
            arrived = self._write(answer, start, remote)
        whole = (
            remote.size if remote.size is not None else (start + expected if expected is not None else None)
        )
        if whole is not None and arrived < whole:
            raise PassingFault(self._lost("the connection ended early"))

    def _write(self, answer: http.client.HTTPResponse, start: int, remote: RemoteFile) -> int:
        arrived = start
        with self.part.open("r+b" if start else "wb") as file:
            file.seek(start)
            self.progress(arrived, remote.size)
            while True:
                try:
                    piece = answer.read(_PIECE)
                except http.client.IncompleteRead as error:
                    piece = error.partial
                    if not piece:
                        break
                except CONNECTION_FAULTS as error:
                    raise PassingFault(self._lost(str(error) or type(error).__name__)) from error
                if not piece:
                    break
                file.write(piece)
                arrived += len(piece)
                self.progress(arrived, remote.size)
                if self.cancelled():
                    raise EmbeddingCancelled
            file.flush()
            os.fsync(file.fileno())
        return arrived

    def _check(self, remote: RemoteFile) -> None:
        digest = hashlib.sha256()
        with self.part.open("rb") as file:
            beginning = file.read(4)
            file.seek(0)
            while piece := file.read(_PIECE):
                digest.update(piece)
        fault = None
        if remote.size is not None and self._arrived() != remote.size:
            fault = f"it has {self._arrived():,} bytes instead of {remote.size:,}"
        elif remote.sha256 is not None and digest.hexdigest() != remote.sha256:
            fault = "its checksum is not the one that the hub gives"
        elif beginning != b"GGUF":
            fault = "it is no GGUF file"
        if fault:
            self.part.unlink()
            raise ProviderError(
                f"What was downloaded is not the model: {fault}.", where=self.url, remedy="Download it again."
            )

    def _open(self, url: str, headers: dict[str, str], method: str) -> http.client.HTTPResponse:
        if self.cancelled():
            raise EmbeddingCancelled
        try:
            return open_url(
                url,
                headers={"Accept-Encoding": "identity", **headers},
                timeout_s=self.timeout_s,
                method=method,
            )
        except CONNECTION_FAULTS as error:
            raise PassingFault(self._lost(str(error) or type(error).__name__)) from error

    def _complain(self, answer: http.client.HTTPResponse) -> None:
        if answer.status in (200, 206):
            return
        if answer.status in (401, 403, 404, 410):
            raise NotFound(
                "The hub has no such file, or does not give it without an account.",
                where=self.url,
                remedy="Check embedding.model_path, or download the file yourself and name its path there.",
            )
        raise PassingFault(
            self._lost(f"it answers {answer.status}"), seconds_asked_for(answer.headers.get("Retry-After"))
        )

    def _lost(self, reason: str) -> ProviderError:
        return ProviderError(
            f"The model cannot be downloaded now: {reason}.",
            where=self.url,
            remedy="Start it again later; it goes on from where it is.",
        )

    def _arrived(self) -> int:
        try:
            return self.part.stat().st_size
        except FileNotFoundError:
            return 0


def _onward(url: str, location: str) -> str:
    onward = urljoin(url, location)
    if urlsplit(url).scheme == "https" and urlsplit(onward).scheme != "https":
        raise ProviderError(
            "The hub sends on to a place without encryption.",
            where=url,
            remedy="Check embedding.download_url.",
        )
    return onward


def _number(header: str | None) -> int | None:
    return int(header) if header is not None and header.isascii() and header.isdigit() else None


def _note_of(part: Path) -> Path:
    return part.with_name(part.name + ".json")


@contextlib.contextmanager
def _alone(lock: Path, uri: str) -> Iterator[None]:
    import fcntl

    with lock.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Locked(
                "Another process is downloading this model.", where=uri, remedy="Wait until it is done."
            ) from error
        yield
