"""Classifies values: random, a word, a number, or a placeholder from examples and programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_PARTS: Final = re.compile(r"[A-Za-z0-9]{8,}")
_HUMPS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_UUID: Final = re.compile(r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_RANDOM_CHANGES: Final = 4
_LOOKED_AT: Final = 120
# The same character many times, as in `xxxxxxxx`, `********`, `00000000` and `......`.
_REPEATED: Final = re.compile(r"(.)\1{5}|^(?:x{3}|X{3}|[*•.]{3}|…|(.)\2{3})", re.DOTALL)
_CROSSED_OUT: Final = re.compile(r"x{6}|X{6}|[*•.]{4}")
_FIRST_OF_A_STAND_IN: Final = "$<{[(%…•"
# The same in prose, where `abc(1x9` may be a password.
_CALL: Final = re.compile(
    r"(?:(?:[A-Za-z]\w*\.)?[A-Za-z_.]{3,}[(\[])+(?:[A-Za-z_.=]*|\d+)[)\]]*|[a-z_]+(?:\.[A-Za-z_]+)+"
)
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*", re.DOTALL)
_CAPITALS: Final = re.compile(r"[A-Z]+(?:[_-][A-Z]+)+|[A-Z_]*[A-Z](?:_\d+)?")
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
# `mypassword1`, `app_secret_2`: placeholders that describe themselves.
_NAMES_ITSELF: Final = re.compile(
    r"[A-Za-z0-9_.-]*(?:password|passwd|secret|token|apikey)[A-Za-z0-9_.-]*", re.IGNORECASE
)
_WORDY: Final = re.compile(r"(?:[A-Za-z]++[-_. /:@#]?)*+(?:v?\d{1,4}(?:\.\d+)*)?")
_HYPHENED: Final = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+")
OPENING: Final = re.compile(r"(?:[*_]{1,3}|@(?=\"))?(\\{0,3}[\"'`]|[“‘„「『])?")
_BARE: Final = re.compile(r"[^\s\"'`“”‘’「」『』<>，。；、|,;]{1,300}")


def words_of(said: str) -> frozenset[str]:
    return frozenset(said.split())


# `os.environ["X"]`, `user.password`, `$row->token`, `hash(password)`, `Optional[str]`: expressions of a program.
_EXPRESSION: Final = re.compile(
    r"&?[A-Za-z_]\w*(?:(?:\?\.|\.|->|::)[A-Za-z_]\w*)+(?:[(\[{].*|[);]*)"
    r"|(?:\w+(?:\.|->|::))*[A-Za-z_]\w{2,}[(\[].*",
    re.DOTALL,
)
# Numbers, dates, amounts, durations, versions.
_NUMBER: Final = re.compile(
    r"[~≈<>±+-]?[$€£¥]?\d[\d.,:/–x×-]*"
    r"(?:%|€|ms|s|m|min|h|d|k|kb|mb|gb|px|mm|cm|km|kg|g|ml|l|x|st|nd|rd|th|am|pm|usd|eur|bit|-bit)?\+?"
    r"|v?\d+(?:\.\d+)+(?:[-.]?[a-z]+[.-]?\d*)?|\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?",
    re.IGNORECASE,
)
_STAND_INS: Final = words_of(
    "your example placeholder changeme change replace replaceme insert redacted dummy todo xxx xxxx fake paste enter "
    "sample hidden masked removed omitted undefined null none"
)
_ABOUT: Final = words_of(
    "api key keys token tokens password passwords passwd pass pwd pw secret secrets user username name auth access "
    "client db database my the a new old test hashed hash plain value string str app admin default some in me for "
    "service env config settings path id file type text field input param var here this self is of at and no not "
    "required optional demo foo bar baz private public oauth basic bearer jwt ci dev prod staging local root super "
    "strong secure safe random long very production development v"
)
_CLOSING: Final = {"“": "”", "‘": "’", "„": "“", "「": "」", "『": "』"}


@dataclass(frozen=True)
class Found:
    """A secret in a text.

    Args:
        start: Start offset, in characters.
        end: End offset.
        kind: For example `GitHub token`.
    """

    start: int
    end: int
    kind: str


def looks_random(value: str) -> bool:
    """Return True for alternating letters and digits, as in keys and tokens, that no person would invent.

    Args:
        value: A run of characters; only the first 120 count.
    """
    said = value[:_LOOKED_AT]
    if _UUID.fullmatch(said):
        return True
    return any(
        _is_random(part) for part in (*_PARTS.findall(said), *_PARTS.findall(re.sub("[+/]", "", said)))
    )


def _is_random(part: str) -> bool:
    digits = sum(map(str.isdigit, part))
    return 0 < digits < len(part) and len(_HUMPS.findall(part)) >= _RANDOM_CHANGES


def is_crossed_out(value: str) -> bool:
    """Return True if crosses, stars or dots hide part of the value, as in `ghp_xxxxxxxx`."""
    return _CROSSED_OUT.search(value[:_LOOKED_AT]) is not None


def is_stand_in(value: str, *, in_code: bool) -> bool:
    """Return True for a placeholder of examples, settings and programs.

    Args:
        value: The supposed secret.
        in_code: Whether it is assigned by a sign rather than stated in prose; then names and expressions are
            not secrets.
    """
    if value[0] in _FIRST_OF_A_STAND_IN or _REPEATED.search(value[:_LOOKED_AT]) or _ADDRESS.fullmatch(value):
        return True
    if _NUMBER.fullmatch(value) and not (value.isdigit() and len(value) >= 6):
        return True
    words = [word.lower() for word in _WORDS.findall(value[:_LOOKED_AT])]
    if _STAND_INS.intersection(words) or _CAPITALS.fullmatch(value):
        return True
    if not in_code:
        return _CALL.fullmatch(value) is not None
    if looks_random(value):
        return False
    if _EXPRESSION.fullmatch(value) or _NAMES_ITSELF.fullmatch(value):
        return True
    return not value.isdigit() and all(word in _ABOUT or word.isdigit() for word in words)


def is_key(value: str) -> bool:
    """Return True for a plausible key under a label that says so: letters and digits, not words with a version."""
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) >= 8 and (looks_random(value) or (has_both and not _WORDY.fullmatch(value)))


def is_password(value: str) -> bool:
    """Return True for a plausible password under an explicit label: it has a digit, or a sign of its own."""
    if len(value) < 6:
        return False
    if _HYPHENED.fullmatch(value) and "_" not in value:
        parts = value.split("-")
        mixed = any(any(map(str.isdigit, part)) and any(map(str.isalpha, part)) for part in parts)
        return mixed or (len(parts) > 2 and all(len(part) > 3 for part in parts)) or _has_number(parts)
    return any(map(str.isdigit, value)) or any(sign in value for sign in "_!@#$%^&*+=~\\|")


def _has_number(parts: list[str]) -> bool:
    # `eel-under-7-stones`, `12345-abcde`, but not `12-character-long`.
    if any(len(part) > 4 for part in parts if part.isdigit()):
        return True
    return len(parts) > 3 and any(map(str.isdigit, parts))


def has_letters_and_digits(value: str) -> bool:
    """Return True for six or more characters with letters, and with digits or signs that no word has."""
    return (
        len(value) >= 6
        and any(map(str.isalpha, value))
        and (any(map(str.isdigit, value)) or any(sign in value for sign in "!#$%^&*+~|"))
    )


def value_at(text: str, at: int, *, in_address: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield the end of a value that begins here, and whether it is quoted; nothing if none does.

    Args:
        text: Any text.
        at: Its beginning, or that of the quotes or emphasis around it.
        in_address: Whether it is in a URL's query, where some signs end it.
    """
    opening = OPENING.match(text, at)
    start = opening.end() if opening else at
    quote = opening[1] if opening else None
    if quote:
        sign = _CLOSING.get(quote, quote[-1])
        line_end = text.find("\n", start, start + 302)
        end = text.find(sign, start, line_end if line_end >= 0 else start + 302)
        if end > start:
            end -= len(text[start:end]) - len(text[start:end].rstrip("\\"))
            if not any(map(str.isspace, text[start:end])):
                yield start, end, True
            return
    bare = _BARE.match(text, start)
    if bare is None:
        return
    said = re.split("[&#]", bare[0], maxsplit=1)[0] if in_address else bare[0]
    for sign, partner in ((")", "("), ("]", "["), ("}", "{")):
        if partner not in said:
            said = said.split(sign, 1)[0]
    # Punctuation that ends a sentence is not part of its last word.
    said = said.rstrip(".!?:\\" if bare.end() == len(text) or text[bare.end()].isspace() else ":\\")
    if start > at or said.endswith("**"):
        said = said.rstrip("*_")
    if said:
        yield start, start + len(said), False
