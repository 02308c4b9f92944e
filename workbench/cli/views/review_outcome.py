"""How what applying a review would write is drawn, what it did, and what was rejected."""

from __future__ import annotations

import difflib

from workbench.cli.printing import Page, clip, safe_line, wrap
from workbench.cli.views.audit import unified_lines
from workbench.engine import layout
from workbench.engine.results.reflection import Applied, FilePreview, Rejections, ReviewPreview

_LONG_DIFF = 40


def preview_lines(page: Page, preview: ReviewPreview) -> list[str]:
    """Show what applying would do, file by file, as a diff."""
    counts = [
        (preview.applied, "would be applied"),
        (preview.rejected, "would be remembered as rejected"),
        (preview.deferred, "would come again with the next reflection"),
        (preview.undecided, "would stay undecided"),
    ]
    lines = []
    for ids, what in counts:
        if ids:
            lines += wrap(f"{len(ids)} {what}: {', '.join(map(safe_line, ids))}", page.width, rest="  ")
    for item_id, reason in preview.waiting.items():
        lines += wrap(safe_line(f"{item_id} waits: {reason}"), page.width, first="! ", rest="  ")
    for file in sorted(preview.files, key=lambda file: file.path in layout.BOOKS):
        lines += ["", *_file_lines(page, file)]
    before, after = preview.core_tokens.before, preview.core_tokens.after
    if before != after:
        lines += ["", f"Core memory: {before:,} → {after:,} of {preview.core_tokens.cap:,} tokens."]
    return lines or ["Nothing is decided, so nothing would change."]


def applied_lines(page: Page, applied: Applied) -> list[str]:
    """Tell what applying did, in which commit, and how to take it back."""
    if applied.commit is None:
        lines = ["Nothing was applied: nothing is decided that could be."]
    else:
        lines = [f"{page.paint('✓', 'good')} {_applied(applied)}."]
        names = ", ".join(safe_line(path) for path in applied.files)
        account = wrap(f"commit {applied.commit[:7]} · {names}", page.width, first="  ")
        lines += [page.paint(line, "quiet") for line in account]
    for item_id, reason in applied.waiting.items():
        lines += wrap(safe_line(f"{item_id} waits: {reason}"), page.width, first="! ", rest="  ")
    left = [
        f"{len(ids)} {word}"
        for ids, word in ((applied.undecided, "undecided"), (applied.deferred, "deferred"))
        if ids
    ]
    if left:
        count = len(applied.undecided) + len(applied.deferred)
        stay = "item stays" if count == 1 else "items stay"
        lines.append(f"  {' and '.join(left)} {stay} in the proposal.")
    if applied.commit is not None:
        name = safe_line(applied.reflection)
        lines.append(page.paint(f"  Take all of it back: workbench rollback --reflection {name}", "quiet"))
        if applied.applied:
            one = safe_line(applied.applied[0])
            lines.append(page.paint(f"  Take one back: workbench revert {one}", "quiet"))
    return lines


def rejections_lines(page: Page, rejected: Rejections) -> list[str]:
    """List what was rejected, newest last, each with its day."""
    if not rejected.rejections:
        return ["Nothing was rejected so far."]
    lines = [page.heading("Rejected", _count(len(rejected.rejections), "claim"))]
    for claim in rejected.rejections:
        of = f" for {safe_line(claim.target)}" if claim.target else ""
        day = safe_line(claim.time[:10])
        lines.append(clip(f"{safe_line(claim.id)}  {day}  {safe_line(claim.kind)}{of}", page.width))
        lines += wrap(safe_line(claim.text or claim.before), page.width, first="  ")
    for problem in rejected.problems:
        lines += wrap(safe_line(f"{rejected.path}:{problem}"), page.width, first="! ", rest="  ")
    hint = "Allow one to be proposed again: workbench review rejected --forget ID"
    return [*lines, "", page.paint(hint, "quiet")]


def _applied(applied: Applied) -> str:
    name = safe_line(applied.reflection)
    if not applied.applied and applied.rejected:
        return f"Remembered {_count(len(applied.rejected))} of {name} as rejected"
    more = f", remembered {len(applied.rejected)} as rejected" if applied.rejected else ""
    return f"Applied {_count(len(applied.applied))} of {name}{more}"


def _file_lines(page: Page, file: FilePreview) -> list[str]:
    what = "new" if file.before is None else "deleted" if file.after is None else "changed"
    before, after = ((text or "").split("\n") for text in (file.before, file.after))
    diff = list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]
    # A person need not read these line by line.
    if file.path in layout.BOOKS:
        sides = [sum(line.startswith(sign) for line in diff) for sign in "+-"]
        return [page.heading(safe_line(file.path), f"{what}: +{sides[0]} −{sides[1]} lines")]
    lines = unified_lines(page, "\n".join(diff))
    left = len(lines) - _LONG_DIFF
    more = [page.paint(f"  … and {left} more lines", "quiet")] if left > 0 else []
    return [page.heading(safe_line(file.path), what), *lines[:_LONG_DIFF], *more]


def _count(number: int, what: str = "item") -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"
