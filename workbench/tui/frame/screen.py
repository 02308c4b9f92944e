"""The one screen: places, lines at the edges, and what each key does here."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Container, Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Input, TextArea

from workbench.display.action_words import by_whom
from workbench.display.remedies import told_in_bench
from workbench.engine.clock import time_or_none
from workbench.engine.errors import NotFound
from workbench.tui import verbs, verbs_graph
from workbench.tui.follower import Follower
from workbench.tui.frame import drawing, spoken
from workbench.tui.frame.acting import Acting
from workbench.tui.frame.asking import Asking
from workbench.tui.frame.choosing import Choosing
from workbench.tui.frame.copying import Copying
from workbench.tui.frame.counts import Counts
from workbench.tui.frame.drafts import Drafts
from workbench.tui.frame.editing import Editing
from workbench.tui.frame.filtering import Filtering
from workbench.tui.frame.finding import Finding
from workbench.tui.frame.jumping import Jumping
from workbench.tui.frame.looking import Looking
from workbench.tui.frame.reading import Reading
from workbench.tui.frame.seen import Seen
from workbench.tui.frame.splits import Splits
from workbench.tui.frame.stepping import Stepping
from workbench.tui.frame.trail import Step, Trail
from workbench.tui.frame.working import Working
from workbench.tui.keys.table import COMMAND, MOVING, Command, Prefix, canonical, written
from workbench.tui.parts.canvas import CanvasPart
from workbench.tui.parts.chooser import ChooserPart
from workbench.tui.parts.line import DrawnLines
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.page import PagePart
from workbench.tui.parts.prompt import PromptLine
from workbench.tui.places.listed import BY_NAME, PLACES, Listed
from workbench.tui.places.place import Part, Place
from workbench.tui.places.writing import WritingTicks
from workbench.tui.sheets.opening import Sheets
from workbench.tui.verbs import Act, redo, undo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from textual import events
    from textual.app import ComposeResult
    from textual.timer import Timer

    from workbench.display.card import Card
    from workbench.engine.errors import WorkbenchError
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.capability import Capability
    from workbench.tui.frame.remembered import Remembered
    from workbench.tui.keys.dispatch import Keymap
    from workbench.tui.look import Look

# Seconds after which the sheet of a prefix appears.
_SHEET_AFTER = 0.4
# The card is read once the cursor has stood still for so long, in seconds.
_REST = 0.05
# Changes that follow one another within so many seconds count as one.
_CALM = 0.08
# Seconds after which counts that take their time follow what changed.
_COUNT_EVERY = 1.5
_MOST_TOLD = 100
_FIRST = "today"
# A shorter visit is no visit: looking in twice must not empty the account of what happened.
_VISIT = timedelta(minutes=1)
_LINES = ("rail", "line-of-places", "crumbs", "status", "keys", "sheet")
_VERBS: Mapping[str, verbs.Verb] = {**verbs.VERBS, **verbs_graph.VERBS}
# What changes most acts on the row that was painted under the cursor when it was typed.
_ON_WHAT_IS_SEEN = frozenset({"forget", "bring-back", "write", "decline"})
_NEVER_WAITING = frozenset({"escape", "ctrl+q", "ctrl+t", "f1", "slash", "question_mark"})
_MOVES = frozenset(command.id for command in MOVING)
_EVERYWHERE = ("open", "ask", "help")
# What keys that are no text do while a line is being written.
_WHILE_WRITING = frozenset({"quit", "help", "next-theme"})


class Frame(Screen[None], inherit_bindings=False):
    """Places within lines that stay.

    Args:
        workspace: Whose memory is shown.
        remembered: Where one was; kept up to date.
        look: Which key does what, and whether signs are words.
        clock: Seconds, on the clock that keys are stamped with.
        first_shown: Called once the first place is on the screen.
    """

    DEFAULT_CSS = """
    Frame { background: $background; color: $foreground; layers: base sheet; }
    Frame #whole { height: 1fr; }
    Frame #rail { width: 16; height: 1fr; }
    Frame #line-of-places { display: none; height: 1; }
    Frame #main { width: 1fr; height: 1fr; }
    Frame #top { height: 1; background: $surface; }
    Frame #ask { width: 46%; height: 1; border: none; padding: 0 1; background: $surface; }
    Frame #ask:focus { background-tint: transparent; background: $panel; }
    Frame #ask > .input--placeholder { color: $faint; }
    Frame #crumbs { width: 1fr; height: 1; }
    Frame #places { height: 1fr; }
    Frame #status, Frame #keys { height: 1; }
    Frame #sheet { layer: sheet; dock: bottom; margin: 0 0 2 0; height: auto; display: none; }
    Place { height: 1fr; width: 1fr; layout: horizontal; display: none; }
    Place.-here { display: block; }
    .place-left { width: 46%; height: 1fr; padding: 0 1 0 0; }
    .place-head { height: 1; }
    .place-list { height: 1fr; }
    .place-card { width: 1fr; height: 1fr; border-left: solid $rule; }
    .place-card:focus { border-left: solid $accent; }
    .place-evidence { display: none; width: 1fr; height: 1fr; border-left: solid $rule; }
    .place-evidence:focus { border-left: solid $accent; }
    Frame.-wide .place-evidence, Frame.-evidence .place-evidence { display: block; }
    Frame.-wide.-no-evidence .place-evidence { display: none; }
    Frame.-wide .place-left { width: 36%; }
    Frame.-evidence .place-left { display: none; }
    Frame.-wide.-evidence .place-left { display: block; }
    Frame.-below.-evidence .place-card { display: none; }
    Frame.-below #rail { display: none; }
    Frame.-below #line-of-places { display: block; }
    Frame.-below Place { layout: vertical; }
    Frame.-below .place-left { width: 1fr; height: 45%; padding: 0; }
    Frame.-below .place-card { border-left: none; border-top: solid $rule; }
    Frame.-below .place-card:focus { border-top: solid $accent; }
    Frame.-below .place-evidence { border-left: none; }
    Frame.-single .place-card { display: none; }
    Frame.-single .place-left { width: 1fr; height: 1fr; }
    Frame.-single.-reading .place-left, Frame.-zoom.-reading .place-left { display: none; }
    Frame.-single.-reading .place-card { display: block; border: none; }
    Frame.-zoom .place-card { display: none; }
    Frame.-zoom .place-left { width: 1fr; height: 1fr; }
    Frame.-zoom.-reading .place-card { display: block; }
    Frame.-zoom .place-evidence { display: none; }
    Frame.-zoom.-zoom-evidence .place-card, Frame.-zoom.-zoom-evidence .place-left { display: none; }
    Frame.-zoom.-zoom-evidence .place-evidence { display: block; }
    Frame.-no-rail #rail { display: none; }
    Frame.-wide #rail { width: 18; }
    Frame.-plain .place-card, Frame.-plain .place-evidence { border: none; }
    Frame.-low #keys { display: none; }
    """
    BINDINGS: ClassVar = []

    def __init__(
        self,
        workspace: Workspace,
        remembered: Remembered,
        look: Look,
        clock: Callable[[], float],
        first_shown: Callable[[], object],
    ) -> None:
        super().__init__()
        self._workspace = workspace
        self._look = look
        self._first_shown, self._has_begun = first_shown, False
        self.follows = False
        """Whether memory is followed from the beginning, or will be in a moment."""
        self._remembered = remembered
        self._lines = {name: DrawnLines(id=name) for name in _LINES}
        self._places: dict[str, Place] = {}
        self._current = ""
        self._trail = Trail()
        self._said, self._is_problem = "", False
        self.told: deque[tuple[int, datetime, str, bool]] = deque(maxlen=_MOST_TOLD)
        """The last sentences of the status line: number, when, what, and whether it was a problem."""
        self._numbers = count()
        self._question: Act | None = None
        self._seen = Seen(clock)
        self._typed_at = 0.0
        self._hints: tuple[tuple[str, str], ...] = ()
        self._prefix: Prefix | None = None
        self._sheet_timer: Timer | None = None
        self._rest: Timer | None = None
        self._calming: Timer | None = None
        self._follower: Follower | None = None

    def compose(self) -> ComposeResult:
        with Horizontal(id="whole"):
            yield self._lines["rail"]
            with Vertical(id="main"):
                yield self._lines["line-of-places"]
                with Horizontal(id="top"):
                    yield Input(placeholder="/ ask anything", id="ask", compact=True)
                    yield self._lines["crumbs"]
                yield Container(id="places")
        yield self._lines["status"]
        yield self._lines["keys"]
        yield PromptLine(id="prompt")
        yield ChooserPart(id="chooser")
        yield self._lines["sheet"]

    def on_mount(self) -> None:
        self.reading = Reading(self.app, self._workspace, self._failed)
        self._acting = Acting(self.app, self._workspace, self._done)
        self.counts = Counts(self.reading, self._draw)
        self.looking = Looking(self)
        self.stepping = Stepping(self)
        self.asking = Asking(self, self.query_one("#ask", Input), self._remembered)
        self.editing = Editing(self, self.query_one("#prompt", PromptLine), Drafts(self._workspace.state))
        self.filtering = Filtering(self)
        self.writing = WritingTicks(self)
        self.choosing = Choosing(self, self.query_one("#chooser", ChooserPart))
        self.finding = Finding(self)
        self.copying = Copying(self)
        self.jumping = Jumping(self)
        self.splits = Splits(self, self._remembered.kept.setdefault("frame", {}))
        self.working = Working(self, self._workspace)
        self.began = self._workspace.now()
        self.last_here = time_or_none(self._remembered.last_here)
        self._capabilities: tuple[Capability, ...] = (
            self.working,
            Sheets(self),
            self.choosing,
            self.asking,
            self.looking,
            self.editing,
            self.filtering,
            self.copying,
            self.splits,
            self.jumping,
            self.stepping,
            self.writing,
        )
        self.splits.begin()
        self.take_look(self._look)
        self.go(self._remembered.place if self._remembered.place in BY_NAME else _FIRST)

    def _begin(self) -> None:
        """Go on with what can wait until the first place is on the screen, or could not be read."""
        if not self._has_begun:
            self._has_begun = True
            self.counts.read()
            self.set_interval(_COUNT_EVERY, self.counts.catch_up)
            self.call_after_refresh(self._first_shown)

    def close(self) -> None:
        """Finish what was begun; an unsaved text is kept as a draft."""
        self.editing.keep_open()
        if self._current:
            self._leave_place()
        if (now := self._workspace.now()) - self.began > _VISIT:
            self._remembered.last_here = now.isoformat()
        self.working.close()
        if self._follower is not None:
            self._follower.stop()
        self.reading.close()
        self._acting.close()

    @property
    def keymap(self) -> Keymap:
        """Which key does what."""
        return self._look.keymap

    def take_look(self, look: Look) -> None:
        """Take other keys, and words for signs or signs for words; they hold from now on."""
        self._look = look
        self.set_class(look.plain, "-plain")
        blinks = look.motion == "full"
        for line in self.query(Input):
            line.cursor_blink = blinks
        for text in self.query(TextArea):
            text.cursor_blink = blinks
        self._lay_out(self.size.width, self.size.height)

    @property
    def is_open(self) -> bool:
        """Return whether a place is shown yet."""
        return bool(self._current)

    @property
    def place(self) -> Place:
        """Return the place that is shown."""
        return self._places[self._current]

    def place_named(self, name: str) -> Place | None:
        """Return a place, made when it is first asked for; None where there is none of that name yet."""
        place = self._places.get(name)
        if place is None and (place := BY_NAME[name].make()) is not None:
            self._places[name] = place
            place.kept = self._remembered.kept.setdefault(name, {})
            self.query_one("#places").mount(place)
            self.filtering.enter(place)
            if spot := self._remembered.spots.get(name):
                place.go_to_spot(spot)
        return place

    def go(
        self, name: str, *, row: str = "", spot: str | None = None, visit: bool = True, focus: bool = True
    ) -> None:
        """Show a place.

        Args:
            name: Its id.
            row: Id of the row to put the cursor on; empty for the one it was on.
            spot: Where in the place to go, see `Place.spot`; None for where one was.
            visit: Remember it as a step that `[` goes back from.
            focus: Give it the keys; else they stay where they are.
        """
        self.stepping.leave()
        place = self.place_named(name)
        if place is None:
            self.say(f"{BY_NAME[name].title} cannot be shown yet.")
            return
        if self._current:
            self._leave_place(visit=visit)
            self.place.remove_class("-here")
        place.add_class("-here")
        self.remove_class("-reading", "-evidence")
        self._current = self._remembered.place = name
        place.visited.clear()
        if spot is not None:
            place.go_to_spot(spot)
        if visit:
            self._trail.visit(Step(name, place.spot), anew=bool(row))
        if focus:
            self.focus_place()
        self._read_place(place, row)
        self._draw()

    def _leave_place(self, *, visit: bool = True) -> None:
        place, name = self.place, self._current
        self._remembered.rows[name] = place.cursor_key
        if visit:
            self._trail.leave(place.cursor_key, self._name_of(place))
        place.left()
        self._remembered.spots[name] = place.spot

    def _name_of(self, place: Place) -> str:
        """Return what the place is called, or in a spot of it what is shown there."""
        subject = place.current if place.spot else None
        return BY_NAME[self._current].title if subject is None else subject.title

    @property
    def part(self) -> Part | None:
        """Return what has the keys, where it is a part of a place."""
        focused: object = self.focused
        return focused if isinstance(focused, Part) else None

    def focus_place(self) -> None:
        """Give the keys to the main part of the place."""
        self.set_focus(self.place.main)

    def begin(self, answer: Act | str) -> None:
        """Do something, ask first where undo cannot help, or say why it cannot be done.

        Args:
            answer: What a verb returned.
        """
        if isinstance(answer, str):
            self.say(answer)
        elif answer.question:
            self._question = answer
            self._seen.ask()
            self._draw()
        else:
            self._acting.act(answer.call)

    def _read_place(self, place: Place, row: str = "") -> None:
        wanted = row or ("" if place.results is not None else self._remembered.rows.get(self._current, ""))

        def show(results: object) -> None:
            place.show(results)
            if wanted and not place.reveal(wanted) and row:
                self.say(f"{BY_NAME[self._current].title} does not show it.")
            self.read_card()
            self._begin()

        self.reading.read("place", place.read, show)

    @on(ListPart.Moved)
    @on(CanvasPart.Moved)
    def _moved(self) -> None:
        self.place.visited.clear()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST, self.read_card)
        self._draw()

    @on(PagePart.Walked)
    def _walked(self) -> None:
        if self.place.card.card is not None and self.place.card.card.walked:
            self.read_card()

    def read_card(self) -> None:
        """Read the card of what is under the cursor again, and its evidence where that stands beside it."""
        place = self.place
        subject = place.current
        place.rest_on(subject)
        if subject is None:
            self.reading.forget("card")
            place.card.show(None)
            place.evidence.show(None)
            return

        def show(card: Card) -> None:
            place.card.show(card)
            self._draw()

        self.reading.read(
            "card", lambda workspace: place.read_card(workspace, subject), show, self._card_failed
        )
        if self.has_class("-wide") and not self.has_class("-no-evidence"):
            self.reading.read(
                "evidence", lambda workspace: place.read_evidence(workspace, subject), place.evidence.show
            )

    def _card_failed(self, error: WorkbenchError) -> None:
        """Tell why there is no card; what is not found while memory is still being taken in is read again."""
        follower = self._follower
        catching_up = self.follows and (follower is None or follower.progress is not None)
        if not (catching_up and isinstance(error, NotFound)):
            self._failed(error)

    def show_card(self, card: Card) -> None:
        """Show a preview in the card, until the cursor moves or memory changes."""
        if self._rest is not None:
            self._rest.stop()
        self.reading.forget("card")
        self.place.card.show(card)

    def say(self, said: str, *, is_problem: bool = False) -> None:
        """Say a sentence on the status line; it stays until the next."""
        if said and said != self._said:
            self.told.append((next(self._numbers), self.now(), said, is_problem))
        self._said, self._is_problem = said, is_problem
        self._draw()

    def _failed(self, error: WorkbenchError) -> None:
        self.say(told_in_bench(error), is_problem=True)
        self._begin()

    def _done(self, said: str, is_problem: bool) -> None:
        self.say(said, is_problem=is_problem)
        self.read_again()

    def hint(self, keys: Sequence[tuple[str, str]]) -> None:
        """Show the keys of what is being written, each with what it does, in place of the key line; or no longer."""
        self._hints = tuple(keys)
        self._draw()

    def now(self) -> datetime:
        """Return the present, in the zone of the workspace."""
        return self._workspace.now()

    def follow(self) -> None:
        """Take in what others change from now on; what is shown is read again whenever memory changed."""
        self._follower = Follower(self._workspace, lambda: self.app.call_later(self._memory_changed))

    def _memory_changed(self) -> None:
        if self._calming is None and self.is_attached:
            self._calming = self.set_timer(_CALM, self._read_what_changed)

    def _read_what_changed(self) -> None:
        self._calming = None
        self.read_again()

    def _background(self) -> str:
        """Return what the background is at, in a word or two."""
        if self.working.words:
            return self.working.words
        follower = self._follower
        if follower is None:
            return ""
        if follower.progress is not None and follower.progress[1]:
            return f"reading {follower.progress[0]:,} of {follower.progress[1]:,} files"
        return follower.trouble or follower.index

    def read_again(self) -> None:
        """Read everything that is shown again: memory has changed."""
        self._read_place(self.place)
        self.counts.read()

    # What stands around the place.

    def redraw(self) -> None:
        """Draw what stands around the place again."""
        self._draw()

    def run_named(self, command_id: str) -> None:
        """Carry out a command of the table."""
        self.run(COMMAND[command_id])

    def _draw(self) -> None:
        if not self.is_mounted or not self.is_open:
            return
        counts, current = dict(self.counts.by_place), self._current
        before, after = self._trail.beside(-1), self._trail.beside(1)
        back, ahead = before.title if before else "", after.title if after else ""
        name = self._workspace.root.name
        self._line("rail").show(
            partial(drawing.rail, name, counts, current, (back, ahead), self.counts.carries)
        )
        self._line("line-of-places").show(lambda width: (drawing.line_of_places(counts, current, width),))
        subject = self.place.current
        trail = [BY_NAME[current].title, *([subject.title] if subject is not None else [])]
        when = f"You · {self.place.when}"
        self._line("crumbs").show(lambda width: (drawing.crumbs(trail, when, width),))
        said, is_problem = self._said or self._next_undo(), self._is_problem
        running = self._background()
        if self._look.plain:
            said = f"{spoken.where(self)} {said}"
            spoken.put_cursor(self)
        notices = self.counts.by_place.get("health", "")
        self._line("status").show(lambda width: (drawing.status(said, is_problem, running, width, notices),))
        question, hints, keys = self._question, self._hints, self._keys()
        self._line("keys").show(
            lambda width: (
                drawing.question_line(question.question, question.answer, width)
                if question is not None
                else drawing.hint_line(hints, width)
                if hints
                else drawing.key_line(keys, width),
            )
        )
        self.splits.look()
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        """Note what can be read on the screen from now on."""
        self._seen.paint_row(self._current, self.place.cursor_key)
        if self._question is not None:
            self._seen.paint_question()

    def _line(self, name: str) -> DrawnLines:
        return self._lines[name]

    def _next_undo(self) -> str:
        step = self.counts.steps.undo
        if step is None:
            return "Nothing to undo."
        return f"u would take back: {verbs.deed(step)}{'' if step.own else f' ({by_whom(step.by)})'}."

    def _keys(self) -> list[Command]:
        labels = self.place.labels
        wanted = {*self.place.keys, *_EVERYWHERE, *labels}
        return [
            replace(command, label=labels.get(command.id, command.label))
            for command in self.keymap.commands
            if command.id in wanted
        ]

    # Keys.

    def take_key(self, key: str, typed_at: float) -> bool:
        """Act on a key.

        Args:
            key: In Textual's names.
            typed_at: When it was typed, on the clock of the frame.

        Returns:
            False where it is text of the line that is being written.
        """
        key = canonical(key)
        self._typed_at = typed_at
        if self._question is not None:
            self._answer(key)
            return True
        if any(capability.take(key) for capability in self._capabilities):
            return True
        if isinstance(self.focused, Input | TextArea):
            return self._take_while_writing(key)
        if self._prefix is not None:
            self._take_second(self._prefix, key)
            return True
        bound = self.keymap.bound(key)
        if bound is None:
            self.say(f"{written(key)} is no key here; {self.keymap.key('help')} lists those there are.")
        elif isinstance(bound, Command):
            self.run(bound)
        elif isinstance(bound, Prefix):
            self._begin_prefix(bound)
        else:
            self.go(bound.name)
        return True

    def _take_while_writing(self, key: str) -> bool:
        bound = self.keymap.bound(key)
        if len(key) > 1 and isinstance(bound, Command) and bound.id in _WHILE_WRITING:
            self.run(bound)
            return True
        if key == "ctrl+a" and isinstance(self.focused, Input | TextArea):
            self.focused.action_select_all()
            return True
        return False

    def on_descendant_focus(self) -> None:
        """Put an open line away once something else was clicked."""
        self.editing.look()
        self.filtering.look()
        self.finding.look()
        self.jumping.look()
        self._draw()

    def _answer(self, key: str) -> None:
        act, self._question = self._question, None
        if key == "enter" and not self._seen.may_answer(self._typed_at):
            self._question = act
            self.say("Read the question first; enter answers it now.")
        elif key == "enter" and act is not None:
            self._acting.act(act.call)
            self._draw()
        elif key == "escape":
            self.say("Left as it was.")
            if act is not None:
                act.leave()
            self.read_card()
        else:
            self._question = act
            bound = self.keymap.bound(key)
            # What a question is about may be longer than the screen.
            moves = isinstance(bound, Command) and bound.id in _MOVES and self.focused is self.place.card
            if not (moves and isinstance(bound, Command) and self.place.card.do(bound.id)):
                self.say("Answer with enter or esc.")

    def _begin_prefix(self, prefix: Prefix) -> None:
        self._prefix = prefix
        self._sheet_timer = self.set_timer(_SHEET_AFTER, self._show_sheet)

    def _show_sheet(self) -> None:
        prefix = self._prefix
        if prefix is not None:
            sheet = self._line("sheet")
            sheet.show(lambda width: drawing.sheet(prefix, width))
            sheet.display = True

    def _take_second(self, prefix: Prefix, key: str) -> None:
        self._prefix = None
        if self._sheet_timer is not None:
            self._sheet_timer.stop()
        self._line("sheet").display = False
        command = next((each for each in prefix.commands if key in each.keys), None)
        if command is not None:
            self.run(command)
        elif key != "escape":
            self.say(f"{written(prefix.key)} {written(key)} is not a command.")

    def must_wait(self, key: str) -> bool:
        """Return whether a key is about rows that are still being read, or a text that is still being saved."""
        if self.editing.is_busy or self.writing.is_busy:
            return True
        bound = self.keymap.bound(canonical(key))
        if key in _NEVER_WAITING or isinstance(bound, Listed) or isinstance(self.focused, Input | TextArea):
            return False
        reading = self.reading
        first = reading.is_reading("place") and self.place.results is None
        return first or reading.is_reading("go") or reading.is_reading("visit")

    def give_up(self, key: str) -> None:
        """Say that a key was not done: what it is about could not be read in time."""
        self.say(f"Still reading; {written(canonical(key))} was not done.", is_problem=True)

    def _go_to_seen(self) -> None:
        """Put the cursor back on the row that was painted under it when the key was typed."""
        place = self.place
        row = self._seen.row_at(self._current, self._typed_at)
        if row and place.main is place.list and row != place.cursor_key and not place.visited:
            place.list.go_to(row)

    def run(self, command: Command) -> None:
        """Carry out a command, or say why it cannot act here."""
        if command.id in _ON_WHAT_IS_SEEN:
            self._go_to_seen()
        done = getattr(self, f"do_{command.id.replace('-', '_')}", None)
        part = self.part
        if self.finding.do(command.id):
            return
        if (done is None and self.place.do(command.id)) or any(
            capability.do(command.id) for capability in self._capabilities
        ):
            self._draw()
        elif done is not None:
            done()
        elif self._act(command):
            pass
        elif part is None or not part.do(command.id):
            self.say(command.elsewhere or f"{command.help} That is not possible here yet.")

    def _act(self, command: Command) -> bool:
        """Do what a verb does to what is under the cursor, or marked; returns whether it is a verb of such things."""
        subjects = self.place.subjects
        is_memory = not subjects or isinstance(subjects[0], verbs.Memory)
        own = verbs.OTHER_VERBS.get(type(subjects[0]), {}) if subjects else {}
        verb = own.get(command.id) or (_VERBS.get(command.id) if is_memory else None)
        if verb is not None:
            self.begin(verb(subjects) if subjects else command.elsewhere)
        elif command.id in _VERBS:
            self.say(command.elsewhere)
        return verb is not None or command.id in _VERBS

    def do_undo(self) -> None:
        """Take back what the status line named."""
        self.begin(undo(self.counts.steps.undo, self.writing.commits))

    def do_redo(self) -> None:
        """Do again what was taken back."""
        self.begin(redo(self.counts.steps.redo))

    def do_back(self) -> None:
        """Go back a step."""
        self._walk(-1, self.keymap.command("back"))

    def do_forward(self) -> None:
        """Go forward a step."""
        self._walk(1, self.keymap.command("forward"))

    def _walk(self, by: int, command: Command) -> None:
        self._trail.leave(self.place.cursor_key, self._name_of(self.place))
        if by < 0:
            self.filtering.go_back(self.place)
        step = self._trail.walk(by)
        if step is None:
            self.say(command.elsewhere)
        else:
            self.go(step.place, row=step.row, spot=step.spot, visit=False)

    def do_open(self) -> None:
        """Go into the card."""
        place = self.place
        if self.focused is place.main and place.do("open"):
            return
        if self.focused is place.main and place.cursor_key:
            self.read()
        elif self.part is None or not self.part.do("open"):
            self.say(self.keymap.command("open").elsewhere)

    def read(self) -> None:
        """Give the keys to the card."""
        self.add_class("-reading")
        self.set_focus(self.place.card)

    def do_out(self) -> None:
        """Go one step out: from evidence to card, from what a link opened, from card to list, from a zoomed part."""
        place = self.place
        if self.focused is place.evidence:
            self.remove_class("-evidence")
            self.set_focus(place.card)
        elif place.visited:
            place.visited.pop()
            self.read_card()
        elif self.focused is place.card:
            self.remove_class("-reading")
            self.focus_place()
        elif self.has_class("-zoom"):
            self.remove_class("-zoom")
            self._draw()
        elif place.list.clear_marks():
            self.say("Nothing is marked any more.")
        elif place.do("out"):
            self._draw()
        elif not BY_NAME[self._current].key and self._trail.beside(-1) is not None:
            self.do_back()
        elif self._current != PLACES[0].name and self.place_named(PLACES[0].name) is not None:
            self.go(PLACES[0].name)
        elif not self.working.stop():
            self.say(self.keymap.command("out").elsewhere)

    def do_next_part(self) -> None:
        """Go to the next part that can be seen, and round."""
        self._step_part(1)

    def do_previous_part(self) -> None:
        """Go to the part before."""
        self._step_part(-1)

    def _step_part(self, by: int) -> None:
        place = self.place
        parts = [part for part in place.parts if part in self.focus_chain]
        if len(parts) > 1 and self.focused in parts:
            self.set_focus(parts[(parts.index(self.focused) + by) % len(parts)])
        elif self.focused is place.main:
            self.do_open()
        else:
            self.do_out()

    def do_details(self) -> None:
        """Show formula, id and lines of the card, or hide them."""
        self.place.card.do("details")

    def do_first(self) -> None:
        """Go to the first row of what has the keys."""
        if self.part is not None:
            self.part.do("first")

    def do_next_theme(self) -> None:
        """Take the next theme."""
        from workbench.tui.frame.app import FrameApp

        if isinstance(self.app, FrameApp):
            self.say(f"Theme: {self.app.next_theme()}.")

    def do_quit(self) -> None:
        """Leave the bench."""
        from workbench.tui.frame.app import FrameApp

        if isinstance(self.app, FrameApp):
            self.app.leave()

    @on(Input.Changed, "#chooser WrittenLine")
    def _narrowed(self) -> None:
        self.choosing.typed()

    @on(Input.Changed, "#ask")
    def _asked(self) -> None:
        self.asking.typed()

    @on(PagePart.Followed)
    def _followed(self, event: PagePart.Followed) -> None:
        self.looking.follow(event.link)

    @on(DrawnLines.Pressed)
    def _pressed(self, event: DrawnLines.Pressed) -> None:
        if event.link.startswith(drawing.PLACE_LINK):
            self.go(event.link.removeprefix(drawing.PLACE_LINK))

    # Widths.

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size.width, event.size.height)

    def _lay_out(self, width: int, height: int) -> None:
        # One part after the other is how a screen reader reads.
        plain = self._look.plain
        below = plain or width < drawing.BESIDE
        self.set_class(below, "-below")
        self.set_class(plain or width < drawing.ONE_LINE or (below and height < 20), "-single")
        self.set_class(width >= drawing.EVIDENCE and not plain, "-wide")
        self.set_class(height < 12, "-low")
        names = ("single", "below", "wide")
        self.splits.layout = next((name for name in names if self.has_class(f"-{name}")), "beside")
        self._draw()
