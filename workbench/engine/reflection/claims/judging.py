"""Judges by a fitted model whether two statements exclude each other; `conflicts.toml` holds it for people to read."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.engine.reflection.claims.comparing import Pair

_MOST_TOLD: Final = 3
_LEAST_TOLD: Final = 0.2


@dataclass(frozen=True)
class _Model:
    """What was fitted.

    Args:
        raised: How sure one must be of a pair for it to be laid before a person.
        intercepts: By family, what a pair has without any feature.
        weights: By family, what each feature adds at its full strength.
        told: How each feature is told to a person.
    """

    raised: float
    intercepts: Mapping[str, float]
    weights: Mapping[str, Mapping[str, float]]
    told: Mapping[str, str]


@cache
def _model() -> _Model:
    text = resources.files("workbench.engine.reflection.claims").joinpath("conflicts.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return _Model(table["raised"], table["intercepts"], table["weights"], table["told"])


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair and how sure it is that both cannot hold, 0–1."""

    pair: Pair
    sureness: float

    @property
    def is_raised(self) -> bool:
        """Return whether it is sure enough to ask a person."""
        return self.sureness >= _model().raised


def judge(pair: Pair) -> Judged:
    """Return how sure it is that the two statements of a pair exclude each other."""
    model = _model()
    weights = model.weights[pair.family]
    total = model.intercepts[pair.family] + sum(
        weights.get(name, 0.0) * strength for name, strength in pair.features.items()
    )
    return Judged(pair, 1.0 / (1.0 + math.exp(-total)))


def spoke(pair: Pair) -> str:
    """Say which features spoke most for a pair, and which against it: “the later one says that it is new; …”."""
    model = _model()
    shares = {
        name: model.weights[pair.family].get(name, 0.0) * strength
        for name, strength in pair.features.items()
        if name in model.told
    }
    ranked = sorted(shares, key=lambda name: -abs(shares[name]))
    pro = [model.told[name] for name in ranked if shares[name] >= _LEAST_TOLD][:_MOST_TOLD]
    contra = [model.told[name] for name in ranked if shares[name] <= -_LEAST_TOLD][:1]
    return "; ".join([*pro, *(f"against it: {each}" for each in contra)])
