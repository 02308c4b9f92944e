"""Masks for secrets that are held back: the text reads on, line for line, with a mask where each secret was."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from workbench.engine.secrets.recognising import LEFT_OUT, Secret, find_secrets

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
