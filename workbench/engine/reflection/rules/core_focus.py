"""What the person is working on now: the item “Currently working on” of Active Context, or a new one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.language.sentences import sentences
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.core_items import is_owners, newest_first, says, told_of_owner
from workbench.engine.reflection.rules.phrasing import clipped, plain
from workbench.engine.reflection.rules.quoting import cite, spoken
from workbench.engine.reflection.rules.words import content_words, coverage
from workbench.engine.triggers.cues import routing_cues
from workbench.engine.triggers.live_text import PUNCTUATION

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import Evidence, ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.reflection.rules.core_items import CoreLine

FOCUS: Final = frozenset({"currently working on", "working on", "current focus", "focus", "current project"})
_BLOCK: Final = "Active Context"
_LONGEST: Final = 120
_FEWEST_WORDS: Final = 3
_SAME: Final = 0.5
_WORK: Final = lazy_pattern(
    r"\b(?:working on|(?=(?:building|writing|migrating|preparing)\b)|focus(?:ing|ed) on)\s*"
    r"(?!how\b|it\b|this\b|that\b|them\b|to\b)(.{5,120}?)"
    r"(?=\.(?!\d)|[;!?]|,? (?:and|so|but|because|which|where) (?:i|we|they|you)\b|, |$)",
    re.IGNORECASE,
)


def focus_change(snapshot: Snapshot, line: CoreLine, recent: Sequence[Passage]) -> ReviewItem | None:
    """Return what is under way by the newest statement of it, where the item says otherwise."""
    if line.label.casefold() not in FOCUS:
        return None
    found = _under_way(snapshot, recent) or (_latest(snapshot, recent) if line.is_placeholder else None)
    if found is None:
        return None
    value, proof = found
    said = content_words(f"{value} {proof.quote}")
    if not line.is_placeholder and (
        coverage(content_words(line.value), said) >= _SAME or says((line,), value)
    ):
        return None
    reason = (
        "The template waits for it." if line.is_placeholder else "It is the last thing said to be under way."
    )
    return forms.core_change(
        line.item.id, f"{line.label}: {value}", (proof,), reason=reason, before=line.item.text
    )


def new_focus(
    snapshot: Snapshot, lines: Sequence[CoreLine], recent: Sequence[Passage]
) -> Iterator[ReviewItem]:
    """Yield what is under way, where Active Context has no item for it."""
    if any(line.block == _BLOCK and line.label.casefold() in FOCUS for line in lines):
        return
    found = _under_way(snapshot, recent)
    if found is not None and not says(lines, found[0]):
        text = f"Currently working on: {found[0]}"
        yield forms.core_change(
            "core:active-context",
            text,
            (found[1],),
            reason="It is the last thing said to be under way, and core memory does not say it.",
        )


def _under_way(snapshot: Snapshot, recent: Sequence[Passage]) -> tuple[str, Evidence] | None:
    """Return what the person said last that they are working on, with its evidence."""
    cues = routing_cues()
    for passage in newest_first(recent):
        if not is_owners(passage, snapshot) or not cues.fits("active", passage.text.translate(PUNCTUATION)):
            continue
        for sentence in sentences(passage.text):
            if not cues.fits("active", sentence.text.translate(PUNCTUATION)):
                continue
            told = told_of_owner(sentence.text, snapshot)
            match = _WORK.search(told)
            value = clipped(match[1], _LONGEST) if match else ""
            proof = cite(snapshot, passage.id, sentence.text)
            if proof is not None and len(content_words(value)) >= _FEWEST_WORDS:
                return value, proof
    return None


def _latest(snapshot: Snapshot, recent: Sequence[Passage]) -> tuple[str, Evidence] | None:
    """Return the newest decision or task in a sentence, with its evidence."""
    for passage in newest_first(recent):
        if passage.type in ("decision", "task"):
            sentence = spoken(passage.text)[0]
            proof = cite(snapshot, passage.id, sentence)
            if proof is not None:
                return clipped(plain(told_of_owner(sentence, snapshot)), _LONGEST), proof
    return None
