"""Commands that work everywhere, and those about the search index."""

from __future__ import annotations

from workbench.tui.keymap import Command


class Filter(Command):
    """Show only what matches while you type; esc shows everything again."""

    key, label, rank = "slash", "filter", 32


class Ask(Command):
    """Write a question; what answers it comes while you type."""

    key, label, rank = "slash", "ask", 17


class ZoomPane(Command):
    """Give the list or the detail the whole screen; again to give it back."""

    key, label, rank = "z", "zoom", 80


class GoBack(Command):
    """Go back to where one was."""

    key = "left_square_bracket"


class GoForward(Command):
    """Go forward again."""

    key = "right_square_bracket"


class Undo(Command):
    """Take back your newest action; asks where somebody else did something since. Again to go further back."""

    key, label, rank = "u", "undo", 34


class Redo(Command):
    """Do again what was undone; asks where somebody else did or undid it."""

    key = "U"


class FindAnything(Command):
    """Find a command or a memory by a few letters."""

    key, priority = "ctrl+p", True


class ShowHelp(Command):
    """Explain every key; type to find one, enter runs it."""

    key, label, rank = "question_mark", "help", 0


class ShowIndex(Command):
    """Show the search index: what it holds, how fresh it is, and what makes its vectors."""

    key = "i"


class SyncIndex(Command):
    """Bring the search index up to date with the files now."""

    key, section, label, rank = "s", "On the index", "up to date", 10


class RebuildIndex(Command):
    """Build the search index anew; the old one answers meanwhile."""

    key, section, label, rank = "R", "On the index", "rebuild", 12


class CancelIndex(Command):
    """Stop bringing the search index up to date; what is done stays done."""

    key, section, label, rank = "c", "On the index", "cancel", 8


class SwitchTheme(Command):
    """Go on to the next theme: light, dark, and your own."""

    key = "ctrl+t"


class ShowNotices(Command):
    """Say what works only in part: a file that cannot be read whole, a folder that cannot be written."""

    key = "exclamation_mark"


class HowToLeave(Command):
    """Say how to leave. While writing, copy what is selected."""

    key = "ctrl+c"


class Leave(Command):
    """Come back: from the detail to the list, from a filter to everything."""

    key = "escape"


class QuitBench(Command):
    """Leave the bench. Everything is saved already, except drafts, which it asks about."""

    key, priority = "ctrl+q", True
