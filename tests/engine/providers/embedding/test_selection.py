"""What the settings ask for is what is asked: nothing is guessed, nothing told to whom it does not belong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.engine.providers.embedding.asking import ask
from tests.engine.providers.embedding.embedding_server import EmbeddingServer
from workbench.engine.errors import InvalidInput, ProviderError
from workbench.engine.providers.embedding.embedder import StaticEmbedder
from workbench.engine.providers.embedding.local import (
    DOCUMENTED_MODEL,
    LocalEmbedder,
    ModelAddress,
    models_folder,
)
from workbench.engine.providers.embedding.remote import RemoteEmbedder
from workbench.engine.providers.model_server import EndPoint
from workbench.engine.providers.selection import Embedders, choose_embedders
from workbench.engine.settings.sections import EmbeddingSettings, Settings

if TYPE_CHECKING:
    from workbench.engine.providers.embedding.embedder import FloatArray


KEY = "sk-secret-123456"


def embedding(**values: Any) -> Settings:
    return Settings(embedding=EmbeddingSettings(**values))


def remote(embedder: object) -> RemoteEmbedder:
    assert isinstance(embedder, RemoteEmbedder)
    return embedder


def test_the_table_is_the_default() -> None:
    chosen = choose_embedders(Settings())
    assert isinstance(chosen.primary, StaticEmbedder)
    assert chosen.fallback is None
    assert ask(chosen, "hello there").fallback is None


def test_none_is_none() -> None:
    chosen = choose_embedders(embedding(provider="none"))
    assert chosen.standing().embedder is None


@pytest.mark.local_model
def test_a_local_model_with_the_table_behind_it(model_file: Path) -> None:
    chosen = choose_embedders(embedding(provider="local", model_path=str(model_file)))
    assert isinstance(chosen.primary, LocalEmbedder)
    answer = ask(chosen, "hello there")
    assert (answer.provider, answer.model, answer.fallback) == ("local", model_file.name, None)
    chosen.close()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"provider": "local"}, "No local embedding model is named"),
        ({"provider": "local", "model_path": "hf:o/r/m.gguf"}, "cannot be read"),
        ({"provider": "local", "model_path": "hf:../../x"}, "no address of a model"),
        ({"provider": "openai"}, "no key"),
        ({"provider": "gemini", "model": "x"}, "no key"),
    ],
)
def test_what_lacks_something_falls_back_and_says_what(tmp_path: Path, values: Any, said: str) -> None:
    chosen = choose_embedders(embedding(model_folder=str(tmp_path), **values))
    answer = ask(chosen, "hello there")
    assert answer.provider == "builtin"
    assert said in str(answer.fallback)
    assert chosen.standing().embedder is chosen.fallback
    with pytest.raises(ProviderError, match=said):
        ask(choose_embedders(embedding(model_folder=str(tmp_path), fallback="none", **values)))
    assert list(tmp_path.iterdir()) == []


def test_a_stand_in_that_lacks_something_is_not_offered() -> None:
    standing = choose_embedders(embedding(provider="openai", fallback="local")).standing()
    assert standing.embedder is None
    assert "no key" in str(standing.fallback)
    assert "No local embedding model" in str(standing.fallback)


def test_the_stand_in_is_not_told_the_key_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chosen = choose_embedders(embedding(provider="gemini", api_key=KEY, model="g", fallback="openai"))
    assert remote(chosen.primary).model == "g"
    stand_in = chosen.fallback
    assert not isinstance(stand_in, RemoteEmbedder)
    chosen = choose_embedders(
        embedding(
            provider="gemini",
            api_key=KEY,
            headers={"X-Auth": "for gemini"},
            fallback="openai",
            fallback_api_key="sk-other",
            fallback_model="o",
        )
    )
    assert remote(chosen.fallback).end_point == EndPoint("", "sk-other", "o", {})


def test_behind_a_local_model_the_one_end_point_is_the_stand_ins() -> None:
    chosen = choose_embedders(
        embedding(provider="local", model_path="/x.gguf", fallback="openai", api_key=KEY)
    )
    assert remote(chosen.fallback).end_point == EndPoint("", KEY, "text-embedding-3-small")


@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_everything_set_reaches_the_server(embedding_server: EmbeddingServer, provider: str) -> None:
    chosen = choose_embedders(
        embedding(
            provider=provider,
            fallback="none",
            base_url=embedding_server.url,
            api_key=KEY,
            model="small",
            headers={"X-Team": "bench"},
            dimensions=6,
            query_prefix="ask: ",
            timeout=7.0,
        )
    )
    answer = ask(chosen, "hello")
    assert answer.vector.shape == (6,)
    assert answer.provider == provider
    assert embedding_server.headers[0]["x-team"] == "bench"
    assert "ask: hello" in str(embedding_server.asked)
    assert remote(chosen.primary).timeout_s == 7.0
    chosen.close()


def test_a_server_that_is_out_is_stepped_in_for(embedding_server: EmbeddingServer) -> None:
    url = embedding_server.url
    chosen = choose_embedders(
        embedding(provider="openai", base_url=url, api_key=KEY, model="small", timeout=5.0)
    )
    embedding_server.change = lambda body: {}
    answer = ask(chosen, "hello there")
    assert answer.provider == "builtin"
    assert "cannot be used" in str(answer.fallback)
    chosen.close()


def test_fingerprints_tell_what_vectors_depend_on_and_no_secret() -> None:
    base = {
        "provider": "openai",
        "base_url": f"http://user:{KEY}@host:8080/v1/",
        "api_key": KEY,
        "model": "m",
    }
    changes: list[dict[str, Any]] = [
        {},
        {"model": "n"},
        {"dimensions": 5},
        {"query_prefix": "q"},
        {"passage_prefix": "p"},
        {"base_url": "http://other/v1"},
        {"provider": "gemini"},
    ]
    fingerprints = []
    for change in changes:
        chosen = choose_embedders(embedding(**(base | change)))
        assert chosen.primary is not None
        fingerprints.append(chosen.primary.fingerprint)
    assert len(set(fingerprints)) == len(changes)
    assert KEY not in str(fingerprints)
    same = choose_embedders(
        embedding(**(base | {"api_key": "other", "headers": {"X": "y"}, "timeout": 1.0}))
    ).primary
    assert same is not None
    assert same.fingerprint == fingerprints[0]


def test_batch_jobs_are_made_where_they_are_switched_on() -> None:
    for provider, batch, used in (("openai", True, True), ("openai", False, False), ("gemini", True, True)):
        chosen = choose_embedders(embedding(provider=provider, api_key=KEY, batch=batch))
        assert (remote(chosen.primary).jobs is not None) == used


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("hf:o/r/m.gguf", ("o", "r", "m.gguf", "main")),
        ("hf:o/r@v1.2/deep/m.Q8_0.gguf", ("o", "r", "deep/m.Q8_0.gguf", "v1.2")),
        (DOCUMENTED_MODEL, ("ggml-org", "embeddinggemma-300M-GGUF", "embeddinggemma-300M-Q8_0.gguf", "main")),
    ],
)
def test_addresses_are_taken_apart(address: str, parts: tuple[str, ...]) -> None:
    found = ModelAddress.read(address)
    assert (found.owner, found.repository, found.file, found.revision) == parts


@pytest.mark.parametrize(
    "address",
    ["", "m.gguf", "hf:o/m.gguf", "hf:o/r/m.bin", "hf:o/../m.gguf", "hf:../r/m.gguf", "hf:o/r/../../m.gguf",
     "hf:o/r//m.gguf", "hf:o/r/./m.gguf", "hf:o/r@../m.gguf", "hf:o/r/m\n.gguf", "hf:o/r/..\\m.gguf", "hf:/o/r/m.gguf"],
)  # fmt: skip
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="no address"):
        ModelAddress.read(address)


def test_models_are_kept_apart_in_their_folder(tmp_path: Path) -> None:
    files = {
        ModelAddress.read(f"hf:{rest}").file_in(tmp_path)
        for rest in ("o/r/m.gguf", "o/r@x/m.gguf", "p/r/m.gguf")
    }
    assert len(files) == 3
    assert all(file.is_relative_to(tmp_path) for file in files)
    assert models_folder("").name == "models"


@dataclass
class Scripted:
    """An embedder that works or fails as a test says."""

    provider: str
    works: bool = True
    asked: int = 0
    closed: bool = False
    model: str = "m"
    dimensions: int | None = 2
    is_instant: bool = False
    wait: Callable[[], object] = field(default=lambda: None)

    @property
    def fingerprint(self) -> str:
        return f"{self.provider} m"

    def embed_passages(
        self, texts: Sequence[str], *, cancelled: Callable[[], bool] = lambda: False
    ) -> FloatArray:
        self.asked += 1
        self.wait()
        if not self.works:
            raise ProviderError(f"{self.provider} is out.")
        return np.ones((len(texts), 2), np.float32)

    def embed_query(self, text: str) -> FloatArray:
        row: FloatArray = self.embed_passages([text])[0]
        return row

    def close(self) -> None:
        self.closed = True


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def first() -> Scripted:
    return Scripted("openai")


@pytest.fixture
def second() -> Scripted:
    return Scripted("builtin")


@pytest.fixture
def both(first: Scripted, second: Scripted, clock: Clock) -> Embedders:
    return Embedders(first, second, monotonic=clock)


def test_the_first_answers_while_it_works(both: Embedders, first: Scripted, second: Scripted) -> None:
    answer = ask(both)
    assert (answer.provider, answer.fingerprint, answer.fallback) == ("openai", "openai m", None)
    assert (first.asked, second.asked) == (1, 0)
    assert both.standing().embedder is first


def test_the_second_steps_in_at_once_and_says_why(both: Embedders, first: Scripted) -> None:
    first.works = False
    for answer in (ask(both), ask(both)):
        assert (answer.provider, answer.fingerprint) == ("builtin", "builtin m")
        assert answer.fallback == "The embedder openai failed, builtin answers instead: openai is out."
    assert first.asked == 1


def test_the_first_is_asked_again_after_a_minute(both: Embedders, first: Scripted, clock: Clock) -> None:
    first.works = False
    ask(both)
    clock.now += 59.9
    ask(both)
    assert first.asked == 1
    clock.now += 0.2
    assert ask(both).fallback is not None
    assert first.asked == 2
    first.works = True
    clock.now += 59.9
    assert ask(both).provider == "builtin"
    clock.now += 0.2
    assert ask(both).fallback is None
    assert both.standing().fallback is None
    assert ask(both).provider == "openai"


def test_while_one_thread_tries_again_others_do_not_wait(
    both: Embedders, first: Scripted, clock: Clock
) -> None:
    first.works = False
    ask(both)
    clock.now += 61
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        go_on.wait(5)

    first.wait, first.works = wait, True
    trying = threading.Thread(target=lambda: ask(both))
    trying.start()
    assert begun.wait(5)
    assert ask(both).provider == "builtin"
    go_on.set()
    trying.join()
    assert ask(both).provider == "openai"


def test_where_both_fail_the_error_is_that_of_the_second(
    both: Embedders, first: Scripted, second: Scripted
) -> None:
    first.works = second.works = False
    with pytest.raises(ProviderError, match="builtin is out"):
        ask(both)


def test_where_both_are_out_only_keywords_are_left(
    both: Embedders, first: Scripted, second: Scripted, clock: Clock
) -> None:
    for embedder in (first, second):
        both.failed(embedder, ProviderError(f"{embedder.provider} is out."))
    standing = both.standing()
    assert standing.embedder is None
    said = (
        "The embedder openai and builtin failed, only keywords are searched: openai is out. builtin is out."
    )
    assert standing.fallback == said
    clock.now += 61
    assert both.standing().embedder is first


def test_without_a_second_the_error_stays_for_the_while(first: Scripted, clock: Clock) -> None:
    alone = Embedders(first, None, monotonic=clock)
    first.works = False
    for _ in range(3):
        with pytest.raises(ProviderError, match="openai is out"):
            ask(alone)
    assert first.asked == 1
    assert alone.standing().embedder is None
    assert "only keywords" in str(alone.standing().fallback)


def test_with_nothing_configured_nothing_is_asked() -> None:
    nothing = Embedders(None, Scripted("builtin"))
    assert nothing.standing().embedder is None
    assert nothing.standing().fallback is None
    assert nothing.turn() == nothing.standing()


def test_failures_of_direct_use_count(
    both: Embedders, first: Scripted, second: Scripted, clock: Clock
) -> None:
    both.failed(second, ProviderError("no matter"))
    both.worked(second)
    assert both.standing().embedder is first
    both.failed(first, ProviderError("openai is out."))
    assert both.standing().embedder is second
    assert "openai is out" in str(both.standing().fallback)
    clock.now += 61
    assert both.standing().embedder is first
    both.worked(first)
    assert ask(both).fallback is None


def test_closing_closes_both(both: Embedders, first: Scripted, second: Scripted) -> None:
    both.close()
    assert first.closed
    assert second.closed
