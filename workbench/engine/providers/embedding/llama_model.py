"""A GGUF embedding model opened through llama.cpp: token ids in, pooled vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.cutting import cut_to_bytes
from workbench.engine.providers.llama_library import (
    OutOfMemory,
    load_llama,
    load_model_file,
    thread_count,
    token_ids,
)

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray

# A text's tokens beyond this are cut even where the model takes more: memory is a few hundred tokens long.
_LONGEST_TEXT = 2048
# Far more than that many tokens take; what lies beyond need not be tokenised.
MOST_BYTES = 1 << 16
# Attention is computed over all tokens of a batch, so a larger one is slower for short texts.
_BATCH_TOKENS = 512
MOST_SEQUENCES = 64


class LlamaModel:
    """One model and one context; not safe from several threads.

    Args:
        path: The GGUF file.

    Raises:
        ProviderError: llama-cpp-python is missing, or the file is no embedding model that it can load.
    """

    def __init__(self, path: Path) -> None:
        self._library = load_llama("embedding.provider")
        self._model: Any = load_model_file(self._library, path)
        self._context: Any = None
        self._batch: Any = None
        self.dimensions = 0
        try:
            self._open_context(path)
        except ProviderError:
            self.close()
            raise

    def _open_context(self, path: Path) -> None:
        library = self._library
        trained = int(library.llama_model_n_ctx_train(self._model))
        self.longest_text = max(8, min(trained, _LONGEST_TEXT))
        size = max(self.longest_text, _BATCH_TOKENS)
        self.batch_tokens = size
        settings = library.llama_context_default_params()
        settings.n_ctx = settings.n_batch = settings.n_ubatch = size
        settings.n_seq_max = MOST_SEQUENCES
        settings.kv_unified = True
        settings.embeddings = True
        settings.n_threads = settings.n_threads_batch = thread_count()
        self._context = library.llama_init_from_model(self._model, settings)
        if not self._context:
            raise OutOfMemory(
                "llama.cpp cannot make a context for this model.",
                where=str(path),
                remedy="Free some memory, or use a smaller model.",
            )
        pooling = int(library.llama_pooling_type(self._context))
        if pooling in (library.LLAMA_POOLING_TYPE_NONE, library.LLAMA_POOLING_TYPE_RANK):
            raise ProviderError(
                "This is no embedding model: it gives no one vector for a text.",
                where=str(path),
                remedy="Use an embedding model such as embeddinggemma-300M-Q8_0.gguf.",
            )
        self.dimensions = int(library.llama_model_n_embd(self._model))
        self._batch = library.llama_batch_init(size, 0, 1)

    def tokens(self, text: str) -> list[int]:
        """Return the token ids of a text with the model's marks around it.

        What is too long loses its end, but not the closing mark.
        """
        content = cut_to_bytes(text, MOST_BYTES).encode()
        found = token_ids(self._library, self._model, content, add_marks=True, read_marks=False)
        if len(found) > self.longest_text:
            found = [*found[: self.longest_text - 1], found[-1]]
        return found

    def embed(self, sequences: Sequence[Sequence[int]]) -> FloatArray:
        """Run the model once over some token sequences; they have to fit one batch: `batch_tokens`, `MOST_SEQUENCES`.

        Raises:
            ProviderError: llama.cpp gave up.
        """
        import numpy as np

        library, batch = self._library, self._batch
        assert batch is not None
        at = 0
        for number, sequence in enumerate(sequences):
            for position, token in enumerate(sequence):
                batch.token[at] = token
                batch.pos[at] = position
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = number
                batch.logits[at] = 1
                at += 1
        batch.n_tokens = at
        memory = library.llama_get_memory(self._context)
        if memory:
            library.llama_memory_clear(memory, True)
        if library.llama_decode(self._context, batch) != 0:
            raise ProviderError(
                "llama.cpp could not run the embedding model.",
                remedy="Free some memory, or use a smaller model.",
            )
        rows = np.zeros((len(sequences), self.dimensions), dtype=np.float32)
        for number in range(len(sequences)):
            pointer = library.llama_get_embeddings_seq(self._context, number)
            if not pointer:
                raise ProviderError(
                    "llama.cpp gave no vector for a text.", remedy="Use another embedding model."
                )
            rows[number] = np.ctypeslib.as_array(pointer, shape=(self.dimensions,))
        return rows

    def close(self) -> None:
        """Free the model; it cannot be used any more."""
        if self._batch is not None:
            self._library.llama_batch_free(self._batch)
        if self._context:
            self._library.llama_free(self._context)
        if self._model:
            self._library.llama_model_free(self._model)
        self._batch = self._context = self._model = None
