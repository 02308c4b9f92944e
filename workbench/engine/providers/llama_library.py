"""llama.cpp as Python finds it: loaded once, without a word, with the files and threads that its models take."""

from __future__ import annotations

import ctypes
import os
import stat
from pathlib import Path
from typing import Any

from workbench.engine.errors import ProviderError

_MAGIC = b"GGUF"

_kept: list[Any] = []


class OutOfMemory(ProviderError):
    """There is no room for a model now; there may be later."""


def load_llama(where: str) -> Any:
    """Return the library, which says nothing on its own.

    Args:
        where: The setting that asks for it, for errors.

    Raises:
        ProviderError: llama-cpp-python is missing or cannot be loaded.
    """
    try:
        import llama_cpp
    except ImportError as error:
        raise ProviderError(
            "The package llama-cpp-python, which runs local models, is not installed.",
            where=where,
            remedy="Run: pip install 'memory-workbench[local]'.",
        ) from error
    except (OSError, RuntimeError) as error:
        raise ProviderError(
            f"The package llama-cpp-python cannot be loaded: {' '.join(str(error).split())[:200]}",
            where=where,
            remedy="Install it again: pip install --force-reinstall 'memory-workbench[local]'.",
        ) from error
    if not _kept:

        def say_nothing(level: int, text: bytes, user_data: ctypes.c_void_p) -> None: ...

        # llama.cpp calls it for as long as the process lives.
        _kept.append(llama_cpp.llama_log_callback(say_nothing))
        llama_cpp.llama_backend_init()
    # Importing another part of the library may have set its own again.
    llama_cpp.llama_log_set(_kept[0], ctypes.c_void_p(0))
    return llama_cpp


def load_model_file(library: Any, path: Path) -> Any:
    """Return a model of the library; the caller frees it.

    Raises:
        ProviderError: It is no file that llama.cpp can load.
    """
    model = library.llama_model_load_from_file(os.fsencode(path), library.llama_model_default_params())
    if not model:
        raise ProviderError(
            "The file cannot be loaded as a model: it is damaged, incomplete or of an unknown kind.",
            where=str(path),
            remedy="Download it again, or update llama-cpp-python.",
        )
    return model


def check_model_file(path: Path, remedy: str) -> None:
    """Make sure that a file can be read and is a GGUF file, before anything is loaded for it.

    Raises:
        ProviderError: It cannot, or is none.
    """
    try:
        # A pipe or a device would be waited for, or read, without end.
        if stat.S_ISREG(path.stat().st_mode):
            with path.open("rb") as file:
                if file.read(len(_MAGIC)) == _MAGIC:
                    return
    except OSError as error:
        raise ProviderError(
            f"The model file cannot be read: {error.strerror}.", where=str(path), remedy=remedy
        ) from error
    raise ProviderError("This is no GGUF file.", where=str(path), remedy=remedy)


def token_ids(library: Any, model: Any, content: bytes, *, add_marks: bool, read_marks: bool) -> list[int]:
    """Return the token ids of a text.

    Args:
        library: llama.cpp.
        model: Whose vocabulary.
        content: UTF-8.
        add_marks: Whether the marks that the model wants around a text are put there.
        read_marks: Whether what reads as a mark of the model becomes one.
    """
    vocabulary = library.llama_model_get_vocab(model)
    room = len(content) + 8
    while True:
        ids = (library.llama_token * room)()
        count = int(
            library.llama_tokenize(vocabulary, content, len(content), ids, room, add_marks, read_marks)
        )
        if count >= 0:
            return list(ids[:count])
        room = -count


def thread_count() -> int:
    """Return how many threads a model is run on."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # One core is left to others: its threads wait for each other, and on a busy machine lose more than they gain.
    return max(1, min(8, available - 1))
