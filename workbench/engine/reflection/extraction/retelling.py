"""Tells what a speaker said of himself as a sentence about him that can be read alone, with absolute dates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import COUNTS, any_of
from workbench.engine.language.said_days import with_dates
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import third_person
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from datetime import date

_SPOKEN = (
    (lazy_pattern(r"\b(am|is|are|'m|’m|'re|’re|'s|’s|be|was|were)\s+gonna\b", re.IGNORECASE), r"\1 going to"),
    (lazy_pattern(r"\bgonna\b", re.IGNORECASE), "going to"),
    (lazy_pattern(r"(?:'ve|’ve| have)? gotta\b", re.IGNORECASE), " have to"),
    (lazy_pattern(r"\bwanna\b", re.IGNORECASE), "want to"),
    (lazy_pattern(r"\bfam\b", re.IGNORECASE), "family"),
    (lazy_pattern(r"\bfave?\b", re.IGNORECASE), "favorite"),
    (
        lazy_pattern(
            r"(?<!\w)(?:['’]?cause(?= (?:I|it|they|he|she|we|the|my)\b)|cuz\b|coz\b)", re.IGNORECASE
        ),
        "because",
    ),
    (lazy_pattern(r"[\"“]?\bme[- ]time\b[\"”]?", re.IGNORECASE), "time alone"),
    (lazy_pattern(r"\bI['’]ve (?:also )?got\b", re.IGNORECASE), "I have"),
    (lazy_pattern(r",?\s+(?:btw|tbh|tho|imo|imho|lol|haha|rn|atm)\b", re.IGNORECASE), ""),
    (
        lazy_pattern(
            r"^((?:my|our) (?:(?!is |was |has )[\w-]+ ){0,2}[\w-]+), (?:she|he|it)(?:['’]s| is) ",
            re.IGNORECASE,
        ),
        r"\1 is ",
    ),
    (lazy_pattern(r"\s&\s"), " and "),
)
_WE = (
    (lazy_pattern(r"\b(?:we are|we're|we’re)\b(?: all| both)?", re.IGNORECASE), "I'm"),
    (lazy_pattern(r"\bwe were\b", re.IGNORECASE), "I was"),
    (lazy_pattern(r"\bare we\b", re.IGNORECASE), "am I"),
    (lazy_pattern(r"\bwe(?='|’)", re.IGNORECASE), "I"),
    (lazy_pattern(r"\bwe(?: all| both)?\b", re.IGNORECASE), "I"),
    (lazy_pattern(r"\bour\b", re.IGNORECASE), "my"),
    (lazy_pattern(r"\bours\b", re.IGNORECASE), "mine"),
    (lazy_pattern(r"\bourselves\b", re.IGNORECASE), "myself"),
    (lazy_pattern(r"\b(?:all of )?us\b(?! (?:citizen|dollars?|army|visa|market))"), "me"),
)
_OF_US = lazy_pattern(r"\b(?:we|our|us)\b", re.IGNORECASE)
_NUMBER: Final = rf"\d+|{any_of(word for word in COUNTS if word.isascii() and word not in ('a', 'an'))}"
# What only several can be: of one of them it says nothing that can be read alone.
_JOINTLY = lazy_pattern(
    r"\bwe(?: all| both)?(?:['’]re| are| were|['’]ve been| have been| became| stayed)(?: \w+){0,3}? "
    r"(?:friends|buddies|mates|teammates|classmates|roommates|flatmates|neighbou?rs|colleagues|co-?workers|partners|siblings"
    r"|twins|cousins|rivals|strangers|soulmates|allies|opposites|equals|a couple|a pair)\b"
    r"|^we(?:['’]ve| have|['’]ll| will)?(?: \w+ly| first| also| just| all| both| usually)? (?:met|meet)\b"
    r"(?=\s*(?:$|[,.;]|(?:on|in|at|for|to|every|each|last|next|again|once|twice|when|while|through|back|over|via|by|yesterday)\b))"
    rf"|\bwe(?:['’]re| are| were)(?: (?:only|just|now|about))? (?:a family of )?(?:{_NUMBER})"
    r"(?: of us| people| persons| adults)?\b(?=\s*(?:$|[,.:;]))"
    rf"|\b(?:{_NUMBER}|both) of us\b"
    r"|\b(?:each other|one another|as a team|a (?:great|good) team|make a team|rock|(?:let"
    r"|help)s? us)\b",
    re.IGNORECASE,
)
# Exhortations and what is everybody's: “our kids are our future”.
_INCLUSIVE = lazy_pattern(
    r"\bwe(?:'ll|’ll)? (?:all )?(?:can|could|should|must|need|have to|gotta|want to|make|keep|all|never"
    r"|rely|learn)\b"
    r"|\bwe all\b|\bwe'll (?:keep|make|get|do|find|never)\b"
    r"|\bour (?:\w+ )?(?:kids|children|youth|future|neighbou?rs?|generations?|society|planet|country|world"
    r"|schools?|veterans|military"
    r"|education|infrastructure|actions?|words?|community|communities|neighbou?rhood|area|town|city|lives"
    r"|troops|nation)\b",
    re.IGNORECASE,
)
_TOGETHER = lazy_pattern(
    r"\s*\btogether\b(?=\s*$| (?:in|on|at|last|every|with|for|yesterday|this|and)\b)", re.IGNORECASE
)
_WHEN = lazy_pattern(
    r"^(?:just |only |so |back )?(?P<when>(?:the )?(?:last|next|this|past|other|same) \w+(?: (?:morning"
    r"|afternoon|evening|night))?"
    r"|yesterday(?: \w+ing)?|today|tomorrow(?: \w+ing)?|tonight|(?:a|an|one|two|three|four|five|six|\d+"
    r"|a few|a couple(?: of)?) \w+ ago"
    r"|(?:on |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|in (?:\d{4}|[A-Z][a-z]+(?: \d{4})?)"
    r"|for (?:the past )?[\w ]{3,20}"
    r"|earlier [\w ]{3,15}),?\s+(?=(?:I|my|we|our)\b)(?P<said>.*)$",
    re.IGNORECASE,
)
_DEPENDENT = lazy_pattern(
    r",?\s+(?:because|since|although|though|whereas|but|so)\s+(?!far\b)"
    r"|,\s+(?:which|who|whose|where|while|when|as|after|before)\s+",
    re.IGNORECASE,
)
_A_CERTAIN = lazy_pattern(
    r"\b(?P<verb>met|got|made|found|saw|bought|had|have|with|from|adopted|tried|took|painted|built|wrote"
    r"|read|watched|started|baked"
    r"|visited|joined|attended|drew|cooked|own|picked|chose|across|discovered) this (?!week|month|year"
    r"|summer|morning|weekend|one\b|is\b|in\b|on\b|at\b|to\b|for\b|and\b|but\b|as\b|so\b|after\b|before\b"
    r"|when\b|with\b|by\b|from\b|because\b|really\b|was\b|too\b)"
    r"(?P<next>\w)",
    re.IGNORECASE,
)
_AND_I = lazy_pattern(
    r"^(?:(?:me and )(?P<first>(?:my|our) [\w'’-]+(?: [\w'’-]+)?)|(?P<who>(?:(?:my"
    r"|our) )?(?:[\w'’-]+ ){0,4}?[\w'’-]+),? and I)\s+(?P<said>\w.*)$",
    re.IGNORECASE,
)
_CIRCUMSTANCE = lazy_pattern(
    r"^(?:when|while|after|before|since|growing up|back|during)\b[^,;:]{2,60},\s+", re.IGNORECASE
)
_FILLERS = lazy_pattern(
    r"(?<!but )\b(?:just|still|really|super|totally|actually|definitely|literally|basically|kinda|kind of|sort of"
    r"|honestly|truly|finally"
    r"|simply|obviously|certainly|pretty|incredibly|extremely|so(?= (?:excited|happy|proud|much|good|great"
    r"|fun|cute|many))|even|also"
    r"|absolutely|seriously|already)\s+(?!(?:like|as)\b)",
    re.IGNORECASE,
)
_KEPT_FILLER = lazy_pattern(r"(?:\bnot|n['’]t) (?:just|really|even|so|only)\b", re.IGNORECASE)
_SPACE = lazy_pattern(r"\s+([,.;!?])")
_QUOTE_PAIR = lazy_pattern(r"[\"“”]")
# “Maria watches films, hike, and has …”: a list of verbs of which not all were put into the third person.
_DISAGREEING = lazy_pattern(
    r", [a-z]+(?<!ing)(?<!ed)(?<!s),? and (?:has|goes|does|makes|takes|plays|gets|watches|eats"
    r"|reads|writes|cooks|bakes|runs)\b"
)


_WITHOUT_I = lazy_pattern(
    r"(?:chose|decided|picked|agreed|switched|moved|went with|settled|prefers?|likes?|dislikes?|loves?"
    r"|hates?|wants?"
    r"|avoids?|uses?|using|adopted|opted|selected|dropped|rejected|will|won't)\b",
    re.IGNORECASE,
)
_BASE: Final = {
    "prefers": "prefer",
    "likes": "like",
    "dislikes": "dislike",
    "loves": "love",
    "hates": "hate",
    "wants": "want",
    "avoids": "avoid",
    "uses": "use",
    "using": "am using",
}


_NAMELESS: Final = ("user", "the user")


@dataclass(frozen=True, slots=True)
class Told:
    """A statement in both voices.

    Args:
        own: As its speaker says it, “I” throughout, without fillers: what its worth is judged by.
        text: About the speaker, without a final stop; empty where it cannot be said so.
        day: The ISO date of what it tells, where the words give one; else empty.
        dated: Whether it says when.
    """

    own: str
    text: str
    day: str = ""
    dated: bool = False


def leaves_i_out(line: str) -> bool:
    """Return whether a written line begins with the verb of its writer: “Prefers tea”, “Chose SQLite”."""
    return _WITHOUT_I.match(line) is not None


def with_i(line: str) -> str:
    """Put “I” before a line that leaves it out: “Prefers tea” becomes “I prefer tea”."""
    first, _, rest = line.partition(" ")
    return f"I {_BASE.get(first.casefold(), first.lower())} {rest}"


def own_words(clause: str, *, elliptic: bool) -> str:
    """Return a clause with “I” as its subject and without the manners of speech; empty where that is not possible.

    Args:
        clause: A piece of a sentence.
        elliptic: Whether it leaves “I” out.
    """
    line = " ".join(clause.split())
    if elliptic:
        began = re.sub(r"^(?:just|finally|already|also|recently)\s+", "", line, flags=re.IGNORECASE)
        verb = began.split(" ")[0].casefold()
        lead = {"been": "I have"}.get(verb, "I am" if verb.endswith("ing") else "I")
        line = f"{lead} {began[:1].lower()}{began[1:]}"
    for pattern, replacement in _SPOKEN:
        line = pattern.sub(replacement, line)
    if _OF_US.search(line):
        if _JOINTLY.search(line) or _INCLUSIVE.search(line):
            return ""
        for pattern, replacement in _WE:
            line = pattern.sub(replacement, line)
        line = _TOGETHER.sub("", line)
    late = _WHEN.match(line)
    if late:
        when = late["when"]
        when = when[:1].lower() + when[1:] if when[:3].casefold() == "in " else when.lower()
        said = late["said"].rstrip(" .!,")
        # The day is that of the main clause: “I took a break from pottery last month, which I do for fun”.
        dependent = _DEPENDENT.search(said)
        end = dependent.start() if dependent else len(said)
        line = f"{said[:end]} {when}{said[end:]}"
    line = _A_CERTAIN.sub(
        lambda m: f"{m['verb']} {'an' if m['next'] in 'aeiouAEIOU' else 'a'} {m['next']}", line
    )
    aside = _CIRCUMSTANCE.match(line)
    lead, line = (aside.group(), line[aside.end() :]) if aside else ("", line)
    joined = _AND_I.match(line)
    if joined:
        said = re.sub(
            r"^(?:are|were)\b",
            lambda m: {"are": "am", "were": "was"}[m[0].casefold()],
            joined["said"],
            flags=re.IGNORECASE,
        )
        who = joined["first"] or joined["who"]
        said = _TOGETHER.sub("", said.rstrip(" .!"))
        line = (
            f"I {said} with {who[:1].lower() + who[1:] if who.casefold().startswith(('my', 'our')) else who}"
        )
    line = lead + line
    kept = _KEPT_FILLER.search(line)
    return " ".join((line if kept else _FILLERS.sub("", line)).split())


def tell(own: str, name: str, said: date | None) -> Told:
    """Say a clause about its speaker.

    Args:
        own: What `own_words` gives.
        name: Of the speaker.
        said: The day it was said on.
    """
    # “I’m Ana, a nurse” is of Ana that she is a nurse.
    dated = with_dates(
        re.sub(rf"^I(?:['’]m| am) {re.escape(name)},? (?=(?:and )?(?:an?|the)\b)", "I am ", own), said
    )
    attributed = f"{name}:"
    # A name can be said again; “the user … the user” is no name.
    told = third_person(dated.text, name, repeats=name.casefold() not in _NAMELESS)
    if told.startswith(attributed):
        told = third_person(dated.text, name)
    if told.startswith((attributed, f"{name}：{own[:1]}")) or _unbalanced(told) or _DISAGREEING.search(told):
        return Told(own, "")
    return Told(own, _SPACE.sub(r"\1", told).rstrip(" ,.;:!-–—"), dated.day, dated.dated)


def _unbalanced(text: str) -> bool:
    return len(_QUOTE_PAIR.findall(text)) % 2 == 1 or text.count("(") != text.count(")")
