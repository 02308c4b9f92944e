"""Embedding through a server, OpenAI-compatible or Gemini: batches, concurrent requests, and ordered answers."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote, urlsplit

from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.batches import (
    BatchJobs,
    BatchTimes,
    GeminiJobs,
    OpenAIJobs,
    gemini_headers,
)
from workbench.engine.providers.embedding.embedder import (
    EmbeddingCancelled,
    Prefixes,
    cut_to_bytes,
    unit_rows,
    unusable,
)
from workbench.engine.providers.model_server import OPENAI_URL, EndPoint, ModelServer, TimeLimit

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import openai
    from openai._response import APIResponse

    from workbench.engine.providers.embedding.embedder import FloatArray


# Seconds between checks for cancellation.
_LOOK_SECONDS = 0.05
# Requests about to finish may still close their connection.
_GRACE_SECONDS = 0.25

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
# Bytes of UTF-8 that surely stay below 8,192 tokens, the common servers' limit per text.
LONGEST_TEXT_BYTES = 20_000
# Somebody waits for a question's answer, and a fallback can give one.
_PATIENCE_FOR_A_QUESTION_S = 4.0
_GRACE_S = 0.5
OPENAI_MODEL = "text-embedding-3-small"
GEMINI_MODEL = "gemini-embedding-001"
GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta"
GEMINI_TEXTS_AT_ONCE = 100
_LARGEST_ANSWER_BYTES = 400_000_000
_TASKS = {"query": "RETRIEVAL_QUERY", "passage": "RETRIEVAL_DOCUMENT"}


def ask_at_once(
    ask: Callable[[Asked], Answer], everything: Sequence[Asked], *, most: int, cancelled: Callable[[], bool]
) -> list[Answer]:
    """Ask concurrently; return the answers in order.

    After a cancellation or a failure, requests in progress are left to end by themselves: neither the caller nor the
    end of the program waits for them.

    Raises:
        EmbeddingCancelled: `cancelled` returned true.
        Exception: Raised by the first failing `ask`.
    """
    waiting = deque(enumerate(everything))
    answers: SimpleQueue[tuple[int, list[Answer], Exception | None]] = SimpleQueue()

    def work() -> None:
        while waiting:
            try:
                number, asked = waiting.popleft()
            except IndexError:
                return
            try:
                answers.put((number, [ask(asked)], None))
            except Exception as error:  # raised again on the caller's thread
                answers.put((number, [], error))

    found: dict[int, Answer] = {}
    threads = [
        threading.Thread(target=work, name="embedding", daemon=True)
        for _ in range(min(most, len(everything)))
    ]
    try:
        for thread in threads:
            thread.start()
        while len(found) < len(everything):
            if cancelled():
                raise EmbeddingCancelled
            try:
                number, answer, error = answers.get(timeout=_LOOK_SECONDS)
            except Empty:
                continue
            if error is not None:
                raise error
            found[number] = answer[0]
    finally:
        waiting.clear()
        until = time.monotonic() + _GRACE_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
    return [found[number] for number in range(len(everything))]


Purpose = Literal["query", "passage"]


@dataclass
class RemoteEmbedder:
    """Embeds through an OpenAI-compatible server or Google’s Gemini API, in its native protocol; thread-safe.

    Args:
        provider: openai or gemini.
        end_point: The model; without a base URL one of the provider's own.
        requested_dimensions: Required size of vectors; None takes that of the first answer.
        timeout_s: Total seconds for one answer, including retries and pauses; fewer for a question.
        batch: Timing of batch jobs; None for no jobs.
        texts_at_once: Maximum texts per request.
        bytes_at_once: Maximum UTF-8 bytes per request, unless a single text is longer.
        retries: Further attempts after an overload, a server fault or a lost connection.
        least_for_batch: Minimum number of texts for a batch job.
    """

    provider: str
    end_point: EndPoint
    prefixes: Prefixes = field(default_factory=Prefixes)
    requested_dimensions: int | None = None
    timeout_s: float = 60.0
    concurrency: int = 4
    batch: BatchTimes | None = None
    texts_at_once: int = 256
    bytes_at_once: int = 150_000
    retries: int = 3
    least_for_batch: int = 1000
    is_instant: bool = field(default=False, init=False)
    server: ModelServer = field(init=False, repr=False)
    jobs: BatchJobs | None = field(default=None, init=False, repr=False)
    _seen_dimensions: int | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        own_url = GEMINI_URL if self.provider == "gemini" else OPENAI_URL
        self.server = ModelServer(self.end_point, "embeddings", _LARGEST_ANSWER_BYTES, self.retries, own_url)
        if self.batch is not None:
            jobs = GeminiJobs if self.provider == "gemini" else OpenAIJobs
            self.jobs = jobs(self.server, self.batch, self.timeout_s)

    @property
    def model(self) -> str:
        return self.end_point.model

    @property
    def fingerprint(self) -> str:
        return (
            f"{self.provider} {self.model} {_end_point_name(self.server.where)} dimensions={self.requested_dimensions}"
            f" query={self.prefixes.query!r} passage={self.prefixes.passage!r}"
        )

    @property
    def dimensions(self) -> int | None:
        return self.requested_dimensions or self._seen_dimensions

    @property
    def chunks_at_once(self) -> int:
        """Return how many chunks to embed before storing: enough to keep every connection busy."""
        return 50_000 if self.jobs is not None else 64 * self.concurrency

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        import numpy as np

        filled = [at for at, text in enumerate(texts) if text.strip()]
        sent = [cut_to_bytes(self.prefixes.passage + texts[at], LONGEST_TEXT_BYTES) for at in filled]
        groups = list(_groups(sent, self.texts_at_once, self.bytes_at_once))
        done = self._answers(groups, cancelled)
        rows = [row for number in range(len(groups)) for row in done[number]]
        result = np.zeros((len(texts), self.dimensions or 0), dtype=np.float32)
        if rows:
            result[filled] = np.asarray(rows, dtype=np.float32)
        return result

    def embed_query(self, text: str) -> FloatArray:
        import numpy as np

        if not text.strip():
            if self.dimensions is None:
                raise ProviderError(
                    "There is nothing to embed in an empty question.", remedy="Ask something."
                )
            return np.zeros(self.dimensions, dtype=np.float32)
        sent = cut_to_bytes(self.prefixes.query + text, LONGEST_TEXT_BYTES)
        # The time-out of a request does not cover name resolution.
        until = time.monotonic() + _PATIENCE_FOR_A_QUESTION_S + _GRACE_S
        try:
            (rows,) = ask_at_once(
                lambda text: self._ask([text], "query"),
                [sent],
                most=1,
                cancelled=lambda: time.monotonic() > until,
            )
        except EmbeddingCancelled as error:
            raise ProviderError(
                f"The model “{self.model}” did not answer within {_PATIENCE_FOR_A_QUESTION_S:g} s.",
                where=self.server.where,
                remedy="Check that the name of the server can be looked up.",
            ) from error
        row: FloatArray = rows[0]
        return row

    def close(self) -> None:
        self.server.close()

    def _answers(
        self, groups: Sequence[Sequence[str]], cancelled: Callable[[], bool]
    ) -> dict[int, FloatArray]:
        done: dict[int, FloatArray] = {}
        if self.jobs is not None and sum(map(len, groups)) >= self.least_for_batch:
            answers = self.jobs.run([self._body(group, "passage") for group in groups], cancelled)
            for number, answer in answers.items():
                # Requested again directly if it cannot be used, where the same fault is reported.
                with suppress(ProviderError):
                    done[number] = self._checked(self._vectors(answer, groups[number]), len(groups[number]))
        missing = [number for number in range(len(groups)) if number not in done]
        asked = ask_at_once(
            lambda number: self._ask(groups[number], "passage"),
            missing,
            most=self.concurrency,
            cancelled=cancelled,
        )
        return done | dict(zip(missing, asked, strict=True))

    def _ask(self, texts: Sequence[str], purpose: Purpose) -> FloatArray:
        seconds = self.timeout_s
        if purpose == "query":
            seconds = min(seconds, _PATIENCE_FOR_A_QUESTION_S)
        ask = self._ask_gemini if self.provider == "gemini" else self._ask_openai
        return self._checked(ask(texts, purpose, TimeLimit.of(seconds)), len(texts))

    def _ask_openai(self, texts: Sequence[str], _purpose: Purpose, limit: TimeLimit) -> list[Any]:
        asked = self._openai_body(texts)

        def request(client: openai.OpenAI, timeout_s: float) -> AbstractContextManager[APIResponse[Any]]:
            return client.embeddings.with_streaming_response.create(**asked, timeout=timeout_s)

        return self._vectors(self._parsed(self.server.ask_openai(request, limit)), texts)

    def _ask_gemini(self, texts: Sequence[str], purpose: Purpose, limit: TimeLimit) -> list[Any]:
        body = self.server.post(
            f"models/{quote(self.model, safe='')}:batchEmbedContents",
            self._gemini_body(texts, purpose),
            gemini_headers(self.end_point),
            limit,
        )
        return self._vectors(self._parsed(body), texts)

    def _parsed(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            raise unusable("it is no JSON", self.server.where) from error

    def _body(self, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        return self._gemini_body(texts, purpose) if self.provider == "gemini" else self._openai_body(texts)

    def _vectors(self, answer: Any, texts: Sequence[str]) -> list[Any]:
        read = self._gemini_vectors if self.provider == "gemini" else self._openai_vectors
        return read(answer, texts)

    def _openai_body(self, texts: Sequence[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.requested_dimensions is not None:
            body["dimensions"] = self.requested_dimensions
        return body

    def _openai_vectors(self, answer: Any, texts: Sequence[str]) -> list[Any]:
        """Return the vectors of a parsed answer in the order of the texts.

        Raises:
            ProviderError: It is not a list of embeddings, or not for these texts.
        """
        found: dict[int, Any] = {}
        try:
            entries = answer["data"]
            for place, entry in enumerate(entries):
                found[int(entry.get("index", place))] = _numbers(entry["embedding"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise unusable("it is no list of embeddings", self.server.where) from error
        if len(entries) != len(texts) or found.keys() != set(range(len(texts))):
            reason = f"it gave {len(entries)} vectors for {len(texts)} texts, or not theirs"
            raise unusable(reason, self.server.where)
        return [found[number] for number in range(len(texts))]

    def _gemini_body(self, texts: Sequence[str], purpose: Purpose) -> dict[str, Any]:
        request: dict[str, Any] = {"model": f"models/{self.model}", "taskType": _TASKS[purpose]}
        if self.requested_dimensions is not None:
            request["outputDimensionality"] = self.requested_dimensions
        return {"requests": [{**request, "content": {"parts": [{"text": text}]}} for text in texts]}

    def _gemini_vectors(self, answer: Any, texts: Sequence[str]) -> list[Any]:
        """Return the vectors of a parsed answer; raises as `_openai_vectors`."""
        try:
            return [entry["values"] for entry in answer["embeddings"]][: len(texts) + 1]
        except (KeyError, TypeError) as error:
            raise unusable("it is no list of embeddings", self.server.where) from error

    def _checked(self, vectors: list[Any], count: int) -> FloatArray:
        where = self.server.where
        rows = unit_rows(vectors, count=count, dimensions=self.dimensions, where=where)
        with self._lock:
            seen = self._seen_dimensions = self._seen_dimensions or rows.shape[1]
        if rows.shape[1] != seen:
            raise unusable(f"its vectors have {rows.shape[1]} dimensions, and had {seen} before", where)
        return rows


def _end_point_name(url: str) -> str:
    """Return an endpoint's identity, without a password or key in its URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


def _groups(texts: Sequence[str], most_texts: int, most_bytes: int) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if group and (len(group) == most_texts or size + length > most_bytes):
            yield group
            group, size = [], 0
        group.append(text)
        size += length
    if group:
        yield group


def _numbers(embedding: Any) -> Any:
    if isinstance(embedding, str):
        import numpy as np

        # Some servers always answer in base64.
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    if not isinstance(embedding, list):
        raise TypeError
    return embedding
