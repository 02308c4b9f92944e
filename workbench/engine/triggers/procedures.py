"""A way of doing something, taken apart: when it applies and its steps."""

from __future__ import annotations

import re

from workbench.engine.patterns import lazy_pattern
from workbench.engine.triggers.clauses import sentences
from workbench.engine.triggers.live_text import PUNCTUATION
from workbench.engine.triggers.model import ProcedureOutline

_LONGEST_TITLE = 70
_STEP_LINE = lazy_pattern(r"^\s*(?:[-*•]|\d{1,2}[.)、]|[①-⑳])\s*(?P<step>\S.*)$", re.MULTILINE)
_INLINE_STEP = lazy_pattern(r"(?:^|(?<=[\s:;,.。]))(?:\d{1,2}[.)、](?!\d)|[①-⑳])\s*")
_SEQUENCE = lazy_pattern(
    r"[,;.]?\s*\b(?:and then|then|after that|afterwards|finally|and finally|next)\b,?\s*"
    r"|[,;,。]?\s*(?:然后|然後|接着|接著|最后|最後|再)\s*",
    re.IGNORECASE,
)
_LISTED_STEP = lazy_pattern(r"[,;、\uff0c\uff1b]\s*(?:and\s+)?(?!which|who|that\b)")
_HEAD = lazy_pattern(
    r"""^\s*(?:
        (?:how\ )?to\ (?P<aim>[^:,.!?\n]{2,60})\s*[:,]
      | (?:the\ )?(?:steps|procedure|process|workflow|way)\ (?:to|for|of)\ (?P<named>[^:,.!?\n]{2,60}?)
            \s*(?::|\bis\b:?|\bare\b:?)
      | (?:when|whenever|if|every\ time|each\ time)\ (?P<when>[^,:\n]{3,120})[,:]\s*
      | (?P<border>(?:before|after)\ [^,:\n]{3,80})[,:]\s*
      | (?P<chinese>[^:,。\n]{1,24}?)(?:的)?(?:步骤|步驟|流程|做法)(?:是|如下)?\s*[:,]
      | (?:当|當)?我(?:让|讓|要|叫|请|請)你?(?P<told>[^,:。\n]{1,30}?)(?:时|時|的时候|的時候)[,:]?
      | (?:每次|每当|每當|当|當)(?P<each>[^,:。\n]{1,30}?)(?:时|時|的时候|的時候)?(?:[,:]|(?=都要|就要|先|都|必须|必須))
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKED = lazy_pattern(
    r"^(?:i|we|the user|user)\s+(?P<verb>ask|say|want|tell|need)s?\s+(?:you\s+)?(?P<link>to\b|for\b)?\s*",
    re.IGNORECASE,
)
_FIRST_ARTICLE = lazy_pattern(r"^(?:an?|the|my|our|some)\s+", re.IGNORECASE)
_MUST = lazy_pattern(
    r"^(?:(?:please|you (?:should|must)|always|make sure (?:you |to )?)\s+"
    r"|(?:都要|就要|必须|必須|一定要|都|就)+(?=[^\s])|(?:first|首先|先|再|然后|然後),?\s*)+",
    re.IGNORECASE,
)


_AS_IT_IS = ("never ", "do not ", "don't ", "before ", "after ")


def outline_procedure(text: str) -> ProcedureOutline:
    """Take a way of doing something apart (design document §7).

    Args:
        text: Such as “To deploy: 1. run the tests 2. tag”, “When I ask for a review, always …”, or a rule
            like “Always back up before migrating”.

    Returns:
        A title, when it applies, and at least one step.
    """
    plain = " ".join(text.translate(PUNCTUATION).split())
    head = _HEAD.match(text.translate(PUNCTUATION))
    body = text[head.end() :] if head else text
    occasion, action = _occasion(head)
    steps = _steps(body, listed=head is not None) or (_one_line(body) or plain,)
    if action:
        named = bool(head and head["when"]) and not action[:1].islower()
        return ProcedureOutline(_short(action) if named else _title(action), occasion, steps)
    first = next(iter(sentences(plain)), None)
    action = _MUST.sub("", plain[first.start : first.end] if first else plain).rstrip(" .。:")
    return ProcedureOutline(_title(action), f"When this applies: {_short(action)}.", steps)


def _occasion(head: re.Match[str] | None) -> tuple[str, str]:
    """Return when a procedure applies, as a sentence, and what it is a way of doing."""
    if head is None:
        return "", ""
    if aim := head["aim"] or head["named"]:
        return f"When asked to {aim.strip()}.", aim.strip()
    if head["chinese"]:
        return f"{head['chinese'].strip()}的时候。", head["chinese"].strip()
    if when := head["when"]:
        return _asked_for(when.strip())
    if told := head["told"]:
        return f"让我{told.strip()}的时候。", told.strip()
    if each := head["each"]:
        moment = "" if each.strip()[-1] in "前后後时時" else "时"
        return f"每次{each.strip()}{moment}。", f"{each.strip()}{moment}"
    return f"{head['border'].strip().capitalize()}.", head["border"].strip()


def _asked_for(when: str) -> tuple[str, str]:
    """Return the occasion and the title of what is done on it: “I ask to deploy” is asked, “staging fails” occurs."""
    asked = _ASKED.match(when)
    if asked is None:
        return f"When {when}.", f"When {when}"
    wanted = when[asked.end() :].strip(" '\"“”")
    if (asked["link"] or "").casefold() == "to":
        return f"When asked to {wanted}.", wanted
    if asked["verb"].casefold() in ("say", "tell"):
        return f"When told “{wanted}”.", f"When told “{wanted}”"
    noun = _FIRST_ARTICLE.sub("", wanted)
    return f"When asked for {wanted}.", noun[:1].upper() + noun[1:]


def _title(action: str) -> str:
    short = _short(action)
    if re.search(r"[\u4e00-\u9fff]", short) or short.casefold().startswith(_AS_IT_IS):
        return short[:1].upper() + short[1:]
    return f"How to {short[0].lower()}{short[1:]}" if re.match(r"[a-z]+\b", short, re.IGNORECASE) else short


def _short(text: str) -> str:
    line = _one_line(text)
    if len(line) <= _LONGEST_TITLE:
        return line
    return line[: _LONGEST_TITLE - 1].rpartition(" ")[0] + "…"


def _steps(body: str, *, listed: bool) -> tuple[str, ...]:
    lines = [_one_line(match["step"]) for match in _STEP_LINE.finditer(body)]
    if len(lines) > 1:
        return tuple(line for line in lines if line)
    for border in (_INLINE_STEP, _SEQUENCE):
        parts = [_one_line(part) for part in border.split(body)]
        if len(parts) > 1:
            return _as_steps(parts)
    if listed and len(list(sentences(body.translate(PUNCTUATION)))) == 1:
        parts = _LISTED_STEP.split(body)
        if len(parts) > 2:
            return _as_steps([_one_line(part) for part in parts])
    return _as_steps(
        [_one_line(body[each.start : each.end]) for each in sentences(body.translate(PUNCTUATION))]
    )


def _as_steps(parts: list[str]) -> tuple[str, ...]:
    bare = [_MUST.sub("", part) for part in parts]
    return tuple(step[:1].upper() + step[1:] for step in bare if step)


def _one_line(text: str) -> str:
    return " ".join(text.split()).strip(" ,;.。\uff0c\uff1b:")
