"""Core memory kept true: a new value is put into the item that says the old value."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from workbench.engine.identifiers import slug
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.kinds import Kind
from workbench.engine.reflection.rules.core_items import read_lines
from workbench.engine.reflection.rules.phrasing import clipped, plain
from workbench.engine.reflection.rules.words import content_words, coverage, likeness

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Snapshot
    from workbench.engine.reflection.rules.core_items import CoreLine

_LONGEST_VALUE: Final = 8
_SAME_STATEMENT: Final = 0.5
_SHARED: Final = 0.5
_WORD: Final = lazy_pattern(r"\S+")
_EDGES: Final = ".,;:!?。，；\"'“”‘’()"


def core_corrections(snapshot: Snapshot, items: Sequence[ReviewItem]) -> Iterator[ReviewItem]:
    """Yield a change for every item of core memory that says what a supersession replaces.

    Args:
        snapshot: Its core memory.
        items: Proposed by consolidation.
    """
    lines = [line for line in read_lines(snapshot) if not line.is_placeholder]
    owner = content_words(f"{snapshot.owner} user")
    for item in items:
        if item.kind != Kind.SUPERSESSION or not item.before:
            continue
        for line in lines:
            if _about_somebody_else(snapshot, item, line):
                continue
            text = corrected(line, item.before, item.text, owner)
            if text and text != line.item.text:
                yield forms.core_change(
                    line.item.id,
                    text,
                    item.evidence,
                    reason=f"What it says was superseded: {clipped(item.reason, 160) or 'see the update'}",
                    before=line.item.text,
                    confidence="high" if item.confidence == "high" else "medium",
                )


def corrected(line: CoreLine, old: str, new: str, subject: frozenset[str] = frozenset()) -> str:
    """Return an item with the new value in the old one’s place; empty where it does not say the old statement.

    The words in which the two statements differ are exchanged where the item has the old ones and shares other words
    with the old statement; an item that is the old statement in other words becomes the new one, under its label.

    Args:
        line: Of core memory.
        old: The statement that is superseded.
        new: The one in its place.
        subject: Words of the person’s name, which an item about them need not say.
    """
    said, before = line.words, content_words(old)
    exchanged = _differing(old, new)
    if exchanged is not None:
        gone, come = exchanged
        value = content_words(gone)
        rest = before - value - subject
        near = len(rest & said) >= 2 or coverage(rest, said) >= _SHARED
        pattern = re.compile(rf"(?<!\w){re.escape(gone)}(?!\w)", re.IGNORECASE)
        if near and len(pattern.findall(line.item.text)) == 1:
            return pattern.sub(lambda _: come, line.item.text)
    if likeness(content_words(line.value), before) >= _SAME_STATEMENT:
        return f"{line.label}: {plain(new)}" if line.label else plain(new)
    return ""


def _differing(old: str, new: str) -> tuple[str, str] | None:
    """Return the words in which two statements differ, where that is one stretch of at most eight words."""
    before, after = ([word.strip(_EDGES) for word in _WORD.findall(text)] for text in (old, new))
    folded = SequenceMatcher(
        None, [word.casefold() for word in before], [word.casefold() for word in after], autojunk=False
    )
    changes = [change for change in folded.get_opcodes() if change[0] != "equal"]
    if len(changes) != 1 or changes[0][0] != "replace":
        return None
    _, i1, i2, j1, j2 = changes[0]
    if i2 - i1 > _LONGEST_VALUE or j2 - j1 > _LONGEST_VALUE or i2 - i1 == len(before):
        return None
    return " ".join(before[i1:i2]), " ".join(after[j1:j2])


def _about_somebody_else(snapshot: Snapshot, item: ReviewItem, line: CoreLine) -> bool:
    """Return whether the update is about another person than the owner, whom the item does not name."""
    target = item.target.removeprefix("entity:").partition("#")[0]
    kind, _, name = target.partition("--")
    if kind != "person" or name in ("user", slug(snapshot.owner or "user")):
        return False
    return slug(line.item.text).find(name.split("-")[0]) < 0
