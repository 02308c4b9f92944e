"""Who the person is: what they say of themselves fills the template’s placeholders and names what core lacks."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from workbench.engine.language.introductions import Introduction, introduced
from workbench.engine.language.sentences import sentences
from workbench.engine.memory.wording import text_key
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.core_items import is_owners, newest_first, read_lines
from workbench.engine.reflection.rules.phrasing import clipped
from workbench.engine.reflection.rules.quoting import cite
from workbench.engine.triggers.live_text import PUNCTUATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.rules.core_items import CoreLine
    from workbench.engine.reflection.work import Work

_LONGEST: Final = 80
# Cheaper than reading every sentence: introductions have one of these words.
_SPEAKS: Final = lazy_pattern(r"\b(?:i|i['’]m|my|me)\b|我", re.IGNORECASE)
_STATED: Final[dict[str, Callable[[Introduction], str]]] = {
    "Name": attrgetter("name"),
    "Role": attrgetter("role"),
    "Location": attrgetter("home"),
    "Timezone": attrgetter("timezone"),
}
_LABELS: Final = {
    "name": "Name",
    "full name": "Name",
    "role": "Role",
    "job": "Role",
    "occupation": "Role",
    "timezone": "Timezone",
    "time zone": "Timezone",
    "location": "Location",
    "home": "Location",
    "lives in": "Location",
}


def identity_changes(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    """Yield changes that say in Identity what the person said last of name, role, time zone and home.

    A placeholder is filled, another value replaced, and what is missing added, each from the newest statement.

    Args:
        snapshot: Its passages and core memory.
        work: Asked whether to go on.
    """
    identity = [line for line in read_lines(snapshot) if line.block == "Identity"]
    known = {_LABELS[line.label.casefold()]: line for line in identity if line.label.casefold() in _LABELS}
    for label, (value, proof) in _statements(snapshot, work).items():
        line = known.get(label)
        if line is None:
            # “Lives in Lisbon with Sam” says the home without its label.
            if any(text_key(value) in text_key(other.value) for other in identity):
                continue
            yield forms.core_change(
                "core:identity",
                f"{label}: {value}",
                (proof,),
                reason="They say so of themselves.",
                confidence="high",
            )
        elif line.is_placeholder or not _same(line, value):
            why = "The template waits for it." if line.is_placeholder else "They say otherwise now."
            yield forms.core_change(
                line.item.id,
                f"{line.label}: {value}",
                (proof,),
                reason=why,
                before=line.item.text,
                confidence="high" if line.is_placeholder else "medium",
            )


def _same(line: CoreLine, value: str) -> bool:
    """Return whether an item says the value already, perhaps with more to it."""
    said, new = text_key(line.value), text_key(value)
    return new in said or said in new


def _statements(snapshot: Snapshot, work: Work) -> dict[str, tuple[str, Evidence]]:
    """Return the newest value of each label that the person states, with the sentence that says it."""
    found: dict[str, tuple[str, Evidence]] = {}
    for at, passage in enumerate(newest_first(snapshot.passages)):
        if at % 500 == 0:
            work.check()
        if len(found) == len(_STATED):
            break
        if not is_owners(passage, snapshot) or not _SPEAKS.search(passage.text):
            continue
        # Only what is said in one's own voice counts, not what is quoted or stands in code.
        for sentence in sentences(passage.text):
            said = introduced(sentence.text.translate(PUNCTUATION))
            for label, read in _STATED.items():
                value = read(said)
                proof = cite(snapshot, passage.id, sentence.text) if value and label not in found else None
                if proof is not None:
                    found[label] = (clipped(value, _LONGEST), proof)
    return found
