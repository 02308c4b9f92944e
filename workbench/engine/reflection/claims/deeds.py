"""Reads what somebody says he has done, does, tries or has, and what he says he has never done."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import stem
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.clauses import Mode, begin_of
from workbench.engine.reflection.claims.model import Alternative, Deed, Denial, Span
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
        if (found := clause.means(pattern)) is None:
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
    if not he or he.casefold() in ("user", "the user", origin.speaker, origin.speaker.partition(" ")[0]):
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
    if (found := clause.means(_THE_ONE)) is None:
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
