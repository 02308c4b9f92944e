"""What recurs across reflections: themes, revised assumptions and questions that stay open (design §10.4)."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS, terms
from workbench.engine.language.sentences import asks, sentences
from workbench.engine.memory.wording import text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import words
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.words import content_words, is_topical, likeness
from workbench.engine.triggers.cues import routing_cues
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.reflection_records import Insight
    from workbench.engine.reflection.rules.past import PastReflection

FEWEST_REFLECTIONS: Final = 2
_SHARE_OF_REFLECTIONS: Final = 0.25
_MOST_THEMES: Final = 12
SAME_QUESTION: Final = 0.6
_BEFORE: Final = 8
_NAME: Final = lazy_pattern(r"(?<![\w’'-])[^\W\d_a-z][^\W_]+(?:[ -][^\W\d_a-z][^\W_]+){0,2}")
_REVISED: Final = lazy_pattern(
    r"\b(?:no longer|not any ?more|turned out|was wrong|were wrong|revised|corrected|correction|superseded|supersession"
    r"|used to|changed from|instead of|rather than|replaced)\b",
    re.IGNORECASE,
)
# What a log says of itself is no theme of it.
_OF_THE_LOG: Final = words(
    "reflection reflections memory memories core item items fact facts entity entities relation insight insights"
    " summary approved rejected deferred undecided proposed proposal applied active context persona identity critical"
    " rewritten added archived archive restored changed change question questions thread threads about learned got new"
    " open noted says said one two three four five six seven eight nine ten first second partly milestone evolution"
    " procedure procedures promotion demotion supersession contradiction contradictions vault pin decided decision"
    " decisions user calling asked update updated episode episodes"
)


@dataclass(frozen=True)
class Theme:
    """What several reflections speak of.

    Args:
        name: As they write it.
        key: Folded.
        reflections: Indices of the records, oldest first.
    """

    name: str
    key: str
    reflections: tuple[int, ...]

    def told(self, of: int) -> str:
        """Return it with its count, for people: “Ningbo (in 4 of 6 reflections)”."""
        return f"{self.name} (in {len(self.reflections)} of {of} reflections)"


@dataclass(frozen=True)
class OpenQuestion:
    """A question that several reflections asked, or that one asked and `evolution.md` keeps."""

    text: str
    asked: tuple[int, ...]


def find_themes(past: Sequence[PastReflection], most: int = _MOST_THEMES) -> tuple[Theme, ...]:
    """Return what recurs in at least a quarter of the reflections and in no fewer than two, most frequent first."""
    where: defaultdict[str, list[int]] = defaultdict(list)
    written: dict[str, str] = {}
    for at, reflection in enumerate(past):
        for key, name in _subjects(reflection.said):
            written.setdefault(key, name)
            if not where[key] or where[key][-1] != at:
                where[key].append(at)
    fewest = max(FEWEST_REFLECTIONS, round(len(past) * _SHARE_OF_REFLECTIONS))
    found = [
        Theme(written[key], key, tuple(places)) for key, places in where.items() if len(places) >= fewest
    ]
    found.sort(
        key=lambda theme: (
            -len(theme.reflections),
            not theme.name[:1].isupper(),
            -theme.reflections[-1],
            theme.key,
        )
    )
    kept: list[Theme] = []
    for theme in found:
        # “Mei Chen” says what “Mei” and “Chen” would.
        if not any(set(theme.key.split()) & set(other.key.split()) for other in kept):
            kept.append(theme)
    return tuple(_as_written(theme, past) for theme in kept[:most])


def _as_written(theme: Theme, past: Sequence[PastReflection]) -> Theme:
    """Return a theme of a single word with a capital where the log never writes it without."""
    if theme.name != theme.key or any(theme.key in past[at].said for at in theme.reflections):
        return theme
    return replace(theme, name=theme.name[:1].upper() + theme.name[1:])


def find_revised(past: Sequence[PastReflection], insights: Sequence[Insight]) -> tuple[str, ...]:
    """Return what was believed and then revised, in the books’ own words, newest first."""
    found: list[str] = []
    for insight in reversed(insights):
        found.extend(s.text for s in sentences(insight.text) if _REVISED.search(s.text))
    for reflection in reversed(past):
        found.extend(
            verdict.text
            for verdict in reflection.verdicts
            if verdict.kind is Kind.SUPERSESSION and verdict.decision == "approved"
        )
        found.extend(s.text for s in sentences(reflection.prose) if _REVISED.search(s.text))
    return tuple(dict.fromkeys(" ".join(text.split()) for text in found))


def find_persistent(past: Sequence[PastReflection], insights: Sequence[Insight]) -> tuple[OpenQuestion, ...]:
    """Return the questions that were asked in two reflections or more, or once and are kept as open, longest first."""
    groups: list[tuple[frozenset[str], str, list[int]]] = []
    kept = [insight.text for insight in insights if insight.section.casefold() == "open questions"]
    for at, reflection in enumerate(past):
        for text in _questions(reflection):
            said = content_words(text)
            group = next((g for g in groups if likeness(g[0], said) >= SAME_QUESTION), None)
            if group is None:
                groups.append((said, text, [at]))
            elif group[2][-1] != at:
                group[2].append(at)
    answered = {key for key, _, asked in groups if asked and _answered(past, asked[-1], key)}
    open_ones = [
        OpenQuestion(text, tuple(asked))
        for key, text, asked in groups
        if key not in answered
        and (
            len(asked) >= FEWEST_REFLECTIONS
            or any(likeness(key, content_words(known)) >= SAME_QUESTION for known in kept)
        )
    ]
    return tuple(sorted(open_ones, key=lambda question: (-len(question.asked), question.asked)))


def times_asked(past: Sequence[PastReflection], text: str, *, exactly: bool = False) -> int:
    """Return how many reflections asked a question, in these or (unless `exactly`) like words."""
    key, wanted = content_words(text), text_key(text)
    return sum(
        any(
            text_key(asked) == wanted if exactly else likeness(content_words(asked), key) >= SAME_QUESTION
            for asked in _questions(reflection)
        )
        for reflection in past
    )


def _answered(past: Sequence[PastReflection], at: int, asked: frozenset[str]) -> bool:
    """Return whether the last time a question was asked it was answered, which is to approve it, or turned down."""
    return any(
        verdict.kind is Kind.QUESTION
        and verdict.decision in ("approved", "rejected")
        and likeness(content_words(verdict.text), asked) >= SAME_QUESTION
        for verdict in past[at].verdicts
    )


def _questions(reflection: PastReflection) -> Iterator[str]:
    for verdict in reflection.verdicts:
        if verdict.kind is Kind.QUESTION:
            yield verdict.text
    for sentence in sentences(reflection.prose, questions=True):
        if sentence.question and asks(sentence.text):
            yield " ".join(sentence.text.split())


def _subjects(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a text speaks of with its folded key: names, and other words of more than four letters."""
    common = STOP_WORDS | routing_cues().words["stop_words"] | routing_cues().words["no_names"]
    names: dict[str, str] = {}
    for match in _NAME.finditer(text):
        written = match[0].split(" ")
        before = text[max(0, match.start() - _BEFORE) : match.start()].rstrip(" \"'“‘(")
        opening = not before or before[-1] in ".!?:\n-—"
        while opening and written and written[0].casefold() in common:
            # “Today Maria”: the first word has its capital for another reason.
            written, opening = written[1:], False
        key = " ".join(terms(" ".join(written)))
        if key and not (opening and " " not in key) and not _OF_THE_LOG.intersection(key.split()):
            names.setdefault(key, " ".join(written))
    yield from names.items()
    inside = {word for key in names for word in key.split()}
    for word in dict.fromkeys(terms(text)):
        ordinary = word in common or word in _OF_THE_LOG or word in inside
        if not ordinary and is_topical(word):
            yield word, word
