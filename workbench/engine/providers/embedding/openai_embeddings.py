"""Embeddings from OpenAI-compatible servers, by single requests or through the Batch API."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled, unusable
from workbench.engine.providers.embedding.remote import seconds_for
from workbench.engine.providers.openai_api import OpenAIConnection
from workbench.engine.providers.retries import with_retries

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import openai
    from openai._response import APIResponse

    from workbench.engine.providers.embedding.remote import Purpose


END_POINT: Any = "/v1/embeddings"
MOST_TEXTS = 50_000
MOST_BYTES = 100_000_000
_FAILED = frozenset({"failed", "expired", "cancelled", "cancelling"})
_FAILURES_UNTIL_LEFT_ALONE = 2
DEFAULT_MODEL = "text-embedding-3-small"
LARGEST_ANSWER_BYTES = 400_000_000


@dataclass(frozen=True)
class BatchTimes:
    """Timing of batch jobs.

    Args:
        poll_s: Seconds between polls of a job.
        timeout_s: Seconds after which a job is cancelled.
        concurrency: Concurrent jobs.
    """

    poll_s: float = 5.0
    timeout_s: float = 3600.0
    concurrency: int = 2


@dataclass
class BatchJobs:
    """Runs requests as batch jobs. A failed job raises nothing; its answers are missing.

    Args:
        connection: The server.
        times: Timing of jobs.
        request_timeout_s: Seconds for one request about a job.
        retries: Further attempts of such a request.
        pause: Sleeps for some seconds.
    """

    connection: OpenAIConnection
    times: BatchTimes
    request_timeout_s: float
    retries: int
    pause: Callable[[float], None] = field(repr=False)
    problem: ProviderError | None = field(default=None, init=False)
    _failures: int = field(default=0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def run(
        self, bodies: Sequence[Mapping[str, Any]], cancelled: Callable[[], bool]
    ) -> dict[int, Mapping[str, Any]]:
        """Return the answers by request number; empty once two jobs have failed.

        Args:
            bodies: The requests; each `input` is a list.
            cancelled: Polled; cancels running jobs too.

        Raises:
            EmbeddingCancelled: `cancelled` returned true.
        """
        if self._failures >= _FAILURES_UNTIL_LEFT_ALONE:
            return {}
        from concurrent.futures import ThreadPoolExecutor

        answers: dict[int, Mapping[str, Any]] = {}
        with ThreadPoolExecutor(self.times.concurrency, thread_name_prefix="batch") as pool:
            for found in list(pool.map(lambda job: self._run_job(job, cancelled), _jobs(bodies))):
                answers.update(found)
        return answers

    def _run_job(
        self, lines: dict[int, bytes], cancelled: Callable[[], bool]
    ) -> dict[int, Mapping[str, Any]]:
        job_id: str | None = None
        done = False
        try:
            uploaded = self._upload(b"".join(lines.values()))
            job = self._create(uploaded)
            job_id = job["id"]
            job = self._wait_for(job, cancelled)
            done = True
            answers: dict[int, Mapping[str, Any]] = {}
            if output := job.get("output_file_id"):
                answers = _read_answers(self._download(output), lines.keys())
            if len(answers) < len(lines):
                self._note(self._why_some_failed(job))
            else:
                self._failures = 0
            return answers
        except ProviderError as error:
            self._note(error)
            return {}
        finally:
            if job_id is not None and not done:
                self._cancel(job_id)

    def _wait_for(self, job: dict[str, Any], cancelled: Callable[[], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + self.times.timeout_s
        while job["status"] != "completed":
            if job["status"] in _FAILED:
                if job.get("output_file_id"):
                    return job
                raise self._why_some_failed(job)
            if cancelled():
                raise EmbeddingCancelled
            if time.monotonic() >= deadline:
                raise ProviderError(
                    f"The batch job was not done within {self.times.timeout_s / 60:g} minutes.",
                    where=self.connection.where,
                    remedy="Raise embedding.batch_timeout, or set embedding.batch to false.",
                )
            self.pause(self.times.poll_s)
            job = self._retrieve(job["id"])
        return job

    def _note(self, problem: ProviderError) -> None:
        with self._lock:
            self.problem = problem
            self._failures += 1

    def _why_some_failed(self, job: Mapping[str, Any]) -> ProviderError:
        said = f"its status is {job.get('status')}"
        errors = job.get("errors")
        listed = errors.get("data") if isinstance(errors, dict) else None
        if isinstance(listed, list) and listed and isinstance(listed[0], dict):
            said = self.connection.without_secrets(str(listed[0].get("message", said)))
        elif job.get("error_file_id"):
            try:
                first = self._download(job["error_file_id"]).partition(b"\n")[0]
                said = self.connection.without_secrets(_message_of(first) or said)
            except ProviderError as error:
                said = error.message
        return ProviderError(
            f"The batch job did not answer everything: {said}",
            where=self.connection.where,
            remedy="What it left out is asked for directly.",
        )

    def _upload(self, content: bytes) -> str:
        return str(
            self._json(
                lambda client, timeout: client.files.with_streaming_response.create(
                    file=("requests.jsonl", content, "application/jsonl"), purpose="batch", timeout=timeout
                )
            )["id"]
        )

    def _create(self, file_id: str) -> dict[str, Any]:
        return self._json(
            lambda client, timeout: client.batches.with_streaming_response.create(
                input_file_id=file_id, endpoint=END_POINT, completion_window="24h", timeout=timeout
            ),
            "status",
        )

    def _retrieve(self, job_id: str) -> dict[str, Any]:
        return self._json(
            lambda client, timeout: client.batches.with_streaming_response.retrieve(job_id, timeout=timeout),
            "status",
        )

    def _download(self, file_id: str) -> bytes:
        return self._fetch(
            lambda client, timeout: client.files.with_streaming_response.content(file_id, timeout=timeout)
        )

    def _cancel(self, job_id: str) -> None:
        try:
            self._json(
                lambda client, timeout: client.batches.with_streaming_response.cancel(job_id, timeout=timeout)
            )
        except ProviderError as error:
            # The job is abandoned either way; its cost is for the person to know.
            self.problem = error

    def _json(
        self,
        request: Callable[[openai.OpenAI, float], AbstractContextManager[Any]],
        *needed: str,
    ) -> dict[str, Any]:
        body = self._fetch(request)
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or not all(
            isinstance(answer.get(key), str) for key in ("id", *needed)
        ):
            raise ProviderError(
                "The server’s answer about a batch job cannot be read.",
                where=self.connection.where,
                remedy="Set embedding.batch to false: it seems to have no batch jobs.",
            )
        return answer

    def _fetch(
        self, request: Callable[[openai.OpenAI, float], AbstractContextManager[APIResponse[Any]]]
    ) -> bytes:
        deadline = time.monotonic() + self.request_timeout_s
        return with_retries(
            lambda: self.connection.fetch(request, deadline),
            retries=self.retries,
            deadline=deadline,
            pause=self.pause,
        )


def _jobs(bodies: Sequence[Mapping[str, Any]]) -> Iterator[dict[int, bytes]]:
    """Yield the lines of each job by request number, within the API's limits."""
    lines: dict[int, bytes] = {}
    texts = size = 0
    for number, body in enumerate(bodies):
        request = {"custom_id": str(number), "method": "POST", "url": END_POINT, "body": dict(body)}
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        if lines and (texts + len(body["input"]) > MOST_TEXTS or size + len(line) > MOST_BYTES):
            yield lines
            lines, texts, size = {}, 0, 0
        lines[number] = line
        texts += len(body["input"])
        size += len(line)
    if lines:
        yield lines


def _read_answers(content: bytes, known: Any) -> dict[int, Mapping[str, Any]]:
    """Return the successful response bodies of an output file, skipping invalid lines."""
    answers: dict[int, Mapping[str, Any]] = {}
    for line in content.splitlines():
        try:
            entry = json.loads(line)
            number, response = int(entry["custom_id"]), entry["response"]
            if number in known and response["status_code"] == 200 and isinstance(response["body"], dict):
                answers[number] = response["body"]
        except (ValueError, RecursionError, KeyError, TypeError):
            continue
    return answers


def _message_of(line: bytes) -> str:
    """Return the message of a line of an error file, or ""."""
    try:
        entry = json.loads(line)
        error = entry.get("error") or entry["response"]["body"]["error"]
        return str(error["message"])
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ""


@dataclass
class OpenAIEmbeddings:
    """One embedding model of one server.

    Args:
        base_url: "" for OpenAI’s own.
        api_key: "" if the server wants none.
        model: The model's name.
        headers: Further request headers.
        dimensions: Requested size; None for the model's own.
        timeout_s: Total seconds for one answer, including retries and pauses; fewer for a question.
        retries: Further attempts after an overload, a server fault or a lost connection.
        batch: Timing of batch jobs.
        pause: Sleeps between attempts.
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
                # Requested again directly, where the same fault is reported.
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
        ProviderError: It is not a list of embeddings, or not for these texts.
    """
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise unusable("it is no JSON", where) from error
    return vectors_of(answer, count, where)


def vectors_of(answer: Any, count: int, where: str) -> list[Any]:
    """Return the vectors of a parsed answer, like `read_embeddings`."""
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

        # Some servers always answer in base64.
        return np.frombuffer(base64.b64decode(embedding, validate=True), dtype="<f4")
    if not isinstance(embedding, list):
        raise TypeError
    return embedding
