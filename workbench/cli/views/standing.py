"""How the state of things is told: the brief for a session, and what works here."""

from __future__ import annotations

from workbench.cli.printing import Page, pad, safe, safe_line, wrap
from workbench.cli.views.audit import open_alert_lines
from workbench.engine.results.standing import Brief, Diagnosis

_MARKS = {"ok": ("✓", "good"), "degraded": ("!", "accent"), "broken": ("✗", "bad")}


def brief_lines(page: Page, brief: Brief) -> list[str]:
    """Print core memory as it is, then what waits."""
    lines = safe(brief.core).strip("\n").split("\n")
    lines += ["", page.paint(f"{brief.tokens:,} of {brief.cap:,} tokens", "quiet")]
    # The same file changed twice is one remark, and each change is shown below it.
    notices = dict.fromkeys(safe_line(notice) for notice in brief.notices or _notices(brief))
    for notice in notices:
        lines += wrap(notice, page.width, first="! ", rest="  ")
    for alert in brief.alerts:
        lines += ["", *open_alert_lines(page, alert)]
    return lines


def _notices(brief: Brief) -> list[str]:
    notices = []
    if brief.proposals_waiting:
        notices.append(f"Proposals waiting for a decision: {brief.proposals_waiting}.")
    if brief.reflection_due:
        notices.append(f"A reflection is due; episodes not looked at yet: {brief.unprocessed_episodes}.")
    return notices


def doctor_lines(page: Page, diagnosis: Diagnosis) -> list[str]:
    """List the checks, each with what to do where something is amiss."""
    width = max((len(check.name) for check in diagnosis.checks), default=0)
    lines: list[str] = []
    for check in diagnosis.checks:
        mark, style = _MARKS.get(check.state, ("?", "accent"))
        head = f"{mark} {pad(safe_line(check.name), width)}  "
        told = wrap(safe_line(check.detail), page.width, first=head)
        told[0] = page.paint(mark, style) + told[0][1:]
        lines += told
        if check.remedy:
            lines += wrap(safe_line(check.remedy), page.width, first=" " * (width + 4) + "→ ")
    broken = sum(check.state == "broken" for check in diagnosis.checks)
    degraded = sum(check.state == "degraded" for check in diagnosis.checks)
    if not broken and not degraded:
        return [*lines, "", "Everything works."]
    return [*lines, "", f"{broken} broken, {degraded} degraded; everything else works."]
