"""Commands about the memory one is at."""

from __future__ import annotations

from workbench.tui.keymap import Command


class NewItem(Command):
    """Add an item to the block one is in."""

    key, section, label, rank = "n", "On a memory", "new", 22


class EditHere(Command):
    """Edit in place, with the token budget moving as you type."""

    key, section, label, rank = "e", "On a memory", "edit", 20


class EditInEditor(Command):
    """Edit the whole block, or the file of a proposal, in your own $EDITOR."""

    key, section, label, rank = "E", "On a memory", "editor", 40


class Pin(Command):
    """Protect from decay and from being rewritten; again to let go."""

    key, section, label, rank = "p", "On a memory", "pin", 24


class Forget(Command):
    """Take out of sight: archive a memory, or remove an item from core memory; undo brings it back."""

    key, section, label, rank = "f", "On a memory", "forget", 26


class OpenSource(Command):
    """Go to where this comes from: the episode, or the memory that was changed."""

    key, section, label, rank = "o", "On a memory", "source", 42


class ShowHistory(Command):
    """Show every change of this in the audit log."""

    key, section, label, rank = "h", "On a memory", "history", 44


class CopyId(Command):
    """Copy the id, or of a search result the citation, for a command line or a chat."""

    key, section, label, rank = "y", "On a memory", "copy", 60


class ExplainResult(Command):
    """Explain why a search result stands where it does, and what was left out; again for its text."""

    key, section, label, rank = "x", "On a memory", "explain", 18


class AskWhyNot(Command):
    """Ask why a memory did not come up for the question."""

    key, section, label, rank = "w", "On a memory", "why not…?", 19


class Merge(Command):
    """Make one entity of this one and another; at once, or as a proposal that waits in the Inbox."""

    key, section, label, rank = "m", "On a memory", "merge", 46


class SeeInDecay(Command):
    """See in the Decay pane how relevant this is, was and will be."""

    key, section = "D", "On a memory"


class SeeBefore(Command):
    """See memory in the Past pane as it was before this last changed."""

    key, section = "B", "On a memory"


class SeeAmongOthers(Command):
    """See it where it stands among others: an entity in the Graph, an episode in the Timeline, an item in Core."""

    key, section, label, rank = "g", "On a memory", "among others", 48
