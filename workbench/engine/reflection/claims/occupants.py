"""Reads what has a place that one thing at a time has: the tool for a task, the person in a role, a thing's home."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import ENGLISH_MONTH_IN_FULL, ENGLISH_WEEKDAY
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.choice_patterns import OCCUPIES
from workbench.engine.reflection.claims.clauses import Mode, begin_of
from workbench.engine.reflection.claims.denials import denies
from workbench.engine.reflection.claims.model import Choice, Span
from workbench.engine.reflection.claims.vocabulary import (
    CHANGE_STEMS,
    CLEAR_CHANGE,
    FAINT_CHANGE,
    SAME_MEANING,
)
from workbench.engine.reflection.english import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.clauses import Clause, Token
    from workbench.engine.reflection.claims.model import Origin

_NAME = (
    r"(?P<chosen>(?-i:(?:Dr\.?|Mr\.?|Ms\.?|Mrs\.?|Prof\.?)\s+)?(?-i:[A-Z])[\w+#&-]*(?:[ ](?-i:[A-Z])[\w+#&-]*){0,2}"
    r"|(?-i:[a-z]+[A-Z])\w*)"
)
_SLOT = r"(?P<about>(?:(?-i:[A-Z])[\w-]+['’]s\s+)?(?:[a-z][\w-]*\s+){0,4}?[a-z][\w-]*)"
_LAST_SLOT = (
    r"(?P<about>[a-z][\w-]*(?:\s+(?!(?:from|since|as|because|when|while|and|but|in|on|at|with|until|so|now)\b)"
    r"[a-z][\w-]*){0,4})"
)
_THE = r"(?:(?:the|my|our|all|every|all\s+my|all\s+our|each|this)\s+)"
_STATE = (
    r"(?:is|are|was|were|runs?|goes|go|comes?|sits?|lives?|stays?|(?:is|are)\s+(?:now\s+)?(?:kept|done|stored|hosted"
    r"|described|built|written|managed|made|tracked|handled))"
)
_AT = r"(?:in|on|with|by|through|over|via|at|from|out\s+of)\s+(?:the\s+)?"
_ADVERBS = r"(?:(?:now|currently|still|all|mostly|actually|today)\s+)*"

_WRITTEN: Final = (
    (
        rf"\b(?:switched|moved|migrated|changed|switching|moving)\s+(?:over\s+)?to\s+{_NAME}\s+(?:for|as)\s+"
        rf"{_THE}?{_LAST_SLOT}\b"
    ),
    (
        rf"\b(?:moved|switched|migrated|transferred|shifted|ported|moving|switching|migrating)\s+{_THE}?{_SLOT}"
        rf"(?:\s+over)?\s+(?:to|into|onto)\s+(?:the\s+)?{_NAME}"
    ),
    (
        rf"\b(?:i|we)\s+{_ADVERBS}(?:do|write|run|keep|store|track|manage|build|make|draw|host|deploy|handle|test|plan"
        rf"|have)\s+{_THE}?{_SLOT}\s+{_AT}{_NAME}"
    ),
    (
        rf"\b(?:i|we)(?:['’]re|['’]m|\s+am|\s+are)?\s+{_ADVERBS}us(?:e|ing)\s+{_NAME}(?:\s+v?\d[\w.]*)?\s+(?:for|as)\s+"
        rf"{_THE}?{_LAST_SLOT}\b"
    ),
    (
        rf"^(?:(?:and|but|so)\s+)?{_NAME}\s+{_ADVERBS}(?:is|stays|remains|leads|runs|drives|manages|handles|(?:has\s+)?took"
        rf"\s+over|has\s+taken\s+over|takes\s+over|took\s+over)\s+(?:now\s+)?{_THE}{_LAST_SLOT}\b"
    ),
    rf"\b{_THE}(?:new\s+|current\s+)?{_SLOT}\s+{_ADVERBS}(?:is|are)\s+{_ADVERBS}(?:called\s+|named\s+)?(?:an?\s+)?{_NAME}",
    rf"(?:^|\b{_THE}|[,:]\s+){_SLOT}\s+{_ADVERBS}{_STATE}\s+{_ADVERBS}{_AT}{_NAME}",
)
_CHINESE: Final = (
    r"^(?:现在的?|如今的?)?(?P<about>(?![我你他她它这那今明昨])[\u3400-\u9fff]{2,6}?)(?:现在|最后|已经)?(?:用的是|选的是|选了"
    r"|换成|改成|改用|改为|改铺|是|叫)了?(?P<chosen>[\u3400-\u9fffA-Za-z][\u3400-\u9fff\w]{1,14}?)(?:的|了)?$"
)
_PATTERNS: Final = tuple(lazy_pattern(pattern, re.IGNORECASE) for pattern in (*_WRITTEN, _CHINESE))
_MOVES: Final = _PATTERNS[:2]
_OVER = lazy_pattern(
    r"\b(?:taken|took|takes)\s+over\b|\bsince\b|\bas\s+of\b|\bfrom\s+\w+\s+on\b", re.IGNORECASE
)
_CALENDAR: Final = lazy_pattern(
    rf"(?:{ENGLISH_MONTH_IN_FULL}|(?:{ENGLISH_WEEKDAY})s?|i)$",
    re.IGNORECASE,
)
_PEOPLE: Final = words(
    "sister brother mother father mom mum dad friend friends wife husband son daughter girlfriend boyfriend partner"
    " cousin neighbour neighbor aunt uncle grandma grandpa kid kids child children baby parents family people guy"
    " man woman person he she they it this that there what who"
)
_NO_SLOT: Final = words(
    "everything anything nothing something one it that this there here who which what work lot"
)


def occupants(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Choice]:
    """Yield what a clause says to have a place that one thing at a time has; at most one.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if clause.asked or denies(clause.text):
        return
    for pattern in _PATTERNS:
        found = pattern.search(clause.text)
        if found is None or clause.mode_at(clause.start + found.start()) is not Mode.STATES:
            continue
        name, slot = _tokens(clause, found, "chosen"), _tokens(clause, found, "about")
        about = frozenset(
            SAME_MEANING.get(token.stem, token.stem)
            for token in slot
            if token.tells and token.word not in _NO_SLOT and token.stem not in CHANGE_STEMS
        )
        if not about or slot[-1].word in _PEOPLE or _CALENDAR.match(found["chosen"]):
            continue
        change = 2 if pattern in _MOVES or CLEAR_CHANGE.search(clause.text) else 0
        change = change or (1 if _OVER.search(clause.text) or FAINT_CHANGE.search(clause.text) else 0)
        chosen = frozenset(token.stem for token in name)
        span = Span(begin_of(clauses, number), clause.end, clause.start + found.start())
        yield Choice(origin, OCCUPIES, chosen, frozenset(), about, change, span)
        return


def _tokens(clause: Clause, found: re.Match[str], group: str) -> list[Token]:
    start, end = clause.start + found.start(group), clause.start + found.end(group)
    return [token for token in clause.tokens if start <= token.start and token.end <= end]
