"""How the answers of a door of one scope are told."""

from __future__ import annotations

from workbench.cli.printing import Page, safe_line, wrap
from workbench.cli.views.found import found_lines
from workbench.cli.views.secrets import held_back_lines
from workbench.engine.results.memories import MessageOutcome, Remembered
from workbench.engine.results.proposals import Proposed
from workbench.engine.results.scoped import ScopedBrief


def brief_lines(page: Page, brief: ScopedBrief) -> list[str]:
    """List the newest of what is for a scope."""
    lines = [page.paint(f"For {safe_line(brief.scope)}: {brief.total:,} memories", "strong")]
    for memory in brief.memories:
        head = f"{memory.date or '—'}  "
        lines += wrap(safe_line(memory.text), page.width, first=head, rest=" " * len(head))
    return lines


def remembered_lines(page: Page, remembered: Remembered, scope: str) -> list[str]:
    """Tell under which id something is kept, and for whom."""
    if remembered.held_back is not None:
        return held_back_lines(page, remembered.held_back, dry_run=remembered.dry_run)
    verb = "Would remember" if remembered.dry_run else "Remembered"
    lines = [f"{page.paint('✓', 'good')} {verb} for {scope}: {safe_line(remembered.id)}"]
    return lines + wrap(safe_line(remembered.summary), page.width, first="  ")


def proposed_lines(page: Page, proposed: Proposed, scope: str) -> list[str]:
    """Tell that a proposal waits."""
    if proposed.held_back is not None:
        return held_back_lines(page, proposed.held_back, dry_run=False)
    return [f"{page.paint('✓', 'good')} Proposed for {scope}; it waits for a verdict."]


def message_lines(page: Page, outcome: MessageOutcome, scope: str) -> list[str]:
    """Tell what a message asked for and what came of it."""
    if outcome.remembered is not None:
        return remembered_lines(page, outcome.remembered, scope)
    if outcome.found is not None:
        return found_lines(page, outcome.found)
    if outcome.kind in ("forget", "reflect"):
        return [f"It asks to {outcome.kind}; that is the owner’s to do."]
    return ["It asks nothing of memory."]
