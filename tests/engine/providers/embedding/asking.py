"""Asks embedders as search does: whoever's turn it is, and the next where that one fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.errors import ProviderError

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray
    from workbench.engine.providers.selection import Embedders


@dataclass(frozen=True)
class Answer:
    """A question's vector, whose it is, and why not the configured embedder made it."""

    vector: FloatArray
    provider: str
    model: str
    fingerprint: str
    fallback: str | None


def ask(embedders: Embedders, text: str = "x") -> Answer:
    """Embed a question; an error where nobody can."""
    while (embedder := (standing := embedders.turn()).embedder) is not None:
        try:
            vector = embedder.embed_query(text)
        except ProviderError as error:
            embedders.failed(embedder, error)
            continue
        embedders.worked(embedder)
        return Answer(vector, embedder.provider, embedder.model, embedder.fingerprint, standing.fallback)
    raise ProviderError(standing.fallback or "Nothing is configured.")
