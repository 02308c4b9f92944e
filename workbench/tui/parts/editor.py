"""The editor in the card: texts of one and of many lines, what saving them would do, and what could go for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on
from textual.containers import Horizontal, VerticalScroll
from textual.widgets import TextArea

from workbench.display.cells import HIDDEN
from workbench.display.ink import BLANK, Span, ink, spread, wrap_line
from workbench.display.rows import problem_lines
from workbench.tui.palette import PAPER
from workbench.tui.parts.line import DrawnLines
from workbench.tui.parts.list import ListPart
from workbench.tui.parts.rows import Rows
from workbench.tui.verbs.rewording import Outlook, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from textual.app import ComposeResult
    from textual.widget import Widget

    from workbench.display.ink import Line
    from workbench.engine.results.memories import LooseItem
    from workbench.tui.verbs.rewording import Field, Writing

_MOST_ROWS = 6
_AREA_ROWS = 14
# Characters from which on every key would take longer than one waits for it.
_MOST = 250_000
# Letters that a label has at most which stands before its text, not above it.
_BESIDE = 8


class DraftArea(TextArea):
    """A text that is written; what would not print is shown as a sign of its own.

    Args:
        field: What it says to begin with, and how.
        text: What it says instead, as a draft had it.
    """

    DEFAULT_CSS = f"""
    DraftArea {{
        height: auto; min-height: 1; max-height: {_AREA_ROWS}; border: none; padding: 0 1;
        background: $surface; color: $foreground; scrollbar-size-vertical: 1;
    }}
    DraftArea:focus {{ border: none; background: $panel; }}
    DraftArea .text-area--cursor-line {{ background: transparent; }}
    """

    def __init__(self, field: Field, text: str) -> None:
        super().__init__(
            text,
            soft_wrap=True,
            compact=True,
            show_line_numbers=False,
            highlight_cursor_line=False,
            placeholder=field.hint,
        )
        self.field = field
        self.read_only = bool(field.choices)
        self.cursor_blink = False
        self.refuse: Callable[[str], object] = lambda _said: None

    async def _on_paste(self, event: events.Paste) -> None:
        size = len(event.text)
        if size + len(self.text) > _MOST:
            event.prevent_default()
            self.refuse(
                f"{size:,} characters are more than can be written here; a memory has 20,000 at most."
            )
        else:
            before = self.get_text_range(self.document.start, self.selection.start)[-1:]
            is_last = self.selection.end == self.document.end
            # Behind what is there already, as one comes in: words are not run together.
            apart = " " if is_last and before.isalnum() and event.text[:1].isalnum() else ""
            await super()._on_paste(events.Paste(apart + event.text))
            event.prevent_default()

    def get_line(self, line_index: int) -> Text:
        """Return a line with what would not print replaced, character by character, so that the cursor is right."""
        line = self.document.get_line(line_index)
        return Text(
            "".join(c if c.isprintable() or c == "\t" else HIDDEN for c in line), end="", no_wrap=True
        )

    def step_choice(self, by: int) -> None:
        """Put the next of the field's choices here, or the one before."""
        choices = self.field.choices
        at = choices.index(self.text) + by if self.text in choices else 0
        self.load_text(choices[at % len(choices)])
        self.move_cursor(self.document.end)


class Editor(VerticalScroll, can_focus=False, inherit_bindings=False):
    """One writing, in place of the card while it lasts.

    Args:
        texts: What its fields say instead, as a draft had it.
        ready: Called once keys can go to it.
        typed: Called whenever a text is another one, or something else is ticked.
    """

    BINDINGS: ClassVar = []
    DEFAULT_CSS = """
    Editor { scrollbar-size-vertical: 1; }
    Editor > DrawnLines { height: auto; padding: 0 1; }
    Editor > .editor-head { dock: top; }
    Editor > .editor-beside { height: auto; }
    Editor > .editor-beside > DrawnLines { width: 10; height: 1; padding: 0 1; }
    Editor > .editor-beside > DraftArea { width: 1fr; }
    Editor > .editor-label { margin: 1 0 0 0; }
    Editor > .editor-lines { margin: 1 0 0 0; }
    Editor > ListPart { margin: 0 1; display: none; }
    """

    def __init__(
        self,
        writing: Writing,
        texts: Mapping[str, str],
        ready: Callable[[], object],
        typed: Callable[[], object],
    ) -> None:
        super().__init__()
        self.writing = writing
        self.outlook: Outlook | None = None
        self.moving: tuple[str, ...] = ()
        self.areas = tuple(DraftArea(each, texts.get(each.name, each.text)) for each in writing.fields)
        for area in self.areas:
            area.refuse = self.refuse
        self.room = ListPart(always_lit=False)
        self._ready = ready
        self._typed = typed
        self._is_open = False
        self._head = DrawnLines(ground=PAPER)
        self._head.add_class("editor-head")
        self._lines = DrawnLines(ground=PAPER)
        self._room_head = DrawnLines(ground=PAPER)
        self._problem: Callable[[int], Sequence[Line]] | None = None
        self._note = ""

    def compose(self) -> ComposeResult:
        yield self._head
        for area in self.areas:
            words = area.field.label
            label = DrawnLines(ground=PAPER)
            label.show(lambda _width, words=words: ((ink(words, "soft"),),))  # type: ignore[misc]
            if not words:
                yield area
            elif len(words) <= _BESIDE:
                with Horizontal(classes="editor-beside"):
                    yield label
                    yield area
            else:
                label.add_class("editor-label")
                yield label
                yield area
        self._lines.add_class("editor-lines")
        yield self._lines
        yield self._room_head
        yield self.room

    def on_mount(self) -> None:
        self._is_open = True
        area = self.areas[0]
        area.move_cursor(area.document.end)
        self._draw()
        self._ready()

    @property
    def written(self) -> Written:
        """Return what has been written."""
        return Written({area.field.name: area.text for area in self.areas}, self.moving)

    @property
    def is_touched(self) -> bool:
        """Return whether anything would be lost with it."""
        return bool(self.moving) or any(area.text != area.field.text for area in self.areas)

    @property
    def stops(self) -> list[Widget]:
        """Return where `tab` goes, round."""
        return [*self.areas, *([self.room] if self.room.display else [])]

    def show_outlook(self, outlook: Outlook) -> None:
        """Show what saving would do; ticks of what could go stay as long as it is offered."""
        self.outlook = outlook
        offered = {each.id for each in outlook.could_go}
        self.moving = tuple(each for each in self.moving if each in offered)
        self._show_room(outlook)
        rows = len(outlook.could_go)
        if not rows and self.room.has_focus:
            self.screen.set_focus(self.areas[0])
        self.room.display = rows > 0
        self.room.styles.height = min(rows, _MOST_ROWS)
        self._draw()

    def _show_room(self, outlook: Outlook) -> None:
        """Show what could go, with a tick for what will."""
        moving = self.moving

        def draw(item: LooseItem, width: int) -> Line:
            tick = Span("[✓] ", "decide") if item.id in moving else Span("[ ] ", "faint")
            return spread((tick, ink(item.text)), (Span(f"{item.tokens:,} tokens", "soft"),), width)

        rows: Rows[str, LooseItem] = Rows(draw)
        rows.add_all(outlook.could_go, [each.id for each in outlook.could_go])
        self.room.show(rows)

    def tick(self) -> None:
        """Tick what could go under the cursor, or untick it."""
        key = self.room.cursor_key
        if not key or self.outlook is None:
            return
        self.moving = (
            tuple(each for each in self.moving if each != key) if key in self.moving else (*self.moving, key)
        )
        self._show_room(self.outlook)
        self.room.do("move-down")
        self._typed()

    def note(self, note: str) -> None:
        """Say something quiet below the text."""
        self._note = note
        self._draw()

    def show_problem(self, draw: Callable[[int], Sequence[Line]]) -> None:
        """Say why the text was not taken, until it is another one."""
        self._problem = draw
        self._draw()

    def refuse(self, problem: str) -> None:
        """Say in a sentence why the text was not taken."""
        self.show_problem(lambda width: problem_lines(problem, width))

    def _draw(self) -> None:
        if not self._is_open:
            return
        outlook, problem, note, writing = self.outlook, self._problem, self._note, self.writing
        beside: Line = ()
        if outlook is not None and not outlook.fits:
            beside = (Span("does not fit", "danger.strong"),)
        elif outlook is not None and outlook.warning:
            beside = (Span(outlook.warning, "decide"),)
        title = (ink(writing.title.upper() if len(writing.fields) == 1 else writing.title, "soft+strong"),)

        def head(width: int) -> list[Line]:
            width = max(1, width - 2)
            meter = outlook.draw(width) if outlook is not None and outlook.is_meter else ()
            return [spread(title, beside, width), *meter]

        self._head.show(head)

        def lines(width: int) -> list[Line]:
            width = max(1, width - 2)
            drawn: list[Line] = [*problem(width), BLANK] if problem is not None else []
            if note:
                drawn.append((ink(note, "soft"),))
            if outlook is not None and not outlook.is_meter:
                drawn += outlook.draw(width)
            if writing.below is not None:
                drawn += [BLANK, *writing.below(width)]
            return drawn

        self._lines.show(lines)

        def room(width: int) -> list[Line]:
            if outlook is None or not outlook.could_go:
                return []
            told = "What is ticked moves to the Timeline on saving."
            needed = wrap_line((ink(outlook.room, "soft"),), max(1, width - 2)) if outlook.room else []
            return [BLANK, (ink("WHAT COULD GO", "soft+strong"),), *needed, (ink(told, "faint"),)]

        self._room_head.show(room)

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._problem = None
        self._draw()
        self._typed()

    @on(ListPart.Moved)
    def _moved(self, event: ListPart.Moved) -> None:
        event.stop()
