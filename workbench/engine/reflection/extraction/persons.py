"""Tells persons by what they do, where nothing else says that a name is one: “Farid prefers alerts by SMS”."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from workbench.engine.catalog.terms import STOP_WORDS
from workbench.engine.identifiers import entity_id
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection.extraction.naming import Mention
from workbench.engine.triggers.cues import routing_cues

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME: Final = r"[A-Z][a-zà-ÿ]{2,20}"
# In “the code of Orchid lives in …” it is the code that lives there: a name after a preposition does nothing.
_GOVERNED: Final = "".join(rf"(?<!\b{word} )" for word in ("of", "for", "from", "in", "at", "on", "with"))
_DOES = lazy_pattern(
    rf"(?<![\w-]){_GOVERNED}(?P<name>{_NAME})\s+(?:(?:also|really|now|always)\s+)?(?:wears|prefers|likes|loves|hates|wants|asked|said|says"
    r"|told|thinks|reads|drives|lives|leads|studies|practi[sc]es|threw|bought|complained|suggested|insists"
    r"|is (?:allergic|team lead|moving|leaving|pregnant|her|his|my|our)|goes on (?:\w+ )?leave"
    r"|broke (?:his|her)|got (?:his|her)"
    r"|will (?:write|take|deliver|send|call|ask)|would like|works (?:at|as|for))\b"
)
_WITHIN = lazy_pattern(rf"(?<=[a-z,;:] )(?P<name>{_NAME})\b")
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
