"""What is written in the bench: a line that any verb asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from textual.widget import Widget

    from workbench.tui.frame.screen import Frame
    from workbench.tui.parts.prompt import PromptLine
    from workbench.tui.verbs import Act

Take: TypeAlias = "Callable[[str], Act | str | None]"
"""Given what was written: what is done then; why it cannot be taken, so that one writes on; or None, it is done."""
Complete: TypeAlias = Callable[[str], Sequence[str]]
"""Given what was written so far: the whole texts that it may become."""
_MOST_NAMED = 5


class Editing:
    """Takes texts.

    Args:
        frame: In which they are written.
        prompt: The line for those that are one line long and answer a question.
    """

    def __init__(self, frame: Frame, prompt: PromptLine) -> None:
        self._frame = frame
        self._prompt = prompt
        self._take: Take | None = None
        self._complete: Complete | None = None
        self._offered: tuple[str, ...] = ()
        self._before: Widget | None = None

    def ask(self, title: str, initial: str = "", complete: Complete | None = None, *, take: Take) -> None:
        """Have one line written: enter takes it, esc leaves it, tab completes it.

        Args:
            title: What it is for, a word or two.
            initial: What it says to begin with, the cursor after it.
            complete: What it may become; quick, since it is called while one types.
            take: What becomes of it.
        """
        if self._take is None:
            self._before = self._frame.focused
        self._take, self._complete, self._offered = take, complete, ()
        keys = "enter takes it   esc leaves" + ("   tab completes" if complete else "")
        self._prompt.open(title, initial, keys)
        self._frame.query_one("#keys").display = False
        self._frame.set_focus(self._prompt.line)

    @property
    def is_asking(self) -> bool:
        """Return whether the line is open."""
        return self._take is not None

    def look(self) -> None:
        """Put the line away where something else has the keys."""
        if self._frame.focused is not self._prompt.line:
            self.leave()

    def leave(self) -> None:
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

    def do(self, command: str) -> bool:  # noqa: ARG002 - no command of the table yet
        """Carry out nothing yet."""
        return False

    def take(self, key: str) -> bool:
        """Take the line, leave it or complete it."""
        line, take = self._prompt.line, self._take
        if take is None or self._frame.focused is not line:
            return False
        if key == "escape":
            self.leave()
            self._frame.say("Left as it was.")
        elif key == "enter":
            answer = take(line.value)
            # What is taken may ask for the next line itself.
            if not isinstance(answer, str) and self._take is take:
                self.leave()
            if answer is not None:
                self._frame.begin(answer)
        elif key == "tab":
            self._finish(line.value)
        else:
            return False
        return True

    def _finish(self, text: str) -> None:
        """Write on as far as there is one way; then each of the ways in turn."""
        line = self._prompt.line
        if self._complete is None:
            self._frame.say("Nothing completes this.")
            return
        if text in self._offered:
            at = self._offered.index(text) + 1
            line.write(self._offered[at % len(self._offered)])
            return
        offered = tuple(self._complete(text))
        if not offered:
            self._frame.say(
                f"Nothing here begins with “{text}”." if text else "There is nothing to choose from."
            )
            return
        shared = _shared_beginning(offered)
        if len(offered) == 1 or (len(shared) > len(text) and shared.casefold().startswith(text.casefold())):
            line.write(shared)
        else:
            self._offered = offered
            line.write(offered[0])
        if len(offered) > 1:
            more = f" and {len(offered) - _MOST_NAMED} more" if len(offered) > _MOST_NAMED else ""
            self._frame.say(f"{', '.join(offered[:_MOST_NAMED])}{more}.")


def _shared_beginning(texts: Sequence[str]) -> str:
    first, *rest = texts
    shared = len(first)
    for each in rest:
        same = (
            at for at, (a, b) in enumerate(zip(first, each, strict=False)) if a.casefold() != b.casefold()
        )
        shared = min(shared, len(each), next(same, shared))
    return first[:shared]
