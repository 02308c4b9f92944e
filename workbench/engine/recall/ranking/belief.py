"""How much what was found deserves belief."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.engine.recall.ranking.scoring import Scored
from workbench.engine.recall.ranking.unit import Unit

# Below this the answer is likely absent: with vectors, and by words alone. Chosen so that few questions whose answer
# is in the memory are doubted. What has nothing to do with the memory is told nearly always; a question about a
# detail that was never said of something that was cannot be told from one whose answer is there.
_LEAST_BELIEF = 0.3
_LEAST_BELIEF_BY_WORDS = 0.2
_LOOKED_AT = 10
_NEAREST = 5
# Of somebody else's words, where the question asks for somebody's.
_OTHER_VOICE = 0.5
# Above this cosine in the mean of the best five, all that was asked for is there (static table and MiniLM alike).
_NEAR_COSINE = 0.7


def belief_in(scored: Scored) -> float:
    """Return how much of the question the best results account for, 0–1.

    The share of the question's weight, by what its terms tell, that one of the best ten units holds, half of that
    where it is not said by whom the question asks about; where vectors are there, the mean of that and of how near
    in meaning the best five are. Where all that was asked for is what there is of some days, that is enough.

    Args:
        scored: The scored units, best first.
    """
    best = scored.units[:_LOOKED_AT]
    if not best:
        return 0.0
    if scored.is_answered_by_days:
        return 1.0
    total = sum(scored.idf.values())
    held = max(_held(unit, scored) for unit in best) / total if total else 0.0
    cosines = _cosines(best[:_NEAREST])
    if not cosines:
        return min(1.0, held)
    nearness = max(0.0, sum(cosines) / len(cosines)) / _NEAR_COSINE
    return min(1.0, (held + min(1.0, nearness)) / 2)


def is_likely_absent(belief: float, scored: Scored) -> bool:
    """Tell whether nothing found deserves belief."""
    has_meaning = any("meaning" in unit.signals for unit in scored.units[:_NEAREST])
    return not scored.units or belief < (_LEAST_BELIEF if has_meaning else _LEAST_BELIEF_BY_WORDS)


def _held(unit: Unit, scored: Scored) -> float:
    is_other = bool(scored.voices) and unit.shape.speaker not in scored.voices
    return unit.signals["exact"] * (_OTHER_VOICE if is_other else 1.0)


def _cosines(units: Sequence[Unit]) -> list[float]:
    return [unit.signals["meaning"] for unit in units if "meaning" in unit.signals]
