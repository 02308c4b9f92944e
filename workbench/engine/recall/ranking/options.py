"""What a search may be asked for besides its question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.engine.recall.model import Within

if TYPE_CHECKING:
    from workbench.engine.settings.sections import Fusion


@dataclass(frozen=True)
class Options:
    """How a search is to be answered.

    Args:
        max_results: Most results, or None for no limit.
        min_score: Least score of a result, 0–1, or None for no floor.
        within: Which chunks are asked for.
        include_dormant: Also give dormant memories that do not hold the very thing the question names.
        budget: Fill this many tokens with the lines that matched instead of showing them in their context.
        explain: Say of each result why it stands where it does, and what was left out.
        fusion: How the lanes are brought together: `two-grain`, or the `weighted-sum` of design document §11.3.
        vector_weight: Of meaning in the weighted sum.
        text_weight: Of keywords in the weighted sum.
        candidate_multiplier: Chunks that each lane finds for the weighted sum, per result.
    """

    max_results: int | None = None
    min_score: float | None = None
    within: Within = field(default_factory=Within)
    include_dormant: bool = False
    budget: int | None = None
    explain: bool = False
    fusion: Fusion = "two-grain"
    vector_weight: float = 0.7
    text_weight: float = 0.3
    candidate_multiplier: int = 4
