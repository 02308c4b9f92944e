"""What a secret looks like: what services give out, private keys, and what is said to be a password."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.engine.secrets.labelled import labelled_in
from workbench.engine.secrets.labels import LABELLED
from workbench.engine.secrets.places import IN_ADDRESS, IN_COMMAND, PRIVATE_KEY, SEED_PHRASE, placed_in
from workbench.engine.secrets.shapes import JWT, shapes, tokens_in
from workbench.engine.secrets.values import Found
from workbench.engine.secrets.wrapped import unwrapped, wrapped_tokens

LEFT_OUT: Final = "[secret left out]"
"""What stands where a secret was."""
_DIGEST: Final = 16
_SHOWN: Final = 4

# What nobody sees within a secret: characters without width, and the backslash that Markdown puts before a mark.
_WITHOUT_WIDTH: Final = r"[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff]"
_BACKSLASH: Final = r"\\(?=[_.:-])"
_UNSEEN: Final = re.compile(f"{_WITHOUT_WIDTH}|{_BACKSLASH}")
_ASCII: Final = bytes(range(128))


@dataclass(frozen=True)
class Secret:
    """A stretch of text that looks like a secret.

    Args:
        kind: What it looks like, for example `GitHub token`.
        text: Itself.
        start: Of it in the text looked at, in characters.
    """

    kind: str
    text: str
    start: int

    @property
    def digest(self) -> str:
        """Return the name under which it can be allowed: the first digits of its SHA-256, however it is wrapped."""
        return hashlib.sha256(unwrapped(self.text).encode("utf-8", "replace")).hexdigest()[:_DIGEST]

    @property
    def shown(self) -> str:
        """Return its kind and as much of it as tells it from others: `GitHub token ghp_…`."""
        return f"{self.kind} {self.text[:_SHOWN]}…"


def kinds() -> tuple[str, ...]:
    """Return every kind of secret that is recognised, in the order of the alphabet."""
    ruled = (PRIVATE_KEY, JWT, IN_ADDRESS, IN_COMMAND, SEED_PHRASE, LABELLED)
    return tuple(sorted({*ruled, *(shape.kind for shape in shapes())}, key=str.casefold))


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return everything in a text that looks like a key, a token, a private key or a password.

    Known shapes, labels and places alone are found: a long word, a hash or an id is none. What cannot be seen in a
    text hides nothing.

    Args:
        text: Any.
    """
    foreign = _foreign_in(text)
    if not (re.search(_WITHOUT_WIDTH, foreign) or re.search(_BACKSLASH, text)):
        return _found_in(text, foreign)
    unseen = [match.start() for match in _UNSEEN.finditer(text)]
    found = []
    for secret in _found_in(_UNSEEN.sub("", text), foreign):
        start, end = (_place_of(at, unseen) for at in (secret.start, secret.start + len(secret.text) - 1))
        found.append(Secret(secret.kind, text[start : end + 1], start))
    return tuple(found)


def _place_of(at: int, left_out: Sequence[int]) -> int:
    """Return where the character stood that is at a place now, before others were left out."""
    # Of those left out, the one at N was before the place N less as many as were left out before it.
    return at + bisect_right(range(len(left_out)), at, key=lambda number: left_out[number] - number)


def _foreign_in(text: str) -> str:
    """Return the characters of a text that are not ASCII: few in most, so that looking at them costs little."""
    if text.isascii():
        return ""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def _found_in(text: str, foreign: str) -> tuple[Secret, ...]:
    # One byte for each character, so that what is found in the bytes is at the same place in the text.
    letters = text.encode("ascii", "replace")
    small = letters.lower()
    wrapped = wrapped_tokens(text, letters) if "\n" in text else ()
    found = [*wrapped, *tokens_in(text, letters), *placed_in(text, small), *labelled_in(text, small, foreign)]
    return tuple(Secret(each.kind, text[each.start : each.end], each.start) for each in _apart(found))


def _apart(found: Iterable[Found]) -> list[Found]:
    """Return what was found without what lies in something else; what overlaps becomes one."""
    apart: list[Found] = []
    # The sort is stable: of two at the same place, the kind that was asked for first stays.
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if apart and each.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Found(last.start, max(last.end, each.end), last.kind)
        else:
            apart.append(each)
    return apart


def masked(text: str) -> str:
    """Return a text with `[secret left out]` for everything in it that looks like a secret."""
    for secret in reversed(find_secrets(text)):
        text = f"{text[: secret.start]}{LEFT_OUT}{text[secret.start + len(secret.text) :]}"
    return text
