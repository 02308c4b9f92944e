"""Owns where one has been: the places that `[` and `]` walk."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A pane, the row one was on there, the filter it was seen through, and the memory that was read over it."""

    pane: str
    key: str = ""
    filter: str = ""
    memory: str = ""


@dataclass(frozen=True)
class Trail:
    """Places in the order they were visited; `at` is the one that one is at."""

    places: tuple[Place, ...] = ()
    at: int = -1

    def visit(self, place: Place, limit: int = 100) -> Trail:
        """Return the trail after going to a place; what lay ahead is given up."""
        if self.places and self.places[self.at] == place:
            return self
        places = (*self.places[: self.at + 1], place)[-limit:]
        return Trail(places, len(places) - 1)

    def amend(self, place: Place) -> Trail:
        """Return the trail with the present place replaced: one moved about without going away."""
        if not self.places:
            return self.visit(place)
        return Trail((*self.places[: self.at], place, *self.places[self.at + 1 :]), self.at)

    def step(self, by: int) -> tuple[Trail, Place | None]:
        """Return the trail one place back (-1) or forward (+1), and that place; None where it ends."""
        if not 0 <= self.at + by < len(self.places):
            return self, None
        return Trail(self.places, self.at + by), self.places[self.at + by]
