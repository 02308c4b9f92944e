"""What an item claims, whatever kind it comes as and however it is worded: when two items say the same."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS, fold, stem, terms
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items
from workbench.engine.reflection.kinds import Kind, kind_of
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.markdown.review import ReviewItem

SAYS: Final = "says"
"""A statement, whether as a fact, a new value, a relation, an insight or an item of core memory."""
DIFFERS: Final = "differs"
"""Two statements that cannot both hold."""
HIDES: Final = "hides"
_FAMILY: Final[dict[Kind, str]] = {
    Kind.FACT: SAYS,
    Kind.SUPERSESSION: SAYS,
    Kind.RELATION: SAYS,
    Kind.CORE_CHANGE: SAYS,
    Kind.PROMOTION: SAYS,
    Kind.INSIGHT: SAYS,
    Kind.CONTRADICTION: DIFFERS,
    Kind.ARCHIVE: HIDES,
    Kind.DEMOTION: HIDES,
}
NEAR: Final = 0.5
"""Two claims that share this part of all their words are near, though not the same."""

_NO: Final = "¬"
_NEGATIONS: Final = frozenset(
    (
        "no",
        "not",
        "never",
        "none",
        "nothing",
        "nobody",
        "neither",
        "nor",
        "without",
        "cannot",
        "不",
        "没",
        "沒",
    )
) | {
    f"{verb}n" for verb in ("do", "does", "did", "is", "was", "are", "were", "wo", "could", "would", "should")
}
_IDLE: Final = frozenset(("user", "owner", "also", "just", "really", "very", "now", "currently"))
_THOUSANDS: Final = lazy_pattern(r"(?<=\d)[,\u2009\u202f'’](?=\d{3}(?!\d))")
_ORDINAL: Final = lazy_pattern(r"(?<=\d)(?:st|nd|rd|th)\b", re.IGNORECASE)
_NUMBERS: Final = {
    "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30",
    "forty": "40", "fifty": "50", "sixty": "60", "hundred": "100", "thousand": "1000",
}  # fmt: skip
_LINK: Final = lazy_pattern(r"\[\[(?:[^\[\]|#]*?--)?([^\[\]|#]+)(?:[|#][^\[\]]*)?\]\]")
_ANY_LINK: Final = lazy_pattern(r"\[\[([^\[\]|#]+)")


@dataclass(frozen=True, slots=True)
class Claim:
    """What an item comes to.

    Args:
        family: Kinds that can say the same share one.
        subject: The entity (`type--slug`) or memory it is about; empty where nothing names one.
        words: Of its value, without case, order, endings and words that say nothing; numbers and denial stay.
        about: Words of the subject's own name, which a statement may repeat or leave out.
        sides: Words of both statements, where it sets one against another.
    """

    family: str
    subject: str
    words: frozenset[str]
    about: frozenset[str] = frozenset()
    sides: frozenset[frozenset[str]] = frozenset()

    @property
    def key(self) -> str:
        """Return a line that claims of the same value share."""
        if self.family == SAYS:
            return f"{SAYS} {' '.join(sorted(self.words - self.about or self.words))}"
        sides = " / ".join(sorted(" ".join(sorted(side)) for side in self.sides))
        return f"{self.family} {self.subject} {sides or ' '.join(sorted(self.words))}"


def claim_of(item: ReviewItem) -> Claim:
    """Return what an item claims."""
    kind = kind_of(item.kind)
    fields = dict(item.fields)
    family = _FAMILY.get(kind, str(kind)) if kind else item.kind
    subject = _subject(item, fields)
    about = words_of(subject.partition("--")[2].replace("-", " ")) if "--" in subject else frozenset[str]()
    match kind:
        case Kind.CONTRADICTION:
            sides = (words_of(fields.get(items.THIS, "")), words_of(fields.get(items.THAT, "")))
            return Claim(family, subject, words_of(item.text), about, _sides(sides, about))
        case Kind.SUPERSESSION:
            sides = (words_of(item.before), words_of(item.text))
            return Claim(family, subject, sides[1], about, _sides(sides, about))
        case Kind.RELATION:
            return Claim(
                family, subject, words_of(_LINK.sub(lambda m: m[1].replace("-", " "), item.text)), about
            )
        case Kind.MERGE:
            both = {subject, *_ANY_LINK.findall(item.text)}
            return Claim(family, "", frozenset(both))
        case Kind.ENTITY:
            return Claim(family, subject, words_of(item.text))
        case Kind.DEMOTION:
            return Claim(family, subject, words_of(item.before))
        case Kind.ARCHIVE | Kind.RESTORE | Kind.VAULT_PIN:
            return Claim(family, subject, frozenset())
        case Kind.PROCEDURE:
            return Claim(family, subject, words_of(f"{item.text}\n{fields.get(items.STEPS, '')}"))
        case _:
            return Claim(family, subject, words_of(item.text), about)


def statement(text: str, subject: str = "") -> Claim:
    """Return what a sentence claims about an entity (`type--slug`)."""
    about = words_of(subject.partition("--")[2].replace("-", " ")) if subject else frozenset[str]()
    return Claim(SAYS, subject, words_of(text), about)


def same(one: Claim, other: Claim) -> bool:
    """Return whether two claims come to the same.

    A contradiction that has the value of a statement on one side asks for the same again; so do a contradiction
    and an update between the same two statements.
    """
    if one.sides and one.sides == other.sides and _may_share(one, other):
        return True
    if {one.family, other.family} == {SAYS, DIFFERS}:
        said, differs = (one, other) if one.family == SAYS else (other, one)
        return _may_share(one, other) and (said.words - said.about - differs.about) in differs.sides
    if one.family != other.family:
        return False
    if one.family == SAYS:
        return _may_share(one, other) and _value(one, other) == _value(other, one)
    if one.family == HIDES:
        both_core = one.subject.startswith("core:") and other.subject.startswith("core:")
        return one.subject == other.subject or (both_core and bool(one.words) and one.words == other.words)
    if one.family == str(Kind.ENTITY):
        kinds = {claim.subject.partition("--")[0] for claim in (one, other)}
        return one.subject == other.subject or (len(kinds) == 1 and one.words == other.words)
    if one.family in (Kind.PROCEDURE, Kind.QUESTION):
        return one.words == other.words
    return one.subject == other.subject and one.words == other.words


def nearness(one: Claim, other: Claim) -> float:
    """Return which part of their words two claims of one family share, 0–1; 0 where they are about other things."""
    if one.family == str(Kind.QUESTION) and other.family == SAYS:
        return 1.0 if len(other.words) > 1 and other.words <= one.words | other.about else 0.0
    if one.family == other.family == Kind.ENTITY:
        return 1.0 if one.words == other.words else 0.0
    if one.family != other.family or not _may_share(one, other):
        return 0.0
    mine, yours = _value(one, other), _value(other, one)
    union = mine | yours
    return len(mine & yours) / len(union) if union else 0.0


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """Return the words that tell something in a text, brought to one form; numbers and denial stay."""
    plain = _ORDINAL.sub("", _THOUSANDS.sub("", text))
    found = [_NO if term in _NEGATIONS else _NUMBERS.get(term, term) for term in terms(plain)]
    telling = {stem(term) for term in found if term not in STOP_WORDS and term not in _IDLE}
    return frozenset(telling) or frozenset(filter(None, (" ".join(fold(text).split()),)))


def _subject(item: ReviewItem, fields: dict[str, str]) -> str:
    """Return what an item is about: an entity without its `entity:` and block id, else the memory named."""
    named = fields.get(items.OF) or item.target
    entity = named.removeprefix("entity:").partition("#^")[0]
    if "--" in entity and not entity.startswith(("core:", "file:", "vault:", "procedure:")):
        kind = kind_of(item.kind)
        # One fact of an entity is hidden or kept; a statement is about the whole of it.
        return named if kind in (Kind.ARCHIVE, Kind.RESTORE, Kind.VAULT_PIN) else entity
    if _FAMILY.get(kind_of(item.kind) or Kind.QUESTION) == SAYS:
        return ""
    return named


def _may_share(one: Claim, other: Claim) -> bool:
    """Return whether two claims may be about the same thing; one without a subject may be about any."""
    return one.subject == other.subject or not (one.subject and other.subject)


def _value(claim: Claim, other: Claim) -> frozenset[str]:
    return claim.words - claim.about - other.about or claim.words


def _sides(sides: Iterable[frozenset[str]], about: frozenset[str]) -> frozenset[frozenset[str]]:
    return frozenset(side - about or side for side in sides if side)
