"""Makes the vectors of chunks, out of the cache where they were made before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from workbench.engine.clock import Clock
from workbench.engine.providers.embedding.model import EmbeddingCancelled
from workbench.engine.recall.index.embedding_cache import EmbeddingCache
from workbench.engine.recall.index.prepared import Vectors, vectors_of

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import Embedder, FloatArray


# Of a model that runs here these take a second or some; what is stored need not be made again.
_CHUNKS_AT_ONCE = 32


class ChunkEmbedder:
    """Embeds the units of chunks.

    Args:
        embedder: Makes the vectors.
        cache: Keeps them; None where making them again is quicker.
        clock: Tells when a cached vector was used.
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache | None, clock: Clock) -> None:
        self.embedder = embedder
        self._cache = cache
        self._clock = clock

    @property
    def chunks_at_once(self) -> int:
        """Return how many chunks to embed before they are stored."""
        return int(getattr(self.embedder, "chunks_at_once", _CHUNKS_AT_ONCE))

    def embed(
        self, passages: Sequence[Sequence[str]], *, cancelled: Callable[[], bool] = lambda: False
    ) -> list[Vectors] | None:
        """Return the vectors of chunks; None where it was cancelled.

        Args:
            passages: Of each chunk the texts of its units, at least one.
            cancelled: Asked now and then.

        Raises:
            ProviderError: It cannot be done now.
        """
        cache = self._cache
        if cache is None:
            return self._make(passages, cancelled)
        now = int(self._clock.now().timestamp())
        keys = [cache.key(each) for each in passages]
        # A server may have come to serve another model by the same name; its first answer tells.
        fitting = self.embedder.dimensions
        known = {
            key: vectors
            for key, vectors in cache.get(dict.fromkeys(keys), now).items()
            if fitting in (None, len(vectors.whole))
        }
        missing = {key: each for key, each in zip(keys, passages, strict=True) if key not in known}
        if missing:
            vectors = self._make(list(missing.values()), cancelled)
            if vectors is None:
                return None
            made = dict(zip(missing, vectors, strict=True))
            cache.put(made, now)
            known |= made
        return [known[key] for key in keys]

    def _make(self, passages: Sequence[Sequence[str]], cancelled: Callable[[], bool]) -> list[Vectors] | None:
        texts = list(dict.fromkeys(text for each in passages for text in each))
        try:
            rows: FloatArray = self.embedder.embed_passages(texts, cancelled=cancelled)
        except EmbeddingCancelled:
            return None
        if cancelled():
            return None
        places = {text: at for at, text in enumerate(texts)}
        return [vectors_of(rows[[places[text] for text in each]]) for each in passages]
