"""Embedding through a server: batches, concurrent requests, and ordered answers."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled, Prefixes, unit_rows, unusable
from workbench.engine.providers.llama_models import cut_to_bytes

if TYPE_CHECKING:
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


def ask_at_once(
    ask: Callable[[Asked], Answer], everything: Sequence[Asked], *, most: int, cancelled: Callable[[], bool]
) -> list[Answer]:
    """Ask concurrently; return the answers in order.

    After a cancellation or a failure, requests in progress are left to end by themselves: neither the caller
    nor the end of
    the program waits for them.

    Args:
        ask: Returns one answer; called on other threads.
        everything: Arguments of the calls.
        most: Maximum concurrent calls.
        cancelled: Polled.

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


class EmbeddingServer(Protocol):
    """One server and model; one request embeds several texts."""

    @property
    def where(self) -> str:
        """Return the endpoint, for messages."""
        ...

    def ask(self, texts: Sequence[str], purpose: Purpose) -> list[Any]:
        """Return one unvalidated vector per text, in order.

        Raises:
            ProviderError: There is no readable answer.
        """
        ...

    def ask_later(
        self, groups: Sequence[Sequence[str]], cancelled: Callable[[], bool]
    ) -> dict[int, list[Any]]:
        """Return the vectors of the groups of passages done by batch jobs, by group number.

        Raises:
            EmbeddingCancelled: `cancelled` returned true.
        """
        ...

    def close(self) -> None: ...


@dataclass
class RemoteEmbedder:
    """Embeds through a server; thread-safe.

    Args:
        provider: openai or gemini.
        model: The model's name.
        fingerprint: See `Embedder`.
        server: The server.
        prefixes: Prefixes of questions and passages.
        requested_dimensions: Required size of vectors; None takes that of the first answer.
        texts_at_once: Maximum texts per request.
        bytes_at_once: Maximum UTF-8 bytes per request, unless a single text is longer.
        concurrency: Maximum concurrent requests.
        least_for_batch: Minimum number of texts for a batch job; None for never.
    """

    provider: str
    model: str
    fingerprint: str
    server: EmbeddingServer
    prefixes: Prefixes = field(default_factory=Prefixes)
    requested_dimensions: int | None = None
    texts_at_once: int = 256
    bytes_at_once: int = 150_000
    concurrency: int = 4
    least_for_batch: int | None = None
    is_instant: bool = field(default=False, init=False)
    _seen_dimensions: int | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def dimensions(self) -> int | None:
        return self.requested_dimensions or self._seen_dimensions

    @property
    def chunks_at_once(self) -> int:
        """Return how many chunks to embed before storing: enough to keep every connection busy."""
        return 50_000 if self.least_for_batch is not None else 64 * self.concurrency

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
            (vectors,) = ask_at_once(
                lambda text: self.server.ask([text], "query"),
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
        row: FloatArray = self._checked(vectors, 1)[0]
        return row

    def close(self) -> None:
        self.server.close()

    def _answers(
        self, groups: Sequence[Sequence[str]], cancelled: Callable[[], bool]
    ) -> dict[int, FloatArray]:
        done: dict[int, FloatArray] = {}
        if self.least_for_batch is not None and sum(map(len, groups)) >= self.least_for_batch:
            for number, vectors in self.server.ask_later(groups, cancelled).items():
                done[number] = self._checked(vectors, len(groups[number]))
        missing = [number for number in range(len(groups)) if number not in done]
        asked = ask_at_once(
            lambda number: self._ask(groups[number]), missing, most=self.concurrency, cancelled=cancelled
        )
        return done | dict(zip(missing, asked, strict=True))

    def _ask(self, group: Sequence[str]) -> FloatArray:
        return self._checked(self.server.ask(group, "passage"), len(group))

    def _checked(self, vectors: list[Any], count: int) -> FloatArray:
        where = self.server.where
        rows = unit_rows(vectors, count=count, dimensions=self.dimensions, where=where)
        with self._lock:
            seen = self._seen_dimensions = self._seen_dimensions or rows.shape[1]
        if rows.shape[1] != seen:
            raise unusable(f"its vectors have {rows.shape[1]} dimensions, and had {seen} before", where)
        return rows


def seconds_for(purpose: Purpose, timeout_s: float) -> float:
    """Return the seconds allowed for an answer; fewer for a question than for a passage.

    Args:
        purpose: What is embedded.
        timeout_s: The configured limit.
    """
    return min(timeout_s, _PATIENCE_FOR_A_QUESTION_S) if purpose == "query" else timeout_s


def endpoint_name(url: str) -> str:
    """Return an endpoint's identity, without a password or key in its URL."""
    from urllib.parse import urlsplit

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
