"""Commands of the sessions pane."""

from __future__ import annotations

from workbench.tui.keymap import Command

_SECTION = "On a session"


class CompactSession(Command):
    """Replace by a summary all but the newest messages; the transcript keeps everything. It asks first."""

    key, section, label, rank = "c", _SECTION, "compact", 20


class CancelCompaction(Command):
    """Call the running compaction off; the session stays as it was."""

    key, section, label, rank = "C", _SECTION, "cancel", 6


class FlushSession(Command):
    """Save to memory what matters of it and was said since the last time. It asks first."""

    key, section, label, rank = "w", _SECTION, "flush", 18


class StartOver(Command):
    """Begin the session anew under its name; what matters is saved first, and the transcript stays. It asks first."""

    key, section, label, rank = "R", _SECTION, "start over", 38


class MendSession(Command):
    """Mend a transcript with lines that cannot be read; the file as it was is kept beside it. It asks first."""

    key, section, label, rank = "x", _SECTION, "mend", 42


class LookElsewhere(Command):
    """Look at the sessions of another folder, database or transcript; nothing is ever written there."""

    key, section, label, rank = "l", _SECTION, "elsewhere", 46


class SearchTranscript(Command):
    """Look for words in this transcript."""

    key, section, label, rank = "slash", _SECTION, "look for", 12


class NextFound(Command):
    """Go to the next line that says what was looked for."""

    key, section, label, rank = "n", _SECTION, "next", 13


class PreviousFound(Command):
    """Go to the line before that says what was looked for."""

    key, section = "N", _SECTION


class Unfold(Command):
    """Open what is folded to one line, such as a call of a tool and its result; again to fold it."""

    key, section, label, rank = "enter", _SECTION, "unfold", 14


class ReadDrawn(Command):
    """Read the memory that was drawn from this line."""

    key, section, label, rank = "m", _SECTION, "memory", 15
