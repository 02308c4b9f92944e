"""Fits the built-in embedding table to a model's answers.

usage: python tools/fit_static_table.py TEACHER.gguf TEXTS… --out FOLDER

A text's vector is to be the sum of its word pieces' vectors, and to point where the teacher's points. Each piece starts
from the teacher's own vector of it, less the mean of all, weighted by rarity (smooth inverse frequency: a / (a + p),
Arora et al. 2017). From there ridge regression moves the pieces so that means over the pieces of text fragments come
near the teacher's vectors of the fragments. The directions that matter least to texts are dropped, and rows are
rounded to 8 bits. What the table agrees with the teacher on is printed for fragments that were held out, and what the
table in the package agrees on with it.

TEXTS are files and folders of plain text in the table's language, of as many kinds as can be had; nothing that recall
is measured on belongs among them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.engine.providers.embedding.embedder import (
    TABLE_FOLDER,
    Prefixes,
    StaticEmbedder,
    tokens,
    word_pieces,
)
from workbench.engine.providers.embedding.local import LocalEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.engine.providers.embedding.embedder import FloatArray

RARITY = 3e-4
DIGITS_WEIGHT = 0.3
_SUFFIXES = frozenset({".txt", ".md", ".rst", ".html", ""})
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*\n")


@dataclass(frozen=True)
class Fragments:
    """Texts as rows of pieces, one after another.

    Args:
        rows: Of all pieces of all texts.
        starts: Where each text begins in `rows`; no text is empty.
        lengths: Pieces of each text.
    """

    rows: NDArray[np.intp]
    starts: NDArray[np.intp]
    lengths: NDArray[np.intp]

    def means(self, table: FloatArray) -> FloatArray:
        """Return the mean over its pieces for each text (the product of the averaging matrix and a table)."""
        sums: FloatArray = np.empty((len(self.starts), table.shape[1]), dtype=np.float32)
        for at in range(0, len(self.starts), 256):
            starts = self.starts[at : at + 256]
            end = starts[-1] + self.lengths[at : at + 256][-1]
            sums[at : at + 256] = np.add.reduceat(
                table[self.rows[starts[0] : end]], starts - starts[0], axis=0
            )
        np.divide(sums, self.lengths[:, np.newaxis], out=sums)
        return sums

    def spread(self, texts: FloatArray, pieces: int) -> FloatArray:
        """Return what each piece gets of the texts it stands in (the product of that matrix's transpose)."""
        shares = texts / self.lengths[:, np.newaxis].astype(np.float32)
        owners = np.repeat(np.arange(len(self.starts)), self.lengths)
        order = np.argsort(self.rows, kind="stable")
        present, starts = np.unique(self.rows[order], return_index=True)
        result: FloatArray = np.zeros((pieces, texts.shape[1]), dtype=np.float32)
        for at in range(0, len(present), 2048):
            begin = starts[at]
            end = starts[at + 2048] if at + 2048 < len(starts) else len(order)
            taken = shares[owners[order[begin:end]]]
            result[present[at : at + 2048]] = np.add.reduceat(taken, starts[at : at + 2048] - begin, axis=0)
        return result


def fragments_of(places: Sequence[Path], count: int, seed: int) -> list[str]:
    """Return sentences and paragraphs of 4 to 60 words out of files, mixed, no two the same."""
    found: dict[str, None] = {}
    for path in places:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and file.suffix.lower() in _SUFFIXES and file.stat().st_size < 2_000_000:
                found.update(dict.fromkeys(_sentences(file.read_text(encoding="utf-8", errors="ignore"))))
    chosen = list(found)
    random.Random(seed).shuffle(chosen)  # noqa: S311  # a sample, no secret
    return chosen[:count]


def _sentences(text: str) -> Iterator[str]:
    for piece in _SENTENCE.split(text):
        sentence = " ".join(piece.split())
        words = sentence.split(" ")
        letters = sum(character.isalpha() or character == " " for character in sentence)
        if 4 <= len(words) <= 60 and letters > 0.8 * len(sentence):
            yield sentence


def cut(texts: Sequence[str], vocabulary: dict[str, int]) -> tuple[Fragments, list[int]]:
    """Return texts as pieces, and which of them have any."""
    known: dict[str, list[int]] = {}
    rows: list[int] = []
    lengths: list[int] = []
    kept: list[int] = []
    for at, text in enumerate(texts):
        before = len(rows)
        for token in tokens(text):
            if token not in known:
                known[token] = word_pieces(token, vocabulary)
            rows.extend(known[token])
        if len(rows) > before:
            kept.append(at)
            lengths.append(len(rows) - before)
    sizes = np.asarray(lengths, dtype=np.intp)
    return Fragments(np.asarray(rows, dtype=np.intp), np.cumsum(sizes) - sizes, sizes), kept


def starting_table(teacher: LocalEmbedder, pieces: Sequence[str], fragments: Fragments) -> FloatArray:
    """Return the teacher's vector of each piece, less their mean, weighted by how rare the piece is."""
    bare = [piece.removeprefix("##") or piece for piece in pieces]
    unique = list(dict.fromkeys(bare))
    vectors = teacher.embed_passages(unique)
    places = {piece: at for at, piece in enumerate(unique)}
    table = vectors[[places[piece] for piece in bare]]
    counts = np.bincount(fragments.rows, minlength=len(pieces)) + 0.5
    weights: NDArray[np.float64] = RARITY / (RARITY + counts / counts.sum())
    weights[[piece.isdigit() for piece in bare]] *= DIGITS_WEIGHT
    centred: FloatArray = ((table - table.mean(axis=0)) * weights[:, np.newaxis]).astype(np.float32)
    return centred


def fit(
    start: FloatArray, fragments: Fragments, wanted: FloatArray, *, strength: float, rounds: int
) -> FloatArray:
    """Return the table nearest to a start whose means come near the wanted vectors.

    Solves (AᵀA + λ) D = Aᵀ (T − A P) for the change D of the start P by conjugate gradients, every column for itself.

    Args:
        start: P, one row per piece.
        fragments: A, the averaging of pieces.
        wanted: T, one row per fragment, of length 1.
        strength: λ, how much evidence it takes to move a piece.
        rounds: Of conjugate gradients.
    """
    guess = fragments.means(start)
    # The start knows directions, not lengths.
    start = start * np.float32((guess * wanted).sum() / max(1e-12, (guess * guess).sum()))
    change = np.zeros_like(start)
    rest = fragments.spread(wanted - fragments.means(start), len(start))
    direction = rest.copy()
    size = (rest * rest).sum(axis=0)
    for _ in range(rounds):
        image = fragments.spread(fragments.means(direction), len(start)) + strength * direction
        step = size / np.maximum((direction * image).sum(axis=0), 1e-30)
        change += step * direction
        rest -= step * image
        smaller = (rest * rest).sum(axis=0)
        direction = rest + (smaller / np.maximum(size, 1e-30)) * direction
        size = smaller
    fitted: FloatArray = start + change
    return fitted


def rounded(table: FloatArray) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Return a table as rows of 8 bits and the scale of each."""
    # No scale becomes zero or loses its digits at the low end of 16-bit numbers.
    scales = np.maximum(np.abs(table).max(axis=1) / 127, 1e-5).astype(np.float16)
    ratio = np.rint(table / scales.astype(np.float32)[:, np.newaxis])
    return np.clip(ratio, -127, 127).astype(np.int8), scales


def unit(rows: FloatArray) -> FloatArray:
    """Return rows brought to length 1."""
    scaled: FloatArray = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return scaled


def agreement(made: FloatArray, wanted: FloatArray) -> float:
    """Return how well likenesses between texts agree: the correlation of all cosines of pairs of two models."""
    above = np.triu_indices(len(made), 1)
    ours, theirs = unit(made) @ unit(made).T, unit(wanted) @ unit(wanted).T
    return float(np.corrcoef(ours[above], theirs[above])[0, 1])


def write_table(folder: Path, pieces: Sequence[str], table: FloatArray, teacher: str) -> None:
    """Write a table as the package reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    vectors, scales = rounded(table)
    (folder / "pieces.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    np.save(folder / "scales.npy", scales)
    np.save(folder / "vectors.npy", vectors)
    digest = hashlib.sha256()
    for name in ("pieces.txt", "scales.npy", "vectors.npy"):
        digest.update((folder / name).read_bytes())
    about = {
        "name": "static-minilm",
        "teacher": teacher,
        "dimensions": table.shape[1],
        "pieces": len(pieces),
        "revision": digest.hexdigest()[:12],
    }
    (folder / "table.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit a table and print what it agrees with its teacher on."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("teacher", type=Path, help="embedding model as a GGUF file")
    parser.add_argument("texts", type=Path, nargs="+", help="files and folders of plain text")
    parser.add_argument("--out", type=Path, required=True, help="folder for the table")
    parser.add_argument(
        "--pieces", type=Path, default=TABLE_FOLDER / "pieces.txt", help="word pieces, one a line"
    )
    parser.add_argument("--fragments", type=int, default=20_000, help="text fragments to fit to")
    parser.add_argument("--held-out", type=int, default=500, help="text fragments to measure with")
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument(
        "--strength", type=float, default=0.05, help="how much evidence it takes to move a piece"
    )
    parser.add_argument("--rounds", type=int, default=40, help="of conjugate gradients")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--teacher-name", default="all-MiniLM-L6-v2 (Apache-2.0)")
    given = parser.parse_args(arguments)

    pieces = given.pieces.read_text(encoding="utf-8").split("\n")[:-1]
    vocabulary = {piece: row for row, piece in enumerate(pieces)}
    texts = fragments_of(given.texts, given.fragments + given.held_out, given.seed)
    if len(texts) < 2 * given.held_out:
        print(f"These texts hold {len(texts)} fragments only; give more of them.", file=sys.stderr)
        return 1
    held_out, fitted_to = texts[: given.held_out], texts[given.held_out :]
    teacher = LocalEmbedder(given.teacher, Prefixes())
    training, kept = cut(fitted_to, vocabulary)
    trial, kept_out = cut(held_out, vocabulary)
    print(
        f"{len(kept):,} fragments of {training.lengths.mean():.0f} pieces; asking the teacher …", flush=True
    )
    wanted = teacher.embed_passages([fitted_to[at] for at in kept])
    wanted_out = teacher.embed_passages([held_out[at] for at in kept_out])
    start = starting_table(teacher, pieces, training)
    teacher.close()
    table = fit(start, training, wanted, strength=given.strength, rounds=given.rounds)

    _, vectors = np.linalg.eigh(
        np.cov(training.means(table).T) + np.outer(*[training.means(table).mean(axis=0)] * 2)
    )
    kept_directions = vectors[:, ::-1][:, : given.dimensions].astype(np.float32)
    narrow: FloatArray = table @ kept_directions
    write_table(given.out, pieces, narrow, given.teacher_name)
    whole, scales = rounded(narrow)
    stored: FloatArray = whole.astype(np.float32) * scales.astype(np.float32)[:, np.newaxis]
    print("held-out fragments            cosine to teacher   agreement on likeness")
    for name, each, target in (
        ("start", start, wanted_out),
        ("fitted", table, wanted_out),
        (f"{given.dimensions} dimensions", narrow, wanted_out @ kept_directions),
        ("as stored, 8 bits", stored, wanted_out @ kept_directions),
    ):
        made = trial.means(each)
        # Against the whole of the teacher's vector: what a dropped direction held counts as missed.
        cosine = float((unit(made) * target).sum(axis=1).mean())
        print(f"{name:<30}{cosine:>17.3f}{agreement(made, wanted_out):>24.3f}")
    shipped = StaticEmbedder().embed_passages([held_out[at] for at in kept_out])
    print(f"{'the package’s table':<30}{'':>17}{agreement(shipped, wanted_out):>24.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
