"""Token formats of services, read from `tokens.toml`, and the tokens in a text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Final

from workbench.engine.errors import InvalidInput
from workbench.engine.patterns import lazy_pattern
from workbench.engine.secrets.values import Found, is_crossed_out, looks_random
from workbench.engine.values import dataclass

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
_TABLE: Final = Path(__file__).with_name("tokens.toml")
_UUID: Final = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
_UUID_LENGTH: Final = 36
_PART: Final = lazy_pattern(rf"\{{(?:(uuid)|({'|'.join(ALPHABETS)}) (\d+)(?:-(\d+)|(\+))?)\}}|([^{{}}]+)")
_PIECE: Final = lazy_pattern(r"\{[^}]*\}?|[^{]+")
# Examined length of a token without a maximum; the rest is added once it is recognised.
_LONGEST: Final = 300
_WITH_WORDS: Final = frozenset(("url", "word", "name", "path"))

# Tokens occur in runs of at least this many characters without blanks, quotes and brackets.
_RUN: Final = 14
_RUN_SIGNS: Final = b"_-./:+=~@%&|!#"
_IN_RUNS: Final = bytes(
    120 if at < 128 and (chr(at).isalnum() or at in _RUN_SIGNS) else 32 for at in range(256)
)
# What follows a single blank.
_GAP: Final = lazy_pattern(r"[ ]([A-Za-z0-9_./+=~@-]{3,300})(?![A-Za-z0-9_./+=~@-])")
_FEWEST_BEFORE: Final = 6
_START: Final = lazy_pattern(r"(?<![A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9_.-]")
_HEADER: Final = lazy_pattern(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,2000}+\Z")
_REST: Final = lazy_pattern(r"\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+")
WHOLE_WEB_TOKEN: Final = lazy_pattern(rf"eyJ[A-Za-z0-9_-]{{10,}}+{_REST.pattern}")


@dataclass(frozen=True)
class Shape:
    """A token format.

    Args:
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

    @property
    def is_open(self) -> bool:
        """Return whether it has no maximum length."""
        return self.shape.endswith("+}")

    @property
    def takes_digests(self) -> bool:
        """Return whether its own characters are those of a hash or a UUID."""
        return "{hex " in self.shape or "{uuid}" in self.shape

    def match(self, text: str, at: int, end: int) -> re.Match[str] | None:
        """Return the match of a token that begins at a position and ends before another; None if none does."""
        match = _pattern(self.shape, whole=True).match(text, at, end)
        return match if match is not None and _could_be(self, match[0]) else None


@dataclass(frozen=True)
class _Shapes:
    by_lead: dict[str, tuple[Shape, ...]]
    by_mark: dict[str, tuple[Shape, ...]]

    @cached_property
    def beginnings(self) -> re.Pattern[str]:
        """What finds a mark, or the first two characters of a prefix where it may begin."""
        seconds: dict[str, str] = {}
        for lead in self.by_lead:
            seconds[lead[0]] = seconds.get(lead[0], "") + lead[1]
        leads = [f"{re.escape(first)}[{re.escape(some)}]" for first, some in seconds.items()]
        return re.compile(
            f"(?<![A-Za-z0-9])(?:{'|'.join(leads)})|{'|'.join(map(re.escape, self.by_mark)) or '(?!)'}"
        )


def shapes() -> tuple[Shape, ...]:
    """Return all formats of the table, longest prefix first."""
    return tuple(
        shape for some in (_table().by_lead, _table().by_mark) for each in some.values() for shape in each
    )


@lru_cache(maxsize=1)
def _table() -> _Shapes:
    text = _TABLE.read_text("utf-8")
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
    """Read one format of the table.

    Raises:
        InvalidInput: It has a part that is neither literal nor of a known alphabet, or nothing to find it by.
    """
    parts = list(_PART.finditer(shape))
    _check(kind, shape, parts)
    mark = max((part for part in parts if part[6]), key=lambda part: len(part[6]))
    least = most = 0
    for part in parts[: parts.index(mark)]:
        least += len(part[6] or "") or (_UUID_LENGTH if part[1] else int(part[3]))
        most += len(part[6] or "") or (_UUID_LENGTH if part[1] else int(part[4] or part[3]))
    return Shape(kind, shape, parts[0][6] or "", mark[6], (least, most))


def _check(kind: str, shape: str, parts: list[re.Match[str]]) -> None:
    unread = next((said for said in _PIECE.findall(shape) if not _PART.fullmatch(said)), None)
    wrong = None
    if unread is not None:
        wrong = f"“{unread}” is no part of a format"
    elif not any(part[6] for part in parts):
        wrong = "it has no literal part to find it by"
    elif any(part[4] and int(part[4]) < int(part[3]) for part in parts):
        wrong = "a greatest length is below the least"
    if wrong:
        raise InvalidInput(
            f"The format “{shape}” of “{kind}” cannot be read: {wrong}.",
            where=str(_TABLE),
            remedy="Write literal text, {uuid}, or an alphabet with a length, as in {hex 40}, {alnum 20-40} or "
            f"{{url 20+}}; alphabets: {', '.join(ALPHABETS)}.",
        )


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


def _found_apart(text: str, at: int, end: int, shape: Shape) -> Found | None:
    """Return a token of which a blank has come between, as where a door has put a line break into words."""
    gap = _GAP.match(text, end)
    if gap is None or end - at < len(shape.lead) + _FEWEST_BEFORE:
        return None
    rest = gap[1]
    match = shape.match(f"{text[at:end]}{rest}", at=0, end=end - at + len(rest))
    if (
        match is None
        or match.end() <= end - at
        or not any(map(str.isdigit, match[0][len(shape.lead) : end - at]))
    ):
        return None
    piece = match[0][end - at :]
    is_whole = len(piece) >= len(rest.rstrip("."))
    return (
        Found(at, gap.start(1) + len(piece), shape.kind)
        if is_whole and any(map(str.isdigit, piece))
        else None
    )


def _tokens_in_run(text: str, start: int, end: int) -> Iterator[Found]:
    table = _table()
    if table.beginnings.search(text, start, end) is None:
        return
    done, tried = start, dict[str, int]()
    for place in _START.finditer(text, start, end):
        at = place.start()
        if at < done:
            continue
        for shape in table.by_lead.get(place[0], ()):
            if text.startswith(shape.lead, at) and tried.get(shape.shape, 0) <= at:
                found = _found_at(text, at, shape, tried) or _found_apart(text, at, end, shape)
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


def shapes_at(text: str, at: int) -> tuple[Shape, ...]:
    """Return the formats whose prefix stands at a position."""
    by_lead = _table().by_lead.get(text[at : at + 2], ())
    return tuple(shape for shape in by_lead if text.startswith(shape.lead, at))


def begins_like_a_token(said: str) -> bool:
    """Return whether a text is the beginning of some prefix."""
    return any(shape.lead.startswith(said) for shape in _table().by_lead.get(said[:2], ()))


def shapes_by_mark() -> dict[str, tuple[Shape, ...]]:
    """Return the formats without a telling prefix by their longest literal part."""
    return _table().by_mark
