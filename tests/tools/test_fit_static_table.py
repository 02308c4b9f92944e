"""The fitting of the built-in table: it learns what it is shown, and writes what the package reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.engine.providers.embedding.tiny_gguf import write_tiny_gguf
from tools.fit_static_table import agreement, cut, fit, fragments_of, main, rounded, write_table
from workbench.engine.providers.embedding.embedder import StaticEmbedder

PIECES = ["the", "cat", "dog", "house", "sea", "##s", "red", "blue", "."]
VOCABULARY = {piece: row for row, piece in enumerate(PIECES)}


def test_averaging_and_its_transpose_are_what_they_say() -> None:
    fragments, kept = cut(["the cats", "???", "dog. the dog.", "sea"], VOCABULARY)
    assert kept == [0, 2, 3]
    averaging = np.zeros((3, len(PIECES)), np.float32)
    for text, (start, length) in enumerate(zip(fragments.starts, fragments.lengths, strict=True)):
        for row in fragments.rows[start : start + length]:
            averaging[text, row] += 1 / length
    random = np.random.default_rng(1)
    table = random.normal(size=(len(PIECES), 5)).astype(np.float32)
    texts = random.normal(size=(3, 5)).astype(np.float32)
    np.testing.assert_allclose(fragments.means(table), averaging @ table, atol=1e-6)
    np.testing.assert_allclose(fragments.spread(texts, len(PIECES)), averaging.T @ texts, atol=1e-6)


def test_the_fit_is_the_solution_of_ridge_regression() -> None:
    random = np.random.default_rng(2)
    texts = [" ".join(random.choice(PIECES[:5], 4)) for _ in range(40)]
    fragments, _ = cut(texts, VOCABULARY)
    wanted = random.normal(size=(40, 3)).astype(np.float32)
    start = random.normal(size=(len(PIECES), 3)).astype(np.float32)
    fitted = fit(start, fragments, wanted, strength=0.5, rounds=50)
    averaging = fragments.means(np.eye(len(PIECES), dtype=np.float32))
    guess = averaging @ start
    scaled = start * (guess * wanted).sum() / (guess * guess).sum()
    exact = scaled + np.linalg.solve(
        averaging.T @ averaging + 0.5 * np.eye(len(PIECES)), averaging.T @ (wanted - averaging @ scaled)
    )
    np.testing.assert_allclose(fitted, exact, atol=1e-3)


def test_rounding_keeps_a_row_within_half_a_step() -> None:
    table = np.random.default_rng(3).normal(size=(20, 8)).astype(np.float32)
    table[7] = 0
    rows, scales = rounded(table)
    back = rows.astype(np.float32) * scales.astype(np.float32)[:, np.newaxis]
    assert np.all(np.abs(back - table) <= 0.51 * scales.astype(np.float32)[:, np.newaxis])


def test_agreement_is_of_likenesses_not_of_directions() -> None:
    random = np.random.default_rng(4)
    rows = random.normal(size=(30, 6)).astype(np.float32)
    turned = rows @ np.linalg.qr(random.normal(size=(6, 6)))[0].astype(np.float32)
    assert agreement(rows, turned) == pytest.approx(1, abs=1e-4)
    assert agreement(rows, random.normal(size=(30, 6)).astype(np.float32)) < 0.5


def test_fragments_are_sentences_and_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(
        "One two three four. Too short. 1 2 3 4 5 6 7 8 9.\n\nFive six seven eight nine!"
    )
    (tmp_path / "b.png").write_bytes(b"The cat sat on the mat again today.")
    found = fragments_of([tmp_path], 10, 1)
    assert sorted(found) == ["Five six seven eight nine!", "One two three four."]
    assert fragments_of([tmp_path], 10, 1) == found


def test_a_table_written_can_be_read(tmp_path: Path) -> None:
    table = np.random.default_rng(5).normal(size=(len(PIECES), 4)).astype(np.float32)
    write_table(tmp_path, PIECES, table, "none")
    embedder = StaticEmbedder(tmp_path)
    wanted = table[VOCABULARY["the"]] + table[VOCABULARY["cat"]] + table[VOCABULARY["##s"]]
    assert embedder.embed_query("The cats") @ (wanted / np.linalg.norm(wanted)) > 0.999
    assert embedder.fingerprint.endswith(json.loads((tmp_path / "table.json").read_text())["revision"])


@pytest.mark.local_model
def test_the_program_fits_to_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    teacher = write_tiny_gguf(tmp_path / "tiny.gguf")
    words = ["red", "blue", "cat", "dog", "sea", "house", "the", "of", "and", "in"]
    random = np.random.default_rng(6)
    (tmp_path / "texts.txt").write_text("\n\n".join(" ".join(random.choice(words, 8)) for _ in range(300)))
    (tmp_path / "pieces.txt").write_text("".join(f"{word}\n" for word in words))
    options = ["--out", str(tmp_path / "out"), "--pieces", str(tmp_path / "pieces.txt"), "--dimensions", "16"]
    options += ["--held-out", "40", "--strength", "0.1", "--rounds", "20"]
    assert main([str(teacher), str(tmp_path / "texts.txt"), *options]) == 0
    lines = {line[:30].strip(): line.split() for line in capsys.readouterr().out.splitlines()}
    assert float(lines["fitted"][-2]) > float(lines["start"][-2])
    assert StaticEmbedder(tmp_path / "out").embed_query("the red house").shape == (16,)
