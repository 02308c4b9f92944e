"""A stand-in for the package llama-cpp-python: it embeds by counting letters, and fails as native code does.

`install` puts it where this process and its children find it before any other. What a text says it does: one with
the letters of a failure in it fails that way when it is embedded.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

WIDTH = 8
_LOADING = "STAND_IN_LLAMA"
_RUNS = "STAND_IN_LLAMA_RUNS"


def _signalled(number: signal.Signals) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def _hang() -> None:
    time.sleep(3600)


def _print() -> None:
    for _ in range(40):
        os.write(1, b"\x00\xffgarbage\n" * 1000)
        with contextlib.suppress(BlockingIOError):
            os.write(2, b"ggml: all is lost\n" * 1000)


def _print_and_exit() -> None:
    _print()
    os._exit(3)


def _raise() -> None:
    raise RuntimeError("no such thing")


FAILURES: dict[str, Callable[[], None]] = {
    "SIGILL": _signalled(signal.SIGILL),
    "SIGSEGV": _signalled(signal.SIGSEGV),
    "SIGKILL": _signalled(signal.SIGKILL),
    "EXIT": lambda: os._exit(1),
    "HANG": _hang,
    "GARBAGE": _print_and_exit,
    "RAISE": _raise,
}


def install(folder: Path, patch: pytest.MonkeyPatch, *, loading: str = "") -> Path:
    """Make `import llama_cpp` find the stand-in, and return the file whose size is the number of its processes.

    Args:
        folder: For the package.
        patch: Undoes it.
        loading: The failure of every attempt to load a model, or `TALK` to print much; none by default.
    """
    package = folder / "llama_cpp"
    (package / "lib").mkdir(parents=True)
    (package / "lib" / "libllama.so").write_bytes(b"first build")
    (package / "__init__.py").write_text(
        "from tests.engine.providers.stand_in_llama import *\n"
        "from tests.engine.providers.stand_in_llama import began\nbegan()\n"
    )
    patch.syspath_prepend(folder)
    patch.setenv(_LOADING, loading)
    runs = folder / "runs"
    runs.touch()
    patch.setenv(_RUNS, str(runs))
    return runs


def model_file(folder: Path) -> Path:
    """Write a file that passes for a model until it is loaded."""
    path = folder / "model.gguf"
    if not path.exists():
        path.write_bytes(b"GGUF and so on")
    return path


def began() -> None:
    """Count this process."""
    with Path(os.environ[_RUNS]).open("ab") as file:
        file.write(b".")


llama_token = ctypes.c_int32
LLAMA_POOLING_TYPE_NONE, LLAMA_POOLING_TYPE_RANK, _MEAN = 0, 4, 1


def llama_log_callback(function: Any) -> Any:
    return function


def llama_log_set(*_: Any) -> None: ...


def llama_backend_init() -> None: ...


def llama_model_default_params() -> SimpleNamespace:
    return SimpleNamespace()


llama_context_default_params = llama_model_default_params


def llama_model_load_from_file(path: bytes, _settings: Any) -> Any:
    failure = os.environ.get(_LOADING, "")
    if failure in FAILURES:
        FAILURES[failure]()
    if failure == "TALK":
        _print()
    return None if failure == "UNREADABLE" else SimpleNamespace()


def llama_model_n_ctx_train(_model: Any) -> int:
    return 64


def llama_model_n_embd(_model: Any) -> int:
    return WIDTH


def llama_model_get_vocab(model: Any) -> Any:
    return model


def llama_init_from_model(_model: Any, _settings: Any) -> Any:
    return None if os.environ.get(_LOADING) == "NO ROOM" else SimpleNamespace(rows=[])


def llama_pooling_type(_context: Any) -> int:
    return _MEAN


def llama_batch_init(size: int, _embd: int, _most: int) -> SimpleNamespace:
    return SimpleNamespace(
        token=[0] * size, pos=[0] * size, n_seq_id=[0] * size, seq_id=[[0] for _ in range(size)],
        logits=[0] * size, n_tokens=0,
    )  # fmt: skip


def llama_tokenize(_vocabulary: Any, text: bytes, size: int, ids: Any, room: int, *_: bool) -> int:
    if size > room:
        return -size
    ids[:size] = list(text)
    return size


def llama_get_memory(_context: Any) -> None:
    return None


def llama_decode(context: Any, batch: Any) -> int:
    texts: dict[int, bytearray] = {}
    for at in range(batch.n_tokens):
        texts.setdefault(batch.seq_id[at][0], bytearray()).append(batch.token[at])
    context.rows = []
    for _, text in sorted(texts.items()):
        for name, fail in FAILURES.items():
            if name.encode() in text:
                fail()
        row = [1.0] * WIDTH
        for byte in text:
            row[byte % WIDTH] += 1
        context.rows.append((ctypes.c_float * WIDTH)(*row))
    return 0


def llama_get_embeddings_seq(context: Any, number: int) -> Any:
    return ctypes.cast(context.rows[number], ctypes.POINTER(ctypes.c_float))


def llama_batch_free(_batch: Any) -> None: ...


llama_free = llama_model_free = llama_batch_free

__all__ = [name for name in dir(sys.modules[__name__]) if name.lower().startswith("llama")]
