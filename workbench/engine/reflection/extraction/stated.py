"""Finds what somebody states outright.

Some is meant for memory: a decision, preference, fact or correction, and “remember …”. Some is about the things around
one: “the pilot starts on April 14”, “jobs go through RabbitMQ”.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import ENGLISH_MONTH_IN_FULL, ENGLISH_WEEKDAY
from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import words
from workbench.engine.reflection.extraction.candidates import Candidate
from workbench.engine.reflection.extraction.retelling import leaves_i_out, own_words, tell, with_i
from workbench.engine.reflection.extraction.worth import terms_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.extraction.naming import Mention, Names, Voice
    from workbench.engine.reflection.model import Passage

_SHORTEST: Final = 12
_LONGEST: Final = 220
_MOST_WORDS: Final = 30
_STATIVE: Final = (
    r"(?:is|are|has|have|costs?|takes?|starts?|begins?|ends?|runs?|uses?|needs?|holds?|stands?|sits?|goes|go"
    r"|comes|come|belongs?|consists?|contains?|gives?|earns?|pays?|charges?|leads?|owns?|lives?|works?|stays?"
    r"|meets?|covers?|opens?|closes?|expires?|requires?|allows?|supports?|wears?|weighs?|lasts|leaves?"
    r"|draws?|serves?|teaches|studies|sells?|makes|does)"
)
_CHANGED: Final = (
    r"(?:(?:was|were|got|has been|have been|is being) (?:moved|raised|cut|postponed|changed|reduced"
    r"|lowered|increased"
    r"|extended|shortened|brought forward|scheduled|renamed|replaced|granted|booked|closed)"
    r"|(?:has |have )?(?:went|gone|rose|risen|dropped|fell|fallen|grew|grown|moved|switched|changed"
    r"|ballooned)"
    r"(?: (?:up|down|over|back))? (?:to|from))"
)
_WORD: Final = r"[^\W\d_][\w’'./+-]*"
_SUBJECT: Final = rf"(?P<subject>(?:{_WORD}(?: \d[\w.-]*)? ){{1,7}}?)"
_STATES = lazy_pattern(
    rf"{_SUBJECT}(?:(?:also|now|currently|still|usually|always|only|already|really|just) )?"
    rf"(?P<verb>{_STATIVE}|{_CHANGED})\b\s+(?P<says>\S.*)$",
    re.IGNORECASE,
)
_OWN_STATE = lazy_pattern(
    r"(?:I|we)(?:(?:['’]m|['’]re| am| are)(?: (?:now|currently|still|already))? (?P<at>on|at|with|using"
    r"|up to|down to|in"
    r"|moving over to|responsible for)"
    r"|(?:['’]ve)?(?: (?:now|currently|still|also|already|only))? (?P<does>have|use|own|pay|charge|earn"
    r"|do|put aside|run|get"
    r"|buy|keep|need|take|wear|cook|sell|meet|have got|got|work|train|sleep|write|switched to|moved to"
    r"|(?:have )?moved [\w\- ]{2,60} to|(?:have )?changed [\w\- ]{2,60} to))\b\s+(?P<says>\S.*)$",
    re.IGNORECASE,
)
_NOT_THE_SUBJECT: Final = words(
    "want wants wanted trying wondering"
    " about add after again all also although and another any are as at because before both but by can"
    " careful could did do does don't dont during each even every everybody everyone everything explain"
    " five for forget four from give had half has have he he's hello her here hey hi him his how i i'd"
    " i'll i'm i've if ignore im in is it it's its ive just let like lots make may maybe me might most"
    " must no nobody not nothing of ok okay on one ones only or other people perhaps please question questions"
    " remember she she's should show since six skip so some somebody someone such tell ten than thanks"
    " that that's thats their them then there there's these they they're thing things this those though"
    " three to too two unless until us use was we we'd we'll we're we've were what when whenever where"
    " which while who whoever why will with without would write yes you your"
)
# With these a list or an aside may go on: “in three acts, two of them long”.
_GOES_ON: Final = words(
    "about after all another as at because before both by during each every five for four from half in"
    " like most no not of on one other since six some ten than three to two until when where which while"
    " who with without"
)
_WITHIN: Final = words(
    "about after all and as at before by during every five for four from half in of on one ones or other"
    " question six ten three two use with without"
)
# What is worked out or read off for a moment: exercises, programs, their errors and results.
_WORKED_OUT = lazy_pattern(
    r"\b(?:errors?|exceptions?|matri(?:x|ces)|vectors?|equations?|functions?|answers?|results?"
    r"|solutions?|code|outputs?"
    r"|examples?|lines?|values?|eigen\w+|determinants?|probabilit\w+|integrals?|variables?|sums?|events?"
    r"|dic?e|coins?|cards?"
    r"|triangles?|angles?|sides?|formulas?|proofs?|theorems?|problems?|exercises?|log|logs|responses?"
    r"|messages?"
    r"|residuals?|p-values?|hypothes[ei]s|functions?|methods?|class(?:es)?|strings?|queries|query|rest"
    r"|bit|part|way|point"
    r"|idea|reason|trick|deal|news|story|weather|forecast|day|morning|evening|everyone)\s*$",
    re.IGNORECASE,
)
_UNSURE = lazy_pattern(
    r"[?？=→{}<>]|\b(?:if|would|could|should|might|maybe|perhaps|suppose|supposing|imagine|what|how|why"
    r"|you|your|guess|probably"
    r"|hopefully|yesterday|tonight|today|this (?:morning|afternoon|evening)|last night|an hour ago"
    r"|an? (?:minute|moment) ago"
    r"|haha|lol|imo|they say|I think|I hope|wondering|asked|don['’]t know|no idea|sounds|looks like|seems)\b",
    re.IGNORECASE,
)
_NUMBER = lazy_pattern(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty"
    r"|half) (?:\w+ )?[a-z]+(?<!ly)\b"
)
_DAY = lazy_pattern(
    rf"\b(?:{ENGLISH_MONTH_IN_FULL}|{ENGLISH_WEEKDAY}|every (?:second |other |first )?\w+|weekly|monthly"
    r"|yearly|daily)\b(?! be\b)",
    re.IGNORECASE,
)
_PROPER = lazy_pattern(r"(?<![.!?:“\"] )(?<=[ (])(?!I\b)(?:[A-Z]{3,}|[A-Z]\w*[a-z\d][\w’'+#-]*)")
_REFERS = lazy_pattern(
    r"^out at\b|^(?:way|much|far|a lot|a bit)? ?(?:worse|better|faster|slower|cheaper|insane|fine|ok|okay)\b|\bones\b"
    r"|\b(?:it|that|this|them|those|these|one|ones|there|here|so)\s*$|\b(?:like|than|of|about|for) (?:it"
    r"|that|this|those)\b",
    re.IGNORECASE,
)
_SEGMENT = lazy_pattern(
    r"(?:,\s+(?:(?:and|but|so|which means)\s+)?|\s+(?:and|but|so|because)\s+|;\s+|(?<=\w)\.\s+(?=[A-Z]))"
)
_LEAD = lazy_pattern(
    r"(?:(?:and|but|so|also|well|ok(?:ay)?|oh|btw|by the way|hm+|hi(?: again)?|hey|yes|no|yeah|true"
    r"|great|nice|good|fair|right"
    r"|done|one more(?: thing)?|another thing|the basics|the bad news|the good news|the bigger news"
    r"|the bad news is that"
    r"|turns out|as of \w+|since \w+|meanwhile|right now|at the moment|lately|for now|now|then|question"
    r"|quick question|for context"
    r"|quick context|note|fyi|update|status)\b[,:.!]*\s*)+",
    re.IGNORECASE,
)
_ANNOUNCED = lazy_pattern(r"(?:[^\W\d]|[ ’'-]){3,40}:\s+")
_ALL_OF = lazy_pattern(r"(?:every one of|each of|all of|all) (?=(?:our|my|the) )", re.IGNORECASE)
_OBLIGED = lazy_pattern(r"(?:to|been|had|no|never|not|help|some|advice|a way)\b", re.IGNORECASE)
_TELLING = lazy_pattern(r"[^\W\d_]{2,}|\d\s?[%€$£k]|[€$£]\d|\d[\d.,]{2,}$")
_NEVER = lazy_pattern(
    r"(?:I|we)(?:['’]ve| have) never (?:(?:really|actually|even|once) )?\w{3,} \w", re.IGNORECASE
)
_POINTS = lazy_pattern(r"\b(?:it|this|that|them|those|there|one)\b", re.IGNORECASE)
_ANOTHER = lazy_pattern(r"(?:my|our|the) [^\W\d_]+ [a-z]{2,}s\b(?<!ss)", re.IGNORECASE)
_PLURAL_VERBS: Final = words(
    "are have allow begin belong charge close come consist contain cost cover draw earn end expire give go hold"
    " lead leave live meet need open own pay require run sell serve sit stand start stay support take use"
    " wear weigh work"
)
_TAIL = lazy_pattern(
    r"(?:,?\s+(?:now|btw|by the way|rn|atm|tho|though|too|as well|at the moment|right now|haha|lol"
    r"|please|pls|anyway|i know.*"
    r"|they (?:wrote|said)|touch wood|so far|fingers crossed)"
    r"|,\s+(?:went|felt|took|did|made|came|looks?|feels?) [^,]*|\s*\([^()]*\bI know\b[^()]*\)|\s*[:;]-?[)(DP]+)\s*$",
    re.IGNORECASE,
)
_WORTH: Final = {"correction": 9.5, "decision": 9.0, "preference": 8.5, "fact": 8.0, "remember": 9.0}
_HIGH: Final = 0.5
_LONGEST_STATED: Final = 400
_SHORTEST_STATED: Final = 8
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
    r"(?: to self| for (?:later|next time|the future))?(?:\s+that\b|\s*[:–—]+)\s*(?P<what>\S.*)$"
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
    r"|它|这|那)"
    # What was raised, and the other of which: “Raised to 2 TB”, “The other one is in Oslo”.
    r"|^(?:[a-z]+ed|cut|put|set|brought) (?:up |down |back )?(?:to|from|by) (?:about |around )?[$€£]?\d"
    r"|^(?:the|another) (?:(?!number\b)[a-z-]+ ){0,2}ones?\b(?!-| (?:of|in|on|at|from|with|for)\b)"
    r"|^the (?:former|latter|rest)\b",
    re.IGNORECASE,
)
_USER = lazy_pattern(r"^(?:the )?user(?P<own>['’]s)?\b", re.IGNORECASE)
_CHINESE_USER = lazy_pattern(r"^(?:用户|用戶|使用者)")
_MINE = lazy_pattern(r"\b(?:I|I['’](?:m|ve|d|ll)|my|me|we|our|us|we['’](?:re|ve|ll|d))\b|我", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Particular:
    """What a sentence states of a thing.

    Args:
        start: Where its words begin in the sentence.
        end: Behind them.
        subject: The words for what it is about; empty where the speaker is the subject.
    """

    start: int
    end: int
    subject: str


def particulars(sentence: str) -> Iterator[Particular]:
    """Yield the clauses of a sentence that state a number, a day or a name of something the clause itself names.

    Left out is what asks, supposes, hopes or tells of today; whose subject is a pronoun; and what is worked out for the
    moment: exercises, errors, programs.

    Args:
        sentence: As it was said.
    """
    for start, end in _clauses(sentence):
        piece = sentence[start:end]
        if (
            not _SHORTEST <= len(piece) <= _LONGEST
            or len(piece.split()) > _MOST_WORDS
            or _UNSURE.search(piece)
        ):
            continue
        if _NEVER.match(piece) and not _POINTS.search(piece):
            yield Particular(start, end, "")
            continue
        own = _OWN_STATE.match(piece)
        if own is not None:
            if (
                not _OBLIGED.match(own["says"])
                and is_concrete(own["says"])
                and not _REFERS.search(own["says"])
            ):
                yield Particular(start, end, "")
            continue
        found = _STATES.match(piece)
        if found is None or not _is_subject(found):
            continue
        if is_concrete(found["says"]) and not _REFERS.search(found["says"]):
            yield Particular(start, end, found["subject"].strip())


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    """Cut where a clause with a subject of its own begins, and lead-ins and tails away."""
    borders = [0]
    for border in _SEGMENT.finditer(sentence):
        rest = sentence[border.end() :]
        if _OWN_STATE.match(rest) or _begins_clause(rest):
            borders.extend((border.start(), border.end()))
    borders.append(len(sentence))
    for start, end in zip(borders[::2], borders[1::2], strict=True):
        begin = start
        for opening in (_LEAD, _ANNOUNCED, _LEAD):
            lead = opening.match(sentence, begin, end)
            begin = lead.end() if lead else begin
        piece = sentence[begin:end].rstrip(" .,;:!")
        tail = _TAIL.search(piece)
        while tail is not None:
            piece = piece[: tail.start()].rstrip(" .,;:!")
            tail = _TAIL.search(piece)
        yield begin, begin + len(piece)


def _begins_clause(rest: str) -> bool:
    first = rest.split(" ", 1)[0].casefold().replace("’", "'").strip("'.,")
    if first in _NOT_THE_SUBJECT - _GOES_ON:
        return True
    found = _STATES.match(rest)
    return (found is not None and _is_subject(found)) or _ANOTHER.match(rest) is not None


def _is_subject(found: re.Match[str]) -> bool:
    """Return whether a verb has a subject that names something; “jobs go”, but no “long run”."""
    subject = found["subject"].strip()
    plural = found["verb"].casefold() in _PLURAL_VERBS
    return _is_named(subject) and (not plural or subject.endswith("s") or " and " in subject)


def _is_named(subject: str) -> bool:
    """Return whether a subject names something: no pronoun, question word, clause or number at its head."""
    said = [word.casefold().replace("’", "'").strip(".,") for word in _ALL_OF.sub("", subject).split()]
    rest = said[1:] if said[0] in ("the", "our", "my") else said
    if not rest or rest[0] in _NOT_THE_SUBJECT or rest[-1] in _NOT_THE_SUBJECT or rest[-1].endswith("'s"):
        return False
    if any(word in _NOT_THE_SUBJECT - _WITHIN for word in rest):
        return False
    return _WORKED_OUT.search(subject.strip()) is None and any(len(word) > 2 for word in rest)


def is_concrete(says: str) -> bool:
    """Return whether words hold a number, a day or a name."""
    return _TELLING.search(says) is not None and any(
        pattern.search(f" {says}") for pattern in (_NUMBER, _DAY, _PROPER)
    )


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
    if told.text and len(quote) <= _LONGEST_STATED and len(terms) >= _FEWEST_WORDS:
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
    if not _fewest(line) <= len(line) <= _LONGEST_STATED or _UNNAMED.match(line):
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
        quote[:_LONGEST_STATED],
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
    return _SHORTEST_CHINESE if _CHINESE.search(line) else _SHORTEST_STATED


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
