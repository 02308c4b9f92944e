"""Finds the commit that stood at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.engine.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from workbench.engine.history.git_store import GitStore


def commit_at(store: GitStore, moment: datetime) -> str | None:
    """Return the newest commit not later than a time.

    Newest is by the order of history, along first parents, not by date: where the clock was set back between
    two commits, the later one in order counts, for it was made knowing the other.

    Args:
        store: The history.
        moment: Aware. Commits are dated to the second, so a fraction of one makes no difference.

    Returns:
        Full hash, or None where everything is later.
    """
    return next((commit.id for commit in store.walk() if commit.moment <= moment), None)


def history_begins_later(moment: datetime) -> NotFound:
    """Return the error to raise where there is no commit as early as a time."""
    return NotFound(
        f"The history begins after {moment.isoformat()}.",
        remedy="See its commits with: workbench audit log",
    )
