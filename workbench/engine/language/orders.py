"""Orders that hold for good: “please don't paste whole files”, “no emojis ever”, 不要给我发英文资料.

Somebody who asks an agent for something once says what it is for: this, it, the draft, now. An order for good says what
to leave, or when it holds.
"""

from __future__ import annotations

import re
from heapq import merge
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import ENGLISH_MONTH_IN_FULL, ENGLISH_WEEKDAY, SEASONS, any_of
from workbench.engine.language.chinese import is_chinese, simplified
from workbench.engine.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN: Final = (
    r"(?:^\W*(?:(?:btw|by the way|oh|hey|ok|okay|anyway|one (?:more )?thing),?\s+)?"
    r"|[,;:–—]\s+|\s-+\s|\b(?:so|and|but|also|then),?\s+|，\s*)"
)
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
# Behind a subject a verb tells and does not order: “for every guest we write a card”.
_TOLD: Final = r"(?<!\bi)(?<!\bwe)(?<!\byou)(?<!\bthey)(?<!\bto)"
_ENGLISH: Final = lazy_pattern(
    rf"""{_BEGIN}(?P<order>
        (?:please\ |pls\ )?(?:don['’]t|do\ not|never)\ (?!{_NO_ORDER})[a-z]{{2,}}\b
      | (?:please\ |pls\ )?(?:always|only)\ (?!{_NO_ORDER}){_VERB}\b
      | (?:please\ )?no\ (?:[\w-]+\ ){{1,3}}?(?:ever|please|at\ all)\b(?!\ unless)
      | {_WHEN_YOU}\ [^,;]{{3,60}}?(?:,\ |\ (?=please\b|(?:always|use|keep|write)\ ))(?:please\ |just\ )*{_VERB}\b
      | for\ (?:all|any\w*|every\w*|each)\b[^,;]{{0,60}}?{_TOLD},?\ (?:please\ |just\ )*(?:always\ |only\ )?{_VERB}\b
      | (?:please\ )?{_VERB}\ [^,;]{{3,80}}\ {_WHEN_YOU}\s
    )""",
    re.VERBOSE | re.IGNORECASE,
)
# What an agent gives, as a label: “Replies: formal, no greetings”. What stands behind it says how, and not what.
_GIVEN: Final = (
    r"(?:answers|comments|e-?mails|explanations|headings|lists|messages|replies|reports|responses|reviews|summaries|tables"
    r"|tone|translations|dates|numbers|times|units)"
)
_HOW: Final = (
    rf"(?:always|never|no|without|at most|no more than|max(?:imum)?\.?"
    rf"|(?:in|with|as) (?!(?:the|an?|my|our|his|her|their|{ENGLISH_WEEKDAY}|{ENGLISH_MONTH_IN_FULL})\b|\d)"
    r"|(?:very |quite |rather |more |less )?(?:brief|casual|concise|detailed|direct|factual|formal|friendly|imperative"
    r"|informal|long|metric|neutral|plain|polite|short|shorter|simple|sober|terse|written out|bulleted|numbered"
    r"|(?:low|upp)er-?case))"
)
_LABELLED: Final = lazy_pattern(
    rf"^\W*(?P<order>(?:(?:my|your|all|the)\s)?(?:[\w-]+\s)?{_GIVEN}:\s+{_HOW}\b)", re.IGNORECASE
)
# “It's Friday, so no deploys please” holds for that day.
_OF_A_DAY: Final = lazy_pattern(
    r"\b(?:it['’]?s|it is|(?:today|tomorrow)(?:['’]s| is)) (?:\w+ ){0,2}?"
    rf"(?:{ENGLISH_WEEKDAY}|{ENGLISH_MONTH_IN_FULL}|{any_of(each for each in SEASONS if each.isascii())}"
    r"|weekend|holidays?|late|early|night)\b[^.!?]*$",
    re.IGNORECASE,
)
_HAN_VERB: Final = (
    "(?:回答|回复|答复|解释|推荐|写|发|用|给|说|叫|称呼|安排|提|加|放|做|列|改|删|动|问|催|打扰"
    "|总结|翻译|省略)"
)
_NOT: Final = "(?:不要|不用|别(?!人|的|处|墅)|不许|禁止|严禁|勿)"
_HENCEFORTH: Final = "(?:以后|之后|今后|往后|从现在起|从今天起|从今以后)"
# Whoever is spoken of here is not told anything: 以后我都走路上班.
_NOBODY_ELSE: Final = "(?!(?:我们?|咱们?|他们?|她们?|大家)(?!让|叫|要|问|说|发|请|写|给))"
# Read in simplified characters.
_CHINESE: Final = lazy_pattern(
    rf"""(?:^\W*|[,，;；:：]\s*[“「"]?|(?:所以|另外|对了|还有|麻烦你?)[,，]?\s*)(?P<order>
        请?你?(?:{_NOT}|少)(?:再|总|随便)?(?:给我|跟我|对我)?{_HAN_VERB}(?!了|过)
      | 请?(?:回答|回复|答复|解释|语气)(?:我|的?时候)?(?:尽量|要|请|都|别|不要)
      | 请?你?{_HAN_VERB}[^,，]{{0,12}}(?:时|的时候)[,，]?(?:请|要|别|不要|注意(?!一下)|记得|避开|尽量)
      | 请?{_HENCEFORTH}[,，]?{_NOBODY_ELSE}[^,，。]{{0,16}}?(?:都|一律|统一|只|{_NOT}|请(?!假|客)|先|用(?!户))
      | {_NOBODY_ELSE}[^,，。;；:：你他她]{{1,24}}?
        (?:一律|务必|千万(?:不要|别)|统一(?=用|按|写|叫|放|存|走|由|发|使用|采用))
      | {_NOBODY_ELSE}[^,，。;；:：我你他她]{{1,8}}?{_NOT}(?:再)?(?:给我|跟我|找我|叫我|打扰)
      | {_NOBODY_ELSE}[^,，。;；:：我你他她]{{1,16}}?(?:时|的时候|之前|以前|(?<!以)前|之后)[,，]?
        (?:请(?!假|客|了)|记得|务必|一定要|{_NOT}(?!忘))
      | 请(?:你|您)?(?:一直|始终|总是|永远|都|尽量|统一)?(?:用(?!户)|叫我|称呼我)
    )""",
    re.VERBOSE,
)
# A reason ends an order, and so does what the speaker goes on to tell.
_ENDS: Final = lazy_pattern(
    r"\s*(?:[;；]|\s[-–—]+\s|[,，]\s*(?:(?:and|but|so|as)\s+)?(?:i(?!\.)|we|he|she|they|it|my|our|his|her|their|its|there|the"
    r"|that|this|thanks|thx|haha|lol)(?:['’]\w+)?\b|,?\s+(?:because|since|cause|cuz)\b"
    r"|[,，]\s*(?:我|他|她|它|因为|因為|不然|否则|否則|谢谢|謝謝)|[。.]?[”」]).*$"
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
    chinese = _begun(_CHINESE, simplified(sentence)) if is_chinese(sentence) else iter(())
    labelled = _LABELLED.match(sentence)
    begun = (labelled.start("order"),) if labelled else ()
    for start in merge(begun, _begun(_ENGLISH, sentence), chinese):
        if start < told or _OF_A_DAY.search(sentence, max(0, start - _LONGEST), start):
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
