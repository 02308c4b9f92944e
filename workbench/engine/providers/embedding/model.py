"""What an embedder is: something that turns texts into unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]


class EmbeddingCancelled(Exception):
    """The caller took its order back; nothing was embedded."""


class Embedder(Protocol):
    """Turns texts into unit vectors; safe from several threads.

    Args:
        provider: builtin, local, openai or gemini.
        model: The model's name as answers show it.
        fingerprint: Everything that vectors depend on (provider, model, end point, prefixes, revision) in one line,
            without secrets: vectors of different fingerprints are never compared.
        dimensions: Of its vectors; None until the first answer of a server tells.
        is_instant: Whether embedding thousands of texts takes well under a second.
    """

    @property
    def provider(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def dimensions(self) -> int | None: ...
    @property
    def is_instant(self) -> bool: ...

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        """Embed texts that are to be found.

        Returns:
            One row of length 1 per text, float32; a row of zeros for a text without anything to embed.

        Raises:
            ProviderError: It cannot be done now; the message says why and what helps.
            EmbeddingCancelled: `cancelled`, asked between batches, said so.
        """
        ...

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question; one row, as `embed_passages` gives them, with the same errors."""
        ...

    def close(self) -> None:
        """Let go of memory and connections."""
        ...
