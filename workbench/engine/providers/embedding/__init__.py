"""Embedders: what turns texts into vectors. Importing this loads no model and no library."""

from workbench.engine.providers.embedding.choosing import DOCUMENTED_MODEL, choose, model_to_download
from workbench.engine.providers.embedding.falling_back import Embedders, Standing
from workbench.engine.providers.embedding.model import Embedder, EmbeddingCancelled

__all__ = [
    "DOCUMENTED_MODEL",
    "Embedder",
    "Embedders",
    "EmbeddingCancelled",
    "Standing",
    "choose",
    "model_to_download",
]
