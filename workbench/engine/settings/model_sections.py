"""The settings of models: what makes embeddings, and what chats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.engine.settings.declaring import ENDPOINT, OUTSIDE, choice, number, of, whole
from workbench.engine.settings.schema import Kind


@dataclass(frozen=True)
class EmbeddingSettings:
    """Where embeddings are made."""

    provider: str = field(
        default="builtin",
        metadata=choice(("builtin", "local", "openai", "gemini", "none"), "what makes embeddings", ENDPOINT),
    )
    fallback: str = field(
        default="builtin",
        metadata=choice(("builtin", "local", "openai", "gemini", "none"), "what steps in", ENDPOINT),
    )
    model: str = field(default="", metadata=of(Kind.TEXT, "name of the embedding model", ENDPOINT))
    base_url: str = field(default="", metadata=of(Kind.TEXT, "end point of the embedding server", ENDPOINT))
    api_key: str = field(
        default="", repr=False, metadata=of(Kind.TEXT, "key of the embedding server", ENDPOINT, secret=True)
    )
    headers: Mapping[str, str] = field(
        default_factory=dict,
        repr=False,
        metadata=of(Kind.TABLE, "further request headers", ENDPOINT, secret=True),
    )
    timeout: float = field(
        default=60.0, metadata=number(0.1, 3600, "seconds to wait for one answer of it", ENDPOINT)
    )
    concurrency: int = field(default=4, metadata=whole(1, 64, "requests to it at once", ENDPOINT))
    dimensions: int = field(
        default=0, metadata=whole(0, 65_536, "dimensions to ask the model for; 0 for its own", ENDPOINT)
    )
    query_prefix: str = field(
        default="auto",
        metadata=of(Kind.TEXT, "text put before questions; auto for what the model was made for", ENDPOINT),
    )
    passage_prefix: str = field(
        default="auto",
        metadata=of(Kind.TEXT, "text put before what is indexed; auto likewise", ENDPOINT),
    )
    model_path: str = field(default="", metadata=of(Kind.PATH, "a GGUF file, or an hf: address", OUTSIDE))
    model_folder: str = field(
        default="",
        metadata=of(Kind.PATH, "folder of downloaded models; empty for the user’s cache", OUTSIDE),
    )
    download_url: str = field(
        default="https://huggingface.co",
        metadata=of(Kind.TEXT, "hub that hf: addresses are downloaded from", ENDPOINT),
    )
    batch: bool = field(
        default=False, metadata=of(Kind.SWITCH, "whether big backfills use the batch API", ENDPOINT)
    )
    batch_concurrency: int = field(default=2, metadata=whole(1, 64, "batch jobs at once", ENDPOINT))
    batch_poll: float = field(
        default=5.0, metadata=number(0.01, 3600, "seconds between questions after a batch job", ENDPOINT)
    )
    batch_timeout: float = field(
        default=60.0, metadata=number(0.01, 10_080, "minutes that a batch job may take", ENDPOINT)
    )
    fallback_model: str = field(
        default="", metadata=of(Kind.TEXT, "name of the model that steps in", ENDPOINT)
    )
    fallback_base_url: str = field(
        default="", metadata=of(Kind.TEXT, "end point of the server that steps in", ENDPOINT)
    )
    fallback_api_key: str = field(
        default="",
        repr=False,
        metadata=of(Kind.TEXT, "key of the server that steps in", ENDPOINT, secret=True),
    )


@dataclass(frozen=True)
class ModelSettings:
    """The chat model that routes and reflects; none unless configured. A local file goes before a server."""

    path: str = field(
        default="", metadata=of(Kind.PATH, "a GGUF file of a chat model, run on this machine", OUTSIDE)
    )
    base_url: str = field(
        default="", metadata=of(Kind.TEXT, "end point of an OpenAI-compatible server", ENDPOINT)
    )
    api_key: str = field(default="", repr=False, metadata=of(Kind.TEXT, "its key", ENDPOINT, secret=True))
    name: str = field(default="", metadata=of(Kind.TEXT, "name of the model", ENDPOINT))
    headers: Mapping[str, str] = field(
        default_factory=dict,
        repr=False,
        metadata=of(Kind.TABLE, "further request headers", ENDPOINT, secret=True),
    )
    timeout: float = field(
        default=20.0, metadata=number(0.1, 3600, "seconds to wait for it where somebody waits", ENDPOINT)
    )
    reflection_timeout: float = field(
        default=300.0,
        metadata=number(0.1, 86_400, "seconds to wait for one answer in a reflection", ENDPOINT),
    )
    context: int = field(
        default=8192,
        metadata=whole(4096, 1_000_000, "tokens of question and answer that it takes at once", ENDPOINT),
    )

    @property
    def configured(self) -> bool:
        """Tell whether there is a model to ask."""
        return bool(self.path or (self.name and (self.base_url or self.api_key)))

    @property
    def told(self) -> str:
        """Return which model is meant, for people; empty where none is configured."""
        if not self.configured:
            return ""
        return self.path or f"{self.name} at {self.base_url or 'OpenAI'}"
