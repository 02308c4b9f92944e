"""The one screen: places, lines at the edges, and what each key does here."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

from textual import on
from textual.containers import Container, Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Input, TextArea

from workbench.display.card import told_card, unread_card
from workbench.display.ink import PRESS_LINK
from workbench.display.words import told_in_bench
from workbench.engine.clock import time_or_none
from workbench.engine.errors import NotFound
from workbench.tui.frame.choosing import Choosing, Stepping
from workbench.tui.frame.copying import Copying
from workbench.tui.frame.edges import CSS, PLACE_LINK, Counts, Edges, lay_out
from workbench.tui.frame.editing import Editing
from workbench.tui.frame.filtering import Asking, Filtering, Finding
from workbench.tui.frame.follower import Follower
from workbench.tui.frame.looking import Looking
from workbench.tui.frame.pressing import Pressing
from workbench.tui.frame.remembered import Drafts
from workbench.tui.frame.splits import Splits
from workbench.tui.frame.walking import Jumping, Walking
from workbench.tui.frame.working import Acting, Courtesy, Reading, Working, raise_on_screen
from workbench.tui.keys.table import BY_NAME, CHANGING, COMMAND, Command, pressed
from workbench.tui.parts.canvas import CanvasPart
from workbench.tui.parts.chooser import ChooserPart
from workbench.tui.parts.line import DrawnLines, PromptLine
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.page import PagePart
from workbench.tui.places.memory_reading import no_evidence
from workbench.tui.places.place import Part, Place
from workbench.tui.places.writing import WritingTicks
from workbench.tui.sheets.opening import Sheets
from workbench.tui.verbs import graph, memories
from workbench.tui.verbs.act import OTHER_VERBS, Act, Verb, redo, undo
from workbench.tui.verbs.memories import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from textual import events
    from textual.app import ComposeResult
    from textual.timer import Timer

    from workbench.display.card import Card
    from workbench.engine.errors import WorkbenchError
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.app import FrameApp
    from workbench.tui.frame.remembered import Remembered
    from workbench.tui.keys.dispatch import Keymap
    from workbench.tui.look import Look
    from workbench.tui.verbs.act import Subject


class Capability(Protocol):
    """Something that the frame can do in every place; `frame.screen` lists them."""

    def do(self, command: str) -> bool:
        """Carry out a command of `keys.table`.

        Args:
            command: Its id.

        Returns:
            Whether it is one of this capability's, and was carried out or answered.
        """
        ...


class TakesKeys(Protocol):
    """Something that keys go to while it is open: a line is being written, or a key is waited for."""

    def take(self, key: str) -> bool:
        """Act on a key before anything else does.

        Args:
            key: As `keys.table.canonical` has it.

        Returns:
            Whether the key was acted on; False where the line is not this capability's, or the key is text.
        """
        ...


# The card is read once the cursor has stood still for so long, in seconds.
_REST = 0.05
# Changes that follow one another within so many seconds count as one.
_CALM = 0.08
# Seconds after which counts that take their time follow what changed.
_COUNT_EVERY = 1.5
_FIRST = "today"
# A shorter visit is no visit: looking in twice must not empty the account of what happened.
_VISIT = timedelta(minutes=1)
_VERBS: Mapping[str, Verb] = {**memories.VERBS, **graph.VERBS}
# What changes most acts on the row that was painted under the cursor when it was typed.
_ON_WHAT_IS_SEEN = frozenset({"forget", "bring-back", "write", "decline"})


class Frame(Screen[None], inherit_bindings=False):
    """Places within lines that stay.

    Args:
        remembered: Where one was; kept up to date.
        look: Which key does what, and whether signs are words.
        clock: Seconds, on the clock that keys are stamped with.
        first_shown: Called once the first place is on the screen.
    """

    DEFAULT_CSS = CSS
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
        self.look = look
        """Which key does what, and whether signs are words."""
        self._first_shown, self._has_begun = first_shown, False
        self.follows = False
        """Whether memory is followed from the beginning, or will be in a moment."""
        self._remembered = remembered
        self._places: dict[str, Place] = {}
        self.place_name = ""
        """Id of the place that is shown; empty before the first."""
        self.edges = Edges(self)
        self.walking = Walking(self)
        self.pressing = Pressing(self, clock)
        self.courtesy = Courtesy()
        self._rest: Timer | None = None
        self._calming: Timer | None = None
        self._follower: Follower | None = None

    def compose(self) -> ComposeResult:
        lines = self.edges.lines
        with Horizontal(id="whole"):
            yield lines["rail"]
            with Vertical(id="main"):
                yield lines["line-of-places"]
                with Horizontal(id="top"):
                    yield Input(placeholder="/ ask anything", id="ask", compact=True)
                    yield lines["crumbs"]
                yield Container(id="places")
        yield lines["status"]
        yield lines["keys"]
        yield PromptLine()
        yield ChooserPart()
        yield lines["sheet"]

    def on_mount(self) -> None:
        self.reading = Reading(self.app, self._workspace, self._failed)
        self.acting = Acting(self.app, self._workspace, self._done)
        self.counts = Counts(self.reading, self.edges.draw)
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
        self._own: Mapping[str, Callable[[], object]] = {
            **self.walking.commands,
            "undo": self._undo,
            "redo": lambda: self.begin(redo(self.counts.steps.redo)),
            "details": self._toggle_details,
            "next-theme": self._next_theme,
            "quit": lambda: self._app.leave(),
        }
        self.capabilities: tuple[Capability, ...] = (
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
            self.writing,
        )
        self.takers: tuple[TakesKeys, ...] = (
            self.choosing,
            self.asking,
            self.editing,
            self.filtering,
            self.copying,
            self.jumping,
            self.stepping,
        )
        self.splits.begin()
        self.take_look(self.look)
        self.go(self._remembered.place if self._remembered.place in BY_NAME else _FIRST)

    def _begin(self) -> None:
        """Go on with what can wait until the first place is on the screen, or could not be read."""
        if not self._has_begun:
            self._has_begun = True
            self.counts.read()
            self.set_interval(_COUNT_EVERY, self.counts.catch_up)
            self.editing.remind()
            self.call_after_refresh(self._first_shown)

    def close(self) -> None:
        """Finish what was begun; an unsaved text is kept as a draft."""
        self.editing.keep_open()
        if self.place_name:
            self._leave_place()
        if (now := self._workspace.now()) - self.began > _VISIT:
            self._remembered.last_here = now.isoformat()
        self.working.close()
        if self._follower is not None:
            self._follower.stop()
        self.reading.close()
        self.acting.close()

    @property
    def _app(self) -> FrameApp:
        return cast("FrameApp", self.app)

    @property
    def workspace_name(self) -> str:
        """What the workspace is called: its folder."""
        return self._workspace.root.name

    @property
    def keymap(self) -> Keymap:
        """Which key does what."""
        return self.look.keymap

    def take_look(self, look: Look) -> None:
        """Take other keys, and words for signs or signs for words; they hold from now on."""
        self.look = look
        self.set_class(look.plain, "-plain")
        blinks = look.motion == "full"
        for line in self.query(Input):
            line.cursor_blink = blinks
        for text in self.query(TextArea):
            text.cursor_blink = blinks
        self._lay_out(self.size.width, self.size.height)
        for place in self._places.values():
            place.show_rows()

    @property
    def is_open(self) -> bool:
        """Return whether a place is shown yet."""
        return bool(self.place_name)

    @property
    def place(self) -> Place:
        """Return the place that is shown."""
        return self._places[self.place_name]

    def place_named(self, name: str) -> Place | None:
        """Return a place, made when it is first asked for; None where there is none of that name yet."""
        place = self._places.get(name)
        if place is None and (place := BY_NAME[name].make()) is not None:
            self._places[name] = place
            place.kept = self._remembered.kept.setdefault(name, {})
            self.query_one("#places").mount(place)
            if spot := self._remembered.spots.get(name):
                place.go_to_spot(spot)
            self.filtering.enter(place)
        return place

    def go(
        self,
        name: str,
        *,
        row: str = "",
        spot: str | None = None,
        visit: bool = True,
        focus: bool = True,
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Show a place.

        Args:
            name: Its id.
            row: Id of the row to put the cursor on; empty for the one it was on.
            spot: Where in the place to go, see `Place.spot`; None for where one was.
            visit: Remember it as a step that `[` goes back from.
            focus: Give it the keys; else they stay where they are.
            then: Called once it shows what was read.
        """
        self.stepping.leave()
        place = self.place_named(name)
        if place is None:
            self.say(f"{BY_NAME[name].title} cannot be shown yet.")
            return
        before, past = self.place_name, self.place.when if self.place_name else ""
        if self.place_name:
            self._leave_place(visit=visit)
            self.place.display = False
        place.display = True
        self.looking.stop_opening()
        self.remove_class("-reading", "-evidence")
        self.place_name = self._remembered.place = name
        place.visited.clear()
        self.edges.move_on()
        self.asking.show_in(place)
        if spot is not None:
            place.go_to_spot(spot)
        if visit:
            self.walking.visit(even_here=bool(row))
        if focus:
            self.focus_place()
        self._read_place(place, row, then)
        if before not in ("", name) and past != Place.when:
            self.say(
                f"Back to now: the past is shown in {BY_NAME[before].title} alone. ⸨back⸩ goes back to {past}."
            )
        self.edges.draw()

    def _leave_place(self, *, visit: bool = True) -> None:
        place, name = self.place, self.place_name
        self._remembered.rows[name] = place.cursor_key
        place.filter.forget()
        if visit:
            self.walking.leave()
        place.left()
        self._remembered.spots[name] = place.spot

    @property
    def part(self) -> Part | None:
        """Return what has the keys, where it is a part of a place."""
        focused: object = self.focused
        return focused if isinstance(focused, Part) else None

    def focus_place(self) -> None:
        """Give the keys to the main part of the place."""
        self.set_focus(self.place.main)

    def begin(self, answer: Act | str) -> None:
        """Do something, ask first where undo cannot help, or say why it cannot be done."""
        if isinstance(answer, str):
            self.say(answer)
        elif answer.question:
            self.pressing.ask(answer)
        else:
            self.acting.act(answer)

    def _read_place(self, place: Place, row: str = "", then: Callable[[], object] = lambda: None) -> None:
        wanted = row or ("" if place.results is not None else self._remembered.rows.get(self.place_name, ""))

        def show(results: object) -> None:
            if not place.is_attached:
                return  # the bench ends
            place.show(results)
            if wanted and not place.reveal(wanted) and row:
                self.say(f"{BY_NAME[self.place_name].title} does not show it.")
            self.read_card()
            self._begin()
            then()

        self.reading.read("place", place.begin_reading(), show)

    def read_place(self) -> None:
        """Read what the place shows again: there is more of it, or it is wanted otherwise."""
        self._read_place(self.place)

    @on(ListPart.Moved)
    @on(CanvasPart.Moved)
    def _moved(self) -> None:
        self.place.visited.clear()
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST, self._rested)
        # The row is painted at once; what stands around the place follows with the card.
        self.call_after_refresh(self.pressing.painted)

    def _rested(self) -> None:
        self.edges.move_on()
        self.edges.draw()
        self.read_card()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Withdraw a question once something else than its answers is pointed at."""
        if event.widget is not self.edges.lines["keys"]:
            self.pressing.withdraw()

    @on(ListPart.Chosen)
    def _chosen(self, event: ListPart.Chosen) -> None:
        if event.sender is self.place.list:
            self.run_named("open")

    @on(PagePart.Walked)
    def _walked(self) -> None:
        if self.place.card.card is not None and self.place.card.card.walked:
            self.read_card()

    def read_card(self) -> None:
        """Read the card of what is under the cursor again, and its evidence where that stands beside it."""
        place = self.place
        subject = place.current
        place.rest_on(subject)
        # With nothing to list there is nothing to show beside it either.
        place.set_class(subject is None and place.results is not None and not len(place.all_rows), "-bare")
        if subject is None:
            self.reading.forget("card")
            place.card.show(None)
            place.evidence.show(None)
            return

        def show(card: Card) -> None:
            place.card.show(told_card(card, self.keymap.key))
            self.edges.draw()

        self.reading.read(
            "card",
            lambda workspace: place.read_card(workspace, subject),
            show,
            lambda error: self._card_failed(place, subject, error),
        )
        if self.has_class("-wide") and not self.has_class("-no-evidence"):
            self.reading.read(
                "evidence",
                lambda workspace: place.read_evidence(workspace, subject),
                lambda evidence: place.evidence.show(evidence, no_evidence(subject), subject),
            )

    def _toggle_details(self) -> None:
        """Show or hide details, also of a card that is still on its way."""
        self.place.card.awaited = self.reading.is_reading("place") or self.reading.is_reading("card")
        self.place.card.do("details")

    def _card_failed(self, place: Place, subject: Subject, error: WorkbenchError) -> None:
        """Tell why there is no card; what is not found while memory is still being taken in is read again."""
        if not (self.is_catching_up and isinstance(error, NotFound)):
            place.card.show(unread_card(subject.title, told_in_bench(error)))
            self._failed(error)

    @property
    def is_catching_up(self) -> bool:
        """Return whether files of the workspace are still to be looked at, so that more may be known soon."""
        follower = self._follower
        return self.follows and (follower is None or follower.progress is not None)

    def show_card(self, card: Card) -> None:
        """Show a preview in the card, until the cursor moves or memory changes."""
        if self._rest is not None:
            self._rest.stop()
        self.reading.forget("card")
        self.place.remove_class("-bare")
        self.place.card.show(told_card(card, self.keymap.key))

    def say(self, said: str, *, is_problem: bool = False, stays: bool = False) -> None:
        """Say a sentence on the status line; one that tells what was done stays there until the next."""
        self.edges.say(said, is_problem=is_problem, stays=stays)

    def hint(self, keys: Sequence[tuple[str, str]]) -> None:
        """Show the keys of what is being written, each with what it does, in place of the key line; or no longer."""
        self.edges.hint(keys)

    def _failed(self, error: WorkbenchError) -> None:
        self.say(told_in_bench(error), is_problem=True)
        self._begin()

    def _undo(self) -> None:
        steps = self.counts.steps
        is_another = steps.last is not None and steps.last.commit == self.acting.undo_before
        self.begin(undo(steps, self.writing.commits, self.began, is_another=is_another))

    def _next_theme(self) -> None:
        self.say(f"Theme: {self._app.next_theme()}.")
        self.did_without_undo()

    def did_without_undo(self) -> None:
        """Note that what was done last is nothing that undo takes back, so that it asks before it takes back more."""
        if (last := self.counts.steps.last) is not None:
            self.acting.undo_before = last.commit

    def _done(self, said: str, *, is_problem: bool, stays: bool) -> None:
        self.say(said, is_problem=is_problem, stays=stays)
        self.read_again()

    def now(self) -> datetime:
        """Return the present, in the zone of the workspace."""
        return self._workspace.now()

    def follow(self) -> None:
        """Take in what others change from now on; what is shown is read again whenever memory changed."""
        call_later = self.app.call_later
        self._follower = Follower(
            self._workspace,
            lambda: call_later(self._memory_changed),
            lambda error: call_later(raise_on_screen, error),
            self.courtesy.unless,
        )

    def _memory_changed(self) -> None:
        if self._calming is None and self.is_attached:
            self._calming = self.set_timer(_CALM, self._read_what_changed)

    def _read_what_changed(self) -> None:
        self._calming = None
        self.read_again()

    @property
    def at_work(self) -> str:
        """Return what the background is at, in a word or two."""
        if words := self.working.words or (self.place.at_work if self.is_open else ""):
            return words
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

    def redraw(self) -> None:
        """Draw what stands around the place again."""
        self.edges.draw()

    def run_named(self, command_id: str) -> None:
        """Carry out a command of the table."""
        self.run(COMMAND[command_id])

    def on_descendant_focus(self) -> None:
        """Put an open line away once something else was clicked."""
        self.editing.look()
        self.filtering.look()
        self.finding.look()
        self.jumping.look()
        self.edges.draw()

    def run(self, command: Command) -> None:
        """Carry out a command, or say why it cannot act here."""
        if command.id in CHANGING and self.focused is self.place.evidence:
            self.say("A source is read here, and stays as it is; ⸨out⸩ goes back to what can be changed.")
            return
        if command.id in _ON_WHAT_IS_SEEN:
            self.pressing.go_to_seen()
        own, part = self._own.get(command.id), self.part
        if self.finding.do(command.id):
            return
        if (own is None and self.place.do(command.id)) or any(
            each.do(command.id) for each in self.capabilities
        ):
            self.edges.draw()
        elif own is not None:
            own()
        elif not self._act(command) and (part is None or not part.do(command.id)):
            self.say(command.elsewhere or f"{command.help} That is not possible here yet.")

    def _act(self, command: Command) -> bool:
        """Do what a verb does to what is under the cursor, or marked; returns whether it is a verb of such things."""
        subjects = self.place.subjects
        is_memory = not subjects or isinstance(subjects[0], Memory)
        own = OTHER_VERBS.get(type(subjects[0]), {}) if subjects else {}
        verb = own.get(command.id) or (_VERBS.get(command.id) if is_memory else None)
        if verb is not None:
            self.begin(verb(subjects) if subjects else command.elsewhere)
        elif command.id in _VERBS:
            self.say(command.elsewhere)
        return verb is not None or command.id in _VERBS

    def read(self) -> None:
        """Give the keys to the card."""
        self.add_class("-reading")
        self.set_focus(self.place.card)

    @on(Input.Changed, "#chooser WrittenLine")
    def _narrowed(self) -> None:
        self.choosing.typed()

    @on(Input.Changed, "#ask")
    def _asked(self) -> None:
        self.asking.typed()

    @on(PagePart.Followed)
    def _followed(self, event: PagePart.Followed) -> None:
        if event.link.startswith(PRESS_LINK):
            self._press(event.link.removeprefix(PRESS_LINK))
        else:
            self.looking.follow(event.link)

    @on(DrawnLines.Pressed)
    def _pressed(self, event: DrawnLines.Pressed) -> None:
        if event.link.startswith(PLACE_LINK):
            self.go(event.link.removeprefix(PLACE_LINK))
        elif event.link.startswith(PRESS_LINK):
            # A click may have moved the cursor, and the key is for the row it is on now.
            self.call_after_refresh(self._press, event.link.removeprefix(PRESS_LINK))

    def _press(self, signs: str) -> None:
        for key in pressed(signs):
            self.app.simulate_key(key)

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out(event.size.width, event.size.height)

    def _lay_out(self, width: int, height: int) -> None:
        self.splits.layout = lay_out(self, width, height, plain=self.look.plain)
        self.edges.draw()
