"""Draws core memory: blocks with their budgets, the items in them, and one item read closely."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.display.budget import budget_line
from workbench.display.cells import cell_width, plain, wrap
from workbench.display.ink import BLANK, Line, Span, cut, gap, ink, spread
from workbench.tui.bench import CoreBlock
from workbench.tui.views.memory import score_lines
from workbench.tui.views.teaching import IMPORT_LINK
from workbench.tui.widgets.rows import SectionedRows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from workbench.tui.bench import CoreItem, CoreMemory, Score

BLOCK_KEY = "block:"
_WHOLE = "Core memory"
# What the four blocks are for (design document §4), in a few words and in a sentence.
PURPOSES = {
    "Identity": ("Who you are", "Your name, your work, your language, and how you like to be spoken to."),
    "Active Context": (
        "What is going on",
        "Current projects, open decisions, what is due; it changes often.",
    ),
    "Persona": (
        "How the agent is with you",
        "Its manner, what works between you, what to do and what to leave.",
    ),
    "Critical Facts": (
        "What must never be forgotten",
        "Facts that would hurt if they were missing just once.",
    ),
}
PINNED = "◆"
DRAFT = "✎"


def matching(core: CoreMemory, words: tuple[str, ...]) -> tuple[CoreBlock, ...]:
    """Return the blocks with only the items that hold every word; blocks without any go."""
    if not words:
        return core.blocks
    kept = (
        replace(
            block,
            items=tuple(each for each in block.items if all(word in each.text.casefold() for word in words)),
        )
        for block in core.blocks
    )
    return tuple(block for block in kept if block.items)


class CoreRows(SectionedRows["CoreBlock | CoreItem"]):
    """Core memory as rows: for each block a heading with its bar, its items, and a space.

    Args:
        blocks: What to show.
        tokens: Tokens of each block by name, which may run ahead of what is saved while one types.
        drafts: Ids that have an unsaved draft.
    """

    def __init__(
        self, blocks: tuple[CoreBlock, ...], tokens: Mapping[str, int], drafts: Collection[str]
    ) -> None:
        super().__init__()
        for block in blocks:
            self._add_heading(block)
            for item in block.items:
                self._add(item, item.id)
            if not block.items:
                self._add(None, BLOCK_KEY + block.name)
        self._tokens = tokens
        self._drafts = drafts
        self._label = label_width(blocks)

    def line(self, index: int, width: int) -> Line:
        """Draw a heading, an item, or the place where the first item of an empty block would be."""
        row = self._rows[index]
        if row is None:
            return _invitation(self.key(index), width) if self.key(index) else BLANK
        if isinstance(row, CoreBlock):
            return self._heading(row, width)
        sign = DRAFT if row.id in self._drafts else PINNED if row.pinned else "·"
        role = "decide" if sign == DRAFT else "store.core" if row.pinned else "faint"
        first, *rest = row.text.splitlines() or [""]
        more = f" +{len(rest)}" if rest else ""
        size = f"{row.tokens:>4}"
        text = styled_item(first)
        return spread(
            (Span(sign + " ", role), *text), (Span(more, "faint"), gap(2), Span(size, "faint")), width
        )

    def _heading(self, block: CoreBlock, width: int) -> Line:
        used = self._tokens.get(block.name, block.tokens)
        if block.budget is None:
            return spread((ink(block.name, "strong"),), (Span(f"{used:,} tokens", "faint"),), width)
        return budget_line(block.name, used, block.budget, width, label_width=self._label)


def _invitation(key: str, width: int) -> Line:
    """Draw what an empty block says: what belongs there, where that is known, and how to begin."""
    purpose = PURPOSES.get(key.removeprefix(BLOCK_KEY))
    text = f"{purpose[0]}; n adds the first item." if purpose else "Nothing here yet; n adds the first item."
    return (gap(2), ink(text, "faint", max(1, width - 2)))


def block_lines(block: CoreBlock, width: int) -> list[Line]:
    """Draw what a block without items is for."""
    lines: list[Line] = [(ink(block.name, "store.core+strong", width),), BLANK]
    title, text = PURPOSES.get(
        block.name, ("", "A part of MEMORY.md; all of it goes along into every conversation.")
    )
    for words in (f"{title}." if title else "", text):
        lines.extend((Span(line),) for line in (wrap(words, width) if words else ()))
    lines += [BLANK, (Span("n", "strong"), Span("  adds the first item.", "soft"))]
    lines.append((Span("E", "strong"), Span("  opens the block in your own editor.", "soft")))
    lines.append(
        (Span("I", "strong", IMPORT_LINK), Span("  brings in memory from elsewhere.", "soft", IMPORT_LINK))
    )
    if block.budget is not None:
        lines += [
            BLANK,
            *(
                (Span(line, "soft"),)
                for line in wrap(
                    f"Up to {block.budget:,} tokens, so that what is always along stays short.", width
                )
            ),
        ]
    return lines


def core_score_lines(score: Score, width: int) -> list[Line]:
    """Draw how alive an item of core memory is; it is always along, so that a low score is only a hint.

    Args:
        score: As the formula has it, which knows nothing of core memory’s standing.
        width: Cells.
    """
    days = round(score.terms.get("days", 0))
    if score.status == "pinned":
        words = "pinned"
    elif days < 1:
        words = "used today"
    else:
        words = f"untouched for {days:,} day{'s' * (days != 1)}"
    return score_lines(score, width, words=words)


def label_width(blocks: tuple[CoreBlock, ...]) -> int:
    """Return the cells that the longest name takes, within reason, so that all bars begin together."""
    names = (_WHOLE, *(plain(block.name) for block in blocks))
    return min(24, max(map(cell_width, names)) + 1)


def styled_item(text: str) -> Line:
    """Give the label of a `Label: value` item a lighter ink, so that the values stand out."""
    label, colon, value = text.partition(": ")
    if colon and 0 < len(label) <= 40 and "." not in label and value:
        return (ink(label.replace("**", "") + ": ", "soft"), ink(value.replace("**", "")))
    return (ink(text),)


def total_line(core: CoreMemory, width: int) -> Line:
    """Draw the bar of the whole."""
    return budget_line(_WHOLE, core.tokens, core.cap, width, label_width=label_width(core.blocks))


def item_lines(item: CoreItem, block: CoreBlock, width: int) -> list[Line]:
    """Draw one item in full, before anything more is known about it."""
    head = cut(
        (Span(PINNED + " " if item.pinned else "", "store.core"), ink(block.name, "store.core+strong")), width
    )
    lines: list[Line] = [spread(head, (Span(f"{item.tokens} tokens", "faint"),), width), BLANK]
    for paragraph in item.text.splitlines():
        lines.extend((Span(line),) for line in wrap(paragraph, width))
    if item.pinned:
        lines += [BLANK, (Span(plain("Pinned: nothing rewrites or forgets it.", width), "soft"),)]
    return lines
