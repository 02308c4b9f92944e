"""The embedder interface, model-specific prefixes, and validation of vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from workbench.engine.errors import ProviderError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]

AUTO = "auto"
"""The setting's value for the model's own prefixes."""
_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
_REPRESENT = "Represent this sentence for searching relevant passages: "


class EmbeddingCancelled(Exception):
    """The caller cancelled; nothing was embedded."""


class Embedder(Protocol):
    """Turns texts into unit vectors; thread-safe.

    Args:
        provider: builtin, local, openai or gemini.
        model: The model's name for display.
        fingerprint: Everything that vectors depend on (provider, model, end point, prefixes, revision) in one line,
            without secrets: vectors of different fingerprints are never compared.
        dimensions: Of its vectors; None until a server's first answer.
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
        """Embed texts to be found.

        Returns:
            One float32 row of length 1 per text; zeros for a text with nothing to embed.

        Raises:
            ProviderError: The embedder fails at present; the message gives reason and remedy.
            EmbeddingCancelled: `cancelled`, polled between batches, returned true.
        """
        ...

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question as one row; otherwise like `embed_passages`."""
        ...

    def close(self) -> None:
        """Free memory and connections."""
        ...


def unit_rows(rows: Any, *, count: int, dimensions: int | None, where: str) -> FloatArray:
    """Normalise a model's vectors to rows of length 1; rows of zeros stay.

    Args:
        rows: One sequence of numbers per text.
        count: Expected number of rows.
        dimensions: Expected length, or None if not known yet.
        where: The endpoint, for errors.

    Raises:
        ProviderError: They are too few, of different or wrong lengths, or not finite.
    """
    import numpy as np

    try:
        matrix = np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise unusable("its vectors are no lists of numbers of one length", where) from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise unusable("its vectors are no lists of numbers of one length", where)
    if len(matrix) != count:
        raise unusable(f"it gave {len(matrix)} vectors for {count} texts", where)
    if dimensions is not None and matrix.shape[1] != dimensions:
        raise unusable(f"its vectors have {matrix.shape[1]} dimensions instead of {dimensions}", where)
    if not np.isfinite(matrix).all():
        raise unusable("its vectors hold numbers that are not finite", where)
    # Scale by the largest part first: squares of very large or small numbers overflow.
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    np.divide(matrix, largest, out=matrix, where=largest > 0)
    lengths = np.sqrt((matrix * matrix).sum(axis=1, keepdims=True))
    np.divide(matrix, lengths, out=matrix, where=lengths > 0)
    return matrix.astype(np.float32)


def unusable(reason: str, where: str) -> ProviderError:
    return ProviderError(
        f"The embedding model’s answer cannot be used: {reason}.",
        where=where,
        remedy="Check the model’s name and its dimensions in your settings.",
    )


@dataclass(frozen=True)
class Prefixes:
    """Prefixes of questions and passages."""

    query: str = ""
    passage: str = ""


# Matched within a model's name, specific ones first; each comes from its model card.
_BY_NAME: tuple[tuple[str, Prefixes], ...] = (
    ("embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    ("nomic-embed", Prefixes("search_query: ", "search_document: ")),
    ("qwen3-embedding", Prefixes(_INSTRUCTION)),
    ("e5-mistral", Prefixes(_INSTRUCTION)),
    ("e5-large-instruct", Prefixes(_INSTRUCTION)),
    ("e5-", Prefixes("query: ", "passage: ")),
    ("arctic-embed-l-v2", Prefixes("query: ")),
    ("arctic-embed-m-v2", Prefixes("query: ")),
    ("arctic-embed", Prefixes(_REPRESENT)),
    ("mxbai-embed", Prefixes(_REPRESENT)),
    ("bge-m3", Prefixes()),
    ("bge-small-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    ("bge-base-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    ("bge-large-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    ("bge-", Prefixes(_REPRESENT)),
)


def prefixes_of(model: str, *, query: str = AUTO, passage: str = AUTO) -> Prefixes:
    """Return the prefixes for a model.

    Args:
        model: Its name, or the name of its file.
        query: Replacement for the question prefix, or `auto`.
        passage: Replacement for the passage prefix, or `auto`.
    """
    name = model.casefold().replace("_", "-")
    known = next((prefixes for part, prefixes in _BY_NAME if part in name), Prefixes())
    return Prefixes(known.query if query == AUTO else query, known.passage if passage == AUTO else passage)
