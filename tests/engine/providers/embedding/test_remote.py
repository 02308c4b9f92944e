"""Embedders behind a server: right answers in order, wrong ones refused, patience with limits, no key told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tests.engine.providers.embedding.embedding_server import Body, EmbeddingServer, vector_of
from tests.engine.providers.model_server import Answer, failure
from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled, Prefixes
from workbench.engine.providers.embedding.remote import LONGEST_TEXT_BYTES, RemoteEmbedder
from workbench.engine.providers.model_server import EndPoint

KEY = "sk-secret-123456"
Make = Callable[..., RemoteEmbedder]


@pytest.fixture(params=["openai", "gemini"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(embedding_server: EmbeddingServer) -> Iterator[Make]:
    made: list[RemoteEmbedder] = []

    def build(provider: str = "openai", url: str = "", **options: Any) -> RemoteEmbedder:
        end_point = EndPoint(url or embedding_server.url, KEY, "small", options.pop("headers", {}))
        embedder = RemoteEmbedder(provider, end_point, **({"timeout_s": 5.0} | options))
        made.append(embedder)
        return embedder

    yield build
    for embedder in made:
        embedder.close()


def expected(texts: Sequence[str], dimensions: int = 8) -> Any:
    rows = np.asarray([vector_of(text, dimensions) for text in texts], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_every_text_gets_its_own_vector(embedding_server: EmbeddingServer, make: Make, provider: str) -> None:
    embedder = make(provider, texts_at_once=7, concurrency=3)
    texts = [f"text {number}" for number in range(50)]
    np.testing.assert_allclose(embedder.embed_passages(texts), expected(texts), atol=1e-6)
    assert embedder.dimensions == 8
    np.testing.assert_allclose(embedder.embed_query("text 3"), expected(["text 3"])[0], atol=1e-6)


def test_texts_without_words_are_not_sent(
    embedding_server: EmbeddingServer, make: Make, provider: str
) -> None:
    embedder = make(provider)
    rows = embedder.embed_passages(["", "a", " \n", "b"])
    np.testing.assert_allclose(rows[[1, 3]], expected(["a", "b"]), atol=1e-6)
    assert not rows[[0, 2]].any()
    assert embedder.embed_passages([]).shape[0] == 0
    assert len(embedding_server.asked) == 1
    assert not embedder.embed_query(" ").any()
    with pytest.raises(ProviderError, match="empty question"):
        make(provider).embed_query(" ")


def test_openai_is_asked_in_its_own_terms(embedding_server: EmbeddingServer, make: Make) -> None:
    prefixes = Prefixes("q: ", "p: ")
    embedder = make(requested_dimensions=4, prefixes=prefixes, headers={"X-Team": "bench"})
    embedder.embed_passages(["one"])
    embedder.embed_query("two")
    (path, passage), (_, query) = embedding_server.asked
    assert path == "/v1/embeddings"
    assert passage == {"model": "small", "input": ["p: one"], "dimensions": 4, "encoding_format": "float"}
    assert query["input"] == ["q: two"]
    assert embedding_server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert embedding_server.headers[0]["x-team"] == "bench"


def test_gemini_is_asked_in_its_own_terms(embedding_server: EmbeddingServer, make: Make) -> None:
    embedder = make("gemini", requested_dimensions=4, headers={"X-Team": "bench"})
    embedder.embed_passages(["one"])
    embedder.embed_query("two")
    (path, passage), (_, query) = embedding_server.asked
    assert path == "/v1/models/small:batchEmbedContents"
    assert passage["requests"] == [
        {
            "model": "models/small",
            "content": {"parts": [{"text": "one"}]},
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 4,
        }
    ]
    assert query["requests"][0]["taskType"] == "RETRIEVAL_QUERY"
    assert embedding_server.headers[0]["x-goog-api-key"] == KEY
    assert embedding_server.headers[0]["x-team"] == "bench"


def test_the_environment_of_another_server_is_not_told_to_this_one(
    embedding_server: EmbeddingServer, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "elsewhere")
    make().embed_query("x")
    make("gemini").embed_query("x")
    assert "elsewhere" not in str(embedding_server.headers)


def test_requests_keep_to_their_limits(embedding_server: EmbeddingServer, make: Make) -> None:
    texts = ["a" * 40] * 10 + ["ü" * LONGEST_TEXT_BYTES] + ["b"] * 30
    make(texts_at_once=20, bytes_at_once=200, concurrency=1).embed_passages(texts)
    sent = [body["input"] for _, body in embedding_server.asked]
    assert sum(map(len, sent)) == len(texts)
    assert all(len(group) <= 20 for group in sent)
    assert all(len(group) == 1 or sum(len(text.encode()) for text in group) <= 200 for group in sent)
    assert max(len(text.encode()) for group in sent for text in group) == LONGEST_TEXT_BYTES


def test_several_requests_are_under_way_at_once(embedding_server: EmbeddingServer, make: Make) -> None:
    # None is answered before three are there; with fewer at once the barrier would break.
    embedding_server.together = threading.Barrier(3)
    make(texts_at_once=2, concurrency=3).embed_passages([f"t{number}" for number in range(12)])
    assert embedding_server.at_once == 3


def test_answers_in_base64_and_out_of_order_are_understood(
    embedding_server: EmbeddingServer, make: Make
) -> None:
    embedding_server.base64 = True
    embedding_server.change = lambda body: body | {"data": body["data"][::-1]}
    np.testing.assert_allclose(make().embed_passages(["a", "b", "c"]), expected(["a", "b", "c"]), atol=1e-6)


def test_very_large_and_very_small_numbers_become_unit_vectors(
    embedding_server: EmbeddingServer, make: Make
) -> None:
    vectors = [[1e-200, 0.0], [3e200, 4e200]]
    embedding_server.change = lambda body: {"data": [{"embedding": vector} for vector in vectors]}
    np.testing.assert_allclose(make().embed_passages(["a", "b"]), np.array([[1, 0], [0.6, 0.8]]), atol=1e-6)


def _without_last(body: Body) -> Body:
    key = "data" if "data" in body else "embeddings"
    return body | {key: body[key][:-1]}


def _with_values(*values: Any) -> Callable[[Body], Body]:
    def change(body: Body) -> Body:
        if "data" in body:
            return body | {"data": [entry | {"embedding": list(values)} for entry in body["data"]]}
        return {"embeddings": [{"values": list(values)} for _ in body["embeddings"]]}

    return change


@pytest.mark.parametrize(
    "change",
    [
        _without_last,
        _with_values(float("nan"), 1.0),
        _with_values(float("inf"), 1.0),
        _with_values("1", "x"),
        _with_values(None, 1.0),
        _with_values([1.0], [2.0]),
        _with_values(),
        lambda body: {"data": "none", "embeddings": "none"},
        lambda body: {"data": None, "embeddings": None},
        lambda body: {},
    ],
    ids=["short", "nan", "infinite", "words", "null", "nested", "empty", "text", "none", "nothing"],
)
def test_garbage_is_refused(
    embedding_server: EmbeddingServer, make: Make, provider: str, change: Callable[[Body], Body]
) -> None:
    embedding_server.change = change
    with pytest.raises(ProviderError, match="cannot be used") as caught:
        make(provider).embed_passages(["a", "b"])
    assert caught.value.where == embedding_server.url


@pytest.mark.parametrize(
    "entries",
    [
        [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 7, "embedding": [1.0]}],
        [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}],
        [{"index": 0, "embedding": "???"}, {"index": 1, "embedding": "???"}],
    ],
    ids=["twice", "stranger", "ragged", "no base64"],
)
def test_vectors_of_other_texts_are_refused(
    embedding_server: EmbeddingServer, make: Make, entries: list[Body]
) -> None:
    embedding_server.change = lambda body: {"data": entries}
    with pytest.raises(ProviderError, match="cannot be used"):
        make().embed_passages(["a", "b"])


@pytest.mark.parametrize("body", [b"<html>", b"", b"[" * 100_000, b'"text"', b"[]", b"\xff"])
def test_what_is_no_answer_at_all_is_refused(
    embedding_server: EmbeddingServer, make: Make, provider: str, body: bytes
) -> None:
    embedding_server.faults = {"mbed": [Answer(body=body)]}
    with pytest.raises(ProviderError, match="cannot be used"):
        make(provider).embed_query("a")


def test_other_dimensions_than_before_are_refused(
    embedding_server: EmbeddingServer, make: Make, provider: str
) -> None:
    embedder = make(provider)
    embedder.embed_query("a")
    embedding_server.dimensions = 5
    with pytest.raises(ProviderError, match="5 dimensions"):
        embedder.embed_query("a")


def test_other_dimensions_than_asked_for_are_refused(embedding_server: EmbeddingServer, make: Make) -> None:
    embedding_server.change = _with_values(1.0, 2.0)
    with pytest.raises(ProviderError, match="2 dimensions instead of 4"):
        make(requested_dimensions=4).embed_query("a")


@pytest.mark.parametrize("fault", [failure(429, "slow down"), failure(503, "busy"), Answer(hangs_up=True)])
def test_a_passing_fault_is_waited_out(
    embedding_server: EmbeddingServer, make: Make, provider: str, pauses: list[float], fault: Answer
) -> None:
    embedding_server.faults = {"mbed": [fault, fault]}
    make(provider).embed_query("a")
    assert pauses == [0.25, 0.5]


def test_the_server_says_how_long_to_wait(
    embedding_server: EmbeddingServer, make: Make, provider: str, pauses: list[float]
) -> None:
    embedding_server.faults = {"mbed": [failure(429, "slow down", retry_after="1.5")]}
    make(provider).embed_query("a")
    assert pauses == [1.5]
    embedding_server.faults = {"mbed": [failure(429, "slow down", retry_after="3600")]}
    with pytest.raises(ProviderError, match="overloaded"):
        make(provider).embed_query("a")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (failure(401, f"bad key {KEY}"), "refused the key"),
        (failure(404, "no such model"), "knows no model “small”"),
        (failure(400, f"cannot with {KEY} and X-header-value"), "answered 400: "),
        (failure(500, "broken"), "answered 500: "),
        (failure(429, "quota"), "overloaded"),
    ],
)
def test_a_lasting_fault_is_told_without_the_key(
    embedding_server: EmbeddingServer, make: Make, provider: str, fault: Answer, said: str
) -> None:
    embedding_server.faults = {"mbed": [fault] * 10}
    with pytest.raises(ProviderError) as caught:
        make(provider, headers={"X-Auth": "X-header-value"}).embed_query("a")
    assert said in caught.value.message
    shown = f"{caught.value!r} {caught.value} {make(provider)!r}"
    assert KEY not in shown
    assert "X-header-value" not in shown


@pytest.mark.parametrize("stalls", ["before", "inside", "trickle"])
def test_a_stalled_server_is_given_up(
    embedding_server: EmbeddingServer, make: Make, provider: str, stalls: str
) -> None:
    embedding_server.faults = {
        "mbed": [Answer(body=json.dumps({"data": ["x" * 400]}).encode(), stalls=stalls)] * 9
    }
    started = time.monotonic()
    with pytest.raises(ProviderError, match=r"within 0\.4 s"):
        make(provider, timeout_s=0.4).embed_query("a")
    # The server stalls for ten seconds.
    assert time.monotonic() - started < 8


def test_a_question_is_not_waited_for_as_long_as_passages(
    embedding_server: EmbeddingServer, make: Make, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.providers.embedding.remote._PATIENCE_FOR_A_QUESTION_S", 0.3)
    embedding_server.faults = {"mbed": [Answer(body=b"{}", stalls="before")]}
    with pytest.raises(ProviderError, match=r"within 0\.3 s"):
        make(provider, timeout_s=60.0).embed_query("a")
    embedding_server.faults = {"mbed": [Answer(body=b"{}", stalls="before")]}
    with pytest.raises(ProviderError, match=r"within 0\.6 s"):
        make(provider, timeout_s=0.6).embed_passages(["a"])


def test_a_question_is_given_up_where_not_even_the_server_is_found(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.engine.providers.embedding.remote._PATIENCE_FOR_A_QUESTION_S", 0.1)
    over = threading.Event()
    embedder = make()
    monkeypatch.setattr(embedder.server, "ask_openai", lambda *_: over.wait(10))
    with pytest.raises(ProviderError, match=r"within 0\.1 s"):
        embedder.embed_query("a")
    over.set()


def test_whoever_cancels_does_not_wait_for_a_stalled_server(
    embedding_server: EmbeddingServer, make: Make, provider: str
) -> None:
    embedding_server.faults = {"mbed": [Answer(body=b"{}", stalls="before")] * 9}
    started = time.monotonic()
    with pytest.raises(EmbeddingCancelled):
        make(provider, timeout_s=60.0).embed_passages(["a"], cancelled=lambda: bool(embedding_server.asked))
    # The server answers after ten seconds, or when the test is over.
    assert time.monotonic() - started < 8


def test_nobody_there_is_said(make: Make, provider: str) -> None:
    with pytest.raises(ProviderError, match="cannot be reached"):
        make(provider, "http://127.0.0.1:9", retries=0).embed_query("a")


@pytest.mark.parametrize(
    "url", ["http://me:hunter2@127.0.0.1:9/v1", "ftp://me:hunter2@x", "http://me:hunter2@[x"]
)
def test_a_password_in_the_url_is_not_told(make: Make, provider: str, url: str) -> None:
    embedder = make(provider, url, retries=0)
    with pytest.raises(ProviderError) as caught:
        embedder.embed_query("a")
    assert "hunter2" not in f"{caught.value} {embedder.server.where}"
    assert "me" not in embedder.server.where


@pytest.mark.parametrize("url", ["localhost:80", "ftp://x/y", "file:///etc/passwd", "http://", "//x"])
def test_what_is_no_web_address_is_refused(make: Make, provider: str, url: str) -> None:
    with pytest.raises(ProviderError, match="not a web address"):
        make(provider, url).embed_query("a")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(
    embedding_server: EmbeddingServer, make: Make, provider: str, status: int
) -> None:
    target = {"Location": embedding_server.url + "/elsewhere"}
    embedding_server.faults = {"mbed": [Answer(status, headers=target)]}
    with pytest.raises(ProviderError, match=r"sends on|answered 30"):
        make(provider).embed_query("a")
    assert len(embedding_server.asked) == 1


def test_one_failing_request_fails_the_whole(embedding_server: EmbeddingServer, make: Make) -> None:
    embedding_server.faults = {"mbed": [failure(400, "no")]}
    with pytest.raises(ProviderError, match="400"):
        make(texts_at_once=1).embed_passages([f"t{number}" for number in range(20)])
    assert len(embedding_server.asked) < 20


def test_it_stops_between_requests(embedding_server: EmbeddingServer, make: Make) -> None:
    for concurrency in (1, 3):
        with pytest.raises(EmbeddingCancelled):
            make(texts_at_once=1, concurrency=concurrency).embed_passages(
                [f"t{number}" for number in range(30)], cancelled=lambda: len(embedding_server.asked) >= 3
            )
    assert len(embedding_server.asked) < 20
