"""Commands of the time machine."""

from __future__ import annotations

from workbench.tui.keymap import Command

_SECTION = "In the past"


class StepEarlier(Command):
    """Go to memory as it was one change earlier."""

    key, section, label, rank = "left,comma", _SECTION, "earlier", 4


class StepLater(Command):
    """Go to memory as it was one change later."""

    key, section, label, rank = "right,full_stop", _SECTION, "later", 5


class DayEarlier(Command):
    """Go to the end of the day before on which something changed."""

    key, section = "shift+left,less_than_sign", _SECTION


class DayLater(Command):
    """Go to the end of the next day on which something changed."""

    key, section = "shift+right,greater_than_sign", _SECTION


class FirstMoment(Command):
    """Go to the very first moment of the history."""

    key, section = "home", _SECTION


class LastMoment(Command):
    """Come back to now."""

    key, section = "end", _SECTION


class BackToNow(Command):
    """Come back to now."""

    key, section, label, rank = "n", _SECTION, "now", 9


class GoToMoment(Command):
    """Go to a day or a change: 2026-02-14, 2026-02-14 10:30, feb 2026, yesterday, 3w, first, now, or a commit."""

    key, section, label, rank = "g", _SECTION, "go to", 14


class ShowOther(Command):
    """Show what differs, core memory, the graph, every memory with its score, or the files, one after the other."""

    key, section, label, rank = "t", _SECTION, "view", 8


class ShowOtherBack(Command):
    """Likewise, the other way round."""

    key, section = "T", _SECTION


class MarkMoment(Command):
    """Mark this moment, to compare others with it; again to compare with now."""

    key, section, label, rank = "equals_sign", _SECTION, "mark", 11


class SwapMoments(Command):
    """Go to the marked moment, and mark the one that this was."""

    key, section, label, rank = "x", _SECTION, "swap", 12


class RestoreThis(Command):
    """Let this one memory or file read again as it did at this moment; one commit, u takes it back."""

    key, section, label, rank = "r", _SECTION, "restore", 6


class RestoreEverything(Command):
    """Let everything read again as it did at this moment, after showing what that changes; u takes it back."""

    key, section, label, rank = "R", _SECTION, "restore all", 7


class ShowChange(Command):
    """Show the change that led to this moment in the audit log: who, why, on whose approval, word by word."""

    key, section, label, rank = "c", _SECTION, "change", 13


class OpenPresent(Command):
    """Go to this memory as it is now."""

    key, section, label, rank = "P", _SECTION, "as it is now", 15


class LookCloser(Command):
    """Look closer: half as long a stretch of time."""

    key, section = "plus", _SECTION


class LookFurther(Command):
    """Look from further away: a stretch of time twice as long."""

    key, section = "minus", _SECTION
