"""Remembers what a person refused of agents' proposals, beside what they rejected of reflections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.engine import layout

if TYPE_CHECKING:
    from workbench.engine.documents.memory_proposal import MemoryProposal
    from workbench.engine.history.plan import FileView
    from workbench.engine.workspace.ground import Ground


def remembering(ground: Ground) -> Callable[[FileView, Sequence[MemoryProposal]], bytes]:
    """Return what gives `rejected.md` with some refused proposals in it, as claims `proposal-7`."""
    from workbench.engine.reflection.items import fact
    from workbench.engine.reflection.rejections import remember

    def remembered(view: FileView, refused: Sequence[MemoryProposal]) -> bytes:
        claims = [
            replace(fact(_entity(each), _line(each.content), (), reason=""), id=f"proposal-{each.number}")
            for each in refused
        ]
        time = ground.now().isoformat(timespec="seconds")
        return remember(view.read(layout.REJECTED), claims, "", time)

    return remembered


def _entity(proposal: MemoryProposal) -> str:
    """Return the entity that a refused statement is about, where it names just one by its id."""
    ids = [entity for entity in proposal.entities if "--" in entity and ":" not in entity]
    return ids[0] if len(proposal.entities) == len(ids) == 1 else ""


def _line(text: str) -> str:
    from workbench.engine.stores.wording import clip

    return clip(text, 2000)
