"""Snapshots in which there is something to think about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.reflection.snapshots import said, snapshot
from workbench.engine.reflection.model import Snapshot

FILES = {
    "MEMORY.md": "# Core\n\n## Identity\n- Name: Alex\n\n## Critical Facts\n- Alex is allergic to nuts\n",
    "memory/graph/entities/person--alex.md": "# Alex\n\n## Facts\n- Alex lives in Berlin ^f1aa\n",
    "memory/meta/reflection-log.md": (
        "# Reflection Log\n\n## r-001 | 2026-02-01T03:00:00Z | approved\n\nAlex values simple tools.\n"
    ),
}

MakeSnapshot = Callable[..., Snapshot]


@pytest.fixture
def made(tmp_path: Path) -> MakeSnapshot:
    """Return a function that gives a snapshot with so many new passages of so many words."""

    def make(number: int = 3, words: int = 5, text: str = "") -> Snapshot:
        passages = [
            said(
                f"2026-02-{1 + at // 20:02} 10:{at % 20:02}",
                text or f"Alex said thing number {at}" + " and more" * words,
                speaker="Alex",
                line=at + 1,
            )
            for at in range(number)
        ]
        return snapshot(tmp_path, passages, files=FILES, owner="Alex")

    return make
