"""The local embedder through llama.cpp itself, with a trained model where there is one and a small one anyway."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engine.providers.embedding.tiny_gguf import WIDTH, write_tiny_gguf
from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.embedder import EmbeddingCancelled, Prefixes, prefixes_of
from workbench.engine.providers.embedding.local import LocalEmbedder

TEXTS = [
    "The cat sleeps on the sofa.",
    "A kitten naps on the couch.",
    "Interest rates rose again.",
    "x",
    "9 lives",
]


@pytest.fixture
def embedder(model_file: Path) -> Iterator[LocalEmbedder]:
    with closing(LocalEmbedder(model_file)) as made:
        yield made


@pytest.fixture
def tiny(tiny_model: Path) -> Iterator[LocalEmbedder]:
    with closing(LocalEmbedder(tiny_model)) as made:
        yield made


@pytest.mark.local_model
def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: LocalEmbedder) -> None:
    rows = embedder.embed_passages(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dimensions)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for text, row in zip(TEXTS, rows, strict=True):
        # Quantised products are rounded differently in batches of different sizes.
        assert embedder.embed_passages([text])[0] @ row > 0.999


@pytest.mark.local_model
def test_a_trained_model_knows_what_is_near(real_model: Path | None, tiny_model: Path) -> None:
    with closing(LocalEmbedder(real_model or tiny_model)) as embedder:
        cat, kitten, rates = embedder.embed_passages(TEXTS[:3])
    # Random weights know nothing; where that is all there is, that different texts differ is all to be seen.
    assert (cat @ kitten > cat @ rates + 0.2) if real_model else (cat @ rates < 0.9999)


@pytest.mark.local_model
def test_many_texts_and_texts_without_words_and_texts_too_long(tiny: LocalEmbedder) -> None:
    texts = [f"{number} " * (number % 90) for number in range(150)]
    rows = tiny.embed_passages(texts)
    assert rows.shape == (150, WIDTH)
    for at in (0, 1, 63, 64, 89, 149):
        assert rows[at].any() == bool(texts[at].strip())
        if rows[at].any():
            assert tiny.embed_passages([texts[at]])[0] @ rows[at] > 0.999


@pytest.mark.local_model
def test_what_is_too_long_is_cut_behind_what_fits(tiny: LocalEmbedder) -> None:
    rows = tiny.embed_passages(["a " * 90, "a " * 3_000_000, "a " * 40, "\ud800 a"])
    assert rows[0] @ rows[1] > 0.99999
    assert rows[0] @ rows[2] < 0.99999
    assert rows[3].any()


@pytest.mark.local_model
def test_prefixes_go_before_questions_and_passages(tiny_model: Path) -> None:
    with (
        closing(LocalEmbedder(tiny_model, Prefixes("q: ", "p: "))) as made,
        closing(LocalEmbedder(tiny_model)) as bare,
    ):
        np.testing.assert_allclose(made.embed_query("it"), bare.embed_query("q: it"), atol=1e-5)
        np.testing.assert_allclose(made.embed_passages(["it"]), bare.embed_passages(["p: it"]), atol=1e-5)
        assert made.fingerprint != bare.fingerprint


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("embeddinggemma-300M-Q8_0.gguf", "task: search result | query: ", "title: none | text: "),
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("bge-small-en-v1.5-q8_0.gguf", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-m3", "", ""),
        ("nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("text-embedding-3-small", "", ""),
        ("minilm-q8_0.gguf", "", ""),
    ],
)
def test_models_get_the_prefixes_they_were_made_for(name: str, query: str, passage: str) -> None:
    assert prefixes_of(name) == Prefixes(query, passage)
    assert prefixes_of(name, query="", passage="p: ") == Prefixes("", "p: ")


@pytest.mark.local_model
def test_threads_share_one_model(tiny: LocalEmbedder) -> None:
    alone = tiny.embed_passages(TEXTS)
    found: list[Any] = []
    workers = [
        threading.Thread(target=lambda: found.append(tiny.embed_passages(TEXTS * 20))) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    for rows in found:
        assert np.all(np.einsum("ij,ij->i", rows, np.tile(alone, (20, 1))) > 0.999)


@pytest.mark.local_model
def test_it_stops_between_batches(tiny: LocalEmbedder) -> None:
    asked = iter([False, False, True])
    with pytest.raises(EmbeddingCancelled):
        tiny.embed_passages(["word " * 40] * 500, cancelled=lambda: next(asked))


@pytest.mark.local_model
def test_it_can_be_closed_and_used_again(tiny: LocalEmbedder) -> None:
    before = tiny.embed_query("again")
    tiny.close()
    tiny.close()
    np.testing.assert_allclose(tiny.embed_query("again"), before, atol=1e-6)


@pytest.mark.local_model
def test_nothing_is_printed(model_file: Path) -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from workbench.engine.providers.embedding.local import LocalEmbedder\n"
        "embedder = LocalEmbedder(Path(sys.argv[1])); embedder.embed_passages(['a', 'b ' * 5000]); embedder.close()"
    )
    run = subprocess.run([sys.executable, "-c", program, str(model_file)], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    embedder = LocalEmbedder(tmp_path / "none.gguf", remedy="Download it.")
    for ask in (lambda: embedder.embed_query("x"), lambda: embedder.fingerprint):
        with pytest.raises(ProviderError, match="cannot be read") as caught:
            ask()
        assert caught.value.where == str(tmp_path / "none.gguf")
        assert caught.value.remedy == "Download it."


@pytest.mark.local_model
@pytest.mark.parametrize(
    ("kept", "reason"), [(0, "no GGUF"), (3, "no GGUF"), (400, "damaged"), (9000, "damaged")]
)
def test_a_torn_file_is_said(tmp_path: Path, tiny_model: Path, kept: int, reason: str) -> None:
    torn = tmp_path / "torn.gguf"
    torn.write_bytes(tiny_model.read_bytes()[:kept])
    with pytest.raises(ProviderError, match=reason):
        LocalEmbedder(torn).embed_passages(["x"])


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "folder.gguf").mkdir()
    for place in (tmp_path / "pipe.gguf", tmp_path / "folder.gguf", Path("/dev/zero")):
        with pytest.raises(ProviderError, match="no GGUF file"):
            assert LocalEmbedder(place).fingerprint
        with pytest.raises(ProviderError, match="no GGUF file"):
            LocalEmbedder(place).embed_query("tea")


@pytest.mark.local_model
def test_a_model_that_gives_no_one_vector_is_said(tmp_path: Path) -> None:
    path = write_tiny_gguf(tmp_path / "words.gguf", pooling=0)
    with pytest.raises(ProviderError, match="no embedding model"):
        LocalEmbedder(path).embed_query("x")


def test_a_missing_library_is_said(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ProviderError, match="not installed") as caught:
        LocalEmbedder(tiny_model).embed_query("x")
    assert "memory-workbench[local]" in str(caught.value)


def test_the_fingerprint_changes_with_the_file(tmp_path: Path, tiny_model: Path) -> None:
    content = bytearray(tiny_model.read_bytes())
    first, second = tmp_path / "a" / "m.gguf", tmp_path / "b" / "m.gguf"
    for path in (first, second):
        path.parent.mkdir()
        path.write_bytes(content)
    assert LocalEmbedder(first).fingerprint == LocalEmbedder(second).fingerprint
    content[-1] ^= 1
    second.write_bytes(content)
    assert LocalEmbedder(first).fingerprint != LocalEmbedder(second).fingerprint
