"""Trial of another half-life: which ones there are to try, and what each would change, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.fading import WEEK, days_words, half_life, rate_of, stays
from workbench.display.ink import ink
from workbench.display.words import counted
from workbench.tui.verbs.act import Act, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.display.fading import Fading
    from workbench.display.ink import Line
    from workbench.engine.results.decay import DecayEntry
    from workbench.engine.workspace import Workspace

HALF_LIVES: Final = (1, 2, 3, 5, 7, 10, 14, 18, 23, 28, 35, 45, 60, 75, 90, 120, 180, 270, 365, 730, math.inf)
"""Days that one steps through, closer together where people live."""
_SHORTEST = 0.1
_RECALLED = ("active", "fading")
_FADED = ("dormant", "archived")
# Two that are nearer to each other than this share are the same half-life, said with another rounding.
_SAME = 0.03


def stepped(days: float, by: int) -> float:
    """Return the next longer (1) or shorter (-1) half-life; the same at either end."""
    if by > 0:
        return next((each for each in HALF_LIVES if each > days * (1 + _SAME)), days)
    return next((each for each in reversed(HALF_LIVES) if each < days * (1 - _SAME)), days)


def parse_half_life(text: str) -> float | str:
    """Read a half-life in days; a sentence says why it is none."""
    said = text.strip().casefold().removesuffix("days").removesuffix("day").removesuffix("d").strip()
    if said in ("never", "none"):
        return math.inf
    try:
        days = float(said.replace(",", "."))
    except ValueError:
        return "A half-life is a number of days, such as 35; “never” lets nothing fade."
    return days if _SHORTEST <= days < math.inf else f"A half-life is {_SHORTEST:g} days or more."


def _leaves(read: Fading, entry: DecayEntry) -> float:
    """Return in how many days a memory leaves what the agent recalls by itself; infinite where it does not."""
    return next((fall.days for fall in read.falls.get(entry.id, ()) if fall.after in _FADED), math.inf)


def consequences(trial: Fading) -> tuple[str, ...]:
    """Say what another half-life would change, most of it first."""
    truth = trial.truth
    assert truth is not None
    longer: list[float] = []
    sooner: list[float] = []
    back = lost = held = hurried = 0
    until: list[int] = []
    for entry in trial.view.entries:
        was, now = truth.statuses.get(entry.id, entry.status), entry.status
        if stays(entry) or entry.archived:
            continue
        if was in _RECALLED and now in _RECALLED:
            before, then = _leaves(truth, entry), _leaves(trial, entry)
            if then > before:
                longer.append(then - before)
                if before <= WEEK < then:
                    held += 1
                    until += [int(then)] if then < math.inf else []
            elif then < before:
                sooner.append(before - then)
                hurried += then <= WEEK < before
        elif was in _RECALLED:
            lost += 1
        elif now in _RECALLED:
            back += 1
    return tuple(_told(trial, longer, sooner, held, until, hurried, back, lost))


def _told(
    trial: Fading,
    longer: Sequence[float],
    sooner: Sequence[float],
    held: int,
    until: Sequence[int],
    hurried: int,
    back: int,
    lost: int,
) -> Iterator[str]:
    if longer:
        yield f"{counted(len(longer), 'memory', 'memories')} {_s('stay', longer)} longer{_average(longer)}"
    if sooner:
        yield f"{counted(len(sooner), 'memory', 'memories')} {_s('leave', sooner)} sooner{_average(sooner)}"
    if held:
        first = ", for good"
        if until:
            first = f", the first of them until {_until(trial, min(until))}"
        yield f"{held:,} that would leave this week {'stays' if held == 1 else 'stay'}{first}"
    if hurried:
        yield f"{hurried:,} more {'leaves' if hurried == 1 else 'leave'} this week"
    if back:
        yield f"{back:,} that {'has' if back == 1 else 'have'} faded {'comes' if back == 1 else 'come'} back at once"
    if lost:
        yield f"{counted(lost, 'leaves', 'leave')} at once what the agent recalls by itself"
    if not (longer or sooner or back or lost):
        yield "Nothing would stay longer or leave sooner."


def _s(verb: str, found: Sequence[object]) -> str:
    return f"{verb}s" if len(found) == 1 else verb


def _average(days: Sequence[float]) -> str:
    known = [each for each in days if each < math.inf]
    if not known:
        return ", for good"
    mean = max(1, round(sum(known) / len(known)))
    return f", {counted(mean, 'day')}{' on average' if len(days) > 1 else ''}"


def _until(trial: Fading, days: int) -> str:
    fall = next(each for falls in trial.falls.values() for each in falls if each.days == days)
    return words.on_day(fall.on, trial.today).removeprefix("on ")


def trial_card(trial: Fading, days: float, entry: DecayEntry | None) -> Card:
    """Return the card of a trial: what would change, of the memory under the cursor too.

    Args:
        trial: What was reckoned, with the truth.
        days: The half-life that is tried.
        entry: The memory under the cursor, or None.
    """
    truth = trial.truth
    assert truth is not None
    in_force = half_life(truth.view.lambda_)
    changes: list[Line] = [(ink(each),) for each in consequences(trial)]
    sections = [Section("CHANGES", tuple(changes))]
    if entry is not None:
        before, then = (_becomes(read, entry) for read in (truth, trial))
        lines: list[Line] = [(ink(quoted(entry.title or entry.id)),), (ink(then, "soft"),)]
        if before != then:
            lines.append((ink(f"without it: {before.removeprefix('it ')}", "faint"),))
        sections.append(Section("THIS ONE", tuple(lines)))
    kept: tuple[Line, ...] = (
        (ink("Nothing of this holds until you keep it.", "decide"),),
        (ink("It changes decay.lambda in this workspace's settings; ⸨undo⸩ takes that back.", "soft"),),
    )
    sections.append(Section("KEPT", kept))
    title = f"Half-life {days_words(days)} instead of {days_words(in_force)}"
    return Card("trial of another half-life", title, (ink("A trial", "decide"),), tuple(sections))


def _becomes(read: Fading, entry: DecayEntry) -> str:
    status = read.statuses.get(entry.id, entry.status)
    fall = read.next_fall(entry)
    if fall is None:
        return "it stays" if stays(entry) else f"it is {status}"
    return f"it drops from {fall.before} to {fall.after} {words.on_day(fall.on, read.today)}"


def keep(days: float, in_force: float) -> Act:
    """Make a half-life the workspace's."""
    rate = rate_of(days)

    def call(workspace: Workspace) -> str:
        changed = workspace.decay_keep(rate)
        said = (
            f"The half-life is {days_words(days)} now, it was {days_words(in_force)}. ⸨undo⸩ takes that back."
        )
        return " ".join((said, *changed.warnings))

    return Act(call)
