"""Draws what stands around the heatmap: the summary, what fades when, the trial of another rate, the legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Line, Span, cut, flow, gap, line_width, spread
from workbench.tui.drawing.heat import FALL, GLYPHS, HAIR, status_sign
from workbench.tui.palette import heat_role
from workbench.tui.views.dates import weekday_name
from workbench.tui.views.decay_arranging import NOT, SPANS
from workbench.tui.views.decay_rows import shown_half_life
from workbench.tui.views.teaching import teach

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.engine.results.decay import DecayView, Fall
    from workbench.tui.drawing.heat import Scale
    from workbench.tui.views.decay_arranging import Arrangement
    from workbench.tui.views.decay_rows import Reading

SORT, GROUP, ZOOM, FADING, RATE = "sort", "group", "zoom", "fading", "rate"
"""Where the parts of the summary lead when they are clicked."""
RATES: Final = (
    0.0, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04,
    0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.5, 1.0,
)  # fmt: skip
"""Rates per day that one steps through, closer together where people live."""
_SLIDER_FROM: Final = 84
_MOST_CHANGES: Final = 3
_MARGIN: Final = 2

EMPTY = teach(
    "There is nothing that could fade.",
    "Memories lose relevance with time and win it back with each use. Here each of them is a row, each cell some days: "
    "what was lively once, what is now, and what will be dormant if nobody touches it.",
    ('workbench remember "We ship on Fridays"', "makes a memory; it begins to fade the day after."),
    ("workbench demo", "builds a sample workspace to look around in."),
)
READING = teach("Reading the files for the first time.", "What is found appears here once it is whole.")
NOTHING_MATCHES = teach(
    "Nothing matches.",
    "Words must all occur; store:, tag:, entity:, status:, after: and before: (of the last use) narrow further, and in "
    "a trial would:; a minus turns a condition round.",
    ("store:episodic tag:deploy -staging", "for example."),
    ("esc", "shows everything again."),
)


def summary_line(reading: Reading | None, wanted: Arrangement, scale: Scale, shown: int, width: int) -> Line:
    """Draw how many memories there are, in which order and scale, and at which rate they fade.

    Args:
        reading: What was read; None while nothing was.
        wanted: What is shown of it.
        scale: Of the cells.
        shown: How many memories are.
        width: Cells.
    """
    if reading is None:
        return BLANK
    view = reading.view
    trial = reading.truth is not None
    rate: Line = (Span(f"λ {view.lambda_:g}", "decide.strong" if trial else "soft", RATE),)
    left = _fading_tabs(wanted.span, shown) if wanted.span else _order(reading, wanted, shown)
    left = (gap(_MARGIN), *left, Span(" · ", "faint"), Span(f"a cell is {scale.name}", "soft", ZOOM))
    whole: Line = (*rate, Span(f" · {half_life(view.lambda_)}", "faint", RATE))
    fits = line_width(left) + line_width(whole) + 3 <= width
    return (*spread(left, whole if fits else rate, width - 1), gap(1))


def _order(reading: Reading, wanted: Arrangement, shown: int) -> Line:
    count = f"{shown:,} memor{'y' if shown == 1 else 'ies'}"
    if wanted.changes and reading.truth is not None:
        count = f"{shown:,} that would change"
    line: Line = (Span(count, "strong"), Span(" · ", "faint"), Span(f"by {wanted.sort}", "soft", SORT))
    if wanted.group != NOT:
        line = (*line, Span(" · ", "faint"), Span(f"per {wanted.group}", "soft", GROUP))
    return line


def _fading_tabs(span: int, shown: int) -> Line:
    tabs = (_tab(each, chosen=each == span) for each in sorted(SPANS))
    return (Span(f"{shown:,} fade{'s' * (shown == 1)} in", "strong"), gap(1), *tabs, Span(" days", "strong"))


def _tab(days: int, *, chosen: bool) -> Span:
    text, role = (f"[{days}]", "tab") if chosen else (f" {days} ", "soft")
    return Span(text, role, f"{FADING}:{days}")


def legend_line(view: DecayView | None, width: int) -> Line:
    """Draw what each glyph means, with the thresholds; what has no room is left out from the end."""
    if view is None:
        return BLANK
    parts: list[Line] = [
        (status_sign("active", "file"), Span(f" active {view.active_threshold:.2g}", "faint")),
        (status_sign("fading", "file"), Span(f" fading {view.fading_threshold:.2g}", "faint")),
        (status_sign("dormant", "file"), Span(f" dormant {view.archive_threshold:.2g}", "faint")),
        (status_sign("archived", "file"), Span(" archived", "faint")),
        (Span(FALL, "strong"), Span(" falls", "faint")),
        (Span(GLYPHS["pinned"], heat_role("file", 1.0)), Span(" pinned", "faint")),
        (Span(GLYPHS["unrecorded"], HAIR), Span(" not recorded", "faint")),
    ]
    lines = flow(parts, width - _MARGIN - 1, between=2)
    return cut((gap(_MARGIN), *lines[0]), width)


def half_life(rate: float) -> str:
    """Return in how many days half of a score is gone, in words."""
    return f"half-life {shown_half_life(rate)} d" if rate > 0 else "nothing fades"


@dataclass(frozen=True, slots=True)
class Trial:
    """Another rate of decay that is tried.

    Args:
        rate: Per day.
        in_force: The workspace’s own.
        reading: What memory would be under it; None while that is being reckoned.
        changes: How many would be what instead of what, the most first; None while that is being reckoned.
        only_changes: Whether only what would change is shown.
    """

    rate: float
    in_force: float
    reading: Reading | None = None
    changes: Sequence[tuple[int, str, str]] | None = None
    only_changes: bool = False

    def stepped(self, by: int) -> float:
        """Return the next rate up or down."""
        if by > 0:
            return next((rate for rate in RATES if rate > self.rate + 1e-9), self.rate)
        return next((rate for rate in reversed(RATES) if rate < self.rate - 1e-9), self.rate)


def trial_lines(trial: Trial | None, width: int) -> Sequence[Line]:
    """Draw the banner of a trial: what is tried, what it would change, and the keys that end it."""
    if trial is None:
        return ()
    flag: Line = (Span(" TRIAL ", "here"), gap(2))
    rate: Line = (
        *flag,
        Span(f"λ {trial.rate:g}", "decide.strong"),
        Span(f" · {half_life(trial.rate)}", "decide"),
    )
    truth = (Span(f"in force: λ {trial.in_force:g} · {half_life(trial.in_force)}", "soft"),)
    if width >= _SLIDER_FROM:
        rate = (*rate, gap(3), *_slider(trial, width - line_width(rate) - line_width(truth) - 9))
    keys: list[Line] = [
        (Span(key, "strong"), Span(f" {words}", "soft"))
        for key, words in (
            (", .", "other rates"),
            ("c", "all memories" if trial.only_changes else "only these"),
            ("⏎", "keep it"),
            ("esc", "go back"),
        )
    ]
    says = [(gap(1), Span(each, "decide")) for each in wrap(_would(trial), width - 2, limit=2)]
    return (
        cut((gap(1), *spread(rate, truth, width - 2)), width),
        *says,
        *((gap(1), *line) for line in flow(keys, width - 2)),
    )


def _slider(trial: Trial, width: int) -> Line:
    """Draw where a rate stands among those one steps through."""
    width = min(width, 2 * len(RATES))
    if width < len(RATES):
        return ()

    def place(rate: float) -> int:
        below = sum(each < rate - 1e-9 for each in RATES)
        return min(width - 1, below * (width - 1) // (len(RATES) - 1))

    cells = ["─"] * width
    cells[place(trial.in_force)] = "┼"
    at = place(trial.rate)
    return (
        Span("".join(cells[:at]), "faint"), Span("●", "decide.strong"), Span("".join(cells[at + 1 :]), "faint")
    )  # fmt: skip


def _would(trial: Trial) -> str:
    """Say what a trial would change, in a sentence."""
    found = trial.changes
    if found is None:
        return "Reckoning what would change…"
    if not found:
        return "No memory would have another status."
    count, would, status = found[0]
    parts = [f"{count:,} would be {would} instead of {status}"]
    parts += [f"{count:,} {would} instead of {status}" for count, would, status in found[1:_MOST_CHANGES]]
    rest = sum(count for count, _, _ in found[_MOST_CHANGES:])
    return ", ".join(parts) + (f", {rest:,} other{'s' * (rest != 1)}" if rest else "")


def consequence(trial: Trial) -> str:
    """Say what keeping a rate means, for the question before it is kept."""
    words = _would(trial).rstrip(".")
    return (
        f"λ goes from {trial.in_force:g} to {trial.rate:g} a day for this whole workspace ({half_life(trial.rate)}): "
        f"{words[0].lower()}{words[1:]}. It is one commit; u takes it back."
    )


def nothing_fades(span: int, coming: Fall | None, width: int) -> Sequence[Line]:
    """Say that nothing fades in the time one looks at, and when the next memory does.

    Args:
        span: Days looked at.
        coming: What falls next, later than that.
        width: Cells.
    """
    if coming is None:
        text = "Nor does anything later: all that can fall has fallen, or nothing fades at all."
        return teach(f"Nothing fades in the next {span} days.", text, ("esc", "shows everything."))(width)
    when = weekday_name(coming.on, coming.on)
    text = (
        f"The next to fall is “{coming.title or coming.id}”, from {coming.before} to {coming.after} in "
        f"{coming.days:,} days, on {when} {coming.on.year}."
    )
    ways = (("w", "looks further ahead."), ("esc", "shows everything."))
    return teach(f"Nothing fades in the next {span} days.", text, *ways)(width)
