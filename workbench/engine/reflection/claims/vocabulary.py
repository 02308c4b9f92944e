"""Words by which claims are told apart: those that tell nothing, those of change, those of appointed days.

Patterns tell that one thing is preferred to another, or taken in its place.
"""

from __future__ import annotations

import re
from typing import Final

from workbench.engine.catalog.terms import STOP_WORDS, stem
from workbench.engine.language.kin import ANYBODY
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import words

GENERIC: Final = words(
    "called named project app application feature features thing things stuff work working help use using"
    " used make making made sure want need trying try like new now currently recently current recent ensure"
    " implement implementing implemented issue issues trouble handle handling correctly properly way best lot"
    " bit really already also still get getting got set setting add adding added actually time today yesterday"
    " tomorrow okay great good better nice thank thanks please know think code example advice tip approach"
    " ever even since much many one two day days consider considering include including included specifically"
    " based various several such total around about approximately roughly nearly almost number amount value"
    " initial year years month months week weeks hour hours minute minutes optimize optimizing optimise focus"
    " focusing average"
)
"""What may be said of anything; tells no two things apart, though it may stand before a noun."""

FUNCTION_WORDS: Final = STOP_WORDS | words(
    "after before because between both each few here more most no not only other same some than these those"
    " through too until up very while all again against down out off its your him her his himself myself"
    " themselves just within without during per via however though although am any whether yet never once"
    " first second third last next over under got going go goes went come came take took see seen back let"
    " lets put keep said say says tell told ask asked something anything everything nothing someone anyone"
    " everyone somewhere another else every there's that's what's he's she's we're we've they're you're you've"
    " i'll we'll hey wow yeah yes well oh gonna gotta wanna i'm i've i'd it's don't didn't haven't can't is"
    " doesn't isn't aren't wasn't weren't won't wouldn't couldn't shouldn't hasn't hadn't cannot there're here's"
    " where's how's she'll he'll they'll it'll i'd we'd you'd he'd she'd they'd"
    " are was were be been being using"
)
"""What joins words; a noun phrase ends at one of these."""

CHAT_WORDS: Final = words(
    "btw rn atm tbh imo imho lol haha hahaha pls plz thx ty ya yep yup nope nah ok k hm hmm mm mmm ugh phew oof wow omg"
    " fyi afaik idk asap etc gosh yay btw anyway anyways kinda sorta dunno finally meanwhile lately nowadays"
    " instead however right obviously apparently basically honestly luckily sadly"
)
"""What people type between the words that say something."""

NUMBER_WORDS: Final = words(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
    " nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million half dozen"
)
"""Numbers written out: values, and not what anything is the value of."""

PEOPLE: Final = frozenset(ANYBODY) | words(
    "family people guy man woman person he she they it this that there what who"
)
"""Whom “my” may stand before."""

EMPTY: Final = GENERIC | FUNCTION_WORDS | CHAT_WORDS

CHANGE_STEMS: Final = frozenset(
    map(
        stem,
        words(
            "improve increase reduce raise lower grow grew grown growth reach update extend change revise"
            " expand bump upgrade drop move push postpone reschedule achieve hit bring brought climb rise rose"
            " cut decrease switch reflect manage complete target estimate schedule range fall fell jump boost"
            " double aim plan try track notice show result measure stand sit remain stay have become became"
            " adjust allow keep decide mention practice slip"
            " practise solve finish attempt spend spent retain make made sit kept keep come came go went"
        ),
    )
)
"""Stems of verbs about a value; they do not say what it is the value of."""

CLEAR_CHANGE: Final = lazy_pattern(
    r"\b(?:now|no\s+longer|new(?:ly)?|updated?|updating|upgraded?|upgrading|by\s+now|from\s+now\s+on|extend(?:ed)?|increased?|improved|reduced|raised|grew|grown"
    r"|growth|shrunk|fell|fallen|cut|(?:went|gone|goes)\s+(?:up|down)|went\s+(?:\w+\s+)?from|postponed|moved|rescheduled|pushed|changed|revised|expanded|bumped|upgraded|lowered|(?:up|down)\s+to"
    r"|brought|dropped|climbed|rose|slip(?:s|ped)|latest|not\s+\S+\s+but|correction|these\s+days|anymore|has\s+reached|halved|doubled|ballooned"
    r"|(?:it['’]s|is|are|was)\s+actually)\b|(?:^|,\s)[Aa]ctually\b|现在|改成|改为|改到|变成|换成|增加到|减少到|增至|减至|降至|加到|涨到|减到|升到|提高到|提升到|降到|不再|推迟到|延到|延期到|提前到|搬到|搬去|已经",
    re.IGNORECASE,
)
CLEAR_MOVE: Final = lazy_pattern(
    r"\b(?:now|no\s+longer|moved|rescheduled|postponed|pushed|extend(?:ed)?|changed|shifted|slip(?:s|ped)|delayed|brought|updated?|revised"
    r"|new\s+(?:[\w-]+\s+){0,2}(?:deadline|date|time|slot|schedule|day|appointment))\b"
    r"|现在|改成|改为|改到|换到|推迟到|延到|延期到|提前到",
    re.IGNORECASE,
)
"""As `CLEAR_CHANGE`, of days and times: a new mentor moves no meeting."""
FAINT_CHANGE: Final = lazy_pattern(
    r"\b(?:currently|current|recently|actually|so\s+far|already|as\s+of|finally|by\s+now|meanwhile|at\s+last|lately|since\s+(?:last|yesterday|the|mid|early|late|\w+day|january|february|march|april|may|june|july|august|september|october|november|december)|reached|managed|total\s+of|at\s+the\s+moment|adjusted)\b|目前|如今",
    re.IGNORECASE,
)

ADDS_UP: Final = lazy_pattern(
    r"(?:\b(?:have|has)|['’]ve)\s+(?:\w+\s+)?\w+(?:ed|en|ne|de|ad)\b", re.IGNORECASE
)
"""What has been done so often grows by itself: “I have read 12 chapters”."""

DEADLINE: Final = "deadline"
_APPOINTED_WORDS: Final = {
    DEADLINE: "deadline due complete completion finish end target submission delivery deliver 截止",
    "launch": "launch release deploy deployment 上线 发布",
    "start": "start begin beginning kick leave depart",
    "meeting": "meeting 会议",
    "review": "review",
} | {
    word: word
    for word in words(
        "appointment interview exam wedding trip flight demo presentation birthday conference surgery party"
        " workshop visit concert session test match game festival audition checkup marathon race inspection"
        " lesson class course"
        " rehearsal training practice shift holiday vacation departure arrival pilot offsite"
    )
}
APPOINTED: Final = {stem(word): kind for kind, names in _APPOINTED_WORDS.items() for word in words(names)}
"""Stems of what a day is set for; a day without any of these is only when something happened."""

_SAME_WORDS: Final = {
    "limit": "quota cap allowance",
    "response": "latency",
    "price": "cost",
    "pay": "salary wage",
    "child": "children kid kids",
    "use": "used using",
    "do": "did done",
    "day": "daily",
    "week": "weekly",
    "month": "monthly",
    "year": "yearly annual",
}
SAME_MEANING: Final = {stem(word): stem(kept) for kept, names in _SAME_WORDS.items() for word in words(names)}
"""Stems that stand for another when attributes are compared."""
PREFERS: Final = "prefers"
SWITCHED: Final = "switched"
STOPPED: Final = "stopped"
LIVES: Final = "lives in"
WORKS: Final = "works at"
FAVOURITE: Final = "favourite"
FEELS: Final = "feels"
"""Liked or not: `chosen` is yes or no, `about` what."""
HOLDS: Final = "holds"
"""The same for what is so or not so."""
OCCUPIES: Final = "occupies"
"""Whatever has a place that one at a time has: the tool for a task, the person in charge of one."""
HOLDER: Final = "holder"
"""Somebody in a place that one at a time has: “my manager is …”."""
IS: Final = "is"
"""What somebody is, said in so many words: “I'm vegetarian”."""
ENDED: Final = "is no longer"
"""What they are no longer: “I'm not vegetarian anymore”."""

_BEHIND = r"(?=\s+(?:for|because|since|when|while|due|as|so|in|on|at|with|but|and|after|to|which|that)\b|[.,;!?()]|$)"
_THING = r"(?:[\w`'’.+#-]+\s+){0,4}?[\w`'’.+#-]*[\w`+#]"
_PLACE = r"(?-i:[A-Z])[\w&-]+(?:[ ,]+(?-i:[A-Z])[\w&-]+){0,2}"
_SOMEBODY = (
    r"\b(?:i|we|the\s+user|user|(?:(?!(?:I|We|User|The|Now|Really|Actually|Much|Still|Also|Always|Recently|Just|Finally"
    r"|Currently|Already|Generally|Usually|Definitely|He|She|It|They|You|And|But|So|Who|Which|That|This)\b)"
    r"(?P<he>(?-i:[A-Z])[\w-]+(?:\s(?-i:[A-Z])[\w-]+)?)))(?:['’]ve|\s+have|\s+has|['’]m|\s+am|\s+is)?\s+"
    r"(?:(?:now|really|actually|much|still|also|always|recently|just|finally|currently|already|generally|usually"
    r"|definitely)\s+)*"
)
_ROLE = (
    r"(?:manager|boss|mentor|doctor|dentist|therapist|landlord|teacher|coach|supervisor|advisor|adviser|lawyer"
    r"|accountant|trainer|tutor|editor|agent|roommate|team\s+lead)"
)
_CHINESE_THING = r"[\u3400-\u9fffA-Za-z]"

_WRITTEN: Final = (
    (
        PREFERS,
        rf"""{_SOMEBODY}prefers?\s+(?:using\s+|to\s+use\s+)?(?P<chosen>{_THING})
        \s+(?:over|to|rather\s+than|instead\s+of|more\s+than)\s+(?:using\s+)?(?P<against>{_THING}){_BEHIND}""",
    ),
    (
        PREFERS,
        rf"""{_SOMEBODY}(?:likes?|loves?|enjoys?)\s+(?:using\s+)?(?P<chosen>{_THING})
        \s+(?:(?:much|far|way|a\s+lot|so\s+much)\s+)?(?:more|better)\s+than\s+(?:by\s+|using\s+)?(?P<against>{_THING}){_BEHIND}""",
    ),
    (PREFERS, rf"{_SOMEBODY}prefers?\s+(?:using\s+)?(?P<chosen>{_THING}){_BEHIND}"),
    (
        SWITCHED,
        rf"""{_SOMEBODY}(?:switched|moved|migrated|changed|converted|transitioned)\s+(?:\w+\s+){{0,3}}?
        from\s+(?P<against>{_THING})\s+to\s+(?P<chosen>{_THING}){_BEHIND}""",
    ),
    (
        SWITCHED,
        rf"""{_SOMEBODY}(?:replaced|swapped|ditched|dropped)\s+(?P<against>{_THING})
        \s+(?:with|for|by|in\s+favou?r\s+of)\s+(?P<chosen>{_THING}){_BEHIND}""",
    ),
    (
        SWITCHED,
        rf"""{_SOMEBODY}us(?:e|es|ing)\s+(?P<chosen>{_THING})\s+(?:now\s+)?
        instead\s+of\s+(?P<against>{_THING}){_BEHIND}""",
    ),
    (
        STOPPED,
        rf"""{_SOMEBODY}(?:no\s+longer|(?:don['’]t|doesn['’]t)(?=[^.]{{0,60}}\banymore))
        \s+(?P<verb>\w+)\s+(?P<against>{_THING}){_BEHIND}""",
    ),
    (
        STOPPED,
        rf"""{_SOMEBODY}(?:stopped|quit|gave\s+up|given\s+up)\s+(?P<verb>\w+ing)\s+(?P<against>{_THING}){_BEHIND}""",
    ),
    (
        STOPPED,
        rf"{_SOMEBODY}(?:(?:quit|resigned\s+from)\s+(?:my\s+job\s+at\s+)?|left\s+my\s+job\s+at\s+)(?P<against>{_PLACE})",
    ),
    (LIVES, rf"{_SOMEBODY}(?:live|lives|living|based|moved|relocated)\s+(?:in|to)\s+(?P<chosen>{_PLACE})"),
    (WORKS, rf"{_SOMEBODY}(?:work|works|working|got\s+a\s+job)\s+(?:at|for)\s+(?P<chosen>{_PLACE})"),
    (
        WORKS,
        rf"""{_SOMEBODY}(?:started|took|got|have|has|found)\s+(?:a|my)\s+(?:new\s+)?(?:job|position|role)
        \s+(?:at|with)\s+(?P<chosen>{_PLACE})""",
    ),
    (
        FAVOURITE,
        rf"""\b(?:my|(?-i:[A-Z])\w+['’]s)\s+(?:(?:new|current)\s+)?favou?rite\s+(?P<about>\w+(?:\s+\w+)?)
        \s+(?:is|are|has\s+to\s+be|would\s+be)\s+(?:now\s+)?(?P<chosen>{_THING}){_BEHIND}""",
    ),
    (
        HOLDER,
        rf"""\b(?:my|our)\s+(?:(?:new|current)\s+)?(?P<about>(?:[a-z]+\s+)?{_ROLE})
        (?:\s+is|\s+is\s+now|\s+now\s+is|['’]s\s+name\s+is|\s+is\s+(?:called|named))
        \s+(?:(?:dr|mr|ms|mrs|prof)\.?\s+)?(?P<chosen>(?-i:[A-Z])[\w-]+)
        (?=\s+(?:and|who|from|now|since)\b|\s+(?-i:[A-Z])|\W|$)""",
    ),
    (
        PREFERS,
        rf"""我(?:更|现在更|比较)?喜欢(?P<chosen>{_CHINESE_THING}{{1,8}}?)
        (?:而不是|胜过|多过)(?P<against>{_CHINESE_THING}{{1,8}})""",
    ),
    (
        SWITCHED,
        rf"""从(?P<against>{_CHINESE_THING}{{1,12}}?)
        (?:换成|换到|改成|改用|迁移到)了?(?P<chosen>{_CHINESE_THING}{{1,12}})""",
    ),
    (
        LIVES,
        r"我(?:现在|已经|们)*(?:住在|搬到|搬去)了?(?P<chosen>[\u3400-\u9fff]{2,4}?)(?=了|[，。！,.!\s]|$)",
    ),
    (STOPPED, rf"我?不再(?P<verb>使用|住在|用|喝|吃)\s*(?P<against>{_CHINESE_THING}{{1,10}})"),
)

PATTERNS: Final = tuple(
    (kind, lazy_pattern(pattern, re.VERBOSE | re.IGNORECASE)) for kind, pattern in _WRITTEN
)
"""Kinds with their patterns, the more telling ones first; groups `chosen`, `against`, `about` and `verb`."""
