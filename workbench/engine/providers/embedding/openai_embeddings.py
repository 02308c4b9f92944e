"""Embeddings of any server that speaks OpenAI’s protocol."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.openai_batch import BatchJobs, BatchTimes
from workbench.engine.providers.embedding.remote import seconds_for
from workbench.engine.providers.embedding.vectors import unusable
from workbench.engine.providers.openai_connection import OpenAIConnection
from workbench.engine.providers.retrying import with_retries

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    import openai
    from openai._response import APIResponse

    from workbench.engine.providers.embedding.remote import Purpose

DEFAULT_MODEL = "text-embedding-3-small"
LARGEST_ANSWER_BYTES = 400_000_000


@dataclass
class OpenAIEmbeddings:
    """One embedding model of one server.

    Args:
        base_url: Empty for OpenAI’s own.
        api_key: Empty where the server wants none.
        model: The model's name.
        headers: Further request headers.
        dimensions: To ask for; None for the model's own.
        timeout_s: Seconds that one answer may take, all attempts and pauses between them included; fewer
            for a question.
        retries: Further attempts after an overload, a server fault or a lost connection.
        batch: How long batch jobs may take.
        pause: Waits some seconds between attempts.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    dimensions: int | None = None
    timeout_s: float = 60.0
    retries: int = 3
    batch: BatchTimes = field(default_factory=BatchTimes)
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)
    _connection: OpenAIConnection = field(init=False, repr=False)
    _jobs: BatchJobs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._connection = OpenAIConnection(
            self.base_url,
            self.api_key,
            self.model,
            self.headers,
            self.timeout_s,
            service="embeddings",
            largest_answer_bytes=LARGEST_ANSWER_BYTES,
        )
        self._jobs = BatchJobs(self._connection, self.batch, self.timeout_s, self.retries, self.pause)

    @property
    def where(self) -> str:
        return self._connection.where

    def ask(self, texts: Sequence[str], purpose: Purpose) -> list[Any]:
        seconds = seconds_for(purpose, self.timeout_s)
        deadline = time.monotonic() + seconds
        asked = self._body(texts)

        def request(client: openai.OpenAI, timeout_s: float) -> AbstractContextManager[APIResponse[Any]]:
            return client.embeddings.with_streaming_response.create(**asked, timeout=timeout_s)

        def attempt() -> list[Any]:
            body = self._connection.fetch(request, deadline, allowed_s=seconds)
            return read_embeddings(body, len(texts), self.where)

        return with_retries(attempt, retries=self.retries, deadline=deadline, pause=self.pause)

    def ask_later(
        self, groups: Sequence[Sequence[str]], cancelled: Callable[[], bool]
    ) -> dict[int, list[Any]]:
        answers = self._jobs.run([self._body(group) for group in groups], cancelled)
        found: dict[int, list[Any]] = {}
        for number, answer in answers.items():
            try:
                found[number] = vectors_of(answer, len(groups[number]), self.where)
            except ProviderError:
                # Asked for again directly, where the same fault is told.
                continue
        return found

    def close(self) -> None:
        self._connection.close()

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        return body


def read_embeddings(body: bytes, count: int, where: str) -> list[Any]:
    """Return the vectors of an answer in the order of the texts.

    Raises:
        ProviderError: It is no list of embeddings, or not of these texts.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise unusable("it is no JSON", where) from error
    return vectors_of(answer, count, where)


def vectors_of(answer: Any, count: int, where: str) -> list[Any]:
    """Return the vectors of an answer that has been parsed, as `read_embeddings` does."""
    found: dict[int, Any] = {}
    try:
        entries = answer["data"]
        for place, entry in enumerate(entries):
            found[int(entry.get("index", place))] = _numbers(entry["embedding"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise unusable("it is no list of embeddings", where) from error
    if len(entries) != count or found.keys() != set(range(count)):
        raise unusable(f"it gave {len(entries)} vectors for {count} texts, or not theirs", where)
    return [found[number] for number in range(count)]


def _numbers(embedding: Any) -> Any:
    if isinstance(embedding, str):
        import numpy as np

        # Some servers answer in base64 whatever they are asked for.
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    if not isinstance(embedding, list):
        raise TypeError
    return embedding
