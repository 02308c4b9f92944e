"""Puts together what an editor or a terminal broke over lines: runs of characters that begin as tokens do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# A token goes on in the next line, perhaps behind an indent or the marks of a quotation.
_BREAK: Final = r"[ \t]{0,2}\\?\r?\n[ \t]*(?:[>|│┃][ \t]*)*"
# Nobody wraps lines at more characters; without an end, hostile text would be looked at again and again.
_RUN: Final = re.compile(r"[A-Za-z0-9_.\-]{1,300}(?![A-Za-z0-9_.\-])")
_BREAK_HERE: Final = re.compile(_BREAK)
_LINE_END: Final = re.compile(r"[ \t]{0,2}\\?\r?(?:\n|\Z)")
# The second part of a JSON web token begins as the first does; all others begin once.
_BEGINS: Final = (
    r"(?<![A-Za-z0-9])(?:AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk-|[sr]k_(?:live|test)_|AIza|xox[abeoprs]-|hf_|npm_|pypi-"
    r"|SG\."
)
_BROKEN: Final = re.compile(_BEGINS + r"|eyJ)[A-Za-z0-9_.\-]{0,300}(?=" + _BREAK + r"[A-Za-z0-9_.\-])")
_ANOTHER: Final = re.compile(_BEGINS + r"|^eyJ)")
# Parts of a word, or words with hyphens between: no part of a token is that, unless it is a short rest.
_WORDS: Final = re.compile(r"[A-Za-z]?[a-z]+(?:[-_.][A-Za-z]?[a-z]+)*[-.]?|[A-Z]+[-.]?|[\d.\-]+")
_SHORT: Final = 4
_LONG: Final = 8
_MOST_LINES: Final = 60


@dataclass(frozen=True)
class Wrapped:
    """A run of characters over several lines.

    Args:
        start: Of it in the text.
        ends: Where each line of it ends in the text.
        joined: What it says up to each end, without the breaks.
        alone: Whether nothing else stands in each line after it.
    """

    start: int
    ends: tuple[int, ...]
    joined: tuple[str, ...]
    alone: tuple[bool, ...]

    def goes_on(self, at: int, *, broken: bool) -> bool:
        """Tell whether a line belongs to a token that could have ended before it.

        Args:
            at: Index of the line.
            broken: Whether the token is known to go over lines without this one.
        """
        more = self.joined[at][len(self.joined[at - 1]) :]
        return (len(more) >= _LONG and _is_random(more)) or (broken and self.alone[at])


def wrapped_runs(text: str) -> Iterator[Wrapped]:
    """Yield the runs that begin as tokens do and go on in the next line with what could be the rest of one.

    Args:
        text: Any.
    """
    for found in _BROKEN.finditer(text):
        said, ends, joined = found[0], [found.end()], [found[0]]
        while len(ends) < _MOST_LINES and (gap := _BREAK_HERE.match(text, ends[-1])):
            run = _RUN.match(text, gap.end())
            if run is None or _ANOTHER.search(run[0]) or not _may_go_on(run[0]):
                break
            said += run[0]
            ends.append(run.end())
            joined.append(said)
        if len(ends) > 1 and _is_random(said):
            alone = tuple(_LINE_END.match(text, end) is not None for end in ends)
            yield Wrapped(found.start(), tuple(ends), tuple(joined), alone)


def unwrapped(text: str) -> str:
    """Return a token without the breaks in it; any other text as it is."""
    return _BREAK_HERE.sub("", text) if "\n" in text else text


def _may_go_on(run: str) -> bool:
    return len(run) <= _SHORT or not _WORDS.fullmatch(run)


def _is_random(said: str) -> bool:
    """Tell whether letters of both cases, or capitals alone, are mixed with digits."""
    return any(map(str.isdigit, said)) and any(map(str.isupper, said)) and any(map(str.isalpha, said))
