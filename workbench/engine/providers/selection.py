"""Selects the configured chat model and embedders, without loading or contacting any."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput, ProviderError
from workbench.engine.providers.embedding.embedder import prefixes_of
from workbench.engine.providers.embedding.fallback import Embedders, UnavailableEmbedder

if TYPE_CHECKING:
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.providers.embedding.embedder import Embedder
    from workbench.engine.providers.embedding.remote import EmbeddingServer
    from workbench.engine.providers.llama_chat import LlamaChat
    from workbench.engine.settings.sections import EmbeddingSettings, Settings

_ADDRESS = re.compile(
    r"hf:(?P<owner>[\w.-]+)/(?P<repository>[\w.-]+)(?:@(?P<revision>[\w.-]+))?/(?P<file>[\w./ -]+\.gguf)",
    re.ASCII | re.IGNORECASE,
)
REMOTE = frozenset({"openai", "gemini"})
DOCUMENTED_MODEL = "hf:ggml-org/embeddinggemma-300M-GGUF/embeddinggemma-300M-Q8_0.gguf"
_LEAST_FOR_BATCH = 1000


def chat_model(settings: Settings, *, timeout_s: float | None = None) -> ChatModel | None:
    """Return the configured chat model. Nothing is loaded, opened or contacted before its first use.

    Only what the settings name is ever contacted: no key is taken from the environment, and nothing is
    downloaded. A used
    model file stays open and is shared.

    Args:
        settings: The workspace's settings.
        timeout_s: Seconds for one answer; `model.timeout` by default.

    Returns:
        The model, or None if none is configured.
    """
    asked = settings.model
    if not asked.configured:
        return None
    patience = asked.timeout if timeout_s is None else timeout_s
    if asked.path:
        return _local(Path(asked.path).expanduser(), asked.context, settings.trials_directory).within(
            patience
        )
    from workbench.engine.providers.openai_api import OpenAICompatibleChat

    return OpenAICompatibleChat(
        base_url=asked.base_url,
        api_key=asked.api_key,
        model=asked.name,
        headers=asked.headers,
        timeout_s=patience,
    )


@lru_cache(maxsize=1)
def _local(path: Path, context: int, trials: Path) -> LlamaChat:
    from workbench.engine.providers.llama_chat import LlamaChat

    return LlamaChat(path, context_tokens=context, trials=trials)


def try_local_model(settings: Settings) -> None:
    """Run the chat model of a file once, whatever its record; does nothing if none is configured.

    Raises:
        ProviderError: It cannot be run here.
    """
    if settings.model.path:
        path = Path(settings.model.path).expanduser()
        _local(path, settings.model.context, settings.trials_directory).try_again()


@dataclass(frozen=True)
class ModelAddress:
    """Address of a model file on a hub.

    Args:
        owner: Of the repository.
        repository: Its name.
        file: Path of the file in it.
        revision: Branch, tag or commit.
    """

    owner: str
    repository: str
    file: str
    revision: str = "main"

    @classmethod
    def read(cls, address: str) -> ModelAddress:
        """Parse `hf:owner/repository/file.gguf` or `hf:owner/repository@revision/file.gguf`.

        Raises:
            InvalidInput: The address is malformed.
        """
        found = _ADDRESS.fullmatch(address)
        parts = [part for group in found.groups("main") for part in group.split("/")] if found else []
        if found is None or any(not part.strip(". ") for part in parts):
            raise InvalidInput(
                "This is no address of a model.",
                where=address[:200],
                remedy="Write it as hf:owner/repository/file.gguf.",
            )
        return cls(found["owner"], found["repository"], found["file"], found["revision"] or "main")

    def url(self, hub: str) -> str:
        """Return the file's URL on a hub."""
        from urllib.parse import quote

        path = f"{self.owner}/{self.repository}/resolve/{self.revision}/{quote(self.file)}"
        return f"{hub.rstrip('/')}/{path}"

    def file_in(self, folder: Path) -> Path:
        """Return the file's path in a models folder; other revisions are kept beside it."""
        below = folder / self.owner / self.repository
        return (below / f"@{self.revision}" if self.revision != "main" else below) / self.file


def models_folder(configured: str) -> Path:
    """Return the folder of downloaded models: the configured one, else one in the user's cache."""
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("workbench", appauthor=False)) / "models"


@dataclass(frozen=True)
class _EndPoint:
    base_url: str
    api_key: str
    model: str
    headers: Mapping[str, str]


def choose_embedders(settings: Settings, *, monotonic: Callable[[], float] = time.monotonic) -> Embedders:
    """Return the configured embedders. Nothing is loaded, opened or contacted before its first use.

    Only what the settings name is ever contacted: no key is taken from the environment, and nothing is downloaded. The
    fallback has its own endpoint and key, and never sees those of the configured server.

    Args:
        settings: The workspace's settings.
        monotonic: Monotonic clock for cool-downs after failures, in seconds.
    """
    asked = settings.embedding
    own = _EndPoint(asked.base_url, asked.api_key, asked.model, asked.headers)
    stand_in = _EndPoint(asked.fallback_base_url, asked.fallback_api_key, asked.fallback_model, {})
    if asked.provider not in REMOTE and stand_in == _EndPoint("", "", "", {}):
        stand_in = own
    primary = _make(asked.provider, own, asked, settings.trials_directory)
    fallback = None
    if asked.fallback != asked.provider or (asked.fallback in REMOTE and stand_in != own):
        fallback = _make(asked.fallback, stand_in, asked, settings.trials_directory)
    return Embedders(primary, fallback, monotonic=monotonic)


def model_to_download(settings: EmbeddingSettings) -> ModelAddress:
    """Return the address to download from: the configured one, else the documented model's.

    Raises:
        InvalidInput: A local file is configured, or the address is malformed.
    """
    return ModelAddress.read(settings.model_path or DOCUMENTED_MODEL)


def download_model_of(
    settings: EmbeddingSettings, *, progress: Callable[[int, int | None], None] = lambda *_: None
) -> Path:
    """Download the configured model, else the documented one.

    Args:
        settings: Name the model, hub and folder.
        progress: Called with bytes present and total bytes, or None if unknown.

    Raises:
        InvalidInput: A local file is configured.
        WorkbenchError: As `download_model` does.
    """
    from workbench.engine.providers.embedding.download import download_model

    model_to_download(settings)
    return download_model(
        settings.model_path or DOCUMENTED_MODEL,
        models_folder(settings.model_folder),
        progress=progress,
        hub=settings.download_url,
    )


def _make(provider: str, end_point: _EndPoint, asked: EmbeddingSettings, trials: Path) -> Embedder | None:
    match provider:
        case "builtin":
            from workbench.engine.providers.embedding.builtin import StaticEmbedder

            return StaticEmbedder()
        case "local":
            return _make_local(asked, trials)
        case "openai" | "gemini":
            return _make_remote(provider, end_point, asked)
        case _:
            return None


def _make_local(asked: EmbeddingSettings, trials: Path) -> Embedder:
    from workbench.engine.providers.embedding.local import LocalEmbedder

    if not asked.model_path:
        return UnavailableEmbedder(
            "local",
            ProviderError(
                "No local embedding model is named.",
                where="embedding.model_path",
                remedy=f"Set it to a GGUF file or to {DOCUMENTED_MODEL}.",
            ),
        )
    remedy = "Set embedding.model_path to a GGUF file."
    path = Path(asked.model_path).expanduser()
    if asked.model_path.startswith("hf:"):
        try:
            address = ModelAddress.read(asked.model_path)
        except InvalidInput as error:
            problem = ProviderError(error.message, where="embedding.model_path", remedy=error.remedy)
            return UnavailableEmbedder("local", problem)
        path = address.file_in(models_folder(asked.model_folder))
        remedy = "Fetch it once: workbench index --download"
    prefixes = prefixes_of(path.name, query=asked.query_prefix, passage=asked.passage_prefix)
    return LocalEmbedder(path, prefixes, remedy=remedy, trials=trials)


def _make_remote(provider: str, end_point: _EndPoint, asked: EmbeddingSettings) -> Embedder:
    from workbench.engine.providers.embedding import gemini, openai_embeddings
    from workbench.engine.providers.embedding.openai_embeddings import BatchTimes
    from workbench.engine.providers.embedding.remote import RemoteEmbedder, endpoint_name

    if not end_point.api_key and not end_point.base_url:
        return UnavailableEmbedder(
            provider,
            ProviderError(
                f"There is no key for the embedding server “{provider}”.",
                where="embedding.api_key",
                remedy="Set it, or embedding.base_url to a server that wants none.",
            ),
        )
    dimensions = asked.dimensions or None
    server: EmbeddingServer
    if provider == "gemini":
        model = end_point.model.removeprefix("models/") or gemini.DEFAULT_MODEL
        server = gemini.GeminiEmbeddings(
            end_point.base_url, end_point.api_key, model, end_point.headers, dimensions, asked.timeout
        )
    else:
        model = end_point.model or openai_embeddings.DEFAULT_MODEL
        server = openai_embeddings.OpenAIEmbeddings(
            end_point.base_url,
            end_point.api_key,
            model,
            end_point.headers,
            dimensions,
            asked.timeout,
            batch=BatchTimes(asked.batch_poll, asked.batch_timeout * 60, asked.batch_concurrency),
        )
    prefixes = prefixes_of(model, query=asked.query_prefix, passage=asked.passage_prefix)
    return RemoteEmbedder(
        provider,
        model,
        f"{provider} {model} {endpoint_name(server.where)} dimensions={dimensions}"
        f" query={prefixes.query!r} passage={prefixes.passage!r}",
        server,
        prefixes,
        dimensions,
        texts_at_once=gemini.TEXTS_AT_ONCE if provider == "gemini" else 256,
        concurrency=asked.concurrency,
        least_for_batch=_LEAST_FOR_BATCH if asked.batch and provider == "openai" else None,
    )
