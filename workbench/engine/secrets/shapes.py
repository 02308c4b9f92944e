"""Token formats of services, read from `tokens.toml`, including tokens split by line breaks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from workbench.engine.secrets.values import Found, is_crossed_out, looks_random

JWT: Final = "JSON web token"
ALPHABETS: Final = {
    "digit": "0-9",
    "hex": "0-9A-Fa-f",
    "lower": "a-z0-9",
    "upper": "A-Z0-9",
    "alnum": "A-Za-z0-9",
    "word": "A-Za-z0-9_",
    "url": "A-Za-z0-9_-",
    "name": "A-Za-z0-9_.~=-",
    "path": "A-Za-z0-9_/-",
    "base64": "A-Za-z0-9+/",
}
_UUID: Final = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_UUID_LENGTH: Final = 36
_PART: Final = re.compile(rf"\{{(?:(uuid)|({'|'.join(ALPHABETS)}) (\d+)(?:-(\d+)|(\+))?)\}}|([^{{]+)")
# Examined length of a token without a maximum; the rest is added once it is recognised.
_LONGEST: Final = 300
_WITH_WORDS: Final = frozenset(("url", "word", "name", "path"))

# Tokens occur in runs of at least this many characters without blanks, quotes and brackets.
_RUN: Final = 14
_RUN_SIGNS: Final = b"_-./:+=~@%&|!#"
_IN_RUNS: Final = bytes(
    120 if at < 128 and (chr(at).isalnum() or at in _RUN_SIGNS) else 32 for at in range(256)
)
_START: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9_.-]")
_HEADER: Final = re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,2000}+\Z")
_REST: Final = re.compile(r"\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+")
_WHOLE_WEB_TOKEN: Final = re.compile(rf"eyJ[A-Za-z0-9_-]{{10,}}+{_REST.pattern}")
# A token continues on the next line, possibly after an indent or quotation marks.
_BREAK: Final = r"[ \t]{0,2}\\?\r?\n[ \t]*(?:[>|│┃][ \t]*)*"
# Nobody wraps longer lines; without a limit, hostile text would be rescanned again and again.
_WRAPPED_RUN: Final = re.compile(r"[A-Za-z0-9_.\-]{1,300}(?![A-Za-z0-9_.\-])")
_BREAK_HERE: Final = re.compile(_BREAK)
_LINE_END: Final = re.compile(r"[ \t]{0,2}\\?\r?(?:\n|\Z)")
_FIRST: Final = b"x" * 6
_LONGEST_WRAPPED: Final = 300
# Part of a word, or hyphenated words: not part of a token, unless it is a short rest.
_WORDS: Final = re.compile(r"[A-Za-z]?[a-z]+(?:[-_.][A-Za-z]?[a-z]+)*[-.]?|[A-Z]+[-.]?|[\d.\-]+")
_SHORT: Final = 4
_LONG: Final = 8
_LONG_WORD: Final = 40
_MOST_LINES: Final = 60
_SIGNS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"


@dataclass(frozen=True)
class Shape:
    """A token format.

    Args:
        kind: For example `GitHub token`.
        shape: The pattern from the table.
        lead: Its literal prefix, or "".
        mark: Its longest literal part, used to find it.
        before: Minimum and maximum number of characters before the mark.
    """

    kind: str
    shape: str
    lead: str
    mark: str
    before: tuple[int, int]

    @property
    def has_words(self) -> bool:
        """Return whether hyphenated words could match, so that the text must look random too."""
        return any(part[2] in _WITH_WORDS for part in _PART.finditer(self.shape))


@dataclass(frozen=True)
class _Shapes:
    by_lead: dict[str, tuple[Shape, ...]]
    by_mark: dict[str, tuple[Shape, ...]]


def shapes() -> tuple[Shape, ...]:
    """Return all formats of the table, longest prefix first."""
    return tuple(
        shape for some in (_table().by_lead, _table().by_mark) for each in some.values() for shape in each
    )


@lru_cache(maxsize=1)
def _table() -> _Shapes:
    text = Path(__file__).with_name("tokens.toml").read_text("utf-8")
    read = [_shape(kind, shape) for kind, some in tomllib.loads(text).items() for shape in some]
    read.sort(key=lambda each: -len(each.lead))
    by_lead: dict[str, tuple[Shape, ...]] = {}
    by_mark: dict[str, tuple[Shape, ...]] = {}
    for each in read:
        if len(each.lead) > 1:
            by_lead[each.lead[:2]] = (*by_lead.get(each.lead[:2], ()), each)
        else:
            by_mark[each.mark] = (*by_mark.get(each.mark, ()), each)
    return _Shapes(by_lead, by_mark)


def _shape(kind: str, shape: str) -> Shape:
    parts = list(_PART.finditer(shape))
    mark = max((part for part in parts if part[6]), key=lambda part: len(part[6]))
    least = most = 0
    for part in parts[: parts.index(mark)]:
        least += len(part[6] or "") or (_UUID_LENGTH if part[1] else int(part[3]))
        most += len(part[6] or "") or (_UUID_LENGTH if part[1] else int(part[4] or part[3]))
    return Shape(kind, shape, parts[0][6] or "", mark[6], (least, most))


@lru_cache(maxsize=1024)
def _pattern(shape: str, *, whole: bool) -> re.Pattern[str]:
    parts = list(_PART.finditer(shape))
    said = []
    for part in parts:
        if part[6]:
            said.append(re.escape(part[6]))
        elif part[1]:
            said.append(_UUID)
        else:
            most = ("" if whole else str(_LONGEST)) if part[5] else (part[4] or part[3])
            said.append(f"[{ALPHABETS[part[2]]}]{{{part[3]},{most}}}")
    end = "" if parts[-1][5] else "(?![A-Za-z0-9])"
    return re.compile("".join(said) + end)


@lru_cache(maxsize=32)
def _more(alphabet: str) -> re.Pattern[str]:
    return re.compile(f"[{ALPHABETS[alphabet]}]*")


def tokens_in(text: str, letters: bytes) -> Iterator[Found]:
    """Yield the tokens in a text.

    Args:
        text: Any text.
        letters: The text in ASCII, with a placeholder for every other character.
    """
    runs, wanted = letters.translate(_IN_RUNS), b"x" * _RUN
    at = runs.find(wanted)
    while at >= 0:
        start, end = runs.rfind(b" ", 0, at) + 1, runs.find(b" ", at)
        end = end if end >= 0 else len(text)
        yield from _tokens_in_run(text, start, end)
        at = runs.find(wanted, end)
    yield from _web_tokens_in(text)


def _tokens_in_run(text: str, start: int, end: int) -> Iterator[Found]:
    table = _table()
    done, tried = start, dict[str, int]()
    for place in _START.finditer(text, start, end):
        at = place.start()
        if at < done:
            continue
        for shape in table.by_lead.get(place[0], ()):
            if text.startswith(shape.lead, at) and tried.get(shape.shape, 0) <= at:
                found = _found_at(text, at, shape, tried)
                if found is not None:
                    done = found.end
                    yield found
                    break
    for mark, some in table.by_mark.items():
        at = text.find(mark, start, end)
        while at >= 0:
            yield from _found_around(text, at, some)
            at = text.find(mark, at + 1, end)


def _found_at(text: str, at: int, shape: Shape, tried: dict[str, int]) -> Found | None:
    match = _pattern(shape.shape, whole=False).match(text, at)
    if match is None:
        return None
    # A failed match need not be tried again from each position in it.
    tried[shape.shape] = match.end()
    if not _could_be(shape, match[0]):
        return None
    end, last = match.end(), list(_PART.finditer(shape.shape))[-1]
    if last[5] and (more := _more(last[2]).match(text, end)):
        end = more.end()
    return Found(at, end, shape.kind)


def _found_around(text: str, mark: int, some: tuple[Shape, ...]) -> Iterator[Found]:
    for shape in some:
        least, most = shape.before
        for at in range(mark - least, mark - most - 1, -1):
            if at < 0 or (at and text[at - 1].isascii() and text[at - 1].isalnum()):
                continue
            found = _found_at(text, at, shape, {})
            if found is not None:
                yield found
                return


def _could_be(shape: Shape, said: str) -> bool:
    rest = said[len(shape.lead) :]
    return not is_crossed_out(rest) and (not shape.has_words or looks_random(rest))


def _web_tokens_in(text: str) -> Iterator[Found]:
    at = text.find(".eyJ")
    while at >= 0:
        before = max(0, at - 2000)
        head = text[before:at]
        run = head[len(head.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")) :]
        header, rest = _HEADER.search(run), _REST.match(text, at)
        if header is not None and rest is not None:
            yield Found(at - len(run) + header.start(), rest.end(), JWT)
        at = text.find(".eyJ", rest.end() if rest else at + 1)


def token_kind(said: str) -> str | None:
    """Return the kind of token that a whole run of characters is, or None."""
    if _WHOLE_WEB_TOKEN.fullmatch(said):
        return JWT
    for shape in _table().by_lead.get(said[:2], ()):
        if said.startswith(shape.lead) and _pattern(shape.shape, whole=True).fullmatch(said):
            return shape.kind if _could_be(shape, said) else None
    return None


def beginning_in(said: str) -> int | None:
    """Return the offset in a run of characters where a token could begin, or None.

    Args:
        said: Letters, digits and signs, without blanks.
    """
    for place in _START.finditer(said):
        at = place.start()
        if said.startswith("eyJ", at) or any(
            said.startswith(each.lead, at) for each in _table().by_lead.get(place[0], ())
        ):
            return at
    return None


# Runs of this many characters at the end of a line may begin a token.
_IN_WRAPPED_RUNS: Final = bytes(
    120 if at < 128 and (chr(at).isalnum() or at in b"_.-") else 46 if 32 < at < 127 and at != 92 else at
    for at in range(256)
)
_LINE_ENDS: Final = tuple(
    _FIRST + blank + slash + end
    for end in (b"\n", b"\r\n")
    for slash in (b"", b"\\")
    for blank in (b"", b" ", b"  ")
)


@dataclass(frozen=True)
class _Wrapped:
    """A run of characters over several lines.

    Args:
        start: Its offset in the text.
        ends: End of each of its lines in the text.
        joined: Its characters up to each end, without line breaks.
        alone: Whether it fills each line after the first.
    """

    start: int
    ends: tuple[int, ...]
    joined: tuple[str, ...]
    alone: tuple[bool, ...]

    def goes_on(self, at: int, *, broken: bool) -> bool:
        """Return whether a line belongs to a token that could have ended before it.

        Args:
            at: Index of the line.
            broken: Whether the token is known to span lines without this one.
        """
        more = self.joined[at][len(self.joined[at - 1]) :]
        return (len(more) >= _LONG and _is_random(more)) or (broken and self.alone[at])


def wrapped_tokens(text: str, letters: bytes) -> Iterator[Found]:
    """Yield the tokens in a text that are split by line breaks.

    Args:
        text: Any text.
        letters: The text in ASCII, with a placeholder for every other character.
    """
    for run in _wrapped_runs(text, letters):
        found = _token_of(run)
        if found is not None:
            yield found


def _token_of(run: _Wrapped) -> Found | None:
    """Return the token at the start of a run, or None if there is none or it ends on the first line."""
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
    """Yield the runs that begin like tokens and could continue on the next line."""
    for end in _long_ends(letters.translate(_IN_WRAPPED_RUNS)):
        if _is_word(text[text.rfind(" ", max(0, end - _LONG_WORD), end) + 1 or end : end]):
            continue
        line = text[max(0, end - _LONGEST_WRAPPED) : end]
        said = line[len(line.rstrip(_SIGNS)) :]
        begins = None if _is_word(said) else beginning_in(said)
        if begins is None:
            continue
        start, said = end - len(said) + begins, said[begins:]
        ends, joined = [end], [said]
        while len(ends) < _MOST_LINES and (gap := _BREAK_HERE.match(text, ends[-1])):
            run = _WRAPPED_RUN.match(text, gap.end())
            if run is None or _begins_another(run[0]) or not _may_go_on(run[0]):
                break
            said += run[0]
            ends.append(run.end())
            joined.append(said)
        if len(ends) > 1 and _is_random(said):
            alone = tuple(_LINE_END.match(text, at) is not None for at in ends)
            yield _Wrapped(start, tuple(ends), tuple(joined), alone)


def _is_word(said: str) -> bool:
    """Return True for a word, the commonest end of a line, which begins no token."""
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
    # The second part of a JSON web token begins like the first; all others begin once.
    at = beginning_in(run)
    return at is not None and not (at > 0 and run.startswith("eyJ", at))


def unwrapped(text: str) -> str:
    """Return a token without its line breaks; any other text unchanged."""
    return _BREAK_HERE.sub("", text) if "\n" in text else text


def _may_go_on(run: str) -> bool:
    return len(run) <= _SHORT or not _WORDS.fullmatch(run)


def _is_random(said: str) -> bool:
    """Return whether letters of both cases, or capitals only, are mixed with digits."""
    return any(map(str.isdigit, said)) and any(map(str.isupper, said)) and any(map(str.isalpha, said))
