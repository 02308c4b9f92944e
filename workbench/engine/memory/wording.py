"""Prepares outside text for storage, and cuts texts to the part in which two versions differ."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, takewhile

from workbench.engine.catalog.terms import STOP_WORDS, stem, terms
from workbench.engine.errors import InvalidInput
from workbench.engine.language.denials import is_denied
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

MEMORY_CHARACTERS = 20_000
NAME_CHARACTERS = 120
TAG_CHARACTERS = 40
MOST_TAGS = 12
EPISODE_TYPES = ("decision", "fact", "preference", "task", "event", "emotion", "correction")
CONFIDENCES = ("high", "medium", "low")

_LINE_END = lazy_pattern("\r\n|[\r\v\f\x85\u2028\u2029]")
_FLAG = "\U0001f3f4[\U000e0020-\U000e007f]+"
_INVISIBLE = lazy_pattern(
    f"({_FLAG})|[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)
_MARKUP_OF_NAMES = lazy_pattern(r"[\[\]|^#<>`]+")
_MARKUP_OF_TAGS = lazy_pattern(r"[\[\]|,;:#<>`]+")
_SOURCE = lazy_pattern(r"[a-z][a-z0-9._-]*(?::[A-Za-z0-9._-]+)?")

_CONTEXT = 20
_WHOLE = 40
# Two words this close in spelling are one, unless they hold digits.
_SAME_WORD = 0.85


@dataclass(frozen=True)
class CleanText:
    """A text ready for storage, and warnings about how it was changed."""

    text: str
    warnings: tuple[str, ...]


def check_memory(text: str, *, what: str = "A memory", limit: int = MEMORY_CHARACTERS) -> None:
    """Refuse what can never be stored; this costs next to nothing, so that it is asked before anything is read.

    Raises:
        InvalidInput: It contains NUL, or is longer than the limit.
    """
    if "\0" in text:
        raise InvalidInput(
            f"{what} cannot hold NUL characters.", remedy="Give it as text, not as binary data."
        )
    if len(text) > limit:
        raise InvalidInput(
            f"{what} may be {limit:,} characters long; this one has {len(text):,}.",
            remedy="Remember its parts one by one, or keep the whole as a file below memory/vault.",
        )


def clean_memory(text: str, *, what: str = "A memory", limit: int = MEMORY_CHARACTERS) -> CleanText:
    """Prepare a text for storage; its line breaks stay.

    Raises:
        InvalidInput: It is empty, contains NUL, or is longer than the limit.
    """
    check_memory(text, what=what, limit=limit)
    lined = _LINE_END.sub("\n", text)
    kept = _INVISIBLE.sub(lambda match: match.group(1) or "", lined)
    cleaned = _without_blank_ends(kept)
    if not cleaned:
        raise InvalidInput(f"{what} cannot be empty.", remedy="Give the text that is to be kept.")
    removed = len(lined) - len(kept)
    warning = f"{removed} invisible control character{'s were' if removed > 1 else ' was'} left out."
    return CleanText(cleaned, (warning,) if removed else ())


def clean_line(text: str, *, what: str = "A fact", limit: int = MEMORY_CHARACTERS) -> CleanText:
    """Prepare a text for storage as one line; line ends and runs of blanks become one space."""
    wording = clean_memory(text, what=what, limit=limit)
    return CleanText(one_line(wording.text), wording.warnings)


def clean_name(name: str, *, what: str = "The name of an entity") -> str:
    """Turn a name into a label: one line, without link and table syntax.

    Raises:
        InvalidInput: Nothing is left of it, or it is longer than 120 characters.
    """
    line = clean_line(name, what=what, limit=NAME_CHARACTERS).text
    cleaned = one_line(_MARKUP_OF_NAMES.sub(lambda match: "#" if _is_sharp(line, match) else " ", line))
    if not any(unicodedata.category(character)[0] in "LNS" for character in cleaned):
        raise InvalidInput(
            f"{what} needs a letter or a digit; “{line}” has none.", remedy="Give it another name."
        )
    return cleaned


def _is_sharp(line: str, match: re.Match[str]) -> bool:
    """Return True if a `#` ends a word, as in C#, rather than starting a tag."""
    return match.group() == "#" and match.start() > 0 and not line[match.start() - 1].isspace()


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return distinct tags without heading syntax, at most twelve."""
    kept: dict[str, str] = {}
    for tag in tags:
        visible = _INVISIBLE.sub("", _LINE_END.sub(" ", tag))
        cleaned = one_line(_MARKUP_OF_TAGS.sub(" ", visible))[:TAG_CHARACTERS].rstrip()
        if cleaned:
            kept.setdefault(cleaned.casefold(), cleaned)
    return tuple(kept.values())[:MOST_TAGS]


def checked_word(value: str, allowed: tuple[str, ...], what: str) -> str:
    """Validate a word of a vocabulary.

    Raises:
        InvalidInput: It is not in the vocabulary; the remedy lists the words.
    """
    if value.strip().lower() in allowed:
        return value.strip().lower()
    raise InvalidInput(f"“{clip(value)}” is not a valid {what}.", remedy=f"Use one of: {', '.join(allowed)}.")


def checked_source(value: str) -> str:
    """Validate the source of a memory, one word such as `user-explicit` or `reflection:r-012`.

    Raises:
        InvalidInput: It is not such a word.
    """
    word = value.strip()
    if _SOURCE.fullmatch(word) and len(word) <= NAME_CHARACTERS:
        return word
    raise InvalidInput(
        f"“{clip(value)}” cannot be the source of a memory.",
        remedy="Give one word, such as conversation, user-explicit or reflection.",
    )


def numbered(name: str) -> Iterator[str]:
    """Yield the names that memories of one name get: `name`, `name-2` and so on."""
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def one_line(text: str) -> str:
    """Join a text to one line with single spaces."""
    return " ".join(text.split())


def clip(text: str, limit: int = 80) -> str:
    """Return a text as one line for summaries and messages, cut at a limit of characters."""
    line = one_line(_INVISIBLE.sub("", text))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def text_key(text: str) -> str:
    """Return a key that is equal for texts with the same wording: ignores width, case, blanks and a final stop."""
    return one_line(unicodedata.normalize("NFKC", text).casefold()).rstrip(" .!。！")


def _without_blank_ends(text: str) -> str:
    lines = text.split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines).rstrip()


def clip_difference(before: str, after: str) -> tuple[str, str]:
    """Return both texts as single lines; above 40 characters, they are cut around the part in which they differ.

    Returns:
        The differing part of each with up to 20 common characters on either side, broken at spaces if possible, with
        ellipses for omitted text. A part longer than 80 characters is cut too.
    """
    old, new = (clip(text, len(text) + 1) for text in (before, after))
    if max(len(old), len(new)) <= _WHOLE:
        return old, new
    start = common_length(old, new)
    end = common_length(old[start:][::-1], new[start:][::-1])
    return _around(old, start, end), _around(new, start, end)


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the common beginning of two texts or lists of words."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _around(text: str, shared_start: int, shared_end: int) -> str:
    differs_until = len(text) - shared_end
    start = max(shared_start - _CONTEXT, 0)
    if start:
        space = text.find(" ", start, shared_start)
        start = space + 1 if space >= 0 else start
    stop = min(differs_until + _CONTEXT, len(text))
    if stop < len(text):
        space = text.rfind(" ", differs_until, stop)
        stop = space if space >= 0 else stop
    part = f"{'…' if start else ''}{text[start:stop]}"
    return part + "…" if stop < len(text) and len(part) < 2 * _WHOLE else clip(part, 2 * _WHOLE)


def is_correction(before: str, after: str, said: Iterable[str]) -> bool:
    """Return whether a text states something else of the same thing, and not only in other words.

    It does where other words stand in the place of some, most of the rest being kept, or where it is denied.

    Args:
        before: What was stated.
        after: What a person wrote instead.
        said: What the sources say; words of theirs make a text truer to them, and correct nothing they say.
    """
    old, new, theirs = _stems(before), _stems(after), {word for text in said for word in _stems(text)}
    if 2 * len(set(old) & set(new)) < min(len(set(old)), len(set(new))):
        return False
    if is_denied(before) != is_denied(after):
        return True
    changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return any(
        tag == "replace"
        and any(not _is_among(word, new) for word in old[first:end])
        and any(not _is_among(word, [*old, *theirs]) for word in new[start:last])
        for tag, first, end, start, last in changes
    )


def _stems(text: str) -> list[str]:
    return [stem(word) for word in terms(text) if word not in STOP_WORDS]


def _is_among(word: str, words: Iterable[str]) -> bool:
    """Return whether a word is one of others, apart from how it is spelt."""
    if any(character.isdigit() for character in word):
        return word in words
    return any(
        word == other or difflib.SequenceMatcher(None, word, other).ratio() >= _SAME_WORD for other in words
    )
