"""Finds secrets in a text, masks them, and finds those that a change would add."""

from __future__ import annotations

import codecs
import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from workbench.engine.patterns import lazy_pattern
from workbench.engine.secrets.labelled import labelled_in
from workbench.engine.secrets.places import PRIVATE_KEY, placed_in
from workbench.engine.secrets.shapes import tokens_in
from workbench.engine.secrets.values import LABELLED, Found
from workbench.engine.secrets.wrapping import unwrapped, wrapped_tokens
from workbench.engine.values import dataclass

LEFT_OUT: Final = "[secret left out]"
"""Replaces a masked secret."""
_DIGEST: Final = 16
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
_PACKAGE: Final = Path(__file__).parent
_RULES: Final = frozenset((".py", ".toml", ".txt"))

# Invisible within a secret: what Unicode says to ignore, a terminal's colours, and Markdown's escaping backslash.
_WITHOUT_WIDTH: Final = (
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# The same as JSON writes it.
_IN_JSON: Final = (
    r"\\u(?:00(?:[01][0-9a-fA-F]|7[fF]|[aA][dD])|034[fF]|20(?:0[b-fB-F]|2[a-eA-E]|6[0-9a-fA-F])"
    r"|[fF][eE](?:0[0-9a-fA-F]|[fF]{2}))"
)
# Some doors take the escape away and leave the rest.
_IN_TERMINALS: Final = r"\x1b\[[0-9;?]{0,20}[@-~]|[\x00-\x08\x0e-\x1f\x7f]|\[[0-9][0-9;]{0,10}m"
_BACKSLASH: Final = r"\\(?=[_.:-])"
_UNSEEN: Final = lazy_pattern(f"{_WITHOUT_WIDTH}|{_IN_JSON}|{_IN_TERMINALS}|{_BACKSLASH}")
_UNSEEN_ASCII: Final = lazy_pattern(f"{_IN_JSON}|{_IN_TERMINALS}|{_BACKSLASH}")
# What most texts consist of; the backslash, the bracket and what controls a terminal are none of it.
_ORDINARY: Final = bytes((9, 10, *range(32, 91), *range(93, 127)))
_ASCII: Final = bytes(range(128))
_MASK: Final = lazy_pattern(r"\[held back(?: \d+)?: [^\[\]\r\n]{1,300}\]")
_NO_LINE_END: Final = lazy_pattern(r"[^\r\n]+")
# Searching again for each of a thousand different passwords would take too long.
_MOST_REPEATED: Final = 200
# Blanks and line ends that are not ASCII or not a line feed, each one character for one.
_BLANKS: Final = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_LINE_ENDS: Final = "\x0b\x0c\x85\u2028\u2029"
_HYPHENS: Final = "\u2010\u2011\u2012\u2212\ufe63\uff0d"
_STYLED: Final = "\uff10-\uff19\uff21-\uff3a\uff3f\uff41-\uff5a\U0001d400-\U0001d7ff"
_SAME_SHAPE: Final = dict(
    zip(
        "АВЕЅІЈКМНОРСТХҮаеорсухіјѕһԁԛԝɡΑΒΕΖΗΙΚΜΝΟΡΤΥΧοαν",
        "ABESIJKMHOPCTXYaeopcyxijshdqwgABEZHIKMNOPTYXoav",
        strict=True,
    )
)
_LOOK_ALIKES: Final = "".join(_SAME_SHAPE)
_DISGUISED: Final = lazy_pattern(f"[{_BLANKS}{_HYPHENS}{_STYLED}{_LOOK_ALIKES}\u0085\u2028\u2029]")
_OTHER_LINE_END: Final = lazy_pattern(r"\r(?!\n)|[\x0b\x0c]")
# A word of two scripts: one of them only looks like the other.
_MIXED: Final = lazy_pattern(f"[A-Za-z][0-9_-]{{0,8}}[{_LOOK_ALIKES}]|[{_LOOK_ALIKES}][0-9_-]{{0,8}}[A-Za-z]")
_WORD: Final = lazy_pattern(f"[A-Za-z0-9_{_LOOK_ALIKES}-]++")


@dataclass(frozen=True)
class Secret:
    """Text that looks like a secret.

    Args:
        start: Its offset in the searched text, in characters.
    """

    kind: str
    text: str
    start: int

    @property
    def digest(self) -> str:
        """Return the key for allowing it: the first digits of its SHA-256, independent of line breaks in it."""
        return hashlib.sha256(unwrapped(self.text).encode("utf-8", "replace")).hexdigest()[:_DIGEST]


@cache
def recogniser() -> str:
    """Return a digest of what recognises secrets: with another one, whatever was read before is read again.

    It covers every rule, table and list of this package, so that none of them needs a version of its own.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(_PACKAGE.iterdir()):
        if path.suffix in _RULES:
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return everything in a text that looks like a key, token, private key or password.

    Only known shapes, labels and places count: long words, hashes and ids are not secrets. Invisible characters do not
    hide a secret.
    """
    foreign = _foreign_in(text)
    odd = text.encode("ascii", "replace").translate(None, _ORDINARY)
    if not (odd and _UNSEEN_ASCII.search(text)) and not re.search(_WITHOUT_WIDTH, foreign):
        return _found_in(text, foreign, odd)
    unseen = [at for match in _UNSEEN.finditer(text) for at in range(*match.span())]
    found = []
    for secret in _found_in(_UNSEEN.sub("", text), foreign, odd):
        start, end = (_place_of(at, unseen) for at in (secret.start, secret.start + len(secret.text) - 1))
        found.append(Secret(secret.kind, text[start : end + 1], start))
    return tuple(found)


def _place_of(at: int, left_out: Sequence[int]) -> int:
    """Return the original position of a character, given the positions of removed ones."""
    # The removed character number N (from 0) stood before position N-th removed minus N.
    return at + bisect_right(range(len(left_out)), at, key=lambda number: left_out[number] - number)


def _foreign_in(text: str) -> str:
    """Return the non-ASCII characters of a text: few in most, so that examining them is cheap."""
    if text.isascii():
        return ""
    return text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")


def _found_in(text: str, foreign: str, odd: bytes) -> tuple[Secret, ...]:
    found = _places_in(without_disguise(text, foreign, odd), foreign)
    return tuple(Secret(each.kind, text[each.start : each.end], each.start) for each in _apart(found))


def _places_in(text: str, foreign: str) -> list[Found]:
    # One byte per character, so that positions in the bytes are positions in the text.
    letters = text.encode("ascii", "replace")
    small = letters.lower()
    wrapped = wrapped_tokens(text, letters) if "\n" in text else ()
    return [*wrapped, *tokens_in(text, letters), *placed_in(text, small), *labelled_in(text, small, foreign)]


def _apart(found: Iterable[Found]) -> list[Found]:
    """Drop findings inside others, and merge overlapping ones."""
    apart: list[Found] = []
    # The sort is stable: at the same position the kind searched first comes first.
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if apart and each.start < apart[-1].end:
            last = apart[-1]
            apart[-1] = Found(last.start, max(last.end, each.end), last.kind)
        else:
            apart.append(each)
    return apart


def masked(text: str) -> str:
    """Return a text with `[secret left out]` in place of each secret."""
    for secret in reversed(find_secrets(text)):
        text = f"{text[: secret.start]}{LEFT_OUT}{text[_end_to_mask(text, secret) :]}"
    return text


def _end_to_mask(text: str, secret: Secret) -> int:
    """Return the offset behind a secret; exclamation marks that follow a password may belong to it."""
    end = secret.start + len(secret.text)
    while secret.kind == LABELLED and text.startswith("!", end):
        end += 1
    return end


def with_whole_secrets(text: str) -> str:
    """Return a text without the line breaks within its tokens, for what reads it line by line."""
    if "\n" not in text:
        return text
    for secret in reversed(find_secrets(text)):
        if secret.kind != PRIVATE_KEY:
            end = secret.start + len(secret.text)
            text = f"{text[: secret.start]}{unwrapped(secret.text)}{text[end:]}"
    return text


def text_of(content: bytes) -> str:
    """Return a file's text for the search. In UTF-16 without its mark each letter of ASCII comes with a NUL.

    Args:
        content: In UTF-8, UTF-16, UTF-32 or any encoding that extends ASCII.
    """
    plain = content.replace(b"\0", b"").decode("utf-8", "replace")
    if not content.startswith(_WIDE) or find_secrets(plain):
        return plain
    # The mark of UTF-32 begins with that of UTF-16.
    is_32 = content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
    return content.decode("utf-32" if is_32 else "utf-16", "replace")


def added_secrets(before: bytes | None, after: bytes) -> tuple[Secret, ...]:
    """Return the secrets in a file's new content that the old content lacks."""
    known = text_of(before or b"")
    found = find_secrets(text_of(after))
    return tuple(secret for secret in found if secret.text not in known)


@dataclass(frozen=True)
class Masked:
    """A masked text.

    Args:
        has_secrets: Whether anything in the original looks like a secret, masked or not.
        hidden: The distinct secrets that were masked.
    """

    text: str
    has_secrets: bool
    hidden: tuple[Secret, ...] = ()


def _mask_of(*kinds: str) -> str:
    """Return the mask, as in `[held back: GitHub token]`."""
    return f"[held back: {' and '.join(kinds)}]"


def mask_secrets(text: str, is_hidden: Callable[[Secret], bool]) -> Masked:
    """Mask the secrets in a text, keeping its line count even for keys over several lines.

    Args:
        text: Decoded with `surrogateescape` if it comes from a file; may hold NULs, as UTF-16 does.
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
        start, last = secret.start, _end_to_mask(plain, secret) - 1
        if places is not None:
            start, last = places[start], places[last]
        if start >= done:
            pieces += (text[done:start], _stand_in(secret.kind, text[start : last + 1]))
        done = max(done, last + 1)
    masked = "".join((*pieces, text[done:]))
    once = {each.text: each for each in hidden}
    for secret in sorted(once.values(), key=lambda each: -len(each.text))[:_MOST_REPEATED]:
        # Also where it is repeated without its context, such as a password without the word.
        masked = masked.replace(secret.text, _stand_in(secret.kind, secret.text))
    return Masked(masked, True, tuple(map(_as_said, once.values())))


def mask_content(content: bytes, is_hidden: Callable[[Secret], bool]) -> tuple[bytes, Masked]:
    """Mask the secrets in a file's content; returns the same object if nothing is masked.

    Args:
        content: In any encoding that extends ASCII; bytes that are not UTF-8 are kept.
    """
    masked = mask_secrets(content.decode("utf-8", "surrogateescape"), is_hidden)
    return (masked.text.encode("utf-8", "surrogateescape") if masked.hidden else content), masked


def masked_lines(text: str) -> tuple[int, ...]:
    """Return the 1-based numbers of lines with a mask."""
    if "[held back" not in text:
        return ()
    return tuple(number for number, line in enumerate(text.split("\n"), 1) if _MASK.search(line))


def without_masked_lines(text: str) -> str:
    """Return a text with blank lines in place of those with a mask or a removed secret."""
    if "[held back" not in text and LEFT_OUT not in text:
        return text
    return "\n".join(
        ("\r" if line.endswith("\r") else "") if LEFT_OUT in line or _MASK.search(line) else line
        for line in text.split("\n")
    )


def _stand_in(kind: str, said: str) -> str:
    """Return a mask with as many lines as the text it replaces."""
    return _mask_of(kind) + _NO_LINE_END.sub("", said)


def _as_said(secret: Secret) -> Secret:
    """Return a secret with the bytes that are not UTF-8 removed, as its digest needs it."""
    if secret.text.isascii():
        return secret
    said = secret.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return secret if said == secret.text else replace(secret, text=said)


# Plain letters for those that only look like them: a secret in full-width letters is the same secret.


def without_disguise(text: str, foreign: str, odd: bytes) -> str:
    """Return a text with plain letters, blanks and line feeds for those that look like them.

    Every character gives way to one, so that positions stay. Words in another script stay as they are.

    Args:
        foreign: Its non-ASCII characters.
        odd: Its control characters, line feeds and tabs excepted.
    """
    if b"\x0b" in odd or b"\x0c" in odd or (b"\r" in odd and odd.count(b"\r") > text.count("\r\n")):
        text = _OTHER_LINE_END.sub("\n", text)
    if not _DISGUISED.search(foreign):
        return text
    plain = text.translate(_plain())
    if not _MIXED.search(plain):
        return plain
    return _WORD.sub(lambda word: _one_script(word[0]), plain)


def _one_script(word: str) -> str:
    return word.translate(_look_alikes()) if _MIXED.search(word) else word


@cache
def _plain() -> dict[int, str]:
    wanted = re.compile(f"[{_STYLED}]")
    styled = {
        at: said
        for at in (*range(0xFF10, 0xFF5B), *range(0x1D400, 0x1D800))
        if wanted.match(chr(at))
        and (said := unicodedata.normalize("NFKC", chr(at))).isascii()
        and len(said) == 1
    }
    return {
        **styled,
        **{ord(each): " " for each in re.findall(f"[{_BLANKS}]", "".join(map(chr, range(0x3001))))},
        **{ord(each): "\n" for each in _LINE_ENDS},
        **{ord(each): "-" for each in _HYPHENS},
    }


@cache
def _look_alikes() -> dict[int, str]:
    return {ord(each): plain for each, plain in _SAME_SHAPE.items()}
