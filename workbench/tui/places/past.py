"""Reads History: actions page by page, and memory as it was, compared with another moment; the moments one goes to.

Its rows are actions under their days, and what differs between two moments under its parts.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import field, replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from workbench.display import words
from workbench.display.actions import action_row
from workbench.display.card import Card, Section
from workbench.display.ink import Span, ink, spread
from workbench.display.memory_changes import (
    SECTIONS,
    change_lines,
    change_row,
    counted,
    counts_of,
    same_row,
    title_of,
)
from workbench.display.rows import day_heading, heading_row
from workbench.display.scrubber import UPKEEP, Course, prepare_course
from workbench.engine.errors import HistoryDamaged, InvalidInput, NotFound, WorkbenchError
from workbench.engine.language.periods import day_and_time
from workbench.engine.patterns import lazy_pattern
from workbench.engine.values import dataclass
from workbench.tui.parts.evidence import evidence_of_memory
from workbench.tui.parts.filter import RowFilter
from workbench.tui.parts.rows import Rows
from workbench.tui.places.memory_reading import by_titles
from workbench.tui.verbs.history import AGAINST, COMMIT, HISTORY_OF, MOMENT, Differing, Several

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import tzinfo

    from workbench.display.ink import Line as Drawn
    from workbench.display.transcript import Evidence
    from workbench.engine.results.account import SinceChange
    from workbench.engine.results.audit import Action, Comparison, PastScore
    from workbench.engine.steps import Progress
    from workbench.engine.workspace import Workspace

PAGE = 300
# More than any screen shows: the words of each are looked up before the first is seen.
_FIRST_PAGE = 100
NOW = ""
# Memories of all comparisons that are kept; the one that is shown is kept in any case.
_MOST_COMPARED = 20_000
# Of more memories nobody looks up whose each is.
_MOST_OWNED = 2_000
# Fewer files are compared before anybody could read how far it is.
_TOLD_FROM = 500
_COMMIT = lazy_pattern(r"[0-9a-f]{6,40}")
_EVERYTHING = 1_000_000_000
ALL = "all:"
PART = "part:"
_MOST_IN_PREVIEW = 60


@dataclass(frozen=True)
class View:
    """What History shows.

    Args:
        of: Id of the memory whose changes alone are listed; empty for all actions.
        here: Commit of the moment one is at while two are compared; empty for now. May be a day in words, such as
            “3 weeks ago”, until History has found the commit.
        other: Commit of the second moment; empty for now.
        compares: Whether two moments are compared.
    """

    of: str = ""
    here: str = NOW
    other: str = NOW
    compares: bool = False

    @property
    def written(self) -> str:
        """Return it as the frame keeps it."""
        if self.compares:
            return f"{MOMENT}{self.here}{AGAINST}{self.other}"
        return HISTORY_OF + self.of if self.of else ""

    @classmethod
    def parse(cls, spot: str) -> View:
        """Read what the frame kept."""
        if spot.startswith(HISTORY_OF):
            return cls(of=spot.removeprefix(HISTORY_OF))
        here, against, other = spot.removeprefix(MOMENT).partition(AGAINST)
        return cls(here=here, other=other, compares=True) if spot.startswith(MOMENT) and against else cls()


@dataclass(frozen=True)
class Wish:
    """What is to be read.

    Args:
        view: See `View`.
        until: Read on until an action is no later than this place in the line of moments.
        row: Read on until this action is among them.
        upkeep: Whether the system's own housekeeping is listed.
        everything: Whether a comparison lists what is the same, too.
    """

    view: View = field(default_factory=View)
    limit: int = _FIRST_PAGE
    until: int | None = None
    row: str = ""
    upkeep: bool = False
    everything: bool = False


@dataclass(frozen=True)
class Line:
    """The whole history as a line of moments.

    Args:
        places: Where each is, by its hash.
        total: How many actions they make.
    """

    course: Course
    places: Mapping[str, int]
    zone: tzinfo | None
    total: int

    def place(self, commit: str) -> int:
        """Return where a commit is; the newest for now, and for one that is not there any more."""
        return self.places.get(commit, len(self.course) - 1)

    def name(self, at: int) -> str:
        """Return the hash of a commit; that of the newest is now."""
        return NOW if at >= len(self.course) - 1 else self.course.commits[at]

    def time(self, at: int) -> datetime | None:
        """Return when a commit was made; None where its clock told no time that there is."""
        try:
            return datetime.fromtimestamp(self.course.seconds[at], self.zone)
        except (OverflowError, OSError, ValueError):
            return None

    def words(self, commit: str, now: datetime) -> str:
        """Return a moment in words: “1 Nov, 09:00”, “now”."""
        if commit == NOW:
            return "now"
        moment = self.time(self.place(commit))
        return commit[:8] if moment is None else words.moment(moment, now)

    def step(self, at: int, by: int) -> int:
        """Return the nearest commit before (-1) or after (+1) that is no upkeep; itself where there is none."""
        course, found = self.course, at + by
        while 0 < found < len(course) - 1 and course.hands[found] == UPKEEP:
            found += by
        return found if 0 <= found < len(course) else at

    def step_day(self, at: int, by: int) -> int:
        """Return the last commit of the nearest day before (-1) or after (+1) that has any."""
        course = self.course
        day = self._day(at)
        if by < 0:
            return course.last_before(self._midnight(day))
        following = max(at, course.last_before(self._midnight(day + timedelta(1)))) + 1
        if following >= len(course):
            return len(course) - 1
        return course.last_before(self._midnight(self._day(following) + timedelta(1)))

    def find(self, text: str, today: date) -> int | None:
        """Read where to go, and return the commit that was the newest then.

        Args:
            text: A day or a span of days, whose end is meant; a day and a time; so long ago; `first`, `now`; a commit.

        Returns:
            None where this is no moment.
        """
        text, course = text.strip().casefold(), self.course
        if text in ("now", "first"):
            return len(course) - 1 if text == "now" else 0
        named = day_and_time(text, today)
        if named is None:
            return course.find(text) if _COMMIT.fullmatch(text) else None
        day, at = named
        if at is not None:
            return course.last_before(_seconds(datetime.combine(day, at, self.zone)) + 60)
        return course.last_before(self._midnight(day + timedelta(1))) if day < date.max else len(course) - 1

    def found_in(self, view: View, today: date) -> View:
        """Return a view whose moment may be a day, with the commit that was the newest then."""
        if view.here == NOW or view.here in self.places:
            return view
        at = self.find(view.here, today)
        return view if at is None else replace(view, here=self.name(at))

    def _day(self, at: int) -> date:
        return datetime.fromtimestamp(self.course.places[at], self.zone).date()

    def _midnight(self, day: date) -> float:
        return _seconds(datetime.combine(day, time(), self.zone))


def _seconds(moment: datetime) -> float:
    try:
        return moment.timestamp()
    except (OverflowError, ValueError):
        return float("-inf") if moment.year < 2000 else float("inf")


@dataclass(frozen=True)
class Compared:
    """Memory at one moment against another.

    Args:
        older: Hash of the earlier moment.
        newer: Hash of the later one; empty for now.
        here: Hash of the moment that `r` brings back.
        by: Who changed each memory last, where the later moment is now.
        same: What was there and reads the same, where that is listed.
    """

    older: str
    newer: str
    here: str
    comparison: Comparison
    by: Mapping[str, SinceChange] = field(default_factory=dict)
    same: tuple[PastScore, ...] = ()


@dataclass(frozen=True)
class Listed:
    """What was read for History.

    Args:
        line: The whole history; None where there is none, or it is damaged.
        actions: The newest of what was done.
        more: Whether there are older ones.
        title: Of the memory whose changes alone are listed.
        rows: What is listed, made where nobody waits for it.
        filtered: The filter of the place, where there is one, that has looked through these rows.
        damaged: What is wrong with the history; empty where nothing is.
        gone: Whether there was a history here, and there is none.
        passed_over: How many ticks that nothing came of, and takings back of such, are not listed.
    """

    wish: Wish
    now: datetime
    line: Line | None = None
    actions: tuple[Action, ...] = ()
    more: bool = False
    title: str = ""
    compared: Compared | None = None
    rows: ActionRows | DifferingRows | None = None
    filtered: RowFilter | None = None
    damaged: str = ""
    gone: bool = False
    passed_over: int = 0

    @property
    def view(self) -> View:
        """Return what is shown."""
        return self.wish.view


class PastReading:
    """Reads what History shows; called on a thread, keeps what was compared last."""

    def __init__(self) -> None:
        self._line: Line | None = None
        # Actions with memories called by their words, by id: a list that grows looks up no words twice.
        self._titled: dict[str, Action] = {}
        self._compared: OrderedDict[tuple[str, str, bool], Compared] = OrderedDict()

    def read(
        self,
        workspace: Workspace,
        wish: Wish,
        tell: Callable[[str], None] = lambda _: None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Listed:
        """Read actions, or two moments compared.

        Args:
            tell: Told in a word or two how far a comparison is.
            stopped: Asked all the while whether it was called off.

        Raises:
            Cancelled: It was called off.
        """
        listed = Listed(wish, workspace.now())
        try:
            listed = replace(listed, line=self._read_line(workspace))
        except HistoryDamaged as error:
            listed = replace(listed, damaged=error.message)
        try:
            if wish.view.compares and (line := listed.line) is not None:
                wish = replace(wish, view=line.found_in(wish.view, listed.now.date()))
                listed = replace(listed, wish=wish)
                return _with_rows(listed, line, self._compare(workspace, line, wish, tell, stopped))
            self._forget(0)
            return self._read_actions(
                workspace, replace(listed, wish=replace(wish, view=_listing(wish.view))), stopped
            )
        except HistoryDamaged as error:
            return replace(listed, damaged=error.message, gone=workspace.head() is None)

    def _read_line(self, workspace: Workspace) -> Line | None:
        known = self._line
        if known is not None and known.course.commits[-1] == workspace.head():
            return known
        self._titled.clear()
        found = workspace.history_line()
        if not found.commits:
            return None
        course = prepare_course(found.commits, found.seconds, found.actors)
        places = {commit: at for at, commit in enumerate(found.commits)}
        self._line = Line(course, places, workspace.now().tzinfo, workspace.action_count())
        return self._line

    def _read_actions(self, workspace: Workspace, listed: Listed, stopped: Callable[[], bool]) -> Listed:
        wish, of = listed.wish, listed.view.of
        limit = wish.limit
        path = of.removeprefix("file:") if of.startswith("file:") else None
        while True:
            found = workspace.actions(
                limit,
                memory=of if of and path is None else None,
                file=path,
                upkeep=wish.upkeep or bool(of),
                passing=wish.upkeep,
                cancelled=stopped,
            )
            last = listed.line.place(found.actions[-1].newest) if found.actions and listed.line else -1
            too_short = (wish.until is not None and last > wish.until) or (
                wish.row and not any(each.id == wish.row for each in found.actions)
            )
            if not found.more or not too_short:
                break
            limit = min(4 * limit, _EVERYTHING)
        damaged = found.damaged or listed.damaged
        listed = replace(
            listed,
            actions=tuple(self._by_titles(workspace, each) for each in found.actions),
            more=found.more,
            title=_title(workspace, of),
            damaged=damaged,
            passed_over=found.passed_over,
        )
        return replace(listed, rows=ActionRows(listed))

    def _by_titles(self, workspace: Workspace, action: Action) -> Action:
        known = self._titled.get(action.id)
        if known is None:
            known = self._titled[action.id] = by_titles(workspace, action)
        return known

    def _compare(
        self,
        workspace: Workspace,
        line: Line,
        wish: Wish,
        tell: Callable[[str], None],
        stopped: Callable[[], bool],
    ) -> Compared:
        def progress(told: Progress) -> None:
            if told.total > _TOLD_FROM:
                tell(f"{told.phase} {told.done:,} of {told.total:,} files; esc stops")

        here, other = wish.view.here, wish.view.other
        places = sorted((line.place(here), line.place(other)))
        older, newer = (line.course.commits[at] for at in places)
        key = (older, newer, wish.everything)
        known = self._compared.get(key)
        if known is None:
            is_now = line.name(places[1]) == NOW
            comparison = workspace.compare(older, newer, progress=progress, cancelled=stopped)
            back = line.course.commits[line.place(here)] if line.name(line.place(here)) else older
            known = Compared(
                older,
                NOW if is_now else newer,
                back,
                comparison,
                same=_same(workspace, back, comparison) if wish.everything else (),
            )
            self._compared[key] = known
            self._forget(1)
        back = line.course.commits[line.place(here)] if line.name(line.place(here)) else older
        return replace(known, here=back)

    def _forget(self, least: int) -> None:
        """Keep no more comparisons than hold so many memories together, but so many in any case."""
        held = [len(each.comparison.memories) + len(each.same) for each in self._compared.values()]
        while len(held) > least and sum(held) > _MOST_COMPARED:
            self._compared.popitem(last=False)
            del held[0]

    def read_by(self, workspace: Workspace, listed: Listed) -> Listed:
        """Read who changed last what differs from now: that takes longer than what differs.

        Returns:
            The same where nobody can tell, or there is too much of it.
        """
        compared, line = listed.compared, listed.line
        if compared is None or line is None or compared.newer != NOW or compared.by:
            return listed
        if len(compared.comparison.memories) > _MOST_OWNED:
            return listed
        by = _last_changes(workspace, line, line.place(compared.older))
        told = replace(compared, by=by)
        newer = line.course.commits[-1]
        self._compared[(compared.older, newer, listed.wish.everything)] = told
        return _with_rows(listed, line, told)


def _with_rows(listed: Listed, line: Line, compared: Compared) -> Listed:
    rows = DifferingRows(compared, words.as_on(line.words(compared.here, listed.now)), listed.now)
    return replace(listed, compared=compared, rows=rows)


def _listing(view: View) -> View:
    """Return a view that lists actions: there is nothing to compare where history cannot be read as a whole."""
    return View() if view.compares else view


def _title(workspace: Workspace, of: str) -> str:
    if not of or of.startswith("file:"):
        return of.removeprefix("file:")
    try:
        return workspace.title(of)
    except (InvalidInput, NotFound):
        return of.partition(":")[2]


def _last_changes(workspace: Workspace, line: Line, at: int) -> dict[str, SinceChange]:
    moment = line.time(at)
    if moment is None:
        return {}
    try:
        since = workspace.since(moment.isoformat())
    except WorkbenchError:
        # Who it was is told where it is known; what differs is what was asked for.
        return {}
    return {each.id: each for each in (*since.forgotten, *since.changed, *since.learned)}


def _same(workspace: Workspace, commit: str, comparison: Comparison) -> tuple[PastScore, ...]:
    differing = {each.id for each in comparison.memories}
    return tuple(each for each in workspace.at(commit).scores() if each.id not in differing)


def why_empty(listed: Listed) -> tuple[str, ...]:
    """Return why nothing is listed, and what helps; nothing where there is no history yet."""
    if listed.gone:
        return (
            "The history that was here is gone; memory itself is whole.",
            "A backup of .audit brings it back. Else the next change begins a new one, and raises an alert.",
        )
    if listed.damaged:
        return (f"{listed.damaged} Memory itself is whole.", "⸨verify-history⸩ says where.")
    if listed.compared is not None:
        return (
            "Nothing differs.",
            "← → go on in time, ⸨only-changed⸩ lists what is the same, esc ends comparing.",
        )
    if listed.view.of:
        return ("No change of it was found.", "esc shows all actions.")
    return ("Only upkeep so far; ⸨show-upkeep⸩ shows it.",) if listed.line is not None else ()


def evidence_if_there(workspace: Workspace, memory_id: str) -> Evidence | None:
    """Read where a memory comes from; None where it is not there any more, or nobody noted it."""
    try:
        return evidence_of_memory(workspace, memory_id)
    except NotFound:
        return None


class ActionRows(Rows["str", "Action"]):
    """Actions under their days."""

    def __init__(self, listed: Listed) -> None:
        super().__init__()
        self._now = listed.now
        on: date | None = None
        for action in listed.actions:
            day = action.timestamp.astimezone(listed.now.tzinfo).date()
            if day != on:
                on = day
                self.add_heading(day_heading(day, listed.now.date()))
            self.add(action, COMMIT + action.id)

    def actions(self) -> Iterable[tuple[int, Action]]:
        """Yield each action with its index."""
        return ((at, row) for at in range(len(self)) if (row := self.row_at(at)) is not None)

    def draw(self, row: Action, width: int) -> Drawn:
        """Draw a row."""
        return action_row(row, self._now, width)


class DifferingRows(Rows["Several", "Differing | Several"]):
    """What differs between two moments, under the parts of memory and the blocks of core memory."""

    def __init__(self, compared: Compared, then: str, now: datetime) -> None:
        super().__init__()
        self._now = now
        parts: dict[str, list[Differing]] = {}
        for change in compared.comparison.memories:
            block = change.id.split(":")[1] if change.store == "core" and change.id.count(":") > 1 else ""
            name = f"Core, {block.replace('-', ' ')}" if block else SECTIONS.get(change.store, change.store)
            parts.setdefault(name, []).append(
                Differing(
                    change.id, change.store, title_of(change), commit=compared.here, then=then,
                    change=change, by=compared.by.get(change.id),
                )
            )  # fmt: skip
        everything = tuple(each for members in parts.values() for each in members)
        if everything:
            self.add(Several(ALL, "all that differs", everything), ALL)
        for name, members in parts.items():
            self.add_heading(Several(PART + name, name, tuple(members)), PART + name)
            for each in members:
                self.add(each, each.id)
        if compared.same:
            self.add_heading(Several(f"{PART}same", "The same at both moments", ()), f"{PART}same")
            for score in compared.same:
                same = Differing(score.id, score.store, score.title, commit=compared.here, then=then)
                self.add(same, score.id)

    def subject(self, key: str) -> Differing | Several | None:
        """Return what a row is about."""
        at = self.find(key)
        return None if at is None else self.head(at) or self.row_at(at)

    def draw(self, row: Differing | Several, width: int) -> Drawn:
        """Draw a row."""
        if isinstance(row, Several):
            return spread((ink("All that differs", "text"),), (ink(f"{len(row.members):,}", "soft"),), width)
        if row.change is None:
            return same_row(row.store, row.title, width)
        return change_row(row.change, row.by, self._now, width)

    def draw_heading(self, head: Several, width: int) -> Drawn:
        """Draw the heading of a part, with how much of it differs."""
        counts = counts_of(each.change for each in head.members if each.change is not None)
        return heading_row(head.title, counts, width)


def preview(several: Several) -> Card:
    """Return the card of a heading: all that `r` would bring back."""
    changes = [each.change for each in several.members if each.change is not None]
    lines = [line for change in changes[:_MOST_IN_PREVIEW] for line in change_lines(change)]
    if len(changes) > _MOST_IN_PREVIEW:
        lines.append((Span("  "), Span(f"and {len(changes) - _MOST_IN_PREVIEW:,} more", "faint")))
    then = several.members[0].then if several.members else ""
    sections = [Section("DIFFERS", tuple(lines), hangs=1)] if lines else []
    if lines:
        sections.append(
            Section.of("BACK", f"⸨bring-back⸩ brings all of it back, {then}, in one action.", "soft")
        )
    title = several.title[:1].upper() + several.title[1:]
    return Card(title, title, (ink(counted(changes), "soft"),), tuple(sections))
