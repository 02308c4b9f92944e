"""Finds whom speakers introduce as their own: “my sister Ines”, “our son Leo (7)”, “a dog called Biscuit”."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.calendar import COUNTS, any_of
from workbench.engine.language.kin import ONES_OWN
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import AFTER_NAME, PETS, words
from workbench.engine.triggers.phrases import routing_cues
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

_KIN: Final = rf"(?:(?:best |old |close |childhood )?friend|{ONES_OWN})"
_CHILD: Final = r"(?:(?:[\w-]+-)(?:year|month|week)-old|baby(?: (?:boy|girl))?|kid|child|newborn|toddler)"
_PET: Final = (
    rf"(?:{'|'.join(PETS)}|puppy|kitty|bunny|pony|goldfish|fish|labrador|poodle|beagle|(?:golden )?retriever"
    r"|(?:german )?shepherd|husky|corgi)"
)
_WORD_OF_NAME: Final = r"[A-Z][\w’'-]*[a-zà-ÿ]"
_NO_SURNAME: Final = (
    r"(?:[A-Z][a-z]+day|January|February|March|April|May|June|July|August|[A-Z][a-z]+ber|I|And|But)"
)
_NAME: Final = rf"(?P<name>(?-i:{_WORD_OF_NAME}(?: (?!{_NO_SURNAME}\b){_WORD_OF_NAME})?))"
_WHOSE: Final = r"\b(?P<whose>my|our)\s+(?P<before>(?:(?!name\b)[\w-]+\s+){0,2}?)"
_RELATIVE_NAMED = lazy_pattern(
    rf"{_WHOSE}(?P<kin>{_KIN}|{_CHILD})(?P<link>['’]s\s+name(?:\s+is|['’]s)"
    rf"|,?\s+(?:who(?:se)?\s+(?:name\s+)?is\s+)?(?:named|called)"
    rf"|['’]s\s+called|\s+is\s+(?:named|called)|,|)\s+{_NAME}(?!['’]s\s+(?:{_KIN}|{_PET})\b)",
    re.IGNORECASE,
)
_HIS_NAME = lazy_pattern(
    rf"{_WHOSE}(?P<kin>{_KIN}|{_CHILD}|{_PET})\b[^.!?\n]{{0,80}}?\b(?:his|her|their|its)\s+name(?:['’]s"
    rf"|\s+is)\s+{_NAME}",
    re.IGNORECASE,
)
_PET_NAMED = lazy_pattern(
    rf"(?:\b(?P<whose>my|our)\s+(?:(?:[\w-]+)\s+){{0,2}}?|\b(?:have|has|got|adopted|bought|rescued|own"
    rf"|getting|get)\s+"
    rf"(?:(?:an?|another|our|my|the|this|two|new|cute|little|old"
    rf"|[\w-]+)\s+){{1,3}})(?P<kin>{_PET})(?P<link>,?\s+(?:is\s+)?(?:named|called)|['’]s\s+name\s+is|,|)"
    rf"\s+{_NAME}",
    re.IGNORECASE,
)
_BORN = lazy_pattern(
    rf"\b(?P<whose>had|have|has|welcomed|adopted)\s+(?:an?|our|my)\s+(?P<before>(?:[\w-]+\s+){{0,2}}?)"
    rf"(?P<kin>baby (?:girl|boy)|daughter|son|girl|boy)\s+(?:named|called)\s+{_NAME}",
    re.IGNORECASE,
)
_APPOSED = lazy_pattern(
    rf"\b{_NAME},\s+(?P<whose>my|our)\s+(?P<before>(?:[\w-]+\s+){{0,2}}?)(?P<kin>{_KIN}|{_PET})(?=\s*(?:[,.;!]|$|(?:is|was|has|had)\b))",
    re.IGNORECASE,
)
_NO_AGE: Final = words("a an few several")
# “Mia (7)”, “Mia, 7,”, “Mia, who is seven”, “Mia just turned 7”; no “Mia is 7 minutes late”.
_AGED = lazy_pattern(
    r"(?:\s*\(|,\s+(?:who(?:['’]s|\s+is)\s+)?(?:aged?\s+)?|['’]s\s+|\s+(?:is|has|just|has just)\s+(?:turned\s+)?"
    r"|\s+turned\s+)(?:(?:now|already|only|almost|nearly|about|aged)\s+)?"
    rf"(?P<age>\d{{1,2}}|{any_of(word for word in COUNTS if word.isascii() and word not in _NO_AGE)})"
    r"(?:[ -](?P<unit>year|month|week)s?(?:[ -]old)?)?(?=\s*(?:$|[,.;:!)]|(?:and|but|now|already|today)\b))",
    re.IGNORECASE,
)
# What begins an answer, before “my sister”: “Yeah, my big sister”.
_ANSWERS: Final = words(
    "yeah yes yep yup no nope ok okay oh ah well haha hey hi hello sure thanks right sorry wow exactly true"
    " maybe"
)
_QUALIFIED: Final = frozenset(
    (
        "older",
        "younger",
        "little",
        "big",
        "elder",
        "late",
        "twin",
        "eldest",
        "youngest",
        "oldest",
        "new",
        "former",
        "old",
        "best",
    )
)


@dataclass(frozen=True, slots=True)
class Relative:
    """Somebody a speaker names as his own.

    Args:
        name: Of the person or animal.
        kin: What it is to the speaker: “older sister”, “dog”.
        animal: Whether it is a pet.
        start: Where the words begin in the text.
        end: Behind the name, and the age.
        age: How old a person is: “7 years”.
    """

    name: str
    kin: str
    animal: bool
    start: int
    end: int
    age: str = ""


def relatives(text: str, names: frozenset[str]) -> Iterator[Relative]:
    """Yield the relatives, friends and pets that a text names.

    Args:
        text: One sentence.
        names: Of those who take part, folded: whom the text may address rather than name.
    """
    ordinary = routing_cues().words["no_names"]
    for pattern in (_PET_NAMED, _HIS_NAME, _RELATIVE_NAMED, _APPOSED, _BORN):
        for found in pattern.finditer(text):
            name = found["name"].removesuffix("’s").removesuffix("'s")
            folded = name.casefold()
            if folded in names or folded in ordinary or folded in _ANSWERS or len(name) < 2:
                continue
            bare = pattern in (_PET_NAMED, _RELATIVE_NAMED) and found["link"] in ("", ",")
            if bare and not AFTER_NAME.match(text, found.start("name") + len(name)):
                continue
            animal = re.fullmatch(_PET, found["kin"], re.IGNORECASE) is not None
            end = max(found.start("name") + len(name), found.end("kin"))
            aged = None if animal else _AGED.match(text, end)
            age = f"{aged['age'].casefold()} {(aged['unit'] or 'year').casefold()}s" if aged else ""
            yield Relative(
                name, _kin(found, animal=animal), animal, found.start(), aged.end() if aged else end, age
            )


def _kin(found: re.Match[str], *, animal: bool) -> str:
    kin = found["kin"].casefold()
    before = "" if animal or "before" not in found.groupdict() else (found["before"] or "").split()
    kin = f"{kin} child" if kin.endswith("-old") else kin
    kept = [word.casefold() for word in before if word.casefold() in _QUALIFIED]
    return " ".join((*kept, kin))
