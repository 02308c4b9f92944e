"""Finds tokens that are broken over lines: by an editor, a mail program, a quotation or a list."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.secrets.shapes import (
    JWT,
    WHOLE_WEB_TOKEN,
    Shape,
    begins_like_a_token,
    shapes_at,
    shapes_by_mark,
)
from workbench.engine.secrets.values import Found
from workbench.engine.values import dataclass

# A token continues on the next line, possibly after an indent, quotation marks or the sign of a comment.
_BREAK: Final = lazy_pattern(r"[ \t]{0,2}\\?\r?\n[ \t]*(?:(?:[>|│┃#]|//)[ \t]*)*")
_LINE_END: Final = lazy_pattern(r"[ \t]{0,2}\\?\r?(?:\n|\Z)")
_SIGNS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-/:+=~@%&?|"
# Nobody wraps longer lines; without a limit, hostile text would be rescanned again and again.
_LONGEST_LINE: Final = 300
_MOST_LINES: Final = 60
# The run that begins a line, unless it is the marker of an item.
_RUN: Final = lazy_pattern(
    rf"(?![-+][ \t])[{re.escape(_SIGNS)}]{{1,{_LONGEST_LINE}}}+(?![{re.escape(_SIGNS)}])"
)
_START: Final = lazy_pattern(r"(?<![A-Za-z0-9])[A-Za-z0-9]{1,2}")
# Part of a word, or hyphenated words: not part of a token, unless it is a short rest.
_WORDS: Final = lazy_pattern(r"[A-Za-z]?[a-z]+(?:[-_.:/][A-Za-z]?[a-z]+)*[-.:/]?|[A-Z]+[-.:]?|[\d.\-]+")
_PUNCTUATION: Final = ".:?|"
_SHORT: Final = 4
_LONG: Final = 8
# The fewest characters of a token that its first line holds, unless the prefix tells it.
_FIRST: Final = 6
_FEWEST_TELLING: Final = 3
_DIGEST: Final = lazy_pattern(r"[0-9a-f]+(?:-[0-9a-f]+)*|[0-9A-F]+")
_SHORTEST_END: Final = 2

# Runs of this many characters at the end of a line may begin a token.
_IN_RUNS: Final = bytes(
    120 if chr(at) in _SIGNS else 46 if 32 < at < 127 and at != 92 else at for at in range(256)
)
# A line break that a run may follow (see `_RUN`): most lines of notes are items, or follow a blank one.
_NEXT_LINE: Final = lazy_pattern(rf"\n[ \t]*(?:(?:[>|│┃#]|//)[ \t]*)*(?![-+][ \t])[{re.escape(_SIGNS)}]")
_RETURN, _BACKSLASH, _BLANK = b"\r\\ "


@dataclass(frozen=True)
class _Chain:
    """Lines that one run of characters without blanks could fill, but for the first and last, which it may share.

    Args:
        joined: The run, without line breaks.
        ends: End of each line in it.
        begins: Beginning of each line's part in the text.
        alone: Whether the run ends with its line.
    """

    joined: str
    ends: tuple[int, ...]
    begins: tuple[int, ...]
    alone: tuple[bool, ...]

    def line_of(self, at: int) -> int:
        """Return the number of the line with a character of the run."""
        return bisect_right(self.ends, at)

    def start_of(self, line: int) -> int:
        return self.ends[line - 1] if line else 0

    def place_of(self, at: int) -> int:
        """Return the position in the text of a character of the run."""
        line = self.line_of(at)
        return self.begins[line] + at - self.start_of(line)


def unwrapped(text: str) -> str:
    """Return a token without its line breaks; any other text unchanged."""
    return _BREAK.sub("", text) if "\n" in text else text


def wrapped_tokens(text: str, letters: bytes) -> Iterator[Found]:
    """Yield the tokens in a text that are split by line breaks.

    Args:
        letters: The text in ASCII, with a placeholder for every other character.
    """
    for chain in _chains(text, letters):
        yield from _tokens_over(chain)


def _chains(text: str, letters: bytes) -> Iterator[_Chain]:
    """Yield the lines that belong together, each line break once."""
    done = 0
    for end in _line_ends(text, letters.translate(_IN_RUNS)):
        if end <= done or _is_word(text[text.rfind(" ", max(0, end - 40), end) + 1 or end : end]):
            continue
        line = text[max(0, end - _LONGEST_LINE) : end]
        said = line[len(line.rstrip(_SIGNS)) :]
        if _is_word(said):
            continue
        parts, begins, last = [said], [end - len(said)], end
        while (gap := _BREAK.match(text, last)) and (run := _RUN.match(text, gap.end())):
            done = last
            parts.append(run[0])
            begins.append(run.start())
            last = run.end()
        if len(parts) > 1:
            ends, length = [], 0
            for part in parts:
                length += len(part)
                ends.append(length)
            alone = tuple(
                _LINE_END.match(text, begin + len(part)) is not None
                for begin, part in zip(begins, parts, strict=True)
            )
            yield _Chain("".join(parts), tuple(ends), tuple(begins), alone)


def _line_ends(text: str, runs: bytes) -> Iterator[int]:
    """Yield where the run at the end of a line ends, up to two blanks and a backslash before the break."""
    for line_break in _NEXT_LINE.finditer(text):
        end = line_break.start()
        if runs[end - 1] == _RETURN:
            end -= 1
        if runs[end - 1] == _BACKSLASH:
            end -= 1
        for _ in range(2):
            if runs[end - 1] == _BLANK:
                end -= 1
        if end >= _SHORTEST_END and runs.startswith(b"x" * _SHORTEST_END, end - _SHORTEST_END):
            yield end


def _is_word(said: str) -> bool:
    """Return True for a word, the commonest end of a line, which begins no token."""
    plain = said.strip("._-:/?")
    return plain[1:].islower() and plain.isalpha() and not begins_like_a_token(said)


def _tokens_over(chain: _Chain) -> Iterator[Found]:
    """Yield the tokens of a chain that span a line break."""
    done, tried = 0, dict[str, int]()
    for at in _starts(chain):
        if at < done:
            continue
        found = _token_at(chain, at, tried)
        if found is not None:
            done = found[0]
            yield Found(chain.place_of(at), chain.place_of(done - 1) + 1, found[1])
    for mark, some in shapes_by_mark().items():
        at = chain.joined.find(mark)
        while at >= 0:
            yield from _around(chain, at, some)
            at = chain.joined.find(mark, at + 1)


def _starts(chain: _Chain) -> list[int]:
    """Return where a token could begin: with its line, or after a sign."""
    return sorted({*(start.start() for start in _START.finditer(chain.joined)), 0, *chain.ends[:-1]})


def _token_at(chain: _Chain, at: int, tried: dict[str, int]) -> tuple[int, str] | None:
    if chain.joined.startswith("eyJ", at) and (end := _end_of_web_token(chain, at)):
        return end, JWT
    for shape in shapes_at(chain.joined, at):
        # A failed match need not be tried again from each position in it.
        if tried.get(shape.shape, 0) <= at:
            end = _end_of(chain, at, shape, tried)
            if end:
                return end, shape.kind
    return None


def _around(chain: _Chain, mark: int, some: tuple[Shape, ...]) -> Iterator[Found]:
    for shape in some:
        least, most = shape.before
        for at in range(mark - least, max(0, mark - most) - 1, -1):
            before = at > chain.start_of(chain.line_of(at)) and chain.joined[at - 1]
            if before and before.isascii() and before.isalnum():
                continue
            if end := _end_of(chain, at, shape, {}):
                yield Found(chain.place_of(at), chain.place_of(end - 1) + 1, shape.kind)
                return


def _end_of_web_token(chain: _Chain, at: int) -> int:
    first, end = chain.line_of(at), 0
    for line in range(first, min(first + _MOST_LINES, len(chain.ends))):
        token = WHOLE_WEB_TOKEN.match(chain.joined, at, chain.ends[line])
        if token is None:
            continue
        if line > first and token.end() <= chain.start_of(line):
            break
        if end and not _goes_on(chain, at, line, token.end(), is_broken=line > first + 1):
            break
        end = token.end()
    return end if end > chain.ends[first] else 0


def _end_of(chain: _Chain, at: int, shape: Shape, tried: dict[str, int]) -> int:
    """Return the end of a token of a shape in the run; 0 if it holds no such token, or only on one line."""
    first, end = chain.line_of(at), 0
    for line in range(first, min(first + _MOST_LINES, len(chain.ends))):
        start, stop = chain.start_of(line), chain.ends[line]
        if end and line > first and _begins_another(chain.joined, start, stop):
            break
        token = shape.match(chain.joined, at, stop)
        if token is None:
            if line > first and (stop - start) > _SHORT and chain.joined[start:stop].isalpha():
                break
            continue
        if line > first:
            if token.end() <= start:
                break
            piece, after = chain.joined[start : token.end()], chain.joined[token.end() : stop]
            if end:
                goes_on = _goes_on(chain, at, line, token.end(), is_broken=end > chain.ends[first])
            else:
                goes_on = _may_go_on(piece) or (not shape.is_open and not after.strip(_PUNCTUATION))
            if not goes_on:
                break
        end = token.end()
    if not end:
        tried[shape.shape] = chain.ends[first]
        return 0
    begun, rest = chain.ends[first] - at, chain.joined[at + len(shape.lead) : end]
    is_random = any(map(str.isdigit, rest)) and any(map(str.isalpha, rest))
    return end if end > chain.ends[first] and is_random and _begins(shape, begun, rest) else 0


def _begins(shape: Shape, begun: int, rest: str) -> bool:
    """Return whether the first line holds enough of a token, and no more than a prefix that the text tells about.

    Args:
        begun: How many characters of the token the first line holds.
        rest: Everything after its prefix.
    """
    lead = shape.lead
    if begun > len(lead):
        return begun >= _FIRST
    # `All of them begin with glpat-`, and the next line with the hash of a commit.
    if begun == len(lead) and _DIGEST.fullmatch(rest) and not (shape.takes_digests and lead[-1] in "_-."):
        return False
    return begun >= _FIRST or lead[begun - 1] in "_-." or len(lead) >= _FEWEST_TELLING


def _goes_on(chain: _Chain, at: int, line: int, end: int, *, is_broken: bool) -> bool:
    """Return whether a line belongs to a token that could have ended before it.

    Args:
        at: The beginning of the token.
        end: The end that it would have with this line.
        is_broken: Whether the token is known to span lines without this one.
    """
    start = chain.start_of(line)
    said, piece = chain.joined[at:start], chain.joined[start:end]
    if len(piece) >= _LONG and any(map(str.isdigit, piece)) and any(map(str.isalpha, piece)):
        return any(map(str.isupper, piece)) or not any(map(str.isupper, said))
    # `-v` below a command's last line is its next option.
    is_rest = _may_go_on(piece) and (len(piece) > _SHORT or not piece.startswith("-"))
    return is_broken and chain.alone[line] and end == chain.ends[line] and is_rest


def _begins_another(joined: str, start: int, stop: int) -> bool:
    leads = (shape.lead for shape in shapes_at(joined, start))
    # `pat` may be part of another prefix, as in `github_` and `pat_` below.
    return any(len(lead) <= stop - start and (len(lead) > 3 or not lead.isalnum()) for lead in leads)


def _may_go_on(run: str) -> bool:
    return len(run) <= _SHORT or not _WORDS.fullmatch(run)
