"""Text of core memory: each block with its items and a bar of its budget."""

from __future__ import annotations

import re

from workbench.cli.printing import Page, bar, clip, display_width, safe_line, wrap
from workbench.engine.results.memories import CoreBlock, CoreItem, CoreView

BAR = 16
_COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)
NEARLY_FULL = 0.9


def core_lines(page: Page, core: CoreView) -> list[str]:
    """Show core memory with its budget, block by block."""
    lines = [_measured(page, "Core memory", core.tokens, core.cap)]
    for block in core.blocks:
        lines += ["", *_block_lines(page, block)]
    if not core.blocks:
        lines += ["", "It is empty. Add something: workbench core add BLOCK TEXT"]
    return lines


def _measured(page: Page, name: str, tokens: int, budget: int | None) -> str:
    if budget is None:
        return page.heading(clip(name, page.width - 20), f"{tokens:,} tokens")
    share = tokens / budget if budget else 1.0
    style = "bad" if share > 1 else "accent" if share >= NEARLY_FULL else "good"
    drawn = bar(share, BAR)
    count = f"{tokens:>6,} of {budget:>5,} tokens"
    name = clip(name, max(page.width - display_width(count) - BAR - 4, 8))
    gap = " " * max(page.width - display_width(name) - display_width(count) - BAR - 2, 1)
    over = page.paint(count, "bad") if share > 1 else page.paint(count, "quiet")
    return f"{page.paint(name, 'strong')}{gap}{over}  {page.paint(drawn, style)}"


def _block_lines(page: Page, block: CoreBlock) -> list[str]:
    lines = [_measured(page, safe_line(block.name), block.tokens, block.budget)]
    for item in block.items:
        lines += _item_lines(page, item)
    if not block.items:
        # The templates' comments say what belongs in an empty block.
        asked = (
            safe_line(" ".join(_COMMENT.findall(block.body)))
            if not _COMMENT.sub("", block.body).strip()
            else ""
        )
        said = f"nothing yet · {asked}" if asked else safe_line(block.body) or "nothing yet"
        lines += [page.paint(line, "quiet") for line in wrap(said, page.width, first="  ")]
    return lines


def _item_lines(page: Page, item: CoreItem) -> list[str]:
    lines = wrap(safe_line(item.text), page.width, first="  ◆ " if item.pinned else "  • ")
    aside = safe_line(item.id) + (" · pinned" if item.pinned else "")
    return [*lines, "    " + page.paint(aside, "quiet")]
