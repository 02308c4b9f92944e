"""Commands of the graph browser."""

from __future__ import annotations

from workbench.tui.keymap import Command

_SECTION = "In the graph"


class SwitchView(Command):
    """Go from the table of all entities to the drawing of the one under the cursor, and back."""

    key, section, label, rank = "t", _SECTION, "view", 11


class ChangeHops(Command):
    """Draw what lies within two relations of the centre, or within one."""

    key, section, label, rank = "plus,minus", _SECTION, "hops", 14


class FindWay(Command):
    """Draw the shortest way from this entity to another, which you choose by a few letters."""

    key, section, label, rank = "c", _SECTION, "path", 15


class SortTable(Command):
    """Sort the table by the next column: links, score, when last seen, facts, name, type."""

    key, section, label, rank = "s", _SECTION, "sort", 12


class AddKnowledge(Command):
    """Write a new fact about this entity; in the table, add a new entity."""

    key, section, label, rank = "n", _SECTION, "add", 21


class Relate(Command):
    """Relate this entity to another: choose the relation, then the entity."""

    key, section, label, rank = "l", _SECTION, "link", 23


class RetireFact(Command):
    """Say that the chosen fact or relation holds no longer; it stays to be read under “Superseded”."""

    key, section, label, rank = "x", _SECTION, "retire", 13


class RemoveRelation(Command):
    """Remove the chosen relation, as if it had never been; undo brings it back."""

    key, section, label, rank = "X", _SECTION, "remove", 25


class RenameEntity(Command):
    """Give the entity another name; the old one goes on to lead to it."""

    key, section, label, rank = "R", _SECTION, "rename", 41


class PartEntities(Command):
    """Part again what was merged into this entity."""

    key, section, label, rank = "M", _SECTION, "part", 45


class StepBack(Command):
    """Go back by one step of the walk."""

    key, section = "backspace", _SECTION


class MoveLeft(Command):
    """Move to the next box on the left."""

    key, section = "left", _SECTION


class MoveRight(Command):
    """Move to the next box on the right."""

    key, section = "right", _SECTION


class ReadEntity(Command):
    """Go into the detail: its facts and relations are walked with tab, or with the arrows."""

    key, section, label, rank = "tab", _SECTION, "read", 10
