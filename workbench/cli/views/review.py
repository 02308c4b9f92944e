"""How a proposal is drawn: its items by section, and one of them laid open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from workbench.cli.printing import Page, clip, display_width, safe, safe_line, wrap
from workbench.engine.reflection.kinds import FORMS, Kind, kind_of
from workbench.engine.results.reflection import Quoted, Review, ReviewItem

_GLYPHS = {"undecided": "○", "approved": "✓", "rejected": "✗", "deferred": "→"}
_STYLES = {"undecided": "accent", "approved": "good", "rejected": "bad", "deferred": "quiet"}
_LONG_TEXT = 3
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
    decided = f"{_GLYPHS[item.decision]} {item.decision}"
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


def _item_lines(page: Page, item: ReviewItem) -> list[str]:
    mark = page.paint(_GLYPHS[item.decision], _STYLES[item.decision])
    # A memory that is itself the subject says its title below; its id tells more.
    is_subject = item.kind == Kind.ENTITY or "--" not in item.target
    says_title = is_subject and item.after.startswith(item.title.rstrip("…") or " ")
    named = item.target if says_title else item.title
    of = f" · {safe_line(named or item.target)}" if item.target else ""
    room = page.width - len(item.id) - 16
    head = clip(f"{safe_line(item.kind)}{of}", room)
    decided = "" if item.decision == "undecided" else f"  {item.decision}"
    gap = " " * max(page.width - display_width(head) - len(item.id) - len(decided) - 6, 2)
    tail = page.paint(f"{item.confidence}", "quiet") if item.confidence else ""
    pad = max(len(gap) - len(item.confidence), 2)
    first = f"{mark} {page.paint(safe_line(item.id), 'place')}  {head}{page.paint(decided, _STYLES[item.decision])}"
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
