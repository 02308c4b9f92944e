"""Commands about a change of the history, and about what is proposed."""

from __future__ import annotations

from workbench.tui.keymap import Command


class Acknowledge(Command):
    """Say that this change of a critical file was meant, and close the alert."""

    key, section, label, rank = "a", "On a change", "acknowledge", 10


class Revert(Command):
    """Take back this change, whatever came after it; the revert is itself a change that can be undone."""

    key, section, label, rank = "R", "On a change", "revert", 22


class Approve(Command):
    """Approve: what a reflection proposes is applied with A, what an agent proposes is stored at once, what was held
    back is let in. On a heading: everything undecided below it.
    """

    key, section, label, rank = "a", "On a proposal", "approve", 10


class Reject(Command):
    """Reject: it is not applied, and does not come back without new evidence. What an agent proposes is refused at
    once; what was held back is dropped without a trace.
    """

    key, section, label, rank = "r", "On a proposal", "reject", 11


class Defer(Command):
    """Defer: ask again with the next reflection, which takes up what an agent proposes as an item of its own."""

    key, section, label, rank = "d", "On a proposal", "defer", 12


class Undecide(Command):
    """Take a decision back: the item waits again. What was decided about an agent’s proposal is taken back by u."""

    key, section = "backspace", "On a proposal"


class TakeThis(Command):
    """Settle a contradiction: this holds, the earlier statement; approves it. Of proposals: the one under the cursor is
    stored, those that contradict it are refused.
    """

    key, section, label, rank = "less_than_sign", "On a proposal", "this", 7


class TakeThat(Command):
    """Settle a contradiction: that holds, the later statement; approves it. Of proposals: the one under the cursor is
    refused, for the other or for what memory says.
    """

    key, section, label, rank = "greater_than_sign", "On a proposal", "that", 8


class TakeBoth(Command):
    """Settle a contradiction: both hold; reword them with e to say when or where each does. Of proposals: both are
    stored, less sure and linked as contradictory.
    """

    key, section, label, rank = "equals_sign", "On a proposal", "both", 9


class StoreElsewhere(Command):
    """Store what an agent proposes in another store than it suggests; at once, and u takes it back."""

    key, section, label, rank = "s", "On a proposal", "store in…", 13


class StoreWithout(Command):
    """Store what was held back with “[secret left out]” where the secret was; at once."""

    key, section, label, rank = "m", "On a proposal", "mask", 11


class Reveal(Command):
    """Show the secret in what was held back, on this screen alone; again masks it."""

    key, section, label, rank = "x", "On a proposal", "show", 14


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
    """Run a cycle of reflection: it reads what is new and writes a proposal, nothing else. What past reflections
    changed is in Audit: /actor:reflection lists it, and R there takes a reflection back.
    """

    key, section, label, rank = "R", "On a proposal", "reflect", 46


class CancelReflection(Command):
    """Call the running reflection off; nothing is written."""

    key, section, label, rank = "c", "On a proposal", "cancel", 6
