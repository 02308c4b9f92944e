"""Runs a llama.cpp model in a child process, and records models that crash it."""

from __future__ import annotations

import array
import contextlib
import hashlib
import json
import os
import platform
import select
import signal
import stat
import struct
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Generator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.errors import ProviderError, StorageError
from workbench.engine.file_access import replace_file
from workbench.engine.providers.chat import ChatMessage
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


_LIBRARY = "llama_cpp"
_DISTRIBUTION = "llama-cpp-python"
_FRAME_MARK: Final = b"WbLm"
_GGUF: Final = b"GGUF"
# Far more than any model takes of a text; the rest need not be tokenised.
LONGEST_TEXT_BYTES: Final = 1 << 16
# Seconds to load a model and run it once, extra for reading its file, and per batch or token afterwards.
START_SECONDS: Final = 60.0
ANSWER_SECONDS: Final = 300.0
_SLOWEST_DISK: Final = 50_000_000
_END_SECONDS: Final = 5.0
_MOST_SAID: Final = 65_536
# Only modules that this process could import, whatever its working folder.
_PROGRAM: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from workbench.engine.providers.llama_worker import serve; serve()"
)
_REBUILD: Final = (
    "Build it for this machine: CMAKE_ARGS=-DGGML_NATIVE=OFF pip install --force-reinstall --no-deps"
    " --no-binary llama-cpp-python llama-cpp-python. Then try the model again: workbench doctor"
)
_MAKE_ROOM: Final = "Free some memory or use a smaller model. Then try it again: workbench doctor"
_TRY_AGAIN: Final = (
    "Use another model, or install llama-cpp-python again. Then try it again: workbench doctor"
)


@dataclass(frozen=True)
class Trial:
    """A model's first run on this machine.

    A recorded failure holds for one build of llama.cpp, one state of the model file and one processor. It is not
    retried until one of them changes or it is forgotten. Success leaves no record: the run simply continues.

    Args:
        folder: Folder for records of failures, or None.
    """

    model: Path
    purpose: str
    folder: Path | None

    def check(self) -> None:
        """Raise the recorded failure if it still holds.

        Raises:
            ProviderError: The model failed here before, and nothing has changed.
        """
        found = self._read()
        if found is not None and found.get("conditions") == self._conditions():
            raise ProviderError(found["message"], where=found["where"], remedy=found["remedy"])

    def record(self, failure: ProviderError) -> None:
        """Record a failure; if the folder cannot be written, the next process finds out itself."""
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
            with replace_file(place, "The model's trial cannot be recorded") as file:
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
    """Return the identity of the llama-cpp-python build without loading it."""
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
    """Return whether llama-cpp-python is installed, without loading it."""
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


_HEAD: Final = struct.Struct("!4sII")

Read = Callable[[int], bytes]
Reply = tuple[dict[str, Any], bytes]


def packed(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Return a frame."""
    told = json.dumps(header).encode()
    return _HEAD.pack(_FRAME_MARK, len(told), len(body)) + told + body


def unpacked(read: Read) -> Reply:
    """Return the next frame's object and bytes.

    Args:
        read: Returns exactly the given number of bytes.

    Raises:
        ValueError: The data is not a frame.
    """
    magic, told, size = _HEAD.unpack(read(_HEAD.size))
    if magic != _FRAME_MARK:
        raise ValueError("no frame")
    header = json.loads(read(told))
    if not isinstance(header, dict):
        raise ValueError("no object")
    return header, read(size)


def pack_ids(sequences: Sequence[Sequence[int]]) -> Reply:
    """Pack token sequences as their lengths and 32-bit numbers."""
    joined = array.array("i", [token for sequence in sequences for token in sequence])
    return {"lengths": [len(sequence) for sequence in sequences]}, joined.tobytes()


def unpack_ids(header: dict[str, Any], body: bytes) -> list[list[int]]:
    """Unpack the token sequences of `pack_ids`."""
    joined = array.array("i")
    joined.frombytes(body)
    ids, at = joined.tolist(), 0
    sequences = []
    for length in header["lengths"]:
        sequences.append(ids[at : at + length])
        at += length
    return sequences


def check_model_file(path: Path, remedy: str) -> None:
    """Check that a file is readable and GGUF before loading anything for it.

    Raises:
        ProviderError: It is not.
    """
    try:
        # A pipe or a device would block, or never end.
        if stat.S_ISREG(path.stat().st_mode):
            with path.open("rb") as file:
                if file.read(len(_GGUF)) == _GGUF:
                    return
    except OSError as error:
        raise ProviderError(
            f"The model file cannot be read: {error.strerror}.", where=str(path), remedy=remedy
        ) from error
    raise ProviderError("This is no GGUF file.", where=str(path), remedy=remedy)


class LlamaProcess:
    """A model in a child process; not thread-safe.

    Args:
        trial: The model and the record of its first run.
        context_tokens: For a chat model.

    Raises:
        ProviderError: The model cannot be run here.
    """

    def __init__(self, trial: Trial, *, context_tokens: int = 0) -> None:
        trial.check()
        if not is_installed():
            raise ProviderError(
                "The package llama-cpp-python, which runs local models, is not installed.",
                where=str(trial.model),
                remedy="Run: pip install 'memory-workbench[local]'.",
            )
        self._where = str(trial.model)
        self._child: _Child | None = _Child(self._where)
        opening = {"purpose": trial.purpose, "path": self._where, "context": context_tokens}
        try:
            self.about = self._ask(opening, seconds=start_seconds(trial.model))[0]
        except BaseException as failure:
            self.close()
            if isinstance(failure, _Failed) and failure.lasting:
                trial.record(failure)
            raise
        trial.forget()

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _ask(self, header: dict[str, Any], body: bytes = b"", *, seconds: float | None = None) -> Reply:
        """Return the reply to a request.

        Raises:
            ProviderError: The model failed, or its process died; then the model must be opened again.
        """
        child = self._child
        if child is None:
            raise _Failed("The process of the local model has ended.", self._where, None, lasting=False)
        try:
            reply, content = child.ask(packed(header, body), ANSWER_SECONDS if seconds is None else seconds)
        except BaseException:
            # Its next output would pass for the answer to another request.
            self.close()
            raise
        if "error" in reply:
            raise _Failed(
                str(reply["error"]),
                reply.get("where") or self._where,
                reply.get("remedy"),
                lasting=not reply.get("passing"),
            )
        return reply, content

    @property
    def is_running(self) -> bool:
        """Return whether the process is usable; a fork of ours has none."""
        return self._child is not None and self._child.owner == os.getpid()


class EmbeddingProcess(LlamaProcess):
    """An embedding model: token ids in, pooled vectors out."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial)
        self.dimensions = int(self.about["dimensions"])
        self.batch_tokens, self.batch_texts = int(self.about["batch_tokens"]), int(self.about["batch_texts"])

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of texts with the model's markers, cut to its limit."""
        return unpack_ids(*self._ask({"ask": "tokens", "texts": list(texts)}))

    def embed(self, sequences: Sequence[Sequence[int]]) -> FloatArray:
        """Run the model once over token sequences that fit one batch."""
        import numpy as np

        header, body = pack_ids(sequences)
        _, rows = self._ask({"ask": "embed", **header}, body)
        return np.frombuffer(rows, dtype=np.float32).reshape(len(sequences), self.dimensions)


class ChatProcess(LlamaProcess):
    """A chat model: a conversation in, sampled text out."""

    def __init__(self, trial: Trial, context_tokens: int) -> None:
        super().__init__(trial, context_tokens=context_tokens)
        self.context_tokens = int(self.about["context"])

    def tokens(self, messages: Sequence[ChatMessage]) -> list[int]:
        """Return the token ids of a conversation in the model's chat format."""
        told = [[message.role, message.content] for message in messages]
        return unpack_ids(*self._ask({"ask": "tokens", "messages": told}))[0]

    def generate(self, prompt: Sequence[int], schema: str | None) -> Generator[bytes | None]:
        """Generate text until the model ends its turn.

        Args:
            prompt: At least one token, fewer than `context_tokens`.
            schema: JSON schema that constrains the answer; None for any text.

        Yields:
            None after every batch of the prompt, then the UTF-8 of one token after another, which may end
            within a character.
        """
        header, body = pack_ids([prompt])
        self._ask({"ask": "generate", "schema": schema, **header}, body)
        while True:
            reply, piece = self._ask({"ask": "next"})
            if reply.get("ended"):
                return
            yield piece if reply["said"] else None


class _Failed(ProviderError):
    """A request failed.

    Args:
        lasting: Whether it would fail again in the same way.
    """

    def __init__(self, message: str, where: str, remedy: str | None, *, lasting: bool) -> None:
        super().__init__(message, where=where, remedy=remedy)
        self.lasting = lasting


class _Child:
    """The child process and its pipes."""

    def __init__(self, where: str) -> None:
        self.owner = os.getpid()
        self._where = where
        complaints, errors = os.pipe()
        # Output beyond the pipe's capacity is dropped, so that nobody has to read it.
        os.set_blocking(errors, False)
        os.set_blocking(complaints, False)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, json.dumps([str(entry) for entry in sys.path])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                # Ctrl-C is for the parent; this process ends with its requests.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(complaints)
            why = error.strerror if isinstance(error, OSError) else error
            raise _Failed(
                f"The process of the local model cannot be started: {why}.", where, None, lasting=False
            ) from error
        finally:
            os.close(errors)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._complaints = complaints
        for pipe in (self._requests, self._replies):
            os.set_blocking(pipe, False)
        self._end = weakref.finalize(self, _end, self._process, complaints, self.owner)

    def end(self) -> None:
        self._end()

    def ask(self, request: bytes, seconds: float) -> Reply:
        """Return the reply to a frame.

        Raises:
            _Failed: The process died, hangs, or sent an invalid reply.
        """
        until = time.monotonic() + seconds
        try:
            left = memoryview(request)
            while left:
                self._wait(self._requests, select.POLLOUT, until, seconds)
                with contextlib.suppress(BlockingIOError):
                    left = left[os.write(self._requests, left) :]
            return unpacked(lambda size: self._read(size, until, seconds))
        except (EOFError, OSError) as error:
            raise self._death() from error
        except ValueError as error:
            raise _Failed(
                "The process of the local model answers nonsense.", self._where, _TRY_AGAIN, lasting=True
            ) from error

    def _read(self, size: int, until: float, seconds: float) -> bytes:
        taken = bytearray()
        while len(taken) < size:
            self._wait(self._replies, select.POLLIN, until, seconds)
            with contextlib.suppress(BlockingIOError):
                part = os.read(self._replies, min(size - len(taken), 1 << 20))
                if not part:
                    raise EOFError
                taken += part
        return bytes(taken)

    def _wait(self, pipe: int, event: int, until: float, seconds: float) -> None:
        poll = select.poll()
        poll.register(pipe, event)
        while not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            if time.monotonic() >= until:
                raise _Failed(
                    f"llama.cpp did not answer within {seconds:g} s.", self._where, _TRY_AGAIN, lasting=True
                )

    def _death(self) -> _Failed:
        """Describe how the process died, and its output."""
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            code = 0
        try:
            lines = os.read(self._complaints, _MOST_SAID).decode("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        said = next((" ".join(line.split())[:200] for line in reversed(lines) if line.strip()), "")
        why, remedy = _told(code)
        return _Failed(f"{why} It said: {said}" if said else why, self._where, remedy, lasting=True)


def start_seconds(model: Path) -> float:
    """Return the time limit for loading and running a model file: a large one on a slow disk is not hanging."""
    try:
        return START_SECONDS + model.stat().st_size / _SLOWEST_DISK
    except OSError:
        return START_SECONDS


def _told(code: int) -> tuple[str, str]:
    """Describe an exit code and its remedy."""
    if code >= 0:
        return f"llama.cpp ended with exit code {code}.", _TRY_AGAIN
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    match name:
        case "SIGILL":
            return (
                f"llama.cpp died of an illegal instruction ({name}): it was built for another processor.",
                _REBUILD,
            )
        case "SIGKILL":
            return f"llama.cpp was killed ({name}), perhaps for want of memory.", _MAKE_ROOM
        case _:
            return f"llama.cpp crashed ({name}).", _REBUILD


def _end(process: subprocess.Popen[bytes], complaints: int, owner: int) -> None:
    """End a process that has nothing to save, and close its pipes."""
    if os.getpid() == owner:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    os.close(complaints)
