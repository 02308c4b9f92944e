"""Reads what somebody prefers, has switched to, no longer does, and where he lives or works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbench.engine.recall.stemming import stem
from workbench.engine.reflection.claims.clauses import Mode
from workbench.engine.reflection.claims.denials import telling
from workbench.engine.reflection.claims.model import Choice, Span
from workbench.engine.reflection.claims.vocabulary import CLEAR_CHANGE, FAINT_CHANGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.clauses import Clause
    from workbench.engine.reflection.claims.model import Origin

_END = r"(?=\s+(?:for|because|since|when|while|due|as|so|in|on|at|with|but|and|after|to|which|that)\b|[.,;!?()]|$)"
_THING = r"(?:[\w`'’.+#-]+\s+){0,4}?[\w`'’.+#-]*[\w`+#]"
_I = r"\b(?:i|we|he|she|(?-i:[A-Z])[\w-]+|the\s+user|user)(?:['’]ve|\s+have|\s+has|['’]m|\s+am|\s+is)?\s+(?:(?:now|really|actually|much|still|also|always|recently|just|finally|currently|already|generally|usually|definitely)\s+)*"

_PLACE = r"(?-i:[A-Z])[\w&-]+(?:[ ,]+(?-i:[A-Z])[\w&-]+){0,2}"
_ROLE = (
    r"(?:manager|boss|mentor|doctor|dentist|therapist|landlord|teacher|coach|supervisor|advisor|adviser|lawyer|accountant"
    r"|trainer|tutor|editor|agent|roommate|team\s+lead)"
)
PREFERS = "prefers"
SWITCHED = "switched"
STOPPED = "stopped"
LIVES = "lives in"
WORKS = "works at"
FAVOURITE = "favourite"
HOLDER = "holder"
"""Somebody in a place that one at a time has: “my manager is …”."""

_PATTERNS = (
    (PREFERS, re.compile(rf"{_I}prefers?\s+(?:using\s+|to\s+use\s+)?(?P<chosen>{_THING})\s+(?:over|to|rather\s+than|instead\s+of|more\s+than)\s+(?:using\s+)?(?P<against>{_THING}){_END}", re.IGNORECASE)),
    (PREFERS, re.compile(rf"{_I}prefers?\s+(?:using\s+)?(?P<chosen>{_THING}){_END}", re.IGNORECASE)),
    (SWITCHED, re.compile(rf"{_I}(?:switched|moved|migrated|changed|converted|transitioned)\s+(?:\w+\s+){{0,3}}?from\s+(?P<against>{_THING})\s+to\s+(?P<chosen>{_THING}){_END}", re.IGNORECASE)),
    (SWITCHED, re.compile(rf"{_I}(?:replaced|swapped|ditched|dropped)\s+(?P<against>{_THING})\s+(?:with|for|by|in\s+favou?r\s+of)\s+(?P<chosen>{_THING}){_END}", re.IGNORECASE)),
    (SWITCHED, re.compile(rf"{_I}(?:us(?:e|es|ing))\s+(?P<chosen>{_THING})\s+(?:now\s+)?instead\s+of\s+(?P<against>{_THING}){_END}", re.IGNORECASE)),
    (STOPPED, re.compile(rf"{_I}(?:no\s+longer|(?:don['’]t|doesn['’]t)(?=[^.]{{0,60}}\banymore))\s+(?P<verb>\w+)\s+(?P<against>{_THING}){_END}", re.IGNORECASE)),
    (LIVES, re.compile(rf"{_I}(?:live|lives|living|based|moved|relocated)\s+(?:in|to)\s+(?P<chosen>{_PLACE})", re.IGNORECASE)),
    (WORKS, re.compile(rf"{_I}(?:work|works|working|got\s+a\s+job)\s+(?:at|for)\s+(?P<chosen>{_PLACE})", re.IGNORECASE)),
    (FAVOURITE, re.compile(rf"\b(?:my|[A-Z]\w+['’]s)\s+favou?rite\s+(?P<about>\w+(?:\s+\w+)?)\s+(?:is|are|has\s+to\s+be|would\s+be)\s+(?:now\s+)?(?P<chosen>{_THING}){_END}", re.IGNORECASE)),
    (HOLDER, re.compile(rf"\b(?:my|our)\s+(?:(?:new|current)\s+)?(?P<about>(?:[a-z]+\s+)?{_ROLE})(?:\s+is|\s+is\s+now|\s+now\s+is|['’]s\s+name\s+is|\s+is\s+(?:called|named))\s+(?:(?:dr|mr|ms|mrs|prof)\.?\s+)?(?P<chosen>(?-i:[A-Z])[\w-]+)(?=\s+(?:and|who|from|now|since)\b|\s+(?-i:[A-Z])|\W|$)", re.IGNORECASE)),
    (PREFERS, re.compile(r"我(?:更|现在更|比较)?喜欢(?P<chosen>[\u3400-\u9fffA-Za-z]{1,8}?)(?:而不是|胜过|多过)(?P<against>[\u3400-\u9fffA-Za-z]{1,8})")),
    (SWITCHED, re.compile(r"从(?P<against>[\u3400-\u9fffA-Za-z]{1,12}?)(?:换成|换到|改成|改用|迁移到)了?(?P<chosen>[\u3400-\u9fffA-Za-z]{1,12})")),
    (STOPPED, re.compile(r"我?不再(?P<verb>使用|住在|用|喝|吃)\s*(?P<against>[\u3400-\u9fffA-Za-z]{1,10})")),
)  # fmt: skip
_NO_FAVOURITE = frozenset(["part", "memory", "thing", "moment", "way", "time", "one", "feature", "aspect", "pastime"])


def choices(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    """Give the choices that a clause states; at most one.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if clause.asked:
        return
    for kind, pattern in _PATTERNS:
        found = pattern.search(clause.text)
        if found is None or clause.mode_at(clause.start + found.start()) is Mode.SUPPOSES:
            continue
        chosen, against = _stems(clause, found, "chosen"), _stems(clause, found, "against")
        about = _stems(clause, found, "about")
        if about & _NO_FAVOURITE or not (chosen or against):
            return
        change = 2 if CLEAR_CHANGE.search(clause.text) or kind in (SWITCHED, STOPPED) else 0
        change = change or (1 if FAINT_CHANGE.search(clause.text) else 0)
        verb = frozenset((stem(found["verb"].casefold()),)) if kind == STOPPED else frozenset()
        rest = telling([t for t in clause.tokens if t.start >= clause.start + found.end()])
        span = Span(clause.start, clause.end, clause.start + found.start())
        yield Choice(
            origin, kind, chosen, against, about or (rest if kind == PREFERS else verb), change, span
        )
        return


def _stems(clause: Clause, found: re.Match[str], group: str) -> frozenset[str]:
    if group not in found.re.groupindex or found[group] is None:
        return frozenset()
    start, end = clause.start + found.start(group), clause.start + found.end(group)
    return telling([token for token in clause.tokens if start <= token.start and token.end <= end])
