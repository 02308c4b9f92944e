"""Counting the o200k_base tokens of a text, offline, from a packed vocabulary."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from functools import cache
from heapq import heapify, heappop, heappush
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import regex

PACKED_FILE = "o200k_base.ranks.zlib"
VOCABULARY_SIZE = 199_998
_SINGLE_BYTES = 256
# This byte never occurs in UTF-8, so not in any token of more than one byte.
_SEPARATOR = b"\xff"
# The cut of o200k_base, as its publisher documents it: words with an optional leading sign and English
# contraction, numbers by three digits, runs of signs, line ends, blanks.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
# Longer pieces (no script writes such words) are counted window by window, so that one hostile piece
# cannot hold up the program; beyond the sampled windows the count is an estimate.
EXACT_PIECE_CHARACTERS = 1_024
WINDOW_CHARACTERS = 512
SAMPLED_WINDOWS = 128
_REMEMBERED_PIECES = 50_000
_REMEMBERED_PIECE_CHARACTERS = 512


def count_merged(piece: bytes, ranks: Mapping[bytes, int]) -> int:
    """Merge neighbouring tokens, lowest rank and then leftmost first, and count what remains.

    Takes time in the order of n log n for n bytes.

    Args:
        piece: One piece of text in UTF-8.
        ranks: Each token's rank; all single bytes are tokens.

    Returns:
        Tokens left when no two neighbours make a token of the vocabulary.
    """
    size = len(piece)
    if size < 2 or piece in ranks:
        return min(size, 1)
    rank_of = ranks.get
    # A token is identified by its start; `end[start]` is its end, 0 once merged away.
    end = list(range(1, size + 1))
    previous = list(range(-1, size - 1))
    waiting = [
        (rank, start, start + 2)
        for start in range(size - 1)
        if (rank := rank_of(piece[start : start + 2])) is not None
    ]
    heapify(waiting)
    remaining = size
    while waiting:
        _, start, stop = heappop(waiting)
        middle = end[start]
        # A pair is stale once either half was merged elsewhere.
        if middle == 0 or middle >= stop or end[middle] != stop:
            continue
        end[start], end[middle] = stop, 0
        remaining -= 1
        if stop < size:
            previous[stop] = start
            if (rank := rank_of(piece[start : end[stop]])) is not None:
                heappush(waiting, (rank, start, end[stop]))
        before = previous[start]
        if before >= 0 and (rank := rank_of(piece[before:stop])) is not None:
            heappush(waiting, (rank, before, stop))
    return remaining


def pack_vocabulary(tokens: Sequence[bytes]) -> bytes:
    """Pack a vocabulary so that it loads in a few calls of C code.

    zlib rather than lzma: 0.95 MB against 0.75 MB, but unpacked in 7 ms against 27 ms.

    Args:
        tokens: Every token in the order of its rank; the first 256 are the single bytes.

    Returns:
        The single bytes, then the longer tokens with a separator between, compressed.

    Raises:
        ValueError: The tokens are not laid out like that.
    """
    single, longer = tokens[:_SINGLE_BYTES], tokens[_SINGLE_BYTES:]
    if any(len(token) != 1 for token in single) or len(set(single)) != _SINGLE_BYTES:
        raise ValueError("The first 256 ranks of the vocabulary are not the 256 single bytes.")
    if any(len(token) < 2 or _SEPARATOR in token for token in longer):
        raise ValueError("A longer token of the vocabulary is too short or holds the byte 0xFF.")
    return zlib.compress(b"".join(single) + _SEPARATOR.join(longer), 9)


def unpack_vocabulary(packed: bytes) -> dict[bytes, int]:
    """Return the rank of every token of a packed vocabulary."""
    unpacked = zlib.decompress(packed)
    tokens = [bytes((byte,)) for byte in unpacked[:_SINGLE_BYTES]]
    tokens += unpacked[_SINGLE_BYTES:].split(_SEPARATOR)
    return dict(zip(tokens, range(len(tokens)), strict=True))


@cache
def o200k_ranks() -> Mapping[bytes, int]:
    """Return the rank (merge priority, lowest first) of each o200k_base token; loaded once per process."""
    packed = resources.files("workbench.engine").joinpath(PACKED_FILE).read_bytes()
    return unpack_vocabulary(packed)


_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_PIECE = "|".join(
    (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


class _PieceCounts(dict[str, int]):
    """A bounded cache of token counts by piece, cleared when full."""

    def __missing__(self, piece: str) -> int:
        if len(piece) > EXACT_PIECE_CHARACTERS:
            return _count_long_piece(piece, self)
        count = count_merged(piece.encode("utf-8"), o200k_ranks())
        if len(piece) <= _REMEMBERED_PIECE_CHARACTERS:
            if len(self) >= _REMEMBERED_PIECES:
                self.clear()
            self[piece] = count
        return count


_counts = _PieceCounts()


def count_tokens(text: str) -> int:
    """Count the o200k_base tokens of a text; special tokens count as the plain text they look like.

    Exact for every text whose pieces (words, numbers, runs of signs or blanks) stay within 1,024 characters. A longer
    piece is counted in windows of 512 characters, off by about one token at each cut; past 65,536 characters in one
    piece, 128 windows spread over it stand for the whole. A lone surrogate counts as U+FFFD.

    Args:
        text: Any text, of any length.

    Returns:
        Tokens, 0 for the empty text.
    """
    if not text:
        return 0
    pieces: list[str] = _piece_pattern().findall(_without_lone_surrogates(text))
    return sum(map(_counts.__getitem__, pieces))


def cut_to_budget(text: str, budget: int) -> tuple[str, bool]:
    """Return as much of a text as fits a budget, in whole lines where there is more than one; and whether it was cut.

    Args:
        text: Any.
        budget: Tokens.
    """
    # No script takes more than a few bytes for a token: what is far too long is not counted whole.
    if len(text) < budget or count_tokens(text) <= budget:
        return text, False
    lengths = range(min(len(text), budget * 16))
    fitting = max(bisect_right(lengths, budget, key=lambda length: count_tokens(text[:length])) - 1, 0)
    line_end = text.rfind("\n", 0, fitting)
    return text[: line_end + 1 if line_end > 0 else fitting], True


def _count_long_piece(piece: str, counts: _PieceCounts) -> int:
    windows = range(0, len(piece), WINDOW_CHARACTERS)
    step = max(1.0, len(windows) / SAMPLED_WINDOWS)
    sampled = [windows[int(index * step)] for index in range(min(len(windows), SAMPLED_WINDOWS))]
    seen = [piece[start : start + WINDOW_CHARACTERS] for start in sampled]
    tokens = sum(map(counts.__getitem__, seen))
    return max(1, round(tokens * len(piece) / sum(map(len, seen))))


def _without_lone_surrogates(text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@cache
def _piece_pattern() -> regex.Pattern[str]:
    import regex

    return regex.compile(_PIECE)
