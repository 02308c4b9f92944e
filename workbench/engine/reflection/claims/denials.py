"""Reads what somebody says he has never done, and what he says he has done, does or tries."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from workbench.engine.catalog.terms import stem
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.clauses import Mode, begin_of
from workbench.engine.reflection.claims.model import Alternative, Denial, Span
from workbench.engine.reflection.claims.vocabulary import SAME_MEANING
from workbench.engine.reflection.english import BASE_FORMS, PAST_FORMS, words
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.reflection.claims.clauses import Clause, Token
    from workbench.engine.reflection.claims.model import Origin

BETWEEN = (
    r"(?:(?:actually|really|even|once|fully|personally|also|ever|yet|properly|honestly|just|already|recently"
    r"|successfully|finally|now|since|only|currently|been\s+able\s+to|managed\s+to|decided\s+to|chosen\s+to"
    r"|started\s+to)\s+)*"
)
"""What may stand between “I have” and its verb."""
I_HAVE = r"\b(?:i|we)(?:['’]ve|\s+have)\s+"
HE = (
    r"^(?P<he>(?:the\s+)?user|(?!(?:It|This|That|There|He|She|What|Which|Who|Nobody|Everyone|Everything|Nothing|Someone"
    r"|The|Each|One)\b)(?-i:[A-Z])[\w’'-]+(?:\s(?-i:[A-Z])[\w’'-]+)?)\s+"
)
"""Somebody whom a note speaks of by name, at the beginning of a clause."""
HE_HAS = rf"{HE}has\s+"
_NEVER = lazy_pattern(
    rf"(?:\b(?:i|we)(?:['’]ve|\s+have)?\s+{BETWEEN}|{HE_HAS}{BETWEEN})never\s+{BETWEEN}(?P<verb>[^\W\d_]+)",
    re.IGNORECASE,
)
_NOT_YET = lazy_pattern(
    rf"\b(?:(?:i|we)\s+(?:haven['’]t|have\s+not)|hasn['’]t|has\s+not)\s+{BETWEEN}(?P<verb>[^\W\d_]+)",
    re.IGNORECASE,
)
_LACKS = lazy_pattern(
    r"\b(?:i|we)\s+(?:don['’]t|do\s+not)\s+(?:actually\s+|even\s+|currently\s+|yet\s+)*(?P<verb>have|own|use|drink|eat|smoke|drive|speak)\b",
    re.IGNORECASE,
)
_CHINESE_NEVER = lazy_pattern(r"(?:我|用户)(?:从来没有?|从没有?|从未|没有?)(?P<verb>[\u3400-\u9fff]{1,2}?)过")
_RHETORICAL = lazy_pattern(
    r"\s*(?:such|so|this\s+\w+\s+(?:before|in)|more|better|anything|like\s+this|that\s+way|a\s+dull|imagine|thought|been\s+(?:so|more|this|happier|better))\b",
    re.IGNORECASE,
)
_SPOKEN_OF = words(
    "give know forget mind thought imagined expected realized realised felt stop stopped gets fails guess"
    " hesitate regret been considered"
)
_PRONOUN = lazy_pattern(
    r"\s*(?:it|them|(?:that|this|any)(?=\s*(?:before|yet|in|with|at|for|on|myself)?\s*(?:[.,;!]|$))"
    r"|one(?=\s*(?:[.,;!]|$)|\s+(?:before|yet|in|with|at|for|on|myself)\b))\b",
    re.IGNORECASE,
)
_RELATIVE = lazy_pattern(r"\s*(?:which|that)\b", re.IGNORECASE)
_PREPOSITIONS = words(
    "for in with to on at by from about involving related using of during before after into"
)
_WORD = lazy_pattern(r"[^\W\d_]+")
_THERE = lazy_pattern(r"\s+(?:to|in)\s+(?-i:[A-Z])", re.IGNORECASE)
_LIST_END = lazy_pattern(r"\s(?:or|nor)\s", re.IGNORECASE)
_OR = lazy_pattern(r"\s+or\s+|\s*,\s*(?:or\s+)?|\s+nor\s+|或者?", re.IGNORECASE)


def denials(clauses: Sequence[Clause], number: int, origin: Origin) -> Iterator[Denial]:
    """Yield what a clause says was never done, has not been done yet, or is not had.

    Args:
        clauses: Of the passage.
        number: Of the clause among them.
        origin: Where they were read.
    """
    clause = clauses[number]
    if clause.asked:
        return
    for pattern in (_NEVER, _NOT_YET, _LACKS, _CHINESE_NEVER):
        found = pattern.search(clause.text)
        if found is None or clause.mode_at(clause.start + found.start()) is Mode.SUPPOSES:
            continue
        verb = found["verb"].casefold()
        rest = clause.text[found.end() :]
        been_there = verb == "been" and _THERE.match(rest) is not None
        if (verb in _SPOKEN_OF and not been_there) or _RHETORICAL.match(rest):
            return
        if pattern is _NOT_YET and not re.search(
            r"\b(?:yet|before|any|ever|at\s+all)\b", clause.text, re.IGNORECASE
        ):
            return
        denied = _object(clauses, number, found.end())
        if denied.alternatives:
            span = Span(denied.start, clause.end, clause.start + found.start("verb"))
            has_yet = pattern not in (_NEVER, _CHINESE_NEVER)
            about = of_whom(origin, found.groupdict().get("he"))
            yield Denial(
                about, verb_stem(verb), denied.alternatives, span, has_yet, denied.names, denied.meant
            )
        return


@dataclass(frozen=True, slots=True)
class _Object:
    """What a denial denies: see `Denial`; `start` is where the words begin that say it."""

    alternatives: tuple[Alternative, ...]
    names: frozenset[str]
    start: int
    meant: str = ""


def _object(clauses: Sequence[Clause], number: int, behind: int) -> _Object:
    """Return what stands behind the verb; where that is “it”, or the clause hangs on “which”, what those mean."""
    clause = clauses[number]
    rest = clause.text[behind:]
    comma = rest.find(", ")
    if comma > 0 and _LIST_END.search(rest[comma:]) is None:
        rest = rest[:comma]
    stop = clause.start + behind + len(rest)
    tokens = [token for token in clause.tokens if clause.start + behind <= token.start < stop]
    borders = [
        clause.start + behind + border.end()
        for border in _OR.finditer(rest)
        if _begins_another(rest[border.end() :])
    ]
    edges = [clause.start + behind, *borders, stop]
    named = [
        _alternative([token for token in tokens if start <= token.start < end])
        for start, end in pairwise(edges)
    ]
    found = _Object(
        tuple(alternative for alternative in named if alternative.stems),
        telling([token for token in tokens if token.name]),
        begin_of(clauses, number),
    )
    relative = _RELATIVE.match(clause.text) is not None
    if found.alternatives and not relative and not _PRONOUN.match(rest):
        return found
    other = next((c for c in reversed(clauses[max(0, number - 2) : number]) if telling(c.tokens)), None)
    if other is None or clause.sentence - other.sentence > 1:
        return found
    meant = _last_words(other) if relative else list(other.tokens)
    more = telling(meant)
    kept = () if relative else tuple(Alternative(each.stems | more) for each in found.alternatives)
    return _Object(
        kept or ((Alternative(more),) if more else ()),
        found.names | telling([token for token in meant if token.name]),
        other.start if other.sentence == clause.sentence else found.start,
        other.text[meant[-1].start - other.start : meant[0].end - other.start] if relative and meant else "",
    )


def _alternative(tokens: Sequence[Token]) -> Alternative:
    core = list(takewhile(lambda token: token.word not in _PREPOSITIONS, tokens))
    return Alternative(telling(tokens), telling(core))


def _begins_another(text: str) -> bool:
    """Tell “or handled requests” and “or any board”, where another thing is denied, from “or requests”."""
    word = _WORD.match(text)
    if word is None:
        return False
    key = word[0].casefold()
    return key.endswith(("ed", "en", "ne")) or key in PAST_FORMS or key in ("any", "other", "another")


def _last_words(clause: Clause) -> list[Token]:
    """Return the words at the end of a clause up to one that tells nothing: “like Flask-Login” gives “Flask-Login”."""
    found: list[Token] = []
    for token in reversed(clause.tokens):
        if not token.tells or (
            found and "," in clause.text[token.end - clause.start : found[-1].start - clause.start]
        ):
            break
        found.append(token)
    return found


def of_whom(origin: Origin, he: str | None) -> Origin:
    """Return the origin as that of whom a note speaks of, where it speaks of somebody by name."""
    if not he or he.casefold() in ("user", "the user"):
        return origin
    return replace(origin, speaker=he.casefold(), subject=he)


def denies(text: str) -> bool:
    """Return whether a clause denies something of the speaker."""
    return any(pattern.search(text) for pattern in (_NEVER, _NOT_YET, _LACKS, _CHINESE_NEVER))


def telling(tokens: Sequence[Token]) -> frozenset[str]:
    """Return the stems of words that say something by themselves."""
    return frozenset(SAME_MEANING.get(t.stem, t.stem) for t in tokens if t.tells and t.word not in _VAGUE)


_VAGUE = words(
    "before any ever related relating actual really yet this that project basic simple some certain own"
    " proper whole life single kind sort hand"
)


def verb_stem(verb: str) -> str:
    """Return by what two verbs are told to be one: “used” and “using” too."""
    found = stem(BASE_FORMS.get(verb, verb))
    return SAME_MEANING.get(found, found)
