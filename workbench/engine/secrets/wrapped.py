"""Puts together what an editor or a terminal broke over lines: runs of characters that begin as tokens do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from workbench.engine.secrets.shapes import beginning_in, token_kind
from workbench.engine.secrets.values import Found

# A token goes on in the next line, perhaps behind an indent or the marks of a quotation.
_BREAK: Final = r"[ \t]{0,2}\\?\r?\n[ \t]*(?:[>|│┃][ \t]*)*"
# Nobody wraps lines at more characters; without an end, hostile text would be looked at again and again.
_RUN: Final = re.compile(r"[A-Za-z0-9_.\-]{1,300}(?![A-Za-z0-9_.\-])")
_BREAK_HERE: Final = re.compile(_BREAK)
_LINE_END: Final = re.compile(r"[ \t]{0,2}\\?\r?(?:\n|\Z)")
# Runs of so many characters at the end of a line may be the beginning of a token.
_IN_RUNS: Final = bytes(
    120 if at < 128 and (chr(at).isalnum() or at in b"_.-") else 46 if 32 < at < 127 and at != 92 else at
    for at in range(256)
)
_FIRST: Final = b"x" * 6
_LINE_ENDS: Final = tuple(
    _FIRST + blank + slash + end
    for end in (b"\n", b"\r\n")
    for slash in (b"", b"\\")
    for blank in (b"", b" ", b"  ")
)
_LONGEST: Final = 300
# Parts of a word, or words with hyphens between: no part of a token is that, unless it is a short rest.
_WORDS: Final = re.compile(r"[A-Za-z]?[a-z]+(?:[-_.][A-Za-z]?[a-z]+)*[-.]?|[A-Z]+[-.]?|[\d.\-]+")
_SHORT: Final = 4
_LONG: Final = 8
_LONG_WORD: Final = 40
_MOST_LINES: Final = 60
_SIGNS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"


@dataclass(frozen=True)
class _Wrapped:
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
        """Return whether a line belongs to a token that could have ended before it.

        Args:
            at: Index of the line.
            broken: Whether the token is known to go over lines without this one.
        """
        more = self.joined[at][len(self.joined[at - 1]) :]
        return (len(more) >= _LONG and _is_random(more)) or (broken and self.alone[at])


def wrapped_tokens(text: str, letters: bytes) -> Iterator[Found]:
    """Yield the tokens in a text that are broken over its lines.

    Args:
        text: Any.
        letters: The same in ASCII, with something else for every character that is none.
    """
    for run in _wrapped_runs(text, letters):
        found = _token_of(run)
        if found is not None:
            yield found


def _token_of(run: _Wrapped) -> Found | None:
    """Return the token that a run over several lines begins with; None where it is none, or ends in the first line."""
    kinds = [token_kind(said) for said in run.joined]
    could_end = [at for at, kind in enumerate(kinds) if kind]
    last = 0
    for number, at in enumerate(could_end):
        if number and not run.goes_on(at, broken=last > 0):
            break
        last = at
    kind = kinds[last]
    return None if kind is None or last == 0 else Found(run.start, run.ends[last], kind)


def _wrapped_runs(text: str, letters: bytes) -> Iterator[_Wrapped]:
    """Yield the runs that begin as tokens do and go on in the next line with what could be the rest of one."""
    for end in _long_ends(letters.translate(_IN_RUNS)):
        if _is_word(text[text.rfind(" ", max(0, end - _LONG_WORD), end) + 1 or end : end]):
            continue
        line = text[max(0, end - _LONGEST) : end]
        said = line[len(line.rstrip(_SIGNS)) :]
        begins = None if _is_word(said) else beginning_in(said)
        if begins is None:
            continue
        start, said = end - len(said) + begins, said[begins:]
        ends, joined = [end], [said]
        while len(ends) < _MOST_LINES and (gap := _BREAK_HERE.match(text, ends[-1])):
            run = _RUN.match(text, gap.end())
            if run is None or _begins_another(run[0]) or not _may_go_on(run[0]):
                break
            said += run[0]
            ends.append(run.end())
            joined.append(said)
        if len(ends) > 1 and _is_random(said):
            alone = tuple(_LINE_END.match(text, at) is not None for at in ends)
            yield _Wrapped(start, tuple(ends), tuple(joined), alone)


def _is_word(said: str) -> bool:
    """Return True for a word, which begins nothing; it is the commonest end of a line."""
    plain = said.strip("._-")
    return plain[1:].islower() and plain.isalpha()


def _long_ends(runs: bytes) -> Iterator[int]:
    broken_by = (b"\\\n" in runs or b"\\\r" in runs, b"\r" in runs)
    for wanted in _LINE_ENDS:
        if (b"\\" in wanted and not broken_by[0]) or (b"\r" in wanted and not broken_by[1]):
            continue
        at = runs.find(wanted)
        while at >= 0:
            yield at + len(_FIRST)
            at = runs.find(wanted, at + len(wanted))


def _begins_another(run: str) -> bool:
    # The second part of a JSON web token begins as the first does; all others begin once.
    at = beginning_in(run)
    return at is not None and not (at > 0 and run.startswith("eyJ", at))


def unwrapped(text: str) -> str:
    """Return a token without the breaks in it; any other text as it is."""
    return _BREAK_HERE.sub("", text) if "\n" in text else text


def _may_go_on(run: str) -> bool:
    return len(run) <= _SHORT or not _WORDS.fullmatch(run)


def _is_random(said: str) -> bool:
    """Return whether letters of both cases, or capitals alone, are mixed with digits."""
    return any(map(str.isdigit, said)) and any(map(str.isupper, said)) and any(map(str.isalpha, said))
