"""How one memory is shown: its text, its score and what made it, where it is from, who touched it."""

from __future__ import annotations

from workbench.cli.printing import Page, safe, safe_line, wrap
from workbench.cli.views.times import at_minute
from workbench.engine.results import Score, Shown, Validity


def shown_lines(page: Page, shown: Shown) -> list[str]:
    """Show one memory, text first."""
    place = f"{safe_line(shown.path)}:{shown.start_line}–{shown.end_line}"
    lines = [page.paint(safe_line(shown.id), shown.store, "strong"), page.paint(place, "place")]
    if shown.title:
        lines.append(safe_line(shown.title))
    lines.append("")
    lines += wrap(safe(shown.text).strip("\n"), page.width)
    facts: list[tuple[str, str]] = []
    if shown.score is not None:
        facts.append(("score", _score(page, shown.score)))
    if validity := _validity(shown.validity):
        facts.append(("true", validity))
    for name, values in (
        ("from", shown.provenance),
        ("names", shown.links.to),
        ("named by", shown.links.from_),
    ):
        facts += [(name if index == 0 else "", safe_line(value)) for index, value in enumerate(values)]
    if facts:
        lines += ["", *page.table([(page.paint(name, "quiet"), value) for name, value in facts])]
    if shown.history:
        lines += ["", page.paint("History", "strong")]
        rows = [
            (entry.commit[:7], at_minute(entry.timestamp), safe_line(entry.actor), safe_line(entry.approval))
            for entry in shown.history
        ]
        for row, entry in zip(page.table(rows), shown.history, strict=True):
            lines.append(row)
            lines += [
                page.paint(line, "quiet")
                for line in wrap(safe_line(entry.summary), page.width, first=" " * 9)
            ]
    return lines


def _score(page: Page, score: Score) -> str:
    terms = " × ".join(
        f"{name.replace('_', ' ')} {value:g}"
        for name, value in score.terms.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    said = f"{score.value:.2f} {page.paint(score.status, score.status)}"
    return said + (page.paint(f"  ({terms})", "quiet") if terms else "")


def _validity(validity: Validity) -> str:
    said = []
    if validity.from_:
        said.append(f"from {validity.from_}")
    if validity.until:
        said.append(f"until {validity.until}")
    if validity.superseded_by:
        said.append(f"superseded by {validity.superseded_by}")
    return safe_line(", ".join(said))
