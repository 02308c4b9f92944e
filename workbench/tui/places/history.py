"""History: what was done, by whom and why, one action a row; memory as it was, against another moment; the way back."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on

from workbench.display import words
from workbench.display.action_words import sentence
from workbench.display.actions import action_card, changes_of, unread_card
from workbench.display.card import Card
from workbench.display.cells import wrap
from workbench.display.ink import ink, spread
from workbench.display.memory_changes import (
    counts_of,
    difference_card,
    past_card,
)
from workbench.display.scrubber import Pointers, followed, hands_legend, whole, zoomed
from workbench.display.words import counted
from workbench.engine.errors import HistoryDamaged, NotFound, WorkbenchError
from workbench.tui.keys.table import COMMAND
from workbench.tui.parts.evidence import evidence_at
from workbench.tui.parts.filter import Filterable
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.rows import last_line
from workbench.tui.parts.scrubber import Scene, ScrubberPart
from workbench.tui.places.memory_reading import by_titles, read_memory_writing
from workbench.tui.places.past import (
    PAGE,
    ActionRows,
    DifferingRows,
    Listed,
    PastReading,
    View,
    Wish,
    evidence_if_there,
    preview,
    why_empty,
)
from workbench.tui.places.place import Place
from workbench.tui.verbs.history import COMMIT, Differing, Happened, Several, happened, read_verified
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import tzinfo

    from textual.app import ComposeResult

    from workbench.display.ink import Line
    from workbench.display.scrubber import Window
    from workbench.display.transcript import Evidence
    from workbench.engine.results.audit import Action, ActionDone
    from workbench.engine.workspace import Workspace
    from workbench.tui.places.past import Line as Moments
    from workbench.tui.verbs.act import Subject
    from workbench.tui.verbs.rewording import Writing

_NEAR_THE_END = 60
# A filter looks through so many times the actions that it has looked through already, and shows what it found.
_STEP = 4
_UPKEEP = "upkeep"
_KIND_OF = {"go-core": "core:", "go-timeline": "episode:", "go-graph": "entity:"}
_NOW_AGAIN = "Memory is shown as it is now again; the cursor is on the moment that you looked at."
_IN_THE_PAST = frozenset({"new", "edit", "edit-outside"})


class HistoryPlace(Place):
    """What was done, and memory as it was."""

    EMPTY: ClassVar[str] = (
        "Nothing has been changed here yet. The first change begins the history: ⸨new⸩ writes a memory."
    )
    KEYS: ClassVar[tuple[str, ...]] = ("bring-back", "compare", "evidence", "details", "filter", "history")
    FILTER_KEYS: ClassVar[tuple[str, ...]] = ("by", "file", "is")

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.scrubber = ScrubberPart()
        self.view = View()
        self._past = PastReading()
        self._wish = Wish()
        self._listed: Listed | None = None
        self._window: Window | None = None
        self._seen_all = True
        self._done: dict[str, ActionDone] = {}
        self._after_reading: Callable[[], object] | None = None
        # Which moment one came back from, until its action is under the cursor again.
        self._came_from: int | None = None
        self._stop = threading.Event()
        self._zone: tzinfo | None = None

    def body(self) -> ComposeResult:
        yield self.scrubber
        yield self.list

    @property
    def keys(self) -> tuple[str, ...]:
        """Return what the key line offers: an alert is kept, a moment is compared."""
        action = self._action
        return ("accept", *self.KEYS) if action is not None and action.waiting else self.KEYS

    @property
    def labels(self) -> Mapping[str, str]:
        if self.view.compares:
            return {"compare": "swap", "left": "→ moments", "only-changed": "only changes", "go-day": "date"}
        action = self._action
        said = {"bring-back": "take back", "compare": "compare", "left": "→ moments", "go-day": "date"}
        if action is not None and action.waiting:
            return said | {"accept": "keep", "bring-back": "old text back"}
        return said | {"bring-back": "bring back"} if action is not None and action.undone_by else said

    # Where one is.

    @property
    def spot(self) -> str:
        """Return what is shown beside the row."""
        return self.view.written

    def go_to_spot(self, spot: str) -> None:
        self._stop_comparing()
        self.view = View.parse(spot)
        if self.view != View():
            self._came_from = None
        self._draw_scrubber()

    def left(self) -> None:
        self._stop_comparing()
        if self.view.compares:
            self._came_from = self.here
        self.view = View()

    def _stop_comparing(self) -> None:
        """Call off a comparison that nobody waits for any more."""
        self._stop.set()
        self._stop, self.at_work = threading.Event(), ""

    @property
    def moments(self) -> Moments | None:
        """Return the whole history; None where there is none."""
        return self._listed.line if self._listed is not None else None

    @property
    def when(self) -> str:  # type: ignore[override]  # told by what is shown
        """Return the moment whose memory is shown."""
        if not self.view.compares or self.moments is None or self._listed is None:
            return "now"
        return self.moments.words(self.view.here, self._listed.now)

    @property
    def _then(self) -> str:
        """Return the moment that is brought back from, as a sentence goes on: “as on 1 Nov, 09:00”."""
        listed, moments = self._listed, self.moments
        if listed is None or moments is None or listed.compared is None:
            return ""
        return words.as_on(moments.words(listed.compared.here, listed.now))

    @property
    def here(self) -> int:
        """Return where in the history one is: the moment that is compared, or the action under the cursor."""
        moments = self.moments
        if moments is None:
            return -1
        if self.view.compares:
            return moments.place(self.view.here)
        action = self._action
        return (
            len(moments.course) - 1
            if action is None or self._is_now(action)
            else moments.place(action.newest)
        )

    def _is_now(self, action: Action) -> bool:
        """Return whether memory is as this action left it, but for upkeep."""
        listed = self._listed
        return listed is not None and not listed.view.of and listed.actions[:1] == (action,)

    @property
    def _action(self) -> Action | None:
        rows = self.all_rows
        return rows.row(self.list.cursor_key) if isinstance(rows, ActionRows) else None

    # Reading and drawing.

    def begin_reading(self) -> Callable[[Workspace], Listed]:
        """Return what reads the place; memory may have changed, and a comparison under way is of no use then."""
        self._stop_comparing()
        return partial(self._read, stop=self._stop)

    def read(self, workspace: Workspace) -> Listed:
        return self._read(workspace, self._stop)

    def _read(self, workspace: Workspace, stop: threading.Event) -> Listed:
        wish = replace(
            self._wish,
            view=self.view,
            upkeep=bool(self.kept.get(_UPKEEP)),
            limit=self._limit,
        )
        later, self._zone = self.app.call_later, workspace.now().tzinfo
        # Nobody waits for all that a filter looks through.
        stopped = self.frame.courtesy.unless(stop.is_set) if self.filter.text else stop.is_set

        def tell(words: str) -> None:
            if words != self.at_work:
                later(self._tell, stop, words)

        try:
            listed = self._past.read(workspace, wish, tell, stopped)
        except WorkbenchError:
            later(self._tell, stop, "")
            raise
        if self.filter.text and listed.rows is not None:
            listed = replace(listed, filtered=self.filter.looking_through(listed.rows, stopped))
        return listed

    @property
    def _limit(self) -> int:
        """Return how many actions are read: what a filter hides is looked through step by step, to the first."""
        listed = self._listed
        had = len(listed.actions) if listed is not None and self.filter.text else 0
        return max(self._wish.limit, _STEP * had)

    def _tell(self, stop: threading.Event, words: str) -> None:
        """Say how far a comparison is, where it is still waited for."""
        if stop is self._stop:
            self.at_work = words
            self.frame.redraw()

    def rows(self, results: Listed) -> ActionRows | DifferingRows:
        return ActionRows(results) if results.rows is None else results.rows

    def show(self, results: Listed) -> None:
        if results.view != self.view:
            self.view = results.view
        if results.filtered is not None:
            self.filter.take_over(results.filtered)
            results = replace(results, filtered=None)
        had = self._listed
        self._listed, self.at_work = results, ""
        self._done.clear()
        if results.line is not None and (self._window is None or self._seen_all):
            self._window = whole(results.line.course)
        turned = had is not None and (had.compared is None) != (results.compared is None)
        if turned and self.filter.text:
            # Actions are looked through otherwise than memories.
            self.frame.filtering.set(self, "")
        super().show(results)
        if results.compared is not None:
            self.frame.reading.read(
                "by", lambda workspace: self._past.read_by(workspace, results), self._show_by
            )
        if turned:
            self.list.clear_marks()
            self.list.do("first")
        self._wish = replace(self._wish, until=None, row="")
        self._draw_scrubber()
        if self._after_reading is not None:
            act, self._after_reading = self._after_reading, None
            act()
        elif self._came_from is not None and results.view == View():
            at, self._came_from = self._came_from, None
            self._go_to_commit(at)

    def _show_by(self, results: Listed) -> None:
        """Show whose the changes are, where one is still at the same moments."""
        if results is not self._listed and results.view == self.view:
            self._listed = results
            super().show(results)

    def show_rows(self) -> None:
        super().show_rows()
        listed = self._listed
        frame = self.frame
        if not self.filter.text or listed is None or not listed.more or frame.place is not self:
            return
        if not frame.reading.is_reading("place"):
            # What comes is filtered by whatever has been typed by then.
            frame.read_place()

    def _read_again(self) -> None:
        self.frame.go("history", spot=self.spot, visit=False, focus=False)

    def heading(self, results: Listed, width: int) -> Line:
        moments, view = results.line, results.view
        if results.damaged:
            said = "History is gone" if results.gone else "History is damaged; ⸨verify-history⸩ says where"
            return spread((ink(said, "danger"),), (), width)
        if moments is None:
            return spread((ink("No history yet", "soft"),), (), width)
        if results.compared is not None:
            older, newer = results.compared.older, results.compared.newer
            ends = f"{moments.words(older, results.now)} → {moments.words(newer, results.now)}"
            counts = counts_of(results.compared.comparison.memories)
            return spread((ink(ends, "strong"),), (ink(counts, "soft"),) if counts else (), width)
        if view.of:
            left = changes_of(results.title, results.actions)
            return spread((ink(left, "strong"),), (ink("esc shows all", "faint"),), width)
        begun = moments.time(0)
        since = f" since {words.day(begun.date(), results.now.date())}" if begun is not None else ""
        total = f"{counted(moments.total - results.passed_over, 'action')}{since}"
        if results.passed_over:
            total += f"; {counted(results.passed_over, 'row')} of ticks hidden"
        legend = hands_legend() if len(self.scrubber.lines(max(1, self.scrubber.size.width))) < 3 else ()
        return spread((ink(total, "soft"),), legend, width)

    def _draw_scrubber(self) -> None:
        listed, moments = self._listed, self.moments
        if listed is None or moments is None or self._window is None or not self.is_mounted:
            self.scrubber.show(None)
            return
        here = self.here
        self._window = followed(moments.course, self._window, here)
        mark = moments.place(self.view.other) if self.view.compares else None
        names = [
            moments.words(moments.name(at), listed.now) for at in (here, mark if mark is not None else here)
        ]
        here_words, mark_words = ((name, name.partition(",")[0]) for name in names)
        earlier = mark is not None and here < mark
        signs = ("◇", "◆") if earlier else ("◆", "◇")
        pointers = Pointers(here, mark, here_words, mark_words, signs)
        self.scrubber.show(Scene(moments.course, self._window, pointers, moments.zone))

    def empty(self) -> list[Line]:
        listed = self._listed
        if listed is None or self.filter.text:
            return super().empty()
        said = why_empty(listed)
        width = max(20, self.list.size.width - 8)
        return (
            [(ink(part, "soft"),) for each in said for part in wrap(each, width)] if said else super().empty()
        )

    def filterable(self, action: Action | Differing | Several) -> Filterable | None:
        if isinstance(action, Differing | Several):
            return None
        day = action.timestamp.astimezone(self._zone).date()
        stands = ("alert",) if action.waiting else ("back",) if action.undone_by else ()
        by = (words.who(action.owner).casefold(), action.owner.casefold(), action.actor.casefold())
        files = tuple(
            part for path in action.files for part in (path.casefold(), path.casefold().rpartition("/")[2])
        )
        text = f"{sentence(action)} {action.summary} {action.id[:12]} {' '.join(action.files)}".casefold()
        return Filterable(text, {"by": by, "file": files, "is": stands}, day)

    # What is under the cursor.

    def subject(self, key: str) -> Subject | None:
        rows = self.all_rows
        if isinstance(rows, ActionRows):
            action = rows.row(key)
            return happened(action) if action is not None else None
        return rows.subject(key) if isinstance(rows, DifferingRows) else None

    def read_card(self, workspace: Workspace, subject: Subject) -> Card:
        now = workspace.now()
        if isinstance(subject, Happened):
            try:
                done = self._done.get(subject.id) or workspace.action(subject.action.id)
            except (NotFound, HistoryDamaged):
                return unread_card(subject.action, now)
            done = replace(done, action=by_titles(workspace, done.action))
            self._done[subject.id] = done
            return action_card(done, now)
        if isinstance(subject, Several):
            return preview(subject)
        if not isinstance(subject, Differing):
            return super().read_card(workspace, subject)
        listed, moments = self._listed, self.moments
        if subject.change is None or listed is None or listed.compared is None or moments is None:
            return past_card(workspace.at(subject.commit).show(subject.id), subject.then)
        compared = listed.compared
        begun = moments.time(moments.place(compared.older))
        is_file = subject.id.startswith("file:")
        actions = workspace.actions(
            3, memory=None if is_file else subject.id, file=subject.change.path if is_file else None,
            standing=True, since=begun.isoformat() if begun is not None else None,
        ).actions  # fmt: skip
        older, newer = (moments.words(each, now) for each in (compared.older, compared.newer))
        missing = subject.change.change == ("added" if compared.here == compared.older else "removed")
        back = (
            "It was not there then: ⸨bring-back⸩ archives it."
            if missing
            else f"⸨bring-back⸩ brings it back {subject.then}."
        )
        return difference_card(
            subject.change, older, newer, actions, f"{back[:-1]}; ⸨mark⸩ marks more rows.", now
        )

    def read_evidence(self, workspace: Workspace, subject: Subject) -> Evidence | None:
        if isinstance(subject, Several):
            return None
        if not isinstance(subject, Happened):
            return evidence_if_there(workspace, subject.id)
        try:
            done = self._done.get(subject.id) or workspace.action(subject.action.id)
        except (NotFound, HistoryDamaged):
            return None
        for change in done.memories[:5]:
            if (found := evidence_if_there(workspace, change.id)) is not None:
                return found
        return next((found for path in subject.action.files[:5]
                     if (found := evidence_at(workspace, f"file:{path}#L1")) is not None), None)  # fmt: skip

    def writing(self, workspace: Workspace, subject: Subject) -> Writing | str:
        if self.visited:
            return read_memory_writing(workspace, subject)
        return self._no_change_of_the_past

    @property
    def _no_change_of_the_past(self) -> str:
        if self.view.compares:
            return f"This is memory {self._then}; ⸨last⸩ returns to now."
        return "History stays as it was; ⸨bring-back⸩ takes an action back."

    def reveal(self, key: str) -> bool:
        if super().reveal(key):
            return True
        listed = self._listed
        if listed is not None and key.startswith(COMMIT) != (listed.compared is None):
            return True
        if key.startswith(COMMIT) and listed is not None and listed.more and listed.compared is None:
            self._wish = replace(self._wish, row=key.removeprefix(COMMIT))
            self._after_reading = lambda: self.list.go_to(key)
            self._read_again()
            return True
        return False

    @on(ListPart.Moved)
    def _moved(self) -> None:
        if not self.view.compares:
            self._draw_scrubber()
        listed = self._listed
        if (
            listed is None
            or not listed.more
            or len(self.list.rows) - last_line(self.list.rows, self.list.cursor) > _NEAR_THE_END
        ):
            return
        if self._wish.limit <= len(listed.actions):
            self._wish = replace(self._wish, limit=len(listed.actions) + PAGE)
            self._read_again()

    # Keys.

    def do(self, command: str) -> bool:
        act: Callable[[], object] | None = {
            "compare": self._compare,
            "only-changed": self._toggle_everything,
            "show-upkeep": self._toggle_upkeep,
            "go-day": self._ask_for_a_day,
            "closer": lambda: self._zoom(closer=True),
            "wider": lambda: self._zoom(closer=False),
            "verify-history": self._verify,
            "out": self._out,
        }.get(command)
        if act is not None:
            return act() is not False
        if command in _KIND_OF:
            return self._go_to_memory(_KIND_OF[command])
        if command in ("history", "go-history"):
            return self._show_history()
        if command in _IN_THE_PAST and self.view.compares and not self.visited:
            self.frame.say(self._no_change_of_the_past)
            return True
        if self.frame.focused is not self.list:
            return False
        moved: Callable[[], object] | None = {
            "left": lambda: self._step(-1),
            "right": lambda: self._step(1),
            "last": self._to_now,
            "next": lambda: self._to_alert(1),
            "previous": lambda: self._to_alert(-1),
            "next-heading": lambda: self._step_day(-1),
            "previous-heading": lambda: self._step_day(1),
        }.get(command)
        return moved is not None and moved() is not False

    def _go(self, view: View, *, visit: bool = False, row: str = "") -> None:
        self.frame.go("history", spot=view.written, visit=visit, row=row)

    def _step(self, by: int) -> None:
        moments = self.moments
        if moments is None:
            self.frame.say(COMMAND["left"].elsewhere)
        elif self.view.compares:
            self._travel(moments.step(self.here, by))
        else:
            before = self.list.cursor
            self.list.do("move-down" if by < 0 else "move-up")
            if self.list.cursor == before:
                self.frame.say("This is the first moment." if by < 0 else "This is now.")

    def _step_day(self, by: int) -> bool:
        """Go to another day while moments are compared; in the list its headings are days."""
        moments = self.moments
        if not self.view.compares or moments is None:
            return False
        self._travel(moments.step_day(self.here, by))
        return True

    def _travel(self, at: int) -> None:
        """Compare from another moment on, or go to what was done then."""
        moments = self.moments
        assert moments is not None
        if at == self.here:
            self.frame.say("This is the first moment." if at == 0 else "This is now.")
        elif self.view.compares:
            self._go(replace(self.view, here=moments.name(at)))
            self._say_what_is_compared()
        else:
            self._go_to_commit(at)

    def _say_what_is_compared(self) -> None:
        listed, moments = self._listed, self.moments
        if listed is not None and moments is not None:
            here, other = (moments.words(each, listed.now) for each in (self.view.here, self.view.other))
            self.frame.say(
                f"This is memory {words.as_on(here)}, compared with {other}. ⸨last⸩ returns to now."
            )

    def _go_to_commit(self, at: int) -> None:
        """Put the cursor on the newest action that was done by then."""
        moments, listed = self.moments, self._listed
        if moments is None or listed is None:
            return

        def arrive() -> None:
            rows = self.list.rows
            for index in range(len(rows)):
                action = self.all_rows.row(rows.key(index)) if isinstance(self.all_rows, ActionRows) else None
                if action is not None and moments.place(action.newest) <= at:
                    self.list.go_to(rows.key(index))
                    return
            self.list.do("last")

        if not listed.more or moments.place(listed.actions[-1].newest) <= at:
            arrive()
        else:
            self._wish, self._after_reading = replace(self._wish, until=at), arrive
            self._read_again()

    def _to_now(self) -> bool:
        """Return from the past to now; else go to the end, as in any list."""
        if not self.view.compares:
            return False
        self._go(View(), visit=True)
        self.frame.say(_NOW_AGAIN)
        return True

    def _out(self) -> bool:
        listed = self._listed
        if self.view.compares and listed is not None and listed.view != self.view:
            self._go(listed.view, visit=True)
            self.frame.say("The comparison was stopped.")
            return True
        if self.view == View():
            return False
        if self.view.compares:
            return self._to_now()
        self._go(View(), visit=True, row=self.cursor_key)
        self.frame.say("All actions again.")
        return True

    def _compare(self) -> None:
        """Compare the moment under the cursor with now, or two that are marked; again, swap the two."""
        moments = self.moments
        marked = [each.action for each in self.subjects if isinstance(each, Happened)]
        if moments is None:
            self.frame.say("There is no history to compare yet.")
        elif self.view.compares:
            self._go(replace(self.view, here=self.view.other, other=self.view.here))
            listed = self._listed
            if listed is not None:
                self.frame.say(f"← → move this moment now: {moments.words(self.view.here, listed.now)}.")
        elif len(marked) > 2:
            self.frame.say("Two moments are compared; mark two rows.")
        elif len(marked) == 2:
            older, newer = sorted(moments.place(each.newest) for each in marked)
            self._go(View(here=moments.name(older), other=moments.name(newer), compares=True), visit=True)
            self._say_what_is_compared()
        elif not marked or self._is_now(marked[0]):
            self.frame.say("This is now; go to an older action first, then press ⸨compare⸩.")
        else:
            here = moments.name(moments.place(marked[0].newest))
            self._go(View(here=here, compares=True), visit=True)
            self._say_what_is_compared()

    def _toggle_everything(self) -> bool:
        if not self.view.compares:
            return False
        self._wish = replace(self._wish, everything=not self._wish.everything)
        shows = "What is the same is listed too." if self._wish.everything else "Only what differs is listed."
        self.frame.say(shows)
        self._read_again()
        return True

    def _toggle_upkeep(self) -> None:
        shown = not self.kept.get(_UPKEEP)
        self.kept[_UPKEEP] = "shown" if shown else ""
        what = "Upkeep, and ticks that were taken back,"
        self.frame.say(f"{what} are listed too." if shown else f"{what} are hidden.")
        self._read_again()

    def _zoom(self, *, closer: bool) -> bool:
        moments, window = self.moments, self._window
        if moments is None or window is None:
            return False
        self._window = zoomed(moments.course, window, self.here, closer)
        self._seen_all = self._window == whole(moments.course)
        if self._window == window:
            self.frame.say(f"This is as {'close' if closer else 'wide'} as it gets.")
        self._draw_scrubber()
        return True

    @on(ScrubberPart.Sought)
    def _sought(self, event: ScrubberPart.Sought) -> None:
        event.stop()
        if event.at != self.here:
            self._travel(event.at)

    @on(ScrubberPart.Turned)
    def _turned(self, event: ScrubberPart.Turned) -> None:
        event.stop()
        moments, window = self.moments, self._window
        if moments is not None and window is not None:
            self._window = zoomed(moments.course, window, event.at, event.closer)
            self._seen_all = self._window == whole(moments.course)
            self._draw_scrubber()

    def _ask_for_a_day(self) -> None:
        moments, listed = self.moments, self._listed
        if moments is None or listed is None:
            self.frame.say("There is no day to go to yet.")
            return
        today = listed.now.date()

        def take(text: str) -> str | None:
            at = moments.find(text, today)
            if at is None:
                return "That is no day; write 14 Oct, last month, two weeks ago, 2026-10-14 10:30 or first."
            self._travel(at)
            return None

        self.frame.editing.ask("Which day?  14 oct · last month · first", take=take)

    def _to_alert(self, by: int) -> bool:
        rows = self.all_rows
        if not isinstance(rows, ActionRows):
            return False
        here = rows.find(self.list.cursor_key) if self.list.cursor_key else -1
        alerts = [(at, each) for at, each in rows.actions() if each.alerts]
        waiting = [(at, each) for at, each in alerts if each.waiting] or alerts
        others = [(at, each) for at, each in waiting if (at - (here or 0)) * by > 0]
        if not others:
            self.frame.say("There is no other alert.")
        else:
            self.reveal(COMMIT + min(others, key=lambda other: abs(other[0] - (here or 0)))[1].id)
        return True

    def _show_history(self) -> bool:
        """Show the changes of the memory under the cursor; of an action that is this list."""
        subject = self.current
        if isinstance(subject, Memory):
            return False
        self.frame.say("This is the history; enter opens what the action did.")
        return True

    def _go_to_memory(self, kind: str) -> bool:
        """Go to the first memory of a kind that an action changed."""
        subject = self.current
        if not isinstance(subject, Happened):
            return False
        done = self._done.get(subject.id)
        found = next((each.id for each in done.memories if each.id.startswith(kind)), "") if done else ""
        if not found:
            return False
        self.frame.looking.open_memory(found)
        return True

    def _verify(self) -> None:
        frame, found = self.frame, list[Card]()

        def work(tell: Callable[[str], None], stopped: Callable[[], bool]) -> str:
            found.append(read_verified(frame.working.workspace, tell, stopped))
            return found[0].title

        def show() -> None:
            if frame.place is self:
                frame.show_card(found[0])
                frame.read()

        if not frame.working.is_running:
            frame.say("Checking history, log and files; esc in Today stops it.")
        frame.working.begin("The check", work, "nothing was changed", show)
