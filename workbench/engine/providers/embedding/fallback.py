"""Chooses the embedder to use when the configured one fails or is missing, and explains why."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.engine.errors import ProviderError

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray


COOL_DOWN_S = 60.0


@dataclass(frozen=True)
class EmbedderStatus:
    """The embedder in use.

    Args:
        embedder: It, or None if there is none.
        fallback: Why it is not the configured one, as a sentence, or None.
    """

    embedder: Embedder | None
    fallback: str | None


class Embedders:
    """Uses the first of two embedders, and the second while the first recovers from a failure.

    Thread-safe. While one thread retries the first, the others use the second.

    Args:
        primary: The configured one; None for keywords only.
        fallback: Its substitute, or None.
        cool_down_s: Seconds without retries after a failure.
        monotonic: Monotonic clock, in seconds.
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
        self.fallback = fallback if primary is not None else None
        pair = (self.primary, self.fallback)
        self._turns = [_Turn(embedder, cool_down_s, monotonic) for embedder in pair if embedder is not None]

    def standing(self) -> EmbedderStatus:
        """Return the embedder that would be used now, provided that its fingerprint is available."""
        for turn in self._turns:
            if turn.may_be_asked() and turn.has_fingerprint():
                return EmbedderStatus(turn.embedder, self._reason(turn))
        return EmbedderStatus(None, self._reason(None))

    def turn(self) -> EmbedderStatus:
        """Return the embedder to use now; the caller reports back with `failed` or `worked`.

        A failed embedder is retried by one caller per cool-down.
        """
        for turn in self._turns:
            if turn.claim() and turn.has_fingerprint():
                return EmbedderStatus(turn.embedder, self._reason(turn))
        return EmbedderStatus(None, self._reason(None))

    def failed(self, embedder: Embedder, error: ProviderError) -> None:
        """Record a failure."""
        for turn in self._turns:
            if turn.embedder is embedder:
                turn.failed(error)

    def worked(self, embedder: Embedder) -> None:
        """Record a success."""
        for turn in self._turns:
            if turn.embedder is embedder:
                turn.worked()

    def try_again(self) -> None:
        """Forget failures, so that the next caller tries the first again."""
        from workbench.engine.providers.embedding.local import LocalEmbedder

        for turn in self._turns:
            turn.worked()
            if isinstance(turn.embedder, LocalEmbedder):
                turn.embedder.try_again()

    def close(self) -> None:
        for turn in self._turns:
            turn.embedder.close()

    def _reason(self, answering: _Turn | None) -> str | None:
        """Return why the first is not in use, as a sentence, or None."""
        if not self._turns or answering is self._turns[0]:
            return None
        if answering is not None:
            first = self._turns[0]
            instead = f"{answering.embedder.provider} answers instead"
            return f"The embedder {first.embedder.provider} failed, {instead}: {_said(first)}"
        failed = [turn for turn in self._turns if turn.failure is not None]
        names = " and ".join(turn.embedder.provider for turn in failed)
        said = " ".join(_said(turn) for turn in failed)
        return f"The embedder {names} failed, only keywords are searched: {said}"


class _Turn:
    """One embedder, its last failure, and the end of its cool-down."""

    def __init__(self, embedder: Embedder, cool_down_s: float, monotonic: Callable[[], float]) -> None:
        self.embedder = embedder
        self.failure: ProviderError | None = None
        self._cool_down_s = cool_down_s
        self._monotonic = monotonic
        self._left_alone_until = 0.0
        self._lock = threading.Lock()

    def may_be_asked(self) -> bool:
        return self.failure is None or self._monotonic() >= self._left_alone_until

    def claim(self) -> bool:
        """Return whether this call may use it; after a failure one call per cool-down may."""
        with self._lock:
            if not self.may_be_asked():
                return False
            if self.failure is not None:
                self._left_alone_until = self._monotonic() + self._cool_down_s
            return True

    def has_fingerprint(self) -> bool:
        try:
            return bool(self.embedder.fingerprint)
        except ProviderError as error:
            self.failed(error)
            return False

    def failed(self, error: ProviderError) -> None:
        with self._lock:
            self.failure = error
            self._left_alone_until = self._monotonic() + self._cool_down_s

    def worked(self) -> None:
        with self._lock:
            self.failure = None


def _said(turn: _Turn) -> str:
    return turn.failure.told if turn.failure else "It is being tried again."


@dataclass(frozen=True)
class UnavailableEmbedder:
    """An embedder that always raises the same error.

    Args:
        provider: The requested provider.
        problem: What it lacks.
    """

    provider: str
    problem: ProviderError
    model: str = ""
    dimensions: int | None = None
    is_instant: bool = False

    @property
    def fingerprint(self) -> str:
        raise self.problem

    def embed_passages(
        self,
        texts: Sequence[str],
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> FloatArray:
        del texts, cancelled
        raise self.problem

    def embed_query(self, text: str) -> FloatArray:
        del text
        raise self.problem

    def close(self) -> None:
        """Nothing is held."""
