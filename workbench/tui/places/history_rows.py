"""Rows of History: actions under their days, and what differs between two moments under its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.display.actions import action_row
from workbench.display.card import Card, Section
from workbench.display.ink import Span, ink, spread
from workbench.display.memory_changes import (
    SECTIONS,
    change_lines,
    change_row,
    counted,
    counts_of,
    same_row,
    title_of,
)
from workbench.display.rows import day_heading, heading_row
from workbench.tui.parts.rows import Rows
from workbench.tui.verbs.history import COMMIT, Differing, Several

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date, datetime

    from workbench.display.ink import Line
    from workbench.engine.results.audit import Action
    from workbench.tui.places.past import Compared, Listed

ALL = "all:"
PART = "part:"
_MOST_IN_PREVIEW = 60


class ActionRows(Rows["str", "Action"]):
    """Actions under their days."""

    def __init__(self, listed: Listed) -> None:
        super().__init__()
        self._now = listed.now
        on: date | None = None
        for action in listed.actions:
            day = action.timestamp.astimezone(listed.now.tzinfo).date()
            if day != on:
                on = day
                self._add_heading(day_heading(day, listed.now.date()))
            self._add(action, COMMIT + action.id)

    def actions(self) -> Iterable[tuple[int, Action]]:
        """Yield each action with its index."""
        return ((at, row) for at in range(len(self)) if (row := self.row_at(at)) is not None)

    def at(self, index: int) -> Action | None:
        """Return the action of a row; None for a heading or a space."""
        return self.row_at(index) if 0 <= index < len(self) else None

    def draw(self, row: Action, width: int) -> Line:
        """Draw a row."""
        return action_row(row, self._now, width)


class DifferingRows(Rows["Several", "Differing | Several"]):
    """What differs between two moments, under the parts of memory and the blocks of core memory."""

    def __init__(self, compared: Compared, then: str, now: datetime) -> None:
        super().__init__()
        self._now = now
        parts: dict[str, list[Differing]] = {}
        for change in compared.comparison.memories:
            block = change.id.split(":")[1] if change.store == "core" and change.id.count(":") > 1 else ""
            name = f"Core, {block.replace('-', ' ')}" if block else SECTIONS.get(change.store, change.store)
            parts.setdefault(name, []).append(
                Differing(
                    change.id, change.store, title_of(change), commit=compared.here, then=then,
                    change=change, by=compared.by.get(change.id),
                )
            )  # fmt: skip
        everything = tuple(each for members in parts.values() for each in members)
        if everything:
            self._add(Several(ALL, "all that differs", everything), ALL)
        for name, members in parts.items():
            self._add_heading(Several(PART + name, name, tuple(members)), PART + name)
            for each in members:
                self._add(each, each.id)
        if compared.same:
            self._add_heading(Several(f"{PART}same", "The same at both moments", ()), f"{PART}same")
            for score in compared.same:
                same = Differing(score.id, score.store, score.title, commit=compared.here, then=then)
                self._add(same, score.id)

    def subject(self, key: str) -> Differing | Several | None:
        """Return what a row is about."""
        at = self.find(key)
        return None if at is None else self.head(at) or self.row_at(at)

    def draw(self, row: Differing | Several, width: int) -> Line:
        """Draw a row."""
        if isinstance(row, Several):
            return spread((ink("All that differs", "text"),), (ink(f"{len(row.members):,}", "soft"),), width)
        if row.change is None:
            return same_row(row.store, row.title, width)
        return change_row(row.change, row.by, self._now, width)

    def draw_heading(self, head: Several, width: int) -> Line:
        """Draw the heading of a part, with how much of it differs."""
        counts = counts_of(each.change for each in head.members if each.change is not None)
        return heading_row(head.title, counts, width)


def preview(several: Several) -> Card:
    """Return the card of a heading: all that `r` would bring back."""
    changes = [each.change for each in several.members if each.change is not None]
    lines = [line for change in changes[:_MOST_IN_PREVIEW] for line in change_lines(change)]
    if len(changes) > _MOST_IN_PREVIEW:
        lines.append((Span("  "), Span(f"and {len(changes) - _MOST_IN_PREVIEW:,} more", "faint")))
    then = several.members[0].then if several.members else ""
    sections = [Section("DIFFERS", tuple(lines), hangs=1)] if lines else []
    if lines:
        sections.append(
            Section("BACK", ((ink(f"⸨bring-back⸩ brings all of it back, {then}, in one action.", "soft"),),))
        )
    title = several.title[:1].upper() + several.title[1:]
    return Card(title, title, (ink(counted(changes), "soft"),), tuple(sections))
