"""How proposals are told: what waits, what it contradicts, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.cli.printing import Page, clip, safe, safe_line, wrap
from workbench.cli.views.changed import account_lines
from workbench.cli.views.secrets import held_back_lines
from workbench.cli.views.times import at_minute
from workbench.engine.results.proposals import Proposal, Proposals, Proposed, Settled

_MOST_LINES = 12


def proposals_lines(page: Page, found: Proposals) -> list[str]:
    """List what waits, each with its number, who sent it, and what it contradicts or repeats."""
    lines: list[str] = []
    for proposal in found.proposals:
        lines += [*_proposal_lines(page, proposal), ""]
    for problem in found.problems:
        lines += wrap(safe_line(problem), page.width, first="! ", rest="  ")
    if not found.proposals:
        return ["No proposal waits.", *lines]
    told = ["Store: workbench proposals commit N   Refuse: workbench proposals reject N"]
    if any(other.startswith("#") for proposal in found.proposals for other in proposal.conflicts_with):
        told.append(
            "Store N and refuse M: workbench proposals settle N M   Store both: workbench proposals keep-both N M"
        )
    if any(not other.startswith("#") for proposal in found.proposals for other in proposal.conflicts_with):
        told.append("Store N in place of that memory: workbench proposals commit N --replacing")
    hints = [page.paint(line, "quiet") for text in told for line in wrap(text, page.width)]
    return [page.heading("Proposals", _count(len(found.proposals))), "", *lines, *hints]


def _proposal_lines(page: Page, proposal: Proposal) -> list[str]:
    who = f"from {safe_line(proposal.from_) or 'nobody'}"
    when = f" · {at_minute(page, proposal.timestamp)}" if proposal.timestamp else ""
    head = f"#{proposal.number}"
    about = [
        safe_line(proposal.store) or "any store",
        f"confidence {safe_line(proposal.confidence) or 'unknown'}",
    ]
    if proposal.core_worthy:
        about.append("core-worthy")
    if proposal.status == "deferred":
        about.append("left to the reflection")
    told = clip(f"{who}{when} · {' · '.join(about)}", page.width - len(head) - 1)
    lines = [f"{page.paint(head, 'strong')} {page.paint(told, 'quiet')}"]
    said = [
        line for part in safe(proposal.content).split("\n") for line in wrap(part, page.width, first="  ")
    ]
    lines += said[:_MOST_LINES]
    if len(said) > _MOST_LINES:
        lines.append(page.paint(f"  … and {len(said) - _MOST_LINES} more lines", "quiet"))
    if proposal.entities:
        told = f"about {', '.join(map(safe_line, proposal.entities))}"
        lines += [page.paint(line, "quiet") for line in wrap(told, page.width, first="  ")]
    if proposal.trigger:
        told = f"because: {safe_line(proposal.trigger)}"
        lines += [page.paint(line, "quiet") for line in wrap(told, page.width, first="  ")]
    lines += _standing(page, proposal.conflicts_with, proposal.repeats)
    return lines


def _standing(page: Page, conflicts: Iterable[str], repeats: str | None) -> list[str]:
    lines = []
    named = ", ".join(map(safe_line, conflicts))
    if named:
        told = wrap(f"contradicts {named}", page.width, first="  ⚠ ", rest="    ")
        lines += [page.paint(line, "accent") for line in told]
    if repeats:
        lines += wrap(f"says the same as {safe_line(repeats)}", page.width, first="  = ", rest="    ")
    return lines


def proposed_lines(page: Page, proposed: Proposed) -> list[str]:
    """Tell what became of one proposal."""
    if proposed.held_back is not None:
        return held_back_lines(page, proposed.held_back, dry_run=False)
    if proposed.commit is None:
        return [f"{page.paint('○', 'quiet')} The same waits already, as proposal #{proposed.number}."]
    mark = page.paint("✓", "good")
    if proposed.status == "committed":
        named = ", ".join(map(safe_line, proposed.committed))
        lines = [f"{mark} Stored at once: {named}"]
    else:
        lines = [f"{mark} Proposed as {page.paint(f'#{proposed.number}', 'strong')}; it waits for a verdict."]
    lines += _standing(page, proposed.conflicts_with, proposed.duplicate_of)
    return [*lines, *account_lines(page, proposed)]


def settled_lines(page: Page, settled: Settled) -> list[str]:
    """Tell what was decided."""
    lines = []
    for verb, numbers in (
        ("Stored", settled.committed),
        ("Refused", settled.rejected),
        ("Left to the next reflection:", settled.deferred),
    ):
        if numbers:
            named = ", ".join(f"#{number}" for number in numbers)
            lines.append(f"{page.paint('✓', 'good')} {verb} {named}.")
    for memory in settled.ids:
        lines += [page.paint(line, "place") for line in wrap(safe_line(memory), page.width, first="  ")]
    for memory in settled.retired:
        lines += wrap(f"No longer holds: {safe_line(memory)}", page.width, first="  ", rest="    ")
    lines += account_lines(page, settled)
    if settled.commit is not None:
        lines.append(page.paint("  Take it back: workbench undo", "quiet"))
    return lines


def _count(number: int) -> str:
    return "1 proposal" if number == 1 else f"{number:,} proposals"
