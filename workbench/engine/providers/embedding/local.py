"""The local embedder: a GGUF file on this machine."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled, Prefixes, prefixes_of, unit_rows
from workbench.engine.providers.llama_models import MOST_BYTES, check_model_file, cut_to_bytes
from workbench.engine.providers.llama_process import EmbeddingProcess, Trial

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray

_SAMPLE_BYTES = 65_536


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
            sequences = model.tokens([cut_to_bytes(prefix + texts[at], MOST_BYTES) for at in filled])
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
    """Return the start and end of each batch.

    Args:
        lengths: Of the texts, in tokens.
        most_tokens: Maximum per batch.
        most_texts: Maximum per batch.
    """
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
