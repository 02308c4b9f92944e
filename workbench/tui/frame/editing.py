"""What is written in the bench: a line that any verb asks for, and texts in the card, with drafts of what was left."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from textual.app import SuspendNotSupported

from workbench.display.cells import wrap
from workbench.display.ink import BLANK, Span
from workbench.display.rows import over_cap_lines, problem_lines
from workbench.display.words import quoted, told_in_bench
from workbench.engine.errors import (
    BudgetExceeded,
    InvalidSetting,
    NotFound,
    Stale,
    StorageError,
    WorkbenchError,
)
from workbench.tui.frame.remembered import Draft, Drafts
from workbench.tui.keys.table import COMMAND
from workbench.tui.parts.editor import Editor
from workbench.tui.parts.line import Completion
from workbench.tui.verbs.act import Act
from workbench.tui.verbs.adding import KEY as NEW
from workbench.tui.verbs.adding import THING as NEW_THING
from workbench.tui.verbs.adding import new_writing
from workbench.tui.verbs.rewording import Written

if TYPE_CHECKING:
    from textual.app import App
    from textual.widget import Widget

    from workbench.display.ink import Line
    from workbench.engine.workspace import Workspace
    from workbench.tui.frame.screen import Frame
    from workbench.tui.parts.line import PromptLine
    from workbench.tui.verbs.rewording import Outlook, Writing

Take: TypeAlias = "Callable[[str], Act | str | None]"
"""Given what was written: what is done then; why it cannot be taken, so that one writes on; or None, it is done."""
Complete: TypeAlias = Callable[[str], Sequence[str]]
"""Given what was written so far: the whole texts that it may become."""
Make: TypeAlias = "Callable[[Workspace], Writing | str]"
"""Reads on a thread what is written, or why nothing can be."""
_MOST_OF_THE_OTHER = 12
_NO_TEXT = "This needs some text; esc leaves it."


class Editing:
    """Takes texts.

    Args:
        prompt: The line for those that are one line long and answer a question.
    """

    def __init__(self, frame: Frame, prompt: PromptLine, drafts: Drafts) -> None:
        self._frame = frame
        self._prompt = prompt
        self.drafts = drafts
        self._take: Take | None = None
        self._complete: Complete | None = None
        self._changed: Callable[[str], object] | None = None
        self._completion = Completion()
        self._initial = ""
        self._before: Widget | None = None
        self._origin: Widget | None = None
        self._hidden: Widget | None = None
        self._editor: Editor | None = None
        self._make: Make | None = None
        self.is_busy = False
        """Whether keys wait: an editor opens, or what was written is being saved."""

    # The line.

    def ask(
        self,
        title: str,
        initial: str = "",
        complete: Complete | None = None,
        *,
        take: Take,
        changed: Callable[[str], object] | None = None,
        selected: bool = False,
    ) -> None:
        """Have one line written: enter takes it, esc leaves it, tab completes it.

        Args:
            title: What it is for, a word or two.
            initial: What it says to begin with, the cursor after it.
            complete: What it may become; quick, since it is called while one types.
            changed: Told of every change while one types, and of the text to begin with when one leaves.
            selected: Whether the text to begin with is selected, so that typing replaces it.
        """
        if self._take is None:
            self._before = self._frame.focused
        self._take, self._complete, self._changed, self._initial = take, complete, changed, initial
        self._completion = Completion()
        self._prompt.typed = changed if changed is not None else lambda _text: None
        keys = "enter takes it   esc leaves" + ("   tab completes" if complete else "")
        self._prompt.open(title, initial, keys, selected=selected)
        self._frame.query_one("#keys").display = False
        self._frame.set_focus(self._prompt.line)

    @property
    def is_asking(self) -> bool:
        """Return whether the line is open."""
        return self._take is not None

    def look(self) -> None:
        """Put away what is open where something else has the keys; a text is kept as a draft."""
        focused = self._frame.focused
        if focused is None:
            return
        if focused is not self._prompt.line:
            self.leave_line()
        if (
            self._editor is not None
            and not self.is_busy
            and not self.is_asking
            and focused not in self._editor.stops
        ):
            self._leave_editor()

    def leave_line(self) -> None:
        """Put the line away, whatever stands in it."""
        if self._take is None:
            return
        self._take, before, self._before = None, self._before, None
        self._prompt.close()
        self._frame.query_one("#keys").styles.clear_rule("display")
        if self._frame.focused is self._prompt.line:
            if before is not None and before.is_attached and before.display:
                self._frame.set_focus(before)
            else:
                self._frame.focus_place()

    def _take_line(self, take: Take, key: str) -> bool:
        line = self._prompt.line
        if key == "escape":
            self.leave_line()
            if self._changed is not None:
                self._changed(self._initial)
            else:
                self._frame.say("Left as it was.")
        elif key == "enter":
            answer = take(line.value)
            # What is taken may ask for the next line itself.
            if not isinstance(answer, str) and self._take is take:
                self.leave_line()
            if answer is not None:
                self._frame.begin(answer)
        elif key == "tab":
            self._finish(line.value)
        else:
            return False
        return True

    def _finish(self, text: str) -> None:
        if self._complete is None:
            self._frame.say("Nothing completes this.")
            return
        text, said = self._completion.next(text, self._complete)
        self._prompt.line.write(text)
        if said:
            self._frame.say(said)

    # The editor.

    def do(self, command: str) -> bool:
        """Write a new memory; edit what is under the cursor, here or in one's own editor; or throw its draft away."""
        place = self._frame.place
        subject = place.current
        if command == "new":
            self.open(partial(new_writing, at=place.destination))
            return True
        if command not in ("edit", "edit-outside", "discard"):
            return False
        if subject is None:
            self._frame.say(COMMAND[command].elsewhere)
        elif command != "discard" and self._frame.focused is place.evidence:
            self._frame.say(
                "This is evidence and stays as it was; ⸨next-part⸩ goes to what it is evidence of."
            )
        elif command == "discard":
            self.discard(subject.id)
        elif command == "edit":
            self.open(lambda workspace: place.writing(workspace, subject))
        else:
            self.edit_outside(lambda workspace: place.writing(workspace, subject))
        return True

    def open(self, make: Make) -> None:
        """Open the editor in the card; a draft is gone on with.

        Args:
            make: Reads what is written.
        """

        def show(writing: Writing | str) -> None:
            self.is_busy = False
            if isinstance(writing, str):
                self._frame.say(writing)
            else:
                self._make = make
                self._show(writing)

        self.is_busy = True
        self._frame.reading.read("editor", make, show, self._not_read)

    def _not_read(self, error: WorkbenchError) -> None:
        self.is_busy = False
        self._frame.say(told_in_bench(error), is_problem=True)

    def _show(self, writing: Writing) -> None:
        if self._editor is not None:
            self._close()
        draft = self.drafts.get(writing.key)
        kept = {each.name for each in writing.fields if each.kept}
        texts = (
            {name: text for name, text in draft.texts.items() if name in kept} if draft is not None else {}
        )
        self.is_busy = True
        self._origin = self._frame.focused
        place = self._frame.place
        editor = self._editor = Editor(writing, texts, self._ready, self._typed_text)
        editor.add_class("place-card", "place-editor")
        self._hidden = place.card
        self._hidden.display = False
        editor.display = True
        self._frame.add_class("-reading")
        self._frame.looking.stop_opening()
        self._frame.edges.move_on()
        self._frame.remove_class("-evidence")
        place.mount(editor, after=place.card)

    def _ready(self) -> None:
        self.is_busy = False
        editor = self._editor
        if editor is None:
            return
        self._frame.set_focus(editor.areas[0])
        self._hint(editor)
        draft = self.drafts.get(editor.writing.key)
        if draft is not None:
            now = editor.writing.texts
            changed = [name for name, text in draft.expected.items() if now.get(name) != text]
            is_new = editor.writing.key == NEW
            editor.note(f"A draft of {draft.day} was here; ^x throws it away.")
            if changed and not is_new:
                editor.show_problem(partial(_changed_meanwhile, now.get(changed[0], "")))
        self._typed_text()

    def _hint(self, editor: Editor) -> None:
        many = any(each.many for each in editor.writing.fields)
        in_room = self._frame.focused is editor.room
        keys = [("^s" if many or in_room else "enter", "save"), ("esc", "keep as draft"), ("^x", "discard")]
        if in_room:
            keys = [("enter", "tick"), *keys, ("tab", "the text")]
        elif editor.room.display:
            keys.append(("tab", "what could go"))
        elif len(editor.areas) > 1:
            keys.append(("tab", "next text"))
        if any(area.has_focus and area.field.choices for area in editor.areas):
            keys.append(("↑ ↓", "choose"))
        if not in_room:
            keys += [("^a", "select all"), ("^k", "cut to the end of the line")]
        self._frame.hint(keys)

    def _typed_text(self) -> None:
        """Read what saving would do by now."""
        editor = self._editor
        if editor is None or editor.writing.look is None:
            return
        look, written = editor.writing.look, editor.written

        def show(outlook: Outlook) -> None:
            if self._editor is editor:
                editor.show_outlook(outlook)
                self._hint(editor)

        self._frame.reading.read("outlook", lambda workspace: look(workspace, written), show)

    def take(self, key: str) -> bool:
        """Take, leave or complete the line; save, leave or throw away what is in the editor."""
        focused = self._frame.focused
        if self._take is not None and focused is self._prompt.line:
            return self._take_line(self._take, key)
        editor = self._editor
        if editor is None or focused not in editor.stops:
            return False
        in_room = focused is editor.room
        many = any(area is focused and area.field.many for area in editor.areas)
        chosen = next((area for area in editor.areas if area is focused and area.field.choices), None)
        if key == "escape":
            self._leave_editor()
        elif key == "ctrl+s" or (key == "enter" and not many and not in_room):
            self._save()
        elif key == "ctrl+x":
            self.discard(editor.writing.key)
        elif key in ("tab", "shift+tab"):
            stops = editor.stops
            self._frame.set_focus(stops[(stops.index(focused) + (1 if key == "tab" else -1)) % len(stops)])
            self._hint(editor)
        elif in_room:
            return self._take_in_room(editor, key)
        elif chosen is not None and key in ("up", "down", "left", "right"):
            chosen.step_choice(1 if key in ("down", "right") else -1)
        elif chosen is not None and not key.startswith(("ctrl+", "f1")):
            self._frame.say("↑ ↓ choose where it goes; tab goes to the next text.")
        else:
            return False
        return True

    def _take_in_room(self, editor: Editor, key: str) -> bool:
        if key in ("space", "enter"):
            editor.tick()
        elif key in ("j", "down", "k", "up"):
            editor.room.do("move-down" if key in ("j", "down") else "move-up")
        elif len(key) > 1 and key.startswith(("ctrl+", "f1")):
            return False
        else:
            self._frame.say("space ticks what could go; tab goes back to the text.")
        return True

    def _save(self) -> None:
        editor = self._editor
        if editor is None:
            return
        writing, written = editor.writing, editor.written
        if any(each.needed and not written.texts[each.name].strip() for each in writing.fields):
            editor.refuse(_NO_TEXT)
            self._frame.say(_NO_TEXT)
        elif not editor.is_touched and any(each.text for each in writing.fields):
            self._forget()
            self._frame.say("Nothing was changed.")
        else:
            self._begin(writing, written)

    def _begin(self, writing: Writing, written: Written) -> None:
        answer = writing.save(written)
        if isinstance(answer, str):
            if self._editor is not None:
                self._editor.refuse(answer)
            self._frame.say(answer)
            return
        call, app = answer.call, self._frame.app

        def save(workspace: Workspace) -> str:
            try:
                said = call(workspace)
            except WorkbenchError as error:
                app.call_later(self._refused, writing, written, error)
                raise
            app.call_later(self._saved, writing)
            return said

        self.is_busy = not answer.question
        self._frame.begin(replace(answer, call=save))

    def _saved(self, writing: Writing) -> None:
        self.is_busy = False
        self._frame.place.reworded = writing.key
        self.drafts.drop(writing.key)
        if self._editor is not None and self._editor.writing.key == writing.key:
            self._close()

    def _refused(self, writing: Writing, written: Written, error: WorkbenchError) -> None:
        self.is_busy = False
        editor = self._editor
        if editor is None:
            # It was written in an editor outside; it must not be lost.
            self._keep(writing, written)
            self._say_kept(writing)
        elif isinstance(error, Stale) and self._make is not None:
            self._frame.reading.read("stale", self._make, self._show_other)
        elif isinstance(error, NotFound) and writing.gone is not None:
            self._frame.reading.read("stale", writing.gone, self._show_gone)
        elif isinstance(error, BudgetExceeded) and error.candidates and not editor.room.display:
            editor.show_problem(partial(over_cap_lines, error))
        else:
            editor.refuse(error.message if isinstance(error, BudgetExceeded) else told_in_bench(error))

    def _show_other(self, now: Writing | str) -> None:
        """Show what the memory says by now; saved again, the text takes its place."""
        editor = self._editor
        if editor is None or isinstance(now, str):
            return
        editor.writing = now
        other = next((each.text for each in now.fields), "")
        editor.show_problem(partial(_changed_meanwhile, other))

    def _show_gone(self, instead: Writing) -> None:
        editor = self._editor
        if editor is not None:
            editor.refuse(
                f"{quoted(editor.writing.thing)} was changed or taken out meanwhile. "
                "Save again to keep your text as a new one."
            )
            editor.writing = instead

    def _leave_editor(self) -> None:
        """Close the editor; what is unsaved is kept as a draft."""
        editor = self._editor
        if editor is None:
            return
        if editor.is_touched:
            self._keep(editor.writing, editor.written)
            self._say_kept(editor.writing)
            self._close()
        else:
            self._forget()
            self._frame.say("Nothing was changed.")

    def _keep(self, writing: Writing, written: Written) -> None:
        now = self._frame.now()
        day = f"{now.day} {now:%b}"
        self.drafts.keep(writing.key, Draft(writing.thing, written.texts, writing.texts, day))

    def _say_kept(self, writing: Writing) -> None:
        is_new = writing.key == NEW
        what, key = ("the new memory", "⸨new⸩") if is_new else (quoted(writing.thing), "⸨edit⸩")
        there = " there" if is_new else ""
        self._frame.say(f"Kept a draft of {what}; {key} goes on with it, ⸨discard⸩{there} throws it away.")

    def _forget(self) -> None:
        if self._editor is not None:
            self.drafts.drop(self._editor.writing.key)
            self._close()

    def _close(self) -> None:
        editor, self._editor = self._editor, None
        if editor is None:
            return
        frame = self._frame
        frame.reading.forget("outlook")
        frame.hint(())
        had_keys = frame.focused in editor.stops
        origin, self._origin = self._origin, None
        if self._hidden is not None:
            self._hidden.styles.clear_rule("display")
        editor.display = False
        editor.remove()
        if had_keys and origin is frame.place.card:
            frame.set_focus(origin)
        elif had_keys:
            frame.remove_class("-reading")
            frame.focus_place()

    def discard(self, key: str) -> None:
        """Throw a draft away, or what stands in the editor; asked once, since undo cannot help."""
        editor, draft = self._editor, self.drafts.get(key)
        if editor is not None and draft is None and not editor.is_touched:
            self._forget()
            self._frame.say("Nothing was changed.")
            return
        if editor is None and draft is None:
            self._frame.say(COMMAND["discard"].elsewhere)
            return
        thing = editor.writing.thing if editor is not None else draft.title if draft is not None else ""
        app = self._frame.app

        def call(_workspace: Workspace) -> str:
            app.call_later(self._throw, key)
            return f"Threw the draft of {quoted(thing)} away."

        self._frame.begin(
            Act(call, f"Throw the draft of {quoted(thing)} away? Undo cannot help.", "throw it away")
        )

    def _throw(self, key: str) -> None:
        self.drafts.drop(key)
        if self._editor is not None and self._editor.writing.key == key:
            self._close()

    def remind(self) -> None:
        """Tell of what was left unsaved when the bench was left."""
        first, *more = (*self.drafts.titles, "")
        if not first:
            return
        others = f" and {len(more) - 1} more" if len(more) > 1 else ""
        new = first == NEW_THING
        what, key = (first, "⸨new⸩") if new else (quoted(first), "⸨edit⸩ on it")
        self._frame.say(f"You left a draft of {what}{others}; {key} goes on with it.")

    def keep_open(self) -> None:
        """Keep what stands in the editor as a draft: the bench is being left."""
        if self._editor is not None and self._editor.is_touched:
            self._keep(self._editor.writing, self._editor.written)

    # The editor outside.

    def edit_outside(self, make: Make) -> None:
        """Edit in the program that is set for it.

        Args:
            make: Reads what is written.
        """
        if self._frame.app.is_web:
            self._frame.say("The browser has no editor of its own; ⸨edit⸩ edits here.")
        elif not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
            self._frame.say("No editor is set; ⸨edit⸩ edits here.")
        else:
            self.is_busy = True
            self._frame.reading.read("editor", make, self._hand_over, self._not_read)

    def _hand_over(self, writing: Writing | str) -> None:
        self.is_busy = False
        if isinstance(writing, str):
            self._frame.say(writing)
            return
        field = writing.fields[0]
        draft = self.drafts.get(writing.key)
        text = draft.texts.get(field.name, field.text) if draft is not None else field.text
        try:
            edited = edit_in_editor(self._frame.app, text, suffix=writing.suffix)
        except WorkbenchError as error:
            self._frame.say(told_in_bench(error), is_problem=True)
            return
        self._frame.refresh(layout=True)
        if edited is None:
            self._frame.say("The editor ended without saving; nothing was changed.")
        elif edited.strip() == field.text.strip():
            self._frame.say("Nothing was changed.")
        elif not edited.strip() and field.needed:
            self._frame.say(_NO_TEXT)
        else:
            self._begin(writing, Written({**writing.texts, field.name: edited}))


def _changed_meanwhile(now: str, width: int) -> list[Line]:
    """Say that a memory was changed while its text was being edited, and what it says now."""
    words = "It was changed meanwhile; nothing was overwritten. Save again to put your text in place of this:"
    lines: list[Line] = [*problem_lines(words, width), BLANK]
    for source in now.splitlines():
        lines += [(Span("▏ ", "faint"), Span(piece, "soft")) for piece in wrap(source, max(1, width - 2))]
    return lines[:_MOST_OF_THE_OTHER]


# Hands a text to the user's own editor and takes it back.


def edit_in_editor(app: App[object], text: str, *, suffix: str) -> str | None:
    """Let the user edit a text while the app steps aside.

    Args:
        app: The app that gives up the terminal meanwhile.
        suffix: Ending of the temporary file, which tells the editor its language.

    Returns:
        The text as it was left, or None where the editor failed.

    Raises:
        InvalidSetting: There is no such editor.
        StorageError: The temporary file cannot be written or read, or this terminal cannot be given up.
    """
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "") or ["vi"]
    try:
        handle, name = tempfile.mkstemp(suffix=suffix, prefix="workbench-", text=True)
    except OSError as error:
        raise StorageError(
            f"No temporary file could be made: {error.strerror}.", remedy="Free some space."
        ) from error
    path = Path(name)
    try:
        os.close(handle)
        # As bytes, so that line endings stay what they are.
        path.write_bytes(text.encode())
        with app.suspend():
            finished = subprocess.run([*command, name], check=False)
        return path.read_bytes().decode() if finished.returncode == 0 else None
    except FileNotFoundError as error:
        raise InvalidSetting(
            f"“{command[0]}” is no program here.",
            where="EDITOR",
            remedy="Set EDITOR to one, for example nano.",
        ) from error
    except SuspendNotSupported as error:
        raise StorageError(
            "This terminal cannot be handed to an editor.", remedy="Edit in place with e."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(
            f"The edited text could not be read back: {error}.", remedy="Edit in place with e."
        ) from error
    finally:
        path.unlink(missing_ok=True)
