"""The configured chat model and embedders, not loaded or contacted yet, and what stands in for one that fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.engine.errors import InvalidInput, ProviderError
from workbench.engine.providers.chat_models import LlamaChat, OpenAICompatibleChat
from workbench.engine.providers.embedding import remote
from workbench.engine.providers.embedding.batches import BatchTimes
from workbench.engine.providers.embedding.embedder import StaticEmbedder, prefixes_of
from workbench.engine.providers.embedding.local import (
    DOCUMENTED_MODEL,
    LocalEmbedder,
    ModelAddress,
    models_folder,
)
from workbench.engine.providers.model_server import EndPoint
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from workbench.engine.providers.chat import ChatModel
    from workbench.engine.providers.embedding.embedder import Embedder, FloatArray
    from workbench.engine.settings.sections import EmbeddingSettings, Settings


# Seconds without retries after a failure.
COOL_DOWN_S = 60.0


@dataclass(frozen=True)
class EmbedderStatus:
    """The embedder in use.

    Args:
        fallback: Why it is not the configured one, as a sentence, or None.
    """

    embedder: Embedder | None
    fallback: str | None


class Embedders:
    """Uses the first of two embedders, and the second while the first recovers from a failure.

    Thread-safe. While one thread retries the first, the others use the second.

    Args:
        primary: The configured one; None for keywords only.
        fallback: Its substitute, or None.
        monotonic: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        primary: Embedder | None,
        fallback: Embedder | None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.primary = primary
        self.fallback = fallback if primary is not None else None
        pair = (self.primary, self.fallback)
        self._turns = [_Turn(embedder, monotonic) for embedder in pair if embedder is not None]

    def standing(self) -> EmbedderStatus:
        """Return the embedder that would be used now, provided that its fingerprint is available."""
        for turn in self._turns:
            if turn.may_be_asked() and turn.has_fingerprint():
                return EmbedderStatus(turn.embedder, self._reason(turn))
        return EmbedderStatus(None, self._reason(None))

    def turn(self) -> EmbedderStatus:
        """Return the embedder to use now; the caller reports back with `failed` or `worked`.

        A failed embedder is retried by one caller per cool-down.
        """
        for turn in self._turns:
            if turn.claim() and turn.has_fingerprint():
                return EmbedderStatus(turn.embedder, self._reason(turn))
        return EmbedderStatus(None, self._reason(None))

    def failed(self, embedder: Embedder, error: ProviderError) -> None:
        """Record a failure."""
        for turn in self._turns:
            if turn.embedder is embedder:
                turn.failed(error)

    def worked(self, embedder: Embedder) -> None:
        """Record a success."""
        for turn in self._turns:
            if turn.embedder is embedder:
                turn.worked()

    def try_again(self) -> None:
        """Forget failures, so that the next caller tries the first again."""
        for turn in self._turns:
            turn.worked()
            if isinstance(turn.embedder, LocalEmbedder):
                turn.embedder.try_again()

    def close(self) -> None:
        for turn in self._turns:
            turn.embedder.close()

    def _reason(self, answering: _Turn | None) -> str | None:
        """Return why the first is not in use, as a sentence, or None."""
        if not self._turns or answering is self._turns[0]:
            return None
        if answering is not None:
            first = self._turns[0]
            instead = f"{answering.embedder.provider} answers instead"
            return f"The embedder {first.embedder.provider} failed, {instead}: {_said(first)}"
        failed = [turn for turn in self._turns if turn.failure is not None]
        names = " and ".join(turn.embedder.provider for turn in failed)
        said = " ".join(_said(turn) for turn in failed)
        return f"The embedder {names} failed, only keywords are searched: {said}"


class _Turn:
    """One embedder, its last failure, and the end of its cool-down."""

    def __init__(self, embedder: Embedder, monotonic: Callable[[], float]) -> None:
        self.embedder = embedder
        self.failure: ProviderError | None = None
        self._monotonic = monotonic
        self._left_alone_until = 0.0
        self._lock = threading.Lock()

    def may_be_asked(self) -> bool:
        return self.failure is None or self._monotonic() >= self._left_alone_until

    def claim(self) -> bool:
        """Return whether this call may use it; after a failure one call per cool-down may."""
        with self._lock:
            if not self.may_be_asked():
                return False
            if self.failure is not None:
                self._left_alone_until = self._monotonic() + COOL_DOWN_S
            return True

    def has_fingerprint(self) -> bool:
        try:
            return bool(self.embedder.fingerprint)
        except ProviderError as error:
            self.failed(error)
            return False

    def failed(self, error: ProviderError) -> None:
        with self._lock:
            self.failure = error
            self._left_alone_until = self._monotonic() + COOL_DOWN_S

    def worked(self) -> None:
        with self._lock:
            self.failure = None


def _said(turn: _Turn) -> str:
    return turn.failure.told if turn.failure else "It is being tried again."


@dataclass(frozen=True)
class UnavailableEmbedder:
    """An embedder that always raises the same error."""

    provider: str
    problem: ProviderError
    model: str = ""
    dimensions: int | None = None
    is_instant: bool = False

    @property
    def fingerprint(self) -> str:
        raise self.problem

    def embed_passages(
        self,
        texts: Sequence[str],
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> FloatArray:
        del texts, cancelled
        raise self.problem

    def embed_query(self, text: str) -> FloatArray:
        del text
        raise self.problem

    def close(self) -> None:
        """Nothing is held."""


REMOTE = frozenset({"openai", "gemini"})


def chat_model(settings: Settings, *, timeout_s: float | None = None) -> ChatModel | None:
    """Return the configured chat model. Nothing is loaded, opened or contacted before its first use.

    Only what the settings name is ever contacted: no key is taken from the environment, and nothing is downloaded. A
    used model file stays open and is shared.

    Args:
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
    return OpenAICompatibleChat(EndPoint(asked.base_url, asked.api_key, asked.name, asked.headers), patience)


@lru_cache(maxsize=1)
def _local(path: Path, context: int, trials: Path) -> LlamaChat:
    return LlamaChat(path, context_tokens=context, trials=trials)


def try_local_model(settings: Settings) -> None:
    """Run the chat model of a file once, whatever its record; does nothing if none is configured.

    Raises:
        ProviderError: It cannot be run here.
    """
    if settings.model.path:
        path = Path(settings.model.path).expanduser()
        _local(path, settings.model.context, settings.trials_directory).try_again()


def choose_embedders(settings: Settings) -> Embedders:
    """Return the configured embedders. Nothing is loaded, opened or contacted before its first use.

    Only what the settings name is ever contacted: no key is taken from the environment, and nothing is downloaded. The
    fallback has its own endpoint and key, and never sees those of the configured server.
    """
    asked = settings.embedding
    own = EndPoint(asked.base_url, asked.api_key, asked.model, asked.headers)
    stand_in = EndPoint(asked.fallback_base_url, asked.fallback_api_key, asked.fallback_model)
    if asked.provider not in REMOTE and stand_in == EndPoint():
        stand_in = own
    primary = _make(asked.provider, own, asked, settings.trials_directory)
    fallback = None
    if asked.fallback != asked.provider or (asked.fallback in REMOTE and stand_in != own):
        fallback = _make(asked.fallback, stand_in, asked, settings.trials_directory)
    return Embedders(primary, fallback)


def _make(provider: str, end_point: EndPoint, asked: EmbeddingSettings, trials: Path) -> Embedder | None:
    match provider:
        case "builtin":
            return StaticEmbedder()
        case "local":
            return _make_local(asked, trials)
        case "openai" | "gemini":
            return _make_remote(provider, end_point, asked)
        case _:
            return None


def _make_local(asked: EmbeddingSettings, trials: Path) -> Embedder:
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


def _make_remote(provider: str, end_point: EndPoint, asked: EmbeddingSettings) -> Embedder:
    if not end_point.api_key and not end_point.base_url:
        return UnavailableEmbedder(
            provider,
            ProviderError(
                f"There is no key for the embedding server “{provider}”.",
                where="embedding.api_key",
                remedy="Set it, or embedding.base_url to a server that wants none.",
            ),
        )
    is_gemini = provider == "gemini"
    if is_gemini:
        model = end_point.model.removeprefix("models/") or remote.GEMINI_MODEL
    else:
        model = end_point.model or remote.OPENAI_MODEL
    batch = BatchTimes(asked.batch_poll, asked.batch_timeout * 60, asked.batch_concurrency)
    return remote.RemoteEmbedder(
        provider,
        replace(end_point, model=model),
        prefixes_of(model, query=asked.query_prefix, passage=asked.passage_prefix),
        asked.dimensions or None,
        asked.timeout,
        asked.concurrency,
        batch if asked.batch else None,
        texts_at_once=remote.GEMINI_TEXTS_AT_ONCE if is_gemini else 256,
    )
