"""Which memories a reflection found to be still relevant, so that using them can count as an access (design §9.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workbench.engine.reflection.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.engine.markdown.review import ReviewItem

_LETTING_GO: Final = frozenset({Kind.ARCHIVE, Kind.DEMOTION})
_SCORED: Final = ("episode", "entity", "procedure")


def still_relevant(items: Iterable[ReviewItem]) -> dict[str, tuple[str, ...]]:
    """Return the ids of the memories that items rest on, of a fact that of its entity, each with its items.

    What is let go of is not relevant by that, nor is the old side of an update. Lines of logs have no score, core and
    vault memories need none.

    Args:
        items: Those that were applied.
    """
    found: dict[str, tuple[str, ...]] = {}
    for item in items:
        if item.kind in _LETTING_GO:
            continue
        for proof in item.evidence[1:] if item.kind == Kind.SUPERSESSION else item.evidence:
            if proof.id.partition(":")[0] in _SCORED:
                memory = proof.id.partition("#^")[0]
                found[memory] = tuple(dict.fromkeys((*found.get(memory, ()), item.id)))
    return found
