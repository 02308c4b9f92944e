"""Reads a question: what it looks for, how it wants to be answered, and which days it names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Literal

from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.recall.ranking.periods import Period, period_of, without_period
from workbench.engine.recall.stemming import index_terms, question_terms
from workbench.engine.recall.voices import AGENT, PERSON

Strategy = Literal["general", "when", "about", "how", "latest"]

_WHEN = re.compile(
    r"\s*(?:when\b|how long\b|since when\b|(?:on |in |at )?(?:what|which) (?:date|day|month|year|time|week)\b)"
    r"|什么时候|什麼時候|何时|何時|几号|幾號|哪天|哪一天|哪年|几月|幾月|多久",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:tell me|what do (?:you|we|i) (?:know|have)|anything|everything|what|remind me)\b"
    r"[^?]{0,20}?\babout\b|\bwho (?:is|are|was)\b"
    r"|关于|關於|是谁|是誰|介绍|介紹",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"\bhow (?:do|does|can|should|would|to) (?:i|we|you|one|it)?\b|\bhow to\b|\bsteps? (?:to|for)\b"
    r"|怎么|怎麼|如何|怎样|怎樣|步骤|步驟",
    re.IGNORECASE,
)
_LATEST = re.compile(
    r"\b(?:latest|newest|most recent|current(?:ly)?|right now|these days|up to date|status of|nowadays)\b"
    r"|最新|最近|目前|现在|現在|当前|當前|如今",
    re.IGNORECASE,
)
# What is asked for in the present tense has one answer at a time: the newest.
_PRESENT = re.compile(
    r"\s*(?:what(?:'s|’s| is| are| am)|how (?:many|much|old|often|big|far)|which|who(?:'s|’s| is| are)"
    r"|where(?:'s|’s| is| are| am| do| does)|am i|is my|are my|do i|does|have i)\b"
    r"|多少|几[个個次]|幾[个個次]|哪[个個里裡]|是什么|是什麼|是多",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|my|me|mine|I'm|I’m|I've|I’ve)\b|我")
_SECOND_PERSON = re.compile(r"\b(?:you|your)\b|你|您", re.IGNORECASE)
# “Can you help me” asks for help, not for what the helper said.
_REQUEST = re.compile(
    r"\s*(?:can|could|would|will) you\b|\byou (?:know|remember|recall|suggest I|recommend I)\b", re.IGNORECASE
)
_LONGEST_QUESTION = 4000
# Words that ask for whatever there is.
_WHATEVER = frozenset(
    index_terms("happen happened going new up else anything everything something thing things")
)
_WHATEVER_IN_HAN = re.compile(
    r"有(?:什么|什麼|哪些)|发生|發生|什么|什麼|哪些|事情|[了的呢吗嗎过過在做有些事都我们們你他她里裡]"
)


@dataclass(frozen=True)
class Question:
    """A question taken apart.

    Args:
        text: As it was asked, at most 4,000 characters of it.
        terms: Its telling terms, stemmed; none where it has no word at all.
        strategy: How it wants to be answered (design document §11.1).
        period: The days it names, or None.
        voices: Whose words it asks for by “I” or “you”: labels of the person or of the agent in a log.
        wants_times: Whether a time is the answer.
        wants_newest: Whether of two answers the newer one is right.
        wants_whatever: Whether it asks for nothing but what there is of the days it names.
    """

    text: str
    terms: tuple[str, ...]
    strategy: Strategy
    period: Period | None
    voices: frozenset[str]
    wants_times: bool
    wants_newest: bool
    wants_whatever: bool = False


def read_question(text: str, today: date, holds: Callable[[Period], bool] = lambda _period: True) -> Question:
    """Take a question apart; any text is one.

    Args:
        text: In any language; strategies are told in English and Chinese.
        today: The day that relative dates in it start from.
        holds: Tells whether there is anything of some days; see `period_of`.
    """
    text = text[:_LONGEST_QUESTION].replace("\x00", " ")
    wants_times = _WHEN.search(text) is not None and (_WHEN.match(text) is not None or not text.isascii())
    is_latest = _LATEST.search(text) is not None
    period = period_of(text, today, holds)
    return Question(
        text,
        question_terms(text),
        _strategy(text, wants_times=wants_times, is_latest=is_latest),
        period,
        _voices(text),
        wants_times,
        period is None and (is_latest or _PRESENT.match(text) is not None or _asks_state_in_han(text)),
        period is not None and _asks_for_whatever(without_period(text, today)),
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
