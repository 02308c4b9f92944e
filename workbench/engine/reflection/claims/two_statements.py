"""Tells of two statements alone whether they contradict each other, or one takes the other’s place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from workbench.engine.reflection.claims.model import Origin
from workbench.engine.reflection.claims.oppositions import find_oppositions
from workbench.engine.reflection.claims.reading import Claims
from workbench.engine.reflection.claims.stating import speaker_key
from workbench.engine.reflection.claims.turns import find_turns
from workbench.engine.reflection.claims.updates import find_updates
from workbench.engine.reflection.model import Passage

_FIRST: Final = datetime(2000, 1, 1, tzinfo=UTC)


def cannot_both_hold(earlier: str, later: str, owner: str) -> bool:
    """Return whether two statements cannot both hold, as a cycle of reflection would see it.

    Args:
        earlier: What was said first.
        later: What was said after it.
        owner: The person's name as core memory has it; empty where it does not say.
    """
    claims = Claims(owner=owner)
    for order, text in enumerate((earlier, later), 1):
        passage = Passage(
            f"said:{order}", text, "", order, order, _FIRST + timedelta(seconds=order), type="fact"
        )
        claims.read(Origin(passage, order, speaker_key("", owner)))
    claims = claims.in_order()
    weights = claims.weights
    return bool(
        find_updates(claims.measured, weights)
        or find_oppositions(claims.denials, claims.deeds, weights)
        or find_turns(claims.choices, claims.deeds, weights)
    )
