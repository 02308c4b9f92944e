"""Tells from the grammar of a sentence how long what it says will matter, and since when it holds.

“I live in Oslo” is so until something changes it, “I joined a choir” changed something, “I’m moving in May” is ahead,
and “I went to a concert” was over that night, whatever words stand in it. What lasts is proposed first.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import COUNTS, ENGLISH_MONTH, ENGLISH_MONTH_IN_FULL, MONTHS
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import ADVERBS, BASE_FORMS, PAST_FORMS, PLAIN_IN_ED, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STATE: Final = "a state"
PAST: Final = "a former state"
CHANGE: Final = "a change"
AHEAD: Final = "ahead"
ONGOING: Final = "going on"
ONCE: Final = "a single deed"

_BEHIND: Final = {STATE: 0.5, PAST: 1.0, CHANGE: 1.5, AHEAD: 1.7, ONGOING: 2.5, ONCE: 6.0}
"""How far each comes behind what is worth the same."""
_WHO: Final = 1.5
_OF_WHO: Final = words("identity health family home work milestone")
_OUTRUN: Final = 1.0
_SOON: Final = 60
"""Days after which what was under way or meant to be done, without a date, may well be over."""

_WORD = lazy_pattern(r"[\w’'-]+")
_LEAD = lazy_pattern(
    r"(?:(?:when|while|after|before|since|as|in|on|at|for|during|with|growing up|back|even though)\b[^,]*,\s*)+",
    re.IGNORECASE,
)
_BE: Final = words("am is are was were been being be")
_DENIES: Final = words("don't doesn't didn't haven't hasn't hadn't won't wasn't isn't aren't weren't")
_HELPS: Final = _BE | _DENIES | words("have has had will")
_PAST: Final = PAST_FORMS | words("was were had")
_WAS: Final = words("was were had didn't wasn't weren't hadn't")
_FILLS: Final = ADVERBS | words("recently all each once first")
_SHORT: Final = {"m": "am", "ve": "have", "ll": "will", "s": "is", "re": "are"}
_FARTHEST: Final = 8
# With these something begins, ends or becomes otherwise.
_CHANGES: Final = words(
    "move relocate marry divorce propose join rejoin start begin quit stop leave adopt rescue buy purchase sell order"
    " inherit lose win graduate pass fail finish complete publish release launch open close found become turn retire"
    " accept apply enroll enrol enter register sign switch change decide choose pick settle agree commit opt break"
    " injure tear recover receive earn achieve reach raise hire fire promote build install deploy migrate upgrade"
    " replace select land transfer name appoint diagnose bear lay learn elect cancel drop"
)
_COMPLETES: Final = words("win pass finish complete earn achieve reach graduate publish release")
_GOT: Final = lazy_pattern(r"(?:me |myself )?(?:an?|my|some|two|three|another|the) ", re.IGNORECASE)
_GOT_TO_KEEP: Final = frozenset(("milestone", "pet", "possession", "own", "health"))
_GOT_TO_BE: Final = lazy_pattern(
    r"(?:\w+ )?(?:promoted|married|engaged|divorced|hired|fired|accepted|certified|diagnosed|elected|approved)\b",
    re.IGNORECASE,
)
_HAD_ONCE: Final = lazy_pattern(
    r"(?:an?|my|our) (?:[\w-]+ ){0,4}?(?:baby|child|son|daughter|wedding|surgery|operation|miscarriage|stroke)\b",
    re.IGNORECASE,
)
_IS_STILL: Final = lazy_pattern(r"(?:an?|the|my|into|in|at|with|part) ", re.IGNORECASE)
# What is being done with these is so: “I’m using Flask”.
_SETTLED: Final = words("using wearing living owning renting running managing teaching leading")
_LASTED: Final = words("live work study serve grow love like enjoy hate prefer know own belong")
_AIMS: Final = words("plan hope aim intend schedule book")
_WANTS: Final = words("want wish need")
_PONDERS: Final = words("planning hoping aiming thinking considering scheduled preparing")
_GOAL = lazy_pattern(r"(?i)my (?:\w+ ){0,2}(?:goal|dream|plan|aim|ambition|intention|hope)s? (?:is|are) ")
_FOR_NOW = lazy_pattern(r"\btoo \w+ to\b", re.IGNORECASE)
_COMING = lazy_pattern(
    r"\b(?:next|tomorrow|tonight|upcoming|soon|later this|coming up|in (?:an?|\d+|two|three|four|few) (?:day|week"
    r"|month)s?)\b|\bthis (?:coming )?(?:week(?:end)?|month|summer|autumn|fall|winter|spring|evening|afternoon"
    r"|friday|saturday|sunday)\b",
    re.IGNORECASE,
)
_CHILD: Final = r"an? (?:little |young |small )?(?:kid|child|teen\w*|boy|girl|baby)"
_YOUNG = lazy_pattern(
    rf"\bas {_CHILD}\b|\b(?:childhood|grew up|growing up|was raised)\b|\bat age \w+"
    rf"|\b(?:when|since|while) [\w’'-]+(?: \w+)? (?:was|were) (?:{_CHILD}|\d+|young\w*|little|small)\b"
    r"|\bin (?:high|middle|elementary|primary) school\b",
    re.IGNORECASE,
)
_FORMERLY = lazy_pattern(
    r"\b(?:used to|no longer|back in (?!the\b)|for (?:\w+ ){1,2}years|some (?:years|months) before)\b",
    re.IGNORECASE,
)
_ASIDE = lazy_pattern(r"\b(?:after|before|when|while|because|who|which|that|where|as)\b", re.IGNORECASE)
_FOR_LONG = lazy_pattern(
    r"\bfor (?:(?:about|around|over|almost|nearly|the (?:past|last)|like) )*(?P<count>\w+) (?P<unit>year|month)s?\b",
    re.IGNORECASE,
)
_FROM = lazy_pattern(
    r"\b(?:(?P<how>since|in|around|back in) (?:(?:early|late|around|about) )?"
    rf"(?:(?P<month>{ENGLISH_MONTH_IN_FULL}),? )?"
    rf"(?P<year>(?:19|20)\d\d)\b(?!-)|(?P<on>on|since|from|starting|beginning) (?P<day>(?:{ENGLISH_MONTH})\.? "
    r"\d{1,2}(?:st|nd|rd|th)?\b(?:,? (?:19|20)\d\d)?))",
    re.IGNORECASE,
)
_DATE = lazy_pattern(
    rf"(?P<side>\b(?:week|weekend) (?:after|of|around) )?\b(?P<iso>\d{{4}}-\d\d-\d\d)\b"
    rf"|\b(?P<month>{ENGLISH_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>(?:19|20)\d\d))?(?! ?%|:)"
    rf"|\b(?P<of>{ENGLISH_MONTH}),? (?P<in>(?:19|20)\d\d)\b|\b(?:in|by|around) (?P<whole>(?:19|20)\d\d)\b(?!-)",
    re.IGNORECASE,
)
_A_WEEK: Final = timedelta(days=7)
# A change or a deed is no family, home or liking, whatever its words name.
_OF_CHANGES: Final = words(
    "milestone achievement decision begun work health pet possession technical own recorded"
)
_OF_ONGOING: Final = _OF_CHANGES - {"possession", "achievement"}


def standing_of(own: str, kind: str = "") -> str:
    """Return what a sentence tells: a state, a change, something ahead or going on, or a single deed.

    Args:
        own: As its speaker says it, with “I” or “my” for its subject.
        kind: What its words are about.
    """
    plain = own.replace("’", "'")
    lead = _LEAD.match(plain)
    plain = plain[lead.end() :] if lead else plain
    helps, verb, rest = _predicate(plain)
    base = BASE_FORMS.get(verb, _plain_form(verb))
    perfect = bool(helps & {"have", "has", "haven't", "hasn't"})
    past = verb in _PAST or (verb.endswith("ed") and verb not in PLAIN_IN_ED) or bool(helps & _WAS)
    meant = base in _AIMS or (verb in _WANTS and rest.startswith("to ")) or _GOAL.match(plain) is not None
    if "will" in helps or meant or (helps & {"am", "is", "are"} and _is_pondered(verb, rest)):
        return AHEAD
    if verb.endswith("ing") and helps & _BE and not helps & _WAS:
        if _COMING.search(plain) and "been" not in helps:
            return AHEAD
        settled = verb in _SETTLED or " since " in plain or _FOR_LONG.search(plain)
        return STATE if settled else ONGOING
    if perfect and verb == "been":
        # “I’ve been busy” soon is no longer so, other than “I’ve been a nurse” and what has been for years.
        lasts = _IS_STILL.match(rest) or " since " in plain or _FOR_LONG.search(plain)
        return ONCE if rest.startswith("to ") else STATE if lasts else ONGOING
    if perfect and (verb in ("got", "had") or base in _LASTED):
        return STATE
    if ((past or perfect) and base in _CHANGES) or (perfect and "been" not in helps):
        return CHANGE
    if verb == "got" and (_GOT_TO_BE.match(rest) or (_GOT.match(rest) and kind in _GOT_TO_KEEP)):
        return CHANGE
    if verb == "had" and _HAD_ONCE.match(rest):
        return CHANGE
    lasted = base in _LASTED and (base != "work" or rest.startswith(("as ", "at ", "for ", "in ")))
    if past and (lasted or _YOUNG.search(plain) or _FORMERLY.search(plain)):
        return PAST
    if past:
        return PAST if verb == "had" and kind == "pet" else ONCE
    if verb in ("have", "has") and (_COMING.search(plain) or _DATE.search(plain)):
        return AHEAD
    return ONGOING if _FOR_NOW.search(plain) else STATE


def _is_pondered(verb: str, rest: str) -> bool:
    """Return whether “am” and a word say what is to be: “am going to move”, but not “am going to the gym”."""
    return verb in _PONDERS or (verb in ("going", "about", "getting") and rest.startswith(("to ", "ready ")))


def _predicate(plain: str) -> tuple[frozenset[str], str, str]:
    """Return the auxiliaries, the verb, and what stands behind it; of another subject than “I” the first verb found."""
    said = list(_WORD.finditer(plain))
    helps: set[str] = set()
    subject, _, short = said[0].group().casefold().partition("'") if said else ("", "", "")
    at = 1
    if short in _SHORT:
        helps.add(_SHORT[short])
    if subject != "i":
        at = next(
            (n for n, word in enumerate(said[1 : _FARTHEST + 1], 1) if _is_verb(word.group().casefold())), 0
        )
        if not at:
            return frozenset(), "", ""
    for number in range(at, len(said)):
        word = said[number].group().casefold()
        following = said[number + 1].group().casefold() if number + 1 < len(said) else ""
        if word in _FILLS or (word.endswith("ly") and number + 1 < len(said)):
            continue
        if word in _HELPS and _helps(word, following):
            helps.add(word)
            continue
        return frozenset(helps), word, plain[said[number].end() :].lstrip()
    return frozenset(helps), "", ""


def _is_verb(word: str) -> bool:
    return word in _HELPS or word in PAST_FORMS or (word.endswith("ed") and len(word) > 4)


def _helps(word: str, following: str) -> bool:
    """Return whether an auxiliary is one here: before a participle or an adverb, not before a noun."""
    if word == "will" or word in _DENIES or following in _FILLS or following in _HELPS:
        return True
    participle = following in BASE_FORMS or following in PAST_FORMS or following.endswith(("ed", "ing"))
    return participle or (word in _BE and following in ("about", "going"))


def _plain_form(verb: str) -> str:
    """Return the plain form of a regular past: “moved” is of “move”, “joined” of “join”, “quitted” of “quit”."""
    if not verb.endswith("ed"):
        return verb
    stem = verb[:-2]
    doubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else stem
    return next(
        (form for form in (stem, f"{stem}e", doubled, f"{stem[:-1]}y") if form in _CHANGES | _LASTED | _AIMS),
        stem,
    )


def kind_of(kind: str, standing: str, own: str) -> str:
    """Return what a sentence says something about, as its verb has it rather than any of its words.

    Args:
        kind: By its words.
        standing: From `standing_of`.
        own: As its speaker says it.
    """
    if standing == ONCE or (standing == AHEAD and kind != "decision"):
        return "event" if standing == ONCE else "plan"
    helps, verb, _ = _predicate(own.replace("’", "'"))
    if kind == "identity" and verb.endswith("ing"):
        return "begun"
    if standing == STATE:
        does = kind == "identity" and verb and not {verb, *helps} & _BE
        return "routine" if does or kind in ("event", "achievement") else kind
    if standing == PAST:
        return "begun" if kind in ("event", "achievement", "plan") else kind
    if kind in (_OF_ONGOING if standing == ONGOING else _OF_CHANGES):
        return kind
    return "achievement" if BASE_FORMS.get(verb, _plain_form(verb)) in _COMPLETES else "begun"


def comes_behind(kind: str, features: tuple[str, ...], days: int) -> float:
    """Return by how much a statement is put behind others of the same worth.

    Args:
        kind: Of the statement.
        features: Of the statement, its standing among them.
        days: How long before the newest passage it was made.
    """
    standing = next((name for name in features if name in _BEHIND), STATE)
    who = _WHO if kind in _OF_WHO and standing in (STATE, PAST, CHANGE) else 0.0
    outrun = _OUTRUN if days > _SOON and standing in (AHEAD, ONGOING) else 0.0
    return _BEHIND[standing] + outrun - who


def since_of(text: str, standing: str, day: str, said: str) -> str:
    """Return since when, or when, a statement holds: what it says itself before the day on which it was said.

    Args:
        text: In the third person, with absolute dates.
        standing: From `standing_of`.
        day: The ISO day that its words give, if any.
        said: The ISO day on which it was said, or nothing.

    Returns:
        An ISO date, month or year; nothing for what was in somebody’s youth.
    """
    if day or standing == AHEAD or not said:
        return day or said
    lasts = standing in (STATE, ONGOING)
    # “Quit after the fire in 2015” does not say when that was.
    aside = _ASIDE.search(text)
    main = text[: aside.start()] if aside else text
    named = [found for found in _FROM.finditer(main) if not lasts or "since" in found.groups()]
    # “Owns a car built in 2015” says nothing of since when it is owned.
    if len(named) == 1:
        found = _begun(named[0], date.fromisoformat(said))
        return min(found, said) if found else said
    if _YOUNG.search(text) or (not lasts and _FORMERLY.search(text)):
        return ""
    lasted = _FOR_LONG.search(text) if lasts else None
    return _before(said, lasted["count"], lasted["unit"]) if lasted else said


def _begun(named: re.Match[str], said: date) -> str:
    """Return the year, month or day that words name."""
    if named["day"]:
        return next((day.isoformat() for day in _days(named["day"], said)), "")
    month = MONTHS[named["month"].casefold()] if named["month"] else 0
    return f"{named['year']}-{month:02}" if month else named["year"]


def _before(said: str, count: str, unit: str) -> str:
    """Return the year or month that was so many of them before a day; the day where the number is vague."""
    folded = count.casefold()
    number = int(folded) if folded.isdecimal() else COUNTS.get(folded, 0)
    on = date.fromisoformat(said)
    if not number or number >= on.year or folded in ("few", "several"):
        return said
    if unit.casefold() == "year":
        return str(on.year - number)
    months = on.year * 12 + on.month - 1 - number
    return f"{months // 12}-{months % 12 + 1:02}"


def is_over(text: str, features: Sequence[str], said: date, now: date) -> bool:
    """Return whether what a statement says is to come, or is so until a day, has passed.

    Args:
        text: With absolute dates; a day without a year is the nearest one.
        features: Of the statement, its standing among them.
        said: When it was said.
        now: The day to look from.
    """
    last = max(_days(text, said), default=None)
    if last is None or last >= now:
        return False
    return AHEAD in features or ((STATE in features or ONGOING in features) and last > said)


def _days(text: str, said: date) -> Iterator[date]:
    for found in _DATE.finditer(text):
        try:
            if found["iso"]:
                on = date.fromisoformat(found["iso"])
                yield (
                    on + 2 * _A_WEEK
                    if (found["side"] or "").endswith("after ")
                    else on + _A_WEEK * bool(found["side"])
                )
            elif found["day"]:
                month, day = MONTHS[found["month"].casefold()], int(found["day"])
                years = [int(found["year"])] if found["year"] else [said.year - 1, said.year, said.year + 1]
                yield min((date(year, month, day) for year in years), key=lambda on: abs(on - said))
            elif found["of"]:
                year, month = int(found["in"]), MONTHS[found["of"].casefold()]
                yield date(year, month, monthrange(year, month)[1])
            else:
                yield date(int(found["whole"]), 12, 31)
        except ValueError:
            continue
