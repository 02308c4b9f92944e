"""Shared by the tests of the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.search.index.bookshelf import Bookshelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Bookshelf]:
    shelf = Bookshelf(tmp_path / "cache")
    yield shelf
    shelf.close()
