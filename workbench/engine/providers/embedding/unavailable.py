"""An embedder that was asked for and lacks what it needs: it says so whenever it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.engine.errors import ProviderError
    from workbench.engine.providers.embedding.model import FloatArray


@dataclass(frozen=True)
class UnavailableEmbedder:
    """Answers everything with the same error.

    Args:
        provider: What was asked for.
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
