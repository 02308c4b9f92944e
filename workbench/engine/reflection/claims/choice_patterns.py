"""The ways of saying that one thing is preferred or taken in another's place, as patterns."""

from __future__ import annotations

import re
from typing import Final

from workbench.engine.patterns import lazy_pattern

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

_BEHIND = r"(?=\s+(?:for|because|since|when|while|due|as|so|in|on|at|with|but|and|after|to|which|that)\b|[.,;!?()]|$)"
_THING = r"(?:[\w`'’.+#-]+\s+){0,4}?[\w`'’.+#-]*[\w`+#]"
_PLACE = r"(?-i:[A-Z])[\w&-]+(?:[ ,]+(?-i:[A-Z])[\w&-]+){0,2}"
_SOMEBODY = (
    r"\b(?:i|we|he|she|(?-i:[A-Z])[\w-]+|the\s+user|user)(?:['’]ve|\s+have|\s+has|['’]m|\s+am|\s+is)?\s+"
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
    (LIVES, rf"{_SOMEBODY}(?:live|lives|living|based|moved|relocated)\s+(?:in|to)\s+(?P<chosen>{_PLACE})"),
    (WORKS, rf"{_SOMEBODY}(?:work|works|working|got\s+a\s+job)\s+(?:at|for)\s+(?P<chosen>{_PLACE})"),
    (
        WORKS,
        rf"""{_SOMEBODY}(?:started|took|got|have|has|found)\s+(?:a|my)\s+(?:new\s+)?(?:job|position|role)
        \s+(?:at|with)\s+(?P<chosen>{_PLACE})""",
    ),
    (
        FAVOURITE,
        rf"""\b(?:my|(?-i:[A-Z])\w+['’]s)\s+favou?rite\s+(?P<about>\w+(?:\s+\w+)?)
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
