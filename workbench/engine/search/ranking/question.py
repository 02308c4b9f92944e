"""Parses a search question: its options, terms and near words, days, speakers and exact phrases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from workbench.engine.catalog.terms import (
    STOP_WORDS,
    coverage,
    fold,
    index_terms,
    is_prefix,
    question_terms,
    stem,
    telling_terms,
)
from workbench.engine.language.periods import Period, period_of, without_period
from workbench.engine.patterns import lazy_pattern
from workbench.engine.search.chunks import AGENT, PERSON, Chunk, ChunkSource, Within
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from workbench.engine.settings.sections import Fusion


Strategy = Literal["general", "when", "about", "how", "latest"]

_WHEN = lazy_pattern(
    r"\s*(?:when\b|how long\b|since when\b|(?:on |in |at )?(?:what|which) (?:date|day|month|year|time|week)\b)"
    r"|什么时候|什麼時候|何时|何時|几号|幾號|哪天|哪一天|哪年|几月|幾月|多久",
    re.IGNORECASE,
)
_ABOUT = lazy_pattern(
    r"(?:tell me|what do (?:you|we|i) (?:know|have)|anything|everything|what|remind me)\b"
    r"[^?]{0,20}?\babout\b|\bwho (?:is|are|was)\b"
    r"|关于|關於|是谁|是誰|介绍|介紹",
    re.IGNORECASE,
)
# How a question about something begins; none of it is a word of what is asked about.
_FRAME = lazy_pattern(
    r"\b(?:tell me|what do (?:you|we|i) (?:know|have|remember)|remind me|anything|everything)"
    r"\s+(?:more\s+|else\s+)?about\b"
    r"|(?:你|我们|我們)?(?:知道|记得|記得)(?:些|哪些)?(?:什么|什麼)?|介绍(?:一下)?|介紹(?:一下)?|关于|關於",
    re.IGNORECASE,
)
_HOW = lazy_pattern(
    r"\bhow (?:do|does|can|should|would|to) (?:i|we|you|one|it)?\b|\bhow to\b|\bsteps? (?:to|for)\b"
    r"|怎么|怎麼|如何|怎样|怎樣|步骤|步驟",
    re.IGNORECASE,
)
_LATEST = lazy_pattern(
    r"\b(?:latest|newest|most recent|current(?:ly)?|right now|these days|up to date|status of|nowadays)\b"
    r"|最新|最近|目前|现在|現在|当前|當前|如今",
    re.IGNORECASE,
)
# A question in the present tense has one answer at a time: the newest.
_PRESENT = lazy_pattern(
    r"\s*(?:what(?:'s|’s| is| are| am)|how (?:many|much|old|often|big|far)|which|who(?:'s|’s| is| are)"
    r"|where(?:'s|’s| is| are| am| do| does)"
    r"|when(?:'s|’s| is| are| am| do| does)|(?:by |at |on )?what (?:time|date|day)"
    r"|am i|is my|are my|do i|does|have i)\b"
    r"|多少|几[个個次]|幾[个個次]|哪[个個里裡]|是什么|是什麼|是多",
    re.IGNORECASE,
)
# Somebody asks what to do, or what they like: what was agreed on how to go about things answers first.
_ADVICE = lazy_pattern(
    r"\b(?:should|shall) (?:i|we)\b|\bhow can (?:i|we)\b|^\s*(?:please )?(?:recommend|suggest|advise)\b"
    r"|\b(?:can|could|would|will|do) you\b[^.?!]*\b(?:suggest|recommend|advise|think|help)\b"
    r"|\b(?:any|some|your) (?:advice|suggestions?|recommendations?|ideas)\b"
    r"|\b(?:do|would) (?:i|we) (?:\w+ )?(?:like|prefer|want|enjoy)\b|\bmy (?:preferences?|favou?rites?)\b"
    r"|(?:推荐|推薦|建议|建議)(?![了过過])|应该|應該|该不该|該不該|我[^，。？]{0,6}(?:喜欢|喜歡|偏好|习惯|習慣)",
    re.IGNORECASE,
)
_FIRST_PERSON = lazy_pattern(r"\b(?:I|my|me|mine|I'm|I’m|I've|I’ve)\b|我")
_SECOND_PERSON = lazy_pattern(r"\b(?:you|your)\b|你|您", re.IGNORECASE)
# “Can you help me” asks for help, not for what the assistant said.
_REQUEST = lazy_pattern(
    r"\s*(?:can|could|would|will) you\b|\byou (?:know|remember|recall|suggest I|recommend I)\b", re.IGNORECASE
)
_LONGEST_QUESTION = 4000
# How a habit is asked for: no words of its name.
_CUSTOM = frozenset(index_terms("usually normally generally typically always best properly"))
# Words that ask for anything there is.
_WHATEVER = frozenset(
    index_terms("happen happened going new up else anything everything something thing things")
)
_WHATEVER_IN_HAN = lazy_pattern(
    r"有(?:什么|什麼|哪些)|发生|發生|什么|什麼|哪些|事情|[了的呢吗嗎过過在做有些事都我们們你他她里裡]"
)
# Letters with digits, an underscore, or parts joined by a dot, slash or colon: never written by chance.
_IDENTIFIER = lazy_pattern(
    r"(?<![\w./:-])(?=[\w./:-]*[^\W\d_])(?=[\w./:-]*(?:\d|_|\w[./:]\w))\w+(?:[./:-]\w+)*(?![\w-])"
)
_QUOTED = lazy_pattern(r"[\"“„«「『]([^\"“”„«»「」『』]{3,200})[\"”“»」』]")
_APART = lazy_pattern(r"[\W_]+")
_LEAST_WORDS = 3
# A near word counts at most half of the word itself.
_SHARE = 0.5
# Each costs a query to the index.
_MOST_NEAR_WORDS = 60
_CANDIDATES = 200


@dataclass(frozen=True)
class Question:
    """A parsed question.

    Args:
        text: As asked, up to 4,000 characters.
        terms: Its significant terms, stemmed; empty without any word.
        strategy: Kind of answer it wants (design document §11.1).
        voices: Speakers meant by “I” or “you”: labels of the person or of the agent in a log.
        wants_times: Whether it asks for a time.
        wants_newest: Whether the newer of two answers is right.
        wants_whatever: Whether it asks for anything there is of the days it names.
        wants_advice: Whether it asks for advice, or for what the person likes.
        meant: The text without days counted from the day of asking: what holds “weekly” is not of last week.
    """

    text: str
    terms: tuple[str, ...]
    strategy: Strategy
    period: Period | None
    voices: frozenset[str]
    wants_times: bool
    wants_newest: bool
    wants_whatever: bool = False
    wants_advice: bool = False
    meant: str = ""

    @property
    def names(self) -> frozenset[str]:
        """Return the terms that may name what is asked for."""
        terms = frozenset(self.terms)
        return (terms - _CUSTOM if self.strategy == "how" else terms) or terms


def read_question(text: str, today: date, holds: Callable[[Period], bool] = lambda _period: True) -> Question:
    """Parse a question; any text is valid.

    Args:
        text: In any language; strategies are recognised in English and Chinese.
        today: Base of relative dates.
        holds: Returns whether some days have content; see `period_of`.
    """
    text = text[:_LONGEST_QUESTION].replace("\x00", " ")
    wants_times = _WHEN.search(text) is not None and (_WHEN.match(text) is not None or not text.isascii())
    is_latest = _LATEST.search(text) is not None
    period = period_of(text, today, holds)
    strategy = _strategy(text, wants_times=wants_times, is_latest=is_latest)
    asked = _FRAME.sub(" ", text) if strategy == "about" else text
    wants_whatever = period is not None and _asks_for_whatever(without_period(text, today))
    meant = text
    if period is not None and period.is_from_now and not wants_whatever:
        asked, meant = without_period(asked, today), without_period(text, today)
    return Question(
        text,
        question_terms(asked) or question_terms(text),
        strategy,
        period,
        _voices(text),
        wants_times,
        period is None and (is_latest or _PRESENT.match(text) is not None or _asks_state_in_han(text)),
        wants_whatever,
        _ADVICE.search(text) is not None,
        meant,
    )


def _strategy(text: str, *, wants_times: bool, is_latest: bool) -> Strategy:
    if wants_times:
        return "when"
    if is_latest:
        return "latest"
    if _HOW.search(text):
        return "how"
    return "about" if _ABOUT.search(text) else "general"


def _voices(text: str) -> frozenset[str]:
    if _FIRST_PERSON.search(text):
        return PERSON
    return AGENT if _SECOND_PERSON.search(text) and not _REQUEST.search(text) else frozenset()


def _asks_for_whatever(rest: str) -> bool:
    rest = _WHATEVER_IN_HAN.sub(" ", rest)
    return all(term in _WHATEVER or term in STOP_WORDS for term in index_terms(rest))


def _asks_state_in_han(text: str) -> bool:
    return not text.isascii() and _PRESENT.search(text) is not None


@dataclass(frozen=True)
class SearchOptions:
    """How to answer a search.

    Args:
        min_score: Minimum score of a result, 0–1, or None.
        least_share: Minimum share of the best result's score, 0–1.
        include_dormant: Also return dormant memories that do not hold the exact term.
        budget: Fill this many tokens with matching lines instead of showing them in context.
        fusion: `two-grain`, or the `weighted-sum` of design document §11.3.
        vector_weight: Weight of meaning in the weighted sum.
        text_weight: Weight of keywords in the weighted sum.
        candidate_multiplier: Chunks per lane and result in the weighted sum.
    """

    max_results: int | None = None
    min_score: float | None = None
    within: Within = field(default_factory=Within)
    include_dormant: bool = False
    budget: int | None = None
    explain: bool = False
    fusion: Fusion = "two-grain"
    vector_weight: float = 0.7
    text_weight: float = 0.3
    candidate_multiplier: int = 4
    least_share: float = 0.0


def named_voices(question: Question, speakers: Iterable[str]) -> frozenset[str]:
    """Return the speakers named in the question."""
    asked = set(question.terms)
    terms = {speaker: set(index_terms(speaker)) for speaker in speakers}
    return frozenset(speaker for speaker, own in terms.items() if own and own <= asked)


def without_names(text: str, names: Iterable[str]) -> str:
    """Return a question without speakers' names: nearly every line of a log is by or about one of them.

    Args:
        names: Of speakers; nothing else is removed.
    """
    for name in sorted(names, key=lambda name: (-len(name), name)):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", "", text, flags=re.IGNORECASE)
    return text


class PhraseMatch:
    """Matches what a question names exactly."""

    def __init__(self, question: str) -> None:
        self._identifiers = [
            re.compile(rf"(?<![\w-]){re.escape(fold(found))}(?![\w-])")
            for found in _IDENTIFIER.findall(question)
        ]
        phrases = [_phrase_words(quoted) for quoted in _QUOTED.findall(question)]
        whole = _phrase_words(question)
        if len(whole.split()) >= _LEAST_WORDS:
            phrases.append(whole)
        self._phrases = [phrase for phrase in phrases if phrase.strip()]

    def is_in(self, text: str) -> bool:
        """Return whether a text holds an identifier or quotation of the question, or all of it verbatim."""
        if not self._identifiers and not self._phrases:
            return False
        folded = fold(text)
        words = _phrase_words(text)
        return any(each.search(folded) for each in self._identifiers) or any(
            phrase in words for phrase in self._phrases
        )


def _phrase_words(text: str) -> str:
    """Return the folded words of a text, each surrounded by one space."""
    return f" {_APART.sub(' ', fold(text)).strip()} "


NEAR_WORDS_TABLE = Path(__file__).with_name("near_words.npz")


class NearWords:
    """Near words of English words, computed by `tools/make_near_words.py`; thread-safe.

    Args:
        words: Plain words, sorted.
        nearest: For each word, indices of near terms in `terms`; -1 pads.
        cosines: Similarity of each, 0–255 for 0–1.
    """

    def __init__(
        self,
        terms: list[str],
        words: list[str],
        nearest: NDArray[np.int16],
        cosines: NDArray[np.uint8],
    ) -> None:
        self._terms = terms
        self._rows = {word: row for row, word in enumerate(words)}
        self._nearest = nearest
        self._cosines = cosines

    def near(self, question: str) -> Mapping[str, float]:
        """Return stemmed terms near those of a question, with their weight relative to its own, 0–1."""
        asked = telling_terms(question)
        own = {stem(term) for term in asked}
        found: dict[str, float] = {}
        for word in asked:
            row = self._rows.get(word)
            if row is None:
                continue
            for place, cosine in zip(self._nearest[row].tolist(), self._cosines[row].tolist(), strict=True):
                if place < 0:
                    break
                term = self._terms[place]
                worth = _SHARE * cosine / 255
                if term not in own and worth > found.get(term, 0.0):
                    found[term] = worth
        return dict(sorted(found.items(), key=lambda pair: -pair[1])[:_MOST_NEAR_WORDS])


@cache
def builtin_near_words() -> NearWords:
    """Return the bundled near words, one table per process."""
    import numpy as np

    with np.load(NEAR_WORDS_TABLE, allow_pickle=False) as table:
        terms, words = (bytes(table[name]).decode("ascii").split("\n") for name in ("terms", "words"))
        return NearWords(terms, words, table["nearest"], table["cosines"])


@dataclass(frozen=True)
class LiteralMatch:
    """A piece of memory and the share of the question's significant words it holds, 0–1."""

    chunk: Chunk
    coverage: float


def literal_matches(source: ChunkSource, words: str) -> list[LiteralMatch]:
    """Return the best piece of each memory that holds any of the words, best coverage first.

    Args:
        words: Any text; not a query language.
    """
    wanted = question_terms(words)
    if not wanted:
        return []
    asked = [term + "*" if is_prefix(term) else term for term in wanted]
    found = source.by_keywords(asked, _CANDIDATES, Within())
    best: dict[tuple[str, str], LiteralMatch] = {}
    for stored in source.read([number for number, _ in found]):
        chunk = stored.chunk
        match = LiteralMatch(chunk, coverage(wanted, f"{chunk.title}\n{' '.join(chunk.tags)}\n{chunk.text}"))
        known = best.get((chunk.memory_id, chunk.path))
        if known is None or known.coverage < match.coverage:
            best[chunk.memory_id, chunk.path] = match
    return sorted(best.values(), key=lambda match: -match.coverage)
