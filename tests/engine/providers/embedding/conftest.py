"""Models and servers for tests of embedders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.engine.providers.embedding.embedding_server import EmbeddingServer
from tests.engine.providers.embedding.file_server import FileServer
from tests.engine.providers.embedding.tiny_gguf import write_tiny_gguf

ROOT = Path(__file__).parents[4]
GIVEN_MODEL = "WORKBENCH_TEST_GGUF"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a GGUF embedding model with random weights."""
    return write_tiny_gguf(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture(scope="session")
def real_model() -> Path | None:
    """Return a trained GGUF model: the one that `WORKBENCH_TEST_GGUF` names or one beside the project."""
    if given := os.environ.get(GIVEN_MODEL):
        return Path(given)
    beside = ROOT.parent / "shared" / "models" / "minilm-q8_0.gguf"
    return beside if beside.is_file() else None


@pytest.fixture(scope="session")
def model_file(real_model: Path | None, tiny_model: Path) -> Path:
    """Return a trained model where there is one, else the one with random weights."""
    return real_model or tiny_model


@pytest.fixture
def embedding_server() -> Iterator[EmbeddingServer]:
    with closing(EmbeddingServer()) as running:
        yield running


@pytest.fixture
def file_server() -> Iterator[FileServer]:
    with closing(FileServer()) as running:
        yield running
