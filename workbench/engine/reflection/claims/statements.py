"""Reads the statements of a passage: what each tells, denies and sets aside, and how surely it is said to be new."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import stem
from workbench.engine.language.calendar import MONTHS, WEEKDAYS
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.clauses import Mode, begin_of
from workbench.engine.reflection.claims.model import Origin, Span
from workbench.engine.reflection.claims.vocabulary import CHANGE_STEMS, SAME_MEANING
from workbench.engine.reflection.english import BASE_FORMS, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from workbench.engine.reflection.claims.clauses import Clause, Token

_CHINESE: Final = lazy_pattern("[\u3400-\u9fff]")
_DENIES: Final = lazy_pattern(
    r"\b(?:never(?!\s+(?:been\s+)?(?:so|such|more|better)\b)|not(?!\s+(?:sure|certain|only|just)\b)|no(?!\s+(?:doubt|problem|worries)\b)|without|cannot|don['’]?t|doesn['’]?t|didn['’]?t|haven['’]?t|hasn['’]?t|hadn['’]?t|isn['’]?t|aren['’]?t|wasn['’]?t|weren['’]?t"
    r"|can['’]?t|couldn['’]?t|won['’]?t|hates?|dislikes?|avoids?)\b|从来没有?|从没有?|从未|没有?|不(?!错|同|仅|但|过|久|断|管)|讨厌",
    re.IGNORECASE,
)
_NEVER: Final = lazy_pattern(r"\bnever\b|从来?没|从未", re.IGNORECASE)
_YET: Final = lazy_pattern(r"\byet\b|还没|尚未", re.IGNORECASE)
OWN: Final = lazy_pattern(r"\b(?:I|I['’]\w+|[Mm]y|[Mm]e|[Ww]e|[Ww]e['’]\w+|[Oo]ur)\b|我")
_DONE: Final = lazy_pattern(
    r"\b(?:i|we)(?:['’]ve|\s+have)\s+(?!to\b)(?:\w+\s+){0,2}?\w+(?:ed|en|ne|de|ad|t|ilt|ought)\b|\b(?:i|we)\s+(?:\w+ly\s+|just\s+|also\s+)?(?:\w+ed|did|made|built|wrote|got|bought|took|went|met|had|ran|gave|found|taught|spoke)\b"
    r"|\b(?:i['’]m|i\s+am|we['’]re|been)\s+(?:\w+ly\s+|also\s+|already\s+)?\w+ing\b|\b(?:my|our)\b|[了过過]",
    re.IGNORECASE,
)
_TRIES: Final = lazy_pattern(
    r"\b(?:try|trying|tried|plan|planning|hop(?:e|ing)|want|wants|wanted|going|looking|aiming|need"
    r"|struggling|thinking|considering|learning|'d like|would like|wondering)\b|想|打算|准备|计划|尝试",
    re.IGNORECASE,
)
_GRANTED: Final = lazy_pattern(
    r"\b(?:the|that|those|my|our)\s+(?:[\w'’-]+\s+){1,3}(?:(?:that|which)\s+)?(?:i|we)(?:['’]ve|\s+have)?\s+(?:had|got|did|\w+ed)\b",
    re.IGNORECASE,
)
_ORDERS: Final = lazy_pattern(
    r"\s*(?:always|please|make\s+sure|remember|let['’]?s|sure|yeah|thanks?)\b|请|以后", re.IGNORECASE
)
"""How a clause begins that asks for something or answers, and says nothing of what is so."""
_RELATIVE: Final = lazy_pattern(r"\s*(?:which|that|who)\b", re.IGNORECASE)
_LONGEST: Final = 300
_VAGUE: Final = words(
    "before any ever related relating actual really yet this that project basic simple some certain own proper whole"
    " life single kind sort hand"
)


@dataclass(frozen=True, slots=True)
class Statement:
    """What a clause says.

    Args:
        origin: Where it was read.
        span: The words.
        terms: Stems of what it tells, in the order of the words; what it sets aside is left out.
        aside: Stems of what it sets aside: “Vim” in “no longer Vim”.
        context: Stems of the whole sentence.
        names: Those of the stems that are written like names.
        places: What it says to be in a place that one at a time has: home, tool, manager.
        denied: Stems of what it denies; empty where it denies nothing.
        verb: The first of what is denied.
        never: Whether it denies a whole history.
        yet: Whether it denies only what may still come.
        change: How surely the words say that it is new: 0 not at all, 1 weakly, 2 clearly.
        mode: How it stands to what is so.
        own: Whether the speaker speaks of himself.
        done: Whether it says that something is done, being done or had.
        tries: Whether it speaks of trying, planning or wanting.
        supposes: Whether its end supposes something, or turns to somebody else.
        likes: Whether something is liked.
        dislikes: Whether something is not.
        granted: Whether it takes for granted that something was: “the loan I had”.
        subject: The name that it begins with, folded; empty where it begins otherwise, or with the owner's.
    """

    origin: Origin
    span: Span
    terms: tuple[str, ...]
    aside: frozenset[str]
    context: frozenset[str]
    names: frozenset[str]
    places: frozenset[str]
    denied: frozenset[str]
    verb: str
    never: bool
    yet: bool
    change: int
    mode: Mode
    own: bool
    done: bool
    tries: bool
    supposes: bool
    subject: str
    likes: bool
    dislikes: bool
    granted: bool

    @property
    def told(self) -> frozenset[str]:
        """Return the stems of what it tells."""
        return frozenset(self.terms)

    @property
    def denies(self) -> bool:
        """Return whether it denies anything."""
        return bool(self.denied)


@dataclass(frozen=True, slots=True)
class _Words:
    clear: re.Pattern[str]
    faint: re.Pattern[str]
    aside: re.Pattern[str]
    likes: re.Pattern[str]
    dislikes: re.Pattern[str]
    places: Mapping[str, re.Pattern[str]]


@cache
def _words() -> _Words:
    text = resources.files("workbench.engine.reflection.claims").joinpath("updates.toml").read_text("utf-8")
    table = tomllib.loads(text)
    en, zh = table["en"], table["zh"]
    apart = rf"\s+(?:{_latin(en['apart'])})\b|[,.;:!?]|$|{_han(zh['apart'])}"
    return _Words(
        re.compile(rf"\b(?:{_latin(en['clear'])})\b|{_han(zh['clear'])}", re.IGNORECASE),
        re.compile(rf"\b(?:{_latin(en['faint'])})\b|{_han(zh['faint'])}", re.IGNORECASE),
        re.compile(
            rf"(?:\b(?:{_latin(en['aside'])})\b(?!\s+(?:{_latin(en['apart'])})\b)|{_han(zh['aside'])})(?P<what>.{{1,60}}?)(?={apart})",
            re.IGNORECASE,
        ),
        re.compile(rf"\b(?:{_latin(en['likes'])})\b|{_han(zh['likes'])}", re.IGNORECASE),
        re.compile(rf"\b(?:{_latin(en['dislikes'])})\b|{_han(zh['dislikes'])}", re.IGNORECASE),
        {
            place: re.compile(
                rf"\b(?:{_latin(en['places'][place])})\b|{_han(zh['places'][place])}", re.IGNORECASE
            )
            for place in en["places"]
        },
    )


def _latin(words: Iterable[str]) -> str:
    written = sorted(words, key=len, reverse=True)
    return "|".join(re.escape(word).replace(r"\ ", r"\s+").replace(r"\*", r"\w*") for word in written)


def _han(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def change_in(text: str) -> int:
    """Tell how surely words say that something is new: 0 not at all, 1 weakly, 2 clearly."""
    words = _words()
    return 2 if words.clear.search(text) else 1 if words.faint.search(text) else 0


def statements(clauses: Sequence[Clause], origin: Origin, owner: str) -> Iterator[Statement]:
    """Yield what the clauses of a passage state, aim at or ask; what only supposes is left out.

    Args:
        clauses: Of the passage.
        origin: Where they were read.
        owner: The person's name, folded.
    """
    words = _words()
    for number, clause in enumerate(clauses):
        mode = clause.mode_at(clause.start + len(clause.text) // 2)
        if mode is Mode.SUPPOSES or len(clause.text) > _LONGEST or _ORDERS.match(clause.text):
            continue
        found = words.aside.search(clause.text)
        edges = (clause.start + found.start("what"), clause.start + found.end("what")) if found else (0, 0)
        set_aside = [token for token in clause.tokens if edges[0] <= token.start < edges[1]]
        kept = [token for token in clause.tokens if not edges[0] <= token.start < edges[1]]
        granted = _GRANTED.search(clause.text)
        denial = _DENIES.search(clause.text)
        denied = [t for t in clause.tokens if denial and t.start >= clause.start + denial.end()]
        objects = list(_telling(denied))
        before = _before(clauses, number)
        if denial and (len(objects) < 2 or _RELATIVE.match(clause.text)):
            objects += list(_telling(before))
        terms = tuple(each for each in _telling(kept) if each not in CHANGE_STEMS)
        if not terms and not objects:
            continue
        sentence = [
            t
            for other in clauses[max(0, number - 6) : number + 6]
            if other.sentence == clause.sentence
            for t in other.tokens
        ]
        yield Statement(
            origin,
            Span(
                begin_of(clauses, number),
                clause.end,
                clause.start + (found_at.start() if (found_at := granted or denial) else 0),
            ),
            terms,
            frozenset(_telling(set_aside)),
            frozenset(_telling(sentence)),
            frozenset(_meaning(t) for t in clause.tokens if t.tells and _is_name(t, clause)),
            frozenset(place for place, pattern in words.places.items() if pattern.search(clause.text)),
            frozenset(objects[1:] if len(objects) > 1 else objects),
            objects[0] if objects else "",
            _NEVER.search(clause.text) is not None,
            _YET.search(clause.text) is not None,
            change_in(clause.text),
            mode,
            OWN.search(clause.text) is not None,
            granted is not None or _DONE.search(clause.text) is not None,
            _TRIES.search(clause.text) is not None,
            clause.mode_at(clause.end) is Mode.SUPPOSES,
            _subject(clause, owner),
            words.likes.search(clause.text) is not None,
            words.dislikes.search(clause.text) is not None,
            granted is not None,
        )


def _is_name(token: Token, clause: Clause) -> bool:
    """Return whether a word may name something: it is written so, or is Chinese, which writes no name differently."""
    if token.word in MONTHS or token.word in WEEKDAYS:
        return False
    first = clause.text[token.start - clause.start]
    return (
        token.name or (token.start == clause.start and first.isupper()) or _CHINESE.match(first) is not None
    )


def _subject(clause: Clause, owner: str) -> str:
    first = clause.tokens[0] if clause.tokens else None
    if (
        first is None
        or not first.tells
        or not _is_name(first, clause)
        or first.word in (owner, *owner.split()[:1])
    ):
        return ""
    return first.word


def _before(clauses: Sequence[Clause], number: int) -> list[Token]:
    """Return the words that “which” or “it” goes back to: the last of the clause before."""
    for other in reversed(clauses[max(0, number - 2) : number]):
        if clauses[number].sentence - other.sentence <= 1 and any(token.tells for token in other.tokens):
            return list(other.tokens)[-6:]
    return []


def _telling(tokens: Iterable[Token]) -> Iterator[str]:
    return (_meaning(token) for token in tokens if token.tells and token.word not in _VAGUE)


def _meaning(token: Token) -> str:
    base = BASE_FORMS.get(token.word)
    found = stem(base) if base else token.stem
    return SAME_MEANING.get(found, found)
