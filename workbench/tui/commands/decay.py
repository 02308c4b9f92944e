"""Commands of the decay heatmap."""

from __future__ import annotations

from workbench.tui.keymap import Command


class CellBack(Command):
    """Move to the cell before: earlier."""

    key, section = "left", "On the heatmap"


class CellOn(Command):
    """Move to the next cell: later."""

    key, section = "right", "On the heatmap"


class ZoomTimeIn(Command):
    """Let a cell stand for less time, down to a day."""

    key, section = "plus,equals_sign,greater_than_sign", "On the heatmap"


class ZoomTimeOut(Command):
    """Let a cell stand for more time, up to three months."""

    key, section, label, rank = "minus,less_than_sign", "On the heatmap", "zoom out", 66


class SortMemories(Command):
    """Go on to the next order: by the next fall, by score, by the last use, by name."""

    key, section, label, rank = "s", "On the heatmap", "sort", 12


class GroupMemories(Command):
    """Group by store, by tag, by entity, or not at all."""

    key, section, label, rank = "b", "On the heatmap", "group", 14


class ShowFading(Command):
    """Show what fades in the next 30 days, the soonest first; again for 90 and for 7 days; esc for everything."""

    key, section, label, rank = "w", "On the heatmap", "what fades", 8


class Reinforce(Command):
    """Count a use of the memory, or of all that are marked: their scores begin anew from today, higher."""

    key, section, label, rank = "R", "On the heatmap", "reinforce", 10


class TryRate(Command):
    """Try another rate of decay, told as λ a day or as a half-life; nothing changes until you keep it."""

    key, section, label, rank = "L", "On the heatmap", "try λ", 16


class LowerRate(Command):
    """Try a lower λ: memories fade later."""

    key, section = "comma", "On the heatmap"


class RaiseRate(Command):
    """Try a higher λ: memories fade sooner."""

    key, section = "full_stop", "On the heatmap"


class OnlyChanges(Command):
    """In a trial, show only the memories that would have another status; again for all."""

    key, section, label, rank = "c", "On the heatmap", "only changes", 6


class KeepRate(Command):
    """Make the rate that is tried the workspace’s own; it asks first."""

    key, section, label, rank = "enter", "On the heatmap", "keep λ", 4
