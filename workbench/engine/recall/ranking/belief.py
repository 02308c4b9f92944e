"""How much the best that was found deserves belief."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.engine.recall.ranking.unit import Unit

_BEST = 5
# Below this the best result says too little of what was asked; chosen on questions whose answer is in the memory
# and questions whose answer is not.
LEAST_BELIEF = 0.35
_MEANING_SHARE = 0.4
_NEAR_COSINE = 0.7


def belief_in(units: Sequence[Unit], idf: Mapping[str, float]) -> float:
    """Return how much of the question the best units account for, 0–1.

    The share of the question's weight, by what its terms tell, that one of the best five units holds; where vectors
    are there, partly how near in meaning the best of them is.

    Args:
        units: Best first.
        idf: What each of the question's terms tells.
    """
    best = units[:_BEST]
    total = sum(idf.values())
    if not best:
        return 0.0
    held = max(unit.signals["exact"] for unit in best) / total if total else 0.0
    cosines = [unit.signals["meaning"] for unit in best if "meaning" in unit.signals]
    if not cosines:
        return min(1.0, held)
    nearness = min(1.0, max(0.0, max(cosines)) / _NEAR_COSINE)
    return min(1.0, (1 - _MEANING_SHARE) * held + _MEANING_SHARE * nearness)
