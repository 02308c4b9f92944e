"""Reads Chinese: its clauses and how each stands to what is so, its names, and the pairs of characters that tell.

Everything is read in simplified characters; a text keeps its length when it is folded to them.
"""

from __future__ import annotations

import tomllib
from enum import Enum, auto
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import any_of
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEXICON: Final = tomllib.loads(Path(__file__).with_name("chinese.toml").read_text(encoding="utf-8"))
_PAIRS: Final = "".join(_LEXICON["traditional"].split())
_SIMPLIFIED: Final = str.maketrans(_PAIRS[::2], _PAIRS[1::2])
_STANCE: Final = _LEXICON["stance"]
_PEOPLE: Final = _LEXICON["people"]

HAN: Final = "[\u3400-\u9fff]"
"""One character of Chinese, in a regular expression."""
_HAN: Final = lazy_pattern(HAN)
_SURNAME: Final = f"(?:{any_of(_PEOPLE['double_surnames'])}|[{''.join(_PEOPLE['surnames'].split())}])"
NAME: Final = (
    rf"(?:[A-Z][A-Za-z]+|[小老阿](?![{_PEOPLE['no_given']}师板家人时])[\u4e00-\u9fff]"
    rf"|{_SURNAME}(?![{_PEOPLE['no_given']}])[\u4e00-\u9fff]{{1,2}}?)"
)
"""How a person may be called, in a regular expression: Vivian, 小敏, 高杰."""
KIN: Final = any_of(_PEOPLE["kin"])
"""Who is somebody's own, in a regular expression; longest first."""
TRADE: Final = any_of(_PEOPLE["trades"])
"""The end of what somebody is by trade, in a regular expression."""

_BORDER: Final = lazy_pattern(r"[；;。！!]|(?<!\d)[，,]|[，,](?!\d)|\s(?:—{1,2}|-{1,2})\s|——")
_STRONG: Final = frozenset("；;。！!")
_OPENS: Final = "“「『《（(【"
_CLOSES: Final = "”」』》）)】"
_LONGEST_CLAUSE: Final = 200
_MOST_CLAUSES: Final = 200
_APART: Final = lazy_pattern(any_of(_STANCE["apart"]))
_QUESTION: Final = lazy_pattern(r"[?？]|(?:吗|么|呢)[\s。.!！]*$")


class Stance(Enum):
    """How a clause stands to what is so."""

    STATES = auto()
    ASKS = auto()
    SUPPOSES = auto()
    HEDGES = auto()
    WISHES = auto()
    ASKS_FOR = auto()
    OPINES = auto()
    FEELS = auto()
    OPEN = auto()


_STANCES: Final = (
    (Stance.OPEN, lazy_pattern(any_of(_STANCE["open"]))),
    (Stance.ASKS, lazy_pattern(any_of(_STANCE["asks"]))),
    (Stance.SUPPOSES, lazy_pattern(any_of(_STANCE["supposes"]))),
    (Stance.HEDGES, lazy_pattern(any_of(_STANCE["hedges"]))),
    (Stance.ASKS_FOR, lazy_pattern(any_of(_STANCE["asks_for"]))),
    (Stance.WISHES, lazy_pattern(any_of(_STANCE["wishes"]))),
    (Stance.OPINES, lazy_pattern(any_of(_STANCE["opines"]))),
    (Stance.FEELS, lazy_pattern(any_of(_STANCE["feels"]))),
)
_PASSES: Final = lazy_pattern(any_of(_STANCE["passes"]))
_EMPTY: Final = lazy_pattern(any_of(_LEXICON["empty"]["words"]))
_GLUE: Final = frozenset(_LEXICON["empty"]["glue"])


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause as it stands in a sentence.

    Args:
        start: Its first character.
        end: Behind its last one.
        text: It, in simplified characters.
        stance: How it stands to what is so; what hangs on a supposition supposes too.
        passes: Whether it tells of a day or a moment.
    """

    start: int
    end: int
    text: str
    stance: Stance
    passes: bool


@lru_cache(maxsize=512)
def simplified(text: str) -> str:
    """Return a text in simplified characters, as long as it was."""
    return text.translate(_SIMPLIFIED)


def is_chinese(text: str) -> bool:
    """Return whether any of a text is Chinese."""
    return _HAN.search(text) is not None


def clauses(sentence: str) -> list[Clause]:
    """Return the clauses of a sentence, at most 200, each read by itself; those beyond 200 characters are left out.

    A comma within quotation marks or brackets ends none. What follows 如果 and the like up to the next semicolon
    supposes as well.
    """
    found: list[Clause] = []
    supposed = False
    for start, end, is_end in _pieces(sentence):
        if end - start > _LONGEST_CLAUSE:
            supposed = supposed and not is_end
            continue
        text = simplified(sentence[start:end])
        bare = _APART.sub("  ", text)
        stance = _stance(bare)
        if stance is Stance.STATES and supposed:
            stance = Stance.SUPPOSES
        supposed = (supposed or stance is Stance.SUPPOSES) and not is_end
        found.append(Clause(start, end, text, stance, _PASSES.search(bare) is not None))
        if len(found) == _MOST_CLAUSES:
            break
    return found


def _stance(bare: str) -> Stance:
    if _QUESTION.search(bare):
        return Stance.ASKS
    return next((stance for stance, pattern in _STANCES if pattern.search(bare)), Stance.STATES)


def _pieces(sentence: str) -> Iterator[tuple[int, int, bool]]:
    """Yield places of clauses without the blanks around them, and whether a strong mark ends each."""
    begin, depth, at = 0, 0, 0
    for border in _BORDER.finditer(sentence):
        for character in sentence[at : border.start()]:
            depth += (character in _OPENS) - (character in _CLOSES)
        depth, at = max(depth, 0), border.start()
        if depth == 0:
            yield from _trimmed(sentence, begin, border.start(), is_end=border[0] in _STRONG)
            begin = border.end()
    yield from _trimmed(sentence, begin, len(sentence), is_end=True)


def _trimmed(sentence: str, start: int, end: int, *, is_end: bool) -> Iterator[tuple[int, int, bool]]:
    while start < end and sentence[start].isspace():
        start += 1
    while end > start and sentence[end - 1].isspace():
        end -= 1
    if end > start:
        yield start, end, is_end


def telling_pairs(run: str) -> Iterator[tuple[int, str]]:
    """Yield the pairs of characters by which what a run of Chinese is about is told, with their places.

    Words that frame or join, and pairs across them, are left out: 答辩时间推迟到 gives 答辩.

    Args:
        run: Characters of Chinese and nothing else.
    """
    plain = _EMPTY.sub(lambda found: " " * len(found[0]), simplified(run))
    for place, (one, other) in enumerate(pairwise(plain)):
        if one != " " and other != " " and not (one in _GLUE or other in _GLUE):
            yield place, one + other
