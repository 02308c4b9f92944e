"""Draws the two status lines: above where and when one is, below what needs a person and which keys mean something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.ink import Line, Span, cut, gap, ink, line_width
from workbench.tui.views.dates import full_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.tui.bench import Status

PANE_LINK = "pane:"
KEY_LINK = "key:"
LAST_LABEL = "help"
_WORKSPACE, _SHORT_WORKSPACE, _LEAST_WORKSPACE = 24, 10, 4
# Letters that a pane is known by where there is no room for its name.
_LETTERS = 3
_USUAL_ROLE = "person"


def top_line(status: Status | None, panes: Sequence[str], current: int, width: int) -> Line:
    """Draw the workspace, the panes with their numbers, the role and the moment.

    Args:
        status: None until it is known.
        panes: Names in order.
        current: Index of the one shown.
        width: Cells.
    """
    name = status.workspace if status else ""
    # Nothing moves where another pane is shown: there must be room for the longest name.
    longest = max(range(len(panes)), key=lambda at: len(panes[at]), default=0)
    # What goes first where it is narrow: that one is a person, most of the workspace's name, the space between the
    # panes, most of the names of the other panes, all of them.
    for draw, with_role, name_width in (
        (_whole, True, _WORKSPACE),
        (_whole, False, _WORKSPACE),
        (_whole, False, _SHORT_WORKSPACE),
        (_close, False, _WORKSPACE),
        (_close, False, _SHORT_WORKSPACE),
        (_letters, False, _WORKSPACE),
        (_letters, False, _SHORT_WORKSPACE),
        (_numbers, True, _WORKSPACE),
        (_numbers, False, _SHORT_WORKSPACE),
        (_numbers, False, _LEAST_WORKSPACE),
    ):
        at_left = (gap(1), ink(name, "strong", name_width), gap(2))
        right = _moment(status, with_role=with_role)
        if line_width((*at_left, *draw(panes, longest), *right)) < width:
            break
    left = cut((*at_left, *draw(panes, current)), width - line_width(right) - 1)
    return (*left, gap(width - line_width(left) - line_width(right)), *cut(right, width))


def _moment(status: Status | None, *, with_role: bool) -> Line:
    if status is None:
        return ()
    now = (
        (Span("now", "soft"),)
        if status.moment is None
        else (ink(f"◷ {full_time(status.moment)}", "decide.strong"),)
    )
    told = with_role or status.role != _USUAL_ROLE
    role = (ink(status.role, "faint", 20), Span(" · ", "faint")) if told else ()
    return (*role, *now, gap(1))


def _whole(names: Sequence[str], current: int) -> Line:
    spans: list[Span] = []
    for at, name in enumerate(names):
        link = f"{PANE_LINK}{at}"
        if at == current:
            spans.append(Span(f" {at + 1} {name} ", "tab", link))
        else:
            spans += [Span(f" {at + 1}", "faint", link), Span(f" {name} " if name else " ", "soft", link)]
    return tuple(spans)


def _close(names: Sequence[str], current: int) -> Line:
    spans: list[Span] = []
    for at, name in enumerate(names):
        link = f"{PANE_LINK}{at}"
        if at == current:
            spans += [gap(int(at > 0)), Span(f" {at + 1} {name} ", "tab", link)]
        else:
            spans += [Span(f" {at + 1}", "faint", link), Span(f" {name}", "soft", link)]
    return tuple(spans)


def _letters(names: Sequence[str], current: int) -> Line:
    return _close([each if at == current else each[:_LETTERS] for at, each in enumerate(names)], current)


def _numbers(names: Sequence[str], current: int) -> Line:
    return _whole([each if at == current else "" for at, each in enumerate(names)], current)


def needs_line(status: Status | None, *, short: bool) -> Line:
    """Draw what waits for a person, or that nothing does."""
    if status is None:
        return (Span("reading…", "faint"),)
    parts: list[Span] = []
    if status.reading is not None:
        done, files = status.reading
        figures = f" {done:,} of {files:,} files" if files and not short else ""
        parts.append(Span(f"reading{figures or '…'}", "soft"))
    if status.alerts:
        parts.append(Span(f"▲ {status.alerts} alert{'s' * (status.alerts != 1)}", "decide.strong", "alerts"))
    if status.to_decide:
        parts.append(
            Span(f"◆ {status.to_decide}" if short else f"◆ {status.to_decide} to decide", "decide", "review")
        )
    if status.cycle:
        parts.append(Span("◐" if short else f"◐ {status.cycle}", "soft", "review"))
    if status.importing:
        parts.append(Span("◒" if short else f"◒ {status.importing}", "soft", "import"))
    if status.index:
        parts.append(Span("◌" if short else f"◌ {status.index}", "soft", "index"))
    if status.notices:
        count = len(status.notices)
        words = f"! {count} notice{'s' * (count != 1)}"
        parts.append(Span("!" if short else words, "soft", "notices"))
    if not parts:
        return (Span("✓" if short else "✓ nothing waits", "faint"),)
    return tuple(span for part in parts for span in (part, gap(2)))[:-1]


def keys_line(keys: Sequence[tuple[str, str]]) -> Line:
    """Draw keys with their words, each to be clicked; the way to all the others stands last."""
    spans: list[Span] = []
    for key, label in sorted(keys, key=lambda each: each[1] == LAST_LABEL):
        link = KEY_LINK + label
        spans += [gap(2), Span(key, "strong", link), Span(f" {label}", "soft", link)]
    return tuple(spans[1:])


def fitting_keys(keys: Sequence[tuple[str, str]], width: int) -> Line:
    """Draw as many keys as there is room for, the most important first; the way out always.

    Args:
        keys: Key and word, the most important first.
        width: Cells.
    """
    fitting = list(keys)
    while len(fitting) > 1 and line_width(keys_line(fitting)) > width:
        last = len(fitting) - 1
        fitting.pop(last if fitting[last][0] != "esc" else last - 1)
    return cut(keys_line(fitting), width)


def bottom_line(
    status: Status | None, keys: Sequence[tuple[str, str]], width: int, *, working: bool = False
) -> tuple[Line, int]:
    """Draw what needs a person at the left and the keys at the right.

    Args:
        status: None until it is known.
        keys: Key and word, the most important first.
        width: Cells.
        working: Whether something that a person asked for is still under way.

    Returns:
        The line, and how many keys found no room.
    """
    for short in (False, True):
        needs = (Span("working…", "decide"),) if working else needs_line(status, short=short)
        left = (gap(1), *needs, gap(2))
        room = width - line_width(left) - 1
        if line_width(keys_line(keys)) <= room:
            break
    fitting = list(keys)
    while fitting and line_width(keys_line(fitting)) > room:
        fitting.pop()
    drawn = keys_line(fitting)
    filling = gap(width - line_width(left) - line_width(drawn) - 1)
    return (*left, filling, *drawn, gap(1)), len(keys) - len(fitting)
