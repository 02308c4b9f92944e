"""Orders that hold for good: “please don't paste whole files”, “no emojis ever”, 不要给我发英文资料.

Somebody who asks an agent for something once says what it is for: this, it, the draft, now. An order for good says what
to leave, or when it holds.
"""

from __future__ import annotations

import re
from heapq import merge
from typing import TYPE_CHECKING, Final

from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN: Final = r"(?:^\W*|[,;:–—]\s+|\s-+\s|\b(?:so|and|but|also|then),?\s+|，\s*)"
# What is felt, known or had is no order: the “I” was left out of “don't know”.
_NO_ORDER: Final = (
    r"(?:(?:ever\s|really\s|even\s)?(?:worry|know|think|mind|forget|want|have|need|care|like|love|hate|see|remember|understand"
    r"|believe|feel|hesitate|bother|agree|mean|get|be|let|had|been|was|were|did|thought|knew|saw|heard|again|more|before"
    r"|hear|trust|expect|wonder|doubt|suppose|recall|look|seem|sound|matter|work|give|quit|miss|on|in|at|for|to|the|an?"
    r"|\w+ed|\w+ing)\b)"
)
_VERB: Final = (
    r"(?:add|always|answer|ask|assume|avoid|call|check|cite|explain|format|give|include|keep|leave\sout|list|make|mark"
    r"|name|only|put|quote|remind|reply|respond|round|show|sign|skip|speak|start|stick\sto|suggest|talk|tell|use|warn"
    r"|write)"
)
_WHEN_YOU: Final = r"(?:when(?:ever)?|if|before|after|any\s?time|every\stime|each\stime)\syou"
_ENGLISH: Final = lazy_pattern(
    rf"""{_BEGIN}(?P<order>
        (?:please\ |pls\ )?(?:don['’]t|do\ not|never)\ (?!{_NO_ORDER})[a-z]{{2,}}\b
      | (?:please\ |pls\ )?(?:always|only)\ (?!{_NO_ORDER}){_VERB}\b
      | (?:please\ )?no\ (?:[\w-]+\ ){{1,3}}?(?:ever|please|at\ all)\b(?!\ unless)
      | {_WHEN_YOU}\ [^,;]{{3,60}},\ (?:please\ |just\ )*{_VERB}\b
      | (?:please\ )?{_VERB}\ [^,;]{{3,80}}\ {_WHEN_YOU}\s
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_HAN_VERB: Final = (
    "(?:回答|回复|回覆|答复|解释|解釋|推荐|推薦|写|寫|发|發|用|给|給|说|說|叫|称呼|稱呼|安排|提|加|放|做|列|改|删|刪|动|動"
    "|问|問)"
)
_CHINESE: Final = lazy_pattern(
    rf"""(?:^\W*|[,，;；:：]\s*|(?:所以|另外|对了|對了|还有|還有|麻烦你?|麻煩你?)[,，]?\s*)(?P<order>
        (?:请|請)?(?:你)?(?:不要|别|別|不许|不許|勿|少)(?:再|总|總|随便|隨便)?(?:给我|給我|跟我|对我|對我)?{_HAN_VERB}(?!了|过|過)
      | (?:请|請)?(?:回答|回复|回覆|答复|解释|解釋|语气|語氣)(?:我|的?时候|的?時候)?
        (?:尽量|儘量|要|请|請|都|别|別|不要)
      | (?:请|請)?(?:你)?{_HAN_VERB}[^,，]{{0,12}}(?:时|時|的时候|的時候)[,，]?
        (?:请|請|要|别|別|不要|注意(?!一下)|记得|記得|避开|避開|尽量|儘量)
      | (?:请|請)?(?:以后|以後|今后|今後|从现在起|從現在起)[^,，]{{0,12}}(?:都|一律|统一|統一|只|别|別|不要|请|請)
    )""",
    re.VERBOSE,
)
# A reason ends an order, and so does what the speaker goes on to tell.
_ENDS: Final = lazy_pattern(
    r"\s*(?:[;；]|\s[-–—]+\s|[,，]\s*(?:(?:and|but|so|as)\s+)?(?:i(?!\.)|we|he|she|they|it|my|our|his|her|their|its|there|the"
    r"|that|this|thanks|thx|haha|lol)(?:['’]\w+)?\b|,?\s+(?:because|since|cause|cuz)\b"
    r"|[,，]\s*(?:我|他|她|它|因为|因為|不然|否则|否則|谢谢|謝謝)).*$"
    r"|\s+(?:haha+|lol|thanks|thx|哈+|啊|哦|吧|btw)\W*$|[\s.!。！,，]+$",
    re.IGNORECASE | re.DOTALL,
)
# Of what is meant now: nobody could read it alone later.
_NOW: Final = lazy_pattern(
    r"\b(?:yet|now|today|tonight|tomorrow|this|that|these|those|for a (?:minute|second|moment)|so far|anything else"
    r"|too (?:much|many|long|hard))\b(?<!from now)"
    r"|今天|明天|现在(?!起)|現在(?!起)|这次|這次|这个|這個|那个|那個|刚才|剛才",
    re.IGNORECASE,
)
_POINTS: Final = lazy_pattern(r"\b(?:it|them|him|her|there|here|one|ones|so)\b|[它他她]", re.IGNORECASE)
_OCCASION: Final = lazy_pattern(rf"{_WHEN_YOU}\b|的?时候|的?時候", re.IGNORECASE)
_LONGEST: Final = 160
_SHORTEST: Final = 5
# What is looked at behind the longest, so that one that ends there is told from one that goes on.
_BEYOND: Final = 40


def standing_orders(sentence: str) -> Iterator[tuple[int, int]]:
    """Yield the orders of a sentence that hold for good, without their reasons, by first character and end.

    Args:
        sentence: One that does not ask, as it was said.
    """
    told = 0
    for start in merge(_begun(_ENGLISH, sentence), _begun(_CHINESE, sentence)):
        if start < told:
            continue
        # No longer than it must be: every word of a hostile sentence may begin an order.
        rest = sentence[start : start + _LONGEST + _BEYOND]
        ends = _ENDS.search(rest, 1)
        order = rest[: ends.start()] if ends else rest
        points = _POINTS.search(order) and not _OCCASION.search(order)
        if _SHORTEST <= len(order) <= _LONGEST and not points and not _NOW.search(order):
            told = start + len(order)
            yield start, told


def _begun(pattern: re.Pattern[str], sentence: str) -> Iterator[int]:
    at = 0
    while found := pattern.search(sentence, at):
        yield found.start("order")
        at = found.start("order") + 1
