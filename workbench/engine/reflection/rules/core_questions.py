"""Questions about core memory: what nobody touches any more, and what time has overtaken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from workbench.engine import layout
from workbench.engine.patterns import lazy_pattern
from workbench.engine.reflection import items as forms
from workbench.engine.reflection.rules.core_items import newest_first, read_lines
from workbench.engine.reflection.rules.phrasing import clipped, counted
from workbench.engine.reflection.rules.quoting import cite, quote_of
from workbench.engine.reflection.rules.words import content_words, coverage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.engine.markdown.review import ReviewItem
    from workbench.engine.reflection.model import Passage, Snapshot
    from workbench.engine.reflection.rules.core_items import CoreLine
    from workbench.engine.reflection.work import Work

_RELATIVE: Final = lazy_pattern(
    r"\b(?:tomorrow|tonight|next (?:week|month|\w+day)|this (?:week|month|\w+day)|later this (?:week|month))\b",
    re.IGNORECASE,
)
_MOST_PASSAGES: Final = 2000
_SOURCE: Final = 0.7
_BLOCKS_OF_QUESTIONS: Final = ("Identity", "Persona", "Critical Facts")
_LONG: Final = 30
_FEWEST_WORDS: Final = 4


def ask_what_is_untouched(snapshot: Snapshot) -> Iterator[ReviewItem]:
    """Ask whether what core memory says is still so, where nobody has touched it for thirty days."""
    blocks = {item.id: (block.name, item) for block in snapshot.core.blocks for item in block.items}
    said: list[frozenset[str]] | None = None
    for entry in snapshot.fading:
        name, item = blocks.get(entry.id, ("", None))
        days = (snapshot.now - entry.last_accessed).days
        if item is None or item.pinned or entry.pinned or days < _LONG or name not in _BLOCKS_OF_QUESTIONS:
            continue
        said = said if said is not None else [content_words(passage.text) for passage in snapshot.passages]
        words = content_words(item.text)
        if len(words) < _FEWEST_WORDS:
            # Names and other single values do not go stale by silence.
            continue
        if any(len(words & other) >= 2 for other in said):
            continue
        proof = cite(snapshot, item.id, item.text)
        if proof is not None:
            yield forms.question(
                f"“{clipped(item.text, 120)}” — is this still so?",
                (proof,),
                reason=f"It stands in {layout.CORE} under {name}, and has not been accessed for {days} days.",
            )


def ask_what_was_overtaken(snapshot: Snapshot, work: Work) -> Iterator[ReviewItem]:
    """Ask whether it has happened, where core memory says “next month” of a month that has long begun."""
    lines = [line for line in read_lines(snapshot) if _RELATIVE.search(line.item.text)]
    if not lines:
        return
    for line in lines:
        work.check()
        match = _RELATIVE.search(line.item.text)
        assert match is not None
        source = _source_of(snapshot, line)
        own = cite(snapshot, line.item.id, line.item.text)
        if source is None or source.moment is None or own is None:
            continue
        phrase = match[0].casefold()
        days = (snapshot.now.date() - source.moment.date()).days
        ahead = 31 - source.moment.day if "month" in phrase else 1 if phrase in ("tomorrow", "tonight") else 7
        if days > ahead + 1:
            yield forms.question(
                f"“{clipped(line.item.text, 120)}” was said on {source.day}. Has it come about, and what holds now?",
                (own, quote_of(source, line.words)),
                reason=f"“{match[0]}” was {counted(days, 'day')} ago.",
            )


def _source_of(snapshot: Snapshot, line: CoreLine) -> Passage | None:
    """Return the newest passage that says what an item of core memory does."""
    words = line.words
    for passage in newest_first(snapshot.passages[-_MOST_PASSAGES:]):
        if len(words) > 1 and coverage(words, content_words(passage.text)) >= _SOURCE:
            return passage
    return None
