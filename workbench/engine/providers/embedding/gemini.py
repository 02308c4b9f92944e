"""Embeddings from Google’s Gemini API, in its native protocol."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.embedder import unusable
from workbench.engine.providers.embedding.remote import seconds_for
from workbench.engine.providers.http_client import WebAnswer, exchange
from workbench.engine.providers.retries import (
    RETRIED_STATUSES,
    PassingFault,
    one_line,
    seconds_asked_for,
    with_retries,
    without_password,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.engine.providers.embedding.remote import Purpose

DEFAULT_BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
DEFAULT_MODEL = "gemini-embedding-001"
TEXTS_AT_ONCE = 100
LARGEST_ANSWER_BYTES = 100_000_000
_TASKS = {"query": "RETRIEVAL_QUERY", "passage": "RETRIEVAL_DOCUMENT"}


@dataclass
class GeminiEmbeddings:
    """One embedding model of the Gemini API.

    Args:
        base_url: "" for Google’s own.
        api_key: Sent in a header, never in a URL.
        model: The model's name, without `models/`.
        headers: Further request headers.
        dimensions: Requested size; None for the model's own.
        timeout_s: Total seconds for one answer, including retries and pauses; fewer for a question.
        retries: Further attempts after an overload, a server fault or a lost connection.
        pause: Sleeps between attempts.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    dimensions: int | None = None
    timeout_s: float = 60.0
    retries: int = 3
    pause: Callable[[float], None] = field(default=time.sleep, repr=False)

    @property
    def where(self) -> str:
        return without_password(self.base_url or DEFAULT_BASE_URL)

    def ask(self, texts: Sequence[str], purpose: Purpose) -> list[Any]:
        seconds = seconds_for(purpose, self.timeout_s)
        deadline = time.monotonic() + seconds
        body = json.dumps({"requests": [self._request(text, purpose) for text in texts]}).encode()
        try:
            return with_retries(
                lambda: self._attempt(body, deadline, len(texts)),
                retries=self.retries,
                deadline=deadline,
                pause=self.pause,
            )
        except TimeoutError as error:
            raise ProviderError(
                f"The model “{self.model}” did not answer within {seconds:g} s.",
                where=self.where,
                remedy="Raise embedding.timeout in your settings.",
            ) from error

    def ask_later(
        self,
        groups: Sequence[Sequence[str]],
        cancelled: Callable[[], bool],
    ) -> dict[int, list[Any]]:
        del groups, cancelled  # batch jobs are not used here
        return {}

    def close(self) -> None:
        """Nothing is kept open."""

    def _request(self, text: str, purpose: Purpose) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": f"models/{self.model}",
            "content": {"parts": [{"text": text}]},
            "taskType": _TASKS[purpose],
        }
        if self.dimensions is not None:
            request["outputDimensionality"] = self.dimensions
        return request

    def _attempt(self, body: bytes, deadline: float, count: int) -> list[Any]:
        base_url = (self.base_url or DEFAULT_BASE_URL).rstrip("/")
        url = f"{base_url}/models/{quote(self.model, safe='')}:batchEmbedContents"
        headers = {"Content-Type": "application/json", **self.headers}
        if self.api_key:
            headers["x-goog-api-key"] = self.api_key
        answer = exchange(url, headers=headers, body=body, deadline=deadline, largest=LARGEST_ANSWER_BYTES)
        if answer.status != 200:
            raise self._explain_status(answer)
        try:
            return [entry["values"] for entry in json.loads(answer.body)["embeddings"]][: count + 1]
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise unusable("it is no list of embeddings", self.where) from error

    def _explain_status(self, answer: WebAnswer) -> Exception:
        said = one_line(
            _message_of(answer.body),
            self.api_key,
            *(value for value in self.headers.values() if len(value) > 7),
        )
        message, remedy = f"The model server answered {answer.status}: {said}", "Try again later."
        if answer.status in (401, 403) or (answer.status == 400 and "API key" in said):
            message = "The model server refused the key."
            remedy = "Check embedding.api_key in your settings."
        elif answer.status == 404:
            message = f"The model server knows no model “{self.model}”."
            remedy = "Check embedding.model and embedding.base_url in your settings."
        elif answer.status == 429:
            message = "The model server is overloaded, or its quota is used up."
        elif answer.status < 500:
            remedy = "Check the model’s name and what the server supports."
        error = ProviderError(message, where=self.where, remedy=remedy)
        if answer.status in RETRIED_STATUSES:
            return PassingFault(error, seconds_asked_for(answer.headers.get("retry-after")))
        return error


def _message_of(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, RecursionError, KeyError, TypeError):
        return body[:400].decode("utf-8", "replace")
