"""Batch jobs: a big backfill goes up as a file and comes back; whatever a job does not do is asked for directly."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.engine.providers.embedding.embedding_server import EmbeddingServer, vector_of
from tests.engine.providers.model_server import Answer, failure
from workbench.engine.providers.embedding import openai_embeddings
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled
from workbench.engine.providers.embedding.openai_embeddings import BatchTimes, OpenAIEmbeddings
from workbench.engine.providers.embedding.remote import RemoteEmbedder

TEXTS = [f"text {number}" for number in range(60)]
Make = Callable[..., RemoteEmbedder]


@pytest.fixture
def make(embedding_server: EmbeddingServer) -> Iterator[Make]:
    made: list[RemoteEmbedder] = []

    def build(timeout_s: float = 30.0, concurrency: int = 2) -> RemoteEmbedder:
        server = OpenAIEmbeddings(
            embedding_server.url,
            "sk-secret-123456",
            "small",
            timeout_s=10.0,
            batch=BatchTimes(0.01, timeout_s, concurrency),
            pause=lambda seconds: None,
        )
        made.append(
            RemoteEmbedder(
                "openai", "small", "openai small", server, texts_at_once=10, concurrency=2, least_for_batch=20
            )
        )
        return made[-1]

    yield build
    for embedder in made:
        embedder.close()


def problem_of(embedder: RemoteEmbedder) -> Any:
    server: Any = embedder.server
    return server._jobs.problem


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
    monkeypatch.setattr(openai_embeddings, "MOST_TEXTS", 25)
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
