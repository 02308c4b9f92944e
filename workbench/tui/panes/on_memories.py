"""Owns what can be done to a memory wherever it is shown: open, edit, pin, forget, merge, its source and history."""

from __future__ import annotations

from workbench.tui.panes.base import Pane


class OnMemories(Pane):
    """A pane whose rows are memories; a subclass lists `ON_MEMORIES` among its bindings and says what is meant."""

    def subjects(self) -> tuple[str, ...]:
        """Return the ids of the memories that an action is about: what is marked, else what the cursor is on."""
        return self.subject_keys()
