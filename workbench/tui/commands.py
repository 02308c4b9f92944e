"""Every command of the bench, once: its key, its word in the bottom line, and, as its docstring, its help."""

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


class NewLine(Command):
    """Begin a new line."""

    key, section, label, rank = "ctrl+j,shift+enter,alt+enter", "While writing", "new line", 2


class LeaveDraft(Command):
    """Go back to the list and keep what has been written as a draft."""

    key, section, label, rank = "escape", "While writing", "leave, keep draft", 3


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


class Acknowledge(Command):
    """Say that this change of a critical file was meant, and close the alert."""

    key, section, label, rank = "a", "On a change", "acknowledge", 10


class Revert(Command):
    """Take back this change, whatever came after it; the revert is itself a change that can be undone."""

    key, section, label, rank = "R", "On a change", "revert", 22


class Approve(Command):
    """Approve: the change will be applied. On a heading: everything undecided below it."""

    key, section, label, rank = "a", "On a proposal", "approve", 10


class Reject(Command):
    """Reject: the change is not applied, and does not come back without new evidence."""

    key, section, label, rank = "r", "On a proposal", "reject", 11


class Defer(Command):
    """Defer: ask again with the next reflection."""

    key, section, label, rank = "d", "On a proposal", "defer", 12


class Undecide(Command):
    """Take a decision back: the item waits again."""

    key, section = "backspace", "On a proposal"


class TakeThis(Command):
    """Settle a contradiction: this holds, the earlier statement; approves it."""

    key, section, label, rank = "less_than_sign", "On a proposal", "this", 7


class TakeThat(Command):
    """Settle a contradiction: that holds, the later statement; approves it."""

    key, section, label, rank = "greater_than_sign", "On a proposal", "that", 8


class TakeBoth(Command):
    """Settle a contradiction: both hold; reword them with e to say when or where each does."""

    key, section, label, rank = "equals_sign", "On a proposal", "both", 9


class NextUndecided(Command):
    """Go to the next item that is undecided."""

    key, section, label, rank = "n", "On a proposal", "next", 16


class ApplyDecisions(Command):
    """Show exactly what the decisions would write, and apply them in one commit."""

    key, section, label, rank = "A", "On a proposal", "apply", 14


class WriteDecisions(Command):
    """Write what is shown: every approved change, in one commit."""

    key, section, label, rank = "w", "On a proposal", "write", 5


class Reflect(Command):
    """Run a cycle of reflection: it reads what is new and writes a proposal, nothing else."""

    key, section, label, rank = "R", "On a proposal", "reflect", 46


class CancelReflection(Command):
    """Call the running reflection off; nothing is written."""

    key, section, label, rank = "c", "On a proposal", "cancel", 6


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


class OpenMemory(Command):
    """Go to the memory that the detail shows a part of."""

    key, section, label, rank = "enter", "In a detail", "open memory", 16


class JumpToDate(Command):
    """Go to a day: 2026-02-14, feb 2026, yesterday, 3w."""

    key, section, label, rank = "g", "In a list", "go to date", 30


class Filter(Command):
    """Show only what matches while you type; esc shows everything again."""

    key, label, rank = "slash", "filter", 32


class Ask(Command):
    """Write a question; what answers it comes while you type."""

    key, label, rank = "slash", "ask", 17


class KeepFilter(Command):
    """Go on in what the filter shows."""

    key, section, label, rank = "enter", "While writing", "go on", 1


class ClearFilter(Command):
    """Show everything again."""

    key, section, label, rank = "escape", "While writing", "all again", 2


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
    """Take back the newest action, whoever did it; again to go further back."""

    key, label, rank = "u", "undo", 34


class Redo(Command):
    """Do again what was undone."""

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
