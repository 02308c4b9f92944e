"""How a stored memory is told: where it went, why, and what came with it."""

from __future__ import annotations

import re

from workbench.cli.printing import Page, safe_line, wrap
from workbench.cli.views.changed import account_lines
from workbench.cli.views.found import forgotten_lines, found_lines, match_lines
from workbench.cli.views.reflected import reflected_lines
from workbench.cli.views.secrets import held_back_lines
from workbench.engine.results.memories import MessageOutcome, Remembered

_LINK = re.compile(r"\[\[([^\[\]|\s]+)\]\]")
_ROUTES = {"rules": "by its wording", "model": "by the model", "given": "as you said"}


def remembered_lines(
    page: Page, remembered: Remembered, audience: str | None = None, *, undone: bool = True
) -> list[str]:
    """Tell where a text went, or would go, for whom if not for its owner alone, and all that was derived from it.

    Args:
        page: Where it is told.
        remembered: What became of the text.
        audience: For whom it is, if not for its owner alone.
        undone: Whether an undo takes it back.
    """
    if remembered.held_back is not None:
        return held_back_lines(page, remembered.held_back, dry_run=remembered.dry_run)
    written = remembered.commit is not None
    verb = "Remembered" if written else "Would remember" if remembered.dry_run else "Known already:"
    mark = page.paint("✓", "good") if written else page.paint("○", "quiet")
    lines = [f"{mark} {verb} {page.paint(safe_line(remembered.id), remembered.store, 'strong')}"]
    if remembered.summary:
        lines += wrap(safe_line(remembered.summary), page.width, first="  ")
    route = _ROUTES.get(remembered.router, f"by {safe_line(remembered.router)}")
    facts = [
        ("store", f"{page.paint(remembered.store, remembered.store)} {page.paint(f'({route})', 'quiet')}"),
        ("file", page.paint(safe_line(remembered.path), "place")),
        ("for", safe_line(audience or "") if written or remembered.dry_run else ""),
        ("tags", safe_line(", ".join(remembered.tags))),
        ("confidence", safe_line(remembered.confidence)),
        (
            "entities",
            safe_line(", ".join(f"{entity.name} ({entity.type})" for entity in remembered.entities)),
        ),
        (
            "relations",
            "; ".join(safe_line(f"{it.from_} {it.relation} {it.to}") for it in remembered.relations),
        ),
        ("core", safe_line(remembered.core_update or "")),
    ]
    lines += page.table([(f"  {page.paint(name, 'quiet')}", value) for name, value in facts if value])
    if remembered.fallback:
        lines += wrap(safe_line(remembered.fallback), page.width, first="  The rules decided: ", rest="  ")
    for question in remembered.questions:
        lines += _question_lines(page, question)
    lines += account_lines(page, remembered)
    if remembered.dry_run:
        lines.append(page.paint("  Nothing was written: this was a dry run.", "quiet"))
    elif written and undone:
        lines.append(page.paint("  Take it back: workbench undo", "quiet"))
    return lines


def _question_lines(page: Page, question: str) -> list[str]:
    """Ask a person what the engine would not decide, and how to answer."""
    told = safe_line(question)
    lines = wrap(_LINK.sub(r"\1", told), page.width, first="  ? ")
    two = _LINK.findall(told)
    if len(two) == 2:
        lines.append(page.paint(f"    If so: workbench graph merge {two[1]} {two[0]}", "quiet"))
    return lines


def message_lines(page: Page, outcome: MessageOutcome) -> list[str]:
    """Tell what a message asked of memory and what came of it."""
    if outcome.kind == "none":
        return ["This message asks nothing of memory."]
    phrase = f" (“{safe_line(outcome.phrase)}”)" if outcome.phrase else ""
    lines = [page.paint(f"It asks to {outcome.kind}{phrase}.", "quiet")]
    if outcome.remembered is not None:
        lines += remembered_lines(page, outcome.remembered)
    if outcome.forgotten is not None:
        forgotten = outcome.forgotten
        if forgotten.applied or not forgotten.matches:
            lines += forgotten_lines(page, forgotten, hard=False)
        else:
            lines += match_lines(page, forgotten.matches)
    if outcome.found is not None:
        lines += found_lines(page, outcome.found, query=outcome.content or "")
    if outcome.reflected is not None:
        lines += reflected_lines(page, outcome.reflected)
    return lines
