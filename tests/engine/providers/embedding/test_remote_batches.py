"""Batch jobs: a big backfill goes up as a file and comes back; whatever a job does not do is asked for directly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.engine.providers.embedding.embedding_server import EmbeddingServer, vector_of
from tests.engine.providers.model_server import Answer, failure
from workbench.engine.providers.embedding import batches
from workbench.engine.providers.embedding.batches import BatchTimes
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled
from workbench.engine.providers.embedding.remote import RemoteEmbedder
from workbench.engine.providers.model_server import EndPoint

TEXTS = [f"text {number}" for number in range(60)]
Make = Callable[..., RemoteEmbedder]


@pytest.fixture
def make(embedding_server: EmbeddingServer) -> Iterator[Make]:
    made: list[RemoteEmbedder] = []

    def build(
        timeout_s: float = 30.0, concurrency: int = 2, provider: str = "openai", dimensions: int | None = None
    ) -> RemoteEmbedder:
        end_point = EndPoint(embedding_server.url, "sk-secret-123456", "small")
        made.append(
            RemoteEmbedder(
                provider,
                end_point,
                requested_dimensions=dimensions,
                timeout_s=10.0,
                concurrency=2,
                batch=BatchTimes(0.01, timeout_s, concurrency),
                texts_at_once=10,
                least_for_batch=20,
            )
        )
        return made[-1]

    yield build
    for embedder in made:
        embedder.close()


def problem_of(embedder: RemoteEmbedder) -> Any:
    assert embedder.jobs is not None
    return embedder.jobs.problem


def check(rows: Any) -> None:
    wanted = np.asarray([vector_of(text) for text in TEXTS])
    np.testing.assert_allclose(rows, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)


def test_a_backfill_goes_by_a_job_and_comes_back_in_order(
    embedding_server: EmbeddingServer, make: Make
) -> None:
    embedder = make()
    check(embedder.embed_passages(TEXTS))
    assert embedding_server.texts() == []
    assert embedding_server.paths() == [
        "/v1/files",
        "/v1/batches",
        "/v1/batches/batch-0",
        "/v1/batches/batch-0",
        "/v1/files/output_file_id-batch-0/content",
    ]
    assert embedding_server.asked[1][1] == {
        "input_file_id": "file-0",
        "endpoint": "/v1/embeddings",
        "completion_window": "24h",
    }
    assert problem_of(embedder) is None


def test_few_texts_and_questions_go_directly(embedding_server: EmbeddingServer, make: Make) -> None:
    make().embed_passages(TEXTS[:19])
    make().embed_query("x")
    assert set(embedding_server.paths()) == {"/v1/embeddings"}


def test_jobs_keep_to_the_limits_of_the_server(
    embedding_server: EmbeddingServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_MOST_TEXTS", 25)
    check(make().embed_passages(TEXTS))
    assert embedding_server.paths().count("/v1/batches") == 3
    assert embedding_server.texts() == []


def test_what_a_job_loses_is_asked_for_directly(embedding_server: EmbeddingServer, make: Make) -> None:
    embedding_server.lost_requests = {"1", "4"}
    embedder = make()
    check(embedder.embed_passages(TEXTS))
    assert sorted(embedding_server.texts()) == sorted(TEXTS[10:20] + TEXTS[40:50])
    assert "it broke" in problem_of(embedder).message


@pytest.mark.parametrize("status", ["failed", "expired", "cancelled"])
def test_a_job_that_fails_is_no_error(embedding_server: EmbeddingServer, make: Make, status: str) -> None:
    embedding_server.end_status = status
    embedder = make()
    check(embedder.embed_passages(TEXTS))
    assert sorted(embedding_server.texts()) == sorted(TEXTS)
    assert status in problem_of(embedder).message


@pytest.mark.parametrize(
    "faults",
    [
        {"/files": [failure(404, "no files here")]},
        {"/batches": [failure(400, "no batches here")]},
        {"/batches/": [Answer(body=b"<html>")]},
        {"/content": [failure(500, "lost")] * 9},
        {"/content": [Answer(body=b"not json\n{}\n")]},
        {"/files": [Answer(body=b"{}")]},
    ],
    ids=["files", "create", "poll", "download", "garbage", "no id"],
)
def test_a_server_without_jobs_is_asked_directly(
    embedding_server: EmbeddingServer, make: Make, faults: dict[str, list[Answer]]
) -> None:
    embedding_server.faults = faults
    embedder = make()
    check(embedder.embed_passages(TEXTS))
    assert sorted(embedding_server.texts()) == sorted(TEXTS)
    assert problem_of(embedder) is not None


def test_a_passing_fault_does_not_lose_the_job(embedding_server: EmbeddingServer, make: Make) -> None:
    busy = failure(503, "busy")
    embedding_server.faults = {
        "/files": [busy],
        "/batches/": [busy, Answer(hangs_up=True)],
        "/content": [busy],
    }
    check(make().embed_passages(TEXTS))
    assert embedding_server.texts() == []


def test_a_job_that_takes_too_long_is_cancelled(embedding_server: EmbeddingServer, make: Make) -> None:
    embedding_server.polls_until_done = 10**9
    embedder = make(timeout_s=0.2)
    check(embedder.embed_passages(TEXTS))
    assert embedding_server.cancelled == ["batch-0"]
    assert "within 0.00333333 minutes" in problem_of(embedder).message


def test_cancelling_cancels_the_job(embedding_server: EmbeddingServer, make: Make) -> None:
    embedding_server.polls_until_done = 10**9
    with pytest.raises(EmbeddingCancelled):
        make().embed_passages(TEXTS, cancelled=lambda: len(embedding_server.asked) > 5)
    assert embedding_server.cancelled == ["batch-0"]


def test_after_two_failures_jobs_are_left_alone(embedding_server: EmbeddingServer, make: Make) -> None:
    embedding_server.end_status = "failed"
    embedder = make()
    for _ in range(4):
        embedder.embed_passages(TEXTS)
    assert embedding_server.paths().count("/v1/batches") == 2


def test_the_key_is_in_no_file(embedding_server: EmbeddingServer, make: Make) -> None:
    make().embed_passages(TEXTS)
    assert "sk-secret" not in json.dumps(embedding_server.asked)


def gemini_texts(server: EmbeddingServer) -> list[str]:
    """Return every text that Gemini was asked for directly."""
    return [
        request["content"]["parts"][0]["text"]
        for path, body in server.asked
        if path.endswith(":batchEmbedContents")
        for request in body["requests"]
    ]


def test_a_backfill_goes_to_gemini_by_an_asynchronous_batch(
    embedding_server: EmbeddingServer, make: Make
) -> None:
    embedder = make(provider="gemini")
    check(embedder.embed_passages(TEXTS))
    assert gemini_texts(embedding_server) == []
    assert embedding_server.paths() == [
        "/v1/models/small:asyncBatchEmbedContent",
        "/v1/batches/gemini-0",
        "/v1/batches/gemini-0",
    ]
    inline = embedding_server.asked[0][1]["batch"]["inputConfig"]["requests"]["requests"]
    assert len(inline) == 60
    assert inline[0]["request"]["taskType"] == "RETRIEVAL_DOCUMENT"
    assert {headers.get("x-goog-api-key") for headers in embedding_server.headers} == {"sk-secret-123456"}
    assert "sk-secret" not in json.dumps(embedding_server.asked)
    assert problem_of(embedder) is None


def test_what_a_batch_of_gemini_loses_is_asked_for_directly(
    embedding_server: EmbeddingServer, make: Make
) -> None:
    embedding_server.lost_requests = {"1-3", "4-0"}
    embedder = make(provider="gemini")
    check(embedder.embed_passages(TEXTS))
    assert sorted(gemini_texts(embedding_server)) == sorted(TEXTS[10:20] + TEXTS[40:50])
    assert "it broke" in problem_of(embedder).message


@pytest.mark.parametrize("status", ["failed", "expired", "cancelled"])
def test_a_batch_of_gemini_that_fails_is_no_error(
    embedding_server: EmbeddingServer, make: Make, status: str
) -> None:
    embedding_server.end_status = status
    embedder = make(provider="gemini")
    check(embedder.embed_passages(TEXTS))
    assert sorted(gemini_texts(embedding_server)) == sorted(TEXTS)
    assert status.upper() in problem_of(embedder).message


@pytest.mark.parametrize(
    "faults",
    [
        {":asyncBatch": [failure(404, "no batches here")]},
        {":asyncBatch": [Answer(body=b"{}")]},
        {":asyncBatch": [Answer(body=b'{"name": "../../elsewhere"}')]},
        {"/batches/": [Answer(body=b"<html>")]},
        {"/batches/": [Answer(body=b'{"done": true}')]},
    ],
    ids=["create", "no name", "strange name", "poll", "nothing in it"],
)
def test_a_gemini_without_batches_is_asked_directly(
    embedding_server: EmbeddingServer, make: Make, faults: dict[str, list[Answer]]
) -> None:
    embedding_server.faults = faults
    embedder = make(provider="gemini")
    check(embedder.embed_passages(TEXTS))
    assert sorted(gemini_texts(embedding_server)) == sorted(TEXTS)
    assert problem_of(embedder) is not None


@pytest.mark.parametrize("keyed", [True, False])
def test_the_outcome_of_gemini_is_read_wherever_the_api_puts_it(
    embedding_server: EmbeddingServer, make: Make, keyed: bool
) -> None:
    def moved(output: dict[str, Any]) -> dict[str, Any]:
        entries = output["inlinedResponses"]["inlinedResponses"]
        if not keyed:
            entries = [{"response": each["response"]} for each in reversed(entries)]
        return {"inlinedEmbedContentResponses": {"inlinedResponses": entries}}

    embedding_server.change = moved
    check(make(provider="gemini").embed_passages(TEXTS))
    assert gemini_texts(embedding_server) == []


def test_batches_of_gemini_keep_to_what_goes_inline(
    embedding_server: EmbeddingServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "_MOST_TEXTS", 25)
    check(make(provider="gemini", dimensions=8).embed_passages(TEXTS))
    assert sum(":asyncBatch" in path for path in embedding_server.paths()) == 3


def test_a_batch_of_gemini_that_takes_too_long_is_cancelled(
    embedding_server: EmbeddingServer, make: Make
) -> None:
    embedding_server.polls_until_done = 10**9
    check(make(timeout_s=0.2, provider="gemini").embed_passages(TEXTS))
    assert embedding_server.cancelled == ["batches/gemini-0"]
