"""Reads what Chinese says to have taken another's place, and finds what had that place before.

A clause says what changed, the topic, and what it is now: 快递改用顺丰, 店休从周一改到周二. What stands
against it is an earlier clause of the same speaker that is about the topic and gives something else. Words are in
`chinese.toml`.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import any_of
from workbench.engine.language.chinese import Stance, clauses, is_chinese, simplified
from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.claims.clauses import Mode, tokens_of
from workbench.engine.reflection.claims.model import Origin, Postings, Span
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.language.chinese import Clause
    from workbench.engine.reflection.claims.clauses import Token
    from workbench.engine.reflection.claims.likely import Said
    from workbench.engine.reflection.claims.model import Weights

_LEXICON: Final[dict[str, list[str]]] = tomllib.loads(
    Path(__file__).with_name("chinese.toml").read_text(encoding="utf-8")
)
_CHANGES: Final = lazy_pattern(
    rf"^(?P<topic>.{{0,40}}?)(?:[从由](?P<was>.{{1,20}}?))?"
    rf"(?:(?P<handed>{any_of(_LEXICON['hands_over'])})|{any_of(_LEXICON['becomes'])})了?\s*(?P<now>.+)"
)
_ENDS: Final = lazy_pattern(
    rf"(?:(?:{any_of(_LEXICON['ends'])})\s*(?P<was>[^了]{{2,20}})了?|不(?P<dropped>[^了]{{2,20}})了)$"
)
_OPENS: Final = lazy_pattern(any_of(_LEXICON["opens"]))
_FRAMES: Final = lazy_pattern(any_of(_LEXICON["frames"]))
_HOLDS: Final = lazy_pattern(any_of(_LEXICON["holds"]))
_GIVES: Final = lazy_pattern(rf"[\dA-Za-z]|{any_of(_LEXICON['gives'])}")
_LEADING: Final = lazy_pattern(r"\s*(?:[A-Za-z][\w.+#-]*|[\u3400-\u9fff]{2,4})")
"""What a clause begins with, where the next one goes on about it: RabbitMQ 撑不住了，换成 Kafka."""
_NOT_SO: Final = frozenset((Stance.ASKS, Stance.SUPPOSES, Stance.FEELS, Stance.OPEN, Stance.ASKS_FOR))
_COVERED: Final = 0.6
"""The share of the topic's characters that the earlier clause must speak of."""
_FEW_LETTERS: Final = 2
_LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Change:
    """What a clause says to have taken another's place.

    Args:
        origin: Where it was read.
        span: The words.
        topic: What changed.
        was: What it was, so far as the words tell.
        now: What it is now, in simplified characters.
        handed: Whether it tells who is in charge.
    """

    origin: Origin
    span: Span
    topic: tuple[Token, ...]
    was: frozenset[str]
    now: str
    handed: bool


def changes(origin: Origin) -> Iterator[Change]:
    """Yield the changes that a passage states.

    Args:
        origin: Where to read.
    """
    text = origin.passage.text
    if not is_chinese(text):
        return
    for sentence in sentences(text, questions=True):
        before: Clause | None = None
        for clause in [] if sentence.question else clauses(sentence.text):
            if clause.stance is Stance.STATES and (change := _change(origin, sentence.start, clause, before)):
                yield change
            before = clause


def _change(origin: Origin, at: int, clause: Clause, before: Clause | None) -> Change | None:
    found = _CHANGES.match(clause.text)
    if found is None:
        return None
    start = at + clause.start
    begin = max((end.end() for end in _OPENS.finditer(found["topic"])), default=0)
    topic = _telling(found["topic"][begin:], start + begin)
    was = frozenset(token.stem for token in _telling(found["was"] or "", 0))
    first = start
    if before is not None and not was and (ended := _ENDS.search(before.text)):
        was = frozenset(token.stem for token in _telling(ended["was"] or ended["dropped"], 0))
        first = at + before.start
    elif before is not None and not topic and (leading := _LEADING.match(before.text)):
        topic = _telling(leading[0], at + before.start)
        first = at + before.start
    if not (topic or was):
        return None
    now = found["now"].strip().rstrip("了的")
    span = Span(first, at + clause.end, start)
    return Change(origin, span, topic, was, now, found["handed"] is not None) if now else None


def _telling(text: str, at: int) -> tuple[Token, ...]:
    plain = _FRAMES.sub(lambda found: " " * len(found[0]), text)
    return tuple(token for token in tokens_of(plain, at) if token.tells)


def find_changed(
    found: Sequence[Change], said: Sequence[Said], weights: Weights
) -> list[tuple[Said, Change]]:
    """Return each change with the earlier clause whose place it takes.

    Args:
        found: Changes.
        said: Clauses of all that was read, oldest first.
        weights: Of the words.
    """
    if not found:
        return []
    postings = Postings()
    for number, each in enumerate(said):
        postings.add(number, each.stems)
    pairs: list[tuple[Said, Change]] = []
    for change in found:
        near = postings.near(weights.rarest({*change.was, *(token.stem for token in change.topic)}))
        # The newest first: of two that fit as well it is what held last.
        best = max(near, key=lambda number: _fits(said[number], change), default=None)
        if best is not None and _fits(said[best], change) > 0 and change.origin.is_new:
            pairs.append((said[best], change))
    return pairs


def _fits(earlier: Said, change: Change) -> float:
    """Return how well an earlier clause gives what a change takes the place of, 0 where it does not."""
    origin = earlier.origin
    if (
        origin.speaker != change.origin.speaker
        or origin.order >= change.origin.order
        or origin.passage.id == change.origin.passage.id
        or earlier.asked
        or earlier.mode >= Mode.SUPPOSES
    ):
        return 0.0
    covered, told = _covered(change.topic, earlier.stems), change.was & earlier.stems
    named = any(word.isascii() and word[:1].isalpha() for word in told)
    ends = bool(change.was and not change.topic and told == change.was)
    if change.was and not told:
        return 0.0
    if covered < _COVERED and not (told and covered) and not named and not ends:
        return 0.0
    text = simplified(origin.passage.text[earlier.span.key : earlier.span.end])[:_LONGEST]
    if change.now in text or not (_HOLDS if change.handed else _GIVES).search(text):
        return 0.0
    if any(clause.stance in _NOT_SO or clause.passes for clause in clauses(text)):
        return 0.0
    return covered + bool(told)


def _covered(topic: Sequence[Token], stems: frozenset[str]) -> float:
    """Return the share of the characters of a topic that lie in words which are shared."""
    letters = {place for token in topic for place in _places(token)}
    shared = {place for token in topic if token.stem in stems for place in _places(token)}
    return len(shared) / len(letters) if letters else 0.0


def _places(token: Token) -> range:
    return range(token.start, min(token.end, token.start + _FEW_LETTERS))
