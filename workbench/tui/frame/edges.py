"""What stands around the place: rail with its counts, crumbs, what was said, and the keys there are."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from textual.geometry import Offset
from textual.widgets import Input, TextArea

from workbench.display.action_words import by_title, by_whom
from workbench.display.keys import told
from workbench.display.words import counted, percent
from workbench.engine.errors import DocumentError, HistoryDamaged, WorkbenchError
from workbench.engine.results.audit import NextSteps
from workbench.tui.frame import drawing
from workbench.tui.keys.table import BY_NAME, COMMAND, PREFIXES
from workbench.tui.parts.canvas import CanvasPart
from workbench.tui.parts.line import DrawnLines
from workbench.tui.places.memory_reading import title_of
from workbench.tui.verbs.act import deed
from workbench.tui.verbs.memories import VERBS, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from workbench.engine.results.audit import NextStep
    from workbench.engine.results.memories import CoreView
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.reading import Reading
    from workbench.tui.frame.screen import Frame
    from workbench.tui.keys.table import Command, Prefix

_LINES = ("rail", "line-of-places", "crumbs", "status", "keys", "sheet")
_EVERYWHERE = ("open", "ask", "help")
# What is about the row under the cursor, and so idle where there is none.
_ON_A_ROW = {*VERBS, "open", "edit", "evidence", "history", "details", "accept", "compare", "write"}
_MOST_TOLD = 100
# What stands behind a prefix, and is offered where a place has words for it.
_BEHIND = {command.id for prefix in PREFIXES for command in prefix.commands}


class Edges:
    """Draws the lines around the place, and keeps what the status line said."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self.lines = {name: DrawnLines(id=name) for name in _LINES}
        self._said, self._is_problem = "", False
        self._said_at, self._stays = 0, False
        self.told: deque[tuple[int, datetime, str, bool]] = deque(maxlen=_MOST_TOLD)
        """The last sentences of the status line: number, when, what, and whether it was a problem."""
        self._numbers = count()
        self._hints: tuple[tuple[str, str], ...] = ()

    def say(self, said: str, *, is_problem: bool, stays: bool = False) -> None:
        """Say a sentence on the status line.

        Args:
            is_problem: Whether something went wrong.
            stays: It tells what was done and stays until the next; else it goes once one goes on to something else.
        """
        said = told(said, self._frame.keymap.key)
        self._said_at, self._stays = self._frame.pressing.count, stays
        if said and said != self._said:
            self.told.append((next(self._numbers), self._frame.now(), said, is_problem))
        self._said, self._is_problem = said, is_problem
        self.draw()

    def move_on(self) -> None:
        """Be told that one has gone on to another row or place: what was only said of the one before holds no more."""
        if self._said and not self._stays and self._said_at < self._frame.pressing.count:
            self._said, self._is_problem = "", False

    def hint(self, keys: Sequence[tuple[str, str]]) -> None:
        """Show the keys of what is being written in place of the key line; or no longer."""
        self._hints = tuple(keys)
        self.draw()

    def show_sheet(self, prefix: Prefix | None) -> None:
        """Show which keys may follow a prefix; or no longer."""
        sheet = self.lines["sheet"]
        if prefix is not None:
            place = self._frame.place_name
            sheet.show(lambda width: drawing.sheet(prefix, place, width))
        sheet.display = prefix is not None

    def draw(self) -> None:
        """Draw all of it again."""
        frame = self._frame
        if not frame.is_mounted or not frame.is_open:
            return
        counts, current, subject = dict(frame.counts.by_place), frame.place_name, frame.place.current
        name, beside, carries = frame.workspace_name, frame.walking.beside, frame.counts.carries
        self.lines["rail"].show(partial(drawing.rail, name, counts, current, beside, carries))
        self.lines["line-of-places"].show(lambda width: (drawing.line_of_places(counts, current, width),))
        trail = [BY_NAME[current].title, *([subject.title] if subject is not None else [])]
        when = f"You · {frame.place.when}"
        self.lines["crumbs"].show(lambda width: (drawing.crumbs(trail, when, width),))
        key_of = frame.keymap.key
        said, is_problem = self._said or told(self._next_undo(), key_of), self._is_problem
        running, notices = frame.at_work, counts.get("health", "")
        if frame.look.plain:
            said = f"{where(frame)} {said}"
            put_cursor(frame)
        self.lines["status"].show(lambda width: drawing.status(said, is_problem, running, width, notices))
        question, hints, keys = frame.pressing.question, self._hints, self._keys()
        self.lines["keys"].set_class(question is not None, "-asks")
        self.lines["keys"].show(
            lambda width: (
                drawing.question_lines(told(question.question, key_of), told(question.answer, key_of), width)
                if question is not None
                else (drawing.hint_line(hints, width) if hints else drawing.key_line(keys, width),)
            )
        )
        frame.splits.look()
        frame.call_after_refresh(frame.pressing.painted)

    def _next_undo(self) -> str:
        counts = self._frame.counts
        step = counts.steps.undo
        if step is None:
            return "Nothing to undo." if counts.was_read else ""
        return f"⸨undo⸩ would take back: {deed(step)}{'' if step.own else f' ({by_whom(step.by)})'}."

    def _keys(self) -> list[Command]:
        place = self._frame.place
        wanted = {*place.keys, *_EVERYWHERE, *place.labels}
        wanted = wanted - (self._idle() - {*place.labels}) if place.subjects else {*wanted, "new"} - _ON_A_ROW
        keymap = self._frame.keymap
        behind = (
            replace(COMMAND[name], keys=(keymap.key(name),)) for name in place.labels if name in _BEHIND
        )
        return [
            replace(command, label=place.labels.get(command.id, command.label))
            for command in (*keymap.commands, *behind)
            if command.id in wanted
        ]

    def _idle(self) -> set[str]:
        """Return the commands that would only say why they cannot act on what is under the cursor."""
        subjects = tuple(each for each in self._frame.place.subjects if isinstance(each, Memory))
        offered = VERBS.keys() & {*self._frame.place.keys} if subjects else set()
        return {name for name in offered if isinstance(VERBS[name](subjects), str)}


# What a screen reader needs of the frame: which part has the keys, and the terminal's cursor where one is.


def where(frame: Frame) -> str:
    """Return which part has the keys, in a word, and the row in a list."""
    focused, place = frame.focused, frame.place
    if isinstance(focused, Input | TextArea):
        return "Question:" if focused.id == "ask" else "Writing:"
    if focused is place.card:
        return "Card:"
    if focused is place.evidence:
        return "Evidence:"
    if isinstance(focused, CanvasPart):
        return "Drawing:"
    if focused is place.list and place.list.cursor >= 0:
        return f"Row {place.list.cursor + 1} of {len(place.list.rows)}:"
    return "List:"


def put_cursor(frame: Frame) -> None:
    """Put the cursor of the terminal on the row that has the keys, or at the beginning of the part."""
    focused, rows = frame.focused, frame.place.list
    if focused is None or isinstance(focused, Input | TextArea):
        return
    across, down = 0, rows.cursor - round(rows.scroll_y) if focused is rows else 0
    if isinstance(focused, CanvasPart):
        across, down = focused.cursor_at
    frame.app.cursor_position = focused.content_region.offset + Offset(across, max(0, down))


_WEEK = 7


class Counts:
    """What is counted.

    Args:
        drawn: Called when there is something new to draw.
    """

    def __init__(self, reading: Reading, drawn: Callable[[], object]) -> None:
        self._reading = reading
        self._drawn = drawn
        self._is_behind = False
        self.was_read = False
        """Whether there is a first count, so that none means nothing."""
        self.by_place: dict[str, str] = {}
        self.steps = NextSteps()
        self.carries = (0, 0)
        """Tokens that the agent always carries, and their cap."""

    def read(self) -> None:
        """Count again what is quick to count; the rest follows with the next `catch_up`."""
        self._is_behind = True
        self._reading.read("counts", _quick, self._show)

    def catch_up(self) -> None:
        """Count the rest, where anything has changed since it was counted."""
        if self._is_behind:
            self._is_behind = False
            self._reading.read("large counts", _large, self._add, lambda _: None)

    def _show(self, found: tuple[Mapping[str, str], NextSteps, CoreView]) -> None:
        counts, self.steps, core = found
        self.carries = (core.tokens, core.cap)
        self._add(counts)
        if not self.was_read:
            self.was_read = True
            self.catch_up()

    def _add(self, counts: Mapping[str, str]) -> None:
        self.by_place |= counts
        self._drawn()


def _quick(workspace: Workspace) -> tuple[Mapping[str, str], NextSteps, CoreView]:
    """Count what takes some milliseconds, however large memory is; called on a thread."""
    core = workspace.core()
    counts = {
        "today": _counted(lambda: f"▲{count}" if (count := len(workspace.alerts_waiting())) else ""),
        "inbox": _counted(lambda: f"{count}" if (count := workspace.inbox_waiting()) else ""),
        "core": f"{percent(core.tokens, core.cap)}%" if core.cap else "",
        "timeline": f"{workspace.timeline(limit=1).total:,}",
        "graph": f"{workspace.graph_count():,}",
    }
    try:
        steps = _by_title(workspace, workspace.next_steps())
    except WorkbenchError:
        steps = NextSteps()
    return counts, steps, core


def _by_title(workspace: Workspace, steps: NextSteps) -> NextSteps:
    """Return what undo and redo would do, memories in it called by their words."""

    def titled(step: NextStep | None) -> NextStep | None:
        return step and replace(step, summary=by_title(step.summary, lambda id_: title_of(workspace, id_)))

    return replace(steps, undo=titled(steps.undo), redo=titled(steps.redo))


def _large(workspace: Workspace) -> Mapping[str, str]:
    """Count what looks at every memory, action or session; called on a thread."""

    def falls() -> str:
        found = workspace.decay_falls(_WEEK).falls
        count = len({fall.id for fall in found if fall.store != "core"})
        return f"{count:,}↓" if count else ""

    def notices() -> str:
        count = len(workspace.broken_parts()) + (workspace.index_status().fallback is not None)
        return counted(count, "notice") if count else ""

    return {
        "decay": _counted(falls),
        "health": _counted(notices),
        "history": _counted(lambda: f"{workspace.action_count():,}"),
        "sessions": _counted(lambda: f"{len(workspace.sessions().sessions):,}"),
    }


def _counted(count: Callable[[], str]) -> str:
    """Return a count; of what is damaged a sign, and the place says what is wrong. It costs no other count."""
    try:
        return count()
    except (HistoryDamaged, DocumentError):
        return "▲"
    except WorkbenchError:
        return ""
