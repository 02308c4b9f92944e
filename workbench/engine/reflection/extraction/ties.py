"""Reads what speakers imply about themselves: whom “my” says they have, where home is, answers to “how long”.

Nobody states “I have a husband”; “my husband” says it in passing. It is told once for each person, however often it was
said. Whom a speaker names is told under the name, elsewhere.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.english import ADVERBS, AFTER_NAME, PETS
from workbench.engine.reflection.extraction.candidates import Candidate
from workbench.engine.reflection.extraction.lasting import STATE, since_of
from workbench.engine.reflection.extraction.retelling import tell
from workbench.engine.reflection.extraction.worth import terms_of, worth_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.engine.reflection.extraction.naming import Voice
    from workbench.engine.reflection.model import Passage

_CHILDREN: Final = ("son", "sons", "daughter", "daughters")
_PETS: Final = tuple(each for pet in PETS for each in (pet, f"{pet}s"))
# As they are listed. Everybody has parents; a partner may be one in business.
_TIES: Final[tuple[str, ...]] = (
    *("wife", "husband", "girlfriend", "boyfriend", "children", *_CHILDREN),
    *("brother", "brothers", "sister", "sisters", *_PETS),
)
_KIN: Final = rf"(?:kids|{'|'.join(sorted(_TIES, key=len, reverse=True))})"
_MINE: Final = lazy_pattern(
    r"\b(?:my|our) (?:(?:dear|lovely|wonderful|amazing|two|three|four|older|younger|little|big|eldest|youngest) )*"
    rf"(?P<one>{_KIN})\b(?! and I\b|-)(?: and (?:(?:my|our) )?(?P<other>{_KIN})\b)?",
    re.IGNORECASE,
)
_OVER: Final = lazy_pattern(
    r"\b(?:died|passed away|late|lost|broke up|divorc\w+|separated|used to|ex|former|if|future)\b",
    re.IGNORECASE,
)
_FEWEST: Final = 2
_ORIGIN: Final = lazy_pattern(
    r"\b(?:my|our) (?P<what>home ?(?:country|town|city|state)|homeland|birthplace|native (?:country|language|tongue)"
    r"|mother tongue|alma mater)(?:,| of| is|:| was) (?P<name>(?-i:[A-Z][\w’'-]+(?:,? [A-Z][\w’'-]+){0,2}))",
    re.IGNORECASE,
)
_HOW_LONG: Final = lazy_pattern(
    r"\bhow long have you (?:all |both |two )?(?P<been>(?:been|had|lived|known|worked|played|owned|studied)\b"
    r"(?![^?,.!]*\b(?:you|your|it|that|this|them|him|her|there|these|those|such)\b)[^?,.!]*)\?",
    re.IGNORECASE,
)
_SO_LONG: Final = lazy_pattern(
    r"(?:(?:oh|well|yeah|yep|for|about|around|almost|nearly|over)[,!.]* )*(?P<long>(?:\d+|two|three|four|five|six|seven"
    r"|eight|nine|ten|a couple of|a few|several) (?:years|months)|since (?:I was (?:about |around )?(?:\d+|an? \w+)"
    r"|(?:[A-Z]\w+ )?(?:19|20)\d\d))\b",
    re.IGNORECASE,
)
_WORTH: Final = 6.0


class Ties:
    """Collects what the passages of each speaker imply."""

    def __init__(self) -> None:
        self._said: defaultdict[str, list[tuple[str, int, str]]] = defaultdict(list)
        self._voices: dict[str, Voice] = {}
        self._asked: tuple[str, str] | None = None

    def read(self, at: int, passage: Passage, voice: Voice) -> Iterator[Candidate]:
        """Take in a passage; yield what it says on its own.

        Args:
            at: Its index.
            passage: Of a person.
            voice: Who speaks.
        """
        self._voices[voice.entity] = voice
        asked, asks = self._asked, _HOW_LONG.search(passage.text)
        self._asked = (voice.entity, asks["been"].strip()) if asks else None
        for place, sentence in enumerate(sentences(passage.text)):
            for found in _ORIGIN.finditer(sentence.text):
                told = f"{voice.name}’s {found['what'].casefold()} is {found['name']}"
                yield _candidate(at, voice, told, found.group(), "home")
            answer = _SO_LONG.match(sentence.text)
            if answer and place < _FEWEST and asked and asked[0] != voice.entity:
                lasted = answer["long"][:1].lower() + answer["long"][1:]
                own = f"I have {asked[1]} {'' if lasted.startswith('since') else 'for '}{lasted}"
                told = tell(own, voice.name, None).text
                since = since_of(told, STATE, "", passage.day)
                kind = "family" if worth_of(own).kind in ("family", "milestone") else "routine"
                yield _candidate(at, voice, told, answer["long"], kind, since)
            if not _OVER.search(sentence.text):
                for found in _MINE.finditer(sentence.text):
                    last = found[found.lastgroup or 0].casefold()
                    if last in _PETS and not _goes_on(sentence.text[found.end() :]):
                        continue
                    kin = (each.casefold().replace("kids", "children") for each in found.groups() if each)
                    self._said[voice.entity] += [(each, at, found.group()) for each in kin]

    def told(self, named: Iterable[tuple[str, str]]) -> Iterator[Candidate]:
        """Yield for each person whom they have, once for every passage that says it first.

        Args:
            named: Entities with what they call those whom they name: these are told already.
        """
        known = {(entity, kin.split()[-1]) for entity, kin in named}
        known |= {(entity, "children") for entity, kin in known if kin in ("child", *_CHILDREN)}
        for entity, said in self._said.items():
            first = {kin: (at, quote) for kin, at, quote in reversed(said) if (entity, kin) not in known}
            kept = [kin for kin in _TIES if kin in first and f"{kin}s" not in first]
            if "children" in kept and any(kin in first for kin in _CHILDREN):
                kept.remove("children")
            if kept and len(said) >= _FEWEST:
                voice, kind = self._voices[entity], "pet" if kept[0] in _PETS else "family"
                phrases = [kin if kin.endswith("s") or kin == "children" else f"a {kin}" for kin in kept]
                listed = " and ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))
                for at, quote in sorted({first[kin] for kin in kept}):
                    yield _candidate(at, voice, f"{voice.name} has {listed}", quote, kind)


def _goes_on(rest: str) -> bool:
    """Return whether a noun ended here: behind “my horse” may follow “painting”, which is no animal."""
    following = rest.split(maxsplit=1)[:1]
    return AFTER_NAME.match(rest) is not None or not ADVERBS.isdisjoint(following)


def _candidate(at: int, voice: Voice, text: str, quote: str, kind: str, since: str = "") -> Candidate:
    return Candidate(at, voice.entity, voice.label, text, quote, kind, _WORTH, terms_of(text), since)
