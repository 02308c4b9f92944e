"""Decay: what fades and when, the soonest first, as cells of time or in words; and the trial of another half-life."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, ClassVar, Final

from workbench.display import words
from workbench.display.card import Card, Section
from workbench.display.decay import (
    GROUPINGS,
    SORTS,
    WEEK,
    Fading,
    Group,
    TimeFrame,
    axis,
    columns_for,
    course_of,
    days_words,
    fading,
    fading_row,
    grouped,
    longest_text,
    rate_of,
    score_words,
    stays,
)
from workbench.display.heat import DROP, FARTHEST, SCALES, USUAL_SCALE, day_name
from workbench.display.ink import BLANK, gap, ink, line_width, spread
from workbench.display.rows import heading_row
from workbench.display.words import counted, quoted
from workbench.engine.language.periods import parse_days
from workbench.engine.memory.decay import half_life
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.line import DrawnLines
from workbench.tui.parts.rows import Rows
from workbench.tui.places.place import Place
from workbench.tui.verbs.act import Act
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.engine.results.decay import DecayEntry
    from workbench.engine.workspace import Workspace
    from workbench.tui.verbs.act import Subject

_GUTTER = 2
_ROW_MARGIN = 3
_TIMES = "past │ to come"
_HEAT, _LIST = "heat", "list"
_AHEAD = lazy_pattern(r"(?:in |\+)\s*(\d{1,4})\s*([dwmy])")
_UNITS = {"d": 1, "w": 7, "m": 30, "y": 365}
HALF_LIVES: Final = (1, 2, 3, 5, 7, 10, 14, 18, 23, 28, 35, 45, 60, 75, 90, 120, 180, 270, 365, 730, math.inf)
"""Days that one steps through, closer together where people live."""
_SHORTEST = 0.1
_RECALLED = ("active", "fading")
_FADED = ("dormant", "archived")
_MOVE = frozenset({"pin", "forget", "bring-back", "reinforce"})
# Two that are nearer to each other than this share are the same half-life, said with another rounding.
_SAME = 0.03


@dataclass(frozen=True)
class Read:
    """What is shown: what was read, and its rows.

    Args:
        fading: Scores and what becomes of them; of the trial where there is one.
        rows: In the order and groups that were wanted.
    """

    fading: Fading
    rows: FadingRows


class FadingRows(Rows["Group", "DecayEntry"]):
    """Memories under when they fade, or whatever they are grouped by."""

    def __init__(self, read: Fading, groups: Sequence[Group]) -> None:
        super().__init__()
        self._read = read
        self.frame = TimeFrame(read.today)
        self.heat = True
        self.here: Callable[[], str] = lambda: ""
        self.longest = longest_text(read.view.entries)
        for group in groups:
            if group.name:
                self.add_heading(group)
            self.add_all(group.entries, [entry.id for entry in group.entries])
        # Built here, where nobody waits, rather than when the cursor first looks for its row.
        self.find("")

    def draw(self, row: DecayEntry, width: int) -> Line:
        """Draw a row."""
        here = bool(self.frame.day) and self.here() == row.id
        columns = columns_for(width, self.longest, heat=self.heat)
        return fading_row(row, self._read, self.frame, columns, width, here=here)

    def draw_heading(self, head: Group, width: int) -> Line:
        """Draw the name of a group."""
        return heading_row(head.name, head.aside, width)


class DecayPlace(Place):
    """What fades."""

    EMPTY: ClassVar[str] = "There is nothing that could fade; ⸨new⸩ writes the first memory."
    KEYS: ClassVar[tuple[str, ...]] = ("edit", "pin", "forget", "evidence", "history", "details")
    LABELS: ClassVar[Mapping[str, str]] = {"go-day": "date", "try-half-life": "another half-life"}
    FILTER_KEYS: ClassVar[tuple[str, ...]] = ("store", "tag", "entity", "status", "would")
    SCOPED_CSS = False
    DEFAULT_CSS = """
    DecayPlace ListPart { scrollbar-gutter: stable; }
    DecayPlace .decay-axis { height: 1; }
    Frame DecayPlace .place-left { width: 58%; }
    Frame.-wide DecayPlace .place-left { width: 50%; }
    Frame.-below DecayPlace .place-left { width: 1fr; }
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.axis = DrawnLines(ground="paper")
        self.time = TimeFrame(date.min)
        self.tried: float | None = None
        """The half-life in days that is tried; None for none."""
        self._only_changes = False
        # The row that a key takes elsewhere, and the one to go on from.
        self._moves = ("", "")

    def body(self) -> ComposeResult:
        self.axis.add_class("decay-axis")
        yield self.axis
        yield self.list

    @property
    def is_heat(self) -> bool:
        """Return whether scores are shown as cells of time."""
        return self.kept.get("view", _HEAT) == _HEAT

    @property
    def sort(self) -> str:
        """Return what the list is sorted by."""
        return _one_of(self.kept.get("order", ""), SORTS)

    @property
    def group(self) -> str:
        """Return what the list is grouped by."""
        return _one_of(self.kept.get("group", ""), GROUPINGS)

    # What is read.

    def read(self, workspace: Workspace) -> Read:
        tried, sort, group, only = self.tried, self.sort, self.group, self._only_changes
        read = fading(workspace.decay())
        if tried is not None:
            read = fading(workspace.decay(lambda_=rate_of(tried)), truth=read)
        return Read(read, FadingRows(read, grouped(read, sort, group, only_changes=only)))

    def rows(self, results: Read) -> FadingRows:
        rows = results.rows
        rows.here = lambda: self.list.cursor_key
        rows.heat, rows.frame = self.is_heat, self.time
        return rows

    def show(self, results: Read) -> None:
        before, at = self.cursor_key, self.list.cursor
        today = results.fading.today
        if self.time.today != today:
            at = int(self.kept.get("scale", USUAL_SCALE))
            self.time = TimeFrame(today, SCALES[at if 0 <= at < len(SCALES) else USUAL_SCALE])
        super().show(results)
        row, instead = self._moves
        if before == row == self.cursor_key and self.list.cursor != at:
            # What was done to it takes a row elsewhere; one goes on from where one was.
            self.list.go_to(instead)
        self.axis.show(lambda _width: (self._axis(),))
        self.axis.display = self._has_cells

    def _read_again(self) -> None:
        """Read again, for another order or another trial."""
        self.frame.reading.read("place", self.read, self._show_again)

    def _show_again(self, results: Read) -> None:
        self.show(results)
        self.frame.read_card()

    def _axis(self) -> Line:
        rows = self.all_rows
        if not isinstance(rows, FadingRows) or not len(rows):
            return BLANK
        width = self.list.scrollable_content_region.width - _ROW_MARGIN
        return (gap(_GUTTER), *axis(self.time, columns_for(width, rows.longest, heat=self.is_heat)))

    def heading(self, results: Read, width: int) -> Line:
        read = results.fading
        half = f"half-life {days_words(half_life(read.view.lambda_))}"
        said = self._said()
        right: Line = (ink(said, "strong"),) if said else ()
        room = width - line_width(right) - 2
        if read.truth is not None:
            instead = f"TRIAL  {half} instead of {days_words(half_life(read.truth.view.lambda_))}"
            return spread((ink(instead, "decide.strong"),), right if len(instead) <= room else (), width)
        parts = [half]
        if self._has_cells:
            parts.append(f"1 cell = {self.time.scale.name}")
        if self.sort != SORTS[0]:
            parts.append(f"by {self.sort}")
        if self._has_cells:
            parts.append(f"{DROP} drops a level")
        while len(parts) > 1 and len(" · ".join(parts)) > room:
            parts.pop()
        left = " · ".join(parts)
        if not said and self._has_cells and len(left) + len(_TIMES) + 2 <= width:
            right = (ink(_TIMES, "faint"),)
        return spread((ink(left, "soft"),), right, width)

    def _said(self) -> str:
        """Say the day and score of the selected cell; empty for today."""
        entry: DecayEntry | None = self.row(self.list.cursor_key)
        if not self.time.day or entry is None or self.results is None:
            return ""
        (point,) = course_of(self.results.fading, entry, [self.time.day])
        day = self.time.today + timedelta(days=self.time.day)
        return f"{day_name(day, self.time.today)}: {score_words(point)}"

    def filterable(self, entry: DecayEntry) -> Filterable:
        read: Fading = self.results.fading
        entities = tuple(word for each in entry.entities for word in (each, each.rpartition("--")[2]))
        fields = {
            "store": (entry.store,),
            "tag": entry.tags,
            "entity": entities,
            "status": (read.status(entry),),
            "would": (entry.status,) if read.changed(entry) else (),
        }
        return Filterable(
            f"{entry.title} {entry.id} {' '.join(entry.tags)}", fields, entry.last_accessed.date()
        )

    def subject(self, key: str) -> Memory | None:
        entry: DecayEntry | None = self.row(key)
        if entry is None:
            return None
        return Memory(entry.id, entry.store, entry.title or entry.id, entry.pinned, entry.archived)

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        results: Read | None = self.results
        entry: DecayEntry | None = self.row(subject.id)
        if results is not None and results.fading.truth is not None and not self.visited:
            return trial_card(results.fading, self.tried or half_life(results.fading.view.lambda_), entry)
        card = super().read_card(workspace, subject)
        if results is None or entry is None or not self.time.day:
            return card
        (point,) = course_of(results.fading, entry, [self.time.day])
        day = self.time.today + timedelta(days=self.time.day)
        at = Section.of(f"{day.day} {day:%b}".upper(), score_words(point))
        return replace(card, sections=(at, *card.sections))

    def rest_on(self, _subject: Subject | None) -> None:
        self.head.refresh()
        if self.tried is not None:
            tried = days_words(self.tried)
            self.frame.hint(
                (("enter", f"keep {tried}"), ("esc", "back"), ("← →", "try another"), ("0–9", "type one"))
            )

    def left(self) -> None:
        if self.tried is not None:
            self._end_trial()

    def reveal(self, key: str) -> bool:
        if self._only_changes and self.all_rows.find(key) is None:
            self._only_changes = False
        return super().reveal(key)

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        self.axis.display = self._has_cells
        self.axis.refresh()
        self.head.refresh()

    # Keys.

    def do(self, command: str) -> bool:
        in_list = self.list.has_focus
        self._moves = ("", "")
        if command in ("left", "right") and in_list:
            self._go_sideways(1 if command == "right" else -1)
        elif command in ("closer", "wider"):
            return self._zoom(-1 if command == "closer" else 1)
        elif command == "go-day":
            self.frame.editing.ask("Which day?  8 dec · in 3w · yesterday", take=self._go_to_day)
        elif command in ("view-heat", "view-list", "view-next"):
            other = _LIST if self.is_heat else _HEAT
            self.kept["view"] = {"view-heat": _HEAT, "view-list": _LIST}.get(command, other)
            self._redraw()
        elif command == "sort":
            self._take_next("order", SORTS, self.sort, "Sorted by")
        elif command == "group":
            self._take_next("group", GROUPINGS, self.group, "Grouped by")
        elif command == "try-half-life":
            self._try_other()
        elif command == "only-changed" and self.tried is not None:
            self._only_changes = not self._only_changes
            self._read_again()
        elif command == "open" and self.tried is not None:
            self._keep()
        elif command == "out" and self.tried is not None:
            self._end_trial()
            self.frame.say(f"Back to {days_words(self._in_force)}; nothing was changed.")
            self._read_again()
        else:
            if command in _MOVE:
                rows, at = self.list.rows, self.list.cursor
                around = (*range(at + 1, len(rows)), *range(at - 1, -1, -1))
                keys = (rows.key(each) for each in around if rows.row_at(each) is not None)
                chosen = self.list.chosen_keys
                self._moves = self.cursor_key, next((key for key in keys if key not in chosen), "")
            return False
        return True

    def _go_sideways(self, by: int) -> None:
        if self.tried is not None:
            self._try(stepped(self.tried, by))
        elif not self._has_cells:
            self.frame.say("There is no room for cells; ⸨view-heat⸩ in a wider part, or z →, shows them.")
        else:
            self._at_cell(self.time.cell + by)

    @property
    def _has_cells(self) -> bool:
        """Return whether rows have cells; before anything was laid out, whether they are wanted."""
        width, rows = self.list.scrollable_content_region.width - _ROW_MARGIN, self.all_rows
        if width <= 0 or not isinstance(rows, FadingRows):
            return self.is_heat
        return bool(columns_for(width, rows.longest, heat=self.is_heat).cells)

    def _at_cell(self, cell: int) -> None:
        day = (self.time.scale.day(self.time.today, cell) - self.time.today).days
        self._at_day(day)

    def _at_day(self, day: int) -> None:
        if abs(day) > FARTHEST:
            self.frame.say("This is as far as one can see.")
            return
        self.time = replace(self.time, day=day)
        self._redraw()

    def _go_to_day(self, text: str) -> str | None:
        """Go to a day in the past or to come; a day of the year is the nearest of them."""
        today = self.time.today
        if ahead := _AHEAD.fullmatch(text.strip().casefold()):
            self._at_day(int(ahead[1]) * _UNITS[ahead[2]])
            return None
        days = parse_days(text, today)
        if days is None:
            return "That is no day; 8 dec, in 3w or 2027-02-14 would be."
        day = days[0]
        if not re.search(r"\d{4}", text) and (today - day).days > 183:
            day = day.replace(year=day.year + 1, day=min(day.day, 28) if day.month == 2 else day.day)
        self._at_day((day - today).days)
        return None

    def _zoom(self, by: int) -> bool:
        at = SCALES.index(self.time.scale) + by
        if not 0 <= at < len(SCALES):
            self.frame.say(f"A cell is {self.time.scale.name} at {'most' if by > 0 else 'least'}.")
        else:
            self.time = replace(self.time, scale=SCALES[at])
            self.kept["scale"] = str(at)
            self._redraw()
        return True

    def _redraw(self) -> None:
        """Draw the same rows for another time or view."""
        rows = self.all_rows
        for each in (rows, self.list.rows):
            if isinstance(each, FadingRows):
                each.heat, each.frame = self.is_heat, self.time
        self.list.redraw()
        self._fit()
        self.frame.read_card()

    def _take_next(self, name: str, kinds: Sequence[str], current: str, said: str) -> None:
        taken = kinds[(kinds.index(current) + 1) % len(kinds)]
        self.kept[name] = taken
        self.frame.say(f"{said} {taken}.")
        self._read_again()

    # The trial.

    @property
    def _in_force(self) -> float:
        results: Read | None = self.results
        if results is None:
            return half_life(0)
        return half_life((results.fading.truth or results.fading).view.lambda_)

    def _try_other(self) -> None:
        if self.results is None:
            return
        if self.tried is None:
            longer = stepped(self._in_force, 1)
            self._try(longer if longer != self._in_force else stepped(self._in_force, -1))
            self.frame.say("A trial: nothing is kept yet.")
        else:
            self._ask_for_half_life()

    def take_digit(self, digit: str) -> bool:
        """Write the half-life in days, while one is tried."""
        if self.tried is None:
            return False
        self._ask_for_half_life(digit)
        return True

    def _ask_for_half_life(self, begun: str = "") -> None:
        self.frame.editing.ask("Half-life in days", begun, take=self._take_half_life)

    def _take_half_life(self, text: str) -> str | None:
        days = parse_half_life(text)
        if isinstance(days, str):
            return days
        self._try(days)
        return None

    def _try(self, days: float) -> None:
        if days == self.tried:
            self.frame.say("There is no other to the side.")
            return
        self.tried = days
        self._read_again()

    def _keep(self) -> None:
        days, in_force = self.tried, self._in_force
        self._end_trial()
        if days is not None:
            self.frame.begin(keep(days, in_force))

    def _end_trial(self) -> None:
        self.tried, self._only_changes = None, False
        self.frame.hint(())


def _one_of(kept: str, kinds: Sequence[str]) -> str:
    return kept if kept in kinds else kinds[0]


# Trial of another half-life: which ones there are to try, and what each would change, in words.


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
    return next((drop.days for drop in read.drops(entry) if drop.after in _FADED), math.inf)


def consequences(trial: Fading) -> tuple[str, ...]:
    """Say what another half-life would change, most of it first."""
    truth = trial.truth
    assert truth is not None
    longer: list[float] = []
    sooner: list[float] = []
    back = lost = 0
    for entry in trial.view.entries:
        was, now = trial.status(entry), entry.status
        if stays(entry) or entry.archived:
            continue
        if was in _RECALLED and now in _RECALLED:
            before, then = _leaves(truth, entry), _leaves(trial, entry)
            if then > before:
                longer.append(then - before)
            elif then < before:
                sooner.append(before - then)
        elif was in _RECALLED:
            lost += 1
        elif now in _RECALLED:
            back += 1
    return tuple(_told(longer, sooner, _this_week(trial, truth), back, lost))


def _this_week(trial: Fading, truth: Fading) -> str:
    """Say what fades this week, as the heading of the list counts it, and what becomes of the rest."""

    def soon(read: Fading) -> set[str]:
        left = ((entry.id, read.days_left(entry)) for entry in read.view.entries)
        return {id_ for id_, days in left if days is not None and days <= WEEK}

    now, was = soon(trial), soon(truth)
    # What is on another level today would have dropped, or would drop, before this week began.
    other = {entry.id for entry in trial.view.entries if trial.changed(entry)}
    kinds = (
        (was - now - other, "fade later"),
        ((was - now) & other, "would have faded already"),
        (now - was - other, "fade sooner"),
        ((now - was) & other, "had faded already"),
    )
    moved = [
        f"{len(ids):,} {_s(verb, ids) if verb.startswith('fade') else verb}" for ids, verb in kinds if ids
    ]
    head = f"{len(now):,} {_s('fade', now)} this week instead of {len(was):,}"
    return f"{head}: {', '.join(moved)}" if moved else ""


def _told(
    longer: Sequence[float], sooner: Sequence[float], this_week: str, back: int, lost: int
) -> Iterator[str]:
    if longer:
        yield f"{counted(len(longer), 'memory', 'memories')} {_s('stay', longer)} longer{_average(longer)}"
    if sooner:
        yield f"{counted(len(sooner), 'memory', 'memories')} {_s('leave', sooner)} sooner{_average(sooner)}"
    if this_week:
        yield this_week
    if back:
        yield f"{back:,} that {'has' if back == 1 else 'have'} faded {'comes' if back == 1 else 'come'} back at once"
    if lost:
        yield f"{counted(lost, 'leaves', 'leave')} at once what the agent recalls on its own"
    if not (longer or sooner or back or lost):
        yield "Nothing would stay longer or leave sooner."


def _s(verb: str, found: Collection[object]) -> str:
    """Return a verb as it stands behind a number: “1 fades later”, “2 fade later”."""
    first, space, rest = verb.partition(" ")
    return f"{first}s{space}{rest}" if len(found) == 1 else verb


def _average(days: Sequence[float]) -> str:
    known = [each for each in days if each < math.inf]
    if not known:
        return ", for good"
    mean = max(1, round(sum(known) / len(known)))
    return f", {counted(mean, 'day')}{' on average' if len(days) > 1 else ''}"


def trial_card(trial: Fading, days: float, entry: DecayEntry | None) -> Card:
    """Return the card of a trial: what would change, of the memory under the cursor too.

    Args:
        trial: What was reckoned, with the truth.
        entry: The memory under the cursor, or None.
    """
    truth = trial.truth
    assert truth is not None
    in_force = half_life(truth.view.lambda_)
    changes: list[Line] = [(ink(each),) for each in consequences(trial)]
    sections = [Section("CHANGES", tuple(changes))]
    if entry is not None:
        before = _becomes(truth, entry, trial.status(entry))
        then = _becomes(trial, entry, entry.status)
        lines: list[Line] = [(ink(quoted(entry.title or entry.id)),), (ink(then, "soft"),)]
        if before != then:
            lines.append((ink(f"without it: {before.removeprefix('it ')}", "faint"),))
        sections.append(Section("THIS ONE", tuple(lines)))
    kept: tuple[Line, ...] = (
        (ink("Nothing changes until you keep it.", "decide"),),
        (ink("It changes decay.lambda in this workspace's settings; ⸨undo⸩ takes that back.", "soft"),),
    )
    sections.append(Section("KEPT", kept))
    title = f"Half-life {days_words(days)} instead of {days_words(in_force)}"
    return Card("trial of another half-life", title, (ink("A trial", "decide"),), tuple(sections))


def _becomes(read: Fading, entry: DecayEntry, status: str) -> str:
    fall = read.next_drop(entry)
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
