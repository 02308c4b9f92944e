"""Finding secrets in a text, masking them, and comparing what a change would add."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from workbench.engine.secrets.labelled import labelled_in
from workbench.engine.secrets.labels import LABELLED
from workbench.engine.secrets.places import IN_ADDRESS, IN_COMMAND, PRIVATE_KEY, SEED_PHRASE, placed_in
from workbench.engine.secrets.shapes import JWT, shapes, tokens_in, unwrapped, wrapped_tokens
from workbench.engine.secrets.values import Found

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


def text_of(content: bytes) -> str:
    """Return what a file says, to look for secrets in it. All are ASCII, and UTF-16 puts a NUL to each letter.

    Args:
        content: Of a file in UTF-8, UTF-16 or whatever encoding has ASCII in it.
    """
    return content.replace(b"\0", b"").decode("utf-8", "replace")


def added_secrets(before: bytes | None, after: bytes) -> tuple[Secret, ...]:
    """Return the secrets in a file's new content that its old content does not hold.

    Args:
        before: The file as it is; None where there is none.
        after: As it shall be.
    """
    known = text_of(before or b"")
    found = find_secrets(text_of(after))
    return tuple(secret for secret in found if secret.text not in known)


_MASK: Final = re.compile(r"\[held back(?: \d+)?: [^\[\]\r\n]{1,300}\]")
_NO_LINE_END: Final = re.compile(r"[^\r\n]+")
# A file that says a thousand different passwords is no place to look for each of them a second time.
_MOST_REPEATED: Final = 200


@dataclass(frozen=True)
class Masked:
    """What may be read of a text.

    Args:
        text: With the masks in it.
        has_secrets: Whether anything in the original looks like a secret, masked or not.
        hidden: The secrets that gave way to a mask, each once.
    """

    text: str
    has_secrets: bool = False
    hidden: tuple[Secret, ...] = ()


def mask_of(*kinds: str) -> str:
    """Return what is read where a secret is held back: `[held back: GitHub token]`."""
    return f"[held back: {' and '.join(kinds)}]"


def mask_secrets(text: str, is_hidden: Callable[[Secret], bool]) -> Masked:
    """Mask the secrets in a text; its lines keep their numbers, also behind a key that spans several.

    Args:
        text: Decoded with `surrogateescape` where it comes from a file; it may hold NULs, as UTF-16 does.
        is_hidden: Says whether a secret is held back.
    """
    plain = text.replace("\0", "")
    found = find_secrets(plain)
    hidden = [each for each in found if is_hidden(_as_said(each))]
    if not hidden:
        return Masked(text, bool(found))
    places = [at for at, character in enumerate(text) if character != "\0"] if "\0" in text else None
    pieces: list[str] = []
    done = 0
    for secret in sorted(hidden, key=lambda each: each.start):
        start, last = secret.start, secret.start + len(secret.text) - 1
        if places is not None:
            start, last = places[start], places[last]
        if start >= done:
            pieces += (text[done:start], _stand_in(secret.kind, text[start : last + 1]))
        done = max(done, last + 1)
    masked = "".join((*pieces, text[done:]))
    once = {each.text: each for each in hidden}
    for secret in sorted(once.values(), key=lambda each: -len(each.text))[:_MOST_REPEATED]:
        # Where it is quoted without what gave it away, as a password without the word.
        masked = masked.replace(secret.text, _stand_in(secret.kind, secret.text))
    return Masked(masked, True, tuple(map(_as_said, once.values())))


def mask_content(content: bytes, is_hidden: Callable[[Secret], bool]) -> tuple[bytes, Masked]:
    """Mask the secrets in the content of a file; return it, the very same object where nothing is hidden.

    Args:
        content: In any encoding that has ASCII in it; what is no UTF-8 stays as it is.
        is_hidden: Says whether a secret is held back.
    """
    masked = mask_secrets(content.decode("utf-8", "surrogateescape"), is_hidden)
    return (masked.text.encode("utf-8", "surrogateescape") if masked.hidden else content), masked


def masked_lines(text: str) -> tuple[int, ...]:
    """Return the numbers of the lines, from 1, in which a secret is held back."""
    if "[held back" not in text:
        return ()
    return tuple(number for number, line in enumerate(text.split("\n"), 1) if _MASK.search(line))


def without_masked_lines(text: str) -> str:
    """Return a text with blank lines where a secret is held back or was left out."""
    if "[held back" not in text and LEFT_OUT not in text:
        return text
    return "\n".join(
        ("\r" if line.endswith("\r") else "") if LEFT_OUT in line or _MASK.search(line) else line
        for line in text.split("\n")
    )


def _stand_in(kind: str, said: str) -> str:
    """Return a mask that takes up as many lines as what it stands for."""
    return mask_of(kind) + _NO_LINE_END.sub("", said)


def _as_said(secret: Secret) -> Secret:
    """Return a secret as it is known by its digest, whatever bytes around its letters are no UTF-8."""
    if secret.text.isascii():
        return secret
    said = secret.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return secret if said == secret.text else replace(secret, text=said)
