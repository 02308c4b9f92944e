"""Text about secrets, never quoting one."""

from __future__ import annotations

from workbench.cli.printing import Page, safe_line, wrap
from workbench.cli.views.changes import at_minute
from workbench.engine.results.memories import HeldBack, HeldBackList, HeldMemory, SecretScan


def held_back_lines(page: Page, held: HeldBack, *, dry_run: bool) -> list[str]:
    """Report that something was not or would not be stored, and who decides."""
    does = "Would be held" if dry_run else "Held"
    told = f"{does} back for a person: {safe_line(held.reason)}. {safe_line(held.detail)}."
    return wrap(told, page.width, first="! ", rest="  ")


def held_lines(page: Page, found: HeldBackList) -> list[str]:
    """List what was held back: number, actor, and kind of secret."""
    if not found.held:
        return ["Nothing was held back."]
    lines = [page.heading("Held back", str(len(found.held))), ""]
    for each in found.held:
        about = f"{safe_line(each.role)}, {at_minute(page, each.timestamp)} · {' and '.join(each.kinds)}"
        lines.append(f"{page.paint(str(each.number), 'strong')} {page.paint(about, 'quiet')}")
        lines += [*wrap(safe_line(each.text), page.width, first="  "), *_where_lines(page, each), ""]
    hints = (
        "Store it as it is: workbench secrets store N",
        "Without the secret: workbench secrets store N --leave-out",
        "Forget it: workbench secrets drop N   See it: workbench secrets reveal N",
    )
    return [*lines, *(page.paint(hint, "quiet") for hint in hints)]


def _where_lines(page: Page, held: HeldMemory) -> list[str]:
    """Describe the file of a waiting edit, and its present content."""
    if not held.path:
        return []
    place = f"{safe_line(held.path)}:{held.line}" if held.line else safe_line(held.path)
    told = (
        "the edit stays out of history until the secret is out of the file, or stored"
        if held.left_out
        else "a placeholder stands there now"
    )
    return wrap(f"{place} · {told}", page.width, first="  ", rest="  ")


def scan_lines(page: Page, found: SecretScan) -> list[str]:
    """List where memory seems to hold secrets."""
    looked = f"{found.files:,} {'file' if found.files == 1 else 'files'}"
    if not found.places:
        return [f"{page.paint('✓', 'good')} Nothing in {looked} looks like a secret."]
    lines = [page.heading("Looks like a secret", f"{len(found.places)} in {looked}"), ""]
    for each in found.places:
        allowed = ", allowed" if each.allowed else ""
        place = page.paint(f"{safe_line(each.path)}:{each.line}", "place")
        lines.append(f"{place} {page.paint(f'{each.kind}{allowed}  {each.digest}', 'quiet')}")
    return lines
