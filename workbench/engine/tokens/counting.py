"""Counting: a text cut into pieces as o200k_base cuts it, and each piece's tokens kept for next time."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from workbench.engine.tokens.merging import count_merged
from workbench.engine.tokens.vocabulary import o200k_ranks

if TYPE_CHECKING:
    import regex

# The cut of o200k_base, as its publisher documents it: words with an optional leading sign and English
# contraction, numbers by three digits, runs of signs, line ends, blanks.
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
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

# Longer pieces (no script writes such words) are counted window by window, so that one hostile piece
# cannot hold up the program; beyond the sampled windows the count is an estimate.
EXACT_PIECE_CHARACTERS = 1_024
WINDOW_CHARACTERS = 512
SAMPLED_WINDOWS = 128

_REMEMBERED_PIECES = 50_000
_REMEMBERED_PIECE_CHARACTERS = 512


class _PieceCounts(dict[str, int]):
    """Tokens of the pieces met so far, forgotten all at once when there are too many."""

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

    Exact for every text whose pieces (words, numbers, runs of signs or blanks) stay within 1,024
    characters. A longer piece is counted in windows of 512 characters, off by about one token at
    each cut; past 65,536 characters in one piece, 128 windows spread over it stand for the whole. A lone
    surrogate counts as U+FFFD.

    Args:
        text: Any text, of any length.

    Returns:
        Tokens, 0 for the empty text.
    """
    if not text:
        return 0
    pieces: list[str] = _piece_pattern().findall(_without_lone_surrogates(text))
    return sum(map(_counts.__getitem__, pieces))


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
