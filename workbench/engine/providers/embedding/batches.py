"""Batch jobs for big backfills: OpenAI's, whose requests go up as a file, and Gemini's, which carry them inline."""

from __future__ import annotations

import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import TYPE_CHECKING, Any

from workbench.engine.errors import ProviderError
from workbench.engine.patterns import lazy_pattern
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled
from workbench.engine.providers.model_server import EndPoint, ModelServer, TimeLimit
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from openai.types import Batch

    from workbench.engine.providers.model_server import OpenAIRequest


Job = Mapping[int, Any]
"""The requests of one job by their number."""
_BATCH_END_POINT: Any = "/v1/embeddings"
# What one batch job may hold; Gemini takes 20 MB inline.
_MOST_TEXTS = 50_000
_MOST_BYTES = 100_000_000
_MOST_INLINE_BYTES = 15_000_000
_FAILED = frozenset({"failed", "expired", "cancelled", "cancelling"})
_FAILURES_UNTIL_LEFT_ALONE = 2
_GEMINI_JOB = lazy_pattern(r"batches/[\w.-]+")


@dataclass(frozen=True)
class BatchTimes:
    """Timing of batch jobs.

    Args:
        timeout_s: Seconds after which a job is cancelled.
    """

    poll_s: float
    timeout_s: float
    concurrency: int


@dataclass
class BatchJobs(ABC):
    """Runs requests as batch jobs of a server. A failed job raises nothing; its answers are missing.

    Args:
        server: The server.
        times: Timing of jobs.
        timeout_s: Total seconds for one request about a job.
    """

    server: ModelServer
    times: BatchTimes
    timeout_s: float
    problem: ProviderError | None = field(default=None, init=False)
    _failures: int = field(default=0, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def run(self, bodies: Sequence[Mapping[str, Any]], cancelled: Callable[[], bool]) -> dict[int, Any]:
        """Return the parsed answers by request number; empty once two jobs have failed.

        Args:
            bodies: The requests as they are sent directly.
            cancelled: Polled; cancels running jobs too.

        Raises:
            EmbeddingCancelled: `cancelled` returned true.
        """
        if self._failures >= _FAILURES_UNTIL_LEFT_ALONE:
            return {}
        answers: dict[int, Any] = {}
        with ThreadPoolExecutor(self.times.concurrency, thread_name_prefix="batch") as pool:
            for found in list(pool.map(lambda job: self._run_job(job, cancelled), self._split(bodies))):
                answers |= found
        return answers

    @abstractmethod
    def _split(self, bodies: Sequence[Mapping[str, Any]]) -> Iterator[Job]:
        """Yield the requests of each job by number, within the server's limits."""

    @abstractmethod
    def _begin(self, job: Job) -> str:
        """Create a job and return its name."""

    @abstractmethod
    def _look(self, name: str) -> Any | None:
        """Return a job that has ended, or None if it is still under way; raise ProviderError if it failed."""

    @abstractmethod
    def _answers_of(self, ended: Any, job: Job) -> dict[int, Any]:
        """Return the answers of a job that has ended, in the form of direct ones; those that failed are missing."""

    @abstractmethod
    def _why_some_failed(self, ended: Any) -> ProviderError:
        """Return why a job did not answer everything."""

    @abstractmethod
    def _ask_to_cancel(self, name: str) -> None:
        """Cancel a job."""

    def _run_job(self, job: Job, cancelled: Callable[[], bool]) -> dict[int, Any]:
        name = ""
        done = False
        try:
            name = self._begin(job)
            ended = self._wait_for(name, cancelled)
            done = True
            answers = self._answers_of(ended, job)
            if len(answers) < len(job):
                self._note(self._why_some_failed(ended))
            else:
                self._failures = 0
            return answers
        except ProviderError as error:
            self._note(error)
            return {}
        finally:
            if name and not done:
                self._cancel(name)

    def _wait_for(self, name: str, cancelled: Callable[[], bool]) -> Any:
        deadline = time.monotonic() + self.times.timeout_s
        while (ended := self._look(name)) is None:
            if cancelled():
                raise EmbeddingCancelled
            if time.monotonic() >= deadline:
                raise ProviderError(
                    f"The batch job was not done within {self.times.timeout_s / 60:g} minutes.",
                    where=self.server.where,
                    remedy="Raise embedding.batch_timeout, or set embedding.batch to false.",
                )
            time.sleep(self.times.poll_s)
        return ended

    def _cancel(self, name: str) -> None:
        try:
            self._ask_to_cancel(name)
        except ProviderError as error:
            # The job is abandoned either way; its cost is for the person to know.
            self.problem = error

    def _unreadable(self) -> ProviderError:
        return ProviderError(
            "The server’s answer about a batch job cannot be read.",
            where=self.server.where,
            remedy="Set embedding.batch to false: it seems to have no batch jobs.",
        )

    def _incomplete(self, said: str) -> ProviderError:
        return ProviderError(
            f"The batch job did not answer everything: {self.server.without_secrets(said)}",
            where=self.server.where,
            remedy="What it left out is asked for directly.",
        )

    def _note(self, problem: ProviderError) -> None:
        with self._lock:
            self.problem = problem
            self._failures += 1


class OpenAIJobs(BatchJobs):
    """Jobs of OpenAI’s Batch API."""

    def _split(self, bodies: Sequence[Mapping[str, Any]]) -> Iterator[Job]:
        return _jobs(bodies)

    def _begin(self, job: Job) -> str:
        file = ("requests.jsonl", b"".join(job.values()), "application/jsonl")
        uploaded = self._json(
            lambda client, timeout: client.files.with_streaming_response.create(
                file=file, purpose="batch", timeout=timeout
            )
        )
        begun = self._json(
            lambda client, timeout: client.batches.with_streaming_response.create(
                input_file_id=uploaded["id"],
                endpoint=_BATCH_END_POINT,
                completion_window="24h",
                timeout=timeout,
            ),
            "status",
        )
        return str(begun["id"])

    def _look(self, name: str) -> Batch | None:
        from openai.types import Batch

        answer = self._json(
            lambda client, timeout: client.batches.with_streaming_response.retrieve(name, timeout=timeout),
            "status",
        )
        job = Batch.construct(**answer)
        if job.status in _FAILED and not job.output_file_id:
            raise self._why_some_failed(job)
        return job if job.status == "completed" or job.status in _FAILED else None

    def _answers_of(self, ended: Batch, job: Job) -> dict[int, Any]:
        if not ended.output_file_id:
            return {}
        return _read_answers(self._content(ended.output_file_id), job.keys())

    def _why_some_failed(self, ended: Batch) -> ProviderError:
        said = f"its status is {ended.status}"
        listed = ended.errors.data if ended.errors else None
        if listed:
            said = listed[0].message or said
        elif ended.error_file_id:
            try:
                said = _message_of(self._content(ended.error_file_id).partition(b"\n")[0]) or said
            except ProviderError as error:
                said = error.message
        return self._incomplete(said)

    def _ask_to_cancel(self, name: str) -> None:
        self._ask(
            lambda client, timeout: client.batches.with_streaming_response.cancel(name, timeout=timeout)
        )

    def _content(self, file_id: str) -> bytes:
        return self._ask(
            lambda client, timeout: client.files.with_streaming_response.content(file_id, timeout=timeout)
        )

    def _json(self, request: OpenAIRequest, *needed: str) -> dict[str, Any]:
        try:
            answer = json.loads(self._ask(request))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or not all(
            isinstance(answer.get(key), str) for key in ("id", *needed)
        ):
            raise self._unreadable()
        return answer

    def _ask(self, request: OpenAIRequest) -> bytes:
        return self.server.ask_openai(request, TimeLimit.of(self.timeout_s))


def gemini_headers(end_point: EndPoint) -> dict[str, str]:
    """Return the headers of a request to Gemini; the key is in a header, never in a URL."""
    key = {"x-goog-api-key": end_point.api_key} if end_point.api_key else {}
    return {**end_point.headers, **key}


class GeminiJobs(BatchJobs):
    """Jobs of Gemini’s asynchronous batches of embeddings; each text is a request with a key, `GROUP-PLACE`."""

    def _split(self, bodies: Sequence[Mapping[str, Any]]) -> Iterator[Job]:
        job: dict[int, Any] = {}
        texts = size = 0
        for number, body in enumerate(bodies):
            requests = body["requests"]
            length = len(json.dumps(requests, ensure_ascii=False).encode())
            if job and (texts + len(requests) > _MOST_TEXTS or size + length > _MOST_INLINE_BYTES):
                yield job
                job, texts, size = {}, 0, 0
            job[number] = requests
            texts += len(requests)
            size += length
        if job:
            yield job

    def _begin(self, job: Job) -> str:
        inline = [
            {"request": request, "metadata": {"key": f"{number}-{place}"}}
            for number, requests in job.items()
            for place, request in enumerate(requests)
        ]
        batch = {"displayName": "workbench", "inputConfig": {"requests": {"requests": inline}}}
        answer = self._json(
            self._post(f"{inline[0]['request']['model']}:asyncBatchEmbedContent", {"batch": batch})
        )
        name = answer.get("name")
        if not isinstance(name, str) or not _GEMINI_JOB.fullmatch(name):
            raise self._unreadable()
        return name

    def _look(self, name: str) -> dict[str, Any] | None:
        limit = TimeLimit.of(self.timeout_s)
        answer = self._json(self.server.get(name, gemini_headers(self.server.end_point), limit))
        state = _state_of(answer)
        if answer.get("error") or state.endswith(("_FAILED", "_CANCELLED", "_EXPIRED")):
            raise self._why_some_failed(answer)
        return answer if answer.get("done") is True or state.endswith("_SUCCEEDED") else None

    def _answers_of(self, ended: dict[str, Any], job: Job) -> dict[int, Any]:
        keys = [f"{number}-{place}" for number, requests in job.items() for place in range(len(requests))]
        given = _inlined(ended)
        found: dict[str, Any] = {}
        for place, entry in enumerate(given):
            try:
                # Where keys are not given back, the order is that of the requests.
                key = entry["metadata"]["key"] if entry.get("metadata") else keys[place]
                found[str(key)] = {"values": entry["response"]["embedding"]["values"]}
            except (KeyError, TypeError, AttributeError, IndexError):
                continue
        answers = {}
        for number, requests in job.items():
            embeddings = [found.get(f"{number}-{place}") for place in range(len(requests))]
            if all(embeddings):
                answers[number] = {"embeddings": embeddings}
        return answers

    def _why_some_failed(self, ended: dict[str, Any]) -> ProviderError:
        errors = (each.get("error") for each in (ended, *_inlined(ended)) if isinstance(each, Mapping))
        said = next(
            (error["message"] for error in errors if isinstance(error, Mapping) and error.get("message")), ""
        )
        return self._incomplete(str(said) or f"its state is {_state_of(ended) or 'not told'}")

    def _ask_to_cancel(self, name: str) -> None:
        self._post(f"{name}:cancel", {})

    def _post(self, path: str, body: Mapping[str, Any]) -> bytes:
        headers = gemini_headers(self.server.end_point)
        return self.server.post(path, body, headers, TimeLimit.of(self.timeout_s))

    def _json(self, content: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._unreadable()
        return answer


def _state_of(job: Mapping[str, Any]) -> str:
    metadata = job.get("metadata")
    state = metadata.get("state") if isinstance(metadata, Mapping) else job.get("state")
    return state if isinstance(state, str) else ""


def _inlined(job: Mapping[str, Any]) -> list[Any]:
    """Return the responses of a job of Gemini, which versions of the API put into different places."""
    metadata = job.get("metadata")
    for place in (job.get("response"), metadata.get("output") if isinstance(metadata, Mapping) else None):
        for name in ("inlinedResponses", "inlinedEmbedContentResponses"):
            found = place.get(name) if isinstance(place, Mapping) else None
            if isinstance(found, Mapping):
                found = found.get("inlinedResponses")
            if isinstance(found, list):
                return found
    return []


def _jobs(bodies: Sequence[Mapping[str, Any]]) -> Iterator[dict[int, bytes]]:
    """Yield the lines of each job by request number, within the API's limits."""
    lines: dict[int, bytes] = {}
    texts = size = 0
    for number, body in enumerate(bodies):
        request = {"custom_id": str(number), "method": "POST", "url": _BATCH_END_POINT, "body": dict(body)}
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        if lines and (texts + len(body["input"]) > _MOST_TEXTS or size + len(line) > _MOST_BYTES):
            yield lines
            lines, texts, size = {}, 0, 0
        lines[number] = line
        texts += len(body["input"])
        size += len(line)
    if lines:
        yield lines


def _read_answers(content: bytes, known: Collection[int]) -> dict[int, Any]:
    """Return the successful response bodies of an output file, skipping invalid lines."""
    answers: dict[int, Any] = {}
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
