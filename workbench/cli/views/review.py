"""How a proposal is drawn: its items by section, one of them laid open, and what applying would write."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import groupby

from workbench.cli.printing import Page, clip, display_width, safe, safe_line, wrap
from workbench.cli.views.audit import unified_lines
from workbench.engine import layout
from workbench.engine.reflection.kinds import FORMS, kind_of
from workbench.engine.results import (
    Applied,
    FilePreview,
    Quoted,
    Rejections,
    Review,
    ReviewItem,
    ReviewPreview,
)

GLYPHS = {"undecided": "○", "approved": "✓", "rejected": "✗", "deferred": "→"}
STYLES = {"undecided": "accent", "approved": "good", "rejected": "bad", "deferred": "quiet"}
_LONG_TEXT = 3
_LONG_DIFF = 40
# These change nothing that a memory says.
_UNCHANGING = ("archive", "restore", "vault pin", "question", "merge", "contradiction")


def review_lines(page: Page, review: Review) -> list[str]:
    """List the items by section, with how far the decisions are and what there is to know of the cycle."""
    if not review.items:
        return [
            "Nothing waits for decisions.",
            page.paint("Let a reflection propose something: workbench reflect", "quiet"),
        ]
    waited = f"proposed {_age(review.age_hours)} ago" if review.created else ""
    lines = [page.heading(f"Reflection {safe_line(review.id)}", waited)]
    if review.ageing:
        lines.append(page.paint("It has waited for more than a day; nothing applies itself.", "accent"))
    if review.opening:
        lines += ["", *wrap(safe(review.opening), page.width)]
    prose = review.prose or {}
    for section, items in groupby(review.items, key=lambda item: item.section):
        lines += ["", page.paint(clip(safe_line(section), page.width), "strong")]
        if section in prose:
            lines += [
                page.paint(line, "quiet") for line in wrap(safe(prose[section]), page.width, first="  ")
            ]
        for item in items:
            lines += _item_lines(page, item)
    lines += ["", *_standing_lines(page, review)]
    for problem in review.problems:
        lines += wrap(safe_line(f"{review.path}:{problem}"), page.width, first="! ", rest="  ")
    return lines


def progress_line(review: Review) -> str:
    """Say in a line how far the decisions are."""
    counts = [
        (sum(item.decision == decision for item in review.items), decision)
        for decision in ("undecided", "approved", "rejected", "deferred")
    ]
    return " · ".join(f"{count} {decision}" for count, decision in counts if count)


def item_lines(page: Page, item: ReviewItem, places: Sequence[tuple[Quoted, str]]) -> list[str]:
    """Lay one item open: what changes, why, who says so, and what stands in its way.

    Args:
        page: What is written on.
        item: Which.
        places: Each piece of evidence with the place it stands in, empty where it is gone.
    """
    of = f" for {safe_line(item.title or item.target)}" if item.target else ""
    decided = f"{GLYPHS[item.decision]} {item.decision}"
    lines = [
        page.heading(clip(f"{safe_line(item.id)}  {safe_line(item.kind)}{of}", page.width - 14), decided)
    ]
    aside = " · ".join(
        part
        for part in (
            safe_line(item.section),
            f"confidence {item.confidence}" if item.confidence else "",
            f"{item.risk} risk",
        )
        if part
    )
    lines += [page.paint(line, "quiet") for line in wrap(aside, page.width)]
    kind = kind_of(item.kind)
    if kind is not None:
        lines.append(page.paint(f"Approved and applied, it {FORMS[kind].verb}.", "quiet"))
    lines += ["", *_change_lines(page, item)]
    for label, text in (item.fields or {}).items():
        lines += wrap(safe(text), page.width, first=f"  {safe_line(label)}: ", rest="    ")
    if item.reason:
        lines += ["", *wrap(safe(item.reason), page.width, first="Why: ", rest="     ")]
    lines += _remark_lines(page, item, indent="")
    lines += _needs_lines(page, item)
    if places:
        lines += ["", page.paint("Evidence", "strong")]
        for quoted, place in places:
            lines += _quoted_lines(page, quoted, place)
    return lines


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
        lines.append(f"  {' and '.join(left)} stay in the proposal.")
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


def _item_lines(page: Page, item: ReviewItem) -> list[str]:
    mark = page.paint(GLYPHS[item.decision], STYLES[item.decision])
    # Where the text begins as the title does, the id tells more.
    named = item.target if item.after.startswith(item.title.rstrip("…") or " ") else item.title
    of = f" · {safe_line(named or item.target)}" if item.target else ""
    room = page.width - len(item.id) - 16
    head = clip(f"{safe_line(item.kind)}{of}", room)
    decided = "" if item.decision == "undecided" else f"  {item.decision}"
    gap = " " * max(page.width - display_width(head) - len(item.id) - len(decided) - 6, 2)
    tail = page.paint(f"{item.confidence}", "quiet") if item.confidence else ""
    pad = max(len(gap) - len(item.confidence), 2)
    first = f"{mark} {page.paint(safe_line(item.id), 'place')}  {head}{page.paint(decided, STYLES[item.decision])}"
    lines = [f"{first}{' ' * pad}{tail}".rstrip()]
    if item.before:
        lines += _clipped(wrap(safe_line(item.before), page.width, first="    − ", rest="      "))
    sign = "    + " if item.before else "    "
    after = item.after or (item.fields or {}).get("steps", "")
    if after:
        lines += _clipped(
            wrap(safe_line(after), page.width, first=sign, rest="      " if item.before else "    ")
        )
    for label in ("this", "that", "answer", "resolve"):
        text = (item.fields or {}).get(label, "")
        if text and text not in ("…", "ask"):
            lines += _clipped(wrap(safe_line(text), page.width, first=f"    {label}: ", rest="      "))
    return [*lines, *_remark_lines(page, item, indent="    ")]


def _change_lines(page: Page, item: ReviewItem) -> list[str]:
    if item.stale:
        lines = []
        for label, text, style in (
            ("was proposed on", item.before, "quiet"),
            ("stands there now", item.now or "nothing", "bad"),
            ("would become", item.after, "good"),
        ):
            if text:
                lines += [page.paint(f"  {label}", "quiet")]
                lines += [page.paint(line, style) for line in wrap(safe(text), page.width, first="    ")]
        return lines
    if item.kind in _UNCHANGING:
        return wrap(safe(item.after), page.width, first="  ") if item.after else []
    removed = [
        page.paint(line, "bad") for line in wrap(safe(item.before), page.width, first="- ") if item.before
    ]
    added = [
        page.paint(line, "good") for line in wrap(safe(item.after), page.width, first="+ ") if item.after
    ]
    return [*removed, *added]


def _remark_lines(page: Page, item: ReviewItem, *, indent: str) -> list[str]:
    lost = [quoted.id for quoted in item.evidence if not quoted.found]
    remarks = [
        (f"waits: {item.waits}" if item.waits else ""),
        (f"stale: {item.why_stale}" if item.stale and not item.waits else ""),
        (f"resembles {item.resembles}" if item.resembles else ""),
        (f"no longer said by {', '.join(lost)}" if lost else ""),
    ]
    return [
        page.paint(line, "accent")
        for remark in remarks
        if remark
        for line in wrap(safe_line(remark), page.width, first=f"{indent}! ", rest=f"{indent}  ")
    ]


def _needs_lines(page: Page, item: ReviewItem) -> list[str]:
    if not item.needs:
        return []
    return wrap(safe_line(f"Needs: {', '.join(item.needs)}"), page.width, rest="  ")


def _quoted_lines(page: Page, quoted: Quoted, place: str) -> list[str]:
    lines = [f"  {page.paint(safe_line(quoted.id), 'place')}"]
    if place:
        lines.append(page.paint(clip(f"    {safe_line(place)}", page.width), "quiet"))
    if quoted.quote:
        lines += wrap(f"“{safe(quoted.quote)}”", page.width, first="    ")
    if not quoted.found:
        gone = "It no longer says so." if place else "It is no longer there."
        lines.append(page.paint(f"    ! {gone}", "accent"))
    return lines


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


def _standing_lines(page: Page, review: Review) -> Iterable[str]:
    core = review.core_tokens
    facts = [
        progress_line(review),
        f"core memory {core.before:,} → {core.after:,} of {core.cap:,} tokens",
        f"{review.tokens.used:,} of {review.tokens.cap:,} tokens spent" if review.tokens.used else "",
        f"{review.dropped} dropped, their quotes were not found" if review.dropped else "",
        f"{review.held_back} held back, rejected before" if review.held_back else "",
        f"{review.left} more come with the next" if review.left else "",
    ]
    for fact in facts:
        if fact:
            yield page.paint(clip(fact, page.width), "quiet")
    first = safe_line(review.items[0].id)
    yield page.paint(f"One in full: workbench review show {first}", "quiet")
    yield page.paint(
        "Decide: workbench review approve|reject|defer ID…   then: workbench review apply", "quiet"
    )


def _clipped(lines: list[str]) -> list[str]:
    return lines if len(lines) <= _LONG_TEXT else [*lines[: _LONG_TEXT - 1], f"{lines[_LONG_TEXT - 1]} …"]


def _age(hours: float) -> str:
    if hours < 1:
        return f"{round(hours * 60)} min"
    return f"{round(hours)} h" if hours < 48 else f"{round(hours / 24)} days"


def _count(number: int, what: str = "item") -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"
