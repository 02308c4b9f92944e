"""What is learned of a small invented log."""

from __future__ import annotations

from pathlib import Path

from tests.engine.reflection.snapshots import chat, check_quotes, snapshot
from workbench.engine.markdown.review import ReviewItem
from workbench.engine.reflection.extraction import extract_knowledge
from workbench.engine.reflection.model import Agenda, Passage, Work

NOTHING_FIRST = Agenda(())


def learn(
    folder: Path, *passages: Passage, owner: str = "", files: dict[str, str] | None = None
) -> list[ReviewItem]:
    made = snapshot(folder, passages, owner=owner, files=files)
    items = extract_knowledge(made, NOTHING_FIRST, Work())
    check_quotes(made, items)
    return list(items)


def facts(items: list[ReviewItem]) -> list[str]:
    return [item.text for item in items if item.kind == "fact"]


def say(folder: Path, *sentences: str, day: str = "2026-02-04") -> list[str]:
    """Return the facts from what Tilda says to Bo."""
    turns = [("Tilda", sentence) for sentence in sentences]
    return facts(learn(folder, *chat(day, *turns, ("Bo", "Nice!"))))
