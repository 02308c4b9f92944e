"""Who the person is: what they say of themselves fills the template’s placeholders and names what core lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.memory.wording import text_key
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

_NAME: Final = r"([^\W\d_a-z][\w'-]+(?: [^\W\d_a-z][\w'-]+){0,2})"
_VALUE: Final = r"([^.,;:!?()]{2,60}?)(?=[.,;:!?()]|$| and i\b| but | so | because | since )"
_PROFESSION: Final = (
    r"(?:[\w-]+ ){0,3}(?:manager|engineer|developer|designer|teacher|doctor|nurse|lawyer|scientist|researcher|analyst"
    r"|architect|consultant|director|founder|writer|accountant|electrician|programmer|professor|physician|technician"
    r"|editor|journalist|musician|photographer|chef|freelancer)\b"
)
_STATED: Final = {
    "Name": re.compile(rf"\b(?:[Mm]y (?:full )?name(?:'s| is)|[Cc]all me) {_NAME}"),
    "Role": re.compile(
        rf"\b(?:(?:my (?:role|job|job title|title|profession|occupation) is|i (?:now )?work as) (?:an? |the )?{_VALUE}"
        rf"|i(?:'m| am) (?:now )?an? ({_PROFESSION}))",
        re.IGNORECASE,
    ),
    "Timezone": re.compile(
        r"\b(?:my time ?zone is|i(?:'m| am) in(?: the)? (?=[A-Z][a-z]+/|UTC|GMT|CES?T\b|[EP][SD]T\b))\s*"
        r"([A-Za-z]+(?:/[A-Za-z_]+)?(?:[+-]\d{1,2}(?::\d\d)?)?)",
        re.IGNORECASE,
    ),
    "Location": re.compile(rf"\bi (?:now )?live in {_NAME}", re.IGNORECASE),
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
    known = {
        _LABELS[line.label.casefold()]: line
        for line in read_lines(snapshot)
        if line.block == "Identity" and line.label.casefold() in _LABELS
    }
    for label, (value, proof) in _statements(snapshot, work).items():
        line = known.get(label)
        if line is None:
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
    found: dict[str, tuple[str, Evidence]] = {}
    for at, passage in enumerate(newest_first(snapshot.passages)):
        if at % 500 == 0:
            work.check()
        if len(found) == len(_STATED):
            break
        if not is_owners(passage, snapshot):
            continue
        plain = passage.text.translate(PUNCTUATION)
        for label, pattern in _STATED.items():
            if label in found or not pattern.search(plain):
                continue
            # Only what is said in one's own voice counts, not what is quoted or stands in code.
            for sentence in sentences(passage.text):
                match = pattern.search(sentence.text.translate(PUNCTUATION))
                proof = cite(snapshot, passage.id, sentence.text) if match else None
                if match is not None and proof is not None:
                    found[label] = (clipped(next(filter(None, match.groups())).strip(" '\""), 80), proof)
                    break
    return found
