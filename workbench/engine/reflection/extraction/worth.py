"""Judges how much a sentence of a conversation is worth recording: what kind of thing it says, and how concretely."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any, Final

from workbench.engine.catalog.terms import STOP_WORDS, stem
from workbench.engine.language.calendar import ENGLISH_MONTH_IN_FULL, ENGLISH_WEEKDAY, any_of
from workbench.engine.language.chinese import HAN, telling_pairs
from workbench.engine.language.kin import ANYBODY, FAMILY, YOUNG, with_plurals
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import BASE_FORMS, PAST_FORMS
from workbench.engine.values import dataclass

LEAST: Final = 3.25
"""Worth below which nothing is proposed."""
_LEAST_WEIGHED: Final = 4.5
"""Worth and odds together below which nothing is proposed, unless the odds alone are enough."""
_ENOUGH: Final = 0.5
_FEW_TERMS: Final = 3
_MANY_TERMS: Final = 6
_VERY_VAGUE: Final = 3
_SHORT: Final = 7
_FEWEST_WORDS: Final = 2
_TELLING: Final = 2
_BARE: Final = 1.5
# Who somebody is, how they are and what they like: a single word says enough (“I’m left-handed”), and it lasts
# however it was said.
_PLAIN: Final = frozenset(("identity", "health", "milestone", "preference"))
# Lasts whatever mood it was told with. Work and what is liked do not tell: one is nervous about an exam, too.
_LASTING: Final = frozenset(("identity", "health", "milestone", "home"))
_MOST_WORDS: Final = 45
_SEVERAL_KINDS: Final = 0.35
_PER_WORD: Final = 0.35
_MOST_CONCRETE: Final = 6
_NAME: Final = 0.8
_NUMBER: Final = 0.5
_PER_VAGUE: Final = 0.25
_DANGLING: Final = 8.0
_DEICTIC: Final = 2.0
_UNKNOWN_DEFINITE: Final = 0.6
_LONG: Final = 0.05
_COMFORTABLE: Final = 24
_ATTEMPT: Final = 3.6
_JOINT: Final = 0.3
_RECORDED: Final = 3.6

_WORD = lazy_pattern(r"v\d[\d.]*|[^\W\d_][\w'’-]*|\d[\d.,:%]*")
_HAN_RUN = lazy_pattern(f"{HAN}+")
_CAPITAL = lazy_pattern(r"(?<=[\w,] )(?:[A-Z][\w’'-]+|[A-Z]{2,})")
_PRONOUN = lazy_pattern(
    r"\b(?:it|it's|its|them|they|they're|they've|their|he|she|him|her|his|hers|he's|she's|those|these|there)\b",
    re.IGNORECASE,
)
_POINTING = lazy_pattern(
    r"""\b(?:this|that|these|those)\b(?=\s*(?:$|[.,!;]|(?:is|was|has|will|really|means|made|makes|one|ones|kind|sort|type|way|stuff)\b))
      | \b(?:about|with|like|of|for|to|from|after|before|by|at|do|did|done|doing|love|loved|made|see
          |all)\ (?:this|that|these|those)\s*(?:$|[.,!])
      | \b(?:something|anything|experience|stuff)\ (?:similar|like\ (?:this|that|it))\b
          | \bsimilar\ (?:experience|thing|stuff)\b
      | \b(?:been|be|am|is|was)\ one\b
      | ^I(?:'ve|\ have)?\ (?:now\ )?(?:reached|achieved|improved|hit)\ (?:by\ |to\ |about\ )*[\d.]+\ ?%
      | \b(?:here|such)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_DEICTIC_NOUN = lazy_pattern(
    r"\b(?:this|these|those|that)\s+(?!(?:i|you|we|he|she|it|they|the|my|a|an|are|is|was|were|can|will|has"
    r"|have|year|week|month|summer"
    rf"|weekend|morning|evening|afternoon|spring|fall|autumn|winter|{ENGLISH_WEEKDAY})\b)\w+",
    re.IGNORECASE,
)
_DEFINITE = lazy_pattern(
    r"\bthe (?:\w+ )?(?:event|project|class|trip|job|game|show|movie|book|program|campaign|race|team|shop"
    r"|store|studio|party"
    r"|concert|festival|food|music|kids?|place|people|meeting|thing|process|results?|one|idea|view|moment"
    r"|company|house|cause|accident|community|group|situation)s?\b"
    r"(?! (?:of|at|called|named|about)\b)",
    re.IGNORECASE,
)
_KIN_WORDS = lazy_pattern(
    rf"\b(?:{any_of(ANYBODY)}|family|man|woman|lady|guy|girl|boy|dog|puppy|cat|kitten|pets?|students?|team|grand\w+"
    r"|aunt\w*|veterans?|volunteers?)\b"
)
_PERSONS = lazy_pattern(_KIN_WORDS.pattern + r"|(?<=\w )[A-Z][a-z]+")
# What somebody wants help with now is seldom what is worth knowing later.
_TRYING = lazy_pattern(r"\b(?:trying|try|tried|struggling|attempting) (?:to|out)?\b", re.IGNORECASE)
_AGO_STATE = lazy_pattern(
    r"I(?:'ve| have)? (?:encountered|get(?:ting)?|keep|see(?:ing)?|receiv\w+)\b", re.IGNORECASE
)
_PLURAL = lazy_pattern(
    r"\b(?!(?:was|is|has|does|this|always|its|us|as|yes|plus|sometimes|times|lots|ways)\b)[a-z]{3,}s\b"
)
_NOUN = lazy_pattern(
    r"\b(?:an?|the|my|some|another|every|each|\d+)\s+(?i:\w+)|(?<=[a-z] )[A-Z]\w+|\b(?!(?:was|is|has|does"
    r"|this|always|its|us|as|yes|plus)\b)[a-z]{3,}s\b"
)
# “I’ll be patient” is no plan; “I’ll be in Oslo on 3 May” is one.
_INTENDED = lazy_pattern(
    r"^I(?:'ll| will)\b(?!.*(?:\d|\bnext\b|\btomorrow\b|\btonight\b|day\b|\bweekend\b|\bsummer\b))",
    re.IGNORECASE,
)
_VERSION = lazy_pattern(r"^v(?=\d)")
_EXISTENTIAL = lazy_pattern(r"\bthere(?:'s|’s| is| are| was| were)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Worth:
    """What a sentence is worth.

    Args:
        value: About 0–10; below `LEAST` not worth a person's time.
        kind: What it says something about: family, work, plan …; empty where nothing was recognised.
        terms: Its telling words, folded.
    """

    value: float
    kind: str
    terms: frozenset[str]


@dataclass(frozen=True)
class _Cues:
    dropped: re.Pattern[str]
    subject: re.Pattern[str]
    elliptic: re.Pattern[str]
    kinds: tuple[tuple[str, float, re.Pattern[str]], ...]
    vague: frozenset[str]
    empty: frozenset[str]
    tenses: tuple[tuple[str, re.Pattern[str]], ...]
    signs: tuple[tuple[str, re.Pattern[str]], ...]
    mood: re.Pattern[str]
    liked: re.Pattern[str]
    feels: re.Pattern[str]
    feelings: frozenset[str]
    base: float
    weights: dict[str, float]


@cache
def _cues() -> _Cues:
    table = tomllib.loads(
        resources.files("workbench.engine.reflection.extraction").joinpath("worth.toml").read_text("utf-8")
    )
    return _Cues(
        _any_of(table["dropped"]["patterns"]),
        _any_of(table["subject"]["patterns"]),
        _any_of(table["elliptic"]["patterns"]),
        tuple(
            (
                kind["name"],
                kind["weight"],
                _any_of([_with_parts(pattern, table) for pattern in kind["patterns"]]),
            )
            for kind in table["kind"]
        ),
        frozenset(table["words"]["vague"]),
        STOP_WORDS | frozenset(table["words"]["vague"]) | frozenset(table["words"]["frame"]),
        tuple((name, _filled(pattern, table)) for name, pattern in table["tense"].items()),
        tuple((name, _filled(pattern, table)) for name, pattern in table["sign"].items()),
        _filled(table["passing"]["mood"], table),
        _filled(table["passing"]["liked"], table),
        _filled(table["parts"]["feels"], table),
        frozenset(table["words"]["feelings"]),
        table["model"]["base"],
        table["model"]["weights"],
    )


def _filled(pattern: str, table: dict[str, Any]) -> re.Pattern[str]:
    return re.compile(_with_parts(pattern, table))


def _with_parts(pattern: str, table: dict[str, Any]) -> str:
    """Put in what “<self>” and the like stand for: parts that several patterns need."""
    if "<" not in pattern:
        return pattern
    parts = {
        **table["parts"],
        "family": any_of(with_plurals((*FAMILY, *YOUNG))),
        "participle": "|".join(sorted(BASE_FORMS)),
        "past": "|".join(sorted(PAST_FORMS)),
        "feeling": "|".join(table["words"]["feelings"]),
        "day": f"{ENGLISH_MONTH_IN_FULL}|{ENGLISH_WEEKDAY}",
    }
    for name, part in parts.items():
        pattern = pattern.replace(f"<{name}>", part)
    return pattern


def _any_of(patterns: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def is_elliptic(clause: str) -> bool:
    """Return whether a clause leaves “I” out: “Just got back from Rome”."""
    return _cues().elliptic.match(clause) is not None


def is_ones_own(clause: str) -> bool:
    """Return whether the subject of a clause is its speaker or who belongs to the speaker."""
    return _cues().subject.match(clause) is not None


def terms_of(text: str) -> frozenset[str]:
    """Return the telling words of a text, stemmed: no function words, no vague ones, none that only frame the rest.

    Of Chinese they are pairs of characters.
    """
    cues = _cues()
    pairs: set[str] = set()
    if not text.isascii():
        pairs = {pair for run in _HAN_RUN.findall(text) for _, pair in telling_pairs(run)}
        text = _HAN_RUN.sub(" ", text)
    words = (
        word.casefold().removesuffix("'s").rstrip(".,:'") for word in _WORD.findall(text.replace("’", "'"))
    )
    empty = cues.empty
    return frozenset(pairs).union(
        stem(_VERSION.sub("", word))
        for word in words
        if word not in empty and "'" not in word and len(word) > 1
    )


def worth_of(clause: str, *, joint: bool = False, known: bool = False) -> Worth:
    """Judge a clause as its speaker says it, with “I” and “my”.

    The weight of its kind, more for each concrete word, name and number, less for vague words, for pronouns that
    refer to something outside of it, and for length.

    Args:
        clause: With “I” for “we”.
        joint: Whether it said “we”: what several do says less of each.
        known: Whether it is about an entity that is recorded already, of which any statement may be of use.
    """
    cues = _cues()
    plain = clause.replace("’", "'")
    words = [word.casefold() for word in _WORD.findall(plain)]
    if len(words) < _FEWEST_WORDS or len(words) > _MOST_WORDS or cues.dropped.search(plain):
        return Worth(0.0, "", frozenset())
    if cues.liked.search(plain) or _is_mood(plain, cues):
        return Worth(0.0, "", frozenset())
    fitting = sorted(
        ((weight, name) for name, weight, pattern in cues.kinds if pattern.search(plain)), reverse=True
    )
    if known:
        fitting.append((_RECORDED, "recorded"))
    if not fitting:
        return Worth(0.0, "", frozenset())
    telling = terms_of(plain)
    vague = sum(word in cues.vague for word in words)
    value = fitting[0][0] + _SEVERAL_KINDS * min(2, len(fitting) - 1) - 1.2
    value += _PER_WORD * min(_MOST_CONCRETE, len(telling)) - _PER_VAGUE * vague
    names = min(2, len(_CAPITAL.findall(plain.replace(" I ", " "))))
    # A choice is told by the name of what was chosen: “I decided on Postgres”.
    enough = fitting[0][1] in _PLAIN or (fitting[0][1] == "decision" and names)
    if not telling or (len(telling) < _TELLING and not enough):
        value -= _BARE
    value += _NAME * names + _NUMBER * bool(re.search(r"\d", plain))
    value -= _pointing_outside(plain) + _JOINT * joint * (2 if fitting[0][1] == "preference" else 1)
    value -= _ATTEMPT * bool(_TRYING.search(plain))
    value -= _ATTEMPT * bool(_AGO_STATE.match(plain) or _INTENDED.match(plain))
    value -= _LONG * max(0, len(words) - _COMFORTABLE)
    return Worth(value, fitting[0][1], telling)


def _is_mood(plain: str, cues: _Cues) -> bool:
    """Return whether a clause says how its speaker felt, and nothing that lasts: “I got moved to Lund” says more.

    What lasts reaches beyond the feeling, “I felt depressed”, for that word alone may read as of a lasting kind.
    """
    mood = cues.mood.search(plain)
    return mood is not None and not any(
        found.end() > mood.end("felt")
        for name, _, pattern in cues.kinds
        if name in _LASTING
        for found in pattern.finditer(plain)
    )


def _pointing_outside(plain: str) -> float:
    """Return what is taken off for words that refer to something the clause does not name."""
    off = 0.0
    if _POINTING.search(plain):
        off += _DANGLING
    off += _DEICTIC * len(_DEICTIC_NOUN.findall(plain))
    off += _UNKNOWN_DEFINITE * len(_DEFINITE.findall(plain))
    for found in _PRONOUN.finditer(_EXISTENTIAL.sub("", plain)):
        word = found.group().casefold()
        before = plain[: found.start()]
        if word in ("it", "it's", "its", "those", "these", "there"):
            named = _NOUN.search(_KIN_WORDS.sub("-", before)) is not None
        else:
            named = _PERSONS.search(before) is not None or (
                word.startswith("the") and _PLURAL.search(before) is not None
            )
        if not named:
            off += _DANGLING
            break
    return off


def features_of(own: str, kind: str, *, joint: bool, dated: bool, asks: bool) -> tuple[str, ...]:
    """Return by name what speaks for or against keeping a statement.

    Args:
        own: As its speaker says it, with “I”.
        kind: What it says something about.
        joint: Whether it said “we”.
        dated: Whether its words say when.
        asks: Whether it was said to an agent, who is mostly told what one needs help with now.
    """
    cues = _cues()
    plain = own.replace("’", "'")
    folded = [word.casefold() for word in _WORD.findall(plain)]
    tense = next((name for name, pattern in cues.tenses if pattern.search(plain)), "of others")
    telling = len(terms_of(plain))
    vague = sum(word in cues.vague for word in folded)
    feels = any(word in cues.feelings for found in cues.feels.finditer(plain) for word in found.groups())
    told = "few" if telling < _FEW_TERMS else "some" if telling < _MANY_TERMS else "many"
    features = [kind, tense, f"{told} telling words"]
    features += [name for name, pattern in cues.signs if pattern.search(plain)]
    more = {
        "of several": joint,
        "says when": dated,
        "feels": feels,
        "vague": vague > 0,
        "very vague": vague >= _VERY_VAGUE,
        "short": len(folded) < _SHORT,
        "long": len(folded) > _COMFORTABLE,
        "to an agent": asks,
        f"{tense}, to an agent": asks,
    }
    return (*features, *(name for name, holds in more.items() if holds))


def odds_of(features: tuple[str, ...]) -> float:
    """Return the log-odds that a person finds a statement worth keeping, by the fitted weights of its features."""
    cues = _cues()
    return cues.base + sum(cues.weights.get(name, 0.0) for name in features)


def is_kept(value: float, odds: float, kind: str = "") -> bool:
    """Return whether a statement is worth a person's minute: what is short and plain, by its odds alone.

    Args:
        value: At least `LEAST`.
        odds: From `odds_of`.
        kind: What it says something about; who a person is needs no odds.
    """
    return kind in _PLAIN or odds >= _ENOUGH or (odds >= 0 and value + odds >= _LEAST_WEIGHED)
