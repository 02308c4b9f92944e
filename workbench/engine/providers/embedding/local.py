"""The local embedder: a GGUF file on this machine, which is downloaded from a hub on request.

A download is resumable and verified before use.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

from workbench.engine.errors import InvalidInput, Locked, NotFound, ProviderError, StorageError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.providers.embedding.embedder import (
    EmbeddingCancelled,
    Prefixes,
    cut_to_bytes,
    prefixes_of,
    unit_rows,
)
from workbench.engine.providers.llama_process import (
    LONGEST_TEXT_BYTES,
    EmbeddingProcess,
    Trial,
    check_model_file,
)
from workbench.engine.providers.model_server import PassingFault, check_web_address, seconds_asked_for
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import httpx2

    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.settings.sections import EmbeddingSettings


_SAMPLE_BYTES = 65_536

DOCUMENTED_MODEL = "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
_ADDRESS = lazy_pattern(
    r"hf:(?P<owner>[\w.-]+)/(?P<repository>[\w.-]+)(?:@(?P<revision>[\w.-]+))?/(?P<file>[\w./ -]+\.gguf)",
    re.ASCII | re.IGNORECASE,
)
_PIECE = 1 << 20
_MOST_REDIRECTS = 8
_SHA256 = lazy_pattern(r"[0-9a-f]{64}")
_RANGE = lazy_pattern(r"bytes (\d+)-\d+/(\d+|\*)")
_LONGEST_WAIT_S = 120.0
# Seconds without data after which a connection is given up, and further attempts in a row without progress.
_TIMEOUT_S = 30.0
_RETRIES = 5

Progress = Callable[[int, int | None], None]


class LocalEmbedder:
    """Embeds through llama.cpp in a child process started on first use; requests take turns.

    Args:
        path: The GGUF file; never downloaded here.
        prefixes: Prefixes of questions and passages; by default those for the file's name.
        remedy: Advice if the file is missing.
        trials: Folder that records whether the model failed here, or None.
    """

    provider = "local"
    is_instant = False

    def __init__(
        self,
        path: Path,
        prefixes: Prefixes | None = None,
        *,
        remedy: str = "Set embedding.model_path to a GGUF file.",
        trials: Path | None = None,
    ) -> None:
        self._path = path
        self._prefixes = prefixes_of(path.name) if prefixes is None else prefixes
        self._remedy = remedy
        self._trial = Trial(path, "embedding", trials)
        self._loaded: EmbeddingProcess | None = None
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        return self._path.name

    @property
    def fingerprint(self) -> str:
        """Return the model's identity, sampling its file rather than reading it all.

        Raises:
            ProviderError: The file is missing, not GGUF, or failed its trial here.
        """
        self._trial.check()
        return self._identity

    @cached_property
    def _identity(self) -> str:
        return (
            f"local {self._path.name} {_sample_digest(self._path, self._remedy)}"
            f" query={self._prefixes.query!r} passage={self._prefixes.passage!r}"
        )

    @property
    def dimensions(self) -> int | None:
        loaded = self._loaded
        return loaded.dimensions if loaded else None

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        return self._embed(self._prefixes.passage, texts, cancelled)

    def embed_query(self, text: str) -> FloatArray:
        row: FloatArray = self._embed(self._prefixes.query, [text], lambda: False)[0]
        return row

    def try_again(self) -> None:
        """Forget that the model failed its trial."""
        self._trial.forget()

    def close(self) -> None:
        with self._lock:
            loaded, self._loaded = self._loaded, None
            if loaded is not None:
                loaded.close()

    def _embed(self, prefix: str, texts: Sequence[str], cancelled: Callable[[], bool]) -> FloatArray:
        import numpy as np

        filled = [at for at, text in enumerate(texts) if text.strip()]
        with self._lock:
            model = self._load()
            result = np.zeros((len(texts), model.dimensions), dtype=np.float32)
            sequences = model.tokens([cut_to_bytes(prefix + texts[at], LONGEST_TEXT_BYTES) for at in filled])
            # Grouping texts of similar length reduces padding.
            order = sorted(range(len(filled)), key=lambda at: len(sequences[at]))
            cuts = _batches([len(sequences[at]) for at in order], model.batch_tokens, model.batch_texts)
        for start, end in cuts:
            if cancelled():
                raise EmbeddingCancelled
            chosen = order[start:end]
            # Released between batches, so that a question need not wait for a backfill.
            with self._lock:
                rows = self._load().embed([sequences[at] for at in chosen])
            checked = unit_rows(rows, count=len(chosen), dimensions=model.dimensions, where=str(self._path))
            result[[filled[at] for at in chosen]] = checked
        return result

    def _load(self) -> EmbeddingProcess:
        if self._loaded is None or not self._loaded.is_running:
            check_model_file(self._path, self._remedy)
            self._loaded = None
            self._loaded = EmbeddingProcess(self._trial)
        return self._loaded


def _batches(lengths: Sequence[int], most_tokens: int, most_texts: int) -> list[tuple[int, int]]:
    """Return the start and end of each batch."""
    cuts: list[tuple[int, int]] = []
    start = size = 0
    for at, length in enumerate(lengths):
        if at > start and (size + length > most_tokens or at - start >= most_texts):
            cuts.append((start, at))
            start, size = at, 0
        size += length
    if start < len(lengths):
        cuts.append((start, len(lengths)))
    return cuts


def _sample_digest(path: Path, remedy: str) -> str:
    """Digest a model file's size, beginning and end, rather than hundreds of megabytes."""
    check_model_file(path, remedy)
    try:
        with path.open("rb") as file:
            beginning = file.read(_SAMPLE_BYTES)
            size = file.seek(0, 2)
            file.seek(max(0, size - _SAMPLE_BYTES))
            return hashlib.sha256(beginning + file.read() + str(size).encode()).hexdigest()[:16]
    except OSError as error:
        raise ProviderError(
            f"The model file cannot be read: {error.strerror}.", where=str(path), remedy=remedy
        ) from error


@dataclass(frozen=True)
class ModelAddress:
    """Address of a model file on a hub."""

    owner: str
    repository: str
    file: str
    revision: str = "main"

    @classmethod
    def read(cls, address: str) -> ModelAddress:
        """Parse `hf:owner/repository/file.gguf` or `hf:owner/repository@revision/file.gguf`.

        Raises:
            InvalidInput: The address is malformed.
        """
        found = _ADDRESS.fullmatch(address)
        parts = [part for group in found.groups("main") for part in group.split("/")] if found else []
        if found is None or any(not part.strip(". ") for part in parts):
            raise InvalidInput(
                "This is no address of a model.",
                where=address[:200],
                remedy="Write it as hf:owner/repository/file.gguf.",
            )
        return cls(found["owner"], found["repository"], found["file"], found["revision"] or "main")

    def url(self, hub: str) -> str:
        """Return the file's URL on a hub."""
        path = f"{self.owner}/{self.repository}/resolve/{self.revision}/{quote(self.file)}"
        return f"{hub.rstrip('/')}/{path}"

    def file_in(self, folder: Path) -> Path:
        """Return the file's path in a models folder; other revisions are kept beside it."""
        below = folder / self.owner / self.repository
        return (below / f"@{self.revision}" if self.revision != "main" else below) / self.file


def models_folder(configured: str) -> Path:
    """Return the folder of downloaded models: the configured one, else one in the user's cache."""
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("workbench", appauthor=False)) / "models"


def download_model(settings: EmbeddingSettings, *, progress: Progress = lambda *_: None) -> Path:
    """Download the configured model, else the documented one, unless it is already there.

    An interrupted download is kept, and the next call resumes it as long as the hub has the same file. The file
    gets its final name only when complete and verified.

    Args:
        progress: Called with bytes present and total bytes, or None if unknown.

    Returns:
        The file.

    Raises:
        InvalidInput: A local file is configured, or the address is malformed.
        NotFound: The hub has no such file, or requires an account for it.
        ProviderError: The connection kept failing, or the content is not the file.
        StorageError: It cannot be written.
        Locked: Another process is downloading it.
    """
    import httpx2

    address = ModelAddress.read(settings.model_path or DOCUMENTED_MODEL)
    check_web_address(settings.download_url)
    target = address.file_in(models_folder(settings.model_folder))
    if target.is_file():
        return target
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            _alone(part.with_name(part.name + ".lock"), str(target)),
            httpx2.Client(headers={"Accept-Encoding": "identity"}, timeout=_TIMEOUT_S) as client,
        ):
            _Download(client, address.url(settings.download_url), part, progress).run()
            part.replace(target)
            _note_of(part).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            f"The model cannot be written: {error.strerror or error}.",
            where=str(part),
            remedy="Make room there, or set embedding.model_folder to another folder.",
        ) from error
    return target


@dataclass(frozen=True)
class RemoteFile:
    """A hub's metadata of a file.

    Args:
        size: In bytes, or None.
        sha256: In hexadecimal, or None.
        etag: Changes with the content, or "".
    """

    url: str
    size: int | None
    sha256: str | None
    etag: str


@dataclass
class _Download:
    client: httpx2.Client
    url: str
    part: Path
    progress: Progress

    def run(self) -> None:
        """Download the file to its temporary path and verify it."""
        remote: RemoteFile | None = None
        fruitless = 0
        while True:
            before = self._arrived()
            try:
                if remote is None:
                    remote = self._look()
                    self._forget_another(remote)
                self._fetch(remote)
                break
            except PassingFault as fault:
                # An attempt that makes progress does not count.
                fruitless = 0 if self._arrived() > before else fruitless + 1
                wait = fault.pause(max(0, fruitless - 1))
                if fruitless > _RETRIES or wait > _LONGEST_WAIT_S:
                    raise fault.error from fault.error.__cause__
                sleep(wait)
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
                if answer.status_code in (301, 302, 303, 307, 308):
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
            if answer.status_code == 416:
                self.part.unlink(missing_ok=True)
                raise PassingFault(self._lost("it has no such part of the file"))
            self._complain(answer)
            if answer.status_code == 206:
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

    def _write(self, answer: httpx2.Response, start: int, remote: RemoteFile) -> int:
        arrived = start
        with self.part.open("r+b" if start else "wb") as file:
            file.seek(start)
            self.progress(arrived, remote.size)
            try:
                for piece in answer.iter_raw():
                    file.write(piece)
                    arrived += len(piece)
                    self.progress(arrived, remote.size)
            finally:
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

    @contextlib.contextmanager
    def _open(self, url: str, headers: dict[str, str], method: str) -> Iterator[httpx2.Response]:
        import httpx2

        try:
            with self.client.stream(method, url, headers=headers) as answer:
                yield answer
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise PassingFault(self._lost(str(error) or type(error).__name__)) from error

    def _complain(self, answer: httpx2.Response) -> None:
        if answer.status_code in (200, 206):
            return
        if answer.status_code in (401, 403, 404, 410):
            raise NotFound(
                "The hub has no such file, or does not give it without an account.",
                where=self.url,
                remedy="Check embedding.model_path, or download the file yourself and name its path there.",
            )
        raise PassingFault(
            self._lost(f"it answers {answer.status_code}"),
            seconds_asked_for(answer.headers.get("Retry-After")),
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
