"""Plain letters for those that only look like them: a secret in full-width letters is the same secret."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final

from workbench.engine.patterns import lazy_pattern

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
