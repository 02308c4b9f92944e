"""What an embedder is, the prefixes its model expects, and checking the vectors it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from workbench.engine.errors import ProviderError

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


def unit_rows(rows: Any, *, count: int, dimensions: int | None, where: str) -> FloatArray:
    """Return a model's vectors as rows of length 1; a row of zeros stays one.

    Args:
        rows: One sequence of numbers per text.
        count: How many there have to be.
        dimensions: How long each has to be; None where that is not known yet.
        where: Who answered, for errors.

    Raises:
        ProviderError: They are too few, of different or wrong lengths, or no finite numbers.
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
    # The largest part first, since squares of very large and very small numbers leave the range.
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    np.divide(matrix, largest, out=matrix, where=largest > 0)
    lengths = np.sqrt((matrix * matrix).sum(axis=1, keepdims=True))
    np.divide(matrix, lengths, out=matrix, where=lengths > 0)
    return matrix.astype(np.float32)


def unusable(reason: str, where: str) -> ProviderError:
    """Return the error for an answer that cannot be used, with the reason in words."""
    return ProviderError(
        f"The embedding model’s answer cannot be used: {reason}.",
        where=where,
        remedy="Check the model’s name and its dimensions in your settings.",
    )


AUTO = "auto"
"""The setting's word for “as the model was made for”."""


@dataclass(frozen=True)
class Prefixes:
    """Texts put before what is embedded."""

    query: str = ""
    passage: str = ""


_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
_REPRESENT = "Represent this sentence for searching relevant passages: "

# By what a model's name holds, the more particular first; each is stated on its model's own card.
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
        query: What is to be put before questions instead, or `auto`.
        passage: Likewise before passages.
    """
    name = model.casefold().replace("_", "-")
    known = next((prefixes for part, prefixes in _BY_NAME if part in name), Prefixes())
    return Prefixes(known.query if query == AUTO else query, known.passage if passage == AUTO else passage)
