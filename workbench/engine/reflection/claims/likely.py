"""Finds clauses of one person that likely do not go together, by a model fitted on labelled pairs.

What a patterned reader misses, “my pulse has come down to 54” after “resting heart rate is 63 says the watch”, is
found by how near the two clauses and their sentences are in words and in meaning, and by how they differ: another value
of one kind, a denial of what was done, another taste, or words of a change. Each of these is a family with its own
weights in `likely.toml`, fitted by `tools/fit_likely.py`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from workbench.engine.language.calendar import any_of
from workbench.engine.patterns import lazy_pattern
from workbench.engine.providers.embedding.embedder import StaticEmbedder
from workbench.engine.reflection.claims.clauses import begin_of, end_of
from workbench.engine.reflection.claims.measuring import is_difference, stems_of
from workbench.engine.reflection.claims.model import Origin, Span
from workbench.engine.reflection.claims.values import APPOINTED_DIMENSIONS, labels_in, values_in
from workbench.engine.reflection.claims.vocabulary import (
    CHANGE_STEMS,
    CLEAR_CHANGE,
    EMPTY,
    FAINT_CHANGE,
    PEOPLE,
)
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from workbench.engine.reflection.claims.clauses import Clause, Mode
    from workbench.engine.reflection.claims.model import Weights
    from workbench.engine.reflection.claims.values import Value

    Numbers = NDArray[np.float32]

_LEXICON: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("likely.toml").read_text(encoding="utf-8")
)
_MOST: Final = 4000
"""Clauses that are compared; of more, the newest."""
_NEAREST: Final = 20
"""Earlier clauses that a later one is held against, and as many again with a value of the same kind."""
_MANY: Final = 20
"""Earlier clauses from which on it tells something to be the nearest of them."""
_ALONE: Final = 0.9
"""Log-odds taken off where there is hardly another earlier clause to be nearer than."""
_LEAST: Final = 0.3
_LONGEST: Final = 300
_LONGEST_SENTENCE: Final = 600
_MOST_VALUES: Final = 8
_FEW: Final = 150
"""Clauses at which a pair is as likely real as in the conversations of which the model was made."""
_WAS: Final = lazy_pattern(
    r"(?:\b(?:from|not|no\s+longer|instead\s+of|rather\s+than|used\s+to\s+be|was|were)\s+(?:[\w’']+\s+){0,2}|从|不是)$",
    re.IGNORECASE,
)
"""What stands before a value that holds no longer."""
_BY: Final = lazy_pattern(r"\bby\s+$", re.IGNORECASE)
_SO: Final = lazy_pattern(r"\bnever\s+(?:been\s+)?(?:so|such|more|better)\b", re.IGNORECASE)
"""“Never so happy” denies nothing."""
_FORMULA: Final = lazy_pattern(r"[\\^=√²³≤≥]|\(\s*[−-]?\d+\s*,\s*[−-]?\d")
_LEADING: Final = lazy_pattern(
    r"\W*(?:(?:and|but|so|because|since|also|now|oh|ok|well)\b\W*)*(?P<first>[\w’']+)(?:\s+(?P<second>[\w’']+))?",
    re.IGNORECASE,
)
_POINTS: Final = lazy_pattern(r"(?:it|its|this|that|these|those|there)(?:['’]\w+)?$", re.IGNORECASE)
_HIM: Final = lazy_pattern(r"(?:(?:he|she|they)(?:['’]\w+)?|his|her|their)$", re.IGNORECASE)
_CHINESE_WHO: Final = lazy_pattern(
    r"(?P<self>我(?:们)?(?![\u3400-\u9fff]?[爸妈哥弟姐妹儿女爷奶叔姨舅姑])|咱们?)|(?P<other>[他她](?:们)?|我[\u3400-\u9fff]?[爸妈哥弟姐妹儿女爷奶叔姨舅姑])"
)
_PERSONS: Final = PEOPLE | {"self", "other"}
VALUES, DENIALS, WORDS = "values", "denials", "words"
FEATURES: Final = (
    "meaning", "meaning of sentences", "meaning across", "words", "words of sentences", "rarest shared",
    "later is covered", "earlier is covered", "sentence covers later", "same name", "name is new", "name is gone",
    "says new", "may be new", "ends", "earlier says new", "denied later", "values besides", "both have values",
    "same value too", "far apart", "other rate", "count", "day", "values", "values before", "of oneself",
    "earlier of oneself", "plans", "earlier plans", "no statement", "earlier no statement", "same day", "length",
    "earlier length", "nearest", "rank", "ahead of others", "much was said",
)  # fmt: skip
"""What speaks for or against a pair; see where each is worked out below."""


def _cue(name: str) -> re.Pattern[str]:
    english, chinese = (_LEXICON["cues"][name][language] for language in ("en", "zh"))
    return lazy_pattern(rf"\b(?:{any_of(english)})\b|{any_of(chinese)}", re.IGNORECASE)


_OWN: Final = _cue("own")
_NEVER: Final = _cue("never")
_ENDS: Final = _cue("ends")
_PLANS: Final = _cue("plans")
_LIKES: Final = _cue("likes")
_DISLIKES: Final = _cue("dislikes")


@dataclass(frozen=True, slots=True)
class Said:
    """A clause with what is compared: what it is about, and how it may differ from another.

    Args:
        origin: Where it was read.
        span: The words.
        told: The clause without its values and its words of change.
        told_around: The same of its sentence.
        stems: Of the clause.
        stems_around: Of the sentence.
        values: The values that it says hold now, without amounts of change (“by 20 ms”).
        past: Those that it says to hold no longer: “from 30 to 45”.
        labels: Which one of several it speaks of.
        points: Whether it begins with “it” or “she”, so that only what was said before tells of what it is.
        who: Whom it begins with: `self`, `other` or a name, folded; empty where no person is told.
        names: Stems of what is written like a name.
        mode: How the clause stands to what is so.
        asked: Whether it asks.
        cues: Which kinds of words it has: own, never, ends, plans, likes, dislikes, new, maybe new.
    """

    origin: Origin
    span: Span
    told: str
    told_around: str
    stems: frozenset[str]
    stems_around: frozenset[str]
    values: tuple[Value, ...]
    past: tuple[Value, ...]
    labels: frozenset[str]
    points: bool
    who: str
    names: frozenset[str]
    mode: Mode
    asked: bool
    cues: frozenset[str]


@dataclass(frozen=True, slots=True)
class Likely:
    """Two clauses that likely do not go together.

    Args:
        earlier: As it was said first.
        later: As it was said after that.
        family: How they differ: values, denials or words.
        features: What speaks for and against it, by name.
        odds: Log-odds that it is real.
    """

    earlier: Said
    later: Said
    family: str
    features: Mapping[str, float]
    odds: float


def said_in(clauses: Sequence[Clause], origin: Origin) -> Iterator[Said]:
    """Yield the clauses of a passage that say anything.

    Args:
        clauses: Of the passage.
        origin: Where they were read.
    """
    sentences: defaultdict[int, list[Clause]] = defaultdict(list)
    for clause in clauses:
        sentences[clause.sentence].append(clause)
    around = {number: _sentence(origin.passage.text, whole) for number, whole in sentences.items()}
    for number, clause in enumerate(clauses):
        stems = _stems([clause])
        if not stems or len(clause.text) > _LONGEST:
            continue
        sentence, stems_around = around[clause.sentence]
        values = tuple(values_in(clause.text))
        given = [value for value in values if not _says_how_much(clause.text, value)]
        if len(values) > _MOST_VALUES or _FORMULA.search(clause.text):
            given = []
        past = [value for value in given[:-1] if _WAS.search(clause.text[: value.start])]
        yield Said(
            origin,
            Span(begin_of(clauses, number), end_of(clauses, number), clause.start),
            told := _bare(clause.text, values),
            sentence or told,
            stems,
            stems_around,
            tuple(value for value in given if value not in past),
            tuple(past),
            labels_in(clause.text),
            _points(clause.text),
            _who(clause.text),
            frozenset(token.stem for token in clause.tokens if token.tells and token.name),
            clause.mode_at(clause.start + len(clause.text) // 2),
            clause.asked,
            _cues(clause.text),
        )


def _sentence(text: str, clauses: Sequence[Clause]) -> tuple[str, frozenset[str]]:
    """Return a sentence without its values, empty where it is one clause or too long, and its stems."""
    sentence = text[clauses[0].start : clauses[-1].end]
    is_read = len(clauses) > 1 and len(sentence) <= _LONGEST_SENTENCE
    return _bare(sentence, values_in(sentence)) if is_read else "", _stems(clauses)


def _says_how_much(text: str, value: Value) -> bool:
    """Return whether a value stands behind “by”, or says otherwise how much something differs."""
    return value.dimension not in APPOINTED_DIMENSIONS and (
        _BY.search(text[: value.start]) is not None or is_difference(text, value)
    )


def _stems(clauses: Sequence[Clause]) -> frozenset[str]:
    return stems_of(token for clause in clauses for token in clause.tokens if token.stem not in CHANGE_STEMS)


def _points(text: str) -> bool:
    found = _LEADING.match(text)
    return found is not None and (_POINTS.match(found["first"]) or _HIM.match(found["first"])) is not None


def _who(text: str) -> str:
    """Return whom a clause begins with: “my sister works …” gives `sister`, “Tom likes …” `tom`, “I …” `self`."""
    if chinese := _CHINESE_WHO.search(text[:6]):
        return "self" if chinese["self"] else chinese["other"]
    found = _LEADING.match(text)
    if found is None:
        return ""
    first, second = found["first"], found["second"] or ""
    if _OWN.fullmatch(first) and first[:2].casefold() not in ("my", "ou"):
        return "self"
    if _HIM.match(first):
        return "other"
    if first.casefold() in ("my", "our"):
        return second.casefold().partition("'")[0].partition("’")[0] if second.casefold() in PEOPLE else ""
    return first.partition("'")[0].partition("’")[0].casefold() if _is_name(first) else ""


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word.casefold() not in EMPTY and not word.isupper()


def _bare(text: str, values: Sequence[Value]) -> str:
    for value in reversed(values):
        text = f"{text[: value.start]} {text[value.end :]}"
    return CLEAR_CHANGE.sub(" ", text)


def _cues(text: str) -> frozenset[str]:
    found = {
        name
        for name, pattern in (
            ("own", _OWN),
            ("never", _NEVER),
            ("ends", _ENDS),
            ("plans", _PLANS),
            ("likes", _LIKES),
            ("dislikes", _DISLIKES),
            ("new", CLEAR_CHANGE),
            ("maybe new", FAINT_CHANGE),
        )
        if pattern.search(text)
    }
    if _SO.search(text):
        found.discard("never")
    return frozenset(found - {"likes"} if "dislikes" in found else found)


def find_likely(said: Sequence[Said], weights: Weights) -> list[Likely]:
    """Return the pairs that are likely enough to be shown, the likeliest first; each clause is in one at most.

    Args:
        said: Clauses, oldest first.
        weights: Of the words.
    """
    raised = float(_LEXICON["raised"])
    taken: set[int] = set()
    found: list[Likely] = []
    for pair in sorted(compare(said, weights), key=lambda each: -each.odds):
        if pair.odds < raised:
            break
        if id(pair.earlier) not in taken and id(pair.later) not in taken:
            taken.update((id(pair.earlier), id(pair.later)))
            found.append(pair)
    return found


def compare(said: Sequence[Said], weights: Weights) -> Iterator[Likely]:
    """Yield every pair that the model judges, with its features and odds.

    Args:
        said: Clauses, oldest first.
        weights: Of the words.
    """
    import numpy as np

    said = said[-_MOST:]
    if not any(each.origin.is_new for each in said):
        return
    shelf = _Shelf(said, weights)
    orders = np.array([each.origin.order for each in said])
    speakers = {speaker: number for number, speaker in enumerate({each.origin.speaker for each in said})}
    voices = np.array([speakers[each.origin.speaker] for each in said])
    much = max(0.0, math.log(len(said) / _FEW))
    for number, later in enumerate(said):
        if not later.origin.is_new or (later.asked and "own" not in later.cues):
            continue
        may = np.flatnonzero((orders[:number] < later.origin.order) & (voices[:number] == voices[number]))
        if not len(may):
            continue
        near = shelf.near(number)
        ranked = may[np.argsort(-near.whole[may])]
        dimensions = {value.dimension for value in later.values}
        measured = [
            n
            for n in ranked[: _NEAREST**2]
            if dimensions and dimensions & {v.dimension for v in said[n].values}
        ]
        best = near.whole[ranked[:2]]
        # To be the nearest of two or three tells little.
        among = min(len(may) / _MANY, 1.0)
        ranks = {int(n): rank for rank, n in enumerate(ranked[: _NEAREST**2])}
        for n in dict.fromkeys((*map(int, ranked[:_NEAREST]), *map(int, measured[:_NEAREST]))):
            family = family_of(said[n], later)
            if (
                not family
                or said[n].origin.passage.day > later.origin.passage.day > ""
                or near.whole[n] <= _LEAST
            ):
                continue
            margin = (
                best[0] - (best[1] if len(best) > 1 else 0.0) if ranks[n] == 0 else near.whole[n] - best[0]
            )
            features = {
                **_likeness(said[n], later, near, n, weights),
                **_difference(said[n], later, family),
                **_manner(said[n], later),
                "nearest": among * (ranks[n] == 0),
                "rank": min(ranks[n], _NEAREST) / _NEAREST,
                "ahead of others": among * float(margin),
                "much was said": much,
            }
            yield Likely(said[n], later, family, features, _odds(family, features) - _ALONE * (1 - among))


def family_of(earlier: Said, later: Said) -> str:
    """Return how two clauses differ, empty where nothing tells that they do, or of what the earlier one is."""
    if earlier.points:
        return ""
    apart = bool(earlier.who and later.who) and earlier.who != later.who
    if apart and {earlier.who, later.who} <= _PERSONS:
        return ""
    if earlier.labels and later.labels and not earlier.labels & later.labels:
        return ""
    # What rose from 70 to 85 is not what stood at 94 before.
    were = [(one, was) for one in earlier.values for was in _alike(one, later.past)]
    if were and not any(one.same_as(was) for one, was in were):
        return ""
    if _replaced(earlier, later):
        return VALUES
    if not apart and (("never" in earlier.cues) != ("never" in later.cues) or _tastes(earlier, later)):
        return DENIALS
    return WORDS if later.cues & {"ends", "new"} else ""


def _tastes(earlier: Said, later: Said) -> bool:
    return ("likes" in earlier.cues and "dislikes" in later.cues) or (
        "dislikes" in earlier.cues and "likes" in later.cues
    )


def _replaced(earlier: Said, later: Said) -> list[tuple[Value, Value]]:
    """Return the values that only the earlier clause gives, beside those of the same kind that only the later gives."""
    gone = [one for one in earlier.values if not any(map(one.same_as, _alike(one, later.values)))]
    new = [other for other in later.values if not any(map(other.same_as, _alike(other, earlier.values)))]
    return [(one, other) for one in gone for other in _alike(one, new)]


def _alike(value: Value, others: Sequence[Value]) -> list[Value]:
    return [other for other in others if other.dimension == value.dimension and other.tool == value.tool]


@cache
def _model(family: str) -> tuple[float, Mapping[str, float]]:
    table = _LEXICON.get("model", {}).get(family, {})
    return float(table.get("base", 0.0)), table.get("weights", {})


def _odds(family: str, features: Mapping[str, float]) -> float:
    base, weights = _model(family)
    return base + sum(weights.get(name, 0.0) * value for name, value in features.items())


@dataclass(frozen=True, slots=True)
class _Near:
    """How near one clause is to every earlier one, 0–1 each: by meaning and words of clauses, sentences and both."""

    clause: Numbers
    sentence: Numbers
    across: Numbers
    words: Numbers
    words_around: Numbers

    @property
    def whole(self) -> Numbers:
        return self.clause + self.words + 0.5 * (self.sentence + self.words_around)


class _Shelf:
    """Clauses by meaning and by their stems."""

    def __init__(self, said: Sequence[Said], weights: Weights) -> None:
        import numpy as np

        embedder = StaticEmbedder()
        self._clauses = embedder.embed_passages([each.told for each in said])
        self._sentences = embedder.embed_passages([each.told_around for each in said])
        self._weights = weights
        self._stems = [each.stems for each in said], [each.stems_around for each in said]
        self._posted: list[dict[str, NDArray[np.intp]]] = []
        self._totals: list[Numbers] = []
        for every in self._stems:
            posted: defaultdict[str, list[int]] = defaultdict(list)
            for number, stems in enumerate(every):
                for stem in stems:
                    posted[stem].append(number)
            self._posted.append({stem: np.array(numbers) for stem, numbers in posted.items()})
            self._totals.append(np.array([weights.total(stems) for stems in every], np.float32))

    def near(self, number: int) -> _Near:
        import numpy as np

        clauses, sentences = self._clauses[:number], self._sentences[:number]
        clause, sentence = self._clauses[number], self._sentences[number]
        return _Near(
            np.einsum("ij,j->i", clauses, clause),
            np.einsum("ij,j->i", sentences, sentence),
            np.maximum(np.einsum("ij,j->i", sentences, clause), np.einsum("ij,j->i", clauses, sentence)),
            self._shared(0, number)[:number],
            self._shared(1, number)[:number],
        )

    def _shared(self, which: int, number: int) -> Numbers:
        """Return how much of both is shared, weighed as in `Weights.similarity`, for all clauses at once."""
        import numpy as np

        totals = self._totals[which]
        shared = np.zeros(len(totals), np.float32)
        for stem in self._stems[which][number]:
            shared[self._posted[which][stem]] += self._weights.of(stem)
        own = totals[number]
        found: Numbers = shared / (0.6 * np.minimum(totals, own) + 0.4 * np.maximum(totals, own) + 1e-9)
        return found


def _likeness(earlier: Said, later: Said, near: _Near, n: int, weights: Weights) -> dict[str, float]:
    shared = earlier.stems & later.stems
    of_shared = weights.total(shared)
    return {
        "meaning": float(near.clause[n]),
        "meaning of sentences": float(near.sentence[n]),
        "meaning across": float(near.across[n]),
        "words": float(near.words[n]),
        "words of sentences": float(near.words_around[n]),
        "rarest shared": max(map(weights.of, shared), default=0.0) / weights.of(""),
        "later is covered": of_shared / (weights.total(later.stems) + 1e-9),
        "earlier is covered": of_shared / (weights.total(earlier.stems) + 1e-9),
        "sentence covers later": weights.total(later.stems & earlier.stems_around)
        / (weights.total(later.stems) + 1e-9),
        "same name": bool(earlier.names & later.names),
        "name is new": bool(later.names - earlier.names),
        "name is gone": bool(earlier.names - later.names),
    }


def _difference(earlier: Said, later: Said, family: str) -> dict[str, float]:
    found: dict[str, float] = {
        "says new": "new" in later.cues,
        "may be new": "maybe new" in later.cues,
        "ends": "ends" in later.cues,
        "earlier says new": "new" in earlier.cues,
    }
    if family == DENIALS:
        return found | {
            "denied later": "never" in later.cues,
        }
    if family == WORDS:
        return found | {
            "values besides": bool(earlier.values or later.values),
            "both have values": bool(earlier.values and later.values),
        }
    others = _replaced(earlier, later)
    dimensions = {one.dimension for one, _ in others}
    apart = [
        abs(math.log10(one.amount / other.amount))
        for one, other in others
        if one.dimension not in (*APPOINTED_DIMENSIONS, "version") and min(one.amount, other.amount) > 0
    ]
    return found | {
        "same value too": any(
            one.same_as(other) for one in earlier.values for other in _alike(one, later.values)
        ),
        "far apart": min(min(apart, default=0.0), 3.0),
        "other rate": all(one.per != other.per for one, other in others),
        "count": "count" in dimensions,
        "day": bool(dimensions & APPOINTED_DIMENSIONS),
        "values": min(len(later.values), 4) / 4,
        "values before": min(len(earlier.values), 4) / 4,
    }


def _manner(earlier: Said, later: Said) -> dict[str, float]:
    return {
        "of oneself": "own" in later.cues,
        "earlier of oneself": "own" in earlier.cues,
        "plans": "plans" in later.cues,
        "earlier plans": "plans" in earlier.cues,
        "no statement": later.mode / 3,
        "earlier no statement": earlier.mode / 3,
        "same day": earlier.origin.passage.day == later.origin.passage.day,
        "length": min(len(later.stems), 15) / 15,
        "earlier length": min(len(earlier.stems), 15) / 15,
    }
