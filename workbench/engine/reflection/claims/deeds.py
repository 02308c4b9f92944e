"""Reads what somebody says he has done, does, tries or has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import stem
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.clauses import Mode, begin_of
from workbench.engine.reflection.claims.denials import (
    BETWEEN,
    HE,
    HE_HAS,
    I_HAVE,
    denies,
    of_whom,
    telling,
    verb_stem,
)
from workbench.engine.reflection.claims.model import Deed, Span
from workbench.engine.reflection.english import BASE_FORMS, PAST_FORMS, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.clauses import Clause
    from workbench.engine.reflection.claims.model import Origin

_DONE = lazy_pattern(rf"(?:{I_HAVE}|{HE_HAS}){BETWEEN}(?P<verb>[^\W\d_]+)", re.IGNORECASE)
_DID = lazy_pattern(rf"\b(?:i|we)\s+{BETWEEN}(?P<verb>[^\W\d_]+)", re.IGNORECASE)
_DOING = lazy_pattern(
    r"\b(?:i['’]m|i\s+am|we['’]re|we\s+are)\s+(?:(?:currently|now|already|also|still|actually)\s+)*(?P<verb>[^\W\d_]+ing)\b",
    re.IGNORECASE,
)
_HE_DOES = lazy_pattern(
    rf"{HE}{BETWEEN}(?P<verb>uses|has|owns|runs|drinks|eats|drives|speaks|lives|works|prefers)\b",
    re.IGNORECASE,
)
_AFTER = lazy_pattern(r"\b(?:after|since|by)\s+(?P<verb>[^\W\d_]+ing)\b", re.IGNORECASE)
_BEEN_DOING = lazy_pattern(rf"{I_HAVE}been\s+(?P<verb>[^\W\d_]+ing)\b", re.IGNORECASE)
_ATTEMPT = lazy_pattern(
    r"\b(?:(?:i['’]m|i\s+am|i['’]ve\s+been|we['’]re)\s+(?:currently\s+)?(?:trying|planning|hoping|going|looking|working)"
    r"\s+(?:to|on)|(?:i|we)\s+(?:want|plan|hope|need|decided)\s+to|i['’]d\s+like\s+to)\s+(?P<verb>[^\W\d_]+)",
    re.IGNORECASE,
)
_MINE = lazy_pattern(
    r"\b(?:my|our)\s+(?P<what>(?:[\w`.+#-]+\s+){0,4}?[\w`.+#-]+)"
    r"(?=\s+(?P<got>obtained|bought|received|acquired|created|built|made|published)\b"
    r"|\s+(?:is|was|has|which|that|to|for|in|with|and)\b|[.,;]|$)",
    re.IGNORECASE,
)
_THE_ONE = lazy_pattern(
    r"\b(?:the|that|those|my|our|an?)\s+(?P<what>(?:[\w'’-]+\s+){0,3}?[\w'’-]+)\s+(?:(?:that|which)\s+)?"
    r"(?:i|we)(?:['’]ve|\s+have)?\s+(?:(?:just|recently|already|once|finally)\s+)*(?P<verb>[^\W\d_]+)",
    re.IGNORECASE,
)
"""A thing by what was done to it, which takes for granted that it was: “the loan I had”, “the test that we wrote”."""
_NO_THING: Final = words(
    "way time first moment day reason one fact thing same last only year week month place"
)
_WAS_IN = lazy_pattern(r"\b(?:i|we)\s+(?P<verb>was|were)\s+(?:in|at)\s+(?=(?-i:[A-Z]))", re.IGNORECASE)
_CHINESE_DONE = lazy_pattern(r"(?:我|用户)(?:已经|昨天|今天|刚)?(?P<verb>[\u3400-\u9fff]{1,2}?)(?:了|过)")
_CHINESE_DOES = lazy_pattern(r"(?:我|用户)(?:一直|现在|每天|还|都)?(?P<verb>使用|住在|用|喝|吃)")
_NOT_DEEDS = frozenset(
    map(
        stem,
        words(
            "never not no to trying planning hoping thinking wondering looking having going sure unsure"
            " interested concerned worried struggling wanted needed heard read noticed seen thought considered"
            " been got tried wish hope think know guess believe want need like love feel felt am was will"
            " would can could should may might must don had able aware afraid curious getting excited reviewed"
            " studied learned learnt estimated decided chosen chose scheduled explored researched discovered"
            " found asked mentioned said told understand compare evaluate choose worry"
        ),
    )
)
_USES: Final = words("use prefer have own run drink eat drive speak live work")
_GOT: Final = frozenset(
    map(
        stem,
        words(
            "obtain obtained has get got gotten have had own owned buy bought receive received acquire acquired"
        ),
    )
)

_LIGHT: Final = frozenset(map(stem, words("take do make use build write attend visit join own offer")))

DONE: Final = 1.0
DOING: Final = 0.75
TRIES: Final = 0.5


def deeds(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Deed]:
    """Yield what a clause says that its speaker has done, does, tries or has; at most one of each.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if denies(clause.text):
        return
    stems = telling(clause.tokens)
    owned = _MINE.search(clause.text)
    if owned is not None:
        start, end = clause.start + owned.start("what"), clause.start + owned.end("what")
        what = [token for token in clause.tokens if start <= token.start < end]
        if telling(what):
            span = Span(begin_of(clauses, number), clause.end, clause.start + owned.start())
            strength = DONE if owned["got"] else TRIES if clause.asked else DOING
            verb = verb_stem((owned["got"] or "have").casefold())
            yield Deed(origin, verb, telling(what), strength, span, what[-1].stem)
    yield from _presupposed(clauses, number, origin)
    if clause.asked or not stems:
        return
    verb, strength, place, he = _deed(clause.text)
    mode = clause.mode_at(clause.start + place)
    if verb and (mode is Mode.STATES or (mode is Mode.AIMS and strength == TRIES)):
        span = Span(begin_of(clauses, number), clause.end, clause.start + place)
        yield Deed(of_whom(origin, he), verb_stem(verb), stems, strength, span)


def _presupposed(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Deed]:
    """Yield what “the loan I had” takes for granted, in a question too."""
    clause = clauses[number]
    found = _THE_ONE.search(clause.text)
    if found is None or clause.mode_at(clause.start + found.start()) is Mode.SUPPOSES:
        return
    verb = found["verb"].casefold()
    start, end = clause.start + found.start("what"), clause.start + found.end("what")
    what = [token for token in clause.tokens if start <= token.start < end]
    past = verb in BASE_FORMS or verb.endswith("ed")
    if not past or not what or what[-1].word in _NO_THING or not what[-1].tells:
        return
    if verb not in ("had", "got", "did") and stem(verb) in _NOT_DEEDS:
        return
    about = telling([token for token in clause.tokens if token.start >= start])
    span = Span(begin_of(clauses, number), clause.end, clause.start + found.start())
    yield Deed(origin, verb_stem(verb), about, DONE, span, what[-1].stem, presupposed=True)


def _deed(text: str) -> tuple[str, float, int, str | None]:
    for pattern, strength in (
        (_ATTEMPT, TRIES),
        (_DONE, DONE),
        (_DOING, DOING),
        (_DID, DONE),
        (_BEEN_DOING, DOING),
        (_AFTER, DONE),
        (_HE_DOES, DOING),
        (_WAS_IN, DONE),
        (_CHINESE_DONE, DONE),
        (_CHINESE_DOES, DOING),
    ):
        for found in pattern.finditer(text):
            verb = found["verb"].casefold()
            if stem(verb) in _NOT_DEEDS and pattern is not _WAS_IN:
                continue
            if pattern is _DID and not (verb.endswith("ed") or verb in PAST_FORMS or verb in _USES):
                continue
            he = found.groupdict().get("he")
            return verb, DOING if pattern is _DID and verb in _USES else strength, found.start(), he
    return "", 0.0, 0, None


def is_light(verb: str) -> bool:
    """Return whether a verb's stem says little of what is done to a thing: having, taking, making it."""
    return verb in _GOT or verb in _LIGHT


def is_getting(verb: str) -> bool:
    """Return whether a verb's stem means coming to have."""
    return verb in _GOT
