"""Finds what was meant for memory: what was stated as a decision, preference, fact or correction, and “remember …”."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.candidates import Candidate
from workbench.engine.reflection.extraction.particulars import particulars
from workbench.engine.reflection.extraction.retelling import leaves_i_out, own_words, tell, with_i
from workbench.engine.reflection.extraction.worth import terms_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.extraction.naming import Mention, Names
    from workbench.engine.reflection.extraction.speaking import Voice
    from workbench.engine.reflection.model import Passage

_WORTH: Final = {"correction": 9.5, "decision": 9.0, "preference": 8.5, "fact": 8.0, "remember": 9.0}
_HIGH: Final = 0.5
_LONGEST: Final = 400
_SHORTEST: Final = 8
_SHORTEST_CHINESE: Final = 4
_CHINESE = lazy_pattern(r"[\u4e00-\u9fff]")
_MOST_SENTENCES: Final = 3
_FEWEST_WORDS: Final = 2
_STANDS_ALONE: Final = 5
_LONGEST_JOINED: Final = 160
_CUE = lazy_pattern(
    r"\b(?:remember|note|forget|keep in mind|fyi|for the record)\b|记住|記住|记得|記得|请记|請記",
    re.IGNORECASE,
)
_REMEMBER = lazy_pattern(
    r"(?:please |pls |and |also |btw |so )*(?:remember|note|don['’]t (?:ever )?forget|never forget"
    r"|keep in mind|for the record|fyi)"
    r"(?: for (?:later|next time|the future))?(?:\s+that\b|\s*[:–—]+)\s*(?P<what>\S.*)$"
    r"|(?:请|請)?(?:记住|記住|记得|記得)[,:，：\s]*(?P<chinese>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_RULE_CUE = lazy_pattern(r"\b(?:always|never|from now on|in (?:the )?future|going forward)\b", re.IGNORECASE)
_RULE = lazy_pattern(
    r"(?:please,? |pls |and |also )*(?:(?:you (?:should|must) |do )?(?:always|never)\s+(?:please )?"
    r"|(?:from now on|in (?:the )?future|going forward),?\s+(?:please )?(?:always )?)(?=[a-z]+ [a-z\d])"
    r"(?!\s*(?:had|have|been|was|were|is|are|did|mind|forget|say|thought|again|i|we|he|she|it|they|you)\b)",
    re.IGNORECASE,
)
_ALWAYS = lazy_pattern(
    r"(?:please,? |pls |and |also )*(?:you (?:should|must) |do )?(always|never)\b", re.IGNORECASE
)
_CORRECTION = lazy_pattern(r"^(?:correction|update|更正|纠正)\s*[:：,，]\s*", re.IGNORECASE)
_LABEL = lazy_pattern(r"^(?:decision|preference|fact|note|决定|決定)\s*[:：]\s*", re.IGNORECASE)
_UNNAMED = lazy_pattern(
    r"^(?:she|he|it|they|this|that|these|those|her|his|their|its|there|here|we'll see|you|your)\b|^(?:他|她"
    r"|它|这|那)",
    re.IGNORECASE,
)
_USER = lazy_pattern(r"^(?:the )?user(?P<own>['’]s)?\b", re.IGNORECASE)
_CHINESE_USER = lazy_pattern(r"^(?:用户|用戶|使用者)")
_MINE = lazy_pattern(r"\b(?:I|I['’](?:m|ve|d|ll)|my|me|we|our|us|we['’](?:re|ve|ll|d))\b|我", re.IGNORECASE)


def stated(at: int, passage: Passage, voice: Voice, names: Names) -> Iterator[Candidate]:
    """Yield what a passage states for memory.

    Args:
        at: Its index.
        passage: An episode with a type, or a message that asks to remember something.
        voice: Who says “I” in it.
        names: Tells the entities that a sentence names.
    """
    if passage.type in _WORTH:
        for quote in _sentences(passage.text):
            yield from _candidate(at, passage, voice, names, quote, passage.type)
    elif voice.is_owner and (_CUE.search(passage.text) or _RULE_CUE.search(passage.text)):
        for sentence in sentences(passage.text):
            found = _REMEMBER.match(sentence.text)
            rule = _RULE.match(sentence.text) if passage.speaker else None
            if found:
                quote = (found["what"] or found["chinese"]).rstrip()
                rule = _RULE.match(quote)
            if found and rule is not None:
                yield from _standing_rule(at, passage, voice, quote, quote[rule.end() :])
            elif found:
                yield from _candidate(at, passage, voice, names, quote, "remember")
            elif rule:
                yield from _standing_rule(at, passage, voice, sentence.text, sentence.text[rule.end() :])


def _standing_rule(at: int, passage: Passage, voice: Voice, quote: str, rule: str) -> Iterator[Candidate]:
    """Yield what a person wants an agent to do from now on: “Always quote sources when I ask about law”."""
    always = _ALWAYS.match(quote)
    own = f"I want the agent to {always[1].lower() + ' ' if always else ''}{rule.strip()}"
    told = tell(own, voice.name, None)
    terms = terms_of(rule)
    if told.text and len(quote) <= _LONGEST and len(terms) >= _FEWEST_WORDS:
        yield Candidate(
            at,
            voice.entity,
            voice.label,
            told.text,
            quote,
            "preference",
            _WORTH["preference"],
            terms,
            passage.day,
            explicit="asked for as a standing rule",
        )


def _sentences(text: str) -> list[str]:
    """Return the first sentences, each with the short one behind it that says nothing alone: “Staging has 3.”"""
    found: list[tuple[int, int]] = []
    for one in sentences(text):
        if found and len(one.text.split()) < _STANDS_ALONE and one.end - found[-1][0] <= _LONGEST_JOINED:
            found[-1] = (found[-1][0], one.end)
        else:
            found.append((one.start, one.end))
    return [text[start:end] for start, end in found][:_MOST_SENTENCES]


def _candidate(
    at: int, passage: Passage, voice: Voice, names: Names, quote: str, kind: str
) -> Iterator[Candidate]:
    line = _LABEL.sub("", _CORRECTION.sub("", " ".join(quote.split()))).rstrip(" .。!")
    if not _fewest(line) <= len(line) <= _LONGEST or _UNNAMED.match(line):
        return
    line = line if line[:1] in "[“\"'" else line[:1].upper() + line[1:]
    text, day, dated = _said(line, passage, voice)
    if not text or (kind == "remember" and len(terms_of(text)) < _FEWEST_WORDS):
        return
    own = _MINE.search(line) is not None or leaves_i_out(line)
    mentions = names.in_text(text)
    if not own and not any(mention.entity != voice.entity for mention in mentions):
        mentions = names.suggested(text) or names.tagged(passage.tags)
    subject = _about(text, kind, voice, mentions, own=own)
    value = (
        _WORTH[kind] + _HIGH * (passage.confidence == "high") + _HIGH * (passage.source == "user-explicit")
    )
    reason = "asked to be remembered" if kind == "remember" else f"stated as a {kind}"
    yield Candidate(
        at,
        subject[0],
        subject[1],
        text,
        quote[:_LONGEST],
        kind,
        value,
        terms_of(text),
        day or passage.day,
        dated,
        reason,
        next((one.subject for one in particulars(line)), ""),
    )


def _fewest(line: str) -> int:
    """Return how short a statement may be; Chinese needs fewer characters."""
    return _SHORTEST_CHINESE if _CHINESE.search(line) else _SHORTEST


def _said(line: str, passage: Passage, voice: Voice) -> tuple[str, str, bool]:
    """Return the line in the third person with its day; an empty text where it cannot be said so."""
    said = passage.moment.date() if passage.moment else None
    user = _USER.match(line) or _CHINESE_USER.match(line)
    if user:
        own = user.groupdict().get("own")
        line = f"{voice.name}{'’s' if own else ''}{line[user.end() :]}"
    elif leaves_i_out(line):
        line = with_i(line)
    elif re.match(r"(?:决定|決定|选择|選擇|喜欢|喜歡|不喜欢|偏好|更喜欢|改用|采用|採用)", line):
        line = f"{voice.name}{line}"
    own_line = own_words(line, elliptic=False)
    if not own_line:
        return "", "", False
    told = tell(own_line, voice.name, said)
    return told.text, told.day, told.dated


def _about(text: str, kind: str, voice: Voice, mentions: Sequence[Mention], *, own: bool) -> tuple[str, str]:
    """Return the entity that a statement is about and its label: what is named first, its owner for “I”."""
    # A place that is not what the sentence begins with is but where something is.
    named = [
        mention
        for mention in mentions
        if mention.entity != voice.entity and (mention.known or mention.type != "place" or mention.start == 0)
    ]
    if own or text.startswith(voice.name):
        projects = [mention for mention in named if mention.type == "project" and mention.known]
        if kind in ("decision", "correction") and projects:
            return projects[0].entity, projects[0].label
        return voice.entity, voice.label
    first = text.find(". ")
    named = [mention for mention in named if mention.known or first < 0 or mention.start < first]
    known = [mention for mention in named if mention.known]
    if named and (named[0].known or not known):
        return named[0].entity, named[0].label
    if known:
        return known[0].entity, known[0].label
    return voice.entity, voice.label
