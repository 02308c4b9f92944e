"""Commands for moving about: in a list, in a detail, and while writing."""

from __future__ import annotations

from workbench.tui.keymap import Command


class MoveDown(Command):
    """Move to the next row."""

    key, section = "down,j", "In a list"


class MoveUp(Command):
    """Move to the row before."""

    key, section = "up,k", "In a list"


class PageDown(Command):
    """Move a screenful on."""

    key, section = "pagedown,ctrl+f", "In a list"


class PageUp(Command):
    """Move a screenful back."""

    key, section = "pageup,ctrl+b", "In a list"


class MoveFirst(Command):
    """Move to the first row."""

    key, section = "home", "In a list"


class MoveLast(Command):
    """Move to the last row."""

    key, section = "end,G", "In a list"


class Mark(Command):
    """Mark the row, or unmark it; what is done next is done to every marked row."""

    key, section = "space", "In a list"


class MarkRange(Command):
    """Begin a range of marks at this row; move, then press it again to end the range."""

    key, section = "v", "In a list"


class Open(Command):
    """Go in: to the detail, and from a link there to what it leads to."""

    key, section, label, rank = "enter", "In a list", "open", 70


class NextLink(Command):
    """Go to the next link of the detail, and from the last one back to the list."""

    key, section, label, rank = "tab", "In a detail", "next link", 20


class PreviousLink(Command):
    """Go to the link before, and from the first one back to the list."""

    key, section = "shift+tab", "In a detail"


class FollowLink(Command):
    """Go where the chosen link leads."""

    key, section, label, rank = "enter", "In a detail", "follow", 15


class ScrollDown(Command):
    """Read on."""

    key, section = "down,j", "In a detail"


class ScrollUp(Command):
    """Read back."""

    key, section = "up,k", "In a detail"


class ScrollPageDown(Command):
    """Read on by a screenful."""

    key, section = "pagedown,space,ctrl+f", "In a detail"


class ScrollPageUp(Command):
    """Read back by a screenful."""

    key, section = "pageup,ctrl+b", "In a detail"


class ScrollHome(Command):
    """Go to the beginning."""

    key, section = "home", "In a detail"


class ScrollEnd(Command):
    """Go to the end."""

    key, section = "end,G", "In a detail"


class SaveDraft(Command):
    """Save what has been written."""

    key, section, label, rank = "enter,ctrl+s", "While writing", "save", 1


class SaveText(Command):
    """Save the text, which may have many lines: enter begins another one."""

    key, section, label, rank = "ctrl+s", "While writing", "save", 1


class NewLine(Command):
    """Begin a new line."""

    key, section, label, rank = "ctrl+j,shift+enter,alt+enter", "While writing", "new line", 2


class LeaveDraft(Command):
    """Go back to the list and keep what has been written as a draft."""

    key, section, label, rank = "escape", "While writing", "leave, keep draft", 3


class OpenMemory(Command):
    """Open the memory that the detail is about, with all there is to know of it."""

    key, section, label, rank = "enter", "In a detail", "open memory", 16


class JumpToDate(Command):
    """Go to a day: 2026-02-14, feb 2026, yesterday, 3w."""

    key, section, label, rank = "g", "In a list", "go to date", 30


class KeepFilter(Command):
    """Go on in what the filter shows."""

    key, section, label, rank = "enter", "While writing", "go on", 1


class ClearFilter(Command):
    """Show everything again."""

    key, section, label, rank = "escape", "While writing", "show all", 2
