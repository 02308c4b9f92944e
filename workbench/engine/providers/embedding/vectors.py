"""Making sure that what a model answered is vectors, and bringing them to length 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.engine.errors import ProviderError

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.model import FloatArray


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
