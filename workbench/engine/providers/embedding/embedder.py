"""The embedder interface, model-specific prefixes, validation of vectors, and the embedder that is built in."""

from __future__ import annotations

import json
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from workbench.engine.errors import ProviderError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]


AUTO = "auto"
"""The setting's value for the model's own prefixes."""
_INSTRUCTION = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
_REPRESENT = "Represent this sentence for searching relevant passages: "

LONGEST_WORD = 100
"""Characters; a longer word has no pieces, as in BERT."""

_ASCII_TOKENS = lazy_pattern(r"[a-z0-9]+|[^\sa-z0-9]")
_TOKENS = lazy_pattern(r"[^\W_]+|[^\w\s]|_")
_ACCENTS = lazy_pattern("[\u0300-\u036f]+")
_PLAIN_MARKS = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": "."})
# Small enough for counts of a block to fit the processor's cache; fastest between 16 and 64 texts of
# 1,000 characters.
_BLOCK_TOKENS = 6000
# One cached vector per word: 32,768 of 256 dimensions take 34 MB.
_MOST_WORDS = 32_768
# Maximum characters of a text; longer ones say too many things for one vector.
_LONGEST_TEXT = 200_000
# With a smaller share of letters in known words, the text's meaning is unknown.
_LEAST_KNOWN = 0.5


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


def cut_to_bytes(text: str, limit: int) -> str:
    """Return the beginning of a text that fits this many UTF-8 bytes, lone surrogates replaced."""
    content = text.encode("utf-8", "replace")
    return content[:limit].decode("utf-8", "ignore")


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


def tokens(text: str) -> list[str]:
    """Return the words and marks of a text in order, lower-cased and without accents."""
    lowered = text.lower()
    if lowered.isascii():
        return _ASCII_TOKENS.findall(lowered)
    plain = unicodedata.normalize("NFD", lowered.translate(_PLAIN_MARKS))
    return _TOKENS.findall(_ACCENTS.sub("", plain))


def word_pieces(token: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Split a token greedily into the longest known pieces; return their rows.

    Args:
        vocabulary: Row by piece; pieces that continue a word begin with `##`.

    Returns:
        Empty if the vocabulary cannot spell the whole token.
    """
    if token in vocabulary:
        return [vocabulary[token]]
    rows: list[int] = []
    start, length = 0, len(token)
    if length > LONGEST_WORD:
        return rows
    while start < length:
        lead = "##" if start else ""
        for end in range(length, start, -1):
            row = vocabulary.get(lead + token[start:end])
            if row is not None:
                rows.append(row)
                start = end
                break
        else:
            return []
    return rows


TABLE_FOLDER = Path(__file__).parent / "table"


@dataclass(frozen=True)
class TableDescription:
    """A table's metadata.

    Args:
        revision: Changes with the vectors.
    """

    name: str
    revision: str
    dimensions: int

    @classmethod
    def read(cls, folder: Path) -> TableDescription:
        """Read the metadata from a table's folder.

        Raises:
            ProviderError: The metadata is missing or cannot be read.
        """
        try:
            about = json.loads((folder / "table.json").read_text(encoding="utf-8"))
            return cls(str(about["name"]), str(about["revision"]), int(about["dimensions"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _broken(folder) from error


@dataclass(frozen=True)
class StaticTable:
    """One vector per word piece.

    Args:
        vectors: int8, one row per piece; mapped, not read.
        scales: One per row; a row's vector is `vectors[row] * scales[row]`.
        vocabulary: Row by piece.
    """

    vectors: NDArray[np.int8]
    scales: FloatArray
    vocabulary: dict[str, int]

    @classmethod
    def open(cls, folder: Path, dimensions: int) -> StaticTable:
        """Open the table of a folder.

        Raises:
            ProviderError: It is missing or its parts do not belong together.
        """
        import numpy as np

        try:
            pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")[:-1]
            vectors = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
            scales = np.load(folder / "scales.npy", allow_pickle=False).astype(np.float32)
        except (OSError, ValueError, EOFError) as error:
            raise _broken(folder) from error
        if (
            vectors.dtype != np.int8
            or vectors.shape != (len(pieces), dimensions)
            or scales.shape != (len(pieces),)
        ):
            raise _broken(folder)
        return cls(vectors, scales, {piece: row for row, piece in enumerate(pieces)})


class StaticEmbedder:
    """A text's vector is the sum of its word pieces' vectors, brought to length 1; no model is run.

    A text without letters, or with most of its letters (by bytes of UTF-8) in words the table lacks, as in non-Latin
    scripts, gets zeros, so that search relies on keywords rather than on the few known words.

    Args:
        folder: Folder of the table; the package's own by default. Opened on first use.
    """

    provider = "builtin"
    is_instant = True
    chunks_at_once = 768

    def __init__(self, folder: Path = TABLE_FOLDER) -> None:
        self._folder = folder
        self._table: StaticTable | None = None
        self._words: dict[str, int] = {}
        self._sums: FloatArray | None = None
        self._lock = threading.Lock()

    @cached_property
    def about(self) -> TableDescription:
        """Return the table's metadata without opening the table."""
        return TableDescription.read(self._folder)

    @property
    def model(self) -> str:
        return self.about.name

    @property
    def fingerprint(self) -> str:
        return f"builtin {self.about.name} {self.about.revision}"

    @property
    def dimensions(self) -> int:
        return self.about.dimensions

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        import numpy as np

        result = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        done = 0
        for block in _blocks(texts):
            if cancelled():
                raise EmbeddingCancelled
            with self._lock:
                result[done : done + len(block)] = self._sum_block(block)
            done += len(block)
        lengths = np.sqrt(np.einsum("ij,ij->i", result, result))[:, np.newaxis]
        np.divide(result, lengths, out=result, where=lengths > 0)
        return result

    def embed_query(self, text: str) -> FloatArray:
        row: FloatArray = self.embed_passages([text])[0]
        return row

    def close(self) -> None:
        with self._lock:
            self._table = self._sums = None
            self._words.clear()

    def _sum_block(self, block: Sequence[list[str]]) -> FloatArray:
        """Return the sum of the word vectors of each text, unscaled."""
        import numpy as np

        lengths = np.fromiter(map(len, block), np.intp, len(block))
        if not lengths.any():
            return np.zeros((len(block), self.dimensions), dtype=np.float32)
        words = self._rows_of(block, int(lengths.sum()))
        assert self._sums is not None
        sums: FloatArray = np.zeros((len(block), self.dimensions + 2), np.float32)
        begins = np.cumsum(lengths) - lengths
        sums[lengths > 0] = np.add.reduceat(self._sums[words], begins[lengths > 0])
        known, letters = sums[:, -2], sums[:, -1]
        sums[(known < _LEAST_KNOWN * letters) | (letters == 0)] = 0
        return sums[:, :-2]

    def _rows_of(self, block: Sequence[list[str]], count: int) -> NDArray[np.intp]:
        import numpy as np

        try:
            return np.fromiter(map(self._words.__getitem__, chain.from_iterable(block)), np.intp, count)
        except KeyError:
            self._learn(set(chain.from_iterable(block)))
        return np.fromiter(map(self._words.__getitem__, chain.from_iterable(block)), np.intp, count)

    def _learn(self, words: set[str]) -> None:
        """Add a row of `_sums` for each new word: its vector, its letters if known, and its letters."""
        import numpy as np

        if self._table is None:
            opened = _own_table if self._folder == TABLE_FOLDER else StaticTable.open
            self._table = opened(self._folder, self.dimensions)
        table = self._table
        new = sorted(words - self._words.keys())
        if len(self._words) + len(new) > _MOST_WORDS:
            self._words.clear()
            new = sorted(words)
        start, end = len(self._words), len(self._words) + len(new)
        width = self.dimensions + 2
        if self._sums is None or end > len(self._sums):
            grown = np.empty((max(end, min(2 * end, _MOST_WORDS)), width), np.float32)
            if self._sums is not None:
                grown[:start] = self._sums[:start]
            self._sums = grown
        pieces = [word_pieces(word, table.vocabulary) for word in new]
        rows = np.fromiter(chain.from_iterable(pieces), np.intp)
        vectors = table.vectors[rows] * table.scales[rows, np.newaxis]
        fresh = self._sums[start:end]
        fresh[:] = 0
        np.add.at(fresh[:, :-2], np.repeat(np.arange(len(new)), list(map(len, pieces))), vectors)
        letters = np.fromiter(
            (len(word.encode()) if word.isalpha() else 0 for word in new), np.float32, len(new)
        )
        fresh[:, -1] = letters
        fresh[:, -2] = letters * np.fromiter(map(bool, pieces), np.bool_, len(new))
        self._words.update(zip(new, range(start, end), strict=True))


@cache
def _own_table(folder: Path, dimensions: int) -> StaticTable:
    """Open the package's own table once, for every workspace of the process."""
    return StaticTable.open(folder, dimensions)


def _blocks(texts: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield the tokens of texts in blocks."""
    block: list[list[str]] = []
    size = 0
    for text in texts:
        found = tokens(text[:_LONGEST_TEXT])
        if block and size + len(found) > _BLOCK_TOKENS:
            yield block
            block, size = [], 0
        block.append(found)
        size += len(found)
    if block:
        yield block


def _broken(folder: Path) -> ProviderError:
    return ProviderError(
        "The built-in embedding table is missing or damaged.",
        where=str(folder),
        remedy="Install memory-workbench again.",
    )
