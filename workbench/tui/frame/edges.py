"""What stands around the place: rail with its counts, line of places, crumbs, what was said, and the keys there are."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from textual.geometry import Offset
from textual.widgets import Input, TextArea

from workbench.display.action_words import by_whom, taken_back
from workbench.display.card import told
from workbench.display.cells import cell_width, plain, wrap
from workbench.display.ink import BLANK, PRESS_LINK, Span, cut, gap, ink, line_width, spread
from workbench.display.rows import budget_bar
from workbench.display.words import counted, percent
from workbench.engine.errors import DocumentError, HistoryDamaged, WorkbenchError
from workbench.engine.results.audit import NextSteps
from workbench.tui.keys.table import ACTS_IN, BY_NAME, COMMAND, PLACES, PREFIXES, written
from workbench.tui.look import BESIDE, EVIDENCE, ONE_LINE
from workbench.tui.parts.canvas import CanvasPart
from workbench.tui.parts.line import DrawnLines
from workbench.tui.places.memory_reading import by_titles
from workbench.tui.verbs.act import OTHER_VERBS, deed, next_undo
from workbench.tui.verbs.memories import VERBS, Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from workbench.display.ink import Line
    from workbench.display.transcript import Evidence
    from workbench.engine.results.audit import NextStep
    from workbench.engine.results.memories import CoreView
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame
    from workbench.tui.frame.working import Reading
    from workbench.tui.keys.table import Command, Listed, Prefix

_LINES = ("rail", "line-of-places", "crumbs", "status", "keys", "sheet")
_EVERYWHERE = ("open", "ask", "help")
# What is about the row under the cursor, and so idle where there is none.
_ON_A_ROW = {*VERBS, "open", "edit", "evidence", "history", "details", "accept", "compare", "write"}
_MOST_TOLD = 100
_ASKING = (("enter", "to the results"), ("esc", "back"))
_FILTERING = (("enter", "keep the filter"), ("esc", "drop it"), ("↓", "into the list"), ("tab", "complete"))
# What stands behind a prefix, and is offered where a place has words for it.
_BEHIND = {command.id for prefix in PREFIXES for command in prefix.commands}
PLACE_LINK = "place:"
_CARRIED = 13
# Figures that are never shortened: hundreds are no thousands.
_WHOLE = 3
# Fewer lines than this leave no room for a card below the list, or for the key line.
_ONE_PART, _NO_KEYS = 20, 12
# Lines that a sentence of the status line or a question may take.
_MOST_SAID = 4

CSS = """
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
Frame #status, Frame #keys { height: auto; max-height: 5; }
Frame #sheet { layer: sheet; dock: bottom; margin: 0 0 2 0; height: auto; display: none; }
Place { height: 1fr; width: 1fr; layout: horizontal; display: none; }
.place-left { width: 52%; height: 1fr; padding: 0 1 0 0; }
SessionsPlace .place-left, GraphPlace .place-left { width: 46%; }
.place-head { height: 1; }
.place-list { height: 1fr; }
.place-card { width: 1fr; height: 1fr; border-left: solid $rule; }
.place-card:focus { border-left: outer $accent; }
.place-evidence { display: none; width: 1fr; height: 1fr; border-left: solid $rule; }
.place-evidence:focus { border-left: outer $accent; }
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
Frame.-below .place-card:focus { border-top: heavy $accent; border-left: none; }
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
Frame .place.-bare .place-card, Frame .place.-bare .place-evidence { display: none; }
Frame .place.-bare .place-left { width: 1fr; height: 1fr; }
Frame.-no-rail #rail { display: none; }
Frame.-wide #rail { width: 18; }
Frame.-plain .place-card, Frame.-plain .place-evidence { border: none; }
Frame.-low #keys { display: none; }
Frame.-low #keys.-asks { display: block; }
"""


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
        drawn = self.lines["sheet"]
        if prefix is not None:
            place = self._frame.place_name
            drawn.show(lambda width: sheet(prefix, place, width))
        drawn.display = prefix is not None

    def draw(self) -> None:
        """Draw all of it again."""
        frame = self._frame
        if not frame.is_mounted or not frame.is_open:
            return
        counts, current, subject = dict(frame.counts.by_place), frame.place_name, frame.place.current
        name, beside, carries = frame.workspace_name, frame.walking.beside, frame.counts.carries
        self.lines["rail"].show(partial(rail, name, counts, current, beside, carries))
        self.lines["line-of-places"].show(lambda width: (line_of_places(counts, current, width),))
        trail = [BY_NAME[current].title, *([subject.title] if subject is not None else [])]
        when = f"You · {frame.place.when}"
        self.lines["crumbs"].show(lambda width: (crumbs(trail, when, width),))
        key_of = frame.keymap.key
        said, is_problem = self._said or told(self._next_undo(), key_of), self._is_problem
        running, notices = frame.at_work, counts.get("health", "")
        if frame.look.plain:
            said = f"{where(frame)} {said}"
            put_cursor(frame)
        self.lines["status"].show(lambda width: status(said, is_problem, running, width, notices))
        question, keys = frame.pressing.question, self._keys()
        # While one types a question, letters are letters.
        hints = self._hints
        if not hints and frame.focused is frame.asking.line:
            hints = _ASKING
        elif not hints and frame.focused is frame.place.filter_line.line:
            hints = _FILTERING
        self.lines["keys"].set_class(question is not None, "-asks")
        self.lines["keys"].show(
            lambda width: (
                question_lines(told(question.question, key_of), told(question.answer, key_of), width)
                if question is not None
                else (hint_line(hints, width) if hints else key_line(keys, width),)
            )
        )
        frame.splits.look()
        frame.call_after_refresh(frame.pressing.painted)

    def _next_undo(self) -> str:
        counts = self._frame.counts
        last = counts.steps.last
        step = next_undo(counts.steps, self._frame.writing.commits, self._frame.began)
        if last is None:
            return "Nothing to undo." if counts.was_read else ""
        if step is None:
            return f"Done last, by {by_whom(last.by)}: {deed(last)}."
        word, _, what = taken_back(deed(step)).partition(": ")
        would = "bring back" if word.startswith("Brought") else "take back"
        return f"⸨undo⸩ would {would}: {what}{'' if step.own else f' ({by_whom(step.by)})'}."

    def _keys(self) -> list[Command]:
        place = self._frame.place
        if self._frame.focused is place.evidence:
            return self._keys_of_source(place.evidence.evidence)
        wanted = {*place.keys, *_EVERYWHERE, *place.labels}
        wanted = wanted - (self._idle() - {*place.labels}) if place.subjects else {*wanted, "new"} - _ON_A_ROW
        keymap = self._frame.keymap
        behind = (
            replace(COMMAND[name], keys=(keymap.key(name),)) for name in place.labels if name in _BEHIND
        )
        subjects = place.subjects
        is_pinned = bool(subjects) and all(isinstance(each, Memory) and each.pinned for each in subjects)
        labels = {**({"pin": "unpin"} if is_pinned else {}), **place.labels}
        return [
            replace(command, label=labels.get(command.id, command.label))
            for command in (*keymap.commands, *behind)
            if command.id in wanted
        ]

    def _keys_of_source(self, shown: Evidence | None) -> list[Command]:
        """Return what works where a source is read: going back, to the next one, copying."""
        labels = {"out": "back", "evidence": "next source", "copy-text": "copy", "ask": "ask", "help": "keys"}
        if shown is None or not shown.more:
            del labels["evidence"]
        return [
            replace(COMMAND[name], keys=(self._frame.keymap.key(name),), label=label, rank=-at)
            for at, (name, label) in enumerate(labels.items())
        ]

    def _idle(self) -> set[str]:
        """Return the commands that would only say why they cannot act on what is under the cursor."""
        place = self._frame.place
        subjects = tuple(each for each in place.subjects if isinstance(each, Memory))
        offered = VERBS.keys() & {*place.keys} if subjects else set()
        # Memory of the past is brought back, and nothing else is done to it.
        own = OTHER_VERBS.get(type(subjects[0]), {}) if subjects else {}
        return {name for name in offered if isinstance(own.get(name, VERBS[name])(subjects), str)}


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
            self._reading.read("ahead", _read_ahead, lambda _: None, lambda _: None)

    def _add(self, counts: Mapping[str, str]) -> None:
        self.by_place |= counts
        self._drawn()


def _read_ahead(workspace: Workspace) -> None:
    """Have the engine know what a first visit of Decay, Graph and Inbox would wait for; called on a thread."""
    workspace.decay()
    workspace.graph_entities()
    workspace.reflections()


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
        return step and by_titles(workspace, step)

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


def rail(
    workspace: str,
    counts: Mapping[str, str],
    current: str,
    beside: tuple[str, str],
    carries: tuple[int, int],
    width: int,
) -> list[Line]:
    """Draw the places below one another, with what counts in each, and what the agent always carries.

    Args:
        counts: By place.
        beside: Where `[` and `]` lead; empty where they lead nowhere.
        carries: Tokens of core memory, and their cap; a cap of 0 while they are not known.
    """
    lines: list[Line] = [(gap(1), ink(workspace, "strong", width - 2))]
    for place in PLACES:
        if place.name in ("core", "history", "settings"):
            lines.append(BLANK)
        here = place.name == current
        role = "strong" if here else "text"
        link = PLACE_LINK + place.name
        left = (
            Span("▸" if here else " ", "decide"),
            Span(place.key + " ", "faint", link),
            Span(place.title, role, link),
        )
        count = _count(place.name, counts, room=width - 2 - line_width(left))
        lines.append((*left, gap(max(1, width - 1 - line_width(left) - line_width(count))), *count, gap(1)))
    ways = [(key, title) for key, title in zip("[]", beside, strict=True) if title]
    lines += [BLANK] * bool(ways)
    lines += [(gap(1), Span(f"{key} ", "faint"), ink(title, "soft", width - 4)) for key, title in ways]
    tokens, cap = carries
    if cap:
        said = Span(f"{tokens:,} of {cap:,}", "danger" if tokens > cap else "soft", PLACE_LINK + "core")
        lines += [BLANK, (gap(1), Span("tokens carried", "faint")), (gap(1), said)]
        lines.append((gap(1), *budget_bar(tokens, cap, min(_CARRIED, width - 3))))
    return lines


def _count(name: str, counts: Mapping[str, str], room: int = 8) -> Line:
    said = counts.get(name, "")
    if len(said) > max(room, _WHOLE) and (number := said.replace(",", "")).isdecimal():
        # The name of the place stays whole; its count is exact in the place itself.
        said = f"{int(number) // 1000}k"
    role = "danger" if name == "today" else "decide" if name == "inbox" else "soft"
    return (Span(said, role),) if said else ()


def line_of_places(counts: Mapping[str, str], current: str, width: int) -> Line:
    """Draw the places in one line of whole words; below 80 columns the present one and its neighbours."""
    shown = PLACES[:8]
    if width < ONE_LINE:
        at = next((at for at, place in enumerate(shown) if place.name == current), 0)
        near = (shown[at - 1], shown[at], shown[(at + 1) % len(shown)])
        return (Span(" ‹ "), Span(near[0].title, "soft", PLACE_LINK + near[0].name), gap(2),
                Span(near[1].title, "strong"), gap(1), *_count(near[1].name, counts), gap(2),
                Span(near[2].title, "soft", PLACE_LINK + near[2].name), Span(" ›"))  # fmt: skip
    numbered = _places_line(shown, counts, current, numbers=True)
    return numbered if line_width(numbered) <= width else _places_line(shown, counts, current, numbers=False)


def _places_line(shown: Sequence[Listed], counts: Mapping[str, str], current: str, *, numbers: bool) -> Line:
    line: list[Span] = []
    for place in shown:
        here = place.name == current
        line += [
            # A count belongs to the place before the line, a number to the place behind it.
            Span("▸", "decide") if here else Span("│" if line else " ", "rule"),
            *((Span(place.key + " ", "faint", PLACE_LINK + place.name),) if numbers else ()),
            Span(place.title, "strong" if here else "soft", PLACE_LINK + place.name),
        ]
        if place.name in ("today", "inbox") and counts.get(place.name):
            line += [gap(1), *_count(place.name, counts)]
        if not numbers:
            line.append(gap(1))
    return tuple(line)


def crumbs(trail: Sequence[str], right: str, width: int) -> Line:
    """Draw where one is: the place and what is under the cursor, and whose bench it is."""
    parts: list[Span] = []
    for at, name in enumerate(trail):
        if at:
            parts.append(Span(" ▸ ", "faint"))
        parts.append(ink(name, "soft" if at < len(trail) - 1 else "text"))
    aside = (ink(right, "faint"),) if right and width >= 40 else ()
    return (gap(1), *spread(tuple(parts), aside, max(1, width - 2)), gap(1))


def status(said: str, is_problem: bool, running: str, width: int, notices: str = "") -> list[Line]:
    """Draw what was done last, in as many lines as it takes; at the right how much works in part, and what runs."""
    right: Line = (
        *((Span(notices, "decide", PLACE_LINK + "health"),) if notices else ()),
        *((gap(3),) if notices and running else ()),
        *((ink(running, "faint"),) if running else ()),
    )
    room = max(1, width - 2 - (line_width(right) + 2 if right else 0))
    # Words in quotes can be read elsewhere; the sentence around them cannot.
    parts = wrap(cut_quote(plain(said), _MOST_SAID * room), room, limit=_MOST_SAID) or [""]
    role = "danger" if is_problem else "soft"
    return [
        (gap(1), *spread((Span(part, role),), right if not at else (), width - 2), gap(1))
        for at, part in enumerate(parts)
    ]


def cut_quote(said: str, width: int) -> str:
    """Return a sentence that fits: the words in quotes are cut, so that the verb and the key can be read."""
    over = cell_width(said) - width
    before, opened, rest = said.partition("“")
    quote, closed, after = rest.partition("”")
    if over <= 0 or not closed:
        return said
    return before + opened + plain(quote, max(1, cell_width(quote) - over)) + closed + after


def key_line(commands: Sequence[Command], width: int) -> Line:
    """Draw the keys that mean something here, the most wanted first; a key that does not fit is left out whole."""
    help_key = next((written(each.keys[0]) for each in commands if each.id == "help"), "?")
    last = _pressable(help_key, " keys")
    room = width - 2 - line_width(last) - 2
    line: list[Span] = []
    kept: list[Command] = []
    used = 0
    for command in sorted(commands, key=lambda each: -each.rank):
        size = len(written(command.keys[0])) + 1 + len(command.label) + 3
        # Behind the last there is no gap.
        if command.label and command.id != "help" and used + size - 3 <= room:
            kept.append(command)
            used += size
    for at, command in enumerate(kept):
        line += _pressable(written(command.keys[0]), f" {command.label}")
        line += [gap(3)] if at + 1 < len(kept) else []
    return (gap(1), *spread(tuple(line), last, width - 2), gap(1))


def _pressable(key: str, label: str) -> Line:
    """Draw a key with what it does; a click on either presses it."""
    return (Span(key, "strong", PRESS_LINK + key), Span(label, "soft", PRESS_LINK + key))


def question_lines(question: str, answer: str, width: int) -> list[Line]:
    """Draw a question in place of the keys, whole, with what its two answers do."""
    right = (
        Span("enter ", "decide.strong", PRESS_LINK + "enter"),
        ink(answer, link=PRESS_LINK + "enter"),
        gap(3),
        *_pressable("esc", " leave it"),
    )
    asked = (ink(question, "decide"),)
    if line_width(asked) + line_width(right) + 4 <= width:
        return [(gap(1), *spread(asked, right, width - 2), gap(1))]
    lines: list[Line] = [(gap(1), part) for part in _asked(question, width - 2)]
    return [*lines, (gap(1), *cut(right, width - 2))]


def _asked(question: str, width: int) -> Iterator[Span]:
    for part in wrap(plain(question), max(1, width), limit=_MOST_SAID):
        yield Span(part, "decide")


def sheet(prefix: Prefix, place: str, width: int) -> list[Line]:
    """Draw what may follow a prefix in a place, in as many columns as fit."""
    here = [each for each in prefix.commands if place in ACTS_IN.get(each.id, (place,))]
    more = len(prefix.commands) - len(here)
    head = f"── {prefix.key}  {prefix.title}{f' · {more} more in other places' if more else ''} "
    cells = [(written(each.keys[0]), each.label) for each in here]
    size = 8 + max((len(label) for _, label in cells), default=0)
    columns = max(1, (width - 2) // size)
    rows = -(-len(cells) // columns)
    lines: list[Line] = [(Span(head, "soft"), Span("─" * max(0, width - len(head)), "rule"))]
    for at in range(rows):
        line: list[Span] = [gap(2)]
        for key, label in cells[at::rows]:
            link = PRESS_LINK + key
            line += [Span(f"{key:<3}", "strong", link), Span(f"{label:<{size - 3}}", "text", link)]
        lines.append(tuple(line))
    return lines if here else [*lines, (gap(2), Span("nothing of that here", "soft"))]


def hint_line(keys: Sequence[tuple[str, str]], width: int) -> Line:
    """Draw keys of a line that is being written, each with what it does, as many as fit."""
    line: list[Span] = [gap(1)]
    room = width - 2
    for key, label in keys:
        size = len(key) + 1 + len(label)
        if size > room:
            break
        # “← →” and “a–z” are several keys, of which a click cannot mean one.
        one = len(key.split()) == 1 and "–" not in key
        drawn = _pressable(key, f" {label}") if one else (Span(key, "strong"), Span(f" {label}", "soft"))
        line += [*drawn, gap(3)]
        room -= size + 3
    return tuple(line)


# How the frame stands at each size: list, card and evidence side by side, above each other, or one alone.


def lay_out(frame: Frame, width: int, height: int, *, plain: bool) -> str:
    """Lay out the frame.

    Args:
        plain: Whether a screen reader reads it: one part after the other.

    Returns:
        The name of the layout: `single`, `below`, `beside` or `wide`.
    """
    below = plain or width < BESIDE
    single = plain or width < ONE_LINE or (below and height < _ONE_PART)
    wide = width >= EVIDENCE and not plain
    # At once: each change of classes looks through all styles of everything in the frame.
    frame.update_classes({"-below": below, "-single": single, "-wide": wide, "-low": height < _NO_KEYS})
    return "single" if single else "below" if below else "wide" if wide else "beside"
