"""Finds the names of a speaker’s family, friends and pets, “my sister Ines”, and tells persons by what they do."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.identifiers import entity_id
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import words
from workbench.engine.reflection.extraction.naming import Mention
from workbench.engine.triggers.cues import routing_cues
from workbench.engine.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

_KIN: Final = (
    r"(?:wife|husband|partner|fianc[eé]e?|girlfriend|boyfriend|son|daughter|sister|brother|mom|mum|mother"
    r"|dad|father"
    r"|aunt|auntie|uncle|cousin|niece|nephew|grandma|grandpa|grandmother|grandfather|(?:best |old |close "
    r"|childhood )?friend"
    r"|boss|manager|colleague|co-?worker|teammate|mentor|coach|teacher|roommate|flatmate|neighbou?r"
    r"|therapist|doctor"
    r"|mother-in-law|father-in-law|sister-in-law|brother-in-law|stepson|stepdaughter|stepmother|stepfather"
    r"|twin|landlord)"
)
_CHILD: Final = r"(?:(?:[\w-]+-)(?:year|month|week)-old|baby(?: (?:boy|girl))?|kid|child|newborn|toddler)"
_PET: Final = (
    r"(?:dog|puppy|pup|cat|kitten|kitty|parrot|hamster|rabbit|bunny|horse|pony|turtle|tortoise|guinea pig"
    r"|snake|goldfish"
    r"|fish|bird|budgie|lizard|gecko|ferret|labrador|poodle|beagle|(?:golden )?retriever"
    r"|(?:german )?shepherd|husky|corgi)"
)
_NAME: Final = r"(?P<name>(?-i:[A-Z][\w’'-]*[a-zà-ÿ]))"
_WHOSE: Final = r"\b(?P<whose>my|our)\s+(?P<before>(?:(?!name\b)[\w-]+\s+){0,2}?)"
_RELATIVE = lazy_pattern(
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
_AFTER_NAME = lazy_pattern(
    r"\s+(?:[a-z]+(?:s|ed)|is|was|and|has|had|who|loves?|likes?|got|just|said|works?|lives?|came|went|will|to|at|in|on"
    r"|for|with)\b|\s*[,.;!)’']|\s*$"
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
        end: Behind the name.
    """

    name: str
    kin: str
    animal: bool
    start: int
    end: int


def relatives(text: str, names: frozenset[str]) -> Iterator[Relative]:
    """Yield the relatives, friends and pets that a text names.

    Args:
        text: One sentence.
        names: Of those who take part, folded: whom the text may address rather than name.
    """
    ordinary = routing_cues().words["no_names"]
    for pattern in (_PET_NAMED, _HIS_NAME, _RELATIVE, _APPOSED, _BORN):
        for found in pattern.finditer(text):
            name = found["name"].removesuffix("’s").removesuffix("'s")
            folded = name.casefold()
            if folded in names or folded in ordinary or folded in _ANSWERS or len(name) < 2:
                continue
            bare = pattern in (_PET_NAMED, _RELATIVE) and found["link"] in ("", ",")
            if bare and not _AFTER_NAME.match(text, found.start("name") + len(name)):
                continue
            animal = re.fullmatch(_PET, found["kin"], re.IGNORECASE) is not None
            end = max(found.start("name") + len(name), found.end("kin"))
            yield Relative(name, _kin(found, animal=animal), animal, found.start(), end)


def _kin(found: re.Match[str], *, animal: bool) -> str:
    kin = found["kin"].casefold()
    before = "" if animal or "before" not in found.groupdict() else (found["before"] or "").split()
    kin = f"{kin} child" if kin.endswith("-old") else kin
    kept = [word.casefold() for word in before if word.casefold() in _QUALIFIED]
    return " ".join((*kept, kin))


_DOER: Final = r"[A-Z][a-zà-ÿ]{2,20}"
# In “the code of Orchid lives in …” it is the code that lives there: a name after a preposition does nothing.
_GOVERNED: Final = "".join(rf"(?<!\b{word} )" for word in ("of", "for", "from", "in", "at", "on", "with"))
_DOES = lazy_pattern(
    rf"(?<![\w-]){_GOVERNED}(?P<name>{_DOER})\s+(?:(?:also|really|now|always)\s+)?(?:wears|prefers|likes|loves|hates|wants|asked|said|says"
    r"|told|thinks|reads|drives|lives|leads|studies|practi[sc]es|threw|bought|complained|suggested|insists"
    r"|is (?:allergic|team lead|moving|leaving|pregnant|her|his|my|our)|goes on (?:\w+ )?leave"
    r"|broke (?:his|her)|got (?:his|her)"
    r"|will (?:write|take|deliver|send|call|ask)|would like|works (?:at|as|for))\b"
)
_WITHIN = lazy_pattern(rf"(?<=[a-z,;:] )(?P<name>{_DOER})\b")
_LONGEST: Final = 8_000


class Persons:
    """Collects names that do what only persons do; one seen but at the beginning of sentences may be any word."""

    def __init__(self) -> None:
        self._does: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self._within: set[str] = set()

    def read(self, at: int, text: str) -> None:
        """Take in a passage of the owner’s.

        Args:
            at: Its index.
            text: What it says.
        """
        text = text[:_LONGEST]
        self._within.update(found["name"] for found in _WITHIN.finditer(text))
        for found in _DOES.finditer(text):
            self._does[found["name"]].append((at, found.start("name")))

    def named(self) -> Iterator[tuple[int, Mention]]:
        """Yield each place where a person is told by what it does: index of the passage, and whom it names."""
        ordinary = routing_cues().words["no_names"]
        for name, places in self._does.items():
            folded = name.casefold()
            if name not in self._within or folded in ordinary or folded in STOP_WORDS:
                continue
            entity = entity_id("person", name).name
            for at, start in places:
                yield at, Mention(entity, name, "person", False, start, marked=False)
