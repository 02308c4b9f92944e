"""Counting the o200k_base tokens of a text, offline, from a packed vocabulary."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from heapq import heapify, heappop, heappush
from importlib import resources
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import regex

PACKED_FILE = "o200k_base.ranks"
_SINGLE_BYTES, _RANK_BYTES = 256, 3
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


class Ranks(Protocol):
    """Tokens, and the rank (merge priority, lowest first) of each."""

    def __contains__(self, piece: bytes, /) -> bool: ...

    @property
    def get(self) -> Callable[[bytes], int | None]:
        """Return the rank of a token, or None for what is no token."""
        ...


def count_merged(piece: bytes, ranks: Ranks) -> int:
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
    """Pack a vocabulary so that a token is found in it as it lies in the file.

    Args:
        tokens: Every token in the order of its rank; among them are all single bytes.

    Returns:
        The longest length of a token, in two bytes; how many tokens have each length from 1 to that, in four bytes
        each; then, length by length, those tokens in order and their ranks, in three bytes each. The lowest byte of a
        number comes first.

    Raises:
        ValueError: A token is empty or there twice, or a single byte is missing.
    """
    ranks = {token: rank for rank, token in enumerate(tokens)}
    if b"" in ranks or len(ranks) < len(tokens):
        raise ValueError("A token of the vocabulary is empty, or there twice.")
    if missing := _SINGLE_BYTES - sum(len(token) == 1 for token in ranks):
        raise ValueError(f"{missing} of the 256 single bytes are not in the vocabulary.")
    lengths = [list[bytes]() for _ in range(max(map(len, tokens)))]
    for token in sorted(ranks):
        lengths[len(token) - 1].append(token)
    parts = [len(lengths).to_bytes(2, "little")]
    parts += [len(group).to_bytes(4, "little") for group in lengths]
    for group in lengths:
        parts += [*group, *(ranks[token].to_bytes(_RANK_BYTES, "little") for token in group)]
    return b"".join(parts)


class Vocabulary:
    """The ranks of tokens, looked up where they lie: making a dictionary of them would take longer than most starts.

    Args:
        packed: As `pack_vocabulary` returns it.
    """

    def __init__(self, packed: bytes) -> None:
        longest = int.from_bytes(packed[:2], "little")
        counts = [int.from_bytes(packed[at : at + 4], "little") for at in range(2, 2 + 4 * longest, 4)]
        self._packed = packed
        # Where the tokens of each length begin, and how many there are.
        self._groups, at = [(0, 0)], 2 + 4 * longest
        for length, count in enumerate(counts, 1):
            self._groups.append((at, count))
            at += count * (length + _RANK_BYTES)
        self.get = lru_cache(_REMEMBERED_PIECES)(self._find)
        """Returns the rank of a token, or None for what is no token."""

    def __contains__(self, piece: bytes) -> bool:
        return self.get(piece) is not None

    def _find(self, piece: bytes) -> int | None:
        size, packed = len(piece), self._packed
        begin, count = self._groups[size] if size < len(self._groups) else (0, 0)

        def token(place: int) -> bytes:
            return packed[begin + place * size : begin + (place + 1) * size]

        place = bisect_left(range(count), piece, key=token)
        if place == count or token(place) != piece:
            return None
        rank = begin + count * size + place * _RANK_BYTES
        return int.from_bytes(packed[rank : rank + _RANK_BYTES], "little")


@cache
def o200k_vocabulary() -> Vocabulary:
    """Return the vocabulary of o200k_base; read once per process."""
    return Vocabulary(resources.files("workbench.engine").joinpath(PACKED_FILE).read_bytes())


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
        count = count_merged(piece.encode("utf-8"), o200k_vocabulary())
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
    pieces: list[str] = _piece_pattern().findall(without_lone_surrogates(text))
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


def without_lone_surrogates(text: str) -> str:
    """Return a text that UTF-8 can say: half characters, such as stand for bytes that are no text, become U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


@cache
def _piece_pattern() -> regex.Pattern[str]:
    import regex

    return regex.compile(_PIECE)
