"""The reference implementation that token counts are compared with."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import bpe_openai


@pytest.fixture(scope="session")
def reference() -> bpe_openai.Encoding:
    with warnings.catch_warnings():
        # The package opens its own data through a deprecated function while it is imported.
        warnings.simplefilter("ignore", DeprecationWarning)
        import bpe_openai

        return bpe_openai.get_encoding("o200k_base")
