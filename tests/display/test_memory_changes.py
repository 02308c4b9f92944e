"""How memories differ between two moments, in numbers."""

from __future__ import annotations

from workbench.display.memory_changes import counted, counts_of
from workbench.engine.results.audit import MemoryChange


def changed(change: str, standing: str = "") -> MemoryChange:
    return MemoryChange("entity:tool--tide", "semantic", "t.md", "Tide", change, "a", "b", standing)


def test_signs_and_words_count_every_memory_once_and_alike() -> None:
    changes = [
        changed("added"),
        changed("added", "superseded"),
        changed("removed"),
        changed("scored", "pinned"),
        changed("changed"),
    ]
    assert counts_of(changes) == "+2 ±1 -1 ◆1"
    assert counted(changes) == "2 added · 1 changed · 1 removed · 1 pinned"
