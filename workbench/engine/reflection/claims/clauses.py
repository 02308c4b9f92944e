"""Takes a passage apart into clauses, and tells of each whether it states, aims, supposes or asks."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import fold, stem
from workbench.engine.language.chinese import Stance, telling_pairs
from workbench.engine.language.chinese import clauses as chinese_clauses
from workbench.engine.language.sentences import asks, sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.vocabulary import EMPTY, NUMBER_WORDS
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_LONGEST_CLAUSE: Final = 600
_CLAUSES: Final = 600
_COLON: Final = 4
_LONGEST_NAME: Final = 60

_SUBJECT = r"(?:i|i'm|i've|i'd|i’m|i’ve|i’d|my|we|we're|we've|our|it|it's|he|she|they|the|this|that|there)\b"
_LEAD = (
    r"(?:and|but|so|or|which|who|since|because|considering|especially|given|as|though|although|while|also|however|plus"
    r"|now|right\s+now|currently|at\s+the\s+moment|then|whereas|actually|even|with|can|could|would|should|is|are|do|does|did|how|what|why|maybe|specifically)\b"
)
_BORDER = lazy_pattern(
    rf"""
        [;；，。]\s*
      | :\s+
      | \s+[-–—]{{1,3}}\s+ | —
      | ,\s+(?={_LEAD}|{_SUBJECT})
      | \s*,\s+(?=(?:right|ok|okay|normal|correct|agreed?|true|no|yes|huh|eh)\s*[?？])
      | \s+(?=(?:and|but|so|because|since|considering|given[ ]that|whereas|although|though)\s+{_SUBJECT})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_LEADING = lazy_pattern(
    r"(?:(?:correction|update|更正|纠正|糾正)\s*[:：]\s*|(?:and|but|so|or|since|because|considering|especially|given|that|as(?!\s+of\b)|though|although|while|also|however|plus"
    r"|then|whereas|even|the\s+fact|which|who)\b[\s,]*)+",
    re.IGNORECASE,
)
_ASSERTS = lazy_pattern(
    r"(?:i['’](?:m|ve)\b|i\s+(?:have|had|am|was|prefer|use|chose|decided|already|also|never|now|just|currently)\b"
    r"|my\s+[\w\s-]{1,60}?\s(?:is|are|was|has|have)\b|which\s+(?:has|have|is|currently|now)\b)",
    re.IGNORECASE,
)
_AIMS = lazy_pattern(
    r"\b(?:wants?|wanted|hope|hoping|aim(?:s|ing)?|plans?\s+(?:to|on)|planning|planned|target(?:s|ing)?|goal|'d\s+like|would\s+like"
    r"|need(?:s|ed)?|going\s+to|gonna|will|'ll|’ll|should|must|expect(?:s|ing|ed)?|ensure|ensuring|estimated?"
    r"|(?:try(?:ing)?|how)\s+to\s+(?:achieve|reach|get|hit|increase|reduce|improve|cut|lower|raise|bring|keep|maintain)"
    r"|to\s+(?:achieve|reach|hit|get|bring|keep|stay))\b",
    re.IGNORECASE,
)
_SUPPOSES = lazy_pattern(
    r"\b(?:if|unless|whether|assuming|suppose|would|could|might|maybe|perhaps|e\.g|for\s+(?:example|instance)|imagine"
    r"|wish|(?:even\s+)?though\s+you|you|your|you['’](?:re|ve|ll|d)|like\s+you|(?:an?|this|the)\s+(?:sample(?!\s+size)|example)|hypothetical|once|until"
    r"|(?:when|after|before)\s+(?:i|we)\s+have)\b"
    r"|如果|假如|要是",
    re.IGNORECASE,
)
_REPORTS = lazy_pattern(
    r"\b(?:want(?:ed)?|need(?:ed)?|['’]d\s+like|would\s+like|have|going)\s+to\s+(?:also\s+)?"
    r"(?:mention|say|tell|note|add|report|point\s+out|stress|share|let\s+you\s+know)\b",
    re.IGNORECASE,
)
"""Wanting to say something aims at nothing but saying it."""
_SPEAKS = lazy_pattern(r"(?:i|we|my|our|the|it|there|so|now|when|this|that|he|she|they)\b", re.IGNORECASE)
"""How a sentence begins that can stand without the words before its colon."""
_RELATIVE = lazy_pattern(r"(?:which|who|whose|that)\b", re.IGNORECASE)
_TOKEN = lazy_pattern(r"[^\W_]+(?:['’.+#-](?=[^\W_])[^\W_]+)*[+#%]*")
_NAME = lazy_pattern(r"^[A-Z]|[a-z][A-Z]|[A-Za-z]\d")
# Characters that hardly ever belong to a noun: a pair with one of them straddles two words.
_JOINTS = frozenset("是在为為有由从從到了的把被就也都还還已将將和与與或吗嗎呢吧改增减減")
_CHINESE = lazy_pattern("[\u3400-\u9fff\u3040-\u30ff]")
_RUN = lazy_pattern("[\u3400-\u9fff\u3040-\u30ff]+|[^\u3400-\u9fff\u3040-\u30ff]+")


class Mode(IntEnum):
    """How a clause stands to what is so."""

    STATES = 0
    AIMS = 1
    SUPPOSES = 2
    ASKS = 3


_SUPPOSED: Final = frozenset((Stance.SUPPOSES, Stance.HEDGES, Stance.OPEN, Stance.ASKS, Stance.ASKS_FOR))


@dataclass(frozen=True, slots=True)
class Token:
    """A word by its place in the passage, folded, with its stem; `name` says whether it is written like a name."""

    start: int
    end: int
    word: str
    stem: str
    name: bool = False

    @property
    def tells(self) -> bool:
        """Return whether it says something by itself."""
        return self.word not in EMPTY and self.word not in NUMBER_WORDS and not self.word[:1].isdigit()


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of what somebody said.

    Args:
        text: Word for word.
        start: Its place in the passage.
        sentence: Number of its sentence in the passage.
        asked: Whether it asks rather than says.
        tokens: Its words; their places are those in the passage.
        named: Whether it stands behind a colon, so that the words before say of what it is.
        stance: How it stands to what is so, if it is Chinese, whose clauses hang on one another without a word.
    """

    text: str
    start: int
    sentence: int
    asked: bool
    tokens: tuple[Token, ...]
    named: bool
    stance: Mode = Mode.STATES

    @property
    def end(self) -> int:
        """Return the place behind its last character."""
        return self.start + len(self.text)

    def mode_at(self, position: int) -> Mode:
        """Tell how the clause stands to what it says at a place in the passage.

        Args:
            position: Where a value or a verb begins; what stands before it decides.
        """
        if self.stance is not Mode.STATES:
            return self.stance
        before = self.text[: max(0, position - self.start)]
        if _SUPPOSES.search(before):
            return Mode.SUPPOSES
        if self.asked:
            return Mode.ASKS
        return Mode.AIMS if _AIMS.search(_REPORTS.sub("", before)) else Mode.STATES

    def states(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what a pattern finds first, where the clause says that it is so."""
        found = pattern.search(self.text)
        return found if found and self.mode_at(self.start + found.start()) is Mode.STATES else None

    def means(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return what a pattern finds first, where the clause does not only suppose it."""
        found = pattern.search(self.text)
        return found if found and self.mode_at(self.start + found.start()) is not Mode.SUPPOSES else None


def clauses_of(text: str) -> list[Clause]:
    """Return the clauses of a passage in order, at most 600; what asks is marked, not left out.

    Args:
        text: Of a passage.
    """
    found: list[Clause] = []
    for number, sentence in enumerate(sentences(text, questions=True)):
        asking = False
        stances = _chinese_stances(sentence.text)
        for start, end in _pieces(sentence.text):
            piece = sentence.text[start:end]
            if len(piece) > _LONGEST_CLAUSE:
                continue
            lead = _LEADING.match(piece)
            core = piece[lead.end() if lead else 0 :]
            if sentence.question:
                asking = (asking or asks(core)) and not asserts(core)
            at = sentence.start + start
            named = text[max(0, at - _COLON) : at].rstrip().endswith(":")
            stance = next((mode for begin, stop, mode in stances if begin <= start < stop), Mode.STATES)
            found.append(Clause(piece, at, number, asking, tokens_of(piece, at), named, stance))
            if len(found) == _CLAUSES:
                return found
    return found


def _chinese_stances(sentence: str) -> list[tuple[int, int, Mode]]:
    """Return where a sentence in Chinese supposes or aims."""
    if _CHINESE.search(sentence) is None:
        return []
    return [
        (clause.start, clause.end, Mode.SUPPOSES if clause.stance in _SUPPOSED else Mode.AIMS)
        for clause in chinese_clauses(sentence)
        if clause.stance in _SUPPOSED or clause.stance is Stance.WISHES
    ]


def begin_of(clauses: Sequence[Clause], number: int) -> int:
    """Return where the words begin that a clause needs to be understood: those that “which” goes back to included."""
    begin = number
    while begin > 0 and number - begin < 2 and _RELATIVE.match(clauses[begin].text):
        if clauses[begin - 1].sentence != clauses[number].sentence:
            break
        begin -= 1
    before = clauses[begin - 1] if begin else None
    if (
        before is not None
        and before.sentence == clauses[number].sentence
        and clauses[begin].named
        and len(before.text) <= _LONGEST_NAME
        and any(token.tells for token in before.tokens)
        and _SPEAKS.match(clauses[begin].text) is None
    ):
        return before.start
    return clauses[begin].start


def end_of(clauses: Sequence[Clause], number: int) -> int:
    """Return where the words end that a clause needs to be understood: a colon behind it announces the next one."""
    after = clauses[number + 1] if number + 1 < len(clauses) else None
    if after is not None and after.named and after.sentence == clauses[number].sentence:
        return after.end
    return clauses[number].end


def asserts(clause: str) -> bool:
    """Return whether a clause within a question says something: “… and I've moved to Oslo, can you …?”."""
    return _ASSERTS.match(clause) is not None


def without_lead(clause: str) -> str:
    """Return a clause without the words that join it to the one before (“and”, “which”, “considering that”)."""
    lead = _LEADING.match(clause)
    return clause[lead.end() if lead else 0 :]


def _pieces(sentence: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for border in _BORDER.finditer(sentence):
        if border.start() > begin:
            yield from _piece(sentence, begin, border.start())
        begin = border.end()
    yield from _piece(sentence, begin, len(sentence))


def _piece(sentence: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    written = sentence[start:end]
    start += len(written) - len(written.lstrip())
    stop = start + len(written.strip())
    if stop > start:
        yield start, stop


def tokens_of(text: str, offset: int) -> tuple[Token, ...]:
    """Return the words of a text; of Chinese its pairs of characters.

    Args:
        text: Of a clause.
        offset: Its place in the passage.
    """
    if _CHINESE.search(text):
        return tuple(_chinese_tokens(text, offset))
    return tuple(
        Token(
            offset + m.start(),
            offset + m.end(),
            word := fold(m[0]).replace("’", "'"),
            stem(word.removesuffix("'s")),
            m.start() > 0 and _NAME.search(m[0]) is not None,
        )
        for m in _TOKEN.finditer(text)
    )


def _chinese_tokens(text: str, offset: int) -> Iterator[Token]:
    """Yield words as they are, and of each run of Chinese the pairs of characters that tell, in simplified ones."""
    for match in _TOKEN.finditer(text):
        for run in _RUN.finditer(match[0]):
            start = offset + match.start() + run.start()
            if _CHINESE.match(run[0]) is None:
                name = _NAME.search(run[0]) is not None
                yield Token(start, start + len(run[0]), fold(run[0]), stem(fold(run[0])), name)
                continue
            for place, pair in telling_pairs(run[0]):
                yield Token(start + place, start + place + 2, pair, pair)
