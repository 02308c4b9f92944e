"""The built-in embedder: quick, the same every time, near where the meaning is near, silent where it knows nothing."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.engine.errors import ProviderError
from workbench.engine.providers.embedding.embedder import (
    LONGEST_WORD,
    TABLE_FOLDER,
    EmbeddingCancelled,
    StaticEmbedder,
    tokens,
    word_pieces,
)

EMBEDDER = StaticEmbedder()
TEXTS = st.text(max_size=60) | st.lists(
    st.sampled_from(["alex", "Berlin", "moved", "in", "2026", "—", "café", "我们", "Москва", "x" * 200]),
    max_size=30,
).map(" ".join)


@given(st.lists(TEXTS, max_size=12))
def test_rows_have_length_one_or_are_zeros_and_do_not_depend_on_their_neighbours(texts: list[str]) -> None:
    rows = EMBEDDER.embed_passages(texts)
    assert rows.shape == (len(texts), EMBEDDER.dimensions)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))
    for text, row in zip(texts, rows, strict=True):
        np.testing.assert_allclose(StaticEmbedder.embed_query(EMBEDDER, text), row, atol=1e-5)


def test_what_means_the_same_is_nearer_than_what_does_not() -> None:
    question = EMBEDDER.embed_query("Where does Alex live?")
    near, far = EMBEDDER.embed_passages(
        ["Her home is a small apartment in the city", "The build failed because of a missing semicolon"]
    )
    assert question @ near > question @ far + 0.1


def test_case_accents_and_typographic_marks_make_no_difference() -> None:
    plain, dressed = EMBEDDER.embed_passages(['don\'t call jose - "cafe"', "Don’t call José – “Café”"])
    np.testing.assert_allclose(plain, dressed, atol=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "?!",
        "— … —",
        "2026-02-03",
        "我们在柏林见面",
        "Встреча в Берлине",
        "会议 with Al 讨论项目的时间和地点",
    ],
)
def test_a_text_it_cannot_read_gets_zeros(text: str) -> None:
    assert not EMBEDDER.embed_query(text).any()


def test_a_few_words_of_another_script_do_not_silence_a_text() -> None:
    assert EMBEDDER.embed_query("The Chinese word for meeting is 会议").any()


def test_many_words_are_embedded_alike_once_the_kept_ones_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.providers.embedding.embedder._MOST_WORDS", 50)
    monkeypatch.setattr("workbench.engine.providers.embedding.embedder._BLOCK_TOKENS", 20)
    texts = [f"note {number} of row{number % 7} about house{number}" for number in range(200)]
    np.testing.assert_allclose(
        StaticEmbedder().embed_passages(texts), EMBEDDER.embed_passages(texts), atol=1e-5
    )


def test_a_text_without_end_is_embedded_by_its_beginning() -> None:
    row = EMBEDDER.embed_query("the garden is large " * 100_000)
    np.testing.assert_allclose(row, EMBEDDER.embed_query("the garden is large"), atol=1e-3)
    assert not EMBEDDER.embed_query("x" * 1_000_000).any()


def test_threads_may_share_one() -> None:
    embedder = StaticEmbedder()
    texts = [[f"thread {number} says word{number}x{at}" for at in range(300)] for number in range(4)]
    found: dict[int, Any] = {}
    workers = [
        threading.Thread(target=lambda at=at: found.__setitem__(at, embedder.embed_passages(texts[at])))
        for at in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for at in range(4):
        np.testing.assert_allclose(found[at], EMBEDDER.embed_passages(texts[at]), atol=1e-5)


def test_it_stops_when_told() -> None:
    with pytest.raises(EmbeddingCancelled):
        StaticEmbedder().embed_passages(["a b c"] * 10, cancelled=lambda: True)


def test_its_revision_is_that_of_its_files() -> None:
    digest = hashlib.sha256()
    for name in ("pieces.txt", "scales.npy", "vectors.npy"):
        digest.update((TABLE_FOLDER / name).read_bytes())
    about = json.loads((TABLE_FOLDER / "table.json").read_text())
    assert about["revision"] == digest.hexdigest()[:12]
    assert EMBEDDER.fingerprint == f"builtin {about['name']} {about['revision']}"


@pytest.mark.parametrize("name", ["vectors.npy", "scales.npy", "pieces.txt", "table.json"])
@pytest.mark.parametrize("content", [None, b"", b"\x93NUMPY torn"])
def test_a_damaged_table_is_said(tmp_path: Path, name: str, content: bytes | None) -> None:
    for each in ("vectors.npy", "scales.npy", "pieces.txt", "table.json"):
        (tmp_path / each).write_bytes((TABLE_FOLDER / each).read_bytes())
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ProviderError, match="missing or damaged"):
        StaticEmbedder(tmp_path).embed_query("hello there")


def test_importing_the_package_loads_no_library() -> None:
    program = (
        "import sys, workbench.engine.providers.embedding\n"
        "print(sorted({'numpy', 'openai', 'llama_cpp', 'urllib.request', 'http.client'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


VOCABULARY = {
    piece: row for row, piece in enumerate(["un", "##believ", "##able", "##a", "believe", "2", "##0"])
}


def test_words_are_cut_into_their_longest_pieces() -> None:
    assert word_pieces("unbelievable", VOCABULARY) == [0, 1, 2]
    assert word_pieces("believe", VOCABULARY) == [4]
    assert word_pieces("unknown", VOCABULARY) == []
    assert word_pieces("2" + "0" * LONGEST_WORD, VOCABULARY) == []


def test_marks_stand_alone() -> None:
    assert tokens("Dr. O’Neil’s e-mail: x_1@y.org") == [
        "dr", ".", "o", "'", "neil", "'", "s", "e", "-", "mail", ":", "x", "_", "1", "@", "y", ".", "org",
    ]  # fmt: skip
    assert tokens("Ångström\tnaïve") == ["angstrom", "naive"]


@given(st.text(max_size=80))
def test_tokens_hold_every_letter_and_no_space(text: str) -> None:
    found = tokens(text)
    assert all(token and not token.isspace() for token in found)
    ascii_letters = [character for character in text.lower() if "a" <= character <= "z"]
    joined = iter("".join(found))
    assert all(letter in joined for letter in ascii_letters)
