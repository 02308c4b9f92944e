"""Open decisions of Active Context: which of them were taken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.core_items import newest_first
from workbench.engine.reflection.rules.phrasing import clipped
from workbench.engine.reflection.rules.quoting import cite, spoken
from workbench.engine.reflection.rules.words import content_words, coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.reflection.rules.core_items import CoreLine

OPEN: Final = frozenset(
    {"open decisions", "open questions", "blockers", "blockers/waiting on", "waiting on", "waiting for"}
)
_DECIDED: Final = 0.8


def settled_change(snapshot: Snapshot, line: CoreLine, recent: Sequence[Passage]) -> ReviewItem | None:
    """Return a list of open decisions without the one that was taken; the last one leaves by a demotion."""
    parts = open_parts(line)
    for part in parts if len(parts) > 1 else ():
        decision = deciding(part, recent)
        proof = cite(snapshot, decision.id, spoken(decision.text)[0]) if decision else None
        if decision is not None and proof is not None:
            rest = ", ".join(other for other in parts if other != part)
            reason = f"“{clipped(part, 80)}” was decided on {decision.day}."
            text = f"{line.label}: {rest}"
            return forms.core_change(line.item.id, text, (proof,), reason=reason, before=line.item.text)
    return None


def open_parts(line: CoreLine) -> list[str]:
    """Return what a list of open decisions holds; nothing for other items."""
    if line.label.casefold() not in OPEN or line.is_placeholder:
        return []
    return [part.strip() for part in re.split(r"[,;]\s+", line.value) if part.strip()]


def deciding(part: str, passages: Sequence[Passage]) -> Passage | None:
    """Return the newest decision on something that was open."""
    words = content_words(part)
    for passage in newest_first(passages):
        said = content_words(passage.text)
        if passage.type == "decision" and len(words & said) >= 2 and coverage(words, said) >= _DECIDED:
            return passage
    return None
