"""One embedder that steps in for another while that one fails, and says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.errors import ProviderError

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import Embedder, FloatArray

COOL_DOWN_S = 60.0


@dataclass(frozen=True)
class Embedded:
    """Vectors, and whose they are.

    Args:
        vectors: One row per text, or one row alone for a question.
        provider: builtin, local, openai or gemini.
        model: The model's name.
        fingerprint: Vectors of different fingerprints are never compared.
        fallback: Why not the configured embedder made them, in a sentence; None where it did.
    """

    vectors: FloatArray
    provider: str
    model: str
    fingerprint: str
    fallback: str | None = None


@dataclass(frozen=True)
class Standing:
    """Whose turn it is now.

    Args:
        embedder: What would be asked; None where there is nothing to ask.
        fallback: Why it is not the configured one, in a sentence; None where it is.
    """

    embedder: Embedder | None
    fallback: str | None


class FallbackEmbedder:
    """Asks the first embedder; where that fails, the second answers until the first has had time to recover.

    Safe from several threads. While one thread tries the first again, others are still answered by the second.

    Args:
        primary: What was configured; None for keywords alone.
        fallback: What steps in; None for nothing.
        cool_down_s: Seconds that the first is left alone after a failure.
        monotonic: Seconds that only go up.
    """

    def __init__(
        self,
        primary: Embedder | None,
        fallback: Embedder | None,
        *,
        cool_down_s: float = COOL_DOWN_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.primary = primary
        self.fallback = fallback
        self._cool_down_s = cool_down_s
        self._monotonic = monotonic
        self._failure: ProviderError | None = None
        self._left_alone_until = 0.0
        self._lock = threading.Lock()

    @property
    def failure(self) -> ProviderError | None:
        """Return how the first failed last; None while it works."""
        return self._failure

    def standing(self) -> Standing:
        """Return whose turn it is now, having made sure that it can be told from others by its fingerprint."""
        if self.primary is not None and self._may_ask():
            try:
                _ = self.primary.fingerprint
            except ProviderError as error:
                self._note(error)
            else:
                return Standing(self.primary, None)
        return Standing(self.fallback if self.primary is not None else None, self._reason())

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> Embedded:
        """Embed texts that are to be found, all by the same embedder.

        Raises:
            ProviderError: Neither can do it now; or nothing is configured that could.
            EmbeddingCancelled: `cancelled` said so.
        """
        return self._ask(lambda embedder: embedder.embed_passages(texts, cancelled=cancelled))

    def embed_query(self, text: str) -> Embedded:
        """Embed a question.

        Raises:
            ProviderError: As for passages.
        """
        return self._ask(lambda embedder: embedder.embed_query(text))

    def failed(self, embedder: Embedder, error: ProviderError) -> None:
        """Take note that an embedder of `standing`, asked directly, failed."""
        if embedder is self.primary:
            self._note(error)

    def worked(self, embedder: Embedder) -> None:
        """Take note that an embedder of `standing`, asked directly, answered."""
        if embedder is self.primary:
            self._failure = None

    def close(self) -> None:
        """Let go of both."""
        for embedder in (self.primary, self.fallback):
            if embedder is not None:
                embedder.close()

    def _ask(self, ask: Callable[[Embedder], FloatArray]) -> Embedded:
        if self.primary is None:
            raise ProviderError(
                "Embeddings are switched off.", where="embedding.provider", remedy="Set it to builtin."
            )
        if self._claim():
            try:
                answer = _answer(self.primary, ask, None)
            except ProviderError as error:
                self._note(error)
            else:
                self._failure = None
                return answer
        assert self._failure is not None
        if self.fallback is None:
            raise self._failure
        return _answer(self.fallback, ask, self._reason())

    def _may_ask(self) -> bool:
        return self._failure is None or self._monotonic() >= self._left_alone_until

    def _claim(self) -> bool:
        """Tell whether this call may ask the first; after a failure that is one call per cool-down."""
        with self._lock:
            if not self._may_ask():
                return False
            if self._failure is not None:
                self._left_alone_until = self._monotonic() + self._cool_down_s
            return True

    def _note(self, error: ProviderError) -> None:
        with self._lock:
            self._failure = error
            self._left_alone_until = self._monotonic() + self._cool_down_s

    def _reason(self) -> str | None:
        failure = self._failure
        if failure is None or self.primary is None:
            return None
        instead = (
            f"{self.fallback.provider} answers instead" if self.fallback else "only keywords are searched"
        )
        return f"The embedder {self.primary.provider} failed, {instead}: {failure.message}"


def _answer(embedder: Embedder, ask: Callable[[Embedder], FloatArray], fallback: str | None) -> Embedded:
    fingerprint = embedder.fingerprint
    return Embedded(ask(embedder), embedder.provider, embedder.model, fingerprint, fallback)
