"""What the settings ask for is what is asked: nothing is guessed, nothing told to whom it does not belong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.providers.embedding.asking import ask
from tests.engine.providers.embedding.embedding_server import EmbeddingServer
from workbench.engine.errors import InvalidInput, ProviderError
from workbench.engine.providers.embedding.builtin import StaticEmbedder
from workbench.engine.providers.embedding.local import LocalEmbedder
from workbench.engine.providers.embedding.remote import RemoteEmbedder
from workbench.engine.providers.selection import (
    DOCUMENTED_MODEL,
    ModelAddress,
    choose_embedders,
    model_to_download,
    models_folder,
)
from workbench.engine.settings.sections import EmbeddingSettings, Settings

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
    server: Any = remote(chosen.fallback).server
    assert (server.api_key, server.model, server.headers, server.base_url) == ("sk-other", "o", {}, "")


def test_behind_a_local_model_the_one_end_point_is_the_stand_ins() -> None:
    chosen = choose_embedders(
        embedding(provider="local", model_path="/x.gguf", fallback="openai", api_key=KEY)
    )
    server: Any = remote(chosen.fallback).server
    assert (server.api_key, server.model) == (KEY, "text-embedding-3-small")


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
    server: Any = remote(chosen.primary).server
    assert server.timeout_s == 7.0
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


def test_batch_jobs_are_for_openai_when_switched_on() -> None:
    for provider, batch, used in (("openai", True, True), ("openai", False, False), ("gemini", True, False)):
        chosen = choose_embedders(embedding(provider=provider, api_key=KEY, batch=batch))
        assert (remote(chosen.primary).least_for_batch is not None) == used


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


def test_a_download_is_for_the_model_configured() -> None:
    assert model_to_download(EmbeddingSettings()).file == "embeddinggemma-300M-Q8_0.gguf"
    assert model_to_download(EmbeddingSettings(model_path="hf:o/r/m.gguf")).file == "m.gguf"
    with pytest.raises(InvalidInput):
        model_to_download(EmbeddingSettings(model_path="/home/x/m.gguf"))
